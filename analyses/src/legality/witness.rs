//! Why a tree is refused, in terms of the source program.

use crate::dependences::{DependenceKind, Relation};
use crate::isl::IslError;
use crate::places::Unsupported;
use crate::system::Inexact;
use loop_tree::{AccessId, Kernel, Path, SourceLocation, StmtId};
use std::fmt;
use std::sync::Arc;

/// Why a tree is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Witness {
    /// A dependence would be reversed.
    Order(Arc<BrokenDependence>),
    /// A loop marked parallel or vector carries a dependence.
    Carried {
        /// The loop.
        path: Path,
        /// The dependence.
        dependence: Arc<BrokenDependence>,
    },
    /// The tree does not execute the statement's instances exactly once each.
    Coverage(Arc<BrokenCoverage>),
    /// A value would not be found where it is looked for.
    Storage(Arc<BrokenStorage>),
    /// A loop does not stay one of which the source says something to the compiler.
    Kept {
        /// Its variable.
        name: Arc<str>,
    },
    /// The tree, or the question about it, cannot be described.
    Unsupported(Unsupported),
    /// An expression overflows.
    Inexact(Inexact),
    /// isl ran out of its quota.
    Quota,
    /// isl failed.
    Isl(IslError),
}

/// A statement as a message names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementRef {
    /// Which.
    pub id: StmtId,
    /// Its name.
    pub name: Arc<str>,
    /// Its place in the source.
    pub location: Option<SourceLocation>,
}

/// A dependence that a tree breaks, with one pair of instances as an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenDependence {
    /// What it is about.
    pub kind: DependenceKind,
    /// The statement that must come first.
    pub source: StatementRef,
    /// The statement that must come after.
    pub target: StatementRef,
    /// Access of the source.
    pub source_access: Option<AccessId>,
    /// Access of the target.
    pub target_access: Option<AccessId>,
    /// Name of the array.
    pub array: Option<Arc<str>>,
    /// Its instances, with the distance or direction vector in the original loops.
    pub relation: Arc<Relation>,
    /// Whether it is a reduction's own.
    pub reduction: bool,
    /// Parameter values of the example.
    pub params: Vec<(Arc<str>, i64)>,
    /// Dims of the source instance.
    pub source_instance: Vec<i64>,
    /// Dims of the target instance.
    pub target_instance: Vec<i64>,
}

/// How the instances of a statement are not covered exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageProblem {
    /// An instance of the original is not executed.
    Missing,
    /// An instance is executed that the original does not have.
    Extra,
    /// An instance is executed more than once.
    Repeated,
    /// The statement is under other predicates than in the original.
    Predicates,
}

/// A statement whose instances are not executed exactly once each, with an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenCoverage {
    /// The statement.
    pub statement: StatementRef,
    /// What is wrong.
    pub problem: CoverageProblem,
    /// Parameter values of the example.
    pub params: Vec<(Arc<str>, i64)>,
    /// Dims of the instance.
    pub instance: Vec<i64>,
}

/// A value that would not be found where it is looked for, with an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenStorage {
    /// Name of the array or scalar.
    pub array: Arc<str>,
    /// What is wrong.
    pub problem: StorageProblem,
    /// The statement concerned; of two, the one named first.
    pub first: StatementRef,
    /// The other statement.
    pub second: Option<StatementRef>,
    /// Parameter values of the example.
    pub params: Vec<(Arc<str>, i64)>,
    /// The element: subscripts, or the iteration of outer loops that it belongs to.
    pub element: Vec<i64>,
}

/// What is wrong with where values live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageProblem {
    /// Two statements touch the same value of a scalar at different times, with other values in between.
    Apart,
    /// An element has no place in the buffer.
    Outside,
    /// Two elements have one place in the buffer.
    Shared,
    /// An element is read that is neither filled in nor written before.
    Unfilled,
    /// An element is filled in that is perhaps not touched there.
    Filled,
    /// An element is written that is not written back.
    Lost,
    /// An element is written back that is perhaps not written there.
    Written,
    /// A value passes into or out of the buffer, or from one place in it to another.
    Crosses,
    /// A value is overwritten before it is read.
    Overwritten,
    /// Others may see the array while its elements are in the buffer.
    Seen,
    /// The buffer's memory is never freed where control leaves in the middle.
    Leaked,
    /// A loop around which elements share places is marked parallel or vector.
    Marked,
}

impl Witness {
    /// One word for statistics: `order`, `carried`, `coverage`, `storage`, `kept`, `unsupported`, `inexact`, `quota`, `isl`.
    pub fn category(&self) -> &'static str {
        match self {
            Witness::Order(_) => "order",
            Witness::Carried { .. } => "carried",
            Witness::Coverage(_) => "coverage",
            Witness::Storage(_) => "storage",
            Witness::Kept { .. } => "kept",
            Witness::Unsupported(_) => "unsupported",
            Witness::Inexact(_) => "inexact",
            Witness::Quota => "quota",
            Witness::Isl(_) => "isl",
        }
    }
}

impl StatementRef {
    pub(super) fn new(kernel: &Kernel, id: StmtId) -> Self {
        let statement = kernel.statement(id);
        StatementRef { id, name: statement.name.clone(), location: statement.location.clone() }
    }
}

impl fmt::Display for StatementRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.location {
            Some(l) => write!(f, " ({l})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for BrokenDependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dependence from {} to {}", self.kind.name(), self.source, self.target)?;
        if let Some(array) = &self.array {
            write!(f, " on {array}")?;
        }
        if !self.relation.distance().is_empty() {
            write!(f, " {}", self.relation.distance_text())?;
        }
        write!(f, ", as from {} to {}", Tuple(&self.source_instance), Tuple(&self.target_instance))?;
        Params(&self.params).fmt(f)
    }
}

impl fmt::Display for BrokenCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instance = Tuple(&self.instance);
        match self.problem {
            CoverageProblem::Missing => {
                write!(f, "instance {instance} of {} is not executed", self.statement)?
            }
            CoverageProblem::Extra => {
                write!(f, "instance {instance} of {} is executed but not in the original", self.statement)?;
            }
            CoverageProblem::Repeated => {
                write!(f, "instance {instance} of {} is executed twice", self.statement)?
            }
            CoverageProblem::Predicates => {
                write!(f, "{} is under other predicates than originally", self.statement)?
            }
        }
        Params(&self.params).fmt(f)
    }
}

impl fmt::Display for BrokenStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (array, first, element) = (&self.array, &self.first, Tuple(&self.element));
        let second = self.second.as_ref().unwrap_or(first);
        match self.problem {
            StorageProblem::Apart => {
                write!(f, "needs an array in the place of {array}: ")?;
                match first == second {
                    true => write!(f, "{first} is executed for {element} at times apart"),
                    false => write!(f, "{first} and {second} are executed for {element} apart"),
                }
            }
            StorageProblem::Outside => {
                write!(f, "the buffer of {array} has no place for element {element} of {first}")
            }
            StorageProblem::Shared => {
                write!(
                    f,
                    "the buffer of {array} has one place for element {element} of {first} and another one of {second}"
                )
            }
            StorageProblem::Unfilled if element.0.is_empty() => {
                write!(
                    f,
                    "{first} reads {array} in a buffer that is not filled, and not surely after a write"
                )
            }
            StorageProblem::Unfilled => {
                write!(f, "{first} reads element {element} of {array}, which its buffer is not filled with")
            }
            StorageProblem::Filled => {
                write!(f, "the buffer of {array} is filled with elements that are perhaps not touched there")
            }
            StorageProblem::Lost if element.0.is_empty() => {
                write!(f, "{first} writes {array} in a buffer that is not written back")
            }
            StorageProblem::Lost => {
                write!(f, "{first} writes element {element} of {array}, which its buffer does not write back")
            }
            StorageProblem::Written => {
                write!(f, "the buffer of {array} writes back elements that are perhaps not written there")
            }
            StorageProblem::Crosses => {
                write!(
                    f,
                    "{second} at {element} reads what {first} puts into another buffer, or another place, of {array}"
                )
            }
            StorageProblem::Overwritten => {
                write!(
                    f,
                    "{second} overwrites element {element} of {array}, which {first} wrote, before it is read"
                )
            }
            StorageProblem::Seen => write!(f, "at {first}, others may see {array} while it is in a buffer"),
            StorageProblem::Leaked => {
                write!(f, "where {first} does not return, the memory of the buffer of {array} is never freed")
            }
            StorageProblem::Marked => {
                write!(f, "iterations of a marked loop around {first} share places in the buffer of {array}")
            }
        }?;
        Params(&self.params).fmt(f)
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Witness::Order(d) => write!(f, "reverses the {d}"),
            Witness::Carried { path, dependence } => write!(f, "the loop at {path} carries the {dependence}"),
            Witness::Coverage(c) => c.fmt(f),
            Witness::Storage(s) => s.fmt(f),
            Witness::Kept { name } => {
                write!(f, "the source asks that the loop over {name} stays one: a pragma is about it")
            }
            Witness::Unsupported(u) => write!(f, "cannot be judged: {u}"),
            Witness::Inexact(i) => write!(f, "cannot be judged: {i}"),
            Witness::Quota => f.write_str("cannot be judged within the quota of the integer set library"),
            Witness::Isl(e) => write!(f, "cannot be judged: {e}"),
        }
    }
}

struct Tuple<'a>(&'a [i64]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(i64::to_string).collect();
        write!(f, "({})", parts.join(", "))
    }
}

struct Params<'a>(&'a [(Arc<str>, i64)]);

impl fmt::Display for Params<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{} {name} = {value}", if i == 0 { " for" } else { "," })?;
        }
        Ok(())
    }
}

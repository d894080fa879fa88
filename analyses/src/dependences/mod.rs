//! Dependences: which statement instances must keep their order. One call lists all of a kernel.
//!
//! Three implementations, from coarse to exact: [`Nothing`] orders every pair of instances, [`Flat`] every pair that
//! touches the same array, [`Polyhedral`] every pair that touches the same element. All are memory-based: an anti or
//! output dependence counts even where a later value hides it; but [`Polyhedral`] takes a private scalar
//! ([`Privates`](loop_tree::Privates)) for an array over the loops that it belongs to. All are exact about time: a pair is
//! in a relation only if both instances execute, the source first.
//!
//! Besides memory there are:
//! - control: a statement under a predicate reads the predicate's scalar;
//! - order: side effects, volatile and atomic accesses, statements that may throw or not return (see [`rules`]);
//! - possible overlap of different arrays: a dependence between all instances that vanishes under a condition.
//!
//! A [`DependenceSet`] is plain data and can be shared by threads.

mod build;
mod relation;
pub mod rules;
mod value;

pub use build::{Flat, Nothing, Polyhedral};
pub(crate) use build::{by_position, context, unmasked};
pub use relation::{Disjunct, Relation};
pub(crate) use value::flow_on;

use crate::isl::IslError;
use crate::places::Unsupported;
use crate::system::Inexact;
use loop_tree::{AccessId, ArrayId, Kernel, Op, RuntimeCondition, StmtId};
use std::fmt;
use std::sync::Arc;

/// Lists the dependences of kernels.
pub trait Dependences: Send + Sync {
    /// All dependences of a kernel.
    fn dependences(&self, kernel: &Kernel) -> Result<DependenceSet, AnalysisError>;
}

/// The implementation of that name: `none`, `flat` or `polyhedral`.
pub fn dependences_by_name(name: &str) -> Option<Box<dyn Dependences>> {
    match name {
        "none" => Some(Box::new(Nothing)),
        "flat" => Some(Box::new(Flat)),
        "polyhedral" => Some(Box::new(Polyhedral::default())),
        _ => None,
    }
}

/// Names of all implementations.
pub const DEPENDENCES: [&str; 3] = ["none", "flat", "polyhedral"];

/// Why a kernel cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The original order cannot be described.
    #[error("the original order of the kernel cannot be described: {0}")]
    Unsupported(#[from] Unsupported),
    /// An expression of the kernel cannot be used.
    #[error("an expression of the kernel cannot be used: {0}")]
    Inexact(#[from] Inexact),
    /// isl gave no answer.
    #[error(transparent)]
    Isl(#[from] IslError),
    /// A statement instance would execute more than once, so that instances do not identify executions.
    #[error("statement {statement} executes more than once with the same values of its dims")]
    Repeated {
        /// Its name.
        statement: String,
    },
    /// More pairs of accesses than are analysed in nests so deep.
    #[error("{pairs} pairs of accesses in loops up to {depth} deep; at most {limit} are analysed there")]
    TooDeep {
        /// Pairs.
        pairs: usize,
        /// Loops around an access.
        depth: usize,
        /// Limit.
        limit: usize,
    },
    /// More pairs of accesses than are analysed.
    #[error("{pairs} pairs of accesses; at most {limit} are analysed")]
    TooLarge {
        /// Pairs.
        pairs: usize,
        /// Limit.
        limit: usize,
    },
}

/// What a dependence is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DependenceKind {
    /// Write, then read.
    Flow,
    /// Read, then write.
    Anti,
    /// Write, then write.
    Output,
    /// A predicate's write and the statements under it, in either order.
    Control,
    /// Side effects and the like, or an analysis that knows nothing.
    Order,
}

impl DependenceKind {
    /// In text.
    pub const fn name(self) -> &'static str {
        match self {
            DependenceKind::Flow => "flow",
            DependenceKind::Anti => "anti",
            DependenceKind::Output => "output",
            DependenceKind::Control => "control",
            DependenceKind::Order => "order",
        }
    }
}

/// Exact bounds of one component of a distance vector; `None` is unbounded or not known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Component {
    /// Least difference, target minus source.
    pub min: Option<i64>,
    /// Greatest difference.
    pub max: Option<i64>,
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(a), Some(b)) if a == b => write!(f, "{a}"),
            (Some(a), _) if a > 0 => f.write_str("<"),
            (Some(0), _) => f.write_str("<="),
            (_, Some(b)) if b < 0 => f.write_str(">"),
            (_, Some(0)) => f.write_str(">="),
            _ => f.write_str("*"),
        }
    }
}

/// A set of pairs of statement instances that must keep their order.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The statement that comes first.
    pub source: StmtId,
    /// The statement that comes after.
    pub target: StmtId,
    /// The access of the source; `None` for order, and where a predicate is read.
    pub source_access: Option<AccessId>,
    /// The access of the target.
    pub target_access: Option<AccessId>,
    /// The array that the target touches.
    pub array: Option<ArrayId>,
    /// What it is about.
    pub kind: DependenceKind,
    /// It vanishes where any one of these holds; empty: never.
    pub vanishes_if: Vec<RuntimeCondition>,
    /// Between updates of one accumulator by one operator: sequential reordering is allowed.
    pub reduction: bool,
    /// The pairs. Dependences between the same places over the same elements share them.
    pub relation: Arc<Relation>,
}

impl Dependence {
    /// Whether the source's access stands in front of the target's, in the text of one statement, or is the same.
    pub(crate) fn is_in_text(&self, kernel: &Kernel) -> bool {
        let ops = &kernel.statement(self.source).ops;
        let is = |op: &Op, access: Option<AccessId>| access.is_some() && op.kind.access() == access;
        let source = ops.iter().rposition(|op| is(op, self.source_access));
        let target = ops.iter().position(|op| is(op, self.target_access));
        self.source == self.target && source.zip(target).is_some_and(|(source, target)| source <= target)
    }

    /// Differences over the original loops that both have around them, outermost first.
    pub fn distance(&self) -> &[Component] {
        self.relation.distance()
    }

    /// `(<, 0, *)`.
    pub fn distance_text(&self) -> String {
        self.relation.distance_text()
    }
}

/// All dependences of a kernel.
#[derive(Clone, Debug)]
pub struct DependenceSet {
    /// The dependences, in a deterministic order.
    pub dependences: Vec<Dependence>,
}

impl DependenceSet {
    /// One line per dependence, with names of the kernel.
    pub fn display<'a>(&'a self, kernel: &'a Kernel) -> impl fmt::Display + 'a {
        Listing { set: self, kernel }
    }
}

struct Listing<'a> {
    set: &'a DependenceSet,
    kernel: &'a Kernel,
}

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for d in &self.set.dependences {
            let (source, target) = (self.kernel.statement(d.source), self.kernel.statement(d.target));
            write!(f, "{} {} -> {}", d.kind.name(), source.name, target.name)?;
            if let Some(array) = d.array {
                write!(f, " on {}", self.kernel.array(array).name)?;
            }
            write!(f, " {}", d.distance_text())?;
            if d.reduction {
                f.write_str(" reduction")?;
            }
            for condition in &d.vanishes_if {
                write!(f, " unless {}", loop_tree::text::print_runtime_condition(self.kernel, condition))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

//! The legality oracle: may this tree replace the original order of its kernel?
//!
//! It is asked after a tree was changed, whatever changed it, and compares with the original only:
//!
//! 1. *Coverage*: every statement instance is executed exactly once, under the same predicates; more often, or never, only
//!    where all that it writes goes to buffers. That loops run may be a condition of it.
//! 2. *Order*: every dependence keeps its direction, but for those on arrays all of whose values stay in buffers.
//! 3. *Marks*: a loop marked parallel carries no dependence; the lanes of a vector loop keep them in lock step; for a loop marked for a
//!    library there is a function that does the same. A loop that the source says is to stay one is one.
//! 4. *Storage*: every read finds its value, through the buffers of the tree; and one slot does for each element of a private
//!    scalar that is in no buffer.
//!
//! Versions are refused. Every answer is exact, or a refusal: unknown is refused.
//!
//! Both questions are asked of single places and pairs of places, in a form in which the rest of the tree does not matter,
//! so that answers are remembered and found again in the other variants of a search.

mod buffers;
mod case;
mod coverage;
mod inverse;
mod kept;
mod lanes;
mod library;
mod order;
mod storage;
mod threads;
mod witness;

pub use case::Case;
pub use witness::{
    BrokenCoverage, BrokenDependence, BrokenStorage, CoverageProblem, StatementRef, StorageProblem, Witness,
};

use crate::dependences::{AnalysisError, DependenceKind, DependenceSet, Dependences};
use crate::isl::{DEFAULT_QUOTA, IslError};
use crate::mutation::{self, Rule};
use crate::places::{Place, Unsupported, places};
use crate::reroll::{Rolled, roll};
use crate::system::{Inexact, Row, Solver};
use buffers::Judged;
use coverage::{Any, Covered};
use loop_tree::{ArrayId, Green, Kernel, LoopKind, Path, RuntimeCondition, StmtId, fresh_variable};
use order::{Orders, Question};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

/// How much an oracle may spend.
#[derive(Clone, Copy, Debug)]
pub struct OracleOptions {
    /// isl operations per question; about 50 ns each. Out of quota is a refusal.
    pub quota: u64,
    /// Work per tree in units of about 50 ns, counted and not timed; beyond it a tree is refused. Answers that are known
    /// from earlier trees count as if they were not, so that the verdict does not depend on them.
    pub work: u64,
}

/// Work that few trees need: 10 s if nothing about them is known.
const DEFAULT_WORK: u64 = 200_000_000;

impl Default for OracleOptions {
    fn default() -> Self {
        OracleOptions { quota: DEFAULT_QUOTA, work: DEFAULT_WORK }
    }
}

/// Whether a tree computes what its kernel's original does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Always, given the kernel's context and assumptions.
    Always,
    /// Where all these conditions hold; sorted, without duplicates, not empty.
    Under(Vec<RuntimeCondition>),
    /// Not, or not known.
    Never(Witness),
}

impl Verdict {
    /// Whether the tree may be used, perhaps under conditions.
    pub fn is_legal(&self) -> bool {
        !matches!(self, Verdict::Never(_))
    }

    /// The conditions, if it is legal.
    pub fn conditions(&self) -> Option<&[RuntimeCondition]> {
        match self {
            Verdict::Always => Some(&[]),
            Verdict::Under(conditions) => Some(conditions),
            Verdict::Never(_) => None,
        }
    }
}

/// What is known about one loop of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LoopFacts {
    /// It carries no dependence under the conditions of the tree's verdict: iterations are independent.
    pub parallel: bool,
    /// If it is not parallel: the further conditions under which it is; `None` if there are no such conditions.
    pub parallel_if: Option<Vec<RuntimeCondition>>,
    /// The dependences that it carries.
    pub carried: Vec<Carried>,
}

/// A dependence carried by a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Index in [`DependenceSet::dependences`]: the first one of those that are carried in the same way.
    pub dependence: usize,
    /// What it is about.
    pub kind: DependenceKind,
    /// Between updates of an accumulator by one operator.
    pub reduction: bool,
    /// It vanishes where one of these holds.
    pub vanishes_if: Vec<RuntimeCondition>,
}

/// What is asked first about a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    /// What says more of a tree that is wrong.
    Coverage,
    Order,
}

/// What is asked about loops that have no mark.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Facts {
    None,
    /// Whether they are parallel: of one that carries what cannot vanish, nothing more.
    Parallel,
    All,
}

/// A dependence that a loop of the rolled tree carries.
struct CarriedBy {
    path: Path,
    /// `None`: it is not known what the loop carries.
    check: Option<usize>,
}

/// No answer.
#[derive(Clone, Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Isl(#[from] IslError),
    #[error(transparent)]
    Inexact(#[from] Inexact),
}

impl From<Fault> for Witness {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Isl(IslError::Quota { .. }) => Witness::Quota,
            Fault::Isl(error) => Witness::Isl(error),
            Fault::Inexact(inexact) => Witness::Inexact(inexact),
        }
    }
}

/// Judges trees of one [`Case`], one after the other: oracles are made quickly, one for each thread, and share their answers.
pub struct Oracle {
    case: Arc<Case>,
    solver: Solver,
    /// Budget per tree.
    work: Cell<u64>,
    last: order::LastPair,
}

impl Deref for Oracle {
    type Target = Case;

    fn deref(&self) -> &Case {
        &self.case
    }
}

impl Oracle {
    /// Computes the dependences first.
    pub fn new(
        kernel: Arc<Kernel>,
        dependences: &dyn Dependences,
        options: OracleOptions,
    ) -> Result<Oracle, AnalysisError> {
        let set = Arc::new(dependences.dependences(&kernel)?);
        Self::with_dependences(kernel, set, options)
    }

    /// An oracle on dependences of the same kernel.
    pub fn with_dependences(
        kernel: Arc<Kernel>,
        set: Arc<DependenceSet>,
        options: OracleOptions,
    ) -> Result<Oracle, AnalysisError> {
        Ok(Self::of(Arc::new(Case::new(kernel, set, options)?)))
    }

    /// One of several oracles that share their answers.
    pub fn of(case: Arc<Case>) -> Oracle {
        Oracle {
            solver: Solver::new(case.options.quota),
            work: Cell::new(case.options.work),
            last: order::LastPair::default(),
            case,
        }
    }

    /// Questions that were put to isl because no fast proof was found.
    pub fn isl_calls(&self) -> u64 {
        self.solver.isl_calls()
    }

    /// As [`Oracle::judge`], for searches: with a multiple of the work that a tree usually may take. Of several reasons to refuse a
    /// tree it may find another one, as it asks about order before coverage, which few of a search's trees break.
    pub fn judge_patiently(&self, root: &Green, times: u64) -> Verdict {
        let _span = tracing::info_span!("legality").entered();
        let usual = self.work.get();
        self.work.set(usual.saturating_mul(times));
        let (verdict, _) = self.verdict(root, Facts::None, First::Order);
        self.work.set(usual);
        verdict
    }

    /// Whether the tree may replace the original order.
    pub fn judge(&self, root: &Green) -> Verdict {
        let _span = tracing::info_span!("legality").entered();
        self.verdict(root, Facts::None, First::Coverage).0
    }

    /// The same, with what each loop carries: nothing for a tree that is not legal.
    pub fn examine(&self, root: &Green) -> (Verdict, BTreeMap<Path, LoopFacts>) {
        self.verdict(root, Facts::All, First::Coverage)
    }

    /// What each loop of a legal tree carries.
    pub fn loop_facts(&self, root: &Green) -> BTreeMap<Path, LoopFacts> {
        self.examine(root).1
    }

    /// The loops of a legal tree that are parallel where conditions hold, of which it is told whether all of a list do.
    pub fn parallel(&self, root: &Green, hold: impl Fn(&[RuntimeCondition]) -> bool) -> BTreeSet<Path> {
        let facts = self.verdict(root, Facts::Parallel, First::Coverage).1.into_iter();
        let parallel = |f: &LoopFacts| f.parallel || f.parallel_if.as_deref().is_some_and(&hold);
        facts.filter(|(_, f)| parallel(f)).map(|(path, _)| path).collect()
    }

    fn verdict(&self, root: &Green, asked: Facts, first: First) -> (Verdict, BTreeMap<Path, LoopFacts>) {
        match self.examined(root, asked, first) {
            Ok((judged, facts)) => (judged.verdict(), facts),
            Err(witness) => (Verdict::Never(witness), BTreeMap::new()),
        }
    }

    fn examined(
        &self,
        root: &Green,
        asked: Facts,
        first: First,
    ) -> Result<(Judged, BTreeMap<Path, LoopFacts>), Witness> {
        kept::check(&self.kernel, root)?;
        let (rolled, rolled_places) = rolled_places(&self.kernel, root)?;
        lanes::check(self, &rolled, &rolled_places)?;
        threads::check(self, &rolled, &rolled_places)?;
        self.solver.set_budget(self.work.get());
        let called = library::check(self, root)?;
        let (mut judged, carried) = self.judge_places(&rolled, &rolled_places, asked, first)?;
        judged.conditions.extend(called);
        if root.summary().has_storage_or_versions {
            buffers::judge(self, &rolled_places, &mut judged).map_err(|witness| match witness {
                Witness::Unsupported(Unsupported::Buffer { path, why }) => {
                    Unsupported::Buffer { path: rolled.origin(&path), why }.into()
                }
                other => other,
            })?;
        }
        let slots = !self.privates.is_empty() && !mutation::off(Rule::Storage);
        if !slots && asked == Facts::None {
            return Ok((judged, BTreeMap::new()));
        }
        // Copies have slots of their own.
        let places = places(&self.kernel, root)?;
        if slots && let Some(broken) = self.broken_slot(&places)? {
            return Err(Witness::Storage(broken));
        }
        let facts = match asked {
            Facts::None => BTreeMap::new(),
            Facts::Parallel | Facts::All => self.facts(&rolled, &places, &judged, &carried),
        };
        Ok((judged, facts))
    }

    /// Coverage, and order and marks for each pair of places; what loops carry where that is asked for.
    fn judge_places(
        &self,
        rolled: &Rolled,
        places: &[Place],
        asked: Facts,
        first: First,
    ) -> Result<(Judged, Vec<CarriedBy>), Witness> {
        let mut by_statement: Vec<Vec<&Place>> = vec![Vec::new(); self.kernel.statements.len()];
        for place in places {
            by_statement[place.statement.index()].push(place);
        }
        let hideable = buffers::hideable(self, places);
        let mut judged = Judged::default();
        // What need not be covered exactly need not be in order either, so there coverage tells what to ask.
        let covered_last = first == First::Order && hideable.is_empty();
        if !covered_last {
            self.check_coverage(&by_statement, &hideable, &mut judged)?;
        }
        let mut carried = Vec::new();
        // Facts have work of their own, so that the verdict does not depend on whether they are asked for.
        let mut left = self.work.get();
        // Loops that carry what stays, whatever is hidden in the end.
        let mut settled: FxHashSet<Path> = FxHashSet::default();
        for (&(source, target), checks) in &self.by_pair {
            for a in &by_statement[source.index()] {
                for b in &by_statement[target.index()] {
                    for &index in checks {
                        let check = &self.checks[index];
                        if judged.leaves_out(check) {
                            continue;
                        }
                        if let Some(broken) = self.reversed(index, a, b)? {
                            judged.without(check, &hideable, || Witness::Order(broken))?;
                            continue;
                        }
                        let (shared, _) = a.shared(b);
                        for level in 0..shared {
                            let path = || a.path.prefix(a.loops[level].depth);
                            let kind = a.loops[level].kind;
                            let marked = matches!(kind, LoopKind::Parallel | LoopKind::Vector)
                                && !mutation::off(Rule::Marks);
                            let answer = match marked {
                                true if kind == LoopKind::Vector => {
                                    // What lanes in lock step keep may be carried all the same.
                                    carried.push(CarriedBy { path: path(), check: None });
                                    self.broken_in_lanes(index, a, b, level)?
                                }
                                true => self.carried(index, a, b, level)?,
                                false if asked == Facts::None => continue,
                                false if rolled.is_over_copies(&path()) || settled.contains(&path()) => {
                                    continue;
                                }
                                false => {
                                    let budget = self.solver.budget();
                                    self.solver.set_budget(left);
                                    let answer = self.carried(index, a, b, level);
                                    left = self.solver.budget();
                                    self.solver.set_budget(budget);
                                    let Ok(answer) = answer else {
                                        carried.push(CarriedBy { path: path(), check: None });
                                        continue;
                                    };
                                    answer
                                }
                            };
                            let Some(dependence) = answer else { continue };
                            if marked {
                                let path = rolled.origin(&path());
                                judged.without(check, &hideable, || Witness::Carried { path, dependence })?;
                            }
                            if asked == Facts::Parallel
                                && check.vanishes_if.is_empty()
                                && !check.is_on(&hideable)
                            {
                                settled.insert(path());
                            }
                            carried.push(CarriedBy { path: path(), check: Some(index) });
                        }
                    }
                }
            }
        }
        if covered_last {
            self.check_coverage(&by_statement, &hideable, &mut judged)?;
        }
        Ok((judged, carried))
    }

    /// Conditions under which every instance is executed, and the arrays that are written as often as it pleases.
    fn check_coverage(
        &self,
        by_statement: &[Vec<&Place>],
        hideable: &BTreeSet<ArrayId>,
        judged: &mut Judged,
    ) -> Result<(), Witness> {
        let coverage = |any| coverage::Coverage { oracle: self, any };
        let mut original: Vec<Vec<&Place>> = vec![Vec::new(); by_statement.len()];
        for place in &self.original {
            original[place.statement.index()].push(place);
        }
        for (index, new) in by_statement.iter().enumerate() {
            let id = StmtId::new(index);
            let mut answer = coverage(Any::default()).ask(id, &original[index], new)?;
            if !matches!(&answer, Covered::Where(conditions) if conditions.is_empty())
                && let Some((any, written)) = buffers::may_be_any(self, id, hideable)
            {
                answer = coverage(any).ask(id, &original[index], new)?;
                if let Covered::Where(_) = answer {
                    judged.hidden.extend(written);
                }
            }
            match answer {
                Covered::Where(conditions) => {
                    judged.conditions.extend(conditions.iter().cloned().map(RuntimeCondition::Parameter));
                }
                Covered::Not(broken) => return Err(Witness::Coverage(broken)),
            }
        }
        Ok(())
    }

    /// An instance of the dependence that the tree reverses. What only the order of updates of an accumulator asks for, it may;
    /// but where a buffer stands for the accumulator, only those of one statement.
    fn reversed(&self, check: usize, a: &Place, b: &Place) -> order::Answer {
        let order::Check { reduction, source, target, on, .. } = &self.checks[check];
        let buffered = |p: &Place| p.buffers.iter().any(|b| on.contains(&Some(b.buffer.array)));
        match *reduction && (source == target || !buffered(a) && !buffered(b)) {
            true => Ok(None),
            false => self.orders().ask(check, a, b, Question::Reversed),
        }
    }

    /// An instance of the dependence between different iterations of a loop around both.
    fn carried(&self, check: usize, a: &Place, b: &Place, level: usize) -> order::Answer {
        let orders = self.orders();
        if self.checks[check].reduction && mutation::off(Rule::ReductionParallel) {
            return Ok(None);
        }
        for later in [true, false] {
            if !later && mutation::off(Rule::Backwards) {
                continue;
            }
            if let Some(found) = orders.ask(check, a, b, Question::Carried(level, later))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// What each loop of a legal tree carries. Copies of a loop carry together what is asked about all of them.
    fn facts(
        &self,
        rolled: &Rolled,
        places: &[Place],
        judged: &Judged,
        carried: &[CarriedBy],
    ) -> BTreeMap<Path, LoopFacts> {
        let mut facts: BTreeMap<&Path, LoopFacts> = BTreeMap::new();
        let mut unknown: BTreeSet<&Path> = BTreeSet::new();
        let mut listed: FxHashSet<(&Path, usize)> = FxHashSet::default();
        for CarriedBy { path, check } in carried {
            let Some(check) = check.map(|index| &self.checks[index]) else {
                unknown.insert(path);
                continue;
            };
            if judged.leaves_out(check) || !listed.insert((path, check.dependence)) {
                continue;
            }
            facts.entry(path).or_default().carried.push(Carried {
                dependence: check.dependence,
                kind: self.set.dependences[check.dependence].kind,
                reduction: check.reduction,
                vanishes_if: check.vanishes_if.clone(),
            });
        }
        let loops = places.iter().flat_map(|p| p.loops.iter().map(|l| p.path.prefix(l.depth)));
        let fact = |path: Path| {
            let counterpart = rolled.counterpart(&path);
            let mut fact = facts.get(&counterpart).cloned().unwrap_or_default();
            if !unknown.contains(&counterpart) && !judged.binds(&counterpart) {
                fact.parallel = fact.carried.is_empty() || mutation::off(Rule::Facts);
                let needed: Option<BTreeSet<RuntimeCondition>> =
                    fact.carried.iter().map(|c| c.vanishes_if.first().cloned()).collect();
                fact.parallel_if = needed.filter(|n| !n.is_empty()).map(|n| n.into_iter().collect());
            }
            (path, fact)
        };
        loops.collect::<BTreeSet<Path>>().into_iter().map(fact).collect()
    }

    fn orders(&self) -> Orders<'_> {
        Orders {
            kernel: &self.kernel,
            set: &self.set,
            context: &self.context,
            solver: &self.solver,
            checks: &self.checks,
            memo: &self.orders,
            last: &self.last,
        }
    }
}

/// The places of a tree whose copies are rolled up. A tree that cannot be described is refused in its own terms.
fn rolled_places(kernel: &Kernel, root: &Green) -> Result<(Rolled, Vec<Place>), Unsupported> {
    let rolled = roll(root, fresh_variable(kernel, root));
    match places(kernel, &rolled.root) {
        Ok(list) => Ok((rolled, list)),
        Err(why) => Err(places(kernel, root).err().unwrap_or(why)),
    }
}

/// Of rows at a point; one that does not fit is the largest number.
fn values(rows: &[Row], point: &[i64]) -> Vec<i64> {
    rows.iter().map(|r| r.eval(point).unwrap_or(i64::MAX)).collect()
}

/// Parameter names with their values at a point, whose first columns are the parameters.
fn param_values(kernel: &Kernel, point: &[i64]) -> Vec<(Arc<str>, i64)> {
    kernel.params.iter().map(|p| p.name.clone()).zip(point.iter().copied()).collect()
}

impl From<Unsupported> for Witness {
    fn from(unsupported: Unsupported) -> Self {
        Witness::Unsupported(unsupported)
    }
}

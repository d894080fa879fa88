//! The legality oracle: may this tree replace the original order of its kernel?
//!
//! It is asked after a tree was changed, whatever changed it, and compares with the original only:
//!
//! 1. *Coverage*: every statement instance is executed exactly once, under the same predicates; more often, or never, only
//!    where all that it writes goes to buffers.
//! 2. *Order*: every dependence keeps its direction, but for those on arrays all of whose values stay in buffers.
//! 3. *Flags*: a loop marked parallel or vector carries no dependence.
//! 4. *Storage*: every read finds its value, through the buffers of the tree; and one slot does for each element of a private
//!    scalar that is in no buffer.
//!
//! Versions are refused. Every answer is exact, or a refusal: unknown is refused.
//!
//! Both questions are asked of single places and pairs of places, in a form in which the rest of the tree does not matter,
//! so that answers are remembered and found again in the other variants of a search.

mod buffers;
mod coverage;
mod inverse;
mod order;
mod storage;
mod witness;

pub use witness::{
    BrokenCoverage, BrokenDependence, BrokenStorage, CoverageProblem, StatementRef, StorageProblem, Witness,
};

use crate::dependences::{AnalysisError, Component, DependenceKind, DependenceSet, Dependences};
use crate::isl::{DEFAULT_QUOTA, IslError};
use crate::mutation::{self, Rule};
use crate::places::{Place, Unsupported, places};
use crate::reroll::{Rolled, roll};
use crate::system::{Inexact, Solver, System};
use buffers::{Flows, Judged};
use coverage::Any;
use loop_tree::{ArrayId, Green, Kernel, LoopKind, Path, Privates, RuntimeCondition, StmtId, fresh_variable};
use order::{Orders, Question};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use storage::Storage;

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
    /// Between instances of one reduction.
    pub reduction: bool,
    /// It vanishes where one of these holds.
    pub vanishes_if: Vec<RuntimeCondition>,
    /// Its distance over the loops of the original.
    pub distance: Vec<Component>,
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

/// Judges trees of one kernel. It belongs to one thread; the [`DependenceSet`] can be shared by the oracles of several.
pub struct Oracle {
    kernel: Arc<Kernel>,
    set: Arc<DependenceSet>,
    privates: Privates,
    context: System,
    solver: Solver,
    /// Budget per tree.
    work: Cell<u64>,
    checks: Vec<order::Check>,
    /// Which writes may be seen by which reads.
    flows: Flows,
    /// Which writes are seen by which reads, by array; `None` where that is not known.
    values: RefCell<BTreeMap<ArrayId, Option<Rc<Flows>>>>,
    /// Numbers of the checks with this source and target.
    by_pair: BTreeMap<(StmtId, StmtId), Vec<usize>>,
    original: Vec<Place>,
    memo: RefCell<Memo>,
}

#[derive(Default)]
struct Memo {
    orders: order::Memo,
    coverage: coverage::Memo,
}

impl Oracle {
    /// Computes the dependences first. To share them, see [`Oracle::with_dependences`].
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
        let (_, original) = rolled_places(&kernel, &kernel.original)?;
        let context = crate::dependences::context(&kernel)?;
        let (checks, flows) = (order::checks(&kernel, &set), buffers::flows(&set));
        let mut by_pair: BTreeMap<(StmtId, StmtId), Vec<usize>> = BTreeMap::new();
        for (index, check) in checks.iter().enumerate() {
            by_pair.entry((check.source, check.target)).or_default().push(index);
        }
        let solver = Solver::new(options.quota)?;
        let oracle = Oracle {
            privates: Privates::of(&kernel),
            kernel,
            set,
            context,
            solver,
            work: Cell::new(options.work),
            checks,
            flows,
            values: RefCell::default(),
            by_pair,
            original,
            memo: RefCell::default(),
        };
        oracle.orders().trust(&mut oracle.memo.borrow_mut().orders, &oracle.original);
        Ok(oracle)
    }

    /// The kernel.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// The dependences.
    pub fn dependences(&self) -> &Arc<DependenceSet> {
        &self.set
    }

    /// Questions that were put to isl because no fast proof was found.
    pub fn isl_calls(&self) -> u64 {
        self.solver.isl_calls()
    }

    /// As [`Oracle::judge`], with a multiple of the work that a tree usually may take.
    pub fn judge_patiently(&self, root: &Green, times: u64) -> Verdict {
        let usual = self.work.get();
        self.work.set(usual.saturating_mul(times));
        let verdict = self.judge(root);
        self.work.set(usual);
        verdict
    }

    /// Whether the tree may replace the original order.
    pub fn judge(&self, root: &Green) -> Verdict {
        let _span = tracing::info_span!("legality").entered();
        match self.examine(root) {
            Ok(judged) if judged.conditions.is_empty() => Verdict::Always,
            Ok(judged) => Verdict::Under(judged.conditions.into_iter().collect()),
            Err(witness) => Verdict::Never(witness),
        }
    }

    /// What must hold for the tree to be legal.
    fn examine(&self, root: &Green) -> Result<Judged, Witness> {
        let (rolled, rolled_places) = rolled_places(&self.kernel, root)?;
        let mut judged = self.judge_places(&rolled_places).map_err(|witness| match witness {
            Witness::Carried { path, dependence } => {
                Witness::Carried { path: rolled.origin(&path), dependence }
            }
            other => other,
        })?;
        // Copies have slots and buffers of their own.
        let buffers = root.summary().has_storage_or_versions;
        let slots = !self.privates.is_empty() && !mutation::off(Rule::Storage);
        if !buffers && !slots {
            return Ok(judged);
        }
        let places = places(&self.kernel, root)?;
        if buffers {
            buffers::judge(self, &places, &mut judged)?;
        }
        if slots {
            let storage = Storage {
                kernel: &self.kernel,
                privates: &self.privates,
                context: &self.context,
                solver: &self.solver,
            };
            if let Some(broken) = storage.broken(root, &places)? {
                return Err(Witness::Storage(broken));
            }
        }
        Ok(judged)
    }

    /// Coverage, order and marks.
    fn judge_places(&self, places: &[Place]) -> Result<Judged, Witness> {
        self.solver.set_budget(self.work.get());
        let mut memo = self.memo.borrow_mut();
        let mut by_statement: Vec<Vec<&Place>> = vec![Vec::new(); self.kernel.statements.len()];
        for place in places {
            by_statement[place.statement.index()].push(place);
        }
        let hideable = buffers::hideable(self, places);
        let mut hidden = self.check_coverage(&mut memo, &by_statement, &hideable)?;
        let mut conditions = BTreeSet::new();
        let orders = self.orders();
        for (&(source, target), checks) in &self.by_pair {
            for a in &by_statement[source.index()] {
                for b in &by_statement[target.index()] {
                    for &index in checks {
                        let check = &self.checks[index];
                        if check.vanishes_if.iter().any(|c| conditions.contains(c)) || check.is_on(&hidden) {
                            continue;
                        }
                        let hide = check.is_on(&hideable);
                        if !check.reduction
                            && let Some(broken) =
                                orders.ask(&mut memo.orders, index, a, b, Question::Reversed)?
                        {
                            match check.vanishes_if.first() {
                                Some(_) if mutation::off(Rule::OverlapConditions) => {}
                                Some(condition) => _ = conditions.insert(condition.clone()),
                                None if hide => hidden.extend(check.on.iter().flatten()),
                                None => return Err(Witness::Order(broken)),
                            }
                            continue;
                        }
                        let (shared, _) = a.shared(b);
                        for level in 0..shared {
                            if a.loops[level].kind == LoopKind::Sequential || mutation::off(Rule::Marks) {
                                continue;
                            }
                            let Some(dependence) = self.carried(&mut memo, index, a, b, level)? else {
                                continue;
                            };
                            match check.vanishes_if.first() {
                                Some(condition) => _ = conditions.insert(condition.clone()),
                                None if hide => hidden.extend(check.on.iter().flatten()),
                                None => {
                                    let path = Path(a.path.0[..a.loops[level].depth].into());
                                    return Err(Witness::Carried { path, dependence });
                                }
                            }
                        }
                    }
                }
            }
        }
        Ok(Judged { conditions, hidden, ..Judged::default() })
    }

    /// The arrays that are written as often as it pleases.
    fn check_coverage(
        &self,
        memo: &mut Memo,
        by_statement: &[Vec<&Place>],
        hideable: &BTreeSet<ArrayId>,
    ) -> Result<BTreeSet<ArrayId>, Witness> {
        let coverage = |any| coverage::Coverage {
            kernel: &self.kernel,
            context: &self.context,
            solver: &self.solver,
            any,
        };
        let mut hidden = BTreeSet::new();
        let mut original: Vec<Vec<&Place>> = vec![Vec::new(); by_statement.len()];
        for place in &self.original {
            original[place.statement.index()].push(place);
        }
        for (index, new) in by_statement.iter().enumerate() {
            let id = StmtId::new(index);
            let exactly = coverage(Any::default());
            let Some(mut broken) = exactly.ask(&mut memo.coverage, id, &original[index], new)? else {
                continue;
            };
            if let Some((any, written)) = buffers::may_be_any(self, id, hideable) {
                match coverage(any).ask(&mut memo.coverage, id, &original[index], new)? {
                    None => {
                        hidden.extend(written);
                        continue;
                    }
                    Some(other) => broken = other,
                }
            }
            return Err(Witness::Coverage(broken));
        }
        Ok(hidden)
    }

    fn carried(&self, memo: &mut Memo, check: usize, a: &Place, b: &Place, level: usize) -> order::Answer {
        let orders = self.orders();
        if check_is_exempt(&self.checks[check]) {
            return Ok(None);
        }
        for later in [true, false] {
            if !later && mutation::off(Rule::Backwards) {
                continue;
            }
            if let Some(found) = orders.ask(&mut memo.orders, check, a, b, Question::Carried(level, later))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// What each loop of a legal tree carries. Empty for a tree that is not legal.
    pub fn loop_facts(&self, root: &Green) -> BTreeMap<Path, LoopFacts> {
        let Ok(unrolled) = places(&self.kernel, root) else { return BTreeMap::new() };
        let Ok((rolled, places)) = rolled_places(&self.kernel, root) else { return BTreeMap::new() };
        let Ok(judged) = self.examine(root) else { return BTreeMap::new() };
        let facts = self.facts_of(&rolled, &places, &judged);
        let loops = unrolled.iter().flat_map(|p| p.loops.iter().map(|l| Path(p.path.0[..l.depth].into())));
        // Copies of a loop carry together what is asked about all of them.
        let fact = |path: Path| {
            let mut fact = facts.get(&rolled.counterpart(&path)).cloned().unwrap_or_default();
            if judged.binds(&path) {
                fact = LoopFacts { carried: fact.carried, ..LoopFacts::default() };
            }
            (path, fact)
        };
        loops.collect::<BTreeSet<Path>>().into_iter().map(fact).collect()
    }

    fn facts_of(&self, rolled: &Rolled, places: &[Place], judged: &Judged) -> BTreeMap<Path, LoopFacts> {
        self.solver.set_budget(self.work.get());
        let mut facts: BTreeMap<Path, LoopFacts> = BTreeMap::new();
        let mut memo = self.memo.borrow_mut();
        let mut unknown: BTreeSet<Path> = BTreeSet::new();
        for a in places {
            let mut over_copies = Vec::with_capacity(a.loops.len());
            for l in &a.loops {
                let path = Path(a.path.0[..l.depth].into());
                over_copies.push(rolled.is_over_copies(&path));
                facts.entry(path).or_default();
            }
            for b in places {
                let (shared, _) = a.shared(b);
                for &index in self.by_pair.get(&(a.statement, b.statement)).into_iter().flatten() {
                    let check = &self.checks[index];
                    if check.vanishes_if.iter().any(|c| judged.conditions.contains(c))
                        || check.is_on(&judged.hidden)
                    {
                        continue;
                    }
                    for level in (0..shared).filter(|level| !over_copies[*level]) {
                        let path = Path(a.path.0[..a.loops[level].depth].into());
                        match self.carried(&mut memo, index, a, b, level) {
                            Ok(None) => {}
                            Ok(Some(_)) => {
                                let dependence = &self.set.dependences[check.dependence];
                                let carried = Carried {
                                    dependence: check.dependence,
                                    kind: dependence.kind,
                                    reduction: check.reduction,
                                    vanishes_if: check.vanishes_if.clone(),
                                    distance: dependence.distance.clone(),
                                };
                                let list = &mut facts.entry(path).or_default().carried;
                                if !list.contains(&carried) {
                                    list.push(carried);
                                }
                            }
                            Err(_) => {
                                unknown.insert(path);
                            }
                        }
                    }
                }
            }
        }
        for (path, fact) in &mut facts {
            if unknown.contains(path) {
                continue;
            }
            fact.parallel = fact.carried.is_empty() || mutation::off(Rule::Facts);
            let needed: Option<BTreeSet<RuntimeCondition>> =
                fact.carried.iter().map(|c| c.vanishes_if.first().cloned()).collect();
            fact.parallel_if = needed.filter(|n| !n.is_empty()).map(|n| n.into_iter().collect());
        }
        facts
    }

    fn orders(&self) -> Orders<'_> {
        Orders {
            kernel: &self.kernel,
            set: &self.set,
            context: &self.context,
            solver: &self.solver,
            checks: &self.checks,
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

/// Whether a test takes the dependence for one that loops do not carry.
fn check_is_exempt(check: &order::Check) -> bool {
    check.reduction && mutation::off(Rule::ReductionParallel)
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

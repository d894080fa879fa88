//! The three implementations: they differ only in which pairs of accesses they tell apart.

use super::{
    AnalysisError, Dependence, DependenceKind, DependenceSet, Dependences, Disjunct, Relation, rules,
};
use crate::isl::{DEFAULT_QUOTA, IslError};
use crate::mutation::{self, Rule};
use crate::places::{Place, places};
use crate::system::{Inexact, Row, Solver, System};
use loop_tree::{
    AccessId, AccessKind, Affine, ArrayId, Kernel, Privates, Reduction, RuntimeCondition, Statement, StmtId,
    VarId,
};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// Nothing may move: every pair of instances is ordered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

/// Instances that touch the same array are ordered, if one of them writes; subscripts are not looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flat;

/// Instances that touch the same element are ordered, if one of them writes.
#[derive(Clone, Copy, Debug)]
pub struct Polyhedral {
    /// isl operations per question.
    pub quota: u64,
}

impl Default for Polyhedral {
    fn default() -> Self {
        Polyhedral { quota: DEFAULT_QUOTA }
    }
}

impl Dependences for Nothing {
    fn dependences(&self, kernel: &Kernel) -> Result<DependenceSet, AnalysisError> {
        build(kernel, Precision::Nothing, DEFAULT_QUOTA)
    }
}

impl Dependences for Flat {
    fn dependences(&self, kernel: &Kernel) -> Result<DependenceSet, AnalysisError> {
        build(kernel, Precision::Array, DEFAULT_QUOTA)
    }
}

impl Dependences for Polyhedral {
    fn dependences(&self, kernel: &Kernel) -> Result<DependenceSet, AnalysisError> {
        build(kernel, Precision::Element, self.quota)
    }
}

/// Pairs of accesses that may conflict, at 40 us each, beyond which a kernel is refused; the same with what a pair in deep
/// nests takes, in these 40 us; and pairs of places, which are only looked at.
const MAX_PAIRS: usize = 100_000;
const MAX_WORK: usize = 400_000;
const MAX_PLACES: usize = 4_000_000;

/// What a pair takes at this depth: as many relations and distances as there are loops, over systems that grow with them.
fn work_of_pair(depth: usize) -> usize {
    (depth.saturating_pow(4) / 16).max(1)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Precision {
    Nothing,
    Array,
    Element,
}

/// What a place touches: its accesses, and the predicates that it is under.
pub(super) struct Touch {
    access: Option<AccessId>,
    pub array: ArrayId,
    /// Over the dims by position; `None`: any element.
    pub subscripts: Option<Rc<[Affine]>>,
    pub writes: bool,
    /// It happens whenever the statement executes.
    pub surely: bool,
    pub control: bool,
}

/// What is known about parameters, over columns that are the parameters.
pub(crate) fn context(kernel: &Kernel) -> Result<System, Inexact> {
    let mut system = System::new(kernel.params.len());
    for c in kernel.constraints() {
        system.require(c, &[])?;
    }
    Ok(system)
}

fn build(kernel: &Kernel, precision: Precision, quota: u64) -> Result<DependenceSet, AnalysisError> {
    let places = places(kernel, &kernel.original)?;
    let privates = Privates::of(kernel);
    let touched: Vec<Vec<Touch>> = places.iter().map(|p| touches(kernel, &privates, p)).collect();
    let (pairs, work) = conflicts(kernel, &places, &touched);
    for (pairs, limit) in [(places.len().saturating_mul(places.len()), MAX_PLACES), (pairs, MAX_PAIRS)] {
        if pairs > limit {
            return Err(AnalysisError::TooLarge { pairs, limit });
        }
    }
    if work > MAX_WORK {
        let depth = places.iter().map(|p| p.loops.len()).max().unwrap_or(0);
        return Err(AnalysisError::TooDeep { pairs, depth, limit: MAX_WORK / work_of_pair(depth) });
    }
    let mut builder = Builder {
        kernel,
        bounded: (0..kernel.arrays.len()).map(|a| kernel.is_bounded(ArrayId::new(a))).collect(),
        context: context(kernel)?,
        solver: Solver::new(quota),
        known: FxHashMap::default(),
        answered: FxHashMap::default(),
        result: Vec::new(),
    };
    builder.check_instances(&places)?;
    for (a, from) in places.iter().zip(&touched) {
        for (b, to) in places.iter().zip(&touched) {
            builder.pair(precision, (a, from), (b, to))?;
        }
    }
    Ok(DependenceSet { dependences: builder.result })
}

/// Pairs of accesses, one of them a write, to arrays of one alias class; and what they take.
fn conflicts(kernel: &Kernel, places: &[Place], touched: &[Vec<Touch>]) -> (usize, usize) {
    // By class and depth: all accesses, and those that read.
    let mut counts: FxHashMap<u32, BTreeMap<usize, (usize, usize)>> = FxHashMap::default();
    for (place, touches) in places.iter().zip(touched) {
        for t in touches {
            let depths = counts.entry(kernel.array(t.array).alias.class).or_default();
            let (all, reads) = depths.entry(place.loops.len()).or_default();
            *all += 1;
            *reads += usize::from(!t.writes);
        }
    }
    let (mut pairs, mut work) = (0usize, 0usize);
    for depths in counts.values() {
        for (a, (all_a, reads_a)) in depths {
            for (b, (all_b, reads_b)) in depths {
                let here = all_a.saturating_mul(*all_b) - reads_a.saturating_mul(*reads_b);
                pairs = pairs.saturating_add(here);
                work = work.saturating_add(here.saturating_mul(work_of_pair(*a.max(b))));
            }
        }
    }
    (pairs, work)
}

pub(super) fn touches(kernel: &Kernel, privates: &Privates, place: &Place) -> Vec<Touch> {
    let statement = kernel.statement(place.statement);
    // A private scalar is an array over the first dims.
    let element = |array| {
        let count = privates.variables(array).map_or(0, <[VarId]>::len);
        (0..count).map(|k| Affine::var(VarId::new(k)))
    };
    let mut list: Vec<Touch> = Vec::with_capacity(statement.accesses.len());
    for (id, access) in statement.accesses() {
        let rank = kernel.arrays.get(access.array.index()).map(|a| a.rank());
        let subscripts = (access.subscripts.as_ref()).filter(|s| Some(s.len()) == rank).and_then(|s| {
            let subscripts = s.iter().map(|e| by_position(statement, e));
            element(access.array).map(Some).chain(subscripts).collect()
        });
        if access.subscripts.is_none() && mutation::off(Rule::UnknownSubscripts) {
            continue;
        }
        let writes = match access.kind {
            AccessKind::Read => false,
            AccessKind::MayWrite => !mutation::off(Rule::MayWrite),
            AccessKind::Write => true,
        };
        let surely = access.kind != AccessKind::MayWrite && unmasked(statement, id);
        list.push(Touch {
            access: Some(id),
            array: access.array,
            subscripts,
            writes,
            surely,
            control: false,
        });
    }
    for (array, _) in &place.predicates {
        list.push(Touch {
            access: None,
            array: *array,
            subscripts: Some(element(*array).collect()),
            writes: false,
            surely: true,
            control: true,
        });
    }
    list
}

/// Whether an operation goes through the access whenever the statement executes.
pub(crate) fn unmasked(statement: &Statement, access: AccessId) -> bool {
    statement.ops.iter().any(|op| op.kind.access() == Some(access) && op.mask.is_none())
}

/// An expression over dims with dims numbered; `None` if it cannot be used.
pub(crate) fn by_position(statement: &Statement, e: &Affine) -> Option<Affine> {
    let position = |v: VarId| statement.dims.iter().rposition(|d| *d == v);
    let mut known = true;
    e.for_each_var(&mut |v| known &= position(v).is_some());
    let renamed = e.substitute(&|v| position(v).map(|k| Affine::var(VarId::new(k))));
    (known && renamed.is_exact()).then_some(renamed)
}

/// The subscripts of two accesses that must be equal; `None`: nothing is known.
type Subscripts = Option<(Rc<[Affine]>, Rc<[Affine]>)>;

/// Domains of two places, the loops that these share, which stands first, and subscripts: all that their pairs of instances depend on.
/// Many statements of one loop body have the same.
type RelationKey = (u128, u128, usize, Ordering, Subscripts);

struct Builder<'k> {
    kernel: &'k Kernel,
    /// By array: a check can tell where it is touched.
    bounded: Vec<bool>,
    context: System,
    solver: Solver,
    known: FxHashMap<RelationKey, Arc<Relation>>,
    /// Statements under conditions on data have the instances of those beside them.
    answered: FxHashMap<System, bool>,
    result: Vec<Dependence>,
}

impl Builder<'_> {
    /// No instance executes twice in the original order.
    fn check_instances(&mut self, places: &[Place]) -> Result<(), AnalysisError> {
        if mutation::off(Rule::Instances) {
            return Ok(());
        }
        for (i, a) in places.iter().enumerate() {
            for b in places[i..].iter().filter(|b| b.statement == a.statement) {
                let same = a.path == b.path;
                if same && a.is_identity() {
                    continue;
                }
                self.check_apart(a, b)?;
                // Between different places the other direction repeats an instance just as well.
                if !same {
                    self.check_apart(b, a)?;
                }
            }
        }
        Ok(())
    }

    /// Nothing that runs at one place runs again at the other.
    fn check_apart(&mut self, a: &Place, b: &Place) -> Result<(), AnalysisError> {
        for disjunct in self.disjuncts(a, b, None)? {
            let mut system = disjunct.system.clone();
            let n = self.kernel.params.len();
            for k in 0..a.dims.len() {
                system.require_zero(Row::column(n + k).minus(&Row::column(n + a.dims.len() + k))?);
            }
            if self.solver.find_point(&system)?.is_some() {
                let statement = self.kernel.statement(a.statement).name.to_string();
                return Err(AnalysisError::Repeated { statement });
            }
        }
        Ok(())
    }

    fn pair(
        &mut self,
        precision: Precision,
        (a, from): (&Place, &[Touch]),
        (b, to): (&Place, &[Touch]),
    ) -> Result<(), AnalysisError> {
        let (source, target) = (self.kernel.statement(a.statement), self.kernel.statement(b.statement));
        if precision == Precision::Nothing || rules::ordered(source, target) {
            let dependence = Dependence {
                source: a.statement,
                target: b.statement,
                source_access: None,
                target_access: None,
                array: None,
                kind: DependenceKind::Order,
                vanishes_if: vec![],
                reduction: false,
                relation: Arc::default(),
            };
            self.add(dependence, a, b, None)?;
        }
        if precision == Precision::Nothing {
            return Ok(());
        }
        let coherent = rules::coherent(source, target);
        let mut seen: Vec<(ArrayId, ArrayId, DependenceKind, bool)> = Vec::new();
        for s in from {
            for t in to {
                let control = s.control || t.control;
                let matters = s.writes || t.writes || (coherent && !control);
                if !matters || !self.kernel.may_overlap(s.array, t.array) {
                    continue;
                }
                let kind = match (control, s.writes, t.writes) {
                    (true, ..) => DependenceKind::Control,
                    (_, false, false) => DependenceKind::Order,
                    (_, true, false) => DependenceKind::Flow,
                    (_, false, true) => DependenceKind::Anti,
                    _ => DependenceKind::Output,
                };
                let unchecked =
                    |touch: &Touch| !self.bounded[touch.array.index()] && !mutation::off(Rule::UnknownRanges);
                let vanishes_if = if s.array == t.array || unchecked(s) || unchecked(t) {
                    vec![]
                } else {
                    vec![RuntimeCondition::NoOverlap(s.array.min(t.array), s.array.max(t.array))]
                };
                let equal = match (&s.subscripts, &t.subscripts) {
                    (Some(x), Some(y)) if precision == Precision::Element && s.array == t.array => {
                        Some((x.clone(), y.clone()))
                    }
                    _ => None,
                };
                // Others see what an atomic accumulator holds in between.
                let reduction = !coherent && commute((a.statement, source, s), (b.statement, target, t));
                let dependence = Dependence {
                    source: a.statement,
                    target: b.statement,
                    source_access: s.access,
                    target_access: t.access,
                    array: Some(t.array),
                    kind,
                    vanishes_if,
                    reduction,
                    relation: Arc::default(),
                };
                // Without subscripts one of each sort says it all, but to lanes, which do one operation after the other.
                if equal.is_none() && !reduction {
                    let sort = (s.array, t.array, kind, dependence.is_in_text(self.kernel));
                    if seen.contains(&sort) {
                        continue;
                    }
                    seen.push(sort);
                }
                self.add(dependence, a, b, equal)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        mut dependence: Dependence,
        a: &Place,
        b: &Place,
        equal: Subscripts,
    ) -> Result<(), AnalysisError> {
        let (shared, order) = a.shared(b);
        let key = (a.domain, b.domain, shared, order, equal);
        let known = match self.known.get(&key) {
            Some(known) => known.clone(),
            None => {
                let equal = key.4.as_ref().map(|(x, y)| (&x[..], &y[..]));
                let disjuncts = self.disjuncts(a, b, equal)?;
                let identities = a.is_identity() && b.is_identity();
                let common = if identities { shared } else { 0 };
                let (source, target) = (self.kernel.params.len(), self.kernel.params.len() + a.dims.len());
                let loops = (0..common).map(|k| (source + k, target + k)).collect();
                let quota = self.solver.quota();
                let known = Arc::new(Relation { disjuncts, loops, quota, distance: OnceLock::new() });
                self.known.insert(key, known.clone());
                known
            }
        };
        if !known.disjuncts.is_empty() {
            dependence.relation = known;
            self.result.push(dependence);
        }
        Ok(())
    }

    /// Pairs of instances, the first of `a` and before the second, of `b`; with these subscripts equal, if given.
    fn disjuncts(
        &mut self,
        a: &Place,
        b: &Place,
        equal: Option<(&[Affine], &[Affine])>,
    ) -> Result<Vec<Disjunct>, AnalysisError> {
        let n = self.kernel.params.len();
        let (na, nb) = (a.dims.len(), b.dims.len());
        let (dims_a, dims_b) = (Row::columns(n..n + na), Row::columns(n + na..n + na + nb));
        let mut core = System::new(n + na + nb);
        let plain = a.is_identity() && b.is_identity();
        let (time_a, time_b) = if plain {
            (dims_a.clone(), dims_b.clone())
        } else {
            let first = core.add_columns(a.loops.len() + b.loops.len());
            let middle = first + a.loops.len();
            let (time_a, time_b) =
                (Row::columns(first..middle), Row::columns(middle..middle + b.loops.len()));
            core.require_equal(&a.dims, &time_a, &dims_a)?;
            core.require_equal(&b.dims, &time_b, &dims_b)?;
            (time_a, time_b)
        };
        if let Some((x, y)) = equal {
            for (x, y) in x.iter().zip(y) {
                let row = core.row(x, &dims_a)?;
                let row = row.minus(&core.row(y, &dims_b)?)?;
                core.require_zero(row);
            }
        }
        let mut result = Vec::new();
        for order in a.before(b, &System::new(0), &time_a, &time_b)? {
            let mut ordered = core.clone();
            order.zero().iter().for_each(|r| ordered.require_zero(r.clone()));
            order.nonnegative().iter().for_each(|r| ordered.require_nonnegative(r.clone()));
            let mut full = ordered.clone();
            full.include_at(&self.context, n, 0, n);
            for first in a.domains(&full, &time_a)? {
                for system in b.domains(&first, &time_b)? {
                    if !self.may_have_point(&system)? {
                        continue;
                    }
                    let core = Arc::new(if plain { ordered.clone() } else { system.clone() });
                    result.push(Disjunct { system, core });
                }
            }
        }
        Ok(result)
    }

    /// Whether the system may have a point. Without an answer the pair is kept: more dependences are never wrong.
    fn may_have_point(&mut self, system: &System) -> Result<bool, AnalysisError> {
        if let Some(answer) = self.answered.get(system) {
            return Ok(*answer);
        }
        let answer = match self.solver.find_point(system) {
            Ok(point) => point.is_some(),
            Err(IslError::Quota { .. } | IslError::Overflow) => true,
            Err(error) => return Err(error.into()),
        };
        self.answered.insert(system.clone(), answer);
        Ok(answer)
    }
}

/// Whether two touches are of accumulators of one operator: then the updates may change places.
fn commute((a, s, x): (StmtId, &Statement, &Touch), (b, t, y): (StmtId, &Statement, &Touch)) -> bool {
    let (Some(first), Some(second)) = (s.reduction, t.reduction) else {
        // A mutant in which anything else on the accumulator may change places with it.
        let on =
            |touch: &Touch, id: AccessId| s.accesses.get(id.index()).is_some_and(|w| w.array == touch.array);
        return mutation::off(Rule::ReductionOthers)
            && s.reduction.is_some_and(|r| on(x, r.write))
            && x.array == y.array
            && !y.control;
    };
    if mutation::off(Rule::ReductionAnything) && a == b {
        return true;
    }
    let of_it = |r: Reduction, touch: &Touch| touch.access.is_some_and(|id| id == r.read || id == r.write);
    let same_element = |r: Reduction, statement: &Statement| {
        let access = |id: AccessId| statement.accesses.get(id.index());
        match (access(r.read), access(r.write)) {
            (Some(r), Some(w)) => {
                r.array == w.array && r.subscripts.is_some() && r.subscripts == w.subscripts
            }
            _ => false,
        }
    };
    let same_operator = first.op == second.op || mutation::off(Rule::ReductionOthers);
    x.array == y.array
        && same_operator
        && of_it(first, x)
        && of_it(second, y)
        && same_element(first, s)
        && same_element(second, t)
}

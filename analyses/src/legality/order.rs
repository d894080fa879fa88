//! Order: does every dependence keep its direction? And: which loops carry which?
//!
//! For each pair of places that a dependence may connect, a violation is a point of: dependence, both places'
//! domains, and "target not after source" in the loops that the two share. The values of loops that are not shared do not
//! matter for time, only for which instance it is. Domains of the original need not be repeated: coverage is checked
//! apart.

use super::Fault;
use super::case::Answers;
use super::witness::{BrokenDependence, StatementRef};
use crate::dependences::{Dependence, DependenceKind, DependenceSet, Relation};
use crate::mutation::{self, Rule};
use crate::places::Place;
use crate::system::{Inexact, Posed, Row, Solver, System};
use loop_tree::{ArrayId, Kernel, RuntimeCondition, StmtId, Storage};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One conjunction to be kept, of all dependences that have it.
pub(super) struct Check {
    pub source: StmtId,
    pub target: StmtId,
    pub core: Arc<System>,
    /// The first dependence that it stands for.
    pub dependence: usize,
    /// The arrays that these are on; `None`: of order.
    pub on: BTreeSet<Option<ArrayId>>,
    /// It need not be kept where one of these holds; empty: always.
    pub vanishes_if: Vec<RuntimeCondition>,
    pub reduction: bool,
    /// If it is of one statement: whether the operation of the source precedes that of the target, or is the same.
    pub in_text: bool,
}

/// All different conjunctions; those implied by another one are left out.
pub(super) fn checks(kernel: &Kernel, set: &DependenceSet) -> Vec<Check> {
    // By pair of statements: only there one can imply another.
    let mut by_pair: BTreeMap<(StmtId, StmtId), Vec<(usize, Check)>> = BTreeMap::new();
    let mut number = 0;
    // Many dependences have one relation.
    let mut sorted: FxHashMap<*const Relation, Vec<Arc<System>>> = FxHashMap::default();
    for (index, d) in set.dependences.iter().enumerate() {
        if is_left_out(kernel, d) {
            continue;
        }
        let sort = || d.relation.disjuncts.iter().map(|x| Arc::new((*x.core).clone().sorted())).collect();
        for core in &*sorted.entry(Arc::as_ptr(&d.relation)).or_insert_with(sort) {
            let check = Check {
                vanishes_if: d.vanishes_if.clone(),
                reduction: d.reduction,
                in_text: d.is_in_text(kernel),
                ..Check::of(index, d.array, (d.source, d.target), core.clone())
            };
            by_pair.entry((d.source, d.target)).or_default().push((number, check));
            number += 1;
        }
    }
    // What is on the kernel's own arrays may be left out of a question, and then says nothing of others.
    let stays = |on: &Option<ArrayId>| on.is_none_or(|a| kernel.array(a).storage != Storage::Local);
    let implied = |a: &Check, b: &Check| {
        let owned = kernel.params.len()
            + kernel.statement(a.source).dims.len()
            + kernel.statement(a.target).dims.len();
        // `a` holds wherever `b` does, and is checked under no fewer circumstances.
        (a.vanishes_if.is_empty() || a.vanishes_if == b.vanishes_if)
            && a.reduction == b.reduction
            && (Arc::ptr_eq(&a.core, &b.core)
                || a.core == b.core
                || (a.core.columns() == owned
                    && a.core.rows_within(&b.core)
                    && (a.on == b.on || a.on.iter().any(stays))))
    };
    let mut all: Vec<(usize, Check)> = Vec::new();
    for list in by_pair.into_values() {
        let mut kept: Vec<(usize, Check)> = Vec::with_capacity(list.len());
        for (number, mut check) in list {
            if let Some((_, same)) = kept.iter_mut().find(|(_, k)| implied(k, &check)) {
                same.on.append(&mut check.on);
                same.in_text &= check.in_text;
                continue;
            }
            kept.retain(|(_, k)| {
                let leave = implied(&check, k);
                if leave {
                    check.on.extend(k.on.iter().copied());
                    check.in_text &= k.in_text;
                }
                !leave
            });
            kept.push((number, check));
        }
        all.extend(kept);
    }
    // In the order of the dependences.
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, check)| check).collect()
}

/// Whether a test leaves out the rule that the dependence comes from.
fn is_left_out(kernel: &Kernel, d: &Dependence) -> bool {
    let rule = match d.kind {
        DependenceKind::Flow => Rule::Flow,
        DependenceKind::Anti => Rule::Anti,
        DependenceKind::Output => Rule::Output,
        DependenceKind::Control => Rule::Control,
        DependenceKind::Order => Rule::Order,
    };
    let scalar = d.array.is_some_and(|a| kernel.array(a).is_scalar());
    mutation::off(rule)
        || (scalar && mutation::off(Rule::Scalar))
        || (!d.vanishes_if.is_empty() && mutation::off(Rule::Overlap))
}

/// What is asked about a check and two places.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// Is the target executed before or together with the source?
    Reversed,
    /// Is there a pair in different iterations of shared loop `.0`, in the same ones of all outer ones? In which
    /// the target's value is greater (`true`) or less?
    Carried(usize, bool),
    /// Is there a pair whose target is executed before the source, if the lanes of shared loop `.0` run in lock step?
    Lanes(usize),
    /// Is there a pair at all?
    Any,
}

/// All that an answer depends on. Many statements of one body have the same conjunction to keep.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    /// Where the check's conjunction is, as long as there is the check.
    core: usize,
    /// Whether operations of the check are in order, where lanes ask for it.
    in_text: bool,
    source: u128,
    target: u128,
    shared: usize,
    order: Ordering,
    question: Question,
}

/// Answer: an example, if there is one.
pub(super) type Answer = Result<Option<Arc<BrokenDependence>>, Fault>;

/// Two instances, at sizes.
struct Point {
    params: Vec<(Arc<str>, i64)>,
    source: Vec<i64>,
    target: Vec<i64>,
}

#[derive(Default)]
pub(super) struct Memo {
    /// Checks, and the shapes of two places that are as in the original tree to each other.
    trusted: FxHashSet<(usize, u128, u128, usize, Ordering)>,
    known: Answers<Key, Option<Arc<Point>>>,
    /// Domains of places.
    alone: Answers<u128, Arc<Vec<System>>>,
}

/// The last pair of places, by their domains: it is asked about for several checks.
pub(super) type LastPair = RefCell<Option<((u128, u128), Arc<Pair>)>>;

/// Work of building the systems of one question.
const BUILDING: u64 = 40;

pub(super) struct Orders<'o> {
    pub kernel: &'o Kernel,
    pub set: &'o DependenceSet,
    pub context: &'o System,
    pub solver: &'o Solver,
    pub checks: &'o [Check],
    pub memo: &'o Memo,
    pub last: &'o LastPair,
}

impl Check {
    /// Of a dependence by its number: to be kept always.
    pub fn of(
        dependence: usize,
        on: Option<ArrayId>,
        (source, target): (StmtId, StmtId),
        core: Arc<System>,
    ) -> Check {
        let on = BTreeSet::from([on]);
        Check { source, target, core, dependence, on, vanishes_if: vec![], reduction: false, in_text: false }
    }

    /// Whether all of it is on these arrays.
    pub fn is_on(&self, arrays: &BTreeSet<ArrayId>) -> bool {
        !arrays.is_empty() && self.on.iter().all(|on| on.is_some_and(|a| arrays.contains(&a)))
    }
}

impl Memo {
    /// The order of the original tree keeps its dependences, by definition.
    pub fn trusting(checks: &[Check], places: &[Place]) -> Memo {
        let mut memo = Memo::default();
        // Places of one shape execute the same instances; then nothing is known by definition.
        let mut alike: FxHashMap<u128, usize> = FxHashMap::default();
        places.iter().for_each(|p| *alike.entry(p.shape).or_default() += 1);
        let mut unique: FxHashMap<StmtId, Vec<&Place>> = FxHashMap::default();
        for place in places.iter().filter(|p| alike[&p.shape] == 1) {
            unique.entry(place.statement).or_default().push(place);
        }
        let of = |id| unique.get(&id).into_iter().flatten();
        for (index, check) in checks.iter().enumerate() {
            for a in of(check.source) {
                for b in of(check.target) {
                    let (shared, order) = a.shared(b);
                    memo.trusted.insert((index, a.shape, b.shape, shared, order));
                }
            }
        }
        memo
    }
}

impl Orders<'_> {
    /// An example for the question about check number `index`, or none.
    pub fn ask(&self, index: usize, a: &Place, b: &Place, question: Question) -> Answer {
        let check = &self.checks[index];
        let (shared, order) = a.shared(b);
        if question == Question::Reversed {
            // The source's loops are all over before the target's begin.
            let before = shared == 0 && order == Ordering::Less;
            if before || self.memo.trusted.contains(&(index, a.shape, b.shape, shared, order)) {
                return Ok(None);
            }
        }
        let key = Key {
            core: Arc::as_ptr(&check.core).addr(),
            in_text: check.in_text && matches!(question, Question::Lanes(_)),
            source: a.domain,
            target: b.domain,
            shared,
            order,
            question,
        };
        let point = self.memo.known.ask(self.solver, key, || {
            self.solver.charge(BUILDING)?;
            let pair = self.pair(a, b)?;
            let point = self.compute(check, &pair, (shared, order), question)?;
            Ok(point.map(|point| {
                let instance = |rows: &[Row]| super::values(rows, &point);
                let params = super::param_values(self.kernel, &point);
                Arc::new(Point { params, source: instance(pair.source()), target: instance(pair.target()) })
            }))
        })?;
        Ok(point.map(|point| self.example(check, &point)))
    }

    fn pair(&self, a: &Place, b: &Place) -> Result<Arc<Pair>, Fault> {
        let both = (a.domain, b.domain);
        if let Some((_, pair)) = self.last.borrow().as_ref().filter(|(known, _)| *known == both) {
            return Ok(pair.clone());
        }
        let params = self.kernel.params.len();
        let domains =
            |p: &Place| self.memo.alone.ask(self.solver, p.domain, || Ok(Arc::new(alone(params, p)?)));
        let pair = Arc::new(Pair::new(self.context, params, (a, &domains(a)?), (b, &domains(b)?))?);
        self.last.replace(Some((both, pair.clone())));
        Ok(pair)
    }

    fn compute(
        &self,
        check: &Check,
        pair: &Pair,
        (shared, order): (usize, Ordering),
        question: Question,
    ) -> Result<Option<Vec<i64>>, Fault> {
        let alternatives = if mutation::off(Rule::Alternatives) { 1 } else { pair.domains.len() };
        for base in pair.domains.iter().take(alternatives) {
            let mut base = base.clone();
            base.include(&check.core, &pair.columns)?;
            // Copies of unrolled loops: their instances differ modulo the factor.
            if base.contradicts() {
                continue;
            }
            let difference = |k: usize| pair.time_b[k].clone().minus(&pair.time_a[k]);
            let found = match question {
                Question::Any => self.solver.find(&base)?,
                Question::Carried(level, later) => {
                    for k in 0..level {
                        base.require_zero(difference(k)?);
                    }
                    let d = difference(level)?;
                    self.solver.find_with(&base, if later { d } else { d.negated()? }.offset(-1)?)?
                }
                Question::Lanes(level) => {
                    let order = match order {
                        Ordering::Equal if check.in_text => Ordering::Less,
                        Ordering::Equal => Ordering::Greater,
                        other => other,
                    };
                    self.reversed(base, (0..shared).filter(|k| *k != level).map(difference), order)?
                }
                Question::Reversed => {
                    let levels = if mutation::off(Rule::InnerLoops) { shared.min(1) } else { shared };
                    self.reversed(base, (0..levels).map(difference), order)?
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// A point in which the target comes before the source, or with it; by how much it comes later in each shared loop.
    fn reversed(
        &self,
        mut base: Posed,
        later: impl Iterator<Item = Result<Row, Inexact>>,
        order: Ordering,
    ) -> Result<Option<Vec<i64>>, Fault> {
        for difference in later {
            let difference = difference?;
            let earlier = difference.clone().negated()?.offset(-1)?;
            if let Some(point) = self.solver.find_with(&base, earlier)? {
                return Ok(Some(point));
            }
            base.require_zero(difference);
            if base.contradicts() {
                return Ok(None);
            }
        }
        // Equal in all shared loops: the sequence decides. One place at one time is one instance, which depends on nothing
        // but others.
        if order == Ordering::Greater && !mutation::off(Rule::Together) {
            return Ok(self.solver.find(&base)?);
        }
        Ok(None)
    }

    fn example(&self, check: &Check, point: &Point) -> Arc<BrokenDependence> {
        let d = &self.set.dependences[check.dependence];
        Arc::new(BrokenDependence {
            kind: d.kind,
            source: StatementRef::new(self.kernel, d.source),
            target: StatementRef::new(self.kernel, d.target),
            source_access: d.source_access,
            target_access: d.target_access,
            array: d.array.map(|a| self.kernel.array(a).name.clone()),
            relation: d.relation.clone(),
            reduction: d.reduction,
            params: point.params.clone(),
            source_instance: point.source.clone(),
            target_instance: point.target.clone(),
        })
    }
}

/// The domain of a place, by alternatives of its conditions. Columns: parameters, loops, floors.
fn alone(params: usize, place: &Place) -> Result<Vec<System>, Inexact> {
    let time = Row::columns(params..params + place.loops.len());
    place.domains(&System::new(params + time.len()), &time)
}

/// Two places at two points of time.
pub(super) struct Pair {
    /// Both domains, by alternatives of their conditions. Columns: parameters, loops of `a`, loops of `b`, floors.
    domains: Vec<Posed>,
    time_a: Vec<Row>,
    time_b: Vec<Row>,
    /// Parameters, dims of the instance of `a`, dims of that of `b`.
    columns: Vec<Row>,
    /// Where the dims of `b` begin.
    dims_b: usize,
    params: usize,
}

impl Pair {
    /// Each place with its domain alone.
    fn new(
        context: &System,
        params: usize,
        (a, domain_a): (&Place, &[System]),
        (b, domain_b): (&Place, &[System]),
    ) -> Result<Pair, Inexact> {
        let (na, nb) = (a.loops.len(), b.loops.len());
        let (between, all) = (params + na, params + na + nb);
        let (time_a, time_b) = (Row::columns(params..between), Row::columns(between..all));
        let mut base = System::under(context, params, all);
        let mut columns = Row::columns(0..params);
        let dims_b = params + a.dims.len();
        for (place, time) in [(a, &time_a), (b, &time_b)] {
            for e in &place.dims {
                columns.push(base.row(e, time)?);
            }
        }
        let mut domains = Vec::new();
        // Floors that both have are one column only where both are made together.
        let floors =
            |place: &Place, alone: &[System]| alone.iter().any(|d| d.columns() != params + place.loops.len());
        if base.columns() != all || (floors(a, domain_a) && floors(b, domain_b)) {
            for first in a.domains(&base, &time_a)? {
                domains.extend(b.domains(&first, &time_b)?.into_iter().map(Posed::new));
            }
        } else {
            for first in domain_a {
                for second in domain_b {
                    let mut both = base.clone();
                    both.reserve_for([first, second].into_iter());
                    both.include_at(first, params, na, params);
                    both.include_at(second, params, nb, between);
                    domains.push(Posed::new(both));
                }
            }
        }
        Ok(Pair { domains, time_a, time_b, columns, dims_b, params })
    }

    fn source(&self) -> &[Row] {
        &self.columns[self.params..self.dims_b]
    }

    fn target(&self) -> &[Row] {
        &self.columns[self.dims_b..]
    }
}

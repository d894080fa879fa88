//! Coverage: every instance of the original is executed exactly once, or as often as it pleases, under the same predicates.
//!
//! The usual case is proved with small systems: guess the inverse of each place's dims (see [`inverse`](super::inverse)),
//! verify it, and compare bounds in both directions. What has no such inverse goes to isl as a comparison of sets.

use super::case::Answers;
use super::witness::{BrokenCoverage, CoverageProblem, StatementRef};
use super::{Fault, Oracle, inverse};
use crate::isl;
use crate::mutation::{self, Rule};
use crate::places::Place;
use crate::system::{Inexact, Posed, Row, System, Tried};
use loop_tree::{Affine, ArrayId, Constraint, Relation, StmtId, VarId, hash128};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) type Answer = Result<Covered, Fault>;

/// Whether new places execute what the original ones do.
#[derive(Clone)]
pub(super) enum Covered {
    /// They do where the parameters satisfy these; usually none.
    Where(Arc<[Constraint]>),
    Not(Arc<BrokenCoverage>),
}

/// An instance that two places execute, if there is one.
type Overlap = Option<Vec<i64>>;

#[derive(Default)]
pub(super) struct Memo {
    known: Answers<(StmtId, Any, Vec<u128>), Covered>,
    /// By the shapes of the original place and of the new one.
    images: Answers<(u128, u128), Verified>,
    /// By the shape of the original place and two images: an instance of both.
    overlaps: Answers<(u128, u128, u128), Overlap>,
    /// By the shape of the original place and the images as sets: whether these provably cover it.
    covers: Answers<(u128, Vec<u128>), bool>,
    /// By the shape of an original place.
    wholes: Answers<u128, Option<Arc<Whole>>>,
    /// Whether all instances of the original place of this shape satisfy a constraint.
    implied: Answers<(u128, Constraint), bool>,
}

/// Parts of one place under alternative conditions.
const MAX_PIECES: usize = 32;
/// Work of comparing constraints one by one, in the solver's unit.
const COMPARING: u64 = 4;
/// Systems that one proof by cases may try.
const MAX_CASES: usize = 2000;

pub(super) struct Coverage<'o> {
    pub oracle: &'o Oracle,
    /// How often instances are executed does not matter.
    pub any: Any,
}

/// What may be otherwise than in the original.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Any {
    /// Instances may be executed again.
    pub again: bool,
    /// Instances may be left out.
    pub none: bool,
}

/// The instances of an original place: all of its constraints, over dims.
struct Whole {
    domain: Posed,
    required: Vec<Constraint>,
}

/// A place with verified inverse: the instances that it executes, as constraints over dims.
struct Image {
    constraints: Vec<Constraint>,
    /// Their hash.
    hash: u128,
    /// The same in an order of their own, and its hash: places that execute the same often have the same.
    set: Vec<Constraint>,
    hash_of_set: u128,
}

impl Image {
    fn new(constraints: Vec<Constraint>) -> Image {
        let mut set = constraints.clone();
        set.sort();
        Image { hash: hash128(&constraints), hash_of_set: hash128(&set), constraints, set }
    }
}

impl Coverage<'_> {
    /// Whether the new places of a statement execute what the original ones do.
    pub fn ask(&self, id: StmtId, original: &[&Place], new: &[&Place]) -> Answer {
        let shapes = |list: &[&Place]| {
            let mut shapes: Vec<u128> = list.iter().map(|p| p.shape).collect();
            shapes.sort_unstable();
            shapes
        };
        let key = (id, self.any, shapes(new));
        if key.2 == shapes(original) {
            return Ok(Covered::Where([].into()));
        }
        self.oracle.coverage.known.ask(&self.oracle.solver, key, || {
            // In an order of their own, so that the example does not depend on which tree was asked about first.
            let mut new = new.to_vec();
            new.sort_by_key(|p| p.shape);
            unless_left_out(self.compute(id, original, &new))
        })
    }

    fn compute(&self, id: StmtId, original: &[&Place], new: &[&Place]) -> Answer {
        type Groups<'p> = BTreeMap<&'p BTreeSet<(ArrayId, bool)>, (Vec<&'p Place>, Vec<&'p Place>)>;
        let mut groups: Groups = BTreeMap::new();
        for p in original {
            groups.entry(&p.predicates).or_default().0.push(p);
        }
        for p in new {
            groups.entry(&p.predicates).or_default().1.push(p);
        }
        let several = groups.len() > 1;
        let mut conditions = BTreeSet::new();
        for (original, new) in groups.into_values() {
            let new: Vec<&Place> = new.into_iter().filter(|p| !p.conditions.is_empty()).collect();
            let broken = match self.by_inverses(id, &original, &new)? {
                Some(Proved::Where(needed)) => {
                    conditions.extend(needed);
                    continue;
                }
                Some(Proved::Broken(broken)) => Some(broken),
                None => self.by_sets(id, &original, &new)?,
            };
            if let Some(mut broken) = broken {
                if several && broken.problem != CoverageProblem::Repeated {
                    broken.problem = CoverageProblem::Predicates;
                }
                return Ok(Covered::Not(Arc::new(broken)));
            }
        }
        Ok(Covered::Where(conditions.into_iter().collect()))
    }

    /// `None` if this way does not decide.
    fn by_inverses(&self, id: StmtId, original: &[&Place], new: &[&Place]) -> Result<Option<Proved>, Fault> {
        let [original] = original else { return Ok(None) };
        if !original.is_identity() || original.conditions.len() != 1 {
            return Ok(None);
        }
        let mut pieces: Vec<Cow<'_, Place>> = Vec::with_capacity(new.len());
        for place in new {
            match &place.conditions[..] {
                [_] => pieces.push(Cow::Borrowed(*place)),
                _ => match place.pieces(MAX_PIECES) {
                    Some(list) => pieces.extend(list.into_iter().map(Cow::Owned)),
                    None => return Ok(None),
                },
            }
        }
        let new: Vec<&Place> = pieces.iter().map(|p| &**p).collect();
        let n = self.oracle.kernel.params.len();
        let dims = Row::columns(n..n + original.dims.len());
        let whole = || self.whole(original, &dims);
        let Some(whole) = self.oracle.coverage.wholes.ask(&self.oracle.solver, original.shape, whole)? else {
            return Ok(None);
        };
        let mut images: Vec<Arc<Image>> = Vec::with_capacity(new.len());
        for place in &new {
            let key = (original.shape, place.shape);
            let image = || self.image(id, place, (original.shape, &whole, &dims));
            match self.oracle.coverage.images.ask(&self.oracle.solver, key, image)? {
                Verified::Image(image) => images.push(image),
                Verified::Unknown => return Ok(None),
                Verified::Broken(broken) => return Ok(Some(Proved::Broken(broken))),
            }
        }
        // No instance twice.
        for (i, a) in images.iter().enumerate().filter(|_| !self.any.again) {
            for b in &images[i + 1..] {
                if disjoint(&a.constraints, &b.constraints) {
                    continue;
                }
                let key = (original.shape, a.hash, b.hash);
                let overlap = || -> Result<Overlap, Fault> {
                    let mut both = whole.domain.clone();
                    both.require_all(a.constraints.iter().chain(&b.constraints), &dims)?;
                    Ok(self.oracle.solver.find(&both)?)
                };
                if let Some(point) = self.oracle.coverage.overlaps.ask(&self.oracle.solver, key, overlap)? {
                    let broken = self.broken(id, CoverageProblem::Repeated, &dims, &point);
                    return Ok(Some(Proved::Broken(broken)));
                }
            }
        }
        // No instance missing.
        let exactly = || Ok(Some(Proved::Where(Vec::new())));
        if self.any.none || matches!(&images[..], [one] if one.constraints.is_empty()) {
            return exactly();
        }
        let budget = self.oracle.solver.budget();
        let mut sets: Vec<&Arc<Image>> = images.iter().collect();
        sets.sort_by_key(|image| image.hash_of_set);
        let key = (original.shape, sets.iter().map(|image| image.hash_of_set).collect());
        let sets: Vec<&[Constraint]> = sets.iter().map(|image| &image.set[..]).collect();
        let covers = || match self.oracle.solver.easy_point(&whole.domain)? {
            Some(point) => self.covered(&whole.domain, &point, &mut Vec::new(), &dims, &sets, &mut 0),
            None => Ok(false),
        };
        if let Ok(true) = self.oracle.coverage.covers.ask(&self.oracle.solver, key, covers) {
            return exactly();
        }
        // An example is looked for in an order that depends on the images alone, with no less work than without the attempt.
        self.oracle.solver.set_budget(budget);
        let images: Vec<&[Constraint]> = images.iter().map(|image| &image.constraints[..]).collect();
        let point = match self.uncovered(whole.domain.clone(), &mut Vec::new(), &dims, &images, &mut 0)? {
            Cases::TooMany => return Ok(None),
            Cases::None => return exactly(),
            Cases::Point(point) => point,
        };
        match self.where_loops_run(&whole.domain, &dims, &images)? {
            Some(conditions) => Ok(Some(Proved::Where(conditions))),
            None => Ok(Some(Proved::Broken(self.broken(id, CoverageProblem::Missing, &dims, &point)))),
        }
    }

    /// The conditions on parameters under which no instance is missing, if there are such and instances: that loops run in which the
    /// instances are now.
    fn where_loops_run(
        &self,
        whole: &Posed,
        dims: &[Row],
        images: &[&[Constraint]],
    ) -> Result<Option<Vec<Constraint>>, Fault> {
        let found: BTreeSet<&Constraint> =
            images.iter().copied().flatten().filter(|c| bounds_sizes_below(c)).collect();
        let mut conditions: Vec<Constraint> = found.into_iter().cloned().collect();
        let suffices = |conditions: &[Constraint]| -> Result<bool, Fault> {
            let mut domain = whole.clone();
            domain.require_all(conditions, dims)?;
            let missing = self.uncovered(domain.clone(), &mut conditions.to_vec(), dims, images, &mut 0)?;
            Ok(matches!(missing, Cases::None) && self.oracle.solver.find(&domain)?.is_some())
        };
        if conditions.is_empty() || !suffices(&conditions)? {
            return Ok(None);
        }
        for k in (0..conditions.len()).rev() {
            let one = conditions.remove(k);
            if conditions.is_empty() || !suffices(&conditions)? {
                conditions.insert(k, one);
            }
        }
        Ok(Some(conditions))
    }

    /// The instances of an original place whose dims are its loops.
    fn whole(&self, original: &Place, dims: &[Row]) -> Result<Option<Arc<Whole>>, Fault> {
        let n = self.oracle.kernel.params.len();
        let domain = System::under(&self.oracle.context, n, n + dims.len());
        let domain = original.domains(&domain, dims)?.into_iter().next();
        Ok(domain.map(|d| Arc::new(Whole { domain: Posed::new(d), required: constraints(original) })))
    }

    /// The instances that a place executes, if its inverse can be guessed, and all of them belong to the original.
    fn image(
        &self,
        id: StmtId,
        place: &Place,
        (shape, whole, dims): (u128, &Whole, &[Row]),
    ) -> Result<Verified, Fault> {
        let Some(inverse) = inverse::guess(place) else { return Ok(Verified::Unknown) };
        let n = self.oracle.kernel.params.len();
        let time = Row::columns(n..n + place.loops.len());
        let domain = System::under(&self.oracle.context, n, n + time.len());
        let Some(domain) = place.domains(&domain, &time)?.into_iter().next() else {
            return Ok(Verified::Unknown);
        };
        let domain = Posed::new(domain);
        let dim = |v: VarId| place.dims.get(v.index()).cloned();
        let given = constraints(place);
        // Inverse after dims is the identity: no instance is executed twice.
        for (l, value) in inverse.iter().enumerate() {
            let difference = &value.substitute(&dim) - &Affine::var(VarId::new(l));
            if difference.as_constant() == Some(0) {
                continue;
            }
            let same = Constraint { expression: difference, relation: Relation::Zero };
            if self.counterexample(&domain, &same, &time)?.is_some() {
                return Ok(Verified::Unknown);
            }
        }
        for c in &whole.required {
            let c = c.substitute(&dim);
            if c.as_constant() == Some(true) || given.contains(&c) {
                continue;
            }
            if let Some(point) = self.counterexample(&domain, &c, &time)? {
                let mut system = domain.system();
                let dims: Result<Vec<Row>, Inexact> =
                    place.dims.iter().map(|e| system.row(e, &time)).collect();
                // A floor column added here has no value in the point; then isl compares the sets.
                if system.columns() != domain.columns() {
                    return Ok(Verified::Unknown);
                }
                return Ok(Verified::Broken(self.broken(id, CoverageProblem::Extra, &dims?, &point)));
            }
        }
        // An instance is executed if its loop values are in range and lead back to it.
        let mut list: Vec<Constraint> = Vec::with_capacity(given.len());
        for (k, e) in place.dims.iter().enumerate() {
            let back = e.substitute(&|v| inverse.get(v.index()).cloned());
            let difference = &back - &Affine::var(VarId::new(k));
            if difference.as_constant() != Some(0) {
                list.push(Constraint { expression: difference, relation: Relation::Zero });
            }
        }
        list.extend(given.iter().map(|c| c.substitute(&|v| inverse.get(v.index()).cloned())));
        // Most of it holds for all instances, by what floors are.
        let mut constraints: Vec<Constraint> = Vec::with_capacity(list.len());
        for c in list {
            let c = c.without_floors();
            let implied =
                c.as_constant() == Some(true) || whole.required.contains(&c) || constraints.contains(&c);
            let find = || self.implied(&whole.domain, &c, dims);
            if !implied && !self.oracle.coverage.implied.ask(&self.oracle.solver, (shape, c.clone()), find)? {
                constraints.push(c);
            }
        }
        Ok(Verified::Image(Arc::new(Image::new(constraints))))
    }

    /// Whether it is easily proved that all points of the system satisfy the constraint.
    fn implied(&self, system: &Posed, c: &Constraint, vars: &[Row]) -> Result<bool, Fault> {
        for negation in c.negated() {
            let refuted = match system.row_of(&negation, vars)? {
                Some(row) => self.oracle.solver.refutes_with(system, &row)?,
                None => self.oracle.solver.refutes(&with(system, &negation, vars)?)?,
            };
            if !refuted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A point of the system that does not satisfy the constraint.
    fn counterexample(
        &self,
        system: &Posed,
        c: &Constraint,
        vars: &[Row],
    ) -> Result<Option<Vec<i64>>, Fault> {
        for negation in c.negated() {
            let found = match system.row_of(&negation, vars)? {
                Some(row) => self.oracle.solver.find_with(system, row)?,
                None => self.oracle.solver.find(&with(system, &negation, vars)?)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Whether the images provably cover the domain, of which a point is given: an image that has the point is there, and where each of
    /// its constraints does not hold there is nothing, or a point that another image has. `false` means unknown.
    fn covered(
        &self,
        domain: &Posed,
        point: &[i64],
        assumed: &mut Vec<Constraint>,
        dims: &[Row],
        images: &[&[Constraint]],
        cases: &mut usize,
    ) -> Result<bool, Fault> {
        let has = |image: &&&[Constraint]| image.iter().all(|c| self.holds(c, dims, point));
        let Some(image) = images.iter().find(has) else { return Ok(false) };
        let mut domain = domain.clone();
        let before = assumed.len();
        for c in *image {
            if assumed.contains(c) {
                continue;
            }
            for negation in c.negated() {
                *cases += 1;
                if *cases > MAX_CASES {
                    return Ok(false);
                }
                self.oracle.solver.charge(COMPARING)?;
                if disjoint(assumed, std::slice::from_ref(&negation)) {
                    continue;
                }
                let case = with(&domain, &negation, dims)?;
                match self.oracle.solver.tried(&case)? {
                    Tried::Refuted => continue,
                    Tried::Point(point) => {
                        assumed.push(negation);
                        let covered = self.covered(&case, &point, assumed, dims, images, cases)?;
                        assumed.pop();
                        if !covered {
                            return Ok(false);
                        }
                    }
                    Tried::Unknown => {
                        assumed.push(negation);
                        let found = self.uncovered(case, assumed, dims, images, cases)?;
                        assumed.pop();
                        if !matches!(found, Cases::None) {
                            return Ok(false);
                        }
                    }
                }
            }
            domain.require(c, dims)?;
            assumed.push(c.clone());
        }
        assumed.truncate(before);
        Ok(true)
    }

    /// Whether a constraint over dims holds at a point, as far as that is known.
    fn holds(&self, c: &Constraint, dims: &[Row], point: &[i64]) -> bool {
        let var = |v: VarId| dims.get(v.index())?.eval(point);
        let value = c.expression.eval(&var, &|p| point.get(p.index()).copied());
        value.is_some_and(|value| c.accepts(value))
    }

    /// An instance of the domain in none of the images, by cases: which constraint of each image does it miss? `assumed` is what
    /// the case requires beyond the whole domain.
    fn uncovered(
        &self,
        mut domain: Posed,
        assumed: &mut Vec<Constraint>,
        dims: &[Row],
        images: &[&[Constraint]],
        cases: &mut usize,
    ) -> Result<Cases, Fault> {
        let Some((first, rest)) = images.split_first() else {
            return Ok(match self.oracle.solver.find(&domain)? {
                Some(point) => Cases::Point(point),
                None => Cases::None,
            });
        };
        let mut needed: Vec<&Constraint> = first.iter().collect();
        needed.retain(|c| !assumed.contains(c));
        if needed.is_empty() {
            return Ok(Cases::None);
        }
        *cases += 1;
        if *cases > MAX_CASES {
            return Ok(Cases::TooMany);
        }
        // An image apart from the domain leaves it whole.
        self.oracle.solver.charge(COMPARING)?;
        let mut apart = disjoint(assumed, first);
        if !apart {
            let mut both = domain.clone();
            both.require_all(needed.iter().copied(), dims)?;
            apart = self.oracle.solver.refutes_quickly(&both)?;
        }
        if apart {
            return self.uncovered(domain, assumed, dims, rest, cases);
        }
        let before = assumed.len();
        for c in needed {
            for negation in c.negated() {
                *cases += 1;
                if *cases > MAX_CASES {
                    return Ok(Cases::TooMany);
                }
                if disjoint(assumed, std::slice::from_ref(&negation)) {
                    continue;
                }
                let row = domain.row_of(&negation, dims)?;
                if let Some(row) = &row
                    && self.oracle.solver.refutes_with_quickly(&domain, row)?
                {
                    continue;
                }
                let case = with(&domain, &negation, dims)?;
                if row.is_none() && self.oracle.solver.refutes_quickly(&case)? {
                    continue;
                }
                assumed.push(negation);
                let found = self.uncovered(case, assumed, dims, rest, cases)?;
                assumed.pop();
                match found {
                    Cases::None => {}
                    other => return Ok(other),
                }
            }
            domain.require(c, dims)?;
            assumed.push(c.clone());
        }
        assumed.truncate(before);
        Ok(Cases::None)
    }

    /// The comparison of sets of instances, by isl.
    fn by_sets(
        &self,
        id: StmtId,
        original: &[&Place],
        new: &[&Place],
    ) -> Result<Option<BrokenCoverage>, Fault> {
        let n = self.oracle.kernel.params.len();
        let rank = self.oracle.kernel.statement(id).dims.len();
        let dims = Row::columns(n..n + rank);
        for place in new.iter().filter(|_| !self.any.again) {
            if let Some(point) = self.repeated(place)? {
                return Ok(Some(self.broken(id, CoverageProblem::Repeated, &dims, &point)));
            }
        }
        let parts =
            |list: &[&Place]| list.iter().map(|p| self.instances(p)).collect::<Result<Vec<_>, Fault>>();
        let (before, after) = (parts(original)?, parts(new)?);
        let found = self.oracle.solver.within_quota(|ctx| {
            let empty = || isl::Set::empty(isl::Space::set(ctx, &[], None, n + rank)?);
            let sets = |list: &[Vec<System>]| -> Result<Vec<isl::Set>, isl::IslError> {
                list.iter()
                    .map(|systems| {
                        systems.iter().try_fold(empty()?, |all, system| {
                            let extra = system.columns() - n - rank;
                            let set = crate::system::isl_set(ctx, system)?;
                            all.union(set.project_out(isl::DimType::Out, n + rank, extra)?)
                        })
                    })
                    .collect()
            };
            let point = |set: isl::Set| -> Result<Option<Vec<i64>>, isl::IslError> {
                set.sample_point()?.map(|p| p.coordinates(isl::DimType::Out)).transpose()
            };
            let required = sets(&before)?.into_iter().try_fold(empty()?, |a, b| a.union(b))?;
            let mut covered = empty()?;
            for set in sets(&after)? {
                if !self.any.again
                    && let Some(p) = point(covered.clone().intersect(set.clone())?)?
                {
                    return Ok(Some((CoverageProblem::Repeated, p)));
                }
                covered = covered.union(set)?;
            }
            if !self.any.none
                && let Some(p) = point(required.clone().subtract(covered.clone())?)?
            {
                return Ok(Some((CoverageProblem::Missing, p)));
            }
            Ok(point(covered.subtract(required)?)?.map(|p| (CoverageProblem::Extra, p)))
        })?;
        Ok(found.map(|(problem, point)| self.broken(id, problem, &dims, &point)))
    }

    /// Parameters and dims of an instance that one place executes at two points of time.
    fn repeated(&self, place: &Place) -> Result<Option<Vec<i64>>, Fault> {
        let n = self.oracle.kernel.params.len();
        let first = n + place.dims.len();
        let k = place.loops.len();
        let mut base = System::under(&self.oracle.context, n, first + 2 * k);
        let times = [first, first + k].map(|first| Row::columns(first..first + k));
        for time in &times {
            base.require_equal(&place.dims, time, &Row::columns(n..first))?;
        }
        for first in place.domains(&base, &times[0])? {
            for mut both in place.domains(&first, &times[1])? {
                for (x, y) in times[0].iter().zip(&times[1]) {
                    let mut later = both.clone();
                    later.require_nonnegative(y.clone().minus(x)?.offset(-1)?);
                    if let Some(point) = self.oracle.solver.find_point(&later)? {
                        return Ok(Some(point));
                    }
                    both.require_zero(y.clone().minus(x)?);
                }
            }
        }
        Ok(None)
    }

    /// The instances that a place executes. Columns: parameters, dims, existential ones.
    fn instances(&self, place: &Place) -> Result<Vec<System>, Fault> {
        let n = self.oracle.kernel.params.len();
        let first = n + place.dims.len();
        let all = first + place.loops.len();
        let mut base = System::under(&self.oracle.context, n, all);
        let time = Row::columns(first..all);
        base.require_equal(&place.dims, &time, &Row::columns(n..first))?;
        Ok(place.domains(&base, &time)?)
    }

    fn broken(&self, id: StmtId, problem: CoverageProblem, dims: &[Row], point: &[i64]) -> BrokenCoverage {
        BrokenCoverage {
            statement: StatementRef::new(&self.oracle.kernel, id),
            problem,
            params: super::param_values(&self.oracle.kernel, point),
            instance: super::values(dims, point),
        }
    }
}

/// The system, where the constraint holds besides.
fn with(system: &Posed, c: &Constraint, vars: &[Row]) -> Result<Posed, Inexact> {
    let mut system = system.clone();
    system.require(c, vars)?;
    Ok(system)
}

/// Whether two conjunctions contradict each other visibly; `false` means unknown. So it is with the copies of an unrolled loop, of which
/// there can be many.
fn disjoint(a: &[Constraint], b: &[Constraint]) -> bool {
    a.iter().any(|x| b.iter().any(|y| x.contradicts(y)))
}

/// Whether the constraint says that a size, or what one size has more than another, is large enough. What says that sizes are
/// small would hand the large ones, where all of the time goes, to the original.
fn bounds_sizes_below(c: &Constraint) -> bool {
    c.relation == Relation::NonNegative
        && c.expression.is_invariant()
        && c.expression.terms().iter().any(|(_, coefficient)| *coefficient > 0)
}

/// The answer, unless the rule that it breaks is left out by a test.
fn unless_left_out(answer: Answer) -> Answer {
    let rule = |problem| match problem {
        CoverageProblem::Missing => Rule::Missing,
        CoverageProblem::Repeated => Rule::Repeated,
        CoverageProblem::Extra => Rule::Extra,
        CoverageProblem::Predicates => Rule::Predicates,
    };
    Ok(match answer? {
        Covered::Not(broken) if mutation::off(rule(broken.problem)) || mutation::off(Rule::Coverage) => {
            Covered::Where([].into())
        }
        Covered::Where(_) if mutation::off(Rule::CoverageRuns) => Covered::Where([].into()),
        answer => answer,
    })
}

/// What small systems prove of places.
enum Proved {
    Where(Vec<Constraint>),
    Broken(BrokenCoverage),
}

#[derive(Clone)]
enum Verified {
    Image(Arc<Image>),
    Unknown,
    Broken(BrokenCoverage),
}

enum Cases {
    None,
    Point(Vec<i64>),
    TooMany,
}

fn constraints(place: &Place) -> Vec<Constraint> {
    let mut list = place.bound_constraints().to_vec();
    list.extend(place.conditions.iter().flatten().cloned());
    list
}

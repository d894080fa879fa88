//! Storage: does one slot do for each element of a private scalar?
//!
//! The *home* of an element, at a place that touches it, is the innermost loop body, or the root, in an execution of which it stays
//! the same. What touches an element must do so in one execution of its home: between two of them, the slot belongs to others. So
//! no two different homes or elements of a tree may be the same element at any time, nor one at two times. Bounds are all that is
//! used of what is around a home, which refuses a little more than necessary.

use super::case::Answers;
use super::witness::{BrokenStorage, StatementRef, StorageProblem, Witness};
use super::{Fault, Oracle};
use crate::places::{Place, Unsupported};
use crate::system::{Inexact, Posed, Row, System};
use loop_tree::{Affine, PrivateElement};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether two homes, by the hash of all that decides it, have an element in common.
pub(super) type Memo = Answers<u128, bool>;

/// Where an element lives.
#[derive(Clone, Copy)]
struct Home<'h> {
    element: &'h PrivateElement,
    /// A place in it.
    place: &'h Place,
    /// The hash of what is the same of all copies of a jammed loop: the loops around it, and the element but for constants.
    shape: u128,
}

impl<'h> Home<'h> {
    fn new(element: &'h PrivateElement, place: &'h Place) -> Home<'h> {
        let around = place.loops.iter().take(element.loops());
        let loops: Vec<_> = around.map(|l| (&l.lower, &l.upper, l.step)).collect();
        let element_but: Vec<Affine> =
            element.element.iter().map(|e| e.clone().offset(-e.constant_term())).collect();
        Home { element, place, shape: loop_tree::hash128(&(loops, element_but)) }
    }
}

/// What decides whether two homes have an element in common: of the constants of both, only how far they are apart.
fn question(a: &Home<'_>, b: &Home<'_>) -> u128 {
    let constant = |e: &Affine| i128::from(e.constant_term());
    let pairs = a.element.element.iter().zip(&b.element.element);
    let apart: Vec<i128> = pairs.map(|(x, y)| constant(y) - constant(x)).collect();
    loop_tree::hash128(&(a.shape, b.shape, a.element == b.element, apart))
}

/// Work of building the system of one question.
const BUILDING: u64 = 20;

impl Oracle {
    /// An element that is touched in two executions of homes, or none.
    pub(super) fn broken_slot(&self, places: &[Place]) -> Result<Option<Arc<BrokenStorage>>, Witness> {
        let mut homes: BTreeMap<PrivateElement, &Place> = BTreeMap::new();
        for place in places {
            let touched = self.privates.touched(&self.kernel, place);
            let unknown = || Unsupported::Predicate { path: place.path.clone() };
            for (_, element) in touched.ok_or_else(unknown)? {
                homes.entry(element).or_insert(place);
            }
        }
        let homes: Vec<Home<'_>> = homes.iter().map(|(element, place)| Home::new(element, place)).collect();
        for (index, a) in homes.iter().enumerate() {
            for b in homes[index..].iter().take_while(|b| b.element.array == a.element.array) {
                let budget = self.solver.budget();
                let find = || Ok(self.slot_of_two(*a, *b)?.is_some());
                if self.slots.ask(&self.solver, question(a, b), find)? {
                    // The example is of these two.
                    self.solver.set_budget(budget);
                    return Ok(self.slot_of_two(*a, *b)?.map(Arc::new));
                }
            }
        }
        Ok(None)
    }

    /// An element of both homes, or of two executions of one.
    fn slot_of_two(&self, a: Home<'_>, b: Home<'_>) -> Result<Option<BrokenStorage>, Fault> {
        self.solver.charge(BUILDING)?;
        let params = self.kernel.params.len();
        let between = params + a.element.loops();
        let all = between + b.element.loops();
        let (time_a, time_b) = (Row::columns(params..between), Row::columns(between..all));
        let mut base = System::under(&self.context, params, all);
        let element = |base: &mut System, list: &[Affine], time: &[Row]| {
            list.iter().map(|e| base.row(e, time)).collect::<Result<Vec<Row>, Inexact>>()
        };
        let first = element(&mut base, &a.element.element, &time_a)?;
        let second = element(&mut base, &b.element.element, &time_b)?;
        for (x, y) in first.iter().zip(&second) {
            base.require_zero(x.clone().minus(y)?);
        }
        if crate::system::equalities_contradict(&base) {
            return Ok(None);
        }
        for (home, time) in [(a, &time_a), (b, &time_b)] {
            for c in home.place.bounds_of(home.element.loops()) {
                base.require(&c, time)?;
            }
        }
        let example = |point: &[i64]| BrokenStorage {
            array: self.kernel.array(a.element.array).name.clone(),
            problem: StorageProblem::Apart,
            first: StatementRef::new(&self.kernel, a.place.statement),
            second: Some(StatementRef::new(&self.kernel, b.place.statement)),
            params: super::param_values(&self.kernel, point),
            element: super::values(&first, point),
        };
        if a.element != b.element {
            return Ok(self.solver.find_point(&base)?.map(|p| example(&p)));
        }
        let mut base = Posed::new(base);
        for (x, y) in time_a.iter().zip(&time_b) {
            let difference = y.clone().minus(x)?;
            if let Some(point) = self.solver.find_with(&base, difference.clone().offset(-1)?)? {
                return Ok(Some(example(&point)));
            }
            base.require_zero(difference);
        }
        Ok(None)
    }
}

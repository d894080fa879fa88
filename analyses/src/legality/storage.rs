//! Storage: does one slot do for each element of a private scalar?
//!
//! The *home* of an element, at a place that touches it, is the innermost loop body, or the root, in an execution of which it stays
//! the same. What touches an element must do so in one execution of its home: between two of them, the slot belongs to others. So
//! no two different homes or elements of a tree may be the same element at any time, nor one at two times. Bounds are all that is
//! used of what is around a home, which refuses a little more than necessary.

use super::Fault;
use super::witness::{BrokenStorage, StatementRef, StorageProblem, Witness};
use crate::places::{Place, Unsupported};
use crate::system::{Inexact, Posed, Row, Solver, System};
use loop_tree::{Affine, ArrayId, Kernel, Path, Privates};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct Storage<'o> {
    pub kernel: &'o Kernel,
    pub privates: &'o Privates,
    pub context: &'o System,
    pub solver: &'o Solver,
}

/// Where an element lives.
struct Home<'p> {
    array: ArrayId,
    /// The first dims of the place, which number it.
    element: &'p [Affine],
    /// A place in it; its outermost `loops` are those around the home.
    place: &'p Place,
    loops: usize,
}

/// Work of building the system of one question.
const BUILDING: u64 = 20;

impl Storage<'_> {
    /// An element that is touched in two executions of homes, or none.
    pub fn broken(&self, places: &[Place]) -> Result<Option<Arc<BrokenStorage>>, Witness> {
        let mut homes: BTreeMap<(ArrayId, Path, &[Affine]), Home<'_>> = BTreeMap::new();
        for place in places {
            let leaf = place.path.0.len();
            let accesses = self.kernel.statement(place.statement).accesses.iter();
            let accesses = accesses.map(|a| (a.array, leaf, place.dims.len()));
            let touched = accesses.chain(place.tests.iter().map(|t| (t.array, t.depth, t.dims)));
            for (array, depth, dims) in touched {
                let Some(variables) = self.privates.variables(array) else { continue };
                let Some(element) = place.dims[..dims].get(..variables.len()) else {
                    return Err(Unsupported::Predicate { path: place.path.clone() }.into());
                };
                if place.buffers.iter().any(|b| b.buffer.array == array && b.path.0.len() < depth) {
                    continue;
                }
                let mut loops = 0;
                element.iter().for_each(|e| e.for_each_var(&mut |v| loops = loops.max(v.index() + 1)));
                let depth = loops.checked_sub(1).map_or(0, |last| place.loops[last].depth + 1);
                let home = Path(place.path.0[..depth].into());
                homes.entry((array, home, element)).or_insert(Home { array, element, place, loops });
            }
        }
        let homes: Vec<Home<'_>> = homes.into_values().collect();
        for (index, a) in homes.iter().enumerate() {
            for b in homes[index..].iter().take_while(|b| b.array == a.array) {
                if let Some(found) = self.apart(a, b)? {
                    return Ok(Some(Arc::new(found)));
                }
            }
        }
        Ok(None)
    }

    /// An element of both homes, or of two executions of one.
    fn apart(&self, a: &Home<'_>, b: &Home<'_>) -> Result<Option<BrokenStorage>, Fault> {
        self.solver.charge(BUILDING)?;
        let params = self.kernel.params.len();
        let time_a: Vec<Row> = (params..params + a.loops).map(Row::column).collect();
        let time_b: Vec<Row> = (params + a.loops..params + a.loops + b.loops).map(Row::column).collect();
        let mut base = System::new(params + a.loops + b.loops);
        let columns: Vec<Row> = (0..params).map(Row::column).collect();
        base.include(self.context, &columns)?;
        let element = |base: &mut System, list: &[Affine], time: &[Row]| {
            list.iter().map(|e| base.row(e, time)).collect::<Result<Vec<Row>, Inexact>>()
        };
        let first = element(&mut base, a.element, &time_a)?;
        let second = element(&mut base, b.element, &time_b)?;
        for (x, y) in first.iter().zip(&second) {
            base.require_zero(x.clone().minus(y)?);
        }
        if crate::system::equalities_contradict(&base) {
            return Ok(None);
        }
        for (home, time) in [(a, &time_a), (b, &time_b)] {
            for c in home.place.bounds_of(home.loops) {
                base.require(&c, time)?;
            }
        }
        let example = |point: &[i64]| BrokenStorage {
            array: self.kernel.array(a.array).name.clone(),
            problem: StorageProblem::Apart,
            first: StatementRef::new(self.kernel, a.place.statement),
            second: Some(StatementRef::new(self.kernel, b.place.statement)),
            params: super::param_values(self.kernel, point),
            element: first.iter().map(|r| r.eval(point).unwrap_or(i64::MAX)).collect(),
        };
        if !std::ptr::eq(a, b) {
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

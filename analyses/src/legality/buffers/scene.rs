//! Executions of several places in one system.

use crate::legality::{Fault, Oracle};
use crate::places::Place;
use crate::system::{Inexact, Row, Solver, System};
use loop_tree::{Affine, Constraint};
use std::sync::Arc;

/// Work of building the system of one question.
const BUILDING: u64 = 20;

/// Executions of several places, in one system. Columns: parameters, the loops of each place, floors.
#[derive(Clone)]
pub(super) struct Scene {
    pub system: System,
    /// By place.
    pub times: Vec<Vec<Row>>,
    /// Conditions around the places: one conjunction of each, with the number of its place.
    alternatives: Arc<Vec<Vec<(usize, Constraint)>>>,
}

impl Scene {
    /// So many executions, whose loops are in their bounds.
    pub fn new(oracle: &Oracle, places: &[&Place]) -> Result<Scene, Fault> {
        let params = oracle.kernel.params.len();
        let loops: usize = places.iter().map(|p| p.loops.len()).sum();
        oracle.solver.charge(BUILDING)?;
        let mut system = System::under(&oracle.context, params, params + loops);
        let mut next = params;
        let mut times = Vec::with_capacity(places.len());
        let mut domains = vec![Vec::new()];
        for place in places {
            let time = Row::columns(next..next + place.loops.len());
            next += place.loops.len();
            for c in place.bound_constraints() {
                system.require(c, &time)?;
            }
            let mut product = Vec::with_capacity(domains.len() * place.conditions.len());
            for so_far in &domains {
                for conjunction in &place.conditions {
                    let mut both: Vec<(usize, Constraint)> = so_far.clone();
                    both.extend(conjunction.iter().map(|c| (times.len(), c.clone())));
                    product.push(both);
                }
            }
            domains = product;
            times.push(time);
        }
        Ok(Scene { system, times, alternatives: Arc::new(domains) })
    }

    /// A point in which the two lists of rows differ.
    pub fn find_apart(&self, solver: &Solver, a: &[Row], b: &[Row]) -> Result<Option<Vec<i64>>, Fault> {
        for (x, y) in a.iter().zip(b) {
            for (low, high) in [(x, y), (y, x)] {
                let mut scene = self.clone();
                scene.system.require_nonnegative(high.clone().minus(low)?.offset(-1)?);
                if let Some(point) = scene.find(solver)? {
                    return Ok(Some(point));
                }
            }
        }
        Ok(None)
    }

    /// A point, one value per column.
    pub fn find(&self, solver: &Solver) -> Result<Option<Vec<i64>>, Fault> {
        for conjunction in self.alternatives.iter() {
            let mut system = self.system.clone();
            for (place, c) in conjunction {
                system.require(c, &self.times[*place])?;
            }
            if let Some(point) = solver.find_point(&system)? {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }

    /// Expressions over the loops of one place.
    pub fn rows(&mut self, place: usize, list: &[Affine]) -> Result<Vec<Row>, Fault> {
        Ok(list.iter().map(|e| self.system.row(e, &self.times[place])).collect::<Result<_, _>>()?)
    }

    /// The rows are equal, one by one.
    pub fn equate(&mut self, a: &[Row], b: &[Row]) -> Result<(), Inexact> {
        for (x, y) in a.iter().zip(b) {
            self.system.require_zero(x.clone().minus(y)?);
        }
        Ok(())
    }

    /// The outermost `loops` of all places are in the same iteration.
    pub fn same_execution(&mut self, loops: usize) -> Result<(), Inexact> {
        for k in 1..self.times.len() {
            let (first, other) = (self.times[0][..loops].to_vec(), self.times[k][..loops].to_vec());
            self.equate(&first, &other)?;
        }
        Ok(())
    }

    /// The cases in which place number `a` is executed before number `b`.
    pub fn before(&self, places: &[&Place], a: usize, b: usize) -> Result<Vec<Scene>, Inexact> {
        let cases = places[a].before(places[b], &self.system, &self.times[a], &self.times[b])?;
        let with =
            |system| Scene { system, times: self.times.clone(), alternatives: self.alternatives.clone() };
        Ok(cases.into_iter().map(with).collect())
    }
}

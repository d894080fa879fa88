//! Pairs of statement instances, and how far apart they are.

use super::Component;
use crate::isl::IslError;
use crate::isl::Optimum;
use crate::system::{Row, Solver, System};
use std::sync::{Arc, OnceLock};

/// One conjunction of a dependence relation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Disjunct {
    /// All constraints.
    pub system: System,
    /// Those that remain necessary where both instances are known to be in their domains.
    pub(crate) core: Arc<System>,
}

/// A union of sets of pairs. Columns: parameters, dims of the source, dims of the target, then existential ones.
#[derive(Debug, Default)]
pub struct Relation {
    /// The sets.
    pub disjuncts: Vec<Disjunct>,
    /// The loops that have one distance: the columns of their dims in the source and in the target.
    pub(super) loops: Vec<(usize, usize)>,
    /// isl operations per question.
    pub(super) quota: u64,
    /// Found when it is asked for: most relations are only looked at as sets.
    pub(super) distance: OnceLock<Vec<Component>>,
}

impl PartialEq for Relation {
    fn eq(&self, other: &Self) -> bool {
        self.disjuncts == other.disjuncts && self.loops == other.loops
    }
}

impl Eq for Relation {}

impl Relation {
    /// Differences over the loops that have one, outermost first: exact bounds, found when they are asked for.
    pub fn distance(&self) -> &[Component] {
        self.distance.get_or_init(|| {
            let solver = Solver::new(self.quota);
            let component = |(source, target): &(usize, usize)| {
                let row = Row::column(*target).minus(&Row::column(*source)).ok();
                let unknown = Component { min: None, max: None };
                row.and_then(|row| self.bounds(&solver, &row)).unwrap_or(unknown)
            };
            self.loops.iter().map(component).collect()
        })
    }

    /// `(<, 0, *)`.
    pub fn distance_text(&self) -> String {
        let parts: Vec<String> = self.distance().iter().map(Component::to_string).collect();
        format!("({})", parts.join(", "))
    }

    /// `None`: not known.
    fn bounds(&self, solver: &Solver, row: &Row) -> Option<Component> {
        let (mut min, mut max): (Option<Optimum>, Option<Optimum>) = (None, None);
        for disjunct in &self.disjuncts {
            let (low, high) = match solver.range(&disjunct.system, row) {
                Ok(range) => range,
                Err(IslError::Quota { .. } | IslError::Overflow) => (Optimum::Unbounded, Optimum::Unbounded),
                Err(_) => return None,
            };
            min = widen(min, low, i64::min);
            max = widen(max, high, i64::max);
        }
        let value = |bound| match bound {
            Some(Optimum::Value(v)) => Some(v),
            _ => None,
        };
        Some(Component { min: value(min), max: value(max) })
    }
}

fn widen(so_far: Option<Optimum>, new: Optimum, pick: impl Fn(i64, i64) -> i64) -> Option<Optimum> {
    match (so_far, new) {
        (old, Optimum::Empty) => old,
        (None, new) => Some(new),
        (Some(Optimum::Value(a)), Optimum::Value(b)) => Some(Optimum::Value(pick(a, b))),
        _ => Some(Optimum::Unbounded),
    }
}

//! Vector loops of the tree: a marked loop is its own plan, which emission obeys.
//!
//! It is no loop in the code: what stands in it, loops included, is done where the loop stands, by all lanes at once. So its
//! leaves belong to the loop around, each with lanes along the marked one: side by side with those of its neighbours, of which values
//! are shared, and with accumulators that stay in registers while the loop around runs.

use crate::lower::Lowered;
use loop_tree::LoopKind;

/// Where lanes are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Lanes {
    pub count: u32,
    /// Depth of the loop that they run along.
    pub depth: usize,
}

impl Lowered<'_> {
    /// Whether a loop is lanes, and no loop.
    pub fn is_vector(&self, index: usize) -> bool {
        self.loops[index].header.kind == LoopKind::Vector
    }

    /// The loop that executes what stands directly in a loop.
    pub fn home(&self, at: Option<usize>) -> Option<usize> {
        self.path(at).find(|l| !self.is_vector(*l))
    }

    /// The leaves that a loop executes, in order; outside of all loops where none is given.
    pub fn executed(&self, home: Option<usize>) -> Vec<usize> {
        let mut result = match home {
            Some(index) => self.loops[index].leaves.clone(),
            None => self.top_leaves.clone(),
        };
        let lanes = (0..self.loops.len()).filter(|l| self.is_vector(*l) && self.home(Some(*l)) == home);
        result.extend(lanes.flat_map(|l| &self.loops[l].leaves));
        result.sort_unstable();
        result
    }

    /// Whether no loop remains in a loop.
    pub fn is_innermost(&self, index: usize) -> bool {
        let mut inside = self.loops[index].inner.iter();
        inside.all(|l| self.is_vector(*l) && self.is_innermost(*l))
    }

    /// The lanes of what stands directly in a loop.
    pub fn lanes(&self, at: Option<usize>) -> Option<Lanes> {
        let index = self.path(at).find(|l| self.is_vector(*l))?;
        let l = &self.loops[index];
        // More than are ever emitted are refused.
        Some(Lanes { count: l.constant?.clamp(1.0, 64.0) as u32, depth: l.depth })
    }

    /// How often the code of a loop runs, in which lanes around it count once.
    pub fn entered(&self, index: usize) -> f64 {
        self.loops[index].runs / self.lanes(Some(index)).map_or(1.0, |l| f64::from(l.count))
    }
}

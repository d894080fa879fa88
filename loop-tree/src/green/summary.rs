//! What a node knows of its subtree, in few bytes: there are many more nodes than anything else.

use crate::{Affine, VarId};
use smallvec::SmallVec;

/// What is known of a whole subtree without walking it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Nodes in the tree, with repetitions; saturating.
    pub nodes: u32,
    /// Statement leaves, with repetitions; saturating.
    pub leaves: u32,
    /// Loops on the deepest path; saturating.
    pub loop_depth: u32,
    /// One more than the greatest variable that occurs.
    pub var_bound: u32,
    /// Whether an `Alloc` or `Version` occurs.
    pub has_storage_or_versions: bool,
}

/// The same with the variables used but not bound inside, sorted.
#[derive(Clone, Default)]
pub(super) struct Facts {
    pub counts: Summary,
    pub free: SmallVec<[VarId; 8]>,
}

/// As a node keeps them.
#[derive(Clone)]
pub(super) enum Packed {
    Small(Small),
    Large(Box<Facts>),
}

/// Facts whose numbers are small.
#[derive(Clone)]
pub(super) struct Small {
    nodes: u16,
    leaves: u16,
    loop_depth: u8,
    var_bound: u8,
    has_storage_or_versions: bool,
    count: u8,
    /// The first `count` are variables.
    free: [u8; FEW],
}

/// Free variables of a small tree, at most: as many as make both kinds 24 bytes.
const FEW: usize = 15;

impl Packed {
    pub fn of(facts: Facts) -> Packed {
        Self::small(&facts).map_or_else(|| Packed::Large(Box::new(facts)), Packed::Small)
    }

    fn small(facts: &Facts) -> Option<Small> {
        let Summary { nodes, leaves, loop_depth, var_bound, has_storage_or_versions } = facts.counts;
        // Variables are less than their bound.
        let var_bound = u8::try_from(var_bound).ok()?;
        let mut free = [0; FEW];
        for (to, var) in free.get_mut(..facts.free.len())?.iter_mut().zip(&facts.free) {
            *to = var.0 as u8;
        }
        Some(Small {
            nodes: u16::try_from(nodes).ok()?,
            leaves: u16::try_from(leaves).ok()?,
            loop_depth: u8::try_from(loop_depth).ok()?,
            var_bound,
            has_storage_or_versions,
            count: facts.free.len() as u8,
            free,
        })
    }

    pub fn counts(&self) -> Summary {
        match self {
            Packed::Small(s) => Summary {
                nodes: u32::from(s.nodes),
                leaves: u32::from(s.leaves),
                loop_depth: u32::from(s.loop_depth),
                var_bound: u32::from(s.var_bound),
                has_storage_or_versions: s.has_storage_or_versions,
            },
            Packed::Large(facts) => facts.counts,
        }
    }

    pub fn is_free(&self, var: VarId) -> bool {
        match self {
            Packed::Small(s) => s.free().any(|v| v == var),
            Packed::Large(facts) => facts.free.binary_search(&var).is_ok(),
        }
    }
}

impl Small {
    fn free(&self) -> impl Iterator<Item = VarId> {
        self.free.iter().take(usize::from(self.count)).map(|v| VarId(u32::from(*v)))
    }
}

impl Facts {
    /// Of one node, without what is inside of it.
    pub fn node() -> Facts {
        Facts { counts: Summary { nodes: 1, ..Summary::default() }, free: SmallVec::new() }
    }

    /// Adds what is known of a child.
    pub fn include(&mut self, child: &Packed) {
        self.count(&child.counts());
        match child {
            Packed::Small(s) if self.free.is_empty() => self.free.extend(s.free()),
            Packed::Small(s) => s.free().for_each(|v| self.add(v)),
            Packed::Large(facts) => facts.free.iter().for_each(|v| self.add(*v)),
        }
    }

    /// Adds what is known of several nodes.
    pub fn include_all(&mut self, nodes: &Facts) {
        self.count(&nodes.counts);
        nodes.free.iter().for_each(|v| self.add(*v));
    }

    fn count(&mut self, of: &Summary) {
        let to = &mut self.counts;
        to.nodes = to.nodes.saturating_add(of.nodes);
        to.leaves = to.leaves.saturating_add(of.leaves);
        to.loop_depth = to.loop_depth.max(of.loop_depth);
        to.var_bound = to.var_bound.max(of.var_bound);
        to.has_storage_or_versions |= of.has_storage_or_versions;
    }

    pub fn bind(&mut self, var: VarId) {
        self.bounded(var);
        if let Ok(at) = self.free.binary_search(&var) {
            self.free.remove(at);
        }
    }

    pub fn use_var(&mut self, var: VarId) {
        self.bounded(var);
        self.add(var);
    }

    pub fn use_affine(&mut self, e: &Affine) {
        e.for_each_var(&mut |v| self.use_var(v));
    }

    fn bounded(&mut self, var: VarId) {
        self.counts.var_bound = self.counts.var_bound.max(var.0.saturating_add(1));
    }

    fn add(&mut self, var: VarId) {
        if let Err(at) = self.free.binary_search(&var) {
            self.free.insert(at, var);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_facts_are_the_same() {
        assert_eq!(size_of::<Packed>(), 24);
        for (vars, nodes) in [(0, 1), (3, 7), (15, 65_535), (16, 2), (2, 65_536), (300, 5)] {
            let mut facts = Facts::default();
            (0..vars).rev().for_each(|v| facts.use_var(VarId(v)));
            facts.counts.nodes = nodes;
            let packed = Packed::of(facts.clone());
            assert_eq!(packed.counts(), facts.counts);
            assert!((0..vars).all(|v| packed.is_free(VarId(v))) && !packed.is_free(VarId(vars)));
            let mut both = Facts::node();
            both.include(&packed);
            both.bind(VarId(1));
            assert_eq!(both.counts.nodes, nodes + 1);
            assert!(both.free.iter().copied().eq((0..vars).filter(|v| *v != 1).map(VarId)));
        }
    }
}

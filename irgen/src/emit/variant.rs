//! What is emitted.

use loop_tree::{Calls, Green, Path, RuntimeCondition};
use std::collections::BTreeSet;

/// A tree in the place of a kernel's original order, with what was found out about it.
#[derive(Clone, Copy, Debug)]
pub struct Variant<'a> {
    /// The tree.
    pub root: &'a Green,
    /// When it is valid.
    pub conditions: &'a [RuntimeCondition],
    /// Loops that carry no dependence under these conditions.
    pub parallel: &'a BTreeSet<Path>,
    /// Threads that share the iterations of loops marked parallel, at most: with more than one the module needs an OpenMP runtime when
    /// it is linked.
    pub threads: u32,
    /// Calls in the place of loops that are marked for a library.
    pub calls: &'a Calls,
    /// Bits of the vectors that it is compiled for, where the compiler takes narrower ones by itself: it is a function of its own then.
    pub vector_bits: Option<u32>,
}

impl<'a> Variant<'a> {
    /// A tree that is always valid, of which nothing else is known.
    pub fn of(root: &'a Green) -> Self {
        static NONE: BTreeSet<Path> = BTreeSet::new();
        static NO_CALLS: Calls = Calls::new();
        Variant { root, conditions: &[], parallel: &NONE, threads: 1, calls: &NO_CALLS, vector_bits: None }
    }
}

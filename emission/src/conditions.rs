//! What the run-time check tests.

use crate::extent::footprints;
use crate::ranges::is_implied;
use loop_tree::{AccessKind, ArrayId, Kernel, RuntimeCondition, Storage};
use std::collections::BTreeMap;

/// Conditions that the check tests: the kernel's assumptions, those required, and disjointness of further arrays, which lets the vectoriser do
/// without checks of its own. The result is sorted.
pub fn checked(kernel: &Kernel, required: &[RuntimeCondition]) -> Vec<RuntimeCondition> {
    let mut all: Vec<RuntimeCondition> = kernel.assumptions.iter().chain(required).cloned().collect();
    let touched = |writes_only: bool| {
        let mut arrays: Vec<ArrayId> = kernel
            .statements
            .iter()
            .flat_map(|s| &s.accesses)
            .filter(|a| !writes_only || a.kind != AccessKind::Read)
            .map(|a| a.array)
            .filter(|a| kernel.array(*a).storage == Storage::Memory)
            .collect();
        arrays.sort();
        arrays.dedup();
        arrays
    };
    // To find what one array's accesses reach takes a look at all of them.
    let mut known: BTreeMap<ArrayId, bool> = BTreeMap::new();
    let mut is_known = |array| *known.entry(array).or_insert_with(|| footprints(kernel, array).is_some());
    let any = touched(false);
    for written in touched(true) {
        for &other in &any {
            let (a, b) = (written.min(other), written.max(other));
            if a != b && kernel.may_overlap(a, b) && is_known(a) && is_known(b) {
                all.push(RuntimeCondition::NoOverlap(a, b));
            }
        }
    }
    for c in &mut all {
        if let RuntimeCondition::NoOverlap(a, b) = c
            && a > b
        {
            std::mem::swap(a, b);
        }
    }
    all.retain(|c| !is_implied(kernel, c));
    all.sort();
    all.dedup();
    all
}

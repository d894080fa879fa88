//! Iterations that the samples do not see.
//!
//! A loop over a few values of many, such as the intersection of two tiles, may be empty in all samples. Its body would cost
//! nothing, and the tree would rank first. But a tree that is ranked executes what the original executes.

use crate::lower::{Lowered, lower};
use loop_tree::{Green, Kernel};

/// Share of the original's work that must be seen before an estimate is relied on.
const SEEN: f64 = 0.5;

/// The share of the original's work that is not seen in a tree; zero where most of it is: counts of triangles and the
/// like are not exact.
pub(crate) fn share(kernel: &Kernel, root: &Green, program: &Lowered<'_>, params: &[i64]) -> f64 {
    if program.leaves.is_empty() || *root == kernel.original {
        return 0.0;
    }
    let wanted = work(&lower(kernel, &kernel.original, params));
    let seen = work(program);
    if seen >= SEEN * wanted { 0.0 } else { 1.0 - seen / wanted }
}

/// Operations executed.
fn work(program: &Lowered<'_>) -> f64 {
    program.leaves.iter().map(|l| l.runs * l.statement.ops.len().max(1) as f64).sum()
}

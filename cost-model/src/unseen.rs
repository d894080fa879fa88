//! Iterations that the samples do not see.
//!
//! A loop over a few values of many, such as the intersection of two tiles, may be empty in all samples. Its body would cost
//! nothing, and the tree would rank first. But a tree that is ranked executes what the original executes.

use crate::Term;
use crate::lower::{Lowered, lower};
use loop_tree::{Green, Kernel};

/// Share of the original's work from which on what is missed costs what the rest of the tree costs.
const SEEN: f64 = 0.5;
/// Share that is as good as all of it.
const EXACT: f64 = 0.98;

/// The term for what the samples of a tree miss, if that is worth mentioning; `terms` are those of what they see, and
/// `original` predicts the original. Counts of triangles and the like are not exact.
pub(crate) fn unseen(
    kernel: &Kernel,
    root: &Green,
    program: &Lowered<'_>,
    params: &[i64],
    terms: &[Term],
    original: &dyn Fn() -> f64,
) -> Option<Term> {
    if program.leaves.is_empty() || *root == kernel.original {
        return None;
    }
    let seen = work(program) / work(&lower(kernel, &kernel.original, params));
    let missed = 1.0 - seen;
    let cycles = if seen < SEEN {
        // It costs what it costs in the original: nothing is gained by what is not understood.
        missed * original()
    } else if seen < EXACT {
        missed / seen * terms.iter().map(|t| t.cycles).sum::<f64>()
    } else {
        return None;
    };
    Some(Term::new("iterations that no sample meets", cycles, format!("{:.0} % of the work", 100.0 * missed)))
}

/// Operations executed.
fn work(program: &Lowered<'_>) -> f64 {
    program.leaves.iter().map(|l| l.runs * l.statement.ops.len().max(1) as f64).sum()
}

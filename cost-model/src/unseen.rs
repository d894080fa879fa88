//! Iterations that the samples do not see.
//!
//! A loop over a few values of many, such as the intersection of two tiles, may be empty in all samples. Its body would cost
//! nothing, and the tree would rank first. But a tree that is ranked executes what the original executes.

use crate::Term;
use crate::facts::Facts;
use crate::lower::{Lowered, lower};
use crate::unroll::unroll_short;
use loop_tree::Green;

/// Share of the original's work from which on what is missed costs what the rest of the tree costs.
const SEEN: f64 = 0.5;
/// Share that is as good as all of it.
const EXACT: f64 = 0.98;

/// What the original executes, and costs.
pub(crate) struct Whole {
    work: f64,
    cycles: f64,
}

impl Whole {
    /// Of the original; `predict` is what a model predicts for it.
    pub fn new(facts: &Facts<'_>, predict: impl Fn(&Lowered<'_>) -> f64) -> Self {
        let original = lower(facts, &unroll_short(facts.kernel, &facts.kernel.original));
        Whole { work: work(&original), cycles: predict(&original) }
    }

    /// Makes the terms those of as much work as the original's: counts of triangles and the like are not exact, and differ with
    /// the order of loops. What the samples of a tree miss is a term of its own.
    pub fn equalise(&self, root: &Green, program: &Lowered<'_>, terms: &mut Vec<Term>) {
        if root.summary().leaves == 0 || *root == program.facts.kernel.original || self.work == 0.0 {
            return;
        }
        let seen = work(program) / self.work;
        if seen > 1.0 {
            terms.iter_mut().for_each(|t| t.scale(1.0 / seen));
        }
        terms.extend(self.unseen(seen, terms));
    }

    fn unseen(&self, seen: f64, terms: &[Term]) -> Option<Term> {
        let missed = 1.0 - seen;
        let cycles = if seen < SEEN {
            // It costs what it costs in the original: nothing is gained by what is not understood.
            missed * self.cycles
        } else if seen < EXACT {
            missed / seen * terms.iter().map(|t| t.cycles).sum::<f64>()
        } else {
            return None;
        };
        let detail = format!("{:.0} % of the work", 100.0 * missed);
        Some(Term::new("iterations that no sample meets", cycles, detail))
    }
}

/// Operations executed.
fn work(program: &Lowered<'_>) -> f64 {
    program.leaves.iter().filter(|l| !l.copy).map(|l| l.runs * l.statement.ops.len().max(1) as f64).sum()
}

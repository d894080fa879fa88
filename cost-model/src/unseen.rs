//! Iterations that the samples do not see, or see too often.
//!
//! A loop over a few values of many, such as the intersection of two tiles, may be empty in all samples, or stand for many
//! times its iterations in one. Its body would cost nothing, and the tree would rank first. But a tree that is ranked executes
//! each statement as often as the original does.

use crate::Term;
use crate::facts::Facts;
use crate::lower::{Leaf, Lowered, lower};
use crate::unroll::unroll_short;
use loop_tree::Green;

/// Share of a statement's instances from which on what is missed costs what the rest of them costs; the other way round, share of
/// what is seen to which it is scaled down at most.
const SEEN: f64 = 0.5;

/// What the original executes, and costs.
pub(crate) struct Whole {
    /// Operations executed, by statement.
    work: Vec<f64>,
    cycles: f64,
}

/// How often what is seen of each statement really runs.
pub(crate) struct Seen {
    factors: Vec<f64>,
    /// Share of the original's work that is not seen.
    missed: f64,
}

impl Whole {
    /// Of the original; `predict` is what a model predicts for it.
    pub fn new(facts: &Facts<'_>, predict: impl Fn(&Lowered<'_>) -> f64) -> Self {
        let original = lower(facts, &unroll_short(facts.kernel, &facts.kernel.original));
        Whole { work: work(&original), cycles: predict(&original) }
    }

    /// Compares a tree with the original.
    pub fn seen(&self, root: &Green, program: &Lowered<'_>) -> Seen {
        if root.summary().leaves == 0 || *root == program.facts.kernel.original {
            return Seen { factors: vec![1.0; self.work.len()], missed: 0.0 };
        }
        let mut missed = 0.0;
        let factor = |(there, here): (&f64, f64)| {
            if *there == 0.0 {
                1.0
            } else if here < SEEN * there {
                // It costs what it costs in the original: nothing is gained by what is not understood.
                missed += there - here;
                1.0
            } else {
                // Samples that see much too often what one loop does tell little of the others.
                (there / here).max(SEEN)
            }
        };
        let factors = self.work.iter().zip(work(program)).map(factor).collect();
        let all: f64 = self.work.iter().sum();
        Seen { factors, missed: if all > 0.0 { missed / all } else { 0.0 } }
    }

    /// What is not seen, as a term of its own.
    pub fn unseen(&self, seen: &Seen) -> Option<Term> {
        let detail = format!("{:.0} % of the work", 100.0 * seen.missed);
        let term = || Term::new("iterations that no sample meets", seen.missed * self.cycles, detail);
        (seen.missed > 0.0).then(term)
    }
}

impl Seen {
    /// How often a leaf really runs, of what the samples say.
    pub fn of_leaf(&self, leaf: &Leaf<'_>) -> f64 {
        if leaf.copy { 1.0 } else { self.factors[leaf.id.index()] }
    }

    /// How often a loop really runs, of what the samples say, from the statements in it.
    pub fn factor(&self, program: &Lowered<'_>, index: usize) -> f64 {
        let (mut seen, mut real) = (0.0, 0.0);
        let mut loops = vec![index];
        while let Some(at) = loops.pop() {
            let l = &program.loops[at];
            loops.extend(&l.inner);
            for leaf in l.leaves.iter().map(|at| &program.leaves[*at]).filter(|leaf| !leaf.copy) {
                let work = leaf.runs * leaf.statement.ops.len().max(1) as f64;
                seen += work;
                real += work * self.of_leaf(leaf);
            }
        }
        if seen > 0.0 { real / seen } else { 1.0 }
    }
}

/// Operations executed, by statement.
fn work(program: &Lowered<'_>) -> Vec<f64> {
    let mut work = vec![0.0; program.facts.kernel.statements.len()];
    for leaf in program.leaves.iter().filter(|l| !l.copy) {
        work[leaf.id.index()] += leaf.runs * leaf.statement.ops.len().max(1) as f64;
    }
    work
}

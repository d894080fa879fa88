//! Iterations that the samples do not see, or see too often.
//!
//! A loop over a few values of many, such as the intersection of two tiles, may be empty in all samples, or stand for many
//! times its iterations in one. Its body would cost nothing, and the tree would rank first. But a tree that is ranked executes
//! each statement as often as the original does.

use crate::Term;
use crate::lower::{Leaf, Lowered};
use loop_tree::{Green, Kernel, StmtId};

/// Share of a statement's instances from which on what is missed costs what the rest of them costs; the other way round, share of
/// what is seen to which it is scaled down at most.
const SEEN: f64 = 0.5;

/// What the original executes, and costs.
#[derive(Default)]
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
    /// Of the original: operations that it executes, by leaf, and cycles.
    pub fn new<'p>(kernel: &Kernel, work: impl Iterator<Item = &'p (StmtId, f64)>, cycles: f64) -> Self {
        let mut whole = Whole { work: vec![0.0; kernel.statements.len()], cycles };
        whole.work = whole.by_statement(work);
        whole
    }

    fn by_statement<'p>(&self, work: impl Iterator<Item = &'p (StmtId, f64)>) -> Vec<f64> {
        let mut sums = vec![0.0; self.work.len()];
        work.for_each(|(id, operations)| sums[id.index()] += operations);
        sums
    }

    /// Compares the work of a tree, by leaf, with the original's; that itself, and an empty one, are taken as they are.
    pub fn seen<'p>(
        &self,
        kernel: &Kernel,
        root: &Green,
        work: impl Iterator<Item = &'p (StmtId, f64)>,
    ) -> Seen {
        if *root == kernel.original || root.summary().leaves == 0 {
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
        let factors = self.work.iter().zip(self.by_statement(work)).map(factor).collect();
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
    /// How often leaves really run, of what the samples say.
    pub fn factor(&self, leaves: &[(StmtId, f64)]) -> f64 {
        let seen: f64 = leaves.iter().map(|(_, work)| work).sum();
        let real: f64 = leaves.iter().map(|(id, work)| work * self.factors[id.index()]).sum();
        if seen > 0.0 { real / seen } else { 1.0 }
    }
}

/// Operations executed, by leaf. Copies are of no statement of the original's.
pub(crate) fn work(program: &Lowered<'_>) -> Vec<(StmtId, f64)> {
    let of = |leaf: &Leaf<'_>| match leaf.copy {
        true => 0.0,
        false => leaf.runs * leaf.statement.ops.len().max(1) as f64,
    };
    program.leaves.iter().map(|leaf| (leaf.id, of(leaf))).collect()
}

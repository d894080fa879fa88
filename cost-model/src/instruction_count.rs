//! A model that only counts: every executed operation is a cycle. Of use to compare with, and where nothing is known
//! of the machine.

use crate::explain::{Cost, Term};
use crate::facts::Facts;
use crate::lower::{Lowered, lower};
use crate::unroll::Unrolled;
use crate::unseen::{Seen, Whole, work};
use crate::{CostModel, Prepared};
use loop_tree::{Green, Kernel, OpKind};
use std::ops::Range;

/// Counts executed operations, loop iterations and guards.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstructionCount;

impl CostModel for InstructionCount {
    fn cost(&self, kernel: &Kernel, root: &Green, params: &[i64]) -> Cost {
        self.prepare(kernel, params).cost(root)
    }

    fn prepare<'a>(&'a self, kernel: &'a Kernel, params: &'a [i64]) -> Box<dyn Prepared + 'a> {
        let facts = Facts::new(kernel, params);
        let original = lower(&facts, &Unrolled::not(&kernel.original));
        let cycles = terms(&original, None).iter().map(|t| t.cycles).sum();
        let whole = Whole::new(kernel, work(&original).iter(), cycles);
        Box::new(Counts { facts, whole })
    }
}

/// Counts for one kernel.
struct Counts<'k> {
    facts: Facts<'k>,
    whole: Whole,
}

impl Prepared for Counts<'_> {
    fn cost(&self, root: &Green) -> Cost {
        let program = lower(&self.facts, &Unrolled::not(root));
        let seen = self.whole.seen(self.facts.kernel, root, work(&program).iter());
        let mut terms = terms(&program, Some(&seen));
        terms.extend(self.whole.unseen(&seen));
        Cost::of(terms)
    }

    fn cost_of_original(&self) -> Cost {
        self.cost(&self.facts.kernel.original)
    }
}

fn terms(program: &Lowered<'_>, seen: Option<&Seen>) -> Vec<Term> {
    let kernel = program.facts.kernel;
    let work = work(program);
    let factor = |leaves: Range<usize>| seen.map_or(1.0, |s| s.factor(&work[leaves]));
    let leaves = program.leaves.iter().enumerate().map(|(at, leaf)| {
        let ops =
            leaf.statement.ops.iter().filter(|o| !matches!(o.kind, OpKind::Const(_) | OpKind::Affine(_)));
        Term::new(
            format!("statement {}", leaf.statement.name),
            leaf.runs * ops.count() as f64 * factor(at..at + 1),
            format!("{:.0} instances", leaf.runs),
        )
    });
    let loops = program.loops.iter().zip(program.leaves_inside()).map(|(l, inside)| {
        Term::new(
            format!("loop {}", l.name(kernel)),
            l.runs * l.trip * (2.0 + l.guards as f64) * factor(inside),
            format!("{:.0} x {:.1} iterations", l.runs, l.trip),
        )
    });
    leaves.chain(loops).collect()
}

//! A model that only counts: every executed operation is a cycle. Of use to compare with, and where nothing is known
//! of the machine.

use crate::explain::{Cost, Term};
use crate::facts::Facts;
use crate::lower::{Lowered, lower};
use crate::unroll::Unrolled;
use crate::unseen::{Seen, Whole};
use crate::{CostModel, Prepared};
use loop_tree::{Green, Kernel, OpKind};

/// Counts executed operations, loop iterations and guards.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstructionCount;

impl CostModel for InstructionCount {
    fn cost(&self, kernel: &Kernel, root: &Green, params: &[i64]) -> Cost {
        self.prepare(kernel, params).cost(root)
    }

    fn prepare<'a>(&'a self, kernel: &'a Kernel, params: &'a [i64]) -> Box<dyn Prepared + 'a> {
        let facts = Facts::new(kernel, params);
        let whole = Whole::new(&facts, |program| terms(program, None).iter().map(|t| t.cycles).sum());
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
        let seen = self.whole.seen(root, &program);
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
    let leaves = program.leaves.iter().map(|leaf| {
        let ops =
            leaf.statement.ops.iter().filter(|o| !matches!(o.kind, OpKind::Const(_) | OpKind::Affine(_)));
        Term::new(
            format!("statement {}", leaf.statement.name),
            leaf.runs * ops.count() as f64 * seen.map_or(1.0, |s| s.of_leaf(leaf)),
            format!("{:.0} instances", leaf.runs),
        )
    });
    let loops = program.loops.iter().enumerate().map(|(index, l)| {
        Term::new(
            format!("loop {}", l.name(kernel)),
            l.runs * l.trip * (2.0 + l.guards as f64) * seen.map_or(1.0, |s| s.factor(program, index)),
            format!("{:.0} x {:.1} iterations", l.runs, l.trip),
        )
    });
    leaves.chain(loops).collect()
}

//! A model that only counts: every executed operation is a cycle. Of use to compare with, and where nothing is known
//! of the machine.

use crate::CostModel;
use crate::explain::{Cost, Term};
use crate::lower::lower;
use loop_tree::{Green, Kernel, OpKind};

/// Counts executed operations, loop iterations and guards.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstructionCount;

impl CostModel for InstructionCount {
    fn cost(&self, kernel: &Kernel, root: &Green, params: &[i64]) -> Cost {
        let program = lower(kernel, root, params);
        let leaves = program.leaves.iter().map(|leaf| {
            let ops =
                leaf.statement.ops.iter().filter(|o| !matches!(o.kind, OpKind::Const(_) | OpKind::Affine(_)));
            Term::new(
                format!("statement {}", kernel.statement(leaf.id).name),
                leaf.runs * ops.count() as f64,
                format!("{:.0} instances", leaf.runs),
            )
        });
        let loops = program.loops.iter().map(|l| {
            Term::new(
                format!("loop {}", kernel.variable_name(l.header.var)),
                l.runs * l.trip * (2.0 + l.guards as f64),
                format!("{:.0} x {:.1} iterations", l.runs, l.trip),
            )
        });
        let mut terms: Vec<Term> = leaves.chain(loops).collect();
        let original = || self.cost(kernel, &kernel.original, params).cycles;
        let unseen = crate::unseen::unseen(kernel, root, &program, params, &terms, &original);
        terms.extend(unseen);
        Cost::of(terms)
    }
}

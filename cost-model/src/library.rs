//! Loops that a library's function does: at the rate of one that is tuned for the machine.

use crate::lower::Lowered;
use crate::traffic::Moved;
use crate::{OpClass, Target};
use loop_tree::{BinaryOp, Intrinsic, LoopKind, OpKind};

/// Share of what the ports could do that a tuned function reaches.
const EFFICIENCY: f64 = 0.85;
/// Cycles to enter and leave one, with its choice of code for sizes and machine.
const ENTRY: f64 = 60.0;
/// The same of a function that packs operands into blocks first: products of matrices.
const BLOCKED_ENTRY: f64 = 2000.0;

impl Lowered<'_> {
    /// The marked loop that a loop is, or is in.
    pub fn library(&self, index: usize) -> Option<usize> {
        self.path(Some(index)).find(|l| self.loops[*l].header.kind == LoopKind::Library)
    }
}

/// A call in the place of a marked loop.
pub(crate) struct Call {
    pub runs: f64,
    /// Cycles in all of computation, and of entries.
    pub compute: f64,
    pub entry: f64,
    /// By number, what moves data that it waits for: as it is, but of blocked products, which bring in little.
    pub moved: Vec<usize>,
}

/// What the call in the place of a marked loop costs.
pub(crate) fn call(program: &Lowered<'_>, moved: &[Moved], index: usize, target: &dyn Target) -> Call {
    let runs = program.entered(index).max(1.0);
    let inside = |l: usize| program.path(Some(l)).any(|around| around == index);
    let depth = (0..program.loops.len()).filter(|l| inside(*l)).count();
    let mut compute = 0.0;
    for leaf in program.leaves.iter().filter(|leaf| leaf.parent.is_some_and(inside)) {
        let count = |wanted: &dyn Fn(&OpKind) -> bool| {
            leaf.statement.ops.iter().filter(|op| wanted(&op.kind)).count()
        };
        // A product is fused into a sum.
        let sums = count(&|k| matches!(k, OpKind::Binary(BinaryOp::FAdd | BinaryOp::FSub, ..)));
        let products = count(&|k| matches!(k, OpKind::Binary(BinaryOp::FMul, ..)));
        let fused = count(&|k| matches!(k, OpKind::Call(Intrinsic::FMulAdd | Intrinsic::Fma, _)));
        let Some(ty) = leaf.statement.ops.last().map(|op| op.ty) else { continue };
        let lanes = target.lanes(ty);
        let arithmetic =
            (fused + sums.max(products)) as f64 * target.op(OpClass::FloatMul, ty, lanes).reciprocal;
        let accesses = leaf.statement.ops.iter().filter(|op| op.kind.access().is_some()).count();
        let through = match depth < 3 {
            true => accesses as f64 / target.loads_per_cycle().max(0.1),
            false => 0.0,
        };
        compute += leaf.runs * arithmetic.max(through) / f64::from(lanes.max(1));
    }
    compute /= EFFICIENCY;
    let entry = runs * if depth < 3 { ENTRY } else { BLOCKED_ENTRY };
    let waits = |m: &usize| depth < 3 && moved[*m].parent().is_some_and(inside);
    Call { runs, compute, entry, moved: (0..moved.len()).filter(waits).collect() }
}

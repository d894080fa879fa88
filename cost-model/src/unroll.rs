//! What the compiler does before it vectorises: loops of very few iterations are unrolled away.

use loop_tree::{Affine, Green, Kernel, LoopKind, Op, OpKind, Statement, Storage};

/// Instructions that may stand in place of an innermost loop of constant length, as LLVM counts them at `-O3`
/// (`UnrollThreshold` in its LoopUnrollPass).
const INSTRUCTIONS: i64 = 300;
/// Instructions of a loop, besides what its statements compute.
const OF_THE_LOOP: i64 = 1;

/// A tree as the compiler leaves it.
pub(crate) struct Unrolled {
    pub tree: Green,
    /// Loops of the tree that have become innermost ones.
    pub around: Vec<Green>,
}

impl Unrolled {
    /// As it is.
    pub fn not(root: &Green) -> Unrolled {
        Unrolled { tree: root.clone(), around: Vec::new() }
    }
}

/// The tree with innermost loops of few constant iterations replaced by copies of their bodies, where a loop remains
/// around them.
pub(crate) fn unroll_short(kernel: &Kernel, root: &Green) -> Unrolled {
    let mut around = Vec::new();
    let tree = rebuild(kernel, root, false, &mut around);
    Unrolled { tree, around }
}

fn rebuild(kernel: &Kernel, node: &Green, inside: bool, around: &mut Vec<Green>) -> Green {
    if node.summary().loop_depth == 0 {
        return node.clone();
    }
    let here = inside || node.as_loop().is_some();
    let mut result = node.clone();
    for (index, child) in node.children().enumerate() {
        let new = rebuild(kernel, child, here, around);
        if !new.ptr_eq(child) {
            result = result.with_child(index, new);
        }
    }
    let Some((header, body)) = result.as_loop() else { return result };
    if body.summary().loop_depth == 0 && !result.ptr_eq(node) {
        around.push(result.clone());
    }
    if !inside || body.summary().loop_depth > 0 || header.kind == LoopKind::Vector {
        return result;
    }
    let Some(count) = header.constant_trip_count().filter(|n| (2..=INSTRUCTIONS).contains(n)) else {
        return result;
    };
    if count * (instructions(kernel, body) + OF_THE_LOOP) > INSTRUCTIONS {
        return result;
    }
    let lower = &header.lower()[0];
    let copy = |k: i64| Green::bind(header.var, lower + &Affine::constant(k * header.step), body.clone());
    Green::seq((0..count).map(copy))
}

/// What LLVM counts in a body without loops; local scalars are values to it.
fn instructions(kernel: &Kernel, body: &Green) -> i64 {
    let counted = |statement: &Statement, op: &Op| match op.kind {
        OpKind::Const(_) | OpKind::Affine(_) => false,
        OpKind::Load(access) | OpKind::Store(access, _) => {
            let array = kernel.array(statement.accesses[access.index()].array);
            !(array.is_scalar() && array.storage == Storage::Local)
        }
        _ => true,
    };
    let of = |statement: &Statement| statement.ops.iter().filter(|op| counted(statement, op)).count() as i64;
    body.leaves().map(|id| of(kernel.statement(id))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_tree::text;

    #[test]
    fn only_short_innermost_loops_inside_of_others() {
        let source = "nest @k[N] { array A: f32[?, 3] for i in 0..N { for c in 0..3 { S: A[i, c] = 0.0 } } }";
        let kernel = text::parse(source).expect("it parses").kernel;
        let Unrolled { tree: short, around } = unroll_short(&kernel, &kernel.original);
        assert!(around.len() == 1 && around[0].ptr_eq(&short));
        assert_eq!((short.summary().loop_depth, short.summary().leaves), (1, 3));
        let inner = kernel.original.child(0).expect("the loop over c");
        assert_eq!(&unroll_short(&kernel, inner).tree, inner);
        // Lanes are no loop.
        let source = source.replace("for c", "vector for c");
        let kernel = text::parse(&source).expect("it parses").kernel;
        assert_eq!(unroll_short(&kernel, &kernel.original).tree, kernel.original);
    }
}

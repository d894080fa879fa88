//! What the compiler does before it vectorises: loops of very few iterations are unrolled away, innermost ones first, and then
//! those around loops whose length is another in each iteration; in the copies it is a constant.

use loop_tree::{Affine, Green, Kernel, LoopKind, Op, OpKind, Statement, Storage, substitute};

/// Instructions that may stand in place of an innermost loop of constant length, as LLVM counts them at `-O3`
/// (`UnrollThreshold` in its LoopUnrollPass).
const INSTRUCTIONS: i64 = 300;
/// Instructions of a loop that goes, besides what its statements compute.
const OF_THE_LOOP: i64 = 1;
/// The same of one that remains in it: its variable, its end, and the question whether it runs.
const OF_A_LOOP_INSIDE: i64 = 5;
/// Instructions in all, beyond which loops around loops stay. LLVM knows no such end; here every copy is looked at.
const IN_ALL: i64 = 3000;

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

/// The tree with loops of few constant iterations replaced by copies of their bodies, where a loop remains around them.
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
    let innermost = body.summary().loop_depth == 0;
    if inside
        && header.kind != LoopKind::Vector
        && let Some(count) = header.constant_trip_count().filter(|n| (0..=INSTRUCTIONS).contains(n))
        && count * (instructions(kernel, body) + OF_THE_LOOP) <= INSTRUCTIONS
    {
        let value = |k: i64| &header.lower()[0] + &Affine::constant(k * header.step);
        if innermost {
            return Green::seq((0..count).map(|k| Green::bind(header.var, value(k), body.clone())));
        }
        let copy = |k| rebuild(kernel, &substitute(body, header.var, &value(k)), true, &mut Vec::new());
        if let Some(copies) = straight(kernel, (0..count).map(copy)) {
            return copies;
        }
    }
    if innermost && !result.ptr_eq(node) {
        around.push(result.clone());
    }
    result
}

/// Copies one after the other, if no loop is left in any and they are not too many; makes no more of them than that takes. A few loops
/// one after the other are priced well enough as one.
fn straight(kernel: &Kernel, copies: impl Iterator<Item = Green>) -> Option<Green> {
    let (mut all, mut size) = (Vec::new(), 0);
    for copy in copies {
        size += instructions(kernel, &copy);
        if copy.summary().loop_depth > 0 || size > IN_ALL {
            return None;
        }
        all.push(copy);
    }
    Some(Green::seq(all))
}

/// What LLVM counts in a body; local scalars are values to it.
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
    body.leaves().map(|id| of(kernel.statement(id))).sum::<i64>() + OF_A_LOOP_INSIDE * loops(body)
}

fn loops(node: &Green) -> i64 {
    if node.summary().loop_depth == 0 {
        return 0;
    }
    i64::from(node.as_loop().is_some()) + node.children().map(loops).sum::<i64>()
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

    #[test]
    fn loops_of_another_length_in_each_iteration_become_constant_in_copies() {
        let nest = |last: i64| {
            format!(
                "nest @k[N] {{ array A: f32[?, 64]
                   for q in 0..N {{ for j in 0..{last} {{ for k in 0..j {{ S: A[q, k] = A[q, j] }} }} }} }}"
            )
        };
        let unrolled = |last| {
            let kernel = text::parse(&nest(last)).expect("it parses").kernel;
            let Unrolled { tree, around } = unroll_short(&kernel, &kernel.original);
            (tree.summary().loop_depth, tree.summary().leaves, around.len())
        };
        assert_eq!(unrolled(4), (1, 6, 1));
        assert_eq!(unrolled(64), (3, 1, 0));
    }
}

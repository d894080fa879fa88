//! What the compiler does before it vectorises: loops of very few iterations are unrolled away.

use loop_tree::{Affine, Green};

/// Iterations up to which an innermost loop disappears.
const ITERATIONS: i64 = 4;
/// Leaves that may stand in its place.
const LEAVES: u32 = 16;

/// The tree with innermost loops of few constant iterations replaced by copies of their bodies, where a loop remains
/// around them.
pub(crate) fn unroll_short(root: &Green) -> Green {
    rebuild(root, false)
}

fn rebuild(node: &Green, inside: bool) -> Green {
    if node.summary().loop_depth == 0 {
        return node.clone();
    }
    let here = inside || node.as_loop().is_some();
    let mut result = node.clone();
    for (index, child) in node.children().enumerate() {
        let new = rebuild(child, here);
        if !new.ptr_eq(child) {
            result = result.with_child(index, new);
        }
    }
    let Some((header, body)) = result.as_loop() else { return result };
    let Some(count) = header.constant_trip_count().filter(|n| (2..=ITERATIONS).contains(n)) else {
        return result;
    };
    let leaves = body.summary().leaves.saturating_mul(count as u32);
    if !inside || body.summary().loop_depth > 0 || leaves > LEAVES {
        return result;
    }
    let lower = &header.lower()[0];
    let copy = |k: i64| Green::bind(header.var, lower + &Affine::constant(k * header.step), body.clone());
    Green::seq((0..count).map(copy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_tree::text;

    #[test]
    fn only_short_innermost_loops_inside_of_others() {
        let source = "nest @k[N] { array A: f32[?, 3] for i in 0..N { for c in 0..3 { S: A[i, c] = 0.0 } } }";
        let kernel = text::parse(source).expect("it parses").kernel;
        let short = unroll_short(&kernel.original);
        assert_eq!((short.summary().loop_depth, short.summary().leaves), (1, 3));
        let inner = kernel.original.child(0).expect("the loop over c");
        assert_eq!(&unroll_short(inner), inner);
    }
}

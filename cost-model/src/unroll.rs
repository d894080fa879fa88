//! What the compiler does before it vectorises: loops of very few iterations are unrolled away, innermost ones first, and then
//! those around loops whose length is another in each iteration; in the copies it is a constant. First iterations are peeled.

use crate::facts::Facts;
use crate::size::{at_most, size};
use loop_tree::{
    Affine, Condition, Constraint, Green, Home, Kernel, LoopHeader, LoopKind, Node, Relation, StmtId,
    substitute,
};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::sync::PoisonError;

/// Instructions that may stand in place of an innermost loop of constant length, as LLVM counts them at `-O3`
/// (`UnrollThreshold` in its LoopUnrollPass).
const INSTRUCTIONS: i64 = 300;
/// Instructions of a loop that goes, besides what its statements compute.
const OF_THE_LOOP: i64 = 1;
/// Instructions in all, beyond which loops around loops stay. LLVM knows no such end; here every copy is looked at.
const IN_ALL: i64 = 3000;
/// Of new code, those beyond which it is doubtful.
const OF_NEW_CODE: i64 = 600;

/// First iterations of an innermost loop that LLVM peels at most (`UnrollPeelMaxCount` in its LoopPeel).
const MOST_PEELED: i64 = 7;

/// A tree as the compiler leaves it.
pub(crate) struct Unrolled {
    pub tree: Green,
    /// Loops of the tree that have become innermost ones.
    pub around: Vec<Green>,
    /// Whether less, or more, may be unrolled of it.
    pub doubtful: bool,
}

impl Unrolled {
    /// As it is.
    pub fn not(root: &Green) -> Unrolled {
        Unrolled { tree: root.clone(), around: Vec::new(), doubtful: false }
    }
}

/// Whose code a tree is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Code {
    /// The program's, which does not tell the compiler which arrays are apart.
    Program,
    /// New code. Whether what is doubtful is unrolled, too.
    New { doubtful: bool },
}

/// The tree with loops of few constant iterations replaced by copies of their bodies, where a loop remains around them.
pub(crate) fn unroll_short(facts: &Facts<'_>, root: &Green, code: Code) -> Unrolled {
    let (mut around, doubtful) = (Vec::new(), &Cell::new(false));
    let outside = Outside { looped: false, tiled: false, code, doubtful };
    let tree = rebuild(facts, root, outside, &mut around);
    Unrolled { tree, around, doubtful: doubtful.get() }
}

/// What a node stands in.
#[derive(Clone, Copy)]
struct Outside<'a> {
    /// A loop.
    looped: bool,
    /// A tile in registers: LLVM packs the copies of its loops again, which is priced as the vectors of these loops.
    tiled: bool,
    code: Code,
    /// Whether there was a doubt.
    doubtful: &'a Cell<bool>,
}

impl Outside<'_> {
    fn may_alias(&self) -> bool {
        self.code == Code::Program
    }

    /// Whether something stays as it is in new code, of which it is doubtful.
    fn leaves_in_doubt(&self) -> bool {
        let Code::New { doubtful } = self.code else { return false };
        self.doubtful.set(true);
        !doubtful
    }
}

fn rebuild(facts: &Facts<'_>, node: &Green, outside: Outside<'_>, around: &mut Vec<Green>) -> Green {
    if node.summary().loop_depth == 0 {
        return node.clone();
    }
    let tile = matches!(node.node(), Node::Alloc(buffer, _) if buffer.home == Home::Registers);
    let here = Outside {
        looped: outside.looped || node.as_loop().is_some(),
        tiled: outside.tiled || tile,
        ..outside
    };
    let mut result = node.clone();
    for (index, child) in node.children().enumerate() {
        let new = rebuild(facts, child, here, around);
        if !new.ptr_eq(child) {
            result = result.with_child(index, new);
        }
    }
    let Some((header, body)) = result.as_loop() else { return result };
    let innermost = body.summary().loop_depth == 0;
    if outside.looped
        && header.kind != LoopKind::Vector
        && let Some(count) = header.constant_trip_count().filter(|n| (0..=INSTRUCTIONS).contains(n))
        && fits(facts, header, count, body, node.summary().loop_depth == 1, outside)
    {
        let value = |k: i64| &header.lower()[0] + &Affine::constant(k * header.step);
        if innermost {
            return Green::seq((0..count).map(|k| Green::bind(header.var, value(k), body.clone())));
        }
        let copy = |k| rebuild(facts, &substitute(body, header.var, &value(k)), here, &mut Vec::new());
        if let Some(copies) = straight(facts.kernel, outside, (0..count).map(copy)) {
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
fn straight(kernel: &Kernel, outside: Outside<'_>, copies: impl Iterator<Item = Green>) -> Option<Green> {
    let (mut all, mut size) = (Vec::new(), 0);
    for copy in copies {
        size += at_most(kernel, &copy);
        let beyond = size > OF_NEW_CODE && outside.leaves_in_doubt();
        if copy.summary().loop_depth > 0 || size > IN_ALL || beyond {
            return None;
        }
        all.push(copy);
    }
    Some(Green::seq(all))
}

/// Whether so many copies of a body are few enough instructions. What innermost loops compute alike is known as such before they are
/// unrolled, what copies share is not before those around them are: it is counted of a loop that has none inside (`alone`). That takes
/// longer than looking at most bodies, and many trees have the same ones.
fn fits(
    facts: &Facts<'_>,
    header: &LoopHeader,
    count: i64,
    body: &Green,
    alone: bool,
    outside: Outside<'_>,
) -> bool {
    let enough = |size: i64| count * (size + OF_THE_LOOP) <= INSTRUCTIONS;
    // Copies that stand side by side are packed, or vectors of the loop around are made as of the program's own: which of it is doubtful.
    let own = !outside.tiled && facts.constant_loops.contains(&header.var);
    if own && repeat(body.leaves()) && outside.leaves_in_doubt() {
        return false;
    }
    if enough(at_most(facts.kernel, body)) {
        return true;
    }
    // Each statement has one.
    if !alone || outside.tiled || !enough(i64::from(body.summary().leaves)) {
        return false;
    }
    let sizes = || facts.sizes.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (body.structural_hash(), header.var, outside.may_alias());
    let known = sizes().get(&key).copied();
    enough(known.unwrap_or_else(|| {
        let size = size(facts.kernel, header.var, body, outside.may_alias());
        sizes().insert(key, size);
        size
    }))
}

/// Whether a condition holds in all iterations of an innermost loop but a few first ones, which the compiler peels, as far as copies
/// are no more instructions than it unrolls loops to. Last ones it does not peel where there may be none.
pub(crate) fn is_peeled(kernel: &Kernel, header: &LoopHeader, body: &Green, condition: &Condition) -> bool {
    let bounds = header.single_bounds().filter(|_| header.step == 1 && header.kind != LoopKind::Vector);
    let (Some((lower, _)), [conjunction]) = (bounds, &condition.disjuncts[..]) else { return false };
    let first = |c: &Constraint| {
        let begins = (&(&c.expression - &Affine::var(header.var)) + lower).as_constant()?;
        (c.relation == Relation::NonNegative && begins >= -MOST_PEELED).then_some(-begins)
    };
    let count = conjunction.iter().try_fold(0, |most, c| Some(first(c)?.max(most)));
    count.is_some_and(|n: i64| (n + 1) * at_most(kernel, body) <= INSTRUCTIONS)
}

/// Whether a statement is there several times, as jamming and unrolling make it.
pub(crate) fn repeat(mut statements: impl Iterator<Item = StmtId>) -> bool {
    let mut seen = FxHashSet::default();
    !statements.all(|id| seen.insert(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_tree::text;

    #[test]
    fn only_short_innermost_loops_inside_of_others() {
        let source = "nest @k[N] { array A: f32[?, 3] for i in 0..N { for c in 0..3 { S: A[i, c] = 0.0 } } }";
        let kernel = text::parse(source).expect("it parses").kernel;
        let Unrolled { tree: short, around, .. } =
            unroll_short(&Facts::new(&kernel, &[]), &kernel.original, Code::New { doubtful: true });
        assert!(around.len() == 1 && around[0].ptr_eq(&short));
        assert_eq!((short.summary().loop_depth, short.summary().leaves), (1, 3));
        let inner = kernel.original.child(0).expect("the loop over c");
        assert_eq!(&unroll_short(&Facts::new(&kernel, &[]), inner, Code::New { doubtful: true }).tree, inner);
        // Lanes are no loop.
        let source = source.replace("for c", "vector for c");
        let kernel = text::parse(&source).expect("it parses").kernel;
        assert_eq!(
            unroll_short(&Facts::new(&kernel, &[]), &kernel.original, Code::New { doubtful: true }).tree,
            kernel.original
        );
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
            let Unrolled { tree, around, .. } =
                unroll_short(&Facts::new(&kernel, &[]), &kernel.original, Code::New { doubtful: true });
            (tree.summary().loop_depth, tree.summary().leaves, around.len())
        };
        assert_eq!(unrolled(4), (1, 6, 1));
        assert_eq!(unrolled(64), (3, 1, 0));
    }
}

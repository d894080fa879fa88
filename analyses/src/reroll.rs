//! Copies of unrolled loops, found again as loops.
//!
//! A sequence `B(0); B(1); .. B(n-1)`, in which each member is the one before it with every expression advanced by a
//! constant, is `for u in 0..n { B(u) }`: the same instances in the same order. So a tree may be judged in this form, in which
//! the number of copies does not matter: n copies are one place, and n * n pairs of copies one pair.

use loop_tree::{
    Affine, Bounds, Condition, Constraint, Green, GuardCondition, LoopHeader, Node, Path, VarId,
};
use std::sync::Arc;

/// Members of a sequence that together are one copy, at most.
const MAX_PERIOD: usize = 8;

/// A tree that executes the same instances in the same order as another one, with copies as loops.
pub struct Rolled {
    /// The tree.
    pub root: Green,
    /// From here on, variables are of loops over copies.
    first: VarId,
}

/// `fresh`: a variable such that neither it nor a greater one occurs in the tree.
pub fn roll(root: &Green, fresh: VarId) -> Rolled {
    Rolled { root: rolled(root, fresh).0, first: fresh }
}

impl Rolled {
    /// The path in the original tree, of the first copy, of a node that is not a loop over copies.
    pub fn origin(&self, path: &Path) -> Path {
        let mut result = Path::root();
        let mut node = Some(&self.root);
        let mut steps = path.0.iter().copied();
        while let (Some(at), Some(step)) = (node, steps.next()) {
            let mut step = step as usize;
            if let Node::Seq(_) = at.node() {
                let mut index = 0;
                let mut sequence = at;
                loop {
                    index += sequence.children().take(step).map(|c| self.width(c)).sum::<usize>();
                    node = sequence.child(step);
                    // A loop over copies holds a sequence, and begins with the first of them.
                    let Some(body) = node.and_then(|n| self.copies(n)).map(|(_, body)| body) else { break };
                    let (Some(_), Some(next)) = (steps.next(), steps.next()) else { break };
                    (sequence, step) = (body, next as usize);
                }
                result.0.push(index as u32);
            } else {
                result.0.push(step as u32);
                node = at.child(step);
            }
        }
        result
    }

    /// The path of what stands for a node of the original tree, and for its copies: the inverse of [`Rolled::origin`].
    pub fn counterpart(&self, path: &Path) -> Path {
        let mut result = Path::root();
        let mut node = Some(&self.root);
        for step in &path.0 {
            let Some(at) = node else { break };
            let mut step = *step as usize;
            let (mut sequence, mut index) = (at, step);
            if let Node::Seq(_) = at.node() {
                loop {
                    index = 0;
                    for member in sequence.children() {
                        let width = self.width(member);
                        if step < width {
                            break;
                        }
                        step -= width;
                        index += 1;
                    }
                    let Some((_, body)) = sequence.child(index).and_then(|n| self.copies(n)) else { break };
                    result.0.extend([index as u32, 0]);
                    step %= body.children().map(|c| self.width(c)).sum::<usize>().max(1);
                    sequence = body;
                }
            }
            result.0.push(index as u32);
            node = sequence.child(index);
        }
        result
    }

    /// Whether the loop at a path is one over copies.
    pub fn is_over_copies(&self, path: &Path) -> bool {
        self.root.at(path).is_some_and(|node| self.copies(node).is_some())
    }

    fn copies<'g>(&self, node: &'g Green) -> Option<(&'g LoopHeader, &'g Green)> {
        node.as_loop().filter(|(h, _)| h.var >= self.first).map(|(h, body)| (&**h, body))
    }

    /// Members of the original sequence that a member stands for.
    fn width(&self, node: &Green) -> usize {
        match self.copies(node) {
            Some((header, body)) => {
                let count = usize::try_from(header.constant_trip_count().unwrap_or(1)).unwrap_or(1);
                body.children().map(|c| self.width(c)).sum::<usize>() * count
            }
            None => 1,
        }
    }
}

/// With the least variable that is not used, or `fresh`.
fn rolled(node: &Green, fresh: VarId) -> (Green, VarId) {
    let mut free = fresh;
    if node.summary().leaves < 2 {
        return (node.clone(), free);
    }
    let mut result = node.map_children(|child| {
        let (new, used) = rolled(child, fresh);
        free = free.max(used);
        new
    });
    // Copies of copies.
    while let Node::Seq(children) = result.node()
        && let Some(shorter) = once(&children.iter().cloned().collect::<Vec<_>>(), fresh, free)
    {
        free = VarId(free.0.saturating_add(1));
        result = Green::seq(shorter);
    }
    (result, free)
}

/// The members with all runs of copies as loops over `var`; `None` if there are none. Variables from `first` on are of copies.
fn once(list: &[Green], first: VarId, var: VarId) -> Option<Vec<Green>> {
    let mut result = Vec::new();
    let mut changed = false;
    let mut at = 0;
    while at < list.len() {
        let rest = &list[at..];
        match (1..=MAX_PERIOD.min(rest.len() / 2)).find_map(|period| run(rest, period, first)) {
            Some((period, count, advance)) => {
                let mut advance = advance.into_iter();
                let body = rest[..period].iter().map(|c| template(c, &mut advance, var));
                let header = LoopHeader::range(var, 0, count as i64);
                result.push(Green::for_loop(header, Green::seq(body.collect::<Vec<_>>())));
                changed = true;
                at += period * count;
            }
            None => {
                result.push(rest[0].clone());
                at += 1;
            }
        }
    }
    changed.then_some(result)
}

/// How a node or an expression differs from that of the copy before, in the order in which a tree is walked: each node has an
/// entry, and after `Inside` one for each of its expressions. So equal lists are about the same expressions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Advance {
    /// The whole subtree is the same.
    Same,
    /// Something in the subtree differs.
    Inside,
    /// An expression differs by so much.
    By(i64),
}

/// Members at the beginning that are copies of the first `period`: the period, how many copies, how one follows another.
fn run(list: &[Green], period: usize, first: VarId) -> Option<(usize, usize, Vec<Advance>)> {
    let between = |copy: usize| {
        let copies = list.get(copy * period..(copy + 2) * period)?;
        let mut advance = Vec::new();
        copies[..period]
            .iter()
            .zip(&copies[period..])
            .all(|(a, b)| compare(a, b, first, &mut advance))
            .then_some(advance)
    };
    let advance = between(0)?;
    // One step, as of copies; parts of a split loop, which advance unevenly, would gain nothing.
    let step = |a: &Advance| match a {
        Advance::By(by) if *by != 0 => Some(by.unsigned_abs()),
        _ => None,
    };
    let least = advance.iter().find_map(step)?;
    if advance.iter().filter_map(step).any(|step| step != least) {
        return None;
    }
    let further = (1..).take_while(|copy| between(*copy).as_ref() == Some(&advance)).count();
    Some((period, further + 2, advance))
}

/// Whether `b` is `a` with expressions advanced by constants, which are appended to the list.
fn compare(a: &Green, b: &Green, first: VarId, list: &mut Vec<Advance>) -> bool {
    if a == b {
        list.push(Advance::Same);
        return true;
    }
    if a.summary().leaves != b.summary().leaves {
        return false;
    }
    list.push(Advance::Inside);
    let mut expressions = |x: &[Affine], y: &[Affine]| {
        x.len() == y.len()
            && x.iter().zip(y).all(|(x, y)| {
                let constant = y.constant_with(x, -1);
                list.extend(constant.map(Advance::By));
                constant.is_some()
            })
    };
    match (a.node(), b.node()) {
        (Node::Seq(x), Node::Seq(y)) => {
            x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| compare(x, y, first, list))
        }
        (Node::Loop(h, x), Node::Loop(g, y)) => {
            (h.var, h.step, h.kind) == (g.var, g.step, g.kind)
                // As many copies.
                && (h.var < first || h.bounds == g.bounds)
                && expressions(h.lower(), g.lower())
                && expressions(h.upper(), g.upper())
                && matches!((&h.bounds, &g.bounds), (Bounds::Affine { .. }, Bounds::Affine { .. }))
                && compare(x, y, first, list)
        }
        (Node::Let(v, e, x), Node::Let(w, f, y)) => {
            v == w
                && expressions(std::slice::from_ref(e), std::slice::from_ref(f))
                && compare(x, y, first, list)
        }
        (Node::Guard(c, x), Node::Guard(d, y)) => {
            let conditions = match (&**c, &**d) {
                (GuardCondition::Affine(c), GuardCondition::Affine(d)) => {
                    let relations = |c: &Condition| {
                        c.disjuncts
                            .iter()
                            .map(|all| all.iter().map(|c| c.relation).collect::<Vec<_>>())
                            .collect::<Vec<_>>()
                    };
                    relations(c) == relations(d)
                        && c.constraints().zip(d.constraints()).all(|(c, d)| {
                            expressions(
                                std::slice::from_ref(&c.expression),
                                std::slice::from_ref(&d.expression),
                            )
                        })
                }
                // A predicate has no entry.
                (c, d) => c == d,
            };
            conditions && compare(x, y, first, list)
        }
        _ => false,
    }
}

/// The first copy with its expressions advanced by `var` times what [`compare`] found.
fn template(node: &Green, advance: &mut impl Iterator<Item = Advance>, var: VarId) -> Green {
    if advance.next() != Some(Advance::Inside) {
        return node.clone();
    }
    let mut moved = |e: &Affine| match advance.next() {
        Some(Advance::By(by)) if by != 0 => e + &Affine::var(var).scale(by),
        _ => e.clone(),
    };
    match node.node() {
        Node::Seq(children) => {
            let list: Vec<Green> = children.iter().map(|c| template(c, advance, var)).collect();
            Green::seq(list)
        }
        Node::Loop(h, body) => {
            let bounds = match &h.bounds {
                Bounds::Affine { lower, upper } => {
                    let lower = lower.iter().map(&mut moved).collect();
                    Bounds::Affine { lower, upper: upper.iter().map(&mut moved).collect() }
                }
                other => other.clone(),
            };
            let header = LoopHeader { bounds, ..(**h).clone() };
            Green::for_loop(header, template(body, advance, var))
        }
        Node::Let(v, e, body) => {
            let value = moved(e);
            Green::bind(*v, value, template(body, advance, var))
        }
        Node::Guard(c, body) => {
            let condition = match &**c {
                GuardCondition::Affine(c) => {
                    let list = c.disjuncts.iter().map(|all| {
                        all.iter()
                            .map(|c| Constraint { expression: moved(&c.expression), relation: c.relation })
                            .collect()
                    });
                    Arc::new(GuardCondition::Affine(Condition { disjuncts: list.collect() }))
                }
                GuardCondition::Predicate { .. } => c.clone(),
            };
            Green::guarded(condition, template(body, advance, var))
        }
        // Only the same ones are copies, and those are dealt with.
        Node::Stmt(..) | Node::Alloc(..) | Node::Version(_) => node.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_tree::StmtId;

    fn leaf(id: u32, at: Affine) -> Green {
        Green::bind(VarId(0), at, Green::stmt(StmtId(id), [VarId(0)].into()))
    }

    fn c(value: i64) -> Affine {
        Affine::constant(value)
    }

    /// Statements with the value of variable 0, in the order in which they run.
    fn run(tree: &Green, env: &mut Vec<(VarId, i64)>, out: &mut Vec<(u32, i64)>) {
        let value = |env: &[(VarId, i64)], e: &Affine| {
            let get = |v| env.iter().rev().find(|(w, _)| *w == v).map(|(_, x)| *x);
            e.eval(&get, &|_| None).expect("bound")
        };
        match tree.node() {
            Node::Seq(list) => list.iter().for_each(|n| run(n, env, out)),
            Node::Loop(h, body) => {
                for x in value(env, &h.lower()[0])..value(env, &h.upper()[0]) {
                    env.push((h.var, x));
                    run(body, env, out);
                    env.pop();
                }
            }
            Node::Let(v, e, body) => {
                env.push((*v, value(env, e)));
                run(body, env, out);
                env.pop();
            }
            Node::Stmt(id, _) => out.push((id.0, value(env, &Affine::var(VarId(0))))),
            _ => unreachable!("not made here"),
        }
    }

    fn executed(tree: &Green) -> Vec<(u32, i64)> {
        let mut out = Vec::new();
        run(tree, &mut Vec::new(), &mut out);
        out
    }

    #[test]
    fn copies_become_loops_in_the_same_order() {
        let inner = |at: i64| {
            Green::for_loop(LoopHeader::range(VarId(1), at, at + 2), leaf(1, Affine::var(VarId(1))))
        };
        let cases: [(Vec<Green>, u32); 7] = [
            ((0..5).map(|k| leaf(0, c(7 + k))).collect(), 1),
            // Pairs; and copies of copies.
            ((0..6).map(|k| leaf(k % 2, c(i64::from(k / 2)))).collect(), 2),
            ((0..6).map(|k| leaf(0, c(10 * (k / 2) + k % 2))).collect(), 1),
            // Whole nests; and with something before and after.
            ((0..3).map(inner).collect(), 1),
            (
                [leaf(2, c(0))]
                    .into_iter()
                    .chain((0..4).map(|k| leaf(0, c(k))))
                    .chain([leaf(3, c(9))])
                    .collect(),
                3,
            ),
            // Two copies, then four, are not a copy twice.
            (
                (0..2)
                    .map(|k| leaf(0, c(k)))
                    .chain([leaf(1, c(0))])
                    .chain((2..6).map(|k| leaf(0, c(k))))
                    .chain([leaf(1, c(1))])
                    .collect(),
                4,
            ),
            // The same twice, and an uneven step, are no copies.
            (vec![leaf(0, c(1)), leaf(0, c(1)), leaf(1, c(4))], 3),
        ];
        for (list, leaves) in cases {
            let tree = Green::seq(list);
            let new = roll(&tree, VarId(10));
            assert_eq!(executed(&new.root), executed(&tree), "{tree:?}");
            assert_eq!(new.root.summary().leaves, leaves, "{tree:?}");
        }
    }

    #[test]
    fn paths_lead_to_the_first_copy() {
        let nest = |at: i64| {
            Green::for_loop(LoopHeader::range(VarId(1), at, at + 2), leaf(1, Affine::var(VarId(1))))
        };
        let tree =
            Green::seq((0..4).flat_map(|k| [leaf(0, c(k)), nest(k)]).chain([nest(40)]).collect::<Vec<_>>());
        let new = roll(&tree, VarId(10));
        let loops = |tree: &Green| {
            let (mut walk, mut found) = (tree.walk(), Vec::new());
            while let Some((header, _)) = walk.next_loop() {
                found.extend((header.var == VarId(1)).then(|| walk.path()));
            }
            found
        };
        let old = loops(&tree);
        let found: Vec<Path> = loops(&new.root).iter().map(|p| new.origin(p)).collect();
        assert_eq!(found, [old[0].clone(), old[4].clone()]);
    }
}

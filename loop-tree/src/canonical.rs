//! Canonical form: trees that differ only in names, nested sequences or needless bindings become equal.
//!
//! - Sequences are flat and have two children or more; nothing is empty but possibly the root.
//! - Only original variables are bound by `Let`; fresh ones are substituted.
//! - A loop over a fresh variable whose body starts with `Let i = t` and does not use `t` otherwise is a loop over `i`.
//! - A loop that runs once is a `Let`; one that never runs, and a guard that never holds, is gone.
//! - Fresh variables are numbered by the number of loops over fresh variables around them (de Bruijn levels).
//! - Bounds and conditions are sorted and without duplicates. What is known where they stand ([`Known`]) leaves out the bounds
//!   that others imply and conditions that always hold, and shows loops that never run.
//!
//! Work is proportional to the tree, or to what a change made of it ([`canonical_from`]); subtrees that are canonical already are
//! shared, not copied. What a subtree becomes depends on where it stands.

use crate::known::Known;
use crate::{
    Affine, Bounds, Condition, Constraint, Green, GuardCondition, Kernel, LoopHeader, Node, Relation, VarId,
    leave_out,
};
use std::sync::Arc;

/// The canonical form of a tree of this kernel.
pub fn canonical(kernel: &Kernel, root: &Green) -> Green {
    passes(kernel, None, root)
}

/// The same of a tree that shares parts with a canonical one: looks only at what differs, and at what is around that.
pub fn canonical_from(kernel: &Kernel, before: &Green, root: &Green) -> Green {
    passes(kernel, Some(before), root)
}

fn passes(kernel: &Kernel, before: Option<&Green>, root: &Green) -> Green {
    let mut state = Canonical { originals: kernel.var_count(), known: Known::of(kernel) };
    let mut pass = |tree: &Green| state.rebuild(tree, &Env::default(), 0, before);
    // What one pass substitutes may show the next that a loop is an alias or runs once. The last pass only shares.
    let mut tree = root.clone();
    for _ in 0..=MOST_PASSES {
        let next = pass(&tree);
        if next == tree {
            break;
        }
        tree = next;
    }
    tree
}

/// What stood inside of a node of a canonical tree, where a node at its place has the same head, so that the insides stand in the
/// same surroundings.
fn inside<'o>(old: Option<&'o Green>, node: &Node) -> Option<&'o Green> {
    match (old?.node(), node) {
        (Node::Loop(a, body), Node::Loop(b, _)) if a == b => Some(body),
        (Node::Let(v, e, body), Node::Let(w, f, _)) if v == w && e == f => Some(body),
        (Node::Guard(a, body), Node::Guard(b, _)) if a == b => Some(body),
        (Node::Alloc(a, body), Node::Alloc(b, _)) if a == b => Some(body),
        _ => None,
    }
}

/// Bounds the work on a tree of any depth; two or three are usual.
const MOST_PASSES: usize = 16;

/// A variable that occurs nowhere in the tree, for a transformation to bind. Canonical form renames it.
pub fn fresh_variable(kernel: &Kernel, root: &Green) -> VarId {
    VarId(root.summary().var_bound.max(kernel.var_count()))
}

/// A tree with a free variable replaced by an expression. The expression's variables must not be bound inside the tree
/// (fresh variables never are).
pub fn substitute(tree: &Green, var: VarId, value: &Affine) -> Green {
    if !tree.has_free(var) {
        return tree.clone();
    }
    let replace = |v: VarId| (v == var).then(|| value.clone());
    match tree.node() {
        Node::Stmt(..) => Green::bind(var, value.clone(), tree.clone()),
        Node::Loop(h, body) => {
            let body = if h.var == var { body.clone() } else { substitute(body, var, value) };
            Green::for_loop(map_header(h, h.var, &|e| e.substitute(&replace)), body)
        }
        Node::Let(v, e, body) => {
            let body = if *v == var { body.clone() } else { substitute(body, var, value) };
            Green::bind(*v, e.substitute(&replace), body)
        }
        Node::Guard(c, body) => {
            let condition = match &**c {
                GuardCondition::Affine(c) => Arc::new(GuardCondition::Affine(c.substitute(&replace))),
                GuardCondition::Predicate { .. } => c.clone(),
            };
            Green::guarded(condition, substitute(body, var, value))
        }
        Node::Alloc(buffer, body) => {
            let buffer = buffer.map(&|e| e.substitute(&replace));
            Green::alloc(buffer, substitute(body, var, value))
        }
        Node::Seq(_) | Node::Version(_) => tree.map_children(|child| substitute(child, var, value)),
    }
}

/// Old variables in terms of new ones; absent means unchanged.
#[derive(Clone, Default)]
struct Env(rpds::ListSync<(VarId, Affine)>);

impl Env {
    fn get(&self, var: VarId) -> Option<Affine> {
        self.0.iter().find(|(v, _)| *v == var).map(|(_, e)| e.clone())
    }

    fn with(&self, var: VarId, value: Affine) -> Env {
        if value.as_var() == Some(var) && self.get(var).is_none() {
            return self.clone();
        }
        Env(self.0.push_front((var, value)))
    }

    fn apply(&self, e: &Affine) -> Affine {
        if self.0.is_empty() { e.clone() } else { e.substitute(&|v| self.get(v)) }
    }
}

struct Canonical {
    originals: u32,
    /// In the new names.
    known: Known,
}

impl Canonical {
    /// `level`: number of loops over fresh variables around. `old`: what was canonical with the same around it.
    fn rebuild(&mut self, node: &Green, env: &Env, level: u32, old: Option<&Green>) -> Green {
        if old == Some(node) {
            return node.clone();
        }
        match node.node() {
            Node::Stmt(_, dims) => {
                // Loops bind original variables under their own names, so a changed dim needs a binding.
                dims.iter().rev().fold(node.clone(), |leaf, v| match env.get(*v) {
                    Some(e) if e.as_var() != Some(*v) => Green::bind(*v, e, leaf),
                    _ => leaf,
                })
            }
            Node::Seq(children) => {
                let before = match old.map(Green::node) {
                    Some(Node::Seq(before)) => Some(before),
                    _ => None,
                };
                let (front, back) = before.map_or((0, 0), |before| children.common_ends(before));
                let middle = front..children.len() - back;
                let mut list = Vec::with_capacity(middle.len());
                let mut changed = children.len() < 2;
                for index in middle.clone() {
                    let Some(child) = children.get(index) else { break };
                    // Alone in the sequence's place, it would stand in the same surroundings.
                    let old = before.map_or(old, |before| before.get(index));
                    let new = self.rebuild(child, env, level, old);
                    match new.node() {
                        Node::Seq(inner) => {
                            changed = true;
                            list.extend(inner.iter().cloned());
                        }
                        _ => {
                            changed |= !new.ptr_eq(child);
                            list.push(new);
                        }
                    }
                }
                if !changed {
                    return node.clone();
                }
                let children = children.splice(middle, list);
                match (children.len(), children.get(0)) {
                    (1, Some(only)) => only.clone(),
                    _ => Green::seq_of(children),
                }
            }
            Node::Let(var, value, body) => {
                if !body.has_free(*var) {
                    return self.rebuild(body, env, level, old);
                }
                let value_new = env.apply(value);
                if var.0 >= self.originals {
                    return self.rebuild(body, &env.with(*var, value_new), level, None);
                }
                let env = &env.with(*var, Affine::var(*var));
                let depth = self.known.depth();
                self.known.enter_let(*var, &value_new);
                let new = self.rebuild(body, env, level, inside(old, node.node()));
                self.known.leave(depth);
                if new.is_empty() {
                    return new;
                }
                if new.ptr_eq(body) && value_new == **value {
                    return node.clone();
                }
                Green::bind(*var, value_new, new)
            }
            Node::Guard(condition, body) => {
                let condition_new = match &**condition {
                    GuardCondition::Affine(c) => {
                        let c = self.decided(c.substitute(&|v| env.get(v)));
                        if c.is_never() {
                            return Green::empty();
                        }
                        if c.is_always() {
                            return self.rebuild(body, env, level, old);
                        }
                        GuardCondition::Affine(c)
                    }
                    other => other.clone(),
                };
                let depth = self.known.depth();
                if let GuardCondition::Affine(c) = &condition_new {
                    self.known.enter_guard(c);
                }
                let new = self.rebuild(body, env, level, inside(old, node.node()));
                self.known.leave(depth);
                if new.is_empty() {
                    return new;
                }
                // Directly nested affine guards are one.
                if let (GuardCondition::Affine(outer), Node::Guard(inner, rest)) =
                    (&condition_new, new.node())
                    && let GuardCondition::Affine(inner) = &**inner
                    && outer.disjuncts.len() * inner.disjuncts.len() <= 4
                {
                    let both = outer.and(inner);
                    return if both.is_never() { Green::empty() } else { Green::guard(both, rest.clone()) };
                }
                if new.ptr_eq(body) && condition_new == **condition {
                    return node.clone();
                }
                Green::guarded(Arc::new(condition_new), new)
            }
            Node::Loop(header, body) => self.rebuild_loop(node, header, body, env, level, old),
            Node::Alloc(buffer, body) => {
                let mut buffer_new = buffer.map(&|e| env.apply(e));
                for window in buffer_new.fill.iter_mut().chain(&mut buffer_new.write_back) {
                    for range in &mut window.0 {
                        range.lower = Affine::greatest(std::mem::take(&mut range.lower));
                        range.upper = Affine::least(std::mem::take(&mut range.upper));
                        self.shorten(&mut range.lower, &mut range.upper);
                    }
                }
                let new = self.rebuild(body, env, level, inside(old, node.node()));
                if new.is_empty() {
                    return new;
                }
                if new.ptr_eq(body) && buffer_new == **buffer {
                    return node.clone();
                }
                Green::alloc(buffer_new, new)
            }
            Node::Version(_) => node.map_children(|body| self.rebuild(body, env, level, None)),
        }
    }

    fn rebuild_loop(
        &mut self,
        node: &Green,
        header: &Arc<LoopHeader>,
        body: &Green,
        env: &Env,
        level: u32,
        old: Option<&Green>,
    ) -> Green {
        match header.constant_trip_count() {
            Some(0) => return Green::empty(),
            Some(1) => {
                let value = header.lower()[0].clone();
                return self.rebuild(&Green::bind(header.var, value, body.clone()), env, level, old);
            }
            _ => {}
        }
        let fresh = header.var.0 >= self.originals;
        // `for t { let i = t {B} }` with no other use of t in B is `for i {B}`.
        if fresh && let Some((original, inner)) = sole_alias(header.var, body, self.originals) {
            let renamed = map_header(header, original, &|e| e.clone());
            return self.rebuild_loop(node, &Arc::new(renamed), &inner, env, level, None);
        }
        let (var, inner_level) =
            if fresh { (VarId(self.originals + level), level + 1) } else { (header.var, level) };
        let Some(header_new) = self.needed(map_header(header, var, &|e| env.apply(e))) else {
            return Green::empty();
        };
        let depth = self.known.depth();
        self.known.enter_loop(&header_new);
        let new = self.rebuild(
            body,
            &env.with(header.var, Affine::var(var)),
            inner_level,
            inside(old, node.node()),
        );
        self.known.leave(depth);
        if new.is_empty() {
            return new;
        }
        if let Some((h, b)) = node.as_loop()
            && new.ptr_eq(b)
            && header_new == **h
        {
            return node.clone();
        }
        Green::for_loop(header_new, new)
    }
}

impl Canonical {
    /// A header without the bounds that others imply here; `None` if the loop never runs.
    fn needed(&self, mut header: LoopHeader) -> Option<LoopHeader> {
        let Bounds::Affine { lower, upper } = &mut header.bounds else { return Some(header) };
        if lower.iter().any(|l| upper.iter().any(|u| self.known.nonnegative(&(l - u)))) {
            return None;
        }
        self.shorten(lower, upper);
        Some(header)
    }

    /// Leaves out the bounds that others imply here.
    fn shorten(&self, lower: &mut Vec<Affine>, upper: &mut Vec<Affine>) {
        leave_out(lower, |b, others| others.iter().any(|o| self.known.nonnegative(&(*o - b))));
        leave_out(upper, |b, others| others.iter().any(|o| self.known.nonnegative(&(b - *o))));
    }

    /// A condition without what is known here.
    fn decided(&self, mut condition: Condition) -> Condition {
        let holds = |c: &Constraint| {
            self.known.nonnegative(&c.expression)
                && (c.relation == Relation::NonNegative || self.known.nonnegative(&c.expression.scale(-1)))
        };
        let fails = |c: &Constraint| c.negated().iter().any(holds);
        condition.disjuncts.retain_mut(|conjunction| {
            let possible = !conjunction.iter().any(fails);
            conjunction.retain(|c| !holds(c));
            possible
        });
        condition.simplified()
    }
}

/// `body` is `Let original = var {inner}` and `inner` does not use `var`.
fn sole_alias(var: VarId, body: &Green, originals: u32) -> Option<(VarId, Green)> {
    match body.node() {
        Node::Let(original, value, inner)
            if original.0 < originals && value.as_var() == Some(var) && !inner.has_free(var) =>
        {
            Some((*original, inner.clone()))
        }
        Node::Seq(c) if c.len() == 1 => sole_alias(var, c.get(0)?, originals),
        _ => None,
    }
}

fn map_header(header: &LoopHeader, var: VarId, f: &dyn Fn(&Affine) -> Affine) -> LoopHeader {
    let bounds = match &header.bounds {
        Bounds::Affine { lower, upper } => Bounds::Affine {
            lower: Affine::greatest(lower.iter().map(f).collect()),
            upper: Affine::least(upper.iter().map(f).collect()),
        },
        other => other.clone(),
    };
    LoopHeader { var, bounds, step: header.step, kind: header.kind }
}

#[cfg(test)]
mod tests {
    use crate::Green;
    use crate::text::parse;

    /// The canonical form of a variant over `i j k`.
    fn tree(variant: &str) -> Green {
        let text = format!(
            "nest @k[N, M] {{ array A: f64[N]
               for i in 0..N {{ for j in 0..N {{ for k in 0..N {{ S: A[i] = 0.0 }} }} }}
               variant {{ {variant} }} }}"
        );
        parse(&text).unwrap_or_else(|e| panic!("{text}: {e}")).tree().clone()
    }

    #[test]
    fn bounds_that_the_context_implies_go() {
        let same = |a: &str, b: &str| assert_eq!(tree(a), tree(b), "{a}");
        let nest = |t: &str, i: &str, j: &str| {
            format!("for t in {t} {{ for i in {i} {{ for j in {j} {{ for k in 0..N {{ S }} }} }} }}")
        };
        // A split at the first row of a tile.
        let point = "16*t..16*t + 16";
        same(&nest("0..N", point, "0..min(i, 16*t)"), &nest("0..N", point, "0..16*t"));
        same(&nest("0..N", point, "max(0, 16*t)..i"), &nest("0..N", point, "16*t..i"));
        assert!(tree(&nest("0..N", point, "max(0, 16*t)..min(i, 16*t)")).is_empty());
        // Full tiles, and the last one.
        let (full, last) = ("0..floor(N/16)", "floor(N/16)..floor((N + 15)/16)");
        let cut = "16*t..min(N, 16*t + 16)";
        same(&nest(full, cut, "0..N"), &nest(full, point, "0..N"));
        same(&nest(last, cut, "0..N"), &nest(last, "16*t..N", "0..N"));
        // Where the range is not known, nothing goes.
        for shorter in [point, "16*t..N"] {
            assert_ne!(tree(&nest("0..M", cut, "0..N")), tree(&nest("0..M", shorter, "0..N")));
        }
    }

    #[test]
    fn guards_are_decided_where_they_stand() {
        let guarded = |guard: &str| {
            tree(&format!("for i in 2..N {{ for j in i..N {{ for k in 0..N {{ {guard} }} }} }}"))
        };
        for implied in ["j >= 2", "N >= 3", "i + j >= 4", "j - i >= 0 && k >= 0"] {
            assert_eq!(guarded(&format!("if {implied} {{ S }}")), guarded("S"), "{implied}");
        }
        assert_eq!(guarded("if j >= 3 && i >= 2 { S }"), guarded("if j >= 3 { S }"));
        assert_ne!(guarded("if j >= 3 { S }"), guarded("S"));
        for never in ["j <= 1", "i == j + 1", "k >= N"] {
            assert!(guarded(&format!("if {never} {{ S }}")).is_empty(), "{never}");
        }
    }

    #[test]
    fn what_an_inner_variable_hides_is_forgotten() {
        let inner = |body: &str| {
            tree(&format!(
                "for i in 2..N {{ for j in 0..N {{ for k in 0..N {{ let i = k {{ {body} }} }} }} }}"
            ))
        };
        assert_ne!(inner("if i >= 2 { S }"), inner("S"));
    }
}

//! Where the statements of a tree stand: each leaf with everything around it.
//!
//! A statement may occur several times (peeling, unrolling); the occurrences together are its schedule.

use crate::{Affine, Buffer, Green, GuardCondition, LoopHeader, Node, Path, StmtId, VarId};
use std::sync::Arc;

/// One node between the root and a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Around {
    /// Child number of a sequence: part of the position in time.
    Position(u32),
    /// A loop: part of the position in time.
    Loop(Arc<LoopHeader>),
    /// A binding.
    Let(VarId, Affine),
    /// A condition.
    Guard(Arc<GuardCondition>),
    /// Storage.
    Alloc(Arc<Buffer>),
    /// Alternative number of a version.
    Alternative(u32),
}

/// A statement leaf and its surroundings, outermost first.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The statement.
    pub statement: StmtId,
    /// Path of the leaf.
    pub path: Path,
    /// One entry per path element.
    pub around: Vec<Around>,
}

impl Occurrence {
    /// The loops around, outermost first.
    pub fn loops(&self) -> impl Iterator<Item = &Arc<LoopHeader>> {
        self.around.iter().filter_map(|a| match a {
            Around::Loop(h) => Some(h),
            _ => None,
        })
    }

    /// A variable of the statement in terms of loop variables and parameters: bindings resolved. The last binder of a
    /// variable is the one in effect.
    pub fn resolve(&self, var: VarId) -> Affine {
        self.resolve_before(var, self.around.len())
    }

    fn resolve_before(&self, var: VarId, end: usize) -> Affine {
        match self.binder(var, end) {
            Some((at, Around::Let(_, e))) => e.substitute(&|w| Some(self.resolve_before(w, at))),
            _ => Affine::var(var),
        }
    }

    /// A variable before position `end` of [`around`](Self::around), over the loops around, numbered from the outermost;
    /// `None` where it is not bound.
    pub(crate) fn numbered(&self, var: VarId, end: usize) -> Option<Affine> {
        match self.binder(var, end)? {
            (at, Around::Let(_, e)) => {
                let mut bound = true;
                e.for_each_var(&mut |w| bound &= self.numbered(w, at).is_some());
                bound.then(|| e.substitute(&|w| self.numbered(w, at)))
            }
            (at, _) => {
                let outside = self.around[..at].iter().filter(|a| matches!(a, Around::Loop(_)));
                Some(Affine::var(VarId::new(outside.count())))
            }
        }
    }

    /// The last loop or binding before a position that binds a variable.
    fn binder(&self, var: VarId, end: usize) -> Option<(usize, &Around)> {
        let binds = |around: &Around| match around {
            Around::Loop(h) => h.var == var,
            Around::Let(v, _) => *v == var,
            _ => false,
        };
        self.around[..end].iter().enumerate().rev().find(|(_, a)| binds(a))
    }

    /// The variable of the loop at a position of [`around`](Self::around), if one is there, with its first values, of which the
    /// greatest counts, and its last ones, of which the least does; bindings resolved.
    pub fn ends(&self, at: usize) -> Option<(VarId, [Vec<Affine>; 2])> {
        let Around::Loop(header) = &self.around[at] else { return None };
        let first = header.lower().iter().map(|b| self.resolve_at(b, at)).collect();
        let last = header.upper().iter().map(|b| self.resolve_at(b, at).offset(-1)).collect();
        Some((header.var, [first, last]))
    }

    /// An expression that stands at position `at` of [`around`](Self::around), with bindings resolved.
    pub fn resolve_at(&self, expression: &Affine, at: usize) -> Affine {
        expression.substitute(&|v| Some(self.resolve_before(v, at)))
    }
}

/// All occurrences in textual order.
pub fn occurrences(root: &Green) -> Vec<Occurrence> {
    let mut result = Vec::new();
    let mut walk = root.walk();
    while let Some(node) = walk.next() {
        if let Node::Stmt(id, _) = node.node() {
            let around = walk.here().around().iter().map(|(node, index)| entry(node, *index)).collect();
            result.push(Occurrence { statement: *id, path: walk.path(), around });
        }
    }
    result
}

fn entry(node: &Green, index: u32) -> Around {
    match node.node() {
        Node::Seq(_) => Around::Position(index),
        Node::Loop(h, _) => Around::Loop(h.clone()),
        Node::Let(v, e, _) => Around::Let(*v, e.clone()),
        Node::Guard(c, _) => Around::Guard(c.clone()),
        Node::Alloc(a, _) => Around::Alloc(a.clone()),
        Node::Version(_) | Node::Stmt(..) => Around::Alternative(index),
    }
}

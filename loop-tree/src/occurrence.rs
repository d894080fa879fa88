//! Where the statements of a tree stand: each leaf with everything around it.
//!
//! A statement may occur several times (peeling, unrolling); the occurrences together are its schedule.

use crate::{Affine, Green, GuardCondition, LoopHeader, Node, Path, StmtId, VarId};
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
    Alloc(crate::ArrayId),
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
        for at in (0..end).rev() {
            match &self.around[at] {
                Around::Loop(h) if h.var == var => return Affine::var(var),
                Around::Let(v, e) if *v == var => {
                    return e.substitute(&|w| Some(self.resolve_before(w, at)));
                }
                _ => {}
            }
        }
        Affine::var(var)
    }

    /// An expression that stands at position `at` of [`around`](Self::around), with bindings resolved.
    pub fn resolve_at(&self, expression: &Affine, at: usize) -> Affine {
        expression.substitute(&|v| Some(self.resolve_before(v, at)))
    }
}

/// All occurrences in textual order.
pub fn occurrences(root: &Green) -> Vec<Occurrence> {
    let mut result = Vec::new();
    walk(root, &mut Path::root(), &mut Vec::new(), &mut result);
    result
}

fn walk(node: &Green, path: &mut Path, around: &mut Vec<Around>, result: &mut Vec<Occurrence>) {
    let entry = |index: usize| match node.node() {
        Node::Seq(_) => Around::Position(index as u32),
        Node::Loop(h, _) => Around::Loop(h.clone()),
        Node::Let(v, e, _) => Around::Let(*v, e.clone()),
        Node::Guard(c, _) => Around::Guard(c.clone()),
        Node::Alloc(a, _) => Around::Alloc(*a),
        Node::Version(_) | Node::Stmt(..) => Around::Alternative(index as u32),
    };
    if let Node::Stmt(id, _) = node.node() {
        result.push(Occurrence { statement: *id, path: path.clone(), around: around.clone() });
    }
    for (index, child) in node.children().enumerate() {
        path.0.push(index as u32);
        around.push(entry(index));
        walk(child, path, around, result);
        around.pop();
        path.0.pop();
    }
}

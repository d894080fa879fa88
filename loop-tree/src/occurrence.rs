//! Where the statements of a tree stand: each leaf with everything around it.
//!
//! A statement may occur several times (peeling, unrolling); the occurrences together are its schedule.

use crate::{Affine, ArrayId, Buffer, Green, LoopHeader, Node, Path, Red, StmtId, VarId};
use std::cell::Cell;
use std::sync::Arc;

/// A statement leaf and its surroundings, outermost first.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The statement.
    pub statement: StmtId,
    /// Path of the leaf.
    pub path: Path,
    /// The nodes around it: one per path element, which is the number of the child that it is in.
    pub around: Vec<Green>,
}

impl Occurrence {
    /// The statement leaf at a position.
    pub fn new(statement: StmtId, here: &Red<'_>) -> Occurrence {
        let around = here.around().iter().map(|(node, _)| (*node).clone()).collect();
        Occurrence { statement, path: here.path(), around }
    }

    /// The loops around, outermost first.
    pub fn loops(&self) -> impl Iterator<Item = &Arc<LoopHeader>> {
        self.around.iter().filter_map(|node| Some(node.as_loop()?.0))
    }

    /// The buffers around, outermost first.
    pub fn buffers(&self) -> impl Iterator<Item = &Arc<Buffer>> {
        buffers(&self.around)
    }

    /// Whether the array is in a buffer at position `at` of [`around`](Self::around).
    pub fn is_buffered(&self, array: ArrayId, at: usize) -> bool {
        buffers(&self.around[..at]).any(|b| b.array == array)
    }

    /// An expression of the statement over loop variables and parameters: bindings resolved. The last binder of a
    /// variable is the one in effect.
    pub fn resolve(&self, expression: &Affine) -> Affine {
        self.resolve_at(expression, self.around.len())
    }

    /// An expression that stands at position `at` of [`around`](Self::around), with bindings resolved.
    pub fn resolve_at(&self, expression: &Affine, at: usize) -> Affine {
        expression.substitute(&|v| match self.binder(v, at)? {
            (at, Binder::Value(e)) => Some(self.resolve_at(e, at)),
            (_, Binder::Loop) => None,
        })
    }

    /// A variable before position `end` of [`around`](Self::around), over the loops around, numbered from the outermost;
    /// `None` where it is not bound.
    pub(crate) fn numbered(&self, var: VarId, end: usize) -> Option<Affine> {
        match self.binder(var, end)? {
            (at, Binder::Value(e)) => {
                let bound = Cell::new(true);
                let value = e.substitute(&|w| {
                    let value = self.numbered(w, at);
                    bound.set(bound.get() && value.is_some());
                    value
                });
                bound.get().then_some(value)
            }
            (at, Binder::Loop) => {
                let outside = self.around[..at].iter().filter(|node| node.as_loop().is_some());
                Some(Affine::var(VarId::new(outside.count())))
            }
        }
    }

    /// The last loop or binding before a position that binds a variable.
    fn binder(&self, var: VarId, end: usize) -> Option<(usize, Binder<'_>)> {
        self.around[..end].iter().enumerate().rev().find_map(|(at, node)| match node.node() {
            Node::Loop(h, _) if h.var == var => Some((at, Binder::Loop)),
            Node::Let(v, e, _) if *v == var => Some((at, Binder::Value(e))),
            _ => None,
        })
    }

    /// The variable of the loop at a position of [`around`](Self::around), if one is there, with its first values, of which the
    /// greatest counts, and its last ones, of which the least does; bindings resolved.
    pub fn ends(&self, at: usize) -> Option<(VarId, [Vec<Affine>; 2])> {
        let (header, _) = self.around[at].as_loop()?;
        let first = header.lower().iter().map(|b| self.resolve_at(b, at)).collect();
        let last = header.upper().iter().map(|b| self.resolve_at(b, at).offset(-1)).collect();
        Some((header.var, [first, last]))
    }
}

/// What gives a variable its value.
enum Binder<'t> {
    Loop,
    Value(&'t Affine),
}

fn buffers(around: &[Green]) -> impl Iterator<Item = &Arc<Buffer>> {
    around.iter().filter_map(|node| match node.node() {
        Node::Alloc(buffer, _) => Some(buffer),
        _ => None,
    })
}

/// All occurrences in textual order.
pub fn occurrences(root: &Green) -> Vec<Occurrence> {
    let mut result = Vec::new();
    let mut walk = root.walk();
    while let Some(node) = walk.next() {
        if let Node::Stmt(id, _) = node.node() {
            result.push(Occurrence::new(*id, walk.here()));
        }
    }
    result
}

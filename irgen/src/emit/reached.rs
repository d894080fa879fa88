//! What the accesses of a subtree reach: arrays, or buffers.

use super::lanes::lanes_of;
use super::scope::Scope;
use super::spot::Along;
use super::{EmitError, Emitter};
use loop_tree::{AccessKind, Affine, ArrayId, Bounds, Green, Kernel, LoopHeader, LoopKind, Node, VarId};

/// One access.
pub(super) struct Reached {
    pub(super) array: ArrayId,
    /// The buffer it goes to, by number from the outermost; `None`: the array itself.
    pub(super) frame: Option<usize>,
    /// Over places; `None`: any element, or several.
    pub(super) subscripts: Option<Vec<Affine>>,
    pub(super) kind: AccessKind,
    /// Accesses of one instance, or copy, have equal numbers.
    pub(super) instance: usize,
    /// Places of the loops around, inside of the subtree, whose range depends on that of the loop around the subtree.
    pub(super) moving: Vec<VarId>,
    /// The vector loop around, inside of the subtree.
    pub(super) along: Option<Along>,
}

impl Emitter<'_, '_> {
    /// All accesses of a subtree at the emitter's place, as often as their statements occur.
    pub(super) fn reached(&self, body: &Green, around: Option<VarId>) -> Result<Vec<Reached>, EmitError> {
        let mut walk = Walk {
            kernel: self.kernel,
            scope: self.scope.bare(),
            moving: around.into_iter().collect(),
            outside: usize::from(around.is_some()),
            instances: 0,
            along: None,
            result: Vec::new(),
        };
        walk.node(body)
            .ok_or(EmitError::Unsupported { what: "an instance without the dims that its buffer needs" })?;
        Ok(walk.result)
    }
}

struct Walk<'k> {
    kernel: &'k Kernel,
    scope: Scope<(), ()>,
    moving: Vec<VarId>,
    /// How many of them are around the subtree.
    outside: usize,
    instances: usize,
    along: Option<Along>,
    result: Vec<Reached>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Green) -> Option<()> {
        match node.node() {
            Node::Loop(header, body) => {
                let moves = match &header.bounds {
                    Bounds::Affine { lower, upper } => lower.iter().chain(upper).any(|e| {
                        let e = self.scope.resolved(e);
                        self.moving.iter().any(|v| e.uses(*v))
                    }),
                    Bounds::Unbounded { .. } => true,
                };
                let lanes = self.lanes(header);
                let place = self.scope.enter_loop(header.var, ());
                let outer = lanes.and_then(|lanes| self.along.replace(lanes));
                self.moving.extend(moves.then_some(place));
                let result = self.node(body);
                if header.kind == LoopKind::Vector {
                    self.along = outer;
                }
                if moves {
                    self.moving.pop();
                }
                self.scope.leave();
                result
            }
            Node::Let(var, value, body) => {
                self.scope.enter_let(*var, value, ());
                let result = self.node(body);
                self.scope.leave();
                result
            }
            Node::Alloc(buffer, body) => {
                for (window, kind) in
                    [(&buffer.fill, AccessKind::Read), (&buffer.write_back, AccessKind::Write)]
                {
                    if window.is_some() {
                        let single = self.kernel.array(buffer.array).is_scalar();
                        self.access(buffer.array, single.then(Vec::new), kind, &[])?;
                        self.instances += 1;
                    }
                }
                self.scope.enter_buffer(buffer, ());
                let result = self.node(body);
                self.scope.leave_buffer();
                result
            }
            Node::Stmt(id, _) => {
                let statement = self.kernel.statement(*id);
                for a in &statement.accesses {
                    self.access(a.array, a.subscripts.clone(), a.kind, &statement.dims)?;
                }
                self.instances += 1;
                Some(())
            }
            Node::Seq(_) | Node::Guard(..) | Node::Version(_) => {
                node.children().try_for_each(|child| self.node(child))
            }
        }
    }

    fn access(
        &mut self,
        array: ArrayId,
        subscripts: Option<Vec<Affine>>,
        kind: AccessKind,
        dims: &[VarId],
    ) -> Option<()> {
        let frame = self.scope.innermost(array);
        let subscripts = match (subscripts, frame) {
            (Some(list), None) => Some(list.iter().map(|e| self.scope.resolved(e)).collect()),
            (Some(list), Some(frame)) => Some(self.scope.element(frame, &list, dims)?),
            (None, _) => None,
        };
        let moving = self.moving[self.outside..].to_vec();
        let along = self.along.clone();
        self.result.push(Reached { array, frame, subscripts, kind, instance: self.instances, moving, along });
        Some(())
    }

    /// A vector loop that is entered next.
    fn lanes(&self, header: &LoopHeader) -> Option<Along> {
        let count = lanes_of(header).ok().filter(|_| header.kind == LoopKind::Vector)?;
        let (lower, _) = header.single_bounds()?;
        let first = self.scope.resolved(lower);
        Some(Along { place: self.scope.next_place(), step: header.step, count, first })
    }
}

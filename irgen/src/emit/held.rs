//! Elements that a loop holds in registers while it runs: those that all its iterations access, and nothing else in it.

use super::element::{Element, Tag};
use super::lanes::{Lanes, lanes_of};
use super::spot::Spot;
use super::{Base, EmitError, Emitter};
use crate::llvm::Value;
use loop_tree::{AccessKind, Affine, Green, LoopKind, Node, ScalarType, StmtFlags};

/// An element, or those of lanes, that a loop holds in a slot.
pub(super) struct Held<'m> {
    spot: Spot,
    element: Element<'m>,
    ty: ScalarType,
    slot: Value<'m>,
    written: bool,
}

impl<'m> Emitter<'m, '_> {
    /// Elements that each iteration of an innermost loop accesses, and of which nothing else in it is: loaded into slots here. The
    /// loop must run.
    pub(super) fn hold(&mut self, spots: Vec<(Spot, bool)>) -> Result<Vec<Held<'m>>, EmitError> {
        let mut held = Vec::with_capacity(spots.len());
        for (spot, written) in spots {
            let ty = self.kernel.array(spot.array).element;
            let tag = Tag { array: spot.array, frame: spot.frame, origin: None };
            let (element, value) = self.in_lanes_of(&spot, |e, subscripts| {
                let element = match spot.frame {
                    Some(frame) => e.in_buffer(frame, subscripts)?,
                    None => e.in_array(spot.array, subscripts, None)?,
                };
                let value = e.load_from(&element, ty, tag)?;
                Ok((element, value))
            })?;
            let slot_type = match &spot.lanes {
                None => self.ty(ty)?,
                Some(span) => self.kept(ty, span.count)?,
            };
            let slot = self.spare(slot_type, "held")?;
            self.store_slot(slot, &spot, value, ty)?;
            self.registers.hold(spot.clone(), slot);
            held.push(Held { spot, element, ty, slot, written });
        }
        Ok(held)
    }

    /// Behind the loop: back to memory.
    pub(super) fn release_held(&mut self, held: Vec<Held<'m>>) -> Result<(), EmitError> {
        self.registers.let_go();
        for Held { spot, element, ty, slot, written } in held {
            if written {
                let value = self.load_slot(slot, &spot, ty)?;
                let tag = Tag { array: spot.array, frame: spot.frame, origin: None };
                self.in_lanes_of(&spot, |e, _| e.store_to(&element, ty, value, tag))?;
            }
        }
        Ok(())
    }

    /// What a slot holds: lanes as they lie in memory, so that they may be accessed as several types.
    pub(super) fn load_slot(
        &self,
        slot: Value<'m>,
        spot: &Spot,
        ty: ScalarType,
    ) -> Result<Value<'m>, EmitError> {
        match &spot.lanes {
            None => Ok(self.builder.load(self.ty(ty)?, slot, ty.size(), "")?.value()),
            Some(span) => {
                let row = self.builder.load(self.kept(ty, span.count)?, slot, ty.size(), "")?;
                self.taken(row.value(), ty)
            }
        }
    }

    /// The same for a store.
    pub(super) fn store_slot(
        &self,
        slot: Value<'m>,
        spot: &Spot,
        value: Value<'m>,
        ty: ScalarType,
    ) -> Result<(), EmitError> {
        let value = match spot.lanes {
            None => value,
            Some(_) => self.keepable(value, ty)?,
        };
        self.builder.store(value, slot, ty.size())?;
        Ok(())
    }

    /// Does something for the lanes of a spot alone, whatever lanes are around, with subscripts for all of them.
    fn in_lanes_of<T>(
        &mut self,
        spot: &Spot,
        f: impl FnOnce(&mut Self, &[Affine]) -> Result<T, EmitError>,
    ) -> Result<T, EmitError> {
        let around = self.lanes.take();
        let result = match &spot.lanes {
            None => f(self, &spot.subscripts),
            Some(span) => {
                let first = self.known(&Affine::constant(0))?;
                let place = self.scope.enter_loop(self.scope.next_place(), first);
                self.lanes = Some(Lanes::all(span.count, place, first));
                let steps = span.steps.iter().map(|step| Affine::var(place).scale(*step));
                let subscripts: Vec<Affine> =
                    spot.subscripts.iter().zip(steps).map(|(e, step)| e + &step).collect();
                let result = f(self, &subscripts);
                self.scope.leave();
                result
            }
        };
        self.lanes = around;
        result
    }

    /// What an innermost loop may hold, and whether it writes it: where LLVM could not tell, because the loop accesses other
    /// elements of the array, and stores to some. Vector loops in it are no loops.
    pub(super) fn holdable(&mut self, a_loop: &Green) -> Result<Vec<(Spot, bool)>, EmitError> {
        let Node::Loop(header, body) = a_loop.node() else { return Ok(Vec::new()) };
        if self.mask().is_some() || !self.is_straight(body, self.lanes.is_some()) {
            return Ok(Vec::new());
        }
        let bounds = self.resolved_bounds(header);
        let reached = self.reached(a_loop, None)?;
        let place = self.scope.next_place();
        let mut accesses: Vec<(Spot, bool)> = Vec::new();
        for access in reached {
            let frame = access.frame;
            if frame.is_none() && matches!(self.bases[access.array.index()], Base::Scalar { .. })
                || frame.is_some_and(|frame| self.is_of_lanes(frame))
            {
                continue;
            }
            let along = access.along.as_ref().or(self.registers.along());
            let spot = access.subscripts.and_then(|s| Spot::new(access.array, frame, s, along));
            let Some(spot) = spot else { return Ok(Vec::new()) };
            let writes = access.kind != AccessKind::Read;
            match accesses.iter_mut().find(|(known, _)| *known == spot) {
                Some((_, written)) => *written |= writes,
                None => accesses.push((spot, writes)),
            }
        }
        let depth = self.know_loop(place, bounds);
        let r = &self.registers;
        let candidate = |(spot, written): &&(Spot, bool)| {
            if spot.subscripts.iter().any(|e| e.uses(place)) {
                return false;
            }
            let mut others = accesses
                .iter()
                .filter(|(o, w)| o != spot && (*w || *written))
                .map(|(other, _)| other)
                .peekable();
            let near = |o: &Spot| (o.array, o.frame) == (spot.array, spot.frame);
            others.clone().any(near) && others.all(|other| !r.may_meet(spot, other))
        };
        let result = accesses.iter().filter(candidate).cloned().collect();
        self.unknow(depth);
        Ok(result)
    }

    /// Whether a body is statements one after the other, all of whose operations execute, in lanes or not. `lanes`: whether some are
    /// around.
    pub(super) fn is_straight(&self, node: &Green, lanes: bool) -> bool {
        match node.node() {
            Node::Seq(children) => children.iter().all(|c| self.is_straight(c, lanes)),
            Node::Let(_, _, body) => self.is_straight(body, lanes),
            Node::Stmt(id, _) => {
                let statement = self.kernel.statement(*id);
                !statement.flags.intersects(StmtFlags::ATOMIC_RELAXED | StmtFlags::OPAQUE)
                    && statement.ops.iter().all(|op| op.mask.is_none())
            }
            Node::Loop(header, body) if header.kind == LoopKind::Vector && !lanes => {
                lanes_of(header).is_ok_and(|count| count > 0) && self.is_straight(body, true)
            }
            Node::Loop(..) | Node::Guard(..) | Node::Alloc(..) | Node::Version(_) => false,
        }
    }
}

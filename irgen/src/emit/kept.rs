//! Elements of arrays that stay in registers, because nothing else that is accessed may be the same element.
//!
//! LLVM is told which arrays are apart, but not which rows of one array: it stores and loads in turn where a row of a block is
//! never one of those behind it. Within straight-line code what is known of an element is not loaded, and what is stored again
//! before anybody looks is not stored; over an innermost loop an element that all iterations access has a slot of its own. That
//! two elements differ follows from the bounds of the loops around.

use super::element::{Element, Tag};
use super::{Base, EmitError, Emitter};
use crate::llvm::{Block, Inst, Value};
use crate::mutation::{self, Rule};
use loop_tree::{
    AccessKind, Affine, ArrayId, Bounds, Condition, Constraint, Green, Kernel, Known, LoopHeader, Node,
    RuntimeCondition, ScalarType, Statement, StmtFlags, VarId,
};

/// An element, its subscripts over places.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Spot {
    array: ArrayId,
    /// The buffer that the array is in.
    frame: Option<usize>,
    subscripts: Vec<Affine>,
}

/// An element of which the value is known.
struct Kept<'m> {
    spot: Spot,
    value: Value<'m>,
    /// The store of it that nobody has looked at.
    unseen: Option<Inst<'m>>,
}

/// What is in registers at the builder's place.
pub(super) struct Registers<'m> {
    /// What is known where the elements are.
    known: Known,
    kept: Vec<Kept<'m>>,
    /// Where it is known.
    block: Option<Block<'m>>,
    /// Elements that have slots while a loop runs.
    held: Vec<(Spot, Value<'m>)>,
    /// Whether two arrays never overlap when the code runs.
    disjoint: Vec<Vec<bool>>,
}

/// An element that a loop holds in a slot.
pub(super) struct Held<'m> {
    spot: Spot,
    element: Element<'m>,
    ty: ScalarType,
    slot: Value<'m>,
    written: bool,
}

impl<'m> Registers<'m> {
    /// `checked`: what holds when the code runs.
    pub(super) fn new(kernel: &Kernel, checked: &[RuntimeCondition]) -> Self {
        let ids = || (0..kernel.arrays.len()).map(ArrayId::new);
        let apart = |a, b| {
            !kernel.may_overlap(a, b)
                || checked.contains(&RuntimeCondition::NoOverlap(a, b))
                || checked.contains(&RuntimeCondition::NoOverlap(b, a))
        };
        let disjoint = ids().map(|a| ids().map(|b| apart(a, b)).collect()).collect();
        Registers { known: Known::of(kernel), kept: Vec::new(), block: None, held: Vec::new(), disjoint }
    }

    /// Whether two accesses, in the same iteration, may be of one element.
    fn may_meet(&self, a: &Spot, b: &Spot) -> bool {
        if (a.array, a.frame) == (b.array, b.frame) {
            let apart = self.known.apart(&a.subscripts, &b.subscripts);
            return !apart && (a == b || !mutation::off(Rule::ElementsApart));
        }
        self.arrays_meet((a.array, a.frame), (b.array, b.frame))
    }

    /// Whether two arrays, or the buffers that they are in, may overlap.
    fn arrays_meet(&self, a: (ArrayId, Option<usize>), b: (ArrayId, Option<usize>)) -> bool {
        match (a.1, b.1) {
            (None, None) => a.0 == b.0 || !self.disjoint[a.0.index()][b.0.index()],
            _ => a == b,
        }
    }

    /// Nothing is known from here on: numbers of buffers change their meaning, or copies are made.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
    }

    /// The builder is in a block; what is known is so in one only.
    fn enter(&mut self, block: Block<'m>) {
        if self.block != Some(block) {
            self.forget();
            self.block = Some(block);
        }
    }

    /// Something reads memory.
    fn look(&mut self, meets: impl Fn(&Self, &Spot) -> bool) {
        if mutation::off(Rule::SeenStores) {
            return;
        }
        for at in 0..self.kept.len() {
            if self.kept[at].unseen.is_some() && meets(self, &self.kept[at].spot) {
                self.kept[at].unseen = None;
            }
        }
    }

    /// Something writes memory.
    fn change(&mut self, meets: impl Fn(&Self, &Spot) -> bool) {
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(|k| !meets(self, &k.spot));
        self.kept = kept;
    }

    /// The slot of an element that a loop around holds.
    fn slot(&self, spot: &Spot) -> Option<Value<'m>> {
        self.held.iter().find(|(held, _)| held == spot).map(|(_, slot)| *slot)
    }
}

impl<'m> Emitter<'m, '_> {
    /// A load of one element of a statement.
    pub(super) fn load_kept(
        &mut self,
        element: &Element<'m>,
        spot: Option<Spot>,
        ty: ScalarType,
        tag: Tag<'m>,
    ) -> Result<Value<'m>, EmitError> {
        self.registers.enter(self.place()?);
        let Some(spot) = spot else {
            if self.in_memory(tag) {
                self.registers
                    .look(|r, other| r.arrays_meet((tag.array, tag.frame), (other.array, other.frame)));
            }
            return self.load_from(element, ty, tag);
        };
        if let Some(slot) = self.registers.slot(&spot) {
            return Ok(self.builder.load(self.ty(ty)?, slot, ty.size(), "")?.value());
        }
        // One element may be accessed as several types.
        let wanted = self.ty(ty)?;
        if let Some(kept) = self.registers.kept.iter().find(|k| k.spot == spot && k.value.ty() == wanted) {
            return Ok(kept.value);
        }
        self.registers.look(|r, other| r.may_meet(&spot, other));
        let value = self.load_from(element, ty, tag)?;
        self.registers.kept.push(Kept { spot, value, unseen: None });
        Ok(value)
    }

    /// A store of one element of a statement; the instruction, where it is one of its own.
    pub(super) fn store_kept(
        &mut self,
        element: &Element<'m>,
        spot: Option<Spot>,
        ty: ScalarType,
        value: Value<'m>,
        tag: Tag<'m>,
    ) -> Result<Option<Inst<'m>>, EmitError> {
        self.registers.enter(self.place()?);
        let Some(spot) = spot else {
            if self.in_memory(tag) {
                self.registers
                    .change(|r, other| r.arrays_meet((tag.array, tag.frame), (other.array, other.frame)));
            }
            return self.store_to(element, ty, value, tag);
        };
        if let Some(slot) = self.registers.slot(&spot) {
            self.builder.store(value, slot, ty.size())?;
            return Ok(None);
        }
        let same = |k: &Kept<'m>| k.unseen.filter(|_| k.spot == spot && k.value.ty() == value.ty());
        let store = match self.registers.kept.iter().find_map(same) {
            Some(unseen) => {
                self.builder.bring_store(unseen)?;
                unseen.set_operand(0, value)?;
                unseen.set_metadata("tbaa", None)?;
                self.annotate(unseen, tag.array, tag.frame, tag.origin)?;
                Some(unseen)
            }
            None => self.store_to(element, ty, value, tag)?,
        };
        self.registers.change(|r, other| r.may_meet(&spot, other));
        self.registers.kept.push(Kept { spot, value, unseen: store });
        Ok(store)
    }

    fn in_memory(&self, tag: Tag<'m>) -> bool {
        tag.frame.is_some() || matches!(self.bases[tag.array.index()], Base::Memory { .. })
    }

    /// The element that an access of a statement goes to; `None` where it has to go there.
    pub(super) fn spot(
        &self,
        statement: &Statement,
        array: ArrayId,
        subscripts: Option<&[Affine]>,
    ) -> Option<Spot> {
        let frame = self.scope.innermost(array);
        if self.lanes.is_some()
            || statement.flags.contains(StmtFlags::ATOMIC_RELAXED)
            || frame.is_none() && matches!(self.bases[array.index()], Base::Scalar { .. })
        {
            return None;
        }
        let subscripts = match frame {
            None => subscripts?.iter().map(|e| self.scope.resolved(e)).collect(),
            Some(frame) => self.scope.element(frame, subscripts?, &statement.dims)?,
        };
        Some(Spot { array, frame, subscripts })
    }

    /// Enters a loop, for what is known of elements; its bounds are over places. The result is what to leave it with.
    pub(super) fn know_loop(&mut self, place: VarId, [mut lower, upper]: [Vec<Affine>; 2]) -> usize {
        let depth = self.registers.known.depth();
        // What roundings of a bound hide from sums of facts.
        if lower.iter().any(|l| l.as_constant().is_none() && self.registers.known.nonnegative(l)) {
            lower.push(Affine::constant(0));
        }
        let mut header = LoopHeader::range(place, 0, 0);
        header.bounds = Bounds::Affine { lower, upper };
        self.registers.known.enter_loop(&header);
        depth
    }

    /// Enters a guard, likewise.
    pub(super) fn know_guard(&mut self, condition: &Condition) -> usize {
        let depth = self.registers.known.depth();
        let resolve =
            |c: &Constraint| Constraint { expression: self.scope.resolved(&c.expression), ..c.clone() };
        let resolved = condition.disjuncts.iter().map(|all| all.iter().map(resolve).collect()).collect();
        self.registers.known.enter_guard(&Condition { disjuncts: resolved });
        depth
    }

    /// Leaves a loop or guard.
    pub(super) fn unknow(&mut self, depth: usize) {
        self.registers.known.leave(depth);
    }

    /// The bounds of a loop over places.
    pub(super) fn resolved_bounds(&self, header: &LoopHeader) -> [Vec<Affine>; 2] {
        [header.lower(), header.upper()].map(|list| list.iter().map(|e| self.scope.resolved(e)).collect())
    }

    /// Elements that each iteration of an innermost loop accesses, and of which nothing else in it is: loaded into slots here. The
    /// loop must run.
    pub(super) fn hold(&mut self, spots: Vec<(Spot, bool)>) -> Result<Vec<Held<'m>>, EmitError> {
        let mut held = Vec::with_capacity(spots.len());
        for (spot, written) in spots {
            let ty = self.kernel.array(spot.array).element;
            let element = match spot.frame {
                Some(frame) => self.in_buffer(frame, &spot.subscripts)?,
                None => self.in_array(spot.array, &spot.subscripts, None)?,
            };
            let tag = Tag { array: spot.array, frame: spot.frame, origin: None };
            let value = self.load_from(&element, ty, tag)?;
            let slot = self.spare(self.ty(ty)?, "held")?;
            self.builder.store(value, slot, ty.size())?;
            self.registers.held.push((spot.clone(), slot));
            held.push(Held { spot, element, ty, slot, written });
        }
        Ok(held)
    }

    /// Behind the loop: back to memory.
    pub(super) fn release_held(&mut self, held: Vec<Held<'m>>) -> Result<(), EmitError> {
        self.registers.held.clear();
        for Held { spot, element, ty, slot, written } in held {
            if written {
                let value = self.builder.load(self.ty(ty)?, slot, ty.size(), "")?.value();
                self.store_to(
                    &element,
                    ty,
                    value,
                    Tag { array: spot.array, frame: spot.frame, origin: None },
                )?;
            }
        }
        Ok(())
    }

    /// What an innermost loop may hold, and whether it writes it: where LLVM could not tell, because the loop accesses other
    /// elements of the array, and stores to some.
    pub(super) fn holdable(&mut self, a_loop: &Green) -> Result<Vec<(Spot, bool)>, EmitError> {
        let Node::Loop(header, body) = a_loop.node() else { return Ok(Vec::new()) };
        if self.lanes.is_some() || body.summary().loop_depth > 0 || !self.is_straight(body) {
            return Ok(Vec::new());
        }
        let bounds = self.resolved_bounds(header);
        let reached = self.reached(a_loop, None)?;
        let place = self.scope.next_place();
        let mut accesses: Vec<(Spot, bool)> = Vec::new();
        for access in reached {
            let frame = access.frame;
            if frame.is_none() && matches!(self.bases[access.array.index()], Base::Scalar { .. }) {
                continue;
            }
            let Some(subscripts) = access.subscripts else { return Ok(Vec::new()) };
            let (spot, writes) =
                (Spot { array: access.array, frame, subscripts }, access.kind != AccessKind::Read);
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

    /// Whether a body is statements one after the other, all of whose operations execute.
    fn is_straight(&self, node: &Green) -> bool {
        match node.node() {
            Node::Seq(children) => children.iter().all(|c| self.is_straight(c)),
            Node::Let(_, _, body) => self.is_straight(body),
            Node::Stmt(id, _) => {
                let statement = self.kernel.statement(*id);
                !statement.flags.contains(StmtFlags::ATOMIC_RELAXED)
                    && statement.ops.iter().all(|op| op.mask.is_none())
            }
            Node::Loop(..) | Node::Guard(..) | Node::Alloc(..) | Node::Version(_) => false,
        }
    }
}

//! Elements of arrays that stay in registers, because nothing else that is accessed may be the same element.
//!
//! LLVM is told which arrays are apart, but not which rows of one array: it stores and loads in turn where a row of a block is
//! never one of those behind it. Within straight-line code what is known of an element is not loaded, and what is stored again
//! before anybody looks is not stored; over an innermost loop an element that all iterations access has a slot of its own
//! ([`held`](super::held)). That two elements differ follows from the bounds of the loops around. What lanes of a vector loop access
//! together is one such element, as long as all of them do.

use super::element::{Element, Tag};
use super::spot::{Along, Spot};
use super::{Base, EmitError, Emitter};
use crate::llvm::{Block, Inst, Value};
use crate::mutation::{self, Rule};
use loop_tree::{
    Affine, ArrayId, Bounds, Condition, Constraint, Kernel, Known, LoopHeader, RuntimeCondition, ScalarType,
    Statement, StmtFlags, VarId,
};

/// An element of which the value is known.
struct Kept<'m> {
    spot: Spot,
    value: Value<'m>,
    /// The store of it that nobody has looked at.
    unseen: Option<Inst<'m>>,
}

/// Elements that are known at once, at most.
const MOST: usize = 512;

/// What is in registers at the builder's place.
pub(super) struct Registers<'m> {
    /// What is known where the elements are.
    known: Known,
    kept: Vec<Kept<'m>>,
    /// Where it is known.
    block: Option<Block<'m>>,
    /// Elements that have slots while a loop runs.
    held: Vec<(Spot, Value<'m>)>,
    /// The vector loop around the builder's place, of however few lanes.
    along: Option<Along>,
    /// Whether two arrays never overlap when the code runs.
    disjoint: Vec<Vec<bool>>,
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
        Registers {
            known: Known::of(kernel),
            kept: Vec::new(),
            block: None,
            held: Vec::new(),
            along: None,
            disjoint,
        }
    }

    /// Whether two accesses, in the same iteration, may be of one element.
    pub(super) fn may_meet(&self, a: &Spot, b: &Spot) -> bool {
        if (a.array, a.frame) == (b.array, b.frame) {
            return !a.is_apart(b, &self.known) && (a == b || !mutation::off(Rule::ElementsApart));
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

    /// An element is known from here on; of too many the oldest is not any more, as each access is compared with all.
    fn keep(&mut self, kept: Kept<'m>) {
        if self.kept.len() >= MOST {
            self.kept.remove(0);
        }
        self.kept.push(kept);
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

    /// The vector loop around, of however few lanes.
    pub(super) fn along(&self) -> Option<&Along> {
        self.along.as_ref()
    }

    /// A vector loop is entered, or left.
    pub(super) fn set_along(&mut self, along: Option<Along>) {
        self.along = along;
    }

    /// A loop that is emitted now holds an element in a slot.
    pub(super) fn hold(&mut self, spot: Spot, slot: Value<'m>) {
        self.held.push((spot, slot));
    }

    /// It holds none any more.
    pub(super) fn let_go(&mut self) {
        self.held.clear();
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
                self.look_at(tag);
            }
            return self.load_from(element, ty, tag);
        };
        if let Some(slot) = self.registers.slot(&spot) {
            return self.load_slot(slot, &spot, ty);
        }
        // One element may be accessed as several types.
        let wanted = match &spot.lanes {
            None => self.ty(ty)?,
            Some(span) => self.ty(ty)?.vector(span.count)?,
        };
        if let Some(kept) = self.registers.kept.iter().find(|k| k.spot == spot && k.value.ty() == wanted) {
            return Ok(kept.value);
        }
        self.registers.look(|r, other| r.may_meet(&spot, other));
        let value = self.load_from(element, ty, tag)?;
        self.registers.keep(Kept { spot, value, unseen: None });
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
        let value = match (&spot.lanes, self.lanes) {
            (Some(_), _) => self.widened(value)?,
            // The last lane's value stays.
            (None, Some(lanes)) => self.lane(value, lanes.count - 1)?,
            (None, None) => value,
        };
        if let Some(slot) = self.registers.slot(&spot) {
            self.store_slot(slot, &spot, value, ty)?;
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
        self.registers.keep(Kept { spot, value, unseen: store });
        Ok(store)
    }

    fn in_memory(&self, tag: Tag<'m>) -> bool {
        tag.frame.is_some() || matches!(self.bases[tag.array.index()], Base::Memory { .. })
    }

    /// Something reads an array, or the buffer that it is in, other than by [`load_kept`](Self::load_kept).
    pub(super) fn look_at(&mut self, tag: Tag<'m>) {
        self.registers.look(|r, other| r.arrays_meet((tag.array, tag.frame), (other.array, other.frame)));
    }

    /// Whether each lane has a buffer of its own.
    pub(super) fn is_of_lanes(&self, frame: usize) -> bool {
        self.scope.frames()[frame].store.lanes > 1
    }

    /// The element that an access of a statement goes to, or those of all lanes; `None` where it has to go there.
    pub(super) fn spot(
        &self,
        statement: &Statement,
        array: ArrayId,
        subscripts: Option<&[Affine]>,
    ) -> Option<Spot> {
        let frame = self.scope.innermost(array);
        if self.mask().is_some()
            || frame.is_some_and(|frame| self.is_of_lanes(frame))
            || statement.flags.contains(StmtFlags::ATOMIC_RELAXED)
            || frame.is_none() && matches!(self.bases[array.index()], Base::Scalar { .. })
        {
            return None;
        }
        let subscripts = match frame {
            None => subscripts?.iter().map(|e| self.scope.resolved(e)).collect(),
            Some(frame) => self.scope.element(frame, subscripts?, &statement.dims)?,
        };
        Spot::new(array, frame, subscripts, self.registers.along())
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
}

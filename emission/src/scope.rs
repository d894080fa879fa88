//! What is in scope: variables, by the names that the tree gives them and by place, and buffers.
//!
//! Names may be bound again further in; places, which loops have, may not. So an expression that was made at one node can be
//! used at another one below it once it speaks of places only: a buffer's speak of the scope around the buffer, those of the
//! accesses that go to it of theirs.

use loop_tree::{Affine, ArrayId, Buffer, Derived, Kernel, StmtId, VarId};
use std::cell::Cell;
use std::sync::Arc;

/// Binders and buffers around a node, outermost first; `V` is what is known of a variable, `B` of a buffer.
pub struct Scope<V, B> {
    binders: Vec<Binder<V>>,
    frames: Vec<Frame<B>>,
}

struct Binder<V> {
    var: VarId,
    value: Cell<V>,
    /// Over places.
    meaning: Affine,
}

/// A buffer in effect.
pub struct Frame<B> {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// What is known of it.
    pub store: B,
    /// Binders around it.
    depth: usize,
}

/// Variables from here on, up to those that stand for subscripts of buffers, are places.
const FIRST_PLACE: u32 = 1 << 30;

impl<V, B> Default for Scope<V, B> {
    /// Nothing is around.
    fn default() -> Self {
        Scope { binders: Vec::new(), frames: Vec::new() }
    }
}

impl<V: Copy, B> Scope<V, B> {
    /// The same around, nothing known.
    pub fn bare(&self) -> Scope<(), ()> {
        let binder = |b: &Binder<V>| Binder { var: b.var, value: Cell::new(()), meaning: b.meaning.clone() };
        let frame = |f: &Frame<B>| Frame { buffer: f.buffer.clone(), store: (), depth: f.depth };
        Scope {
            binders: self.binders.iter().map(binder).collect(),
            frames: self.frames.iter().map(frame).collect(),
        }
    }

    /// The place of the loop that is entered next.
    pub fn next_place(&self) -> VarId {
        VarId(FIRST_PLACE + self.binders.len() as u32)
    }

    /// The place of the innermost loop.
    pub fn innermost_loop(&self) -> Option<VarId> {
        let places = (FIRST_PLACE..).map(VarId).zip(&self.binders);
        places.filter(|(place, binder)| binder.meaning == Affine::var(*place)).map(|(place, _)| place).last()
    }

    /// A loop's variable; the result is its place.
    pub fn enter_loop(&mut self, var: VarId, value: V) -> VarId {
        let place = self.next_place();
        self.binders.push(Binder { var, value: Cell::new(value), meaning: Affine::var(place) });
        place
    }

    /// A variable that is bound to an expression of those around.
    pub fn enter_let(&mut self, var: VarId, expression: &Affine, value: V) {
        let meaning = self.resolved(expression);
        self.binders.push(Binder { var, value: Cell::new(value), meaning });
    }

    /// What is known of a place, from now on.
    pub fn rebind(&self, place: VarId, value: V) {
        let at = place.0.checked_sub(FIRST_PLACE);
        if let Some(binder) = at.and_then(|at| self.binders.get(at as usize)) {
            binder.value.set(value);
        }
    }

    /// What is known of all places, outermost first.
    pub fn values(&self) -> Vec<V> {
        self.binders.iter().map(|b| b.value.get()).collect()
    }

    /// Changes what is known of all places.
    pub fn set_values(&self, values: &[V]) {
        self.binders.iter().zip(values).for_each(|(binder, value)| binder.value.set(*value));
    }

    /// The variable bound last is so no more.
    pub fn leave(&mut self) {
        self.binders.pop();
    }

    /// What is known of a variable or place.
    pub fn value(&self, var: VarId) -> Option<V> {
        match var.0.checked_sub(FIRST_PLACE).filter(|_| Buffer::index_of(var).is_none()) {
            Some(place) => self.binders.get(place as usize).map(|b| b.value.get()),
            None => self.binders.iter().rev().find(|b| b.var == var).map(|b| b.value.get()),
        }
    }

    /// The expression over places.
    pub fn resolved(&self, e: &Affine) -> Affine {
        self.resolved_at(e, self.binders.len())
    }

    fn resolved_at(&self, e: &Affine, depth: usize) -> Affine {
        let around = &self.binders[..depth];
        e.substitute(&|v| around.iter().rev().find(|b| b.var == v).map(|b| b.meaning.clone()))
    }

    /// A buffer, in the scope around it.
    pub fn enter_buffer(&mut self, buffer: &Arc<Buffer>, store: B) {
        self.frames.push(Frame { buffer: buffer.clone(), store, depth: self.binders.len() });
    }

    /// The buffer entered last is over.
    pub fn leave_buffer(&mut self) {
        self.frames.pop();
    }

    /// The buffers in effect, outermost first.
    pub fn frames(&self) -> &[Frame<B>] {
        &self.frames
    }

    /// The same, to be changed.
    pub fn frames_mut(&mut self) -> &mut [Frame<B>] {
        &mut self.frames
    }

    /// The innermost buffer of the array, of the first so many.
    pub fn buffer_of(&self, array: ArrayId, among: usize) -> Option<usize> {
        self.frames[..among].iter().rposition(|f| f.buffer.array == array)
    }

    /// The buffer that accesses of the array go to.
    pub fn innermost(&self, array: ArrayId) -> Option<usize> {
        self.buffer_of(array, self.frames.len())
    }

    /// What buffers keep in the place of elements that a statement reads, as it computes it.
    pub fn derived(&self, kernel: &Kernel, id: StmtId) -> Vec<Derived> {
        let kept = |array| {
            let by = self.frames[self.innermost(array)?].buffer.by;
            by.filter(|by| *by == id).and_then(|by| Derived::of(kernel, by, array))
        };
        kernel.statement(id).accesses.iter().filter_map(|a| kept(a.array)).collect()
    }

    /// Where an instance with these dims finds its element in a buffer, over places; `None` if it lacks some dim.
    pub fn element(&self, frame: usize, subscripts: &[Affine], dims: &[VarId]) -> Option<Vec<Affine>> {
        let Frame { buffer, depth, .. } = &self.frames[frame];
        let dims = dims.get(..buffer.instance_dims)?.iter().map(|v| self.resolved(&Affine::var(*v)));
        let index: Vec<Affine> = subscripts.iter().map(|e| self.resolved(e)).chain(dims).collect();
        Some(buffer.place_of(&index).iter().map(|e| self.resolved_at(e, *depth)).collect())
    }
}

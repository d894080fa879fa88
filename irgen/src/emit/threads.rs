//! Loops that threads share, run by an OpenMP runtime.
//!
//! Such a loop becomes a function of its own, which every thread calls with a pointer to what the loop needs of its surroundings.
//! Scalars and buffers that are alive in one iteration only are the thread's own, on its stack, or its part of what is allocated
//! behind the run-time check. Which iterations a thread runs follows from its number and the number of threads alone; what is
//! computed does not depend on it, as the loop carries no dependence. Loops marked parallel inside of such a loop run as others do.
//!
//! What is called, `GOMP_parallel` and three functions of the standard, both LLVM's and GCC's runtime have: a program that uses one
//! of them needs no second one.

use super::arith::Known;
use super::gathers;
use super::lanes::lanes_of;
use super::ranges::Range;
use super::{Base, EmitError, Emitter};
use crate::llvm::{Block, Function, GepFlags, Inst, Metadata, Opcode, PoisonFlags, Type, Value};
use crate::mutation::{self, Rule};
use emission::buffers;
use loop_tree::{
    AccessKind, Affine, ArrayId, Bounds, Green, GuardCondition, LoopHeader, LoopKind, Node, Occurrence, Path,
    ScalarType, VarId,
};
use std::collections::BTreeSet;

/// A thread, in the function that it runs.
#[derive(Clone, Copy)]
pub(super) struct Thread<'m> {
    function: Function<'m>,
    /// Its number, and how many there are.
    number: Value<'m>,
    count: Value<'m>,
}

/// What a function for threads is handed: values of its caller, and what loads them.
struct Handed<'m> {
    data: Value<'m>,
    values: Vec<(Value<'m>, Inst<'m>)>,
}

/// Bytes of each place there: all that is handed over fits.
const PLACE: i64 = 8;

impl<'m> Emitter<'m, '_> {
    /// Whether threads share the iterations of a loop at the builder's place.
    pub(super) fn is_shared(&self, header: &LoopHeader) -> bool {
        let marked = header.kind == LoopKind::Parallel && self.threads > 1;
        marked && self.thread.is_none() && self.lanes.is_none()
    }

    /// The loop around an occurrence whose iterations threads share.
    pub(super) fn shared_around(&self, occurrence: &Occurrence) -> Result<Option<Path>, EmitError> {
        for (at, around) in occurrence.around.iter().enumerate().filter(|_| self.threads > 1) {
            match around.as_loop() {
                Some((header, _)) if header.kind == LoopKind::Parallel => {
                    return Ok(Some(Path(occurrence.path.0[..at].into())));
                }
                Some((header, _)) if header.kind == LoopKind::Vector && lanes_of(header)? > 1 => break,
                _ => {}
            }
        }
        Ok(None)
    }

    /// The debug location of what is built from now on, given as one of the original function.
    pub(super) fn set_location(&mut self, location: Option<Metadata<'m>>) -> Result<(), EmitError> {
        let here = match self.thread {
            None => location,
            Some(thread) => location.and_then(|l| thread.function.relocated(l)),
        };
        Ok(self.builder.set_location(here)?)
    }

    /// Emits a loop whose iterations threads share.
    pub(super) fn shared_loop(&mut self, header: &LoopHeader, body: &Green) -> Result<(), EmitError> {
        let Bounds::Affine { lower, upper } = &header.bounds else {
            return Err(EmitError::Unsupported { what: "an unbounded loop" });
        };
        let (lower, least) = self.extreme(lower, true)?;
        let (upper, greatest) = self.extreme(upper, false)?;
        let around = |all: &Option<Vec<Range>>| {
            let all = all.as_ref()?;
            let low = all.iter().map(|r| r.low).min()?;
            Some(Range { low, high: all.iter().map(|r| r.high).max()? })
        };
        let (from, to) = (around(&least), around(&greatest));
        let range = Self::counter_range(least, greatest);
        let turns = self.may_take_turns(header, from, to)?;
        let place = self.place()?;
        let caller = place.function();
        let function = caller.outlined(&format!("{}.threads", caller.name()));
        gathers::avoid(function, self.kernel, self.root);
        function.set_vector_bits(self.vector_bits);

        // Scalars that the loop only reads are handed over by value.
        let written = written(self, body);
        let mut copies = Vec::new();
        for (slot, element) in self.scalars_read(&written) {
            let ty = self.ty(element)?;
            copies.push((slot, element, self.builder.load(ty, slot, element.size(), "")?.value()));
        }

        let (params, bases, slots) = (self.params.clone(), self.bases.clone(), self.slots.clone());
        let (values, groups) = (self.scope.values(), std::mem::take(&mut self.groups));
        let pointers: Vec<Value<'m>> = self.scope.frames().iter().map(|f| f.store.pointer).collect();
        let depths: Vec<usize> = self.scope.frames().iter().map(|f| f.store.groups).collect();

        let entry = function.append_block("entry");
        self.builder.position_at_end(entry)?;
        let data = function.params().first().map(|p| p.value());
        let data =
            data.ok_or(EmitError::Unsupported { what: "a function for threads without an argument" })?;
        let mut handed = Handed { data, values: Vec::new() };
        self.enter(function, &mut handed, copies)?;
        let lower = self.handed_known(&mut handed, Known { value: lower, range: from })?;
        let bounds = [lower, self.handed_known(&mut handed, Known { value: upper, range: to })?];
        self.make_slots(Some(&self.path.clone()))?;
        self.make_buffers(&buffers::find(self.root), Some(&self.path.clone()))?;
        self.own_parts(&mut handed)?;
        self.share(header, body, bounds, range, turns)?;
        self.builder.ret(None)?;

        self.thread = None;
        (self.params, self.bases, self.slots, self.groups) = (params, bases, slots, groups);
        self.scope.set_values(&values);
        for ((frame, pointer), depth) in self.scope.frames_mut().iter_mut().zip(pointers).zip(depths) {
            (frame.store.pointer, frame.store.groups) = (pointer, depth);
        }
        self.start(place, function, &handed)
    }

    /// Whether threads may take turns: no counter wraps by a step for each of them.
    ///
    /// # Errors
    /// Where not even what divides the iterations into blocks is exact.
    fn may_take_turns(
        &self,
        header: &LoopHeader,
        from: Option<Range>,
        to: Option<Range>,
    ) -> Result<bool, EmitError> {
        let what = "a loop for threads between bounds so far apart";
        let (from, to) = from.zip(to).ok_or(EmitError::Unsupported { what })?;
        let (threads, step) = (i128::from(self.threads), i128::from(header.step));
        let length = to.high.max(from.low) - from.low + step - 1;
        let fits = |value: i128| i64::try_from(value).is_ok();
        if !fits(length) || !fits(length / step * threads) {
            return Err(EmitError::Unsupported { what });
        }
        Ok(fits(from.high.max(to.high) + threads * step))
    }

    /// The caller's part: hands over what is used, and calls the runtime.
    fn start(
        &mut self,
        place: Block<'m>,
        function: Function<'m>,
        handed: &Handed<'m>,
    ) -> Result<(), EmitError> {
        let context = self.module.context();
        let caller = place.function();
        let first = caller.entry().and_then(|entry| entry.insts().into_iter().find(|i| !i.is_phi()));
        self.builder
            .position_before(first.ok_or(EmitError::Unsupported { what: "an empty entry block" })?)?;
        self.set_location(self.location)?;
        let room = context.i64().array(handed.values.len().max(1) as u64)?;
        let data = self.builder.alloca(room, None, "handed")?;
        data.set_alignment(PLACE as u32)?;
        self.builder.position_at_end(place)?;
        for (number, (value, _)) in handed.values.iter().enumerate().filter(|(_, (_, load))| load.is_used()) {
            let at = self.handed_at(data.value(), number)?;
            self.builder.store(*value, at, PLACE as u32)?;
        }
        let (int, ptr) = (context.i32(), context.ptr());
        let most = self.runtime("omp_get_max_threads", int, &[])?;
        let most = self.builder.call(most, &[], "")?.value();
        let wanted = int.const_int(self.threads.into())?;
        let count = self.builder.intrinsic("llvm.smin", int, &[most, wanted], "")?.value();
        let start = self.runtime("GOMP_parallel", context.void(), &[ptr, ptr, int, int])?;
        self.builder.call(start, &[function.value(), data.value(), count, int.const_int(0)?], "")?;
        caller.may_start_threads();
        Ok(())
    }

    /// A function of the runtime.
    fn runtime(
        &self,
        name: &str,
        result: Type<'m>,
        parameters: &[Type<'m>],
    ) -> Result<Function<'m>, EmitError> {
        let function = self.module.external(name, result.function(parameters)?)?;
        function.ok_or(EmitError::Unsupported {
            what: "a loop for threads where the module has its runtime's names",
        })
    }

    fn handed_at(&self, data: Value<'m>, number: usize) -> Result<Value<'m>, EmitError> {
        let offset = self.int(number as i64 * PLACE)?;
        Ok(self.builder.gep(self.module.context().i8(), data, &[offset], GepFlags::INBOUNDS, "")?)
    }

    /// An integer of the caller in the function for threads, which LLVM is told the range of: what it would find in the caller.
    fn handed_known(&self, handed: &mut Handed<'m>, known: Known<'m>) -> Result<Value<'m>, EmitError> {
        let value = self.handed(handed, known.value)?;
        if let (Some(load), Some(range)) = (value.as_inst(), known.range) {
            self.within(load, range)?;
        }
        Ok(value)
    }

    /// Says in which range an integer lies.
    fn within(&self, inst: Inst<'m>, range: Range) -> Result<(), EmitError> {
        let end = range.high + 1;
        if range.low < end && range.low >= i64::MIN.into() && end <= i64::MAX.into() {
            let bound = |value| self.module.md_constant(inst.value().ty().const_int(value)?);
            let node = self.module.md_node(&[bound(range.low)?, bound(end)?]);
            inst.set_metadata("range", Some(node))?;
        }
        Ok(())
    }

    /// A value of the caller in the function for threads.
    fn handed(&self, handed: &mut Handed<'m>, value: Value<'m>) -> Result<Value<'m>, EmitError> {
        // The address of a thread's own variable is another one in each thread.
        let global = value.as_global().is_some_and(|g| !g.is_thread_local());
        if value.is_constant() && (global || value.const_int().is_some()) {
            return Ok(value);
        }
        if let Some((_, load)) = handed.values.iter().find(|(v, _)| *v == value) {
            return Ok(load.value());
        }
        let at = self.handed_at(handed.data, handed.values.len())?;
        let load = self.builder.load(value.ty(), at, PLACE as u32, "")?;
        handed.values.push((value, load));
        Ok(load.value())
    }

    /// Slots of scalars that are alive around the loop and not written in it.
    fn scalars_read(&self, written: &BTreeSet<ArrayId>) -> Vec<(Value<'m>, ScalarType)> {
        let mut result: Vec<(Value<'m>, ScalarType)> = Vec::new();
        let common = self.bases.iter().enumerate().filter_map(|(index, base)| match base {
            Base::Scalar { slot } => Some((ArrayId::new(index), *slot)),
            Base::Memory { .. } => None,
        });
        let inside =
            self.slots.iter().filter(|((path, _), (_, lanes))| self.path.contains(path) && *lanes <= 1);
        let private = inside.map(|((_, array), (slot, _))| (*array, *slot));
        for (array, slot) in common.chain(private).filter(|(array, _)| !written.contains(array)) {
            if result.iter().all(|(known, _)| *known != slot) {
                result.push((slot, self.kernel.array(array).element));
            }
        }
        result
    }

    /// Everything known around the loop, as the function for threads knows it; `copies`: slots with what is in them.
    fn enter(
        &mut self,
        function: Function<'m>,
        handed: &mut Handed<'m>,
        copies: Vec<(Value<'m>, ScalarType, Value<'m>)>,
    ) -> Result<(), EmitError> {
        let int = self.module.context().i64();
        self.builder.set_location(self.location.and_then(|l| function.relocated(l)))?;
        let asked = |e: &Self, name, least: i128| -> Result<Value<'m>, EmitError> {
            let call = e.builder.call(e.runtime(name, e.module.context().i32(), &[])?, &[], "")?;
            e.within(call, Range { low: least, high: i128::from(e.threads) + least - 1 })?;
            Ok(e.builder.cast(Opcode::SExt, call.value(), int, PoisonFlags::empty(), "")?)
        };
        let (number, count) = (asked(self, "omp_get_thread_num", 0)?, asked(self, "omp_get_num_threads", 1)?);
        self.thread = Some(Thread { function, number, count });

        let mut copied: Vec<(Value<'m>, Value<'m>)> = Vec::with_capacity(copies.len());
        for (slot, element, value) in copies {
            let copy = self.builder.alloca(self.ty(element)?, None, &slot.name())?.value();
            let value = self.handed(handed, value)?;
            self.builder.store(value, copy, element.size())?;
            copied.push((slot, copy));
        }
        let inside = |e: &Self, handed: &mut Handed<'m>, slot: Value<'m>| {
            let copy = copied.iter().find(|(s, _)| *s == slot).map(|(_, copy)| *copy);
            copy.map_or_else(|| e.handed(handed, slot), Ok)
        };
        for param in 0..self.params.len() {
            let known = Known { value: self.params[param], range: self.limits.inside.get(param).copied() };
            self.params[param] = self.handed_known(handed, known)?;
        }
        for index in 0..self.bases.len() {
            self.bases[index] = match self.bases[index] {
                Base::Memory { base, offset, alignment } => {
                    Base::Memory { base: self.handed(handed, base)?, offset, alignment }
                }
                Base::Scalar { slot } => Base::Scalar { slot: inside(self, handed, slot)? },
            };
        }
        for (key, (slot, lanes)) in self.slots.clone() {
            if self.path.contains(&key.0) {
                let slot = inside(self, handed, slot)?;
                self.slots.insert(key, (slot, lanes));
            }
        }
        for frame in 0..self.scope.frames().len() {
            let pointer = self.handed(handed, self.scope.frames()[frame].store.pointer)?;
            let store = &mut self.scope.frames_mut()[frame].store;
            // The groups of loops around are those of another function.
            (store.pointer, store.groups) = (pointer, 0);
        }
        let mut values = self.scope.values();
        for known in &mut values {
            known.value = self.handed_known(handed, *known)?;
        }
        self.scope.set_values(&values);
        Ok(())
    }

    /// The thread's part of each buffer on the heap that is the thread's own.
    fn own_parts(&mut self, handed: &mut Handed<'m>) -> Result<(), EmitError> {
        let Some(Thread { number, .. }) = self.thread else { return Ok(()) };
        let parts = self.memory.parts.iter().filter(|(path, _)| self.path.contains(path));
        let parts: Vec<(Path, Value<'m>)> = parts.map(|(path, bytes)| (path.clone(), *bytes)).collect();
        for (path, bytes) in parts {
            let Some((pointer, lanes)) = self.memory.pointers.get(&path).copied() else { continue };
            let (pointer, bytes) = (self.handed(handed, pointer)?, self.handed(handed, bytes)?);
            let offset = self.builder.binary(Opcode::Mul, number, bytes, PoisonFlags::empty(), "")?;
            let int8 = self.module.context().i8();
            let own = self.builder.gep(int8, pointer, &[offset], GepFlags::empty(), "")?;
            self.memory.pointers.insert(path, (own, lanes));
        }
        Ok(())
    }

    /// The iterations of the thread. Where they differ in length threads take `turns`, if they may, so that all have as much to do; else
    /// each has a block.
    fn share(
        &mut self,
        header: &LoopHeader,
        body: &Green,
        [lower, upper]: [Value<'m>; 2],
        range: Option<Range>,
        turns: bool,
    ) -> Result<(), EmitError> {
        let Some(Thread { number, count, .. }) = self.thread else { return Ok(()) };
        let none = PoisonFlags::empty();
        let (b, step) = (&self.builder, self.int(header.step)?);
        let scaled = |a, by| b.binary(Opcode::Mul, a, by, none, "");
        let next =
            Range { low: header.step.into(), high: i128::from(self.threads) * i128::from(header.step) };
        let from = |offset| b.binary(Opcode::Add, lower, offset, none, "");
        let (bounds, step) = if mutation::off(Rule::ThreadIterations) {
            ([lower, upper], Known { value: step, range: Some(Range::point(header.step)) })
        } else if turns && is_uneven(body, &mut vec![header.var]) {
            let stride = Known { value: scaled(count, step)?, range: Some(next) };
            ([from(scaled(number, step)?)?, upper], stride)
        } else {
            let length = b.binary(Opcode::Sub, upper, lower, none, "")?;
            let length = b.intrinsic("llvm.smax", length.ty(), &[length, self.int(0)?], "")?.value();
            let length = b.binary(Opcode::Add, length, self.int(header.step - 1)?, none, "")?;
            let trips = b.binary(Opcode::UDiv, length, step, none, "")?;
            let part = |number| b.binary(Opcode::UDiv, scaled(trips, number)?, count, none, "");
            let next = b.binary(Opcode::Add, number, self.int(1)?, none, "")?;
            let bounds = [from(scaled(part(number)?, step)?)?, from(scaled(part(next)?, step)?)?];
            (bounds, Known { value: step, range: Some(Range::point(header.step)) })
        };
        let known = self.resolved_bounds(header);
        self.count_between(header.var, bounds, range, step, |e, place| {
            e.iteration(header, known, body, place)
        })
    }
}

/// Scalars that something in the tree may write.
fn written(emitter: &Emitter<'_, '_>, body: &Green) -> BTreeSet<ArrayId> {
    let mut written = BTreeSet::new();
    for node in body.walk() {
        match node.node() {
            Node::Stmt(id, _) => {
                let accesses = emitter.kernel.statement(*id).accesses.iter();
                written.extend(accesses.filter(|a| a.kind != AccessKind::Read).map(|a| a.array));
            }
            Node::Alloc(buffer, _) => {
                written.insert(buffer.array);
            }
            _ => {}
        }
    }
    written
}

/// Whether how much a loop body does depends on variables, the loop's among them.
fn is_uneven(node: &Green, vars: &mut Vec<VarId>) -> bool {
    let uses = |e: &Affine, vars: &[VarId]| vars.iter().any(|v| e.uses(*v));
    let known = vars.len();
    let here = match node.node() {
        Node::Loop(header, _) => {
            let differs = |e: &Affine| uses(e, vars);
            let moves = header.lower().iter().chain(header.upper()).any(differs);
            if moves {
                vars.push(header.var);
            }
            moves && header.constant_trip_count().is_none()
        }
        Node::Let(var, value, _) => {
            if uses(value, vars) {
                vars.push(*var);
            }
            false
        }
        Node::Guard(condition, _) => match &**condition {
            GuardCondition::Affine(c) => c.disjuncts.iter().flatten().any(|c| uses(&c.expression, vars)),
            GuardCondition::Predicate { .. } => false,
        },
        _ => false,
    };
    let result = here || node.children().any(|child| is_uneven(child, vars));
    vars.truncate(known);
    result
}

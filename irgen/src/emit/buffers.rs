//! Buffers: their memory, and what is copied into and out of them.
//!
//! One of constant extent is an `alloca` in the entry block, where LLVM promotes it to registers if all its places are constant. In
//! functions that may call themselves, large ones are on the stack while the new code runs only: frames that wait would all have them.
//! One on the heap is allocated behind the run-time check, once for all executions, and freed where the new code ends; where
//! there is not enough memory the original code runs.

use super::element::{Element, Tag};
use super::ranges::MOST_UNROLLED;
use super::{EmitError, Emitter};
use crate::llvm::{Block, Function, IntPredicate, Opcode, PoisonFlags, TypeKind, Value};
use crate::mutation::{self, Rule};
use emission::buffers::{Found, LINE, MOST_ON_STACK};
use loop_tree::{
    Affine, ArrayId, Buffer, Constraint, Green, Home, Path, Relation, ScalarType, Window, WindowRange,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of a buffer in effect.
pub(super) struct Store<'m> {
    /// Its first element.
    pub(super) pointer: Value<'m>,
    /// Its node.
    pub(super) path: Path,
    /// Parallel loops around it, whose iterations share it.
    pub(super) groups: usize,
    /// Lanes that have one of their own each.
    pub(super) lanes: u32,
}

/// Memory of the buffers, by path.
#[derive(Default)]
pub(super) struct Memory<'m> {
    /// Those that are on the stack while the new code runs only, and what is given back then.
    brief: Vec<Found>,
    stack: Option<Value<'m>>,
    pub(super) pointers: BTreeMap<Path, (Value<'m>, u32)>,
    /// Bytes of the part that each thread has of a buffer on the heap, where it has one.
    pub(super) parts: BTreeMap<Path, Value<'m>>,
    /// What is to be freed.
    blocks: Vec<Value<'m>>,
    free: Option<Function<'m>>,
}

/// What every allocation is aligned to, in bytes.
const ALLOCATED: u32 = 8;

/// Bytes of buffers in the frame of a function that may call itself, at most: LLVM inlines into those what takes no more.
const MOST_IN_FRAMES: i64 = 1 << 10;

impl<'m> Emitter<'m, '_> {
    /// Makes room on the stack, at the builder's place in the entry block: of the function itself, or of each thread that runs the
    /// loop at a path. What no frame should keep is left to [`make_room`](Self::make_room).
    pub(super) fn make_buffers(&mut self, buffers: &[Found], within: Option<&Path>) -> Result<(), EmitError> {
        let (mut sum, mut kept) = (0_i64, 0_i64);
        let stays = within.is_some() || !self.place()?.function().may_recurse();
        let here = |f: &&Found| self.threads <= 1 || f.in_parallel.as_ref() == within;
        let on_stack: Vec<&Found> =
            buffers.iter().filter(|f| f.buffer.home != Home::Heap).filter(here).collect();
        for found in on_stack {
            let size = i64::from(self.kernel.array(found.buffer.array).element.size());
            let bytes = found.places().and_then(|places| places.checked_mul(size));
            let all = bytes.and_then(|bytes| sum.checked_add(bytes)).filter(|all| *all <= MOST_ON_STACK);
            let (Some(bytes), Some(all)) = (bytes, all) else {
                return Err(EmitError::Unsupported { what: "so large a buffer on the stack" });
            };
            sum = all;
            if stays || found.buffer.home == Home::Registers || kept + bytes <= MOST_IN_FRAMES {
                kept += bytes;
                self.on_stack(found, None)?;
            } else {
                self.memory.brief.push(found.clone());
            }
        }
        Ok(())
    }

    /// Makes room for what is on the stack while the new code runs only, where it begins.
    pub(super) fn make_room(&mut self) -> Result<(), EmitError> {
        let brief = std::mem::take(&mut self.memory.brief);
        if brief.is_empty() {
            return Ok(());
        }
        let (context, b) = (self.module.context(), &self.builder);
        let stack = b.intrinsic("llvm.stacksave", context.ptr(), &[], "")?.value();
        // Always one, and no constant to LLVM: where it finds the check to be passed always, this is in the entry block, and would be
        // the frame's.
        let there = b.icmp(IntPredicate::Ne, stack, context.ptr().zero()?, "")?;
        let one = b.cast(Opcode::ZExt, there, context.i64(), PoisonFlags::empty(), "")?;
        for found in &brief {
            self.on_stack(found, Some(one))?;
        }
        self.memory.stack = Some(stack);
        Ok(())
    }

    fn on_stack(&mut self, found: &Found, count: Option<Value<'m>>) -> Result<(), EmitError> {
        let Found { path, buffer, lanes, .. } = found;
        let array = self.kernel.array(buffer.array);
        let ty = self.ty(array.element)?;
        let ty = match (*lanes, &buffer.dims[..]) {
            (1, []) => ty,
            (_, []) => self.kept(array.element, *lanes)?,
            _ => ty.array(found.places().unwrap_or_default() as u64)?,
        };
        let slot = self.builder.alloca(ty, count, &format!("{}.buffer", array.name))?;
        slot.set_alignment(buffer.alignment.max(array.element.size()))?;
        self.memory.pointers.insert(path.clone(), (slot.value(), *lanes));
        Ok(())
    }

    /// Goes to `start` where `holds` is true and there is memory for the buffers on the heap, else to `otherwise`.
    pub(super) fn enter_if(
        &mut self,
        function: Function<'m>,
        mut holds: Value<'m>,
        buffers: &[Found],
        [start, otherwise]: [Block<'m>; 2],
    ) -> Result<(), EmitError> {
        let heap: Vec<&Found> = buffers.iter().filter(|f| f.buffer.home == Home::Heap).collect();
        if heap.is_empty() {
            self.builder.cond_br(holds, start, otherwise)?;
            return Ok(());
        }
        let allocator = function.allocator();
        let what = "a buffer on the heap, where the function may call no allocator,";
        let (malloc, free) = allocator.ok_or(EmitError::Unsupported { what })?;
        let signature = malloc.function_type().signature();
        let Some(TypeKind::Integer(width)) = signature.map(|(_, arguments)| arguments[0].kind()) else {
            return Err(EmitError::Unsupported { what });
        };
        let none = PoisonFlags::empty();
        let (context, wide) = (self.module.context(), self.module.context().int(128)?);
        // No object is larger than half of the address space. What no parameters within the limits reach may wrap here.
        let most = wide.const_int((1 << (width - 1)) - 1)?;
        let mut sizes = Vec::with_capacity(heap.len());
        for Found { path, buffer, lanes, in_parallel } in &heap {
            let b = &self.builder;
            let size = self.kernel.array(buffer.array).element.size();
            let mut bytes = wide.const_int(i128::from(size) * i128::from(*lanes))?;
            for dim in &buffer.dims {
                let extent =
                    b.intrinsic("llvm.smax", wide, &[self.wide(&dim.extent)?, wide.const_int(0)?], "")?;
                bytes = b.binary(Opcode::Mul, bytes, extent.value(), none, "")?;
            }
            if in_parallel.is_some() && self.threads > 1 {
                // No two threads write to one line.
                let unit = buffer.alignment.max(LINE);
                let up = b.binary(Opcode::Add, bytes, wide.const_int((unit - 1).into())?, none, "")?;
                bytes = b.binary(Opcode::And, up, wide.const_int(-i128::from(unit))?, none, "")?;
                self.memory
                    .parts
                    .insert(path.clone(), b.cast(Opcode::Trunc, bytes, context.i64(), none, "")?);
                bytes = b.binary(Opcode::Mul, bytes, wide.const_int(self.threads.into())?, none, "")?;
            }
            // An allocation of nothing may look like one that failed.
            let bytes = b.intrinsic("llvm.umax", wide, &[bytes, wide.const_int(1)?], "")?.value();
            let bytes = b.binary(Opcode::Add, bytes, wide.const_int(slack(buffer).into())?, none, "")?;
            let fits = b.icmp(IntPredicate::Ule, bytes, most, "")?;
            holds = b.binary(Opcode::And, holds, fits, none, "")?;
            sizes.push(b.cast(Opcode::Trunc, bytes, context.int(width)?, none, "")?);
        }
        let allocate = function.append_block("looptree.allocate");
        let failed = function.append_block("looptree.no.memory");
        self.builder.cond_br(holds, allocate, otherwise)?;
        self.builder.position_at_end(allocate)?;
        let mut all = context.i1().const_int(1)?;
        for (Found { path, buffer, lanes, .. }, size) in heap.iter().zip(sizes) {
            let b = &self.builder;
            let name = format!("{}.buffer", self.kernel.array(buffer.array).name);
            let block = b.call(malloc, &[size], &name)?.value();
            let there = b.icmp(IntPredicate::Ne, block, context.ptr().zero()?, "")?;
            all = b.binary(Opcode::And, all, there, none, "")?;
            let mut pointer = block;
            if slack(buffer) > 0 {
                let end = context.int(width)?.const_int(slack(buffer).into())?;
                pointer = b.gep(context.i8(), block, &[end], Default::default(), "")?;
                let mask = context.int(width)?.const_int(-i128::from(buffer.alignment))?;
                pointer = b.intrinsic("llvm.ptrmask", context.ptr(), &[pointer, mask], "")?.value();
            }
            self.memory.blocks.push(block);
            self.memory.pointers.insert(path.clone(), (pointer, *lanes));
        }
        self.memory.free = Some(free);
        if mutation::off(Rule::Allocations) {
            all = context.i1().const_int(1)?;
        }
        self.builder.cond_br(all, start, failed)?;
        self.builder.position_at_end(failed)?;
        self.release()?;
        self.builder.br(otherwise)?;
        Ok(())
    }

    /// Frees what is on the heap, and gives the stack back.
    pub(super) fn release(&self) -> Result<(), EmitError> {
        if let Some(stack) = self.memory.stack {
            self.builder.intrinsic("llvm.stackrestore", self.module.context().void(), &[stack], "")?;
        }
        let Some(free) = self.memory.free else { return Ok(()) };
        for block in &self.memory.blocks {
            self.builder.call(free, &[*block], "")?;
        }
        Ok(())
    }

    /// Emits the child of a buffer's node.
    pub(super) fn buffer(&mut self, buffer: &Arc<Buffer>, body: &Green) -> Result<(), EmitError> {
        let pointer = self.memory.pointers.get(&self.path).copied();
        let (pointer, lanes) = pointer.ok_or(EmitError::Unsupported { what: "a buffer without memory" })?;
        let lives = |e: &Self, name| -> Result<(), EmitError> {
            if buffer.home != Home::Heap {
                e.builder.intrinsic(name, e.module.context().void(), &[pointer], "")?;
            }
            Ok(())
        };
        lives(self, "llvm.lifetime.start")?;
        let frame = self.scope.frames().len();
        let store = Store { pointer, path: self.path.clone(), groups: self.groups.len(), lanes };
        self.registers.forget();
        self.scope.enter_buffer(buffer, store);
        let result = self.filled(frame, buffer, body);
        self.scope.leave_buffer();
        self.registers.forget();
        result?;
        lives(self, "llvm.lifetime.end")
    }

    fn filled(&mut self, frame: usize, buffer: &Buffer, body: &Green) -> Result<(), EmitError> {
        let named = match buffer.windows().next() {
            None => Vec::new(),
            Some(_) => self.named(frame, buffer, body)?,
        };
        let transfer = |window, direction| Transfer { frame, window, named: &named, direction };
        if let Some(window) = buffer.fill.as_ref().filter(|_| !mutation::off(Rule::BufferFills)) {
            self.copy_window(transfer(window, Direction::In))?;
        }
        self.below(0, |e| e.tree(body))?;
        if let Some(window) = buffer.write_back.as_ref().filter(|_| !mutation::off(Rule::BufferWritesBack)) {
            self.copy_window(transfer(window, Direction::Out))?;
        }
        Ok(())
    }

    /// For each subscript of the array, whether all accesses inside find constant places in the dimensions that it decides: then
    /// so should copies, for LLVM to make registers of them.
    fn named(&self, frame: usize, buffer: &Buffer, body: &Green) -> Result<Vec<bool>, EmitError> {
        let rank = self.kernel.array(buffer.array).rank();
        if buffer.home != Home::Registers || buffer.constant_len().is_none_or(|len| len > MOST_UNROLLED) {
            return Ok(vec![false; rank]);
        }
        let reached = self.reached(body, None)?;
        let constant = |dimension: usize| {
            reached
                .iter()
                .filter(|r| r.frame == Some(frame))
                .all(|r| r.subscripts.as_ref().is_some_and(|s| s[dimension].as_constant().is_some()))
        };
        let decides = |k: usize, dimension: usize| buffer.dims[dimension].subscript.uses(Buffer::index(k));
        Ok((0..rank).map(|k| (0..buffer.dims.len()).all(|d| !decides(k, d) || constant(d))).collect())
    }

    /// Copies a window from its subscript number `k` on, in the order of the array.
    fn copy(&mut self, transfer: Transfer<'_>, k: usize) -> Result<(), EmitError> {
        let Some(range) = transfer.window.0.get(k) else {
            return self.copy_element(transfer.frame, transfer.direction, k);
        };
        match self.constant_range(range).filter(|_| transfer.named[k]) {
            Some((first, count)) => {
                for n in 0..count {
                    let here = first.offset(n);
                    let known = self.known(&here)?;
                    self.scope.enter_let(Buffer::index(k), &here, known);
                    let result = self.copy_where(range, transfer, k);
                    self.scope.leave();
                    result?;
                }
                Ok(())
            }
            None => self.count(Buffer::index(k), [&range.lower, &range.upper], 1, |e, _| {
                e.copy(transfer, k + 1)?;
                Ok(Vec::new())
            }),
        }
    }

    /// Where a short range of constant length begins, and how long it is.
    fn constant_range(&self, range: &WindowRange) -> Option<(Affine, i64)> {
        let resolve = |list: &[Affine]| list.iter().map(|e| self.scope.resolved(e)).collect();
        let resolved = WindowRange { lower: resolve(&range.lower), upper: resolve(&range.upper) };
        let (first, length) = resolved.constant_len()?;
        (length <= MOST_UNROLLED).then(|| (first.clone(), length))
    }

    /// The rest of a copy, where the subscript that is bound now lies between all bounds.
    fn copy_where(&mut self, range: &WindowRange, transfer: Transfer<'_>, k: usize) -> Result<(), EmitError> {
        let x = Affine::var(Buffer::index(k));
        let above = range.lower.iter().map(|l| &x - l);
        let below = range.upper.iter().map(|u| (u - &x).offset(-1));
        match self.none_negative(above.chain(below))? {
            None => self.copy(transfer, k + 1),
            Some(holds) => self.only_where(holds, |e| e.copy(transfer, k + 1)),
        }
    }

    /// Copies a whole window.
    fn copy_window(&mut self, transfer: Transfer<'_>) -> Result<(), EmitError> {
        match self.none_negative(transfer.window.tested_lengths().map(|length| length.offset(-1)))? {
            None => self.copy(transfer, 0),
            Some(holds) => self.only_where(holds, |e| e.copy(transfer, 0)),
        }
    }

    /// Whether no expression is negative; `None` where that is so always.
    fn none_negative(
        &mut self,
        expressions: impl Iterator<Item = Affine>,
    ) -> Result<Option<Value<'m>>, EmitError> {
        let mut holds: Option<Value<'m>> = None;
        for expression in expressions {
            if self.scope.resolved(&expression).as_constant().is_some_and(|c| c >= 0) {
                continue;
            }
            let test = self.constraint(&Constraint { expression, relation: Relation::NonNegative })?;
            holds = Some(match holds {
                None => test,
                Some(h) => {
                    let [h, test] = self.even([h, test])?;
                    self.builder.binary(Opcode::And, h, test, PoisonFlags::empty(), "")?
                }
            });
        }
        Ok(holds)
    }

    fn copy_element(&mut self, frame: usize, direction: Direction, rank: usize) -> Result<(), EmitError> {
        let array: ArrayId = self.scope.frames()[frame].buffer.array;
        let element: ScalarType = self.kernel.array(array).element;
        let index: Vec<Affine> = (0..rank).map(|k| Affine::var(Buffer::index(k))).collect();
        let outer = self.scope.buffer_of(array, frame);
        let around = match outer {
            Some(outer) => self.element_of(outer, &index)?,
            None => self.in_array(array, &index, None)?,
        };
        let place = self.element_of(frame, &index)?;
        let ((from, source), (to, target)) = match direction {
            Direction::In => ((around, outer), (place, Some(frame))),
            Direction::Out => ((place, Some(frame)), (around, outer)),
        };
        let mut value = self.load_from(&from, element, Tag { array, frame: source, origin: None })?;
        if let Some(by) = self.scope.frames()[frame].buffer.by {
            value = self.computed(by, array, value)?;
        }
        self.store_to(&to, element, value, Tag { array, frame: target, origin: None })?;
        Ok(())
    }

    fn element_of(&self, frame: usize, index: &[Affine]) -> Result<Element<'m>, EmitError> {
        let what = "a copy of elements that are told apart by instances";
        let place = self.scope.element(frame, index, &[]).ok_or(EmitError::Unsupported { what })?;
        self.in_buffer(frame, &place)
    }
}

/// A window that is copied between the buffer of a frame and what is around it.
#[derive(Clone, Copy)]
struct Transfer<'w> {
    frame: usize,
    window: &'w Window,
    /// See [`Emitter::named`].
    named: &'w [bool],
    direction: Direction,
}

#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

/// Bytes to allocate beside those needed, so that the alignment can be kept.
fn slack(buffer: &Buffer) -> u32 {
    if buffer.alignment > ALLOCATED { buffer.alignment - 1 } else { 0 }
}

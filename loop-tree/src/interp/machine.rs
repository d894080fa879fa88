//! Execution of a tree.

use super::buffers::Frames;
use super::compile::{
    Accessed, Action, BufferCode, ByCode, Compiled, StatementCode, Visitor, WindowCode, compile, values,
};
use super::memory::{Layout, Memory, garbage};
use super::value::{Undefined, binary, call, cast, compare, mask};
use super::{InterpError, InterpErrorKind};
use crate::{AccessId, AccessKind, ArrayId, Green, Kernel, OpId, ScalarType, StmtId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

/// How to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Iterations and statement instances at most.
    pub fuel: u64,
    /// Run the iterations of parallel loops from the last to the first.
    pub reverse_parallel: bool,
    /// Round `fmuladd` once.
    pub fuse_multiply_add: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { fuel: 100_000_000, reverse_parallel: false, fuse_multiply_add: true }
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// Statement instances executed.
    pub instances: u64,
    /// Operations executed.
    pub operations: u64,
}

/// One access of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessEvent {
    /// The statement.
    pub statement: StmtId,
    /// The access of the statement.
    pub access: AccessId,
    /// The array.
    pub array: ArrayId,
    /// First byte.
    pub address: usize,
    /// Number of bytes.
    pub size: usize,
    /// Whether it writes.
    pub write: bool,
}

/// Is told what a run does; all methods do nothing by default.
pub trait Observer {
    /// An instance starts.
    fn instance(&mut self, statement: StmtId, dims: &[i64]) {
        let _ = (statement, dims);
    }
    /// An element is read or written.
    fn access(&mut self, event: AccessEvent) {
        let _ = event;
    }
}

impl Observer for () {}

/// A tree made ready to run with one layout; can run many times.
pub struct Machine {
    compiled: Compiled,
    layout: Arc<Layout>,
}

impl Machine {
    /// Validates the kernel and the tree, and makes them ready.
    pub fn new(
        kernel: &Kernel,
        tree: &Green,
        layout: impl Into<Arc<Layout>>,
    ) -> Result<Machine, InterpError> {
        let layout = layout.into();
        let compiled = compile(kernel, tree, layout.params(), Some(&layout))?;
        if layout.arrays.len() != kernel.arrays.len()
            || layout
                .arrays
                .iter()
                .zip(&kernel.arrays)
                .any(|(p, a)| p.element != a.element || p.extents.len() != a.rank() || p.storage != a.storage)
        {
            return Err(InterpErrorKind::OtherLayout.into());
        }
        Ok(Machine { compiled, layout })
    }

    /// Executes the tree. After an error the memory holds what was written before.
    pub fn run(&self, memory: &mut Memory, options: &RunOptions) -> Result<RunStats, InterpError> {
        self.run_observed(memory, options, &mut ())
    }

    /// Executes the tree and reports instances and accesses.
    pub fn run_observed(
        &self,
        memory: &mut Memory,
        options: &RunOptions,
        observer: &mut impl Observer,
    ) -> Result<RunStats, InterpError> {
        if *memory.layout != *self.layout {
            return Err(InterpErrorKind::OtherLayout.into());
        }
        let mut execution = Execution {
            layout: self.layout.clone(),
            memory,
            options,
            observer,
            fuel: options.fuel,
            stats: RunStats::default(),
            values: Vec::new(),
            dims: Vec::new(),
            elements: Elements::default(),
            frames: Frames::default(),
        };
        self.compiled.walk(&mut execution)?;
        Ok(execution.stats)
    }
}

/// Executes a tree on a memory.
pub fn run(
    kernel: &Kernel,
    tree: &Green,
    memory: &mut Memory,
    options: &RunOptions,
) -> Result<RunStats, InterpError> {
    Machine::new(kernel, tree, memory.layout().clone())?.run(memory, options)
}

#[derive(Clone, Copy)]
enum Value {
    Bits(u64),
    Poison,
    /// The mask was false.
    Unexecuted,
}

/// Where an element is.
enum Place<'f> {
    Buffer(&'f mut u64),
    /// One of a private scalar's.
    Element(Vec<i64>),
    Memory(usize),
}

struct Execution<'a, O> {
    layout: Arc<Layout>,
    memory: &'a mut Memory,
    options: &'a RunOptions,
    observer: &'a mut O,
    fuel: u64,
    stats: RunStats,
    values: Vec<Value>,
    dims: Vec<i64>,
    elements: Elements,
    frames: Frames,
}

/// Bits of the elements of private scalars: of those last set, which are many more than any tree needs at a time.
#[derive(Default)]
struct Elements {
    bits: FxHashMap<(ArrayId, Vec<i64>), u64>,
    order: VecDeque<(ArrayId, Vec<i64>)>,
}

/// Elements kept.
const MAX_ELEMENTS: usize = 1 << 16;

impl Elements {
    fn set(&mut self, array: ArrayId, element: Vec<i64>, bits: u64) {
        let key = (array, element);
        if let Some(known) = self.bits.get_mut(&key) {
            *known = bits;
            return;
        }
        if self.order.len() >= MAX_ELEMENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.bits.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.bits.insert(key, bits);
    }
}

/// Evaluates subscripts and checks them.
pub(super) fn address(layout: &Layout, a: &Accessed, slots: &[i64]) -> Result<usize, InterpErrorKind> {
    let Some(subscripts) = &a.subscripts else { return Err(InterpErrorKind::UnknownElement(a.id)) };
    let mut values = SmallVec::<[i64; 4]>::new();
    for e in subscripts {
        values.push(e.eval(slots)?);
    }
    layout.checked_address(a.array, &values)
}

impl<O: Observer> Execution<'_, O> {
    /// An operand that decides or leaves the statement.
    fn observed(&self, at: OpId, operand: usize) -> Result<u64, InterpErrorKind> {
        self.operand(at, operand)?.ok_or(InterpErrorKind::Poison(at))
    }

    /// An operand; `None` is poison.
    fn operand(&self, at: OpId, operand: usize) -> Result<Option<u64>, InterpErrorKind> {
        match self.values[operand] {
            Value::Bits(bits) => Ok(Some(bits)),
            Value::Poison => Ok(None),
            Value::Unexecuted => Err(InterpErrorKind::Unexecuted(at)),
        }
    }

    /// Where an access goes: by its subscripts, or to the element of a number, which those of buffers have not.
    fn place(
        &mut self,
        a: &Accessed,
        number: Option<u64>,
        code: &StatementCode,
        slots: &[i64],
    ) -> Result<Place<'_>, InterpErrorKind> {
        if let Some(number) = number {
            return match (self.frames.of(a.array), &a.private) {
                (None, None) => Ok(Place::Memory(self.layout.numbered_address(a.array, number as i64)?)),
                _ => Err(InterpErrorKind::UnknownElement(a.id)),
            };
        }
        let address = address(&self.layout, a, slots)?;
        Ok(match (self.frames.of(a.array), &a.private) {
            (Some(frame), _) => Place::Buffer(frame.accessed(a, &code.dims, slots)?),
            (None, Some(private)) => Place::Element(values(private, slots)),
            (None, None) => Place::Memory(address),
        })
    }

    /// Bits of an element of a private scalar; what was not set is garbage.
    fn element(&self, array: ArrayId, element: Vec<i64>) -> u64 {
        let size = self.layout.arrays[array.index()].element.size();
        self.elements.bits.get(&(array, element)).copied().unwrap_or_else(|| garbage(size))
    }

    /// Copies a window of the array, or of a buffer around, into the innermost buffer, or back.
    fn copy(
        &mut self,
        buffer: &BufferCode,
        window: Option<&WindowCode>,
        slots: &[i64],
        into: bool,
    ) -> Result<(), InterpErrorKind> {
        let Some(window) = window else { return Ok(()) };
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        let size = self.layout.arrays[buffer.array.index()].element.size() as usize;
        let result = window.for_each(slots, &mut |element| {
            self.tick()?;
            let inside = frame.element(element.iter().copied())?;
            match self.frames.of(buffer.array) {
                Some(outer) => {
                    let outside = outer.element(element.iter().copied())?;
                    if into { *inside = *outside } else { *outside = *inside }
                }
                None => {
                    let address = self.layout.checked_address(buffer.array, element)?;
                    match into {
                        true => *inside = self.memory.load(address, size),
                        false => self.memory.store(address, size, *inside),
                    }
                }
            }
            if let Some(by) = &buffer.by {
                *inside = self.computed(by, *inside, slots)?;
            }
            Ok(())
        });
        self.frames.put(frame);
        result
    }

    /// What is kept of an element that has these bits; garbage where that is poison.
    fn computed(&mut self, by: &ByCode, bits: u64, slots: &[i64]) -> Result<u64, InterpErrorKind> {
        let ByCode { id, derived, code } = by;
        self.values.clear();
        self.values.resize_with(code.steps.len(), || Value::Unexecuted);
        for op in &derived.all {
            let step = &code.steps[op.index()];
            self.values[op.index()] = match *op == derived.load {
                true if bits & !mask(step.ty) != 0 => Value::Poison,
                true => Value::Bits(bits),
                false => self.step(*id, code, step, slots)?,
            };
        }
        let result = derived.result().index();
        match self.values[result] {
            Value::Bits(bits) => Ok(bits),
            _ => Ok(garbage(code.steps[result].ty.size())),
        }
    }

    fn access(&mut self, id: StmtId, a: &Accessed, address: usize, size: usize) {
        self.observer.access(AccessEvent {
            statement: id,
            access: a.id,
            array: a.array,
            address,
            size,
            write: a.kind != AccessKind::Read,
        });
    }

    fn step(
        &mut self,
        id: StmtId,
        code: &StatementCode,
        step: &super::compile::Step,
        slots: &[i64],
    ) -> Result<Value, InterpErrorKind> {
        let at = step.id;
        if let Some((operand, wanted)) = step.mask {
            // What does not execute does not let others execute either.
            if matches!(self.values[operand], Value::Unexecuted) {
                return Ok(Value::Unexecuted);
            }
            if (self.observed(at, operand)? == 1) != wanted {
                return Ok(Value::Unexecuted);
            }
        }
        match self.act(id, code, step, slots) {
            // Nor does what is computed of it, which only a select may leave out.
            Err(InterpErrorKind::Unexecuted(_)) if step.action.is_pure() => Ok(Value::Unexecuted),
            result => result,
        }
    }

    fn act(
        &mut self,
        id: StmtId,
        code: &StatementCode,
        step: &super::compile::Step,
        slots: &[i64],
    ) -> Result<Value, InterpErrorKind> {
        let at = step.id;
        let fuse = self.options.fuse_multiply_add;
        let bits = match &step.action {
            Action::Const(bits) => Some(*bits),
            Action::Affine(e) => Some((e.eval(slots)? as u64) & mask(step.ty)),
            Action::Test(t) => Some(u64::from(t.holds(slots)?)),
            Action::Load(a, number) => {
                let number = number.map(|n| self.observed(at, n)).transpose()?;
                let (a, size) = (&code.accesses[*a], step.ty.size() as usize);
                let bits = match self.place(a, number, code, slots)? {
                    Place::Buffer(bits) => *bits,
                    Place::Element(element) => self.element(a.array, element),
                    Place::Memory(address) => {
                        self.access(id, a, address, size);
                        self.memory.load(address, size)
                    }
                };
                (bits & !mask(step.ty) == 0).then_some(bits)
            }
            Action::Store(a, number, v) => {
                let number = number.map(|n| self.observed(at, n)).transpose()?;
                let bits = self.observed(at, *v)?;
                let (a, size) = (&code.accesses[*a], step.ty.size() as usize);
                match self.place(a, number, code, slots)? {
                    Place::Buffer(to) => *to = bits,
                    Place::Element(element) => self.elements.set(a.array, element, bits),
                    Place::Memory(address) => {
                        self.access(id, a, address, size);
                        self.memory.store(address, size, bits);
                    }
                }
                Some(bits)
            }
            Action::Binary(op, x, y) => {
                use crate::BinaryOp::{SDiv, SRem, UDiv, URem};
                let x = self.operand(at, *x)?;
                let y = match op {
                    SDiv | UDiv | SRem | URem => Some(self.observed(at, *y)?),
                    _ => self.operand(at, *y)?,
                };
                match (x, y) {
                    (Some(x), Some(y)) => binary(*op, step.flags, step.ty, x, y)
                        .map_err(|Undefined| InterpErrorKind::Division(at))?,
                    _ => None,
                }
            }
            Action::Cast(op, from, x) => {
                self.operand(at, *x)?.and_then(|x| cast(*op, step.flags, *from, step.ty, x))
            }
            Action::Compare(p, ty, x, y) => match (self.operand(at, *x)?, self.operand(at, *y)?) {
                (Some(x), Some(y)) => compare(*p, step.flags, *ty, x, y),
                _ => None,
            },
            Action::Select(c, x, y) => match self.operand(at, *c)? {
                Some(c) => self.operand(at, if c == 1 { *x } else { *y })?,
                None => None,
            },
            Action::Call(f, list) => {
                let mut operands = [0; 3];
                let mut poison = false;
                for (slot, o) in operands.iter_mut().zip(list) {
                    match self.operand(at, *o)? {
                        Some(bits) => *slot = bits,
                        None => poison = true,
                    }
                }
                let operands = &operands[..list.len().min(3)];
                if poison { None } else { call(*f, step.flags, step.ty, operands, fuse) }
            }
            Action::Opaque => return Err(InterpErrorKind::Opaque(at)),
        };
        Ok(bits.map_or(Value::Poison, Value::Bits))
    }
}

impl<O: Observer> Visitor for Execution<'_, O> {
    fn statement(&mut self, id: StmtId, code: &StatementCode, slots: &[i64]) -> Result<(), InterpErrorKind> {
        self.dims.clear();
        self.dims.extend(code.dims.iter().map(|d| slots[*d]));
        self.observer.instance(id, &self.dims);
        self.values.clear();
        let computed = self.frames.computed(id, code);
        for step in &code.steps {
            let value = match computed.iter().find(|(op, _)| *op == step.id) {
                Some((_, load)) => self.values[load.index()],
                None => self.step(id, code, step, slots)?,
            };
            self.values.push(value);
        }
        self.stats.instances += 1;
        self.stats.operations += code.steps.len() as u64;
        Ok(())
    }

    fn predicate(&mut self, array: ArrayId, element: Option<&[i64]>) -> Result<bool, InterpErrorKind> {
        let place = &self.layout.arrays[array.index()];
        let bits = match (self.frames.of(array), element) {
            // A predicate stands between instances: its buffer has one element.
            (Some(frame), _) => *frame.element(std::iter::empty())?,
            (None, Some(element)) => self.element(array, element.to_vec()),
            (None, None) => self.memory.load(place.base, ScalarType::I1.size() as usize),
        };
        match bits {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(InterpErrorKind::Predicate(place.name.to_string())),
        }
    }

    fn enter(&mut self, buffer: &Arc<BufferCode>, slots: &[i64]) -> Result<(), InterpErrorKind> {
        let ty = self.layout.arrays[buffer.array.index()].element;
        self.frames.push(buffer, ty, slots)?;
        self.copy(buffer, buffer.fill.as_ref(), slots, true)
    }

    fn leave(&mut self, buffer: &BufferCode, slots: &[i64]) -> Result<(), InterpErrorKind> {
        self.copy(buffer, buffer.write_back.as_ref(), slots, false)?;
        self.frames.pop();
        Ok(())
    }

    fn tick(&mut self) -> Result<(), InterpErrorKind> {
        self.fuel = self.fuel.checked_sub(1).ok_or(InterpErrorKind::Fuel(self.options.fuel))?;
        Ok(())
    }

    fn backwards(&self) -> bool {
        self.options.reverse_parallel
    }
}

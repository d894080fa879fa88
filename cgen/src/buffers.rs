//! Buffers: variables of the block that they live in, or memory that is allocated behind the check; where there is none, the original
//! order runs.

use crate::arith::Use;
use crate::check::all;
use crate::code::{Code, Level};
use crate::emitter::{Emitter, Store};
use crate::error::CgenError;
use crate::helpers::Helper;
use crate::operation::Value;
use crate::types::{c_type, integer};
use emission::buffers::{Found, LINE, MOST_ON_STACK, find};
use emission::ranges::{Range, range};
use loop_tree::{Affine, Buffer, Condition, Constraint, Green, Home, Relation, Window};
use std::sync::Arc;

/// A buffer on the heap.
pub(crate) struct Heap {
    pub(crate) name: String,
    element: &'static str,
    /// Its size in bytes: of one part, where threads have parts of their own.
    bytes: Code,
    /// What must hold for this to be a size.
    fits: Option<Code>,
    alignment: u32,
    per_thread: bool,
}

impl Heap {
    /// As a parameter of the variant.
    pub(crate) fn parameter(&self) -> String {
        format!("{} *restrict {}", self.element, self.name)
    }
}

/// Bytes that nobody has, with room for rounding and for as many threads as there are.
const MOST_ON_HEAP: i64 = 1 << 48;

/// What every allocation is aligned to, in bytes.
const ALLOCATED: u32 = 8;

#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

impl Emitter<'_> {
    /// Names the buffers of a tree that are allocated, and says how large they are.
    pub(crate) fn find_heap(&mut self, root: &Green) -> Result<Vec<Heap>, CgenError> {
        let mut result = Vec::new();
        for Found { path, buffer, in_parallel, lanes } in find(root) {
            if buffer.home != Home::Heap {
                continue;
            }
            let array = self.kernel.array(buffer.array);
            let name = self.names.fresh(&format!("{}_buffer", array.name));
            let (bytes, fits) = self.size(&buffer, lanes)?;
            self.heap.insert(path, name.clone());
            result.push(Heap {
                name,
                element: c_type(array.element),
                bytes,
                fits,
                alignment: buffer.alignment,
                per_thread: in_parallel.is_some(),
            });
        }
        Ok(result)
    }

    /// The bytes of a buffer, and whether that is a size.
    fn size(&self, buffer: &Buffer, lanes: u32) -> Result<(Code, Option<Code>), CgenError> {
        let size = i64::from(self.kernel.array(buffer.array).element.size()) * i64::from(lanes);
        let of = |e: &Affine| range(e, &self.limits.inside, &|_| None);
        let product = buffer.dims.iter().try_fold(Range::point(size), |p, d| p.times(of(&d.extent)?));
        let plain = product.is_some_and(|r| r.low > 0 && r.high < MOST_ON_HEAP.into())
            && buffer.dims.iter().all(|d| of(&d.extent).is_some_and(|r| r.low > 0));
        let constants = buffer.dims.iter().filter_map(|d| d.extent.as_constant());
        let known = constants.fold(size, |product, e| product.saturating_mul(e.max(0)));
        let mut others = buffer.dims.iter().filter(|d| d.extent.as_constant().is_none()).peekable();
        if others.peek().is_none() {
            let fits = (known >= MOST_ON_HEAP).then(|| Code::primary("false"));
            return Ok((integer(known).0, fits));
        }
        let mut bytes = Code::primary(format!("INT64_C({known})"));
        for dim in others {
            let int = self.int(&dim.extent, Use::Value)?;
            let extent = if plain {
                int.code
            } else {
                let most = self.helper(Helper::Max(loop_tree::ScalarType::I64));
                Code::cast("int128", &Code::call(&most, &[&int.code, &Code::primary("0")]))
            };
            bytes = Code::binary(&bytes, "*", &extent, Level::Product);
        }
        if plain {
            return Ok((bytes, None));
        }
        let most = integer(MOST_ON_HEAP).0;
        let fits = Code::binary(&bytes, "<", &most, Level::Order);
        Ok((bytes, Some(fits)))
    }

    /// Allocates where the tests hold, and tests whether there was memory.
    pub(crate) fn allocate(&mut self, heap: &[Heap], tests: &mut Vec<Code>) {
        if heap.is_empty() {
            return;
        }
        tests.extend(heap.iter().filter_map(|h| h.fits.clone()));
        for h in heap {
            self.out.push(format!("{} *{} = NULL;", h.element, h.name));
        }
        let conditional = !tests.is_empty();
        if conditional {
            self.out.open_if(tests);
        }
        for Heap { name, bytes, alignment, per_thread, .. } in heap {
            let unit = if *per_thread { LINE.max(*alignment) } else { *alignment };
            let one = Code::primary("1");
            let up = Code::binary(bytes, "/", &Code::primary(unit.to_string()), Level::Product);
            // Something, and a multiple of the alignment.
            let units = Code::binary(&up, "+", &one, Level::Sum);
            let mut size = match unit > ALLOCATED {
                true => Code::binary(&units, "*", &Code::primary(unit.to_string()), Level::Product),
                false => Code::binary(bytes, "+", &one, Level::Sum),
            };
            if *per_thread {
                let count = Code::call(&self.helper(Helper::ThreadCount), &[]);
                size = Code::binary(&size, "*", &count, Level::Product);
            }
            let size = Code::cast("size_t", &size).text;
            self.out.push(match unit > ALLOCATED {
                true => format!("{name} = aligned_alloc({unit}, {size});"),
                false => format!("{name} = malloc({size});"),
            });
        }
        if conditional {
            self.out.close();
        }
        *tests = heap
            .iter()
            .map(|h| Code::binary(&Code::primary(&*h.name), "!=", &Code::primary("NULL"), Level::Equality))
            .collect();
        debug_assert!(all(tests.clone()).is_some());
    }

    pub(crate) fn release(&mut self, heap: &[Heap]) {
        for h in heap {
            self.out.push(format!("free({});", h.name));
        }
    }

    /// Emits a buffer and its child.
    pub(crate) fn buffer(
        &mut self,
        buffer: &Arc<Buffer>,
        body: &Green,
        alone: bool,
    ) -> Result<(), CgenError> {
        if alone {
            return self.buffered(buffer, body);
        }
        self.block("", |e| e.buffered(buffer, body))
    }

    fn buffered(&mut self, buffer: &Arc<Buffer>, body: &Green) -> Result<(), CgenError> {
        let store = self.declare(buffer)?;
        let frame = self.scope.frames().len();
        self.scope.enter_buffer(buffer, store);
        let result = self.filled(frame, buffer, body);
        self.scope.leave_buffer();
        result
    }

    fn filled(&mut self, frame: usize, buffer: &Buffer, body: &Green) -> Result<(), CgenError> {
        if let Some(window) = &buffer.fill {
            self.copy_window(frame, window, Direction::In)?;
        }
        self.below(0, |e| e.tree(body, false))?;
        if let Some(window) = &buffer.write_back {
            self.copy_window(frame, window, Direction::Out)?;
        }
        Ok(())
    }

    fn declare(&mut self, buffer: &Buffer) -> Result<Store, CgenError> {
        let array = self.kernel.array(buffer.array);
        let ty = c_type(array.element);
        let lanes = self.lanes.as_ref().map_or(1, |l| l.count);
        if let Some(pointer) = self.heap.get(&self.path).cloned() {
            if self.shared.is_none() {
                return Ok(Store { name: pointer, flat: true, lanes });
            }
            // The thread's part.
            let name = self.temporary(&format!("{}_own", array.name));
            let unit = i64::from(LINE.max(buffer.alignment));
            let elements = unit / i64::from(array.element.size());
            let (bytes, _) = self.size(buffer, lanes)?;
            let up = Code::binary(&bytes, "/", &Code::primary(unit.to_string()), Level::Product);
            let units = Code::binary(&up, "+", &Code::primary("1"), Level::Sum);
            let part = Code::binary(&units, "*", &Code::primary(elements.to_string()), Level::Product);
            let number = Code::call(&self.helper(Helper::ThreadNumber), &[]);
            let offset = Code::binary(&part, "*", &number, Level::Product);
            self.out
                .push(format!("{ty} *const {name} = {pointer} + (int64_t){};", offset.within(Level::Unary)));
            return Ok(Store { name, flat: true, lanes });
        }
        let name = self.temporary(&format!("{}_tile", array.name));
        let size = i64::from(array.element.size()) * i64::from(lanes);
        let len = buffer.constant_len().filter(|len| *len > 0);
        let bytes = len.and_then(|len| self.on_stack.checked_add(len.checked_mul(size)?));
        let Some(bytes) = bytes.filter(|b| *b <= MOST_ON_STACK) else {
            return Err(self.unsupported(format!("so large a buffer on the stack, of {}", array.name)));
        };
        self.on_stack = bytes;
        let (ty, behind) = match lanes {
            1 => (ty.to_string(), String::new()),
            _ => self.lanes_type(array.element, lanes),
        };
        if buffer.dims.is_empty() {
            let nothing = if lanes == 1 { "0" } else { "{0}" };
            self.out.push(format!("{ty} {name}{behind} = {nothing};"));
            return Ok(Store { name, flat: false, lanes });
        }
        let extents: String =
            buffer.dims.iter().filter_map(|d| d.extent.as_constant()).map(|e| format!("[{e}]")).collect();
        let aligned = buffer.alignment.max(array.element.size());
        let alignment =
            if aligned > array.element.size() { format!("_Alignas({aligned}) ") } else { String::new() };
        self.out.push(format!("{alignment}{ty} {name}{extents}{behind};"));
        Ok(Store { name, flat: false, lanes })
    }

    fn copy_window(&mut self, frame: usize, window: &Window, direction: Direction) -> Result<(), CgenError> {
        let inhabited = window.tested_lengths().map(|length| self.scope.resolved(&length.offset(-1)));
        let tests: Vec<Constraint> = inhabited
            .filter(|e| e.as_constant().is_none_or(|c| c < 0))
            .map(|expression| Constraint { expression, relation: Relation::NonNegative })
            .collect();
        if tests.is_empty() {
            return self.copy(frame, window, 0, direction);
        }
        let test = self.condition(&Condition { disjuncts: vec![tests] })?;
        self.only_where(&test, |e| e.copy(frame, window, 0, direction))
    }

    /// Copies a window from its subscript number `k` on, in the order of the array.
    fn copy(
        &mut self,
        frame: usize,
        window: &Window,
        k: usize,
        direction: Direction,
    ) -> Result<(), CgenError> {
        if let Some(r) = window.0.get(k) {
            let body = |e: &mut Self| e.copy(frame, window, k + 1, direction);
            return self.count(Buffer::index(k), [&r.lower, &r.upper], 1, body);
        }
        let array = self.scope.frames()[frame].buffer.array;
        let index: Vec<Affine> = (0..k).map(|k| Affine::var(Buffer::index(k))).collect();
        let around = match self.scope.buffer_of(array, frame) {
            Some(outer) => self.in_buffer(outer, &index, &[])?,
            None => self.in_array(array, &index)?,
        };
        let place = self.in_buffer(frame, &index, &[])?;
        let ty = self.kernel.array(array).element;
        let (from, to) = match direction {
            Direction::In => (around, place),
            Direction::Out => (place, around),
        };
        let mut value = Value { loads: true, native: from.row, ..Value::new(from.code, ty) };
        if let Some(by) = self.scope.frames()[frame].buffer.by {
            value = self.computed(by, array, value)?;
        }
        self.assign(&to.code, to.row.as_ref(), &value);
        Ok(())
    }
}

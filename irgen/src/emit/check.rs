//! The run-time check: one bit that says whether the new code may run.

use super::extent::{Footprint, footprints};
use super::{Base, EmitError, Emitter};
use crate::lift::{Apart, FrontRead};
use crate::llvm::{GepFlags, IntPredicate, Opcode, PoisonFlags, Value};
use crate::mutation::{self, Rule};
use loop_tree::{Affine, ArrayId, Op, RuntimeCondition};
use std::collections::{BTreeMap, BTreeSet};

/// First byte and one past the last one.
pub(super) type Range<'m> = (Value<'m>, Value<'m>);

/// Ranges of arrays that the check has computed, to be compared with several others; `None`: not known.
type Ranges<'m> = BTreeMap<ArrayId, Option<Range<'m>>>;

/// Pairs of ranges that are compared one by one at most: each takes some 40 bytes of code and more with each that registers do not
/// hold, all others together some 150 and 30 for each range.
const MOST_IN_LINE: usize = 12;

/// Bytes of `errno`, which is an `int`.
const ERRNO_SIZE: i128 = 4;

impl<'m> Emitter<'m, '_> {
    /// The conjunction of all conditions and of the limits on parameters. Never poison: nothing here promises not to wrap,
    /// and what wraps does so only beyond the limits.
    ///
    /// `widths`: how many bits the values of the parameters had before they were extended. `exact`: whether those that are
    /// products are the exact products. `apart`: what must have been read in front and must not be
    /// overwritten, and what must not be `errno`.
    pub(super) fn check(
        &mut self,
        conditions: &[RuntimeCondition],
        widths: &[u32],
        exact: &[Value<'m>],
        apart: &Apart<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let mut all = self.module.context().i1().const_int(1)?;
        let mut require = |bit| -> Result<(), EmitError> {
            all = self.builder.binary(Opcode::And, all, bit, PoisonFlags::empty(), "")?;
            Ok(())
        };
        exact.iter().try_for_each(|fits| require(*fits))?;
        // Arrays of which ranges are compared.
        let mut compared = BTreeSet::new();
        let ranges = &mut Ranges::new();
        // Pairs of ranges, where they are too many to be compared one by one.
        let mut pairs = (self.pairs(conditions, apart) > MOST_IN_LINE).then(Vec::new);
        for ((param, value), width) in self.kernel.params.iter().zip(&self.params).zip(widths) {
            if mutation::off(Rule::LimitCheck) {
                continue;
            }
            let bits = self.limits.bits.min(param.ty.bits().saturating_sub(1));
            if *width > bits + 1 {
                let b = &self.builder;
                // -2^bits <= v < 2^bits, as one unsigned comparison.
                let shifted =
                    b.binary(Opcode::Add, *value, self.int(1 << bits)?, PoisonFlags::empty(), "")?;
                require(b.icmp(IntPredicate::Ult, shifted, self.int(2 << bits)?, "")?)?;
            }
        }
        for condition in conditions {
            match condition {
                RuntimeCondition::Parameter(_) if mutation::off(Rule::ParameterCheck) => {}
                RuntimeCondition::NoOverlap(..) if mutation::off(Rule::OverlapCheck) => {}
                RuntimeCondition::Parameter(c) => require(self.constraint(c)?)?,
                RuntimeCondition::NoOverlap(a, b) => {
                    if self.is_untouched(*a) || self.is_untouched(*b) {
                        continue;
                    }
                    compared.extend([*a, *b]);
                    let (Some(a), Some(b)) = (self.range(ranges, *a)?, self.range(ranges, *b)?) else {
                        let name = |id: &ArrayId| self.kernel.array(*id).name.to_string();
                        return Err(EmitError::NoRange { arrays: [name(a), name(b)] });
                    };
                    match &mut pairs {
                        Some(pairs) => pairs.push([a, b]),
                        None => require(self.are_apart(a, b)?)?,
                    }
                }
            }
        }
        for FrontRead { guard, apart, base, offset, size } in &apart.reads {
            if let Some((condition, holds)) = *guard
                && !mutation::off(Rule::ReadGuards)
            {
                let condition = self.builder.freeze(condition, "")?;
                let failing = self.module.context().i1().const_int((!holds).into())?;
                require(self.builder.binary(Opcode::Xor, condition, failing, PoisonFlags::empty(), "")?)?;
            }
            // An address that is a number has been handed on, as far as LLVM knows: only where it is compared.
            if apart.is_empty() || mutation::off(Rule::ReadInFront) {
                continue;
            }
            let place = self.bytes(*base, self.wide(offset)?, self.wide(size)?)?;
            require(self.is_in_memory(place)?)?;
            compared.extend(apart);
            for touched in self.touched_of(ranges, apart)? {
                match &mut pairs {
                    Some(pairs) => pairs.push([touched, place]),
                    None => require(self.are_apart(touched, place)?)?,
                }
            }
        }
        if !apart.errno.is_empty() {
            let what = "a test for errno, which the target is not known to have,";
            let location = self.module.errno_location()?.ok_or(EmitError::Unsupported { what })?;
            let at = self.builder.call(location, &[], "errno")?.value();
            let wide = self.module.context().int(128)?;
            let place = self.bytes(at, wide.const_int(0)?, wide.const_int(ERRNO_SIZE)?)?;
            compared.extend(&apart.errno);
            for touched in self.touched_of(ranges, &apart.errno)? {
                match &mut pairs {
                    Some(pairs) => pairs.push([touched, place]),
                    None => require(self.are_apart(touched, place)?)?,
                }
            }
        }
        for array in compared {
            if let Some(range) = self.range(ranges, array)?.filter(|_| !self.stays_in_bounds(array)) {
                require(self.is_in_memory(range)?)?;
            }
        }
        match pairs {
            Some(pairs) => self.all_apart(all, &pairs),
            None => Ok(all),
        }
    }

    /// How many pairs of ranges are compared.
    fn pairs(&self, conditions: &[RuntimeCondition], apart: &Apart<'m>) -> usize {
        let of_arrays = conditions.iter().filter(|c| matches!(c, RuntimeCondition::NoOverlap(..))).count();
        let of_reads: usize = apart.reads.iter().map(|read| read.apart.len()).sum();
        of_arrays + of_reads + apart.errno.len()
    }

    /// Whether the bytes have these addresses: what is not in bounds of an object may wrap, by any multiple of 2^64.
    fn is_in_memory(&self, (start, end): Range<'m>) -> Result<Value<'m>, EmitError> {
        if mutation::off(Rule::AddressWrap) {
            return Ok(self.module.context().i1().const_int(1)?);
        }
        let (b, wide) = (&self.builder, self.module.context().int(128)?);
        let first = b.icmp(IntPredicate::Sle, wide.const_int(0)?, start, "")?;
        let last = b.icmp(IntPredicate::Sle, end, wide.const_int(1 << 64)?, "")?;
        Ok(b.binary(Opcode::And, first, last, PoisonFlags::empty(), "")?)
    }

    /// Whether the original promises that each access through the array stays in the bounds of an object.
    fn stays_in_bounds(&self, id: ArrayId) -> bool {
        let Base::Memory { base, .. } = self.bases[id.index()] else { return true };
        self.kernel.statements.iter().all(|statement| {
            let promised = |op: &Op| self.gep_flags(base, self.origin(op)).contains(GepFlags::INBOUNDS);
            statement.accesses().filter(|(_, access)| access.array == id).all(|(access, _)| {
                let mut ops = statement.ops.iter().filter(|op| op.kind.access() == Some(access)).peekable();
                ops.peek().is_some() && ops.all(promised)
            })
        })
    }

    /// What the kernel touches through each of the arrays that it does touch.
    fn touched_of<'a>(
        &self,
        ranges: &mut Ranges<'m>,
        arrays: impl IntoIterator<Item = &'a ArrayId>,
    ) -> Result<Vec<Range<'m>>, EmitError> {
        let touched = arrays.into_iter().filter(|array| !self.is_untouched(**array));
        touched
            .map(|array| {
                self.range(ranges, *array)?.ok_or_else(|| {
                    let name = self.kernel.array(*array).name.to_string();
                    EmitError::NoRange { arrays: [name.clone(), name] }
                })
            })
            .collect()
    }

    /// First byte and one past the last byte of so many, from a distance in bytes, as `i128`.
    fn bytes(&self, base: Value<'m>, offset: Value<'m>, size: Value<'m>) -> Result<Range<'m>, EmitError> {
        let (context, b, none) = (self.module.context(), &self.builder, PoisonFlags::empty());
        let wide = context.int(128)?;
        let base = b.freeze(base, "")?;
        let address = b.cast(Opcode::PtrToInt, base, context.i64(), none, "")?;
        let address = b.cast(Opcode::ZExt, address, wide, none, "")?;
        let start = b.binary(Opcode::Add, address, offset, none, "")?;
        Ok((start, b.binary(Opcode::Add, start, size, none, "")?))
    }

    /// Whether ranges of bytes do not overlap.
    fn are_apart(
        &self,
        (a_start, a_end): Range<'m>,
        (b_start, b_end): Range<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let builder = &self.builder;
        let first = builder.icmp(IntPredicate::Sle, a_end, b_start, "")?;
        let second = builder.icmp(IntPredicate::Sle, b_end, a_start, "")?;
        Ok(builder.binary(Opcode::Or, first, second, PoisonFlags::empty(), "")?)
    }

    /// The product of two integers of 64 bits, and whether that is exact.
    pub(super) fn product(&self, a: Value<'m>, b: Value<'m>) -> Result<(Value<'m>, Value<'m>), EmitError> {
        let (context, builder, none) = (self.module.context(), &self.builder, PoisonFlags::empty());
        let wide = context.int(128)?;
        let extend = |v| builder.cast(Opcode::SExt, v, wide, none, "");
        let exact = builder.binary(Opcode::Mul, extend(a)?, extend(b)?, none, "")?;
        let product = builder.cast(Opcode::Trunc, exact, context.i64(), none, "")?;
        let fits = builder.icmp(IntPredicate::Eq, extend(product)?, exact, "")?;
        Ok((product, fits))
    }

    /// Whether no access of the kernel touches memory through the array: it lives in a register, or is not used.
    fn is_untouched(&self, array: ArrayId) -> bool {
        let in_register = matches!(self.bases[array.index()], Base::Scalar { .. });
        in_register || footprints(self.kernel, array).is_some_and(|f| f.is_empty())
    }

    /// What the kernel touches through the array, computed once.
    fn range(&self, ranges: &mut Ranges<'m>, array: ArrayId) -> Result<Option<Range<'m>>, EmitError> {
        if let Some(range) = ranges.get(&array) {
            return Ok(*range);
        }
        let range = self.touched(array)?;
        ranges.insert(array, range);
        Ok(range)
    }

    /// First byte and one past the last byte that the kernel touches through the array, as `i128`; `None` where that is
    /// not known.
    fn touched(&self, array: ArrayId) -> Result<Option<Range<'m>>, EmitError> {
        let Base::Memory { base, offset, .. } = self.bases[array.index()] else { return Ok(None) };
        let Some(footprints) = footprints(self.kernel, array) else { return Ok(None) };
        let (context, b, none) = (self.module.context(), &self.builder, PoisonFlags::empty());
        let wide = context.int(128)?;
        let size = wide.const_int(self.kernel.array(array).element.size().into())?;
        let base = b.freeze(base, "")?;
        let address = b.cast(Opcode::PtrToInt, base, context.i64(), none, "")?;
        let address = b.cast(Opcode::ZExt, address, wide, none, "")?;
        let address = b.binary(Opcode::Add, address, wide.const_int(offset.into())?, none, "")?;
        let mut range: Option<(Value<'m>, Value<'m>)> = None;
        for Footprint { least, greatest } in &footprints {
            let least = self.wide_index(array, least)?;
            let greatest = self.wide_index(array, greatest)?;
            range = Some(match range {
                None => (least, greatest),
                Some((l, g)) => (
                    b.intrinsic("llvm.smin", wide, &[l, least], "")?.value(),
                    b.intrinsic("llvm.smax", wide, &[g, greatest], "")?.value(),
                ),
            });
        }
        let Some((least, greatest)) = range else { return Ok(None) };
        let scale = |v| b.binary(Opcode::Mul, v, size, none, "");
        let start = b.binary(Opcode::Add, address, scale(least)?, none, "")?;
        let end = b.binary(Opcode::Add, scale(greatest)?, size, none, "")?;
        Ok(Some((start, b.binary(Opcode::Add, address, end, none, "")?)))
    }

    fn wide_index(&self, array: ArrayId, subscripts: &[Affine]) -> Result<Value<'m>, EmitError> {
        let (b, none) = (&self.builder, PoisonFlags::empty());
        let mut index = self.module.context().int(128)?.const_int(0)?;
        for (dimension, subscript) in subscripts.iter().enumerate() {
            if dimension > 0 {
                let extent = self.kernel.array(array).extents[dimension].as_ref();
                let extent =
                    extent.ok_or(EmitError::Unsupported { what: "an inner extent that is unknown" })?;
                index = b.binary(Opcode::Mul, index, self.wide(extent)?, none, "")?;
            }
            index = b.binary(Opcode::Add, index, self.wide(subscript)?, none, "")?;
        }
        Ok(index)
    }
}

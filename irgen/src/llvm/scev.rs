//! ScalarEvolution: values as expressions of loop counters.

use std::fmt;

use super::Block;
use super::analyses::{Analyses, LoopId};
use super::error::{Result, require};
use super::ffi::{self, LtInt, LtScev};
use super::strings::take_message;
use super::value::Value;

/// An expression; equal ones of the same analyses are the same handle. Arithmetic is modulo two to its bits, unless
/// [`Scev::wrap`] says that it does not wrap.
#[derive(Clone, Copy)]
pub struct Scev<'a, 'm> {
    raw: *const LtScev,
    analyses: &'a Analyses<'m>,
}

/// What an expression is made of.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
pub enum ScevKind<'a, 'm> {
    /// Sign-extended.
    Constant(i128),
    /// A value of the function that is not analysed further.
    Unknown(Value<'m>),
    /// The chain of recurrences {first, +, second, +, ...} of a loop.
    AddRec(LoopId, Vec<Scev<'a, 'm>>),
    Add(Vec<Scev<'a, 'm>>),
    Mul(Vec<Scev<'a, 'm>>),
    UDiv(Scev<'a, 'm>, Scev<'a, 'm>),
    Trunc(Scev<'a, 'm>),
    ZExt(Scev<'a, 'm>),
    SExt(Scev<'a, 'm>),
    PtrToInt(Scev<'a, 'm>),
    UMax(Vec<Scev<'a, 'm>>),
    SMax(Vec<Scev<'a, 'm>>),
    UMin(Vec<Scev<'a, 'm>>),
    SMin(Vec<Scev<'a, 'm>>),
    /// The minimum; operands after a zero are not looked at, and may be poison.
    SequentialUMin(Vec<Scev<'a, 'm>>),
    CouldNotCompute,
    /// Constants above 128 bits, and multiples of the vector length.
    Other,
}

/// What an operation is known not to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrap {
    /// A recurrence does not come back to its start.
    pub no_self: bool,
    /// No unsigned wrap.
    pub no_unsigned: bool,
    /// No signed wrap.
    pub no_signed: bool,
}

/// Which count of backedges taken is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackedgeCount {
    /// How often, exactly.
    Exact,
    /// A constant that is not exceeded.
    ConstantMax,
}

impl<'m> Analyses<'m> {
    fn scev<'a>(&'a self, raw: *const LtScev) -> Scev<'a, 'm> {
        Scev { raw, analyses: self }
    }

    /// The expression of an integer or pointer of the function; `None` for other types.
    pub fn expression<'a>(&'a self, value: Value<'m>) -> Option<Scev<'a, 'm>> {
        // SAFETY: values of the function, or constants of its module.
        let raw = unsafe {
            if !ffi::lt_usable_in(value.raw(), self.function().raw()) {
                return None;
            }
            ffi::lt_scev(self.raw(), value.raw())
        };
        (!raw.is_null()).then(|| self.scev(raw))
    }

    /// How often a loop goes back to its header each time it is entered.
    pub fn backedge_taken(&self, id: LoopId, which: BackedgeCount) -> Result<Scev<'_, 'm>> {
        let id = self.require_loop(id)?;
        let most = which == BackedgeCount::ConstantMax;
        // SAFETY: a loop of the function.
        Ok(self.scev(unsafe { ffi::lt_backedge_taken(self.raw(), id, most) }))
    }

    /// How often one exiting block of a loop stays inside before it leaves, were it the only exit.
    pub fn exit_count(&self, id: LoopId, exiting: Block<'m>) -> Result<Scev<'_, 'm>> {
        let raw = self.require_loop(id)?;
        let exits = self.loop_info(id).is_some_and(|l| l.exiting.contains(&exiting));
        require(exits, "exit count", "the block does not leave the loop")?;
        // SAFETY: a loop and an exiting block of it.
        Ok(self.scev(unsafe { ffi::lt_exit_count(self.raw(), raw, exiting.raw()) }))
    }
}

impl<'a, 'm> Scev<'a, 'm> {
    fn with(self, raw: *const LtScev) -> Scev<'a, 'm> {
        Scev { raw, analyses: self.analyses }
    }

    /// What it is made of.
    pub fn kind(self) -> ScevKind<'a, 'm> {
        use ScevKind::*;
        let all = || self.operands();
        let first = || self.operand(0);
        // SAFETY: each query fits the kind, numbered as in LLVM's `SCEVTypes`.
        unsafe {
            match ffi::lt_scev_kind(self.raw) {
                0 => {
                    let mut out = LtInt::default();
                    let is = ffi::lt_scev_constant(self.raw, &mut out);
                    if is { out.signed().map_or(Other, Constant) } else { Other }
                }
                2 => Trunc(first()),
                3 => ZExt(first()),
                4 => SExt(first()),
                5 => Add(all()),
                6 => Mul(all()),
                7 => UDiv(first(), self.operand(1)),
                8 => match LoopId::from_raw(ffi::lt_scev_loop(self.analyses.raw(), self.raw)) {
                    Some(id) => AddRec(id, all()),
                    None => Other,
                },
                9 => UMax(all()),
                10 => SMax(all()),
                11 => UMin(all()),
                12 => SMin(all()),
                13 => SequentialUMin(all()),
                14 => PtrToInt(first()),
                15 => {
                    let value = Value::from_nullable(ffi::lt_scev_value(self.raw));
                    value.map_or(Other, Unknown)
                }
                16 => CouldNotCompute,
                _ => Other,
            }
        }
    }

    /// The operands in LLVM's order.
    pub fn operands(self) -> Vec<Scev<'a, 'm>> {
        // SAFETY: a valid expression.
        let count = unsafe { ffi::lt_scev_num_operands(self.raw) };
        (0..count).map(|i| self.operand(i)).collect()
    }

    /// `i` must be below the number of operands.
    fn operand(self, i: u32) -> Scev<'a, 'm> {
        // SAFETY: called within the number of operands that the kind has.
        self.with(unsafe { ffi::lt_scev_operand(self.raw, i) })
    }

    /// How many bits its values have; 0 where it could not be computed.
    pub fn bits(self) -> u64 {
        // SAFETY: an expression of these analyses.
        unsafe { ffi::lt_scev_bits(self.analyses.raw(), self.raw) }
    }

    /// Whether it is known at all.
    pub fn is_known(self) -> bool {
        // SAFETY: a valid expression.
        unsafe { ffi::lt_scev_kind(self.raw) != 16 }
    }

    /// What a sum, product or recurrence does not do.
    pub fn wrap(self) -> Wrap {
        // SAFETY: a valid expression.
        let flags = unsafe { ffi::lt_scev_flags(self.raw) };
        Wrap { no_self: flags & 1 != 0, no_unsigned: flags & 2 != 0, no_signed: flags & 4 != 0 }
    }

    /// The base of a pointer; itself where there is none, or it is no pointer.
    pub fn pointer_base(self) -> Scev<'a, 'm> {
        if !self.is_known() {
            return self;
        }
        // SAFETY: a known expression.
        self.with(unsafe { ffi::lt_scev_base(self.analyses.raw(), self.raw) })
    }

    /// A pointer's distance from its base in bytes; not known for what is no pointer.
    pub fn pointer_offset(self) -> Scev<'a, 'm> {
        // SAFETY: an expression of these analyses.
        self.with(unsafe { ffi::lt_scev_offset(self.analyses.raw(), self.raw) })
    }

    /// Inclusive bounds as a signed number; `None` where it is not known, or above 128 bits.
    pub fn signed_range(self) -> Option<(i128, i128)> {
        let (min, max) = self.range(true)?;
        Some((min.signed()?, max.signed()?))
    }

    fn range(self, signed: bool) -> Option<(LtInt, LtInt)> {
        let (mut min, mut max) = (LtInt::default(), LtInt::default());
        // SAFETY: an expression of these analyses, and two places.
        let is = unsafe { ffi::lt_scev_range(self.analyses.raw(), self.raw, signed, &mut min, &mut max) };
        is.then_some((min, max))
    }
}

impl PartialEq for Scev<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Scev<'_, '_> {}

impl fmt::Debug for Scev<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a valid expression; the message is ours.
        f.write_str(&unsafe { take_message(ffi::lt_scev_print(self.raw)) })
    }
}

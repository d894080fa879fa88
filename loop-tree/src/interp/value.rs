//! Operations on bits, as LLVM IR defines them. `None` is poison.

use crate::{BinaryOp, CastOp, ComparePredicate, Constant, Intrinsic, OpFlags, ScalarType};
use std::ops::{Add, Div, Mul, Rem, Sub};

/// A function of floats; `f32` is computed in `f32`.
macro_rules! float_call {
    ($f:expr, $a:expr, $b:expr, $c:expr, $fuse:expr) => {{
        let (a, b, c) = ($a, $b, $c);
        match $f {
            Intrinsic::Sqrt => a.sqrt(),
            Intrinsic::Fabs => a.abs(),
            Intrinsic::Fma => a.mul_add(b, c),
            Intrinsic::FMulAdd if $fuse => a.mul_add(b, c),
            Intrinsic::FMulAdd => a * b + c,
            Intrinsic::FNeg => -a,
            Intrinsic::Floor => a.floor(),
            Intrinsic::Ceil => a.ceil(),
            Intrinsic::Trunc => a.trunc(),
            Intrinsic::Rint | Intrinsic::NearbyInt => a.round_ties_even(),
            Intrinsic::Round => a.round(),
            Intrinsic::MinNum => a.min(b),
            Intrinsic::MaxNum => a.max(b),
            // NaN wins, and minus zero is less than zero.
            Intrinsic::Minimum if a.is_nan() || b.is_nan() => a + b,
            Intrinsic::Maximum if a.is_nan() || b.is_nan() => a + b,
            Intrinsic::Minimum => {
                if a < b || a == b && a.is_sign_negative() {
                    a
                } else {
                    b
                }
            }
            Intrinsic::Maximum => {
                if a > b || a == b && a.is_sign_positive() {
                    a
                } else {
                    b
                }
            }
            Intrinsic::CopySign => a.copysign(b),
            Intrinsic::Exp => a.exp(),
            Intrinsic::Exp2 => a.exp2(),
            Intrinsic::Log => a.ln(),
            Intrinsic::Log2 => a.log2(),
            Intrinsic::Log10 => a.log10(),
            Intrinsic::Sin => a.sin(),
            Intrinsic::Cos => a.cos(),
            Intrinsic::Pow => a.powf(b),
            _ => a,
        }
    }};
}
/// Undefined at once, not only poison.
pub(super) struct Undefined;

pub(super) fn mask(ty: ScalarType) -> u64 {
    u64::MAX >> (64 - ty.bits())
}

/// The value of an integer, with sign.
fn signed(bits: u64, ty: ScalarType) -> i64 {
    Constant { ty, bits }.signed()
}

fn f64_of(bits: u64, ty: ScalarType) -> f64 {
    if ty == ScalarType::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
}

/// Poison where a fast-math flag promises what does not hold.
fn checked_float(bits: u64, ty: ScalarType, flags: OpFlags) -> Option<u64> {
    if flags.intersects(OpFlags::NNAN | OpFlags::NINF) {
        let value = f64_of(bits, ty);
        if flags.contains(OpFlags::NNAN) && value.is_nan()
            || flags.contains(OpFlags::NINF) && value.is_infinite()
        {
            return None;
        }
    }
    Some(bits)
}

pub(super) fn binary(
    op: BinaryOp,
    flags: OpFlags,
    ty: ScalarType,
    a: u64,
    b: u64,
) -> Result<Option<u64>, Undefined> {
    if op.is_float() {
        for x in [a, b] {
            if checked_float(x, ty, flags).is_none() {
                return Ok(None);
            }
        }
        let bits = match ty {
            ScalarType::F32 => {
                u64::from(float(op, f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
            }
            _ => float(op, f64::from_bits(a), f64::from_bits(b)).to_bits(),
        };
        return Ok(checked_float(bits, ty, flags));
    }
    integer(op, flags, ty, a, b)
}

fn float<T>(op: BinaryOp, x: T, y: T) -> T
where
    T: Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T> + Rem<Output = T>,
{
    match op {
        BinaryOp::FAdd => x + y,
        BinaryOp::FSub => x - y,
        BinaryOp::FMul => x * y,
        BinaryOp::FDiv => x / y,
        _ => x % y,
    }
}

fn integer(op: BinaryOp, flags: OpFlags, ty: ScalarType, a: u64, b: u64) -> Result<Option<u64>, Undefined> {
    let (x, y) = (i128::from(signed(a, ty)), i128::from(signed(b, ty)));
    let (u, v) = (u128::from(a), u128::from(b));
    let width = u64::from(ty.bits());
    let least = -(1i128 << (width - 1));
    let wrapped = |exact_signed: i128, exact_unsigned: i128| {
        let nsw = flags.contains(OpFlags::NSW) && !(least..-least).contains(&exact_signed);
        let nuw = flags.contains(OpFlags::NUW) && !(0..1i128 << width).contains(&exact_unsigned);
        (!nsw && !nuw).then_some((exact_signed as u64) & mask(ty))
    };
    let (iu, iv) = (u as i128, v as i128);
    let exact = flags.contains(OpFlags::EXACT);
    let signed_result = |value: i128| (value as u64) & mask(ty);
    Ok(match op {
        BinaryOp::Add => wrapped(x + y, iu + iv),
        BinaryOp::Sub => wrapped(x - y, iu - iv),
        BinaryOp::Mul => {
            // The product of two unsigned 64-bit numbers may exceed i128; its overflow of the width is what counts.
            let unsigned = u.checked_mul(v).and_then(|p| i128::try_from(p).ok()).unwrap_or(i128::MAX);
            wrapped(x * y, unsigned)
        }
        BinaryOp::SDiv | BinaryOp::SRem => {
            if y == 0 || x == least && y == -1 {
                return Err(Undefined);
            }
            match op {
                BinaryOp::SDiv => (!exact || x % y == 0).then(|| signed_result(x / y)),
                _ => Some(signed_result(x % y)),
            }
        }
        BinaryOp::UDiv | BinaryOp::URem => {
            if b == 0 {
                return Err(Undefined);
            }
            match op {
                BinaryOp::UDiv => (!exact || a.is_multiple_of(b)).then_some(a / b),
                _ => Some(a % b),
            }
        }
        BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr if b >= width => None,
        BinaryOp::Shl => {
            let result = (a << b) & mask(ty);
            let nuw = flags.contains(OpFlags::NUW) && result >> b != a;
            let nsw = flags.contains(OpFlags::NSW) && signed(result, ty) >> b != signed(a, ty);
            (!nuw && !nsw).then_some(result)
        }
        BinaryOp::LShr | BinaryOp::AShr if exact && a & ((1 << b) - 1) != 0 => None,
        BinaryOp::LShr => Some(a >> b),
        BinaryOp::AShr => Some(signed_result(x >> b)),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => (!flags.contains(OpFlags::DISJOINT) || a & b == 0).then_some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem => None,
    })
}

pub(super) fn cast(op: CastOp, flags: OpFlags, from: ScalarType, to: ScalarType, a: u64) -> Option<u64> {
    let float = |value: f64| match to {
        ScalarType::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    match op {
        CastOp::Trunc => {
            let bits = a & mask(to);
            let nuw = flags.contains(OpFlags::NUW) && bits != a;
            let nsw = flags.contains(OpFlags::NSW) && signed(bits, to) != signed(a, from);
            (!nuw && !nsw).then_some(bits)
        }
        CastOp::ZExt => (!flags.contains(OpFlags::NNEG) || signed(a, from) >= 0).then_some(a),
        CastOp::SExt => Some((signed(a, from) as u64) & mask(to)),
        CastOp::FpTrunc | CastOp::FpExt => {
            checked_float(a, from, flags)?;
            checked_float(float(f64_of(a, from)), to, flags)
        }
        CastOp::FpToSi | CastOp::FpToUi => {
            let value = f64_of(a, from).trunc();
            let bits = to.bits() as i32;
            let (low, high) = match op {
                CastOp::FpToSi => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
                _ => (0.0, 2f64.powi(bits)),
            };
            // A NaN is in no range.
            (value >= low && value < high).then(|| (value as i128 as u64) & mask(to))
        }
        // The nearest number in range: `as` is this conversion.
        CastOp::FpToSiSat | CastOp::FpToUiSat => {
            let (least, greatest) = match op {
                CastOp::FpToSiSat => (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1),
                _ => (0, i128::from(mask(to))),
            };
            Some(((f64_of(a, from) as i128).clamp(least, greatest) as u64) & mask(to))
        }
        // From 64 bits to f32 in one rounding.
        CastOp::SiToFp => Some(match to {
            ScalarType::F32 => u64::from((signed(a, from) as f32).to_bits()),
            _ => (signed(a, from) as f64).to_bits(),
        }),
        CastOp::UiToFp if flags.contains(OpFlags::NNEG) && signed(a, from) < 0 => None,
        CastOp::UiToFp => Some(match to {
            ScalarType::F32 => u64::from((a as f32).to_bits()),
            _ => (a as f64).to_bits(),
        }),
        CastOp::Bitcast => Some(a),
    }
}

pub(super) fn compare(p: ComparePredicate, flags: OpFlags, ty: ScalarType, a: u64, b: u64) -> Option<u64> {
    use ComparePredicate as P;
    if p.is_float() {
        checked_float(a, ty, flags)?;
        checked_float(b, ty, flags)?;
    }
    let (x, y) = (signed(a, ty), signed(b, ty));
    let (f, g) = (f64_of(a, ty), f64_of(b, ty));
    let unordered = f.is_nan() || g.is_nan();
    let result = match p {
        P::Eq => a == b,
        P::Ne => a != b,
        P::Ugt => a > b,
        P::Uge => a >= b,
        P::Ult => a < b,
        P::Ule => a <= b,
        P::Sgt => x > y,
        P::Sge => x >= y,
        P::Slt => x < y,
        P::Sle => x <= y,
        P::FOeq => f == g,
        P::FOgt => f > g,
        P::FOge => f >= g,
        P::FOlt => f < g,
        P::FOle => f <= g,
        P::FOne => !unordered && f != g,
        P::FOrd => !unordered,
        P::FUno => unordered,
        P::FUeq => unordered || f == g,
        P::FUgt => unordered || f > g,
        P::FUge => unordered || f >= g,
        P::FUlt => unordered || f < g,
        P::FUle => unordered || f <= g,
        P::FUne => f != g,
        P::FTrue => true,
        P::FFalse => false,
    };
    Some(u64::from(result))
}

/// `operands` has the function's arity.
pub(super) fn call(
    f: Intrinsic,
    flags: OpFlags,
    ty: ScalarType,
    operands: &[u64],
    fuse: bool,
) -> Option<u64> {
    let get = |i: usize| operands.get(i).copied().unwrap_or(0);
    if !f.is_float() {
        return integer_call(f, flags, ty, [get(0), get(1), get(2)]);
    }
    for x in operands {
        checked_float(*x, ty, flags)?;
    }
    let bits = match ty {
        ScalarType::F32 => {
            let v = |i| f32::from_bits(get(i) as u32);
            u64::from(float_call!(f, v(0), v(1), v(2), fuse).to_bits())
        }
        _ => {
            let v = |i| f64::from_bits(get(i));
            float_call!(f, v(0), v(1), v(2), fuse).to_bits()
        }
    };
    checked_float(bits, ty, flags)
}

fn integer_call(f: Intrinsic, flags: OpFlags, ty: ScalarType, [a, b, c]: [u64; 3]) -> Option<u64> {
    let (x, y) = (i128::from(signed(a, ty)), i128::from(signed(b, ty)));
    let least = -(1i128 << (ty.bits() - 1));
    let out = |value: i128| Some((value as u64) & mask(ty));
    let (u, v) = (i128::from(a), i128::from(b));
    match f {
        Intrinsic::SMin => out(x.min(y)),
        Intrinsic::SMax => out(x.max(y)),
        Intrinsic::UMin => Some(a.min(b)),
        Intrinsic::UMax => Some(a.max(b)),
        Intrinsic::Abs if x == least && flags.contains(OpFlags::INT_MIN_POISON) => None,
        Intrinsic::Abs => out(x.abs()),
        Intrinsic::CtPop => Some(u64::from(a.count_ones())),
        Intrinsic::CtLz | Intrinsic::CtTz if a == 0 && flags.contains(OpFlags::INT_MIN_POISON) => None,
        Intrinsic::CtLz => Some(u64::from(a.leading_zeros()) - (64 - u64::from(ty.bits()))),
        Intrinsic::CtTz => Some(u64::from(a.trailing_zeros().min(ty.bits()))),
        Intrinsic::FShl | Intrinsic::FShr => {
            let (bits, both) = (ty.bits(), (u128::from(a) << ty.bits()) | u128::from(b));
            let by = (c % u64::from(bits)) as u32;
            let back = if f == Intrinsic::FShl { bits - by } else { by };
            Some((both >> back) as u64 & mask(ty))
        }
        Intrinsic::BSwap => Some(a.swap_bytes() >> (64 - ty.bits())),
        Intrinsic::UAddSat => out((u + v).min(i128::from(mask(ty)))),
        Intrinsic::USubSat => out((u - v).max(0)),
        Intrinsic::SAddSat => out((x + y).clamp(least, -least - 1)),
        Intrinsic::SSubSat => out((x - y).clamp(least, -least - 1)),
        _ => None,
    }
}

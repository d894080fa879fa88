//! Operations of LLVM IR as operations of statements.

use loop_tree::{BinaryOp, CastOp, ComparePredicate, Intrinsic, OpFlags};

use crate::llvm::{FastMath, Inst, IntPredicate, Opcode, PoisonFlags, RealPredicate};

pub(super) fn binary_op(o: Opcode) -> Option<BinaryOp> {
    Some(match o {
        Opcode::Add => BinaryOp::Add,
        Opcode::Sub => BinaryOp::Sub,
        Opcode::Mul => BinaryOp::Mul,
        Opcode::SDiv => BinaryOp::SDiv,
        Opcode::UDiv => BinaryOp::UDiv,
        Opcode::SRem => BinaryOp::SRem,
        Opcode::URem => BinaryOp::URem,
        Opcode::Shl => BinaryOp::Shl,
        Opcode::LShr => BinaryOp::LShr,
        Opcode::AShr => BinaryOp::AShr,
        Opcode::And => BinaryOp::And,
        Opcode::Or => BinaryOp::Or,
        Opcode::Xor => BinaryOp::Xor,
        Opcode::FAdd => BinaryOp::FAdd,
        Opcode::FSub => BinaryOp::FSub,
        Opcode::FMul => BinaryOp::FMul,
        Opcode::FDiv => BinaryOp::FDiv,
        Opcode::FRem => BinaryOp::FRem,
        _ => return None,
    })
}

/// A conversion, some of which are calls.
pub(super) fn cast_op(i: Inst<'_>) -> Option<CastOp> {
    Some(match i.opcode() {
        Opcode::Trunc => CastOp::Trunc,
        Opcode::ZExt => CastOp::ZExt,
        Opcode::SExt => CastOp::SExt,
        Opcode::FpTrunc => CastOp::FpTrunc,
        Opcode::FpExt => CastOp::FpExt,
        Opcode::FpToSi => CastOp::FpToSi,
        Opcode::FpToUi => CastOp::FpToUi,
        Opcode::SiToFp => CastOp::SiToFp,
        Opcode::UiToFp => CastOp::UiToFp,
        Opcode::BitCast => CastOp::Bitcast,
        Opcode::Call => {
            let call = i.as_call().filter(|c| !c.has_operand_bundles())?;
            match &*call.intrinsic_name()? {
                "llvm.fptosi.sat" => CastOp::FpToSiSat,
                "llvm.fptoui.sat" => CastOp::FpToUiSat,
                _ => return None,
            }
        }
        _ => return None,
    })
}

pub(super) fn int_compare(i: Inst<'_>) -> Option<ComparePredicate> {
    use IntPredicate as P;
    Some(match i.int_predicate()? {
        P::Eq => ComparePredicate::Eq,
        P::Ne => ComparePredicate::Ne,
        P::Ugt => ComparePredicate::Ugt,
        P::Uge => ComparePredicate::Uge,
        P::Ult => ComparePredicate::Ult,
        P::Ule => ComparePredicate::Ule,
        P::Sgt => ComparePredicate::Sgt,
        P::Sge => ComparePredicate::Sge,
        P::Slt => ComparePredicate::Slt,
        P::Sle => ComparePredicate::Sle,
    })
}

pub(super) fn real_compare(i: Inst<'_>) -> Option<ComparePredicate> {
    use RealPredicate as P;
    Some(match i.real_predicate()? {
        P::False => ComparePredicate::FFalse,
        P::Oeq => ComparePredicate::FOeq,
        P::Ogt => ComparePredicate::FOgt,
        P::Oge => ComparePredicate::FOge,
        P::Olt => ComparePredicate::FOlt,
        P::Ole => ComparePredicate::FOle,
        P::One => ComparePredicate::FOne,
        P::Ord => ComparePredicate::FOrd,
        P::Uno => ComparePredicate::FUno,
        P::Ueq => ComparePredicate::FUeq,
        P::Ugt => ComparePredicate::FUgt,
        P::Uge => ComparePredicate::FUge,
        P::Ult => ComparePredicate::FUlt,
        P::Ule => ComparePredicate::FUle,
        P::Une => ComparePredicate::FUne,
        P::True => ComparePredicate::FTrue,
    })
}

/// A pure intrinsic and the number of its operands that are values; a constant flag behind them is in [`flags_of`].
pub(super) fn intrinsic_of(i: Inst<'_>) -> Option<(Intrinsic, usize)> {
    let call = i.as_call()?;
    if call.has_operand_bundles() {
        return None;
    }
    let name = call.intrinsic_name()?;
    let count = call.args().len();
    let (f, arity) = match name.strip_prefix("llvm.")? {
        "sqrt" => (Intrinsic::Sqrt, 1),
        "fabs" => (Intrinsic::Fabs, 1),
        "fma" => (Intrinsic::Fma, 3),
        "fmuladd" => (Intrinsic::FMulAdd, 3),
        "floor" => (Intrinsic::Floor, 1),
        "ceil" => (Intrinsic::Ceil, 1),
        "trunc" => (Intrinsic::Trunc, 1),
        "rint" => (Intrinsic::Rint, 1),
        "nearbyint" => (Intrinsic::NearbyInt, 1),
        "round" => (Intrinsic::Round, 1),
        "minnum" => (Intrinsic::MinNum, 2),
        "maxnum" => (Intrinsic::MaxNum, 2),
        "minimum" => (Intrinsic::Minimum, 2),
        "maximum" => (Intrinsic::Maximum, 2),
        "copysign" => (Intrinsic::CopySign, 2),
        "exp" => (Intrinsic::Exp, 1),
        "exp2" => (Intrinsic::Exp2, 1),
        "log" => (Intrinsic::Log, 1),
        "log2" => (Intrinsic::Log2, 1),
        "log10" => (Intrinsic::Log10, 1),
        "sin" => (Intrinsic::Sin, 1),
        "cos" => (Intrinsic::Cos, 1),
        "pow" => (Intrinsic::Pow, 2),
        "smin" => (Intrinsic::SMin, 2),
        "smax" => (Intrinsic::SMax, 2),
        "umin" => (Intrinsic::UMin, 2),
        "umax" => (Intrinsic::UMax, 2),
        "abs" => (Intrinsic::Abs, 1),
        "ctpop" => (Intrinsic::CtPop, 1),
        "ctlz" => (Intrinsic::CtLz, 1),
        "cttz" => (Intrinsic::CtTz, 1),
        "bswap" => (Intrinsic::BSwap, 1),
        "fshl" => (Intrinsic::FShl, 3),
        "fshr" => (Intrinsic::FShr, 3),
        "uadd.sat" => (Intrinsic::UAddSat, 2),
        "usub.sat" => (Intrinsic::USubSat, 2),
        "sadd.sat" => (Intrinsic::SAddSat, 2),
        "ssub.sat" => (Intrinsic::SSubSat, 2),
        _ => return None,
    };
    (count >= arity).then_some((f, arity))
}

/// Whether it is a call of a function of the mathematical library that may set `errno`.
///
/// Such a call is an effect: a program may read `errno` at any time, and which of two calls set it last depends on their
/// order. So it is as any call of which nothing is known ([`called`](super::called)), unless the IR says that it touches no memory
/// (then it is an intrinsic, which is what clang makes of it under `-fno-math-errno`) or it sets one number only ([`error_number`]).
pub(super) fn may_set_errno(i: Inst<'_>) -> bool {
    const FUNCTIONS: [&str; 34] = [
        "acos",
        "acosh",
        "asin",
        "atan2",
        "atanh",
        "cos",
        "cosh",
        "erfc",
        "exp",
        "exp10",
        "exp2",
        "expm1",
        "fdim",
        "fmod",
        "hypot",
        "ldexp",
        "lgamma",
        "llrint",
        "llround",
        "log",
        "log10",
        "log1p",
        "log2",
        "logb",
        "lrint",
        "lround",
        "nextafter",
        "pow",
        "remainder",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tgamma",
    ];
    let Some(callee) = i.as_call().and_then(|c| c.callee()).filter(|f| f.is_declaration()) else {
        return false;
    };
    let name = callee.name();
    let is = |name: &str| FUNCTIONS.binary_search(&name).is_ok();
    is(&name) || name.strip_suffix('f').is_some_and(is)
}

/// The one number that a call may set `errno` to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ErrorNumber {
    /// `EDOM`.
    Domain,
    /// `ERANGE`.
    Range,
}

/// The errors of functions that have one kind only, by the C standard.
const ERRORS: [(&str, ErrorNumber); 9] = [
    ("acos", ErrorNumber::Domain),
    ("cos", ErrorNumber::Domain),
    ("cosh", ErrorNumber::Range),
    ("exp", ErrorNumber::Range),
    ("exp2", ErrorNumber::Range),
    ("expm1", ErrorNumber::Range),
    ("fmod", ErrorNumber::Domain),
    ("sinh", ErrorNumber::Range),
    ("sqrt", ErrorNumber::Domain),
];

/// What a call may set `errno` to that does nothing else but return a value, where that is one number.
///
/// Calls with the same number commute: after all of them `errno` is that number if one of them set it, whatever their order, and
/// one that runs twice changes nothing. Nothing in a region reads `errno`, as what could is an effect that ends it, or a call
/// to which all keep their order; but memory may be `errno` itself ([`may_be_errno`](super::alias::may_be_errno)). They run where the
/// original runs them, and none may be left out.
pub(super) fn error_number(i: Inst<'_>) -> Option<ErrorNumber> {
    let call = i.as_call().filter(|_| i.opcode() == Opcode::Call)?;
    let name = call.callee()?.name();
    let (_, number) = ERRORS
        .into_iter()
        .find(|(function, _)| name.strip_prefix(function).is_some_and(|f| f.is_empty() || f == "f"))?;
    let bound = ["convergent", "noduplicate", "returns_twice", "strictfp"];
    let plain = call.is_library_call()
        && !call.has_operand_bundles()
        && !call.is_must_tail()
        && !bound.iter().any(|a| call.has_attribute(a));
    plain.then_some(number)
}

/// Flags of an operation.
pub(super) fn flags_of(i: Inst<'_>) -> OpFlags {
    let mut flags = OpFlags::empty();
    let poison = i.poison_flags();
    for (from, to) in [
        (PoisonFlags::NUW, OpFlags::NUW),
        (PoisonFlags::NSW, OpFlags::NSW),
        (PoisonFlags::EXACT, OpFlags::EXACT),
        (PoisonFlags::DISJOINT, OpFlags::DISJOINT),
        (PoisonFlags::NNEG, OpFlags::NNEG),
    ] {
        flags.set(to, poison.contains(from));
    }
    let fast = i.fast_math();
    for (from, to) in [
        (FastMath::REASSOC, OpFlags::REASSOC),
        (FastMath::NNAN, OpFlags::NNAN),
        (FastMath::NINF, OpFlags::NINF),
        (FastMath::NSZ, OpFlags::NSZ),
        (FastMath::ARCP, OpFlags::ARCP),
        (FastMath::CONTRACT, OpFlags::CONTRACT),
        (FastMath::AFN, OpFlags::AFN),
    ] {
        flags.set(to, fast.contains(from));
    }
    let asks = |name: &str| matches!(name, "llvm.abs" | "llvm.ctlz" | "llvm.cttz");
    let call = i.as_call().filter(|c| c.intrinsic_name().is_some_and(|name| asks(&name)));
    if call.and_then(|c| c.args().get(1).and_then(|v| v.const_int())).is_some_and(|c| c != 0) {
        flags |= OpFlags::INT_MIN_POISON;
    }
    flags
}

//! What targets make of operations.

use crate::OpClass;
use loop_tree::{BinaryOp, CastOp, Intrinsic, OpFlags, OpKind, ScalarType};

/// Whether a chain of the operation may be computed in another order.
pub(crate) fn reassociates(kind: &OpKind, flags: OpFlags) -> bool {
    match kind {
        OpKind::Binary(op, ..) => match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                true
            }
            BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul => flags.contains(OpFlags::REASSOC),
            _ => false,
        },
        OpKind::Call(f, _) => {
            matches!(f, Intrinsic::SMin | Intrinsic::SMax | Intrinsic::UMin | Intrinsic::UMax)
                || flags.contains(OpFlags::REASSOC)
        }
        OpKind::Cast(..) => true,
        _ => false,
    }
}

/// What a target counts it as; `None`: nothing.
pub(crate) fn class_of(kind: &OpKind, ty: ScalarType) -> Option<OpClass> {
    Some(match kind {
        OpKind::Binary(op, ..) => match op {
            BinaryOp::FAdd | BinaryOp::FSub => OpClass::FloatAdd,
            BinaryOp::FMul => OpClass::FloatMul,
            BinaryOp::FDiv => OpClass::FloatDiv,
            BinaryOp::FRem => OpClass::Library,
            BinaryOp::Mul => OpClass::IntegerMul,
            BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem => OpClass::IntegerDiv,
            _ => OpClass::Integer,
        },
        OpKind::Cast(CastOp::Bitcast | CastOp::Trunc, _) => return None,
        OpKind::Cast(CastOp::ZExt | CastOp::SExt, _) => OpClass::Integer,
        OpKind::Cast(..) => OpClass::Convert,
        OpKind::Compare(..) | OpKind::Select(..) => OpClass::Select,
        OpKind::Call(f, _) => match f {
            Intrinsic::Sqrt => OpClass::FloatSqrt,
            Intrinsic::Fma => OpClass::FloatFma,
            Intrinsic::FMulAdd => OpClass::FloatFma,
            Intrinsic::Fabs
            | Intrinsic::FNeg
            | Intrinsic::CopySign
            | Intrinsic::MinNum
            | Intrinsic::MaxNum
            | Intrinsic::Minimum
            | Intrinsic::Maximum => OpClass::FloatAdd,
            Intrinsic::Floor
            | Intrinsic::Ceil
            | Intrinsic::Trunc
            | Intrinsic::Rint
            | Intrinsic::NearbyInt => OpClass::Convert,
            Intrinsic::Round
            | Intrinsic::Exp
            | Intrinsic::Exp2
            | Intrinsic::Log
            | Intrinsic::Log2
            | Intrinsic::Log10
            | Intrinsic::Sin
            | Intrinsic::Cos
            | Intrinsic::Pow => OpClass::Library,
            _ if ty.is_float() => OpClass::FloatAdd,
            _ => OpClass::Integer,
        },
        OpKind::Pure(..) | OpKind::Opaque(..) => OpClass::Library,
        _ => return None,
    })
}

//! What targets make of operations.

use crate::OpClass;
use loop_tree::{BinaryOp, CastOp, Intrinsic, Mask, Op, OpFlags, OpId, OpKind, ScalarType, Statement};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// In which other orders a chain of operations may be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reordering {
    /// It has no operation that forbids any.
    Any,
    /// In any, as long as all operations are of this kind.
    Of(Reduction),
    /// In none.
    No,
}

/// Operations that are associative and commutative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reduction {
    Sum,
    Product,
    Bits(BinaryOp),
    Extremum(Intrinsic),
}

impl Reordering {
    /// Of a chain with the operations of both: a sum of products of sums has no other order.
    pub fn and(self, other: Reordering) -> Reordering {
        match (self, other) {
            (Reordering::Any, other) | (other, Reordering::Any) => other,
            (a, b) if a == b => a,
            _ => Reordering::No,
        }
    }
}

/// In which other orders a chain of the operation may be computed.
pub(crate) fn reordering(kind: &OpKind, flags: OpFlags) -> Reordering {
    let reduction = match kind {
        // What a condition leaves as it is, or reduces further, is reduced in any order, too.
        OpKind::Cast(..) | OpKind::Select(..) => return Reordering::Any,
        OpKind::Binary(op, ..) => match op {
            BinaryOp::Add | BinaryOp::Sub => Reduction::Sum,
            BinaryOp::Mul => Reduction::Product,
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Reduction::Bits(*op),
            BinaryOp::FAdd | BinaryOp::FSub if flags.contains(OpFlags::REASSOC) => Reduction::Sum,
            BinaryOp::FMul if flags.contains(OpFlags::REASSOC) => Reduction::Product,
            _ => return Reordering::No,
        },
        OpKind::Call(f, _) => match f {
            Intrinsic::SMin | Intrinsic::SMax | Intrinsic::UMin | Intrinsic::UMax => Reduction::Extremum(*f),
            _ if flags.contains(OpFlags::REASSOC) => Reduction::Extremum(*f),
            _ => return Reordering::No,
        },
        _ => return Reordering::No,
    };
    Reordering::Of(reduction)
}

/// Operations that an instruction does beside others, and how much each of them counts then, and in which width.
pub(crate) struct Fused(SmallVec<[(OpId, f64, Option<ScalarType>); 5]>);

impl Fused {
    /// Of an operation that would count so much in that width, what it counts.
    pub fn counted(&self, op: OpId, weight: f64, width: ScalarType) -> (f64, ScalarType) {
        match self.0.iter().find(|fused| fused.0 == op) {
            Some((_, factor, narrow)) => (weight * factor, narrow.unwrap_or(width)),
            None => (weight, width),
        }
    }
}

/// Finds a sum of absolute differences of bytes, of eight of which one instruction makes a sum, as LLVM's code generator for x86 does
/// (`combineBasicSADPattern`).
pub(crate) fn differences_of_bytes(ops: &[Op]) -> Option<Fused> {
    let at = |o: &OpId| &ops[o.index()].kind;
    let byte = |o: &OpId| match at(o) {
        OpKind::Cast(CastOp::ZExt, from) => ops[from.index()].ty == ScalarType::I8,
        _ => false,
    };
    let absolute = ops.iter().position(|o| matches!(o.kind, OpKind::Call(Intrinsic::Abs, _)))?;
    let absolute = OpId::new(absolute);
    let OpKind::Call(_, operands) = at(&absolute) else { return None };
    let difference = *operands.first()?;
    let OpKind::Binary(BinaryOp::Sub, a, b) = at(&difference) else { return None };
    let uses = |o: OpId| ops.iter().flat_map(|op| op.kind.operands()).filter(|used| *used == o).count();
    let sum = ops.iter().position(
        |o| matches!(o.kind, OpKind::Binary(BinaryOp::Add, x, y) if x == absolute || y == absolute),
    )?;
    let alone = [*a, *b, difference, absolute].into_iter().all(|o| uses(o) == 1);
    let inside = [*a, *b, difference].into_iter().map(|o| (o, 0.0, None));
    let last = [(absolute, 1.0, Some(ScalarType::I8)), (OpId::new(sum), 1.0 / 8.0, None)];
    (byte(a) && byte(b) && alone).then(|| Fused(inside.chain(last).collect()))
}

/// Finds a sum of 32-bit products of what 16 bits hold, of pairs of which one instruction makes a sum, as LLVM does for x86
/// (`X86PartialReduction`): as many products as of 32 bits, without the conversions. Bytes are converted, to 16 bits.
pub(crate) fn products_of_shorts(ops: &[Op]) -> Option<Fused> {
    let short = |o: &OpId| match ops[o.index()].kind {
        OpKind::Cast(cast, from) => match (cast, ops[from.index()].ty) {
            (CastOp::SExt, ScalarType::I16) => Some((*o, 0.0, None)),
            (CastOp::SExt | CastOp::ZExt, ScalarType::I8) => Some((*o, 0.5, None)),
            _ => None,
        },
        _ => None,
    };
    let product = ops.iter().position(|o| {
        matches!(&o.kind, OpKind::Binary(BinaryOp::Mul, a, b) if short(a).is_some() && short(b).is_some())
    })?;
    let added = |o: &Op| matches!(o.kind, OpKind::Binary(BinaryOp::Add, a, b) if [a, b].contains(&OpId::new(product)));
    let OpKind::Binary(_, a, b) = &ops[product].kind else { return None };
    let found = (ops[product].ty == ScalarType::I32 && ops.iter().any(added)).then(|| (short(a), short(b)));
    found.map(|(a, b)| Fused(a.into_iter().chain(b).collect()))
}

/// What a target counts an operation as; `None`: nothing.
pub(crate) fn class_of(ops: &[Op], at: OpId) -> Option<OpClass> {
    let Op { kind, ty, .. } = &ops[at.index()];
    Some(match kind {
        OpKind::Call(Intrinsic::FNeg, _) if is_a_sign(ops, at) => return None,
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
        OpKind::Cast(CastOp::ZExt | CastOp::SExt, from) if ops[from.index()].ty == ScalarType::I1 => {
            OpClass::Integer
        }
        OpKind::Cast(CastOp::ZExt | CastOp::SExt, _) => OpClass::Widen,
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

/// The classes of all operations.
pub(crate) fn classes(ops: &[Op]) -> impl Iterator<Item = Option<OpClass>> {
    (0..ops.len()).map(|at| class_of(ops, OpId::new(at)))
}

/// The type of the vectors that have to become narrower for an operation: of what is truncated, or of the comparison that chooses.
pub(crate) fn narrowed(ops: &[Op], at: OpId) -> Option<ScalarType> {
    let op = &ops[at.index()];
    let of = match op.kind {
        OpKind::Cast(CastOp::Trunc, from) => ops[from.index()].ty,
        OpKind::Select(condition, ..) => compared(ops, condition)?,
        _ => return None,
    };
    (of.size() > op.ty.size() && op.ty != ScalarType::I1).then_some(of)
}

/// The type of what is compared, of a condition made of comparisons: of the first.
fn compared(ops: &[Op], condition: OpId) -> Option<ScalarType> {
    match ops[condition.index()].kind {
        OpKind::Compare(_, a, _) => Some(ops[a.index()].ty),
        OpKind::Binary(_, a, _) | OpKind::Select(a, ..) => compared(ops, a),
        _ => None,
    }
}

/// Whether a negation is only added or a part of what is added: instructions subtract, and have the signs of their factors.
fn is_a_sign(ops: &[Op], negation: OpId) -> bool {
    let mut users = ops.iter().filter(|op| op.kind.operands().contains(&negation));
    users.all(|op| {
        let sum = matches!(op.kind, OpKind::Binary(BinaryOp::FAdd | BinaryOp::FSub, ..));
        sum || matches!(op.kind, OpKind::Call(Intrinsic::Fma | Intrinsic::FMulAdd, _))
    })
}

/// Whether it is the least or greatest of integers.
pub(crate) fn is_extreme(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Call(Intrinsic::SMin | Intrinsic::SMax | Intrinsic::UMin | Intrinsic::UMax, _))
}

/// Whether a statement stores to one element in any case, here where a condition holds, elsewhere where not: compilers select the value
/// and store once.
pub(crate) fn is_stored_both_ways(statement: &Statement, op: &Op) -> bool {
    let element = |op: &Op| match op.kind {
        OpKind::Store(access, _) => {
            let access = statement.access(access);
            Some((access.array, access.subscripts.clone()?))
        }
        _ => None,
    };
    let Some(mask) = op.mask.filter(|mask| statement.ops[mask.op.index()].mask.is_none()) else {
        return false;
    };
    let opposite = Mask { value: !mask.value, ..mask };
    let found = element(op);
    found.is_some() && statement.ops.iter().any(|o| o.mask == Some(opposite) && element(o) == found)
}

/// The expression that each operation is the root of, whatever is loaded; sums and differences are alike, as of them one instruction each
/// and a blend make vectors.
pub(crate) fn shapes(statement: &Statement) -> SmallVec<[u64; 16]> {
    let mut result = SmallVec::with_capacity(statement.ops.len());
    for op in &statement.ops {
        let mut hash = FxHasher::default();
        match &op.kind {
            OpKind::Binary(BinaryOp::FAdd | BinaryOp::FSub, ..) => hash.write_u8(1),
            OpKind::Binary(kind, ..) => kind.hash(&mut hash),
            OpKind::Cast(kind, _) => kind.hash(&mut hash),
            OpKind::Compare(predicate, ..) => predicate.hash(&mut hash),
            OpKind::Call(function, _) => function.hash(&mut hash),
            other => std::mem::discriminant(other).hash(&mut hash),
        }
        op.ty.hash(&mut hash);
        if !matches!(op.kind, OpKind::LoadAt(..)) {
            op.kind.operands().iter().for_each(|o| hash.write_u64(result[o.index()]));
        }
        result.push(hash.finish());
    }
    result
}

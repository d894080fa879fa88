//! What operations cost on the target, by LLVM's TargetTransformInfo.

use super::analyses::Analyses;
use super::ffi;
use super::function::Function;
use super::inst::Inst;
use super::kinds::Opcode;
use super::types::Type;

/// What a cost counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostKind {
    /// Cycles per operation when many are independent.
    Throughput,
    /// Cycles until the result is there.
    Latency,
    /// Instructions.
    CodeSize,
    /// A blend of the last two.
    SizeAndLatency,
}

/// Which registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterKind {
    /// For one number.
    Scalar,
    /// For vectors of fixed length.
    Vector,
    /// For vectors of run-time length; the minimum is given.
    ScalableVector,
}

/// An access under a mask.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskedAccess {
    Load,
    Store,
    Gather,
    Scatter,
}

/// Costs are `None` where the target cannot do it, or the operation and type do not fit.
impl<'m> Analyses<'m> {
    fn cost(&self, query: impl FnOnce(&mut i64) -> bool) -> Option<i64> {
        let mut out = 0;
        query(&mut out).then_some(out)
    }

    fn known(&self, ty: Type<'m>) -> bool {
        ty.context() == self.function().ty().context() && ty.is_sized() && !ty.is_scalable()
    }

    /// Of a unary or binary operation on values of a type.
    pub fn arithmetic_cost(&self, op: Opcode, ty: Type<'m>, kind: CostKind) -> Option<i64> {
        let float = op.is_float_binary() || op == Opcode::FNeg;
        if !self.known(ty) || !(if float { ty.is_float() } else { op.is_int_binary() && ty.is_int() }) {
            return None;
        }
        // SAFETY: an operation on its type.
        self.cost(|out| unsafe {
            ffi::lt_cost_arith(self.raw(), op.sys() as i32, ty.raw(), kind as i32, out)
        })
    }

    /// Of a load or store at an alignment in bytes.
    pub fn memory_cost(&self, store: bool, ty: Type<'m>, alignment: u32, kind: CostKind) -> Option<i64> {
        if !self.known(ty) || !ty.is_first_class() || !alignment.is_power_of_two() {
            return None;
        }
        let (t, k) = (ty.raw(), kind as i32);
        // SAFETY: a type that can be stored, and a power of two.
        self.cost(|out| unsafe { ffi::lt_cost_memory(self.raw(), store, t, alignment.into(), 0, k, out) })
    }

    /// Of an instruction of the function.
    pub fn instruction_cost(&self, inst: Inst<'m>, kind: CostKind) -> Option<i64> {
        if inst.function() != self.function() {
            return None;
        }
        // SAFETY: an instruction of the function.
        self.cost(|out| unsafe { ffi::lt_cost_instruction(self.raw(), inst.raw(), kind as i32, out) })
    }

    /// Of a call of a declared intrinsic.
    pub fn intrinsic_cost(&self, intrinsic: Function<'m>, kind: CostKind) -> Option<i64> {
        let (ret, params) = intrinsic.function_type().signature()?;
        let id = intrinsic.intrinsic_id();
        if id == 0 {
            return None;
        }
        let mut params: Vec<_> = params.iter().map(|t| t.raw()).collect();
        let (p, n, k) = (params.as_mut_ptr(), params.len(), kind as i32);
        // SAFETY: an intrinsic with its own signature.
        self.cost(|out| unsafe { ffi::lt_cost_intrinsic(self.raw(), id, ret.raw(), p, n, k, out) })
    }

    /// How many bits a register has; 0 where there is no such register.
    pub fn register_bits(&self, kind: RegisterKind) -> u64 {
        // SAFETY: valid analyses.
        unsafe { ffi::lt_register_bits(self.raw(), kind as i32) }
    }

    /// How many registers there are.
    pub fn register_count(&self, vector: bool) -> u32 {
        // SAFETY: valid analyses.
        unsafe { ffi::lt_register_count(self.raw(), vector) }
    }

    /// In bytes; `None` where the target does not say.
    pub fn cache_line(&self) -> Option<u32> {
        // SAFETY: valid analyses.
        Some(unsafe { ffi::lt_cache_line(self.raw()) }).filter(|&n| n > 0)
    }

    /// Of the first or second level, in bytes. Often a default of LLVM rather than this processor's.
    pub fn cache_size(&self, level: u8) -> Option<u32> {
        if !(1..=2).contains(&level) {
            return None;
        }
        // SAFETY: valid analyses and level.
        Some(unsafe { ffi::lt_cache_size(self.raw(), level.into()) }).filter(|&n| n > 0)
    }

    /// Whether the target has an instruction for a masked access.
    pub fn has_masked(&self, access: MaskedAccess, ty: Type<'m>, alignment: u32) -> bool {
        let fits = self.known(ty) && ty.scalar() != ty && alignment.is_power_of_two();
        // SAFETY: a vector type and a power of two.
        fits && unsafe { ffi::lt_legal_masked(self.raw(), access as i32, ty.raw(), alignment.into()) }
    }
}

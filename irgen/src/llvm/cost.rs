//! What operations cost on the target, by LLVM's TargetTransformInfo.

use super::analyses::Analyses;
use super::ffi;
use super::inst::Inst;
use super::types::Type;

/// What a cost counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostKind {
    /// Cycles per operation when many are independent.
    Throughput,
    /// Cycles until the result is there.
    Latency,
}

impl<'m> Analyses<'m> {
    /// Of an instruction of the function; `None` where the target cannot do it.
    pub fn instruction_cost(&self, inst: Inst<'m>, kind: CostKind) -> Option<i64> {
        if inst.function() != self.function() {
            return None;
        }
        let (latency, mut cost) = (kind == CostKind::Latency, 0);
        // SAFETY: an instruction of the function.
        let valid = unsafe { ffi::lt_cost_instruction(self.raw(), inst.raw(), latency, &mut cost) };
        valid.then_some(cost)
    }

    /// How many bits a vector register has; 0 where there is none.
    pub fn vector_bits(&self) -> u64 {
        // SAFETY: valid analyses.
        unsafe { ffi::lt_vector_bits(self.raw()) }
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

    /// Whether the target has instructions for loads and stores under a mask.
    pub fn has_masked(&self, ty: Type<'m>, alignment: u32) -> bool {
        let known = ty.context() == self.function().ty().context() && ty.is_sized() && !ty.is_scalable();
        let fits = known && ty.scalar() != ty && alignment.is_power_of_two();
        // SAFETY: a vector type and a power of two.
        fits && unsafe { ffi::lt_legal_masked(self.raw(), ty.raw(), alignment.into()) }
    }
}

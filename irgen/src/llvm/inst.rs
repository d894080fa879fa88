//! Instructions: what they do, their flags, and where control goes.

use std::ops::Deref;

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::error::{Result, require};
use super::ffi;
use super::function::{Block, Function};
use super::kinds::{
    Effects, FastMath, GepFlags, IntPredicate, MemoryEffects, Opcode, Ordering, PoisonFlags, RealPredicate,
};
use super::types::Type;
use super::value::Value;

/// An instruction; also the value it computes.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Inst<'m>(Value<'m>);

/// A call or invoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'m>(Inst<'m>);

impl<'m> Deref for Inst<'m> {
    type Target = Value<'m>;

    fn deref(&self) -> &Value<'m> {
        &self.0
    }
}

impl std::fmt::Debug for Inst<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'m> Inst<'m> {
    /// # Safety
    /// `raw` is an instruction in a block that lives for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMValueRef) -> Inst<'m> {
        // SAFETY: by contract.
        Inst(unsafe { Value::from_raw(raw) })
    }

    /// As a value.
    pub fn value(self) -> Value<'m> {
        self.0
    }

    /// What it does.
    pub fn opcode(self) -> Opcode {
        // SAFETY: an instruction.
        Opcode::from_sys(unsafe { LLVMGetInstructionOpcode(self.raw()) })
    }

    fn is(self, opcode: Opcode) -> bool {
        self.opcode() == opcode
    }

    /// The block it is in.
    pub fn block(self) -> Block<'m> {
        // SAFETY: handles are made only of instructions in blocks.
        unsafe { Block::from_raw(LLVMGetInstructionParent(self.raw())) }
    }

    /// The function it is in.
    pub fn function(self) -> Function<'m> {
        self.block().function()
    }

    /// Operand number `index`.
    pub fn operand(self, index: u32) -> Option<Value<'m>> {
        // SAFETY: an index below the number of operands.
        unsafe {
            let fits = i64::from(index) < i64::from(LLVMGetNumOperands(self.raw()));
            if fits { Value::from_nullable(LLVMGetOperand(self.raw(), index)) } else { None }
        }
    }

    /// Lets it use `by` as operand `index`.
    pub fn set_operand(self, index: u32, by: Value<'m>) -> Result<()> {
        let fits = self.operand(index).is_some_and(|old| old.ty() == by.ty());
        require(fits, "set operand", "there is no such operand, or it has another type")?;
        self.require_usable(by, "set operand")?;
        // SAFETY: an existing operand, replaced by one of its type that belongs here.
        unsafe { LLVMSetOperand(self.raw(), index, by.raw()) };
        Ok(())
    }

    pub(crate) fn require_usable(self, value: Value<'m>, operation: &'static str) -> Result<()> {
        // SAFETY: a value and a function.
        let usable = value.as_block().is_some_and(|b| b.function() == self.function())
            || unsafe { ffi::lt_usable_in(value.raw(), self.function().raw()) };
        require(usable, operation, "the value belongs to another function, module or context")
    }

    /// What it may do beside computing its value.
    pub fn effects(self) -> Effects {
        // SAFETY: an instruction.
        Effects::from_bits_truncate(unsafe { ffi::lt_effects(self.raw()) })
    }

    /// Whether it converts an unsigned number to floating point that may be negative as a signed one of half its bits.
    pub fn converts_extended_sign(self) -> bool {
        // SAFETY: an instruction.
        unsafe { ffi::lt_converts_extended_sign(self.raw()) }
    }

    /// Whether it joins values at the beginning of a block.
    pub fn is_phi(self) -> bool {
        self.is(Opcode::Phi)
    }

    /// Whether it ends a block.
    pub fn is_terminator(self) -> bool {
        // SAFETY: a value.
        unsafe { !LLVMIsATerminatorInst(self.raw()).is_null() }
    }

    /// The predicate of `icmp`.
    pub fn int_predicate(self) -> Option<IntPredicate> {
        // SAFETY: asked of `icmp` only.
        self.is(Opcode::ICmp).then(|| IntPredicate::from_sys(unsafe { LLVMGetICmpPredicate(self.raw()) }))
    }

    /// The predicate of `fcmp`.
    pub fn real_predicate(self) -> Option<RealPredicate> {
        // SAFETY: asked of `fcmp` only.
        self.is(Opcode::FCmp).then(|| RealPredicate::from_sys(unsafe { LLVMGetFCmpPredicate(self.raw()) }))
    }

    /// Its promises (`nsw` and the like); those of addresses are [`Inst::gep_flags`].
    pub fn poison_flags(self) -> PoisonFlags {
        let may = self.opcode().poison_flags();
        let mut flags = PoisonFlags::empty();
        let r = self.raw();
        // SAFETY: each is asked only of opcodes that may carry the flag.
        unsafe {
            flags.set(PoisonFlags::NSW, may.contains(PoisonFlags::NSW) && LLVMGetNSW(r) != 0);
            flags.set(PoisonFlags::NUW, may.contains(PoisonFlags::NUW) && LLVMGetNUW(r) != 0);
            flags.set(PoisonFlags::EXACT, may.contains(PoisonFlags::EXACT) && LLVMGetExact(r) != 0);
            flags
                .set(PoisonFlags::DISJOINT, may.contains(PoisonFlags::DISJOINT) && LLVMGetIsDisjoint(r) != 0);
            flags.set(PoisonFlags::NNEG, may.contains(PoisonFlags::NNEG) && LLVMGetNNeg(r) != 0);
            flags.set(
                PoisonFlags::SAME_SIGN,
                may.contains(PoisonFlags::SAME_SIGN) && LLVMGetICmpSameSign(r) != 0,
            );
        }
        flags
    }

    /// Sets exactly these promises.
    pub fn set_poison_flags(self, flags: PoisonFlags) -> Result<()> {
        let may = self.opcode().poison_flags();
        require(may.contains(flags), "set flags", "the instruction cannot carry them")?;
        let (r, bit) = (self.raw(), |flag| i32::from(flags.contains(flag)));
        // SAFETY: each is set only on opcodes that may carry the flag.
        unsafe {
            if may.contains(PoisonFlags::NSW) {
                LLVMSetNSW(r, bit(PoisonFlags::NSW));
                LLVMSetNUW(r, bit(PoisonFlags::NUW));
            }
            if may.contains(PoisonFlags::EXACT) {
                LLVMSetExact(r, bit(PoisonFlags::EXACT));
            }
            if may.contains(PoisonFlags::DISJOINT) {
                LLVMSetIsDisjoint(r, bit(PoisonFlags::DISJOINT));
            }
            if may.contains(PoisonFlags::NNEG) {
                LLVMSetNNeg(r, bit(PoisonFlags::NNEG));
            }
            if may.contains(PoisonFlags::SAME_SIGN) {
                LLVMSetICmpSameSign(r, bit(PoisonFlags::SAME_SIGN));
            }
        }
        Ok(())
    }

    /// What may be assumed of its floating-point operation.
    pub fn fast_math(self) -> FastMath {
        // SAFETY: the flags are asked only of instructions that carry them.
        unsafe {
            if LLVMCanValueUseFastMathFlags(self.raw()) == 0 {
                return FastMath::empty();
            }
            FastMath::from_bits_truncate(LLVMGetFastMathFlags(self.raw()))
        }
    }

    /// Sets exactly these assumptions.
    pub fn set_fast_math(self, flags: FastMath) -> Result<()> {
        // SAFETY: the flags are set only on instructions that carry them.
        unsafe {
            let can = LLVMCanValueUseFastMathFlags(self.raw()) != 0;
            require(can || flags.is_empty(), "set fast-math", "not a floating-point operation")?;
            if can {
                LLVMSetFastMathFlags(self.raw(), flags.bits());
            }
        }
        Ok(())
    }

    /// What `getelementptr` promises.
    pub fn gep_flags(self) -> Option<GepFlags> {
        // SAFETY: asked of `getelementptr` only.
        self.is(Opcode::Gep)
            .then(|| GepFlags::from_bits_truncate(unsafe { LLVMGEPGetNoWrapFlags(self.raw()) }))
    }

    /// The type that the indices of `getelementptr` walk.
    pub fn gep_source_type(self) -> Option<Type<'m>> {
        // SAFETY: asked of `getelementptr` only.
        self.is(Opcode::Gep).then(|| unsafe { Type::from_raw(LLVMGetGEPSourceElementType(self.raw())) })
    }

    /// Whether it accesses memory through one pointer: a load, store, or atomic update.
    pub fn is_access(self) -> bool {
        matches!(self.opcode(), Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::AtomicCmpXchg)
    }

    /// The pointer of a load, store, or atomic update.
    pub fn pointer(self) -> Option<Value<'m>> {
        match self.opcode() {
            Opcode::Load | Opcode::AtomicRmw | Opcode::AtomicCmpXchg => self.operand(0),
            Opcode::Store => self.operand(1),
            _ => None,
        }
    }

    /// The type that a load or store moves.
    pub fn accessed_type(self) -> Option<Type<'m>> {
        match self.opcode() {
            Opcode::Load | Opcode::AtomicRmw => Some(self.ty()),
            Opcode::Store => self.operand(0).map(Value::ty),
            Opcode::AtomicCmpXchg => self.operand(1).map(Value::ty),
            _ => None,
        }
    }

    /// In bytes, of an access or `alloca`.
    pub fn alignment(self) -> Option<u32> {
        let has = self.is_access() || self.is(Opcode::Alloca);
        // SAFETY: asked of accesses and `alloca` only.
        has.then(|| unsafe { LLVMGetAlignment(self.raw()) })
    }

    /// Sets the alignment in bytes.
    pub fn set_alignment(self, bytes: u32) -> Result<()> {
        let has = self.is_access() || self.is(Opcode::Alloca);
        require(has && bytes.is_power_of_two(), "alignment", "no access, or no power of two")?;
        // SAFETY: an access or `alloca`, and a power of two.
        unsafe { LLVMSetAlignment(self.raw(), bytes) };
        Ok(())
    }

    /// Whether it is a store that other threads see whole, but that orders nothing else: `unordered` or `monotonic`, among
    /// all threads, of an element that is aligned.
    pub fn is_relaxed_store(self) -> bool {
        // What LLVM calls `SyncScope::System`; lesser scopes have other numbers.
        const ALL_THREADS: u32 = 1;
        let relaxed = matches!(self.ordering(), Ordering::Unordered | Ordering::Monotonic);
        // SAFETY: asked of atomic accesses only.
        self.is(Opcode::Store)
            && relaxed
            && !self.is_volatile()
            && unsafe { LLVMGetAtomicSyncScopeID(self.raw()) } == ALL_THREADS
    }

    /// Gives a plain load or store the ordering `unordered` or `monotonic`, among all threads.
    pub fn set_relaxed(self, ordering: Ordering) -> Result<()> {
        let fits = matches!(self.opcode(), Opcode::Load | Opcode::Store)
            && matches!(ordering, Ordering::Unordered | Ordering::Monotonic);
        require(fits, "set ordering", "no load or store, or another ordering")?;
        let sys = match ordering {
            Ordering::Unordered => llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingUnordered,
            _ => llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic,
        };
        // SAFETY: a load or store, which may have either ordering.
        unsafe { LLVMSetOrdering(self.raw(), sys) };
        Ok(())
    }

    /// Whether the access must be kept as it is.
    pub fn is_volatile(self) -> bool {
        // SAFETY: asked of accesses only.
        self.is_access() && unsafe { LLVMGetVolatile(self.raw()) != 0 }
    }

    /// How it is ordered with other threads; `NotAtomic` for what is no access or fence.
    pub fn ordering(self) -> Ordering {
        // SAFETY: each is asked of the opcodes that have it.
        unsafe {
            match self.opcode() {
                Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::Fence => {
                    Ordering::from_sys(LLVMGetOrdering(self.raw()))
                }
                Opcode::AtomicCmpXchg => Ordering::from_sys(LLVMGetCmpXchgSuccessOrdering(self.raw())),
                _ => Ordering::NotAtomic,
            }
        }
    }

    /// Values and the blocks they come from; empty where it is no phi.
    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        if !self.is_phi() {
            return Vec::new();
        }
        let r = self.raw();
        // SAFETY: a phi, and indices below its count.
        unsafe {
            (0..LLVMCountIncoming(r))
                .map(|i| {
                    (Value::from_raw(LLVMGetIncomingValue(r, i)), Block::from_raw(LLVMGetIncomingBlock(r, i)))
                })
                .collect()
        }
    }

    /// Where a terminator may go, once per edge; of a conditional branch true, then false.
    pub fn successors(self) -> Vec<Block<'m>> {
        if !self.is_terminator() {
            return Vec::new();
        }
        // SAFETY: a terminator, and indices below its count.
        unsafe {
            (0..LLVMGetNumSuccessors(self.raw()))
                .filter_map(|i| Block::from_nullable(LLVMGetSuccessor(self.raw(), i)))
                .collect()
        }
    }

    /// What a conditional branch or a switch decides by.
    pub fn condition(self) -> Option<Value<'m>> {
        match self.opcode() {
            // SAFETY: a conditional branch.
            Opcode::Br => unsafe {
                (LLVMIsConditional(self.raw()) != 0).then(|| Value::from_raw(LLVMGetCondition(self.raw())))
            },
            Opcode::Switch => self.operand(0),
            _ => None,
        }
    }

    /// As a call or invoke.
    pub fn as_call(self) -> Option<Call<'m>> {
        matches!(self.opcode(), Opcode::Call | Opcode::Invoke).then_some(Call(self))
    }

    /// As a call of the function of that name.
    pub fn as_call_of(self, name: &str) -> Option<Call<'m>> {
        self.as_call().filter(|call| call.callee().is_some_and(|f| f.name() == name))
    }
}

impl<'m> Call<'m> {
    /// As an instruction.
    pub fn inst(self) -> Inst<'m> {
        self.0
    }

    /// The function, where it is known: by its name, or by an alias that stands for it in every program.
    pub fn callee(self) -> Option<Function<'m>> {
        self.called_value().as_function().or_else(|| {
            // SAFETY: a call; what comes back is a function of its module, or null.
            let aliased = unsafe { ffi::lt_callee(self.0.raw()) };
            // SAFETY: as above.
            (!aliased.is_null()).then(|| unsafe { Function::from_raw(aliased) })
        })
    }

    /// What is called.
    pub fn called_value(self) -> Value<'m> {
        // SAFETY: a call.
        unsafe { Value::from_raw(LLVMGetCalledValue(self.0.raw())) }
    }

    /// The type it is called by.
    pub fn function_type(self) -> Type<'m> {
        // SAFETY: a call.
        unsafe { Type::from_raw(LLVMGetCalledFunctionType(self.0.raw())) }
    }

    /// The arguments.
    pub fn args(self) -> Vec<Value<'m>> {
        // SAFETY: the first operands of a call are its arguments.
        let count = unsafe { LLVMGetNumArgOperands(self.0.raw()) };
        (0..count).filter_map(|i| self.0.operand(i)).collect()
    }

    /// The intrinsic, without overloads: `llvm.sqrt`.
    pub fn intrinsic_name(self) -> Option<String> {
        self.callee().and_then(Function::intrinsic_name)
    }

    /// Whether the call, or what it calls, has an attribute such as `nounwind`.
    pub fn has_attribute(self, name: &str) -> bool {
        // SAFETY: a call and a string.
        unsafe { ffi::lt_has_attribute(self.0.raw(), name.as_ptr().cast(), name.len(), -1) }
    }

    /// Whether it calls a function of the target's library, such as `sqrt`, and nothing says that another is meant.
    pub fn is_library_call(self) -> bool {
        // SAFETY: a call in a function of a module.
        unsafe { ffi::lt_is_library_call(self.0.raw()) }
    }

    /// Whether the result is an object that nobody else has, with nothing in it: of `malloc` and its like, not of `calloc`.
    pub fn allocates(self) -> bool {
        // SAFETY: a call in a function of a module.
        unsafe { ffi::lt_allocates(self.0.raw()) }
    }

    /// Whether nothing else leads to what the result leads to.
    pub fn returns_fresh(self) -> bool {
        // SAFETY: a call in a function of a module.
        unsafe { ffi::lt_returns_fresh(self.0.raw()) }
    }

    /// Whether all it does to the object at this address is to end it.
    pub fn frees(self, pointer: Value<'m>) -> bool {
        // SAFETY: a call in a function of a module, and a value.
        unsafe { ffi::lt_frees(self.0.raw(), pointer.raw()) }
    }

    /// Which memory it may read and write.
    pub fn memory_effects(self) -> MemoryEffects {
        // SAFETY: a call.
        MemoryEffects::from_bits(unsafe { ffi::lt_memory_effects(self.0.raw()) })
    }

    /// Whether the result is a function of the arguments and nothing else happens: it touches no memory, does not throw, and
    /// returns. It may then run at another time, though not where it did not run before.
    pub fn is_pure(self) -> bool {
        let bound = ["convergent", "noduplicate", "returns_twice", "strictfp"];
        self.callee().is_some_and(|f| f.intrinsic_name().is_none())
            && self.0.is(Opcode::Call)
            && self.0.effects() == Effects::WILL_RETURN | Effects::REMOVABLE
            && self.memory_effects().is_none()
            && !self.has_operand_bundles()
            && !self.is_must_tail()
            && !bound.iter().any(|a| self.has_attribute(a))
    }

    /// Whether it carries operand bundles.
    pub fn has_operand_bundles(self) -> bool {
        // SAFETY: a call.
        unsafe { LLVMGetNumOperandBundles(self.0.raw()) > 0 }
    }

    /// Whether it must stay directly before a return.
    pub fn is_must_tail(self) -> bool {
        // SAFETY: a value.
        unsafe { ffi::lt_is_must_tail(self.0.raw()) }
    }
}

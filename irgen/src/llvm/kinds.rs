//! LLVM's enumerations and flags, in our names.

use bitflags::bitflags;
use llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMRealPredicate};

/// An enumeration that mirrors one of the C API, variant by variant.
macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident = $sys:ident { $($ours:ident = $theirs:ident),* $(,)? }) => {
        $(#[$doc])*
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($ours),* }

        impl $name {
            pub(crate) fn from_sys(sys: $sys) -> $name {
                match sys { $($sys::$theirs => $name::$ours),* }
            }

            #[allow(dead_code)]
            pub(crate) fn sys(self) -> $sys {
                match self { $($name::$ours => $sys::$theirs),* }
            }
        }
    };
}

mirror! {
    /// What an instruction does.
    Opcode = LLVMOpcode { Ret = LLVMRet, Br = LLVMBr, Switch = LLVMSwitch, IndirectBr = LLVMIndirectBr, Invoke = LLVMInvoke, Unreachable = LLVMUnreachable, CallBr = LLVMCallBr, FNeg = LLVMFNeg, Add = LLVMAdd, FAdd = LLVMFAdd, Sub = LLVMSub, FSub = LLVMFSub, Mul = LLVMMul, FMul = LLVMFMul, UDiv = LLVMUDiv, SDiv = LLVMSDiv, FDiv = LLVMFDiv, URem = LLVMURem, SRem = LLVMSRem, FRem = LLVMFRem, Shl = LLVMShl, LShr = LLVMLShr, AShr = LLVMAShr, And = LLVMAnd, Or = LLVMOr, Xor = LLVMXor, Alloca = LLVMAlloca, Load = LLVMLoad, Store = LLVMStore, Gep = LLVMGetElementPtr, Trunc = LLVMTrunc, ZExt = LLVMZExt, SExt = LLVMSExt, FpToUi = LLVMFPToUI, FpToSi = LLVMFPToSI, UiToFp = LLVMUIToFP, SiToFp = LLVMSIToFP, FpTrunc = LLVMFPTrunc, FpExt = LLVMFPExt, PtrToInt = LLVMPtrToInt, PtrToAddr = LLVMPtrToAddr, IntToPtr = LLVMIntToPtr, BitCast = LLVMBitCast, AddrSpaceCast = LLVMAddrSpaceCast, ICmp = LLVMICmp, FCmp = LLVMFCmp, Phi = LLVMPHI, Call = LLVMCall, Select = LLVMSelect, UserOp1 = LLVMUserOp1, UserOp2 = LLVMUserOp2, VaArg = LLVMVAArg, ExtractElement = LLVMExtractElement, InsertElement = LLVMInsertElement, ShuffleVector = LLVMShuffleVector, ExtractValue = LLVMExtractValue, InsertValue = LLVMInsertValue, Freeze = LLVMFreeze, Fence = LLVMFence, AtomicCmpXchg = LLVMAtomicCmpXchg, AtomicRmw = LLVMAtomicRMW, Resume = LLVMResume, LandingPad = LLVMLandingPad, CleanupRet = LLVMCleanupRet, CatchRet = LLVMCatchRet, CatchPad = LLVMCatchPad, CleanupPad = LLVMCleanupPad, CatchSwitch = LLVMCatchSwitch }
}

mirror! {
    /// A comparison of integers or pointers.
    IntPredicate = LLVMIntPredicate {
        Eq = LLVMIntEQ, Ne = LLVMIntNE, Ugt = LLVMIntUGT, Uge = LLVMIntUGE, Ult = LLVMIntULT, Ule = LLVMIntULE,
        Sgt = LLVMIntSGT, Sge = LLVMIntSGE, Slt = LLVMIntSLT, Sle = LLVMIntSLE,
    }
}

mirror! {
    /// A comparison of floating-point numbers; `O`: false where one is a NaN, `U`: true there.
    RealPredicate = LLVMRealPredicate {
        False = LLVMRealPredicateFalse, Oeq = LLVMRealOEQ, Ogt = LLVMRealOGT, Oge = LLVMRealOGE, Olt = LLVMRealOLT,
        Ole = LLVMRealOLE, One = LLVMRealONE, Ord = LLVMRealORD, Uno = LLVMRealUNO, Ueq = LLVMRealUEQ,
        Ugt = LLVMRealUGT, Uge = LLVMRealUGE, Ult = LLVMRealULT, Ule = LLVMRealULE, Une = LLVMRealUNE,
        True = LLVMRealPredicateTrue,
    }
}

mirror! {
    /// How an access is ordered with other threads'.
    Ordering = LLVMAtomicOrdering {
        NotAtomic = LLVMAtomicOrderingNotAtomic, Unordered = LLVMAtomicOrderingUnordered,
        Monotonic = LLVMAtomicOrderingMonotonic, Acquire = LLVMAtomicOrderingAcquire,
        Release = LLVMAtomicOrderingRelease, AcquireRelease = LLVMAtomicOrderingAcquireRelease,
        SequentiallyConsistent = LLVMAtomicOrderingSequentiallyConsistent,
    }
}

mirror! {
    /// Who else may see or replace a global.
    Linkage = LLVMLinkage {
        External = LLVMExternalLinkage, AvailableExternally = LLVMAvailableExternallyLinkage,
        LinkOnceAny = LLVMLinkOnceAnyLinkage, LinkOnceOdr = LLVMLinkOnceODRLinkage,
        LinkOnceOdrAutoHide = LLVMLinkOnceODRAutoHideLinkage, WeakAny = LLVMWeakAnyLinkage,
        WeakOdr = LLVMWeakODRLinkage, Appending = LLVMAppendingLinkage, Internal = LLVMInternalLinkage,
        Private = LLVMPrivateLinkage, DllImport = LLVMDLLImportLinkage, DllExport = LLVMDLLExportLinkage,
        ExternalWeak = LLVMExternalWeakLinkage, Ghost = LLVMGhostLinkage, Common = LLVMCommonLinkage,
        LinkerPrivate = LLVMLinkerPrivateLinkage, LinkerPrivateWeak = LLVMLinkerPrivateWeakLinkage,
    }
}

impl Opcode {
    /// Binary, on integers.
    pub fn is_int_binary(self) -> bool {
        use Opcode::*;
        matches!(self, Add | Sub | Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | And | Or | Xor)
    }

    /// Binary, on floating-point numbers.
    pub fn is_float_binary(self) -> bool {
        use Opcode::*;
        matches!(self, FAdd | FSub | FMul | FDiv | FRem)
    }

    /// Whether the instruction converts one value.
    pub fn is_cast(self) -> bool {
        use Opcode::*;
        matches!(
            self,
            Trunc
                | ZExt
                | SExt
                | FpToUi
                | FpToSi
                | UiToFp
                | SiToFp
                | FpTrunc
                | FpExt
                | PtrToInt
                | PtrToAddr
                | IntToPtr
                | BitCast
                | AddrSpaceCast
        )
    }

    /// The flags of this kind that an instruction may carry.
    pub fn poison_flags(self) -> PoisonFlags {
        use Opcode::*;
        match self {
            Add | Sub | Mul | Shl | Trunc => PoisonFlags::NSW | PoisonFlags::NUW,
            UDiv | SDiv | LShr | AShr => PoisonFlags::EXACT,
            Or => PoisonFlags::DISJOINT,
            ZExt | UiToFp => PoisonFlags::NNEG,
            ICmp => PoisonFlags::SAME_SIGN,
            _ => PoisonFlags::empty(),
        }
    }
}

impl IntPredicate {
    /// True exactly where `self` is false.
    pub fn inverse(self) -> IntPredicate {
        use IntPredicate::*;
        match self {
            Eq => Ne,
            Ne => Eq,
            Ugt => Ule,
            Uge => Ult,
            Ult => Uge,
            Ule => Ugt,
            Sgt => Sle,
            Sge => Slt,
            Slt => Sge,
            Sle => Sgt,
        }
    }

    /// The predicate of the operands in the other order.
    pub fn swapped(self) -> IntPredicate {
        use IntPredicate::*;
        match self {
            Eq => Eq,
            Ne => Ne,
            Ugt => Ult,
            Uge => Ule,
            Ult => Ugt,
            Ule => Uge,
            Sgt => Slt,
            Sge => Sle,
            Slt => Sgt,
            Sle => Sge,
        }
    }
}

bitflags! {
    /// Promises whose breach makes the result poison.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct PoisonFlags: u8 {
        /// No signed wrap.
        const NSW = 1;
        /// No unsigned wrap.
        const NUW = 2;
        /// No remainder, or no bits shifted out.
        const EXACT = 4;
        /// No common bits (of `or`).
        const DISJOINT = 8;
        /// The operand is not negative.
        const NNEG = 16;
        /// Both operands of `icmp` have the same sign.
        const SAME_SIGN = 32;
    }

    /// What an address computation promises.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct GepFlags: u32 {
        /// Stays inside of the object, or one past its end; implies `NUSW`.
        const INBOUNDS = 1;
        /// No wrap of an unsigned pointer and signed offsets.
        const NUSW = 2;
        /// No unsigned wrap.
        const NUW = 4;
    }

    /// What may be assumed of floating-point operations.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct FastMath: u32 {
        /// Reassociation.
        const REASSOC = 1;
        /// No NaNs.
        const NNAN = 2;
        /// No infinities.
        const NINF = 4;
        /// No signed zeros.
        const NSZ = 8;
        /// A reciprocal for a division.
        const ARCP = 16;
        /// Contraction to fused multiply-add.
        const CONTRACT = 32;
        /// Approximate functions.
        const AFN = 64;
    }

    /// What an instruction may do beside computing its value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Effects: u32 {
        /// May read memory.
        const READ = 1;
        /// May write memory.
        const WRITE = 2;
        /// May throw.
        const THROW = 4;
        /// Will return: neither loops for ever nor ends the program.
        const WILL_RETURN = 8;
        /// Writes, throws, or does not return.
        const SIDE_EFFECTS = 16;
        /// An atomic access or fence.
        const ATOMIC = 32;
        /// A volatile access.
        const VOLATILE = 64;
        /// A marker (debug, lifetime, assume), not a computation.
        const MARKER = 128;
        /// May be removed where its value is not used.
        const REMOVABLE = 256;
    }

    /// Reading or writing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct ModRef: u8 {
        /// May read.
        const REF = 1;
        /// May write.
        const MOD = 2;
    }
}

/// Which memory a call may read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEffects {
    /// What the pointer arguments reach.
    pub arguments: ModRef,
    /// What the program cannot see.
    pub inaccessible: ModRef,
    /// `errno`.
    pub errno: ModRef,
    /// Everything else.
    pub other: ModRef,
}

impl MemoryEffects {
    pub(crate) fn from_bits(bits: u32) -> MemoryEffects {
        let part = |shift: u32| ModRef::from_bits_truncate((bits >> shift) as u8 & 3);
        MemoryEffects { arguments: part(0), inaccessible: part(2), errno: part(4), other: part(6) }
    }

    /// Neither reads nor writes.
    pub fn is_none(self) -> bool {
        self.all().is_empty()
    }

    /// The union over all memory.
    pub fn all(self) -> ModRef {
        self.arguments | self.inaccessible | self.errno | self.other
    }
}

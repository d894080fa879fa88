//! Scalar types, operators and constants of statements. Semantics are those of LLVM IR.

/// An enumeration whose values have names in text.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$about])* $variant),* }
        impl $name {
            /// All values.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            /// The name in text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }
            /// The value of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.name() == name)
            }
        }
    };
}
pub(crate) use names;

names!(
    /// Type of a scalar value.
    ScalarType {
        /// Boolean.
        I1 = "i1",
        /// 8-bit integer.
        I8 = "i8",
        /// 16-bit integer.
        I16 = "i16",
        /// 32-bit integer.
        I32 = "i32",
        /// 64-bit integer.
        I64 = "i64",
        /// IEEE binary32.
        F32 = "f32",
        /// IEEE binary64.
        F64 = "f64",
    }
);

impl ScalarType {
    /// Bytes in memory.
    pub const fn size(self) -> u32 {
        match self {
            ScalarType::I1 | ScalarType::I8 => 1,
            ScalarType::I16 => 2,
            ScalarType::I32 | ScalarType::F32 => 4,
            ScalarType::I64 | ScalarType::F64 => 8,
        }
    }

    /// Bits of the value.
    pub const fn bits(self) -> u32 {
        match self {
            ScalarType::I1 => 1,
            other => other.size() * 8,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, ScalarType::F32 | ScalarType::F64)
    }
}

/// Bits of a value, zero-extended; the type says how to read them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constant {
    /// Type.
    pub ty: ScalarType,
    /// Bit pattern, zero above the width of the type.
    pub bits: u64,
}

impl Constant {
    /// An integer's value, with sign.
    pub fn signed(self) -> i64 {
        let unused = 64 - self.ty.bits();
        ((self.bits << unused) as i64) >> unused
    }
}

names!(
    /// Binary operators, as in LLVM IR. Division by zero, signed overflow of a division, and shifts by the width
    /// or more are undefined; the interpreter reports them.
    #[allow(missing_docs)]
    BinaryOp {
        Add = "add", Sub = "sub", Mul = "mul", SDiv = "sdiv", UDiv = "udiv", SRem = "srem", URem = "urem",
        Shl = "shl", LShr = "lshr", AShr = "ashr", And = "and", Or = "or", Xor = "xor",
        FAdd = "fadd", FSub = "fsub", FMul = "fmul", FDiv = "fdiv", FRem = "frem",
    }
);
names!(
    /// Conversions, as in LLVM IR; `.sat` is zero of what is no number, and the end of the range beyond it.
    #[allow(missing_docs)]
    CastOp {
        Trunc = "trunc", ZExt = "zext", SExt = "sext", FpTrunc = "fptrunc", FpExt = "fpext",
        FpToSi = "fptosi", FpToUi = "fptoui", SiToFp = "sitofp", UiToFp = "uitofp", Bitcast = "bitcast",
        FpToSiSat = "fptosi.sat", FpToUiSat = "fptoui.sat",
    }
);
names!(
    /// Integer and floating-point comparisons, as in LLVM IR (`f`-prefixed ones are on floats; `o` ordered,
    /// `u` unordered).
    #[allow(missing_docs)]
    ComparePredicate {
        Eq = "eq", Ne = "ne", Ugt = "ugt", Uge = "uge", Ult = "ult", Ule = "ule",
        Sgt = "sgt", Sge = "sge", Slt = "slt", Sle = "sle",
        FOeq = "foeq", FOgt = "fogt", FOge = "foge", FOlt = "folt", FOle = "fole", FOne = "fone", FOrd = "ford",
        FUno = "funo", FUeq = "fueq", FUgt = "fugt", FUge = "fuge", FUlt = "fult", FUle = "fule", FUne = "fune",
        FTrue = "ftrue", FFalse = "ffalse",
    }
);
names!(
    /// Pure functions: no memory access that matters, always return, do not trap. Named as LLVM's intrinsics
    /// (`llvm.sqrt` and so on). Of zero, `ctlz` and `cttz` count all bits.
    #[allow(missing_docs)]
    Intrinsic {
        Sqrt = "sqrt", Fabs = "fabs", Fma = "fma", FMulAdd = "fmuladd", FNeg = "fneg",
        Floor = "floor", Ceil = "ceil", Trunc = "trunc.fp", Rint = "rint", NearbyInt = "nearbyint", Round = "round",
        MinNum = "minnum", MaxNum = "maxnum", Minimum = "minimum", Maximum = "maximum", CopySign = "copysign",
        Exp = "exp", Exp2 = "exp2", Log = "log", Log2 = "log2", Log10 = "log10", Sin = "sin", Cos = "cos", Pow = "pow",
        SMin = "smin", SMax = "smax", UMin = "umin", UMax = "umax", Abs = "abs",
        CtPop = "ctpop", CtLz = "ctlz", CtTz = "cttz", BSwap = "bswap", FShl = "fshl", FShr = "fshr", UAddSat = "uadd.sat", USubSat = "usub.sat", SAddSat = "sadd.sat",
        SSubSat = "ssub.sat",
    }
);
impl Intrinsic {
    /// Number of operands; all have the type of the result.
    pub const fn arity(self) -> usize {
        match self {
            Intrinsic::Fma | Intrinsic::FMulAdd | Intrinsic::FShl | Intrinsic::FShr => 3,
            Intrinsic::MinNum
            | Intrinsic::MaxNum
            | Intrinsic::Minimum
            | Intrinsic::Maximum
            | Intrinsic::CopySign
            | Intrinsic::Pow
            | Intrinsic::SMin
            | Intrinsic::SMax
            | Intrinsic::UMin
            | Intrinsic::UMax
            | Intrinsic::UAddSat
            | Intrinsic::USubSat
            | Intrinsic::SAddSat
            | Intrinsic::SSubSat => 2,
            _ => 1,
        }
    }

    /// Whether it works on floating-point numbers; the others work on integers.
    pub const fn is_float(self) -> bool {
        !matches!(
            self,
            Intrinsic::SMin
                | Intrinsic::SMax
                | Intrinsic::UMin
                | Intrinsic::UMax
                | Intrinsic::Abs
                | Intrinsic::CtPop
                | Intrinsic::CtLz
                | Intrinsic::CtTz
                | Intrinsic::BSwap
                | Intrinsic::FShl
                | Intrinsic::FShr
                | Intrinsic::UAddSat
                | Intrinsic::USubSat
                | Intrinsic::SAddSat
                | Intrinsic::SSubSat
        )
    }
}

impl BinaryOp {
    /// Whether it works on floating-point numbers; the others work on integers.
    pub const fn is_float(self) -> bool {
        matches!(self, BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv | BinaryOp::FRem)
    }
}

impl ComparePredicate {
    /// Whether it compares floating-point numbers; the others compare integers.
    pub fn is_float(self) -> bool {
        self.name().starts_with('f')
    }
}

names!(
    /// Operators of reductions.
    #[allow(missing_docs)]
    ReductionOp {
        Add = "add", Mul = "mul", And = "and", Or = "or", Xor = "xor",
        SMin = "smin", SMax = "smax", UMin = "umin", UMax = "umax", FAdd = "fadd", FMul = "fmul",
    }
);

bitflags::bitflags! {
    /// Flags of an operation; poison-generating and fast-math flags as in LLVM IR.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct OpFlags: u16 {
        /// No unsigned wrap.
        const NUW = 1;
        /// No signed wrap.
        const NSW = 1 << 1;
        /// Exact division or shift.
        const EXACT = 1 << 2;
        /// Reassociation allowed.
        const REASSOC = 1 << 3;
        /// No NaNs.
        const NNAN = 1 << 4;
        /// No infinities.
        const NINF = 1 << 5;
        /// No signed zeros.
        const NSZ = 1 << 6;
        /// Reciprocal allowed.
        const ARCP = 1 << 7;
        /// Contraction to fma allowed.
        const CONTRACT = 1 << 8;
        /// Approximate functions.
        const AFN = 1 << 9;
        /// Operand of `zext`, `uitofp` is not negative.
        const NNEG = 1 << 10;
        /// Operands of `or` share no bits.
        const DISJOINT = 1 << 11;
        /// `abs` of the minimum is poison, or `ctlz` and `cttz` of zero.
        const INT_MIN_POISON = 1 << 12;
        /// A load that the program executes under a condition of data only. It cannot fail elsewhere; no compiler may know that.
        const GUARDED = 1 << 13;
    }
}

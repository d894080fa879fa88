//! Operations as C expressions, exact to the bit.

use crate::arith::Use;
use crate::code::{Code, Level};
use crate::emitter::Emitter;
use crate::error::CgenError;
use crate::helpers::Helper;
use crate::types::{c_type, float, integer, unsigned, wrapping};
use loop_tree::{BinaryOp, CastOp, ComparePredicate, Constant, Intrinsic, OpFlags, ScalarType};

/// A value of an operation.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) code: Code,
    pub(crate) ty: ScalarType,
    /// Of an integer of 64 bits: whether C's type has as many. Small literals have not.
    pub(crate) wide: bool,
    /// Where it is `a op b` and nothing else: both, and the operator.
    pub(crate) parts: Option<(String, &'static str, String)>,
    /// Whether it loads.
    pub(crate) loads: bool,
    /// The same for all lanes of a vector loop at once, and its parts: the code itself is what one lane computes.
    pub(crate) native: Option<Code>,
    pub(crate) native_parts: Option<(String, &'static str, String)>,
}

impl Value {
    pub(crate) fn new(code: Code, ty: ScalarType) -> Value {
        Value { code, ty, wide: true, parts: None, loads: false, native: None, native_parts: None }
    }
}

/// What may be taken for granted of an operation.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) flags: OpFlags,
    /// Whether the kernel would be undefined if the result were poison.
    pub(crate) observed: bool,
}

impl Emitter<'_> {
    pub(crate) fn constant(&self, c: Constant) -> Value {
        if c.ty.is_float() {
            let code = float(c).unwrap_or_else(|| {
                let text = match c.ty {
                    ScalarType::F32 => format!("(int32_t)UINT32_C(0x{:x})", c.bits),
                    _ => format!("(int64_t)UINT64_C(0x{:x})", c.bits),
                };
                Code::call(&self.helper(Helper::FromBits(c.ty)), &[&Code::new(text, Level::Unary)])
            });
            return Value::new(code, c.ty);
        }
        if c.ty == ScalarType::I1 {
            return Value::new(Code::primary(if c.bits == 1 { "true" } else { "false" }), c.ty);
        }
        let (code, wide) = integer(c.signed());
        Value { wide, ..Value::new(code, c.ty) }
    }

    /// An affine expression, reduced to the width of the type.
    pub(crate) fn affine_value(&self, e: &loop_tree::Affine, ty: ScalarType) -> Result<Value, CgenError> {
        let int = self.int(e, Use::Value)?;
        let code = match ty {
            ScalarType::I64 => int.widened().code,
            ScalarType::I32 if !int.wide => int.code,
            ScalarType::I1 => low_bit(&int.code),
            _ => Code::cast(c_type(ty), &int.code),
        };
        Ok(Value::new(code, ty))
    }

    pub(crate) fn binary(
        &self,
        op: BinaryOp,
        facts: Facts,
        a: &Value,
        b: &Value,
    ) -> Result<Value, CgenError> {
        let ty = a.ty;
        let done = |code| Ok(Value::new(code, ty));
        if op.is_float() {
            let (sign, level) = match op {
                BinaryOp::FAdd => ("+", Level::Sum),
                BinaryOp::FSub => ("-", Level::Sum),
                BinaryOp::FMul => ("*", Level::Product),
                BinaryOp::FDiv => ("/", Level::Product),
                _ => return done(Code::call(&library("fmod", ty), &[&a.code, &b.code])),
            };
            let value = with_parts(a, sign, b, level);
            return Ok(self.with_native(value, a, sign, b, level));
        }
        if ty == ScalarType::I1 {
            return bit_operation(op, a, b)
                .map(|code| Value::new(code, ty))
                .ok_or_else(|| self.unsupported(format!("`{}` of single bits", op.name())));
        }
        let signed_is_exact = facts.flags.contains(OpFlags::NSW) && facts.observed;
        // Products and sums of narrower integers fit into `int`, but for those of 32 bits.
        let exact = signed_is_exact || matches!(ty, ScalarType::I8) && op != BinaryOp::Shl;
        let plain = |sign, level| {
            // Of small literals C would make an `int`, and of a power of one it warns.
            if !a.wide && !b.wide {
                let left = Value::new(Code::cast(c_type(ty), &a.code), ty);
                return Value::new(
                    Code::cast(c_type(ty), &Code::binary(&left.code, sign, &b.code, level)),
                    ty,
                );
            }
            match ty {
                ScalarType::I8 | ScalarType::I16 => {
                    Value::new(Code::cast(c_type(ty), &Code::binary(&a.code, sign, &b.code, level)), ty)
                }
                _ => with_parts(a, sign, b, level),
            }
        };
        let wraps = |sign, level, as_type: &str| {
            let of = |v: &Value| Code::cast(as_type, &v.code);
            Value::new(Code::cast(c_type(ty), &Code::binary(&of(a), sign, &of(b), level)), ty)
        };
        Ok(match op {
            BinaryOp::Add if exact => plain("+", Level::Sum),
            BinaryOp::Sub if exact => plain("-", Level::Sum),
            BinaryOp::Mul if exact => plain("*", Level::Product),
            BinaryOp::Add => wraps("+", Level::Sum, wrapping(ty)),
            BinaryOp::Sub => wraps("-", Level::Sum, wrapping(ty)),
            BinaryOp::Mul => wraps("*", Level::Product, wrapping(ty)),
            BinaryOp::SDiv => plain("/", Level::Product),
            BinaryOp::SRem => plain("%", Level::Product),
            BinaryOp::UDiv => wraps("/", Level::Product, unsigned(ty)),
            BinaryOp::URem => wraps("%", Level::Product, unsigned(ty)),
            BinaryOp::And => plain("&", Level::Bits),
            BinaryOp::Or => plain("|", Level::Bits),
            BinaryOp::Xor => plain("^", Level::Bits),
            BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => {
                let amount = shift_amount(ty, facts, b);
                let (sign, as_type) = match op {
                    BinaryOp::Shl => ("<<", wrapping(ty)),
                    BinaryOp::LShr => (">>", unsigned(ty)),
                    _ => (">>", c_type(ty)),
                };
                let shifted = Code::binary(&Code::cast(as_type, &a.code), sign, &amount, Level::Shift);
                Value::new(Code::cast(c_type(ty), &shifted), ty)
            }
            _ => return Err(self.unsupported(format!("`{}`", op.name()))),
        })
    }

    /// The value with what it is for all lanes at once, where some operand is a vector.
    fn with_native(&self, value: Value, a: &Value, sign: &'static str, b: &Value, level: Level) -> Value {
        let (Some(x), Some(y)) = (self.native(a), self.native(b)) else { return value };
        if a.native.is_none() && b.native.is_none() {
            return value;
        }
        let native_parts = a.native.is_some().then(|| (x.text.clone(), sign, y.text.clone()));
        Value { native: Some(Code::binary(&x, sign, &y, level)), native_parts, ..value }
    }

    pub(crate) fn cast(
        &self,
        op: CastOp,
        facts: Facts,
        to: ScalarType,
        x: &Value,
    ) -> Result<Value, CgenError> {
        let from = x.ty;
        let number = || match from {
            // A bit that counts as minus one.
            ScalarType::I1 => Code::prefix("-", &Code::cast("int", &x.code)),
            _ => x.code.clone(),
        };
        let as_unsigned = || match from {
            ScalarType::I1 => x.code.clone(),
            _ => Code::cast(unsigned(from), &x.code),
        };
        let to_type = |code: &Code| Code::cast(c_type(to), code);
        let code = match op {
            CastOp::Trunc if to == ScalarType::I1 => low_bit(&x.code),
            CastOp::Trunc | CastOp::FpTrunc | CastOp::FpExt => to_type(&x.code),
            CastOp::ZExt => to_type(&as_unsigned()),
            CastOp::SExt => to_type(&number()),
            CastOp::SiToFp => to_type(&number()),
            CastOp::UiToFp => to_type(&as_unsigned()),
            CastOp::FpToSi | CastOp::FpToUi if to == ScalarType::I1 => {
                if !facts.observed {
                    return Err(self.unsupported(format!("`{}` to a bit", op.name())));
                }
                Code::binary(&Code::cast("int", &x.code), "!=", &Code::primary("0"), Level::Equality)
            }
            CastOp::FpToSi | CastOp::FpToUi if !facts.observed => {
                let helper = Helper::ToInteger(from, to, op == CastOp::FpToSi);
                Code::call(&self.helper(helper), &[&x.code])
            }
            CastOp::FpToSiSat | CastOp::FpToUiSat if to == ScalarType::I1 => {
                return Err(self.unsupported(format!("`{}` to a bit", op.name())));
            }
            CastOp::FpToSiSat | CastOp::FpToUiSat => {
                let helper = Helper::Saturated(from, to, op == CastOp::FpToSiSat);
                Code::call(&self.helper(helper), &[&x.code])
            }
            CastOp::FpToSi => to_type(&x.code),
            CastOp::FpToUi => to_type(&Code::cast(unsigned(to), &x.code)),
            CastOp::Bitcast if from == to => x.code.clone(),
            CastOp::Bitcast if from.is_float() => Code::call(&self.helper(Helper::Bits(from)), &[&x.code]),
            CastOp::Bitcast => Code::call(&self.helper(Helper::FromBits(to)), &[&x.code]),
        };
        Ok(Value::new(code, to))
    }

    pub(crate) fn compare(&self, p: ComparePredicate, a: &Value, b: &Value) -> Value {
        use ComparePredicate as P;
        let order = |sign, x: &Code, y: &Code| Code::binary(x, sign, y, Level::Order);
        let plain = |sign| order(sign, &a.code, &b.code);
        let bits = a.ty == ScalarType::I1;
        let as_signed = |sign| {
            let of = |v: &Value| match bits {
                true => Code::prefix("-", &Code::cast("int", &v.code)),
                false => v.code.clone(),
            };
            order(sign, &of(a), &of(b))
        };
        let is_zero = |v: &Value| v.code.text == "0";
        let as_unsigned = |sign| {
            // Compilers warn where the answer is known.
            match sign {
                "<" if is_zero(b) => return Code::primary("false"),
                ">=" if is_zero(b) => return Code::primary("true"),
                ">" if is_zero(a) => return Code::primary("false"),
                "<=" if is_zero(a) => return Code::primary("true"),
                _ => {}
            }
            let ty = if bits { "int" } else { unsigned(a.ty) };
            order(sign, &Code::cast(ty, &a.code), &Code::cast(ty, &b.code))
        };
        let equal = |sign| Code::binary(&a.code, sign, &b.code, Level::Equality);
        let call = |name| Code::call(name, &[&a.code, &b.code]);
        let not = |code: Code| Code::prefix("!", &code);
        let code = match p {
            P::Eq | P::FOeq => equal("=="),
            P::Ne | P::FUne => equal("!="),
            P::Ugt => as_unsigned(">"),
            P::Uge => as_unsigned(">="),
            P::Ult => as_unsigned("<"),
            P::Ule => as_unsigned("<="),
            P::Sgt => as_signed(">"),
            P::Sge => as_signed(">="),
            P::Slt => as_signed("<"),
            P::Sle => as_signed("<="),
            P::FOgt => plain(">"),
            P::FOge => plain(">="),
            P::FOlt => plain("<"),
            P::FOle => plain("<="),
            P::FUgt => not(plain("<=")),
            P::FUge => not(plain("<")),
            P::FUlt => not(plain(">=")),
            P::FUle => not(plain(">")),
            P::FOne => call("islessgreater"),
            P::FUeq => not(call("islessgreater")),
            P::FOrd => not(call("isunordered")),
            P::FUno => call("isunordered"),
            P::FTrue => Code::primary("true"),
            P::FFalse => Code::primary("false"),
        };
        Value::new(code, ScalarType::I1)
    }

    pub(crate) fn intrinsic(&self, f: Intrinsic, ty: ScalarType, args: &[Value]) -> Result<Value, CgenError> {
        let unknown = || self.unsupported(format!("`{}` of {}", f.name(), ty.name()));
        let list: Vec<&Code> = args.iter().map(|a| &a.code).collect();
        let call = |name: &str| Code::call(name, &list);
        let helper = |h: Helper| Code::call(&self.helper(h), &list);
        if !ty.is_float() && ty == ScalarType::I1 {
            return Err(unknown());
        }
        let code = match f {
            Intrinsic::FNeg => {
                let [a] = args else { return Err(unknown()) };
                let native = a.native.as_ref().filter(|_| !self.is_masked()).map(|n| Code::prefix("-", n));
                return Ok(Value { native, ..Value::new(Code::prefix("-", &a.code), ty) });
            }
            // Never contracted here.
            Intrinsic::FMulAdd => {
                let [a, b, c] = args else { return Err(unknown()) };
                let product = with_parts(a, "*", b, Level::Product);
                let product = self.with_native(product, a, "*", b, Level::Product);
                let sum = with_parts(&product, "+", c, Level::Sum);
                return Ok(self.with_native(sum, &product, "+", c, Level::Sum));
            }
            Intrinsic::MinNum => call(&library("fmin", ty)),
            Intrinsic::MaxNum => call(&library("fmax", ty)),
            Intrinsic::Minimum => helper(Helper::Minimum(ty)),
            Intrinsic::Maximum => helper(Helper::Maximum(ty)),
            Intrinsic::Trunc => call(&library("trunc", ty)),
            Intrinsic::CopySign | Intrinsic::Sqrt | Intrinsic::Fabs | Intrinsic::Fma => {
                call(&library(f.name(), ty))
            }
            _ if f.is_float() => call(&library(f.name(), ty)),
            Intrinsic::SMin => helper(Helper::Min(ty)),
            Intrinsic::SMax => helper(Helper::Max(ty)),
            Intrinsic::UMin => helper(Helper::UMin(ty)),
            Intrinsic::UMax => helper(Helper::UMax(ty)),
            Intrinsic::Abs => helper(Helper::Abs(ty)),
            Intrinsic::UAddSat => helper(Helper::AddSat(ty, false)),
            Intrinsic::SAddSat => helper(Helper::AddSat(ty, true)),
            Intrinsic::USubSat => helper(Helper::SubSat(ty, false)),
            Intrinsic::SSubSat => helper(Helper::SubSat(ty, true)),
            Intrinsic::CtPop => {
                let of = list.first().ok_or_else(unknown)?;
                let name = if ty == ScalarType::I64 { "__builtin_popcountll" } else { "__builtin_popcount" };
                Code::cast(c_type(ty), &Code::call(name, &[&Code::cast(unsigned(ty), of)]))
            }
            Intrinsic::CtLz => helper(Helper::Zeros(ty, true)),
            Intrinsic::CtTz => helper(Helper::Zeros(ty, false)),
            Intrinsic::FShl => helper(Helper::Funnel(ty, true)),
            Intrinsic::FShr => helper(Helper::Funnel(ty, false)),
            Intrinsic::BSwap if ty != ScalarType::I8 => {
                let of = list.first().ok_or_else(unknown)?;
                Code::cast(c_type(ty), &Code::call(&format!("__builtin_bswap{}", ty.bits()), &[of]))
            }
            _ => return Err(unknown()),
        };
        Ok(Value::new(code, ty))
    }
}

/// A function of the mathematical library for a type.
fn library(name: &str, ty: ScalarType) -> String {
    if ty == ScalarType::F32 { format!("{name}f") } else { name.to_string() }
}

fn low_bit(code: &Code) -> Code {
    Code::cast("bool", &Code::binary(code, "&", &Code::primary("1"), Level::Bits))
}

/// `None`: what would need a sign, or divides.
fn bit_operation(op: BinaryOp, a: &Value, b: &Value) -> Option<Code> {
    let joined = |sign, level| Some(Code::binary(&a.code, sign, &b.code, level));
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Xor => joined("^", Level::Bits),
        // Of two tests that call functions, `&` and `|` are taken for mistakes.
        BinaryOp::Mul | BinaryOp::And => joined("&&", Level::Both),
        BinaryOp::Or => joined("||", Level::Either),
        // By zero, or the result is poison.
        BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr => Some(a.code.clone()),
        _ => None,
    }
}

/// The amount of a shift: less than the width for certain, or made so.
fn shift_amount(ty: ScalarType, facts: Facts, b: &Value) -> Code {
    let small = b.code.text.parse::<u32>().is_ok_and(|n| n < ty.bits());
    if facts.observed || small {
        return b.code.clone();
    }
    Code::binary(&b.code, "&", &Code::primary((ty.bits() - 1).to_string()), Level::Bits)
}

fn with_parts(a: &Value, sign: &'static str, b: &Value, level: Level) -> Value {
    let code = Code::binary(&a.code, sign, &b.code, level);
    let wide = a.wide || b.wide;
    let parts = Some((a.code.text.clone(), sign, b.code.text.clone()));
    Value { wide, parts, ..Value::new(code, a.ty) }
}

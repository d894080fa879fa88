//! Types and literals.

use crate::code::{Code, Level};
use loop_tree::{Constant, ScalarType};

/// The C type of values.
pub(crate) fn c_type(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::I1 => "bool",
        ScalarType::I8 => "int8_t",
        ScalarType::I16 => "int16_t",
        ScalarType::I32 => "int32_t",
        ScalarType::I64 => "int64_t",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
    }
}

/// The type of elements that are accessed as others, too.
pub(crate) fn aliased(ty: ScalarType) -> String {
    format!("{}_aliased", ty.name())
}

/// The unsigned type of that width; of a bit and of floats, their own.
pub(crate) fn unsigned(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::I8 => "uint8_t",
        ScalarType::I16 => "uint16_t",
        ScalarType::I32 => "uint32_t",
        ScalarType::I64 => "uint64_t",
        other => c_type(other),
    }
}

/// The unsigned type in which arithmetic wraps at that width or beyond: narrower ones are promoted to `int`, which does not wrap.
pub(crate) fn wrapping(ty: ScalarType) -> &'static str {
    if ty == ScalarType::I64 { "uint64_t" } else { "uint32_t" }
}

/// A literal, and whether C takes it for one of 64 bits.
pub(crate) fn integer(value: i64) -> (Code, bool) {
    let level = if value < 0 { Level::Unary } else { Level::Primary };
    match i32::try_from(value) {
        // The least number is no literal.
        Ok(v) if v > i32::MIN => (Code::new(v.to_string(), level), false),
        _ if value == i64::MIN => (Code::primary("INT64_MIN"), true),
        _ => (Code::primary(format!("INT64_C({value})")), true),
    }
}

/// A floating-point literal; `None` for a NaN, of which only the bits say which one it is.
pub(crate) fn float(c: Constant) -> Option<Code> {
    let (value, text, suffix) = match c.ty {
        ScalarType::F32 => {
            let value = f32::from_bits(c.bits as u32);
            (f64::from(value), format!("{value:?}"), "f")
        }
        _ => {
            let value = f64::from_bits(c.bits);
            (value, format!("{value:?}"), "")
        }
    };
    let level = if value.is_sign_negative() { Level::Unary } else { Level::Primary };
    if value.is_nan() {
        return None;
    }
    if value.is_infinite() {
        let text = if value > 0.0 { "INFINITY" } else { "-INFINITY" };
        let code = Code::new(text, level);
        return Some(if suffix.is_empty() { Code::cast("double", &code) } else { code });
    }
    Some(Code::new(format!("{text}{suffix}"), level))
}

//! Calling functions of any signature in one way.

use super::EmitError;
use crate::llvm::{Builder, GepFlags, Module, TypeKind};

/// Attributes by which an argument is not what its type says.
const PASSED_OTHERWISE: [&str; 6] = ["byval", "sret", "inalloca", "preallocated", "swifterror", "nest"];

/// Adds `void NAME(ptr slots)`, which loads the arguments of `function` from `slots`, one of 8 bytes each, calls it, and
/// stores what it returns into the slot behind them. The name is the result.
///
/// # Errors
/// Where there is no such function, or it takes or returns anything but integers up to 64 bits, `float`, `double` and
/// pointers.
pub fn add_trampoline(module: &Module<'_>, function: &str) -> Result<String, EmitError> {
    let unsupported = |what| EmitError::Unsupported { what };
    let callee = module.function(function).ok_or(unsupported("a call of a function that is not there"))?;
    let ty = callee.function_type();
    let (returned, arguments) = ty.signature().ok_or(unsupported("a call of something else"))?;
    let plain = |t: crate::llvm::Type<'_>| {
        matches!(
            t.kind(),
            TypeKind::Integer(1..=64) | TypeKind::Pointer(0) | TypeKind::Float | TypeKind::Double
        )
    };
    if ty.is_variadic() || !arguments.iter().all(|t| plain(*t)) {
        return Err(unsupported("a call with such arguments"));
    }
    if returned.kind() != TypeKind::Void && !plain(returned) {
        return Err(unsupported("a call with such a result"));
    }
    if callee.params().iter().any(|p| PASSED_OTHERWISE.iter().any(|a| p.has_attribute(a))) {
        return Err(unsupported("a call with arguments in memory"));
    }
    let context = module.context();
    let name = format!("lt.call.{function}");
    let trampoline = module.add_function(&name, context.void().function(&[context.ptr()])?)?;
    let mut builder = Builder::new(module);
    builder.position_at_end(trampoline.append_block("entry"))?;
    let slots = trampoline.params()[0].value();
    let slot = |index: usize| {
        let index = context.i64().const_int(index as i128)?;
        builder.gep(context.i64(), slots, &[index], GepFlags::INBOUNDS, "")
    };
    let mut values = Vec::with_capacity(arguments.len());
    for (index, ty) in arguments.iter().enumerate() {
        values.push(builder.load(*ty, slot(index)?, 1, "")?.value());
    }
    let call = builder.call(callee, &values, "")?;
    if returned.kind() != TypeKind::Void {
        builder.store(call.value(), slot(arguments.len())?, 1)?;
    }
    builder.ret(None)?;
    Ok(trampoline.name())
}

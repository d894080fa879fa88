//! Arguments that every call passes as the same constant.

use super::call_sites::FUEL;
use crate::llvm::{Function, Linkage, Module, Opcode, Result, TypeKind, Value};
use crate::mutation::{self, Rule};

/// Puts constants in the place of integer arguments of these functions, where all calls in the module pass the same one and nobody else
/// can call: compilers do so before they look at loops (LLVM's IPSCCP), but after loops are described here.
pub(super) fn settle(module: &Module<'_>, names: &[String]) -> Result<()> {
    let functions = names.iter().filter_map(|name| module.function(name));
    let arguments = functions.flat_map(Function::params).map(|argument| argument.value());
    let known = |value| constant(value, &mut FUEL.clone()).map(|constant| (value, constant));
    // All are read before any is changed.
    let settled: Vec<(Value<'_>, Value<'_>)> = arguments.filter_map(known).collect();
    settled.into_iter().try_for_each(|(argument, constant)| argument.replace_all_uses(constant))
}

/// What all calls pass, by argument, where that is one constant: with other arguments a function is not what was described.
pub fn passed_constants(function: Function<'_>) -> Vec<Option<i64>> {
    let known = |index| passed(function, index, &mut FUEL.clone())?.const_int()?.try_into().ok();
    (0..function.params().len()).map(known).collect()
}

/// The integer that a value always is: of what a front end writes, too, which keeps variables in memory.
fn constant<'m>(value: Value<'m>, fuel: &mut u32) -> Option<Value<'m>> {
    *fuel = fuel.checked_sub(1)?;
    if !matches!(value.ty().kind(), TypeKind::Integer(_)) {
        return None;
    }
    if value.const_int().is_some() {
        return Some(value);
    }
    if let Some(argument) = value.as_argument() {
        return passed(argument.function(), argument.index() as usize, fuel);
    }
    let load = value.as_inst().filter(|inst| inst.opcode() == Opcode::Load && !inst.is_volatile())?;
    let variable = load.operand(0)?.as_inst().filter(|inst| inst.opcode() == Opcode::Alloca)?;
    let mut stored = None;
    for user in variable.value().users() {
        let user = user.as_inst()?;
        match user.opcode() {
            Opcode::Load => {}
            Opcode::Store if stored.is_none() && user.operand(1) == Some(variable.value()) => {
                stored = user.operand(0);
            }
            _ if user
                .as_call()
                .and_then(|c| c.intrinsic_name())
                .is_some_and(|n| n.starts_with("llvm.lifetime.")) => {}
            _ => return None,
        }
    }
    // Nothing was there before it.
    constant(stored.filter(|s| s.ty() == value.ty())?, fuel)
}

/// What all calls of a function that only its module sees pass.
fn passed<'m>(function: Function<'m>, index: usize, fuel: &mut u32) -> Option<Value<'m>> {
    let hidden = matches!(function.linkage(), Linkage::Internal | Linkage::Private);
    if !hidden || function.is_declaration() || function.has_attribute("optnone") {
        return None;
    }
    let mut same = None;
    for user in function.value().users() {
        let call = user.as_inst()?.as_call()?;
        let args = call.args();
        let calls =
            call.called_value() == function.value() && call.function_type() == function.function_type();
        if !calls || args.contains(&function.value()) {
            return None;
        }
        let value = constant(*args.get(index)?, fuel)?;
        match same {
            Some(same) if same != value && !mutation::off(Rule::EveryCall) => return None,
            _ => same = Some(value),
        }
    }
    same
}

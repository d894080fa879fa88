//! What the source could say more, said for it: what comes of that is explored like any module.

use super::lifted::likely_values;
use super::{DriverError, Session};
use crate::measure::argument_of;
use irgen::lift;
use irgen::llvm::{Function, Inst, Opcode, PoisonFlags, TypeKind, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// Sizes of a region that its function is given as arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The function.
    pub function: Arc<str>,
    /// Number of the region in it.
    pub number: usize,
    /// The parameters of the region, with the values that it is ranked for.
    pub named: Vec<(Arc<str>, i64)>,
    /// The arguments that have to have these values.
    arguments: Vec<(usize, i64)>,
}

impl Session<'_> {
    /// The sizes that constants could be: of each region those that arguments are.
    pub fn sizes(&self) -> Result<Vec<Sizes>, DriverError> {
        self.in_copy(|module| {
            let options = self.lifting(module);
            let only = self.function_asked(module)?;
            lift::canonicalise(module)?;
            let settings = &self.optimizer.settings;
            let mut found = Vec::new();
            let is_wanted =
                |f: &Function<'_>| !f.is_declaration() && only.as_ref().is_none_or(|o| *o == f.name());
            for function in module.functions().into_iter().filter(is_wanted) {
                let lifted = lift::lift_function_with(module, function, &options);
                for (number, region) in lifted.regions.iter().enumerate() {
                    // How often its loops run follows from arguments that it does not speak of.
                    let factors = region.params.iter().flat_map(|p| &p.factors);
                    if factors.copied().any(lift::is_iteration_count) {
                        continue;
                    }
                    let likely = likely_values(module, region, settings.default_param);
                    let values = settings.parameter_values(&region.kernel, &likely);
                    let mut sizes = Sizes {
                        function: lifted.name.clone(),
                        number,
                        named: Vec::new(),
                        arguments: Vec::new(),
                    };
                    // Where loops begin is no extent.
                    let params = region.params.iter().zip(&region.kernel.params).zip(values);
                    for ((binding, param), value) in params.filter(|(_, value)| *value > 0) {
                        let [factor] = binding.factors[..] else { continue };
                        if let Some(argument) = argument_of(factor, value) {
                            sizes.named.push((param.name.clone(), value));
                            sizes.arguments.push(argument);
                        }
                    }
                    if !sizes.named.is_empty() {
                        found.push(sizes);
                    }
                }
            }
            Ok(found)
        })
    }

    /// The input with constants in the place of these sizes.
    pub fn with_constants(&self, sizes: &[Sizes]) -> Result<Vec<u8>, DriverError> {
        self.in_copy(|module| {
            for Sizes { function, arguments, .. } in sizes {
                let Some(function) = module.function(function) else { continue };
                for (argument, value) in function.params().into_iter().enumerate() {
                    let wanted = arguments.iter().find(|(number, _)| *number == argument);
                    // Of regions that disagree the first counts: after it nothing uses the argument.
                    if let Some((_, wanted)) = wanted
                        && value.value().is_used()
                    {
                        let constant = value.value().ty().const_int(i128::from(*wanted))?;
                        value.value().replace_all_uses(constant)?;
                    }
                }
            }
            Ok(module.to_bitcode())
        })
    }

    /// The input as if indices had the width of pointers: what is computed of narrower ones does not wrap. `None`: that says nothing
    /// that is not known.
    pub fn with_wide_indices(&self) -> Result<Option<Vec<u8>>, DriverError> {
        self.in_copy(|module| {
            let mut said = false;
            for function in module.functions() {
                for inst in indices(function) {
                    said |= does_not_wrap(inst)?;
                }
            }
            Ok(said.then(|| module.to_bitcode()))
        })
    }
}

/// What subscripts are computed by, through variables that are still in memory.
fn indices(function: Function<'_>) -> HashSet<Inst<'_>> {
    let insts: Vec<Inst<'_>> = function.blocks().into_iter().flat_map(|b| b.insts()).collect();
    let subscripts = insts.iter().filter(|i| i.opcode() == Opcode::Gep);
    let mut open: Vec<Value<'_>> = subscripts.flat_map(|i| i.operands().into_iter().skip(1)).collect();
    let mut seen = HashSet::new();
    while let Some(value) = open.pop() {
        let Some(inst) = value.as_inst().filter(|i| !seen.contains(i)) else { continue };
        match inst.opcode() {
            Opcode::Load => {
                let variable = inst.pointer().and_then(Value::as_inst);
                let Some(variable) = variable.filter(|v| v.opcode() == Opcode::Alloca) else { continue };
                let users = variable.value().users().into_iter().filter_map(Value::as_inst);
                open.extend(users.filter(|u| u.opcode() == Opcode::Store).filter_map(|u| u.operand(0)));
            }
            Opcode::Call => continue,
            _ => open.extend(inst.operands()),
        }
        seen.insert(inst);
    }
    seen
}

/// Says so of one instruction, where it is not said already.
fn does_not_wrap(inst: Inst<'_>) -> Result<bool, DriverError> {
    let narrow = |v: Value<'_>| matches!(v.ty().kind(), TypeKind::Integer(8..64));
    if !inst.opcode().poison_flags().contains(PoisonFlags::NUW) || !narrow(inst.value()) {
        return Ok(false);
    }
    let known = inst.poison_flags();
    // Counting down is the sum with a number that is all but zero.
    let down = inst.opcode() == Opcode::Add
        && inst.operand(1).and_then(Value::const_int).is_some_and(|constant| constant < 0);
    let all = if down { PoisonFlags::NSW } else { PoisonFlags::NSW | PoisonFlags::NUW };
    // `int` says as much as is needed.
    if known.intersects(PoisonFlags::NSW | PoisonFlags::NUW) {
        return Ok(false);
    }
    inst.set_poison_flags(known | all)?;
    Ok(true)
}

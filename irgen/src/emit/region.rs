//! A variant in place of a region.

use super::scopes::Scopes;
use super::{EmitError, Emitter, Place, check};
use crate::lift::{ArrayBinding, Region};
use crate::llvm::{Builder, GepFlags, Inst, Module, Opcode, PoisonFlags};
use loop_tree::{ArrayId, Green, Path, RuntimeCondition};
use std::collections::BTreeSet;

/// What was emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The conditions under which the new code runs; the original code runs otherwise.
    pub conditions: Vec<RuntimeCondition>,
}

/// Emits `root`, a variant of the region's kernel that is valid under `conditions`, beside the original code.
///
/// `parallel` names the loops of `root` that carry no dependence under these conditions. The region's IR must be as
/// lifting left it; regions of one function may be emitted one after the other.
///
/// # Errors
/// Where the tree cannot be emitted. The function is then unusable: emit into a copy of the module.
pub fn emit_region<'m>(
    module: &'m Module<'m>,
    region: &Region<'m>,
    root: &Green,
    conditions: &[RuntimeCondition],
    parallel: &BTreeSet<Path>,
) -> Result<Emitted, EmitError> {
    let kernel = &*region.kernel;
    let conditions = check::conditions(kernel, conditions);
    let location = region.origins.iter().find_map(|o| o.metadata("dbg"));
    let mut builder = Builder::new(module);
    builder.set_location(location)?;
    let function = region.function;
    let entry = function.entry().ok_or(EmitError::Unsupported { what: "a function without a body" })?;

    // Slots of scalars: in the entry block, where LLVM promotes them to registers.
    let first = entry.insts().into_iter().find(|i| !i.is_phi());
    let first = first.ok_or(EmitError::Unsupported { what: "an empty entry block" })?;
    builder.position_before(first)?;
    let mut emitter = Emitter {
        module,
        builder,
        kernel,
        params: Vec::new(),
        places: Vec::new(),
        origins: &region.origins,
        location,
        scopes: Scopes::new(module, kernel, &conditions),
        parallel,
        groups: Vec::new(),
        scope: Vec::new(),
        path: Path::root(),
    };
    let mut slots = Vec::new();
    for (index, binding) in region.arrays.iter().enumerate() {
        slots.push(match binding {
            ArrayBinding::Memory { .. } => None,
            ArrayBinding::Scalar { .. } => {
                let array = kernel.array(ArrayId::new(index));
                let ty = emitter.ty(array.element)?;
                Some(emitter.builder.alloca(ty, None, &array.name)?.value())
            }
        });
    }

    // before -> check -> (new code | entry) -> exit
    let check = function.append_block("looptree.check");
    let start = function.append_block("looptree.new");
    emitter.builder.position_at_end(check)?;
    for binding in &region.params {
        let frozen = emitter.builder.freeze(binding.value, "")?;
        emitter.params.push(emitter.builder.cast(
            Opcode::SExt,
            frozen,
            module.context().i64(),
            PoisonFlags::empty(),
            "",
        )?);
    }
    for (binding, slot) in region.arrays.iter().zip(&slots) {
        emitter.places.push(match (binding, slot) {
            (ArrayBinding::Memory { base, offset, .. }, _) => {
                let offset = emitter.int(*offset)?;
                let base =
                    emitter.builder.gep(module.context().i8(), *base, &[offset], GepFlags::empty(), "")?;
                Place::Memory { base }
            }
            (ArrayBinding::Scalar { .. }, Some(slot)) => Place::Scalar { slot: *slot },
            (ArrayBinding::Scalar { .. }, None) => {
                return Err(EmitError::Unsupported { what: "a scalar without a slot" });
            }
        });
    }
    let holds = emitter.check(&conditions)?;
    emitter.builder.cond_br(holds, start, region.entry)?;
    let terminator = region.before.terminator();
    let terminator = terminator.ok_or(EmitError::Unsupported { what: "a block without a terminator" })?;
    terminator.replace_successor(region.entry, check)?;
    region.entry.replace_phi_predecessor(region.before, check)?;

    emitter.builder.position_at_end(start)?;
    for (binding, slot) in region.arrays.iter().zip(&slots) {
        if let (ArrayBinding::Scalar { incoming: Some(value), .. }, Some(slot)) = (binding, slot) {
            emitter.builder.store(*value, *slot, natural_alignment(&emitter, *value)?)?;
        }
    }
    emitter.tree(root)?;
    let mut outgoing = Vec::new();
    for (index, (binding, slot)) in region.arrays.iter().zip(&slots).enumerate() {
        if let (ArrayBinding::Scalar { outgoing: values, .. }, Some(slot)) = (binding, slot)
            && !values.is_empty()
        {
            let element = kernel.array(ArrayId::new(index)).element;
            let last = emitter.builder.load(emitter.ty(element)?, *slot, element.size(), "")?;
            outgoing.push((values.clone(), last.value()));
        }
    }
    emitter.builder.set_location(location)?;
    let end = emitter.builder.br(region.exit)?.block();

    // One phi per value that is used behind the region.
    for (values, new) in outgoing {
        for value in values {
            let users = users_behind(region, value);
            let Some(head) = region.exit.first_inst() else {
                return Err(EmitError::Unsupported { what: "an empty exit block" });
            };
            emitter.builder.position_before(head)?;
            let phi = emitter.builder.phi(value.value().ty(), "")?;
            phi.add_incoming(value.value(), region.last)?;
            phi.add_incoming(new, end)?;
            for (user, operand) in users {
                user.set_operand(operand, phi.value())?;
            }
        }
    }
    Ok(Emitted { conditions })
}

fn natural_alignment<'m>(emitter: &Emitter<'m, '_>, value: crate::llvm::Value<'m>) -> Result<u32, EmitError> {
    let bytes = emitter.module.data_layout().store_size(value.ty());
    let bytes = bytes.and_then(|b| u32::try_from(b).ok()).filter(|b| b.is_power_of_two());
    bytes.ok_or(EmitError::Unsupported { what: "a scalar of this type" })
}

/// Uses outside of the region, as instruction and operand number.
fn users_behind<'m>(region: &Region<'m>, value: Inst<'m>) -> Vec<(Inst<'m>, u32)> {
    let mut result = Vec::new();
    for user in value.value().users() {
        let Some(user) = user.as_inst() else { continue };
        if region.blocks.contains(&user.block()) {
            continue;
        }
        for (number, operand) in user.value().operands().into_iter().enumerate() {
            if operand == value.value() && !result.contains(&(user, number as u32)) {
                result.push((user, number as u32));
            }
        }
    }
    result
}

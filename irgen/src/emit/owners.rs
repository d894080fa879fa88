//! What only one variable of the module leads to, said of every access that goes through it.
//!
//! LLVM finds that out for itself (`GlobalsAA`), but of a variable in the whole module or not at all: where new code has read it in
//! front of loops, passes merge that value with a later load, and the phi of the two is a use that may hand the pointer on. So
//! loops lose by it that nobody changed.

use crate::lift::OwnedGlobals;
use crate::llvm::{Inst, LlvmError, Metadata, Module, Opcode, Value};
use crate::mutation::{self, Rule};
use std::collections::BTreeMap;

/// Variables of one function beyond which nothing is said: each access names all others.
const MOST: usize = 64;

/// Says of the accesses of all functions of a changed module which ones lead to different objects, because different variables own
/// these. `owned`: the facts from before anything changed; new code hands on no pointer.
///
/// # Errors
/// Where LLVM refuses the metadata.
pub fn tell_owners_apart(module: &Module<'_>, owned: &OwnedGlobals) -> Result<(), LlvmError> {
    if !owned.has_owners() {
        return Ok(());
    }
    let domain = module.alias_domain("looptree: owners");
    let mut scopes: BTreeMap<String, Metadata<'_>> = BTreeMap::new();
    for function in module.functions() {
        let mut accesses: Vec<(Inst<'_>, String)> = Vec::new();
        for block in function.blocks() {
            for inst in block.insts() {
                if let Some(owner) = owner(inst, owned) {
                    accesses.push((inst, owner));
                }
            }
        }
        let mut owners: Vec<&String> = accesses.iter().map(|(_, owner)| owner).collect();
        owners.sort_unstable();
        owners.dedup();
        let stores = accesses.iter().any(|(inst, _)| inst.opcode() == Opcode::Store);
        if !stores || owners.len() < 2 || owners.len() > MOST {
            continue;
        }
        for &owner in &owners {
            scopes.entry(owner.clone()).or_insert_with(|| module.alias_scope(domain, owner));
        }
        for (inst, own) in &accesses {
            let others: Vec<_> = owners.iter().filter(|o| **o != own).map(|o| scopes[*o]).collect();
            for (kind, list) in [("alias.scope", vec![scopes[own]]), ("noalias", others)] {
                let list = module.concat(inst.metadata(kind), Some(module.md_node(&list)))?;
                inst.set_metadata(kind, list)?;
            }
        }
    }
    Ok(())
}

/// The variable that alone leads to what a load or store accesses.
fn owner(inst: Inst<'_>, owned: &OwnedGlobals) -> Option<String> {
    let mut at = matches!(inst.opcode(), Opcode::Load | Opcode::Store).then(|| inst.pointer()).flatten()?;
    while let Some(gep) = at.as_inst().filter(|i| i.opcode() == Opcode::Gep) {
        at = gep.operand(0)?;
    }
    let any = || at.as_inst().filter(|i| i.opcode() == Opcode::Load).and_then(Inst::pointer);
    let owner = if mutation::off(Rule::OwnersOfAccesses) { any() } else { owned.owner(at) };
    owner.map(Value::name)
}

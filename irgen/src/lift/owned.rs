//! Global variables whose addresses nobody else has, and memory that only one of them leads to. Known, neither needs a check at
//! run time, which would itself hand on the address.

use rustc_hash::FxHashSet;

use crate::llvm::{Inst, Linkage, Module, Opcode, TypeKind, Value};
use crate::mutation::{self, Rule};

/// Facts about a module, to be found before any of its functions changes.
#[derive(Clone, Debug, Default)]
pub struct OwnedGlobals {
    /// Only loads and stores of the module use their addresses.
    hidden: FxHashSet<String>,
    /// Of these, pointers: all that is stored there are objects that nobody else has, and what is loaded is used for nothing
    /// but accesses.
    owners: FxHashSet<String>,
}

impl OwnedGlobals {
    /// The facts of a module.
    pub fn of(module: &Module<'_>) -> OwnedGlobals {
        let mut owned = OwnedGlobals::default();
        for global in module.globals() {
            let (value, name) = (global.value(), global.value().name());
            let local = matches!(global.linkage(), Linkage::Internal | Linkage::Private);
            if !local || global.is_thread_local() || name.is_empty() || !is_only_accessed(value, None) {
                continue;
            }
            let nothing = global.initializer().is_some_and(|v| v.is_null() || v.is_undef());
            let pointer = global.value_type().kind() == TypeKind::Pointer(0);
            if pointer && nothing && value.users().iter().all(|user| owns(value, *user)) {
                owned.owners.insert(name.clone());
            }
            owned.hidden.insert(name);
        }
        owned
    }

    /// Whether nobody but accesses of the variable itself has its address.
    pub(super) fn hides(&self, global: Value<'_>) -> bool {
        global.as_global().is_some() && self.hidden.contains(&global.name())
    }

    /// Whether any variable alone leads to an object.
    pub fn has_owners(&self) -> bool {
        !self.owners.is_empty() || mutation::off(Rule::OwnersOfAccesses)
    }

    /// Whether a pointer that is not loaded from an owner may lead to what one owns: where it was made, by the call's result, which may
    /// be one of several values by now.
    pub(super) fn may_be_owned(&self, pointer: Value<'_>) -> bool {
        let Some(inst) = pointer.as_inst().filter(|_| !self.owners.is_empty()) else { return false };
        if mutation::off(Rule::OwnersFromTheStart) {
            return false;
        }
        match (inst.opcode(), inst.as_call()) {
            (Opcode::Load | Opcode::Alloca, _) => false,
            (_, Some(call)) => (call.returns_fresh() || call.allocates()) && !is_only_accessed(pointer, None),
            _ => true,
        }
    }

    /// The variable that alone leads to what the pointer leads to, once it is stored there.
    pub(crate) fn owner<'m>(&self, pointer: Value<'m>) -> Option<Value<'m>> {
        let load = pointer.as_inst().filter(|i| i.opcode() == Opcode::Load)?;
        load.pointer().filter(|at| at.as_global().is_some() && self.owners.contains(&at.name()))
    }
}

/// Whether all that is done with a pointer is to read and write through it, or to end its object; it may be stored to `home`.
fn is_only_accessed(pointer: Value<'_>, home: Option<Value<'_>>) -> bool {
    let mut todo = vec![pointer];
    while let Some(at) = todo.pop() {
        for user in at.users() {
            let step = user.const_expr_opcode() == Some(Opcode::Gep)
                || user.as_inst().is_some_and(|i| i.opcode() == Opcode::Gep);
            if step {
                todo.push(user);
                continue;
            }
            let Some(inst) = user.as_inst() else { return false };
            let fine = match inst.opcode() {
                Opcode::Load => true,
                Opcode::Store => inst.operand(0) != Some(at) || (at == pointer && inst.operand(1) == home),
                Opcode::ICmp => inst.operands().into_iter().any(|o| o.is_null()),
                Opcode::Call => inst.as_call().is_some_and(|call| {
                    let name = call.intrinsic_name().unwrap_or_default();
                    let accesses = ["llvm.memset.", "llvm.memcpy.", "llvm.memmove.", "llvm.lifetime."];
                    accesses.iter().any(|a| name.starts_with(a)) || call.frees(at)
                }),
                _ => false,
            };
            if !fine && !mutation::off(Rule::OwnedGlobals) {
                return false;
            }
        }
    }
    true
}

/// Whether a use of a variable loads a pointer that is only accessed, or stores nothing, or an object of its own.
fn owns<'m>(variable: Value<'m>, user: Value<'m>) -> bool {
    let Some(inst) = user.as_inst() else { return false };
    let is_fresh = |value: Value<'m>| {
        let call = value.as_inst().and_then(Inst::as_call);
        call.is_some_and(|call| call.returns_fresh()) && is_only_accessed(value, Some(variable))
    };
    match inst.opcode() {
        Opcode::Load => inst.ty().kind() == TypeKind::Pointer(0) && is_only_accessed(user, None),
        Opcode::Store if inst.operand(1) == Some(variable) => {
            inst.operand(0).is_some_and(|value| value.is_null() || is_fresh(value))
        }
        _ => false,
    }
}

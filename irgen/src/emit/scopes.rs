//! Alias scopes: what the run-time check has established about arrays, said so that LLVM understands it.

use super::{EmitError, Emitter};
use crate::llvm::{Inst, Metadata, Module};
use loop_tree::{ArrayId, Kernel, RuntimeCondition, Storage};

/// One scope per array; accesses name their own scope and those of all arrays known to be disjoint from it.
pub(super) struct Scopes<'m> {
    own: Vec<Option<Metadata<'m>>>,
    others: Vec<Option<Metadata<'m>>>,
}

impl<'m> Scopes<'m> {
    /// `checked`: what holds when the code runs, beyond what alias classes say.
    pub(super) fn new(module: &'m Module<'m>, kernel: &Kernel, checked: &[RuntimeCondition]) -> Self {
        let domain = module.alias_domain(&format!("looptree: {}", kernel.name));
        let ids: Vec<ArrayId> = (0..kernel.arrays.len()).map(ArrayId::new).collect();
        let scopes: Vec<Option<Metadata<'m>>> = ids
            .iter()
            .map(|a| {
                let array = kernel.array(*a);
                (array.storage == Storage::Memory && !array.is_scalar())
                    .then(|| module.alias_scope(domain, &array.name))
            })
            .collect();
        let disjoint = |a: ArrayId, b: ArrayId| {
            !kernel.may_overlap(a, b)
                || checked.contains(&RuntimeCondition::NoOverlap(a, b))
                || checked.contains(&RuntimeCondition::NoOverlap(b, a))
        };
        let list = |members: Vec<Metadata<'m>>| (!members.is_empty()).then(|| module.md_node(&members));
        let own = scopes.iter().map(|s| list(s.iter().copied().collect())).collect();
        let others = ids
            .iter()
            .map(|a| {
                list(
                    ids.iter()
                        .filter(|b| *b != a && disjoint(*a, **b))
                        .filter_map(|b| scopes[b.index()])
                        .collect(),
                )
            })
            .collect();
        Scopes { own, others }
    }
}

impl<'m> Emitter<'m, '_> {
    /// Metadata of a load or store: alias scopes, type-based alias information of its origin, access groups of the
    /// parallel loops around.
    pub(super) fn annotate(
        &self,
        access: Inst<'m>,
        array: ArrayId,
        origin: Option<Inst<'m>>,
    ) -> Result<(), EmitError> {
        if let Some(own) = self.scopes.own[array.index()] {
            access.set_metadata("alias.scope", Some(own))?;
            if let Some(others) = self.scopes.others[array.index()] {
                access.set_metadata("noalias", Some(others))?;
            }
        }
        if let Some(tbaa) = origin.filter(|o| o.is_access()).and_then(|o| o.metadata("tbaa")) {
            access.set_metadata("tbaa", Some(tbaa))?;
        }
        let group = match self.groups[..] {
            [] => return Ok(()),
            [one] => one,
            ref several => self.module.md_node(several),
        };
        Ok(access.set_metadata("llvm.access.group", Some(group))?)
    }
}

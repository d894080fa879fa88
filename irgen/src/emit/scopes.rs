//! Alias scopes: what the run-time check has established about arrays, said so that LLVM understands it.

use super::{Base, EmitError, Emitter};
use crate::llvm::{Inst, Metadata, Module};
use crate::mutation::{self, Rule};
use emission::buffers::Found;
use loop_tree::{ArrayId, Home, Kernel, Path, RuntimeCondition, Storage};
use std::collections::BTreeMap;

/// One scope per array and buffer on the heap; accesses name their own scope and those of all that are known to be disjoint from
/// it.
pub(super) struct Scopes<'m> {
    all: Vec<Metadata<'m>>,
    own: Vec<Option<Metadata<'m>>>,
    others: Vec<Option<Metadata<'m>>>,
    /// Own and others of a buffer, by its path.
    buffers: BTreeMap<Path, [Option<Metadata<'m>>; 2]>,
}

impl<'m> Scopes<'m> {
    /// `checked`: what holds when the code runs, beyond what alias classes say. `moving[array]`: whether its bytes may be
    /// others when the same code runs again. LLVM reads scopes as facts about the whole function, so of two arrays that
    /// both move only the alias classes speak: what the one is now, the other may have been before.
    pub(super) fn new(
        module: &'m Module<'m>,
        kernel: &Kernel,
        checked: &[RuntimeCondition],
        moving: &[bool],
        buffers: &[Found],
    ) -> Self {
        let domain = module.alias_domain(&format!("looptree: {}", kernel.name));
        let ids: Vec<ArrayId> = (0..kernel.arrays.len()).map(ArrayId::new).collect();
        let scopes: Vec<Option<Metadata<'m>>> = ids
            .iter()
            .map(|a| {
                let array = kernel.array(*a);
                let in_memory = array.storage == Storage::Memory || !array.is_scalar();
                in_memory.then(|| module.alias_scope(domain, &array.name))
            })
            .collect();
        let disjoint = |a: ArrayId, b: ArrayId| {
            if !kernel.may_overlap(a, b) || mutation::off(Rule::AllScopes) {
                return true;
            }
            let both = [a, b].iter().all(|id| moving.get(id.index()).copied().unwrap_or(true));
            (!both || mutation::off(Rule::MovingArrays))
                && (checked.contains(&RuntimeCondition::NoOverlap(a, b))
                    || checked.contains(&RuntimeCondition::NoOverlap(b, a)))
        };
        let heap = buffers.iter().filter(|f| f.buffer.home == Home::Heap);
        let heap: Vec<(&Path, Metadata<'m>)> = heap
            .map(|f| {
                let name = format!("{} in a buffer", kernel.array(f.buffer.array).name);
                (&f.path, module.alias_scope(domain, &name))
            })
            .collect();
        let list = |members: Vec<Metadata<'m>>| (!members.is_empty()).then(|| module.md_node(&members));
        let own = scopes.iter().map(|s| list(s.iter().copied().collect())).collect();
        let others = ids
            .iter()
            .map(|a| {
                list(
                    ids.iter()
                        .filter(|b| *b != a && disjoint(*a, **b))
                        .filter_map(|b| scopes[b.index()])
                        .chain(heap.iter().map(|(_, scope)| *scope))
                        .collect(),
                )
            })
            .collect();
        let of_buffer = |(path, scope): &(&Path, Metadata<'m>)| {
            let arrays = scopes.iter().copied().flatten();
            let other = heap.iter().filter(|(p, _)| p != path).map(|(_, scope)| *scope);
            ((*path).clone(), [list(vec![*scope]), list(arrays.chain(other).collect())])
        };
        let buffers = heap.iter().map(of_buffer).collect();
        let all = scopes.iter().copied().flatten().chain(heap.iter().map(|(_, scope)| *scope)).collect();
        Scopes { all, own, others, buffers }
    }
}

impl<'m> Emitter<'m, '_> {
    /// Says where the scopes begin, so that LLVM renews them when it copies the code around.
    pub(super) fn declare_scopes(&self) -> Result<(), EmitError> {
        for scope in &self.scopes.all {
            let list = self.module.md_value(self.module.md_node(&[*scope]));
            let void = self.module.context().void();
            self.builder.intrinsic("llvm.experimental.noalias.scope.decl", void, &[list], "")?;
        }
        Ok(())
    }

    /// Metadata of a load or store of an array, or of a buffer of it: alias scopes, type-based alias information of its origin,
    /// access groups of the parallel loops around.
    pub(super) fn annotate(
        &self,
        access: Inst<'m>,
        array: ArrayId,
        buffer: Option<usize>,
        origin: Option<Inst<'m>>,
    ) -> Result<(), EmitError> {
        let (scopes, groups) = match buffer.map(|frame| &self.scope.frames()[frame].store) {
            Some(store) => {
                let scopes = self.scopes.buffers.get(&store.path).copied().unwrap_or_default();
                // Iterations of the loops around it share the buffer.
                (scopes, &self.groups[store.groups..])
            }
            None => {
                // Slots become registers.
                if let Base::Scalar { .. } = self.bases[array.index()] {
                    return Ok(());
                }
                if let Some(tbaa) = origin.filter(|o| o.is_access()).and_then(|o| o.metadata("tbaa")) {
                    access.set_metadata("tbaa", Some(tbaa))?;
                }
                ([self.scopes.own[array.index()], self.scopes.others[array.index()]], &self.groups[..])
            }
        };
        if let [Some(own), others] = scopes {
            access.set_metadata("alias.scope", Some(own))?;
            if let Some(others) = others {
                access.set_metadata("noalias", Some(others))?;
            }
        }
        let group = match groups {
            [] => return Ok(()),
            [one] => *one,
            several => self.module.md_node(several),
        };
        Ok(access.set_metadata("llvm.access.group", Some(group))?)
    }
}

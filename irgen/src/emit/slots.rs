//! Slots of private scalars: one for each element that a tree tells apart, in the entry block, where LLVM promotes them to
//! registers. Copies of unrolled and jammed loops so have registers of their own.

use super::lanes::lanes_of;
use super::{EmitError, Emitter};
use crate::llvm::Value;
use loop_tree::{Around, ArrayId, LoopKind, Occurrence, Path, PrivateElement, Privates, VarId, occurrences};
use std::collections::BTreeMap;

/// By leaf, predicate's guard, or buffer that is copied from or to it, and scalar: the slot, and how many lanes have elements in it.
pub(super) type Slots<'m> = BTreeMap<(Path, ArrayId), (Value<'m>, u32)>;

impl<'m> Emitter<'m, '_> {
    /// Makes the slots at the builder's place: those of the function itself, or of each thread that runs the loop at a path.
    pub(super) fn make_slots(&mut self, within: Option<&Path>) -> Result<(), EmitError> {
        let privates = Privates::of(self.kernel);
        if privates.is_empty() {
            return Ok(());
        }
        let mut known: BTreeMap<PrivateElement, (Value<'m>, u32)> = BTreeMap::new();
        for occurrence in occurrences(self.root) {
            let what = "a scalar that is read where it is not known which iteration it belongs to";
            let unknown = || EmitError::Unsupported { what };
            let shared = self.shared_around(&occurrence)?;
            if within.is_some() && shared.as_ref() != within {
                continue;
            }
            let mut touched = privates.touched(self.kernel, &occurrence).ok_or_else(unknown)?;
            for (at, around) in occurrence.around.iter().enumerate() {
                let Around::Alloc(buffer) = around else { continue };
                let variables =
                    privates.variables(buffer.array).filter(|_| buffer.windows().next().is_some());
                let element = variables.map(|v| PrivateElement::at(&occurrence, at, buffer.array, v));
                touched.extend(element.map(|e| e.ok_or_else(unknown)).transpose()?.map(|e| (at, e)));
            }
            for (at, element) in touched {
                let array = element.array;
                let buffered = |a: &Around| matches!(a, Around::Alloc(b) if b.array == array);
                if occurrence.around[..at].iter().any(buffered) {
                    continue;
                }
                // What stays the same in a home inside of the loop is touched by one thread only.
                let inside =
                    shared.as_ref().filter(|path| path.contains(&element.home) && **path != element.home);
                if inside != within {
                    continue;
                }
                let slot = match known.get(&element) {
                    Some(slot) => *slot,
                    None => {
                        let scalar = self.kernel.array(array);
                        let lanes = lanes_with(&occurrence, &element)?;
                        let ty = match lanes {
                            0 | 1 => self.ty(scalar.element)?,
                            _ => self.kept(scalar.element, lanes)?,
                        };
                        let slot = (self.builder.alloca(ty, None, &scalar.name)?.value(), lanes);
                        known.insert(element, slot);
                        slot
                    }
                };
                self.slots.insert((Path(occurrence.path.0[..at].into()), array), slot);
            }
        }
        Ok(())
    }

    /// The slot of a scalar at the emitter's path, which is `common` where it is not private, and how many lanes have elements in it.
    pub(super) fn slot(&self, array: ArrayId, common: Value<'m>) -> (Value<'m>, u32) {
        self.slots.get(&(self.path.clone(), array)).copied().unwrap_or((common, 1))
    }
}

/// The lanes of the vector loop by whose iterations elements differ.
fn lanes_with(occurrence: &Occurrence, element: &PrivateElement) -> Result<u32, EmitError> {
    let loops = occurrence.around.iter().filter_map(|a| match a {
        Around::Loop(header) => Some(header),
        _ => None,
    });
    for (number, header) in loops.enumerate() {
        let differ = || element.element.iter().any(|e| e.uses(VarId::new(number)));
        if header.kind == LoopKind::Vector && differ() {
            return lanes_of(header);
        }
    }
    Ok(1)
}

//! Slots of private scalars: one for each element that a tree tells apart, in the entry block, where LLVM promotes them to
//! registers. Copies of unrolled and jammed loops so have registers of their own.

use super::lanes::lanes_of;
use super::{EmitError, Emitter};
use crate::llvm::Value;
use loop_tree::{ArrayId, Path, PrivateElement, Privates, occurrences};
use std::collections::BTreeMap;

/// By leaf or predicate's guard, and scalar: the slot, and how many lanes have elements in it.
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
            if privates.are_copied(&occurrence) {
                return Err(EmitError::Unsupported {
                    what: "a copy of a scalar of which iterations have their own",
                });
            }
            for (at, element) in privates.touched(self.kernel, &occurrence).ok_or_else(unknown)? {
                let array = element.array;
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
                        let lanes = element.vector_loop(&occurrence).map_or(Ok(1), lanes_of)?;
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

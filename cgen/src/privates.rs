//! Private scalars: a variable for each element that a tree tells apart, declared in the body in which it stays the same.

use crate::emitter::{Emitter, Private};
use crate::error::CgenError;
use crate::types::c_type;
use emission::lanes::lanes_of;
use loop_tree::{
    Around, ArrayId, Green, LoopKind, Occurrence, Path, PrivateElement, Privates, VarId, occurrences,
};
use std::collections::BTreeMap;

impl Emitter<'_> {
    /// Names the private scalars of a tree, and says where they are declared.
    pub(crate) fn find_privates(&mut self, root: &Green) -> Result<(), CgenError> {
        self.privates.clear();
        self.declared.clear();
        let privates = Privates::of(self.kernel);
        if privates.is_empty() {
            return Ok(());
        }
        let what = "a scalar that is read where it is not known which iteration it belongs to";
        let mut known: BTreeMap<PrivateElement, Private> = BTreeMap::new();
        for occurrence in occurrences(root) {
            let touched = privates.touched(self.kernel, &occurrence);
            let mut touched = touched.ok_or_else(|| self.unsupported(what))?;
            for (at, around) in occurrence.around.iter().enumerate() {
                let Around::Alloc(buffer) = around else { continue };
                let copied = buffer.windows().next().is_some();
                let Some(variables) = privates.variables(buffer.array).filter(|_| copied) else { continue };
                let element = PrivateElement::at(&occurrence, at, buffer.array, variables);
                touched.push((at, element.ok_or_else(|| self.unsupported(what))?));
            }
            for (at, element) in touched {
                let array = element.array;
                let buffered = |a: &Around| matches!(a, Around::Alloc(b) if b.array == array);
                if occurrence.around[..at].iter().any(buffered) {
                    continue;
                }
                let private = match known.get(&element) {
                    Some(private) => private.clone(),
                    None => {
                        let scalar = self.kernel.array(array);
                        let name = self.names.fresh(&scalar.name);
                        let private = Private { name, lanes: lanes_with(&occurrence, &element).unwrap_or(1) };
                        let home = self.declared.entry(element.home.clone()).or_default();
                        home.push((scalar.element, private.clone()));
                        known.insert(element, private.clone());
                        private
                    }
                };
                self.privates.insert((Path(occurrence.path.0[..at].into()), array), private);
            }
        }
        Ok(())
    }

    /// The name of a scalar at the emitter's place, which is `common` where it is not private, and how many lanes have one.
    pub(crate) fn scalar(&self, array: ArrayId, common: &str) -> (String, u32) {
        let own = self.privates.get(&(self.path.clone(), array));
        own.map_or_else(|| (common.to_string(), 1), |p| (p.name.clone(), p.lanes))
    }

    /// Declares what lives in one execution of the node at the emitter's place.
    pub(crate) fn declare_privates(&mut self) {
        for (ty, Private { name, lanes }) in self.declared.get(&self.path).cloned().unwrap_or_default() {
            self.out.push(match lanes {
                0 | 1 => format!("{} {name} = 0;", c_type(ty)),
                _ => {
                    let (ty, behind) = self.lanes_type(ty, lanes);
                    format!("{ty} {name}{behind} = {{0}};")
                }
            });
        }
    }
}

/// The lanes of the vector loop by whose iterations elements differ.
fn lanes_with(occurrence: &Occurrence, element: &PrivateElement) -> Option<u32> {
    let loops = occurrence.around.iter().filter_map(|a| match a {
        Around::Loop(header) => Some(header),
        _ => None,
    });
    let differ = |number| element.element.iter().any(|e| e.uses(VarId::new(number)));
    let mut vectors = loops.enumerate().filter(|(number, h)| h.kind == LoopKind::Vector && differ(*number));
    lanes_of(vectors.next()?.1)
}

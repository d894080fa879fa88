//! Private scalars: a variable for each element that a tree tells apart, declared in the body in which it stays the same.

use crate::emitter::Emitter;
use crate::error::CgenError;
use crate::types::c_type;
use loop_tree::{Around, ArrayId, Green, Path, PrivateElement, Privates, occurrences};
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
        let mut known: BTreeMap<PrivateElement, String> = BTreeMap::new();
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
                let name = match known.get(&element) {
                    Some(name) => name.clone(),
                    None => {
                        let scalar = self.kernel.array(array);
                        let name = self.names.fresh(&scalar.name);
                        let home = self.declared.entry(element.home.clone()).or_default();
                        home.push((c_type(scalar.element), name.clone()));
                        known.insert(element, name.clone());
                        name
                    }
                };
                self.privates.insert((Path(occurrence.path.0[..at].into()), array), name);
            }
        }
        Ok(())
    }

    /// The name of a scalar at the emitter's place, which is `common` where it is not private.
    pub(crate) fn scalar(&self, array: ArrayId, common: &str) -> String {
        let own = self.privates.get(&(self.path.clone(), array));
        own.map_or_else(|| common.to_string(), String::clone)
    }

    /// Declares what lives in one execution of the node at the emitter's place.
    pub(crate) fn declare_privates(&mut self) {
        for (ty, name) in self.declared.get(&self.path).cloned().unwrap_or_default() {
            self.out.push(format!("{ty} {name} = 0;"));
        }
    }
}

//! Private scalars: a variable for each element that a tree tells apart, declared in the body in which it stays the same.

use crate::code::{Lines, assigns, names};
use crate::emitter::{Emitter, Private};
use crate::error::CgenError;
use crate::types::c_type;
use emission::lanes::lanes_of;
use loop_tree::{ArrayId, Green, Path, PrivateElement, Privates, occurrences};
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
            if privates.are_copied(&occurrence) {
                return Err(self.unsupported("a copy of a scalar of which iterations have their own"));
            }
            let touched = privates.touched(self.kernel, &occurrence);
            for (at, element) in touched.ok_or_else(|| self.unsupported(what))? {
                let array = element.array;
                let private = match known.get(&element) {
                    Some(private) => private.clone(),
                    None => {
                        let scalar = self.kernel.array(array);
                        let name = self.names.fresh(&scalar.name);
                        let lanes = element.vector_loop(&occurrence).and_then(lanes_of).unwrap_or(1);
                        let private = Private { name, lanes };
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

    /// Compilers warn of what is set and never read.
    pub(crate) fn excuse_unread(&self, body: &mut Lines) {
        let privates = self.declared.values().flatten();
        let mut unread: BTreeMap<&str, Option<usize>> = privates.map(|(_, p)| (&*p.name, None)).collect();
        let mut read = Vec::new();
        for (number, (_, line)) in body.all.iter().enumerate() {
            for (begins, name) in names(line) {
                match unread.get_mut(name) {
                    Some(declared @ None) => *declared = Some(number),
                    Some(Some(_)) if !(begins && assigns(line)) => read.push(name),
                    _ => {}
                }
            }
        }
        for name in read {
            unread.remove(name);
        }
        let mut behind: Vec<(usize, String)> =
            unread.into_iter().filter_map(|(name, at)| Some((at?, format!("(void){name};")))).collect();
        behind.sort();
        for (at, line) in behind.into_iter().rev() {
            body.all.insert(at + 1, (body.all[at].0, line));
        }
    }
}

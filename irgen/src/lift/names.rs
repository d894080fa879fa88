//! Names for parameters, arrays and variables: those of the IR where it has any.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::llvm::Value;
use crate::names;

/// Names of one kernel, all different.
#[derive(Default)]
pub(super) struct Names {
    taken: FxHashSet<Arc<str>>,
    variables: Vec<Arc<str>>,
}

const LETTERS: [&str; 8] = ["i", "j", "k", "l", "m", "p", "q", "r"];

impl Names {
    /// Names the next variable, by the number of loops around it.
    pub(super) fn variable(&mut self, depth: usize) {
        let letter = LETTERS.get(depth).copied().unwrap_or("x");
        let name = self.unique(letter);
        self.variables.push(name);
    }

    pub(super) fn take_variables(&mut self) -> Vec<Arc<str>> {
        std::mem::take(&mut self.variables)
    }

    /// The value's own name where that is an identifier, else one that begins with `otherwise`.
    pub(super) fn value(&mut self, v: Value<'_>, otherwise: &str) -> Arc<str> {
        self.unique(&wanted(v, otherwise))
    }

    /// A name for a product.
    pub(super) fn product(&mut self, factors: &[Value<'_>], otherwise: &str) -> Arc<str> {
        let names: Vec<String> = factors.iter().map(|v| wanted(*v, otherwise)).collect();
        self.unique(&names.join("_by_"))
    }

    fn unique(&mut self, wanted: &str) -> Arc<str> {
        let mut name: Arc<str> = wanted.into();
        let mut number = 1;
        while RESERVED.contains(&&*name) || self.taken.contains(&name) {
            number += 1;
            name = format!("{wanted}{number}").into();
        }
        self.taken.insert(name.clone());
        name
    }
}

fn wanted(v: Value<'_>, otherwise: &str) -> String {
    let symbol = v.name();
    let name = v.as_global().and_then(|_| names::variable(&symbol)).unwrap_or(symbol);
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = name.trim_matches('_');
    match v.as_argument() {
        _ if name.starts_with(|c: char| c.is_ascii_alphabetic()) => name.to_owned(),
        Some(a) => format!("{otherwise}{}", a.index()),
        None => format!("{otherwise}_"),
    }
}

/// Words of the textual form, which names must not be.
const RESERVED: [&str; 24] = [
    "nest", "array", "for", "if", "else", "let", "in", "step", "min", "max", "floor", "ceil", "mod", "param",
    "stmt", "alloc", "version", "guard", "seq", "select", "load", "store", "true", "false",
];

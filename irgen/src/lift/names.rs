//! Names for parameters, arrays and variables: those of the source where debug information tells them, else those of the IR where
//! it has any.

use std::sync::Arc;

use loop_tree::VarId;
use rustc_hash::FxHashSet;

use super::ratios::ratio_of;
use crate::llvm::Value;
use crate::names;

/// Names of one kernel, all different.
#[derive(Default)]
pub(super) struct Names {
    taken: FxHashSet<Arc<str>>,
    variables: Vec<String>,
    invented: Vec<VarId>,
}

const LETTERS: [&str; 8] = ["i", "j", "k", "l", "m", "p", "q", "r"];

impl Names {
    /// What the next variable is to be called: as what counts its loop, else by the number of loops around.
    pub(super) fn variable(&mut self, depth: usize, counter: Option<Value<'_>>) {
        let letter = LETTERS.get(depth).copied().unwrap_or("x");
        let told = counter.and_then(told);
        if told.is_none() && counter.is_none_or(|c| stem(&c.name()) != letter) {
            self.invented.push(VarId::new(self.variables.len()));
        }
        self.variables.push(told.unwrap_or_else(|| letter.to_owned()));
    }

    /// Variables that the source may well call otherwise.
    pub(super) fn take_invented(&mut self) -> Vec<VarId> {
        std::mem::take(&mut self.invented)
    }

    /// The variables, of which those give way that are called as something that has a name: `while (n--)` has a parameter `n`.
    pub(super) fn take_variables(&mut self) -> Vec<Arc<str>> {
        let wanted = std::mem::take(&mut self.variables);
        wanted.iter().map(|name| self.unique(name)).collect()
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

/// What debug information says of a loop's counter. What LLVM calls it says little: `i37.0` is the last of several `i`.
fn told(v: Value<'_>) -> Option<String> {
    identifier(&v.source_name()?)
}

/// A name without what LLVM has added to it: enough to tell that a variable is called so, not what it is called.
fn stem(name: &str) -> &str {
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// What is like an identifier in a name.
fn identifier(name: &str) -> Option<String> {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = name.trim_matches('_');
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| name.to_owned())
}

fn wanted(v: Value<'_>, otherwise: &str) -> String {
    if ratio_of(v).is_some() {
        return "ratio".to_owned();
    }
    let name = v.source_name().unwrap_or_else(|| {
        let symbol = v.name();
        v.as_global().and_then(|_| names::variable(&symbol)).unwrap_or(symbol)
    });
    identifier(&name).unwrap_or_else(|| match v.as_argument() {
        Some(a) => format!("{otherwise}{}", a.index()),
        None => format!("{otherwise}_"),
    })
}

/// Words of the textual form, which names must not be.
const RESERVED: [&str; 24] = [
    "nest", "array", "for", "if", "else", "let", "in", "step", "min", "max", "floor", "ceil", "mod", "param",
    "stmt", "alloc", "version", "guard", "seq", "select", "load", "store", "true", "false",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_llvm_adds_to_names_is_left_out() {
        for (name, known) in [
            ("i", "i"),
            ("i.037", "i"),
            ("i37.0", "i"),
            ("row.0.i", "row"),
            ("indvars.iv", "indvars"),
            ("", ""),
        ] {
            assert_eq!(stem(name), known);
        }
    }
}

//! Closed forms of values in LLVM IR: where they come from, by name.

mod growth;
mod ranges;
mod recurrences;
mod scalar_evolution;
mod strides;
mod trip;

use std::fmt;

use analyses::closed_forms::{ClosedForms, LoopExit, Meaning, NoClosedForms, Poly, Symbols};

use super::cfg::Cfg;
use crate::llvm::{IntPredicate, Module, Result, Value};

pub(super) use ranges::{BETWEEN, address_of, is_between};
pub(super) use strides::COUNT;
pub use strides::is_iteration_count;

/// Makes the closed forms of a function: what lifting is handed.
pub trait ClosedFormsSource: Send + Sync + fmt::Debug {
    /// The closed forms of the function that the graph is of. Loops and blocks have the graph's numbers.
    fn of<'a, 'm: 'a>(&self, module: &'m Module<'m>, cfg: &'a Cfg<'m>) -> Result<FunctionForms<'a, 'm>>;
}

/// Closed forms of the values of one function.
pub type FunctionForms<'a, 'm> = Box<dyn ClosedForms<Value<'m>> + 'a>;

/// Names that [`closed_forms_by_name`] knows.
pub const CLOSED_FORMS: [&str; 3] = ["none", "recurrences", "scalar-evolution"];

/// The source of that name.
pub fn closed_forms_by_name(name: &str) -> Option<Box<dyn ClosedFormsSource>> {
    match name {
        "none" => Some(Box::new(Nothing)),
        "recurrences" => Some(Box::new(AffineRecurrences)),
        "scalar-evolution" => Some(Box::new(ScalarEvolution)),
        _ => None,
    }
}

/// No closed forms: nothing is lifted, and remarks say why.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

/// Affine recurrences, read from the instructions: exact about wrapping, and with the factors that strides are made of.
#[derive(Clone, Copy, Debug)]
pub struct AffineRecurrences;

/// LLVM's ScalarEvolution: knows more forms of loops, forgets some of what instructions promise, so that more has to be
/// checked at run time.
#[derive(Clone, Copy, Debug)]
pub struct ScalarEvolution;

impl ClosedFormsSource for Nothing {
    fn of<'a, 'm: 'a>(&self, _: &'m Module<'m>, _: &'a Cfg<'m>) -> Result<FunctionForms<'a, 'm>> {
        Ok(Box::new(NoClosedForms::default()))
    }
}

impl ClosedFormsSource for AffineRecurrences {
    fn of<'a, 'm: 'a>(&self, module: &'m Module<'m>, cfg: &'a Cfg<'m>) -> Result<FunctionForms<'a, 'm>> {
        Ok(Box::new(recurrences::Recurrences::new(cfg, module.data_layout())))
    }
}

impl ClosedFormsSource for ScalarEvolution {
    fn of<'a, 'm: 'a>(&self, module: &'m Module<'m>, cfg: &'a Cfg<'m>) -> Result<FunctionForms<'a, 'm>> {
        Ok(Box::new(scalar_evolution::Evolution::new(module.data_layout(), cfg)?))
    }
}

/// Whether a polynomial has one value while a loop runs.
fn is_fixed<'m>(symbols: &Symbols<Value<'m>>, cfg: &Cfg<'m>, p: &Poly, l: usize) -> bool {
    symbols.all(p, &|m| match m {
        Meaning::Iteration(other) => !cfg.loop_within(other, l),
        Meaning::Value(v) => {
            v.as_inst().is_none_or(|i| cfg.home(i).is_some_and(|b| !cfg.loops[l].contains(b)))
        }
        Meaning::Quotient(_) => false,
    })
}

/// The loop goes on, at an exit, while the first value compares so with the second.
fn goes_on_while<'m>(cfg: &Cfg<'m>, exit: &LoopExit) -> Option<(IntPredicate, Value<'m>, Value<'m>)> {
    let compare = cfg.blocks[exit.from].terminator()?.condition()?.as_inst()?;
    let predicate = compare.int_predicate()?;
    let stays_if_true = cfg.succs[exit.from].first().is_some_and(|&s| cfg.loops[exit.id].contains(s));
    let predicate = if stays_if_true { predicate } else { predicate.inverse() };
    Some((predicate, compare.operand(0)?, compare.operand(1)?))
}

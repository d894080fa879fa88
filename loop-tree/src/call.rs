//! Calls of library functions that do what a nest does.
//!
//! A loop of kind [`LoopKind::Library`](crate::LoopKind::Library) is done by one call. Which one is no part of the tree: whoever recognises the
//! nest says so, for the path of the loop.

use crate::{Affine, ArrayId, Condition, Constant, Constraint, Path};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The calls of the loops of a tree that are marked so.
pub type Calls = BTreeMap<Path, Call>;

/// A call in the place of a nest. Expressions are over variables in scope around the nest, and parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The function.
    pub function: Arc<str>,
    /// The library that has it: `c`, `cblas`.
    pub library: Arc<str>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Where one of these is not positive there is nothing to do, and nothing is called.
    pub lengths: Vec<Affine>,
    /// What it returns.
    pub returns: Returned,
}

impl Call {
    /// Where there is something to do.
    pub fn runs(&self) -> Condition {
        let one = |length: &Affine| Constraint::ge(length.clone(), Affine::constant(1));
        Condition::all(self.lengths.iter().map(one).collect())
    }
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Argument {
    /// The address of an element.
    Pointer(ArrayId, Vec<Affine>),
    /// A number of bytes or elements, `size_t`: the product of these.
    Size(Vec<Affine>),
    /// An `int`.
    Int(Affine),
    /// An `int` that has a name in C.
    Word(&'static str, i32),
    /// A constant.
    Number(Constant),
    /// The value of an element, perhaps negated.
    Value {
        /// The array.
        array: ArrayId,
        /// Which element.
        subscripts: Vec<Affine>,
        /// Whether its negative is passed.
        negative: bool,
    },
}

/// What becomes of what a function returns.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Returned {
    /// It returns nothing.
    Nothing,
    /// It returns a pointer that nobody needs.
    Pointer,
    /// A number of the array's type, which is added to an element.
    Added(ArrayId, Vec<Affine>),
}

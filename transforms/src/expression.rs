//! Affine expressions in recipe text, such as `2*N - 1` or `floor((N + 3)/4)`.
//!
//! A recipe is read without a tree, so names are resolved when a step is applied.

use crate::Refusal;
use loop_tree::text::{TextError, check_affine, parse_affine, print_affine};
use loop_tree::{Affine, Kernel, Path, VarId};
use std::fmt;
use std::sync::Arc;

/// The text of an affine expression, as in `.lt`, printed as it was written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Expression(Arc<str>);

impl Expression {
    /// Checks the form.
    pub fn parse(text: &str) -> Result<Expression, TextError> {
        check_affine(text)?;
        Ok(Expression(text.trim().into()))
    }

    /// The text of an expression.
    pub fn of(kernel: &Kernel, value: &Affine) -> Expression {
        Expression(print_affine(kernel, value).into())
    }

    /// The value, in terms of parameters and the variables in scope at a node, innermost last.
    pub fn resolve(&self, kernel: &Kernel, scope: &[VarId], at: &Path) -> Result<Affine, Refusal> {
        parse_affine(kernel, scope, &self.0).map_err(|e| Refusal::new("expression", at, e.message))
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

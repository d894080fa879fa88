//! Version: the same order, run where one check has established what the compiler would otherwise not know.
//! Elsewhere: loop versioning (LLVM), code versioning for aliases.
//!
//! ```lt before
//! for i in 0..N { S(i) }
//! ```
//! ```recipe
//! version()
//! ```
//! ```lt after
//! for i in 0..N { S(i) }
//! ```
//! Changes nothing in the tree: what it stands for is that the tree is emitted at all, with alias scopes and parallel
//! loops, behind the run-time check, beside the original code. Applies to every tree.

use crate::{Arguments, BuiltIn, Context, RecipeError, Refusal, Transform};
use loop_tree::Green;
use std::fmt;

/// Emits the tree as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version;

impl Transform for Version {
    fn name(&self) -> &'static str {
        "version"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        Ok(cx.root.clone())
    }
}

impl BuiltIn for Version {
    fn parse(_: &mut Arguments) -> Result<Self, RecipeError> {
        Ok(Version)
    }

    // No moves: the search has it from the start.
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("version()")
    }
}

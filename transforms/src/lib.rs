//! Loop transformations, one file each, and their recipes.
//!
//! - [`Transform`]: one change of a tree; [`Context`]: the tree it is applied to; [`Rewrite`]: the new one.
//! - [`Refusal`]: why a tree does not have the structure that a transformation needs.
//! - [`Recipe`]: named steps as text, which parse, print and replay; [`LoopRef`]: how text names a loop.
//! - [`Registry`]: the transformations that are known by name, and [`moves()`]: where each could be tried.
//! - [`Forwarding`]: where the parts of the old tree are in the new one.
//!
//! **Invariant.** No transformation knows whether it is legal, profitable, or how to version itself: each returns a
//! new tree, and an oracle is asked about that. What is refused here is refused for its structure only.
//!
//! ```
//! use transforms::{Recipe, Registry};
//!
//! let program = loop_tree::text::parse(
//!     "nest @copy[N] {
//!        array A: f64[N, N]
//!        array B: f64[N, N]
//!        for i in 0..N { for j in 0..N { S: A[i, j] = B[j, i] } }
//!      }",
//! )?;
//! let recipe = Recipe::parse("interchange(i)", &Registry::standard())?;
//! let root = recipe.replay(&program.kernel, &program.kernel.original)?;
//! assert_ne!(root, program.kernel.original);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod context;
mod expression;
mod footprint;
mod forwarding;
mod loop_ref;
mod manual;
mod nest;
mod project;
#[cfg(test)]
mod properties;
mod recipe;
mod refusal;
mod registry;
mod storage;
#[cfg(test)]
mod testing;
mod transform;
mod transformations;

pub use arguments::{Argument, Arguments};
pub use context::{Context, Site};
pub use expression::Expression;
pub use forwarding::Forwarding;
pub use loop_ref::LoopRef;
pub use recipe::{Recipe, RecipeError, ReplayError};
pub use refusal::Refusal;
pub(crate) use registry::BuiltIn;
pub use registry::{MoveOptions, Registration, Registry, moves, moves_of};
pub use transform::{Rewrite, Step, Transform};
pub use transformations::{
    Concatenate, Contract, Distribute, End, Expand, Factor, Forward, Fuse, Hilbert, IndexSetSplit,
    Interchange, Mark, Merge, Morton, Move, Pack, Peel, Permute, Remainder, Reorder, Replace, Reverse, Sink,
    Skew, StripMine, Tile, Transpose, Unroll, UnrollAndJam, Unswitch, Vectorize, Version,
};

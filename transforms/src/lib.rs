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
mod distribute;
mod expression;
mod forwarding;
mod fuse;
mod index_set_split;
mod interchange;
mod loop_ref;
mod mark;
mod nest;
mod peel;
mod permute;
mod project;
#[cfg(test)]
mod properties;
mod recipe;
mod refusal;
mod registry;
mod reorder;
mod reverse;
mod sink;
mod skew;
mod strip_mine;
#[cfg(test)]
mod testing;
mod tile;
mod transform;
mod unroll;
mod unroll_and_jam;
mod version;

pub use arguments::{Argument, Arguments};
pub use context::{Context, Site};
pub use distribute::Distribute;
pub use expression::Expression;
pub use forwarding::Forwarding;
pub use fuse::{Fuse, Remainder};
pub use index_set_split::IndexSetSplit;
pub use interchange::Interchange;
pub use loop_ref::LoopRef;
pub use mark::Mark;
pub use peel::{End, Peel};
pub use permute::Permute;
pub use recipe::{Recipe, RecipeError, ReplayError};
pub use refusal::Refusal;
pub use registry::{MoveOptions, Registration, Registry, moves};
pub use reorder::{Move, Reorder};
pub use reverse::Reverse;
pub use sink::Sink;
pub use skew::Skew;
pub use strip_mine::StripMine;
pub use tile::Tile;
pub use transform::{Rewrite, Step, Transform};
pub use unroll::{Factor, Unroll};
pub use unroll_and_jam::UnrollAndJam;
pub use version::Version;

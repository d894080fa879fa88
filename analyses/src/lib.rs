//! Analyses of loop trees and the legality oracle, on exact integer sets.
//!
//! - [`closed_forms`]: values as functions of loop counters, and how often loops run.
//! - [`accesses`]: which element of which array is touched, from byte offsets.
//! - [`control_flow`]: what runs whenever a body does, and what never together.
//! - [`dependences`]: which statement instances must keep their order, in three precisions.
//! - [`legality`]: the [`Oracle`], which judges any tree of a kernel.
//! - [`fusion_graph`]: which nests to fuse so that temporary arrays need no memory.
//! - [`idioms`]: what nests are known as: matrix products, copies, scans.
//! - [`system`]: constraints as plain data; the integer set library is behind it.
//!
//! ```
//! use analyses::dependences::Polyhedral;
//! use analyses::{Oracle, OracleOptions, Verdict};
//!
//! // Another order of the loops, written by hand.
//! let program = loop_tree::text::parse(
//!     "nest @wave[N] {
//!        array A: f64[N, N]
//!        for i in 1..N { for j in 0..N - 1 { S: A[i, j] = A[i - 1, j + 1] } }
//!        variant { for j in 0..N - 1 { for i in 1..N { S } } }
//!      }",
//! )?;
//! let oracle = Oracle::new(program.kernel.clone(), &Polyhedral::default(), OracleOptions::default())?;
//! assert!(oracle.judge(&program.kernel.original).is_legal());
//! assert!(matches!(oracle.judge(&program.tree()), Verdict::Never(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accesses;
pub mod closed_forms;
pub mod control_flow;
pub mod dependences;
pub mod fusion_graph;
pub mod idioms;
mod isl;
pub mod legality;
#[doc(hidden)]
pub mod mutation;
mod places;
mod reroll;
pub mod system;

pub use dependences::{
    AnalysisError, Dependence, DependenceKind, DependenceSet, Dependences, dependences_by_name,
};
pub use isl::{IslError, version as isl_version};
pub use legality::{Case, LoopFacts, Oracle, OracleOptions, Verdict, Witness};
pub use places::Unsupported;

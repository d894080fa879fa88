//! Analyses of loop trees and the legality oracle, on exact integer sets.
//!
//! - [`closed_forms`]: values as functions of loop counters, and how often loops run.
//! - [`accesses`]: which element of which array is touched, from byte offsets.
//! - [`control_flow`]: what runs whenever a body does, and what never together.
//! - [`dependences`]: which statement instances must keep their order, in three precisions.
//! - [`legality`]: the [`Oracle`], which judges any tree of a kernel.
//! - [`isl`]: the integer set library, soundly wrapped; [`system`]: constraints as plain data.

pub mod accesses;
pub mod closed_forms;
pub mod control_flow;
pub mod dependences;
pub mod isl;
pub mod legality;
#[doc(hidden)]
pub mod mutation;
mod places;
mod reroll;
pub mod system;

pub use dependences::{
    AnalysisError, Dependence, DependenceKind, DependenceSet, Dependences, dependences_by_name,
};
pub use legality::{LoopFacts, Oracle, OracleOptions, Verdict, Witness};
pub use places::Unsupported;

//! Analyses of loop trees and the legality oracle, on exact integer sets.
//!
//! - [`dependences`]: which statement instances must keep their order, in three precisions.
//! - [`legality`]: the [`Oracle`], which judges any tree of a kernel.
//! - [`isl`]: the integer set library, soundly wrapped; [`system`]: constraints as plain data.

pub mod dependences;
pub mod isl;
pub mod legality;
mod places;
mod reroll;
pub mod system;

pub use dependences::{
    AnalysisError, Dependence, DependenceKind, DependenceSet, Dependences, dependences_by_name,
};
pub use legality::{LoopFacts, Oracle, OracleOptions, Verdict, Witness};
pub use places::Unsupported;

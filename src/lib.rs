//! looptree: a loop optimizer on persistent loop trees.
//!
//! - [`tree`]: kernels, trees, `.lt` text, the reference interpreter.
//! - [`analyses`]: dependences and the legality oracle.
//! - [`transforms`]: transformations and recipes.
//! - [`cost_model`]: targets and predicted cycles.
//! - [`irgen`]: LLVM IR to trees and back.
//! - [`explore`]: the search over variants.
//! - [`driver`]: whole modules, from IR to IR.

pub use analyses;
pub use cost_model;
pub use irgen;
pub use loop_tree as tree;
pub use transforms;

pub mod driver;
pub mod explore;
pub mod measure;

//! looptree: a loop optimizer on persistent loop trees.
//!
//! - [`tree`]: kernels, trees, `.lt` text, the reference interpreter.
//! - [`analyses`]: dependences and the legality oracle.
//! - [`transforms`]: transformations and recipes.
//! - [`cost_model`]: targets and predicted cycles.
//! - [`irgen`]: LLVM IR to trees and back.
//! - [`explore`]: the search over variants.
//! - [`calibrate`]: measures a target's numbers on the machine that this runs on.
//! - [`driver`]: whole modules, from IR to IR.
//! - [`measure`]: variants beside the original on this machine, compared and timed.
//! - [`fusion`]: fusion as a pass by itself; [`memory`]: fusion that saves memory.
//! - [`names`]: how functions are called.
//! - `tune`: work items, their results, and databases of them (feature `tune`).
//!
//! A kernel that is written as text:
//!
//! ```
//! use looptree::driver::{Optimizer, Settings};
//!
//! let program = looptree::tree::text::parse(
//!     "nest @copy[N] {
//!        array A: f64[N, N]
//!        array B: f64[N, N]
//!        for i in 0..N { for j in 0..N { S: A[j, i] = B[j, i] } }
//!      }",
//! )?;
//! let optimizer = Optimizer::new(Settings::default())?;
//! let (_, found) = optimizer.explore("copy", &program.kernel, &[], None)?;
//! assert!(found.ratio(found.best()) > 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use analyses;
pub use cost_model;
pub use irgen;
pub use irgen::names;
pub use loop_tree as tree;
pub use transforms;

pub mod calibrate;
pub mod driver;
pub mod explore;
pub mod fusion;
pub mod measure;
pub mod memory;
#[cfg(feature = "tune")]
pub mod tune;

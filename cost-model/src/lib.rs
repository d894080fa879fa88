//! Targets and predicted cycles of loop trees.
//!
//! - [`Target`]: what is known of a machine; [`targets`] has several as data, and finds the one it runs on.
//! - [`CostModel`]: predicts a [`Cost`] for any tree of a kernel at concrete parameter values; [`CostModel::prepare`] where
//!   many trees of one kernel are compared.
//! - [`AnalyticModel`]: computation, vector efficiency, dependence chains, cache traffic, loop overhead.
//! - [`InstructionCount`]: executed operations only.
//!
//! Costs are deterministic, finite, and grow with what they count. They predict what a compiler makes of a tree, and so
//! decide nothing about legality.
//!
//! ```
//! use cost_model::{AnalyticModel, CostModel, targets};
//!
//! let program = loop_tree::text::parse(
//!     "nest @copy[N] {
//!        array A: f64[N, N]
//!        array B: f64[N, N]
//!        for i in 0..N { for j in 0..N { S: A[j, i] = B[j, i] } }
//!        variant { for j in 0..N { for i in 0..N { S } } }
//!      }",
//! )?;
//! let model = AnalyticModel::new(targets::by_name("x86_64_avx2").expect("a target"));
//! let columns = model.cost(&program.kernel, &program.kernel.original, &[2000]);
//! let rows = model.cost(&program.kernel, &program.tree(), &[2000]);
//! assert!(rows.cycles < columns.cycles);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alike;
mod body;
mod chains;
mod clang;
mod explain;
mod extents;
mod facts;
mod footprint;
mod instruction_count;
mod lanes;
mod least;
mod library;
mod linear;
mod live;
mod lower;
mod model;
mod numbering;
mod operations;
mod overlap;
mod part;
mod remembered;
mod size;
mod storage;
mod target;
pub mod targets;
mod threads;
mod throughput;
mod traffic;
mod transfers;
mod trip_counts;
mod unroll;
mod unseen;

pub use explain::{Cost, Explanation, Term};
pub use instruction_count::InstructionCount;
pub use model::AnalyticModel;
pub use target::{CacheLevel, ControlCosts, LevelName, OpClass, OpCost, Prefetch, Target, TlbLevel, Window};
pub use targets::{StaticTarget, TargetFileError, detect_host};

use loop_tree::{Green, Kernel};
use std::sync::Arc;

/// Predicts what a tree costs.
pub trait CostModel: Send + Sync {
    /// The cost of a canonical tree of the kernel, emitted with what has been proved about it. `params` by
    /// [`loop_tree::ParamId`]; missing ones are zero.
    fn cost(&self, kernel: &Kernel, root: &Green, params: &[i64]) -> Cost;

    /// The cost of the program as it was written, where the compiler must reckon with what a variant checks once.
    fn cost_of_original(&self, kernel: &Kernel, params: &[i64]) -> Cost {
        self.cost(kernel, &kernel.original, params)
    }

    /// The same for another machine; `None`: it does not depend on the machine.
    fn on(&self, _target: &Arc<dyn Target>) -> Option<Arc<dyn CostModel>> {
        None
    }

    /// The model of one kernel at parameter values: what all its trees have in common is found once.
    fn prepare<'a>(&'a self, kernel: &'a Kernel, params: &'a [i64]) -> Box<dyn Prepared + 'a> {
        Box::new(Unprepared { model: self, kernel, params })
    }
}

/// Predicts what trees of one kernel cost.
pub trait Prepared: Send + Sync {
    /// As [`CostModel::cost`].
    fn cost(&self, root: &Green) -> Cost;

    /// The cycles of that cost, where nobody asks for its terms.
    fn cycles(&self, root: &Green) -> f64 {
        self.cost(root).cycles
    }

    /// The cycles of a tree that lacks some of what the kernel executes.
    fn cycles_of_part(&self, root: &Green) -> f64 {
        self.cycles(root)
    }

    /// As [`CostModel::cost_of_original`].
    fn cost_of_original(&self) -> Cost;

    /// Bits of the vectors that the tree is worth to be compiled for, where the compiler takes narrower ones by itself.
    fn widened(&self, _root: &Green) -> Option<u32> {
        None
    }

    /// Cycles that no tree of the kernel costs less than; zero where the model knows of none.
    fn least(&self) -> f64 {
        0.0
    }
}

/// A model that finds nothing in advance.
struct Unprepared<'a, M: ?Sized> {
    model: &'a M,
    kernel: &'a Kernel,
    params: &'a [i64],
}

impl<M: CostModel + ?Sized> Prepared for Unprepared<'_, M> {
    fn cost(&self, root: &Green) -> Cost {
        self.model.cost(self.kernel, root, self.params)
    }

    fn cost_of_original(&self) -> Cost {
        self.model.cost_of_original(self.kernel, self.params)
    }
}

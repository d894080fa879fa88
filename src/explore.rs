//! The search: moves are enumerated, applied, deduplicated, ranked and judged. To rank a tree costs a small part of what
//! it costs to judge it, so what is not promising is not judged.
//!
//! - A *variant* is kernel + tree + recipe + conditions + cost. The identity is always one.
//! - Variants met twice are found by the hash of their canonical tree.
//! - Work is spread over threads level by level and collected in the order of enumeration, so that the result does not
//!   depend on the number of threads. Bounds are counts, never clocks.

mod expand;
mod region;
mod share;
mod sizes;
mod sketch;
mod strategy;
mod team;
mod variant;

pub use expand::{MoveSource, RegistryMoves};
pub use region::Region;
pub use sketch::{Desk, Draft, Sketch, Sketches, Stage};
pub use strategy::Strategy;
pub(crate) use team::Team;
pub use variant::{Exploration, Reason, Refused, Statistics, StopReason, Variant, WORTHWHILE, by_cost};

use analyses::idioms::Idioms;
use analyses::{AnalysisError, Case, DependenceSet, OracleOptions};
use cost_model::{CostModel, Target};
use expand::Engine;
use loop_tree::Kernel;
use std::sync::Arc;

/// What is searched: a kernel at representative parameter values.
#[derive(Clone)]
pub struct Problem {
    /// The kernel; the search starts from its original tree.
    pub kernel: Arc<Kernel>,
    /// Values of the parameters, by `ParamId`.
    pub params: Vec<i64>,
    /// All dependences of the kernel.
    pub dependences: Arc<DependenceSet>,
    /// How the oracle works.
    pub oracle: OracleOptions,
    /// What nests are known as, and which libraries may be called for them.
    pub idioms: Arc<Idioms>,
}

impl Problem {
    /// What oracles judge its variants by.
    ///
    /// # Errors
    /// Where its original cannot be described.
    pub fn case(&self) -> Result<Case, AnalysisError> {
        let case = Case::new(self.kernel.clone(), self.dependences.clone(), self.oracle)?;
        Ok(case.with_idioms(self.idioms.clone()))
    }
}

/// Bounds of a search, all of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps in a recipe.
    pub depth: usize,
    /// Variants that go on from one depth to the next.
    pub beam: usize,
    /// Distinct variants tried: ranked, and judged where they are promising.
    pub variants: usize,
    /// Legal variants looked for, the cheapest first, among those that a sketch or a kind of move makes of one variant.
    pub promising: usize,
    /// Dependences that a guided search asks about, over all variants judged, before it gives up where nothing has gained.
    pub questions: usize,
    /// Statement leaves of a variant's tree, where the original has fewer: larger ones are not tried.
    pub leaves: u32,
    /// Refused variants remembered.
    pub refused: usize,
    /// Threads; 0: one per core.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 6,
            beam: 6,
            variants: 600,
            promising: 6,
            questions: 40_000,
            leaves: 256,
            refused: 200,
            threads: 0,
        }
    }
}

/// A search, ready to run.
pub struct Explorer<'a> {
    /// What is searched.
    pub problem: Problem,
    /// Where moves come from.
    pub moves: &'a dyn MoveSource,
    /// What draws variants of whole nests.
    pub sketches: &'a Sketches,
    /// What ranks variants.
    pub cost: &'a dyn CostModel,
    /// The machine, for sketches whose sizes follow from it.
    pub target: &'a dyn Target,
    /// How far it goes.
    pub limits: Limits,
    /// In which order.
    pub strategy: Strategy,
    /// Threads that may share loops; 1: no loop is marked for them.
    pub threads: u32,
    /// Called now and then from the thread that runs the search.
    pub progress: Option<&'a dyn Fn(&Statistics)>,
}

impl Explorer<'_> {
    /// Runs the search. The result holds the original as one of its variants.
    pub fn explore(&self) -> Exploration {
        let prepared = self.cost.prepare(&self.problem.kernel, &self.problem.params);
        let mut engine = Engine::new(self, &*prepared);
        let stop = self.strategy.run(&mut engine);
        engine.finish(stop)
    }
}

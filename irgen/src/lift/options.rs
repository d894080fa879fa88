//! Which analyses lifting asks.

use std::sync::Arc;

use analyses::accesses::{Accesses, Delinearised};
use analyses::control_flow::{ControlFlow, FromGraph};
use analyses::idioms::FUNCTIONS;

use super::closed_forms::{AffineRecurrences, ClosedFormsSource};
use super::hints;
use super::owned::OwnedGlobals;
use crate::llvm::Module;

/// The analyses that lifting is handed. Each choice is sound; a weaker one describes less.
#[derive(Clone, Debug)]
pub struct LiftOptions {
    /// Values as functions of loop counters, and how often loops run.
    pub closed_forms: Arc<dyn ClosedFormsSource>,
    /// Which element of which array is accessed.
    pub accesses: Arc<dyn Accesses>,
    /// What runs whenever the code around it does, and what never together.
    pub control_flow: Arc<dyn ControlFlow>,
    /// What is known of the module's variables; by default nothing.
    pub owned: Arc<OwnedGlobals>,
    /// Whether a flag of the compiler says of all loops that they are not unrolled, so that no user says so of one; by
    /// default it is taken for a user's wish.
    pub never_unrolled: bool,
    /// Functions of libraries that idioms may call: kernels say which of them may not be called.
    pub functions: Vec<Arc<str>>,
}

impl LiftOptions {
    /// The same analyses, with what is known of a module, before any of its functions changes. Cost: linear in the module.
    #[must_use]
    pub fn knowing(self, module: &Module<'_>) -> LiftOptions {
        LiftOptions {
            owned: Arc::new(OwnedGlobals::of(module)),
            never_unrolled: hints::are_never_unrolled(module),
            ..self
        }
    }
}

impl Default for LiftOptions {
    fn default() -> Self {
        LiftOptions {
            closed_forms: Arc::new(AffineRecurrences),
            accesses: Arc::new(Delinearised),
            control_flow: Arc::new(FromGraph),
            owned: Arc::default(),
            never_unrolled: false,
            functions: FUNCTIONS.map(Arc::from).into(),
        }
    }
}

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
    /// Whether the compiler unrolls loops. Where a flag forbids that it says so of each loop, as users say it of one. Where this is not known,
    /// what is said is a user's wish, unless [`LiftOptions::knowing`] finds that it is said of all loops.
    pub unrolls: Option<bool>,
    /// Functions of libraries that idioms may call: kernels say which of them may not be called.
    pub functions: Vec<Arc<str>>,
}

impl LiftOptions {
    /// The same analyses, with what is known of a module, before any of its functions changes. Cost: linear in the module.
    #[must_use]
    pub fn knowing(self, module: &Module<'_>) -> LiftOptions {
        LiftOptions {
            owned: Arc::new(OwnedGlobals::of(module)),
            unrolls: self.unrolls.or_else(|| Some(!hints::are_never_unrolled(module))),
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
            unrolls: None,
            functions: FUNCTIONS.map(Arc::from).into(),
        }
    }
}

//! Which analyses lifting asks.

use std::sync::Arc;

use analyses::accesses::{Accesses, Delinearised};
use analyses::control_flow::{ControlFlow, FromGraph};

use super::closed_forms::{AffineRecurrences, ClosedFormsSource};
use super::owned::OwnedGlobals;

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
}

impl Default for LiftOptions {
    fn default() -> Self {
        LiftOptions {
            closed_forms: Arc::new(AffineRecurrences),
            accesses: Arc::new(Delinearised),
            control_flow: Arc::new(FromGraph),
            owned: Arc::default(),
        }
    }
}

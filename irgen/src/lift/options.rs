//! Which analyses lifting asks.

use std::sync::Arc;

use super::closed_forms::{AffineRecurrences, ClosedFormsSource};

/// The analyses that lifting is handed. Each choice is sound; a weaker one describes less.
#[derive(Clone, Debug)]
pub struct LiftOptions {
    /// Values as functions of loop counters, and how often loops run.
    pub closed_forms: Arc<dyn ClosedFormsSource>,
}

impl Default for LiftOptions {
    fn default() -> Self {
        LiftOptions { closed_forms: Arc::new(AffineRecurrences) }
    }
}

//! Which analyses lifting asks.

use analyses::accesses::{FromTypes, Linear};
use analyses::control_flow::FromPredicates;
use irgen::lift::{LiftOptions, ScalarEvolution};
use std::sync::Arc;

/// The usual analyses for most seeds, and each of the others for some; the same for four seeds in a row.
pub fn asked(seed: u64) -> LiftOptions {
    let mut options = LiftOptions::default();
    match seed / 4 % 12 {
        1 => options.accesses = Arc::new(Linear),
        4 => options.accesses = Arc::new(FromTypes),
        7 => options.control_flow = Arc::new(FromPredicates),
        2 | 5 | 8 => options.closed_forms = Arc::new(ScalarEvolution),
        11 => {
            options.closed_forms = Arc::new(ScalarEvolution);
            options.control_flow = Arc::new(FromPredicates);
        }
        _ => {}
    }
    options
}

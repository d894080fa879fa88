//! Searching by measurement, beyond one process and one machine.
//!
//! An [`Item`] is one measurement to make: a region of a file, a recipe, the values of its parameters. It is a line of JSON, so
//! that any engine can hand it to a machine. A [`Report`] is what came of it, with every sample; it holds its item and is a
//! line too. A [`Store`] keeps both in an SQLite database.
//!
//! *Invariants.* An item is named by what is measured ([`Item::id`]), a report by what it says ([`Report::id`]): whatever arrives
//! twice is one. Results are never trusted: a report that contradicts itself is not taken in, a recipe that once computed
//! something else is never chosen, and what is chosen is still judged by the oracle.

mod identity;
mod item;
mod store;

pub use identity::kernel_hash;
pub use item::{FORMAT, Item, ItemError, Outcome, Report, Size, code_name};
pub use store::{Best, Measured, Store, StoreError, Taken};

/// Median and quartiles of ratios, original over variant.
pub use crate::measure::Spread;

//! Exact integer sets and relations: a safe wrapper of isl 0.27, of what the analyses use.
//!
//! What of isl matters here:
//!
//! - **Threads.** Reference counts and caches of a context are not atomic, so no handle is `Send` or `Sync`:
//!   one context per thread, and plain data ([`Conjunction`]) to cross.
//! - **Ownership.** A method that takes `self` or an argument by value consumes it as isl does, and may
//!   update in place; `clone` counts a reference. A context is freed after its last object. Objects of two
//!   contexts in one call are an error.
//! - **Errors.** Every call returns `Result`. isl remembers an error in its context and then refuses valid
//!   calls, so each error is reset when it is reported. A result beside an error is dropped.
//! - **Quotas.** Every call has a limit of operations, never of time, so that results are reproducible:
//!   [`DEFAULT_QUOTA`] per call, or what [`Ctx::with_quota`] grants to several together. Out of quota is
//!   [`IslError::Quota`]: nothing is known then. The count depends a little on what the context did before
//!   (it caches memory blocks), so a verdict near its quota is only reproducible from a fresh context.
//! - **Integers.** Exact inside; one that leaves isl must fit `i64`, or the error is [`IslError::Overflow`].
//! - **Order.** Lists of unions are sorted by name; the order of disjuncts and constraints depends only on
//!   the operations made in the context.

mod aff;
mod ctx;
#[allow(unsafe_code)]
mod ffi;
mod handle;
mod map;
mod rows;
mod set;
mod space;
#[cfg(test)]
mod tests;
mod union;

pub use aff::Aff;
pub use ctx::{Ctx, DEFAULT_QUOTA, IslError, version};
pub use map::Map;
pub use rows::{Conjunction, Row};
pub use set::{Optimum, Set};
pub use space::{DimType, Space};
pub use union::{Dataflow, UnionMap};

//! C programs through the whole compiler: the variants that the oracle allows against the original, bit for bit.
//!
//! Many small functions are one translation unit. Clang runs once; the rest happens in this process ([`Batch`]), and
//! compiled code runs in children of it ([`isolate`]).

mod asked;
mod batch;
mod calls;
mod check;
pub mod isolate;
mod plan;
mod show;

pub use asked::asked;
pub use batch::{Batch, BatchError, Level, load_threads, threads_wait_passively};
pub use calls::{Calls, RunFunction};
pub use check::{Mismatch, PROMISES, Tally, check, shrink_mismatch};
pub use plan::{Choice, PlanTally, PlannedRegion, plan_module, vector_bits};
pub use show::show;

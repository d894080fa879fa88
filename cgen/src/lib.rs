//! Loop trees to C: readable functions that compute what the kernel does, to the bit.
//!
//! A [`File`] takes a function for each kernel and tree. It has the run-time check, the variant where that holds, and the original
//! order where it does not. No compiler is known here: what is said is C11 with `__int128` and vector types, as gcc and clang take
//! it, with the meaning of LLVM's operations. Integers that may wrap are computed without sign; signed arithmetic is written only
//! where an overflow would be undefined in the kernel as well.
//!
//! ```
//! let program = loop_tree::text::parse(
//!     "nest @scale[N: i32] {
//!        array A: f64[N]
//!        scalar s: f64 in
//!        for i in 0..N { S: A[i] = A[i] * s }
//!      }",
//! )?;
//! let mut file = cgen::File::new();
//! let kernel = &*program.kernel;
//! file.add("scale", &cgen::Variant { kernel, root: program.tree(), conditions: &[], calls: &Default::default(), comment: "" })?;
//! assert!(file.text().ends_with(
//! "void scale(int32_t N, double *restrict A, double s) {
//!   for (int64_t i = 0; i < N; ++i) {
//!     A[i] *= s;
//!   }
//! }
//! "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arith;
mod buffers;
mod check;
mod code;
mod emitter;
mod error;
mod file;
mod function;
mod helpers;
mod lanes;
mod library;
mod names;
mod nest;
mod operation;
mod privates;
mod signature;
mod statement;
mod storage;
mod types;

pub use error::CgenError;
pub use file::File;
pub use function::{Function, Variant};
pub use signature::Argument;

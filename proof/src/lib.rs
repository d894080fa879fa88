//! Random programs against everything that may be wrong.
//!
//! - [`c_programs`]: random affine and nearly affine C functions without undefined behaviour, which shrink.

pub mod c_programs;

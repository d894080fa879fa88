//! Random programs against everything that may be wrong.
//!
//! - [`c_programs`]: random affine and nearly affine C functions without undefined behaviour, which shrink.
//! - [`differential`]: these through lifting and emission, bit for bit against the original.
//! - [`kernels`]: random kernels as `.lt` text, which shrink.
//! - [`brute_force`]: legality by enumeration, without integer sets.

pub mod brute_force;
pub mod c_programs;
pub mod differential;
pub mod kernels;

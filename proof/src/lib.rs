//! Random programs against everything that may be wrong.
//!
//! - [`c_programs`]: random affine and nearly affine C functions without undefined behaviour, which shrink.
//! - [`differential`]: these through lifting and emission, bit for bit against the original.
//! - [`c_code`]: C that is emitted, by gcc and clang, against the interpreter.
//! - [`ir_loops`]: random loops as LLVM IR: those that read [`again`] what they may overwrite, those by steps that only the program
//!   knows ([`strides`]), those over rows and [`planes`] of such lengths, and those around calls of which nothing is known ([`called`]).
//! - [`cases`]: files that say what must hold of them.
//! - [`hostile`]: arbitrary bytes into everything that reads.
//! - [`soak`]: all of it, for as long as wanted.
//! - [`mutants`]: would a missing rule be noticed?
//! - [`kernels`]: random kernels as `.lt` text, which shrink.
//! - [`brute_force`]: legality by enumeration, without integer sets; [`legality`]: the oracle against it, also on
//!   [`buffers`] around random subtrees.

pub mod again;
pub mod brute_force;
pub mod buffers;
pub mod c_code;
pub mod c_programs;
pub mod called;
pub mod cases;
pub mod differential;
pub mod hostile;
pub mod ir_loops;
pub mod kernels;
pub mod legality;
pub mod mutants;
pub mod planes;
pub mod soak;
pub mod strides;

//! What turning loop trees into code asks of them, whatever the code is written in.
//!
//! - [`buffers`]: where they are, and how much memory they may take.
//! - [`scope`]: variables and buffers around a node, by name and by place.
//! - [`ranges`]: within which limits on parameters all integers are exact, and which values expressions have there.
//! - [`extent`]: the elements of an array that a kernel touches.
//! - [`lanes`]: how many a vector loop has.
//! - [`conditions`]: what the run-time check tests.
//!
//! `irgen` writes LLVM IR with it, `cgen` C.

pub mod buffers;
pub mod conditions;
pub mod extent;
pub mod lanes;
pub mod ranges;
pub mod scope;

/// A coefficient, or a value that has to be exact, is beyond 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an expression has coefficients beyond 64 bits")]
pub struct Inexact;

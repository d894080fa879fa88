//! The `.lt` text form: kernels and trees that a person can read and write.
//!
//! ```text
//! nest @gemm[N: i64, M] {                     ; parameters; i64 is the default type
//!   assume N >= 1, N <= 4096                  ; what is known about them
//!   array A: f64[N, M]
//!   array B: f64[?, M] alias 1                ; `?`: outermost extent unknown; arrays of one alias class may overlap;
//!                                             ; `alias 1:0` and `alias 1:2` do not: they lie in different objects
//!   scalar alpha: f64 in                      ; in | out | local | memory (the default)
//!   require nooverlap(A, B)                   ; what any other variant must check before it runs
//!   nocall memcpy, memset                     ; which functions of libraries no variant may call
//!   for i in 0..N {
//!     for j in max(0, i - 1)..min(N, 2*i + 3) {
//!       if i >= 1 && j < 5 || i == 0 { S0: A[i, j] = A[i, j] * alpha + f64(i) }
//!     }
//!   }
//!   variant { for j in 0..N { for i in 0..N { S0 } } }
//! }
//! ```
//!
//! [`parse()`] and [`print()`] are inverse to each other for valid programs in canonical form, but for
//! [`Op::origin`](crate::Op::origin), which has no meaning without the table it indexes and is not in the text.

mod buffer;
mod constraint;
mod elaborate;
mod expression;
mod lexer;
mod linear;
mod operations;
mod parser;
mod print;
mod print_statement;
mod tree;

#[cfg(feature = "arbitrary")]
pub(crate) use elaborate::plain_cast;
pub use lexer::{quoted, unquoted};
pub use print::{print, print_affine, print_constraint, print_kernel, print_runtime_condition, print_tree};

use crate::{Affine, Green, Kernel, RuntimeCondition, VarId};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of text accepted.
pub const MAX_BYTES: usize = 8 << 20;
/// Blocks or parentheses inside each other accepted.
pub const MAX_DEPTH: usize = 200;

/// A kernel and, perhaps, another order for its statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What is computed, and its original order.
    pub kernel: Arc<Kernel>,
    /// Another tree over the same statements, in canonical form.
    pub variant: Option<Green>,
}

impl Program {
    /// The tree to work on: the variant, or else the original order.
    pub fn tree(&self) -> &Green {
        self.variant.as_ref().unwrap_or(&self.kernel.original)
    }
}

/// Why text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TextError {
    /// What is wrong.
    pub message: String,
    /// What could be done about it.
    pub help: Option<String>,
    /// Bytes of the text concerned; within the text.
    pub span: Range<usize>,
}

impl TextError {
    /// Line and column (from 1) of the start of the span.
    pub fn line_column(&self, text: &str) -> (usize, usize) {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// Reads a program. The trees are brought into canonical form, and everything is [validated](crate::validate).
pub fn parse(text: &str) -> Result<Program, TextError> {
    parser::program(text)
}

/// Reads a tree over the statements of a kernel, as [`print_tree`] writes it, into canonical form.
pub fn parse_tree(kernel: &Kernel, text: &str) -> Result<Green, TextError> {
    parser::tree_of(kernel, text)
}

/// Reads a run-time condition: `nooverlap(A, B)` or a comparison of parameters.
pub fn parse_runtime_condition(kernel: &Kernel, text: &str) -> Result<RuntimeCondition, TextError> {
    parser::runtime_condition_of(kernel, text)
}

/// Reads an expression as [`print_affine`] writes it, over parameters and the variables of a scope, innermost last.
pub fn parse_affine(kernel: &Kernel, scope: &[VarId], text: &str) -> Result<Affine, TextError> {
    parser::affine_of(kernel, scope, text)
}

/// Whether text has the form of an affine expression, whatever its names are.
pub fn check_affine(text: &str) -> Result<(), TextError> {
    parser::any_affine(text)
}

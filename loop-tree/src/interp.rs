//! The reference interpreter: what a tree computes, on concrete parameters and memory.
//!
//! Slow and plain on purpose; everything else is tested against it. Semantics are those of LLVM IR, bit for bit
//! (transcendental functions are those of the host). Poison may be computed but not observed: storing it, testing it or
//! dividing by it is an error, as is everything undefined. Work is bounded by fuel, never by time.
//!
//! - [`Layout`], [`Memory`]: arrays as views of bytes; they may be placed so that they overlap.
//! - [`Machine`]: a tree made ready for one layout; [`run`] in one call.
//! - [`instances`], [`accesses`]: what a tree executes and touches, in order, without computing values.

mod buffers;
mod compile;
mod listing;
mod machine;
mod memory;
mod value;

pub use listing::{Instance, Touch, accesses, instances};
pub use machine::{AccessEvent, Machine, Observer, RunOptions, RunStats, run};
pub use memory::{Layout, Memory};

use crate::{AccessId, Invalid, Kernel, OpId};

/// Why a tree cannot be executed, or not further.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{kind}", self.place())]
pub struct InterpError {
    /// What happened.
    pub kind: InterpErrorKind,
    /// The statement and the values of its dims, where it happened in one.
    pub at: Option<(String, Vec<i64>)>,
}

impl InterpError {
    fn place(&self) -> String {
        match &self.at {
            None => String::new(),
            Some((name, dims)) => {
                let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
                format!("{name}({}): ", dims.join(", "))
            }
        }
    }
}

impl From<InterpErrorKind> for InterpError {
    fn from(kind: InterpErrorKind) -> Self {
        InterpError { kind, at: None }
    }
}

/// There is one value for each parameter.
fn check_parameters(kernel: &Kernel, params: &[i64]) -> Result<(), InterpError> {
    match (params.len(), kernel.params.len()) {
        (given, wanted) if given == wanted => Ok(()),
        (given, wanted) => Err(InterpErrorKind::ParameterCount { given, wanted }.into()),
    }
}

/// What can go wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterpErrorKind {
    /// The kernel or tree breaks a rule.
    #[error("{0}")]
    Invalid(Box<Invalid>),
    /// Not one value per parameter.
    #[error("{given} parameter values for {wanted} parameters")]
    ParameterCount {
        /// Values given.
        given: usize,
        /// Parameters of the kernel.
        wanted: usize,
    },
    /// An extent that is negative or has no value.
    #[error("the array `{0}` has no valid extent")]
    Extent(String),
    /// Memory beyond the interpreter's limit.
    #[error("the arrays do not fit in memory ({0} bytes at most)")]
    TooLarge(usize),
    /// The memory was made for another layout.
    #[error("the memory has another layout than the machine")]
    OtherLayout,
    /// An affine expression whose value does not fit in 64 bits.
    #[error("an affine expression has no value in 64 bits")]
    NoValue,
    /// A subscript outside the extents.
    #[error("`{array}` subscript {subscript} of dimension {dimension} is outside of 0..{extent}")]
    OutOfBounds {
        /// The array's name.
        array: String,
        /// Dimension, from 0.
        dimension: usize,
        /// The subscript's value.
        subscript: i64,
        /// The dimension's extent.
        extent: i64,
    },
    /// An access that says only which array is touched.
    #[error("access {0:?} does not say which element it touches")]
    UnknownElement(AccessId),
    /// Division by zero, or of the least number by minus one.
    #[error("{0:?}: the division is undefined")]
    Division(OpId),
    /// A poison value is stored, tested or divided by.
    #[error(
        "{0:?}: a poison value is used (overflow despite its flags, shift too far, conversion out of range)"
    )]
    Poison(OpId),
    /// An operation's operand was not executed, because its mask was false.
    #[error("{0:?}: an operand was not executed")]
    Unexecuted(OpId),
    /// An operation that only its owner understands.
    #[error("{0:?}: an operation that only its owner knows cannot be interpreted")]
    Opaque(OpId),
    /// A predicate or exit of a loop decides, and no values are computed here.
    #[error("a predicate decides what is executed; run the tree instead")]
    NeedsValues,
    /// An unbounded loop without exit condition.
    #[error("a loop ends in a way that only its owner knows")]
    UnknownExit,
    /// A predicate that holds neither true nor false.
    #[error("the predicate `{0}` has no value")]
    Predicate(String),
    /// Fuel or another limit is used up.
    #[error("the limit of {0} steps is reached")]
    Fuel(u64),
}

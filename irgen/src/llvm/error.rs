//! What may go wrong between us and LLVM.

use std::fmt;
use std::path::PathBuf;

/// The result of an operation of this layer.
pub type Result<T, E = LlvmError> = std::result::Result<T, E>;

/// An error of LLVM, or of a request that LLVM would not survive.
#[derive(Debug, thiserror::Error)]
pub enum LlvmError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Text or bitcode that is no module.
    #[error("{place}: {message}")]
    Parse {
        /// Where in the input.
        place: InputPosition,
        /// What LLVM says.
        message: String,
    },
    /// A module that breaks the rules of the IR.
    #[error("the module does not verify: {0}")]
    Verify(String),
    /// A pass pipeline that is unknown, or that failed.
    #[error("passes `{pipeline}`: {message}")]
    Passes {
        /// The pipeline asked for.
        pipeline: String,
        /// What LLVM says.
        message: String,
    },
    /// No code can be generated for this target, processor or option.
    #[error("target {triple}: {message}")]
    Target {
        /// The target triple.
        triple: String,
        /// What LLVM says.
        message: String,
    },
    /// Code that this machine cannot execute.
    #[error(
        "`{function}` is compiled for {what}: this machine cannot execute it, but what -march=native makes"
    )]
    Machine {
        /// A function.
        function: String,
        /// What it is compiled for.
        what: String,
    },
    /// Code generation failed.
    #[error("code generation failed: {0}")]
    Codegen(String),
    /// The JIT could not be built, filled or searched.
    #[error("JIT: {0}")]
    Jit(String),
    /// Two modules do not go together.
    #[error("the modules cannot be linked: {0}")]
    Link(String),
    /// There is no function of this name.
    #[error("there is no function `{0}` in the module")]
    NoFunction(String),
    /// An argument that would make LLVM misbehave.
    #[error("{operation}: {reason}")]
    Argument {
        /// What was asked for.
        operation: &'static str,
        /// Why it is refused.
        reason: &'static str,
    },
}

impl LlvmError {
    pub(crate) fn argument(operation: &'static str, reason: &'static str) -> LlvmError {
        LlvmError::Argument { operation, reason }
    }
}

/// Refuses `operation` for `reason` unless `holds`.
pub(crate) fn require(holds: bool, operation: &'static str, reason: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(LlvmError::argument(operation, reason)) }
}

/// A place in an input; line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPosition {
    /// The input's name.
    pub name: String,
    /// `None` for bitcode.
    pub line: Option<u32>,
    /// `None` for bitcode.
    pub column: Option<u32>,
}

impl fmt::Display for InputPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

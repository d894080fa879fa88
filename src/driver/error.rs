//! What ends the work on a module or a kernel.

use super::ModelError;
use analyses::AnalysisError;
use cgen::CgenError;
use irgen::emit::EmitError;
use irgen::llvm::{LlvmError, is_bitcode};
use transforms::{RecipeError, ReplayError};

/// What ends the work on a module or a kernel.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// A file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// clang cannot be run.
    #[error("cannot run {program}")]
    Run {
        /// What was tried.
        program: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// clang does not accept the input.
    #[error("clang-22 does not compile {file}:\n{message}")]
    Clang {
        /// The file.
        file: String,
        /// clang's words.
        message: String,
    },
    /// What is easily taken for IR.
    #[error("{file} is {what}: no LLVM IR")]
    NotIr {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
    },
    /// LLVM does not accept the input, or what was made of it.
    #[error(transparent)]
    Llvm(#[from] LlvmError),
    /// No such function.
    #[error("there is no function `{name}` with a body in {module}; there are: {available}")]
    NoFunction {
        /// The name asked for.
        name: String,
        /// The input.
        module: String,
        /// What there is.
        available: String,
    },
    /// A name that several functions have.
    #[error("`{name}` may be any of `{candidates}`")]
    SeveralFunctions {
        /// The name asked for.
        name: String,
        /// What these are called.
        candidates: String,
    },
    /// No such region.
    #[error("{function} has no region {number}; regions are counted from 0, and it has {count}")]
    NoRegion {
        /// The function.
        function: String,
        /// Regions found.
        count: usize,
        /// The number asked for, from 0.
        number: usize,
    },
    /// Several regions, or none, where one is needed.
    #[error("one region is needed; selected are: {}", if regions.is_empty() { "none" } else { regions.as_str() })]
    NotOneRegion {
        /// The regions selected.
        regions: String,
    },
    /// A model is not known by this name.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Dependences cannot be had.
    #[error("{region}: {source}")]
    Analysis {
        /// Function and number.
        region: String,
        /// Why.
        source: AnalysisError,
    },
    /// Recipe text that cannot be read.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// A recipe that does not apply.
    #[error("{region}: {source}")]
    Replay {
        /// Function and number.
        region: String,
        /// Why.
        source: ReplayError,
    },
    /// A recipe that would change what is computed.
    #[error("{region}: the recipe is not valid: {witness}")]
    Illegal {
        /// Function and number.
        region: String,
        /// The dependence in the way.
        witness: Box<analyses::Witness>,
    },
    /// Code of a machine that there is no model of.
    #[error("code for {triple} is not taken, only for x86-64 with pointers of 64 bits")]
    Target {
        /// What the module says.
        triple: String,
    },
    /// What is to be replaced is not what was explored.
    #[error("{region}: {why}")]
    Differs {
        /// Function and number.
        region: String,
        /// How.
        why: String,
    },
    /// A variant has no C.
    #[error("{region}: {source}")]
    C {
        /// Function and number.
        region: String,
        /// Why.
        source: CgenError,
    },
    /// A variant has no IR.
    #[error("{region}: {source}")]
    Emit {
        /// Function and number.
        region: String,
        /// Why.
        source: EmitError,
    },
}

impl DriverError {
    /// What to do about input that is no IR.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            DriverError::NotIr { .. } => {
                Some("IR is what `clang-22 -O3 -Xclang -disable-llvm-passes -emit-llvm -c` writes")
            }
            DriverError::Llvm(_) => {
                Some("the input must be LLVM 22 IR or bitcode that `opt-22 -passes=verify` accepts")
            }
            _ => None,
        }
    }
}

/// Refuses what is easily taken for IR.
///
/// # Errors
/// [`DriverError::NotIr`]
pub fn require_ir(file: &str, bytes: &[u8]) -> Result<(), DriverError> {
    let what = match bytes {
        [0x7f, b'E', b'L', b'F', ..] => "an object file or a program",
        _ if bytes.starts_with(b"!<arch>") => "an archive",
        _ if !is_bitcode(bytes) && bytes.contains(&0) => "neither text nor bitcode",
        _ => return Ok(()),
    };
    Err(DriverError::NotIr { file: file.to_string(), what })
}

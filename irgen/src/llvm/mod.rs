//! LLVM 22 behind sound Rust: modules, values, analyses, building, passes, code generation and a JIT.
//!
//! A [`Context`] owns types and constants, a [`Module`] borrows it, and every handle ([`Value`], [`Function`],
//! [`Block`], [`Inst`], [`Type`], [`Metadata`]) is a `Copy` pointer that borrows the module. Nothing here is `Send`: a
//! thread has a context of its own, and modules cross as bitcode.
//!
//! Handles share the module (LLVM's graph is mutable anyway), so adding is safe while handles exist. What would leave
//! handles dangling is either `unsafe` (erasing single instructions or blocks) or takes `&mut Module` (passes).
//!
//! LLVM aborts the process on broken requests; what it would not survive is checked first and refused as
//! [`LlvmError::Argument`]. What remains fatal: damaged bitcode of certain kinds ([`try_reading`] finds them), instructions
//! that a target cannot select, and exhausted memory. Programs tell of it by [`on_fatal_error`].

mod analyses;
mod builder;
mod context;
mod cost;
mod edit;
mod error;
mod fatal;
pub(crate) mod ffi;
mod function;
mod inst;
mod jit;
mod kinds;
mod metadata;
mod module;
pub mod plugin;
mod scev;
mod steps;
mod strings;
mod target;
mod trial;
mod types;
mod value;

#[cfg(test)]
mod tests;

pub use analyses::{Analyses, LoopId, LoopInfo};
pub use builder::Builder;
pub use context::{Context, Diagnostic, Severity, version};
pub use cost::CostKind;
pub use error::{InputPosition, LlvmError, Result};
pub use fatal::on_fatal_error;
pub use function::{Argument, Block, Function};
pub use inst::{Call, Inst};
pub use jit::Jit;
pub use kinds::{
    Effects, FastMath, GepFlags, IntPredicate, Linkage, MemoryEffects, ModRef, Opcode, Ordering, PoisonFlags,
    RealPredicate,
};
pub use metadata::{HintValue, LoopHint, Metadata, MetadataKind, SourceLocation};
pub use module::{Annotation, DataLayout, Module, with_lent_module};
pub use scev::{BackedgeCount, Scev, ScevKind, Wrap};
pub use steps::Steps;
pub use target::{CodeModel, FileType, OptLevel, TargetMachine};
pub use trial::{is_bitcode, try_reading};
pub use types::{Type, TypeKind};
pub use value::{FpBits, Global, Value};

//! LLVM IR to loop trees and back.

pub mod emit;
pub mod lift;
pub mod llvm;
#[doc(hidden)]
pub mod mutation;

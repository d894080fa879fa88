//! LLVM IR to loop trees and back.

pub mod llvm;

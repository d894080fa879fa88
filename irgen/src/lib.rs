//! LLVM IR to loop trees and back.

//! Where the variables of a changed module begin.

use crate::llvm::Module;

/// Bytes of a line of the cache, and of the longest vector: what crosses lines is accessed twice.
const LINE: u64 = 64;

/// Variables shorter than this stay where they are.
const SHORTEST: u64 = 16 * LINE;

/// Long variables that the module defines begin at a line of the cache, as vectors that new code goes through them by should. Front ends
/// ask for less: 16 bytes on x86-64, by its ABI. Variables that another definition may replace, or whose place is somebody else's
/// business, keep theirs.
pub fn align_variables(module: &Module<'_>) {
    for variable in module.globals() {
        variable.raise_alignment(LINE, SHORTEST);
    }
}

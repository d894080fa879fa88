//! What LLVM does not survive, told in one's own words.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;

static TELL: OnceLock<fn(&str) -> !> = OnceLock::new();

/// Has a function end the process where LLVM would end it, with LLVM's reason. For programs: a process has one such function,
/// which is the first.
pub fn on_fatal_error(tell: fn(&str) -> !) {
    if TELL.set(tell).is_ok() {
        // SAFETY: no handler is installed, as this is the only place and executes once.
        unsafe { LLVMInstallFatalErrorHandler(Some(handler)) }
    }
}

extern "C" fn handler(reason: *const c_char) {
    // SAFETY: LLVM hands a terminated string.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    if let Some(tell) = TELL.get() {
        tell(&reason);
    }
}

//! Strings across the border.

use std::ffi::{CStr, CString, c_char};

use llvm_sys::core::LLVMDisposeMessage;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};

/// A C string of `text`, which is cut at its first zero byte, if any: names with zero bytes do not occur in IR that C
/// functions can name.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Takes a message that LLVM made.
///
/// # Safety
/// `message` is null or came from LLVM, to be freed by `LLVMDisposeMessage`, and is used by no one else.
pub(crate) unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: by contract a terminated string, ours to free.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Takes an LLVM error; `Ok` when it is none.
///
/// # Safety
/// `error` is null or an error that is used by no one else.
pub(crate) unsafe fn take_error(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: by contract an error of ours; taking its message consumes it, and the message is disposed of once.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// Copies a string that LLVM owns.
///
/// # Safety
/// `data` is null, or `len` bytes can be read from it.
pub(crate) unsafe fn copy_str(data: *const c_char, len: usize) -> String {
    if data.is_null() {
        return String::new();
    }
    // SAFETY: by contract.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

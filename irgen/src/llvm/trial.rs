//! Reading bitcode that may be damaged.

use super::context::Context;
use super::error::{InputPosition, LlvmError, Result};
use std::io;

/// How long reading may take, in seconds. Of undamaged bitcode LLVM reads a gigabyte in that time.
const SECONDS: u32 = 60;

/// Reads and verifies the input in a child process where it is bitcode: LLVM's reader trusts it, so that on damaged files it
/// may crash, or ask for all memory that there is. What it survives, with a module or with an error, is `Ok`. Text is left
/// to [`Context::parse`], whose errors are ordinary ones.
///
/// Costs a `fork` and another reading, and nothing for text.
///
/// # Errors
///
/// [`LlvmError::Parse`] where the child did not come to an end by itself, [`LlvmError::Io`] where there can be none.
///
/// # Safety
///
/// The caller is the only thread of the process: another one could hold a lock that the child then waits for.
pub unsafe fn try_reading(bytes: &[u8], name: &str) -> Result<()> {
    if !is_bitcode(bytes) {
        return Ok(());
    }
    // SAFETY: the only thread, says the caller; the child reads, and ends without running destructors.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(LlvmError::Io { path: name.into(), source: io::Error::last_os_error() });
    }
    if child == 0 {
        read_and_exit(bytes, name);
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        let source = io::Error::last_os_error();
        if source.kind() != io::ErrorKind::Interrupted {
            return Err(LlvmError::Io { path: name.into(), source });
        }
    }
    if status == 0 {
        return Ok(());
    }
    let how = match libc::WTERMSIG(status) {
        libc::SIGALRM => format!("did not end within {SECONDS} s"),
        // By itself, which is no signal, or by its own.
        0 | libc::SIGABRT => "gave up".to_owned(),
        signal => format!("crashed (signal {signal})"),
    };
    let place = InputPosition { name: name.to_owned(), line: None, column: None };
    Err(LlvmError::Parse { place, message: format!("the bitcode is damaged: LLVM's reader {how}") })
}

/// Whether it is bitcode, with or without a wrapper; as in LLVM's `isBitcode`.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(&0x0B17_C0DE_u32.to_le_bytes())
}

fn read_and_exit(bytes: &[u8], name: &str) -> ! {
    // SAFETY: plain system calls with constant arguments; the file descriptor is used only where it is one.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        libc::alarm(SECONDS);
        // What LLVM says when it gives up would stand beside our own error.
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        if nowhere >= 0 {
            libc::dup2(nowhere, libc::STDERR_FILENO);
        }
    }
    let context = Context::new();
    if let Ok(module) = context.parse(bytes, name) {
        let _ = module.verify();
    }
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(0) }
}

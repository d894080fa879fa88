//! The first call of a function, in a process of its own: for inputs that it refuses it may end its process, or never return.

use std::io;
use std::time::Duration;

/// What the child ends with after the call has returned; a program that ends itself has others.
const RETURNED: i32 = 113;

/// Why there is no result of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoReturn {
    /// It took longer than allowed.
    Late(Duration),
    /// It ended its process with this code.
    Exit(i32),
    /// A signal ended it, as `abort` and wild addresses do.
    Signal(i32),
}

impl std::fmt::Display for NoReturn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoReturn::Late(limit) => write!(f, "has not returned after {} s", limit.as_secs()),
            NoReturn::Exit(code) => write!(f, "ends its process (exit code {code})"),
            NoReturn::Signal(libc::SIGABRT) => f.write_str("aborts"),
            NoReturn::Signal(signal) => write!(f, "ends by signal {signal}"),
        }
    }
}

/// Calls in a copy of this process, of which nothing remains: what is printed is lost, too. `Ok(None)` where the call returns.
///
/// What is called must be ready to run without other threads of this process.
///
/// # Errors
/// Where there can be no other process.
pub(super) fn try_calling(call: impl FnOnce(), limit: Duration) -> io::Result<Option<NoReturn>> {
    let seconds = u32::try_from(limit.as_secs()).unwrap_or(u32::MAX).max(1);
    // SAFETY: the child runs the call and plain system calls only, and ends without destructors. The C library's own locks are free in it.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    if child == 0 {
        quiet();
        // SAFETY: plain system calls.
        unsafe { libc::alarm(seconds) };
        call();
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(RETURNED) }
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(match (libc::WIFSIGNALED(status), libc::WTERMSIG(status), libc::WEXITSTATUS(status)) {
        (true, libc::SIGALRM, _) => Some(NoReturn::Late(Duration::from_secs(seconds.into()))),
        (true, signal, _) => Some(NoReturn::Signal(signal)),
        (false, _, RETURNED) => None,
        (false, _, code) => Some(NoReturn::Exit(code)),
    })
}

/// The call is made again by this process, which prints then what there is to print.
fn quiet() {
    // SAFETY: plain system calls with constant arguments; the file descriptor is used only where it is one.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        if nowhere >= 0 {
            libc::dup2(nowhere, libc::STDOUT_FILENO);
            libc::dup2(nowhere, libc::STDERR_FILENO);
        }
    }
}

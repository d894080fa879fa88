//! Work in a child process, which may crash or hang: results come back through shared memory.

use std::io;
use std::ptr;

/// What happened to one piece of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It ended with this value.
    Value(u64),
    /// It ended by this signal.
    Signal(i32),
    /// It took too long, as did the pieces before it together.
    Timeout,
}

/// Computes `work(0..count)` in child processes, each with `seconds` for what is left. A piece that kills its process
/// is passed over.
///
/// The caller must be the only thread of its process. Cost: one `fork` for all, and one per crash.
pub fn isolated(count: usize, seconds: u32, work: &dyn Fn(usize) -> u64) -> io::Result<Vec<Outcome>> {
    let shared = Shared::new(count + 1)?;
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(count);
    while outcomes.len() < count {
        let first = outcomes.len();
        shared.set(0, first as u64);
        // SAFETY: the child only computes, writes to the shared memory and ends without running destructors.
        let child = unsafe { libc::fork() };
        if child < 0 {
            return Err(io::Error::last_os_error());
        }
        if child == 0 {
            // SAFETY: plain system calls; a core file for every crash would fill the disk.
            unsafe {
                let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &none);
                libc::alarm(seconds);
            }
            for at in first..count {
                shared.set(at + 1, work(at));
                shared.set(0, at as u64 + 1);
            }
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let done = (shared.get(0) as usize).clamp(first, count);
        outcomes.extend((first..done).map(|at| Outcome::Value(shared.get(at + 1))));
        if done < count {
            let signal = libc::WTERMSIG(status);
            outcomes.push(if signal == libc::SIGALRM { Outcome::Timeout } else { Outcome::Signal(signal) });
        }
    }
    Ok(outcomes)
}

/// Memory that a process and its children see.
struct Shared {
    start: *mut u64,
    words: usize,
}

impl Shared {
    fn new(words: usize) -> io::Result<Shared> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping.
        let start = unsafe { libc::mmap(ptr::null_mut(), words * 8, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Shared { start: start.cast(), words })
    }

    fn set(&self, at: usize, value: u64) {
        assert!(at < self.words);
        // SAFETY: inside of the mapping; volatile because another process reads it.
        unsafe { self.start.add(at).write_volatile(value) }
    }

    fn get(&self, at: usize) -> u64 {
        assert!(at < self.words);
        // SAFETY: inside of the mapping.
        unsafe { self.start.add(at).read_volatile() }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`.
        unsafe { libc::munmap(self.start.cast(), self.words * 8) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The harness of the tests has several threads; the children here only compute.
    #[test]
    fn crashes_and_endless_loops_are_seen() {
        let work = |at: usize| match at {
            1 => {
                // SAFETY: ends the child.
                unsafe { libc::raise(libc::SIGABRT) };
                0
            }
            3 => loop {
                std::hint::spin_loop();
            },
            _ => at as u64 * 10,
        };
        let outcomes = isolated(5, 1, &work).unwrap();
        let expected = [
            Outcome::Value(0),
            Outcome::Signal(libc::SIGABRT),
            Outcome::Value(20),
            Outcome::Timeout,
            Outcome::Value(40),
        ];
        assert_eq!(outcomes, expected);
    }
}

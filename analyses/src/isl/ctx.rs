//! The context that all isl objects of one thread live in: errors and operation quotas.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::LazyLock;

use super::ffi;

/// The isl that isl-rs brings. Its build takes the version from git, which a crate has none of.
const RELEASE: &str = "0.27";

/// What isl's version ends with where its build read `isl-config.site`.
const INTEGERS: &str = "IMath-32";

/// isl's version, with the integers it was built with.
pub fn version() -> String {
    // SAFETY: a constant, terminated string.
    let text = unsafe { CStr::from_ptr(ffi::isl_version()) }.to_string_lossy();
    let text = text.trim();
    match text.strip_prefix("UNKNOWN") {
        Some(integers) => format!("{RELEASE}{integers}"),
        None => text.trim_start_matches("isl-").to_string(),
    }
}

/// Operations (isl's allocations and pivots, some 50 ns each) granted to every call outside of
/// [`Ctx::with_quota`].
pub const DEFAULT_QUOTA: u64 = 5_000_000;

/// More dimensions than this in one tuple are refused.
pub(super) const MAX_DIMS: usize = 4096;

/// Why isl gave no answer. No answer means that nothing is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IslError {
    /// The computation is too hard for the operations it was granted.
    #[error("isl stopped at its quota of {ops} operations")]
    Quota {
        /// The limit that was reached.
        ops: u64,
    },
    /// The arguments do not fit together, or isl does not support the operation on them.
    #[error("isl: {message} ({file_line})")]
    Invalid {
        /// isl's own words.
        message: String,
        /// Where in isl it was found.
        file_line: String,
    },
    /// An integer does not fit into 64 bits, or is not an integer.
    #[error("a value that isl computed is not a 64-bit integer")]
    Overflow,
    /// A position outside of the dimensions of the object.
    #[error("dimensions {first}..{} asked of {available}", .first + .count)]
    Index {
        /// First position.
        first: usize,
        /// How many.
        count: usize,
        /// How many there are.
        available: usize,
    },
    /// Objects of two contexts met in one operation.
    #[error("isl objects of different contexts cannot be combined")]
    ContextMismatch,
    /// isl is out of memory.
    #[error("isl could not allocate memory")]
    OutOfMemory,
    /// isl was built without the settings of this crate, so that others may be missing too.
    #[error(
        "isl was built with other settings than looptree's ({version}): run `cargo clean -p isl-rs`, and build again"
    )]
    Settings {
        /// Its version, with its integers.
        version: String,
    },
}

impl IslError {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid { message: message.into(), file_line: "looptree".into() }
    }
}

/// An isl context. Cheap to clone; freed when the last clone and the last object in it are gone.
#[derive(Clone)]
pub struct Ctx(Rc<Inner>);

struct Inner {
    ptr: NonNull<ffi::isl_ctx>,
    /// Limit of the innermost open quota, in operations since the outermost one was opened.
    limit: Cell<Option<u64>>,
    /// Operations counted by isl that no quota pays for: of reading the counter.
    free_of_charge: Cell<u64>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: every handle holds a clone of the `Rc`, so none is left. Should isl itself have leaked an
        // object on an error path, then it keeps the context allocated and sets an error in it.
        unsafe { ffi::isl_ctx_free(self.ptr.as_ptr()) }
    }
}

impl Ctx {
    /// A new, empty context.
    pub fn new() -> Result<Self, IslError> {
        const CONTINUE: i32 = 1;
        static AS_SET: LazyLock<bool> = LazyLock::new(|| version().ends_with(INTEGERS));
        if !*AS_SET {
            return Err(IslError::Settings { version: version() });
        }
        // SAFETY: no preconditions; the result is checked before it is used.
        let ptr = NonNull::new(unsafe { ffi::isl_ctx_alloc() }).ok_or(IslError::OutOfMemory)?;
        // SAFETY: `ptr` is a live context.
        unsafe {
            ffi::isl_options_set_on_error(ptr.as_ptr(), CONTINUE);
            ffi::isl_ctx_set_max_operations(ptr.as_ptr(), DEFAULT_QUOTA);
        }
        Ok(Self(Rc::new(Inner { ptr, limit: Cell::new(None), free_of_charge: Cell::new(0) })))
    }

    /// Runs `f` with at most `max_ops` operations (at least one) for all isl calls in it together. What is
    /// left of an enclosing quota bounds an inner one. Once it is used up, every call in `f` fails with
    /// [`IslError::Quota`]; afterwards the enclosing quota is in force again, also when `f` panics.
    pub fn with_quota<R>(&self, max_ops: u64, f: impl FnOnce(&Ctx) -> R) -> R {
        let outer = self.0.limit.get();
        if outer.is_none() {
            self.reset_operations();
        }
        let own = self.operations().saturating_add(max_ops).max(1);
        let _restore = self.limit_to(Some(outer.map_or(own, |o| own.min(o))));
        f(self)
    }

    /// Operations used since the outermost open quota was opened, or by the last call if none is open.
    pub fn operations(&self) -> u64 {
        // isl has no getter. An operation at limit m fails if and only if m or more were counted; one that
        // succeeds counts itself. Invariant: low <= counted <= high.
        let limit = self.raw_limit();
        let (mut low, mut high) = (0, limit);
        while low < high {
            let middle = low + (high - low) / 2 + 1;
            // SAFETY: live context.
            unsafe {
                ffi::isl_ctx_set_max_operations(self.as_ptr(), middle);
                if ffi::isl_ctx_next_operation(self.as_ptr()) < 0 {
                    ffi::isl_ctx_reset_error(self.as_ptr());
                    low = middle;
                } else {
                    self.0.free_of_charge.set(self.0.free_of_charge.get().saturating_add(1));
                    (low, high) = (low + 1, middle);
                }
            }
        }
        self.apply_limit();
        low.saturating_sub(self.0.free_of_charge.get())
    }

    /// Number of references that isl objects hold on the context; a quota error must not raise it.
    #[cfg(test)]
    pub fn live_objects(&self) -> usize {
        let mut count = 0;
        // SAFETY: live context. `isl_ctx_deref` at zero only sets an error; every reference taken is given
        // back before anything else can see the count.
        unsafe {
            loop {
                ffi::isl_ctx_deref(self.as_ptr());
                if ffi::isl_ctx_last_error(self.as_ptr()) != ERROR_NONE {
                    break;
                }
                count += 1;
            }
            ffi::isl_ctx_reset_error(self.as_ptr());
            for _ in 0..count {
                ffi::isl_ctx_ref(self.as_ptr());
            }
        }
        count
    }

    pub(super) fn as_ptr(&self) -> *mut ffi::isl_ctx {
        self.0.ptr.as_ptr()
    }

    pub(super) fn same(&self, other: &Ctx) -> Result<(), IslError> {
        if Rc::ptr_eq(&self.0, &other.0) { Ok(()) } else { Err(IslError::ContextMismatch) }
    }

    /// To be called before each isl computation: outside of a quota each call has its own.
    pub(super) fn begin(&self) {
        if self.0.limit.get().is_none() {
            self.reset_operations();
        }
    }

    /// The error of the last call; resets it, because isl refuses to go on with an error set.
    pub(super) fn take_error(&self) -> Result<(), IslError> {
        let ctx = self.as_ptr();
        // SAFETY: live context; the strings are static in isl and copied.
        unsafe {
            let code = ffi::isl_ctx_last_error(ctx);
            if code == ERROR_NONE {
                return Ok(());
            }
            // Running out of operations may surface as another error that it caused, such as a syntax error.
            let exhausted = ffi::isl_ctx_next_operation(ctx) < 0;
            if !exhausted {
                self.0.free_of_charge.set(self.0.free_of_charge.get().saturating_add(1));
            }
            let error = match code {
                _ if exhausted => {
                    IslError::Quota { ops: self.raw_limit().saturating_sub(self.0.free_of_charge.get()) }
                }
                ERROR_ALLOC => IslError::OutOfMemory,
                _ => IslError::Invalid {
                    message: text(ffi::isl_ctx_last_error_msg(ctx)),
                    file_line: format!(
                        "{}:{}",
                        text(ffi::isl_ctx_last_error_file(ctx)),
                        ffi::isl_ctx_last_error_line(ctx)
                    ),
                },
            };
            ffi::isl_ctx_reset_error(ctx);
            Err(error)
        }
    }

    fn reset_operations(&self) {
        self.0.free_of_charge.set(0);
        // SAFETY: live context.
        unsafe { ffi::isl_ctx_reset_operations(self.as_ptr()) }
    }

    fn raw_limit(&self) -> u64 {
        let limit = self.0.limit.get().unwrap_or(DEFAULT_QUOTA);
        limit.saturating_add(self.0.free_of_charge.get())
    }

    fn apply_limit(&self) {
        // SAFETY: live context.
        unsafe { ffi::isl_ctx_set_max_operations(self.as_ptr(), self.raw_limit()) }
    }

    fn limit_to(&self, limit: Option<u64>) -> RestoreLimit<'_> {
        let outer = self.0.limit.replace(limit);
        self.apply_limit();
        RestoreLimit { ctx: self, outer }
    }
}

impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx").field("quota", &self.0.limit.get()).finish_non_exhaustive()
    }
}

struct RestoreLimit<'c> {
    ctx: &'c Ctx,
    outer: Option<u64>,
}

impl Drop for RestoreLimit<'_> {
    fn drop(&mut self) {
        self.ctx.0.limit.set(self.outer);
        if self.outer.is_none() {
            self.ctx.reset_operations();
        }
        self.ctx.apply_limit();
    }
}

// Of `enum isl_error`.
const ERROR_NONE: u32 = 0;
const ERROR_ALLOC: u32 = 2;

/// SAFETY: `p` is null or a C string that lives during the call.
unsafe fn text(p: *const c_char) -> String {
    if p.is_null() {
        return "unknown".into();
    }
    // SAFETY: by contract of this function.
    unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
}

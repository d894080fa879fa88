//! What all handles have in common, and the macros that wrap one isl function as one method.

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::ptr::NonNull;

use super::ctx::{Ctx, IslError, MAX_DIMS};
use super::{DimType, ffi};

/// An owned reference to an isl object.
pub(super) trait Handle: Sized {
    type Raw;
    /// SAFETY: `ptr` is an owned reference to an object of `ctx`.
    unsafe fn from_ptr(ptr: NonNull<Self::Raw>, ctx: Ctx) -> Self;
    /// Passes ownership on, to be given to a `Take`.
    fn into_raw(self) -> *mut Self::Raw;
}

/// What a wrapped method takes: a handle by value is `Take`, by reference `Keep`; integers become `isl_val`
/// (`i64`) or positions (`usize`).
pub(super) trait Arg {
    type Raw;
    /// To be called on every argument before any is turned into its raw form.
    fn check(&self, ctx: &Ctx) -> Result<(), IslError>;
    fn raw(self, ctx: &Ctx) -> Self::Raw;
}

impl Arg for i64 {
    type Raw = ffi::Take<ffi::isl_val>;
    fn check(&self, _: &Ctx) -> Result<(), IslError> {
        Ok(())
    }
    fn raw(self, ctx: &Ctx) -> Self::Raw {
        // SAFETY: live context. A null result (quota) is a valid argument: the call then fails.
        unsafe { ffi::isl_val_int_from_si(ctx.as_ptr(), self) }
    }
}

/// A position where isl's signature says `unsigned`.
impl Arg for usize {
    type Raw = c_uint;
    fn check(&self, _: &Ctx) -> Result<(), IslError> {
        check_range(*self, 0, MAX_DIMS)
    }
    fn raw(self, _: &Ctx) -> c_uint {
        self as c_uint
    }
}

/// A position where isl's signature says `int`.
#[derive(Clone, Copy)]
pub(super) struct Pos(pub usize);

impl Arg for Pos {
    type Raw = c_int;
    fn check(&self, ctx: &Ctx) -> Result<(), IslError> {
        self.0.check(ctx)
    }
    fn raw(self, _: &Ctx) -> c_int {
        self.0 as c_int
    }
}

impl Arg for DimType {
    type Raw = ffi::isl_dim_type;
    fn check(&self, _: &Ctx) -> Result<(), IslError> {
        Ok(())
    }
    fn raw(self, _: &Ctx) -> Self::Raw {
        self as ffi::isl_dim_type
    }
}

impl Arg for &Ctx {
    type Raw = *mut ffi::isl_ctx;
    fn check(&self, ctx: &Ctx) -> Result<(), IslError> {
        ctx.same(self)
    }
    fn raw(self, _: &Ctx) -> Self::Raw {
        self.as_ptr()
    }
}

impl Arg for &CStr {
    type Raw = *const c_char;
    fn check(&self, _: &Ctx) -> Result<(), IslError> {
        Ok(())
    }
    fn raw(self, _: &Ctx) -> Self::Raw {
        self.as_ptr()
    }
}

/// What a wrapped method returns.
pub(super) trait Ret: Sized {
    type Raw;
    /// SAFETY: `raw` is the unmodified result of the isl call just made in `ctx`.
    unsafe fn ret(raw: Self::Raw, ctx: &Ctx) -> Result<Self, IslError>;
}

impl<H: Handle> Ret for H {
    type Raw = *mut H::Raw;
    unsafe fn ret(raw: Self::Raw, ctx: &Ctx) -> Result<Self, IslError> {
        // SAFETY: a result that is not null is an owned reference.
        let handle = NonNull::new(raw).map(|p| unsafe { H::from_ptr(p, ctx.clone()) });
        // A result beside an error is not trusted.
        ctx.take_error()?;
        handle.ok_or_else(|| IslError::invalid("no result"))
    }
}

impl Ret for bool {
    type Raw = ffi::isl_bool;
    unsafe fn ret(raw: c_int, ctx: &Ctx) -> Result<Self, IslError> {
        ctx.take_error()?;
        if raw < 0 { Err(IslError::invalid("no answer")) } else { Ok(raw != 0) }
    }
}

impl Ret for usize {
    type Raw = ffi::isl_size;
    unsafe fn ret(raw: c_int, ctx: &Ctx) -> Result<Self, IslError> {
        ctx.take_error()?;
        usize::try_from(raw).map_err(|_| IslError::invalid("no size"))
    }
}

pub(super) fn check_range(first: usize, count: usize, available: usize) -> Result<(), IslError> {
    match first.checked_add(count) {
        Some(end) if end <= available => Ok(()),
        _ => Err(IslError::Index { first, count, available }),
    }
}

pub(super) fn c_string(s: &str) -> Result<CString, IslError> {
    CString::new(s).map_err(|_| IslError::invalid("a name contains NUL"))
}

/// Declares an owned handle type. With `copy`: `Clone`.
macro_rules! handle {
    ($(#[$doc:meta])* $vis:vis $T:ident($raw:ident), $free:ident $(, copy $copy:ident)?) => {
        $(#[$doc])*
        $vis struct $T {
            ptr: std::ptr::NonNull<$crate::isl::ffi::$raw>,
            ctx: $crate::isl::Ctx,
        }

        impl $crate::isl::handle::Handle for $T {
            type Raw = $crate::isl::ffi::$raw;
            unsafe fn from_ptr(ptr: std::ptr::NonNull<Self::Raw>, ctx: $crate::isl::Ctx) -> Self {
                Self { ptr, ctx }
            }
            fn into_raw(self) -> *mut Self::Raw {
                let this = std::mem::ManuallyDrop::new(self);
                // SAFETY: `this.ctx` is read once and never dropped in place; the copy drops the count. The
                // caller keeps the context alive.
                drop(unsafe { std::ptr::read(&this.ctx) });
                this.ptr.as_ptr()
            }
        }

        impl $crate::isl::handle::Arg for $T {
            type Raw = *mut $crate::isl::ffi::$raw;
            fn check(&self, ctx: &$crate::isl::Ctx) -> Result<(), $crate::isl::IslError> {
                ctx.same(&self.ctx)
            }
            fn raw(self, _: &$crate::isl::Ctx) -> Self::Raw {
                $crate::isl::handle::Handle::into_raw(self)
            }
        }

        impl $crate::isl::handle::Arg for &$T {
            type Raw = *mut $crate::isl::ffi::$raw;
            fn check(&self, ctx: &$crate::isl::Ctx) -> Result<(), $crate::isl::IslError> {
                ctx.same(&self.ctx)
            }
            fn raw(self, _: &$crate::isl::Ctx) -> Self::Raw {
                self.ptr.as_ptr()
            }
        }

        impl Drop for $T {
            fn drop(&mut self) {
                // SAFETY: an owned reference, released once; `ctx` is dropped after it.
                unsafe { $crate::isl::ffi::$free(self.ptr.as_ptr()) };
            }
        }

        impl $T {
            /// The context that the object lives in.
            #[allow(dead_code)]
            $vis fn ctx(&self) -> &$crate::isl::Ctx {
                &self.ctx
            }
        }

        $(impl Clone for $T {
            fn clone(&self) -> Self {
                // SAFETY: a live object; copying only counts a reference, so it is never null.
                unsafe { $crate::isl::ffi::$copy(self.ptr.as_ptr()) };
                Self { ptr: self.ptr, ctx: self.ctx.clone() }
            }
        })?
    };
}

/// `take name(arg: Type, ..) -> Ret = isl_function;` consumes `self`, `keep` borrows it, `new` has none and
/// takes the context from its first argument. `in (type, first, count)` checks positions first. The raw types
/// of arguments and result must be those of the declaration in `ffi`, which the compiler checks.
macro_rules! methods {
    ($T:ident { $($rest:tt)* }) => {
        // Arithmetic can fail here, so it is not that of `std::ops`.
        #[allow(clippy::should_implement_trait)]
        impl $T {
            $crate::isl::handle::methods!(@ $($rest)*);
        }
    };
    (@) => {};
    (@ $(#[$doc:meta])* take $name:ident($($a:ident: $A:ty),*) -> $R:ty = $f:ident
        $(, in ($t:expr, $p:expr, $n:expr))*; $($rest:tt)*) => {
        $(#[$doc])*
        pub fn $name(self, $($a: $A),*) -> Result<$R, $crate::isl::IslError> {
            $($crate::isl::handle::check_range($p, $n, self.dim($t)?)?;)*
            $crate::isl::handle::call!(self.ctx.clone(), $f(self $(, $a)*))
        }
        $crate::isl::handle::methods!(@ $($rest)*);
    };
    (@ $(#[$doc:meta])* keep $name:ident($($a:ident: $A:ty),*) -> $R:ty = $f:ident
        $(, in ($t:expr, $p:expr, $n:expr))*; $($rest:tt)*) => {
        $(#[$doc])*
        pub fn $name(&self, $($a: $A),*) -> Result<$R, $crate::isl::IslError> {
            $($crate::isl::handle::check_range($p, $n, self.dim($t)?)?;)*
            let this = self;
            $crate::isl::handle::call!(self.ctx.clone(), $f(this $(, $a)*))
        }
        $crate::isl::handle::methods!(@ $($rest)*);
    };
    (@ $(#[$doc:meta])* new $name:ident($first:ident: $F:ty $(, $a:ident: $A:ty)*) -> $R:ty = $f:ident;
        $($rest:tt)*) => {
        $(#[$doc])*
        pub fn $name($first: $F $(, $a: $A)*) -> Result<$R, $crate::isl::IslError> {
            $crate::isl::handle::call!($first.ctx().clone(), $f($first $(, $a)*))
        }
        $crate::isl::handle::methods!(@ $($rest)*);
    };
}

/// Calls an isl function in a context: checks all arguments, passes them, checks the result.
macro_rules! call {
    ($ctx:expr, $f:ident($($a:expr),* $(,)?)) => { (|| {
        #[allow(unused_imports)]
        use $crate::isl::handle::{Arg as _, Ret as _};
        let ctx = $ctx;
        $($crate::isl::handle::check(&$a, &ctx)?;)*
        ctx.begin();
        // SAFETY: all arguments are live objects of `ctx` with the ownership that the types say (`Handle` by
        // value for `Take`, by reference for `Keep`), and the types are those of the declaration.
        unsafe { $crate::isl::handle::finish($crate::isl::ffi::$f($($a.raw(&ctx)),*), &ctx) }
    })() };
}

pub(super) fn check<A: Arg>(arg: &A, ctx: &Ctx) -> Result<(), IslError> {
    arg.check(ctx)
}

/// SAFETY: as `Ret::ret`.
pub(super) unsafe fn finish<R: Ret>(raw: R::Raw, ctx: &Ctx) -> Result<R, IslError> {
    // SAFETY: by contract.
    unsafe { R::ret(raw, ctx) }
}

/// The elements of an isl list, and `get_at`/`size`/`free` of its type.
macro_rules! elements {
    ($ctx:expr, $list:expr, $T:ty, $size:ident, $at:ident, $free:ident) => {{
        use $crate::isl::{ffi, handle};
        let ctx: &$crate::isl::Ctx = $ctx;
        ctx.begin();
        // SAFETY: the list is owned here, used while it lives, and freed once; its elements are owned by us.
        unsafe {
            let list = $list;
            let result = handle::finish::<usize>(ffi::$size(list), ctx)
                .and_then(|n| (0..n).map(|i| handle::finish::<$T>(ffi::$at(list, i as i32), ctx)).collect());
            ffi::$free(list);
            result
        }
    }};
}

pub(super) use {call, elements, handle, methods};

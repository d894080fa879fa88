//! Values and quasi-affine functions.

use super::ctx::{Ctx, IslError};
use super::ffi;
use super::handle::{Pos, Ret, call, check_range, handle, methods};
use super::space::{DimType, LocalSpace, Space};

handle! {
    /// A rational number, an infinity, or not a number.
    pub Val(isl_val), isl_val_free, copy isl_val_copy
}

methods! { Val {
    /// Whether it is an integer.
    keep is_int() -> bool = isl_val_is_int;
    /// Whether it is not a number.
    keep is_nan() -> bool = isl_val_is_nan;
    /// Whether it is plus infinity.
    keep is_infinity() -> bool = isl_val_is_infty;
    /// Whether it is minus infinity.
    keep is_neg_infinity() -> bool = isl_val_is_neginfty;
    /// Product.
    take mul(other: Val) -> Val = isl_val_mul;
} }

impl Val {
    /// The integer that it is, or `Overflow`.
    pub fn to_i64(&self) -> Result<i64, IslError> {
        if !self.is_int()? {
            return Err(IslError::Overflow);
        }
        self.ctx.begin();
        // SAFETY: a live value; one that does not fit sets an error in the context.
        let value = unsafe { ffi::isl_val_get_num_si(self.ptr.as_ptr()) };
        self.ctx.take_error().map_err(|error| match error {
            IslError::Invalid { .. } => IslError::Overflow,
            other => other,
        })?;
        Ok(value)
    }
}

/// An integer.
impl Ret for i64 {
    type Raw = <Val as Ret>::Raw;
    unsafe fn ret(raw: Self::Raw, ctx: &Ctx) -> Result<Self, IslError> {
        // SAFETY: by contract.
        unsafe { Val::ret(raw, ctx) }?.to_i64()
    }
}

handle! {
    /// A quasi-affine function on a set space: rational coefficients, floors allowed. Its domain dimensions
    /// are `DimType::In`.
    pub Aff(isl_aff), isl_aff_free
}

methods! { Aff {
    /// Number of dimensions.
    keep dim(of: DimType) -> usize = isl_aff_dim;
    /// Whether it is not a number, as after a division by zero.
    keep is_nan() -> bool = isl_aff_is_nan;
} }

impl Aff {
    /// A constant on a set space.
    pub fn constant(domain: Space, value: i64) -> Result<Self, IslError> {
        let local = LocalSpace::new(domain)?;
        call!(local.ctx().clone(), isl_aff_val_on_domain(local, value))
    }

    /// With another coefficient of a parameter or a domain dimension (`In`).
    pub fn set_coefficient(self, of: DimType, pos: usize, value: i64) -> Result<Self, IslError> {
        check_range(pos, 1, self.dim(of)?)?;
        call!(self.ctx.clone(), isl_aff_set_coefficient_val(self, of, Pos(pos), value))
    }
}

//! Values, quasi-affine functions and tuples of them.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::ctx::{Ctx, IslError};
use super::ffi;
use super::handle::{Handle, Pos, call, check_range, finish, handle, methods};
use super::map::Map;
use super::set::{BasicSet, Set};
use super::space::{DimType, LocalSpace, Space};

handle! {
    /// A rational number, an infinity, or not a number.
    pub Val(isl_val), isl_val_free, copy isl_val_copy, print isl_val_to_str
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
    /// Rounded down.
    take floor() -> Val = isl_val_floor;
    /// Rounded up.
    take ceil() -> Val = isl_val_ceil;
} }

impl Val {
    /// An integer.
    pub fn new(ctx: &Ctx, value: i64) -> Result<Self, IslError> {
        ctx.begin();
        // SAFETY: live context, and the result is as it came.
        unsafe { finish(ffi::isl_val_int_from_si(ctx.as_ptr(), value), ctx) }
    }

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

handle! {
    /// A quasi-affine function on a set space: rational coefficients, floors allowed. Its domain dimensions
    /// are `DimType::In`.
    pub Aff(isl_aff), isl_aff_free, copy isl_aff_copy, print isl_aff_to_str
}

methods! { Aff {
    /// Number of dimensions.
    keep dim(of: DimType) -> usize = isl_aff_dim;
    /// Whether it is not a number, as after a division by zero.
    keep is_nan() -> bool = isl_aff_is_nan;
    /// Whether it is a constant.
    keep is_constant() -> bool = isl_aff_is_cst;
    /// Whether it is obviously the same function.
    keep plain_is_equal(other: &Aff) -> bool = isl_aff_plain_is_equal;
    /// The space that it is defined on.
    keep domain_space() -> Space = isl_aff_get_domain_space;
    /// With another constant term.
    take set_constant(value: i64) -> Aff = isl_aff_set_constant_val;
    /// Plus a constant.
    take add_constant(value: i64) -> Aff = isl_aff_add_constant_val;
    /// Sum.
    take add(other: Aff) -> Aff = isl_aff_add;
    /// Difference.
    take sub(other: Aff) -> Aff = isl_aff_sub;
    /// Product; one of the two must be constant.
    take mul(other: Aff) -> Aff = isl_aff_mul;
    /// Negated.
    take neg() -> Aff = isl_aff_neg;
    /// Rounded down.
    take floor() -> Aff = isl_aff_floor;
    /// Rounded up.
    take ceil() -> Aff = isl_aff_ceil;
    /// Remainder of the floor division by a positive number.
    take modulo(divisor: i64) -> Aff = isl_aff_mod_val;
    /// Times a number.
    take scale(factor: i64) -> Aff = isl_aff_scale_val;
    /// Divided, without rounding, by a number that is not zero.
    take scale_down(divisor: i64) -> Aff = isl_aff_scale_down_val;
    /// Simplified under the assumption of `context`.
    take gist(context: Set) -> Aff = isl_aff_gist;
    /// As a function of the variables that `inner` maps to its domain.
    take pullback(inner: MultiAff) -> Aff = isl_aff_pullback_multi_aff;
    /// Where it is zero.
    take zero_set() -> BasicSet = isl_aff_zero_basic_set;
    /// Where it is at least `other`.
    take ge_set(other: Aff) -> Set = isl_aff_ge_set;
    /// Where it is more than `other`.
    take gt_set(other: Aff) -> Set = isl_aff_gt_set;
    /// Where it equals `other`.
    take eq_set(other: Aff) -> Set = isl_aff_eq_set;
    /// Where it differs from `other`.
    take ne_set(other: Aff) -> Set = isl_aff_ne_set;
} }

impl Aff {
    /// Zero on a set space.
    pub fn zero(domain: Space) -> Result<Self, IslError> {
        let local = LocalSpace::new(domain)?;
        call!(local.ctx().clone(), isl_aff_zero_on_domain(local))
    }

    /// A constant on a set space.
    pub fn constant(domain: Space, value: i64) -> Result<Self, IslError> {
        let local = LocalSpace::new(domain)?;
        call!(local.ctx().clone(), isl_aff_val_on_domain(local, value))
    }

    /// A dimension of a set space.
    pub fn var(domain: Space, pos: usize) -> Result<Self, IslError> {
        Self::dimension(domain, DimType::Out, pos)
    }

    /// A parameter, on a set space.
    pub fn param(domain: Space, pos: usize) -> Result<Self, IslError> {
        Self::dimension(domain, DimType::Param, pos)
    }

    /// With another coefficient of a parameter or a domain dimension (`In`).
    pub fn set_coefficient(self, of: DimType, pos: usize, value: i64) -> Result<Self, IslError> {
        self.check_dims(of, pos, 1)?;
        call!(self.ctx.clone(), isl_aff_set_coefficient_val(self, of, Pos(pos), value))
    }

    /// Where it is at least zero.
    pub fn nonneg_set(self) -> Result<Set, IslError> {
        let zero = Aff::zero(self.domain_space()?)?;
        self.ge_set(zero)
    }

    pub(super) fn check_dims(&self, of: DimType, first: usize, count: usize) -> Result<(), IslError> {
        check_range(first, count, self.dim(of)?)
    }

    fn dimension(domain: Space, of: DimType, pos: usize) -> Result<Self, IslError> {
        domain.check_dims(of, pos, 1)?;
        let local = LocalSpace::new(domain)?;
        call!(local.ctx().clone(), isl_aff_var_on_domain(local, of, pos))
    }
}

handle! {
    /// A tuple of affine functions on one space: a schedule, an access.
    pub MultiAff(isl_multi_aff), isl_multi_aff_free, copy isl_multi_aff_copy, print isl_multi_aff_to_str
}

methods! { MultiAff {
    /// The identity on a set space, given as a map space from it to itself.
    new identity(space: Space) -> MultiAff = isl_multi_aff_identity;
    /// All zero, on a map space.
    new zero(space: Space) -> MultiAff = isl_multi_aff_zero;
    /// Its map space.
    keep space() -> Space = isl_multi_aff_get_space;
    /// Number of functions.
    keep size() -> usize = isl_multi_aff_size;
    /// Whether it is obviously the same.
    keep plain_is_equal(other: &MultiAff) -> bool = isl_multi_aff_plain_is_equal;
    /// Both results as a pair of tuples.
    take range_product(other: MultiAff) -> MultiAff = isl_multi_aff_range_product;
    /// Both results in one tuple.
    take flat_range_product(other: MultiAff) -> MultiAff = isl_multi_aff_flat_range_product;
    /// `self` after `inner`.
    take pullback(inner: MultiAff) -> MultiAff = isl_multi_aff_pullback_multi_aff;
    /// Simplified under the assumption of `context`.
    take gist(context: Set) -> MultiAff = isl_multi_aff_gist;
    /// As a relation.
    take to_map() -> Map = isl_map_from_multi_aff;
} }

impl MultiAff {
    /// From one function per output dimension of the map space.
    pub fn from_affs(space: Space, affs: Vec<Aff>) -> Result<Self, IslError> {
        let ctx = space.ctx().clone();
        check_range(0, affs.len(), space.dim(DimType::Out)?)?;
        let n = Pos(affs.len());
        let context = &ctx;
        let mut list: AffList = call!(ctx.clone(), isl_aff_list_alloc(context, n))?;
        for aff in affs {
            list = call!(ctx.clone(), isl_aff_list_add(list, aff))?;
        }
        call!(ctx.clone(), isl_multi_aff_from_aff_list(space, list))
    }

    /// The function of one output dimension.
    pub fn get(&self, pos: usize) -> Result<Aff, IslError> {
        check_range(pos, 1, self.size()?)?;
        let this = self;
        call!(self.ctx.clone(), isl_multi_aff_get_at(this, Pos(pos)))
    }
}

handle! {
    /// A function that is affine on each of several disjoint sets.
    pub PwAff(isl_pw_aff), isl_pw_aff_free, copy isl_pw_aff_copy, print isl_pw_aff_to_str
}

methods! { PwAff {
    /// Defined everywhere.
    new from_aff(aff: Aff) -> PwAff = isl_pw_aff_from_aff;
    /// Defined on `domain`.
    new on(domain: Set, aff: Aff) -> PwAff = isl_pw_aff_alloc;
    /// Where it is defined.
    take domain() -> Set = isl_pw_aff_domain;
    /// The smaller one, where both are defined.
    take min(other: PwAff) -> PwAff = isl_pw_aff_min;
    /// The larger one, where both are defined.
    take max(other: PwAff) -> PwAff = isl_pw_aff_max;
    /// Sum, where both are defined.
    take add(other: PwAff) -> PwAff = isl_pw_aff_add;
    /// Difference, where both are defined.
    take sub(other: PwAff) -> PwAff = isl_pw_aff_sub;
    /// With fewer pieces, if possible.
    take coalesce() -> PwAff = isl_pw_aff_coalesce;
    /// Simplified under the assumption of `context`.
    take gist(context: Set) -> PwAff = isl_pw_aff_gist;
    /// Same function on the same domain.
    keep is_equal(other: &PwAff) -> bool = isl_pw_aff_is_equal;
} }

impl PwAff {
    /// Its pieces, with disjoint domains.
    pub fn pieces(&self) -> Result<Vec<(Set, Aff)>, IslError> {
        pieces(&self.ctx, |user| {
            // SAFETY: a live object; `collect` fits the element type of the vector that `pieces` passes.
            unsafe { ffi::isl_pw_aff_foreach_piece(self.ptr.as_ptr(), collect::<ffi::isl_aff>, user) }
        })
    }
}

handle! {
    /// A tuple of functions, affine on each of several disjoint sets.
    pub PwMultiAff(isl_pw_multi_aff), isl_pw_multi_aff_free,
    copy isl_pw_multi_aff_copy, print isl_pw_multi_aff_to_str
}

methods! { PwMultiAff {
    /// A map that relates each input to one output at most.
    new from_map(map: Map) -> PwMultiAff = isl_pw_multi_aff_from_map;
    /// With fewer pieces, if possible.
    take coalesce() -> PwMultiAff = isl_pw_multi_aff_coalesce;
} }

impl PwMultiAff {
    /// Its pieces, with disjoint domains.
    pub fn pieces(&self) -> Result<Vec<(Set, MultiAff)>, IslError> {
        pieces(&self.ctx, |user| {
            // SAFETY: as for `PwAff`.
            unsafe {
                ffi::isl_pw_multi_aff_foreach_piece(self.ptr.as_ptr(), collect::<ffi::isl_multi_aff>, user)
            }
        })
    }
}

handle! {
    AffList(isl_aff_list), isl_aff_list_free
}

type RawPieces<T> = Vec<(*mut ffi::isl_set, *mut T)>;

/// Appends a piece; it must not unwind into C, and a `push` does not (it aborts when memory is exhausted).
///
/// SAFETY: `user` is a `*mut RawPieces<T>` that nothing else uses during the call.
unsafe extern "C" fn collect<T>(set: *mut ffi::isl_set, value: *mut T, user: *mut c_void) -> ffi::isl_stat {
    // SAFETY: by contract.
    unsafe { &mut *user.cast::<RawPieces<T>>() }.push((set, value));
    0
}

fn pieces<H: Handle>(
    ctx: &Ctx,
    foreach: impl FnOnce(*mut c_void) -> ffi::isl_stat,
) -> Result<Vec<(Set, H)>, IslError> {
    let mut raw: RawPieces<H::Raw> = Vec::new();
    ctx.begin();
    let status = foreach((&raw mut raw).cast());
    // All become handles before an error is reported, so that they are freed.
    let owned: Vec<_> = raw
        .into_iter()
        .map(|(set, value)| {
            // SAFETY: owned references to objects of `ctx`, if not null.
            unsafe {
                (
                    NonNull::new(set).map(|p| Set::from_ptr(p, ctx.clone())),
                    NonNull::new(value).map(|p| H::from_ptr(p, ctx.clone())),
                )
            }
        })
        .collect();
    ctx.take_error()?;
    let all: Option<Vec<_>> = owned.into_iter().map(|(set, value)| set.zip(value)).collect();
    all.filter(|_| status == 0).ok_or_else(|| IslError::invalid("pieces could not be listed"))
}

//! Sets of integer tuples, and points of them.

use super::aff::{Aff, Val};
use super::ctx::{Ctx, IslError};
use super::ffi;
use super::handle::{Pos, Ret, call, elements, handle, methods};
use super::space::{DimType, Space};

/// The extreme value of a function over a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimum {
    /// The set is empty.
    Empty,
    /// No bound exists.
    Unbounded,
    /// The bound.
    Value(i64),
}

impl Ret for Optimum {
    type Raw = <Val as Ret>::Raw;
    unsafe fn ret(raw: Self::Raw, ctx: &Ctx) -> Result<Self, IslError> {
        // SAFETY: by contract.
        let value = unsafe { Val::ret(raw, ctx) }?;
        Ok(if value.is_nan()? {
            Self::Empty
        } else if value.is_infinity()? || value.is_neg_infinity()? {
            Self::Unbounded
        } else {
            Self::Value(value.to_i64()?)
        })
    }
}

handle! {
    /// A conjunction of affine constraints.
    pub BasicSet(isl_basic_set), isl_basic_set_free, copy isl_basic_set_copy
}

methods! { BasicSet {
    /// Everything.
    new universe(space: Space) -> BasicSet = isl_basic_set_universe;
    /// As a set.
    take into_set() -> Set = isl_set_from_basic_set;
} }

handle! {
    /// A finite union of basic sets.
    pub Set(isl_set), isl_set_free, copy isl_set_copy
}

methods! { Set {
    /// Everything.
    new universe(space: Space) -> Set = isl_set_universe;
    /// Nothing.
    new empty(space: Space) -> Set = isl_set_empty;
    /// Its space.
    keep space() -> Space = isl_set_get_space;
    /// Number of dimensions.
    keep dim(of: DimType) -> usize = isl_set_dim;
    /// Both.
    take intersect(other: Set) -> Set = isl_set_intersect;
    /// Either.
    take union(other: Set) -> Set = isl_set_union;
    /// In `self` only.
    take subtract(other: Set) -> Set = isl_set_subtract;
    /// Whether it holds no integer point, for any parameters.
    keep is_empty() -> bool = isl_set_is_empty;
    /// Whether all of it is in `other`.
    keep is_subset(other: &Set) -> bool = isl_set_is_subset;
    /// The largest integer value of `objective` over the points and all parameters.
    keep max_val(objective: &Aff) -> Optimum = isl_set_max_val;
    /// The smallest integer value of `objective` over the points and all parameters.
    keep min_val(objective: &Aff) -> Optimum = isl_set_min_val;
    /// Without these dimensions, which become existential.
    take project_out(of: DimType, first: usize, count: usize) -> Set = isl_set_project_out, in (of, first, count);
    /// With every existential variable as an integer division.
    take compute_divs() -> Set = isl_set_compute_divs;
} }

#[cfg(test)]
impl Set {
    /// Reads isl's text form.
    pub fn from_text(ctx: &super::Ctx, text: &str) -> Result<Self, IslError> {
        let text = super::handle::c_string(text)?;
        let text = text.as_c_str();
        call!(ctx.clone(), isl_set_read_from_str(ctx, text))
    }
}

impl Set {
    /// Any point, or none if the set is empty.
    pub fn sample_point(self) -> Result<Option<Point>, IslError> {
        let point: Point = call!(self.ctx.clone(), isl_set_sample_point(self))?;
        Ok(if point.is_void()? { None } else { Some(point) })
    }

    /// Its disjuncts. Call `compute_divs` before reading their constraints.
    pub fn basic_sets(&self) -> Result<Vec<BasicSet>, IslError> {
        let list = ffi::isl_set_get_basic_set_list;
        elements!(
            &self.ctx,
            list(self.ptr.as_ptr()),
            BasicSet,
            isl_basic_set_list_size,
            isl_basic_set_list_get_at,
            isl_basic_set_list_free
        )
    }
}

handle! {
    /// One integer point with parameter values.
    pub Point(isl_point), isl_point_free, copy isl_point_copy
}

methods! { Point {
    /// Its space.
    keep space() -> Space = isl_point_get_space;
    /// Whether it is the point of an empty set.
    keep is_void() -> bool = isl_point_is_void;
} }

impl Point {
    /// Coordinates: `Param` or `Out`.
    pub fn coordinates(&self, of: DimType) -> Result<Vec<i64>, IslError> {
        let this = self;
        let coordinate = |pos| call!(self.ctx.clone(), isl_point_get_coordinate_val(this, of, Pos(pos)));
        (0..self.space()?.dim(of)?).map(coordinate).collect()
    }
}

//! Sets of integer tuples, and points of them.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::aff::{Aff, MultiAff, PwAff, Val};
use super::ctx::{Ctx, IslError};
use super::ffi;
use super::handle::{Handle, Pos, c_string, call, check_range, elements, handle, methods};
use super::map::Map;
use super::space::{DimType, Space};

/// The extreme value of a function over a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimum {
    /// The set is empty.
    Empty,
    /// No bound exists.
    Unbounded,
    /// The bound; for a rational relaxation, rounded to the integer that bounds the integer points.
    Value(i64),
}

impl Optimum {
    fn of(value: Val) -> Result<Self, IslError> {
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
    pub BasicSet(isl_basic_set), isl_basic_set_free, copy isl_basic_set_copy, print isl_basic_set_to_str
}

methods! { BasicSet {
    /// Everything.
    new universe(space: Space) -> BasicSet = isl_basic_set_universe;
    /// Its space.
    keep space() -> Space = isl_basic_set_get_space;
    /// Number of dimensions.
    keep dim(of: DimType) -> usize = isl_basic_set_dim;
    /// Whether it holds no integer point.
    keep is_empty() -> bool = isl_basic_set_is_empty;
    /// Both.
    take intersect(other: BasicSet) -> BasicSet = isl_basic_set_intersect;
    /// Without constraints that others imply.
    take remove_redundancies() -> BasicSet = isl_basic_set_remove_redundancies;
    /// As a set.
    take to_set() -> Set = isl_set_from_basic_set;
} }

impl BasicSet {
    /// A lower bound of `objective` over the rational relaxation, by one linear program.
    pub fn lp_min(&self, objective: &Aff) -> Result<Optimum, IslError> {
        let this = self;
        let value: Val = call!(self.ctx.clone(), isl_basic_set_min_lp_val(this, objective))?;
        Optimum::of(value.ceil()?)
    }

    /// An upper bound of `objective` over the rational relaxation.
    pub fn lp_max(&self, objective: &Aff) -> Result<Optimum, IslError> {
        let this = self;
        let value: Val = call!(self.ctx.clone(), isl_basic_set_max_lp_val(this, objective))?;
        Optimum::of(value.floor()?)
    }
}

handle! {
    /// A finite union of basic sets.
    pub Set(isl_set), isl_set_free, copy isl_set_copy, print isl_set_to_str
}

methods! { Set {
    /// Everything.
    new universe(space: Space) -> Set = isl_set_universe;
    /// Nothing.
    new empty(space: Space) -> Set = isl_set_empty;
    /// One point.
    new from_point(point: Point) -> Set = isl_set_from_point;
    /// A parameter set as a set of one nullary tuple.
    take from_params() -> Set = isl_set_from_params;
    /// Its space.
    keep space() -> Space = isl_set_get_space;
    /// Number of dimensions.
    keep dim(of: DimType) -> usize = isl_set_dim;
    /// Both.
    take intersect(other: Set) -> Set = isl_set_intersect;
    /// Restricted to parameters in `params`.
    take intersect_params(params: Set) -> Set = isl_set_intersect_params;
    /// Either.
    take union(other: Set) -> Set = isl_set_union;
    /// Either; the caller vouches that they are disjoint.
    take union_disjoint(other: Set) -> Set = isl_set_union_disjoint;
    /// In `self` only.
    take subtract(other: Set) -> Set = isl_set_subtract;
    /// Everything else.
    take complement() -> Set = isl_set_complement;
    /// The image.
    take apply(map: Map) -> Set = isl_set_apply;
    /// What `function` maps into it.
    take preimage(function: MultiAff) -> Set = isl_set_preimage_multi_aff;
    /// Cartesian product in one tuple.
    take flat_product(other: Set) -> Set = isl_set_flat_product;
    /// Whether it holds no integer point, for any parameters.
    keep is_empty() -> bool = isl_set_is_empty;
    /// Whether it is obviously empty.
    keep plain_is_empty() -> bool = isl_set_plain_is_empty;
    /// Whether it is obviously everything.
    keep plain_is_universe() -> bool = isl_set_plain_is_universe;
    /// Whether it is obviously the same.
    keep plain_is_equal(other: &Set) -> bool = isl_set_plain_is_equal;
    /// Whether it is finite for each value of the parameters.
    keep is_bounded() -> bool = isl_set_is_bounded;
    /// Whether it is one point.
    keep is_singleton() -> bool = isl_set_is_singleton;
    /// Whether all of it is in `other`.
    keep is_subset(other: &Set) -> bool = isl_set_is_subset;
    /// Whether nothing is in both.
    keep is_disjoint(other: &Set) -> bool = isl_set_is_disjoint;
    /// Same points.
    keep is_equal(other: &Set) -> bool = isl_set_is_equal;
    /// Whether a dimension is bounded on both sides in terms of the parameters.
    keep dim_is_bounded(of: DimType, pos: usize) -> bool = isl_set_dim_is_bounded, in (of, pos, 1);
    /// Whether constraints mention any of these dimensions.
    keep involves(of: DimType, first: usize, count: usize) -> bool = isl_set_involves_dims, in (of, first, count);
    /// The parameters for which it is not empty.
    take params() -> Set = isl_set_params;
    /// Without these dimensions, which become existential.
    take project_out(of: DimType, first: usize, count: usize) -> Set = isl_set_project_out, in (of, first, count);
    /// With new, unconstrained dimensions.
    take insert_dims(of: DimType, pos: usize, count: usize) -> Set = isl_set_insert_dims, in (of, pos, 0);
    /// With dimensions moved.
    take move_dims(to: DimType, to_pos: usize, from: DimType, from_pos: usize, count: usize) -> Set
        = isl_set_move_dims, in (to, to_pos, 0), in (from, from_pos, count);
    /// Where a dimension has a value.
    take fix(of: DimType, pos: usize, value: i64) -> Set = isl_set_fix_val, in (of, pos, 1);
    /// Where a dimension is at least `value`.
    take lower_bound(of: DimType, pos: usize, value: i64) -> Set = isl_set_lower_bound_val, in (of, pos, 1);
    /// Where a dimension is at most `value`.
    take upper_bound(of: DimType, pos: usize, value: i64) -> Set = isl_set_upper_bound_val, in (of, pos, 1);
    /// With its tuple unnamed.
    take unnamed() -> Set = isl_set_reset_tuple_id;
    /// With fewer disjuncts, if possible.
    take coalesce() -> Set = isl_set_coalesce;
    /// Simplified under the assumption of `context`.
    take gist(context: Set) -> Set = isl_set_gist;
    /// Simplified under the assumption of a parameter set.
    take gist_params(context: Set) -> Set = isl_set_gist_params;
    /// With every existential variable as an integer division.
    take compute_divs() -> Set = isl_set_compute_divs;
    /// With disjoint disjuncts.
    take make_disjoint() -> Set = isl_set_make_disjoint;
    /// With implied equalities made explicit.
    take detect_equalities() -> Set = isl_set_detect_equalities;
    /// Without constraints that others imply.
    take remove_redundancies() -> Set = isl_set_remove_redundancies;
    /// One conjunction that contains it, of its own constraints, shifted.
    take simple_hull() -> BasicSet = isl_set_simple_hull;
    /// The least point, for each parameter value.
    take lexmin() -> Set = isl_set_lexmin;
    /// The greatest point, for each parameter value.
    take lexmax() -> Set = isl_set_lexmax;
    /// The map from each point to itself.
    take identity() -> Map = isl_set_identity;
    /// A set of wrapped pairs as a map.
    take unwrap() -> Map = isl_set_unwrap;
    /// Nested tuples as one.
    take flatten() -> Set = isl_set_flatten;
} }

impl Set {
    /// Reads isl's text form, of our own printing or in a test: the parser recurses on its input.
    pub fn from_text(ctx: &Ctx, text: &str) -> Result<Self, IslError> {
        let text = c_string(text)?;
        let text = text.as_c_str();
        call!(ctx.clone(), isl_set_read_from_str(ctx, text))
    }

    /// With its tuple named.
    pub fn named(self, name: &str) -> Result<Self, IslError> {
        let name = c_string(name)?;
        let name = name.as_c_str();
        call!(self.ctx.clone(), isl_set_set_tuple_name(self, name))
    }

    /// The largest value of a dimension as a function of the parameters.
    pub fn dim_max(self, pos: usize) -> Result<PwAff, IslError> {
        self.check_dims(DimType::Out, pos, 1)?;
        call!(self.ctx.clone(), isl_set_dim_max(self, Pos(pos)))
    }

    /// The smallest value of a dimension as a function of the parameters.
    pub fn dim_min(self, pos: usize) -> Result<PwAff, IslError> {
        self.check_dims(DimType::Out, pos, 1)?;
        call!(self.ctx.clone(), isl_set_dim_min(self, Pos(pos)))
    }

    /// The largest value of a dimension over all parameters.
    pub fn dim_max_val(self, pos: usize) -> Result<Optimum, IslError> {
        self.check_dims(DimType::Out, pos, 1)?;
        Optimum::of(call!(self.ctx.clone(), isl_set_dim_max_val(self, Pos(pos)))?)
    }

    /// The smallest value of a dimension over all parameters.
    pub fn dim_min_val(self, pos: usize) -> Result<Optimum, IslError> {
        self.check_dims(DimType::Out, pos, 1)?;
        Optimum::of(call!(self.ctx.clone(), isl_set_dim_min_val(self, Pos(pos)))?)
    }

    /// The largest integer value of `objective` over the points and all parameters.
    pub fn max_val(&self, objective: &Aff) -> Result<Optimum, IslError> {
        let this = self;
        Optimum::of(call!(self.ctx.clone(), isl_set_max_val(this, objective))?)
    }

    /// The smallest integer value of `objective` over the points and all parameters.
    pub fn min_val(&self, objective: &Aff) -> Result<Optimum, IslError> {
        let this = self;
        Optimum::of(call!(self.ctx.clone(), isl_set_min_val(this, objective))?)
    }

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

    /// Its points if there are `most` or fewer, else `None`. Parameters are enumerated too; an unbounded set
    /// is an error.
    pub fn points(&self, most: usize) -> Result<Option<Vec<Point>>, IslError> {
        let mut found = Found { raw: Vec::new(), most, more: false };
        self.ctx.begin();
        // SAFETY: a live object; `found` is what `collect_point` expects and outlives the call.
        let status =
            unsafe { ffi::isl_set_foreach_point(self.ptr.as_ptr(), collect_point, (&raw mut found).cast()) };
        let points: Vec<Option<Point>> = (found.raw.into_iter())
            // SAFETY: owned references to objects of the context, if not null.
            .map(|p| NonNull::new(p).map(|p| unsafe { Point::from_ptr(p, self.ctx.clone()) }))
            .collect();
        self.ctx.take_error()?;
        if found.more {
            return Ok(None);
        }
        let all: Option<Vec<Point>> = points.into_iter().collect();
        all.filter(|_| status == 0).map(Some).ok_or_else(|| IslError::invalid("points could not be listed"))
    }

    /// Number of points if there are `most` or fewer.
    pub fn count(&self, most: usize) -> Result<Option<usize>, IslError> {
        Ok(self.points(most)?.map(|points| points.len()))
    }

    pub(super) fn check_dims(&self, of: DimType, first: usize, count: usize) -> Result<(), IslError> {
        check_range(first, count, self.dim(of)?)
    }
}

struct Found {
    raw: Vec<*mut ffi::isl_point>,
    most: usize,
    more: bool,
}

/// SAFETY: `user` is a `*mut Found` that nothing else uses during the call; `point` is owned.
unsafe extern "C" fn collect_point(point: *mut ffi::isl_point, user: *mut c_void) -> ffi::isl_stat {
    // SAFETY: by contract.
    let found = unsafe { &mut *user.cast::<Found>() };
    if found.raw.len() < found.most {
        found.raw.push(point);
        return 0;
    }
    found.more = true;
    // SAFETY: owned by this function.
    unsafe { ffi::isl_point_free(point) };
    -1
}

handle! {
    /// One integer point with parameter values.
    pub Point(isl_point), isl_point_free, copy isl_point_copy, print isl_point_to_str
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
        (0..self.space()?.dim(of)?)
            .map(|pos| {
                let value: Val = call!(self.ctx.clone(), isl_point_get_coordinate_val(this, of, Pos(pos)))?;
                value.to_i64()
            })
            .collect()
    }
}

//! Relations between integer tuples.

use super::aff::MultiAff;
use super::ctx::{Ctx, IslError};
use super::ffi;
use super::handle::{Pos, c_string, call, check_range, elements, handle, methods};
use super::set::{BasicSet, Set};
use super::space::{DimType, Space};

handle! {
    /// A conjunction of affine constraints on pairs.
    pub BasicMap(isl_basic_map), isl_basic_map_free, copy isl_basic_map_copy, print isl_basic_map_to_str
}

methods! { BasicMap {
    /// Its space.
    keep space() -> Space = isl_basic_map_get_space;
    /// As a set of wrapped pairs; also the way to read its constraints.
    take wrap() -> BasicSet = isl_basic_map_wrap;
    /// The differences, output minus input.
    take deltas() -> BasicSet = isl_basic_map_deltas;
    /// As a map.
    take to_map() -> Map = isl_map_from_basic_map;
} }

handle! {
    /// A finite union of basic maps: a dependence, a schedule, an access.
    pub Map(isl_map), isl_map_free, copy isl_map_copy, print isl_map_to_str
}

methods! { Map {
    /// All pairs.
    new universe(space: Space) -> Map = isl_map_universe;
    /// No pair.
    new empty(space: Space) -> Map = isl_map_empty;
    /// Each tuple with itself.
    new identity(space: Space) -> Map = isl_map_identity;
    /// All of one set with all of another.
    new product(domain: Set, range: Set) -> Map = isl_map_from_domain_and_range;
    /// Tuples of a set space with those that follow.
    new lex_lt(space: Space) -> Map = isl_map_lex_lt;
    /// Tuples with themselves and those that follow.
    new lex_le(space: Space) -> Map = isl_map_lex_le;
    /// Tuples with those that precede.
    new lex_gt(space: Space) -> Map = isl_map_lex_gt;
    /// Tuples with themselves and those that precede.
    new lex_ge(space: Space) -> Map = isl_map_lex_ge;
    /// Pairs of the domains whose images are in order `<`.
    take lex_lt_map(other: Map) -> Map = isl_map_lex_lt_map;
    /// Pairs of the domains whose images are in order `<=`.
    take lex_le_map(other: Map) -> Map = isl_map_lex_le_map;
    /// Pairs of the domains whose images are in order `>`.
    take lex_gt_map(other: Map) -> Map = isl_map_lex_gt_map;
    /// Pairs of the domains whose images are in order `>=`.
    take lex_ge_map(other: Map) -> Map = isl_map_lex_ge_map;
    /// Its space.
    keep space() -> Space = isl_map_get_space;
    /// Number of dimensions.
    keep dim(of: DimType) -> usize = isl_map_dim;
    /// Inverse relation.
    take reverse() -> Map = isl_map_reverse;
    /// `other` after `self`.
    take apply_range(other: Map) -> Map = isl_map_apply_range;
    /// `other` applied to the inputs.
    take apply_domain(other: Map) -> Map = isl_map_apply_domain;
    /// Both.
    take intersect(other: Map) -> Map = isl_map_intersect;
    /// Only inputs in `domain`.
    take intersect_domain(domain: Set) -> Map = isl_map_intersect_domain;
    /// Only outputs in `range`.
    take intersect_range(range: Set) -> Map = isl_map_intersect_range;
    /// Only parameters in `params`.
    take intersect_params(params: Set) -> Map = isl_map_intersect_params;
    /// Only inputs outside of `domain`.
    take subtract_domain(domain: Set) -> Map = isl_map_subtract_domain;
    /// Either.
    take union(other: Map) -> Map = isl_map_union;
    /// Either; the caller vouches that they are disjoint.
    take union_disjoint(other: Map) -> Map = isl_map_union_disjoint;
    /// In `self` only.
    take subtract(other: Map) -> Map = isl_map_subtract;
    /// The inputs.
    take domain() -> Set = isl_map_domain;
    /// The outputs.
    take range() -> Set = isl_map_range;
    /// The parameters for which it is not empty.
    take params() -> Set = isl_map_params;
    /// The differences, output minus input; both tuples must have the same space.
    take deltas() -> Set = isl_map_deltas;
    /// As a set of wrapped pairs.
    take wrap() -> Set = isl_map_wrap;
    /// Inputs replaced by what `function` maps to them.
    take preimage_domain(function: MultiAff) -> Map = isl_map_preimage_domain_multi_aff;
    /// Outputs replaced by what `function` maps to them.
    take preimage_range(function: MultiAff) -> Map = isl_map_preimage_range_multi_aff;
    /// Whether it relates nothing, for any parameters.
    keep is_empty() -> bool = isl_map_is_empty;
    /// Whether it is obviously empty.
    keep plain_is_empty() -> bool = isl_map_plain_is_empty;
    /// Whether each input has one output at most.
    keep is_single_valued() -> bool = isl_map_is_single_valued;
    /// Whether each output has one input at most.
    keep is_injective() -> bool = isl_map_is_injective;
    /// Both of these.
    keep is_bijective() -> bool = isl_map_is_bijective;
    /// Whether all of it is in `other`.
    keep is_subset(other: &Map) -> bool = isl_map_is_subset;
    /// Whether nothing is in both.
    keep is_disjoint(other: &Map) -> bool = isl_map_is_disjoint;
    /// Same pairs.
    keep is_equal(other: &Map) -> bool = isl_map_is_equal;
    /// Each input with its least output.
    take lexmin() -> Map = isl_map_lexmin;
    /// Each input with its greatest output.
    take lexmax() -> Map = isl_map_lexmax;
    /// Without these dimensions, which become existential.
    take project_out(of: DimType, first: usize, count: usize) -> Map = isl_map_project_out, in (of, first, count);
    /// With new, unconstrained dimensions.
    take insert_dims(of: DimType, pos: usize, count: usize) -> Map = isl_map_insert_dims, in (of, pos, 0);
    /// With dimensions moved.
    take move_dims(to: DimType, to_pos: usize, from: DimType, from_pos: usize, count: usize) -> Map
        = isl_map_move_dims, in (to, to_pos, 0), in (from, from_pos, count);
    /// Where a dimension has a value.
    take fix(of: DimType, pos: usize, value: i64) -> Map = isl_map_fix_val, in (of, pos, 1);
    /// With a tuple unnamed.
    take unnamed(which: DimType) -> Map = isl_map_reset_tuple_id;
    /// With fewer disjuncts, if possible.
    take coalesce() -> Map = isl_map_coalesce;
    /// With every existential variable as an integer division.
    take compute_divs() -> Map = isl_map_compute_divs;
    /// With implied equalities made explicit.
    take detect_equalities() -> Map = isl_map_detect_equalities;
    /// Simplified under the assumption of `context`.
    take gist(context: Map) -> Map = isl_map_gist;
    /// Simplified for inputs in `context`.
    take gist_domain(context: Set) -> Map = isl_map_gist_domain;
    /// One pair, or an empty map.
    take sample() -> BasicMap = isl_map_sample;
    /// Same inputs, both outputs in one tuple.
    take flat_range_product(other: Map) -> Map = isl_map_flat_range_product;
} }

impl Map {
    /// Reads isl's text form, of our own printing or in a test: the parser recurses on its input.
    pub fn from_text(ctx: &Ctx, text: &str) -> Result<Self, IslError> {
        let text = c_string(text)?;
        let text = text.as_c_str();
        call!(ctx.clone(), isl_map_read_from_str(ctx, text))
    }

    /// With a tuple named.
    pub fn named(self, which: DimType, name: &str) -> Result<Self, IslError> {
        let name = c_string(name)?;
        let name = name.as_c_str();
        call!(self.ctx.clone(), isl_map_set_tuple_name(self, which, name))
    }

    /// Where dimension `a` equals dimension `b`.
    pub fn equate(self, a: (DimType, usize), b: (DimType, usize)) -> Result<Self, IslError> {
        self.check_pair(a, b)?;
        call!(self.ctx.clone(), isl_map_equate(self, a.0, Pos(a.1), b.0, Pos(b.1)))
    }

    /// Where dimension `a` is less than dimension `b`.
    pub fn order_lt(self, a: (DimType, usize), b: (DimType, usize)) -> Result<Self, IslError> {
        self.check_pair(a, b)?;
        call!(self.ctx.clone(), isl_map_order_lt(self, a.0, Pos(a.1), b.0, Pos(b.1)))
    }

    /// Where dimension `a` is at most dimension `b`.
    pub fn order_le(self, a: (DimType, usize), b: (DimType, usize)) -> Result<Self, IslError> {
        self.check_pair(a, b)?;
        call!(self.ctx.clone(), isl_map_order_le(self, a.0, Pos(a.1), b.0, Pos(b.1)))
    }

    /// Its disjuncts.
    pub fn basic_maps(&self) -> Result<Vec<BasicMap>, IslError> {
        let list = ffi::isl_map_get_basic_map_list;
        elements!(
            &self.ctx,
            list(self.ptr.as_ptr()),
            BasicMap,
            isl_basic_map_list_size,
            isl_basic_map_list_get_at,
            isl_basic_map_list_free
        )
    }

    /// Input and output of one pair of it, with the parameter values; `None` if it is empty.
    pub fn sample_pair(self) -> Result<Option<Pair>, IslError> {
        let ins = self.dim(DimType::In)?;
        let Some(point) = self.wrap()?.flatten()?.sample_point()? else { return Ok(None) };
        let mut input = point.coordinates(DimType::Out)?;
        let output = input.split_off(ins.min(input.len()));
        Ok(Some(Pair { params: point.coordinates(DimType::Param)?, input, output }))
    }

    pub(super) fn check_dims(&self, of: DimType, first: usize, count: usize) -> Result<(), IslError> {
        check_range(first, count, self.dim(of)?)
    }

    fn check_pair(&self, a: (DimType, usize), b: (DimType, usize)) -> Result<(), IslError> {
        self.check_dims(a.0, a.1, 1)?;
        self.check_dims(b.0, b.1, 1)
    }
}

/// One pair of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Parameter values.
    pub params: Vec<i64>,
    /// The input tuple.
    pub input: Vec<i64>,
    /// The output tuple.
    pub output: Vec<i64>,
}

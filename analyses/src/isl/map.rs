//! Relations between integer tuples.

use super::ctx::IslError;
use super::handle::{c_string, call, handle, methods};
use super::set::Set;
use super::space::{DimType, Space};

handle! {
    /// A finite union of conjunctions on pairs: a dependence, a schedule, an access.
    pub Map(isl_map), isl_map_free, copy isl_map_copy
}

methods! { Map {
    /// All of one set with all of another.
    new product(domain: Set, range: Set) -> Map = isl_map_from_domain_and_range;
    /// Its space.
    keep space() -> Space = isl_map_get_space;
    /// Number of dimensions.
    keep dim(of: DimType) -> usize = isl_map_dim;
    /// As a set of wrapped pairs.
    take wrap() -> Set = isl_map_wrap;
    /// With dimensions moved.
    take move_dims(to: DimType, to_pos: usize, from: DimType, from_pos: usize, count: usize) -> Map
        = isl_map_move_dims, in (to, to_pos, 0), in (from, from_pos, count);
} }

impl Map {
    /// With a tuple named.
    pub fn named(self, which: DimType, name: &str) -> Result<Self, IslError> {
        let name = c_string(name)?;
        let name = name.as_c_str();
        call!(self.ctx.clone(), isl_map_set_tuple_name(self, which, name))
    }
}

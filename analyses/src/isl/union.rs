//! Maps over several spaces, and dataflow analysis on them.

use super::ctx::{Ctx, IslError};
use super::ffi;
use super::handle::{call, elements, handle, methods};
use super::map::Map;
use super::space::{DimType, Space};

handle! {
    /// Maps of different spaces.
    pub UnionMap(isl_union_map), isl_union_map_free, copy isl_union_map_copy
}

methods! { UnionMap {
    /// Of one map.
    new from_map(map: Map) -> UnionMap = isl_union_map_from_map;
    /// Either.
    take union(other: UnionMap) -> UnionMap = isl_union_map_union;
    /// With fewer disjuncts, if possible.
    take coalesce() -> UnionMap = isl_union_map_coalesce;
} }

impl UnionMap {
    /// Nothing.
    pub fn empty(ctx: &Ctx) -> Result<Self, IslError> {
        call!(ctx.clone(), isl_union_map_empty_ctx(ctx))
    }

    /// Its maps, ordered by the names and sizes of input and output tuple.
    pub fn maps(&self) -> Result<Vec<Map>, IslError> {
        let list = ffi::isl_union_map_get_map_list;
        let maps: Result<Vec<Map>, IslError> = elements!(
            &self.ctx,
            list(self.ptr.as_ptr()),
            Map,
            isl_map_list_size,
            isl_map_list_get_at,
            isl_map_list_free
        );
        // isl keeps them in hash tables; what is listed must not depend on that.
        let mut keyed = Vec::new();
        for map in maps? {
            let space = map.space()?;
            keyed.push(((tuple(&space, DimType::In)?, tuple(&space, DimType::Out)?), map));
        }
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(keyed.into_iter().map(|(_, map)| map).collect())
    }
}

fn tuple(space: &Space, which: DimType) -> Result<(Option<String>, usize), IslError> {
    Ok((space.tuple_name(which)?, space.dim(which)?))
}

/// What dataflow analysis asks. All maps but `schedule` go from statement instances to array elements;
/// `schedule` goes from the instances to one common tuple, compared lexicographically.
pub struct Dataflow {
    /// The accesses whose sources are asked (reads, for flow).
    pub sink: UnionMap,
    /// Accesses that surely happen and hide earlier ones.
    pub must_source: UnionMap,
    /// Accesses that perhaps happen and hide nothing.
    pub may_source: UnionMap,
    /// The execution order.
    pub schedule: UnionMap,
}

impl Dataflow {
    /// All possible dependences by value, from source instance to sink instance.
    pub fn compute(self) -> Result<UnionMap, IslError> {
        let Self { sink, must_source, may_source, schedule } = self;
        let ctx = sink.ctx().clone();
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_from_sink(sink))?;
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_set_must_source(info, must_source))?;
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_set_may_source(info, may_source))?;
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_set_schedule_map(info, schedule))?;
        let flow: UnionFlow = call!(ctx.clone(), isl_union_access_info_compute_flow(info))?;
        let flow = &flow;
        call!(ctx.clone(), isl_union_flow_get_may_dependence(flow))
    }
}

handle! {
    AccessInfo(isl_union_access_info), isl_union_access_info_free
}

handle! {
    UnionFlow(isl_union_flow), isl_union_flow_free
}

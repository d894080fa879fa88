//! Sets and maps over several spaces, and dataflow analysis on them.

use super::ctx::{Ctx, IslError};
use super::ffi;
use super::handle::{c_string, call, elements, handle, methods};
use super::map::Map;
use super::set::Set;
use super::space::{DimType, Space};

handle! {
    /// Sets of different spaces.
    pub UnionSet(isl_union_set), isl_union_set_free, copy isl_union_set_copy, print isl_union_set_to_str
}

methods! { UnionSet {
    /// Of one set.
    new from_set(set: Set) -> UnionSet = isl_union_set_from_set;
    /// Either.
    take union(other: UnionSet) -> UnionSet = isl_union_set_union;
    /// Whether it holds nothing.
    keep is_empty() -> bool = isl_union_set_is_empty;
    /// The part in one space.
    keep extract(space: Space) -> Set = isl_union_set_extract_set;
} }

impl UnionSet {
    /// Nothing.
    pub fn empty(ctx: &Ctx) -> Result<Self, IslError> {
        call!(ctx.clone(), isl_union_set_empty_ctx(ctx))
    }

    /// Its sets, ordered by tuple name and size.
    pub fn sets(&self) -> Result<Vec<Set>, IslError> {
        let list = ffi::isl_union_set_get_set_list;
        let sets: Result<Vec<Set>, IslError> = elements!(
            &self.ctx,
            list(self.ptr.as_ptr()),
            Set,
            isl_set_list_size,
            isl_set_list_get_at,
            isl_set_list_free
        );
        ordered(sets?, |set| tuple(&set.space()?, DimType::Out))
    }
}

handle! {
    /// Maps of different spaces.
    pub UnionMap(isl_union_map), isl_union_map_free, copy isl_union_map_copy, print isl_union_map_to_str
}

methods! { UnionMap {
    /// Of one map.
    new from_map(map: Map) -> UnionMap = isl_union_map_from_map;
    /// Either.
    take union(other: UnionMap) -> UnionMap = isl_union_map_union;
    /// In `self` only.
    take subtract(other: UnionMap) -> UnionMap = isl_union_map_subtract;
    /// Both.
    take intersect(other: UnionMap) -> UnionMap = isl_union_map_intersect;
    /// Restricted to parameters in `params`.
    take intersect_params(params: Set) -> UnionMap = isl_union_map_intersect_params;
    /// Inverse relations.
    take reverse() -> UnionMap = isl_union_map_reverse;
    /// `other` after `self`.
    take apply_range(other: UnionMap) -> UnionMap = isl_union_map_apply_range;
    /// With fewer disjuncts, if possible.
    take coalesce() -> UnionMap = isl_union_map_coalesce;
    /// The inputs.
    take domain() -> UnionSet = isl_union_map_domain;
    /// The outputs.
    take range() -> UnionSet = isl_union_map_range;
    /// Whether it relates nothing.
    keep is_empty() -> bool = isl_union_map_is_empty;
    /// Same pairs.
    keep is_equal(other: &UnionMap) -> bool = isl_union_map_is_equal;
    /// The part in one map space; empty if there is none.
    keep extract(space: Space) -> Map = isl_union_map_extract_map;
} }

impl UnionMap {
    /// Nothing.
    pub fn empty(ctx: &Ctx) -> Result<Self, IslError> {
        call!(ctx.clone(), isl_union_map_empty_ctx(ctx))
    }

    /// All of `maps`.
    pub fn from_maps(ctx: &Ctx, maps: impl IntoIterator<Item = Map>) -> Result<Self, IslError> {
        maps.into_iter().try_fold(Self::empty(ctx)?, |all, map| all.union(Self::from_map(map)?))
    }

    /// Reads isl's text form, of our own printing or in a test: the parser recurses on its input.
    pub fn from_text(ctx: &Ctx, text: &str) -> Result<Self, IslError> {
        let text = c_string(text)?;
        let text = text.as_c_str();
        call!(ctx.clone(), isl_union_map_read_from_str(ctx, text))
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
        ordered(maps?, |map| {
            let space = map.space()?;
            Ok((tuple(&space, DimType::In)?, tuple(&space, DimType::Out)?))
        })
    }

    /// Its maps between tuples of these names.
    pub fn between(&self, input: &str, output: &str) -> Result<Vec<Map>, IslError> {
        let mut found = Vec::new();
        for map in self.maps()? {
            let space = map.space()?;
            let named = |which, name| Ok::<_, IslError>(space.tuple_name(which)?.as_deref() == Some(name));
            if named(DimType::In, input)? && named(DimType::Out, output)? {
                found.push(map);
            }
        }
        Ok(found)
    }
}

/// isl keeps unions in hash tables; what is listed must not depend on that.
fn ordered<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> Result<K, IslError>) -> Result<Vec<T>, IslError> {
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        keyed.push((key(&item)?, item));
    }
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(keyed.into_iter().map(|(_, item)| item).collect())
}

fn tuple(space: &Space, which: DimType) -> Result<(Option<String>, usize), IslError> {
    Ok((space.tuple_name(which)?, space.dim(which)?))
}

/// What dataflow analysis asks. All maps but `schedule` go from statement instances to array elements;
/// `schedule` goes from the instances to one common tuple, compared lexicographically.
#[derive(Clone, Debug)]
pub struct Dataflow {
    /// The accesses whose sources are asked (reads, for flow).
    pub sink: UnionMap,
    /// Accesses that surely happen and hide earlier ones.
    pub must_source: UnionMap,
    /// Accesses that perhaps happen and hide nothing.
    pub may_source: UnionMap,
    /// Accesses after which earlier sources no longer count, but that are no sources.
    pub kill: UnionMap,
    /// The execution order.
    pub schedule: UnionMap,
}

/// Dependences from source instance to sink instance.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Each from the one last source, which surely is it.
    pub must: UnionMap,
    /// All possible ones; contains `must`.
    pub may: UnionMap,
    /// Sink accesses without any source that surely happens.
    pub may_no_source: UnionMap,
    /// Sink accesses without any source.
    pub must_no_source: UnionMap,
}

impl Dataflow {
    /// An analysis without may-sources and kills.
    pub fn new(sink: UnionMap, must_source: UnionMap, schedule: UnionMap) -> Result<Self, IslError> {
        let none = UnionMap::empty(sink.ctx())?;
        Ok(Self { sink, must_source, may_source: none.clone(), kill: none, schedule })
    }

    /// The value-based dependences.
    pub fn compute(self) -> Result<Flow, IslError> {
        let Self { sink, must_source, may_source, kill, schedule } = self;
        let ctx = sink.ctx().clone();
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_from_sink(sink))?;
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_set_must_source(info, must_source))?;
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_set_may_source(info, may_source))?;
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_set_kill(info, kill))?;
        let info: AccessInfo = call!(ctx.clone(), isl_union_access_info_set_schedule_map(info, schedule))?;
        let flow: UnionFlow = call!(ctx.clone(), isl_union_access_info_compute_flow(info))?;
        let flow = &flow;
        Ok(Flow {
            must: call!(ctx.clone(), isl_union_flow_get_must_dependence(flow))?,
            may: call!(ctx.clone(), isl_union_flow_get_may_dependence(flow))?,
            may_no_source: call!(ctx.clone(), isl_union_flow_get_may_no_source(flow))?,
            must_no_source: call!(ctx.clone(), isl_union_flow_get_must_no_source(flow))?,
        })
    }
}

handle! {
    AccessInfo(isl_union_access_info), isl_union_access_info_free
}

handle! {
    UnionFlow(isl_union_flow), isl_union_flow_free
}

//! What is kept of a lifted function: its kernels, without the IR.

use super::asked::{self, Asked, Said};
use super::{Settings, Warning, code};
use cost_model::targets::Vectors;
use emission::extent::limits;
use irgen::lift::{self, LoopPlace, Remark};
use irgen::llvm::Module;
use loop_tree::{Affine, ArrayId, Kernel, ParamId, SourceLocation, VarId};
use std::sync::Arc;

/// A function's kernels, without the IR.
#[derive(Clone, Debug)]
pub struct LiftedKernels {
    /// The function.
    pub name: Arc<str>,
    /// Vectors of its code, where its attributes say so.
    pub vectors: Option<Vectors>,
    /// The whole function.
    pub whole: Arc<Kernel>,
    /// Its regions.
    pub regions: Vec<LiftedKernel>,
    /// What was not understood.
    pub remarks: Vec<Remark>,
    /// Recipes that the source asks for.
    pub asked: Vec<Asked>,
    /// What it says to us and is none.
    pub warnings: Vec<Warning>,
    /// Whether it is not plain before lifting that nothing gains.
    pub may_gain: bool,
    /// Its loops.
    pub loops: Vec<LoopPlace>,
}

impl LiftedKernels {
    pub(super) fn new(
        module: &Module<'_>,
        lifted: &lift::LiftedFunction<'_>,
        said: Said,
        may_gain: bool,
        settings: &Settings,
    ) -> LiftedKernels {
        let region = |r: &lift::Region<'_>| LiftedKernel {
            vectors: code::vectors(r.function),
            allocates: r.function.allocator().is_some(),
            kernel: r.kernel.clone(),
            location: r.location.clone(),
            likely: likely_values(module, r, settings.default_param),
            invented: r.invented.clone(),
        };
        let Said { mut asked, warnings } = said;
        for (number, r) in lifted.regions.iter().enumerate() {
            if !asked.iter().any(|a| a.is_for(number, lifted.regions.len()))
                && let Some(recipe) = asked::by_pragmas(r)
            {
                asked.push(Asked { region: Some(number), recipe, by_pragmas: true, location: None });
            }
        }
        LiftedKernels {
            name: lifted.name.clone(),
            vectors: lifted.regions.first().and_then(|r| code::vectors(r.function)),
            whole: lifted.kernel.clone(),
            regions: lifted.regions.iter().map(region).collect(),
            remarks: lifted.remarks.clone(),
            asked,
            warnings,
            may_gain,
            loops: lifted.loops.clone(),
        }
    }
}

/// A region's kernel; plain data.
#[derive(Clone, Debug)]
pub struct LiftedKernel {
    /// Vectors of its function's code, where attributes say so.
    pub vectors: Option<Vectors>,
    /// Whether new code may have buffers on the heap.
    pub allocates: bool,
    /// What the region computes.
    pub kernel: Arc<Kernel>,
    /// Its place in the source.
    pub location: Option<SourceLocation>,
    /// Values that parameters are likely to have, by [`ParamId`]: constants passed by callers, or what arrays
    /// have room for.
    pub likely: Vec<Likely>,
    /// Variables that are called by the number of loops around, whatever the source calls them.
    pub invented: Vec<VarId>,
}

/// What is known of the value that a parameter will have. Nothing is proved from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Likely {
    /// Nothing.
    Unknown,
    /// A constant that reaches it, or that it cannot exceed.
    Value(i64),
    /// Iterations of a loop over a tile of one that the program tiled itself, where they are a constant; other sizes are not like it.
    Tile(Option<i64>),
    /// The product of other parameters, for certain.
    Product(Vec<ParamId>),
    /// How often the first one has the second one, for certain.
    Ratio(ParamId, ParamId),
}

/// What callers pass; else, where arrays have no room for the default, what they have room for.
pub(super) fn likely_values<'m>(module: &Module<'_>, region: &lift::Region<'m>, default: i64) -> Vec<Likely> {
    let own = |v| region.params.iter().position(|p| p.factors == [v]).map(ParamId::new);
    let value = |p: &lift::ParamBinding<'m>| match &p.factors[..] {
        [single] => {
            let ratio = lift::ratio_of(*single).and_then(|[outer, inner]| own(outer).zip(own(inner)));
            let likely = || lift::likely_value(*single).map_or(Likely::Unknown, Likely::Value);
            ratio.map_or_else(likely, |(outer, inner)| Likely::Ratio(outer, inner))
        }
        factors => {
            let all: Option<Vec<ParamId>> = factors.iter().map(|v| own(*v)).collect();
            all.map_or(Likely::Unknown, Likely::Product)
        }
    };
    let mut likely: Vec<Likely> = region.params.iter().map(value).collect();
    for (param, length) in tiles(region) {
        likely[param.index()] = Likely::Tile(length);
    }
    let passed: Vec<bool> = likely.iter().map(|l| *l != Likely::Unknown).collect();
    for (number, binding) in region.arrays.iter().enumerate() {
        let lift::ArrayBinding::Memory { base, offset: 0, .. } = binding else { continue };
        let Some(bytes) = module.data_layout().object_size(*base) else { continue };
        let array = ArrayId::new(number);
        let elements = bytes / u64::from(region.kernel.array(array).element.size());
        for (param, limit) in limits(&region.kernel, array, i64::try_from(elements).unwrap_or(i64::MAX)) {
            let value = &mut likely[param.index()];
            let least = if let Likely::Value(value) = value { *value } else { default };
            if !passed[param.index()] && limit > 0 && limit < least {
                *value = Likely::Value(limit);
            }
        }
    }
    likely
}

/// Parameters that say where loops over tiles end, which are counted from zero, with the length where it is a constant.
fn tiles<'m>(region: &lift::Region<'m>) -> Vec<(ParamId, Option<i64>)> {
    let value = |(n, p): (usize, &lift::ParamBinding<'m>)| match p.factors[..] {
        [value] => Some((ParamId::new(n), value)),
        _ => None,
    };
    let values = || region.params.iter().enumerate().filter_map(value);
    let mut found = Vec::new();
    for (header, _) in region.kernel.original.walk().filter_map(|node| node.as_loop()) {
        let [lower] = header.lower() else { continue };
        let Some((_, begin)) = values().find(|(id, _)| *lower == Affine::param(*id)) else { continue };
        let ends = |id: ParamId| header.upper().iter().any(|e| e.param_coefficient(id) > 0);
        for (id, end) in values().filter(|(id, _)| ends(*id)) {
            let Some(length) = lift::tile_length(begin, end) else { continue };
            // What one caller passes is no more than a default: a program over short tiles takes no less time.
            let constant = length.const_int().and_then(|l| i64::try_from(l).ok());
            found.push((id, constant.filter(|l| *l > 0)));
        }
    }
    found
}

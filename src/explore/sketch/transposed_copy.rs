//! Arrays that a nest walks again and again, and down their columns where it wants vectors, are copied into an order of dimensions
//! that it walks along; then copies of rows side by side. Products with a transposed factor over triangles, parts of structures.

use super::register_tile::{FACTORS, in_turn, jammed, orders};
use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::Region;
use crate::explore::variant::Variant;
use loop_tree::{AccessKind, Affine, ArrayId, Green, Kernel, Path, VarId, occurrences};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use transforms::Transpose;

/// Orders of a nest with what it walks down columns transposed around it, and one or two loops jammed.
pub struct TransposedCopy;

impl Sketch for TransposedCopy {
    fn name(&self) -> &str {
        "transposed copy"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn share(&self) -> f64 {
        0.25
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(top) = region.outermost(&start.root) else { return vec![] };
        let mut copied: Vec<(Draft, Path)> = Vec::new();
        for order in orders(desk, start, &top) {
            let walked = walked_down(&desk.kernel(), &order.root, &top);
            let read = walked.iter().filter(|(_, walk)| !walk.written);
            let all = transposed(desk, &order, &top, walked.iter());
            let only_read = transposed(desk, &order, &top, read);
            for one in [all, only_read].into_iter().flatten() {
                if copied.iter().all(|(known, _)| known.root != one.0.root) {
                    copied.push(one);
                }
            }
        }
        let each = desk.room().div_ceil(copied.len().max(1));
        let of_one = |(draft, inside): (Draft, Path)| {
            let drafts = jammed(desk, draft.clone(), inside, &FACTORS);
            drafts.chain(std::iter::once(draft)).take(each).collect()
        };
        let drafts = in_turn(copied.into_iter().map(of_one).collect());
        desk.judge_promising(drafts, start)
    }
}

/// How innermost loops walk an array.
#[derive(Clone)]
struct Walk {
    /// The dimension that they walk along, not the last one.
    dimension: usize,
    /// Of so many.
    rank: usize,
    /// Whether the nest writes the array.
    written: bool,
}

/// Arrays that innermost loops walk along another dimension than the last, the same one everywhere, and elements of which a loop of the
/// nest comes back to; none where that are sums.
fn walked_down(kernel: &Kernel, root: &Green, top: &Path) -> BTreeMap<ArrayId, Walk> {
    // `None`: not in one such way.
    let mut walked: BTreeMap<ArrayId, Option<Walk>> = BTreeMap::new();
    let mut written: BTreeSet<ArrayId> = BTreeSet::new();
    for occurrence in occurrences(root).iter().filter(|o| top.contains(&o.path)) {
        let inside = occurrence.around.get(top.0.len()..).unwrap_or_default();
        let loops: Vec<VarId> = inside.iter().filter_map(|node| Some(node.as_loop()?.0.var)).collect();
        let Some(innermost) = loops.last() else { continue };
        for access in &kernel.statement(occurrence.statement).accesses {
            if access.kind != AccessKind::Read {
                written.insert(access.array);
            }
            let subscripts: Option<Vec<Affine>> =
                access.subscripts.as_ref().map(|all| all.iter().map(|e| occurrence.resolve(e)).collect());
            if subscripts.as_ref().is_some_and(|all| !all.iter().any(|e| e.uses(*innermost))) {
                // A sum over the innermost loop is no vector.
                if access.kind != AccessKind::Read {
                    return BTreeMap::new();
                }
                continue;
            }
            let walk = || {
                let subscripts = subscripts?;
                let mut along = subscripts.iter().enumerate().filter(|(_, e)| e.uses(*innermost));
                let (Some((dimension, subscript)), None) = (along.next(), along.next()) else { return None };
                let plain = subscript.coefficient(*innermost).abs() == 1 && dimension + 1 < subscripts.len();
                let again = loops.iter().any(|v| !subscripts.iter().any(|e| e.uses(*v)));
                let apart = !occurrence.is_buffered(access.array, occurrence.around.len());
                let walk = Walk { dimension, rank: subscripts.len(), written: false };
                (plain && again && apart).then_some(walk)
            };
            let walk = walk();
            let known = walked.entry(access.array).or_insert_with(|| walk.clone());
            if known.as_ref().map(|k| k.dimension) != walk.map(|w| w.dimension) {
                *known = None;
            }
        }
    }
    let of_array = |(array, walk): (ArrayId, Option<Walk>)| {
        Some((array, Walk { written: written.contains(&array), ..walk? }))
    };
    walked.into_iter().filter_map(of_array).collect()
}

/// The nest with some arrays copied around it, and where it is then.
fn transposed<'w>(
    desk: &Desk<'_, '_, '_>,
    order: &Draft,
    top: &Path,
    arrays: impl Iterator<Item = (&'w ArrayId, &'w Walk)>,
) -> Option<(Draft, Path)> {
    let kernel = desk.kernel();
    let (mut draft, mut inside) = (order.clone(), top.clone());
    for (array, walk) in arrays {
        let others = (0..walk.rank).filter(|d| *d != walk.dimension);
        let step = Transpose {
            target: top.clone().into(),
            array: Arc::from(&*kernel.array(*array).name),
            order: others.chain([walk.dimension]).collect(),
        };
        draft = desk.apply(&draft, step).ok()?;
        inside = inside.child(0);
    }
    (inside != *top).then_some((draft, inside))
}

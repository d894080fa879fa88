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
            let all = transposed(desk, &order, &top, walked.iter());
            let only_read = transposed(desk, &order, &top, walked.iter().filter(|walk| !walk.written));
            for one in [all, only_read].into_iter().flatten() {
                if copied.iter().all(|(known, _)| known.root != one.0.root) {
                    copied.push(one);
                }
            }
        }
        let drafts = in_turn(desk, &copied, |(draft, inside)| {
            let jams = jammed(desk, draft.clone(), inside.clone(), &FACTORS);
            jams.chain(std::iter::once(draft.clone()))
        });
        desk.judge_promising(drafts, start)
    }
}

/// How innermost loops walk an array.
struct Walk {
    array: ArrayId,
    /// The dimension that they walk along, not the last one.
    dimension: usize,
    /// Whether the nest writes the array.
    written: bool,
}

/// Arrays that innermost loops walk along another dimension than the last, the same one everywhere, and elements of which a loop of the
/// nest comes back to; none where that are sums.
fn walked_down(kernel: &Kernel, root: &Green, top: &Path) -> Vec<Walk> {
    // The dimension; `None`: not in one such way.
    let mut walked: BTreeMap<ArrayId, Option<usize>> = BTreeMap::new();
    let mut written: BTreeSet<ArrayId> = BTreeSet::new();
    for occurrence in occurrences(root).iter().filter(|o| top.contains(&o.path)) {
        let inside = occurrence.around.get(top.0.len()..).unwrap_or_default();
        let loops: Vec<VarId> = inside.iter().filter_map(|node| Some(node.as_loop()?.0.var)).collect();
        let Some(innermost) = loops.last() else { continue };
        for access in &kernel.statement(occurrence.statement).accesses {
            let writes = access.kind != AccessKind::Read;
            if writes {
                written.insert(access.array);
            }
            let subscripts: Option<Vec<Affine>> =
                access.subscripts.as_ref().map(|all| all.iter().map(|e| occurrence.resolve(e)).collect());
            if subscripts.as_ref().is_some_and(|all| !all.iter().any(|e| e.uses(*innermost))) {
                // A sum over the innermost loop is no vector.
                if writes {
                    return vec![];
                }
                continue;
            }
            let dimension = subscripts.and_then(|subscripts| {
                let mut along = subscripts.iter().enumerate().filter(|(_, e)| e.uses(*innermost));
                let (Some((dimension, subscript)), None) = (along.next(), along.next()) else { return None };
                let plain = subscript.coefficient(*innermost).abs() == 1 && dimension + 1 < subscripts.len();
                let again = loops.iter().any(|v| !subscripts.iter().any(|e| e.uses(*v)));
                let apart = !occurrence.is_buffered(access.array, occurrence.around.len());
                (plain && again && apart).then_some(dimension)
            });
            let known = walked.entry(access.array).or_insert(dimension);
            if *known != dimension {
                *known = None;
            }
        }
    }
    let of_array = |(array, dimension): (ArrayId, Option<usize>)| {
        Some(Walk { array, dimension: dimension?, written: written.contains(&array) })
    };
    walked.into_iter().filter_map(of_array).collect()
}

/// The nest with some arrays copied around it, and where it is then.
fn transposed<'w>(
    desk: &Desk<'_, '_, '_>,
    order: &Draft,
    top: &Path,
    arrays: impl Iterator<Item = &'w Walk>,
) -> Option<(Draft, Path)> {
    let kernel = desk.kernel();
    let (mut draft, mut inside) = (order.clone(), top.clone());
    for walk in arrays {
        let array = kernel.array(walk.array);
        let others = (0..array.rank()).filter(|d| *d != walk.dimension);
        let step = Transpose {
            target: top.clone().into(),
            array: Arc::from(&*array.name),
            order: others.chain([walk.dimension]).collect(),
        };
        draft = desk.apply(&draft, step).ok()?;
        inside = inside.child(0);
    }
    (inside != *top).then_some((draft, inside))
}

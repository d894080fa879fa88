//! Vectors of the tree's own: lanes along any loop, not only an innermost one, and vectors side by side, in rows. So accumulators
//! stay in registers while the loop inside runs, and what each iteration of an outer loop carries along runs in lanes.

use super::register_tile::{bands, loop_at};
use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::{Green, LoopKind, Node, Path, ScalarType, Walk};
use transforms::{Distribute, Interchange, LoopRef, Permute, UnrollAndJam, Vectorize};

/// Register tiles of vectors.
pub struct VectorTile;

/// Rows of a tile.
const ROWS: [i64; 4] = [1, 4, 6, 8];
/// Vectors of a row.
const VECTORS: [i64; 4] = [1, 2, 3, 4];

impl Sketch for VectorTile {
    fn name(&self) -> &str {
        "vector tile"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(top) = region.outermost(&start.root) else { return vec![] };
        let mut drafts = Vec::new();
        for band in bands(&start.root, &top) {
            for lanes_along in 0..band.len() {
                for inside in (0..band.len()).filter(|k| *k != lanes_along) {
                    drafts.extend(tiles(desk, start, &band, lanes_along, inside));
                }
            }
        }
        drafts.extend(columns(desk, start, &top));
        desk.judge_promising(drafts, start)
    }
}

/// How many lanes what a part of the tree computes with fits into one register.
fn lanes(desk: &Desk<'_, '_, '_>, root: &Green, path: &Path) -> Option<i64> {
    let kernel = desk.kernel();
    let mut widest: Option<ScalarType> = None;
    let mut walk = Walk::at(root, path)?;
    while let Some(node) = walk.next() {
        let Node::Stmt(id, _) = node.node() else { continue };
        for access in &kernel.statement(*id).accesses {
            let ty = kernel.array(access.array).element;
            widest = widest.filter(|w| w.size() >= ty.size()).or(Some(ty));
        }
    }
    Some(i64::from(desk.target().lanes(widest?))).filter(|lanes| *lanes > 1)
}

/// A band with one loop as lanes and another one innermost, in tiles of rows and vectors.
fn tiles(
    desk: &Desk<'_, '_, '_>,
    start: &Variant,
    band: &[Path],
    lanes_along: usize,
    inside: usize,
) -> Vec<Draft> {
    let mut result = Vec::new();
    let rest: Vec<usize> = (0..band.len()).filter(|k| *k != lanes_along && *k != inside).collect();
    let order = |all: &[usize]| -> Vec<LoopRef> { all.iter().map(|k| band[*k].clone().into()).collect() };
    let mut orders = vec![[&[lanes_along][..], &rest, &[inside]].concat()];
    if !rest.is_empty() {
        orders.push([&rest[..], &[lanes_along], &[inside]].concat());
    }
    for all in orders {
        let mut draft = Draft::from(start);
        if !all.is_sorted() {
            let Ok(permuted) = desk.apply(&draft, Permute { order: order(&all) }) else { continue };
            draft = permuted;
        }
        let depth = all.iter().position(|k| *k == lanes_along).unwrap_or(0);
        result.extend(tiled(desk, &draft, &band[0], depth, band.len()).unwrap_or_default());
    }
    result
}

/// Lanes along the loop so many loops below the top of a band, inside of all others.
fn tiled(
    desk: &Desk<'_, '_, '_>,
    draft: &Draft,
    top: &Path,
    depth: usize,
    loops: usize,
) -> Option<Vec<Draft>> {
    let target = loop_at(&draft.root, top, depth)?;
    let lanes = lanes(desk, &draft.root, &target)?;
    let mut draft = desk.apply(draft, Vectorize { target: target.clone().into(), lanes }).ok()?;
    let vectors = main_loop(&draft.root, &target);
    for below in 1..loops - depth {
        let outer = loop_at(&draft.root, &vectors, below)?;
        draft = desk.apply(&draft, Interchange { outer: outer.into(), inner: None }).ok()?;
    }
    let mut result = Vec::new();
    // Rows are iterations of the loop next to the one over vectors.
    let row = match (depth, loops - depth) {
        (0, 2) => None,
        (0, _) => Some(loop_at(&draft.root, &vectors, 1)?),
        _ => Some(loop_at(&draft.root, top, depth - 1)?),
    };
    for rows in ROWS {
        let Some(jammed) = rows_of(desk, &draft, row.as_ref(), rows) else { break };
        // The loop over vectors may stand in what the rows' loop has become.
        let at = match depth {
            0 => Some(vectors.clone()),
            _ => row.as_ref().and_then(|row| loop_at(&jammed.root, &main_loop(&jammed.root, row), 1)),
        };
        let Some(at) = at else { break };
        for count in VECTORS {
            let drawn = match count {
                1 => Some(jammed.clone()),
                _ => desk.apply(&jammed, UnrollAndJam { target: at.clone().into(), factor: count }).ok(),
            };
            result.extend(drawn);
        }
        if row.is_none() {
            break;
        }
    }
    Some(result)
}

/// So many iterations of a loop side by side, with one vector loop for each: what is the same in a row is in a register no longer
/// than for that row.
fn rows_of(desk: &Desk<'_, '_, '_>, draft: &Draft, row: Option<&Path>, rows: i64) -> Option<Draft> {
    let Some(row) = row.filter(|_| rows > 1) else { return Some(draft.clone()) };
    let jammed = desk.apply(draft, UnrollAndJam { target: row.clone().into(), factor: rows }).ok()?;
    let main = main_loop(&jammed.root, row);
    let vector = vector_loop(&jammed.root, &main)?;
    desk.apply(&jammed, Distribute { target: vector.into(), at: None }).ok()
}

/// Loops that hold loops as lanes, as they are: what an iteration carries along is carried by a lane.
fn columns(desk: &Desk<'_, '_, '_>, start: &Variant, top: &Path) -> Vec<Draft> {
    let mut result = Vec::new();
    let Some(nest) = start.root.at(top) else { return result };
    for depth in 2..=nest.summary().loop_depth {
        for path in loops_of_depth(&start.root, top, depth) {
            let Some(lanes) = lanes(desk, &start.root, &path) else { continue };
            let step = Vectorize { target: path.clone().into(), lanes };
            let Ok(draft) = desk.apply(&start.into(), step) else { continue };
            let vectors = main_loop(&draft.root, &path);
            for factor in [2, 4] {
                result.extend(desk.apply(&draft, UnrollAndJam { target: vectors.clone().into(), factor }));
            }
            result.push(draft);
        }
    }
    result
}

/// What a loop has become, of which some iterations are left over: the loop itself, or the first of a sequence.
fn main_loop(root: &Green, path: &Path) -> Path {
    match root.at(path).map(Green::node) {
        Some(Node::Seq(_)) => path.child(0),
        _ => path.clone(),
    }
}

/// The first vector loop at or below a path.
fn vector_loop(root: &Green, path: &Path) -> Option<Path> {
    let mut walk = Walk::at(root, path)?;
    while let Some(node) = walk.next() {
        if node.as_loop().is_some_and(|(header, _)| header.kind == LoopKind::Vector) {
            return Some(walk.path());
        }
    }
    None
}

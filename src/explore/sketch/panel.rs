//! Panels of a factorisation or a triangular solve: rows in blocks; what a row needs of the rows in front of its block comes
//! first, for all rows of the block together, where it is a product, and the triangle at the diagonal last.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, loops_below};
use crate::explore::variant::Variant;
use loop_tree::{Affine, Green, Node, Path, VarId};
use transforms::{Distribute, Expression, IndexSetSplit, Interchange, Move, Tile};

/// Blocks rows, splits the loops inside at the block, and distributes.
pub struct Panel;

/// Rows of a block.
const ROWS: [i64; 3] = [8, 16, 32];

impl Sketch for Panel {
    fn name(&self) -> &str {
        "panel"
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(rows) = region.outermost(&start.root) else { return vec![] };
        let drafts = ROWS.iter().filter_map(|size| panel(desk, &start.into(), &rows, *size)).collect();
        desk.judge(drafts).into_iter().flatten().collect()
    }
}

fn panel(desk: &Desk<'_, '_, '_>, start: &Draft, rows: &Path, size: i64) -> Option<Draft> {
    let row = start.root.at(rows)?.as_loop()?.0.var;
    // Something inside must reach from the first row to this one.
    let reaches = |path: &Path| triangular(&start.root, path, row);
    loops_below(&start.root, rows).iter().any(reaches).then_some(())?;
    let tile = Tile { band: vec![rows.clone().into()], sizes: vec![vec![size]], full: true };
    let mut draft = desk.apply(start, tile).ok()?;
    let blocks = match draft.root.at(rows)?.node() {
        Node::Seq(_) => rows.child(0),
        _ => rows.clone(),
    };
    let [points] = &loops_below(&draft.root, &blocks)[..] else { return None };
    let (header, body) = draft.root.at(points)?.as_loop()?;
    let (row, [first]) = (header.var, header.lower()) else { return None };
    let first = first.clone();
    let Node::Seq(children) = body.node() else { return None };
    let (count, sequence) = (children.len(), points.child(0));
    // Last first: paths of the children in front stay what they are.
    let mut far: Vec<usize> = Vec::new();
    for index in (0..count).rev() {
        let child = sequence.child(index);
        let parts = |draft: &Draft| draft.root.at(&sequence).map_or(0, Green::child_count);
        let before = parts(&draft);
        if let Some(split) = split_at(desk, &draft, &child, row, &first) {
            let more = parts(&split).saturating_sub(before);
            far.iter_mut().for_each(|at| *at += more);
            if more > 0 {
                far.insert(0, index);
            }
            draft = split;
        }
    }
    let (nearest, others) = far.split_first()?;
    // All that is in front of the first one stays with it.
    for (end, other) in (nearest + 1..).zip(others) {
        if *other != end {
            draft = desk.apply(&draft, Move { part: sequence.child(*other).into(), to: end }).ok()?;
        }
    }
    let mut part = points.clone();
    for at in std::iter::once(nearest + 1).chain(others.iter().map(|_| 1)) {
        draft = desk.apply(&draft, Distribute { target: part.clone().into(), at: Some(at) }).ok()?;
        part = match part.split_last() {
            Some((parent, index)) if is_sequence(&draft.root, &parent) => parent.child(index + 1),
            _ => part.child(1),
        };
    }
    Some(draft)
}

fn is_sequence(root: &Green, path: &Path) -> bool {
    root.at(path).is_some_and(|n| matches!(n.node(), Node::Seq(_)))
}

/// A loop whose range, or that of the only loop inside, ends at the row, split at the first row of the block; swapped with
/// the loop inside before, where that is the one.
fn split_at(
    desk: &Desk<'_, '_, '_>,
    draft: &Draft,
    path: &Path,
    row: VarId,
    first: &Affine,
) -> Option<Draft> {
    let point = Expression::of(&desk.kernel(), first);
    let split = |draft: &Draft| {
        let step = IndexSetSplit { target: path.clone().into(), point: point.clone() };
        desk.apply(draft, step).ok()
    };
    if ends_at(&draft.root, path, row) {
        return split(draft);
    }
    let swapped = desk.apply(draft, Interchange { outer: path.clone().into(), inner: None }).ok()?;
    if ends_at(&swapped.root, path, row) { split(&swapped) } else { None }
}

/// Whether an upper bound of the loop at the path is the row.
fn ends_at(root: &Green, path: &Path, row: VarId) -> bool {
    let header = root.at(path).and_then(Green::as_loop).map(|(header, _)| header);
    header.is_some_and(|h| h.upper().iter().any(|u| u.coefficient(row) == 1))
}

/// Whether the range of a loop, or of one inside, ends at the row.
fn triangular(root: &Green, path: &Path, row: VarId) -> bool {
    ends_at(root, path, row) || loops_below(root, path).iter().any(|p| triangular(root, p, row))
}

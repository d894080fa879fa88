//! An order of the loops in which the innermost one suits vectors, and copies of what is around it side by side, so that
//! values are reused in registers and chains of operations overlap: products, passes over matrices, recurrences along rows.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, heaviest, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::{Green, Node, Path};
use transforms::{Interchange, UnrollAndJam};

/// Orders of the loops of a nest, with one or two of them jammed.
pub struct RegisterTile;

/// Copies of a loop that is jammed; others are a matter of sizes.
pub(super) const FACTORS: [i64; 2] = [4, 8];
/// Copies of a loop inside of it.
const INNER: i64 = 4;
/// Loops of a perfect nest whose orders are tried.
const BAND: usize = 4;

impl Sketch for RegisterTile {
    fn name(&self) -> &str {
        "register tile"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn share(&self) -> f64 {
        0.35
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(top) = region.outermost(&start.root) else { return vec![] };
        let orders = orders(desk, start, &top);
        let drafts = in_turn(desk, &orders, |order| jammed(desk, order.clone(), top.clone(), &FACTORS));
        let mut result: Vec<Variant> = desk.judge(orders).into_iter().flatten().collect();
        result.extend(desk.judge_promising(drafts, start));
        result
    }
}

/// The nest as it is, and with each other loop of a perfect nest innermost, or around what stands in the middle of it; the two
/// outermost of three also swapped.
pub(super) fn orders(desk: &Desk<'_, '_, '_>, start: &Variant, top: &Path) -> Vec<Draft> {
    let mut result = vec![Draft::from(start)];
    for band in bands(&start.root, top).into_iter().chain(outer_bands(&start.root, top)) {
        let last = band.len() - 1;
        let mut drafts = Vec::new();
        for inner in 0..last {
            let moved = (inner..last).try_fold(Draft::from(start), |draft, depth| {
                let path = loop_at(&draft.root, &band[0], depth)?;
                desk.apply(&draft, Interchange { outer: path.into(), inner: None }).ok()
            });
            drafts.extend(moved);
        }
        if last >= 2 {
            let all: Vec<Draft> = drafts.iter().cloned().chain([Draft::from(start)]).collect();
            for draft in all {
                let step = Interchange { outer: band[0].clone().into(), inner: None };
                drafts.extend(desk.apply(&draft, step));
            }
        }
        result.extend(drafts);
    }
    result
}

/// Perfect nests of a part of a tree that end in an innermost loop, and begin as far out as they can.
pub(super) fn bands(root: &Green, top: &Path) -> Vec<Vec<Path>> {
    loops_of_depth(root, top, 1).into_iter().filter_map(|innermost| band(root, top, innermost)).collect()
}

/// The same around several parts that have loops.
fn outer_bands(root: &Green, top: &Path) -> Vec<Vec<Path>> {
    let deepest = root.at(top).map_or(0, |nest| nest.summary().loop_depth);
    let around_parts = |path: &Path| {
        let mut body = root.at(path).and_then(|node| node.as_loop()).map(|(_, body)| body);
        while let Some(node) = body.filter(|n| n.as_loop().is_none() && n.child_count() == 1) {
            body = node.child(0);
        }
        body.is_some_and(|node| matches!(node.node(), Node::Seq(_)))
    };
    let ends = (2..=deepest).flat_map(|depth| loops_of_depth(root, top, depth)).filter(around_parts);
    ends.filter_map(|end| band(root, top, end)).collect()
}

/// The perfect nest that ends in a loop, if it has several.
fn band(root: &Green, top: &Path, end: Path) -> Option<Vec<Path>> {
    let mut band = vec![end.clone()];
    let mut path = end;
    while band.len() < BAND
        && path != *top
        && let Some((parent, _)) = path.split_last()
        && let Some(node) = root.at(&parent)
        && !matches!(node.node(), Node::Seq(_))
    {
        if node.as_loop().is_some() {
            band.insert(0, parent.clone());
        }
        path = parent;
    }
    (band.len() > 1).then_some(band)
}

/// The path of the loop so many loops below another one, in a perfect nest.
pub(super) fn loop_at(root: &Green, top: &Path, depth: usize) -> Option<Path> {
    let (mut path, mut left) = (top.clone(), depth);
    loop {
        let node = root.at(&path)?;
        if node.as_loop().is_some() {
            if left == 0 {
                return Some(path);
            }
            left -= 1;
        }
        if node.child_count() != 1 {
            return None;
        }
        path = path.child(0);
    }
}

/// One loop that is not innermost jammed, and one in it as well; made when asked for.
pub(super) fn jammed<'d>(
    desk: &'d Desk<'_, '_, '_>,
    draft: Draft,
    top: Path,
    factors: &'d [i64],
) -> impl Iterator<Item = Draft> + 'd {
    let deepest = draft.root.at(&top).map_or(0, |nest| nest.summary().loop_depth);
    let sites: Vec<(u32, Path)> = (2..=deepest)
        .rev()
        .flat_map(|depth| loops_of_depth(&draft.root, &top, depth).into_iter().map(move |path| (depth, path)))
        .collect();
    let jam = |draft: &Draft, target: Path, factor: i64| {
        let count = draft.root.at(&target)?.as_loop()?.0.constant_trip_count();
        let factor = count.map_or(factor, |count| factor.min(count));
        desk.apply(draft, UnrollAndJam { target: target.into(), factor }).ok()
    };
    let sites =
        factors.iter().flat_map(move |factor| sites.clone().into_iter().map(move |site| (*factor, site)));
    sites.flat_map(move |(factor, (depth, path))| {
        let Some(outer) = jam(&draft, path.clone(), factor) else { return vec![] };
        let inside = (2..depth).filter_map(|inner| main_part(&outer.root, &path, inner));
        let mut all: Vec<Draft> = inside.filter_map(|target| jam(&outer, target, INNER)).collect();
        all.push(outer);
        all
    })
}

/// Of what is drawn from several starts, the first of each, then the second of each: of deep nests there is more than may be tried.
pub(super) fn in_turn<'s, S, Drafts: Iterator<Item = Draft>>(
    desk: &Desk<'_, '_, '_>,
    starts: &'s [S],
    drawn: impl Fn(&'s S) -> Drafts,
) -> Vec<Draft> {
    let each = desk.room().div_ceil(starts.len().max(1));
    let mut ranked: Vec<(usize, Draft)> =
        starts.iter().flat_map(|start| drawn(start).take(each).enumerate()).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, item)| item).collect()
}

/// Of the loops that hold so many loops in what a jammed loop has become, the one with most copies.
fn main_part(root: &Green, jammed: &Path, depth: u32) -> Option<Path> {
    // What stands at the path is the jammed loop, or the sequence of it and the rest.
    let node = root.at(jammed)?;
    let main = if matches!(node.node(), Node::Seq(_)) { jammed.child(0) } else { jammed.clone() };
    heaviest(root, loops_of_depth(root, &main, depth))
}

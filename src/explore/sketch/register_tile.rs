//! An order of the loops in which the innermost one suits vectors, and copies of what is around it side by side, so that
//! values are reused in registers and chains of operations overlap: products, passes over matrices, recurrences along rows.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, heaviest, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::{Green, Node, Path};
use transforms::{Interchange, UnrollAndJam};

/// Orders of the loops of a nest, with one or two of them jammed.
pub struct RegisterTile;

/// Factors of jamming an outer loop.
const FACTORS: [i64; 3] = [2, 4, 8];
/// Factors of a loop inside of a jammed one; 8 x 3 leaves registers for what is loaded.
const INNER_FACTORS: [i64; 4] = [2, 3, 4, 8];
/// Copies of a body side by side. Accumulators, or the operands that take their place, are at most as many as registers.
const COPIES: i64 = 32;
/// Loops of a perfect nest whose orders are tried.
const BAND: usize = 4;

impl Sketch for RegisterTile {
    fn name(&self) -> &str {
        "register tile"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(top) = region.outermost(&start.root) else { return vec![] };
        let mut result = Vec::new();
        let mut drafts = Vec::new();
        for order in orders(desk, start, &top) {
            drafts.extend(jammed(desk, &order, &top));
            result.push(order);
        }
        result.extend(desk.judge_promising(drafts, start));
        result
    }
}

/// The nest as it is, and with each other loop of a perfect nest innermost; the two outermost of three also swapped.
fn orders(desk: &mut Desk<'_, '_, '_>, start: &Variant, top: &Path) -> Vec<Variant> {
    let mut result = vec![start.clone()];
    for band in bands(&start.root, top) {
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
        result.extend(desk.judge(drafts).into_iter().flatten());
    }
    result
}

/// Perfect nests of a part of a tree that end in an innermost loop, and begin as far out as they can.
fn bands(root: &Green, top: &Path) -> Vec<Vec<Path>> {
    let mut result = Vec::new();
    for innermost in loops_of_depth(root, top, 1) {
        let mut band = vec![innermost.clone()];
        let mut path = innermost;
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
        if band.len() > 1 && !result.contains(&band) {
            result.push(band);
        }
    }
    result
}

/// The path of the loop so many loops below another one, in a perfect nest.
fn loop_at(root: &Green, top: &Path, depth: usize) -> Option<Path> {
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

/// One loop that is not innermost jammed, and one in it as well.
fn jammed(desk: &mut Desk<'_, '_, '_>, order: &Variant, top: &Path) -> Vec<Draft> {
    let mut result = Vec::new();
    let root = order.root.clone();
    let Some(nest) = root.at(top) else { return result };
    let most = i64::from(desk.most_leaves()).min(COPIES * 4);
    for depth in 2..=nest.summary().loop_depth {
        for path in loops_of_depth(&order.root, top, depth) {
            let Some(leaves) = order.root.at(&path).map(|n| i64::from(n.summary().leaves)) else {
                continue;
            };
            // Where two copies are not legal, more are not either.
            let jam = |factor| UnrollAndJam { target: path.clone().into(), factor };
            if desk.try_step(order, jam(FACTORS[0])).is_none() {
                continue;
            }
            for outer in FACTORS.into_iter().filter(|f| f * leaves <= most) {
                let Ok(draft) = desk.apply(&order.into(), jam(outer)) else { break };
                for inner in 2..depth {
                    let Some(target) = main_part(&draft.root, &path, inner) else { continue };
                    for factor in INNER_FACTORS
                        .into_iter()
                        .filter(|f| f * outer <= COPIES && f * outer * leaves <= most)
                    {
                        let step = UnrollAndJam { target: target.clone().into(), factor };
                        result.extend(desk.apply(&draft, step));
                    }
                }
                result.push(draft);
            }
        }
    }
    result
}

/// Of the loops that hold so many loops in what a jammed loop has become, the one with most copies.
fn main_part(root: &Green, jammed: &Path, depth: u32) -> Option<Path> {
    // What stands at the path is the jammed loop, or the sequence of it and the rest.
    let node = root.at(jammed)?;
    let main = if matches!(node.node(), Node::Seq(_)) { jammed.child(0) } else { jammed.clone() };
    heaviest(root, loops_of_depth(root, &main, depth))
}

//! All loops of a perfect nest in blocks, in an order that suits vectors, and copies of rows of a block side by side: products of
//! matrices that are larger than caches.

use super::register_tile::{FACTORS, bands, in_turn, jammed, orders};
use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::Path;
use transforms::Tile;

/// Orders of a nest in blocks, with one or two loops inside of a block jammed.
pub struct BlockedProduct;

/// Iterations of each loop in a block; others are a matter of sizes.
const BLOCK: i64 = 32;
/// Loops from which on a nest is blocked.
const DEPTH: usize = 3;

impl Sketch for BlockedProduct {
    fn name(&self) -> &str {
        "blocked product"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn share(&self) -> f64 {
        0.25
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(top) = region.outermost(&start.root) else { return vec![] };
        let orders = orders(desk, start, &top);
        let drafts = in_turn(desk, &orders, |order| {
            let inside = blocks(desk, order, &top).into_iter();
            let inside = inside.flat_map(|(tiled, points)| {
                jammed(desk, tiled.clone(), points, &FACTORS).chain(std::iter::once(tiled))
            });
            let rows = jammed(desk, order.clone(), top.clone(), &FACTORS[..1]);
            let around = rows.filter_map(|rows| Some(blocks(desk, &rows, &top)?.0));
            inside.chain(around)
        });
        desk.judge_promising(drafts, start)
    }
}

/// The first deep perfect nest of a part of a tree in blocks, with the path of the loops inside of a full one.
fn blocks(desk: &Desk<'_, '_, '_>, draft: &Draft, top: &Path) -> Option<(Draft, Path)> {
    let band = bands(&draft.root, top).into_iter().find(|band| band.len() >= DEPTH)?;
    let tile = Tile {
        band: band.iter().map(|path| path.clone().into()).collect(),
        sizes: vec![vec![BLOCK; band.len()]],
        full: true,
    };
    let tiled = desk.apply(draft, tile).ok()?;
    // Full blocks come first.
    let points = loops_of_depth(&tiled.root, band.first()?, u32::try_from(band.len()).ok()?);
    Some((tiled, points.into_iter().next()?))
}

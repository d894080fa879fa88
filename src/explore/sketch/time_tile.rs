//! Tiles of time for stencils: the sweeps of a time step fused with a shift, rows skewed by time, and time and rows tiled; a
//! row is a whole inner loop, which stays as long as it is.

use super::{Desk, Sketch, Stage, passes};
use crate::explore::region::{Region, loops_below};
use crate::explore::variant::Variant;
use loop_tree::Path;
use transforms::{Sink, Skew, Tile};

/// Fuses the sweeps of a time loop, skews and tiles.
pub struct TimeTile;

/// Steps of time and rows of a tile.
const SIZES: [(i64, i64); 6] = [(4, 8), (8, 8), (16, 8), (16, 16), (32, 16), (64, 32)];
/// Rows by which one step of time reaches further.
const REACH: std::ops::RangeInclusive<i64> = 1..=3;

impl Sketch for TimeTile {
    fn name(&self) -> &str {
        "time tile"
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(time) = region.outermost(&start.root) else { return vec![] };
        // Time, rows, and at least one loop along the row.
        if start.root.at(&time).is_none_or(|n| n.summary().loop_depth < 3) {
            return vec![];
        }
        let whole = rows_into_sweeps(desk, start, &time).unwrap_or_else(|| start.clone());
        let Some(fused) = passes::fuse_all(desk, whole, &time) else { return vec![] };
        let [rows] = &loops_below(&fused.root, &time)[..] else { return vec![] };
        let tile = |rows: &Path, time_size, row_size| Tile {
            band: vec![time.clone().into(), rows.clone().into()],
            sizes: vec![vec![time_size, row_size]],
            full: false,
        };
        // Where tiles are legal as they are, nothing passes from one iteration to the next: it is no loop over time.
        let (time_size, row_size) = SIZES[0];
        let straight = desk.apply(&(&fused).into(), tile(rows, time_size, row_size));
        if straight.is_ok_and(|draft| desk.judge_one(draft).is_some()) {
            return vec![];
        }
        for factor in REACH {
            let skew = Skew { outer: time.clone().into(), inner: rows.clone().into(), factor };
            let Ok(skewed) = desk.apply(&(&fused).into(), skew) else { return vec![] };
            let mut drafts = SIZES.iter().filter_map(|(t, r)| desk.apply(&skewed, tile(rows, *t, *r)).ok());
            let Some(first) = drafts.next() else { return vec![] };
            let rest: Vec<_> = drafts.collect();
            if let Some(first) = desk.judge_one(first) {
                return std::iter::once(first).chain(desk.judge(rest).into_iter().flatten()).collect();
            }
        }
        vec![]
    }
}

/// What is less deep than the sweeps of a time step, as rows that a boundary sets, becomes an iteration of the sweep beside it; `None`
/// where that is not legal.
fn rows_into_sweeps(desk: &mut Desk<'_, '_, '_>, from: &Variant, time: &Path) -> Option<Variant> {
    let mut current = from.clone();
    loop {
        let inside = loops_below(&current.root, time);
        let depth = |path: &Path| current.root.at(path).map_or(0, |node| node.summary().loop_depth);
        let deepest = inside.iter().map(depth).max()?;
        let Some(rows) = inside.iter().find(|path| depth(path) < deepest) else { return Some(current) };
        current = desk.try_step(&current, Sink { part: rows.clone().into(), extend: true })?;
    }
}

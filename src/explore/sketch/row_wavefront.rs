//! Sweeps over rows that depend on their neighbours, one after the other, as in Gauss-Seidel: row by row for many sweeps at a time,
//! each some rows behind the one before, so that threads share the sweeps, and chains of operations overlap.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, loops_of_depth};
use crate::explore::variant::Variant;
use loop_tree::{LoopKind, Path};
use transforms::{Mark, Skew, Tile, UnrollAndJam};

/// Skews rows by sweeps, tiles sweeps, and brings rows around them, where several threads may share loops.
pub struct RowWavefront;

/// Sweeps at a time.
const SWEEPS: [i64; 3] = [16, 32, 64];
/// Sweeps side by side in one thread.
const COPIES: i64 = 8;
/// Rows by which a sweep is behind the one before.
const BEHIND: std::ops::RangeInclusive<i64> = 1..=3;

impl Sketch for RowWavefront {
    fn name(&self) -> &str {
        "row wavefront"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(sweeps) = region.outermost(&start.root).filter(|_| desk.threads() > 1) else {
            return vec![];
        };
        let rows = sweeps.child(0);
        let depth = |path: &Path| {
            start.root.at(path).filter(|n| n.as_loop().is_some()).map(|n| n.summary().loop_depth)
        };
        if (depth(&sweeps), depth(&rows)) != (Some(3), Some(2)) {
            return vec![];
        }
        // Where rows may be shared as they are, that is another's.
        let mark = |target: Path| Mark { target: target.into(), kind: LoopKind::Parallel };
        if desk.try_step(start, mark(rows.clone())).is_some() {
            return vec![];
        }
        let drawn = |desk: &Desk<'_, '_, '_>, behind, count| -> Option<Draft> {
            let [outer, inner] = [&sweeps, &rows].map(|path| path.clone().into());
            let skew = Skew { outer, inner, factor: behind };
            let skewed = desk.apply(&Draft::from(start), skew).ok()?;
            let band = vec![sweeps.clone().into(), rows.clone().into()];
            let tile = Tile { band, sizes: vec![vec![count, 1]], full: true };
            let tiled = desk.apply(&skewed, tile).ok()?;
            // Of full tiles, which come first, the sweeps at a time.
            let together = loops_of_depth(&tiled.root, &sweeps, 2).into_iter().next()?;
            let jam = UnrollAndJam { target: together.clone().into(), factor: COPIES };
            desk.apply(&desk.apply(&tiled, jam).ok()?, mark(together)).ok()
        };
        for behind in BEHIND {
            let mut drafts: Vec<Draft> =
                SWEEPS.iter().filter_map(|count| drawn(desk, behind, *count)).collect();
            drafts.truncate(desk.room());
            let Some(first) = (!drafts.is_empty()).then(|| drafts.remove(0)) else { return vec![] };
            if let Some(first) = desk.judge_one(first) {
                return std::iter::once(first).chain(desk.judge(drafts).into_iter().flatten()).collect();
            }
        }
        vec![]
    }
}

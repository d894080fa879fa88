//! Rows that depend on their neighbours, as in a Gauss-Seidel sweep: the inner loop is skewed by the outer one, so that rows
//! run side by side as a wavefront, and their chains of operations overlap.

use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::{Region, innermost_pairs};
use crate::explore::variant::Variant;
use transforms::{Skew, UnrollAndJam};

/// Skews an innermost loop by the loop around it, which is then jammed.
pub struct SkewedJam;

const FACTORS: [i64; 3] = [2, 4, 8];
/// Iterations by which a row is behind the one before.
const SKEWS: [i64; 2] = [1, 2];

impl Sketch for SkewedJam {
    fn name(&self) -> &str {
        "skewed jam"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let mut result = Vec::new();
        for (outer, inner) in region.members(&start.root).iter().flat_map(|m| innermost_pairs(&start.root, m))
        {
            let jam = |factor| UnrollAndJam { target: outer.clone().into(), factor };
            // Without skewing it is another sketch's.
            if desk.try_step(start, jam(FACTORS[0])).is_some() || desk.is_full() {
                continue;
            }
            for factor in SKEWS {
                let skew = Skew { outer: outer.clone().into(), inner: inner.clone().into(), factor };
                let Ok(skewed) = desk.apply(&Draft::from(start), skew) else { break };
                let drafts = FACTORS.iter().filter_map(|f| desk.apply(&skewed, jam(*f)).ok()).collect();
                // Also beyond the least legal one: only then do rows not wait for each other within an iteration.
                result.extend(desk.judge(drafts).into_iter().flatten());
            }
        }
        result
    }
}

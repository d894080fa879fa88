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
const SKEWS: std::ops::RangeInclusive<i64> = 1..=2;

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
            let skewed = |desk: &Desk<'_, '_, '_>, factor| {
                let skew = Skew { outer: outer.clone().into(), inner: inner.clone().into(), factor };
                desk.apply(&Draft::from(start), skew).ok()
            };
            let least = SKEWS.into_iter().find(|factor| {
                let draft = skewed(desk, *factor).and_then(|s| desk.apply(&s, jam(FACTORS[0])).ok());
                draft.is_some_and(|d| desk.judge_one(d).is_some())
            });
            // At the least legal one, rows wait for each other within an iteration; one further, they do not.
            let Some(skewed) = least.and_then(|least| skewed(desk, least + 1)) else { continue };
            let drafts = FACTORS.iter().filter_map(|f| desk.apply(&skewed, jam(*f)).ok()).collect();
            result.extend(desk.judge(drafts).into_iter().flatten());
        }
        result
    }
}

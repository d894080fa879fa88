//! How much of the time for lines from further levels computation hides.

use crate::Target;
use crate::trip_counts::LARGEST;
use smallvec::SmallVec;

/// What a loop waits for from one level further on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Transfer {
    pub cycles: f64,
    /// Those of them that no prefetch covers.
    pub exposed: f64,
}

impl Transfer {
    /// Of which prefetches cover all.
    pub fn covered(cycles: f64) -> Transfer {
        Transfer { cycles, exposed: 0.0 }
    }

    /// As often.
    pub fn times(self, count: f64) -> Transfer {
        let times = |cycles: f64| (cycles * count).min(LARGEST);
        Transfer { cycles: times(self.cycles), exposed: times(self.exposed) }
    }

    /// Of one level after the other.
    fn of_all(levels: &[Transfer]) -> Transfer {
        let exposed = levels.iter().map(|t| t.exposed).sum();
        Transfer { cycles: levels.iter().map(|t| t.cycles).sum(), exposed }
    }

    /// Cycles of this and of what the core does meanwhile.
    fn beside(&self, core: f64) -> f64 {
        let (together, one_by_one) = (norm(&[core, self.cycles], NEAR), core + self.cycles);
        let share = if self.cycles > 0.0 { ON_TOP * self.exposed / self.cycles } else { 0.0 };
        together + share * (one_by_one - together)
    }
}

/// Cycles of computation with the transfers of each level meanwhile; in `busy` of them it loads and stores.
pub(crate) fn overlapped(compute: f64, busy: f64, transfers: &[Transfer], target: &dyn Target) -> f64 {
    let together = |all: &[Transfer]| {
        let cycles: SmallVec<[f64; 6]> = all.iter().map(|t| t.cycles).collect();
        let total: f64 =
            if target.transfers_overlap() { norm(&cycles, OVERLAP) } else { cycles.iter().sum() };
        total.min(LARGEST)
    };
    // Lines come and go through the ports that loads and stores use; the rest of the core goes on.
    let in_turn = |lines: f64| norm(&[compute, busy + lines], OVERLAP).min(compute + lines);
    let (first, further) = match transfers {
        [first, further @ ..] if target.further_fills_overlap() => (first, further),
        _ => return in_turn(together(transfers)),
    };
    let (caches, memory) = further.split_at(target.caches().len().saturating_sub(2).min(further.len()));
    let near =
        if target.fills_take_ports() { in_turn(first.cycles) } else { norm(&[compute, first.cycles], NEAR) };
    norm(&[Transfer::of_all(caches).beside(near), together(memory)], FAR)
}

fn norm(all: &[f64], by: f64) -> f64 {
    all.iter().map(|c| c.powf(by)).sum::<f64>().powf(1.0 / by)
}

/// Exponent of the norm that adds times which overlap, of core and transfers where these take ports, and of transfers between levels where
/// these overlap: 1 would be none, infinity all.
const OVERLAP: f64 = 2.0;
/// The same of computation and transfers between caches, where these take no ports. On Zen 3, eight rows of 184 floats from
/// the second level that take 8.0 cycles for as many vectors: 8.0 to 8.3 beside products of 5.1, 8.6 to 8.9 beside 7.2 to 7.7.
const NEAR: f64 = 5.0;
/// The same of transfers from memory, where lines from the second level take no time beside the core's.
const FAR: f64 = 1.5;
/// Of lines from further caches that no prefetch covers, the share that the core does not hide. On Zen 3, 2 to 88 rows of 40 doubles side
/// by side, of 2 MiB: with 2.0 cycles of products to a vector 2.1 to 2.6, with 4.1 4.1 to 4.9.
const ON_TOP: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets;

    #[test]
    fn rows_from_the_last_cache_are_hidden_if_they_are_few() {
        // Cycles a vector on Zen 3, with products that take 2.0 and 4.1 by themselves, and half a line for each: of 2 rows, and of 88.
        let zen_3 = targets::by_name("znver3").expect("a target");
        for (compute, few, many) in [(2.0, 2.1, 2.6), (4.1, 4.2, 4.9)] {
            for (share, measured) in [(0.0, few), (0.86, many)] {
                let line = |fill: f64| fill / 2.0;
                let near = line(zen_3.caches()[1].fill);
                let levels = [(line(zen_3.caches()[0].fill), 0.0), (near, share * near), (0.0, 0.0)];
                let levels = levels.map(|(cycles, exposed)| Transfer { cycles, exposed });
                let said = overlapped(compute, compute, &levels, &zen_3);
                assert!((0.85..1.2).contains(&(said / measured)), "{said} {measured}");
            }
        }
    }

    #[test]
    fn rows_from_the_last_cache_take_no_longer_than_what_the_core_does_meanwhile() {
        // Cycles a vector on Zen 3, of 1250 KB as against 200: one, two and four rows of 400 doubles at a time, times others.
        let zen_3 = targets::by_name("znver3").expect("a target");
        for (core, measured) in [(2.54, 2.59), (1.54, 1.99), (1.11, 1.95)] {
            let levels = [0.0, zen_3.caches()[1].fill / 2.0, 0.0].map(Transfer::covered);
            let said = overlapped(core, core, &levels, &zen_3);
            assert!((said / measured - 1.0).abs() < 0.12, "{said} {measured}");
        }
    }

    #[test]
    fn rows_from_the_second_cache_are_all_but_hidden() {
        let zen_3 = targets::by_name("znver3").expect("a target");
        for (compute, measured) in [(5.1, 8.15), (6.6, 8.6), (7.7, 8.9)] {
            let levels = [Transfer::covered(8.0), Transfer::default(), Transfer::default()];
            let said = overlapped(compute, compute, &levels, &zen_3);
            assert!((said / measured - 1.0).abs() < 0.03, "{said} {measured}");
        }
    }
}

//! What pairs of inequalities imply once it is rounded to integers, and equalities hidden among them: two bounds of one
//! expression that meet.
//!
//! Bounds are the rows, and sums of two rows that are rounded: from `d*z <= x < d*z + d` and `d*q <= x < d*q + d` follow
//! `d*z < d*q + d` and `d*q < d*z + d`, so `z <= q <= z`. That is how a floor of a tile's element is the tile, and elimination,
//! which takes the columns in an order of its own, does not see it.

use super::ranges::Ranges;
use super::rows::{Distinct, Refuted, Rows, gcd};
use smallvec::SmallVec;

/// Rows beyond which sums are not tried.
const MAX_ROWS: usize = 48;
/// Sums kept, at most.
const MAX_SUMS: usize = 24;

type Coefficients = SmallVec<[i64; 24]>;

/// What rows imply together.
#[derive(Default)]
pub(super) struct Implied {
    /// Rows that can only be zero.
    pub zero: Vec<Vec<i64>>,
    /// Rounded sums, which elimination would find only by taking out their common columns first.
    pub sums: Vec<Vec<i64>>,
}

/// What the rows imply; `sums`: whether sums are tried.
pub(super) fn implied(rows: &Rows, ranges: &Ranges, sums: bool) -> Result<Implied, Refuted> {
    let used: SmallVec<[(&i64, &[i64]); 48]> =
        rows.iter().filter_map(|r| r.split_last()).filter(|(_, c)| c.iter().any(|c| *c != 0)).collect();
    let mut bounds = Bounds { known: Distinct::new(rows.width()), ranges: Vec::new(), zero: Vec::new() };
    let mut cuts: Vec<Vec<i64>> = Vec::new();
    for (constant, coefficients) in &used {
        bounds.add(coefficients, **constant)?;
    }
    if sums && used.len() <= MAX_ROWS {
        for (i, (k, a)) in used.iter().enumerate() {
            for (l, b) in &used[i + 1..] {
                let cancels = a.iter().zip(*b).any(|(x, y)| *x != 0 && x.checked_add(*y) == Some(0));
                if cancels && let Some((sum, constant)) = rounded(a, b, **k, **l, ranges) {
                    let row: Vec<i64> = sum.iter().copied().chain([constant]).collect();
                    if cuts.len() < MAX_SUMS && !cuts.contains(&row) {
                        cuts.push(row);
                    }
                    bounds.add(&sum, constant)?;
                }
            }
        }
    }
    Ok(Implied { zero: bounds.zero, sums: cuts })
}

/// The sum of two rows, if it is rounded. Columns with small coefficients are replaced by their greatest value, if by that
/// less is lost than rounding takes away.
fn rounded(a: &[i64], b: &[i64], k: i64, l: i64, ranges: &Ranges) -> Option<(Coefficients, i64)> {
    let mut sum = Coefficients::with_capacity(a.len());
    for (x, y) in a.iter().zip(b) {
        sum.push(x.checked_add(*y)?);
    }
    let mut large: SmallVec<[u64; 24]> = sum.iter().map(|s| s.unsigned_abs()).filter(|s| *s > 0).collect();
    large.sort_unstable_by(|x, y| y.cmp(x));
    let mut g = 0;
    for (n, magnitude) in large.iter().enumerate() {
        g = gcd(g, *magnitude);
        let next = large.get(n + 1).copied().unwrap_or(0);
        if g == 1 {
            return None;
        }
        if next >= g {
            continue;
        }
        let divisor = i64::try_from(g).ok()?;
        let (mut constant, mut lost) = (k.checked_add(l)?, 0i64);
        let small = sum.iter().enumerate().filter(|(_, s)| **s != 0 && s.unsigned_abs() <= next);
        let mut bounded = true;
        for (column, s) in small {
            match ranges.greatest(*s, column) {
                Some((greatest, width)) => {
                    constant = constant.checked_add(greatest)?;
                    lost = lost.checked_add(width)?;
                }
                None => bounded = false,
            }
        }
        if bounded
            && lost < divisor
            && constant.rem_euclid(divisor) >= lost
            && (lost > 0 || constant % divisor != 0)
        {
            for s in sum.iter_mut() {
                *s = if s.unsigned_abs() <= next { 0 } else { *s / divisor };
            }
            return Some((sum, constant.div_euclid(divisor)));
        }
    }
    None
}

/// Least and greatest value of expressions whose first coefficient is positive.
struct Bounds {
    /// The expressions.
    known: Distinct,
    /// By their places.
    ranges: Vec<(Option<i64>, Option<i64>)>,
    zero: Vec<Vec<i64>>,
}

impl Bounds {
    /// `coefficients . columns + constant >= 0`
    fn add(&mut self, coefficients: &[i64], constant: i64) -> Result<(), Refuted> {
        let positive = coefficients.iter().find(|c| **c != 0).is_some_and(|c| *c > 0);
        if !positive && coefficients.contains(&i64::MIN) {
            return Ok(());
        }
        let sign = if positive { 1 } else { -1 };
        let Some(bound) = (if positive { constant.checked_neg() } else { Some(constant) }) else {
            return Ok(());
        };
        let (place, new) = self.known.place(coefficients.iter().map(|c| sign * c), 0);
        if new {
            self.ranges.push((None, None));
        }
        let (low, high) = &mut self.ranges[place];
        let met = low.is_some() && low == high;
        if positive {
            *low = Some(low.map_or(bound, |l| l.max(bound)));
        } else {
            *high = Some(high.map_or(bound, |h| h.min(bound)));
        }
        let (Some(low), Some(high)) = (*low, *high) else { return Ok(()) };
        if low > high {
            return Err(Refuted);
        }
        if low == high
            && !met
            && let Some(constant) = low.checked_neg()
        {
            self.zero.push(coefficients.iter().map(|c| sign * c).chain([constant]).collect());
        }
        Ok(())
    }
}

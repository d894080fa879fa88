//! Equalities hidden in inequalities: two bounds of one expression that meet.
//!
//! Bounds are the rows, and sums of two rows that are rounded: from `d*z <= x < d*z + d` and `d*q <= x < d*q + d` follow
//! `d*z < d*q + d` and `d*q < d*z + d`, so `z <= q <= z`. That is how a floor of a tile's element is the tile, and elimination,
//! which takes the columns in an order of its own, does not see it.

use super::refute::{Refuted, Rows, gcd};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Rows beyond which sums are not tried.
const MAX_ROWS: usize = 48;

type Coefficients = SmallVec<[i64; 24]>;

/// Rows that can only be zero.
pub(super) fn zero(rows: &Rows) -> Result<Vec<Vec<i64>>, Refuted> {
    let used: SmallVec<[(&i64, &[i64]); 48]> =
        rows.iter().filter_map(|r| r.split_last()).filter(|(_, c)| c.iter().any(|c| *c != 0)).collect();
    let mut bounds = Bounds::default();
    for (constant, coefficients) in &used {
        bounds.add(Coefficients::from_slice(coefficients), **constant)?;
    }
    if used.len() <= MAX_ROWS {
        for (i, (k, a)) in used.iter().enumerate() {
            for (l, b) in &used[i + 1..] {
                if let Some((sum, constant)) = rounded(a, b, **k, **l) {
                    bounds.add(sum, constant)?;
                }
            }
        }
    }
    Ok(bounds.zero)
}

/// The sum of two rows, if a column vanishes from it and it is rounded.
fn rounded(a: &[i64], b: &[i64], k: i64, l: i64) -> Option<(Coefficients, i64)> {
    let mut sum = Coefficients::with_capacity(a.len());
    let (mut vanishes, mut g) = (false, 0);
    for (x, y) in a.iter().zip(b) {
        let s = x.checked_add(*y)?;
        vanishes |= s == 0 && *x != 0;
        if s != 0 && g != 1 {
            g = gcd(g, s.unsigned_abs());
        }
        sum.push(s);
    }
    let g = i64::try_from(g).ok().filter(|g| *g > 1 && vanishes)?;
    let constant = k.checked_add(l)?;
    if constant.rem_euclid(g) == 0 {
        return None;
    }
    sum.iter_mut().for_each(|s| *s /= g);
    Some((sum, constant.div_euclid(g)))
}

/// Least and greatest value of expressions whose first coefficient is positive.
#[derive(Default)]
struct Bounds {
    known: FxHashMap<Coefficients, (Option<i64>, Option<i64>)>,
    zero: Vec<Vec<i64>>,
}

impl Bounds {
    /// `coefficients . columns + constant >= 0`
    fn add(&mut self, mut coefficients: Coefficients, constant: i64) -> Result<(), Refuted> {
        let positive = coefficients.iter().find(|c| **c != 0).is_some_and(|c| *c > 0);
        let bound = if positive {
            constant.checked_neg()
        } else {
            for c in coefficients.iter_mut() {
                let Some(negated) = c.checked_neg() else { return Ok(()) };
                *c = negated;
            }
            Some(constant)
        };
        let Some(bound) = bound else { return Ok(()) };
        let (low, high) = self.known.entry(coefficients.clone()).or_default();
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
            self.zero.push(coefficients.iter().copied().chain([constant]).collect());
        }
        Ok(())
    }
}

//! Ranges of single columns, as far as rows imply them one by one, rounded to integers.
//!
//! This decides what elimination cannot, which rounds only what it derives: from `0 <= x < 4` and `4q <= x <= 4q + 3` follows
//! `q = 0`.

use super::refute::{Refuted, Rows};
use smallvec::SmallVec;

/// Passes over all rows.
const MAX_PASSES: usize = 4;
/// Where a bound would be greater than this, it is not used.
const GREATEST: i128 = 1 << 60;

/// The least and greatest values of columns that are known.
pub(super) struct Ranges {
    low: SmallVec<[Option<i64>; 32]>,
    high: SmallVec<[Option<i64>; 32]>,
}

impl Ranges {
    /// What the rows imply.
    pub fn new(width: usize, rows: &Rows) -> Result<Ranges, Refuted> {
        let mut ranges =
            Ranges { low: SmallVec::from_elem(None, width), high: SmallVec::from_elem(None, width) };
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for row in rows.iter() {
                changed |= tighten(row, &mut ranges.low, &mut ranges.high);
            }
            let empty = |(l, h): (&Option<i64>, &Option<i64>)| l.zip(*h).is_some_and(|(l, h)| l > h);
            if ranges.low.iter().zip(&ranges.high).any(empty) {
                return Err(Refuted);
            }
            if !changed {
                break;
            }
        }
        Ok(ranges)
    }

    /// The greatest value of `coefficient * column`, and how much less it can be.
    pub fn greatest(&self, coefficient: i64, column: usize) -> Option<(i64, i64)> {
        let (low, high) = (self.low[column]?, self.high[column]?);
        let greatest = coefficient.checked_mul(if coefficient > 0 { high } else { low })?;
        Some((greatest, high.checked_sub(low)?.checked_mul(coefficient.checked_abs()?)?))
    }

    /// For each column of the rows that has one value only: the row that is zero there.
    pub fn fixed(&self, rows: &Rows) -> Vec<Vec<i64>> {
        let width = self.low.len();
        let used = |column: usize| rows.iter().any(|r| r[column] != 0);
        let found =
            (0..width).filter(|c| self.low[*c].is_some() && self.low[*c] == self.high[*c] && used(*c));
        let row = |column: usize| {
            let mut row = vec![0; width + 1];
            row[column] = 1;
            row[width] = self.low[column]?.checked_neg()?;
            Some(row)
        };
        found.filter_map(row).collect()
    }
}

/// Applies one row `constant + sum(c * x) >= 0` to all of its columns; whether a range became smaller.
fn tighten(row: &[i64], low: &mut [Option<i64>], high: &mut [Option<i64>]) -> bool {
    let Some((constant, coefficients)) = row.split_last() else { return false };
    // The greatest value of the row, without the columns that have no bound there.
    let mut greatest = i128::from(*constant);
    let mut unbounded = None;
    for (column, &c) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
        match if c > 0 { high[column] } else { low[column] } {
            Some(bound) => greatest += i128::from(c) * i128::from(bound),
            None if unbounded.is_none() => unbounded = Some(column),
            None => return false,
        }
        if greatest.abs() > GREATEST {
            return false;
        }
    }
    let mut changed = false;
    for (column, &c) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
        let others = match (unbounded, if c > 0 { high[column] } else { low[column] }) {
            (Some(only), _) if only != column => continue,
            (None, Some(bound)) => greatest - i128::from(c) * i128::from(bound),
            _ => greatest,
        };
        // c * x >= -others
        let bound = if c > 0 { -others.div_euclid(i128::from(c)) } else { others.div_euclid(-i128::from(c)) };
        if others.abs() > GREATEST {
            continue;
        }
        let Ok(bound) = i64::try_from(bound) else { continue };
        let at = if c > 0 { &mut low[column] } else { &mut high[column] };
        if at.is_none_or(|known| if c > 0 { bound > known } else { bound < known }) {
            *at = Some(bound);
            changed = true;
        }
    }
    changed
}

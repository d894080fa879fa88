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

/// For each column that has one value only: the row that is zero there.
pub(super) fn fixed(width: usize, rows: &Rows) -> Result<Vec<Vec<i64>>, Refuted> {
    let mut low: SmallVec<[Option<i64>; 32]> = SmallVec::from_elem(None, width);
    let mut high = low.clone();
    for _ in 0..MAX_PASSES {
        let mut changed = false;
        for row in rows.iter() {
            changed |= tighten(row, &mut low, &mut high);
        }
        if low.iter().zip(&high).any(|(l, h)| l.zip(*h).is_some_and(|(l, h)| l > h)) {
            return Err(Refuted);
        }
        if !changed {
            break;
        }
    }
    let value = |column: usize| low[column].filter(|l| high[column] == Some(*l));
    let used = |column: usize| rows.iter().any(|r| r[column] != 0);
    let found = (0..width).filter(|c| used(*c)).filter_map(|column| {
        let mut row = vec![0; width + 1];
        row[column] = 1;
        row[width] = value(column)?.checked_neg()?;
        Some(row)
    });
    Ok(found.collect())
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

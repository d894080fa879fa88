//! Ranges of single columns, as far as rows imply them one by one, rounded to integers.
//!
//! This decides what elimination cannot, which rounds only what it derives: from `0 <= x < 4` and `4q <= x <= 4q + 3` follows
//! `q = 0`.

use super::rows::{Refuted, Rows};
use smallvec::SmallVec;

/// Passes over all rows.
const MAX_PASSES: usize = 4;
/// Where a bound would be greater than this, it is not used.
const GREATEST: u64 = 1 << 60;
/// No bound.
const NONE: i64 = i64::MAX;

/// The least and greatest values of columns that are known.
pub(super) struct Ranges {
    low: SmallVec<[i64; 32]>,
    high: SmallVec<[i64; 32]>,
}

impl Ranges {
    /// What the rows imply.
    pub fn new(rows: &Rows) -> Result<Ranges, Refuted> {
        let width = rows.width();
        let mut ranges =
            Ranges { low: SmallVec::from_elem(NONE, width), high: SmallVec::from_elem(NONE, width) };
        let sparse = Sparse::of(rows);
        // In which pass the range of a column became smaller last.
        let mut changed: SmallVec<[usize; 32]> = SmallVec::from_elem(0, width);
        for pass in 1..=MAX_PASSES {
            for (terms, constant) in sparse.iter() {
                // What a row implies is known if nothing has changed since it was looked at.
                if pass == 1 || terms.iter().any(|(column, _)| changed[*column] + 1 >= pass) {
                    ranges.tighten(terms, constant, |column| changed[column] = pass);
                }
            }
            let empty = |(l, h): (&i64, &i64)| *l != NONE && *h != NONE && l > h;
            if ranges.low.iter().zip(&ranges.high).any(empty) {
                return Err(Refuted);
            }
            if !changed.contains(&pass) {
                break;
            }
        }
        Ok(ranges)
    }

    fn of(&self, column: usize) -> Option<(i64, i64)> {
        let (low, high) = (self.low[column], self.high[column]);
        (low != NONE && high != NONE).then_some((low, high))
    }

    /// The greatest value of `coefficient * column`, and how much less it can be.
    pub fn greatest(&self, coefficient: i64, column: usize) -> Option<(i64, i64)> {
        let (low, high) = self.of(column)?;
        let greatest = coefficient.checked_mul(if coefficient > 0 { high } else { low })?;
        Some((greatest, high.checked_sub(low)?.checked_mul(coefficient.checked_abs()?)?))
    }

    /// For each column of the rows that has one value only: the row that is zero there.
    pub fn fixed(&self, rows: &Rows) -> Vec<Vec<i64>> {
        let width = rows.width();
        let mut found = Vec::new();
        for column in 0..width {
            let Some((low, high)) = self.of(column) else { continue };
            if low == high && rows.iter().any(|r| r[column] != 0) {
                let mut row = vec![0; width + 1];
                (row[column], row[width]) = (1, -low);
                found.push(row);
            }
        }
        found
    }

    /// Applies one row `constant + sum(c * x) >= 0` to all of its columns; told which ranges became smaller.
    fn tighten(&mut self, terms: &[(usize, i64)], constant: i64, mut changed: impl FnMut(usize)) {
        let bound = |ranges: &Ranges, (column, c): (usize, i64)| match c {
            1.. => ranges.high[column],
            _ => ranges.low[column],
        };
        // The greatest value of the row, without the column that has no bound there.
        let mut greatest = constant;
        let mut unbounded = None;
        for (at, term) in terms.iter().enumerate() {
            match bound(self, *term) {
                NONE if unbounded.is_none() => unbounded = Some(at),
                NONE => return,
                bound => match term.1.checked_mul(bound).and_then(|most| greatest.checked_add(most)) {
                    Some(sum) if sum.unsigned_abs() <= GREATEST => greatest = sum,
                    _ => return,
                },
            }
        }
        for &(column, c) in unbounded.map_or(terms, |only| &terms[only..=only]) {
            let others = match bound(self, (column, c)) {
                NONE => Some(greatest),
                bound => c.checked_mul(bound).and_then(|most| greatest.checked_sub(most)),
            };
            let Some(others) = others.filter(|o| o.unsigned_abs() <= GREATEST) else { continue };
            // c * x >= -others
            let limit = match c {
                1 => -others,
                -1 => others,
                i64::MIN => continue,
                _ if c > 0 => -others.div_euclid(c),
                _ => others.div_euclid(-c),
            };
            let at = if c > 0 { &mut self.low[column] } else { &mut self.high[column] };
            if *at == NONE || if c > 0 { limit > *at } else { limit < *at } {
                *at = limit;
                changed(column);
            }
        }
    }
}

/// Rows by their coefficients that are not zero.
struct Sparse {
    terms: Vec<(usize, i64)>,
    /// Where each row ends among the terms, and its constant.
    ends: Vec<(usize, i64)>,
}

impl Sparse {
    fn of(rows: &Rows) -> Sparse {
        let mut sparse = Sparse {
            terms: Vec::with_capacity(rows.cells() as usize),
            ends: Vec::with_capacity(rows.iter().len()),
        };
        for (constant, coefficients) in rows.iter().filter_map(|row| row.split_last()) {
            let used = coefficients.iter().copied().enumerate().filter(|(_, c)| *c != 0);
            sparse.terms.extend(used);
            sparse.ends.push((sparse.terms.len(), *constant));
        }
        sparse
    }

    fn iter(&self) -> impl Iterator<Item = (&[(usize, i64)], i64)> {
        let mut first = 0;
        self.ends.iter().map(move |(end, constant)| {
            let terms = &self.terms[first..*end];
            first = *end;
            (terms, *constant)
        })
    }
}

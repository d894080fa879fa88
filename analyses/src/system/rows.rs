//! Rows side by side, and what is done to one of them.

use super::Row;
use smallvec::SmallVec;
use std::borrow::Cow;

/// A contradiction was derived.
pub(super) struct Refuted;

/// Rows one after the other, each its coefficients and then its constant. A row of zeros says nothing.
pub(super) struct Rows {
    width: usize,
    data: Vec<i64>,
}

/// Rows that are added to a copy, usually.
const MORE: usize = 4;
/// Columns of which sets are numbers.
const MASKED: usize = u64::BITS as usize;

/// The places of the ones, from the least.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let least = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        least
    })
}

impl Clone for Rows {
    fn clone(&self) -> Rows {
        let mut data = Vec::with_capacity(self.data.len() + MORE * (self.width + 1));
        data.extend_from_slice(&self.data);
        Rows { width: self.width, data }
    }
}

impl Rows {
    /// None.
    pub fn empty(width: usize) -> Rows {
        Rows { width, data: Vec::new() }
    }

    pub fn of(width: usize, rows: &[Row]) -> Rows {
        let mut result = Rows { width, data: Vec::with_capacity((width + 1) * rows.len()) };
        for row in rows {
            result.push(row);
        }
        result
    }

    /// Room for so many more.
    pub fn reserve(&mut self, rows: usize) {
        self.data.reserve(rows * (self.width + 1));
    }

    /// Adds a row at the end, and returns it.
    pub fn push(&mut self, row: &Row) -> &mut [i64] {
        let at = self.data.len();
        self.data.resize(at + self.width + 1, 0);
        let to = &mut self.data[at..];
        // Rows never use more columns than their system has; if one did, it would say nothing here.
        if let Some(part) = to.get_mut(..row.coefficients.len()).filter(|p| p.len() <= self.width) {
            part.copy_from_slice(&row.coefficients);
            to[self.width] = row.constant;
        }
        to
    }

    /// Adds rows of the same width.
    pub fn extend<'r>(&mut self, rows: impl IntoIterator<Item = &'r [i64]>) {
        rows.into_iter().for_each(|row| self.data.extend_from_slice(row));
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Numbers held, constants included.
    pub fn cells(&self) -> u64 {
        self.data.len() as u64
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[i64]> + ExactSizeIterator {
        self.data.chunks_exact(self.width + 1)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [i64]> {
        self.data.chunks_exact_mut(self.width + 1)
    }

    /// Takes a column out of all rows by an equality, and brings what changes into the normal form of equalities or of the others.
    pub fn substitute(&mut self, e: &[i64], var: usize, equalities: bool) -> Result<(), Refuted> {
        for row in self.iter_mut().filter(|r| r[var] != 0) {
            substitute(row, e, var);
            normal(row, equalities)?;
        }
        Ok(())
    }

    /// The row at an index, which is zero then.
    pub fn take(&mut self, index: usize) -> Vec<i64> {
        let stride = self.width + 1;
        let row = &mut self.data[index * stride..(index + 1) * stride];
        let taken = row.to_vec();
        row.fill(0);
        taken
    }

    /// The same rows over more columns.
    pub fn widened(&self, width: usize) -> Rows {
        let mut data = Vec::with_capacity((self.iter().len() + MORE) * (width + 1));
        for row in self.iter() {
            data.extend_from_slice(&row[..self.width]);
            data.resize(data.len() + width - self.width, 0);
            data.push(row[self.width]);
        }
        Rows { width, data }
    }

    /// Those of some rows that restrict, over the columns that they use. A column of which no row is a lower bound, or none an upper one, is
    /// as small or as great as its rows need it: they always hold.
    pub fn compact<'r>(width: usize, rows: impl Iterator<Item = &'r [i64]>) -> Rows {
        // Each with the columns, of the first ones, of which it is a lower bound, and those of which it is an upper one.
        let mut kept: SmallVec<[(u64, u64, &[i64]); 64]> = SmallVec::new();
        let (first, behind) = (width.min(MASKED), width.min(MASKED)..width);
        for row in rows {
            let (mut lower, mut upper) = (0, 0);
            for (k, c) in row[..first].iter().enumerate() {
                lower |= u64::from(*c > 0) << k;
                upper |= u64::from(*c < 0) << k;
            }
            if lower | upper != 0 || row[behind.clone()].iter().any(|c| *c != 0) {
                kept.push((lower, upper, row));
            }
        }
        let mut used;
        loop {
            let (lower, upper) = kept.iter().fold((0, 0), |(l, u), row| (l | row.0, u | row.1));
            used = lower | upper;
            let before = kept.len();
            kept.retain(|(l, u, _)| (*l | *u) & (lower ^ upper) == 0);
            if kept.len() == before {
                break;
            }
        }
        let mut columns: SmallVec<[usize; MASKED + 1]> = SmallVec::new();
        bits(used).for_each(|c| columns.push(c));
        columns.extend(behind.filter(|c| kept.iter().any(|(_, _, row)| row[*c] != 0)));
        let count = columns.len();
        let mut data = Vec::with_capacity((kept.len() + MORE) * (count + 1));
        // The constant stands where a further column would.
        columns.push(width);
        for (_, _, row) in kept {
            data.extend(columns.iter().map(|c| row[*c]));
        }
        Rows { width: count, data }
    }

    /// The rows in groups that share no columns, each over columns of its own. The group of the last row comes first: what
    /// was required last is what the question is about. Rows over too many columns are one group.
    pub fn parts(&self) -> SmallVec<[Cow<'_, Rows>; 4]> {
        let whole = || SmallVec::from_iter([Cow::Borrowed(self)]);
        if self.width > MASKED {
            return whole();
        }
        let mask = |row: &[i64]| {
            row[..self.width].iter().enumerate().fold(0, |mask, (k, c)| mask | u64::from(*c != 0) << k)
        };
        let masks: SmallVec<[u64; 64]> = self.iter().map(mask).collect();
        let mut groups: SmallVec<[u64; 8]> = SmallVec::new();
        for mask in masks.iter().filter(|mask| **mask != 0) {
            let mut joined = *mask;
            groups.retain(|group| {
                let apart = *group & mask == 0;
                if !apart {
                    joined |= *group;
                }
                apart
            });
            groups.push(joined);
        }
        let used: usize = groups.iter().map(|group| group.count_ones() as usize).sum();
        if groups.len() + self.width - used <= 1 {
            return whole();
        }
        let mut result: SmallVec<[(u64, Rows); 4]> = SmallVec::new();
        for (row, mask) in self.iter().zip(&masks).rev() {
            let Some(group) = groups.iter().find(|group| *group & mask != 0) else { continue };
            let at = result.iter().position(|(of, _)| of == group).unwrap_or_else(|| {
                result.push((*group, Rows::empty(group.count_ones() as usize)));
                result.len() - 1
            });
            let data = &mut result[at].1.data;
            data.extend(bits(*group).map(|c| row[c]));
            data.push(row[self.width]);
        }
        result.into_iter().map(|(_, part)| Cow::Owned(part)).collect()
    }
}

/// Rows no two of which have the same coefficients.
pub(super) struct Distinct {
    rows: Rows,
    /// Places of rows, by the hash of their coefficients, plus one; 0 is free. At most half of it is used.
    table: Vec<u32>,
}

impl Distinct {
    pub fn new(width: usize) -> Distinct {
        const ROWS: usize = 32;
        let data = Vec::with_capacity(ROWS * (width + 1));
        Distinct { rows: Rows { width, data }, table: vec![0; Self::TABLE] }
    }

    const TABLE: usize = 128;

    /// None, over so many columns, without giving memory back.
    pub fn restart(&mut self, width: usize) {
        self.rows.width = width;
        self.rows.data.clear();
        self.table.truncate(Self::TABLE);
        self.table.fill(0);
    }

    fn len(&self) -> usize {
        self.rows.iter().len()
    }

    /// The row at a place.
    pub fn row(&self, at: usize) -> &[i64] {
        let stride = self.rows.width + 1;
        &self.rows.data[at * stride..(at + 1) * stride]
    }

    /// Where a row with these coefficients is, and whether it is new: then its constant is the given one.
    pub fn place(&mut self, coefficients: impl Iterator<Item = i64>, constant: i64) -> (usize, bool) {
        let (width, stride, count) = (self.rows.width, self.rows.width + 1, self.len());
        self.rows.data.extend(coefficients);
        self.rows.data.push(constant);
        let (known, new) = self.rows.data.split_at(count * stride);
        let new = &new[..width];
        let mask = self.table.len() - 1;
        let mut slot = hash(new) & mask;
        while let Some(at) = self.table[slot].checked_sub(1) {
            let at = at as usize;
            if known[at * stride..at * stride + width] == *new {
                self.rows.data.truncate(count * stride);
                return (at, false);
            }
            slot = (slot + 1) & mask;
        }
        self.table[slot] = count as u32 + 1;
        if 2 * (count + 1) > self.table.len() {
            self.grow();
        }
        (count, true)
    }

    /// Of rows with equal coefficients, the tightest. Its place, if it is new.
    pub fn require(&mut self, row: &[i64]) -> Option<usize> {
        let (constant, coefficients) = row.split_last()?;
        let (at, new) = self.place(coefficients.iter().copied(), *constant);
        if new {
            return Some(at);
        }
        let stride = self.rows.width + 1;
        let kept = &mut self.rows.data[at * stride + stride - 1];
        *kept = (*kept).min(*constant);
        None
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        self.table.clear();
        self.table.resize(mask + 1, 0);
        for (at, row) in self.rows.iter().enumerate() {
            let mut slot = hash(&row[..self.rows.width]) & mask;
            while self.table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = at as u32 + 1;
        }
    }
}

fn hash(coefficients: &[i64]) -> usize {
    // 2^64 over the golden ratio.
    let mix = |h: u64, c: &i64| (h.rotate_left(5) ^ *c as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (coefficients.iter().fold(0, mix) >> 32) as usize
}

/// Takes column `var` out of the row by means of the equality `e`, in which it occurs. On overflow the row is dropped.
pub(super) fn substitute(row: &mut [i64], e: &[i64], var: usize) {
    // |a| * row - sign(a) * c * e: the row is scaled by a positive number.
    let (a, c) = (e[var], row[var]);
    let g = gcd(a.unsigned_abs(), c.unsigned_abs());
    let scale = i128::from(a.unsigned_abs() / g);
    let factor = -i128::from(a.signum()) * (i128::from(c) / i128::from(g));
    let small = |x: i128| i64::try_from(x).ok();
    let mut fits = true;
    if let (Some(1), Some(factor)) = (small(scale), small(factor)) {
        for (p, q) in row.iter_mut().zip(e).filter(|(_, q)| **q != 0) {
            match q.checked_mul(factor).and_then(|q| p.checked_add(q)) {
                Some(sum) => *p = sum,
                None => fits = false,
            }
        }
    } else {
        for (p, q) in row.iter_mut().zip(e) {
            let left = i128::from(*p).checked_mul(scale);
            let right = i128::from(*q).checked_mul(factor);
            match left.zip(right).and_then(|(l, r)| l.checked_add(r)).and_then(small) {
                Some(sum) => *p = sum,
                None => fits = false,
            }
        }
    }
    if !fits {
        row.fill(0);
    }
}

/// Divides a row by the common divisor of its coefficients. A constraint that must not be negative is rounded, an
/// equality is contradictory where the constant is not divisible. A row that always holds becomes zero.
pub(super) fn normal(row: &mut [i64], equality: bool) -> Result<(), Refuted> {
    let Some((constant, coefficients)) = row.split_last_mut() else { return Ok(()) };
    match divisor(coefficients) {
        0 if *constant < 0 || (equality && *constant != 0) => return Err(Refuted),
        0 => *constant = 0,
        1 => {}
        g => {
            let Ok(g) = i64::try_from(g) else {
                row.fill(0);
                return Ok(());
            };
            if equality && *constant % g != 0 {
                return Err(Refuted);
            }
            coefficients.iter_mut().for_each(|c| *c /= g);
            *constant = constant.div_euclid(g);
        }
    }
    Ok(())
}

/// The greatest common divisor; 0 where all are 0.
fn divisor(coefficients: &[i64]) -> u64 {
    let mut g = 0;
    for c in coefficients.iter().filter(|c| **c != 0) {
        g = gcd(g, c.unsigned_abs());
        if g == 1 {
            break;
        }
    }
    g
}

pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    if a == 1 || b == 1 {
        return 1;
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

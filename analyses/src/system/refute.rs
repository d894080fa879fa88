//! A fast proof that a system has no integer solution: equalities are eliminated exactly, then inequalities by
//! Fourier and Motzkin, tightened to integers on the way.
//!
//! Every derived row follows from the given ones, and dropping a row loses nothing but strength; so whatever overflows or
//! grows too large is dropped, and "refuted" is always right.

use super::{Row, System};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Rows beyond which the proof is given up.
const MAX_ROWS: usize = 220;

type Line = (SmallVec<[i64; 20]>, i64);

/// Whether the system provably has no solution. `false` means unknown.
pub fn refutes(system: &System) -> bool {
    matches!(attempt(system), Err(Refuted))
}

/// A contradiction was derived.
struct Refuted;

fn attempt(system: &System) -> Result<(), Refuted> {
    let width = system.columns();
    let line = |row: &Row| -> Line {
        let mut c: SmallVec<[i64; 20]> = SmallVec::from_slice(&row.coefficients);
        c.resize(width.max(c.len()), 0);
        (c, row.constant)
    };
    let mut equal: Vec<Line> = Vec::with_capacity(system.zero().len());
    for row in system.zero() {
        equal.extend(normal_equality(line(row))?);
    }
    let mut rows: Vec<Line> = Vec::with_capacity(system.nonnegative().len() * 2);
    for row in system.nonnegative() {
        rows.extend(normal(line(row))?);
    }
    // Equalities with a unit coefficient first: they lose no integer solutions.
    while !equal.is_empty() {
        let pick = (0..equal.len())
            .min_by_key(|&i| {
                let best = equal[i].0.iter().filter(|c| **c != 0).map(|c| c.unsigned_abs()).min();
                best.unwrap_or(u64::MAX)
            })
            .unwrap_or(0);
        let e = equal.swap_remove(pick);
        let Some(var) = (0..e.0.len()).filter(|&v| e.0[v] != 0).min_by_key(|&v| e.0[v].unsigned_abs()) else {
            continue;
        };
        let mut rest = Vec::with_capacity(equal.len());
        for other in equal {
            if let Some(l) = substitute(other, &e, var) {
                rest.extend(normal_equality(l)?);
            }
        }
        equal = rest;
        let mut list = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(l) = substitute(row, &e, var) {
                list.extend(normal(l)?);
            }
        }
        rows = list;
    }
    for part in parts(rows, width) {
        eliminate(part)?;
    }
    Ok(())
}

/// The rows in groups that share no columns, each over columns of its own. The group of the last row comes first: what
/// was required last is what the question is about.
fn parts(rows: Vec<Line>, width: usize) -> Vec<Vec<Line>> {
    let mut group: Vec<usize> = (0..width).collect();
    fn root(group: &[usize], mut column: usize) -> usize {
        while group[column] != column {
            column = group[column];
        }
        column
    }
    let used = |row: &Line| (0..row.0.len()).filter(|c| row.0[*c] != 0).collect::<SmallVec<[usize; 20]>>();
    for row in &rows {
        let columns = used(row);
        for pair in columns.windows(2) {
            let (a, b) = (root(&group, pair[0]), root(&group, pair[1]));
            group[a.max(b)] = a.min(b);
        }
    }
    // Per root: its group's number. Per column: its number within the group.
    let mut number: Vec<Option<usize>> = vec![None; width];
    let mut narrow: Vec<Option<usize>> = vec![None; width];
    let mut widths: Vec<usize> = Vec::new();
    let mut result: Vec<Vec<Line>> = Vec::new();
    for row in rows.into_iter().rev() {
        let columns = used(&row);
        let Some(first) = columns.first() else { continue };
        let at = *number[root(&group, *first)].get_or_insert_with(|| {
            result.push(Vec::new());
            widths.push(0);
            result.len() - 1
        });
        let mut line: SmallVec<[i64; 20]> = SmallVec::new();
        for column in columns {
            let position = *narrow[column].get_or_insert_with(|| {
                widths[at] += 1;
                widths[at] - 1
            });
            if line.len() <= position {
                line.resize(position + 1, 0);
            }
            line[position] = row.0[column];
        }
        result[at].push((line, row.1));
    }
    for (rows, width) in result.iter_mut().zip(widths) {
        rows.iter_mut().for_each(|r| r.0.resize(width, 0));
    }
    result
}

fn eliminate(mut rows: Vec<Line>) -> Result<(), Refuted> {
    let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
    let mut known: FxHashMap<SmallVec<[i64; 20]>, usize> = FxHashMap::default();
    loop {
        // The tightest of rows with equal coefficients.
        known.clear();
        let mut tight: Vec<Line> = Vec::with_capacity(rows.len());
        for row in rows {
            match known.entry(row.0.clone()) {
                std::collections::hash_map::Entry::Occupied(at) => {
                    let kept = &mut tight[*at.get()];
                    kept.1 = kept.1.min(row.1);
                }
                std::collections::hash_map::Entry::Vacant(at) => {
                    at.insert(tight.len());
                    tight.push(row);
                }
            }
        }
        if tight.len() > MAX_ROWS {
            return Ok(());
        }
        // The column whose elimination makes the fewest rows.
        let mut best: Option<(usize, usize)> = None;
        for var in 0..width {
            let (mut positive, mut negative) = (0usize, 0usize);
            for row in &tight {
                match row.0[var].signum() {
                    1 => positive += 1,
                    -1 => negative += 1,
                    _ => {}
                }
            }
            if positive + negative > 0 {
                let growth = (positive * negative + tight.len()).saturating_sub(positive + negative);
                if best.is_none_or(|(g, _)| growth < g) {
                    best = Some((growth, var));
                }
            }
        }
        let Some((_, var)) = best else { return Ok(()) };
        let (with, mut next): (Vec<Line>, Vec<Line>) = tight.into_iter().partition(|r| r.0[var] != 0);
        let (lower, upper): (Vec<&Line>, Vec<&Line>) = with.iter().partition(|r| r.0[var] > 0);
        for l in &lower {
            for u in &upper {
                if let Some(row) = combine(l, u.0[var].unsigned_abs(), u, l.0[var].unsigned_abs()) {
                    next.extend(normal(row)?);
                }
            }
        }
        rows = next;
    }
}

/// `a * x + b * y` with the factors reduced by their common divisor; `None` on overflow.
fn combine(a: &Line, x: u64, b: &Line, y: u64) -> Option<Line> {
    let g = gcd(x, y);
    let (x, y) = (i128::from(x / g), i128::from(y / g));
    let sum = |p: i64, q: i64| {
        let s = i128::from(p).checked_mul(x)?.checked_add(i128::from(q).checked_mul(y)?)?;
        i64::try_from(s).ok()
    };
    let mut coefficients = SmallVec::with_capacity(a.0.len());
    for (p, q) in a.0.iter().zip(&b.0) {
        coefficients.push(sum(*p, *q)?);
    }
    Some((coefficients, sum(a.1, b.1)?))
}

/// The row without column `var`, by means of the equality `e`, in which `var` occurs. `None` on overflow.
fn substitute(row: Line, e: &Line, var: usize) -> Option<Line> {
    let c = row.0[var];
    if c == 0 {
        return Some(row);
    }
    // |a| * row - sign(a) * c * e: the row is scaled by a positive number.
    let a = e.0[var];
    let g = gcd(a.unsigned_abs(), c.unsigned_abs());
    let scale = i128::from(a.unsigned_abs() / g);
    let factor = -i128::from(a.signum()) * (i128::from(c) / i128::from(g));
    let sum = |p: i64, q: i64| {
        let s = i128::from(p).checked_mul(scale)?.checked_add(i128::from(q).checked_mul(factor)?)?;
        i64::try_from(s).ok()
    };
    let mut coefficients = SmallVec::with_capacity(row.0.len());
    for (p, q) in row.0.iter().zip(&e.0) {
        coefficients.push(sum(*p, *q)?);
    }
    Some((coefficients, sum(row.1, e.1)?))
}

/// `row >= 0` divided by the common divisor of its coefficients and rounded; `None` if it always holds.
fn normal(mut row: Line) -> Result<Option<Line>, Refuted> {
    let g = row.0.iter().fold(0, |g, c| gcd(g, c.unsigned_abs()));
    match g {
        0 if row.1 < 0 => Err(Refuted),
        0 => Ok(None),
        1 => Ok(Some(row)),
        _ => {
            let Ok(g) = i64::try_from(g) else { return Ok(None) };
            row.0.iter_mut().for_each(|c| *c /= g);
            row.1 = row.1.div_euclid(g);
            Ok(Some(row))
        }
    }
}

/// `row == 0` likewise; contradictory where the divisor does not divide the constant.
fn normal_equality(mut row: Line) -> Result<Option<Line>, Refuted> {
    let g = row.0.iter().fold(0, |g, c| gcd(g, c.unsigned_abs()));
    match g {
        0 if row.1 != 0 => Err(Refuted),
        0 => Ok(None),
        1 => Ok(Some(row)),
        _ => {
            let Ok(g) = i64::try_from(g) else { return Ok(None) };
            if row.1 % g != 0 {
                return Err(Refuted);
            }
            row.0.iter_mut().for_each(|c| *c /= g);
            row.1 /= g;
            Ok(Some(row))
        }
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn system(columns: usize, zero: &[(&[i64], i64)], nonnegative: &[(&[i64], i64)]) -> System {
        let row = |(c, k): &(&[i64], i64)| Row { coefficients: SmallVec::from_slice(c), constant: *k };
        let mut s = System::new(columns);
        zero.iter().for_each(|r| s.require_zero(row(r)));
        nonnegative.iter().for_each(|r| s.require_nonnegative(row(r)));
        s
    }

    #[test]
    fn tiles_do_not_overlap() {
        // 32*it + ii = 32*jt + jj, it > jt, 0 <= ii, jj < 32
        let s = system(
            4,
            &[(&[32, 1, -32, -1], 0)],
            &[(&[1, 0, -1, 0], -1), (&[0, 1], 0), (&[0, -1], 31), (&[0, 0, 0, 1], 0), (&[0, 0, 0, -1], 31)],
        );
        assert!(refutes(&s));
    }

    #[test]
    fn parity_is_seen_in_equalities() {
        assert!(refutes(&system(2, &[(&[2, -2], 1)], &[])));
        assert!(!refutes(&system(2, &[(&[2, -3], 1)], &[])));
    }

    proptest! {
        #[test]
        fn a_refuted_system_has_no_point(
            zero in proptest::collection::vec((proptest::array::uniform3(-3i64..4), -4i64..5), 0..2),
            nonneg in proptest::collection::vec((proptest::array::uniform3(-3i64..4), -4i64..5), 0..6),
        ) {
            let mut s = System::new(3);
            let row = |(c, k): &([i64; 3], i64)| Row { coefficients: SmallVec::from_slice(c), constant: *k };
            zero.iter().for_each(|r| s.require_zero(row(r)));
            nonneg.iter().for_each(|r| s.require_nonnegative(row(r)));
            if refutes(&s) {
                for x in -6..=6 { for y in -6..=6 { for z in -6..=6 {
                    prop_assert!(!s.accepts(&[x, y, z]));
                }}}
            }
        }
    }
}

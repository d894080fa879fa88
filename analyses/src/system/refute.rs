//! A fast proof that a system has no integer solution: equalities are eliminated exactly, then inequalities by
//! Fourier and Motzkin, tightened to integers on the way.
//!
//! Every derived row follows from the given ones, and dropping a row loses nothing but strength; so whatever overflows or
//! grows too large is dropped, and "refuted" is always right.

use super::ranges::Ranges;
use super::{Row, System, meeting};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Rows beyond which the proof is given up.
const MAX_ROWS: usize = 220;

/// Rounds of looking for equalities among the inequalities.
const MAX_ROUNDS: usize = 4;

type Line = (SmallVec<[i64; 10]>, i64);

/// Whether the system provably has no solution. `false` means unknown.
pub fn refutes(system: &System) -> bool {
    refutes_counting(system, &mut 0)
}

/// As [`refutes`]; adds a measure of the work to `work`, one for about 50 ns. It depends on the system only.
pub(super) fn refutes_counting(system: &System, work: &mut u64) -> bool {
    matches!(attempt(system, work), Err(Refuted))
}

/// Whether the equalities alone have no solution: a proof much cheaper than [`refutes`].
pub(crate) fn equalities_contradict(system: &System) -> bool {
    let width = system.columns();
    solve_equalities(width, &mut Rows::new(width, system.zero()), None).is_err()
}

/// A contradiction was derived.
pub(super) struct Refuted;

/// Rows one after the other, each its coefficients and then its constant. A row of zeros says nothing.
pub(super) struct Rows {
    stride: usize,
    data: Vec<i64>,
}

impl Rows {
    fn new(width: usize, rows: &[Row]) -> Rows {
        let stride = width + 1;
        let mut data = vec![0; stride * rows.len()];
        for (to, row) in data.chunks_exact_mut(stride).zip(rows) {
            // Rows never use more columns than their system has; if one did, it would say nothing here.
            if let Some(part) = to.get_mut(..row.coefficients.len()).filter(|p| p.len() < stride) {
                part.copy_from_slice(&row.coefficients);
                to[width] = row.constant;
            }
        }
        Rows { stride, data }
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut [i64]> {
        self.data.chunks_exact_mut(self.stride)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[i64]> {
        self.data.chunks_exact(self.stride)
    }
}

fn attempt(system: &System, work: &mut u64) -> Result<(), Refuted> {
    let width = system.columns();
    let mut equal = Rows::new(width, system.zero());
    let mut rows = Rows::new(width, system.nonnegative());
    let count = system.zero().len() + system.nonnegative().len();
    *work = work.saturating_add((count * (4 + system.zero().len()) / 4) as u64);
    for row in rows.iter_mut() {
        normal(row, false)?;
    }
    solve_equalities(width, &mut equal, Some(&mut rows))?;
    // What elimination does not see is looked for only where it fails, which is seldom.
    promote(width, &mut rows, false, work)?;
    for part in parts(&rows) {
        eliminate(part, work)?;
    }
    if promote(width, &mut rows, true, work)? {
        for part in parts(&rows) {
            eliminate(part, work)?;
        }
    }
    Ok(())
}

/// Uses the equalities among inequalities: a range of one value, and two bounds that meet; each may fix further ones. With
/// `sums`, appends what pairs of rows imply. Whether anything was found.
fn promote(width: usize, rows: &mut Rows, sums: bool, work: &mut u64) -> Result<bool, Refuted> {
    let mut any = false;
    for _ in 0..MAX_ROUNDS {
        let cells = rows.data.len() as u64;
        *work = work.saturating_add(if sums { cells * cells / 512 } else { cells / 4 });
        let ranges = Ranges::new(width, rows)?;
        let implied = meeting::implied(rows, &ranges, sums)?;
        let found = ranges.fixed(rows).into_iter().chain(implied.zero);
        let mut equal = Rows { stride: width + 1, data: found.flatten().collect() };
        if equal.data.is_empty() {
            any |= !implied.sums.is_empty();
            rows.data.extend(implied.sums.into_iter().flatten());
            break;
        }
        any = true;
        solve_equalities(width, &mut equal, Some(rows))?;
    }
    Ok(any)
}

/// Eliminates the equalities, from the other rows too.
fn solve_equalities(width: usize, equal: &mut Rows, mut rows: Option<&mut Rows>) -> Result<(), Refuted> {
    for row in equal.iter_mut() {
        normal(row, true)?;
    }
    // Equalities with a unit coefficient first: they lose no integer solutions.
    loop {
        let least = |row: &[i64]| {
            let coefficients = row[..width].iter().enumerate().filter(|(_, c)| **c != 0);
            coefficients.map(|(v, c)| (c.unsigned_abs(), v)).min()
        };
        let best = equal.iter().enumerate().filter_map(|(i, row)| least(row).map(|l| (l, i))).min();
        let Some(((_, var), pick)) = best else { return Ok(()) };
        let at = pick * equal.stride;
        let e: SmallVec<[i64; 32]> = equal.data[at..at + equal.stride].into();
        equal.data[at..at + equal.stride].fill(0);
        for row in equal.iter_mut().filter(|r| r[var] != 0) {
            substitute(row, &e, var);
            normal(row, true)?;
        }
        for row in rows.iter_mut().flat_map(|rows| rows.iter_mut()).filter(|r| r[var] != 0) {
            substitute(row, &e, var);
            normal(row, false)?;
        }
    }
}

/// The rows in groups that share no columns, each over columns of its own. The group of the last row comes first: what
/// was required last is what the question is about.
fn parts(rows: &Rows) -> Vec<Vec<Line>> {
    let width = rows.stride - 1;
    let mut group: SmallVec<[usize; 32]> = (0..width).collect();
    fn root(group: &[usize], mut column: usize) -> usize {
        while group[column] != column {
            column = group[column];
        }
        column
    }
    let used = |row: &[i64]| (0..width).filter(|c| row[*c] != 0).collect::<SmallVec<[usize; 12]>>();
    for row in rows.iter() {
        for pair in used(row).windows(2) {
            let (a, b) = (root(&group, pair[0]), root(&group, pair[1]));
            group[a.max(b)] = a.min(b);
        }
    }
    // Per root: its group's number. Per column: its number within the group.
    let mut number: SmallVec<[Option<usize>; 32]> = SmallVec::from_elem(None, width);
    let mut narrow: SmallVec<[Option<usize>; 32]> = SmallVec::from_elem(None, width);
    let mut widths: Vec<usize> = Vec::new();
    let mut result: Vec<Vec<Line>> = Vec::new();
    for row in rows.data.chunks_exact(rows.stride).rev() {
        let columns = used(row);
        let Some(first) = columns.first() else { continue };
        let at = *number[root(&group, *first)].get_or_insert_with(|| {
            result.push(Vec::new());
            widths.push(0);
            result.len() - 1
        });
        let mut line = SmallVec::new();
        for column in columns {
            let position = *narrow[column].get_or_insert_with(|| {
                widths[at] += 1;
                widths[at] - 1
            });
            if line.len() <= position {
                line.resize(position + 1, 0);
            }
            line[position] = row[column];
        }
        result[at].push((line, row[width]));
    }
    for (rows, width) in result.iter_mut().zip(widths) {
        rows.iter_mut().for_each(|r| r.0.resize(width, 0));
    }
    result
}

fn eliminate(mut rows: Vec<Line>, work: &mut u64) -> Result<(), Refuted> {
    let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
    let mut known: FxHashMap<SmallVec<[i64; 10]>, usize> = FxHashMap::default();
    loop {
        *work = work.saturating_add(rows.len() as u64);
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
                    next.extend(normal_line(row)?);
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

/// Takes column `var` out of the row by means of the equality `e`, in which it occurs. On overflow the row is dropped.
fn substitute(row: &mut [i64], e: &[i64], var: usize) {
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
fn normal(row: &mut [i64], equality: bool) -> Result<(), Refuted> {
    let Some((constant, coefficients)) = row.split_last_mut() else { return Ok(()) };
    let g = coefficients
        .iter()
        .filter(|c| **c != 0)
        .fold(0, |g, c| if g == 1 { 1 } else { gcd(g, c.unsigned_abs()) });
    match g {
        0 if *constant < 0 || (equality && *constant != 0) => return Err(Refuted),
        0 => *constant = 0,
        1 => {}
        _ => {
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

/// As [`normal`], for one inequality; `None` if it always holds.
fn normal_line(mut row: Line) -> Result<Option<Line>, Refuted> {
    let g =
        row.0.iter().filter(|c| **c != 0).fold(0, |g, c| if g == 1 { 1 } else { gcd(g, c.unsigned_abs()) });
    match g {
        0 if row.1 < 0 => return Err(Refuted),
        0 => return Ok(None),
        1 => {}
        _ => {
            let Ok(g) = i64::try_from(g) else { return Ok(None) };
            row.0.iter_mut().for_each(|c| *c /= g);
            row.1 = row.1.div_euclid(g);
        }
    }
    Ok(Some(row))
}

pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
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

    #[test]
    fn a_floor_of_an_element_is_its_tile() {
        // 0 <= y < 2, 128*(2*x + y) <= e < 128*(2*x + y) + 128, q = floor(e/128), r = floor(e/256): q - 2r is y.
        let floors: [(&[i64], i64); 8] = [
            (&[0, 1], 0),
            (&[0, -1], 1),
            (&[-256, -128, 1], 0),
            (&[256, 128, -1], 127),
            (&[0, 0, 1, -128], 0),
            (&[0, 0, -1, 128], 127),
            (&[0, 0, 1, 0, -256], 0),
            (&[0, 0, -1, 0, 256], 255),
        ];
        for row in [[0, -1, 0, 1, -2], [0, 1, 0, -1, 2]] {
            let rows: Vec<(&[i64], i64)> = floors.iter().copied().chain([(&row[..], -1)]).collect();
            assert!(refutes(&system(5, &[], &rows)));
        }
    }

    #[test]
    fn sums_are_rounded_before_columns_go() {
        // 2*floor(n/256) <= t, 128*t <= k; 256*s + 256 <= n, 0 <= u < 2, l < 256*s + 128*u + 128; k < l.
        // Columns n, floor, t, k, s, u, l.
        let rows: [(&[i64], i64); 9] = [
            (&[1, -256], 0),
            (&[-1, 256], 255),
            (&[0, -2, 1], 0),
            (&[0, 0, -128, 1], 0),
            (&[1, 0, 0, 0, -256], -256),
            (&[0, 0, 0, 0, 0, 1], 0),
            (&[0, 0, 0, 0, 0, -1], 1),
            (&[0, 0, 0, 0, 256, 128, -1], 127),
            (&[0, 0, 0, -1, 0, 0, 1], -1),
        ];
        assert!(refutes(&system(7, &[], &rows)));
    }

    #[test]
    fn small_ranges_decide() {
        // 0 <= x < 2, q = floor(x/4), q >= 1.
        let rows: [(&[i64], i64); 5] = [(&[1], 0), (&[-1], 1), (&[1, -4], 0), (&[-1, 4], 3), (&[0, 1], -1)];
        assert!(refutes(&system(2, &[], &rows)));
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

//! Elimination by Fourier and Motzkin, tightened to integers on the way.

use super::rows::{Distinct, Refuted, Rows, gcd, normal};
use smallvec::SmallVec;

/// Rows beyond which no point is looked for.
const MAX_ROWS: usize = 220;

/// Eliminates all columns, those that make the fewest rows first; an error if a contradiction is among what follows.
/// Given up beyond so many rows.
pub(super) fn eliminate(rows: &Rows, most: usize, work: &mut u64) -> Result<(), Refuted> {
    let mut current = Distinct::of(rows);
    let mut made = rows.iter().len();
    let mut next = Distinct::new(rows.width());
    loop {
        *work = work.saturating_add(made as u64);
        if current.len() > most {
            return Ok(());
        }
        let Some(var) = cheapest(&current, rows.width()) else { return Ok(()) };
        made = step(&current, var, &mut next)?;
        std::mem::swap(&mut current, &mut next);
    }
}

/// Which of the values that are left for a column is taken.
#[derive(Clone, Copy)]
enum Taken {
    NextToZero,
    Least,
    Greatest,
}

/// Values that satisfy the rows; where rounding is in the way, perhaps none, or wrong ones.
pub(super) fn points(rows: &Rows, work: &mut u64) -> Vec<Vec<i64>> {
    let width = rows.width();
    let mut current = Distinct::of(rows);
    let mut eliminated: Vec<(usize, Distinct)> = Vec::new();
    while let Some(var) = cheapest(&current, width) {
        *work = work.saturating_add(current.len() as u64);
        let mut next = Distinct::new(width);
        if current.len() > MAX_ROWS || step(&current, var, &mut next).is_err() {
            return Vec::new();
        }
        eliminated.push((var, std::mem::replace(&mut current, next)));
    }
    let all = [Taken::NextToZero, Taken::Least, Taken::Greatest];
    all.into_iter().filter_map(|taken| substituted(&eliminated, width, taken)).collect()
}

/// Values of the columns, those that were eliminated last first.
fn substituted(eliminated: &[(usize, Distinct)], width: usize, taken: Taken) -> Option<Vec<i64>> {
    let mut point = vec![0; width];
    for (var, rows) in eliminated.iter().rev() {
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        for row in rows.iter().filter(|row| row[*var] != 0) {
            let rest = value(&row[..width], row[width], &point)?;
            match row[*var] {
                c @ 1.. => low = low.max(rest.div_euclid(c).checked_neg()?),
                c => high = high.min(rest.div_euclid(c.checked_neg()?)),
            }
        }
        if low > high {
            return None;
        }
        point[*var] = match taken {
            Taken::Least if low > i64::MIN => low,
            Taken::Greatest if high < i64::MAX => high,
            _ => 0.clamp(low, high),
        };
    }
    Some(point)
}

/// The value of a row at a point.
pub(super) fn value(coefficients: &[i64], constant: i64, point: &[i64]) -> Option<i64> {
    let terms = coefficients.iter().zip(point).filter(|(c, _)| **c != 0);
    terms.into_iter().try_fold(constant, |sum, (c, x)| sum.checked_add(c.checked_mul(*x)?))
}

/// The rows without a column, and how many there were before those with equal coefficients became one.
fn step(rows: &Distinct, var: usize, next: &mut Distinct) -> Result<usize, Refuted> {
    next.clear();
    let mut made = 0;
    let mut lower: SmallVec<[&[i64]; 16]> = SmallVec::new();
    let mut upper: SmallVec<[&[i64]; 16]> = SmallVec::new();
    for row in rows.iter() {
        match row[var].signum() {
            1 => lower.push(row),
            -1 => upper.push(row),
            _ => {
                next.require(row);
                made += 1;
            }
        }
    }
    let mut sum = lower.first().map_or(Vec::new(), |row| row.to_vec());
    for l in &lower {
        for u in &upper {
            if combine(&mut sum, l, u[var], u, l[var]).is_some() {
                normal(&mut sum, false)?;
                if sum.split_last().is_some_and(|(_, coefficients)| coefficients.iter().any(|c| *c != 0)) {
                    next.require(&sum);
                    made += 1;
                }
            }
        }
    }
    Ok(made)
}

/// The column whose elimination makes the fewest rows.
fn cheapest(rows: &Distinct, width: usize) -> Option<usize> {
    let mut signs: SmallVec<[(usize, usize); 32]> = SmallVec::from_elem((0, 0), width);
    for row in rows.iter() {
        for (c, (positive, negative)) in row.iter().zip(&mut signs) {
            *positive += usize::from(*c > 0);
            *negative += usize::from(*c < 0);
        }
    }
    let growth = |(p, n): (usize, usize)| (p * n + rows.len()).saturating_sub(p + n);
    let used = (0..width).filter(|v| signs[*v] != (0, 0));
    used.min_by_key(|v| growth(signs[*v]))
}

/// `a * |x| + b * |y|` with the factors reduced by their common divisor; `None` on overflow.
fn combine(sum: &mut [i64], a: &[i64], x: i64, b: &[i64], y: i64) -> Option<()> {
    let (x, y) = (x.unsigned_abs(), y.unsigned_abs());
    let g = gcd(x, y);
    let (x, y) = (i64::try_from(x / g).ok()?, i64::try_from(y / g).ok()?);
    for ((sum, p), q) in sum.iter_mut().zip(a).zip(b) {
        *sum = p.checked_mul(x)?.checked_add(q.checked_mul(y)?)?;
    }
    Some(())
}

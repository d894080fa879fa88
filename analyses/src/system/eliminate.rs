//! Elimination by Fourier and Motzkin, tightened to integers on the way.

use super::rows::{Distinct, Refuted, Rows, gcd, normal};
use smallvec::SmallVec;

/// Rows beyond which no point is looked for.
const MAX_ROWS: usize = 220;

/// An elimination of columns one after the other, in place; what it has taken of memory is used again by the next one.
pub(super) struct Elimination {
    /// All rows, also those that were taken out with a column: no later row has that, so none is equal to them.
    rows: Distinct,
    /// Rows that are left.
    live: Vec<u32>,
    /// By column, rows left in which it is positive, and negative.
    signs: Vec<(u32, u32)>,
    /// Rows taken out, by column in the order of elimination, and where the columns' rows end.
    out: Vec<u32>,
    columns: Vec<(usize, usize)>,
    sum: Vec<i64>,
}

impl Elimination {
    /// Of nothing yet.
    pub fn new() -> Elimination {
        Elimination {
            rows: Distinct::new(0),
            live: Vec::new(),
            signs: Vec::new(),
            out: Vec::new(),
            columns: Vec::new(),
            sum: Vec::new(),
        }
    }

    /// Eliminates all columns of the rows, those that make the fewest rows first; an error if a contradiction is among what follows.
    /// Given up beyond so many rows: `false`.
    pub fn run(&mut self, rows: &Rows, most: usize, work: &mut u64) -> Result<bool, Refuted> {
        self.run_in(Order::FewestRows, rows, most, work)
    }

    fn run_in(&mut self, order: Order, rows: &Rows, most: usize, work: &mut u64) -> Result<bool, Refuted> {
        self.start(rows);
        let mut made = rows.iter().len();
        loop {
            *work = work.saturating_add(made as u64);
            if self.live.len() > most {
                return Ok(false);
            }
            let Some(var) = self.next_column(order) else { return Ok(true) };
            made = self.step(var)?;
        }
    }

    fn start(&mut self, rows: &Rows) {
        self.rows.restart(rows.width());
        self.live.clear();
        self.out.clear();
        self.columns.clear();
        self.signs.clear();
        self.signs.resize(rows.width(), (0, 0));
        let says = |row: &&[i64]| row[..rows.width()].iter().any(|c| *c != 0);
        rows.iter().filter(says).for_each(|row| self.require(row));
    }

    fn require(&mut self, row: &[i64]) {
        let Some(at) = self.rows.require(row) else { return };
        self.live.push(at as u32);
        for (c, (positive, negative)) in row.iter().zip(&mut self.signs) {
            *positive += u32::from(*c > 0);
            *negative += u32::from(*c < 0);
        }
    }

    /// Takes a column out; how many rows there were before those with equal coefficients became one.
    fn step(&mut self, var: usize) -> Result<usize, Refuted> {
        let mut lower: SmallVec<[u32; 32]> = SmallVec::new();
        let mut upper: SmallVec<[u32; 32]> = SmallVec::new();
        let (rows, signs) = (&self.rows, &mut self.signs);
        self.live.retain(|&at| {
            let row = rows.row(at as usize);
            match row[var].signum() {
                1 => lower.push(at),
                -1 => upper.push(at),
                _ => return true,
            }
            for (c, (positive, negative)) in row.iter().zip(&mut *signs) {
                *positive -= u32::from(*c > 0);
                *negative -= u32::from(*c < 0);
            }
            false
        });
        let mut made = self.live.len();
        let mut sum = std::mem::take(&mut self.sum);
        sum.resize(self.signs.len() + 1, 0);
        for &l in &lower {
            for &u in &upper {
                let (l, u) = (self.rows.row(l as usize), self.rows.row(u as usize));
                if combine(&mut sum, l, u[var], u, l[var]).is_some() {
                    normal(&mut sum, false)?;
                    if sum.split_last().is_some_and(|(_, coefficients)| coefficients.iter().any(|c| *c != 0))
                    {
                        self.require(&sum);
                        made += 1;
                    }
                }
            }
        }
        self.sum = sum;
        self.out.extend(lower.iter().chain(&upper));
        self.columns.push((var, self.out.len()));
        Ok(made)
    }

    fn next_column(&self, order: Order) -> Option<usize> {
        let left = self.live.len();
        let growth = |(p, n): (u32, u32)| (p as usize * n as usize + left).saturating_sub((p + n) as usize);
        let used = (0..self.signs.len()).filter(|v| self.signs[*v] != (0, 0));
        match order {
            Order::FewestRows => used.min_by_key(|v| growth(self.signs[*v])),
            Order::ExactFirst => used.min_by_key(|v| (!self.is_exact(*v), growth(self.signs[*v]))),
        }
    }

    /// Whether for all integers that satisfy the rows without a column it has an integer value, too: where its lower bounds are
    /// integers, or its upper ones.
    fn is_exact(&self, var: usize) -> bool {
        let coefficients = || self.live.iter().map(|at| self.rows.row(*at as usize)[var]);
        coefficients().all(|c| c <= 1) || coefficients().all(|c| c >= -1)
    }

    /// Values of the columns that satisfy the rows, after all have been eliminated, those eliminated last first. `None`: there
    /// are no such integers, or only others.
    fn point(&self, taken: Taken) -> Option<Vec<i64>> {
        let width = self.signs.len();
        let mut point = vec![0; width];
        for (index, (var, end)) in self.columns.iter().enumerate().rev() {
            let first = index.checked_sub(1).map_or(0, |before| self.columns[before].1);
            let (mut low, mut high) = (i64::MIN, i64::MAX);
            for at in &self.out[first..*end] {
                let row = self.rows.row(*at as usize);
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

    /// Whether integers are found easily that satisfy the rows, after all columns have been eliminated. Then nothing that
    /// follows from the rows is a contradiction.
    pub fn is_satisfied(&self, work: &mut u64) -> bool {
        *work = work.saturating_add(self.out.len() as u64 / 4);
        TAKEN.iter().any(|taken| self.point(*taken).is_some())
    }
}

/// Which of the values that are left for a column is taken.
#[derive(Clone, Copy)]
enum Taken {
    NextToZero,
    Least,
    Greatest,
}

const TAKEN: [Taken; 3] = [Taken::NextToZero, Taken::Least, Taken::Greatest];

/// Which column is eliminated next.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// The one that makes the fewest rows.
    FewestRows,
    /// One of those that lose no integers, if there are any: points are found more often, at the price of more rows.
    ExactFirst,
}

/// Values that satisfy the rows; where rounding is in the way, perhaps none, or wrong ones.
pub(super) fn points(
    rows: &Rows,
    order: Order,
    elimination: &mut Elimination,
    work: &mut u64,
) -> Vec<Vec<i64>> {
    match elimination.run_in(order, rows, MAX_ROWS, work) {
        Ok(true) => TAKEN.iter().filter_map(|taken| elimination.point(*taken)).collect(),
        _ => Vec::new(),
    }
}

/// The value of a row at a point.
pub(super) fn value(coefficients: &[i64], constant: i64, point: &[i64]) -> Option<i64> {
    let terms = coefficients.iter().zip(point).filter(|(c, _)| **c != 0);
    terms.into_iter().try_fold(constant, |sum, (c, x)| sum.checked_add(c.checked_mul(*x)?))
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

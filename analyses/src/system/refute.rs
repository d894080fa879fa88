//! A fast proof that a system has no integer solution: equalities are eliminated exactly, then inequalities by
//! Fourier and Motzkin, tightened to integers on the way.
//!
//! Every derived row follows from the given ones, and dropping a row loses nothing but strength; so whatever overflows or
//! grows too large is dropped, and "refuted" is always right.

use super::eliminate::{self, Elimination, Order};
use super::ranges::Ranges;
use super::rows::{Refuted, Rows, normal, substitute};
use super::{Row, System, meeting};

/// Rows beyond which elimination is given up; the same at the first try.
const MAX_ROWS: usize = 220;
const FEW_ROWS: usize = 48;

/// Rounds of looking for equalities among the inequalities.
const MAX_ROUNDS: usize = 4;

/// Whether the equalities alone have no solution: a proof much cheaper than [`Solved::refutes`].
pub(crate) fn equalities_contradict(system: &System) -> bool {
    let width = system.columns();
    solve(&mut Rows::of(width, system.zero()), |_, _| Ok(())).is_err()
}

/// A system without its equalities, of which each has given one column in terms of the others; so one more row, or question,
/// costs little.
#[derive(Clone)]
pub(super) struct Solved {
    /// In normal form, without the columns that are given by others.
    rows: Rows,
    /// Equalities in the order in which they were used, and the column that each gives.
    used: Rows,
    given: Vec<usize>,
    /// No solution.
    contradicts: bool,
    /// What it took to get here, as in [`Solved::refutes`].
    work: u64,
}

impl Solved {
    /// No constraint over so many columns.
    pub fn new(width: usize) -> Solved {
        Solved {
            rows: Rows::empty(width),
            used: Rows::empty(width),
            given: Vec::new(),
            contradicts: false,
            work: 0,
        }
    }

    pub fn of(system: &System) -> Solved {
        let mut solved = Solved::new(system.columns());
        solved.require(system.columns(), system.zero(), system.nonnegative());
        solved
    }

    /// Whether it has been seen that there is no solution.
    pub fn contradicts(&self) -> bool {
        self.contradicts
    }

    /// Adds equalities and inequalities over so many columns, no fewer than before.
    pub fn require(&mut self, width: usize, zero: &[Row], nonnegative: &[Row]) {
        if self.contradicts {
            return;
        }
        if width > self.rows.width() {
            (self.rows, self.used) = (self.rows.widened(width), self.used.widened(width));
        }
        let old = self.rows.iter().len() as u64;
        let count = zero.len() + nonnegative.len();
        self.work += (count * (4 + zero.len()) / 4) as u64 + old * zero.len() as u64 / 4;
        self.contradicts = self.add(zero, nonnegative).is_err();
    }

    fn add(&mut self, zero: &[Row], nonnegative: &[Row]) -> Result<(), Refuted> {
        let mut equal = Rows::empty(self.rows.width());
        equal.reserve(zero.len());
        for row in zero {
            reduce(equal.push(row), &self.used, &self.given);
        }
        let (rows, used, given) = (&mut self.rows, &mut self.used, &mut self.given);
        used.reserve(zero.len());
        given.reserve(zero.len());
        solve(&mut equal, |e, var| {
            rows.substitute(e, var, false)?;
            used.extend([e]);
            given.push(var);
            Ok(())
        })?;
        self.rows.reserve(nonnegative.len());
        for row in nonnegative {
            let row = self.rows.push(row);
            reduce(row, &self.used, &self.given);
            normal(row, false)?;
        }
        Ok(())
    }

    /// Whether there is provably no solution in which the row, if one is given, is not negative. Adds a measure of the work
    /// to `work`, one for about 50 ns; it depends on the system and the row only.
    pub fn refutes(
        &self,
        question: Option<&Row>,
        effort: Effort,
        elimination: &mut Elimination,
        work: &mut u64,
    ) -> bool {
        *work = work.saturating_add(self.work);
        self.contradicts || self.attempt(question, effort, elimination, work).is_err()
    }

    /// Perhaps solutions. What rounding has made of equalities and rows may be wrong: they have to be tried.
    pub fn points(
        &self,
        order: Order,
        elimination: &mut Elimination,
        work: &mut u64,
    ) -> impl Iterator<Item = Vec<i64>> {
        let found = match self.contradicts {
            true => Vec::new(),
            false => eliminate::points(&self.rows, order, elimination, work),
        };
        found.into_iter().filter_map(|point| self.completed(point))
    }

    /// With the values that equalities give.
    fn completed(&self, mut point: Vec<i64>) -> Option<Vec<i64>> {
        // Those that are given first may use those that are given last.
        for (e, var) in self.used.iter().zip(&self.given).rev() {
            let (constant, coefficients) = e.split_last()?;
            point[*var] = 0;
            let rest = eliminate::value(coefficients, *constant, &point)?;
            point[*var] = rest.checked_neg()?.checked_div(e[*var])?;
        }
        Some(point)
    }

    fn attempt(
        &self,
        question: Option<&Row>,
        effort: Effort,
        elimination: &mut Elimination,
        work: &mut u64,
    ) -> Result<(), Refuted> {
        let width = self.rows.width();
        let mut asked = Rows::empty(width);
        if let Some(question) = question {
            let row = asked.push(question);
            reduce(row, &self.used, &self.given);
            normal(row, false)?;
            // Dependences often say the opposite.
            let opposite = |r: &[i64]| r.iter().zip(&row[..width]).all(|(a, b)| a.checked_add(*b) == Some(0));
            let sum = |r: &[i64]| r[width].checked_add(row[width]);
            if self.rows.iter().any(|r| sum(r).is_some_and(|s| s < 0) && opposite(r)) {
                return Err(Refuted);
            }
        }
        let mut rows = Rows::compact(width, self.rows.iter().chain(asked.iter()));
        // What elimination sees at once is most of what there is to see, and the cheapest to find.
        let mut satisfied = true;
        for part in rows.parts() {
            let done = elimination.run(&part, FEW_ROWS, work)?;
            satisfied &= done && effort != Effort::Least && elimination.is_satisfied(work);
        }
        if satisfied || effort == Effort::Least {
            return Ok(());
        }
        promote(&mut rows, false, work)?;
        for part in rows.parts() {
            elimination.run(&part, MAX_ROWS, work)?;
        }
        // What elimination does not see is looked for only where it fails, which is seldom.
        if effort == Effort::Usual && promote(&mut rows, true, work)? {
            for part in rows.parts() {
                elimination.run(&part, MAX_ROWS, work)?;
            }
        }
        Ok(())
    }
}

/// How hard a proof is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// What is seen at once.
    Least,
    /// What may well have solutions.
    Little,
    Usual,
}

/// Takes the columns that equalities give out of a row.
fn reduce(row: &mut [i64], used: &Rows, given: &[usize]) {
    for (e, var) in used.iter().zip(given) {
        if row[*var] != 0 {
            substitute(row, e, *var);
        }
    }
}

/// Uses the equalities among inequalities: a range of one value, and two bounds that meet; each may fix further ones. With
/// `sums`, appends what pairs of rows imply. Whether anything was found.
fn promote(rows: &mut Rows, sums: bool, work: &mut u64) -> Result<bool, Refuted> {
    let mut any = false;
    for _ in 0..MAX_ROUNDS {
        let cells = rows.cells();
        *work = work.saturating_add(if sums { cells * cells / 512 } else { cells / 4 });
        let ranges = Ranges::new(rows)?;
        let implied = meeting::implied(rows, &ranges, sums)?;
        let mut equal = Rows::empty(rows.width());
        equal.extend(ranges.fixed(rows).iter().chain(&implied.zero).map(Vec::as_slice));
        if equal.is_empty() {
            any |= !implied.sums.is_empty();
            rows.extend(implied.sums.iter().map(Vec::as_slice));
            break;
        }
        any = true;
        solve(&mut equal, |e, var| rows.substitute(e, var, false))?;
    }
    Ok(any)
}

/// Solves the equalities one after the other; each is handed on with the column that it gives.
fn solve(
    equal: &mut Rows,
    mut solved: impl FnMut(&[i64], usize) -> Result<(), Refuted>,
) -> Result<(), Refuted> {
    let width = equal.width();
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
        let e = equal.take(pick);
        equal.substitute(&e, var, true)?;
        solved(&e, var)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use smallvec::SmallVec;

    fn system(columns: usize, zero: &[(&[i64], i64)], nonnegative: &[(&[i64], i64)]) -> System {
        let row = |(c, k): &(&[i64], i64)| Row { coefficients: SmallVec::from_slice(c), constant: *k };
        let mut s = System::new(columns);
        zero.iter().for_each(|r| s.require_zero(row(r)));
        nonnegative.iter().for_each(|r| s.require_nonnegative(row(r)));
        s
    }

    fn refutes(system: &System) -> bool {
        Solved::of(system).refutes(None, Effort::Usual, &mut Elimination::new(), &mut 0)
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

//! Proofs that a polynomial is not negative where some facts hold: Fourier-Motzkin elimination over the monomials, with
//! a bound on the work. Sound over the rationals, hence over the integers; "no" means "not proved".

use std::cell::RefCell;

use analyses::closed_forms::{Fact, Monomial, Poly};
use rustc_hash::FxHashMap;

/// More constraints than this are given up on.
const MAX_CONSTRAINTS: usize = 160;

/// Answers that are remembered of a function: regions are tried again with fewer parts, and accesses with other rows.
const REMEMBERED: usize = 10_000;

/// What was asked, the goal's constant left out, and the answers.
#[derive(Default)]
pub(super) struct Proofs(RefCell<FxHashMap<Rows, Known>>);

/// The same of one region, by what was given: to make rows of it takes longer than most proofs.
#[derive(Default)]
pub(super) struct Given(RefCell<Asked>);

#[derive(Default)]
struct Asked {
    facts: Vec<Vec<Fact>>,
    known: FxHashMap<(usize, Poly), Known>,
}

/// Sets of facts that are remembered.
const SETS: usize = 64;

impl Given {
    /// A number for the facts.
    fn number(&self, facts: &[&Fact]) -> usize {
        let Asked { facts: sets, known } = &mut *self.0.borrow_mut();
        let same = |set: &Vec<Fact>| set.len() == facts.len() && set.iter().zip(facts).all(|(a, b)| a == *b);
        if let Some(at) = sets.iter().rposition(same) {
            return at;
        }
        if sets.len() == SETS {
            sets.clear();
            known.clear();
        }
        sets.push(facts.iter().map(|f| (*f).clone()).collect());
        sets.len() - 1
    }
}

/// For which constants of what a goal refutes there is a proof, and for which none was found: for lesser ones there is one, too, and
/// for greater ones there is none. Accesses side by side ask the same but for that.
#[derive(Clone, Copy)]
struct Known {
    refuted: i128,
    open: i128,
}

impl Known {
    const NOTHING: Known = Known { refuted: i128::MIN, open: i128::MAX };

    fn answer(self, constant: i128) -> Option<bool> {
        (constant <= self.refuted || constant >= self.open).then_some(constant <= self.refuted)
    }

    fn learn(&mut self, constant: i128, answer: bool) {
        *if answer { &mut self.refuted } else { &mut self.open } = constant;
    }
}

impl Proofs {
    /// Whether `goal >= 0` follows from the facts, and more of them, which are asked for where they are needed and follow from these and
    /// the goal's symbols.
    pub(super) fn implies(
        &self,
        given: &Given,
        facts: Vec<&Fact>,
        goal: &Poly,
        more: impl FnOnce(&[&Fact]) -> Vec<Fact>,
    ) -> bool {
        if let Some(c) = goal.as_constant() {
            return c >= 0;
        }
        if facts.iter().any(|f| goal.exceeds(&f.poly).is_some_and(|by| by >= 0)) {
            return true;
        }
        let Some((constant, plain)) =
            goal.constant_term().checked_neg().and_then(|c| Some((c, goal.offset(c)?)))
        else {
            return self.follows(facts, goal, more);
        };
        let key = (given.number(&facts), plain);
        let known = given.0.borrow().known.get(&key).and_then(|known| known.answer(constant));
        known.unwrap_or_else(|| {
            let answer = self.follows(facts, goal, more);
            given.0.borrow_mut().known.entry(key).or_insert(Known::NOTHING).learn(constant, answer);
            answer
        })
    }

    fn follows(&self, facts: Vec<&Fact>, goal: &Poly, more: impl FnOnce(&[&Fact]) -> Vec<Fact>) -> bool {
        let more = more(&facts);
        let facts = facts.into_iter().chain(&more).collect();
        let Some(rows) = rows(facts, goal) else { return false };
        let constant = rows.constants[0];
        let mut asked = rows.clone();
        asked.constants[0] = 0;
        if let Some(answer) = self.0.borrow().get(&asked).and_then(|known| known.answer(constant)) {
            return answer;
        }
        let answer = infeasible(rows);
        let mut all = self.0.borrow_mut();
        if all.len() < REMEMBERED {
            all.entry(asked).or_insert(Known::NOTHING).learn(constant, answer);
        }
        answer
    }
}

/// That the goal is negative, and the facts that may matter: those that share a monomial with it, directly or not. Nothing where
/// numbers are too large.
fn rows(facts: Vec<&Fact>, goal: &Poly) -> Option<Rows> {
    fn products(p: &Poly) -> impl Iterator<Item = Monomial> {
        p.terms().map(|(m, _)| m).filter(|m| !m.is_one())
    }
    let mut columns: Vec<Monomial> = products(goal).collect();
    let (mut near, mut far): (Vec<&Fact>, Vec<&Fact>) = (Vec::new(), facts);
    loop {
        let before = near.len();
        far.retain(|fact| {
            let touches = products(&fact.poly).any(|m| columns.contains(&m));
            if touches {
                near.push(fact);
                for m in products(&fact.poly) {
                    if !columns.contains(&m) {
                        columns.push(m);
                    }
                }
            }
            !touches
        });
        if near.len() == before {
            break;
        }
    }
    columns.sort_unstable();
    let mut rows = Rows { width: columns.len(), ..Rows::default() };
    if !rows.push(&columns, goal, -1) {
        return None;
    }
    rows.constants[0] = rows.constants[0].checked_sub(1)?;
    for fact in near {
        // Fewer facts prove less.
        if fact.equal {
            rows.push(&columns, &fact.poly, -1);
        }
        rows.push(&columns, &fact.poly, 1);
    }
    Some(rows)
}

/// Sums that are not negative: of so many numbers by monomial, and a constant, each.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Rows {
    width: usize,
    coefficients: Vec<i64>,
    constants: Vec<i128>,
}

impl Rows {
    fn row(&self, at: usize) -> &[i64] {
        &self.coefficients[at * self.width..][..self.width]
    }

    /// Adds what a function makes, unless it fails.
    fn add(&mut self, constant: Option<i128>, fill: impl FnOnce(&mut Vec<i64>) -> Option<()>) -> bool {
        let before = self.coefficients.len();
        let Some((constant, ())) = constant.zip(fill(&mut self.coefficients)) else {
            self.coefficients.truncate(before);
            return false;
        };
        self.constants.push(constant);
        true
    }

    /// Adds a polynomial, or its opposite, unless a number is too large.
    fn push(&mut self, columns: &[Monomial], p: &Poly, sign: i64) -> bool {
        let constant = p.terms().find(|(m, _)| m.is_one()).map_or(0, |(_, c)| c);
        self.add(constant.checked_mul(sign.into()), |row| {
            let start = row.len();
            row.resize(start + columns.len(), 0);
            for (m, c) in p.terms().filter(|(m, _)| !m.is_one()) {
                let at = columns.binary_search(&m).ok()?;
                row[start + at] = i64::try_from(c).ok()?.checked_mul(sign)?;
            }
            Some(())
        })
    }

    /// Adds the sum of multiples in which a monomial vanishes, unless a number is too large: fewer facts prove less.
    fn push_without(&mut self, m: usize, from: &Rows, up: usize, down: usize) {
        let ((u, d), constants) = ((from.row(up), from.row(down)), &from.constants);
        let Some(by) = d[m].checked_neg() else { return };
        let and = u[m];
        let sum = || {
            let first = constants[up].checked_mul(by.into())?;
            first.checked_add(constants[down].checked_mul(and.into())?)
        };
        self.add(sum(), |row| {
            for (u, d) in u.iter().zip(d) {
                row.push(u.checked_mul(by)?.checked_add(d.checked_mul(and)?)?);
            }
            Some(())
        });
    }

    /// Divides by the common divisor of the coefficients, rounding the constant down: exact on integers.
    fn tighten(&mut self) {
        for (at, constant) in self.constants.iter_mut().enumerate() {
            let row = &mut self.coefficients[at * self.width..][..self.width];
            let divisor =
                row.iter().filter(|c| **c != 0).try_fold(0, |g, c| match gcd(g, c.unsigned_abs()) {
                    1 => None,
                    g => Some(g),
                });
            if let Some(divisor) = divisor.and_then(|g| i64::try_from(g).ok()).filter(|g| *g > 1) {
                *constant = constant.div_euclid(divisor.into());
                row.iter_mut().for_each(|c| *c /= divisor);
            }
        }
    }
}

/// Whether there are no numbers for which all rows are not negative.
fn infeasible(mut rows: Rows) -> bool {
    loop {
        rows.tighten();
        // Of those that differ by a number the least, which comes first, says what the others do: accesses side by side make many.
        let mut kept: Vec<usize> = (0..rows.constants.len()).collect();
        kept.sort_unstable_by_key(|at| (rows.row(*at), rows.constants[*at]));
        kept.dedup_by_key(|at| rows.row(*at));
        let is_constant = |at: &usize| rows.row(*at).iter().all(|c| *c == 0);
        if kept.iter().any(|at| rows.constants[*at] < 0 && is_constant(at)) {
            return true;
        }
        kept.retain(|at| !is_constant(at));
        // The monomial whose elimination makes the fewest rows.
        let uses = |m: usize| {
            let count = |sign: i64| kept.iter().filter(|at| rows.row(**at)[m].signum() == sign).count();
            (count(1), count(-1))
        };
        let used = (0..rows.width).map(|m| (m, uses(m))).filter(|(_, (plus, minus))| plus + minus > 0);
        let Some((m, (plus, minus))) = used.min_by_key(|(_, (p, n))| p * n) else { return false };
        if plus * minus + kept.len() > MAX_CONSTRAINTS {
            return false;
        }
        let mut next = Rows { width: rows.width, ..Rows::default() };
        for at in kept.iter().filter(|at| rows.row(**at)[m] == 0) {
            next.coefficients.extend(rows.row(*at));
            next.constants.push(rows.constants[*at]);
        }
        for up in kept.iter().filter(|at| rows.row(**at)[m] > 0) {
            for down in kept.iter().filter(|at| rows.row(**at)[m] < 0) {
                next.push_without(m, &rows, *up, *down);
            }
        }
        rows = next;
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use analyses::closed_forms::Sym;
    use std::collections::BTreeMap;

    fn implies_alone(facts: &[Fact], goal: &Poly) -> bool {
        Proofs::default().implies(&Given::default(), facts.iter().collect(), goal, |_| Vec::new())
    }

    #[test]
    fn follows_through_two_facts_and_not_further() {
        let x = |n| Poly::symbol(Sym(n));
        let at_least = |poly: Poly| Fact { poly, equal: false };
        // i >= 0, i < j, j < n  =>  n >= 2, and not n >= 3.
        let facts = [
            at_least(x(0)),
            at_least(x(1).sub(&x(0)).unwrap().offset(-1).unwrap()),
            at_least(x(2).sub(&x(1)).unwrap().offset(-1).unwrap()),
        ];
        let implies = |goal: &Poly| implies_alone(&facts, goal);
        assert!(implies(&x(2).offset(-2).unwrap()));
        assert!(!implies(&x(2).offset(-3).unwrap()));
    }

    /// Facts that differ by numbers, as those of unrolled loops, do not use up the bound on the work.
    #[test]
    fn only_the_least_of_parallel_facts_counts() {
        let x = |n| Poly::symbol(Sym(n));
        let mut facts: Vec<Fact> = Vec::new();
        for k in 0..MAX_CONSTRAINTS as i128 {
            // j - i >= k, n - j >= k
            for (high, low) in [(1, 0), (2, 1)] {
                let poly = x(high).sub(&x(low)).unwrap().offset(-k).unwrap();
                facts.push(Fact { poly, equal: false });
            }
        }
        let apart = x(2).sub(&x(0)).unwrap();
        let most = 2 * (MAX_CONSTRAINTS as i128 - 1);
        let implies = |goal: &Poly| implies_alone(&facts, goal);
        assert!(implies(&apart.offset(-most).unwrap()));
        assert!(!implies(&apart.offset(-most - 1).unwrap()));
    }

    /// What is found with rows as vectors is found with rows as polynomials.
    #[test]
    fn dense_rows_prove_what_polynomials_do() {
        let mut state = 1u64;
        let mut random = |bound: i128| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i128::from(state >> 33) % (2 * bound + 1) - bound
        };
        let mut proved = 0;
        let (all, given) = (Proofs::default(), Given::default());
        for _ in 0..2000 {
            let mut row = || {
                let product =
                    Poly::symbol(Sym(0)).mul(&Poly::symbol(Sym(1))).unwrap().scale(random(1)).unwrap();
                let coefficients = [(); 4].map(|()| random(3));
                let terms = (0..4).zip(coefficients).map(|(n, c)| Poly::symbol(Sym(n)).scale(c).unwrap());
                let sum = terms.fold(product, |sum, term| sum.add(&term).unwrap());
                sum.offset(random(6)).unwrap()
            };
            let goal = row();
            let facts: Vec<Fact> = (0..8).map(|_| Fact { poly: row(), equal: false }).collect();
            // What is remembered of goals that differ by a number says the same.
            for by in [0, 3, -2, 1, -1] {
                let near = goal.offset(by).unwrap();
                let alone = implies_alone(&facts, &near);
                for given in [&given, &Given::default()] {
                    let found = all.implies(given, facts.iter().collect(), &near, |_| Vec::new());
                    assert_eq!(found, alone, "{near:?}: {facts:?}");
                }
            }
            let found = implies_alone(&facts, &goal);
            let refuted = goal.scale(-1).unwrap().offset(-1).unwrap();
            let rows = facts.iter().map(|f| &f.poly).chain([&refuted]);
            let rows: Vec<Row> = rows.map(|p| p.terms().collect()).collect();
            assert_eq!(found, by_maps(rows.clone()), "{rows:?}");
            proved += usize::from(found);
        }
        assert!((200..1800).contains(&proved), "{proved} of 2000 are infeasible");
    }

    /// Coefficients by product, the constant among them.
    type Row = BTreeMap<Monomial, i128>;

    fn by_maps(mut rows: Vec<Row>) -> bool {
        loop {
            rows.iter_mut().for_each(tighten_map);
            // Of those that differ by a number the least says what the others do: accesses side by side make many.
            let mut least: BTreeMap<Row, i128> = BTreeMap::new();
            for mut row in rows {
                let constant = row.remove(&Monomial::ONE).unwrap_or(0);
                least.entry(row).and_modify(|c| *c = constant.min(*c)).or_insert(constant);
            }
            if least.remove(&Row::default()).is_some_and(|c| c < 0) {
                return true;
            }
            rows = least.into_iter().map(with_constant).collect();
            // The monomial whose elimination makes the fewest rows.
            let mut uses: BTreeMap<Monomial, (usize, usize)> = BTreeMap::new();
            for (m, c) in rows.iter().flatten().filter(|(m, _)| !m.is_one()) {
                let entry = uses.entry(*m).or_default();
                if *c > 0 { entry.0 += 1 } else { entry.1 += 1 }
            }
            let Some((m, (plus, minus))) = uses.into_iter().min_by_key(|(_, (p, n))| p * n) else {
                return false;
            };
            if plus * minus + rows.len() > MAX_CONSTRAINTS {
                return false;
            }
            let (with, mut next): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|r| r.contains_key(&m));
            for up in with.iter().filter(|r| r[&m] > 0) {
                for down in with.iter().filter(|r| r[&m] < 0) {
                    let mut sum = Row::new();
                    for (row, factor) in [(up, -down[&m]), (down, up[&m])] {
                        row.iter().for_each(|(m, c)| *sum.entry(*m).or_default() += factor * c);
                    }
                    sum.retain(|_, c| *c != 0);
                    next.push(sum);
                }
            }
            rows = next;
        }
    }

    fn with_constant((mut row, constant): (Row, i128)) -> Row {
        if constant != 0 {
            row.insert(Monomial::ONE, constant);
        }
        row
    }

    // Divides by the common divisor of the coefficients, rounding the constant down: exact on integers.
    fn tighten_map(row: &mut Row) {
        let divisor = row
            .iter()
            .filter(|(m, _)| !m.is_one())
            .fold(0, |g, (_, c)| gcd(g, u64::try_from(c.unsigned_abs()).unwrap()));
        let divisor = i128::from(divisor);
        if divisor > 1 {
            let constant = row.remove(&Monomial::ONE).unwrap_or(0).div_euclid(divisor);
            row.values_mut().for_each(|c| *c /= divisor);
            if constant != 0 {
                row.insert(Monomial::ONE, constant);
            }
        }
    }
}

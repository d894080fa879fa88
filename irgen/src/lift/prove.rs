//! Proofs that a polynomial is not negative where some facts hold: Fourier-Motzkin elimination over the monomials, with
//! a bound on the work. Sound over the rationals, hence over the integers; "no" means "not proved".

use std::cell::RefCell;
use std::collections::BTreeSet;

use analyses::closed_forms::{Fact, Poly, Sym};
use rustc_hash::FxHashMap;

/// More constraints than this are given up on.
const MAX_CONSTRAINTS: usize = 160;

type Row = Poly;

/// Answers that are remembered of a function: regions are tried again with fewer parts, and accesses with other rows.
const REMEMBERED: usize = 10_000;

/// What was asked, and the answers.
#[derive(Default)]
pub(super) struct Proofs(RefCell<FxHashMap<(Vec<Fact>, Poly), bool>>);

impl Proofs {
    /// Whether `goal >= 0` follows from the facts.
    pub(super) fn implies(&self, facts: Vec<Fact>, goal: &Poly) -> bool {
        let asked = (facts, goal.clone());
        if let Some(answer) = self.0.borrow().get(&asked) {
            return *answer;
        }
        let answer = implies(&asked.0, goal);
        let mut known = self.0.borrow_mut();
        if known.len() < REMEMBERED {
            known.insert(asked, answer);
        }
        answer
    }
}

fn implies(facts: &[Fact], goal: &Poly) -> bool {
    if let Some(c) = goal.as_constant() {
        return c >= 0;
    }
    let at_least =
        |f: &Fact| f.poly == *goal || goal.sub(&f.poly).and_then(|d| d.as_constant()).is_some_and(|c| c >= 0);
    if facts.iter().any(at_least) {
        return true;
    }
    let Some(negated) = goal.scale(-1).and_then(|g| g.offset(-1)) else { return false };
    let mut rows: Vec<Row> = vec![negated];
    // Only facts that share a monomial, directly or not, can matter.
    let mut rest: Vec<Row> = Vec::new();
    for f in facts {
        rest.push(f.poly.clone());
        if f.equal {
            rest.extend(f.poly.scale(-1));
        }
    }
    loop {
        let touches = |r: &Row, rows: &[Row]| {
            r.0.keys().any(|m| !m.is_empty() && rows.iter().any(|x| x.0.contains_key(m)))
        };
        let before = rest.len();
        let (near, far): (Vec<Row>, Vec<Row>) = rest.into_iter().partition(|r| touches(r, &rows));
        rows.extend(near);
        rest = far;
        if rest.len() == before || rest.is_empty() {
            break;
        }
    }
    infeasible(rows)
}

/// Coefficients of the monomials, in their order, and the constant behind them.
type Dense = Vec<i128>;

fn infeasible(rows: Vec<Row>) -> bool {
    let monomials: BTreeSet<&Vec<Sym>> =
        rows.iter().flat_map(|r| r.0.keys()).filter(|m| !m.is_empty()).collect();
    let columns = monomials.len();
    let dense = |row: &Row| -> Dense {
        let constant = row.constant_term();
        monomials.iter().map(|m| row.0.get(*m).copied().unwrap_or(0)).chain([constant]).collect()
    };
    let mut rows: Vec<Dense> = rows.iter().map(dense).collect();
    loop {
        rows.iter_mut().for_each(tighten);
        // Of those that differ by a number the least, which comes first, says what the others do: accesses side by side make many.
        rows.sort_unstable();
        rows.dedup_by(|next, least| next[..columns] == least[..columns]);
        if rows.iter().any(|row| row[columns] < 0 && row[..columns].iter().all(|c| *c == 0)) {
            return true;
        }
        rows.retain(|row| row[..columns].iter().any(|c| *c != 0));
        // The monomial whose elimination makes the fewest rows.
        let uses = |m: usize| {
            let count = |sign: i128| rows.iter().filter(|row| row[m].signum() == sign).count();
            (count(1), count(-1))
        };
        let used = (0..columns).map(|m| (m, uses(m))).filter(|(_, (plus, minus))| plus + minus > 0);
        let Some((m, (plus, minus))) = used.min_by_key(|(_, (p, n))| p * n) else { return false };
        if plus * minus + rows.len() > MAX_CONSTRAINTS {
            return false;
        }
        let (with, mut next): (Vec<Dense>, Vec<Dense>) = rows.into_iter().partition(|row| row[m] != 0);
        for up in with.iter().filter(|row| row[m] > 0) {
            for down in with.iter().filter(|row| row[m] < 0) {
                next.extend(without(m, up, down));
            }
        }
        rows = next;
    }
}

/// The sum of multiples in which a monomial vanishes; `None` where it overflows: fewer facts prove less.
fn without(m: usize, up: &Dense, down: &Dense) -> Option<Dense> {
    let (by, and) = (down[m].checked_neg()?, up[m]);
    up.iter().zip(down).map(|(u, d)| u.checked_mul(by)?.checked_add(d.checked_mul(and)?)).collect()
}

/// Divides by the common divisor of the coefficients, rounding the constant down: exact on integers.
fn tighten(row: &mut Dense) {
    let Some((constant, coefficients)) = row.split_last_mut() else { return };
    let divisor = coefficients.iter().fold(0i128, |g, c| gcd(g, *c));
    if divisor > 1 {
        *constant = constant.div_euclid(divisor);
        coefficients.iter_mut().for_each(|c| *c /= divisor);
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

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
        assert!(implies(&facts, &x(2).offset(-2).unwrap()));
        assert!(!implies(&facts, &x(2).offset(-3).unwrap()));
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
        assert!(implies(&facts, &apart.offset(-most).unwrap()));
        assert!(!implies(&facts, &apart.offset(-most - 1).unwrap()));
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
        for _ in 0..2000 {
            let mut row = || {
                let product =
                    Poly::symbol(Sym(0)).mul(&Poly::symbol(Sym(1))).unwrap().scale(random(1)).unwrap();
                let coefficients = [(); 4].map(|()| random(3));
                let terms = (0..4).zip(coefficients).map(|(n, c)| Poly::symbol(Sym(n)).scale(c).unwrap());
                let sum = terms.fold(product, |sum, term| sum.add(&term).unwrap());
                sum.offset(random(6)).unwrap()
            };
            let rows: Vec<Row> = (0..9).map(|_| row()).collect();
            let found = infeasible(rows.clone());
            assert_eq!(found, by_maps(rows.clone()), "{rows:?}");
            proved += usize::from(found);
        }
        assert!((200..1800).contains(&proved), "{proved} of 2000 are infeasible");
    }

    fn by_maps(mut rows: Vec<Row>) -> bool {
        loop {
            rows.iter_mut().for_each(tighten_map);
            // Of those that differ by a number the least says what the others do: accesses side by side make many.
            let mut least: BTreeMap<Row, i128> = BTreeMap::new();
            for mut row in rows {
                let constant = row.0.remove(&Vec::new()).unwrap_or(0);
                least.entry(row).and_modify(|c| *c = constant.min(*c)).or_insert(constant);
            }
            if least.remove(&Row::default()).is_some_and(|c| c < 0) {
                return true;
            }
            rows = least.into_iter().map(with_constant).collect();
            // The monomial whose elimination makes the fewest rows.
            let mut uses: BTreeMap<&Vec<Sym>, (usize, usize)> = BTreeMap::new();
            for (m, c) in rows.iter().flat_map(|r| &r.0).filter(|(m, _)| !m.is_empty()) {
                let entry = uses.entry(m).or_default();
                if *c > 0 { entry.0 += 1 } else { entry.1 += 1 }
            }
            let Some((m, (plus, minus))) = uses.into_iter().min_by_key(|(_, (p, n))| p * n) else {
                return false;
            };
            if plus * minus + rows.len() > MAX_CONSTRAINTS {
                return false;
            }
            let m = m.clone();
            let (with, mut next): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|r| r.0.contains_key(&m));
            for up in with.iter().filter(|r| r.0[&m] > 0) {
                for down in with.iter().filter(|r| r.0[&m] < 0) {
                    // A combination that overflows is left out: fewer facts prove less.
                    let sum = up.scale(-down.0[&m]).and_then(|u| u.add_scaled(down, up.0[&m]));
                    next.extend(sum);
                }
            }
            rows = next;
        }
    }

    fn with_constant((mut row, constant): (Row, i128)) -> Row {
        if constant != 0 {
            row.0.insert(Vec::new(), constant);
        }
        row
    }

    // Divides by the common divisor of the coefficients, rounding the constant down: exact on integers.
    fn tighten_map(row: &mut Row) {
        let divisor = row.0.iter().filter(|(m, _)| !m.is_empty()).fold(0i128, |g, (_, c)| gcd(g, *c));
        if divisor > 1 {
            let constant = row.constant_term().div_euclid(divisor);
            row.0.remove(&Vec::new());
            row.0.values_mut().for_each(|c| *c /= divisor);
            if constant != 0 {
                row.0.insert(Vec::new(), constant);
            }
        }
    }
}

//! Polynomials with integer coefficients over symbols: exact values of index computations.

use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A symbol, by its place in [`Symbols`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sym(pub u32);

/// What a symbol stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Meaning<V> {
    /// How many iterations of the loop are complete.
    Iteration(usize),
    /// An integer value, read as signed.
    Value(V),
    /// A quotient rounded down, by its place in [`Symbols`].
    Quotient(usize),
}

/// All symbols of one function, whose values are of type `V`.
pub struct Symbols<V> {
    list: Vec<Meaning<V>>,
    quotients: Vec<(Poly, i128)>,
    number: FxHashMap<Meaning<V>, Sym>,
}

impl<V> Default for Symbols<V> {
    fn default() -> Self {
        Symbols { list: Vec::new(), quotients: Vec::new(), number: FxHashMap::default() }
    }
}

impl<V: Copy + Eq + Hash> Symbols<V> {
    /// The symbol that stands for something; the same for the same.
    pub fn get(&mut self, meaning: Meaning<V>) -> Sym {
        *self.number.entry(meaning).or_insert_with(|| {
            self.list.push(meaning);
            Sym(self.list.len() as u32 - 1)
        })
    }

    /// `floor(dividend / divisor)` with a positive divisor.
    pub fn quotient(&mut self, dividend: Poly, divisor: i128) -> Sym {
        let key = (dividend, divisor);
        let at = self.quotients.iter().position(|q| *q == key).unwrap_or_else(|| {
            self.quotients.push(key);
            self.quotients.len() - 1
        });
        self.get(Meaning::Quotient(at))
    }

    /// Dividend and divisor.
    pub fn parts(&self, quotient: usize) -> &(Poly, i128) {
        &self.quotients[quotient]
    }

    /// Whether the test holds for all iterations and values in a polynomial, also inside of quotients.
    pub fn all(&self, p: &Poly, test: &dyn Fn(Meaning<V>) -> bool) -> bool {
        p.symbols().all(|s| match self.meaning(s) {
            Meaning::Quotient(q) => self.all(&self.quotients[q].0, test),
            other => test(other),
        })
    }

    /// The symbol, if something asked for it before.
    pub fn find(&self, meaning: Meaning<V>) -> Option<Sym> {
        self.number.get(&meaning).copied()
    }

    /// What a symbol of this table stands for.
    pub fn meaning(&self, sym: Sym) -> Meaning<V> {
        self.list[sym.0 as usize]
    }
}

/// A sum of products of symbols. No coefficient is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Poly(pub BTreeMap<Vec<Sym>, i128>);

/// More terms than this are no index computation.
const MAX_TERMS: usize = 24;

impl Poly {
    /// A number.
    pub fn constant(value: i128) -> Poly {
        let mut p = Poly::default();
        if value != 0 {
            p.0.insert(Vec::new(), value);
        }
        p
    }

    /// One symbol.
    pub fn symbol(sym: Sym) -> Poly {
        Poly(BTreeMap::from([(vec![sym], 1)]))
    }

    /// The number that it is, if it is one.
    pub fn as_constant(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The term without symbols.
    pub fn constant_term(&self) -> i128 {
        self.0.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// `self + factor * other`; `None` where a coefficient overflows.
    pub fn add_scaled(&self, other: &Poly, factor: i128) -> Option<Poly> {
        let mut result = self.clone();
        for (monomial, c) in &other.0 {
            let entry = result.0.entry(monomial.clone()).or_insert(0);
            *entry = entry.checked_add(c.checked_mul(factor)?)?;
        }
        result.0.retain(|_, c| *c != 0);
        (result.0.len() <= MAX_TERMS).then_some(result)
    }

    /// The sum; `None` where a coefficient overflows.
    pub fn add(&self, other: &Poly) -> Option<Poly> {
        self.add_scaled(other, 1)
    }

    /// The difference; `None` where a coefficient overflows.
    pub fn sub(&self, other: &Poly) -> Option<Poly> {
        self.add_scaled(other, -1)
    }

    /// By how much it is greater than another one, where they differ by a number.
    pub fn exceeds(&self, other: &Poly) -> Option<i128> {
        fn terms(p: &Poly) -> impl Iterator<Item = (&Vec<Sym>, &i128)> {
            p.0.iter().filter(|(m, _)| !m.is_empty())
        }
        let by = self.constant_term().checked_sub(other.constant_term())?;
        terms(self).eq(terms(other)).then_some(by)
    }

    /// The sum with a number.
    pub fn offset(&self, by: i128) -> Option<Poly> {
        self.add(&Poly::constant(by))
    }

    /// The product with a number.
    pub fn scale(&self, factor: i128) -> Option<Poly> {
        Poly::default().add_scaled(self, factor)
    }

    /// The product; `None` where a coefficient overflows, or above degree 4.
    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        let mut result = Poly::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut monomial = [a.as_slice(), b].concat();
                monomial.sort_unstable();
                let entry = result.0.entry(monomial).or_insert(0);
                *entry = entry.checked_add(x.checked_mul(*y)?)?;
            }
        }
        result.0.retain(|_, c| *c != 0);
        (result.0.len() <= MAX_TERMS && result.degree() <= 4).then_some(result)
    }

    /// The greatest number of symbols in one product.
    pub fn degree(&self) -> usize {
        self.0.keys().map(Vec::len).max().unwrap_or(0)
    }

    /// The symbols in it, as often as they occur.
    pub fn symbols(&self) -> impl Iterator<Item = Sym> {
        self.0.keys().flatten().copied()
    }

    /// Whether a symbol occurs.
    pub fn uses(&self, sym: Sym) -> bool {
        self.symbols().any(|s| s == sym)
    }

    /// `(a, b)` with `self = a * sym + b` and a constant `a`.
    pub fn split_linear(&self, sym: Sym) -> Option<(i128, Poly)> {
        let mut rest = self.clone();
        let a = rest.0.remove(&vec![sym]).unwrap_or(0);
        (!rest.uses(sym)).then_some((a, rest))
    }

    /// `(a, b)` with `self = a * sym + b`, of which neither uses the symbol.
    pub fn split(&self, sym: Sym) -> Option<(Poly, Poly)> {
        let (with, without): (BTreeMap<_, _>, BTreeMap<_, _>) =
            self.0.clone().into_iter().partition(|(m, _)| m.contains(&sym));
        let factor = |(m, c): (Vec<Sym>, i128)| Some((remove_all(&m, &[sym])?, c));
        let a = Poly(with.into_iter().map(factor).collect::<Option<_>>()?);
        (!a.uses(sym)).then_some((a, Poly(without)))
    }

    /// All coefficients divided exactly.
    pub fn divide_exact(&self, by: i128) -> Option<Poly> {
        let exact = by != 0 && self.0.values().all(|c| c % by == 0);
        exact.then(|| Poly(self.0.iter().map(|(m, c)| (m.clone(), c / by)).collect()))
    }

    /// `(q, r)` with `self = q * by + r`, by repeatedly removing multiples of the leading term of `by`, which is its
    /// greatest monomial. Constants and linear terms are divided with remainder nearest to zero.
    pub fn divide(&self, by: &Poly) -> Option<(Poly, Poly)> {
        let (lead, c) = by.0.iter().max_by(|a, b| (a.0.len(), a.0).cmp(&(b.0.len(), b.0)))?;
        let (mut quotient, mut rest) = (Poly::default(), self.clone());
        let mut done: Vec<Vec<Sym>> = Vec::new();
        for _ in 0..64 {
            let next = rest
                .0
                .iter()
                .filter(|(m, _)| !done.contains(m))
                .filter_map(|(m, x)| Some((remove_all(m, lead)?, m.clone(), nearest(*x, *c))))
                .filter(|(_, _, q)| *q != 0)
                .max_by(|a, b| (a.1.len(), &a.1).cmp(&(b.1.len(), &b.1)));
            let Some((factor, monomial, q)) = next else { return Some((quotient, rest)) };
            let term = Poly(BTreeMap::from([(factor, q)]));
            quotient = quotient.add(&term)?;
            rest = rest.sub(&term.mul(by)?)?;
            done.push(monomial);
        }
        None
    }
}

/// The quotient with the remainder nearest to zero.
fn nearest(x: i128, c: i128) -> i128 {
    let q = x.div_euclid(c);
    let r = x - q * c;
    if 2 * r > c.abs() { q + c.signum() } else { q }
}

/// The multiset difference, where `part` is contained.
fn remove_all(whole: &[Sym], part: &[Sym]) -> Option<Vec<Sym>> {
    let mut rest = whole.to_vec();
    for sym in part {
        let at = rest.iter().position(|s| s == sym)?;
        rest.remove(at);
    }
    Some(rest)
}

/// `poly >= 0`, or `poly == 0`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fact {
    /// What is compared with zero.
    pub poly: Poly,
    /// Whether it is zero, rather than at least zero.
    pub equal: bool,
}

impl Fact {
    /// The facts of which one holds where this one does not; `None` beyond 128 bits.
    pub fn opposites(&self) -> Option<Vec<Fact>> {
        let below = Fact { poly: self.poly.scale(-1)?.offset(-1)?, equal: false };
        Some(match self.equal {
            false => vec![below],
            true => vec![below, Fact { poly: self.poly.offset(-1)?, equal: false }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x(n: u32) -> Poly {
        Poly::symbol(Sym(n))
    }

    #[test]
    fn what_differs_by_a_number_is_compared() {
        let sum = x(0).add(&x(1)).unwrap();
        assert_eq!(sum.offset(3).unwrap().exceeds(&sum.offset(5).unwrap()), Some(-2));
        assert_eq!(sum.exceeds(&x(0)), None);
        assert_eq!(sum.exceeds(&sum.scale(2).unwrap()), None);
    }

    #[test]
    fn division_splits_a_linearised_subscript() {
        let (i, j, m) = (x(0), x(1), x(2));
        let stride = m.offset(1).unwrap();
        let linear = i.mul(&stride).unwrap().add(&j).unwrap().offset(-1).unwrap();
        let (q, r) = linear.divide(&stride).unwrap();
        assert_eq!((q, r), (i.clone(), j.offset(-1).unwrap()));
        let constant = Poly::constant(100);
        let linear = i.scale(100).unwrap().add(&j).unwrap().offset(99).unwrap();
        let (q, r) = linear.divide(&constant).unwrap();
        assert_eq!((q, r), (i.offset(1).unwrap(), j.offset(-1).unwrap()));
    }
}

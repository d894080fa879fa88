//! Polynomials with integer coefficients over symbols: exact values of index computations.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::monomial::Monomial;

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

/// A sum of products of symbols, which come in their order. No coefficient is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Poly(Terms);

type Terms = SmallVec<[(Monomial, i128); 3]>;

/// More terms than this are no index computation.
const MAX_TERMS: usize = 24;

impl Poly {
    /// A number.
    pub fn constant(value: i128) -> Poly {
        Poly::term(Monomial::ONE, value)
    }

    /// One symbol.
    pub fn symbol(sym: Sym) -> Poly {
        Poly::term(sym.into(), 1)
    }

    /// A product with a number.
    fn term(monomial: Monomial, coefficient: i128) -> Poly {
        Poly(if coefficient == 0 { SmallVec::new() } else { smallvec![(monomial, coefficient)] })
    }

    /// The sum of some products with numbers; `None` where a coefficient overflows, or of too many.
    pub fn sum(terms: impl IntoIterator<Item = (Monomial, i128)>) -> Option<Poly> {
        let mut all: SmallVec<[(Monomial, i128); 8]> = terms.into_iter().collect();
        all.sort_by_key(|(m, _)| *m);
        let mut result = Poly::default();
        for (monomial, c) in all {
            match result.0.last_mut() {
                Some((last, sum)) if *last == monomial => *sum = sum.checked_add(c)?,
                _ => result.0.push((monomial, c)),
            }
        }
        result.0.retain(|(_, c)| *c != 0);
        (result.0.len() <= MAX_TERMS).then_some(result)
    }

    /// The products with their coefficients, none of which is zero.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (Monomial, i128)> + ExactSizeIterator + Clone {
        self.0.iter().copied()
    }

    /// The coefficient of a product.
    pub fn coefficient(&self, monomial: Monomial) -> i128 {
        self.0.binary_search_by_key(&monomial, |(m, _)| *m).map_or(0, |at| self.0[at].1)
    }

    /// Whether it is zero, whatever the symbols stand for.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The number that it is, if it is one.
    pub fn as_constant(&self) -> Option<i128> {
        match self.0[..] {
            [] => Some(0),
            [(Monomial::ONE, c)] => Some(c),
            _ => None,
        }
    }

    /// The term without symbols.
    pub fn constant_term(&self) -> i128 {
        self.0.first().filter(|(m, _)| m.is_one()).map_or(0, |(_, c)| *c)
    }

    /// `self + factor * other`; `None` where a coefficient overflows.
    pub fn add_scaled(&self, other: &Poly, factor: i128) -> Option<Poly> {
        let mut result = Poly(SmallVec::with_capacity(self.0.len() + other.0.len()));
        let mut mine = self.0.iter().copied().peekable();
        for &(monomial, c) in &other.0 {
            while let Some(before) = mine.next_if(|(m, _)| *m < monomial) {
                result.0.push(before);
            }
            let mut sum = c.checked_mul(factor)?;
            if let Some((_, own)) = mine.next_if(|(m, _)| *m == monomial) {
                sum = sum.checked_add(own)?;
            }
            if sum != 0 {
                result.0.push((monomial, sum));
            }
        }
        result.0.extend(mine);
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

    /// The terms with symbols.
    fn with_symbols(&self) -> &[(Monomial, i128)] {
        match &self.0[..] {
            [(Monomial::ONE, _), rest @ ..] => rest,
            all => all,
        }
    }

    /// By how much it is greater than another one, where they differ by a number.
    pub fn exceeds(&self, other: &Poly) -> Option<i128> {
        let alike = self.with_symbols() == other.with_symbols();
        alike.then(|| self.constant_term().checked_sub(other.constant_term())).flatten()
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
        let mut terms: SmallVec<[(Monomial, i128); 8]> = SmallVec::new();
        for (a, x) in self.terms() {
            for (b, y) in other.terms() {
                terms.push((a.times(&b)?, x.checked_mul(y)?));
            }
        }
        Poly::sum(terms)
    }

    /// The greatest number of symbols in one product.
    pub fn degree(&self) -> usize {
        self.terms().map(|(m, _)| m.degree()).max().unwrap_or(0)
    }

    /// The symbols in it, as often as they occur.
    pub fn symbols(&self) -> impl Iterator<Item = Sym> {
        self.terms().flat_map(|(m, _)| m.symbols())
    }

    /// Whether a symbol occurs.
    pub fn uses(&self, sym: Sym) -> bool {
        self.terms().any(|(m, _)| m.uses(sym))
    }

    /// `(a, b)` with `self = a * sym + b` and a constant `a`.
    pub fn split_linear(&self, sym: Sym) -> Option<(i128, Poly)> {
        let (a, rest) = self.split_off(sym.into());
        (!rest.uses(sym)).then_some((a, rest))
    }

    /// The coefficient of a product, and the terms beside it.
    pub fn split_off(&self, monomial: Monomial) -> (i128, Poly) {
        let rest = self.terms().filter(|(m, _)| *m != monomial).collect();
        (self.coefficient(monomial), Poly(rest))
    }

    /// `(a, b)` with `self = a * sym + b`, of which neither uses the symbol.
    pub fn split(&self, sym: Sym) -> Option<(Poly, Poly)> {
        let (with, without): (Terms, Terms) = self.terms().partition(|(m, _)| m.uses(sym));
        let a = Poly::sum(with.into_iter().filter_map(|(m, c)| Some((m.without(&sym.into())?, c))))?;
        (!a.uses(sym)).then_some((a, Poly(without)))
    }

    /// All coefficients divided exactly.
    pub fn divide_exact(&self, by: i128) -> Option<Poly> {
        let exact = by != 0 && self.terms().all(|(_, c)| c % by == 0);
        exact.then(|| Poly(self.terms().map(|(m, c)| (m, c / by)).collect()))
    }

    /// `(q, r)` with `self = q * by + r`, by repeatedly removing multiples of the leading term of `by`, which is its
    /// greatest monomial. Constants and linear terms are divided with remainder nearest to zero.
    pub fn divide(&self, by: &Poly) -> Option<(Poly, Poly)> {
        let rank = |m: &Monomial| (m.degree(), *m);
        let (lead, c) = by.terms().max_by_key(|(m, _)| rank(m))?;
        let (mut quotient, mut rest) = (Poly::default(), self.clone());
        let mut done: SmallVec<[Monomial; 8]> = SmallVec::new();
        for _ in 0..64 {
            let next = rest
                .terms()
                .filter(|(m, _)| !done.contains(m))
                .filter_map(|(m, x)| Some((m.without(&lead)?, m, nearest(x, c))))
                .filter(|(_, _, q)| *q != 0)
                .max_by_key(|(_, m, _)| rank(m));
            let Some((factor, monomial, q)) = next else { return Some((quotient, rest)) };
            let term = Poly::term(factor, q);
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
    fn sums_are_merged_and_multiplied() {
        let (a, b) =
            (x(0).add(&x(2)).unwrap().offset(3).unwrap(), x(1).sub(&x(2)).unwrap().offset(-3).unwrap());
        assert_eq!(a.add(&b), x(0).add(&x(1)));
        assert_eq!(a.add_scaled(&a, -1), Some(Poly::default()));
        // (x0 + x2 + 3) (x1 - x2 - 3)
        let product = a.mul(&b).unwrap();
        let of = |symbols: &[u32]| {
            product.coefficient(Monomial::product(symbols.iter().copied().map(Sym)).unwrap())
        };
        assert_eq!([of(&[]), of(&[0]), of(&[1]), of(&[2])], [-9, -3, 3, -6]);
        assert_eq!([of(&[0, 1]), of(&[0, 2]), of(&[1, 2]), of(&[2, 2])], [1, -1, 1, -1]);
        assert_eq!(product.split(Sym(0)), Some((b.clone(), x(2).offset(3).unwrap().mul(&b).unwrap())));
        assert_eq!(x(0).offset(i128::MAX).unwrap().offset(1), None);
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

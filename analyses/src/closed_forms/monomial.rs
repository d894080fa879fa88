//! Products of a few symbols.

use std::fmt;

use super::poly::Sym;

/// More symbols than this in one product are no index computation.
const MAX_DEGREE: usize = 4;

/// A product of at most four symbols, each as often as it occurs; of none it is the number one. Ordered as the lists of their symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
// In order, each plus one, and zeros behind.
pub struct Monomial([u32; MAX_DEGREE]);

impl Monomial {
    /// The product of no symbols.
    pub const ONE: Monomial = Monomial([0; MAX_DEGREE]);

    /// The product of some symbols; `None` of more than four.
    pub fn product(symbols: impl IntoIterator<Item = Sym>) -> Option<Monomial> {
        let mut factors = [0; MAX_DEGREE];
        let mut count = 0;
        for sym in symbols {
            *factors.get_mut(count)? = sym.0 + 1;
            count += 1;
        }
        factors[..count].sort_unstable();
        Some(Monomial(factors))
    }

    /// The number of symbols.
    pub fn degree(&self) -> usize {
        self.0.iter().position(|s| *s == 0).unwrap_or(MAX_DEGREE)
    }

    /// Whether it is the product of none.
    pub fn is_one(&self) -> bool {
        self.0[0] == 0
    }

    /// The symbols, each as often as it occurs.
    pub fn symbols(self) -> impl Iterator<Item = Sym> {
        self.0.into_iter().take_while(|s| *s != 0).map(|s| Sym(s - 1))
    }

    /// Whether a symbol occurs.
    pub fn uses(&self, sym: Sym) -> bool {
        self.0.contains(&(sym.0 + 1))
    }

    /// The product; `None` of more than four symbols.
    pub fn times(&self, other: &Monomial) -> Option<Monomial> {
        Monomial::product(self.symbols().chain(other.symbols()))
    }

    /// What is left without the symbols of `part`; `None` where not all of them are in it.
    pub fn without(&self, part: &Monomial) -> Option<Monomial> {
        let mut left = self.0;
        for sym in part.symbols() {
            *left.iter_mut().find(|s| **s == sym.0 + 1)? = 0;
        }
        Monomial::product(left.into_iter().filter(|s| *s != 0).map(|s| Sym(s - 1)))
    }
}

impl From<Sym> for Monomial {
    fn from(sym: Sym) -> Monomial {
        Monomial([sym.0 + 1, 0, 0, 0])
    }
}

impl fmt::Debug for Monomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.symbols()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(symbols: &[u32]) -> Monomial {
        Monomial::product(symbols.iter().copied().map(Sym)).expect("at most four")
    }

    #[test]
    fn products_are_ordered_as_lists_of_symbols() {
        let lists: [&[u32]; 7] = [&[], &[0], &[0, 0], &[0, 1], &[0, 1, 1], &[1], &[1, 7, 7, 9]];
        for (a, x) in lists.iter().enumerate() {
            for (b, y) in lists.iter().enumerate() {
                assert_eq!(of(x).cmp(&of(y)), a.cmp(&b), "{x:?} {y:?}");
            }
        }
    }

    #[test]
    fn symbols_are_multiplied_and_taken_away() {
        assert_eq!(of(&[2, 0]).times(&of(&[1])), Some(of(&[0, 1, 2])));
        assert_eq!(of(&[0, 1, 2]).times(&of(&[3, 4])), None);
        assert_eq!(of(&[0, 1, 1]).without(&of(&[1])), Some(of(&[0, 1])));
        assert_eq!(of(&[0, 1]).without(&of(&[1, 1])), None);
        assert_eq!((of(&[5, 5]).degree(), Monomial::ONE.is_one(), of(&[5]).uses(Sym(5))), (2, true, true));
    }
}

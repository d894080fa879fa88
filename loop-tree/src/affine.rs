//! Quasi-affine expressions: integer linear combinations of variables, parameters and floor divisions.
//!
//! Coefficients are `i64`; an operation that would overflow yields an expression marked inexact, which every
//! consumer (sets, interpreter, emission) refuses. So arithmetic never panics and never wraps silently.

mod bounds;

pub use bounds::{Bound, Interval, leave_out};

use crate::{ParamId, VarId};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::sync::Arc;

/// What a coefficient multiplies.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atom {
    /// A variable in scope.
    Var(VarId),
    /// A parameter.
    Param(ParamId),
    /// `floor(numerator / denominator)`.
    Div(Arc<FloorDiv>),
}

/// `floor(numerator / denominator)` with `denominator >= 2`, normalised: no coefficient of the numerator is a
/// multiple of the denominator.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FloorDiv {
    /// The dividend.
    pub numerator: Affine,
    /// The divisor, at least 2.
    pub denominator: i64,
}

/// `sum(coefficient * atom) + constant`. Terms are sorted by atom, coefficients are not zero, so that equal
/// expressions are equal values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Affine {
    terms: SmallVec<[(Atom, i64); 2]>,
    constant: i64,
    overflowed: bool,
}

impl Affine {
    /// A constant.
    pub fn constant(value: i64) -> Self {
        Affine { terms: SmallVec::new(), constant: value, overflowed: false }
    }

    /// A variable.
    pub fn var(var: VarId) -> Self {
        Self::atom(Atom::Var(var))
    }

    /// A parameter.
    pub fn param(param: ParamId) -> Self {
        Self::atom(Atom::Param(param))
    }

    /// One atom with coefficient 1.
    pub fn atom(atom: Atom) -> Self {
        let mut terms = SmallVec::new();
        terms.push((atom, 1));
        Affine { terms, constant: 0, overflowed: false }
    }

    fn inexact() -> Self {
        Affine { terms: SmallVec::new(), constant: 0, overflowed: true }
    }

    /// False if some coefficient overflowed while the expression was made; its value is then unknown.
    pub fn is_exact(&self) -> bool {
        !self.overflowed
            && self.terms.iter().all(|(a, _)| match a {
                Atom::Div(d) => d.numerator.is_exact(),
                _ => true,
            })
    }

    /// Its floors, for equal ones to be put in their place.
    pub(crate) fn floors_mut(&mut self) -> impl Iterator<Item = &mut Arc<FloorDiv>> {
        self.terms.iter_mut().filter_map(|(atom, _)| match atom {
            Atom::Div(floor) => Some(floor),
            _ => None,
        })
    }

    /// The terms, sorted by atom; no coefficient is zero.
    pub fn terms(&self) -> &[(Atom, i64)] {
        &self.terms
    }

    /// The constant term.
    pub fn constant_term(&self) -> i64 {
        self.constant
    }

    /// The value, if it is the same for all variables and parameters.
    pub fn as_constant(&self) -> Option<i64> {
        (self.terms.is_empty() && !self.overflowed).then_some(self.constant)
    }

    /// The variable, if the expression is just that.
    pub fn as_var(&self) -> Option<VarId> {
        match (&self.terms[..], self.constant) {
            ([(Atom::Var(v), 1)], 0) => Some(*v),
            _ => None,
        }
    }

    /// Coefficient of an atom, if it is one of the terms.
    pub fn coefficient_of(&self, atom: &Atom) -> Option<i64> {
        self.terms.iter().find(|(a, _)| a == atom).map(|t| t.1)
    }

    /// Coefficient of a variable outside floor divisions.
    pub fn coefficient(&self, var: VarId) -> i64 {
        self.coefficient_of(&Atom::Var(var)).unwrap_or(0)
    }

    /// Coefficient of a parameter outside floor divisions.
    pub fn param_coefficient(&self, param: ParamId) -> i64 {
        self.coefficient_of(&Atom::Param(param)).unwrap_or(0)
    }

    /// Calls `f` for every variable, also inside floor divisions.
    pub fn for_each_var(&self, f: &mut impl FnMut(VarId)) {
        for (atom, _) in &self.terms {
            match atom {
                Atom::Var(v) => f(*v),
                Atom::Param(_) => {}
                Atom::Div(d) => d.numerator.for_each_var_dyn(f),
            }
        }
    }

    fn for_each_var_dyn(&self, f: &mut dyn FnMut(VarId)) {
        self.for_each_var(&mut |v| f(v));
    }

    /// Whether the variable occurs, also inside floor divisions.
    pub fn uses(&self, var: VarId) -> bool {
        let mut found = false;
        self.for_each_var(&mut |v| found |= v == var);
        found
    }

    /// Whether no variable occurs (parameters may).
    pub fn is_invariant(&self) -> bool {
        let mut none = true;
        self.for_each_var(&mut |_| none = false);
        none
    }

    /// Whether floor divisions occur.
    pub fn has_divisions(&self) -> bool {
        self.terms.iter().any(|(a, _)| matches!(a, Atom::Div(_)))
    }

    /// `self + factor * other`
    pub(crate) fn combine(&self, other: &Affine, factor: i64) -> Affine {
        if self.overflowed || other.overflowed {
            return Self::inexact();
        }
        // Terms often cancel: no room is made for more than there are.
        let mut terms: SmallVec<[(Atom, i64); 2]> = SmallVec::new();
        let (mut a, mut b) = (&self.terms[..], &other.terms[..]);
        loop {
            let order = match (a, b) {
                ([], []) => break,
                (_, []) => Ordering::Less,
                ([], _) => Ordering::Greater,
                ([x, ..], [y, ..]) => x.0.cmp(&y.0),
            };
            let (left, right) = match order {
                Ordering::Less => (a.split_off_first(), None),
                Ordering::Greater => (None, b.split_off_first()),
                Ordering::Equal => (a.split_off_first(), b.split_off_first()),
            };
            let scaled = right.map_or(Some(0), |t| t.1.checked_mul(factor));
            let sum = scaled.and_then(|s| s.checked_add(left.map_or(0, |t| t.1)));
            match (sum, left.or(right)) {
                (Some(0), _) | (_, None) => {}
                (Some(c), Some((atom, _))) => terms.push((atom.clone(), c)),
                (None, _) => return Self::inexact(),
            }
        }
        match other.constant.checked_mul(factor).and_then(|c| c.checked_add(self.constant)) {
            Some(constant) => Affine { terms, constant, overflowed: false },
            None => Self::inexact(),
        }
    }

    /// The value of `self + factor * other` if it is the same everywhere.
    pub fn constant_with(&self, other: &Affine, factor: i64) -> Option<i64> {
        let cancel = |((a, c), (b, d)): (&(Atom, i64), &(Atom, i64))| {
            a == b && d.checked_mul(factor).and_then(|d| d.checked_add(*c)) == Some(0)
        };
        let constant = !self.overflowed
            && !other.overflowed
            && self.terms.len() == other.terms.len()
            && self.terms.iter().zip(&other.terms).all(cancel);
        constant.then(|| other.constant.checked_mul(factor)?.checked_add(self.constant)).flatten()
    }

    /// The expression times an integer.
    pub fn scale(&self, factor: i64) -> Affine {
        let mut result = if factor == 0 && !self.overflowed { Affine::constant(0) } else { self.clone() };
        let coefficients = result.terms.iter_mut().map(|(_, c)| c).chain([&mut result.constant]);
        for c in coefficients {
            match c.checked_mul(factor) {
                Some(product) => *c = product,
                None => return Self::inexact(),
            }
        }
        result
    }

    /// The product, where one of the two is a constant.
    pub fn times(&self, other: &Affine) -> Option<Affine> {
        match (self.as_constant(), other.as_constant()) {
            (Some(c), _) => Some(other.scale(c)),
            (None, c) => Some(self.scale(c?)),
        }
    }

    /// The expression plus an integer.
    pub fn offset(&self, by: i64) -> Affine {
        match self.constant.checked_add(by) {
            Some(constant) if !self.overflowed => Affine { constant, ..self.clone() },
            _ => Self::inexact(),
        }
    }

    /// `floor(self / divisor)`. A divisor that is not positive gives an inexact expression.
    pub fn floor_div(&self, divisor: i64) -> Affine {
        if divisor < 1 || self.overflowed {
            return Self::inexact();
        }
        if divisor == 1 {
            return self.clone();
        }
        // floor((d*a + r) / d) = a + floor(r / d): whole multiples leave the division.
        let mut whole = Affine::constant(self.constant.div_euclid(divisor));
        let mut rest = Affine::constant(self.constant.rem_euclid(divisor));
        for (atom, c) in &self.terms {
            let (q, r) = (c.div_euclid(divisor), c.rem_euclid(divisor));
            if q != 0 {
                whole = whole.combine(&Affine::atom(atom.clone()), q);
            }
            if r != 0 {
                rest = rest.combine(&Affine::atom(atom.clone()), r);
            }
        }
        if rest.terms.is_empty() {
            return whole; // 0 <= constant < divisor
        }
        // Divide numerator and denominator by their common factor: floor((g*e + c)/(g*d)) = floor((e + floor(c/g))/d).
        let g = rest.content_with(divisor.unsigned_abs());
        if g > 1 {
            let mut reduced = Affine::constant(rest.constant.div_euclid(g));
            for (atom, c) in &rest.terms {
                reduced = reduced.combine(&Affine::atom(atom.clone()), c / g);
            }
            return whole.combine(&reduced.floor_div(divisor / g), 1);
        }
        // floor((floor(e/b) + r) / d) = floor((e + b*r) / (b*d)), as r is an integer.
        let inner = rest.terms.iter().find_map(|(atom, c)| match atom {
            Atom::Div(inner) if *c == 1 => Some((atom, inner)),
            _ => None,
        });
        if let Some((atom, inner)) = inner
            && let Some(product) = inner.denominator.checked_mul(divisor)
        {
            let others = rest.combine(&Affine::atom(atom.clone()), -1);
            let flat = inner.numerator.combine(&others, inner.denominator);
            if flat.is_exact() {
                return whole.combine(&flat.floor_div(product), 1);
            }
        }
        let div = Atom::Div(Arc::new(FloorDiv { numerator: rest, denominator: divisor }));
        whole.combine(&Affine::atom(div), 1)
    }

    /// The common divisor of the coefficients; 1 where it is none, or not an `i64`.
    pub(crate) fn content(&self) -> i64 {
        self.content_with(0)
    }

    /// The same of the coefficients and a number.
    fn content_with(&self, number: u64) -> i64 {
        let g = self.terms.iter().fold(number, |g, (_, c)| gcd(g, c.unsigned_abs()));
        i64::try_from(g).unwrap_or(1).max(1)
    }

    /// Divided by the common divisor of its coefficients, rounded down: negative for the same values. No floor remains, as every
    /// coefficient is a multiple.
    pub(crate) fn rounded(&self) -> Affine {
        self.floor_div(self.content())
    }

    /// `ceil(self / divisor)`.
    pub fn ceil_div(&self, divisor: i64) -> Affine {
        self.offset(divisor.saturating_sub(1)).floor_div(divisor)
    }

    /// `self - divisor * floor(self / divisor)`, in `0..divisor`.
    pub fn modulo(&self, divisor: i64) -> Affine {
        self - &self.floor_div(divisor).scale(divisor)
    }

    /// Replaces variables by expressions; `None` keeps the variable.
    pub fn substitute(&self, f: &dyn Fn(VarId) -> Option<Affine>) -> Affine {
        self.map_atoms(&mut |atom| match atom {
            Atom::Var(v) => f(*v),
            _ => None,
        })
    }

    /// Replaces atoms by expressions, bottom up; `None` keeps the atom.
    pub fn map_atoms(&self, f: &mut dyn FnMut(&Atom) -> Option<Affine>) -> Affine {
        if self.overflowed {
            return Self::inexact();
        }
        let mut result = Affine::constant(self.constant);
        for (atom, c) in &self.terms {
            let value = match atom {
                Atom::Div(d) => d.numerator.map_atoms(f).floor_div(d.denominator),
                other => f(other).unwrap_or_else(|| Affine::atom(other.clone())),
            };
            result = result.combine(&value, *c);
        }
        result
    }

    /// The value for given variables and parameters; `None` where one is unknown or the result overflows.
    pub fn eval(
        &self,
        vars: &dyn Fn(VarId) -> Option<i64>,
        params: &dyn Fn(ParamId) -> Option<i64>,
    ) -> Option<i64> {
        if self.overflowed {
            return None;
        }
        let mut sum = i128::from(self.constant);
        for (atom, c) in &self.terms {
            let value = match atom {
                Atom::Var(v) => vars(*v)?,
                Atom::Param(p) => params(*p)?,
                Atom::Div(d) => d.numerator.eval(vars, params)?.div_euclid(d.denominator),
            };
            sum += i128::from(*c) * i128::from(value);
        }
        i64::try_from(sum).ok()
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

macro_rules! binary {
    ($trait:ident, $method:ident, $factor:literal) => {
        impl std::ops::$trait<&Affine> for &Affine {
            type Output = Affine;
            fn $method(self, other: &Affine) -> Affine {
                self.combine(other, $factor)
            }
        }
        impl std::ops::$trait<Affine> for Affine {
            type Output = Affine;
            fn $method(self, other: Affine) -> Affine {
                self.combine(&other, $factor)
            }
        }
    };
}
binary!(Add, add, 1);
binary!(Sub, sub, -1);

impl std::ops::Neg for Affine {
    type Output = Affine;
    fn neg(self) -> Affine {
        self.scale(-1)
    }
}

impl From<i64> for Affine {
    fn from(value: i64) -> Self {
        Affine::constant(value)
    }
}

impl From<VarId> for Affine {
    fn from(var: VarId) -> Self {
        Affine::var(var)
    }
}

impl From<ParamId> for Affine {
    fn from(param: ParamId) -> Self {
        Affine::param(param)
    }
}

impl std::fmt::Debug for Affine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.overflowed {
            return f.write_str("<overflow>");
        }
        for (i, (atom, c)) in self.terms.iter().enumerate() {
            if i > 0 {
                f.write_str(" + ")?;
            }
            if *c != 1 {
                write!(f, "{c}*")?;
            }
            match atom {
                Atom::Var(v) => write!(f, "{v:?}")?,
                Atom::Param(p) => write!(f, "{p:?}")?,
                Atom::Div(d) => write!(f, "floor(({:?})/{})", d.numerator, d.denominator)?,
            }
        }
        if self.terms.is_empty() {
            write!(f, "{}", self.constant)
        } else if self.constant != 0 {
            write!(f, " + {}", self.constant)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn x() -> Affine {
        Affine::var(VarId(0))
    }

    #[test]
    fn whole_multiples_leave_a_division() {
        let e = (x().scale(8) + Affine::param(ParamId(0))).offset(11).floor_div(4);
        assert_eq!(format!("{e:?}"), "2*v0 + floor((p0 + 3)/4) + 2");
        assert_eq!(x().scale(6).offset(3).floor_div(4), x().scale(3).offset(1).floor_div(2));
        assert_eq!(x().modulo(1), Affine::constant(0));
    }

    #[test]
    fn a_floor_of_a_floor_is_one() {
        let n = Affine::param(ParamId(0));
        assert_eq!(n.floor_div(128).floor_div(8), n.floor_div(1024));
        assert_eq!(n.offset(127).floor_div(128).offset(7).floor_div(8), n.offset(1023).floor_div(1024));
        let e = (x().floor_div(3) + n.scale(2)).offset(-1).floor_div(4);
        for (v, k) in (-30..30).flat_map(|v| (-9..9).map(move |k| (v, k))) {
            let value = e.eval(&|_| Some(v), &|_| Some(k));
            assert_eq!(value, Some((v.div_euclid(3) + 2 * k - 1).div_euclid(4)));
        }
    }

    #[test]
    fn overflow_is_marked_not_wrapped() {
        let big = x().scale(i64::MAX);
        assert!(big.is_exact());
        assert!(!big.scale(2).is_exact());
        assert!(!(big.scale(2) - big).is_exact());
        assert!(!x().floor_div(0).is_exact());
    }

    proptest! {
        #[test]
        fn division_and_modulo_agree_with_arithmetic(
            c in -20i64..20, p in -20i64..20, k in -50i64..50, d in 1i64..9, v in -100i64..100, n in -100i64..100,
        ) {
            let e = (x().scale(c) + Affine::param(ParamId(0)).scale(p)).offset(k);
            let value = c * v + p * n + k;
            let eval = |e: &Affine| e.eval(&|_| Some(v), &|_| Some(n)).unwrap();
            prop_assert_eq!(eval(&e), value);
            prop_assert_eq!(eval(&e.floor_div(d)), value.div_euclid(d));
            prop_assert_eq!(eval(&e.modulo(d)), value.rem_euclid(d));
            prop_assert_eq!(eval(&e.ceil_div(d)), -(-value).div_euclid(d));
            prop_assert_eq!(e.clone() - e.clone(), Affine::constant(0));
            // Over the three values from `v` on.
            let e = e.floor_div(d) + x().scale(c) - x().floor_div(2);
            let range = |w: VarId| (w == VarId(0)).then(|| [Affine::constant(v), Affine::constant(v + 2)]);
            let (least, greatest) = (eval(&e.extreme(false, &range)), eval(&e.extreme(true, &range)));
            for at in v..v + 3 {
                let value = e.eval(&|_| Some(at), &|_| Some(n)).unwrap();
                prop_assert!(least <= value && value <= greatest);
            }
        }
    }
}

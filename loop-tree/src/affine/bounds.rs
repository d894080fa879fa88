//! Bounds of affine expressions: as numbers, where ranges of what they use are known; as expressions, over bounds of what they use;
//! and which of several bounds decide.

use super::{Affine, Atom};
use crate::{ParamId, VarId};
use smallvec::SmallVec;

/// All integers from `low` to `high`; sums and products that leave 128 bits have no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
}

impl Interval {
    /// One integer.
    pub fn point(value: i64) -> Interval {
        Interval { low: value.into(), high: value.into() }
    }

    /// Whether all values are `i64`s.
    pub fn fits(self) -> bool {
        self.low >= i64::MIN.into() && self.high <= i64::MAX.into()
    }

    /// Whether no value is negative.
    pub fn is_non_negative(self) -> bool {
        self.low >= 0
    }

    /// Of sums.
    pub fn plus(self, other: Interval) -> Option<Interval> {
        Some(Interval { low: self.low.checked_add(other.low)?, high: self.high.checked_add(other.high)? })
    }

    /// Of products.
    pub fn times(self, other: Interval) -> Option<Interval> {
        let corner = |a: i128, b: i128| a.checked_mul(b);
        let corners = [
            corner(self.low, other.low)?,
            corner(self.low, other.high)?,
            corner(self.high, other.low)?,
            corner(self.high, other.high)?,
        ];
        let low = corners.iter().copied().min()?;
        let high = corners.iter().copied().max()?;
        Some(Interval { low, high })
    }

    /// Of quotients, rounded down; the divisor is positive.
    pub fn floor_div(self, by: i64) -> Interval {
        Interval { low: self.low.div_euclid(by.into()), high: self.high.div_euclid(by.into()) }
    }

    /// Of a loop's variable between these bounds, the upper ones exclusive, in an iteration that executes.
    pub fn counter(lower: &[Interval], upper: &[Interval]) -> Option<Interval> {
        let low = lower.iter().map(|r| r.low).max()?;
        let high = upper.iter().map(|r| r.high).min()?.checked_sub(1)?;
        // A loop that never runs: any interval will do.
        Some(Interval { low, high: high.max(low) })
    }
}

/// What an inequality says of one variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// It is at least this.
    Lower(Affine),
    /// It is at most this.
    Upper(Affine),
}

impl Affine {
    /// The values of the expression. `None` where those of something that it uses are unknown, and where the dividend of a floor
    /// division does not fit into 64 bits.
    pub fn interval(
        &self,
        vars: &dyn Fn(VarId) -> Option<Interval>,
        params: &dyn Fn(ParamId) -> Option<Interval>,
    ) -> Option<Interval> {
        if !self.is_exact() {
            return None;
        }
        let mut sum = Interval::point(self.constant_term());
        for (atom, coefficient) in self.terms() {
            let value = match atom {
                Atom::Var(v) => vars(*v)?,
                Atom::Param(p) => params(*p)?,
                Atom::Div(d) => {
                    d.numerator.interval(vars, params).filter(|r| r.fits())?.floor_div(d.denominator)
                }
            };
            sum = sum.plus(value.times(Interval::point(*coefficient))?)?;
        }
        Some(sum)
    }

    /// A bound, upper where the greatest value is asked for, over ranges of variables (first and last value): each occurrence of a
    /// variable takes the end that bounds its term.
    pub fn extreme(&self, greatest: bool, range: &dyn Fn(VarId) -> Option<[Affine; 2]>) -> Affine {
        let mut result = Affine { terms: SmallVec::new(), ..*self };
        for (atom, c) in &self.terms {
            // A negative coefficient turns the bound around.
            let greatest = greatest == (*c > 0);
            let value = match atom {
                Atom::Var(v) => match range(*v) {
                    Some([first, last]) => {
                        if greatest {
                            last
                        } else {
                            first
                        }
                    }
                    None => Affine::var(*v),
                },
                Atom::Param(p) => Affine::param(*p),
                // Floor division is monotone in its numerator.
                Atom::Div(d) => d.numerator.extreme(greatest, range).floor_div(d.denominator),
            };
            result = result + value.scale(*c);
        }
        result
    }

    /// What `self >= 0` says of a variable; `None` where it says nothing, or has the variable in a division.
    pub fn bound_on(&self, var: VarId) -> Option<Bound> {
        let c = self.coefficient(var);
        let rest = self - &Affine::var(var).scale(c);
        if rest.uses(var) || !rest.is_exact() {
            return None;
        }
        match c {
            0 => None,
            1.. => Some(Bound::Lower((-rest).ceil_div(c))),
            _ => Some(Bound::Upper(rest.floor_div(c.checked_neg()?))),
        }
    }

    /// What decides the maximum of a list, sorted: without those that are never above another one.
    pub fn greatest(bounds: Vec<Affine>) -> Vec<Affine> {
        Affine::deciding(bounds, |difference| difference >= 0)
    }

    /// What decides the minimum of a list, sorted: without those that are never below another one.
    pub fn least(bounds: Vec<Affine>) -> Vec<Affine> {
        Affine::deciding(bounds, |difference| difference <= 0)
    }

    /// `implies(a - b)`: `a` makes `b` superfluous.
    fn deciding(mut bounds: Vec<Affine>, implies: impl Fn(i64) -> bool) -> Vec<Affine> {
        bounds.sort();
        bounds.dedup();
        leave_out(&mut bounds, |b, others| {
            others.iter().any(|a| (*a - b).as_constant().is_some_and(&implies))
        });
        bounds
    }
}

/// Leaves out what the others that are left imply, the first ones first.
pub fn leave_out(list: &mut Vec<Affine>, implied: impl Fn(&Affine, &[&Affine]) -> bool) {
    let mut at = 0;
    while at < list.len() {
        let superfluous = {
            let others: SmallVec<[&Affine; 8]> = list[..at].iter().chain(&list[at + 1..]).collect();
            implied(&list[at], &others)
        };
        match superfluous {
            true => _ = list.remove(at),
            false => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_need_dividends_of_64_bits() {
        let p = Affine::param(ParamId(0));
        let of = |e: &Affine| e.interval(&|_| None, &|_| Some(Interval { low: 0, high: 1 << 40 }));
        // No multiple of the divisor leaves the division, so that the dividend is as large as it looks.
        assert_eq!(of(&p.scale(1 << 30).offset(1).floor_div(3_i64.pow(25))), None);
        assert!(of(&p.floor_div(3)).is_some_and(|r| r.high == (1 << 40) / 3));
    }

    #[test]
    fn bounds_of_a_variable_are_rounded_inwards() {
        let (x, y) = (Affine::var(VarId(0)), Affine::var(VarId(1)));
        // 2x >= y, and 3x <= y.
        let lower = (x.scale(2) - y.clone()).bound_on(VarId(0));
        assert_eq!(lower, Some(Bound::Lower(y.ceil_div(2))));
        let upper = (y.clone() - x.scale(3)).bound_on(VarId(0));
        assert_eq!(upper, Some(Bound::Upper(y.floor_div(3))));
        assert_eq!((y.clone() - x.floor_div(2)).bound_on(VarId(0)), None);
        assert_eq!(y.bound_on(VarId(0)), None);
    }

    #[test]
    fn of_equal_bounds_one_stays() {
        let p = Affine::param(ParamId(0));
        let list = vec![p.offset(2), p.clone(), p.offset(2), Affine::constant(1)];
        assert_eq!(Affine::least(list.clone()), Affine::least(vec![p.clone(), Affine::constant(1)]));
        assert_eq!(Affine::greatest(list).len(), 2);
    }
}

//! Affine constraints and the conditions that versions are guarded by.

use crate::{Affine, ArrayId, Atom, VarId};

/// How an expression is compared with zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// `expression >= 0`
    NonNegative,
    /// `expression == 0`
    Zero,
}

impl Relation {
    /// Whether a value is so.
    pub fn accepts(self, value: i64) -> bool {
        match self {
            Relation::NonNegative => value >= 0,
            Relation::Zero => value == 0,
        }
    }
}

/// One affine constraint.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constraint {
    /// The expression compared with zero.
    pub expression: Affine,
    /// The comparison.
    pub relation: Relation,
}

impl Constraint {
    /// `left >= right`
    pub fn ge(left: Affine, right: Affine) -> Self {
        Constraint { expression: left - right, relation: Relation::NonNegative }
    }

    /// `left < right`
    pub fn lt(left: Affine, right: Affine) -> Self {
        Self::ge(right, left.offset(1))
    }

    /// `left == right`
    pub fn eq(left: Affine, right: Affine) -> Self {
        Constraint { expression: left - right, relation: Relation::Zero }
    }

    /// Whether a value of the expression satisfies the constraint.
    pub fn accepts(&self, value: i64) -> bool {
        self.relation.accepts(value)
    }

    /// True or false where that does not depend on variables or parameters.
    pub fn as_constant(&self) -> Option<bool> {
        self.expression.as_constant().map(|c| self.accepts(c))
    }

    /// Whether plainly no point satisfies both: the sum or the difference of the two expressions has a constant value that it
    /// cannot have. `false` means unknown.
    pub fn contradicts(&self, other: &Constraint) -> bool {
        let sum = |factor| self.expression.constant_with(&other.expression, factor);
        match (self.relation, other.relation) {
            (Relation::NonNegative, Relation::NonNegative) => sum(1).is_some_and(|c| c < 0),
            (Relation::NonNegative, Relation::Zero) => [1, -1].iter().any(|f| sum(*f).is_some_and(|c| c < 0)),
            (Relation::Zero, Relation::NonNegative) => other.contradicts(self),
            (Relation::Zero, Relation::Zero) => [1, -1].iter().any(|f| sum(*f).is_some_and(|c| c != 0)),
        }
    }

    /// The constraint with variables replaced; see [`Affine::substitute`].
    pub fn substitute(&self, f: &dyn Fn(VarId) -> Option<Affine>) -> Self {
        Constraint { expression: self.expression.substitute(f), relation: self.relation }
    }

    /// The same constraint without those floors of which it is a bound: `floor(e/d) >= x` is `e >= d*x`, and `floor(e/d) <= x` is
    /// `e < d*x + d`. Floors over variables go first.
    pub fn without_floors(&self) -> Self {
        self.without_floors_of(&|_| true)
    }

    /// The same only of floors of such dividends.
    pub fn without_floors_of(&self, wanted: &dyn Fn(&Affine) -> bool) -> Self {
        let mut result = self.clone();
        while result.relation == Relation::NonNegative {
            let floors = result.expression.terms().iter().filter_map(|(atom, c)| match atom {
                Atom::Div(d) if c.abs() == 1 && wanted(&d.numerator) => Some((atom, d, *c)),
                _ => None,
            });
            let Some((atom, d, c)) = floors.min_by_key(|(_, d, _)| d.numerator.is_invariant()) else { break };
            let rest = (&result.expression - &Affine::atom(atom.clone()).scale(c)).scale(d.denominator);
            let expression =
                if c > 0 { &rest + &d.numerator } else { (&rest - &d.numerator).offset(d.denominator - 1) };
            if !expression.is_exact() {
                break;
            }
            result.expression = expression;
        }
        result
    }

    /// The same constraint over the integers, with coefficients that have no common divisor: `4*i >= 2` is `i >= 1`, and `4*i == 2`
    /// never holds.
    pub fn tightened(self) -> Self {
        let divisor = self.expression.content();
        if divisor == 1 || !self.expression.is_exact() {
            return self;
        }
        let expression = match self.relation {
            Relation::Zero if self.expression.constant_term() % divisor != 0 => Affine::constant(1),
            _ => self.expression.rounded(),
        };
        Constraint { expression, ..self }
    }

    /// The constraints whose disjunction is the negation.
    pub fn negated(&self) -> Vec<Constraint> {
        let below =
            Constraint { expression: self.expression.scale(-1).offset(-1), relation: Relation::NonNegative };
        match self.relation {
            Relation::NonNegative => vec![below],
            Relation::Zero => {
                vec![
                    below,
                    Constraint { expression: self.expression.offset(-1), relation: Relation::NonNegative },
                ]
            }
        }
    }
}

/// A union of conjunctions of constraints: true where all constraints of one conjunction hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Condition {
    /// The conjunctions. None is "never", an empty one is "always".
    pub disjuncts: Vec<Vec<Constraint>>,
}

impl Condition {
    /// Holds where all constraints hold.
    pub fn all(constraints: Vec<Constraint>) -> Self {
        Condition { disjuncts: vec![constraints] }.simplified()
    }

    /// Holds everywhere.
    pub fn always() -> Self {
        Condition { disjuncts: vec![vec![]] }
    }

    /// Holds nowhere.
    pub fn never() -> Self {
        Condition { disjuncts: vec![] }
    }

    /// Constant constraints decided, the rest tightened and sorted, duplicates dropped.
    pub fn simplified(mut self) -> Self {
        self.disjuncts.retain_mut(|conjunction| {
            *conjunction = std::mem::take(conjunction).into_iter().map(Constraint::tightened).collect();
            if conjunction.iter().any(|c| c.as_constant() == Some(false)) {
                return false;
            }
            conjunction.retain(|c| c.as_constant() != Some(true));
            conjunction.sort();
            conjunction.dedup();
            true
        });
        if self.disjuncts.iter().any(Vec::is_empty) {
            return Self::always();
        }
        self.disjuncts.sort();
        self.disjuncts.dedup();
        self
    }

    /// Whether it is syntactically "always".
    pub fn is_always(&self) -> bool {
        self.disjuncts.iter().any(Vec::is_empty)
    }

    /// Whether it is syntactically "never".
    pub fn is_never(&self) -> bool {
        self.disjuncts.is_empty()
    }

    /// Conjunction of two conditions; the number of disjuncts multiplies.
    pub fn and(&self, other: &Condition) -> Self {
        let mut disjuncts = Vec::with_capacity(self.disjuncts.len() * other.disjuncts.len());
        for a in &self.disjuncts {
            for b in &other.disjuncts {
                disjuncts.push(a.iter().chain(b).cloned().collect());
            }
        }
        Condition { disjuncts }.simplified()
    }

    /// Disjunction of two conditions.
    pub fn or(mut self, other: Condition) -> Self {
        self.disjuncts.extend(other.disjuncts);
        self.simplified()
    }

    /// The negation; `None` where it would have more than `limit` disjuncts.
    pub fn negated(&self, limit: usize) -> Option<Self> {
        let mut result = Condition::always();
        for conjunction in &self.disjuncts {
            let mut negation = Condition::never();
            for constraint in conjunction {
                for c in constraint.negated() {
                    negation.disjuncts.push(vec![c]);
                }
            }
            result = result.and(&negation);
            if result.disjuncts.len() > limit {
                return None;
            }
        }
        Some(result)
    }

    /// All constraints of all disjuncts.
    pub fn constraints(&self) -> impl Iterator<Item = &Constraint> {
        self.disjuncts.iter().flatten()
    }

    /// The condition with variables replaced; see [`Affine::substitute`].
    pub fn substitute(&self, f: &dyn Fn(VarId) -> Option<Affine>) -> Self {
        Condition {
            disjuncts: self.disjuncts.iter().map(|d| d.iter().map(|c| c.substitute(f)).collect()).collect(),
        }
        .simplified()
    }
}

/// What a `Guard` tests.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GuardCondition {
    /// An affine condition over variables in scope and parameters.
    Affine(Condition),
    /// The boolean scalar (array of dimension zero) has this value.
    Predicate {
        /// A dimension-zero array of type `i1`.
        array: ArrayId,
        /// The value it must have.
        value: bool,
    },
}

/// A condition that can only be tested at run time, before the region is entered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RuntimeCondition {
    /// An affine constraint on parameters.
    Parameter(Constraint),
    /// The bytes that the region touches through the two arrays are disjoint.
    NoOverlap(ArrayId, ArrayId),
}

impl RuntimeCondition {
    /// The constraint, if it is one on parameters.
    pub fn parameter(&self) -> Option<&Constraint> {
        match self {
            RuntimeCondition::Parameter(constraint) => Some(constraint),
            RuntimeCondition::NoOverlap(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamId;

    #[test]
    fn what_no_point_satisfies_is_known_from_two_constraints() {
        let n = || Affine::param(crate::ParamId(0));
        let c = Affine::constant;
        let least = Constraint::ge(n(), c(2));
        assert!(least.contradicts(&Constraint::lt(n(), c(2))));
        assert!(!least.contradicts(&Constraint::lt(n(), c(3))));
        assert!(
            least.contradicts(&Constraint::eq(n(), c(1))) && least.contradicts(&Constraint::eq(c(1), n()))
        );
        assert!(!least.contradicts(&Constraint::eq(n(), c(2))));
        assert!(Constraint::eq(n(), c(2)).contradicts(&Constraint::eq(n(), c(3))));
        assert!(Constraint::eq(n(), c(3)).contradicts(&Constraint::eq(c(2), n())));
    }

    #[test]
    fn over_the_integers_a_common_divisor_says_nothing() {
        let i = |c| Affine::var(VarId(0)).scale(c);
        let c = Affine::constant;
        let both = Condition::all(vec![Constraint::ge(i(4), c(2)), Constraint::ge(i(4), c(1))]);
        assert_eq!(both, Condition::all(vec![Constraint::ge(i(1), c(1))]));
        assert_eq!(Constraint::eq(i(4), c(-8)).tightened(), Constraint::eq(i(1), c(-2)));
        assert!(Condition::all(vec![Constraint::eq(i(4), c(2))]).is_never());
        let cases = (-9..9).flat_map(|k| [-6, -1, 0, 2, 6].map(|f| (k, f)));
        for (constraint, value) in cases
            .flat_map(|(k, f)| {
                let of = |relation| Constraint { expression: i(f).offset(k), relation };
                [Relation::Zero, Relation::NonNegative].map(of)
            })
            .flat_map(|constraint| (-20..20).map(move |value| (constraint.clone(), value)))
        {
            let holds = |c: &Constraint| c.expression.eval(&|_| Some(value), &|_| None).map(|v| c.accepts(v));
            let tight = constraint.clone().tightened();
            assert_eq!(holds(&constraint), holds(&tight), "{constraint:?} {tight:?} at {value}");
        }
    }

    #[test]
    fn bounds_of_floors_are_bounds_of_what_is_divided() {
        let (x, n) = (Affine::var(VarId(0)), Affine::param(ParamId(0)));
        let nested = (x.floor_div(3).scale(2) + n.floor_div(2)).floor_div(2);
        let cases = [
            x.offset(5).floor_div(4) - n.clone(),
            n.floor_div(3) - x.floor_div(4).offset(1),
            n.clone() - (x.clone() + n.floor_div(2)).floor_div(5),
            nested - x.clone(),
            // Two times a floor is not its bound.
            x.floor_div(4).scale(2) - n.clone(),
        ];
        for expression in cases {
            let c = Constraint { expression, relation: Relation::NonNegative };
            let without = c.without_floors();
            for (a, b) in (-20..20).flat_map(|a| (-20..20).map(move |b| (a, b))) {
                let value = |c: &Constraint| c.expression.eval(&|_| Some(a), &|_| Some(b)).map(|v| v >= 0);
                assert_eq!(value(&c), value(&without), "{c:?} {without:?} at {a}, {b}");
            }
            assert!(
                without.expression.terms().iter().all(|(a, c)| !matches!(a, Atom::Div(_)) || c.abs() > 1)
            );
        }
    }
}

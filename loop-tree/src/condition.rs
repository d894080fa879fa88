//! Affine constraints and the conditions that versions are guarded by.

use crate::{Affine, ArrayId, VarId};

/// How an expression is compared with zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// `expression >= 0`
    NonNegative,
    /// `expression == 0`
    Zero,
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
        match self.relation {
            Relation::NonNegative => value >= 0,
            Relation::Zero => value == 0,
        }
    }

    /// True or false where that does not depend on variables or parameters.
    pub fn as_constant(&self) -> Option<bool> {
        self.expression.as_constant().map(|c| self.accepts(c))
    }

    /// The constraint with variables replaced; see [`Affine::substitute`].
    pub fn substitute(&self, f: &dyn Fn(VarId) -> Option<Affine>) -> Self {
        Constraint { expression: self.expression.substitute(f), relation: self.relation }
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

    /// Constant constraints decided, the rest sorted, duplicates dropped.
    pub fn simplified(mut self) -> Self {
        self.disjuncts.retain_mut(|conjunction| {
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

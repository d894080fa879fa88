//! A system about which several questions are asked.

use super::refute::Solved;
use super::{Inexact, Row, System};
use loop_tree::Constraint;
use std::sync::Arc;

/// A system with its equalities solved, so that a proof need not begin anew for each further row. Copies share what they have in
/// common: a question adds a few rows to many.
#[derive(Clone)]
pub struct Posed {
    base: Arc<System>,
    /// What is required besides.
    more: System,
    solved: Solved,
    /// Rows of `more` that are in the solved one: equalities, inequalities.
    seen: (usize, usize),
}

impl Posed {
    /// The system, solved.
    pub fn new(system: System) -> Posed {
        let solved = Solved::of(&system);
        Posed { more: system.without_rows(), base: Arc::new(system), solved, seen: (0, 0) }
    }

    /// The constraint must hold; variable `VarId(k)` is `vars[k]`.
    pub fn require(&mut self, constraint: &Constraint, vars: &[Row]) -> Result<(), Inexact> {
        self.require_all([constraint], vars)
    }

    /// All of the constraints must hold; variable `VarId(k)` is `vars[k]`.
    pub fn require_all<'c>(
        &mut self,
        constraints: impl IntoIterator<Item = &'c Constraint>,
        vars: &[Row],
    ) -> Result<(), Inexact> {
        for constraint in constraints {
            self.more.require(constraint, vars)?;
        }
        self.solve();
        Ok(())
    }

    /// All constraints of another system must hold; see [`System::include`].
    pub fn include(&mut self, other: &System, columns: &[Row]) -> Result<(), Inexact> {
        self.more.include(other, columns)?;
        self.solve();
        Ok(())
    }

    /// The row must be zero.
    pub fn require_zero(&mut self, row: Row) {
        self.more.require_zero(row);
        self.solve();
    }

    /// The row must not be negative.
    pub fn require_nonnegative(&mut self, row: Row) {
        self.more.require_nonnegative(row);
        self.solve();
    }

    /// Whether it has been seen already that there is no solution.
    pub fn contradicts(&self) -> bool {
        self.solved.contradicts()
    }

    /// All that is required.
    pub fn system(&self) -> System {
        self.base.and(&self.more)
    }

    /// As [`System::columns`].
    pub fn columns(&self) -> usize {
        self.more.columns()
    }

    /// As [`System::row_of`].
    pub fn row_of(&self, constraint: &Constraint, vars: &[Row]) -> Result<Option<Row>, Inexact> {
        self.more.row_of(constraint, vars)
    }

    /// As [`System::accepts`].
    pub fn accepts(&self, point: &[i64]) -> bool {
        self.base.accepts(point) && self.more.accepts(point)
    }

    pub(super) fn solved(&self) -> &Solved {
        &self.solved
    }

    fn solve(&mut self) {
        let (zero, nonnegative) = (self.more.zero(), self.more.nonnegative());
        self.solved.require(self.more.columns(), &zero[self.seen.0..], &nonnegative[self.seen.1..]);
        self.seen = (zero.len(), nonnegative.len());
    }
}

//! A system about which several questions are asked.

use super::refute::Solved;
use super::{Inexact, Row, System};
use loop_tree::Constraint;

/// A system with its equalities solved, so that a proof need not begin anew for each further row.
#[derive(Clone)]
pub struct Posed {
    system: System,
    solved: Solved,
    /// Rows of the system that are in the solved one: equalities, inequalities.
    seen: (usize, usize),
}

impl Posed {
    /// The system, solved.
    pub fn new(system: System) -> Posed {
        let mut posed = Posed { solved: Solved::new(system.columns()), system, seen: (0, 0) };
        posed.solve();
        posed
    }

    /// The constraint must hold; variable `VarId(k)` is `vars[k]`.
    pub fn require(&mut self, constraint: &Constraint, vars: &[Row]) -> Result<(), Inexact> {
        self.system.require(constraint, vars)?;
        self.solve();
        Ok(())
    }

    /// All of the constraints must hold; variable `VarId(k)` is `vars[k]`.
    pub fn require_all<'c>(
        &mut self,
        constraints: impl IntoIterator<Item = &'c Constraint>,
        vars: &[Row],
    ) -> Result<(), Inexact> {
        for constraint in constraints {
            self.system.require(constraint, vars)?;
        }
        self.solve();
        Ok(())
    }

    /// All constraints of another system must hold; see [`System::include`].
    pub fn include(&mut self, other: &System, columns: &[Row]) -> Result<(), Inexact> {
        self.system.include(other, columns)?;
        self.solve();
        Ok(())
    }

    /// The row must be zero.
    pub fn require_zero(&mut self, row: Row) {
        self.system.require_zero(row);
        self.solve();
    }

    /// The row must not be negative.
    pub fn require_nonnegative(&mut self, row: Row) {
        self.system.require_nonnegative(row);
        self.solve();
    }

    /// Whether it has been seen already that there is no solution.
    pub fn contradicts(&self) -> bool {
        self.solved.contradicts()
    }

    /// All that is required.
    pub fn system(&self) -> &System {
        &self.system
    }

    pub(super) fn solved(&self) -> &Solved {
        &self.solved
    }

    fn solve(&mut self) {
        let (zero, nonnegative) = (self.system.zero(), self.system.nonnegative());
        self.solved.require(self.system.columns(), &zero[self.seen.0..], &nonnegative[self.seen.1..]);
        self.seen = (zero.len(), nonnegative.len());
    }
}

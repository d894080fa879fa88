//! Exact answers about systems, from isl and under a quota.

use super::eliminate::{Elimination, Order};
use super::posed::Posed;
use super::refute::Effort;
use super::{Row, System};
use crate::isl;
use crate::mutation::{self, Rule};
use std::cell::{Cell, RefCell};

/// What is found about a system at little cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tried {
    /// It has no point.
    Refuted,
    /// It has this one, with a value per column.
    Point(Vec<i64>),
    /// Perhaps it has points.
    Unknown,
}

/// Finds integer points.
///
/// Every question to isl has a context of its own: isl counts allocations as operations, and a context that has answered
/// before takes blocks from its cache instead. In a shared one, whether a question fits into its quota would depend on
/// what was asked before, and so on how a search spreads its trees over threads.
pub struct Solver {
    quota: u64,
    calls: Cell<u64>,
    /// What is left of the budget, in units of about 50 ns; of systems without a budget, always all.
    left: Cell<u64>,
    elimination: RefCell<Elimination>,
}

/// What a question to isl takes from the budget at most; it takes no more than its quota.
const ISL_QUESTION: u64 = 1000;

impl Solver {
    /// A solver that spends at most `quota` isl operations per question.
    pub fn new(quota: u64) -> Self {
        let elimination = RefCell::new(Elimination::new());
        Solver { quota, calls: Cell::new(0), left: Cell::new(u64::MAX), elimination }
    }

    /// From now on, questions may take so much work together; those beyond it are answered with
    /// [`Quota`](crate::IslError::Quota). The work depends on the questions only.
    pub fn set_budget(&self, work: u64) {
        self.left.set(work);
    }

    /// Operations per question.
    pub fn quota(&self) -> u64 {
        self.quota
    }

    /// What is left of the budget.
    pub fn budget(&self) -> u64 {
        self.left.get()
    }

    /// Takes work from the budget; an error when it is spent.
    pub fn charge(&self, work: u64) -> Result<(), isl::IslError> {
        match self.left.get().checked_sub(work) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(isl::IslError::Quota { ops: work })
            }
        }
    }

    /// Whether the system provably has no solution, at the cost of the budget.
    pub fn refutes(&self, posed: &Posed) -> Result<bool, isl::IslError> {
        self.try_to_refute(posed, None, Effort::Usual)
    }

    /// Whether it is seen at little cost that the system, which may well have solutions, has none.
    pub fn refutes_quickly(&self, posed: &Posed) -> Result<bool, isl::IslError> {
        self.try_to_refute(posed, None, Effort::Little)
    }

    /// The same of solutions in which the row is not negative.
    pub fn refutes_with(&self, posed: &Posed, row: &Row) -> Result<bool, isl::IslError> {
        self.try_to_refute(posed, Some(row), Effort::Usual)
    }

    /// The same, where there may well be solutions.
    pub fn refutes_with_quickly(&self, posed: &Posed, row: &Row) -> Result<bool, isl::IslError> {
        self.try_to_refute(posed, Some(row), Effort::Little)
    }

    fn try_to_refute(&self, posed: &Posed, row: Option<&Row>, effort: Effort) -> Result<bool, isl::IslError> {
        let mut work = 1;
        let refuted = posed.solved().refutes(row, effort, &mut self.elimination.borrow_mut(), &mut work);
        self.charge(work)?;
        Ok(refuted)
    }

    /// How many questions went to isl, because no fast proof was found.
    pub fn isl_calls(&self) -> u64 {
        self.calls.get()
    }

    /// Runs a computation with one quota for all of it, in a context of its own.
    pub fn within_quota<R>(
        &self,
        f: impl FnOnce(&isl::Ctx) -> Result<R, isl::IslError>,
    ) -> Result<R, isl::IslError> {
        self.charge(ISL_QUESTION.min(self.quota))?;
        self.calls.set(self.calls.get() + 1);
        isl::Ctx::new()?.with_quota(self.quota, f)
    }

    /// A point of the system, one value per column; `None` if there is none.
    pub fn find_point(&self, system: &System) -> Result<Option<Vec<i64>>, isl::IslError> {
        self.find(&Posed::new(system.clone()))
    }

    /// As [`Solver::find_point`].
    pub fn find(&self, posed: &Posed) -> Result<Option<Vec<i64>>, isl::IslError> {
        if self.refutes(posed)? {
            return Ok(None);
        }
        self.sample(posed)
    }

    /// A point of the system in which the row is not negative.
    pub fn find_with(&self, posed: &Posed, row: Row) -> Result<Option<Vec<i64>>, isl::IslError> {
        if self.try_to_refute(posed, Some(&row), Effort::Usual)? {
            return Ok(None);
        }
        let mut posed = posed.clone();
        posed.require_nonnegative(row);
        self.sample(&posed)
    }

    /// A point of the system, if one is easily found.
    pub fn easy_point(&self, posed: &Posed) -> Result<Option<Vec<i64>>, isl::IslError> {
        self.point(posed, Order::ExactFirst)
    }

    fn point(&self, posed: &Posed, order: Order) -> Result<Option<Vec<i64>>, isl::IslError> {
        let mut work = 1;
        let mut elimination = self.elimination.borrow_mut();
        let mut points = posed.solved().points(order, &mut elimination, &mut work);
        let point = points.find(|point| posed.accepts(point));
        drop(points);
        self.charge(work)?;
        Ok(point)
    }

    /// What is found about a system at little cost.
    pub fn tried(&self, posed: &Posed) -> Result<Tried, isl::IslError> {
        if self.try_to_refute(posed, None, Effort::Least)? {
            return Ok(Tried::Refuted);
        }
        Ok(match self.easy_point(posed)? {
            Some(point) => Tried::Point(point),
            None if self.try_to_refute(posed, None, Effort::Little)? => Tried::Refuted,
            None => Tried::Unknown,
        })
    }

    /// A point of a system that is not easily refuted.
    fn sample(&self, posed: &Posed) -> Result<Option<Vec<i64>>, isl::IslError> {
        let point = self.point(posed, Order::FewestRows)?;
        if point.is_some() {
            return Ok(point);
        }
        let found = self.within_quota(|ctx| {
            let set = set(ctx, &posed.system())?;
            set.sample_point()?.map(|point| point.coordinates(isl::DimType::Out)).transpose()
        });
        match found {
            Err(isl::IslError::Quota { .. }) if mutation::off(Rule::Quota) => Ok(None),
            found => found,
        }
    }

    /// The least and the greatest value of a row over the points of a system.
    pub fn range(&self, system: &System, row: &Row) -> Result<(isl::Optimum, isl::Optimum), isl::IslError> {
        self.within_quota(|ctx| {
            let set = set(ctx, system)?;
            let objective = isl::Aff::from_row(set.space()?, &isl_row(row))?;
            Ok((set.min_val(&objective)?, set.max_val(&objective)?))
        })
    }
}

/// The system as an isl set without parameters: all columns are dimensions.
pub(crate) fn set(ctx: &isl::Ctx, system: &System) -> Result<isl::Set, isl::IslError> {
    let space = isl::Space::set(ctx, &[], None, system.columns())?;
    let rows = isl::Conjunction {
        equalities: system.zero().iter().map(isl_row).collect(),
        inequalities: system.nonnegative().iter().map(isl_row).collect(),
        divs: vec![],
    };
    isl::Set::from_rows(space, &rows)
}

fn isl_row(row: &Row) -> isl::Row {
    isl::Row { constant: row.constant, params: vec![], dims: row.coefficients.to_vec(), divs: vec![] }
}

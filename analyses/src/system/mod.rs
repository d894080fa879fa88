//! Systems of integer constraints as plain data: what dependences are made of and the oracle reasons about.
//!
//! A system is a conjunction of rows over numbered integer columns. The columns of parameters come first, at their
//! [`ParamId`](loop_tree::ParamId); the owner of a system says what the following ones are. Floor divisions become
//! columns of their own, with the two inequalities that define them. All columns that the owner does not know are
//! existentially quantified.
//!
//! Two ways to an answer: [`Solver::refutes`] is a fast proof of emptiness (it may fail), [`Solver`] asks isl for an integer
//! point and is exact.

mod eliminate;
mod meeting;
mod posed;
mod ranges;
mod refute;
mod rows;
mod solve;

pub use posed::Posed;
pub(crate) use refute::equalities_contradict;
pub(crate) use solve::set as isl_set;
pub use solve::{Solver, Tried};

use loop_tree::{Affine, Atom, Constraint, Relation, VarId};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;

/// An expression cannot be used: one of its coefficients overflowed, or it uses a variable that nothing binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inexact {
    /// A coefficient does not fit 64 bits.
    #[error("a coefficient does not fit 64 bits")]
    Overflow,
    /// A variable is used but not bound.
    #[error("a variable is used where nothing binds it")]
    Unbound,
}

/// `constant + coefficients . columns`; missing coefficients are zero.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Row {
    /// By column; the last one is not zero.
    pub coefficients: SmallVec<[i64; 18]>,
    /// Constant term.
    pub constant: i64,
}

impl Clone for Row {
    // The coefficients at once, which `SmallVec` copies one by one.
    fn clone(&self) -> Row {
        Row { coefficients: SmallVec::from_slice(&self.coefficients), constant: self.constant }
    }
}

impl Row {
    /// A constant.
    pub fn constant(constant: i64) -> Row {
        Row { coefficients: SmallVec::new(), constant }
    }

    /// One column.
    pub fn column(column: usize) -> Row {
        let mut row = Row::default();
        row.reach(column + 1);
        row.coefficients[column] = 1;
        row
    }

    /// Columns, each as a row.
    pub fn columns(columns: Range<usize>) -> Vec<Row> {
        columns.map(Row::column).collect()
    }

    /// With its columns at other places, which ascend.
    fn moved(&self, place: impl Fn(usize) -> usize) -> Row {
        let mut result = Row::constant(self.constant);
        result.reach(self.coefficients.len().checked_sub(1).map_or(0, |last| place(last) + 1));
        for (column, c) in self.coefficients.iter().enumerate() {
            result.coefficients[place(column)] = *c;
        }
        result
    }

    /// `self + factor * other`.
    pub fn plus(mut self, other: &Row, factor: i64) -> Result<Row, Inexact> {
        self.add(other, factor)?;
        self.end();
        Ok(self)
    }

    /// Adds `factor * other`, in place; the last coefficients may be zero then.
    fn add(&mut self, other: &Row, factor: i64) -> Result<(), Inexact> {
        self.reach(other.coefficients.len());
        let add =
            |a: i64, b: i64| b.checked_mul(factor).and_then(|b| a.checked_add(b)).ok_or(Inexact::Overflow);
        for (a, b) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *a = add(*a, *b)?;
        }
        self.constant = add(self.constant, other.constant)?;
        Ok(())
    }

    /// The same for one column.
    fn add_column(&mut self, column: usize, factor: i64) -> Result<(), Inexact> {
        self.reach(column + 1);
        let c = &mut self.coefficients[column];
        *c = c.checked_add(factor).ok_or(Inexact::Overflow)?;
        Ok(())
    }

    /// Room for so many columns.
    fn reach(&mut self, columns: usize) {
        // Not `resize`, which writes one by one.
        const ZEROS: [i64; 32] = [0; 32];
        while let more @ 1.. = columns.saturating_sub(self.coefficients.len()) {
            self.coefficients.extend_from_slice(&ZEROS[..more.min(ZEROS.len())]);
        }
    }

    /// Leaves out coefficients behind the last one that is not zero.
    fn end(&mut self) {
        let used = self.coefficients.iter().rposition(|c| *c != 0).map_or(0, |last| last + 1);
        self.coefficients.truncate(used);
    }

    /// `self - other`.
    pub fn minus(self, other: &Row) -> Result<Row, Inexact> {
        self.plus(other, -1)
    }

    /// The row plus an integer.
    pub fn offset(mut self, by: i64) -> Result<Row, Inexact> {
        self.constant = self.constant.checked_add(by).ok_or(Inexact::Overflow)?;
        Ok(self)
    }

    /// `-self`.
    pub fn negated(self) -> Result<Row, Inexact> {
        Row::default().plus(&self, -1)
    }

    /// With each column replaced by a row, and those behind by columns from `rest` on.
    fn compose(&self, columns: &[Row], rest: usize) -> Result<Row, Inexact> {
        let mut result = Row::constant(self.constant);
        result.reach(rest);
        for (column, &c) in self.coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
            match columns.get(column) {
                Some(row) => result.add(row, c)?,
                None => result.add_column(rest + column - columns.len(), c)?,
            }
        }
        result.end();
        Ok(result)
    }

    /// The value at a point; `None` if it overflows.
    pub fn eval(&self, point: &[i64]) -> Option<i64> {
        let mut sum = i128::from(self.constant);
        for (column, c) in self.coefficients.iter().enumerate() {
            sum += i128::from(*c) * i128::from(point.get(column).copied().unwrap_or(0));
        }
        i64::try_from(sum).ok()
    }
}

/// A floor division that has a column.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct FloorColumn {
    numerator: Row,
    denominator: i64,
    column: usize,
}

/// A conjunction of constraints over integer columns.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct System {
    columns: usize,
    zero: Vec<Row>,
    nonnegative: Vec<Row>,
    floors: Vec<FloorColumn>,
}

impl Clone for System {
    // What is copied is added to, usually.
    fn clone(&self) -> System {
        let with_room = |rows: &[Row]| {
            let mut copy = Vec::with_capacity(rows.len() + rows.len().min(ROOM));
            copy.extend_from_slice(rows);
            copy
        };
        System {
            columns: self.columns,
            zero: with_room(&self.zero),
            nonnegative: with_room(&self.nonnegative),
            floors: self.floors.clone(),
        }
    }
}

/// Rows that are added to a copy of many, usually.
const ROOM: usize = 12;

/// The expression of a constraint with as few floors as it can do with.
fn simplified(constraint: &Constraint) -> Cow<'_, Affine> {
    match constraint.expression.has_divisions() {
        true => Cow::Owned(constraint.without_floors().expression),
        false => Cow::Borrowed(&constraint.expression),
    }
}

impl System {
    /// No constraint over so many columns.
    pub fn new(columns: usize) -> Self {
        System { columns, ..Self::default() }
    }

    /// Over so many columns, what is known about the first of them, which are the parameters. What the context has besides comes
    /// behind.
    pub fn under(context: &System, params: usize, columns: usize) -> Self {
        let mut system = System::new(columns);
        system.include_at(context, params, 0, params);
        system
    }

    /// No constraint over the same columns, of which the same are floors.
    fn without_rows(&self) -> Self {
        System { columns: self.columns, floors: self.floors.clone(), ..Self::default() }
    }

    /// The rows of both; `more` was made of [`System::without_rows`].
    fn and(&self, more: &System) -> Self {
        System {
            columns: more.columns,
            zero: [&self.zero[..], &more.zero].concat(),
            nonnegative: [&self.nonnegative[..], &more.nonnegative].concat(),
            floors: more.floors.clone(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows that are zero.
    pub fn zero(&self) -> &[Row] {
        &self.zero
    }

    /// Rows that are not negative.
    pub fn nonnegative(&self) -> &[Row] {
        &self.nonnegative
    }

    /// New columns; the first of them.
    pub fn add_columns(&mut self, count: usize) -> usize {
        let first = self.columns;
        self.columns += count;
        first
    }

    /// The row must be zero.
    pub fn require_zero(&mut self, row: Row) {
        self.zero.push(row);
    }

    /// The row must not be negative.
    pub fn require_nonnegative(&mut self, row: Row) {
        self.nonnegative.push(row);
    }

    /// Each expression must have the value of its row.
    pub fn require_equal(&mut self, list: &[Affine], vars: &[Row], values: &[Row]) -> Result<(), Inexact> {
        for (e, value) in list.iter().zip(values) {
            let row = self.row(e, vars)?.minus(value)?;
            self.require_zero(row);
        }
        Ok(())
    }

    /// The row must satisfy the relation.
    pub fn require_row(&mut self, row: Row, relation: Relation) {
        match relation {
            Relation::Zero => self.zero.push(row),
            Relation::NonNegative => self.nonnegative.push(row),
        }
    }

    /// An affine expression as a row; variable `VarId(k)` is `vars[k]`.
    pub fn row(&mut self, e: &Affine, vars: &[Row]) -> Result<Row, Inexact> {
        if !e.is_exact() {
            return Err(Inexact::Overflow);
        }
        let mut row = Row::constant(e.constant_term());
        row.reach(self.columns);
        for (atom, c) in e.terms() {
            match atom {
                Atom::Var(VarId(v)) => row.add(vars.get(*v as usize).ok_or(Inexact::Unbound)?, *c)?,
                Atom::Param(p) => row.add_column(p.index(), *c)?,
                Atom::Div(d) => {
                    let numerator = self.row(&d.numerator, vars)?;
                    row.add_column(self.floor(numerator, d.denominator)?, *c)?;
                }
            }
        }
        row.end();
        Ok(row)
    }

    /// The column that is `floor(numerator / denominator)`.
    pub fn floor(&mut self, numerator: Row, denominator: i64) -> Result<usize, Inexact> {
        if let Some(known) =
            self.floors.iter().find(|f| f.denominator == denominator && f.numerator == numerator)
        {
            return Ok(known.column);
        }
        let column = self.add_columns(1);
        let rest = numerator
            .clone()
            .plus(&Row::column(column), denominator.checked_neg().ok_or(Inexact::Overflow)?)?;
        let below = rest.clone().negated()?.offset(denominator - 1)?;
        self.nonnegative.push(rest);
        self.nonnegative.push(below);
        self.floors.push(FloorColumn { numerator, denominator, column });
        Ok(column)
    }

    /// The row of a constraint, if it needs no column of its own; variable `VarId(k)` is `vars[k]`.
    pub fn row_of(&self, constraint: &Constraint, vars: &[Row]) -> Result<Option<Row>, Inexact> {
        let expression = simplified(constraint);
        match expression.has_divisions() {
            true => Ok(None),
            false => System::new(self.columns).row(&expression, vars).map(Some),
        }
    }

    /// Adds a constraint; variable `VarId(k)` is `vars[k]`.
    pub fn require(&mut self, constraint: &Constraint, vars: &[Row]) -> Result<(), Inexact> {
        let row = self.row(&simplified(constraint), vars)?;
        self.require_row(row, constraint.relation);
        Ok(())
    }

    /// Adds all constraints of another system, whose columns are the given rows; further columns of it are new ones
    /// here.
    pub fn include(&mut self, other: &System, columns: &[Row]) -> Result<(), Inexact> {
        let extra = other.columns.saturating_sub(columns.len());
        let first = self.add_columns(extra);
        self.zero.reserve(other.zero.len());
        self.nonnegative.reserve(other.nonnegative.len());
        for row in &other.zero {
            self.zero.push(row.compose(columns, first)?);
        }
        for row in &other.nonnegative {
            self.nonnegative.push(row.compose(columns, first)?);
        }
        Ok(())
    }

    /// The same of a system whose first columns are the parameters, as here, and then `own` ones that are here from `at` on.
    pub fn include_at(&mut self, other: &System, params: usize, own: usize, at: usize) {
        let first = self.add_columns(other.columns.saturating_sub(params + own));
        let place = |column: usize| match column.checked_sub(params) {
            None => column,
            Some(k) if k < own => at + k,
            Some(k) => first + k - own,
        };
        self.zero.extend(other.zero.iter().map(|row| row.moved(place)));
        self.nonnegative.extend(other.nonnegative.iter().map(|row| row.moved(place)));
    }

    /// Room for all rows of some other systems.
    pub fn reserve_for<'s>(&mut self, others: impl Iterator<Item = &'s System> + Clone) {
        self.zero.reserve(others.clone().map(|s| s.zero.len()).sum());
        self.nonnegative.reserve(others.map(|s| s.nonnegative.len()).sum());
    }

    /// Rows in an order that depends on the set of rows only, without duplicates.
    pub fn sorted(mut self) -> Self {
        self.zero.sort();
        self.zero.dedup();
        self.nonnegative.sort();
        self.nonnegative.dedup();
        self
    }

    /// Whether all rows of `self` are among those of `other`, whose columns mean the same.
    pub fn rows_within(&self, other: &System) -> bool {
        self.floors.is_empty()
            && self.zero.iter().all(|r| other.zero.contains(r))
            && self.nonnegative.iter().all(|r| other.nonnegative.contains(r))
    }

    /// Whether the values, one per column, satisfy all rows.
    pub fn accepts(&self, point: &[i64]) -> bool {
        self.zero.iter().all(|r| r.eval(point) == Some(0))
            && self.nonnegative.iter().all(|r| r.eval(point).is_some_and(|v| v >= 0))
    }
}

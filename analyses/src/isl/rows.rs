//! Constraints and affine functions as plain rows of coefficients, in both directions.

use super::aff::{Aff, Val};
use super::ctx::IslError;
use super::ffi;
use super::handle::{Arg, Pos, call, check_range, elements, handle, methods};
use super::map::Map;
use super::set::{BasicSet, Set};
use super::space::{DimType, LocalSpace, Space};

/// `constant + params . p + dims . x + divs . d`. For pairs, `dims` are those of the input, then the output.
/// Rows may be shorter than the space; what is missing is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Row {
    /// Constant term.
    pub constant: i64,
    /// Coefficients of the parameters.
    pub params: Vec<i64>,
    /// Coefficients of the dimensions.
    pub dims: Vec<i64>,
    /// Coefficients of the floors that the row comes with.
    pub divs: Vec<i64>,
}

/// `floor(numerator / denominator)`; the numerator may use floors of lower index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Floor {
    /// What is divided.
    pub numerator: Row,
    /// Positive.
    pub denominator: i64,
}

/// All `equalities` are zero, all `inequalities` at least zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Conjunction {
    /// Rows that are zero.
    pub equalities: Vec<Row>,
    /// Rows that are not negative.
    pub inequalities: Vec<Row>,
    /// The floors that the rows use.
    pub divs: Vec<Floor>,
}

impl BasicSet {
    /// The set that the rows describe, which use no floors.
    pub fn from_rows(space: Space, rows: &Conjunction) -> Result<Self, IslError> {
        let mut set = BasicSet::universe(space.clone())?;
        let local = LocalSpace::new(space.clone())?;
        let kinds = [(&rows.equalities, true), (&rows.inequalities, false)];
        for (row, equality) in kinds.iter().flat_map(|(rows, eq)| rows.iter().map(move |row| (row, *eq))) {
            let constraint = Constraint::of(&space, local.clone(), row, equality)?;
            set = call!(set.ctx().clone(), isl_basic_set_add_constraint(set, constraint))?;
        }
        Ok(set)
    }

    /// Its constraints; every existential variable must be a known floor, see `Set::compute_divs`.
    pub fn rows(&self) -> Result<Conjunction, IslError> {
        let list = ffi::isl_basic_set_get_constraint_list;
        let constraints: Result<Vec<Constraint>, IslError> = elements!(
            self.ctx(),
            list(self.raw(self.ctx())),
            Constraint,
            isl_constraint_list_size,
            isl_constraint_list_get_at,
            isl_constraint_list_free
        );
        let mut rows = Conjunction::default();
        for constraint in &constraints? {
            let row = constraint.row()?;
            if rows.divs.is_empty() {
                for pos in 0..constraint.dim(DimType::Div)? {
                    let div: Aff =
                        call!(constraint.ctx().clone(), isl_constraint_get_div(constraint, Pos(pos)))?;
                    rows.divs.push(div.fraction()?);
                }
            }
            if constraint.is_equality()? { &mut rows.equalities } else { &mut rows.inequalities }.push(row);
        }
        Ok(rows)
    }
}

impl Set {
    /// The set that the rows describe.
    pub fn from_rows(space: Space, rows: &Conjunction) -> Result<Self, IslError> {
        BasicSet::from_rows(space, rows)?.into_set()
    }

    /// The set as a union of conjunctions.
    pub fn rows(self) -> Result<Vec<Conjunction>, IslError> {
        self.compute_divs()?.basic_sets()?.iter().map(BasicSet::rows).collect()
    }
}

impl Map {
    /// The map as a union of conjunctions.
    pub fn rows(self) -> Result<Vec<Conjunction>, IslError> {
        self.wrap()?.rows()
    }
}

impl Aff {
    /// The function on a set space that a row without floors describes.
    pub fn from_row(domain: Space, row: &Row) -> Result<Self, IslError> {
        no_floors(row)?;
        let mut aff = Aff::constant(domain, row.constant)?;
        for (of, coefficients) in [(DimType::Param, &row.params), (DimType::In, &row.dims)] {
            for (pos, &value) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
                aff = aff.set_coefficient(of, pos, value)?;
            }
        }
        Ok(aff)
    }

    /// Numerator and denominator; isl gives a division as its argument, over the same floors.
    fn fraction(&self) -> Result<Floor, IslError> {
        if self.is_nan()? {
            return Err(IslError::Overflow);
        }
        let this = self;
        let denominator: Val = call!(self.ctx().clone(), isl_aff_get_denominator_val(this))?;
        let scaled = |value: Val| value.mul(denominator.clone())?.to_i64();
        let coefficient = |of: DimType, pos: usize| {
            scaled(call!(self.ctx().clone(), isl_aff_get_coefficient_val(this, of, Pos(pos)))?)
        };
        let all =
            |of: DimType| (0..self.dim(of)?).map(|pos| coefficient(of, pos)).collect::<Result<Vec<_>, _>>();
        let numerator = Row {
            constant: scaled(call!(self.ctx().clone(), isl_aff_get_constant_val(this))?)?,
            params: all(DimType::Param)?,
            dims: all(DimType::In)?,
            divs: all(DimType::Div)?,
        };
        Ok(Floor { numerator, denominator: denominator.to_i64()? })
    }
}

handle! {
    Constraint(isl_constraint), isl_constraint_free
}

methods! { Constraint {
    keep is_equality() -> bool = isl_constraint_is_equality;
    keep dim(of: DimType) -> usize = isl_constraint_dim;
} }

impl Constraint {
    /// What a row without floors says.
    fn of(space: &Space, local: LocalSpace, row: &Row, equality: bool) -> Result<Self, IslError> {
        no_floors(row)?;
        let ctx = space.ctx();
        let mut constraint: Constraint = if equality {
            call!(ctx.clone(), isl_constraint_alloc_equality(local))?
        } else {
            call!(ctx.clone(), isl_constraint_alloc_inequality(local))?
        };
        let constant = row.constant;
        constraint = call!(ctx.clone(), isl_constraint_set_constant_val(constraint, constant))?;
        for (of, coefficients) in [(DimType::Param, &row.params), (DimType::Out, &row.dims)] {
            check_range(0, coefficients.len(), space.dim(of)?)?;
            for (pos, &value) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
                let (c, p) = (constraint, Pos(pos));
                constraint = call!(ctx.clone(), isl_constraint_set_coefficient_val(c, of, p, value))?;
            }
        }
        Ok(constraint)
    }

    fn row(&self) -> Result<Row, IslError> {
        let this = self;
        let coefficient = |of: DimType, pos: usize| {
            call!(self.ctx.clone(), isl_constraint_get_coefficient_val(this, of, Pos(pos)))
        };
        let all =
            |of: DimType| (0..self.dim(of)?).map(|pos| coefficient(of, pos)).collect::<Result<Vec<_>, _>>();
        Ok(Row {
            constant: call!(self.ctx.clone(), isl_constraint_get_constant_val(this))?,
            params: all(DimType::Param)?,
            dims: all(DimType::Out)?,
            divs: all(DimType::Div)?,
        })
    }
}

fn no_floors(row: &Row) -> Result<(), IslError> {
    match row.divs.iter().any(|c| *c != 0) {
        true => Err(IslError::Index { first: 0, count: row.divs.len(), available: 0 }),
        false => Ok(()),
    }
}

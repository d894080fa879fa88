//! Affine expressions and conditions as IR.

use super::{EmitError, Emitter};
use crate::llvm::{IntPredicate, Opcode, PoisonFlags, Value};
use loop_tree::{Affine, Atom, Condition, Constraint, Relation, VarId};

impl<'m> Emitter<'m, '_> {
    pub(super) fn int(&self, value: i64) -> Result<Value<'m>, EmitError> {
        Ok(self.module.context().i64().const_int(value.into())?)
    }

    pub(super) fn variable(&self, var: VarId) -> Result<Value<'m>, EmitError> {
        let found = self.scope.iter().rev().find(|(v, _)| *v == var);
        found.map(|(_, value)| *value).ok_or_else(|| EmitError::unbound(self.kernel.variable_name(var)))
    }

    fn add(&self, a: Value<'m>, b: Value<'m>) -> Result<Value<'m>, EmitError> {
        Ok(self.builder.binary(Opcode::Add, a, b, PoisonFlags::empty(), "")?)
    }

    fn mul(&self, a: Value<'m>, b: Value<'m>) -> Result<Value<'m>, EmitError> {
        Ok(self.builder.binary(Opcode::Mul, a, b, PoisonFlags::empty(), "")?)
    }

    /// The value as `i64`. Wraps where the exact value does not fit; expressions of subscripts and bounds fit, as the
    /// run-time check bounds parameters.
    pub(super) fn affine(&self, e: &Affine) -> Result<Value<'m>, EmitError> {
        if !e.is_exact() {
            return Err(EmitError::Inexact);
        }
        let mut sum: Option<Value<'m>> = None;
        for (atom, coefficient) in e.terms() {
            let value = match atom {
                Atom::Var(v) => self.variable(*v)?,
                Atom::Param(p) => self.params[p.index()],
                Atom::Div(d) => self.floor_div(&d.numerator, d.denominator)?,
            };
            sum = Some(match (sum, *coefficient) {
                (None, 1) => value,
                (Some(s), 1) => self.add(s, value)?,
                (Some(s), -1) => self.builder.binary(Opcode::Sub, s, value, PoisonFlags::empty(), "")?,
                (None, c) => self.mul(value, self.int(c)?)?,
                (Some(s), c) => self.add(s, self.mul(value, self.int(c)?)?)?,
            });
        }
        match (sum, e.constant_term()) {
            (None, c) => self.int(c),
            (Some(s), 0) => Ok(s),
            (Some(s), c) => self.add(s, self.int(c)?),
        }
    }

    /// The value as `i128`, exact for parameters within the bounds that the run-time check tests first.
    pub(super) fn wide(&self, e: &Affine) -> Result<Value<'m>, EmitError> {
        if !e.is_exact() {
            return Err(EmitError::Inexact);
        }
        let ty = self.module.context().int(128)?;
        let widen = |v| self.builder.cast(Opcode::SExt, v, ty, PoisonFlags::empty(), "");
        let mut sum = ty.const_int(e.constant_term().into())?;
        for (atom, coefficient) in e.terms() {
            let value = match atom {
                Atom::Var(v) => self.variable(*v)?,
                Atom::Param(p) => self.params[p.index()],
                Atom::Div(d) => self.floor_div(&d.numerator, d.denominator)?,
            };
            sum = self.add(sum, self.mul(widen(value)?, ty.const_int((*coefficient).into())?)?)?;
        }
        Ok(sum)
    }

    /// Rounds towards minus infinity, as LLVM's division does not.
    fn floor_div(&self, numerator: &Affine, denominator: i64) -> Result<Value<'m>, EmitError> {
        let n = self.affine(numerator)?;
        let b = &self.builder;
        let none = PoisonFlags::empty();
        if denominator.count_ones() == 1 {
            return Ok(b.binary(
                Opcode::AShr,
                n,
                self.int(denominator.trailing_zeros().into())?,
                none,
                "",
            )?);
        }
        let d = self.int(denominator)?;
        let quotient = b.binary(Opcode::SDiv, n, d, none, "")?;
        let remainder = b.binary(Opcode::SRem, n, d, none, "")?;
        let negative = b.icmp(IntPredicate::Slt, remainder, self.int(0)?, "")?;
        let one_less = b.cast(Opcode::SExt, negative, self.module.context().i64(), none, "")?;
        self.add(quotient, one_less)
    }

    /// The greatest or least of several values.
    pub(super) fn extreme(&self, list: &[Affine], greatest: bool) -> Result<Value<'m>, EmitError> {
        let mut result: Option<Value<'m>> = None;
        for e in list {
            let value = self.affine(e)?;
            result = Some(match result {
                None => value,
                Some(r) => {
                    let name = if greatest { "llvm.smax" } else { "llvm.smin" };
                    self.builder.intrinsic(name, r.ty(), &[r, value], "")?.value()
                }
            });
        }
        result.ok_or(EmitError::Unsupported { what: "a loop without bounds" })
    }

    pub(super) fn constraint(&self, c: &Constraint) -> Result<Value<'m>, EmitError> {
        let value = self.affine(&c.expression)?;
        let predicate = match c.relation {
            Relation::NonNegative => IntPredicate::Sge,
            Relation::Zero => IntPredicate::Eq,
        };
        Ok(self.builder.icmp(predicate, value, self.int(0)?, "")?)
    }

    pub(super) fn condition(&self, condition: &Condition) -> Result<Value<'m>, EmitError> {
        let bit = self.module.context().i1();
        let none = PoisonFlags::empty();
        let mut any = bit.const_int(0)?;
        for conjunction in &condition.disjuncts {
            let mut all = bit.const_int(1)?;
            for c in conjunction {
                all = self.builder.binary(Opcode::And, all, self.constraint(c)?, none, "")?;
            }
            any = self.builder.binary(Opcode::Or, any, all, none, "")?;
        }
        Ok(any)
    }
}

//! Affine expressions and conditions as IR.

use super::ranges::Range;
use super::{EmitError, Emitter};
use crate::llvm::{IntPredicate, Opcode, PoisonFlags, Value};
use crate::mutation::{self, Rule};
use loop_tree::{Affine, Atom, Condition, Constraint, Relation, ScalarType, VarId};

/// A value of type `i64` and what is known of it. A range is given only for values that are exact.
#[derive(Clone, Copy)]
pub(super) struct Known<'m> {
    pub(super) value: Value<'m>,
    pub(super) range: Option<Range>,
}

impl<'m> Emitter<'m, '_> {
    pub(super) fn int(&self, value: i64) -> Result<Value<'m>, EmitError> {
        Ok(self.module.context().i64().const_int(value.into())?)
    }

    fn known_int(&self, value: i64) -> Result<Known<'m>, EmitError> {
        Ok(Known { value: self.int(value)?, range: Some(Range::point(value)) })
    }

    pub(super) fn variable(&self, var: VarId) -> Result<Known<'m>, EmitError> {
        self.scope.value(var).ok_or_else(|| EmitError::unbound(self.kernel.variable_name(var)))
    }

    /// The value of `op`, whose exact result has this range: with the promises that follow. Computed anew each time: with
    /// sums and products that are shared in a block fdtd-2d took twice as long, as LLVM gave its addresses other forms.
    fn promised(
        &self,
        op: Opcode,
        a: Known<'m>,
        b: Known<'m>,
        exact: Option<Range>,
    ) -> Result<Known<'m>, EmitError> {
        let range = exact.filter(|r| r.fits());
        let mut flags = PoisonFlags::empty();
        if range.is_some() {
            flags |= PoisonFlags::NSW;
            let non_negative = |k: Known<'_>| k.range.is_some_and(Range::is_non_negative);
            // Of a difference too: a result that is not negative has not borrowed.
            if non_negative(a) && non_negative(b) && range.is_some_and(Range::is_non_negative) {
                flags |= PoisonFlags::NUW;
            }
        }
        if mutation::off(Rule::NoWrap) {
            flags = PoisonFlags::NSW | PoisonFlags::NUW;
        }
        Ok(Known { value: self.builder.binary(op, a.value, b.value, flags, "")?, range })
    }

    pub(super) fn add(&self, a: Known<'m>, b: Known<'m>) -> Result<Known<'m>, EmitError> {
        let exact = a.range.zip(b.range).and_then(|(a, b)| a.plus(b));
        self.promised(Opcode::Add, a, b, exact)
    }

    fn sub(&self, a: Known<'m>, b: Known<'m>) -> Result<Known<'m>, EmitError> {
        let minus = |r: Range| r.times(Range::point(-1));
        let exact = a.range.zip(b.range.and_then(minus)).and_then(|(a, b)| a.plus(b));
        self.promised(Opcode::Sub, a, b, exact)
    }

    pub(super) fn mul(&self, a: Known<'m>, b: Known<'m>) -> Result<Known<'m>, EmitError> {
        let exact = a.range.zip(b.range).and_then(|(a, b)| a.times(b));
        self.promised(Opcode::Mul, a, b, exact)
    }

    fn atom(&self, atom: &Atom) -> Result<Known<'m>, EmitError> {
        match atom {
            Atom::Var(v) => self.variable(*v),
            // In the check itself parameters may still be anything.
            Atom::Param(p) => Ok(Known {
                value: self.params[p.index()],
                range: self.inside.then(|| self.limits.inside[p.index()]),
            }),
            Atom::Div(d) => self.floor_div(&d.numerator, d.denominator),
        }
    }

    pub(super) fn affine(&self, e: &Affine) -> Result<Value<'m>, EmitError> {
        Ok(self.known(e)?.value)
    }

    /// The value as `i64`. Wraps where the exact value does not fit, which [`Limits`](super::ranges::Limits) excludes for
    /// everything but subscripts and operands of statements.
    pub(super) fn known(&self, e: &Affine) -> Result<Known<'m>, EmitError> {
        if !e.is_exact() {
            return Err(EmitError::Inexact);
        }
        let mut sum: Option<Known<'m>> = None;
        for (atom, coefficient) in e.terms() {
            let value = self.atom(atom)?;
            sum = Some(match (sum, *coefficient) {
                (None, 1) => value,
                (Some(s), 1) => self.add(s, value)?,
                (Some(s), -1) => self.sub(s, value)?,
                (None, c) => self.mul(value, self.known_int(c)?)?,
                (Some(s), c) => self.add(s, self.mul(value, self.known_int(c)?)?)?,
            });
        }
        match (sum, e.constant_term()) {
            (None, c) => self.known_int(c),
            (Some(s), 0) => Ok(s),
            (Some(s), c) => self.add(s, self.known_int(c)?),
        }
    }

    /// The value as `i128`, exact for parameters within the limits, which the run-time check tests first.
    pub(super) fn wide(&self, e: &Affine) -> Result<Value<'m>, EmitError> {
        if !e.is_exact() {
            return Err(EmitError::Inexact);
        }
        let ty = self.module.context().int(128)?;
        let none = PoisonFlags::empty();
        let b = &self.builder;
        let mut sum = ty.const_int(e.constant_term().into())?;
        for (atom, coefficient) in e.terms() {
            let value = b.cast(Opcode::SExt, self.atom(atom)?.value, ty, none, "")?;
            let term = b.binary(Opcode::Mul, value, ty.const_int((*coefficient).into())?, none, "")?;
            sum = b.binary(Opcode::Add, sum, term, none, "")?;
        }
        Ok(sum)
    }

    /// Rounds towards minus infinity, as LLVM's division does not.
    fn floor_div(&self, numerator: &Affine, denominator: i64) -> Result<Known<'m>, EmitError> {
        let n = self.known(numerator)?;
        let b = &self.builder;
        let none = PoisonFlags::empty();
        let non_negative = n.range.is_some_and(Range::is_non_negative) || mutation::off(Rule::FloorDivision);
        let value = if denominator.count_ones() == 1 {
            let op = if non_negative { Opcode::LShr } else { Opcode::AShr };
            b.binary(op, n.value, self.int(denominator.trailing_zeros().into())?, none, "")?
        } else if non_negative {
            b.binary(Opcode::UDiv, n.value, self.int(denominator)?, none, "")?
        } else {
            let d = self.int(denominator)?;
            let quotient = b.binary(Opcode::SDiv, n.value, d, none, "")?;
            let remainder = b.binary(Opcode::SRem, n.value, d, none, "")?;
            let negative = b.icmp(IntPredicate::Slt, remainder, self.int(0)?, "")?;
            let one_less = b.cast(Opcode::SExt, negative, self.module.context().i64(), none, "")?;
            b.binary(Opcode::Add, quotient, one_less, none, "")?
        };
        Ok(Known { value, range: n.range.map(|r| r.floor_div(denominator)) })
    }

    /// The greatest lower or least upper bound, and the ranges of all of them where they are known.
    pub(super) fn extreme(
        &self,
        list: &[Affine],
        greatest: bool,
    ) -> Result<(Value<'m>, Option<Vec<Range>>), EmitError> {
        let mut result: Option<Value<'m>> = None;
        let mut known = Some(Vec::new());
        for e in list {
            let Known { value, range } = self.known(e)?;
            known = known.zip(range).map(|(mut all, r)| {
                all.push(r);
                all
            });
            result = Some(match result {
                None => value,
                Some(r) => {
                    let name = if greatest { "llvm.smax" } else { "llvm.smin" };
                    self.builder.intrinsic(name, r.ty(), &[r, value], "")?.value()
                }
            });
        }
        Ok((result.ok_or(EmitError::Unsupported { what: "a loop without bounds" })?, known))
    }

    /// The range of a loop's variable.
    pub(super) fn counter_range(lower: Option<Vec<Range>>, upper: Option<Vec<Range>>) -> Option<Range> {
        Range::counter(&lower?, &upper?)
    }

    pub(super) fn constraint(&self, c: &Constraint) -> Result<Value<'m>, EmitError> {
        let predicate = match c.relation {
            Relation::NonNegative => IntPredicate::Sge,
            Relation::Zero => IntPredicate::Eq,
        };
        let value = self.integer(&c.expression, ScalarType::I64)?;
        let [value, zero] = self.even([value, self.int(0)?])?;
        Ok(self.builder.icmp(predicate, value, zero, "")?)
    }

    pub(super) fn condition(&self, condition: &Condition) -> Result<Value<'m>, EmitError> {
        let bit = self.module.context().i1();
        let none = PoisonFlags::empty();
        let mut any = bit.const_int(0)?;
        for conjunction in &condition.disjuncts {
            let mut all = bit.const_int(1)?;
            for c in conjunction {
                let [one, other] = [all, self.constraint(c)?];
                let [one, other] = self.even([one, other])?;
                all = self.builder.binary(Opcode::And, one, other, none, "")?;
            }
            let [one, other] = self.even([any, all])?;
            any = self.builder.binary(Opcode::Or, one, other, none, "")?;
        }
        Ok(any)
    }
}

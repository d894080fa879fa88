//! Affine expressions and conditions as C, exact: signed arithmetic is written only where it does not overflow.

use crate::code::{Code, Level};
use crate::emitter::Emitter;
use crate::error::CgenError;
use crate::helpers::Helper;
use crate::types::integer;
use emission::Inexact;
use emission::ranges::{Range, range};
use loop_tree::{Affine, Atom, Condition, Constraint, Relation, ScalarType, VarId};

/// An integer expression.
#[derive(Clone, Debug)]
pub(crate) struct Int {
    pub(crate) code: Code,
    /// Its values, where they are known to be exact.
    pub(crate) range: Option<Range>,
    /// Whether its type has 64 bits; else it is `int`, or promoted to it.
    pub(crate) wide: bool,
}

/// What expressions are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// A value of 64 bits, which wraps where it may not fit.
    Value,
    /// The number of an element that is accessed: what numbers an element of an object fits.
    Element,
}

impl Int {
    fn constant(value: i64) -> Int {
        let (code, wide) = integer(value);
        Int { code, range: Some(Range::point(value)), wide }
    }

    /// The same with 64 bits.
    pub(crate) fn widened(self) -> Int {
        if self.wide { self } else { Int { code: Code::cast("int64_t", &self.code), wide: true, ..self } }
    }

    /// `a op b` of the exact result `range`.
    fn operation(self, op: &str, other: &Int, level: Level, range: Option<Range>) -> Int {
        let narrow = !self.wide && !other.wide;
        let fits = |r: Range| r.low >= i32::MIN.into() && r.high <= i32::MAX.into();
        let left = if narrow && !range.is_some_and(fits) { self.widened() } else { self };
        let wide = left.wide || other.wide;
        Int { code: Code::binary(&left.code, op, &other.code, level), range, wide }
    }

    pub(crate) fn plus(self, other: &Int) -> Int {
        let range = self.range.zip(other.range).and_then(|(a, b)| a.plus(b));
        self.operation("+", other, Level::Sum, range)
    }

    pub(crate) fn minus(self, other: &Int) -> Int {
        let negated = other.range.and_then(|r| r.times(Range::point(-1)));
        let range = self.range.zip(negated).and_then(|(a, b)| a.plus(b));
        self.operation("-", other, Level::Sum, range)
    }

    pub(crate) fn times(self, other: &Int) -> Int {
        let range = self.range.zip(other.range).and_then(|(a, b)| a.times(b));
        self.operation("*", other, Level::Product, range)
    }
}

impl Emitter<'_> {
    fn param_ranges(&self) -> &[Range] {
        if self.inside { &self.limits.inside } else { &self.limits.checked }
    }

    fn binder(&self, var: VarId) -> Result<usize, CgenError> {
        let name = || CgenError::Unbound { name: self.kernel.variable_name(var) };
        self.scope.value(var).ok_or_else(name)
    }

    pub(crate) fn value_range(&self, e: &Affine) -> Option<Range> {
        let of_var = |v| self.scope.value(v).and_then(|b| self.binders[b].range);
        range(e, self.param_ranges(), &of_var)
    }

    /// The expression over places with what is bound to constants written out.
    pub(crate) fn in_full(&self, e: &Affine) -> Affine {
        let mut e = self.scope.resolved(e);
        // Each meaning is over places further out.
        for _ in 0..self.binders.len() {
            let meaning = |v| self.scope.value(v).and_then(|b| self.binders[b].meaning.clone());
            let next = e.substitute(&meaning);
            if next == e {
                break;
            }
            e = next;
        }
        e
    }

    /// Over places, as short as may be.
    fn shortest(&self, e: &Affine) -> Affine {
        let (named, full) = (self.scope.resolved(e), self.in_full(e));
        if full.terms().len() < named.terms().len() { full } else { named }
    }

    /// An expression of the scope.
    pub(crate) fn int(&self, e: &Affine, wanted: Use) -> Result<Int, CgenError> {
        if !e.is_exact() {
            return Err(Inexact.into());
        }
        let e = self.shortest(e);
        let result = self.sum(&e)?;
        if wanted == Use::Value && !self.partial_sums_fit(&e) {
            return self.wrapped(&e);
        }
        Ok(result)
    }

    /// Terms in the order in which they are written: what is added first.
    fn ordered(e: &Affine) -> Vec<(&Atom, i64)> {
        let (added, subtracted): (Vec<_>, Vec<_>) = e.terms().iter().partition(|(_, c)| *c > 0);
        added.into_iter().chain(subtracted).map(|(a, c)| (a, *c)).collect()
    }

    fn partial_sums_fit(&self, e: &Affine) -> bool {
        let fits = |r: Option<Range>| r.filter(|r| r.fits());
        let mut sum: Option<Range> = None;
        for (atom, c) in Self::ordered(e) {
            let term = fits(self.value_range(&Affine::atom(atom.clone()).scale(c)));
            let absolute = fits(self.value_range(&Affine::atom(atom.clone()).scale(c.saturating_abs())));
            let (Some(term), Some(_)) = (term, absolute) else { return false };
            let Some(next) = fits(sum.map_or(Some(term), |s| s.plus(term))) else { return false };
            sum = Some(next);
        }
        fits(sum.unwrap_or(Range::point(0)).plus(Range::point(e.constant_term()))).is_some()
    }

    fn sum(&self, e: &Affine) -> Result<Int, CgenError> {
        let mut sum: Option<Int> = None;
        for (atom, c) in Self::ordered(e) {
            let value = self.atom(atom)?;
            let scaled = |value: Int, c: i64| match c {
                1 => value,
                c => Int::constant(c).times(&value),
            };
            sum = Some(match sum {
                None => scaled(value, c),
                Some(s) if c < 0 && c > i64::MIN => s.minus(&scaled(value, -c)),
                Some(s) => s.plus(&scaled(value, c)),
            });
        }
        Ok(match (sum, e.constant_term()) {
            (None, c) => Int::constant(c),
            (Some(s), 0) => s,
            (Some(s), c) if c < 0 && c > i64::MIN => s.minus(&Int::constant(-c)),
            (Some(s), c) => s.plus(&Int::constant(c)),
        })
    }

    fn atom(&self, atom: &Atom) -> Result<Int, CgenError> {
        match atom {
            Atom::Var(v) => {
                let binder = &self.binders[self.binder(*v)?];
                binder.is_used.set(true);
                Ok(Int { code: Code::primary(&*binder.name), range: binder.range, wide: true })
            }
            Atom::Param(p) => {
                let param = &self.params[p.index()];
                let range = self.param_ranges().get(p.index()).copied();
                Ok(Int { code: Code::primary(&*param.name), range, wide: param.wide })
            }
            Atom::Div(d) => {
                // Only what is exact can be divided.
                let n = self.int(&d.numerator, Use::Value)?;
                let range = n.range.map(|r| r.floor_div(d.denominator));
                let divisor = Int::constant(d.denominator);
                if n.range.is_some_and(Range::is_non_negative) {
                    return Ok(Int { range, ..n.operation("/", &divisor, Level::Product, range) });
                }
                let name = self.helper(Helper::FloorDiv);
                Ok(Int { code: Code::call(&name, &[&n.code, &divisor.code]), range, wide: true })
            }
        }
    }

    /// The value modulo 2^64.
    fn wrapped(&self, e: &Affine) -> Result<Int, CgenError> {
        let unsigned = |code: &Code| Code::cast("uint64_t", code);
        let mut sum: Option<Code> = None;
        for (atom, c) in Self::ordered(e) {
            let mut value = unsigned(&self.atom(atom)?.code);
            let subtract = sum.is_some() && c < 0;
            let factor = if subtract { c.wrapping_neg() } else { c };
            if factor != 1 {
                value = Code::binary(&unsigned(&integer(factor).0), "*", &value, Level::Product);
            }
            sum = Some(match sum {
                None => value,
                Some(s) => Code::binary(&s, if subtract { "-" } else { "+" }, &value, Level::Sum),
            });
        }
        let constant = unsigned(&integer(e.constant_term()).0);
        let sum = match sum {
            None => constant,
            Some(s) if e.constant_term() == 0 => s,
            Some(s) => Code::binary(&s, "+", &constant, Level::Sum),
        };
        Ok(Int { code: Code::cast("int64_t", &sum), range: None, wide: true })
    }

    /// The greatest lower or least upper bound, and the ranges of all.
    pub(crate) fn extreme(
        &self,
        list: &[Affine],
        greatest: bool,
    ) -> Result<(Code, Option<Vec<Range>>), CgenError> {
        let mut result: Option<Code> = None;
        let mut ranges = Some(Vec::new());
        for e in list {
            let int = self.int(e, Use::Value)?;
            ranges = ranges.zip(int.range).map(|(mut all, r)| {
                all.push(r);
                all
            });
            result = Some(match result {
                None => int.code,
                Some(r) => {
                    let helper = if greatest { Helper::Max } else { Helper::Min };
                    Code::call(&self.helper(helper(ScalarType::I64)), &[&r, &int.code])
                }
            });
        }
        let result = result.ok_or_else(|| self.unsupported("a loop without bounds"))?;
        Ok((result, ranges))
    }

    /// The range of a loop's variable.
    pub(crate) fn counter_range(lower: Option<Vec<Range>>, upper: Option<Vec<Range>>) -> Option<Range> {
        Range::counter(&lower?, &upper?)
    }

    /// `left >= right` for what is added and what is subtracted, where both sides are exact.
    pub(crate) fn constraint(&self, c: &Constraint) -> Result<Code, CgenError> {
        if !c.expression.is_exact() {
            return Err(Inexact.into());
        }
        let e = self.shortest(&c.expression);
        let mut sides = [Affine::constant(0), Affine::constant(0)];
        for (atom, c) in e.terms() {
            let side = &mut sides[usize::from(*c < 0)];
            *side = &*side + &Affine::atom(atom.clone()).scale(c.saturating_abs());
        }
        let constant = e.constant_term();
        let [left, right] = sides;
        let zero = c.relation == Relation::Zero;
        let negated = constant.saturating_neg();
        let (left, op, right) = match (left.as_constant(), right.as_constant(), constant) {
            (Some(_), Some(_), _) => (Affine::constant(constant), ">=", Affine::constant(0)),
            // right <= constant
            (Some(_), None, k) => (right, "<=", Affine::constant(k)),
            (None, Some(_), -1) if !zero => (left, ">", Affine::constant(0)),
            (None, Some(_), _) => (left, ">=", Affine::constant(negated)),
            (None, None, -1) if !zero => (left, ">", right),
            (None, None, k) if k > 0 => (left.offset(k), ">=", right),
            (None, None, _) => (left, ">=", right.offset(negated)),
        };
        let (op, level) = if zero { ("==", Level::Equality) } else { (op, Level::Order) };
        if self.partial_sums_fit(&left) && self.partial_sums_fit(&right) {
            let (left, right) = (self.sum(&left)?, self.sum(&right)?);
            return Ok(Code::binary(&left.code, op, &right.code, level));
        }
        let op = if zero { "==" } else { ">=" };
        let value = self.int(&e, Use::Value)?;
        Ok(Code::binary(&value.code, op, &Code::primary("0"), level))
    }

    pub(crate) fn condition(&self, condition: &Condition) -> Result<Code, CgenError> {
        let mut any: Option<Code> = None;
        // Compilers warn of tests that never hold.
        let never = |all: &Vec<Constraint>| {
            all.iter().enumerate().any(|(at, a)| all[at + 1..].iter().any(|b| a.contradicts(b)))
        };
        for conjunction in condition.disjuncts.iter().filter(|c| !never(c)) {
            let mut all: Option<Code> = None;
            for c in conjunction {
                let one = self.constraint(c)?;
                all = Some(match all {
                    None => one,
                    Some(a) => Code::binary(&a, "&&", &one, Level::Both),
                });
            }
            let all = all.unwrap_or(Code::primary("true"));
            any = Some(match any {
                None => all,
                Some(a) => Code::binary(&a, "||", &all, Level::Either),
            });
        }
        Ok(any.unwrap_or(Code::primary("false")))
    }

    /// The row-major number of an element.
    pub(crate) fn element_number(
        &self,
        extents: &[Option<Affine>],
        subscripts: &[Affine],
    ) -> Result<Int, CgenError> {
        let mut value: Option<Int> = None;
        // What is not yet part of `value`: kept symbolic as long as extents are constant.
        let mut pending = Affine::constant(0);
        let with = |value: Option<Int>, pending: &Affine| -> Result<Int, CgenError> {
            Ok(match value {
                None => self.int(pending, Use::Element)?,
                Some(v) => match pending.as_constant() {
                    Some(0) => v,
                    Some(c) if c < 0 && c > i64::MIN => v.minus(&Int::constant(-c)),
                    _ => {
                        let pending = self.int(pending, Use::Element)?;
                        v.plus_sum(&pending)
                    }
                },
            })
        };
        for (dimension, subscript) in subscripts.iter().enumerate() {
            if dimension > 0 {
                let extent = extents[dimension].as_ref();
                let extent = extent.ok_or_else(|| self.unsupported("an inner extent that is unknown"))?;
                match extent.as_constant() {
                    Some(c) => {
                        pending = pending.scale(c);
                        value = value.map(|v| v.times(&Int::constant(c)));
                    }
                    None => {
                        let row = with(value, &pending)?;
                        value = match row.code.text.as_str() {
                            "0" => None,
                            _ => Some(row.times(&self.int(extent, Use::Element)?)),
                        };
                        pending = Affine::constant(0);
                    }
                }
            }
            pending = pending + self.scope.resolved(subscript);
        }
        with(value, &pending)
    }
}

impl Int {
    /// A sum behind which another one is written without parentheses, which groups differently: elements are numbered exactly
    /// either way.
    fn plus_sum(self, other: &Int) -> Int {
        let range = self.range.zip(other.range).and_then(|(a, b)| a.plus(b));
        if other.code.level == Level::Sum && self.wide {
            let text = format!("{} + {}", self.code.within(Level::Sum), other.code.text);
            return Int { code: Code::new(text, Level::Sum), range, wide: true };
        }
        self.operation("+", other, Level::Sum, range)
    }
}

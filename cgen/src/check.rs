//! The run-time check: when a tree computes what the original program does.

use crate::code::{Code, Level};
use crate::emitter::{Base, Emitter};
use crate::error::CgenError;
use crate::types::integer;
use emission::extent::{Footprint, footprints};
use loop_tree::{Affine, ArrayId, Atom, Constraint, ParamId, Relation, RuntimeCondition};

impl Emitter<'_> {
    /// What bounds parameters where integers of their type, or constraints that are tested as well, do not: within the limits all
    /// that is computed is exact.
    pub(crate) fn limit_tests(&self, bits: u32, constraints: &[&Constraint]) -> Vec<Code> {
        let mut tests = Vec::new();
        for (index, param) in self.kernel.params.iter().enumerate() {
            let bits = bits.min(param.ty.bits().saturating_sub(1));
            if param.ty.bits() <= bits + 1 {
                continue;
            }
            let name = Code::primary(&*self.params[index].name);
            let bounded = |coefficient| {
                constraints.iter().any(|c| {
                    let of = Atom::Param(ParamId::new(index));
                    let equal = c.relation == Relation::Zero;
                    matches!(c.expression.terms(), [(atom, k)] if *atom == of && (*k == coefficient || equal && *k == -coefficient))
                        && c.expression.constant_term().unsigned_abs() <= 1 << bits
                })
            };
            let limit = 1_i64 << bits;
            let test = |op, value: i64| Code::binary(&name, op, &integer(value).0, Level::Order);
            if !bounded(1) {
                tests.push(test(">=", -limit));
            }
            if !bounded(-1) {
                tests.push(test("<", limit));
            }
        }
        tests
    }

    /// Names the byte ranges that conditions compare, behind the tests of the limits.
    pub(crate) fn declare_ranges<'c>(
        &mut self,
        conditions: impl Iterator<Item = &'c RuntimeCondition>,
    ) -> Result<(), CgenError> {
        for condition in conditions {
            let RuntimeCondition::NoOverlap(a, b) = condition else { continue };
            if self.is_untouched(*a) || self.is_untouched(*b) {
                continue;
            }
            for id in [*a, *b] {
                if self.byte_ranges.contains_key(&id) {
                    continue;
                }
                let Some([start, end]) = self.byte_range(id)? else { continue };
                let [first, last] = ["from", "to"].map(|n| format!("{}_{n}", self.array_name(id)));
                let names = [self.names.fresh(&first), self.names.fresh(&last)];
                self.out.push(format!("const int128 {} = {};", names[0], start.text));
                self.out.push(format!("const int128 {} = {};", names[1], end.text));
                self.byte_ranges.insert(id, names);
            }
        }
        Ok(())
    }

    /// A test for each condition that needs one.
    pub(crate) fn tests<'c>(
        &self,
        conditions: impl Iterator<Item = &'c RuntimeCondition>,
    ) -> Result<Vec<Code>, CgenError> {
        let mut tests = Vec::new();
        for condition in conditions {
            match condition {
                RuntimeCondition::Parameter(c) => tests.push(self.constraint(c)?),
                RuntimeCondition::NoOverlap(a, b) => tests.extend(self.apart_test(*a, *b)?),
            }
        }
        Ok(tests)
    }

    /// All of the conditions; `None`: there is nothing to test.
    pub(crate) fn runtime_conditions(
        &self,
        conditions: &[RuntimeCondition],
    ) -> Result<Option<Code>, CgenError> {
        Ok(all(self.tests(conditions.iter())?))
    }

    /// Whether the bytes that the kernel touches through two arrays are disjoint.
    fn apart_test(&self, a: ArrayId, b: ArrayId) -> Result<Option<Code>, CgenError> {
        if self.is_untouched(a) || self.is_untouched(b) {
            return Ok(None);
        }
        let (Some([a_start, a_end]), Some([b_start, b_end])) = (self.byte_range(a)?, self.byte_range(b)?)
        else {
            let arrays = [a, b].map(|id| self.array_name(id).to_string());
            return Err(CgenError::NoRange { arrays });
        };
        let before = |end: &Code, start: &Code| Code::binary(end, "<=", start, Level::Order);
        Ok(Some(Code::binary(&before(&a_end, &b_start), "||", &before(&b_end, &a_start), Level::Either)))
    }

    fn is_untouched(&self, array: ArrayId) -> bool {
        matches!(self.arrays[array.index()], Base::Variable(_))
            || footprints(self.kernel, array).is_some_and(|f| f.is_empty())
    }

    /// The first byte and one past the last, as integers of 128 bits.
    fn byte_range(&self, array: ArrayId) -> Result<Option<[Code; 2]>, CgenError> {
        if let Some(names) = self.byte_ranges.get(&array) {
            return Ok(Some(names.each_ref().map(|n| Code::primary(&**n))));
        }
        let Base::Pointer(name) = &self.arrays[array.index()] else { return Ok(None) };
        let Some(footprints) = footprints(self.kernel, array) else { return Ok(None) };
        let size = self.kernel.array(array).element.size();
        let address = Code::cast("int128", &Code::cast("uintptr_t", &Code::primary(&**name)));
        let mut range: Option<[Code; 2]> = None;
        for Footprint { least, greatest } in &footprints {
            // One past it.
            let mut end = greatest.clone();
            if let Some(last) = end.last_mut() {
                *last = last.offset(1);
            }
            let [least, greatest] = [self.wide_index(array, least)?, self.wide_index(array, &end)?];
            range = Some(match range {
                None => [least, greatest],
                Some([l, g]) => [choose("<", &l, &least), choose(">", &g, &greatest)],
            });
        }
        let at = |index: &Code| {
            if index.text == "0" {
                return address.clone();
            }
            let offset = Code::binary(&Code::primary(size.to_string()), "*", index, Level::Product);
            Code::binary(&address, "+", &offset, Level::Sum)
        };
        let Some([least, greatest]) = range else { return Ok(None) };
        let scalar = self.kernel.array(array).is_scalar();
        let end = if scalar { Code::primary("1") } else { greatest };
        Ok(Some([at(&least), at(&end)]))
    }

    /// The number of an element, in 128 bits.
    fn wide_index(&self, array: ArrayId, subscripts: &[Affine]) -> Result<Code, CgenError> {
        let mut index: Option<Code> = None;
        for (dimension, subscript) in subscripts.iter().enumerate() {
            if dimension > 0 {
                let extent = self.kernel.array(array).extents[dimension].as_ref();
                let extent = extent.ok_or_else(|| self.unsupported("an inner extent that is unknown"))?;
                let extent = self.wide(extent)?;
                index = index.map(|i| Code::binary(&i, "*", &extent, Level::Product));
            }
            let subscript = self.wide(subscript)?;
            index = match (index, &*subscript.text) {
                (Some(i), "0") => Some(i),
                (None, "0") => None,
                (None, _) => Some(subscript),
                (Some(i), _) => Some(Code::binary(&i, "+", &subscript, Level::Sum)),
            };
        }
        Ok(index.unwrap_or(Code::primary("0")))
    }

    /// The value in 128 bits, exact within the limits.
    fn wide(&self, e: &Affine) -> Result<Code, CgenError> {
        if !e.is_exact() {
            return Err(emission::Inexact.into());
        }
        let mut sum: Option<Code> = None;
        for (atom, c) in e.terms() {
            let value = self.int(&Affine::atom(atom.clone()), crate::arith::Use::Value)?.code;
            let mut value = Code::cast("int128", &value);
            if *c != 1 {
                value = Code::binary(&value, "*", &integer(*c).0, Level::Product);
            }
            sum = Some(match sum {
                None => value,
                Some(s) => Code::binary(&s, "+", &value, Level::Sum),
            });
        }
        let c = e.constant_term();
        Ok(match sum {
            None => integer(c).0,
            Some(s) if c == 0 => s,
            Some(s) if c < 0 && c > i64::MIN => Code::binary(&s, "-", &integer(-c).0, Level::Sum),
            Some(s) => Code::binary(&s, "+", &integer(c).0, Level::Sum),
        })
    }
}

fn choose(op: &str, a: &Code, b: &Code) -> Code {
    if a == b {
        return a.clone();
    }
    Code::choice(&Code::binary(a, op, b, Level::Order), a, b)
}

/// The conjunction of tests.
pub(crate) fn all(tests: Vec<Code>) -> Option<Code> {
    tests.into_iter().reduce(|a, b| Code::binary(&a, "&&", &b, Level::Both))
}

//! Pointers that are compared: how far one is behind the other.
//!
//! Two that are computed from one base differ by a polynomial. Of two that come from different places, a vector's begin and end, the
//! working copy of the function counts the elements in between (`ranges.cpp`): that there is such a number is a need.

use std::rc::Rc;

use analyses::closed_forms::{Address, ClosedForm, ClosedForms, Meaning, Need, Poly, Sym, merge};

use super::super::values::{int_bits, signed_range};
use super::recurrences::Recurrences;
use crate::llvm::{GepFlags, Inst, Opcode, TypeKind, Value};
use crate::mutation::{self, Rule};

/// The function of `ranges.cpp`.
pub(in super::super) const BETWEEN: &str = "looptree.range.between";

/// Whether elements between two pointers are counted here.
pub(in super::super) fn is_between(inst: Inst<'_>) -> bool {
    inst.as_call_of(BETWEEN).is_some()
}

/// Elements that were counted between two pointers.
pub(super) struct Range<'m> {
    count: Value<'m>,
    block: usize,
    first: Address<Value<'m>>,
    last: Address<Value<'m>>,
    size: i128,
}

/// The pointer of which an integer is the address.
pub(in super::super) fn address_of(v: Value<'_>) -> Option<Value<'_>> {
    let cast = v.as_inst().filter(|i| matches!(i.opcode(), Opcode::PtrToInt | Opcode::PtrToAddr))?;
    cast.operand(0).filter(|p| p.ty().kind() == TypeKind::Pointer(0) && int_bits(v) == Some(i64::BITS))
}

/// Steps from a pointer to its base, at most.
const MAX_STEPS: usize = 12;

impl<'m> Recurrences<'_, 'm> {
    /// Two pointers as distances from one base, as they are known in a block. Equal pointers are at equal distances modulo two to the
    /// bits of an address; where `ordered`, the lower address is the lesser distance.
    pub(super) fn places(
        &mut self,
        a: Value<'m>,
        b: Value<'m>,
        at: usize,
        ordered: bool,
    ) -> Option<(ClosedForm, ClosedForm)> {
        if a.ty().kind() != TypeKind::Pointer(0) || b.ty().kind() != TypeKind::Pointer(0) {
            return None;
        }
        if ordered && !(self.is_within_object(a) && self.is_within_object(b)) {
            return None;
        }
        let (a, b) = (self.address(a)?, self.address(b)?);
        if a.base == b.base {
            return Some((a.offset, b.offset));
        }
        let ranges = match self.ranges.take() {
            Some(known) => known,
            None => self.find_ranges(),
        };
        // A base may itself wrap with what was added for the call.
        let exact = |a: &Address<_>| !ordered || a.offset.poly.is_zero();
        let known = |r: &&Range<'m>| self.cfg.dominates(r.block, at) && exact(&r.first) && exact(&r.last);
        let between = |x: &Address<_>, y: &Address<_>| {
            ranges.iter().filter(known).find(|r| r.first.base == x.base && r.last.base == y.base)
        };
        let found = between(&a, &b).map(|r| (r, 1)).or_else(|| between(&b, &a).map(|r| (r, -1)));
        let found = found.map(|(r, sign)| {
            let count = Poly::symbol(self.symbols.get(Meaning::Value(r.count)));
            // From the one base to the other.
            let mut between = count.scale(r.size)?;
            between = between.add(&r.first.offset.poly)?.sub(&r.last.offset.poly)?;
            let poly = b.offset.poly.add_scaled(&between, sign)?;
            let mut to = ClosedForm { poly, ..b.offset };
            if !mutation::off(Rule::RangesFound) {
                merge(&mut to.needs, &[Rc::new(Need { poly: count, low: 0, high: i128::MAX })]);
            }
            Some((a.offset, to))
        });
        self.ranges = Some(ranges);
        found.flatten()
    }

    /// A sum in which one address is taken from another, where it is known how far they are apart.
    pub(super) fn between(&mut self, sum: &ClosedForm, inst: Inst<'m>) -> Option<ClosedForm> {
        let address = |s: Sym, this: &Self| match this.symbols.meaning(s) {
            Meaning::Value(v) => address_of(v),
            Meaning::Iteration(_) | Meaning::Quotient(_) => None,
        };
        let has_address = |p: &Poly, this: &Self| p.symbols().any(|s| address(s, this).is_some());
        if int_bits(inst.value()) != Some(i64::BITS) || !has_address(&sum.poly, self) {
            return None;
        }
        let quotient = |s| matches!(self.symbols.meaning(s), Meaning::Quotient(_));
        let (low, high) = signed_range(i64::BITS);
        let factor = |c: i128| {
            let mut of = sum.poly.terms().filter(|(m, x)| m.degree() == 1 && *x == c);
            of.find_map(|(m, _)| m.symbols().find_map(|s| address(s, self).map(|v| (s, v))))
        };
        let ((last, to), (first, from)) = (factor(1)?, factor(-1)?);
        if sum.poly.symbols().any(quotient) {
            return None;
        }
        let (from, to) = self.places(from, to, self.cfg.home(inst)?, false)?;
        let apart = to.poly.sub(&from.poly)?;
        let poly = sum.poly.add(&Poly::symbol(first))?.sub(&Poly::symbol(last))?.add(&apart)?;
        // What sums of addresses wrapped by is gone again, modulo two to their bits.
        let wrapped = |n: &Rc<Need>| n.low == low && n.high == high && has_address(&n.poly, self);
        let needs = sum.needs.iter().filter(|n| !wrapped(n)).cloned().collect();
        let form = ClosedForm { poly: poly.clone(), needs, factors: sum.factors.clone() };
        Some(form.with(&from).with(&to).need(&poly, low, high))
    }

    /// Calls that count elements.
    fn find_ranges(&mut self) -> Vec<Range<'m>> {
        let cfg = self.cfg;
        let mut ranges = Vec::new();
        for (block, insts) in cfg.insts.iter().enumerate() {
            for &inst in insts.iter().filter(|i| i.opcode() == Opcode::Call) {
                ranges.extend(self.range(inst, block));
            }
        }
        ranges
    }

    fn range(&mut self, inst: Inst<'m>, block: usize) -> Option<Range<'m>> {
        let call = inst.as_call_of(BETWEEN)?;
        let [first, last, size] = call.args()[..] else { return None };
        let (first, last) = (self.address(first)?, self.address(last)?);
        let plain = |a: &Address<Value<'m>>| a.offset.poly.as_constant().is_some();
        let size = size.const_int().filter(|size| *size > 0 && plain(&first) && plain(&last))?;
        Some(Range { count: inst.value(), block, first, last, size })
    }

    /// Whether a pointer is computed from its base without leaving the object, or is poison: then comparing addresses is comparing
    /// distances.
    pub(super) fn is_within_object(&self, pointer: Value<'m>) -> bool {
        let stays = |gep: Inst<'m>| {
            let flags = gep.gep_flags();
            mutation::off(Rule::RangeOverflow)
                || flags.is_some_and(|f| f.intersects(GepFlags::INBOUNDS | GepFlags::NUSW))
        };
        let (mut at, mut walked) = (pointer, None);
        for _ in 0..MAX_STEPS {
            let Some(inst) = at.as_inst() else { return at.const_expr_opcode().is_none() };
            match inst.opcode() {
                Opcode::Gep if stays(inst) => {
                    let Some(from) = inst.operand(0) else { return false };
                    at = from;
                }
                Opcode::Gep => return false,
                // Around the loop once, then from where it begins.
                Opcode::Phi => match (self.cfg.recurrence(inst), walked) {
                    (Some((_, start, _)), Some(phi)) if phi == inst => (at, walked) = (start, None),
                    (Some((.., next)), None) => (at, walked) = (next, Some(inst)),
                    (None, _) if inst.incoming().len() == 1 => at = inst.incoming()[0].0,
                    (found, _) => return found.is_none() && walked.is_none(),
                },
                _ => return walked.is_none(),
            }
        }
        false
    }
}

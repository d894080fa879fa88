//! How much a value grows in each iteration of a loop, through loops inside too: `k` of `for { for { out[k++] = .. } }`.

use std::rc::Rc;

use analyses::closed_forms::{ClosedForm, LoopExit, Meaning, Need, Poly, merge};

use super::is_fixed;
use super::ranges::is_between;
use super::recurrences::Recurrences;
use super::trip;
use crate::llvm::{Inst, Opcode, PoisonFlags, Value};

/// What an iteration adds.
pub(super) struct Growth {
    /// The same in each iteration.
    pub(super) step: Poly,
    /// Whether the value is poison where a sum wraps.
    pub(super) exact: bool,
    /// When that is so.
    pub(super) needs: Vec<Rc<Need>>,
}

/// Sums that one iteration makes of a value, at most.
const MOST_SUMS: usize = 12;

impl<'m> Recurrences<'_, 'm> {
    /// What `from` is beyond `to` in one iteration of the loop, where that does not change.
    pub(super) fn growth(&mut self, from: Value<'m>, to: Value<'m>, l: usize) -> Option<Growth> {
        if self.open.contains(&to) {
            return None;
        }
        self.open.push(to);
        let mut sum = Growth { step: Poly::default(), exact: true, needs: Vec::new() };
        let found = self.sums(from, to, l, &mut sum);
        self.open.pop();
        found.map(|()| sum)
    }

    fn sums(&mut self, from: Value<'m>, to: Value<'m>, l: usize, sum: &mut Growth) -> Option<()> {
        let mut at = from;
        for _ in 0..MOST_SUMS {
            if at == to {
                return Some(());
            }
            let inst = at.as_inst()?;
            at = match inst.opcode() {
                // At the end of an inner loop, of a value that may not change there, as the whole chain shows.
                Opcode::Phi if inst.incoming().len() == 1 => inst.incoming()[0].0,
                Opcode::Phi => self.through(inst, inst.value(), Some(l), sum)?,
                _ => match self.inner_end(inst, Some(l)) {
                    Some(phi) => self.through(phi, at, Some(l), sum)?,
                    None => self.sum(inst, l, sum)?,
                },
            };
        }
        None
    }

    /// The value that is one sum before this one.
    fn sum(&mut self, inst: Inst<'m>, l: usize, sum: &mut Growth) -> Option<Value<'m>> {
        if inst.opcode() == Opcode::Gep {
            let distance = self.gep(inst)?.0;
            if !self.is_fixed_in(&distance.poly, l) {
                return None;
            }
            sum.step = sum.step.add(&distance.poly)?;
            merge(&mut sum.needs, &distance.needs);
            return inst.operand(0);
        }
        let sign = match inst.opcode() {
            Opcode::Add => 1,
            Opcode::Sub => -1,
            _ => return None,
        };
        let (a, b) = (inst.operand(0)?, inst.operand(1)?);
        let inside = |this: &Self, v: Value<'m>| {
            v.as_inst().and_then(|i| this.block_of(i)).is_some_and(|block| this.cfg.loops[l].contains(block))
        };
        let (value, added) = if sign < 0 || inside(self, a) { (a, b) } else { (b, a) };
        let added = self.value(added)?;
        if !self.is_fixed_in(&added.poly, l) {
            return None;
        }
        sum.step = sum.step.add_scaled(&added.poly, sign)?;
        merge(&mut sum.needs, &added.needs);
        sum.exact &= inst.poison_flags().contains(PoisonFlags::NSW);
        Some(value)
    }

    /// What a value is that a loop directly inside of `around`, or of the function, ends with.
    pub(super) fn behind(&mut self, last: Value<'m>, around: Option<usize>) -> Option<(ClosedForm, bool)> {
        let inst = last.as_inst()?;
        let phi = if inst.is_phi() { inst } else { self.inner_end(inst, around)? };
        let mut sum = Growth { step: Poly::default(), exact: true, needs: Vec::new() };
        let start = self.through(phi, last, around, &mut sum)?;
        let start = self.value(start)?;
        let mut end = ClosedForm::exact(start.poly.add(&sum.step)?).with(&start);
        merge(&mut end.needs, &sum.needs);
        Some((end, sum.exact))
    }

    /// The phi of a loop inside of `around` whose last value for the next iteration this is.
    fn inner_end(&self, inst: Inst<'m>, around: Option<usize>) -> Option<Inst<'m>> {
        let inner = self.cfg.loop_of[self.block_of(inst)?].filter(|&inner| Some(inner) != around)?;
        let phis = self.cfg.blocks[self.cfg.loops[inner].header].phis();
        phis.into_iter().find(|p| self.cfg.recurrence(*p).is_some_and(|(_, _, next)| next == inst.value()))
    }

    /// From what a loop directly inside of `around`, or of the function, ends with to what it begins with.
    fn through(
        &mut self,
        phi: Inst<'m>,
        last: Value<'m>,
        around: Option<usize>,
        sum: &mut Growth,
    ) -> Option<Value<'m>> {
        let (inner, start, next) = self.cfg.recurrence(phi)?;
        let data = &self.cfg.loops[inner];
        let (&[(from, _)], &[latch]) = (&data.exits[..], &data.latches[..]) else { return None };
        let test_first = from == data.header && from != latch;
        // Before the test it is the value that the last iteration began with, behind it the next one.
        let complete = if test_first { phi.value() } else { next };
        if data.parent != around || last != complete || !(test_first || from == latch) {
            return None;
        }
        let growth = self.growth(next, phi.value(), inner)?;
        let count = trip::count(self, LoopExit { id: inner, from, test_first }, false).ok()?;
        if count.step != 1 {
            return None;
        }
        let times = count.room.offset(1)?;
        let added = growth.step.mul(&times)?;
        if around.is_some_and(|l| !self.is_fixed_in(&added, l) || !self.is_fixed_in(&times, l)) {
            return None;
        }
        sum.step = sum.step.add(&added)?;
        sum.exact &= growth.exact;
        merge(&mut sum.needs, &growth.needs);
        merge(&mut sum.needs, &count.needs);
        // A loop that does not run at all has no fewer iterations than none.
        if times.as_constant().is_none_or(|c| c < 0) {
            merge(&mut sum.needs, &[Rc::new(Need { poly: times, low: 0, high: i128::MAX })]);
        }
        Some(start)
    }

    /// Whether the polynomial has one value while the loop runs, if nothing overwrites what the loop reads.
    pub(super) fn is_read_in(&self, p: &Poly, l: usize) -> bool {
        self.symbols.all(p, &|m| match m {
            Meaning::Iteration(other) => other != l && !self.cfg.loop_within(other, l),
            Meaning::Value(v) => self.is_read_again(v, l, MOST_SUMS),
            Meaning::Quotient(_) => false,
        })
    }

    /// Whether the loop computes the value, if at all, from what does not change and from what it reads there.
    fn is_read_again(&self, v: Value<'m>, l: usize, depth: usize) -> bool {
        let Some(inst) = v.as_inst() else { return true };
        if self.block_of(inst).is_some_and(|b| !self.cfg.loops[l].contains(b)) {
            return true;
        }
        match inst.opcode() {
            // Counted between pointers that are read again.
            Opcode::Call if !is_between(inst) => false,
            Opcode::Load | Opcode::Gep | Opcode::SExt | Opcode::ZExt | Opcode::Call => {
                depth > 0 && inst.operands().into_iter().all(|o| self.is_read_again(o, l, depth - 1))
            }
            _ => false,
        }
    }

    /// Whether the polynomial has one value while the loop runs.
    pub(super) fn is_fixed_in(&self, p: &Poly, l: usize) -> bool {
        is_fixed(&self.symbols, self.cfg, p, l)
    }
}

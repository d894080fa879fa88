//! Counters that go by a step that only the program knows: how often their loops run.
//!
//! A count is no polynomial of start, bound and step. The working copy of the function computes it where these are known
//! (`strides.cpp`), and it is a value like others: that there is such a number is a need.

use std::rc::Rc;

use analyses::closed_forms::{ClosedForm, ClosedForms, LoopExit, Need, Poly, TripCount, merge};

use super::super::cfg::Cfg;
use super::super::values::{int_bits, signed_range};
use super::{goes_on_while, is_fixed};
use crate::llvm::{Inst, IntPredicate, Value};
use crate::mutation::{self, Rule};

/// The function of `strides.cpp`.
pub(in super::super) const COUNT: &str = "looptree.strides.count";

/// A loop goes on while an integer that changes in it, or the distance of a pointer, compares so with one that does not.
pub(super) struct Test {
    pub(super) bits: u32,
    pub(super) x: ClosedForm,
    pub(super) predicate: IntPredicate,
    pub(super) y: ClosedForm,
    pub(super) walks: bool,
}

impl Test {
    /// The test of integers that a loop is left by.
    pub(super) fn of<'m>(
        forms: &mut dyn ClosedForms<Value<'m>>,
        cfg: &Cfg<'m>,
        exit: LoopExit,
    ) -> Option<Test> {
        let (predicate, a, b) = goes_on_while(cfg, &exit)?;
        let (bits, x, y) = (int_bits(a)?, forms.integer(a)?, forms.integer(b)?);
        let k = forms.iteration(exit.id);
        Some(match x.poly.uses(k) {
            true => Test { bits, x, predicate, y, walks: false },
            false => Test { bits, x: y, predicate: predicate.swapped(), y: x, walks: false },
        })
    }

    /// Whether the value grows, 1, or falls, -1, while the loop goes on, where the test says so; and whether it goes on at the bound.
    fn way(&self) -> Option<(i128, i128)> {
        use IntPredicate::*;
        Some(match self.predicate {
            Slt | Ult => (1, 0),
            Sle | Ule => (1, 1),
            Sgt | Ugt => (-1, 0),
            Sge | Uge => (-1, 1),
            Ne => (0, 0),
            Eq => return None,
        })
    }

    /// Values within which signed and unsigned integers are compared alike.
    fn range(&self) -> (i128, i128) {
        use IntPredicate::*;
        let (least, greatest) = signed_range(self.bits);
        (if matches!(self.predicate, Ult | Ule | Ugt | Uge) { 0 } else { least }, greatest)
    }
}

/// How often a test holds, one time after the other, and when that is so.
struct Times {
    number: Poly,
    needs: Vec<Rc<Need>>,
    /// Whether the value is in range until the test fails, that one included.
    in_range: bool,
}

/// The count of a loop that is left by such a test, where the step of the integer is no number.
pub(super) fn count<'m>(
    forms: &mut dyn ClosedForms<Value<'m>>,
    cfg: &Cfg<'m>,
    exit: LoopExit,
    test: &Test,
) -> Option<TripCount> {
    let Test { x, y, .. } = test;
    let k = forms.iteration(exit.id);
    let (step, start) = x.poly.split(k)?;
    let found = whole(test, &start, &step, exit.test_first);
    let Times { number, mut needs, in_range } = match found {
        Some(times) => times,
        None => counted(forms, cfg, exit, test, &start, &step)?,
    };
    let (least, greatest) = test.range();
    for n in x.needs.iter().chain(&y.needs) {
        if in_range && n.poly == x.poly && n.low <= least && n.high >= greatest {
            continue;
        }
        // What grows by the same in each iteration is between its first and its last value.
        let (grows, first) = n.poly.split(k)?;
        need(&mut needs, first.add(&grows.mul(&number)?)?, n.low, n.high);
        need(&mut needs, first, n.low, n.high);
    }
    let fixed = |p: &Poly| is_fixed(forms.symbols(), cfg, p, exit.id);
    let all = [&start, &y.poly, &step, &number].into_iter().chain(needs.iter().map(|n| &n.poly));
    if !all.into_iter().all(fixed) {
        return None;
    }
    // Tested after the body it runs once more.
    let room = if exit.test_first { number.offset(-1)? } else { number };
    Some(TripCount { room, step: 1, needs })
}

fn need(needs: &mut Vec<Rc<Need>>, poly: Poly, low: i128, high: i128) {
    if poly.as_constant().is_none_or(|c| c < low || c > high) {
        merge(needs, &[Rc::new(Need { poly, low, high })]);
    }
}

/// Where the bound is so many steps from the start, as in `for (p = a; p < a + n * stride; p += stride)`.
fn whole(test: &Test, start: &Poly, step: &Poly, test_first: bool) -> Option<Times> {
    let (way, last) = test.way()?;
    let distance = test.y.poly.sub(start)?;
    let (steps, rest) = distance.divide(step)?;
    if !rest.is_zero() || distance.is_zero() {
        return None;
    }
    let mut needs = Vec::new();
    let down = way < 0 || way == 0 && step.terms().all(|(_, c)| c < 0);
    if !mutation::off(Rule::StridesWhole) {
        need(&mut needs, step.scale(if down { -1 } else { 1 })?, 1, i128::MAX);
    }
    if way == 0 || !test_first {
        // Else it would pass by the bound; or not run at all, which it does.
        need(&mut needs, steps.offset(last)?, 0, i128::MAX);
    }
    let (least, greatest) = test.range();
    if least == 0 {
        need(&mut needs, start.clone(), least, greatest);
        need(&mut needs, test.y.poly.clone(), least, greatest);
    }
    // The value that it is left by, where that is not the bound.
    if last > 0 {
        need(&mut needs, test.y.poly.add(step)?, least, greatest);
    }
    Some(Times { number: steps.offset(last)?, needs, in_range: true })
}

/// What was counted in front of the loop.
fn counted<'m>(
    forms: &mut dyn ClosedForms<Value<'m>>,
    cfg: &Cfg<'m>,
    LoopExit { from, .. }: LoopExit,
    test: &Test,
    start: &Poly,
    step: &Poly,
) -> Option<Times> {
    let (way, last) = test.way()?;
    let (least, greatest) = test.range();
    let numbers = [least, greatest, way, last];
    // Pointers are counted from where they begin.
    let wanted = match test.walks {
        true => [Poly::default(), test.y.poly.sub(start)?, step.clone()],
        false => [start.clone(), test.y.poly.clone(), step.clone()],
    };
    let calls = cfg.strides.get_or_init(|| calls(cfg));
    let mut found = calls.iter().filter(|c| cfg.home(**c).is_some_and(|home| cfg.dominates(home, from)));
    let (number, mut needs) = found.find_map(|call| {
        let args = call.as_call()?.args();
        let (values, constants) = args.split_at_checked(wanted.len())?;
        if !constants.iter().map(|c| c.const_int()).eq(numbers.map(Some)) {
            return None;
        }
        let mut needs = Vec::new();
        for (value, poly) in values.iter().zip(&wanted) {
            let form = forms.integer(*value).filter(|form| form.poly == *poly)?;
            merge(&mut needs, &form.needs);
        }
        Some((call.value(), needs))
    })?;
    let number = Poly::symbol(forms.integer(number)?.poly.symbols().next()?);
    if !mutation::off(Rule::StridesFound) {
        need(&mut needs, number.clone(), 0, i128::MAX);
    }
    Some(Times { number, needs, in_range: !test.walks })
}

/// Whether a value says how often a loop runs that goes by a step that only the program knows.
pub fn is_iteration_count(v: Value<'_>) -> bool {
    v.as_inst().is_some_and(is_count)
}

fn is_count(inst: Inst<'_>) -> bool {
    inst.as_call_of(COUNT).is_some()
}

/// Calls that count iterations.
fn calls<'m>(cfg: &Cfg<'m>) -> Vec<Inst<'m>> {
    cfg.insts.iter().flatten().copied().filter(|i| is_count(*i)).collect()
}

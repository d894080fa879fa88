//! Counters that go by a step that only the program knows: how often their loops run.
//!
//! A count is no polynomial of start, bound and step. The working copy of the function computes it where these are known
//! (`strides.cpp`), and it is a value like others: that there is such a number is a need.

use std::rc::Rc;

use analyses::closed_forms::{ClosedForm, ClosedForms, LoopExit, Meaning, Need, Poly, TripCount, merge};

use super::super::cfg::Cfg;
use super::super::values::signed_range;
use crate::llvm::{Inst, IntPredicate, Opcode, Value};
use crate::mutation::{self, Rule};

/// The function of `strides.cpp`.
pub(in super::super) const COUNT: &str = "looptree.strides.count";

/// A loop goes on while an integer that changes in it compares so with one that does not.
pub(super) struct Test {
    pub(super) bits: u32,
    pub(super) x: ClosedForm,
    pub(super) predicate: IntPredicate,
    pub(super) y: ClosedForm,
}

/// The count of a loop that is left by such a test, where the step of the integer is no number.
pub(super) fn count<'m>(
    forms: &mut dyn ClosedForms<Value<'m>>,
    cfg: &Cfg<'m>,
    LoopExit { id: l, from, test_first }: LoopExit,
    Test { bits, x, predicate, y }: &Test,
) -> Option<TripCount> {
    use IntPredicate::*;
    let k = forms.iteration(l);
    let (step, start) = x.poly.split(k)?;
    let (way, last) = match predicate {
        Slt | Ult => (1, 0),
        Sle | Ule => (1, 1),
        Sgt | Ugt => (-1, 0),
        Sge | Uge => (-1, 1),
        Ne => (0, 0),
        Eq => return None,
    };
    let (signed_least, greatest) = signed_range(*bits);
    let least = if matches!(predicate, Ult | Ule | Ugt | Uge) { 0 } else { signed_least };
    let numbers = [least, greatest, way, last];
    let calls = cfg.strides.get_or_init(|| calls(cfg));
    let mut found = calls.iter().filter(|c| cfg.home(**c).is_some_and(|home| cfg.dominates(home, from)));
    let (number, mut needs) = found.find_map(|call| {
        let args = call.as_call()?.args();
        let (values, constants) = args.split_at_checked(3)?;
        if !constants.iter().map(|c| c.const_int()).eq(numbers.map(Some)) {
            return None;
        }
        let mut needs = Vec::new();
        for (value, poly) in values.iter().zip([&start, &y.poly, &step]) {
            let form = forms.integer(*value).filter(|form| form.poly == *poly)?;
            merge(&mut needs, &form.needs);
        }
        Some((call.value(), needs))
    })?;
    let number = Poly::symbol(forms.integer(number)?.poly.symbols().next()?);
    let mut need = |poly: Poly, low: i128, high: i128| {
        if poly.as_constant().is_none_or(|c| c < low || c > high) {
            merge(&mut needs, &[Rc::new(Need { poly, low, high })]);
        }
    };
    if !mutation::off(Rule::StridesFound) {
        need(number.clone(), 0, i128::MAX);
    }
    for n in x.needs.iter().chain(&y.needs) {
        // The count says this of the counter itself, up to the value that the loop is left by.
        if n.poly == x.poly && n.low <= least && n.high >= greatest {
            continue;
        }
        // What grows by the same in each iteration is between its first and its last value.
        let (grows, first) = n.poly.split(k)?;
        need(first.add(&grows.mul(&number)?)?, n.low, n.high);
        need(first, n.low, n.high);
    }
    let fixed = |p: &Poly| is_fixed(forms, cfg, p, l);
    let all = [&start, &y.poly, &step].into_iter().chain(needs.iter().map(|n| &n.poly));
    if !all.into_iter().all(fixed) {
        return None;
    }
    // Tested after the body it runs once more.
    let room = if test_first { number.offset(-1)? } else { number };
    Some(TripCount { room, step: 1, needs })
}

/// Whether a polynomial has one value while the loop runs.
fn is_fixed<'m>(forms: &dyn ClosedForms<Value<'m>>, cfg: &Cfg<'m>, p: &Poly, l: usize) -> bool {
    forms.symbols().all(p, &|m| match m {
        Meaning::Iteration(other) => !cfg.loop_within(other, l),
        Meaning::Value(v) => {
            v.as_inst().is_none_or(|i| cfg.home(i).is_some_and(|b| !cfg.loops[l].contains(b)))
        }
        Meaning::Quotient(_) => false,
    })
}

/// Calls that count iterations.
fn calls<'m>(cfg: &Cfg<'m>) -> Vec<Inst<'m>> {
    let counts = |i: &Inst<'m>| {
        i.opcode() == Opcode::Call && i.as_call().and_then(|c| c.callee()).is_some_and(|f| f.name() == COUNT)
    };
    cfg.insts.iter().flatten().copied().filter(counts).collect()
}

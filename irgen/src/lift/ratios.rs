//! Strides that are values of their own, `x[i + j * row + k * plane]`: a plane taken for so many rows.
//!
//! How many they are is no polynomial of the strides. The working copy of the function computes it where both are known
//! (`ratios.cpp`), and it is a value like others: that the one stride is so many times the other is a need.

use std::rc::Rc;

use super::context::{Context, Place};
use crate::llvm::{Inst, Opcode, Value};
use crate::mutation::{self, Rule};
use analyses::accesses::ByteAccess;
use analyses::closed_forms::{Need, Poly, Sym, merge};

/// The function of `ratios.cpp`.
pub(super) const RATIO: &str = "looptree.strides.ratio";

/// The strides, the outer one first, where a value says how often the one has the other.
pub fn ratio_of<'m>(v: Value<'m>) -> Option<[Value<'m>; 2]> {
    let args = v.as_inst()?.as_call_of(RATIO)?.args();
    let narrow = |v: Value<'m>| {
        let extended = v.as_inst().filter(|i| i.opcode() == Opcode::SExt);
        extended.and_then(|i| i.operand(0)).unwrap_or(v)
    };
    Some([narrow(*args.first()?), narrow(*args.get(1)?)])
}

/// The accesses of one array with outer strides as multiples of inner ones, and takes for granted that they are; `None` where that is
/// not known of any.
pub(super) fn divided<'m>(cx: &mut Context<'_, '_, 'm>, accesses: &[ByteAccess]) -> Option<Vec<ByteAccess>> {
    let mut all = accesses.to_vec();
    let uses = |all: &[ByteAccess], p: &Poly| {
        let mut factors = all.iter().flat_map(|a| &a.factors);
        p.symbols().next().is_some_and(|s| factors.any(|f| f.uses(s)))
    };
    let mut any = false;
    for call in calls(cx) {
        let args = call.as_call()?.args();
        let mut form = |v| cx.values.integer(v);
        let (outer, inner) = (form(*args.first()?)?, form(*args.get(1)?)?);
        let times = form(call.value())?.poly;
        let Some(symbol) = outer.poly.symbols().next().filter(|s| outer.poly == Poly::symbol(*s)) else {
            continue;
        };
        if !uses(&all, &outer.poly) || !uses(&all, &inner.poly) {
            continue;
        }
        let multiple = times.mul(&inner.poly)?;
        let mut needs = outer.needs;
        merge(&mut needs, &inner.needs);
        if !mutation::off(Rule::StrideRatios) {
            merge(&mut needs, &[Rc::new(Need { poly: outer.poly.sub(&multiple)?, low: 0, high: 0 })]);
        }
        if !needs.iter().all(|need| cx.need(&Place::default(), need)) {
            return None;
        }
        for access in &mut all {
            access.offset = access.offset.take().and_then(|p| replaced(&p, symbol, &multiple));
            access.factors = access.factors.iter().filter_map(|p| replaced(p, symbol, &multiple)).collect();
        }
        any = true;
    }
    any.then_some(all)
}

/// The polynomial with another one in the place of a symbol.
pub(super) fn replaced(p: &Poly, symbol: Sym, by: &Poly) -> Option<Poly> {
    let (times, rest) = p.split(symbol)?;
    rest.add(&times.mul(by)?)
}

/// Calls in front of the region that divide strides, in the order in which they were made: of the same strides the last one, which no
/// region in front contains if there is such a one.
fn calls<'m>(cx: &Context<'_, '_, 'm>) -> Vec<Inst<'m>> {
    let all = cx.values.cfg.insts.iter().flatten().copied();
    let mut found: Vec<([Value<'m>; 2], Inst<'m>)> = Vec::new();
    for call in all.filter(|i| cx.is_in_front(*i)) {
        let Some(strides) = ratio_of(call.value()) else { continue };
        found.retain(|(other, _)| *other != strides);
        found.push((strides, call));
    }
    found.into_iter().map(|(_, call)| call).collect()
}

//! How often a loop runs.

use std::rc::Rc;

use analyses::closed_forms::{ClosedForms, LoopExit, Need, Poly, TripCount, merge};

use super::super::values::{int_bits, signed_range};
use super::goes_on_while;
use super::recurrences::Recurrences;
use super::strides::{self, Test};
use crate::llvm::{IntPredicate, TypeKind};

/// The count of a loop, from the comparison that it is left by. `read_again`: the bound may be read again and again, from one
/// place, and is taken for what it was at first.
pub(super) fn count<'m>(
    values: &mut Recurrences<'_, 'm>,
    exit: LoopExit,
    read_again: bool,
) -> Result<TripCount, &'static str> {
    const UNKNOWN: &str = "the number of iterations is not known when the loop begins";
    let (cfg, LoopExit { id: l, from, test_first }) = (values.cfg, exit);
    let (mut predicate, a, b) = goes_on_while(cfg, &exit).ok_or(UNKNOWN)?;
    use IntPredicate::*;
    let walks = a.ty().kind() == TypeKind::Pointer(0);
    let (bits, mut x, mut y) = if walks {
        // Distances are signed, however addresses are compared.
        let (signed, ordered) = match predicate {
            Eq | Ne => (predicate, false),
            Ult => (Slt, true),
            Ule => (Sle, true),
            Ugt => (Sgt, true),
            Uge => (Sge, true),
            _ => return Err(UNKNOWN),
        };
        predicate = signed;
        // From where the pointer that moves begins.
        let k = values.iteration(l);
        let moves = values.address(a).is_some_and(|a| a.offset.poly.uses(k));
        let (x, y) = if moves { (a, b) } else { (b, a) };
        let (x, y) = values.places(x, y, from, ordered).ok_or(UNKNOWN)?;
        if moves { (i64::BITS, x, y) } else { (i64::BITS, y, x) }
    } else {
        let bits = int_bits(a).ok_or(UNKNOWN)?;
        let (Some(x), Some(y)) = (values.value(a), values.value(b)) else { return Err(UNKNOWN) };
        (bits, x, y)
    };
    let k = values.iteration(l);
    if !x.poly.uses(k) {
        std::mem::swap(&mut x, &mut y);
        predicate = predicate.swapped();
    }
    let Some((step, start)) = x.poly.split_linear(k) else {
        return strides::count(values, cfg, exit, &Test { bits, x, predicate, y, walks }).ok_or(UNKNOWN);
    };
    if step == 0 || y.poly.uses(k) || y.needs.iter().any(|n| n.poly.uses(k)) {
        return Err(UNKNOWN);
    }
    // The bound must not change in the loop.
    let varies = |p: &Poly| !(values.is_fixed_in(p, l) || read_again && values.is_read_in(p, l));
    // The induction itself may not hide in a quotient either.
    if varies(&start)
        || varies(&y.poly)
        || x.needs.iter().chain(&y.needs).any(|n| !n.poly.uses(k) && varies(&n.poly))
    {
        return Err(UNKNOWN);
    }
    let unsigned = matches!(predicate, Ult | Ule | Ugt | Uge);
    let up = step > 0;
    // Stays while the value has not gone `room` beyond the start, in the direction of the step.
    let distance = if up { y.poly.sub(&start) } else { start.sub(&y.poly) }.ok_or(UNKNOWN)?;
    let (room, strict) = match (predicate, up) {
        (Slt | Ult, true) | (Sgt | Ugt, false) => (distance.offset(-1), true),
        (Sle | Ule, true) | (Sge | Uge, false) => (Some(distance.clone()), false),
        // Another iteration changes the value: `i < 1` from 0 is `i == 0`, after LLVM.
        (Eq, _) if !walks && distance.is_zero() => (Some(distance.clone()), false),
        (Ne, _) if distance.divide_exact(step).is_some() => (distance.offset(-1), true),
        _ => return Err(UNKNOWN),
    };
    let room = room.ok_or(UNKNOWN)?;
    let (signed_low, high) = signed_range(bits);
    let low = if unsigned { 0 } else { signed_low };
    let mut needs = Vec::new();
    merge(&mut needs, &y.needs);
    let mut need = |poly: Poly, low: i128, high: i128| {
        if poly.as_constant().is_none_or(|c| c < low || c > high) {
            merge(&mut needs, &[Rc::new(Need { poly, low, high })]);
        }
    };
    if unsigned {
        need(y.poly.clone(), 0, high);
        need(start.clone(), 0, high);
    }
    if predicate == Ne {
        // Otherwise it would pass by the bound, and wrap.
        need(distance.clone(), 0, i128::MAX);
    }
    // The value after the last iteration is at most this.
    let beyond = if up {
        start.add(&room).and_then(|p| p.offset(step))
    } else {
        start.sub(&room).and_then(|p| p.offset(step))
    }
    .ok_or(UNKNOWN)?;
    // With step one the value stops at the bound, which has the type of the comparison itself.
    let stops_at_bound = strict && step.abs() == 1;
    let mut tested = Vec::new();
    if unsigned && !x.needs.iter().any(|n| n.poly == x.poly) && !stops_at_bound {
        tested.push((Poly::default(), low, high));
    }
    for n in &x.needs {
        if !n.poly.uses(k) {
            need(n.poly.clone(), n.low, n.high);
            continue;
        }
        let shift = n.poly.sub(&x.poly).filter(|d| d.as_constant().is_some()).ok_or(UNKNOWN)?;
        let low = if unsigned { n.low.max(0) } else { n.low };
        need(start.add(&shift).ok_or(UNKNOWN)?, n.low, n.high);
        if !(stops_at_bound && shift.is_zero() && n.low <= low && n.high >= high) {
            tested.push((shift, low, n.high));
        }
    }
    for (shift, low, high) in tested {
        need(beyond.add(&shift).ok_or(UNKNOWN)?, low, high);
    }
    // Pointers step over whole elements.
    let (room, step) = match distance.divide_exact(step.abs()).filter(|_| walks) {
        Some(elements) => (elements.offset(-i128::from(strict)).ok_or(UNKNOWN)?, 1),
        None => (room, step.abs()),
    };
    if test_first {
        return Ok(TripCount { room, step, needs });
    }
    // Tested after the body: once more, and at least once.
    let room = room.offset(step).ok_or(UNKNOWN)?;
    need(room.clone(), 0, i128::MAX);
    Ok(TripCount { room, step, needs })
}

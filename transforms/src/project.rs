//! Ranges of two swapped loops: the integer points of a polygon scanned in the other order.
//!
//! Each bound is a linear inequality in both variables. The new inner loop takes all that mention its variable; the
//! new outer one takes the rest and, by Fourier-Motzkin elimination, what the others imply. Eliminating over-approximates
//! only the outer range, where the inner loop is then empty: the points scanned are the same.

use crate::nest;
use loop_tree::{Affine, Atom, Bound, Constraint, LoopHeader, Relation, VarId, leave_out};

/// Headers of the swapped loops, outermost first. The inner header is in terms of the scope around the outer loop and of
/// the outer variable.
pub(crate) fn swapped(
    outer: &LoopHeader,
    inner: &LoopHeader,
) -> Result<(LoopHeader, LoopHeader), &'static str> {
    let (i, j) = (outer.var, inner.var);
    if !inner.lower().iter().chain(inner.upper()).any(|e| e.uses(i)) {
        return Ok((inner.clone(), outer.clone()));
    }
    if outer.step != 1 || inner.step != 1 {
        return Err("bounds of the inner loop use the outer variable, and a step is not 1");
    }
    let mut inequalities = Vec::new(); // each is >= 0
    for header in [outer, inner] {
        let v = Affine::var(header.var);
        inequalities.extend(header.lower().iter().map(|l| &v - l));
        inequalities.extend(header.upper().iter().map(|u| (u - &v).offset(-1)));
    }
    let inequalities: Vec<Affine> = inequalities
        .iter()
        .map(|e| linear(e, i))
        .collect::<Option<_>>()
        .ok_or("a bound of the inner loop multiplies the outer variable inside a division")?;
    let (about_i, mut about_j): (Vec<Affine>, Vec<Affine>) =
        inequalities.into_iter().partition(|e| e.coefficient(i) != 0);
    for low in about_i.iter().filter(|e| e.coefficient(i) > 0) {
        for high in about_i.iter().filter(|e| e.coefficient(i) < 0) {
            let sum = low.scale(high.coefficient(i).saturating_neg()) + high.scale(low.coefficient(i));
            if sum.uses(j) && !about_j.contains(&sum) {
                about_j.push(sum);
            }
        }
    }
    let about_j = irredundant(about_j, &[], j);
    let about_i = irredundant(about_i, &about_j, i);
    Ok((
        range(j, &about_j, inner).ok_or("the range of the new outer loop has no bound")?,
        range(i, &about_i, outer).ok_or("the range of the new inner loop has no bound")?,
    ))
}

/// `e >= 0` without divisions that contain `v`, as an equivalent `result >= 0`.
fn linear(e: &Affine, v: VarId) -> Option<Affine> {
    let constraint = Constraint { expression: e.clone(), relation: Relation::NonNegative };
    let e = constraint.without_floors_of(&|dividend| dividend.uses(v)).expression;
    let divided = |atom: &Atom| matches!(atom, Atom::Div(d) if d.numerator.uses(v));
    (e.is_exact() && !e.terms().iter().any(|(atom, _)| divided(atom))).then_some(e)
}

/// Without inequalities that another one, or the sum of multiples of two others, implies. `v` is what they bound.
fn irredundant(mut list: Vec<Affine>, given: &[Affine], v: VarId) -> Vec<Affine> {
    leave_out(&mut list, |e, others| {
        let others = || others.iter().copied().chain(given);
        others().any(|a| {
            let (c, d) = (e.coefficient(v), a.coefficient(v));
            let same_side = (c > 0 && d > 0) || (c < 0 && d < 0);
            let (by, times) = if same_side { (d.saturating_abs(), c.saturating_abs()) } else { (1, 1) };
            let rest = &e.scale(by) - &a.scale(times);
            holds(&rest) || others().any(|b| holds_beside(&rest, b))
        })
    });
    list
}

/// Whether `e >= 0` whatever the values.
fn holds(e: &Affine) -> bool {
    e.as_constant().is_some_and(|c| c >= 0)
}

/// Whether `e` is a positive multiple of `other` and a constant that is not negative.
fn holds_beside(e: &Affine, other: &Affine) -> bool {
    let Some((atom, c)) = e.terms().first() else { return false };
    let Some(d) = other.coefficient_of(atom) else { return false };
    c.checked_rem(d) == Some(0) && c / d > 0 && holds(&(e - &other.scale(c / d)))
}

fn range(v: VarId, inequalities: &[Affine], like: &LoopHeader) -> Option<LoopHeader> {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for e in inequalities.iter().filter(|e| e.uses(v)) {
        match e.bound_on(v)? {
            Bound::Lower(bound) => lower.push(bound),
            Bound::Upper(bound) => upper.push(bound.offset(1)),
        }
    }
    (!lower.is_empty() && !upper.is_empty()).then(|| nest::header(v, lower, upper, 1, like.kind))
}

//! The loop values of an instance: a guess at the inverse of a place's dims.
//!
//! Tiles, shifts, reversal and skewing have inverses that can be read off; [`guess`] does. Whoever uses it verifies
//! it, so that nothing rests on the guess.

use crate::places::{Place, PlacedLoop};
use loop_tree::{Affine, Atom, Relation, VarId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// For each loop of the place, its value over the dims (`VarId(k)` is dim `k`).
pub(super) fn guess(place: &Place) -> Option<Vec<Affine>> {
    let mut solver =
        Guess { place, values: vec![None; place.loops.len()], used: vec![false; place.dims.len()] };
    while solver.values.iter().any(Option::is_none) {
        if !(solver.single()
            || solver.guarded()
            || solver.once()
            || solver.largest(Ends::Lower)
            || solver.bounding(true)
            || solver.bounding(false)
            || solver.largest(Ends::Either)
            || solver.first_reaching()
            || solver.single_run())
        {
            return None;
        }
    }
    solver.values.into_iter().collect()
}

struct Guess<'p> {
    place: &'p Place,
    values: Vec<Option<Affine>>,
    used: Vec<bool>,
}

/// Where the loops with the smaller coefficients of an equation add least.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// At lower bounds, none of which mentions an unknown loop.
    Lower,
    /// At either bound, and bounds that mention unknown loops change the coefficients of these.
    Either,
}

/// `dim - known part = sum(coefficient * loop)` over the loops not yet known.
struct Equation {
    dim: usize,
    value: Affine,
    unknown: Vec<(usize, i64)>,
}

impl Guess<'_> {
    fn value(&self, var: VarId) -> Option<&Affine> {
        self.values.get(var.index())?.as_ref()
    }

    fn known(&self, e: &Affine) -> Option<Affine> {
        let mut all = true;
        e.for_each_var(&mut |v| all &= self.value(v).is_some());
        all.then(|| e.substitute(&|v| self.value(v).cloned()))
    }

    fn equation(&self, dim: usize) -> Option<Equation> {
        let (known, unknown) = self.split(&self.place.dims[dim])?;
        Some(Equation { dim, value: Affine::var(VarId::new(dim)) - known, unknown })
    }

    fn equations(&self) -> impl Iterator<Item = Equation> {
        (0..self.used.len()).filter(|d| !self.used[*d]).filter_map(|d| self.equation(d))
    }

    /// An equation with one unknown.
    fn single(&mut self) -> bool {
        let found = self.equations().find(|e| e.unknown.len() == 1);
        let Some(Equation { dim, value, unknown }) = found else { return false };
        let (l, c) = unknown[0];
        self.values[l] = Some(divided(value, c));
        self.used[dim] = true;
        true
    }

    /// A guard that holds for one value of a loop.
    fn guarded(&mut self) -> bool {
        let [conditions] = &self.place.conditions[..] else { return false };
        let equal = conditions.iter().filter(|c| c.relation == Relation::Zero);
        let found = equal.filter_map(|c| self.split(&c.expression)).find(|(_, unknown)| unknown.len() == 1);
        let Some((known, unknown)) = found else { return false };
        let (l, c) = unknown[0];
        self.values[l] = Some(divided(known.scale(-1), c));
        true
    }

    /// An equation whose greatest coefficient exceeds the others: the outer loop of a tile.
    fn largest(&mut self, ends: Ends) -> bool {
        let found = self.equations().find_map(|e| self.leading(e.value, e.unknown, ends));
        let Some((l, value)) = found else { return false };
        self.values[l] = Some(value);
        true
    }

    /// The loop with the greatest coefficient in `value = sum(coefficient * loop)`, and its value while the others are near
    /// the ends of their ranges where they add least.
    fn leading(&self, value: Affine, unknown: Vec<(usize, i64)>, ends: Ends) -> Option<(usize, Affine)> {
        let (lead, greatest) = unknown.iter().copied().min_by_key(|(_, c)| Reverse(c.unsigned_abs()))?;
        let (sign, width) = (greatest.signum(), greatest.saturating_abs());
        if ends == Ends::Lower && unknown.iter().any(|(_, c)| c.signum() != sign) {
            return None;
        }
        let mut value = value.scale(sign);
        let mut coefficients: BTreeMap<usize, i64> =
            unknown.into_iter().map(|(l, c)| (l, c.saturating_mul(sign))).collect();
        let mut others = 0;
        // Innermost first: what an end mentions stands outside.
        while let Some(other) = coefficients.keys().copied().rfind(|l| *l != lead) {
            let c = coefficients.remove(&other)?;
            others = others.max(c.saturating_abs());
            let PlacedLoop { lower, upper, .. } = &*self.place.loops[other];
            let end = match (c > 0, &lower[..], &upper[..]) {
                (true, [end], _) | (false, _, [end]) => Some(end),
                (true, several, _) => several.iter().find(|l| is_narrow(l, upper, width)),
                (false, _, several) => several
                    .iter()
                    .find(|u| lower.iter().any(|l| is_narrow(l, std::slice::from_ref(u), width))),
            };
            let end = end.map(|e| if c > 0 { e.clone() } else { e.offset(-1) });
            match end.and_then(|e| self.split(&e)) {
                Some((known, mentioned)) if mentioned.is_empty() || ends == Ends::Either => {
                    value = value - known.scale(c);
                    for (l, k) in mentioned {
                        let sum = coefficients.entry(l).or_default();
                        *sum = k.checked_mul(c)?.checked_add(*sum)?;
                    }
                }
                _ => {}
            }
        }
        let c = coefficients.remove(&lead).filter(|c| *c > others)?;
        Some((lead, value.floor_div(c)))
    }

    /// A loop that only the bounds of an inner one mention: `for it step 32 { for i in it.. }`; with `narrow` only where
    /// the other bound says that no two of its iterations have values of the inner one in common.
    fn bounding(&mut self, narrow: bool) -> bool {
        for (inner, header) in self.place.loops.iter().enumerate() {
            let Some(value) = self.values[inner].clone() else { continue };
            for (value, lower, upper) in both_ways(header, value) {
                for bound in &lower {
                    let Some((rest, unknown)) = self.split(bound) else { continue };
                    if unknown.iter().any(|(_, c)| *c <= 0) {
                        continue;
                    }
                    let greatest = unknown.iter().map(|(_, c)| *c).max().unwrap_or(0);
                    if narrow && !is_narrow(bound, &upper, greatest) {
                        continue;
                    }
                    let Some((l, mut guess)) = self.leading(&value - &rest, unknown, Ends::Lower) else {
                        continue;
                    };
                    let this = &self.place.loops[l];
                    if this.step > 1 {
                        let Some(first) = this.lower.first().and_then(|e| self.known(e)) else { continue };
                        guess = &guess - &(&guess - &first).modulo(this.step);
                    }
                    self.values[l] = Some(guess);
                    return true;
                }
            }
        }
        false
    }

    /// A loop that runs for one value at most.
    fn once(&mut self) -> bool {
        let unknown = self.place.loops.iter().enumerate().filter(|(l, _)| self.values[*l].is_none());
        let found = unknown
            .flat_map(|(l, header)| header.lower.iter().map(move |e| (l, header, e)))
            .find_map(|(l, header, e)| {
                let one = header.upper.iter().any(|u| is_one_at_most(&(u - e)));
                one.then(|| Some((l, self.known(e)?))).flatten()
            });
        let Some((l, value)) = found else { return false };
        self.values[l] = Some(value);
        true
    }

    /// The first iteration of a loop in which an inner one gets as far as its value.
    fn first_reaching(&mut self) -> bool {
        for (inner, header) in self.place.loops.iter().enumerate() {
            let Some(value) = self.values[inner].clone() else { continue };
            for (value, _, upper) in both_ways(header, value) {
                for (rest, unknown) in upper.iter().filter_map(|u| self.split(u)) {
                    if let [(l, c @ 1..)] = unknown[..] {
                        self.values[l] = Some((&value - &rest).offset(1).ceil_div(c));
                        return true;
                    }
                }
            }
        }
        false
    }

    /// A loop that nothing says more of: perhaps it runs once, as the last tile does.
    fn single_run(&mut self) -> bool {
        let found = self.place.loops.iter().enumerate().filter(|(l, _)| self.values[*l].is_none()).find_map(
            |(l, header)| {
                let first = header.lower.iter().max_by_key(|e| e.as_constant().is_none())?;
                Some((l, self.known(first)?))
            },
        );
        let Some((l, value)) = found else { return false };
        self.values[l] = Some(value);
        true
    }

    /// The known part of an expression, and the loops in it that are not known, outside of floors.
    fn split(&self, e: &Affine) -> Option<(Affine, Vec<(usize, i64)>)> {
        let mut known = Affine::constant(e.constant_term());
        let mut unknown = Vec::new();
        for (atom, c) in e.terms() {
            match atom {
                Atom::Var(v) if self.value(*v).is_none() => unknown.push((v.index(), *c)),
                other => known = known + self.known(&Affine::atom(other.clone()))?.scale(*c),
            }
        }
        Some((known, unknown))
    }
}

/// The value of a loop with its bounds, and the same counted backwards. Upper bounds are exclusive.
fn both_ways(header: &PlacedLoop, value: Affine) -> [(Affine, Vec<Affine>, Vec<Affine>); 2] {
    let mirrored = |list: &[Affine]| list.iter().map(|e| e.scale(-1).offset(1)).collect();
    let backwards = (value.scale(-1), mirrored(&header.upper), mirrored(&header.lower));
    [(value, header.lower.clone(), header.upper.clone()), backwards]
}

/// Whether it is seen that an expression is one at most: `floor((e + k)/d) - floor(e/d)` where `k` does not exceed `d`.
fn is_one_at_most(e: &Affine) -> bool {
    if let Some(constant) = e.as_constant() {
        return constant <= 1;
    }
    let [(Atom::Div(a), x), (Atom::Div(b), y)] = e.terms() else { return false };
    let (more, less) = if x > y { (a, b) } else { (b, a) };
    let apart = (&more.numerator - &less.numerator).as_constant();
    (x.max(y), x.min(y)) == (&1, &-1)
        && a.denominator == b.denominator
        && e.constant_term() <= 0
        && apart.is_some_and(|k| k <= a.denominator)
}

/// Whether the range from `lower` on has `width` values at most.
fn is_narrow(lower: &Affine, upper: &[Affine], width: i64) -> bool {
    upper.iter().any(|u| (u - lower).as_constant().is_some_and(|extent| extent <= width))
}

/// `floor(value / c)`, exact for `c` of one.
fn divided(value: Affine, c: i64) -> Affine {
    if c < 0 { value.scale(-1).floor_div(c.saturating_neg()) } else { value.floor_div(c) }
}

//! The loop values of an instance: a guess at the inverse of a place's dims.
//!
//! Tiles, shifts, reversal and skewing have inverses that can be read off; [`guess`] does. Whoever uses it verifies
//! it, so that nothing rests on the guess.

use crate::places::Place;
use loop_tree::{Affine, Atom, VarId};

/// For each loop of the place, its value over the dims (`VarId(k)` is dim `k`).
pub(super) fn guess(place: &Place) -> Option<Vec<Affine>> {
    let mut solver =
        Guess { place, values: vec![None; place.loops.len()], used: vec![false; place.dims.len()] };
    while solver.values.iter().any(Option::is_none) {
        if !(solver.single() || solver.largest() || solver.bounding()) {
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
        let e = &self.place.dims[dim];
        let mut value = Affine::var(VarId::new(dim)).offset(e.constant_term().checked_neg()?);
        let mut unknown = Vec::new();
        for (atom, c) in e.terms() {
            match atom {
                Atom::Var(v) if self.value(*v).is_none() => unknown.push((v.index(), *c)),
                other => value = value - self.known(&Affine::atom(other.clone()))?.scale(*c),
            }
        }
        Some(Equation { dim, value, unknown })
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

    /// An equation whose greatest coefficient exceeds the others: the outer loop of a tile.
    fn largest(&mut self) -> bool {
        let found = self.equations().find_map(|mut e| {
            e.unknown.sort_by_key(|(_, c)| std::cmp::Reverse(c.unsigned_abs()));
            let [(l, c), rest @ ..] = &e.unknown[..] else { return None };
            let same_sign = rest.iter().all(|(_, r)| r.signum() == c.signum());
            if !same_sign || rest.first()?.1.unsigned_abs() >= c.unsigned_abs() {
                return None;
            }
            let mut value = e.value;
            for (other, r) in rest {
                let [lower] = &self.place.loops[*other].lower[..] else { continue };
                if let Some(lower) = self.known(lower) {
                    value = value - lower.scale(*r);
                }
            }
            Some((*l, divided(value, *c)))
        });
        let Some((l, value)) = found else { return false };
        self.values[l] = Some(value);
        true
    }

    /// A loop that only the bounds of an inner one mention: `for it step 32 { for i in it.. }`.
    fn bounding(&mut self) -> bool {
        for (l, this) in self.place.loops.iter().enumerate() {
            if self.values[l].is_some() {
                continue;
            }
            for (inner, header) in self.place.loops.iter().enumerate().skip(l + 1) {
                let Some(value) = self.values[inner].clone() else { continue };
                for bound in &header.lower {
                    let c = bound.coefficient(VarId::new(l));
                    let rest = bound - &Affine::var(VarId::new(l)).scale(c);
                    if c <= 0 || rest.uses(VarId::new(l)) {
                        continue;
                    }
                    let Some(rest) = self.known(&rest) else { continue };
                    let mut guess = divided(value.clone() - rest, c);
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
}

/// `floor(value / c)`, exact for `c` of one.
fn divided(value: Affine, c: i64) -> Affine {
    if c < 0 { value.scale(-1).floor_div(c.saturating_neg()) } else { value.floor_div(c) }
}

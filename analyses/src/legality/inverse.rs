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
        if !(solver.single()
            || solver.largest()
            || solver.bounding(true)
            || solver.bounding(false)
            || solver.pinned()
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

    /// An equation whose greatest coefficient exceeds the others: the outer loop of a tile.
    fn largest(&mut self) -> bool {
        let found = self.equations().find_map(|e| self.leading(e.value, e.unknown));
        let Some((l, value)) = found else { return false };
        self.values[l] = Some(value);
        true
    }

    /// The loop with the greatest coefficient in `value = sum(coefficient * loop)`, and its value while the others are near
    /// their lower bounds.
    fn leading(&self, mut value: Affine, mut unknown: Vec<(usize, i64)>) -> Option<(usize, Affine)> {
        unknown.sort_by_key(|(_, c)| std::cmp::Reverse(c.unsigned_abs()));
        let [(l, c), rest @ ..] = &unknown[..] else { return None };
        let same_sign = rest.iter().all(|(_, r)| r.signum() == c.signum());
        if !same_sign || rest.first().is_some_and(|(_, r)| r.unsigned_abs() >= c.unsigned_abs()) {
            return None;
        }
        for (other, r) in rest {
            let header = &self.place.loops[*other];
            let lower = match &header.lower[..] {
                [lower] => Some(lower),
                several => several.iter().find(|l| is_narrow(l, &header.upper, c.saturating_abs())),
            };
            if let Some(lower) = lower.and_then(|l| self.known(l)) {
                value = value - lower.scale(*r);
            }
        }
        Some((*l, divided(value, *c)))
    }

    /// A loop that only the bounds of an inner one mention: `for it step 32 { for i in it.. }`; with `narrow` only where
    /// an upper bound says that no two of its iterations have values of the inner one in common.
    fn bounding(&mut self, narrow: bool) -> bool {
        for (inner, header) in self.place.loops.iter().enumerate() {
            let Some(value) = self.values[inner].clone() else { continue };
            for bound in &header.lower {
                let Some((rest, unknown)) = self.split(bound) else { continue };
                if unknown.iter().any(|(_, c)| *c <= 0) {
                    continue;
                }
                let greatest = unknown.iter().map(|(_, c)| *c).max().unwrap_or(0);
                if narrow && !is_narrow(bound, &header.upper, greatest) {
                    continue;
                }
                let Some((l, mut guess)) = self.leading(value.clone() - rest, unknown) else { continue };
                let this = &self.place.loops[l];
                if this.step > 1 {
                    let Some(first) = this.lower.first().and_then(|e| self.known(e)) else { continue };
                    guess = &guess - &(&guess - &first).modulo(this.step);
                }
                self.values[l] = Some(guess);
                return true;
            }
        }
        false
    }

    /// A loop that runs for one value: among its bounds are `e` and `e + 1`.
    fn pinned(&mut self) -> bool {
        let found = self.place.loops.iter().enumerate().filter(|(l, _)| self.values[*l].is_none()).find_map(
            |(l, header)| {
                let one = |e: &&Affine| header.upper.contains(&e.offset(1));
                header.lower.iter().filter(one).find_map(|e| Some((l, self.known(e)?)))
            },
        );
        let Some((l, value)) = found else { return false };
        self.values[l] = Some(value);
        true
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

/// Whether the range from `lower` on has `width` values at most.
fn is_narrow(lower: &Affine, upper: &[Affine], width: i64) -> bool {
    upper.iter().any(|u| (u - lower).as_constant().is_some_and(|extent| extent <= width))
}

/// `floor(value / c)`, exact for `c` of one.
fn divided(value: Affine, c: i64) -> Affine {
    if c < 0 { value.scale(-1).floor_div(c.saturating_neg()) } else { value.floor_div(c) }
}

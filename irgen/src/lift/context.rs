//! What is known at each place of a region, and what has to be checked before it.

use rustc_hash::FxHashMap;

use super::closed_forms::address_of;
use super::prove::Given;
use super::values::{Values, int_bits, signed_range};
use crate::llvm::{Inst, Value};
use crate::mutation::{self, Rule};
use analyses::closed_forms::{Fact, Meaning, Monomial, Need, Poly, Sym};
use loop_tree::{Affine, Constraint, ParamId, Relation, VarId};

/// A place: the loops around it, outermost first, and what holds there.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) loops: Vec<usize>,
    pub(super) facts: Vec<Fact>,
}

/// A loop of the region as a variable.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) var: VarId,
    /// The variable is the iteration number plus this.
    pub(super) base: Poly,
    pub(super) room: Poly,
    pub(super) step: i128,
}

/// Names of a region for values, and the conditions it takes for granted.
pub(super) struct Context<'v, 'a, 'm> {
    pub(super) values: &'v mut Values<'a, 'm>,
    /// Blocks of the region.
    pub(super) inside: Vec<bool>,
    /// The first of them.
    first: Option<usize>,
    pub(super) counters: FxHashMap<usize, Counter>,
    /// Values, and products of values, that are parameters.
    pub(super) params: Vec<Vec<Value<'m>>>,
    /// Iterations of loops around the region, so many times each.
    around: FxHashMap<usize, Option<(i64, Affine)>>,
    /// To be checked at run time; only over parameters.
    pub(super) assumptions: Vec<Fact>,
    /// The greatest magnitude of 64-bit parameters that is taken for granted, where one is needed.
    bound: Option<u32>,
    bounded: Vec<Sym>,
    /// What was asked here.
    given: Given,
}

/// Conditions on parameters, and the limits among them.
pub(super) type Assumed = (Vec<Fact>, Option<u32>, Vec<Sym>);

/// Magnitudes, in bits, that parameters may be required to have; generous ones first.
const BOUNDS: [u32; 6] = [40, 31, 26, 22, 20, 15];

impl<'v, 'a, 'm> Context<'v, 'a, 'm> {
    pub(super) fn new(values: &'v mut Values<'a, 'm>, inside: Vec<bool>) -> Self {
        Context {
            values,
            first: inside.iter().position(|inside| *inside),
            inside,
            counters: FxHashMap::default(),
            params: Vec::new(),
            around: FxHashMap::default(),
            assumptions: Vec::new(),
            bound: None,
            bounded: Vec::new(),
            given: Given::default(),
        }
    }

    /// Whether the value is the same during the whole region.
    pub(super) fn is_outside(&self, v: Value<'m>) -> bool {
        v.as_inst().is_none_or(|i| self.values.cfg.home(i).is_some_and(|b| !self.inside[b]))
    }

    /// Whether the instruction is executed before the region, whenever that is.
    pub(super) fn is_in_front(&self, inst: Inst<'m>) -> bool {
        let cfg = self.values.cfg;
        let home = cfg.home(inst).filter(|b| !self.inside[*b]);
        home.zip(self.first).is_some_and(|(home, first)| cfg.dominates(home, first))
    }

    /// Whether it has one value during the region.
    pub(super) fn is_invariant_poly(&self, p: &Poly) -> bool {
        self.values.symbols().all(p, &|m| match m {
            Meaning::Value(v) => self.is_outside(v),
            Meaning::Iteration(l) => self.is_around(l),
            Meaning::Quotient(_) => false,
        })
    }

    /// Whether it depends on what the region itself reads or computes.
    pub(super) fn is_data(&self, p: &Poly) -> bool {
        !self.values.symbols().all(p, &|m| match m {
            Meaning::Value(v) => self.is_outside(v),
            Meaning::Iteration(_) | Meaning::Quotient(_) => true,
        })
    }

    /// Whether the loop is around the region, so that its iteration is the same during the whole region.
    pub(super) fn is_around(&self, l: usize) -> bool {
        let cfg = self.values.cfg;
        !self.inside[cfg.loops[l].header] && self.first.is_some_and(|b| cfg.loops[l].contains(b))
    }

    /// The iteration of a loop around the region, times the least step that an induction variable counts by.
    fn iteration_around(&mut self, l: usize) -> Option<(i64, Affine)> {
        if let Some(known) = self.around.get(&l) {
            return known.clone();
        }
        // Starts that need the iteration itself have none.
        self.around.insert(l, None);
        let cfg = self.values.cfg;
        let k = self.values.iteration(l);
        let sym = k.symbols().next()?;
        let phis = self.is_around(l).then(|| cfg.blocks[cfg.loops[l].header].phis());
        let mut found: Option<(i64, Affine)> = None;
        for phi in phis.into_iter().flatten() {
            let form = self.values.integer(phi.value()).filter(|form| form.needs.is_empty());
            let Some((step, start)) = form.and_then(|form| form.poly.split_linear(sym)) else { continue };
            let Some(step) = i64::try_from(step).ok().filter(|step| *step != 0 && *step != i64::MIN) else {
                continue;
            };
            if found.as_ref().is_none_or(|(least, _)| step.abs() < *least)
                && let Some(start) = self.affine(&start)
            {
                let grown = self.param(vec![phi.value()]) - start;
                found = Some((step.abs(), grown.scale(step.signum())));
            }
        }
        self.around.insert(l, found.clone());
        found
    }

    fn param(&mut self, factors: Vec<Value<'m>>) -> Affine {
        let at = self.params.iter().position(|p| *p == factors).unwrap_or_else(|| {
            self.params.push(factors);
            self.params.len() - 1
        });
        Affine::param(ParamId::new(at))
    }

    /// A product that does not change in the region, so many times.
    fn product(&mut self, monomial: Monomial) -> Option<(i64, Affine)> {
        let factors = monomial.symbols().map(|s| match self.values.symbols().meaning(s) {
            Meaning::Value(v) => self.is_outside(v).then_some(v),
            Meaning::Iteration(_) | Meaning::Quotient(_) => None,
        });
        match factors.collect::<Option<Vec<_>>>() {
            Some(factors) => {
                // What they are says what the product is.
                factors.iter().for_each(|v| _ = self.param(vec![*v]));
                Some((1, self.param(factors)))
            }
            None => self.product_around(monomial),
        }
    }

    /// A product with the iteration of a loop around the region, from an induction variable that counts by the rest.
    fn product_around(&mut self, monomial: Monomial) -> Option<(i64, Affine)> {
        let cfg = self.values.cfg;
        let around = |m: &Meaning<Value<'m>>| matches!(m, Meaning::Iteration(l) if self.is_around(*l));
        let mut factors = monomial.symbols().map(|s| self.values.symbols().meaning(s));
        let Meaning::Iteration(l) = factors.find(around)? else { return None };
        for phi in cfg.blocks[cfg.loops[l].header].phis() {
            let Some(form) = self.values.integer(phi.value()).filter(|form| form.needs.is_empty()) else {
                continue;
            };
            let (factor, rest) = form.poly.split_off(monomial);
            if let Some(times) = i64::try_from(factor.abs()).ok().filter(|times| *times != 0)
                && rest.degree() <= 1
                && let Some(rest) = self.affine(&rest)
            {
                let product = self.param(vec![phi.value()]) - rest;
                return Some((times, if factor < 0 { product.scale(-1) } else { product }));
            }
        }
        None
    }

    fn affine_of(&mut self, sym: Sym) -> Option<Affine> {
        match self.values.symbols().meaning(sym) {
            Meaning::Iteration(l) => {
                let Some(counter) = self.counters.get(&l).cloned() else {
                    return self.iteration_around(l).filter(|(times, _)| *times == 1).map(|(_, k)| k);
                };
                Some(Affine::var(counter.var) - self.affine(&counter.base)?)
            }
            Meaning::Quotient(q) => {
                let (dividend, divisor) = self.values.symbols().parts(q).clone();
                Some(self.affine(&dividend)?.floor_div(i64::try_from(divisor).ok()?))
            }
            Meaning::Value(v) => {
                // Addresses are greater than what emission takes for exact.
                if !self.is_outside(v) || address_of(v).is_some() {
                    return None;
                }
                Some(self.param(vec![v]))
            }
        }
    }

    /// The polynomial over variables and parameters, where it is affine in them. Products of what does not change are parameters
    /// of their own.
    pub(super) fn affine(&mut self, p: &Poly) -> Option<Affine> {
        let mut sum = Affine::constant(0);
        for (monomial, c) in p.terms() {
            let c = i64::try_from(c).ok()?;
            let mut symbols = monomial.symbols();
            let term = match (symbols.next(), symbols.next()) {
                (None, _) => Affine::constant(c),
                (Some(sym), None) => match (self.affine_of(sym), self.values.symbols().meaning(sym)) {
                    (Some(known), _) => known.scale(c),
                    (None, Meaning::Iteration(l)) => {
                        let (times, grown) = self.iteration_around(l).filter(|(times, _)| c % times == 0)?;
                        grown.scale(c / times)
                    }
                    (None, _) => return None,
                },
                (Some(_), Some(_)) => {
                    let (times, product) = self.product(monomial).filter(|(times, _)| c % times == 0)?;
                    product.scale(c / times)
                }
            };
            sum = sum + term;
        }
        sum.is_exact().then_some(sum)
    }

    /// Whether [`Context::affine`] has an answer; makes no parameter.
    pub(super) fn is_affine(&mut self, p: &Poly) -> bool {
        let (params, around) = (self.params.len(), self.around.len());
        let affine = self.affine(p).is_some();
        // What is remembered of loops around speaks of parameters.
        if self.around.len() == around {
            self.params.truncate(params);
        }
        affine
    }

    pub(super) fn constraint(&mut self, f: &Fact) -> Option<Constraint> {
        let relation = if f.equal { Relation::Zero } else { Relation::NonNegative };
        Some(Constraint { expression: self.affine(&f.poly)?, relation })
    }

    /// Whether `goal >= 0` at a place, for certain or by what is checked at run time already.
    pub(super) fn holds(&self, place: &Place, goal: &Poly) -> bool {
        let facts: Vec<&Fact> = place.facts.iter().chain(&self.assumptions).collect();
        let is_quotient = |s: &Sym| matches!(self.values.symbols().meaning(*s), Meaning::Quotient(_));
        self.values.proofs.implies(&self.given, facts, goal, |facts| {
            self.ranges(goal, facts.iter().flat_map(|f| f.poly.symbols()).filter(is_quotient).collect())
        })
    }

    /// What types and definitions say of the symbols of a polynomial, and of some quotients.
    fn ranges(&self, poly: &Poly, quotients: Vec<Sym>) -> Vec<Fact> {
        let mut known = Vec::new();
        let mut syms: Vec<Sym> = poly.symbols().chain(quotients).collect();
        syms.sort_unstable();
        syms.dedup();
        let mut seen = syms.clone();
        while let Some(sym) = syms.pop() {
            let s = Poly::symbol(sym);
            let mut ranges = Vec::new();
            match self.values.symbols().meaning(sym) {
                Meaning::Value(v) => {
                    if let Some(bits) = int_bits(v) {
                        let (low, high) = signed_range(bits);
                        ranges = vec![s.offset(-low), s.scale(-1).and_then(|p| p.offset(high))];
                    }
                }
                Meaning::Quotient(q) => {
                    let (dividend, divisor) = self.values.symbols().parts(q);
                    let rest = dividend.add_scaled(&s, -divisor);
                    ranges = vec![rest.clone(), rest.and_then(|r| r.scale(-1)?.offset(divisor - 1))];
                    for inner in dividend.symbols() {
                        if !seen.contains(&inner) {
                            seen.push(inner);
                            syms.push(inner);
                        }
                    }
                }
                Meaning::Iteration(l) if self.is_around(l) => ranges = vec![Some(s)],
                Meaning::Iteration(_) => {}
            }
            known.extend(ranges.into_iter().flatten().map(|poly| Fact { poly, equal: false }));
        }
        known
    }

    /// What is taken for granted so far.
    pub(super) fn assumed(&self) -> Assumed {
        (self.assumptions.clone(), self.bound, self.bounded.clone())
    }

    /// Takes for granted what was before, and nothing since.
    pub(super) fn restore(&mut self, assumed: Assumed) {
        (self.assumptions, self.bound, self.bounded) = assumed;
    }

    /// Proves `goal >= 0` at a place, or takes a condition on parameters for granted that implies it.
    pub(super) fn require(&mut self, place: &Place, goal: &Poly) -> bool {
        if self.holds(place, goal) {
            return true;
        }
        let saved = self.assumptions.len();
        let required = self.worst(place, goal).is_some_and(|worst| self.assume(place, worst));
        if !required {
            self.assumptions.truncate(saved);
        }
        required
    }

    /// Takes for granted that `worst >= 0`, for code at a place.
    fn assume(&mut self, place: &Place, worst: Poly) -> bool {
        if worst.as_constant().is_some_and(|c| c < 0) {
            return false;
        }
        if !self.holds(&Place::default(), &worst) {
            if !self.is_affine(&worst) {
                return false;
            }
            // A condition that cannot hold together with the others, or where the code is reached, would leave the original for
            // ever.
            if let Some(opposite) = worst.scale(-1).and_then(|w| w.offset(-1))
                && self.holds(place, &opposite)
            {
                return false;
            }
            if mutation::off(Rule::WrapAssumptions) {
                return true;
            }
            self.assumptions.push(Fact { poly: worst, equal: false });
        }
        true
    }

    /// The least value over the iterations of the loops around, as a polynomial in parameters. Strides of which nothing is
    /// known are assumed to be not negative.
    fn worst(&mut self, place: &Place, goal: &Poly) -> Option<Poly> {
        let mut worst = goal.clone();
        for l in place.loops.iter().rev() {
            let counter = self.counters.get(l)?;
            let (room, step) = (counter.room.clone(), counter.step);
            let Some(sym) = self.iteration(*l) else { continue };
            let (a, rest) = worst.split(sym)?;
            // The last iteration is at most room / step, which is at most room.
            worst = match a.as_constant() {
                Some(a) if a >= 0 => rest,
                Some(a) if a % step == 0 => rest.add_scaled(&room, a / step)?,
                _ if self.is_positive(place, &a) => rest,
                _ if self.is_positive(place, &a.scale(-1)?) => rest.add(&a.mul(&room)?)?,
                _ => {
                    let (stride, c) = a.terms().next().filter(|_| a.terms().len() == 1)?;
                    for factor in stride.symbols() {
                        let factor = Poly::symbol(factor);
                        let known = self.holds(place, &factor)
                            || self.is_invariant_poly(&factor) && self.assume(place, factor);
                        if !known {
                            return None;
                        }
                    }
                    if c >= 0 { rest } else { rest.add(&a.mul(&room)?)? }
                }
            };
        }
        self.is_invariant_poly(&worst).then_some(worst)
    }

    /// Whether `goal >= 0` at a place, perhaps as a sum of products of what is not negative there.
    fn is_positive(&self, place: &Place, goal: &Poly) -> bool {
        self.holds(place, goal)
            || goal.terms().all(|(monomial, c)| {
                c >= 0 && monomial.symbols().all(|s| self.holds(place, &Poly::symbol(s)))
            })
    }

    fn iteration(&self, l: usize) -> Option<Sym> {
        self.values.symbols().find(Meaning::Iteration(l))
    }

    /// Proves a need at a place, or takes conditions on parameters for granted that imply it.
    pub(super) fn need(&mut self, place: &Place, need: &Need) -> bool {
        let below = need.poly.offset(-need.low);
        let above = if need.high == i128::MAX {
            Some(Poly::default())
        } else {
            need.poly.scale(-1).and_then(|p| p.offset(need.high))
        };
        let (Some(below), Some(above)) = (below, above) else { return false };
        if self.holds(place, &below) && self.holds(place, &above) {
            return true;
        }
        // Conditions near the ends of 64 bits would themselves be hard to check: bounds on parameters come first there.
        let narrow = need.high == i128::MAX || need.high < 1 << 40;
        if narrow && self.require_both(place, &below, &above) {
            return true;
        }
        self.fits(place, need) || (!narrow && self.require_both(place, &below, &above))
    }

    fn require_both(&mut self, place: &Place, below: &Poly, above: &Poly) -> bool {
        let saved = self.assumptions.len();
        let both = self.require(place, below) && self.require(place, above);
        if !both {
            self.assumptions.truncate(saved);
        }
        both
    }

    /// By interval arithmetic, with bounds on parameters as they are needed. Signs are left to `require`, so that only
    /// wide ranges are tried here.
    fn fits(&mut self, place: &Place, need: &Need) -> bool {
        let inside =
            |range: Option<(i128, i128)>| range.is_some_and(|(a, b)| need.low <= a && b <= need.high);
        // Only what has been limited already is as small as that.
        let mut used = Vec::new();
        if inside(self.interval(place, &need.poly, self.bound, &mut used))
            && used.iter().all(|s| self.bounded.contains(s))
        {
            return true;
        }
        for bits in BOUNDS {
            if self.bound.is_some_and(|b| b < bits) {
                continue;
            }
            let mut used = Vec::new();
            if inside(self.interval(place, &need.poly, Some(bits), &mut used)) {
                if used.iter().any(|&s| limits(s, self.unit(s), bits).iter().any(|p| !self.is_affine(p))) {
                    return false;
                }
                used.extend(self.bounded.iter().copied());
                used.sort_unstable();
                used.dedup();
                // The tighter limits replace the earlier ones.
                if let Some(earlier) = self.bound.replace(bits) {
                    let bounded = self.bounded.clone();
                    let limits: Vec<Poly> =
                        bounded.into_iter().flat_map(|s| limits(s, self.unit(s), earlier)).collect();
                    self.assumptions.retain(|f| !limits.contains(&f.poly));
                }
                for &s in &used {
                    for poly in limits(s, self.unit(s), bits) {
                        let fact = Fact { poly, equal: false };
                        if !self.assumptions.contains(&fact) {
                            self.assumptions.push(fact);
                        }
                    }
                }
                self.bounded = used;
                return true;
            }
        }
        false
    }

    /// What a symbol has to be multiplied with, to be affine.
    fn unit(&mut self, s: Sym) -> i128 {
        match self.values.symbols().meaning(s) {
            Meaning::Iteration(l) => self.iteration_around(l).map_or(1, |(times, _)| times.into()),
            Meaning::Value(_) | Meaning::Quotient(_) => 1,
        }
    }

    fn interval(
        &self,
        place: &Place,
        p: &Poly,
        bound: Option<u32>,
        used: &mut Vec<Sym>,
    ) -> Option<(i128, i128)> {
        let (mut low, mut high) = (0i128, 0i128);
        for (monomial, c) in p.terms() {
            let (mut a, mut b) = (c, c);
            for sym in monomial.symbols() {
                let (x, y) = self.symbol_interval(place, sym, bound, used)?;
                let products = [a.checked_mul(x)?, a.checked_mul(y)?, b.checked_mul(x)?, b.checked_mul(y)?];
                a = *products.iter().min()?;
                b = *products.iter().max()?;
            }
            low = low.checked_add(a)?;
            high = high.checked_add(b)?;
        }
        Some((low, high))
    }

    fn symbol_interval(
        &self,
        place: &Place,
        sym: Sym,
        bound: Option<u32>,
        used: &mut Vec<Sym>,
    ) -> Option<(i128, i128)> {
        match self.values.symbols().meaning(sym) {
            Meaning::Iteration(l) if self.is_around(l) => {
                let Some(b) = bound else { return Some((0, i64::MAX.into())) };
                if !used.contains(&sym) {
                    used.push(sym);
                }
                Some((0, 1i128 << b))
            }
            Meaning::Iteration(l) => {
                let at = place.loops.iter().position(|x| *x == l)?;
                let counter = self.counters.get(&l)?;
                let outer = Place { loops: place.loops[..at].to_vec(), facts: Vec::new() };
                let (_, high) = self.interval(&outer, &counter.room, bound, used)?;
                Some((0, (high / counter.step).max(0)))
            }
            Meaning::Quotient(q) => {
                let (dividend, divisor) = self.values.symbols().parts(q).clone();
                let (a, b) = self.interval(place, &dividend, bound, used)?;
                Some((a.div_euclid(divisor), b.div_euclid(divisor)))
            }
            Meaning::Value(v) => {
                let bits = int_bits(v)?;
                let natural = signed_range(bits);
                match bound.filter(|&b| b < bits - 1 && self.is_outside(v)) {
                    Some(b) => {
                        if !used.contains(&sym) {
                            used.push(sym);
                        }
                        Some((-(1i128 << b), 1i128 << b))
                    }
                    None => Some(natural),
                }
            }
        }
    }
}

/// The symbol is at most so many bits in magnitude: polynomials that are then not negative, in multiples of the symbol.
fn limits(s: Sym, unit: i128, bits: u32) -> Vec<Poly> {
    let limit = unit << bits;
    let scaled = [unit, -unit].map(|c| Poly::symbol(s).scale(c).and_then(|p| p.offset(limit)));
    scaled.into_iter().flatten().collect()
}

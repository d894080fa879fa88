//! Closed forms by LLVM's ScalarEvolution.
//!
//! An expression is arithmetic modulo two to its bits. Sums, products and recurrences become polynomials that are
//! *congruent* to it; where the value itself is asked for, or extended to more bits, it is the polynomial only if that
//! stays in range: a need, unless flags already promise that nothing wraps. Minima, maxima and whatever else is no
//! polynomial is a symbol of its own, except in trip counts.

use analyses::closed_forms::{
    Address, ClosedForm, ClosedForms, LoopExit, Meaning, Poly, Sym, Symbols, TripCount, merge,
};
use rustc_hash::FxHashMap;

use super::super::cfg::Cfg;
use super::super::values::{int_bits, signed_range};
use super::is_fixed;
use super::strides::{self, Test};
use crate::llvm::{Analyses, DataLayout, LoopId, Opcode, Result, Scev, ScevKind, Type, TypeKind, Value};

/// ScalarEvolution of one function.
pub(super) struct Evolution<'a, 'm> {
    analyses: Analyses<'m>,
    layout: DataLayout<'m>,
    forms: Forms<'a, 'm>,
    integers: FxHashMap<Value<'m>, ClosedForm>,
}

/// What expressions are turned into.
struct Forms<'a, 'm> {
    cfg: &'a Cfg<'m>,
    /// By their headers.
    loops: FxHashMap<LoopId, usize>,
    symbols: Symbols<Value<'m>>,
}

/// A polynomial congruent to an expression wherever its needs hold.
struct Congruent {
    form: ClosedForm,
    /// It is the value, read as signed.
    exact: bool,
}

/// Recursion that is deeper than any index computation; protects the stack.
const MAX_DEPTH: u32 = 100;

/// More operands of a maximum than this are no trip count.
const MAX_ALTERNATIVES: usize = 4;

impl<'a, 'm> Evolution<'a, 'm> {
    pub(super) fn new(layout: DataLayout<'m>, cfg: &'a Cfg<'m>) -> Result<Self> {
        let analyses = Analyses::new(cfg.function, None)?;
        let number: FxHashMap<_, _> =
            cfg.loops.iter().enumerate().map(|(l, data)| (cfg.blocks[data.header], l)).collect();
        let loops = analyses.loop_ids().filter_map(|id| {
            let header = analyses.loop_info(id)?.header;
            Some((id, *number.get(&header)?))
        });
        let loops = loops.collect();
        let forms = Forms { cfg, loops, symbols: Symbols::default() };
        Ok(Evolution { analyses, layout, forms, integers: FxHashMap::default() })
    }
}

impl<'m> ClosedForms<Value<'m>> for Evolution<'_, 'm> {
    fn symbols(&self) -> &Symbols<Value<'m>> {
        &self.forms.symbols
    }

    fn iteration(&mut self, l: usize) -> Sym {
        self.forms.symbols.get(Meaning::Iteration(l))
    }

    fn integer(&mut self, v: Value<'m>) -> Option<ClosedForm> {
        let bits = int_bits(v)?;
        if let Some(e) = self.integers.get(&v) {
            return Some(e.clone());
        }
        if v.is_undef() {
            return None;
        }
        if let Some(c) = v.const_int() {
            return Some(ClosedForm::exact(Poly::constant(c)));
        }
        let found = self.analyses.expression(v).filter(|_| bits > 1);
        let form = found.and_then(|e| self.forms.value(e)).filter(|e| self.forms.is_in_scope(e, v));
        let form = form.unwrap_or_else(|| self.forms.itself(v));
        self.integers.insert(v, form.clone());
        Some(form)
    }

    fn address(&mut self, v: Value<'m>) -> Option<Address<Value<'m>>> {
        if v.ty().kind() != TypeKind::Pointer(0) {
            return None;
        }
        let found = self.analyses.expression(v).and_then(|e| {
            let ScevKind::Unknown(base) = e.pointer_base().kind() else { return None };
            let offset = self.forms.value(e.pointer_offset())?;
            let fits = self.forms.is_in_scope(&offset, v) && self.forms.is_visible(base, v);
            fits.then_some((base, offset))
        });
        let (base, offset) = found.unwrap_or_else(|| (v, ClosedForm::exact(Poly::default())));
        Some(Address { base, offset, sizes: sizes(self.layout, v) })
    }

    fn trip_count(&mut self, l: LoopExit) -> std::result::Result<TripCount, &'static str> {
        self.exit_count(l).or_else(|unknown| {
            let cfg = self.forms.cfg;
            let test = Test::of(self, cfg, l).ok_or(unknown)?;
            strides::count(self, cfg, l, &test).ok_or(unknown)
        })
    }
}

impl Evolution<'_, '_> {
    fn exit_count(&mut self, l: LoopExit) -> std::result::Result<TripCount, &'static str> {
        let unknown = "LLVM does not know the number of iterations when the loop begins";
        let header = self.forms.cfg.blocks[self.forms.cfg.loops[l.id].header];
        let id = self
            .analyses
            .loop_ids()
            .find(|i| self.analyses.loop_info(*i).is_some_and(|x| x.header == header));
        // Of this exit alone: others end the program, and how soon must not bound the iterations.
        let from = self.forms.cfg.blocks[l.from];
        let count = id.and_then(|i| self.analyses.exit_count(i, from).ok());
        let count = count.filter(|c| c.is_known()).ok_or(unknown)?;
        let count = self.forms.count(count, l.test_first).ok_or("the number of iterations is not affine")?;
        let stays = |p: &Poly| is_fixed(&self.forms.symbols, self.forms.cfg, p, l.id);
        if stays(&count.room) && count.needs.iter().all(|n| stays(&n.poly)) {
            Ok(count)
        } else {
            Err(unknown)
        }
    }
}

impl<'m> Forms<'_, 'm> {
    fn itself(&mut self, v: Value<'m>) -> ClosedForm {
        ClosedForm::exact(Poly::symbol(self.symbols.get(Meaning::Value(v))))
    }

    /// The value of an expression, read as signed.
    fn value(&mut self, e: Scev<'_, 'm>) -> Option<ClosedForm> {
        let bits = bits(e)?;
        let found = self.congruent(e, 0)?;
        Some(found.within(signed_range(bits)))
    }

    fn congruent(&mut self, e: Scev<'_, 'm>, depth: u32) -> Option<Congruent> {
        let bits = bits(e)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let exact = |form| Some(Congruent { form, exact: true });
        let range = signed_range(bits);
        match e.kind() {
            ScevKind::Constant(c) => exact(ClosedForm::exact(Poly::constant(c))),
            ScevKind::Unknown(v) => {
                (int_bits(v) == Some(bits) && !v.is_undef()).then_some(())?;
                exact(self.itself(v))
            }
            ScevKind::AddRec(l, operands) => {
                let [start, step] = operands[..] else { return None };
                let l = *self.loops.get(&l)?;
                let (start, step) = (self.congruent(start, depth + 1)?, self.congruent(step, depth + 1)?);
                let k = Poly::symbol(self.symbols.get(Meaning::Iteration(l)));
                let poly = start.form.poly.add(&step.form.poly.mul(&k)?)?;
                let exact = e.wrap().no_signed && start.exact && step.exact;
                let mut form = ClosedForm::exact(poly).with(&start.form).with(&step.form);
                if !form.factors.contains(&step.form.poly) {
                    form.factors.push(step.form.poly);
                }
                Some(Congruent { form, exact })
            }
            ScevKind::Add(operands) => {
                let (mut sum, mut all) = (ClosedForm::default(), operands.len() == 2);
                for o in operands {
                    let o = self.congruent(o, depth + 1)?;
                    sum = ClosedForm { poly: sum.poly.add(&o.form.poly)?, ..sum }.with(&o.form);
                    all &= o.exact;
                }
                Some(Congruent { form: sum, exact: all && e.wrap().no_signed })
            }
            ScevKind::Mul(operands) => {
                let (mut product, mut all) = (ClosedForm::exact(Poly::constant(1)), operands.len() == 2);
                for o in operands {
                    let o = self.congruent(o, depth + 1)?;
                    product = multiply(product, o.form)?;
                    all &= o.exact;
                }
                Some(Congruent { form: product, exact: all && e.wrap().no_signed })
            }
            ScevKind::Trunc(inner) => {
                let inner = self.congruent(inner, depth + 1)?;
                Some(Congruent { form: inner.form, exact: false })
            }
            ScevKind::SExt(inner) => {
                let from = signed_range(self::bits(inner)?);
                exact(self.congruent(inner, depth + 1)?.within(from))
            }
            ScevKind::ZExt(inner) => {
                let (_, high) = signed_range(self::bits(inner)?);
                let positive = inner.signed_range().is_some_and(|(low, _)| low >= 0);
                let inner = self.congruent(inner, depth + 1)?;
                exact(if inner.exact && positive { inner.form } else { inner.bounded(0, high) })
            }
            ScevKind::UDiv(a, b) => {
                let ScevKind::Constant(divisor) = b.kind() else { return None };
                (divisor >= 2 && divisor <= range.1).then_some(())?;
                let a = self.congruent(a, depth + 1)?.bounded(0, range.1);
                let poly = match a.poly.divide_exact(divisor) {
                    Some(q) => q,
                    None => Poly::symbol(self.symbols.quotient(a.poly.clone(), divisor)),
                };
                exact(ClosedForm::exact(poly).with(&a))
            }
            _ => None,
        }
    }

    /// Iteration `k` of the body runs where `divisor * k` is at most what is left of the count.
    fn count(&mut self, count: Scev<'_, 'm>, test_first: bool) -> Option<TripCount> {
        let (_, high) = signed_range(bits(count)?);
        let (dividend, divisor) = match count.kind() {
            ScevKind::UDiv(a, b) => match b.kind() {
                ScevKind::Constant(c) if c >= 2 && c <= high => (a, c),
                _ => return None,
            },
            _ => (count, 1),
        };
        let alternatives = self.maximum(dividend, 0)?;
        let mut needs = Vec::new();
        let not_negative = |p: &Poly| p.as_constant().is_some_and(|c| c >= 0);
        // Read as unsigned: the greatest alternative must not be negative.
        let signed = !alternatives.iter().any(|a| not_negative(&a.poly));
        for a in &alternatives {
            merge(&mut needs, &a.needs);
            if signed {
                merge(&mut needs, &ClosedForm::default().need(&a.poly, 0, high).needs);
            }
        }
        let mut rooms: Vec<Poly> = alternatives.into_iter().map(|a| a.poly).collect();
        if test_first {
            // An alternative that allows no iteration does not count.
            rooms = rooms.into_iter().map(|r| r.offset(-divisor)).collect::<Option<_>>()?;
            let some = |r: &Poly| r.as_constant().is_none_or(|c| c >= 0);
            if rooms.iter().any(some) {
                rooms.retain(some);
            } else {
                rooms.truncate(1);
            }
        }
        // The greatest is the one that is not constant; that it is not less than the others is to be proved.
        let at = rooms.iter().position(|r| r.as_constant().is_none()).unwrap_or(0);
        let room = rooms.remove(at);
        for other in rooms {
            merge(&mut needs, &ClosedForm::default().need(&room.sub(&other)?, 0, i128::MAX).needs);
        }
        Some(TripCount { room, step: divisor, needs })
    }

    /// Forms of which the greatest is the value, read as signed.
    fn maximum(&mut self, e: Scev<'_, 'm>, depth: u32) -> Option<Vec<ClosedForm>> {
        let (low, high) = signed_range(bits(e)?);
        if depth > MAX_DEPTH {
            return None;
        }
        let forms = match e.kind() {
            ScevKind::SMax(operands) => {
                let mut all = Vec::new();
                for o in operands {
                    all.extend(self.maximum(o, depth + 1)?);
                }
                all
            }
            ScevKind::UMax(operands) => {
                let mut all = Vec::new();
                for o in operands {
                    all.extend(self.maximum(o, depth + 1)?.into_iter().map(|f| {
                        let poly = f.poly.clone();
                        f.need(&poly, 0, high)
                    }));
                }
                all
            }
            ScevKind::Add(operands) if operands.iter().any(|o| is_maximum(*o)) => {
                let at = operands.iter().position(|o| is_maximum(*o))?;
                let greatest = self.maximum(operands[at], depth + 1)?;
                let mut rest = ClosedForm::default();
                let mut exact = operands.len() == 2 && e.wrap().no_signed;
                for (_, o) in operands.iter().enumerate().filter(|(n, _)| *n != at) {
                    let o = self.congruent(*o, depth + 1)?;
                    rest = ClosedForm { poly: rest.poly.add(&o.form.poly)?, ..rest }.with(&o.form);
                    exact &= o.exact;
                }
                let mut all = Vec::new();
                for g in greatest {
                    let poly = g.poly.add(&rest.poly)?;
                    let sum = ClosedForm::exact(poly.clone()).with(&g).with(&rest);
                    // Where each sum is in range, so is the greatest.
                    all.push(if exact { sum } else { sum.need(&poly, low, high) });
                }
                all
            }
            // The negated least is the greatest of the negated.
            ScevKind::Mul(operands) if is_maximum(e) => {
                let [_, least] = operands[..] else { return None };
                let unsigned = matches!(least.kind(), ScevKind::UMin(_));
                let mut all = Vec::new();
                for o in least.operands() {
                    let o = self.congruent(o, depth + 1)?.within((low, high));
                    let negated = o.poly.scale(-1)?;
                    let limit = if unsigned { o.poly.clone() } else { negated.clone() };
                    let form = ClosedForm::exact(negated).with(&o);
                    all.push(form.need(&limit, if unsigned { 0 } else { low }, high));
                }
                all
            }
            ScevKind::SExt(inner) if is_maximum(inner) => self.maximum(inner, depth + 1)?,
            ScevKind::ZExt(inner) if is_maximum(inner) => {
                let (_, high) = signed_range(bits(inner)?);
                let all = self.maximum(inner, depth + 1)?;
                if all.iter().any(|f| f.poly.as_constant().is_some_and(|c| c >= 0)) {
                    all
                } else {
                    let positive = |f: ClosedForm| {
                        let poly = f.poly.clone();
                        f.need(&poly, 0, high)
                    };
                    all.into_iter().map(positive).collect()
                }
            }
            _ => vec![self.congruent(e, depth + 1)?.within((low, high))],
        };
        (forms.len() <= MAX_ALTERNATIVES).then_some(forms)
    }

    /// Whether a form means the same where `v` is: it does not speak of iterations of a loop that `v` is behind.
    fn is_in_scope(&self, form: &ClosedForm, v: Value<'m>) -> bool {
        let block = v.as_inst().and_then(|i| self.cfg.home(i));
        let near = |p: &Poly| {
            self.symbols.all(p, &|m| match m {
                Meaning::Iteration(l) => block.is_some_and(|b| self.cfg.loops[l].contains(b)),
                Meaning::Value(w) => self.is_visible(w, v),
                Meaning::Quotient(_) => false,
            })
        };
        near(&form.poly) && form.needs.iter().all(|n| near(&n.poly))
    }

    /// Whether `w` has the same value wherever `v` is computed: it is not of a loop that `v` is behind.
    fn is_visible(&self, w: Value<'m>, v: Value<'m>) -> bool {
        let home = |v: Value<'m>| v.as_inst().and_then(|i| self.cfg.home(i));
        let Some(l) = home(w).and_then(|b| self.cfg.loop_of[b]) else { return true };
        home(v).is_some_and(|b| self.cfg.loops[l].contains(b))
    }
}

impl Congruent {
    /// The value, where it is in a range that its type has.
    fn within(self, (low, high): (i128, i128)) -> ClosedForm {
        if self.exact { self.form } else { self.bounded(low, high) }
    }

    fn bounded(self, low: i128, high: i128) -> ClosedForm {
        let poly = self.form.poly.clone();
        self.form.need(&poly, low, high)
    }
}

fn multiply(a: ClosedForm, b: ClosedForm) -> Option<ClosedForm> {
    let mut product = ClosedForm::exact(a.poly.mul(&b.poly)?);
    merge(&mut product.needs, &a.needs);
    merge(&mut product.needs, &b.needs);
    let scaled = |of: &[Poly], by: &Poly| of.iter().filter_map(|f| f.mul(by)).collect::<Vec<_>>();
    product.factors = [scaled(&a.factors, &b.poly), scaled(&b.factors, &a.poly)].concat();
    product.factors.extend([a.poly, b.poly]);
    product.factors.retain(|f| !f.is_zero() && *f != Poly::constant(1));
    Some(product)
}

fn is_maximum(e: Scev<'_, '_>) -> bool {
    match e.kind() {
        ScevKind::SMax(_) | ScevKind::UMax(_) => true,
        ScevKind::SExt(inner) | ScevKind::ZExt(inner) => is_maximum(inner),
        ScevKind::Mul(operands) => match operands[..] {
            [minus, least] => {
                minus.kind() == ScevKind::Constant(-1)
                    && matches!(least.kind(), ScevKind::SMin(_) | ScevKind::UMin(_))
            }
            _ => false,
        },
        _ => false,
    }
}

/// How many bits an expression has, where they are more than one and at most 64.
fn bits(e: Scev<'_, '_>) -> Option<u32> {
    u32::try_from(e.bits()).ok().filter(|b| (2..=64).contains(b))
}

/// Sizes of the types that a chain of `getelementptr` steps over with subscripts that are not constant.
fn sizes<'m>(layout: DataLayout<'m>, v: Value<'m>) -> Vec<i128> {
    let (mut found, mut at) = (Vec::new(), v);
    for _ in 0..MAX_DEPTH {
        let Some(gep) = at.as_inst().filter(|i| i.opcode() == Opcode::Gep) else { break };
        let operands = gep.operands();
        let mut ty: Option<Type<'m>> = gep.gep_source_type();
        for (place, index) in operands.iter().skip(1).enumerate() {
            let Some(around) = ty else { break };
            let inner = match (place, around.kind()) {
                (0, _) => Some(around),
                (_, TypeKind::Array(element, _)) => Some(element),
                (_, TypeKind::Struct) => {
                    let field = index.const_int().and_then(|c| usize::try_from(c).ok());
                    ty = field.and_then(|f| around.fields().get(f).copied());
                    continue;
                }
                _ => None,
            };
            let size = inner.and_then(|t| layout.size_of(t)).map(i128::from);
            if let Some(size) = size.filter(|s| index.const_int().is_none() && !found.contains(s)) {
                found.push(size);
            }
            ty = inner;
        }
        let Some(&base) = operands.first() else { break };
        at = base;
    }
    found
}

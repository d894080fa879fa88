//! What a region's builder asks of values: their closed forms, and conditions made of them.

use std::rc::Rc;
use std::sync::Arc;

use analyses::closed_forms::{
    Address, ClosedForm, Fact, LoopExit, Monomial, Need, Poly, Sym, Symbols, TripCount, merge,
};
use rustc_hash::FxHashMap;

use super::cfg::Cfg;
use super::closed_forms::FunctionForms;
use super::fronts::Row;
use super::options::LiftOptions;
use super::prove::Proofs;
use crate::llvm::{DataLayout, Inst, IntPredicate, Module, Opcode, PoisonFlags, TypeKind, Value};

/// A disjunction of conjunctions; exact where the needs hold.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    pub(super) disjuncts: Vec<Vec<Fact>>,
    pub(super) needs: Vec<Rc<Need>>,
}

/// Values of one function.
pub(super) struct Values<'a, 'm> {
    pub(super) cfg: &'a Cfg<'m>,
    pub(super) layout: DataLayout<'m>,
    /// Whether a check can tell where `errno` is.
    pub(super) knows_errno: bool,
    /// What else to ask.
    pub(super) options: &'a LiftOptions,
    /// Functions of libraries that are not to be called.
    pub(super) no_calls: Vec<Arc<str>>,
    /// What users want of each loop, or of one around it.
    pub(super) wishes: Vec<super::hints::Said>,
    forms: FunctionForms<'a, 'm>,
    /// What the region at hand reads again and again, and what of it was read in front.
    fronts: FxHashMap<Value<'m>, Value<'m>>,
    front_symbols: FxHashMap<Sym, Sym>,
    /// What has to hold for them to be the same.
    front_needs: FxHashMap<Sym, Vec<Rc<Need>>>,
    /// Pointers of it that lead to rows of one array.
    rows: FxHashMap<Value<'m>, Row<'m>>,
    depth: u32,
    pub(super) proofs: Proofs,
}

/// Recursion that is deeper than any condition; protects the stack.
const MAX_DEPTH: u32 = 200;

/// Disjuncts of a condition at most: the border of a grid of three dimensions.
pub(super) const MAX_DISJUNCTS: usize = 6;

/// The same before those go that the loops around exclude: the inside of the grid, `i != 0 && i != n - 1 && j != 0 && ..`.
const MAX_POSSIBLE: usize = 1 << MAX_DISJUNCTS;

/// The inclusive range of a signed integer.
pub(super) fn signed_range(bits: u32) -> (i128, i128) {
    let half = 1i128 << (bits.clamp(1, 64) - 1);
    (-half, half - 1)
}

/// Bits of an integer type of at most 64 bits.
pub(super) fn int_bits(v: Value<'_>) -> Option<u32> {
    match v.ty().kind() {
        TypeKind::Integer(bits @ 1..=64) => Some(bits),
        _ => None,
    }
}

impl<'a, 'm> Values<'a, 'm> {
    pub(super) fn new(
        cfg: &'a Cfg<'m>,
        module: &'m Module<'m>,
        options: &'a LiftOptions,
        forms: FunctionForms<'a, 'm>,
        wishes: Vec<super::hints::Said>,
    ) -> Self {
        let (fronts, front_symbols, front_needs, rows) = Default::default();
        let (layout, knows_errno) = (module.data_layout(), module.knows_errno());
        let callable = |name: &&Arc<str>| cfg.function.may_call(name);
        let no_calls = options.functions.iter().filter(|name| !callable(name)).cloned().collect();
        Values {
            cfg,
            layout,
            knows_errno,
            options,
            no_calls,
            wishes,
            forms,
            fronts,
            front_symbols,
            front_needs,
            rows,
            depth: 0,
            proofs: Proofs::default(),
        }
    }

    pub(super) fn symbols(&self) -> &Symbols<Value<'m>> {
        self.forms.symbols()
    }

    pub(super) fn iteration(&mut self, l: usize) -> Poly {
        Poly::symbol(self.forms.iteration(l))
    }

    /// An integer value of at most 64 bits; `None` for other types.
    pub(super) fn integer(&mut self, v: Value<'m>) -> Option<ClosedForm> {
        let form = self.forms.integer(v)?;
        Some(self.form_in_front(form))
    }

    /// Base and distance of a pointer.
    pub(super) fn address(&mut self, v: Value<'m>) -> Option<Address<Value<'m>>> {
        let found = self.forms.address(v)?;
        self.address_in_front(found)
    }

    /// The same from a pointer that is not looked into.
    pub(super) fn address_from(&mut self, base: Value<'m>, v: Value<'m>) -> Option<Address<Value<'m>>> {
        let found = self.forms.address_from(base, v)?;
        self.address_in_front(found)
    }

    /// Takes the values that come first for the others, wherever they occur, and no others any more; likewise pointers for rows.
    pub(super) fn read_in_front(
        &mut self,
        fronts: Vec<(Value<'m>, Value<'m>, Vec<Rc<Need>>)>,
        rows: Vec<(Value<'m>, Row<'m>)>,
    ) {
        self.rows = rows.into_iter().collect();
        self.front_symbols.clear();
        self.front_needs.clear();
        let itself = |forms: &mut FunctionForms<'a, 'm>, v| {
            let poly = forms.integer(v)?.poly;
            poly.symbols().next().filter(|s| poly == Poly::symbol(*s))
        };
        for (again, front, needs) in &fronts {
            let (again, front) = (*again, *front);
            if let (Some(again), Some(front)) =
                (itself(&mut self.forms, again), itself(&mut self.forms, front))
            {
                self.front_symbols.insert(again, front);
                if !needs.is_empty() {
                    self.front_needs.insert(again, needs.clone());
                }
            }
        }
        self.fronts = fronts.into_iter().map(|(again, front, _)| (again, front)).collect();
    }

    /// The value, or what was read in front in its place.
    pub(super) fn in_front(&self, v: Value<'m>) -> Value<'m> {
        self.fronts.get(&v).copied().unwrap_or(v)
    }

    /// The polynomial in terms of what was read in front.
    pub(super) fn poly_in_front(&self, p: Poly) -> Poly {
        if self.front_symbols.is_empty() || !p.symbols().any(|s| self.front_symbols.contains_key(&s)) {
            return p;
        }
        let renamed = p.terms().map(|(monomial, c)| {
            let symbols = monomial.symbols().map(|s| self.front_symbols.get(&s).copied().unwrap_or(s));
            Some((Monomial::product(symbols)?, c))
        });
        renamed.collect::<Option<Vec<_>>>().and_then(Poly::sum).unwrap_or(p)
    }

    fn form_in_front(&self, form: ClosedForm) -> ClosedForm {
        if self.front_symbols.is_empty() {
            return form;
        }
        let mut needs: Vec<Rc<Need>> = form.needs.iter().map(|need| self.need_in_front(need)).collect();
        merge(&mut needs, &self.needs_in_front(&form.poly));
        ClosedForm {
            poly: self.poly_in_front(form.poly),
            needs,
            factors: form.factors.into_iter().map(|f| self.poly_in_front(f)).collect(),
        }
    }

    /// What has to hold for a polynomial to be what it is in terms of what was read in front.
    pub(super) fn needs_in_front(&self, p: &Poly) -> Vec<Rc<Need>> {
        let of = |s: Sym| self.front_needs.get(&s).cloned().unwrap_or_default();
        if self.front_needs.is_empty() { Vec::new() } else { p.symbols().flat_map(of).collect() }
    }

    pub(super) fn need_in_front(&self, need: &Rc<Need>) -> Rc<Need> {
        Rc::new(Need { poly: self.poly_in_front(need.poly.clone()), ..**need })
    }

    fn address_in_front(&self, found: Address<Value<'m>>) -> Option<Address<Value<'m>>> {
        let mut offset = self.form_in_front(found.offset);
        let Some(row) = self.rows.get(&found.base) else {
            return Some(Address { base: self.in_front(found.base), offset, ..found });
        };
        offset.poly = offset.poly.add(&row.offset)?;
        merge(&mut offset.needs, &row.needs);
        offset.factors.push(row.distance.clone());
        Some(Address { base: row.first, offset, ..found })
    }

    pub(super) fn trip_count(&mut self, l: LoopExit) -> Result<TripCount, &'static str> {
        self.forms.trip_count(l)
    }

    /// An `i1` as a formula over polynomials, with at most [`MAX_POSSIBLE`] disjuncts.
    pub(super) fn formula(&mut self, v: Value<'m>, positive: bool) -> Option<Formula> {
        self.depth += 1;
        let f = if self.depth < MAX_DEPTH { self.look_formula(v, positive) } else { None };
        self.depth -= 1;
        f.filter(|f| f.disjuncts.len() <= MAX_POSSIBLE)
    }

    fn look_formula(&mut self, v: Value<'m>, positive: bool) -> Option<Formula> {
        if let Some(c) = v.const_int() {
            let holds = (c != 0) == positive;
            let disjuncts = if holds { vec![vec![]] } else { vec![] };
            return Some(Formula { disjuncts, needs: Vec::new() });
        }
        let inst = v.as_inst()?;
        let both = |this: &mut Self, a: Value<'m>, b: Value<'m>, and: bool| {
            let (a, b) = (this.formula(a, positive)?, this.formula(b, positive)?);
            let mut needs = a.needs;
            merge(&mut needs, &b.needs);
            let disjuncts = if and == positive {
                let pairs =
                    a.disjuncts.iter().flat_map(|x| b.disjuncts.iter().map(move |y| [&x[..], y].concat()));
                pairs.collect()
            } else {
                [a.disjuncts, b.disjuncts].concat()
            };
            Some(Formula { disjuncts, needs })
        };
        match inst.opcode() {
            Opcode::ICmp => self.compare(inst, positive),
            Opcode::And => both(self, inst.operand(0)?, inst.operand(1)?, true),
            Opcode::Or => both(self, inst.operand(0)?, inst.operand(1)?, false),
            Opcode::Select => {
                let (c, a, b) = (inst.operand(0)?, inst.operand(1)?, inst.operand(2)?);
                match (a.const_int(), b.const_int()) {
                    (_, Some(0)) => both(self, c, a, true),
                    (Some(x), _) if x != 0 => both(self, c, b, false),
                    _ => None,
                }
            }
            Opcode::Xor => match inst.operand(1)?.const_int() {
                Some(c) if c != 0 => self.formula(inst.operand(0)?, !positive),
                _ => None,
            },
            _ => None,
        }
    }

    fn compare(&mut self, inst: Inst<'m>, positive: bool) -> Option<Formula> {
        let predicate = inst.int_predicate()?;
        let predicate = if positive { predicate } else { predicate.inverse() };
        let operands = (inst.operand(0)?, inst.operand(1)?);
        if operands.0.ty().kind() == TypeKind::Pointer(0) {
            return self.compare_pointers(inst, predicate, operands);
        }
        let (a, b) = (self.integer(operands.0)?, self.integer(operands.1)?);
        let max = signed_range(int_bits(inst.operand(0)?)?).1;
        let same_sign = inst.poison_flags().contains(PoisonFlags::SAME_SIGN);
        let mut joint = ClosedForm::exact(Poly::default()).with(&a).with(&b);
        let ge = |x: &Poly, y: &Poly, by: i128| Some(Fact { poly: x.sub(y)?.offset(-by)?, equal: false });
        use IntPredicate::*;
        let (a, b) = (&a.poly, &b.poly);
        let signed = match predicate {
            Ult if same_sign => Slt,
            Ule if same_sign => Sle,
            Ugt if same_sign => Sgt,
            Uge if same_sign => Sge,
            other => other,
        };
        let disjuncts = match signed {
            Eq => vec![vec![Fact { poly: a.sub(b)?, equal: true }]],
            Ne => vec![vec![ge(a, b, 1)?], vec![ge(b, a, 1)?]],
            Slt => vec![vec![ge(b, a, 1)?]],
            Sle => vec![vec![ge(b, a, 0)?]],
            Sgt => vec![vec![ge(a, b, 1)?]],
            Sge => vec![vec![ge(a, b, 0)?]],
            // Unsigned x < y with y not negative: 0 <= x and x < y, whatever the sign of x.
            Ult | Ule | Ugt | Uge => {
                let (x, y) = if matches!(signed, Ult | Ule) { (a, b) } else { (b, a) };
                let strict = i128::from(matches!(signed, Ult | Ugt));
                joint = joint.need(y, 0, max);
                let mut all = vec![ge(y, x, strict)?];
                let sign = ge(x, &Poly::default(), 0)?;
                if sign.poly.as_constant().is_none_or(|c| c < 0) {
                    all.push(sign);
                }
                vec![all]
            }
        };
        Some(Formula { disjuncts, needs: joint.needs })
    }

    /// Whether pointers are equal, where it is known how far they are apart.
    fn compare_pointers(
        &mut self,
        inst: Inst<'m>,
        predicate: IntPredicate,
        (a, b): (Value<'m>, Value<'m>),
    ) -> Option<Formula> {
        let apart = self.forms.distance(a, b, self.cfg.home(inst)?)?;
        let apart = self.form_in_front(apart);
        let beyond = |p: Poly| Some(vec![Fact { poly: p.offset(-1)?, equal: false }]);
        let disjuncts = match predicate {
            IntPredicate::Eq => vec![vec![Fact { poly: apart.poly, equal: true }]],
            IntPredicate::Ne => vec![beyond(apart.poly.clone())?, beyond(apart.poly.scale(-1)?)?],
            _ => return None,
        };
        Some(Formula { disjuncts, needs: apart.needs })
    }
}

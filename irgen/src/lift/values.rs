//! Integer and pointer values as polynomials over loop counters and values that are not looked into.
//!
//! A result is the exact integer that the value has, read as signed, wherever its [`Need`]s hold: each states that a
//! polynomial stays in a range, so that nothing wrapped and unsigned reading is signed reading. `nsw` and the like
//! dispense with a need: where such an operation wraps the value is poison, and a poison address or branch condition
//! is undefined behaviour. Nothing is taken for granted; the caller proves needs or has them checked at run time.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::cfg::Cfg;
use super::poly::{Meaning, Poly, Symbols};
use crate::llvm::{DataLayout, GepFlags, Inst, IntPredicate, Opcode, PoisonFlags, Type, TypeKind, Value};

/// A condition under which a description is exact: the value stays within the inclusive bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Need {
    pub(super) poly: Poly,
    pub(super) low: i128,
    pub(super) high: i128,
}

/// A value, exact where its needs hold.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) poly: Poly,
    pub(super) needs: Vec<Rc<Need>>,
    /// Factors of products inside: candidates for strides.
    pub(super) factors: Vec<Poly>,
}

/// A pointer: `base` plus so many bytes.
#[derive(Clone, Debug)]
pub(super) struct Pointer<'m> {
    pub(super) base: Value<'m>,
    pub(super) offset: Expr,
}

/// `poly >= 0`, or `poly == 0`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fact {
    pub(super) poly: Poly,
    pub(super) equal: bool,
}

/// A disjunction of conjunctions; exact where the needs hold.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    pub(super) disjuncts: Vec<Vec<Fact>>,
    pub(super) needs: Vec<Rc<Need>>,
}

/// Values of one function, remembered.
pub(super) struct Values<'a, 'm> {
    pub(super) cfg: &'a Cfg<'m>,
    layout: DataLayout<'m>,
    pub(super) symbols: Symbols<'m>,
    memo: FxHashMap<Value<'m>, Expr>,
    depth: u32,
}

/// Recursion that is deeper than any index computation; protects the stack.
const MAX_DEPTH: u32 = 200;

impl Expr {
    fn exact(poly: Poly) -> Expr {
        Expr { poly, needs: Vec::new(), factors: Vec::new() }
    }

    /// Takes over needs and factors.
    fn with(mut self, other: &Expr) -> Expr {
        merge(&mut self.needs, &other.needs);
        for f in &other.factors {
            if !self.factors.contains(f) {
                self.factors.push(f.clone());
            }
        }
        self
    }

    fn need(mut self, poly: &Poly, low: i128, high: i128) -> Expr {
        if poly.as_constant().is_none_or(|c| c < low || c > high) {
            merge(&mut self.needs, &[Rc::new(Need { poly: poly.clone(), low, high })]);
        }
        self
    }
}

pub(super) fn merge(needs: &mut Vec<Rc<Need>>, more: &[Rc<Need>]) {
    for need in more {
        if !needs.contains(need) {
            needs.push(need.clone());
        }
    }
}

fn scaled(factors: &[Poly], by: &Poly) -> Vec<Poly> {
    factors.iter().filter_map(|f| f.mul(by)).collect()
}

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
    pub(super) fn new(cfg: &'a Cfg<'m>, layout: DataLayout<'m>) -> Self {
        Values { cfg, layout, symbols: Symbols::default(), memo: FxHashMap::default(), depth: 0 }
    }

    pub(super) fn block_of(&self, inst: Inst<'m>) -> Option<usize> {
        self.cfg.home(inst)
    }

    fn symbol(&mut self, v: Value<'m>) -> Expr {
        Expr::exact(Poly::symbol(self.symbols.get(Meaning::Value(v))))
    }

    pub(super) fn iteration(&mut self, l: usize) -> Poly {
        Poly::symbol(self.symbols.get(Meaning::Iteration(l)))
    }

    /// An integer value of at most 64 bits; `None` for other types.
    pub(super) fn integer(&mut self, v: Value<'m>) -> Option<Expr> {
        let bits = int_bits(v)?;
        if let Some(e) = self.memo.get(&v) {
            return Some(e.clone());
        }
        if v.is_undef() {
            return None;
        }
        if let Some(c) = v.const_int() {
            return Some(Expr::exact(Poly::constant(c)));
        }
        self.depth += 1;
        let looked = if self.depth < MAX_DEPTH { v.as_inst().and_then(|i| self.look(i, bits)) } else { None };
        self.depth -= 1;
        let e = match looked {
            Some(e) => e,
            None => self.symbol(v),
        };
        self.memo.insert(v, e.clone());
        Some(e)
    }

    fn look(&mut self, inst: Inst<'m>, bits: u32) -> Option<Expr> {
        let flags = inst.poison_flags();
        let (low, high) = signed_range(bits);
        let binary = |this: &mut Self, combine: fn(&Poly, &Poly) -> Option<Poly>| {
            let (a, b) = (this.integer(inst.operand(0)?)?, this.integer(inst.operand(1)?)?);
            let poly = combine(&a.poly, &b.poly)?;
            Some((Expr::exact(poly.clone()).with(&a).with(&b), a, b))
        };
        let wraps = |e: Expr| {
            if flags.contains(PoisonFlags::NSW) {
                e
            } else {
                let poly = e.poly.clone();
                e.need(&poly, low, high)
            }
        };
        match inst.opcode() {
            Opcode::Add => binary(self, Poly::add).map(|(e, ..)| wraps(e)),
            Opcode::Or if flags.contains(PoisonFlags::DISJOINT) => binary(self, Poly::add).map(|(e, ..)| e),
            Opcode::Sub => binary(self, Poly::sub).map(|(e, ..)| wraps(e)),
            Opcode::Mul => {
                let (mut e, a, b) = binary(self, Poly::mul)?;
                e.factors = [scaled(&a.factors, &b.poly), scaled(&b.factors, &a.poly)].concat();
                e.factors.extend([a.poly, b.poly].into_iter().filter(|p| !p.0.is_empty()));
                Some(wraps(e))
            }
            Opcode::Shl => {
                let by = inst.operand(1)?.const_int().filter(|&s| (0..i128::from(bits) - 1).contains(&s))?;
                let a = self.integer(inst.operand(0)?)?;
                let mut e = Expr::exact(a.poly.scale(1 << by)?).with(&a);
                e.factors = scaled(&a.factors, &Poly::constant(1 << by));
                e.factors.push(Poly::constant(1 << by));
                Some(wraps(e))
            }
            // All bits flipped: -x - 1.
            Opcode::Xor if inst.operand(1)?.const_int() == Some(-1) && bits > 1 => {
                let a = self.integer(inst.operand(0)?)?;
                Some(Expr::exact(a.poly.scale(-1)?.offset(-1)?).with(&a))
            }
            Opcode::SDiv
            | Opcode::UDiv
            | Opcode::SRem
            | Opcode::URem
            | Opcode::LShr
            | Opcode::AShr
            | Opcode::And => self.divide(inst, bits),
            Opcode::SExt => self.integer(inst.operand(0)?),
            Opcode::ZExt => {
                let from = inst.operand(0)?;
                if int_bits(from)? == 1 {
                    return None;
                }
                let e = self.integer(from)?;
                let poly = e.poly.clone();
                let (_, max) = signed_range(int_bits(from)?);
                Some(if flags.contains(PoisonFlags::NNEG) { e } else { e.need(&poly, 0, max) })
            }
            Opcode::Trunc if bits > 1 => self.integer(inst.operand(0)?).map(wraps),
            Opcode::Phi => self.phi(inst, low, high),
            _ => None,
        }
    }

    /// Division and remainder by a positive constant, where the dividend is not negative or rounds down anyway.
    fn divide(&mut self, inst: Inst<'m>, bits: u32) -> Option<Expr> {
        let (a, c) = (self.integer(inst.operand(0)?)?, inst.operand(1)?.const_int()?);
        let (_, high) = signed_range(bits);
        let shift = || (0..i128::from(bits) - 1).contains(&c).then(|| 1i128 << c);
        let (divisor, remainder, rounds_down) = match inst.opcode() {
            Opcode::SDiv | Opcode::UDiv => (c, false, false),
            Opcode::SRem | Opcode::URem => (c, true, false),
            Opcode::LShr => (shift()?, false, false),
            Opcode::AShr => (shift()?, false, true),
            // The low bits, of negative numbers too.
            Opcode::And => (c.checked_add(1).filter(|d| d.count_ones() == 1)?, true, true),
            _ => return None,
        };
        if divisor < 2 || divisor > high {
            return None;
        }
        let quotient = match a.poly.divide_exact(divisor) {
            Some(q) => q,
            None => Poly::symbol(self.symbols.quotient(a.poly.clone(), divisor)),
        };
        let poly = if remainder { a.poly.add_scaled(&quotient, -divisor)? } else { quotient };
        let e = Expr::exact(poly).with(&a);
        Some(if rounds_down { e } else { e.need(&a.poly, 0, high) })
    }

    fn phi(&mut self, phi: Inst<'m>, low: i128, high: i128) -> Option<Expr> {
        let incoming = phi.incoming();
        if let [(only, _)] = incoming[..] {
            return self.loop_closed(phi, only);
        }
        let (l, start, next) = self.recurrence(phi)?;
        let (mut at, mut step, mut flagged) = (next, 0i128, true);
        for _ in 0..8 {
            if at == phi.value() {
                break;
            }
            let inst = at.as_inst()?;
            // At the end of an inner loop, of a value that does not change there, as the whole chain shows.
            if let [(only, _)] = inst.incoming()[..] {
                at = only;
                continue;
            }
            let (a, b) = (inst.operand(0)?, inst.operand(1)?);
            let sign = match inst.opcode() {
                Opcode::Add => 1,
                Opcode::Sub => -1,
                _ => return None,
            };
            let (value, c) = match (b.const_int(), a.const_int()) {
                (Some(c), _) => (a, c),
                (None, Some(c)) if sign > 0 => (b, c),
                _ => return None,
            };
            step = step.checked_add(sign * c)?;
            flagged &= inst.poison_flags().contains(PoisonFlags::NSW);
            at = value;
        }
        if at != phi.value() || step == 0 {
            return None;
        }
        let start = self.integer(start)?;
        let poly = start.poly.add_scaled(&self.iteration(l), step)?;
        let e = Expr::exact(poly.clone()).with(&start);
        Some(if flagged { e } else { e.need(&poly, low, high) })
    }

    /// Of a phi at the end of a loop: its operand, if that does not change in the loop.
    fn loop_closed(&mut self, phi: Inst<'m>, only: Value<'m>) -> Option<Expr> {
        let e = self.integer(only)?;
        let block = self.block_of(phi)?;
        let around = self.cfg.loop_of[block];
        let inside = |m: Meaning<'m>, this: &Self| match m {
            Meaning::Quotient(_) => true,
            Meaning::Iteration(l) => around.is_none_or(|a| !this.cfg.loop_within(a, l)),
            Meaning::Value(v) => v.as_inst().is_some_and(|i| {
                this.block_of(i)
                    .and_then(|b| this.cfg.loop_of[b])
                    .is_some_and(|l| around.is_none_or(|a| !this.cfg.loop_within(a, l)))
            }),
        };
        let leaves = |p: &Poly| self.symbols.all(p, &|m| !inside(m, self));
        (leaves(&e.poly) && e.needs.iter().all(|n| leaves(&n.poly))).then_some(e)
    }

    /// `(loop, value at first, value for the next iteration)` of a phi in the header of a loop with one latch.
    pub(super) fn recurrence(&self, phi: Inst<'m>) -> Option<(usize, Value<'m>, Value<'m>)> {
        let block = self.block_of(phi)?;
        let l = self.cfg.loop_of[block].filter(|&l| self.cfg.loops[l].header == block)?;
        let [latch] = self.cfg.loops[l].latches[..] else { return None };
        match phi.incoming()[..] {
            [(a, from), (b, _)] if from == self.cfg.blocks[latch] => Some((l, b, a)),
            [(a, _), (b, from)] if from == self.cfg.blocks[latch] => Some((l, a, b)),
            _ => None,
        }
    }

    /// Base and distance of a pointer.
    pub(super) fn pointer(&mut self, v: Value<'m>) -> Option<Pointer<'m>> {
        self.depth += 1;
        let p = if self.depth < MAX_DEPTH { self.look_pointer(v) } else { None };
        self.depth -= 1;
        p
    }

    fn look_pointer(&mut self, v: Value<'m>) -> Option<Pointer<'m>> {
        let itself = |base| Some(Pointer { base, offset: Expr::exact(Poly::default()) });
        if v.ty().kind() != TypeKind::Pointer(0) {
            return None;
        }
        let Some(inst) = v.as_inst() else {
            // Constant addresses: of globals, perhaps with an offset.
            return match (v.const_expr_opcode(), v.const_gep_source_type()) {
                (None, _) => itself(v),
                (Some(_), Some(ty)) => {
                    let operands = v.operands();
                    let base = self.pointer(*operands.first()?)?;
                    let (distance, _) = self.distance(ty, &operands, false)?;
                    let poly = base.offset.poly.add(&distance.poly)?;
                    poly.as_constant()?;
                    Some(Pointer { base: base.base, offset: Expr::exact(poly) })
                }
                _ => None,
            };
        };
        match inst.opcode() {
            Opcode::Gep => {
                let base = self.pointer(inst.operand(0)?)?;
                let (distance, exact) = self.gep(inst)?;
                let poly = base.offset.poly.add(&distance.poly)?;
                let mut offset = Expr::exact(poly.clone()).with(&base.offset).with(&distance);
                if !exact {
                    offset = offset.need(&poly, i128::from(i64::MIN), i128::from(i64::MAX));
                }
                Some(Pointer { base: base.base, offset })
            }
            Opcode::Phi => {
                if let [(only, _)] = inst.incoming()[..] {
                    let p = self.pointer(only)?;
                    return if p.offset.poly.as_constant().is_some() { Some(p) } else { itself(v) };
                }
                let Some((l, start, next)) = self.recurrence(inst) else { return itself(v) };
                let Some(step) = self.constant_distance(next, v) else { return itself(v) };
                let start = self.pointer(start)?;
                let poly = start.offset.poly.add_scaled(&self.iteration(l), step)?;
                let (low, high) = (i128::from(i64::MIN), i128::from(i64::MAX));
                let mut offset = Expr::exact(poly.clone()).with(&start.offset).need(&poly, low, high);
                offset.factors.push(Poly::constant(step.abs()));
                Some(Pointer { base: start.base, offset })
            }
            _ => itself(v),
        }
    }

    /// How many bytes `v` is beyond `base`, if that is a constant.
    fn constant_distance(&mut self, mut v: Value<'m>, base: Value<'m>) -> Option<i128> {
        let mut sum = 0i128;
        for _ in 0..8 {
            if v == base {
                return Some(sum);
            }
            let gep = v.as_inst().filter(|i| i.opcode() == Opcode::Gep)?;
            sum = sum.checked_add(self.gep(gep)?.0.poly.as_constant()?)?;
            v = gep.operand(0)?;
        }
        None
    }

    /// What a `getelementptr` adds, in bytes, and whether that cannot wrap.
    fn gep(&mut self, gep: Inst<'m>) -> Option<(Expr, bool)> {
        let exact = gep.gep_flags()?.intersects(GepFlags::INBOUNDS | GepFlags::NUSW);
        self.distance(gep.gep_source_type()?, &gep.operands(), exact)
    }

    fn distance(&mut self, mut ty: Type<'m>, operands: &[Value<'m>], exact: bool) -> Option<(Expr, bool)> {
        let mut sum = Expr::exact(Poly::default());
        for (place, &index) in operands.iter().skip(1).enumerate() {
            let size = if place == 0 {
                self.layout.size_of(ty)?
            } else {
                match ty.kind() {
                    TypeKind::Array(element, _) => {
                        ty = element;
                        self.layout.size_of(ty)?
                    }
                    TypeKind::Struct => {
                        let field = u32::try_from(index.const_int()?).ok()?;
                        let offset = self.layout.field_offset(ty, field)?;
                        sum.poly = sum.poly.offset(i128::from(offset))?;
                        ty = *ty.fields().get(field as usize)?;
                        continue;
                    }
                    _ => return None,
                }
            };
            let e = self.integer(index)?;
            let size = i128::from(size);
            sum.poly = sum.poly.add_scaled(&e.poly, size)?;
            merge(&mut sum.needs, &e.needs);
            let mut factors = vec![Poly::constant(size)];
            for f in &e.factors {
                factors.push(f.scale(size)?);
            }
            for f in factors {
                if !sum.factors.contains(&f) && e.poly.as_constant().is_none() {
                    sum.factors.push(f);
                }
            }
        }
        Some((sum, exact))
    }

    /// An `i1` as a formula over polynomials, with at most a few disjuncts.
    pub(super) fn formula(&mut self, v: Value<'m>, positive: bool) -> Option<Formula> {
        self.depth += 1;
        let f = if self.depth < MAX_DEPTH { self.look_formula(v, positive) } else { None };
        self.depth -= 1;
        f.filter(|f| f.disjuncts.len() <= 4)
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
        let (a, b) = (self.integer(inst.operand(0)?)?, self.integer(inst.operand(1)?)?);
        let max = signed_range(int_bits(inst.operand(0)?)?).1;
        let same_sign = inst.poison_flags().contains(PoisonFlags::SAME_SIGN);
        let mut joint = Expr::exact(Poly::default()).with(&a).with(&b);
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
}

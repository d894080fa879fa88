//! Closed forms read from the instructions: arithmetic, and phis that grow by a constant in each iteration.
//!
//! A result is the exact integer that the value has, read as signed, wherever its [needs](analyses::closed_forms::Need) hold: each states that a
//! polynomial stays in a range, so that nothing wrapped and unsigned reading is signed reading. `nsw` and the like
//! dispense with a need: where such an operation wraps the value is poison, and a poison address or branch condition
//! is undefined behaviour. Nothing is taken for granted; the caller proves needs or has them checked at run time.

use rustc_hash::FxHashMap;

use analyses::closed_forms::{
    Address, ClosedForm, ClosedForms, LoopExit, Meaning, Poly, Sym, Symbols, TripCount, merge,
};

use super::super::cfg::Cfg;
use super::super::values::{int_bits, signed_range};
use super::growth::Growth;
use super::ranges::{Range, address_of};
use super::trip;
use crate::llvm::{DataLayout, GepFlags, Inst, Opcode, PoisonFlags, Type, TypeKind, Value};

/// Affine recurrences of one function.
pub(super) struct Recurrences<'a, 'm> {
    pub(super) cfg: &'a Cfg<'m>,
    layout: DataLayout<'m>,
    pub(super) symbols: Symbols<Value<'m>>,
    memo: FxHashMap<Value<'m>, ClosedForm>,
    depth: u32,
    /// Phis that are being looked at: what follows from them is not known meanwhile.
    pub(super) open: Vec<Value<'m>>,
    /// Pointers between which elements were counted; looked for when the first two of different bases are compared.
    pub(super) ranges: Option<Vec<Range<'m>>>,
}

/// Recursion that is deeper than any index computation; protects the stack.
const MAX_DEPTH: u32 = 200;

fn scaled(factors: &[Poly], by: &Poly) -> Vec<Poly> {
    factors.iter().filter_map(|f| f.mul(by)).collect()
}

impl<'m> ClosedForms<Value<'m>> for Recurrences<'_, 'm> {
    fn symbols(&self) -> &Symbols<Value<'m>> {
        &self.symbols
    }

    fn iteration(&mut self, l: usize) -> Sym {
        self.symbols.get(Meaning::Iteration(l))
    }

    fn integer(&mut self, v: Value<'m>) -> Option<ClosedForm> {
        self.value(v)
    }

    fn address(&mut self, v: Value<'m>) -> Option<Address<Value<'m>>> {
        self.pointer(v, None)
    }

    fn address_from(&mut self, base: Value<'m>, v: Value<'m>) -> Option<Address<Value<'m>>> {
        self.pointer(v, Some(base)).filter(|a| a.base == base)
    }

    fn distance(&mut self, from: Value<'m>, to: Value<'m>, at: usize) -> Option<ClosedForm> {
        let (from, to) = self.places(from, to, at, false)?;
        let poly = to.poly.sub(&from.poly)?;
        let distance = ClosedForm::exact(poly.clone()).with(&from).with(&to);
        // As addresses, they are so far apart modulo two to their bits.
        Some(distance.need(&poly, i64::MIN.into(), i64::MAX.into()))
    }

    fn trip_count(&mut self, l: LoopExit) -> Result<TripCount, &'static str> {
        trip::count(self, l, true)
    }
}

impl<'a, 'm> Recurrences<'a, 'm> {
    pub(super) fn new(cfg: &'a Cfg<'m>, layout: DataLayout<'m>) -> Self {
        Recurrences {
            cfg,
            layout,
            symbols: Symbols::default(),
            memo: FxHashMap::default(),
            depth: 0,
            open: Vec::new(),
            ranges: None,
        }
    }

    pub(super) fn block_of(&self, inst: Inst<'m>) -> Option<usize> {
        self.cfg.home(inst)
    }

    fn symbol(&mut self, v: Value<'m>) -> ClosedForm {
        ClosedForm::exact(Poly::symbol(self.symbols.get(Meaning::Value(v))))
    }

    /// An integer value of at most 64 bits; `None` for other types.
    pub(super) fn value(&mut self, v: Value<'m>) -> Option<ClosedForm> {
        let bits = int_bits(v)?;
        if let Some(e) = self.memo.get(&v) {
            return Some(e.clone());
        }
        if v.is_undef() {
            return None;
        }
        if let Some(c) = v.const_int() {
            return Some(ClosedForm::exact(Poly::constant(c)));
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

    fn look(&mut self, inst: Inst<'m>, bits: u32) -> Option<ClosedForm> {
        let flags = inst.poison_flags();
        let (low, high) = signed_range(bits);
        let binary = |this: &mut Self, combine: fn(&Poly, &Poly) -> Option<Poly>| {
            let (a, b) = (this.value(inst.operand(0)?)?, this.value(inst.operand(1)?)?);
            let poly = combine(&a.poly, &b.poly)?;
            Some((ClosedForm::exact(poly.clone()).with(&a).with(&b), a, b))
        };
        let wraps = |e: ClosedForm| {
            if flags.contains(PoisonFlags::NSW) {
                e
            } else {
                let poly = e.poly.clone();
                e.need(&poly, low, high)
            }
        };
        match inst.opcode() {
            Opcode::Add => {
                binary(self, Poly::add).map(|(e, ..)| self.between(&e, inst).unwrap_or_else(|| wraps(e)))
            }
            Opcode::Or if flags.contains(PoisonFlags::DISJOINT) => binary(self, Poly::add).map(|(e, ..)| e),
            Opcode::Sub => {
                let (e, ..) = binary(self, Poly::sub)?;
                match self.between(&e, inst) {
                    Some(known) => Some(known),
                    // Of two addresses that nothing is known of only the distance is a number that is not too large.
                    None if inst.operands().into_iter().all(|v| address_of(v).is_some()) => None,
                    None => Some(wraps(e)),
                }
            }
            Opcode::Mul => {
                let (mut e, a, b) = binary(self, Poly::mul)?;
                e.factors = [scaled(&a.factors, &b.poly), scaled(&b.factors, &a.poly)].concat();
                e.factors.extend([a.poly, b.poly].into_iter().filter(|p| !p.is_zero()));
                Some(wraps(e))
            }
            Opcode::Shl => {
                let by = inst.operand(1)?.const_int().filter(|&s| (0..i128::from(bits) - 1).contains(&s))?;
                let a = self.value(inst.operand(0)?)?;
                let mut e = ClosedForm::exact(a.poly.scale(1 << by)?).with(&a);
                e.factors = scaled(&a.factors, &Poly::constant(1 << by));
                e.factors.push(Poly::constant(1 << by));
                Some(wraps(e))
            }
            // All bits flipped: -x - 1.
            Opcode::Xor if inst.operand(1)?.const_int() == Some(-1) && bits > 1 => {
                let a = self.value(inst.operand(0)?)?;
                Some(ClosedForm::exact(a.poly.scale(-1)?.offset(-1)?).with(&a))
            }
            Opcode::SDiv
            | Opcode::UDiv
            | Opcode::SRem
            | Opcode::URem
            | Opcode::LShr
            | Opcode::AShr
            | Opcode::And => self.divide(inst, bits),
            Opcode::SExt => self.value(inst.operand(0)?),
            Opcode::ZExt => {
                let from = inst.operand(0)?;
                if int_bits(from)? == 1 {
                    return None;
                }
                let e = self.value(from)?;
                let poly = e.poly.clone();
                let (_, max) = signed_range(int_bits(from)?);
                Some(if flags.contains(PoisonFlags::NNEG) { e } else { e.need(&poly, 0, max) })
            }
            Opcode::Trunc if bits > 1 => self.value(inst.operand(0)?).map(wraps),
            Opcode::Phi => self.phi(inst, low, high),
            _ => None,
        }
    }

    /// Division and remainder by a positive constant, where the dividend is not negative or rounds down anyway.
    fn divide(&mut self, inst: Inst<'m>, bits: u32) -> Option<ClosedForm> {
        let (a, c) = (self.value(inst.operand(0)?)?, inst.operand(1)?.const_int()?);
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
        let e = ClosedForm::exact(poly).with(&a);
        Some(if rounds_down { e } else { e.need(&a.poly, 0, high) })
    }

    fn phi(&mut self, phi: Inst<'m>, low: i128, high: i128) -> Option<ClosedForm> {
        let incoming = phi.incoming();
        if let [(only, _)] = incoming[..] {
            return self.loop_closed(phi, only, low, high);
        }
        let (l, start, next) = self.cfg.recurrence(phi)?;
        let Growth { step, exact, needs } = self.growth(next, phi.value(), l)?;
        if step.is_zero() {
            return None;
        }
        let start = self.value(start)?;
        let poly = start.poly.add(&step.mul(&Poly::symbol(self.iteration(l)))?)?;
        let mut e = ClosedForm::exact(poly.clone()).with(&start);
        merge(&mut e.needs, &needs);
        e.factors.extend((step.degree() > 0).then_some(step));
        Some(if exact { e } else { e.need(&poly, low, high) })
    }

    /// Of a phi at the end of a loop: its operand, if that does not change in the loop, or grows the same in each iteration.
    fn loop_closed(&mut self, phi: Inst<'m>, only: Value<'m>, low: i128, high: i128) -> Option<ClosedForm> {
        let e = self.value(only)?;
        let around = self.cfg.loop_of[self.block_of(phi)?];
        if self.is_known_in(&e, around) {
            return Some(e);
        }
        let (end, exact) = self.behind(only, around)?;
        let poly = end.poly.clone();
        let end = if exact { end } else { end.need(&poly, low, high) };
        self.is_known_in(&end, around).then_some(end)
    }

    /// Whether nothing in a closed form belongs to other loops than `around` and those around it.
    fn is_known_in(&self, e: &ClosedForm, around: Option<usize>) -> bool {
        let inside = |m: Meaning<Value<'m>>, this: &Self| match m {
            Meaning::Quotient(_) => true,
            Meaning::Iteration(l) => around.is_none_or(|a| !this.cfg.loop_within(a, l)),
            Meaning::Value(v) => v.as_inst().is_some_and(|i| {
                this.block_of(i)
                    .and_then(|b| this.cfg.loop_of[b])
                    .is_some_and(|l| around.is_none_or(|a| !this.cfg.loop_within(a, l)))
            }),
        };
        let leaves = |p: &Poly| self.symbols.all(p, &|m| !inside(m, self));
        leaves(&e.poly) && e.needs.iter().all(|n| leaves(&n.poly))
    }

    /// The address of a pointer; `from` is one that is not looked into.
    fn pointer(&mut self, v: Value<'m>, from: Option<Value<'m>>) -> Option<Address<Value<'m>>> {
        self.depth += 1;
        let p = if self.depth < MAX_DEPTH { self.look_pointer(v, from) } else { None };
        self.depth -= 1;
        p
    }

    fn look_pointer(&mut self, v: Value<'m>, from: Option<Value<'m>>) -> Option<Address<Value<'m>>> {
        let itself =
            |base| Some(Address { base, offset: ClosedForm::exact(Poly::default()), sizes: Vec::new() });
        if from == Some(v) {
            return itself(v);
        }
        if v.ty().kind() != TypeKind::Pointer(0) {
            return None;
        }
        let Some(inst) = v.as_inst() else {
            // Constant addresses: of globals, perhaps with an offset.
            return match (v.const_expr_opcode(), v.const_gep_source_type()) {
                (None, _) => itself(v),
                (Some(_), Some(ty)) => {
                    let operands = v.operands();
                    let base = self.address(*operands.first()?)?;
                    let (distance, ..) = self.stepped(ty, &operands, false)?;
                    let poly = base.offset.poly.add(&distance.poly)?;
                    poly.as_constant()?;
                    Some(Address { base: base.base, offset: ClosedForm::exact(poly), sizes: Vec::new() })
                }
                _ => None,
            };
        };
        match inst.opcode() {
            Opcode::Gep => {
                let base = self.pointer(inst.operand(0)?, from)?;
                self.beyond(base, inst)
            }
            Opcode::Phi => {
                if let [(only, _)] = inst.incoming()[..] {
                    let p = self.pointer(only, from)?;
                    return if p.offset.poly.as_constant().is_some() { Some(p) } else { itself(v) };
                }
                let Some((l, start, next)) = self.cfg.recurrence(inst) else { return itself(v) };
                let Some(Growth { step, needs, .. }) = self.growth(next, v, l) else { return itself(v) };
                let start = self.pointer(start, from)?;
                let poly = start.offset.poly.add(&step.mul(&Poly::symbol(self.iteration(l)))?)?;
                let (low, high) = (i128::from(i64::MIN), i128::from(i64::MAX));
                let mut offset = ClosedForm::exact(poly.clone()).with(&start.offset).need(&poly, low, high);
                merge(&mut offset.needs, &needs);
                let stride = step.as_constant().map_or(step, |c| Poly::constant(c.abs()));
                offset.factors.push(stride);
                Some(Address { base: start.base, offset, sizes: start.sizes })
            }
            _ => itself(v),
        }
    }

    /// The address of a `getelementptr`, from that of its pointer.
    fn beyond(&mut self, from: Address<Value<'m>>, gep: Inst<'m>) -> Option<Address<Value<'m>>> {
        let (distance, exact, mut sizes) = self.gep(gep)?;
        let poly = from.offset.poly.add(&distance.poly)?;
        let mut offset = ClosedForm::exact(poly.clone()).with(&from.offset).with(&distance);
        if !exact {
            offset = offset.need(&poly, i128::from(i64::MIN), i128::from(i64::MAX));
        }
        sizes.extend(from.sizes);
        Some(Address { base: from.base, offset, sizes })
    }

    /// What a `getelementptr` adds, in bytes, whether that cannot wrap, and the sizes of the types it steps over.
    pub(super) fn gep(&mut self, gep: Inst<'m>) -> Option<(ClosedForm, bool, Vec<i128>)> {
        let exact = gep.gep_flags()?.intersects(GepFlags::INBOUNDS | GepFlags::NUSW);
        self.stepped(gep.gep_source_type()?, &gep.operands(), exact)
    }

    fn stepped(
        &mut self,
        mut ty: Type<'m>,
        operands: &[Value<'m>],
        exact: bool,
    ) -> Option<(ClosedForm, bool, Vec<i128>)> {
        let (mut sum, mut sizes) = (ClosedForm::exact(Poly::default()), Vec::new());
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
            let e = self.value(index)?;
            let size = i128::from(size);
            sum.poly = sum.poly.add_scaled(&e.poly, size)?;
            merge(&mut sum.needs, &e.needs);
            let mut factors = vec![Poly::constant(size)];
            if e.poly.as_constant().is_none() && !sizes.contains(&size) {
                sizes.push(size);
            }
            for f in &e.factors {
                factors.push(f.scale(size)?);
            }
            for f in factors {
                if !sum.factors.contains(&f) && e.poly.as_constant().is_none() {
                    sum.factors.push(f);
                }
            }
        }
        Some((sum, exact, sizes))
    }
}

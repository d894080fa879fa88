//! Where the values that statements compute come from: constants, affine expressions, loads, other operations,
//! scalars that cross statements.

use std::rc::Rc;

use loop_tree::{Affine, AliasClass, Constant, ScalarType};
use rustc_hash::FxHashMap;

use super::CallBinding;
use super::accumulate::Element;
use super::body::Bodies;
use super::called::Argument;
use super::context::{Context, Place};
use super::memory::{Memory, Touch, scalar_type};
use super::ops::may_set_errno;
use crate::llvm::{Effects, Inst, Opcode, Value};
use crate::mutation::{self, Rule};
use analyses::closed_forms::{Meaning, Poly};

/// Code without loops, and the effects that it must have.
#[derive(Default)]
pub(super) struct Section<'m> {
    pub(super) blocks: Vec<usize>,
    /// The block that only tests whether the loop goes on, if it is among them.
    pub(super) test: Option<usize>,
    pub(super) place: Place,
    pub(super) roots: Vec<Root<'m>>,
}

/// An effect of a section.
#[derive(Clone, Copy, Debug)]
pub(super) enum Root<'m> {
    Store(Inst<'m>),
    /// A call of which nothing is known.
    Call(Inst<'m>),
    /// Sets a scalar at the end of the section.
    Set {
        slot: usize,
        value: Value<'m>,
    },
}

/// A scalar that crosses statements.
#[derive(Clone, Debug)]
pub(super) struct Slot<'m> {
    pub(super) ty: ScalarType,
    pub(super) incoming: Option<Value<'m>>,
    pub(super) outgoing: Vec<Inst<'m>>,
    pub(super) written: bool,
    pub(super) of: Value<'m>,
}

/// A phi of a loop of the region that is no induction variable by use.
#[derive(Clone, Copy)]
pub(super) struct Carried<'m> {
    pub(super) l: usize,
    pub(super) start: Value<'m>,
    pub(super) next: Value<'m>,
    /// Sections in front of the loop and at the end of its body.
    pub(super) front: usize,
    pub(super) latch: usize,
    /// The section directly behind the loop.
    pub(super) after: Option<usize>,
    pub(super) test_first: bool,
}

/// A phi where the two ways of a condition around loops meet: the section at the end of each way, and its value.
#[derive(Clone, Copy)]
pub(super) struct Merge<'m> {
    pub(super) yes: (usize, Value<'m>),
    pub(super) no: (usize, Value<'m>),
    /// The section in front and some value, where its scalar is set first so that each iteration has its own.
    pub(super) first: Option<(usize, Value<'m>)>,
}

/// How a value is obtained in a section.
pub(super) enum Leaf<'m> {
    Const(Constant),
    Affine(Affine),
    Slot(usize),
    Load(Inst<'m>),
    /// What a store of an earlier section has left in its element.
    Held(Inst<'m>),
    /// The same as another value.
    Same(Value<'m>),
    /// Computed from operands.
    Op(Inst<'m>),
    /// What a call of which nothing is known returned.
    Called(Inst<'m>),
    /// A number in what such a call returned.
    Part(Inst<'m>),
    /// Chosen by the way that control took.
    Join(Inst<'m>),
}

/// Why a region cannot be described.
#[derive(Debug)]
pub(super) struct Refusal<'m> {
    pub(super) inst: Option<Inst<'m>>,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: &'static str,
}

pub(super) fn refuse<'m>(inst: Option<Inst<'m>>, code: &'static str, message: &str) -> Refusal<'m> {
    Refusal { inst, code, message: message.to_owned(), help: "" }
}

/// Why an instruction with effects, or a call, cannot be part of a statement, and what would help.
pub(super) fn impure<'m>(inst: Inst<'m>) -> Refusal<'m> {
    let effects = inst.effects();
    let what = inst.value().to_string();
    let what = without_metadata(&what);
    // Memory that the loops could touch, not only what the program cannot see.
    let shared =
        inst.as_call().map(|c| c.memory_effects()).is_some_and(|m| !(m.arguments | m.other).is_empty());
    let (code, message, help) = if inst.is_volatile() || effects.contains(Effects::VOLATILE) {
        let message = format!("a volatile access keeps its place among all others: {what}");
        ("volatile", message, "drop `volatile` where nothing outside of the program sees the access")
    } else if effects.contains(Effects::ATOMIC) {
        let message = format!("an atomic access or a fence that may order other accesses: {what}");
        ("atomic", message, "use plain accesses, or stores with relaxed ordering, inside of loops")
    } else if may_set_errno(inst) {
        let message = format!("a function that may set errno, which the program may read: {what}");
        ("errno", message, "compile with -fno-math-errno, if errno is not read after such calls")
    } else if effects.contains(Effects::THROW) && !shared {
        let message =
            format!("what throws or unwinds ends the loops early, so nothing moves across it: {what}");
        ("throws", message, "declare the function `nothrow` (`noexcept`, `nounwind`) if it never does")
    } else if !effects.contains(Effects::WILL_RETURN) && !shared {
        let message = format!("what may not return ends the loops early, so nothing moves across it: {what}");
        ("opaque", message, "declare the function `willreturn` if it always does")
    } else {
        let message = format!("an opaque call may read and write what the loops do: {what}");
        ("opaque", message, "make the function visible so that it is inlined, or declare it `const` if it is")
    };
    Refusal { inst: Some(inst), code, message, help }
}

/// An instruction as it is printed, without the numbers of attributes and metadata at its end, which say nothing outside of
/// the module.
fn without_metadata(text: &str) -> &str {
    let text = text.split(", !").next().unwrap_or(text);
    match text.rsplit_once(" #") {
        Some((head, number)) if number.bytes().all(|b| b.is_ascii_digit()) => head,
        _ => text,
    }
}

/// Everything about the values of one region.
pub(super) struct Data<'v, 'a, 'm> {
    pub(super) cx: Context<'v, 'a, 'm>,
    pub(super) sections: Vec<Section<'m>>,
    pub(super) section_of: FxHashMap<Inst<'m>, usize>,
    /// Order of instructions within their section.
    pub(super) order: FxHashMap<Inst<'m>, usize>,
    pub(super) memories: Vec<Memory<'m>>,
    pub(super) touches: FxHashMap<Inst<'m>, Touch<'m>>,
    /// Alias class of each memory.
    pub(super) classes: Vec<AliasClass>,
    pub(super) slots: Vec<Slot<'m>>,
    pub(super) slot_of: FxHashMap<Value<'m>, usize>,
    pub(super) carried: FxHashMap<Inst<'m>, Carried<'m>>,
    pub(super) merges: FxHashMap<Inst<'m>, Merge<'m>>,
    /// The keys of `carried` in the order of the text.
    pub(super) phis: Vec<Inst<'m>>,
    /// Carried values that stand for an array element.
    pub(super) elements: FxHashMap<Inst<'m>, Element<'m>>,
    /// Pairs of memories that must not overlap.
    pub(super) apart: Vec<(usize, usize)>,
    /// Calls that may set `errno`, all to the same value.
    pub(super) errno: Vec<Inst<'m>>,
    /// Calls of which nothing is known, each with its arguments once these are described.
    pub(super) called: FxHashMap<Inst<'m>, Rc<[Argument<'m>]>>,
    /// Whether such calls may be statements.
    pub(super) calls: bool,
    /// The calls of operations, by their numbers.
    pub(super) bindings: Vec<CallBinding<'m>>,
    /// Sections with roots that were not looked at yet.
    pub(super) fresh: Vec<(usize, Root<'m>)>,
    /// Headers of loops that are tested first: their last execution belongs to no iteration.
    pub(super) tested_headers: FxHashMap<usize, usize>,
    /// Control flow of sections that was asked for.
    pub(super) bodies: Bodies,
}

/// Recomputed rather than handed on: at most so many operations and loads.
const RECOMPUTE: (usize, usize) = (10, 3);

impl<'m> Data<'_, '_, 'm> {
    pub(super) fn leaf(&mut self, v: Value<'m>, section: usize) -> Result<Leaf<'m>, Refusal<'m>> {
        let v = self.cx.values.in_front(v);
        let inst = v.as_inst();
        let ty = scalar_type(v.ty())
            .ok_or_else(|| refuse(inst, "type", "a value of a type that statements do not have"))?;
        // Any value will do.
        if v.is_undef() {
            return Ok(Leaf::Const(Constant { ty, bits: 0 }));
        }
        let mask = if ty.bits() == 64 { u64::MAX } else { (1 << ty.bits()) - 1 };
        if let Some(c) = v.const_int() {
            return Ok(Leaf::Const(Constant { ty, bits: c as u64 & mask }));
        }
        if let Some(c) = v.const_fp() {
            return Ok(Leaf::Const(Constant { ty, bits: c.bits as u64 }));
        }
        if ty != ScalarType::I1
            && !ty.is_float()
            && let Some(e) = self.affine_leaf(v, section)
        {
            return Ok(Leaf::Affine(e));
        }
        if self.cx.is_outside(v) {
            return Ok(Leaf::Slot(self.live_in(v, ty)));
        }
        let Some(inst) = inst else { return Err(refuse(None, "value", "a value that is not understood")) };
        if let Some(c) = self.carried.get(&inst).copied() {
            let inside = self.sections[section].place.loops.contains(&c.l);
            if !inside && !c.test_first {
                return Err(refuse(
                    Some(inst),
                    "last-value",
                    "the value of the last iteration is used after the loop",
                ));
            }
            return Ok(Leaf::Slot(self.carried_slot(inst, c, ty)));
        }
        if let Some(m) = self.merges.get(&inst).copied() {
            if let Some(&slot) = self.slot_of.get(&v) {
                return Ok(Leaf::Slot(slot));
            }
            let slot = self.add_slot(v, ty, None);
            self.slots[slot].written = true;
            for (at, value) in m.first.into_iter().chain([m.yes, m.no]) {
                self.add_root(at, Root::Set { slot, value });
            }
            return Ok(Leaf::Slot(slot));
        }
        let Some(&home) = self.section_of.get(&inst) else {
            return Err(refuse(Some(inst), "value", "a value from outside of the described code"));
        };
        let incoming = inst.incoming();
        if let [(only, _)] = incoming[..]
            && (home == section || self.cx.is_outside(only))
        {
            return Ok(Leaf::Same(only));
        }
        if let [(only, _)] = incoming[..]
            && self.is_fixed(only, section, &mut 0)
        {
            return Ok(Leaf::Same(only));
        }
        if home == section {
            return Ok(match inst.opcode() {
                Opcode::Load => Leaf::Load(inst),
                Opcode::Phi => Leaf::Join(inst),
                _ if self.called.contains_key(&inst) => Leaf::Called(inst),
                _ if self.part(inst).is_some() => Leaf::Part(inst),
                _ => Leaf::Op(inst),
            });
        }
        let loops = &self.sections[section].place.loops.clone();
        let prefix = loops.starts_with(&self.sections[home].place.loops);
        if !prefix && self.is_fixed(v, section, &mut 0) {
            return Ok(Leaf::Op(inst));
        }
        if prefix && self.recomputable(v, home, &mut (0, 0)) {
            return Ok(if inst.opcode() == Opcode::Load { Leaf::Load(inst) } else { Leaf::Op(inst) });
        }
        // After the loop, what it hands to the next iteration is what its scalar holds.
        let handed = self
            .phis
            .iter()
            .filter_map(|p| Some((*p, *self.carried.get(p)?)))
            .find(|(_, c)| c.next == v && !c.test_first && !loops.contains(&c.l));
        if let Some((phi, c)) = handed {
            return Ok(Leaf::Slot(self.carried_slot(phi, c, ty)));
        }
        let block = self.cx.values.cfg.home(inst).unwrap_or(0);
        if let Some(l) = self.tested_headers.get(&block)
            && !loops.contains(l)
        {
            return Err(refuse(
                Some(inst),
                "last-value",
                "a value of the loop's test is used after the loop",
            ));
        }
        if let Some(store) = self.held(v, home, section) {
            return Ok(Leaf::Held(store));
        }
        if let Some(&slot) = self.slot_of.get(&v) {
            return Ok(Leaf::Slot(slot));
        }
        let slot = self.add_slot(v, ty, None);
        self.slots[slot].written = true;
        self.add_root(home, Root::Set { slot, value: v });
        Ok(Leaf::Slot(slot))
    }

    pub(super) fn add_root(&mut self, section: usize, root: Root<'m>) {
        self.sections[section].roots.push(root);
        self.fresh.push((section, root));
    }

    fn add_slot(&mut self, v: Value<'m>, ty: ScalarType, incoming: Option<Value<'m>>) -> usize {
        let slot = self.slots.len();
        self.slots.push(Slot { ty, incoming, outgoing: Vec::new(), written: false, of: v });
        self.slot_of.insert(v, slot);
        slot
    }

    /// A scalar of its own that a section sets at its end.
    pub(super) fn set_at_end(&mut self, section: usize, value: Value<'m>, ty: ScalarType) -> usize {
        let slot = self.slots.len();
        self.slots.push(Slot { ty, incoming: None, outgoing: Vec::new(), written: true, of: value });
        self.add_root(section, Root::Set { slot, value });
        slot
    }

    pub(super) fn live_in(&mut self, v: Value<'m>, ty: ScalarType) -> usize {
        match self.slot_of.get(&v) {
            Some(&slot) => slot,
            None => self.add_slot(v, ty, Some(v)),
        }
    }

    /// The scalar of a carried value, which asks for the effects that set it.
    pub(super) fn carried_slot(&mut self, phi: Inst<'m>, c: Carried<'m>, ty: ScalarType) -> usize {
        if let Some(&slot) = self.slot_of.get(&phi.value()) {
            return slot;
        }
        // What one scalar hands to a loop inside and takes back is one scalar.
        let around = self.phis.iter().copied().find(|outer| self.passes_through(*outer, phi));
        if let Some((outer, oc)) = around.and_then(|outer| Some((outer, *self.carried.get(&outer)?))) {
            let slot = self.carried_slot(outer, oc, ty);
            if self.slot_of.insert(phi.value(), slot).is_none() {
                self.set_at_latch(phi, c, slot, ty);
            }
            return slot;
        }
        let slot = self.add_slot(phi.value(), ty, None);
        self.slots[slot].written = true;
        let (front, latch) = self.elements.get(&phi).map_or((true, true), |e| (e.set_front, e.set_latch));
        if front {
            self.add_root(c.front, Root::Set { slot, value: c.start });
        }
        if latch && c.next != phi.value() {
            self.set_at_latch(phi, c, slot, ty);
        }
        slot
    }

    /// Asks for the effect that sets a carried value's scalar for the next iteration; a loop inside may do so.
    fn set_at_latch(&mut self, phi: Inst<'m>, c: Carried<'m>, slot: usize, ty: ScalarType) {
        let inside = self.phis.iter().copied().find(|inner| self.passes_through(phi, *inner));
        match inside.and_then(|inner| Some((inner, *self.carried.get(&inner)?))) {
            Some((inner, ic)) => _ = self.carried_slot(inner, ic, ty),
            None => self.add_root(c.latch, Root::Set { slot, value: c.next }),
        }
    }

    /// Whether all that a loop does with a carried value is to start a loop directly inside with it and to go on with what that
    /// one ends with: `for { for { s += .. } }`.
    fn passes_through(&self, outer: Inst<'m>, inner: Inst<'m>) -> bool {
        let (Some(o), Some(i)) = (self.carried.get(&outer), self.carried.get(&inner)) else { return false };
        let cfg = self.cx.values.cfg;
        let last = if i.test_first { inner.value() } else { i.next };
        // Through the phis that close loops.
        let mut taken_back = o.next;
        while let Some(phi) = taken_back.as_inst().filter(|p| p.is_phi() && *p != inner)
            && let [(value, _)] = phi.incoming()[..]
        {
            taken_back = value;
        }
        let only_use = |user: &Value<'m>| {
            user.as_inst().is_some_and(|u| {
                u == inner || cfg.home(u).is_some_and(|block| !cfg.loops[o.l].contains(block))
            })
        };
        i.start == outer.value()
            && cfg.loops[i.l].parent == Some(o.l)
            && taken_back == last
            && outer.value().users().iter().all(only_use)
            && !self.elements.contains_key(&outer)
            && !self.elements.contains_key(&inner)
    }

    /// Exact without any condition, and only over loops around the section.
    fn affine_leaf(&mut self, v: Value<'m>, section: usize) -> Option<Affine> {
        let e = self.cx.values.integer(v)?;
        let place = self.sections[section].place.clone();
        if !self.in_scope(&e.poly, &place) {
            return None;
        }
        for need in &e.needs {
            let below = need.poly.offset(-need.low)?;
            let above = need.poly.scale(-1)?.offset(need.high)?;
            if !self.cx.holds(&place, &below) || !self.cx.holds(&place, &above) {
                return None;
            }
        }
        self.cx.affine(&e.poly)
    }

    fn in_scope(&self, p: &Poly, place: &Place) -> bool {
        p.degree() <= 1
            && self.cx.values.symbols().all(p, &|m| match m {
                Meaning::Iteration(l) => place.loops.contains(&l) || self.cx.is_around(l),
                Meaning::Value(v) => self.cx.is_outside(v),
                Meaning::Quotient(_) => false,
            })
    }

    /// Whether the value is cheap to compute again and cannot have changed: made of plain arithmetic on loads from
    /// memory that the region does not write.
    fn recomputable(&mut self, v: Value<'m>, home: usize, spent: &mut (usize, usize)) -> bool {
        let v = self.cx.values.in_front(v);
        if v.is_constant() || self.cx.is_outside(v) {
            return !v.is_undef() && scalar_type(v.ty()).is_some();
        }
        if self.affine_leaf(v, home).is_some() {
            return true;
        }
        let Some(inst) = v.as_inst() else { return false };
        if self.section_of.get(&inst) != Some(&home) {
            return false;
        }
        spent.0 += 1;
        if spent.0 > RECOMPUTE.0 {
            return false;
        }
        match inst.opcode() {
            Opcode::Load => {
                spent.1 += 1;
                let Some(t) = self.touches.get(&inst) else { return false };
                let class = self.classes[t.memory];
                t.subscripts.is_some()
                    && spent.1 <= RECOMPUTE.1
                    && self.called.is_empty()
                    && !self.memories.iter().zip(&self.classes).any(|(m, c)| m.written && c.meets(class))
            }
            o if is_plain(o) => inst.operands().into_iter().all(|o| self.recomputable(o, home, spent)),
            _ => false,
        }
    }

    /// Whether the value is cheap to compute again anywhere in a section: plain arithmetic on constants, on what is known
    /// before the region, and on counters of loops around the section. Loops that it was computed in do not matter.
    fn is_fixed(&mut self, v: Value<'m>, section: usize, spent: &mut usize) -> bool {
        let v = self.cx.values.in_front(v);
        if v.is_constant() || self.cx.is_outside(v) {
            return !v.is_undef() && scalar_type(v.ty()).is_some();
        }
        let Some(inst) = v.as_inst() else { return false };
        *spent += 1;
        if *spent > RECOMPUTE.0 || !self.section_of.contains_key(&inst) {
            return false;
        }
        if scalar_type(v.ty()).is_some_and(|t| t != ScalarType::I1 && !t.is_float())
            && self.affine_leaf(v, section).is_some()
        {
            return true;
        }
        match (inst.opcode(), &inst.incoming()[..]) {
            (Opcode::Phi, [(only, _)]) => self.is_fixed(*only, section, spent),
            (o, _) if is_plain(o) => {
                inst.operands().into_iter().all(|operand| self.is_fixed(operand, section, spent))
            }
            _ => false,
        }
    }

    /// Whether two reads or writes may touch the same bytes when the loops around are in the same iteration.
    pub(super) fn may_touch(&self, a: &Spot<'m>, b: &Spot<'m>) -> bool {
        match (self.spot_touch(a), self.spot_touch(b)) {
            (Some(x), Some(y)) => self.touch_meets(x, y),
            _ => match (a, b) {
                (Spot::Slot(x), Spot::Slot(y)) => x == y,
                (Spot::Called(_), Spot::Memory(_)) => false,
                (Spot::Memory(_) | Spot::Held(_), Spot::Called(_)) => !mutation::off(Rule::CallsWrite),
                (Spot::Memory(_) | Spot::Held(_), Spot::Memory(_) | Spot::Held(_)) => true,
                // A scalar, and memory.
                _ => false,
            },
        }
    }

    pub(super) fn touch_meets(&self, x: &Touch<'m>, y: &Touch<'m>) -> bool {
        if x.memory != y.memory {
            let pair = (x.memory.min(y.memory), x.memory.max(y.memory));
            return self.classes[x.memory].meets(self.classes[y.memory]) && !self.apart.contains(&pair);
        }
        match (&x.subscripts, &y.subscripts) {
            (Some(x), Some(y)) => {
                !x.iter().zip(y).any(|(x, y)| (x - y).as_constant().is_some_and(|d| d != 0))
            }
            _ => true,
        }
    }
}

/// Something read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spot<'m> {
    Memory(Inst<'m>),
    /// The element of a store, read.
    Held(Inst<'m>),
    /// What a call returns, read; all memory, written.
    Called(Inst<'m>),
    Slot(usize),
}

/// Arithmetic that is cheap and defined for all operands.
fn is_plain(o: Opcode) -> bool {
    use Opcode::*;
    matches!(
        o,
        FAdd | FSub
            | FMul
            | FNeg
            | Add
            | Sub
            | Mul
            | Shl
            | And
            | Or
            | Xor
            | LShr
            | AShr
            | SExt
            | ZExt
            | Trunc
            | SiToFp
            | UiToFp
            | FpExt
            | FpTrunc
            | ICmp
            | FCmp
            | Select
    )
}

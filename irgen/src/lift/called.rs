//! Calls of which nothing is known, as statements in their place: they may read and write all memory, throw, or not return, so all
//! other statements keep their order to them.
//!
//! No load is moved across one, nor kept in a scalar in the place of its element, and nothing is read in front of the region that the
//! region reads again. What a call returns is used by its own statement, or handed on in a scalar: it runs as often as the original does.

use std::rc::Rc;

use loop_tree::{
    Access, AccessKind, Affine, ArrayId, BinaryOp, Constant, Mask, OpFlags, OpId, OpKind, ScalarType,
    StmtFlags,
};

use super::context::{Context, Place};
use super::leaves::{Data, Refusal, Root, impure, refuse};
use super::memory::scalar_type;
use super::numbered::Number;
use super::ops::error_number;
use super::statements::Maker;
use super::{CallArgument, CallBinding};
use crate::llvm::{Effects, Inst, Opcode, TypeKind, Value};
use crate::mutation::{self, Rule};
use analyses::closed_forms::{Meaning, Poly};

/// An argument of a call.
#[derive(Debug)]
pub(super) enum Argument<'m> {
    /// Known in front of the region.
    Same(Value<'m>),
    /// A number that the statement computes.
    Computed(Value<'m>),
    /// So many bytes behind a pointer that is known in front of the region.
    Behind(Value<'m>, Distance<'m>),
}

/// A number of bytes, which may wrap as addresses do.
#[derive(Debug)]
pub(super) enum Distance<'m> {
    Sum(Number<'m>),
    /// A sum of products, each with a factor.
    Products(Vec<(i64, Vec<Affine>)>),
}

/// Whether a call may be repeated in the place of its statement, whatever it does.
pub(super) fn is_repeatable(inst: Inst<'_>) -> bool {
    const BOUND: [&str; 4] = ["convergent", "noduplicate", "returns_twice", "strictfp"];
    let Some(call) = inst.as_call().filter(|_| inst.opcode() == Opcode::Call) else { return false };
    let moves =
        |name: &str| ["llvm.memcpy.p", "llvm.memmove.p", "llvm.memset.p"].iter().any(|m| name.starts_with(m));
    let known = match call.callee() {
        Some(function) => function.intrinsic_name().is_none_or(|name| moves(&name)),
        // Not what an assembler makes of a text.
        None => call.called_value().as_inst().is_some() || call.called_value().as_argument().is_some(),
    };
    known
        && !inst.is_volatile()
        && !inst.effects().intersects(Effects::VOLATILE | Effects::ATOMIC)
        && !call.has_operand_bundles()
        && !call.is_must_tail()
        && !BOUND.iter().any(|a| call.has_attribute(a))
}

/// Whether a refusal is about a call that a statement may stand for.
pub(super) fn is_of_call(refused: &Refusal<'_>) -> bool {
    refused.inst.is_some_and(is_repeatable) && matches!(refused.code, "opaque" | "errno" | "throws")
}

/// Whether the instruction is such a call: what sets `errno` is one, as another may read it.
pub(super) fn stands_for_itself(inst: Inst<'_>, has_effect: bool) -> bool {
    (has_effect || error_number(inst).is_some()) && is_repeatable(inst)
}

impl<'m> Data<'_, '_, 'm> {
    /// Describes the arguments of all calls.
    pub(super) fn describe_calls(&mut self) -> Result<(), Refusal<'m>> {
        for s in 0..self.sections.len() {
            let calls: Vec<Inst<'m>> = self.sections[s]
                .roots
                .iter()
                .filter_map(|r| match r {
                    Root::Call(call) => Some(*call),
                    _ => None,
                })
                .collect();
            for inst in calls {
                let call = inst.as_call().ok_or_else(|| impure(inst))?;
                let block = self.cx.values.cfg.home(inst).ok_or_else(|| impure(inst))?;
                if !self.cx.is_outside(call.called_value()) {
                    return Err(impure(inst));
                }
                let section = &self.sections[s];
                let place = self.cx.place_of(block, &section.blocks, &section.place);
                let arguments: Option<Rc<[_]>> =
                    call.args().into_iter().map(|a| argument(&mut self.cx, &place, a)).collect();
                self.called.insert(inst, arguments.ok_or_else(|| impure(inst))?);
            }
        }
        Ok(())
    }

    /// The call that an instruction takes a part out of what it returns of, and the instructions that do.
    pub(super) fn part(&self, inst: Inst<'m>) -> Option<(Inst<'m>, Vec<Inst<'m>>)> {
        let (mut steps, mut at) = (Vec::new(), inst);
        while !self.called.contains_key(&at) {
            match at.opcode() {
                Opcode::ExtractValue => {}
                Opcode::ExtractElement if at.operand(1)?.const_int().is_some() => {}
                _ => return None,
            }
            steps.push(at);
            at = at.operand(0)?.as_inst()?;
        }
        steps.reverse();
        (!steps.is_empty()).then_some((at, steps))
    }

    /// The values that a call's arguments are computed from.
    pub(super) fn argument_values(&self, call: Inst<'m>) -> Vec<Value<'m>> {
        let of = |argument: &Argument<'m>| match argument {
            Argument::Computed(value) => vec![*value],
            Argument::Behind(_, Distance::Sum(number)) => number.terms.iter().map(|t| t.0).collect(),
            Argument::Same(_) | Argument::Behind(_, Distance::Products(_)) => Vec::new(),
        };
        self.called.get(&call).into_iter().flat_map(|all| all.iter()).flat_map(of).collect()
    }
}

fn argument<'m>(cx: &mut Context<'_, '_, 'm>, place: &Place, value: Value<'m>) -> Option<Argument<'m>> {
    if cx.is_outside(value) {
        return Some(Argument::Same(value));
    }
    if scalar_type(value.ty()).is_some() {
        return Some(Argument::Computed(value));
    }
    if value.ty().kind() != TypeKind::Pointer(0) {
        return None;
    }
    let by_steps = Number::base(cx, value)
        .and_then(|base| Some((base, Number::of(cx, base, value, 0, ScalarType::I8)?)));
    if let Some((base, number)) = by_steps {
        return Some(Argument::Behind(base, Distance::Sum(number)));
    }
    let found = cx.values.address(value).filter(|found| cx.is_outside(found.base))?;
    if !found.offset.needs.iter().all(|need| cx.need(place, need)) {
        return None;
    }
    Some(Argument::Behind(found.base, Distance::Products(products(cx, place, &found.offset.poly)?)))
}

/// The terms of a polynomial over loops around a place and values from outside.
fn products<'m>(cx: &mut Context<'_, '_, 'm>, place: &Place, poly: &Poly) -> Option<Vec<(i64, Vec<Affine>)>> {
    let known = cx.values.symbols().all(poly, &|meaning| match meaning {
        Meaning::Iteration(l) => place.loops.contains(&l) || cx.is_around(l),
        Meaning::Value(v) => cx.is_outside(v),
        Meaning::Quotient(_) => false,
    });
    if !known {
        return None;
    }
    poly.terms()
        .map(|(monomial, factor)| {
            let factors: Option<Vec<Affine>> =
                monomial.symbols().map(|s| cx.affine(&Poly::symbol(s))).collect();
            Some((i64::try_from(factor).ok()?, factors?))
        })
        .collect()
}

impl<'m> Maker<'_, '_, '_, 'm> {
    /// The operation that a call is, and the type of what it returns; any type where that is nothing that operations use.
    pub(super) fn call(
        &mut self,
        inst: Inst<'m>,
        mask: Option<Mask>,
    ) -> Result<(OpKind, ScalarType), Refusal<'m>> {
        let arguments = self.data.called.get(&inst).cloned().ok_or_else(|| impure(inst))?;
        let (mut operands, mut binding) = (Vec::new(), Vec::new());
        for argument in arguments.iter() {
            binding.push(match argument {
                Argument::Same(value) => CallArgument::Same(*value),
                Argument::Computed(value) => {
                    operands.push(self.value(*value)?);
                    CallArgument::Computed
                }
                Argument::Behind(base, distance) => {
                    let distance = match distance {
                        _ if mutation::off(Rule::CallPlaces) => self.sum_of(&[], mask),
                        Distance::Sum(number) => self.number(number, mask)?,
                        Distance::Products(terms) => self.sum_of(terms, mask),
                    };
                    operands.push(distance);
                    CallArgument::Behind(*base)
                }
            });
        }
        let effects = inst.effects();
        self.flags |= StmtFlags::OPAQUE | StmtFlags::SIDE_EFFECTS;
        if effects.contains(Effects::THROW) {
            self.flags |= StmtFlags::MAY_THROW;
        }
        if !effects.contains(Effects::WILL_RETURN) {
            self.flags |= StmtFlags::MAY_NOT_RETURN;
        }
        let seen = self.data.memories.iter().enumerate().filter(|(_, memory)| !memory.local);
        for m in seen.map(|(m, _)| m) {
            for kind in [AccessKind::Read, AccessKind::MayWrite] {
                self.accesses.push(Access { array: ArrayId::new(m), subscripts: None, kind });
            }
        }
        let number = self.bind(inst, CallBinding::Call(inst, binding))?;
        Ok((OpKind::Opaque(number, operands), scalar_type(inst.ty()).unwrap_or(ScalarType::I32)))
    }

    /// A number in what a call of the statement returned.
    pub(super) fn take(&mut self, part: Inst<'m>) -> Result<OpId, Refusal<'m>> {
        let unknown = || refuse(Some(part), "value", "what a call returns is used before it");
        let (call, steps) = self.data.part(part).ok_or_else(unknown)?;
        let whole = *self.memo.get(&call.value()).ok_or_else(unknown)?;
        let ty = scalar_type(part.ty()).ok_or_else(unknown)?;
        let mask = self.mask_of(part)?;
        let number = self.bind(part, CallBinding::Part(steps))?;
        Ok(self.push(OpKind::Opaque(number, vec![whole]), ty, mask, OpFlags::empty(), None))
    }

    fn bind(&mut self, inst: Inst<'m>, binding: CallBinding<'m>) -> Result<u32, Refusal<'m>> {
        let number = u32::try_from(self.data.bindings.len());
        self.data.bindings.push(binding);
        number.map_err(|_| refuse(Some(inst), "size", "too many calls"))
    }

    /// A sum of products, in 64 bits.
    fn sum_of(&mut self, terms: &[(i64, Vec<Affine>)], mask: Option<Mask>) -> OpId {
        let (i64, none) = (ScalarType::I64, OpFlags::empty());
        let constant = |this: &mut Self, c: i64| {
            this.push(OpKind::Const(Constant { ty: i64, bits: c as u64 }), i64, None, none, None)
        };
        let mut sum = constant(self, 0);
        for (factor, factors) in terms {
            let mut term = constant(self, *factor);
            for affine in factors {
                let by = self.push(OpKind::Affine(affine.clone()), i64, None, none, None);
                term = self.push(OpKind::Binary(BinaryOp::Mul, term, by), i64, mask, none, None);
            }
            sum = self.push(OpKind::Binary(BinaryOp::Add, sum, term), i64, mask, none, None);
        }
        sum
    }
}

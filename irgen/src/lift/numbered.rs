//! Elements that only the data says which they are: the number of one as a sum of values, as address arithmetic has it.

use loop_tree::ScalarType;

use super::context::{Context, Place};
use super::values::int_bits;
use crate::llvm::{Inst, Opcode, TypeKind, Value};
use crate::mutation::{self, Rule};
use analyses::closed_forms::Meaning;

/// A sum of integers, each sign-extended to 64 bits and times a factor, and a constant; in 64 bits, where it may wrap as
/// addresses do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Number<'m> {
    pub(super) terms: Vec<(Value<'m>, i64)>,
    pub(super) constant: i64,
}

/// Steps of address arithmetic from an array to its element, at most.
const MAX_STEPS: usize = 16;

impl<'m> Number<'m> {
    /// The pointer that is known before the region, from which address arithmetic leads to another.
    pub(super) fn base(cx: &Context<'_, '_, 'm>, pointer: Value<'m>) -> Option<Value<'m>> {
        let mut at = pointer;
        for _ in 0..MAX_STEPS {
            at = cx.values.in_front(at);
            if cx.is_outside(at) {
                return Some(at);
            }
            at = step(at.as_inst()?)?;
        }
        None
    }

    /// The number of the element at `pointer`, of an array whose first element is `offset` bytes behind `base`.
    pub(super) fn of(
        cx: &mut Context<'_, '_, 'm>,
        base: Value<'m>,
        pointer: Value<'m>,
        offset: i64,
        element: ScalarType,
    ) -> Option<Number<'m>> {
        let mut bytes = Number { terms: Vec::new(), constant: offset.checked_neg()? };
        let constant = bytes.constant;
        let mut at = pointer;
        for _ in 0..MAX_STEPS {
            at = cx.values.in_front(at);
            if at == base {
                if mutation::off(Rule::NumberOffsets) {
                    bytes.constant = constant;
                }
                return bytes.in_elements(element.size().into());
            }
            match at.as_inst() {
                Some(inst) => {
                    if inst.opcode() == Opcode::Gep {
                        bytes.add(cx, inst)?;
                    }
                    at = step(inst)?;
                }
                None => {
                    let found = cx.values.address(at).filter(|found| found.base == base)?;
                    let constant = i64::try_from(found.offset.poly.as_constant()?).ok()?;
                    bytes.constant = bytes.constant.checked_add(constant)?;
                    at = base;
                }
            }
        }
        None
    }

    /// Whether no region inside of the loop that it stands in would have subscripts for it: it follows from what that loop reads or
    /// computes.
    pub(super) fn is_of_data(&self, cx: &mut Context<'_, '_, 'm>, place: &Place) -> bool {
        let cfg = cx.values.cfg;
        let Some(&l) = place.loops.last() else { return false };
        let inside = |v: Value<'m>| {
            let home = v.as_inst().and_then(|inst| cfg.home(inst));
            home.is_some_and(|block| cfg.loops[l].contains(block))
        };
        self.terms.iter().any(|&(v, _)| match cx.values.integer(v) {
            None => inside(v),
            Some(form) => !cx.values.symbols().all(&form.poly, &|m| match m {
                Meaning::Value(v) => !inside(v),
                Meaning::Iteration(_) | Meaning::Quotient(_) => true,
            }),
        })
    }

    /// What a step adds, in bytes.
    fn add(&mut self, cx: &Context<'_, '_, 'm>, gep: Inst<'m>) -> Option<()> {
        let layout = cx.values.layout;
        let mut ty = gep.gep_source_type()?;
        for (place, &index) in gep.operands().iter().skip(1).enumerate() {
            let size = match (place, ty.kind()) {
                (0, _) => layout.size_of(ty)?,
                (_, TypeKind::Array(inner, _)) => {
                    ty = inner;
                    layout.size_of(ty)?
                }
                (_, TypeKind::Struct) => {
                    let field = u32::try_from(index.const_int()?).ok()?;
                    let bytes = i64::try_from(layout.field_offset(ty, field)?).ok()?;
                    self.constant = self.constant.checked_add(bytes)?;
                    ty = *ty.fields().get(field as usize)?;
                    continue;
                }
                _ => return None,
            };
            let size = i64::try_from(size).ok()?;
            match index.const_int() {
                Some(c) => {
                    let bytes = i64::try_from(c).ok()?.checked_mul(size)?;
                    self.constant = self.constant.checked_add(bytes)?;
                }
                None => {
                    int_bits(index)?;
                    self.terms.push((index, size));
                }
            }
        }
        Some(())
    }

    fn in_elements(mut self, size: i64) -> Option<Number<'m>> {
        if self.constant % size != 0 || self.terms.iter().any(|(_, factor)| factor % size != 0) {
            return None;
        }
        self.constant /= size;
        self.terms.iter_mut().for_each(|(_, factor)| *factor /= size);
        Some(self)
    }
}

/// The pointer that address arithmetic begins with, or that closes a loop.
fn step(inst: Inst<'_>) -> Option<Value<'_>> {
    match (inst.opcode(), &inst.incoming()[..]) {
        (Opcode::Gep, _) => inst.operand(0),
        (Opcode::Phi, [(only, _)]) => Some(*only),
        _ => None,
    }
}

//! Loads and stores of elements: one, or one for each lane.

use super::lanes::{Lanes, is_vector};
use super::{EmitError, Emitter};
use crate::llvm::{GepFlags, Inst, Opcode, PoisonFlags, Type, Value};
use loop_tree::{Affine, ArrayId, ScalarType};

/// Where an element is, or those of all lanes.
pub(super) struct Element<'m> {
    /// Of the first lane.
    pointer: Value<'m>,
    /// In bytes.
    alignment: u32,
    spread: Spread<'m>,
}

/// Where the elements of other lanes are.
enum Spread<'m> {
    /// All lanes have the same one.
    Same,
    /// One behind the other.
    Next(Lanes<'m>),
    /// One in front of the other.
    Back(Lanes<'m>),
    /// Anywhere: their addresses.
    Apart(Vec<Value<'m>>),
}

/// What an access is of.
#[derive(Clone, Copy)]
pub(super) struct Tag<'m> {
    pub(super) array: ArrayId,
    /// The buffer that it goes to.
    pub(super) frame: Option<usize>,
    pub(super) origin: Option<Inst<'m>>,
}

impl<'m> Element<'m> {
    /// The address, of the first lane.
    pub(super) fn pointer(&self) -> Value<'m> {
        self.pointer
    }
}

impl<'m> Emitter<'m, '_> {
    /// The elements that `at` finds the address and alignment of, for the first lane by its number or for any at which the vector
    /// loop's variable is. `step`: how many elements lie between those of two lanes, if always as many.
    pub(super) fn spread(
        &self,
        ty: Type<'m>,
        step: Option<i64>,
        at: impl Fn(&Self, u32) -> Result<(Value<'m>, u32), EmitError>,
    ) -> Result<Element<'m>, EmitError> {
        let (pointer, alignment) = at(self, 0)?;
        let spread = match (self.lanes, step) {
            (None, _) | (_, Some(0)) => Spread::Same,
            (Some(lanes), Some(1)) => Spread::Next(lanes),
            (Some(lanes), Some(-1)) => Spread::Back(lanes),
            (Some(lanes), Some(step)) => {
                let address = |lane: u32| {
                    let index = self.int(step.wrapping_mul(lane.into()))?;
                    Ok(self.builder.gep(ty, pointer, &[index], GepFlags::empty(), "")?)
                };
                Spread::Apart((0..lanes.count).map(address).collect::<Result<_, EmitError>>()?)
            }
            (Some(lanes), None) => Spread::Apart(self.for_each_lane(lanes, |e, lane| Ok(at(e, lane)?.0))?),
        };
        Ok(Element { pointer, alignment, spread })
    }

    /// How many elements lie between those of neighbouring lanes, of an array or buffer with these extents; subscripts over places.
    pub(super) fn element_step(&self, extents: &[Option<Affine>], subscripts: &[Affine]) -> Option<i64> {
        let mut step = 0_i64;
        for (dimension, subscript) in subscripts.iter().enumerate() {
            if dimension > 0 && step != 0 {
                step = step.checked_mul(extents[dimension].as_ref()?.as_constant()?)?;
            }
            step = step.checked_add(self.lane_step(subscript)?)?;
        }
        Some(step)
    }

    pub(super) fn load_from(
        &mut self,
        at: &Element<'m>,
        ty: ScalarType,
        tag: Tag<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let one = self.ty(ty)?;
        let mask = self.mask();
        match &at.spread {
            Spread::Same => {
                let pointer = match mask {
                    None => at.pointer,
                    Some(mask) => self.pointer_if_any(mask, at.pointer, one)?,
                };
                self.tagged(self.builder.load(one, pointer, at.alignment, "")?, tag)
            }
            Spread::Next(lanes) => self.load_row(at.pointer, lanes.count, at.alignment, ty, mask, tag),
            Spread::Back(lanes) => {
                let pointer = self.last_of(lanes, at.pointer, one)?;
                let mask = mask.map(|m| self.turned(m, lanes)).transpose()?;
                let row = self.load_row(pointer, lanes.count, at.alignment, ty, mask, tag)?;
                self.turned(row, lanes)
            }
            Spread::Apart(pointers) => match mask {
                None => {
                    let load =
                        |p: &Value<'m>| self.tagged(self.builder.load(one, *p, at.alignment, "")?, tag);
                    let values: Result<Vec<_>, _> = pointers.iter().map(load).collect();
                    self.gathered(&values?)
                }
                Some(mask) => {
                    let kept = self.kept(ty, pointers.len() as u32)?;
                    let arguments = [self.gathered(pointers)?, mask, kept.poison()?];
                    let call = self.builder.intrinsic("llvm.masked.gather", kept, &arguments, "")?;
                    let value = self.tagged(call, tag)?;
                    self.taken(value, ty)
                }
            },
        }
    }

    /// The instruction, where it is one that stores just this value.
    pub(super) fn store_to(
        &mut self,
        at: &Element<'m>,
        ty: ScalarType,
        value: Value<'m>,
        tag: Tag<'m>,
    ) -> Result<Option<Inst<'m>>, EmitError> {
        let Some(lanes) = self.lanes else {
            let store = self.builder.store(value, at.pointer, at.alignment)?;
            self.annotate(store, tag.array, tag.frame, tag.origin)?;
            return Ok(Some(store));
        };
        let one = self.ty(ty)?;
        let mask = self.mask();
        let same;
        let pointers = match &at.spread {
            // The last lane's value stays.
            Spread::Same if mask.is_none() => {
                let last = self.lane(value, lanes.count - 1)?;
                let store = self.builder.store(last, at.pointer, at.alignment)?;
                self.annotate(store, tag.array, tag.frame, tag.origin)?;
                return Ok(Some(store));
            }
            Spread::Same => {
                same = vec![at.pointer; lanes.count as usize];
                &same
            }
            Spread::Next(_) => {
                let store = self.store_row(at.pointer, at.alignment, ty, value, mask, tag)?;
                return Ok(Some(store).filter(|_| mask.is_none() && ty != ScalarType::I1));
            }
            Spread::Back(_) => {
                let pointer = self.last_of(&lanes, at.pointer, one)?;
                let turn = |v| self.turned(v, &lanes);
                let value = turn(self.widened(value)?)?;
                let mask = mask.map(turn).transpose()?;
                self.store_row(pointer, at.alignment, ty, value, mask, tag)?;
                return Ok(None);
            }
            Spread::Apart(pointers) => pointers,
        };
        match mask {
            None => {
                for (lane, pointer) in pointers.iter().enumerate() {
                    let value = self.lane(value, lane as u32)?;
                    let store = self.builder.store(value, *pointer, at.alignment)?;
                    self.annotate(store, tag.array, tag.frame, tag.origin)?;
                }
            }
            // Lanes store in order.
            Some(mask) => {
                let value = self.keepable(self.widened(value)?, ty)?;
                let arguments = [value, self.gathered(pointers)?, mask];
                let void = self.module.context().void();
                let call = self.builder.intrinsic("llvm.masked.scatter", void, &arguments, "")?;
                self.annotate(call, tag.array, tag.frame, tag.origin)?;
            }
        }
        Ok(None)
    }

    fn load_row(
        &self,
        pointer: Value<'m>,
        count: u32,
        alignment: u32,
        ty: ScalarType,
        mask: Option<Value<'m>>,
        tag: Tag<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let kept = self.kept(ty, count)?;
        let load = match mask {
            None => self.builder.load(kept, pointer, alignment, "")?,
            Some(mask) => {
                self.builder.intrinsic("llvm.masked.load", kept, &[pointer, mask, kept.poison()?], "")?
            }
        };
        self.taken(self.tagged(load, tag)?, ty)
    }

    fn store_row(
        &self,
        pointer: Value<'m>,
        alignment: u32,
        ty: ScalarType,
        value: Value<'m>,
        mask: Option<Value<'m>>,
        tag: Tag<'m>,
    ) -> Result<Inst<'m>, EmitError> {
        let value = self.keepable(self.widened(value)?, ty)?;
        let store = match mask {
            None => self.builder.store(value, pointer, alignment)?,
            Some(mask) => {
                let void = self.module.context().void();
                self.builder.intrinsic("llvm.masked.store", void, &[value, pointer, mask], "")?
            }
        };
        self.annotate(store, tag.array, tag.frame, tag.origin)?;
        Ok(store)
    }

    fn tagged(&self, load: Inst<'m>, tag: Tag<'m>) -> Result<Value<'m>, EmitError> {
        self.annotate(load, tag.array, tag.frame, tag.origin)?;
        Ok(load.value())
    }

    /// How vectors of a type lie in memory: elements of one bit have a byte each, as scalars have.
    pub(super) fn kept(&self, ty: ScalarType, count: u32) -> Result<Type<'m>, EmitError> {
        let element = if ty == ScalarType::I1 { ScalarType::I8 } else { ty };
        Ok(self.ty(element)?.vector(count)?)
    }

    pub(super) fn taken(&self, value: Value<'m>, ty: ScalarType) -> Result<Value<'m>, EmitError> {
        match ty {
            ScalarType::I1 => self.resized(Opcode::Trunc, value, ty),
            _ => Ok(value),
        }
    }

    pub(super) fn keepable(&self, value: Value<'m>, ty: ScalarType) -> Result<Value<'m>, EmitError> {
        match ty {
            ScalarType::I1 => self.resized(Opcode::ZExt, value, ScalarType::I8),
            _ => Ok(value),
        }
    }

    fn resized(&self, op: Opcode, value: Value<'m>, ty: ScalarType) -> Result<Value<'m>, EmitError> {
        let ty = self.like(self.ty(ty)?, value)?;
        Ok(self.builder.cast(op, value, ty, PoisonFlags::empty(), "")?)
    }

    /// The address of the last lane's element, which is the lowest.
    fn last_of(
        &self,
        lanes: &Lanes<'m>,
        pointer: Value<'m>,
        element: Type<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let index = self.int(1 - i64::from(lanes.count))?;
        Ok(self.builder.gep(element, pointer, &[index], GepFlags::empty(), "")?)
    }

    /// Lanes in the opposite order.
    fn turned(&self, value: Value<'m>, lanes: &Lanes<'m>) -> Result<Value<'m>, EmitError> {
        debug_assert!(is_vector(value));
        let mask: Vec<u32> = (0..lanes.count).rev().collect();
        Ok(self.builder.shuffle(value, value.ty().poison()?, &mask, "")?)
    }

    /// A slot in the entry block.
    pub(super) fn spare(&mut self, ty: Type<'m>, name: &str) -> Result<Value<'m>, EmitError> {
        let here = self.place()?;
        let entry = here.function().entry().and_then(|entry| entry.first_inst());
        let what = "a function without a body";
        self.builder.position_before(entry.ok_or(EmitError::Unsupported { what })?)?;
        let slot = self.builder.alloca(ty, None, name)?.value();
        self.builder.position_at_end(here)?;
        Ok(slot)
    }

    /// The address, or that of some other element where no lane executes.
    fn pointer_if_any(
        &mut self,
        mask: Value<'m>,
        pointer: Value<'m>,
        ty: Type<'m>,
    ) -> Result<Value<'m>, EmitError> {
        let spare = self.spare(ty, "spare")?;
        let bit = self.module.context().i1();
        let any = self.builder.intrinsic("llvm.vector.reduce.or", bit, &[mask], "")?.value();
        Ok(self.builder.select(any, pointer, spare, "")?)
    }
}

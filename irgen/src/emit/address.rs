//! Where the elements of arrays are.

use super::arith::Known;
use super::ranges::Range;
use super::{EmitError, Emitter, Place};
use crate::llvm::{GepFlags, Inst, Value};
use crate::mutation::{self, Rule};
use loop_tree::{AccessId, Affine, Array, Op, Statement};

impl<'m> Emitter<'m, '_> {
    /// Address of the element, and its alignment in bytes.
    pub(super) fn address(
        &self,
        statement: &Statement,
        access: AccessId,
        op: &Op,
        origin: Option<Inst<'m>>,
    ) -> Result<(Value<'m>, u32), EmitError> {
        let access = statement.access(access);
        let array = self.kernel.array(access.array);
        // The run-time check computes byte ranges with the size of the elements.
        if op.ty.size() != array.element.size() {
            return Err(EmitError::Unsupported { what: "an access of another size than the elements" });
        }
        let subscripts = access.subscripts.as_deref();
        let subscripts = subscripts.ok_or(EmitError::Unsupported { what: "an access without subscripts" })?;
        match self.places[access.array.index()] {
            Place::Scalar { slot } => Ok((self.slot(access.array, slot), op.ty.size())),
            Place::Memory { base, offset, alignment } => {
                let size = i64::from(array.element.size());
                let flags = self.gep_flags(base, origin);
                let element = self.ty(array.element)?;
                let b = &self.builder;
                let pointer = if offset % size == 0 {
                    let index = self.linear_index(array, subscripts, offset / size)?;
                    b.gep(element, base, &[index], flags, "")?
                } else {
                    // Inside of a struct: the first step alone may leave the object.
                    let index = self.linear_index(array, subscripts, 0)?;
                    let element = b.gep(element, base, &[index], GepFlags::empty(), "")?;
                    b.gep(self.module.context().i8(), element, &[self.int(offset)?], GepFlags::empty(), "")?
                };
                let stated = origin.filter(|o| o.is_access()).and_then(|o| o.alignment());
                let alignment = match mutation::off(Rule::Alignment) {
                    true => op.ty.size(),
                    false => stated.unwrap_or(1).max(alignment).min(op.ty.size()),
                };
                Ok((pointer, alignment))
            }
        }
    }

    /// `inbounds` where the original promised it all the way from the base to the element: the instance is the same, and
    /// so are both ends. A function of its own is given pointers to its arrays.
    fn gep_flags(&self, base: Value<'m>, origin: Option<Inst<'m>>) -> GepFlags {
        if self.own_function || mutation::off(Rule::Inbounds) {
            return GepFlags::INBOUNDS;
        }
        let mut pointer = origin.filter(|o| o.is_access()).and_then(Inst::pointer);
        while let Some(at) = pointer {
            if at == base {
                return GepFlags::INBOUNDS;
            }
            let step = at.as_inst().filter(|i| i.gep_flags().is_some_and(|f| f.contains(GepFlags::INBOUNDS)));
            pointer = step.and_then(|i| i.operand(0));
        }
        GepFlags::empty()
    }

    /// Row-major index of an element, plus `offset`: Horner's scheme over the extents, constant ones folded into one
    /// expression.
    fn linear_index(
        &self,
        array: &Array,
        subscripts: &[Affine],
        offset: i64,
    ) -> Result<Value<'m>, EmitError> {
        let mut value: Option<Known<'m>> = None;
        // What is not yet part of `value`: kept symbolic as long as extents are constant.
        let mut pending = Affine::constant(0);
        for (dimension, subscript) in subscripts.iter().enumerate() {
            if dimension > 0 {
                let extent = array.extents[dimension].as_ref();
                let extent =
                    extent.ok_or(EmitError::Unsupported { what: "an inner extent that is unknown" })?;
                match extent.as_constant() {
                    Some(c) => {
                        pending = pending.scale(c);
                        if let Some(v) = value {
                            let factor = Known { value: self.int(c)?, range: Some(Range::point(c)) };
                            value = Some(self.mul(v, factor)?);
                        }
                    }
                    None => {
                        let so_far = self.with_pending(value, &pending)?;
                        value = Some(self.mul(so_far, self.known(extent)?)?);
                        pending = Affine::constant(0);
                    }
                }
            }
            pending = pending + subscript.clone();
        }
        Ok(self.with_pending(value, &pending.offset(offset))?.value)
    }

    fn with_pending(&self, value: Option<Known<'m>>, pending: &Affine) -> Result<Known<'m>, EmitError> {
        match value {
            None => self.known(pending),
            Some(v) if pending.as_constant() == Some(0) => Ok(v),
            Some(v) => self.add(v, self.known(pending)?),
        }
    }
}

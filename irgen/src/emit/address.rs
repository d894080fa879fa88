//! Where the elements of arrays are.

use super::arith::Known;
use super::element::Element;
use super::lanes::is_vector;
use super::ranges::Range;
use super::scope::Frame;
use super::{Base, EmitError, Emitter};
use crate::llvm::{GepFlags, Inst, Value};
use crate::mutation::{self, Rule};
use loop_tree::{AccessId, Affine, ArrayId, Op, Statement, StmtFlags};

impl<'m> Emitter<'m, '_> {
    /// Where the element is.
    pub(super) fn address(
        &self,
        statement: &Statement,
        access: AccessId,
        op: &Op,
        origin: Option<Inst<'m>>,
    ) -> Result<Element<'m>, EmitError> {
        let access = statement.access(access);
        let array = self.kernel.array(access.array);
        // The run-time check computes byte ranges with the size of the elements.
        if op.ty.size() != array.element.size() {
            return Err(EmitError::Unsupported { what: "an access of another size than the elements" });
        }
        let subscripts = access.subscripts.as_deref();
        let subscripts = subscripts.ok_or(EmitError::Unsupported { what: "an access without subscripts" })?;
        if let Some(frame) = self.scope.innermost(access.array) {
            if statement.flags.contains(StmtFlags::ATOMIC_RELAXED) {
                return Err(EmitError::Unsupported { what: "an atomic access of a buffer" });
            }
            let what = "an instance without the dims that its buffer needs";
            let place = self.scope.element(frame, subscripts, &statement.dims);
            return self.in_buffer(frame, &place.ok_or(EmitError::Unsupported { what })?);
        }
        self.in_array(access.array, subscripts, origin)
    }

    /// An element of a buffer, its place given over places of the scope.
    pub(super) fn in_buffer(&self, frame: usize, place: &[Affine]) -> Result<Element<'m>, EmitError> {
        let Frame { buffer, store, .. } = &self.scope.frames()[frame];
        let (pointer, lanes) = (store.pointer, store.lanes);
        let element = self.kernel.array(buffer.array).element;
        let mut extents: Vec<Option<Affine>> = buffer.dims.iter().map(|d| Some(d.extent.clone())).collect();
        let mut step = self.element_step(&extents, place);
        if lanes > 1 {
            extents.push(Some(Affine::constant(lanes.into())));
            step = step.and_then(|s| s.checked_mul(lanes.into())?.checked_add(1));
        }
        let ty = self.ty(element)?;
        self.spread(ty, step, |e, lane| {
            let mut place = place.to_vec();
            if lanes > 1 {
                place.push(Affine::constant(lane.into()));
            }
            if place.iter().all(|e| e.as_constant() == Some(0)) {
                return Ok((pointer, element.size()));
            }
            let index = e.linear_index(&extents, &place, 0)?;
            Ok((e.builder.gep(ty, pointer, &[index], GepFlags::INBOUNDS, "")?, element.size()))
        })
    }

    /// An element of an array itself.
    pub(super) fn in_array(
        &self,
        id: ArrayId,
        subscripts: &[Affine],
        origin: Option<Inst<'m>>,
    ) -> Result<Element<'m>, EmitError> {
        let array = self.kernel.array(id);
        let ty = self.ty(array.element)?;
        match self.bases[id.index()] {
            Base::Scalar { slot } => {
                let (slot, lanes) = self.slot(id, slot);
                self.spread(ty, Some(i64::from(lanes > 1)), |_, _| Ok((slot, array.element.size())))
            }
            Base::Memory { base, offset, alignment } => {
                let subscripts: Vec<Affine> = subscripts.iter().map(|e| self.scope.resolved(e)).collect();
                let step = self.element_step(&array.extents, &subscripts);
                let size = i64::from(array.element.size());
                let flags = self.gep_flags(base, origin);
                let stated = origin.filter(|o| o.is_access()).and_then(|o| o.alignment());
                let alignment = match mutation::off(Rule::Alignment) {
                    true => array.element.size(),
                    false => stated.unwrap_or(1).max(alignment).min(array.element.size()),
                };
                self.spread(ty, step, |e, _| {
                    let b = &e.builder;
                    let pointer = if offset % size == 0 {
                        let index = e.linear_index(&array.extents, &subscripts, offset / size)?;
                        b.gep(ty, base, &[index], flags, "")?
                    } else {
                        // Inside of a struct: the first step alone may leave the object.
                        let index = e.linear_index(&array.extents, &subscripts, 0)?;
                        let element = b.gep(ty, base, &[index], GepFlags::empty(), "")?;
                        b.gep(e.module.context().i8(), element, &[e.int(offset)?], GepFlags::empty(), "")?
                    };
                    Ok((pointer, alignment))
                })
            }
        }
    }

    /// The element of an array that an integer numbers, row-major: each lane's own where lanes have numbers of their own.
    pub(super) fn numbered(
        &self,
        id: ArrayId,
        number: Value<'m>,
        op: &Op,
        origin: Option<Inst<'m>>,
    ) -> Result<Element<'m>, EmitError> {
        let array = self.kernel.array(id);
        if op.ty.size() != array.element.size() {
            return Err(EmitError::Unsupported { what: "an access of another size than the elements" });
        }
        let Base::Memory { base, offset, alignment } = self.bases[id.index()] else {
            return Err(EmitError::Unsupported { what: "some element of a scalar" });
        };
        if self.scope.innermost(id).is_some() {
            return Err(EmitError::Unsupported { what: "some element of a buffer" });
        }
        let ty = self.ty(array.element)?;
        let stated = origin.filter(|o| o.is_access()).and_then(|o| o.alignment());
        let alignment = stated.unwrap_or(1).max(alignment).min(array.element.size());
        let step = (!is_vector(number)).then_some(0);
        self.spread(ty, step, |e, lane| {
            let element = e.builder.gep(ty, base, &[e.lane(number, lane)?], GepFlags::empty(), "")?;
            let pointer = match offset {
                0 => element,
                _ => {
                    let byte = e.module.context().i8();
                    e.builder.gep(byte, element, &[e.int(offset)?], GepFlags::empty(), "")?
                }
            };
            Ok((pointer, alignment))
        })
    }

    /// `inbounds` where the original promised it all the way from the base to the element: the instance is the same, and
    /// so are both ends. A function of its own is given pointers to its arrays.
    pub(super) fn gep_flags(&self, base: Value<'m>, origin: Option<Inst<'m>>) -> GepFlags {
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
    pub(super) fn linear_index(
        &self,
        extents: &[Option<Affine>],
        subscripts: &[Affine],
        offset: i64,
    ) -> Result<Value<'m>, EmitError> {
        let mut value: Option<Known<'m>> = None;
        // What is not yet part of `value`: kept symbolic as long as extents are constant.
        let mut pending = Affine::constant(0);
        for (dimension, subscript) in subscripts.iter().enumerate() {
            if dimension > 0 {
                let extent = extents[dimension].as_ref();
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

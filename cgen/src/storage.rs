//! Where the elements of arrays are.

use crate::arith::Use;
use crate::code::Code;
use crate::emitter::{Base, Emitter};
use crate::error::CgenError;
use crate::lanes::is_vector;
use loop_tree::{Affine, ArrayId, ScalarType, VarId};

/// An element; in a vector loop, that of one lane.
pub(crate) struct Element {
    pub(crate) code: Code,
    /// Those of all lanes, where they are a vector or lie in a row.
    pub(crate) row: Option<Code>,
}

impl Emitter<'_> {
    /// The element with these subscripts, for an instance with these dims: in the innermost buffer around.
    pub(crate) fn element_of(
        &self,
        array: ArrayId,
        subscripts: &[Affine],
        dims: &[VarId],
    ) -> Result<Element, CgenError> {
        match self.scope.innermost(array) {
            Some(frame) => self.in_buffer(frame, subscripts, dims),
            None => self.in_array(array, subscripts),
        }
    }

    /// An element of an array itself.
    pub(crate) fn in_array(&self, array: ArrayId, subscripts: &[Affine]) -> Result<Element, CgenError> {
        let described = self.kernel.array(array);
        match &self.arrays[array.index()] {
            Base::Variable(name) => {
                let (name, lanes) = self.scalar(array, name);
                if lanes <= 1 {
                    return Ok(Element { code: Code::primary(name), row: None });
                }
                Ok(self.own_of_lanes(&name, described.element, lanes))
            }
            Base::Pointer(name) => self.with_row(described.element, subscripts, &|subscripts| {
                let number = self.element_number(&described.extents, subscripts)?;
                Ok(Code::primary(format!("{name}[{}]", number.code.text)))
            }),
        }
    }

    /// An element of a buffer.
    pub(crate) fn in_buffer(
        &self,
        frame: usize,
        subscripts: &[Affine],
        dims: &[VarId],
    ) -> Result<Element, CgenError> {
        let what = "an instance without the dims that its buffer needs";
        let place = self.scope.element(frame, subscripts, dims).ok_or_else(|| self.unsupported(what))?;
        let of = &self.scope.frames()[frame];
        let (name, lanes) = (&of.store.name, of.store.lanes);
        let ty = self.kernel.array(of.buffer.array).element;
        let extents: Vec<Option<Affine>> = of.buffer.dims.iter().map(|d| Some(d.extent.clone())).collect();
        let numbered = |place: &[Affine]| -> Result<Code, CgenError> {
            let number = self.element_number(&extents, place)?;
            Ok(Code::primary(format!("{name}[{}]", number.code.text)))
        };
        let indexed = |place: &[Affine]| -> Result<Code, CgenError> {
            let mut text = name.clone();
            for e in place {
                text.push_str(&format!("[{}]", self.int(e, Use::Element)?.code.text));
            }
            Ok(Code::primary(text))
        };
        match (of.store.flat, lanes) {
            (true, 1) => self.with_row(ty, &place, &numbered),
            (false, 1) => self.with_row(ty, &place, &indexed),
            (false, _) => Ok(self.own_of_lanes(&indexed(&place)?.text, ty, lanes)),
            (true, _) => {
                let number = self.element_number(&extents, &place)?;
                let first = Code::primary(format!("&{name}[{lanes} * ({})]", number.code.text));
                let elements = Code::primary(format!("({})", first.text));
                let row = self.row_at(&Code::primary(format!("{}[0]", elements.text)), ty);
                let row = row.filter(|_| !self.is_masked());
                Ok(Element { code: self.lane_of(&elements.text), row })
            }
        }
    }

    /// An element of which each lane has its own.
    fn own_of_lanes(&self, name: &str, ty: ScalarType, lanes: u32) -> Element {
        let whole = is_vector(ty, lanes) && !self.is_masked();
        Element { code: self.lane_of(name), row: whole.then(|| Code::primary(name)) }
    }

    fn with_row(
        &self,
        ty: ScalarType,
        subscripts: &[Affine],
        at: &dyn Fn(&[Affine]) -> Result<Code, CgenError>,
    ) -> Result<Element, CgenError> {
        let row = match self.row(subscripts) {
            Some(first) => self.row_at(&at(&first)?, ty),
            None => None,
        };
        Ok(Element { code: at(subscripts)?, row })
    }
}

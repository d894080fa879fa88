//! Where the elements of arrays are.

use crate::arith::Use;
use crate::code::Code;
use crate::emitter::{Emitter, Place};
use crate::error::CgenError;
use loop_tree::{Affine, ArrayId, VarId};

impl Emitter<'_> {
    /// The element with these subscripts, for an instance with these dims: in the innermost buffer around.
    pub(crate) fn element_of(
        &self,
        array: ArrayId,
        subscripts: &[Affine],
        dims: &[VarId],
    ) -> Result<Code, CgenError> {
        match self.scope.innermost(array) {
            Some(frame) => self.in_buffer(frame, subscripts, dims),
            None => self.in_array(array, subscripts),
        }
    }

    /// An element of an array itself.
    pub(crate) fn in_array(&self, array: ArrayId, subscripts: &[Affine]) -> Result<Code, CgenError> {
        match &self.arrays[array.index()] {
            Place::Variable(name) => Ok(Code::primary(self.scalar(array, name))),
            Place::Pointer(name) => {
                let extents = &self.kernel.array(array).extents;
                let number = self.element_number(extents, subscripts)?;
                Ok(Code::primary(format!("{name}[{}]", number.code.text)))
            }
        }
    }

    /// An element of a buffer.
    pub(crate) fn in_buffer(
        &self,
        frame: usize,
        subscripts: &[Affine],
        dims: &[VarId],
    ) -> Result<Code, CgenError> {
        let what = "an instance without the dims that its buffer needs";
        let place = self.scope.element(frame, subscripts, dims).ok_or_else(|| self.unsupported(what))?;
        let of = &self.scope.frames()[frame];
        let name = &of.store.name;
        if of.store.flat {
            let extents: Vec<Option<Affine>> =
                of.buffer.dims.iter().map(|d| Some(d.extent.clone())).collect();
            let number = self.element_number(&extents, &place)?;
            return Ok(Code::primary(format!("{name}[{}]", number.code.text)));
        }
        let mut text = name.clone();
        for e in &place {
            text.push_str(&format!("[{}]", self.int(e, Use::Element)?.code.text));
        }
        Ok(Code::primary(text))
    }
}

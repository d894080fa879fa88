//! Where the elements of arrays are.

use crate::code::Code;
use crate::emitter::{Emitter, Place};
use crate::error::CgenError;
use loop_tree::{Affine, ArrayId, VarId};

impl Emitter<'_> {
    /// The element with these subscripts, for an instance with these dims.
    pub(crate) fn element_of(
        &self,
        array: ArrayId,
        subscripts: &[Affine],
        dims: &[VarId],
    ) -> Result<Code, CgenError> {
        let _ = dims;
        match &self.arrays[array.index()] {
            Place::Variable(name) => Ok(Code::primary(&**name)),
            Place::Pointer(name) => {
                let extents = &self.kernel.array(array).extents;
                let number = self.element_number(extents, subscripts)?;
                Ok(Code::primary(format!("{name}[{}]", number.code.text)))
            }
        }
    }
}

//! Spaces: the parameters and tuples that sets and maps are over.

use super::ctx::{Ctx, IslError};
use super::ffi;
use super::handle::{c_string, call, handle, methods};

/// Which dimensions of an object are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum DimType {
    /// Parameters.
    Param = 1,
    /// Input tuple of a map; the domain of an affine function.
    In = 2,
    /// Output tuple of a map; the only tuple of a set.
    Out = 3,
    /// Existentially quantified, or integer divisions.
    Div = 4,
}

handle! {
    /// Parameters by name, and a tuple (set) or two (map), named or not.
    ///
    /// Objects meet in one operation only if their tuples agree in name and size; parameters are matched by
    /// name, at no cost if the lists are the same.
    pub Space(isl_space), isl_space_free, copy isl_space_copy
}

methods! { Space {
    /// Number of dimensions.
    keep dim(of: DimType) -> usize = isl_space_dim;
} }

impl Space {
    /// A set space of `dims` dimensions over named parameters.
    pub fn set(ctx: &Ctx, params: &[&str], tuple: Option<&str>, dims: usize) -> Result<Self, IslError> {
        let n = params.len();
        let space: Space = call!(ctx.clone(), isl_space_set_alloc(ctx, n, dims))?;
        space.name_params(params)?.with_tuple(DimType::Out, tuple)
    }

    /// With the tuple named, if a name is given.
    pub fn with_tuple(self, which: DimType, name: Option<&str>) -> Result<Self, IslError> {
        let Some(name) = name else { return Ok(self) };
        let name = c_string(name)?;
        let name = name.as_c_str();
        call!(self.ctx.clone(), isl_space_set_tuple_name(self, which, name))
    }

    /// Name of a tuple, if it has one.
    pub fn tuple_name(&self, which: DimType) -> Result<Option<String>, IslError> {
        let this = self;
        let named: bool = call!(self.ctx.clone(), isl_space_has_tuple_name(this, which))?;
        if !named {
            return Ok(None);
        }
        // SAFETY: a live space that has a name for the tuple; the string lives in it and is copied.
        Ok(unsafe { borrowed(ffi::isl_space_get_tuple_name(self.ptr.as_ptr(), which as u32)) })
    }

    fn name_params(mut self, params: &[&str]) -> Result<Self, IslError> {
        for (pos, name) in params.iter().enumerate() {
            let name = c_string(name)?;
            let (name, of) = (name.as_c_str(), DimType::Param);
            self = call!(self.ctx.clone(), isl_space_set_dim_name(self, of, pos, name))?;
        }
        Ok(self)
    }
}

handle! {
    /// A space with integer divisions; here always without.
    pub(super) LocalSpace(isl_local_space), isl_local_space_free, copy isl_local_space_copy
}

impl LocalSpace {
    pub(super) fn new(space: Space) -> Result<Self, IslError> {
        call!(space.ctx().clone(), isl_local_space_from_space(space))
    }
}

/// SAFETY: null, or a C string that lives during the call.
unsafe fn borrowed(p: *const std::ffi::c_char) -> Option<String> {
    // SAFETY: by contract.
    (!p.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(p) }.to_string_lossy().into_owned())
}

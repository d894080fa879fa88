//! Types.

use std::fmt;
use std::marker::PhantomData;

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::context::Context;
use super::error::{Result, require};
use super::strings::take_message;

/// A type; equal types of one context are the same handle.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type<'m> {
    raw: LLVMTypeRef,
    owner: PhantomData<&'m Context>,
}

/// What a type is made of.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind<'m> {
    Void,
    Half,
    BFloat,
    Float,
    Double,
    /// 80 bits of x86, 128 bits, or the pair of doubles of PowerPC.
    LongFloat,
    /// Of so many bits.
    Integer(u32),
    /// Into an address space.
    Pointer(u32),
    Array(Type<'m>, u64),
    Vector(Type<'m>, u32),
    /// The lanes are a multiple, known at run time, of this.
    ScalableVector(Type<'m>, u32),
    /// Its fields: [`Type::fields`].
    Struct,
    Function,
    Label,
    Metadata,
    Token,
    /// Of a target.
    Other,
}

impl<'m> Type<'m> {
    /// # Safety
    /// `raw` is a type that lives for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMTypeRef) -> Type<'m> {
        Type { raw, owner: PhantomData }
    }

    pub(crate) fn raw(self) -> LLVMTypeRef {
        self.raw
    }

    pub(crate) fn context(self) -> LLVMContextRef {
        // SAFETY: a valid type.
        unsafe { LLVMGetTypeContext(self.raw) }
    }

    /// What it is made of.
    pub fn kind(self) -> TypeKind<'m> {
        use LLVMTypeKind::*;
        let t = self.raw;
        // SAFETY: each query fits the kind; element types live as long as the type.
        unsafe {
            match LLVMGetTypeKind(t) {
                LLVMVoidTypeKind => TypeKind::Void,
                LLVMHalfTypeKind => TypeKind::Half,
                LLVMBFloatTypeKind => TypeKind::BFloat,
                LLVMFloatTypeKind => TypeKind::Float,
                LLVMDoubleTypeKind => TypeKind::Double,
                LLVMX86_FP80TypeKind | LLVMFP128TypeKind | LLVMPPC_FP128TypeKind => TypeKind::LongFloat,
                LLVMIntegerTypeKind => TypeKind::Integer(LLVMGetIntTypeWidth(t)),
                LLVMPointerTypeKind => TypeKind::Pointer(LLVMGetPointerAddressSpace(t)),
                LLVMArrayTypeKind => {
                    TypeKind::Array(Type::from_raw(LLVMGetElementType(t)), LLVMGetArrayLength2(t))
                }
                LLVMVectorTypeKind => {
                    TypeKind::Vector(Type::from_raw(LLVMGetElementType(t)), LLVMGetVectorSize(t))
                }
                LLVMScalableVectorTypeKind => {
                    TypeKind::ScalableVector(Type::from_raw(LLVMGetElementType(t)), LLVMGetVectorSize(t))
                }
                LLVMStructTypeKind => TypeKind::Struct,
                LLVMFunctionTypeKind => TypeKind::Function,
                LLVMLabelTypeKind => TypeKind::Label,
                LLVMMetadataTypeKind => TypeKind::Metadata,
                LLVMTokenTypeKind => TypeKind::Token,
                LLVMX86_AMXTypeKind | LLVMTargetExtTypeKind => TypeKind::Other,
            }
        }
    }

    /// The fields of a struct; empty for other types and opaque structs.
    pub fn fields(self) -> Vec<Type<'m>> {
        if self.kind() != TypeKind::Struct {
            return Vec::new();
        }
        // SAFETY: a struct; LLVM writes exactly as many types as it counts.
        unsafe {
            let count = LLVMCountStructElementTypes(self.raw) as usize;
            let mut raw = vec![std::ptr::null_mut(); count];
            LLVMGetStructElementTypes(self.raw, raw.as_mut_ptr());
            raw.into_iter().map(|t| Type::from_raw(t)).collect()
        }
    }

    /// Result and parameters of a function type.
    pub fn signature(self) -> Option<(Type<'m>, Vec<Type<'m>>)> {
        if self.kind() != TypeKind::Function {
            return None;
        }
        // SAFETY: a function type; LLVM writes exactly as many types as it counts.
        unsafe {
            let mut raw = vec![std::ptr::null_mut(); LLVMCountParamTypes(self.raw) as usize];
            LLVMGetParamTypes(self.raw, raw.as_mut_ptr());
            let params = raw.into_iter().map(|t| Type::from_raw(t)).collect();
            Some((Type::from_raw(LLVMGetReturnType(self.raw)), params))
        }
    }

    /// Whether a function type takes further arguments.
    pub fn is_variadic(self) -> bool {
        // SAFETY: asked of function types only.
        self.kind() == TypeKind::Function && unsafe { LLVMIsFunctionVarArg(self.raw) } != 0
    }

    /// Whether values of it can be loaded and stored.
    pub fn is_sized(self) -> bool {
        // SAFETY: a valid type.
        unsafe { LLVMTypeIsSized(self.raw) != 0 }
    }

    /// Itself, or the lanes of a vector.
    pub fn scalar(self) -> Type<'m> {
        match self.kind() {
            TypeKind::Vector(element, _) | TypeKind::ScalableVector(element, _) => element,
            _ => self,
        }
    }

    /// Whether it is an integer or a vector of integers.
    pub fn is_int(self) -> bool {
        matches!(self.scalar().kind(), TypeKind::Integer(_))
    }

    /// Whether it is a floating-point number or a vector of them.
    pub fn is_float(self) -> bool {
        use TypeKind::*;
        matches!(self.scalar().kind(), Half | BFloat | Float | Double | LongFloat)
    }

    /// Whether it is a pointer or a vector of pointers.
    pub fn is_pointer(self) -> bool {
        matches!(self.scalar().kind(), TypeKind::Pointer(_))
    }

    /// Whether values of it can be operands and results: no void, function, label, token, metadata.
    pub fn is_first_class(self) -> bool {
        use TypeKind::*;
        !matches!(self.kind(), Void | Function | Label | Token | Metadata)
    }

    /// Whether a size is only known at run time somewhere inside.
    pub(crate) fn is_scalable(self) -> bool {
        match self.kind() {
            TypeKind::ScalableVector(..) | TypeKind::Other => true,
            TypeKind::Array(element, _) => element.is_scalable(),
            TypeKind::Struct => self.fields().into_iter().any(Type::is_scalable),
            _ => false,
        }
    }

    /// An array of it.
    pub fn array(self, len: u64) -> Result<Type<'m>> {
        let fits = self.is_sized() && !self.is_scalable();
        require(fits, "array type", "elements have no constant size")?;
        // SAFETY: a valid element type.
        Ok(unsafe { Type::from_raw(LLVMArrayType2(self.raw, len)) })
    }

    /// A vector of it.
    pub fn vector(self, lanes: u32) -> Result<Type<'m>> {
        let scalar = self.scalar() == self && (self.is_int() || self.is_float() || self.is_pointer());
        require(scalar && lanes > 0, "vector type", "lanes are positive, elements numbers or pointers")?;
        // SAFETY: a valid element type and number of lanes.
        Ok(unsafe { Type::from_raw(LLVMVectorType(self.raw, lanes)) })
    }

    /// A function type with this result.
    pub fn function(self, params: &[Type<'m>]) -> Result<Type<'m>> {
        let result = self.is_first_class() || self.kind() == TypeKind::Void;
        let fits = result && params.iter().all(|p| p.is_first_class() && p.context() == self.context());
        require(fits, "function type", "a parameter or result type is not allowed")?;
        let mut raw: Vec<_> = params.iter().map(|p| p.raw).collect();
        // SAFETY: valid types of one context; LLVM reads `raw` only during the call.
        Ok(unsafe { Type::from_raw(LLVMFunctionType(self.raw, raw.as_mut_ptr(), raw.len() as u32, 0)) })
    }
}

impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a valid type; the message is ours.
        f.write_str(&unsafe { take_message(LLVMPrintTypeToString(self.raw)) })
    }
}

impl fmt::Debug for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Context {
    /// An integer type; 1 to 2^23 bits.
    pub fn int(&self, bits: u32) -> Result<Type<'_>> {
        require((1..=1 << 23).contains(&bits), "integer type", "1 to 2^23 bits")?;
        // SAFETY: a valid context and width.
        Ok(unsafe { Type::from_raw(LLVMIntTypeInContext(self.raw(), bits)) })
    }

    /// `i1`.
    pub fn i1(&self) -> Type<'_> {
        // SAFETY: a valid context.
        unsafe { Type::from_raw(LLVMInt1TypeInContext(self.raw())) }
    }

    /// `i8`.
    pub fn i8(&self) -> Type<'_> {
        // SAFETY: a valid context.
        unsafe { Type::from_raw(LLVMInt8TypeInContext(self.raw())) }
    }

    /// `i32`.
    pub fn i32(&self) -> Type<'_> {
        // SAFETY: a valid context.
        unsafe { Type::from_raw(LLVMInt32TypeInContext(self.raw())) }
    }

    /// `i64`.
    pub fn i64(&self) -> Type<'_> {
        // SAFETY: a valid context.
        unsafe { Type::from_raw(LLVMInt64TypeInContext(self.raw())) }
    }

    /// `float`.
    pub fn f32(&self) -> Type<'_> {
        // SAFETY: a valid context.
        unsafe { Type::from_raw(LLVMFloatTypeInContext(self.raw())) }
    }

    /// `double`.
    pub fn f64(&self) -> Type<'_> {
        // SAFETY: a valid context.
        unsafe { Type::from_raw(LLVMDoubleTypeInContext(self.raw())) }
    }

    /// `void`.
    pub fn void(&self) -> Type<'_> {
        // SAFETY: a valid context.
        unsafe { Type::from_raw(LLVMVoidTypeInContext(self.raw())) }
    }

    /// `ptr`.
    pub fn ptr(&self) -> Type<'_> {
        // SAFETY: a valid context.
        unsafe { Type::from_raw(LLVMPointerTypeInContext(self.raw(), 0)) }
    }
}

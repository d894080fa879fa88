//! Values, and constants among them.

use std::fmt;
use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use rustc_hash::FxHashSet;

use super::error::{Result, require};
use super::ffi::{self, LtInt};
use super::function::{Argument, Block, Function};
use super::inst::Inst;
use super::kinds::{Linkage, Opcode};
use super::module::Module;
use super::strings::{copy_str, take_message};
use super::types::{Type, TypeKind};

/// Anything an instruction can use: a constant, an argument, a global, a block, an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value<'m> {
    raw: LLVMValueRef,
    owner: PhantomData<&'m Module<'m>>,
}

/// A floating-point constant, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FpBits {
    /// The bits of its representation, zero-extended.
    pub bits: u128,
    /// How many bits the type has.
    pub width: u32,
}

impl<'m> Value<'m> {
    /// # Safety
    /// `raw` is a value that lives for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMValueRef) -> Value<'m> {
        Value { raw, owner: PhantomData }
    }

    /// # Safety
    /// `raw` is null or a value that lives for `'m`.
    pub(crate) unsafe fn from_nullable(raw: LLVMValueRef) -> Option<Value<'m>> {
        (!raw.is_null()).then_some(Value { raw, owner: PhantomData })
    }

    pub(crate) fn raw(self) -> LLVMValueRef {
        self.raw
    }

    /// Its type.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: a valid value; its type lives as long.
        unsafe { Type::from_raw(LLVMTypeOf(self.raw)) }
    }

    /// Its name, empty where it has none.
    pub fn name(self) -> String {
        let mut len = 0;
        // SAFETY: a valid value; LLVM owns `len` bytes of name.
        unsafe {
            let data = LLVMGetValueName2(self.raw, &mut len);
            copy_str(data, len)
        }
    }

    /// What debug information says that the source calls it.
    pub fn source_name(self) -> Option<String> {
        let mut len = 0;
        // SAFETY: a valid value; the context owns `len` bytes of name.
        unsafe {
            let data = ffi::lt_source_name(self.raw, &mut len);
            (!data.is_null()).then(|| copy_str(data, len))
        }
    }

    /// Names it; LLVM makes the name unique.
    pub fn set_name(self, name: &str) {
        // SAFETY: a valid value; LLVM copies the name. Constants keep no name, and LLVM ignores one.
        unsafe { LLVMSetValueName2(self.raw, name.as_ptr().cast(), name.len()) }
    }

    /// Whether its value is the same in every execution: constants and addresses of globals.
    pub fn is_constant(self) -> bool {
        // SAFETY: a valid value.
        unsafe { LLVMIsConstant(self.raw) != 0 }
    }

    /// Whether it is `undef` or `poison`.
    pub fn is_undef(self) -> bool {
        // SAFETY: a valid value.
        unsafe { LLVMIsUndef(self.raw) != 0 }
    }

    /// Whether it is the null value of its type.
    pub fn is_null(self) -> bool {
        // SAFETY: a valid value.
        unsafe { LLVMIsNull(self.raw) != 0 }
    }

    /// As an instruction.
    pub fn as_inst(self) -> Option<Inst<'m>> {
        // SAFETY: what LLVM says is an instruction is one.
        unsafe { (!LLVMIsAInstruction(self.raw).is_null()).then(|| Inst::from_raw(self.raw)) }
    }

    /// As a function.
    pub fn as_function(self) -> Option<Function<'m>> {
        // SAFETY: what LLVM says is a function is one.
        unsafe { (!LLVMIsAFunction(self.raw).is_null()).then(|| Function::from_raw(self.raw)) }
    }

    /// As an argument of a function.
    pub fn as_argument(self) -> Option<Argument<'m>> {
        // SAFETY: what LLVM says is an argument is one.
        unsafe { (!LLVMIsAArgument(self.raw).is_null()).then(|| Argument::from_raw(self.raw)) }
    }

    /// As a global variable.
    pub fn as_global(self) -> Option<Global<'m>> {
        // SAFETY: what LLVM says is a global variable is one.
        unsafe { (!LLVMIsAGlobalVariable(self.raw).is_null()).then_some(Global(self)) }
    }

    /// As a block.
    pub fn as_block(self) -> Option<Block<'m>> {
        // SAFETY: what LLVM says is a block is one.
        unsafe {
            (LLVMValueIsBasicBlock(self.raw) != 0).then(|| Block::from_raw(LLVMValueAsBasicBlock(self.raw)))
        }
    }

    /// A scalar integer constant, sign-extended; `None` also above 128 bits.
    pub fn const_int(self) -> Option<i128> {
        let mut out = LtInt::default();
        // SAFETY: a valid value and place.
        if unsafe { ffi::lt_const_int(self.raw, &mut out) } { out.signed() } else { None }
    }

    /// A scalar floating-point constant.
    pub fn const_fp(self) -> Option<FpBits> {
        let mut out = LtInt::default();
        // SAFETY: a valid value and place.
        let is = unsafe { ffi::lt_const_fp(self.raw, &mut out) };
        is.then(|| FpBits { bits: out.bits(), width: out.width })
    }

    /// An element of a constant array, vector or struct; `None` where there is none.
    pub fn const_element(self, index: u32) -> Option<Value<'m>> {
        if !self.is_constant() {
            return None;
        }
        // SAFETY: a constant; LLVM returns null out of range.
        unsafe { Value::from_nullable(LLVMGetAggregateElement(self.raw, index)) }
    }

    /// The text of a constant array of bytes that ends with a zero.
    pub fn const_text(self) -> Option<String> {
        // SAFETY: only data is asked for its bytes, which belong to the context.
        let bytes = unsafe {
            if LLVMIsAConstantDataArray(self.raw).is_null() || LLVMIsConstantString(self.raw) == 0 {
                return None;
            }
            let mut len = 0;
            let data = LLVMGetAsString(self.raw, &mut len);
            std::slice::from_raw_parts(data.cast::<u8>(), len)
        };
        Some(String::from_utf8_lossy(bytes.strip_suffix(&[0])?).into_owned())
    }

    /// The operation of a constant expression.
    pub fn const_expr_opcode(self) -> Option<Opcode> {
        // SAFETY: asked of constant expressions only.
        unsafe {
            let is = !LLVMIsAConstantExpr(self.raw).is_null();
            is.then(|| Opcode::from_sys(LLVMGetConstOpcode(self.raw)))
        }
    }

    /// The type that the indices of a constant `getelementptr` walk.
    pub fn const_gep_source_type(self) -> Option<Type<'m>> {
        // SAFETY: asked of constant `getelementptr` only.
        (self.const_expr_opcode() == Some(Opcode::Gep))
            .then(|| unsafe { Type::from_raw(LLVMGetGEPSourceElementType(self.raw)) })
    }

    /// What an instruction or constant uses, in order.
    pub fn operands(self) -> Vec<Value<'m>> {
        // SAFETY: asked of users only, within their number of operands.
        unsafe {
            if LLVMIsAUser(self.raw).is_null() {
                return Vec::new();
            }
            let count = LLVMGetNumOperands(self.raw).max(0) as u32;
            (0..count).filter_map(|i| Value::from_nullable(LLVMGetOperand(self.raw, i))).collect()
        }
    }

    /// Those who use it, once per use, in LLVM's order: instructions and constants.
    pub fn users(self) -> Vec<Value<'m>> {
        let mut users = Vec::new();
        // SAFETY: walks the list of uses, which nothing changes meanwhile.
        unsafe {
            let mut next = LLVMGetFirstUse(self.raw);
            while !next.is_null() {
                users.push(Value::from_raw(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }

    /// What instructions do with it: who, as which operand, and the block in which it has to be there (for a phi, the one that
    /// control comes from).
    pub fn uses(self) -> Vec<(Inst<'m>, u32, Block<'m>)> {
        let mut seen = FxHashSet::default();
        let users = self.users().into_iter().filter_map(Value::as_inst).filter(|user| seen.insert(*user));
        users
            .flat_map(|user| {
                let from = user.incoming();
                let operands = user.value().operands().into_iter().enumerate();
                let uses = operands.filter(|(_, operand)| *operand == self).map(|(number, _)| number);
                uses.map(|number| (user, number as u32, from.get(number).map_or(user.block(), |(_, b)| *b)))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Whether anything uses it.
    pub fn is_used(self) -> bool {
        // SAFETY: a valid value.
        unsafe { !LLVMGetFirstUse(self.raw).is_null() }
    }

    /// Lets all users use `by`.
    pub fn replace_all_uses(self, by: Value<'m>) -> Result<()> {
        let operation = "replace all uses";
        require(
            self.ty() == by.ty() && self != by,
            operation,
            "the replacement has another type, or is the same",
        )?;
        require(
            !self.is_constant() || self.as_function().is_some() || self.as_global().is_some(),
            operation,
            "constants are shared",
        )?;
        // SAFETY: different values of the same type.
        unsafe { LLVMReplaceAllUsesWith(self.raw, by.raw) };
        Ok(())
    }
}

impl<'m> Type<'m> {
    /// An integer constant; the low bits of `value` where it does not fit.
    pub fn const_int(self, value: i128) -> Result<Value<'m>> {
        let TypeKind::Integer(bits) = self.kind() else {
            return Err(super::LlvmError::argument("integer constant", "the type is no integer"));
        };
        let sign = if value < 0 { u64::MAX } else { 0 };
        let mut words = vec![value as u64, (value >> 64) as u64];
        words.resize((bits as usize).div_ceil(64).max(2), sign);
        let count = bits.div_ceil(64);
        // SAFETY: an integer type, and enough words.
        Ok(unsafe { Value::from_raw(LLVMConstIntOfArbitraryPrecision(self.raw(), count, words.as_ptr())) })
    }

    /// A floating-point constant of these bits.
    pub fn const_fp(self, bits: u128) -> Result<Value<'m>> {
        require(
            self.is_float() && self.scalar() == self,
            "constant",
            "the type is no floating-point number",
        )?;
        // SAFETY: a scalar floating-point type.
        Ok(unsafe { Value::from_raw(ffi::lt_make_fp(self.raw(), bits as u64, (bits >> 64) as u64)) })
    }

    /// Zero, null, or all fields so.
    pub fn zero(self) -> Result<Value<'m>> {
        require(self.is_first_class() && self.is_sized(), "zero", "the type has no null value")?;
        require(self.kind() != TypeKind::Other, "zero", "the type has no null value")?;
        // SAFETY: a sized first-class type.
        Ok(unsafe { Value::from_raw(LLVMConstNull(self.raw())) })
    }

    /// The value that taints what uses it.
    pub fn poison(self) -> Result<Value<'m>> {
        require(self.is_first_class(), "poison", "the type has no values")?;
        // SAFETY: a first-class type.
        Ok(unsafe { Value::from_raw(LLVMGetPoison(self.raw())) })
    }
}

/// A constant vector, one lane per element.
pub(crate) fn const_vector<'m>(lanes: &[Value<'m>]) -> Result<Value<'m>> {
    let fits = lanes.first().is_some_and(|f| lanes.iter().all(|e| e.is_constant() && e.ty() == f.ty()));
    require(fits, "constant vector", "lanes are constants of one type, at least one")?;
    lanes[0].ty().vector(lanes.len() as u32)?;
    let mut raw: Vec<_> = lanes.iter().map(|e| e.raw).collect();
    // SAFETY: constants of one type that vectors allow.
    Ok(unsafe { Value::from_raw(LLVMConstVector(raw.as_mut_ptr(), raw.len() as u32)) })
}

/// A global variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Global<'m>(Value<'m>);

impl<'m> Global<'m> {
    /// As a value: its address.
    pub fn value(self) -> Value<'m> {
        self.0
    }

    /// The type of what it holds.
    pub fn value_type(self) -> Type<'m> {
        // SAFETY: a global variable.
        unsafe { Type::from_raw(LLVMGlobalGetValueType(self.0.raw)) }
    }

    /// It begins at a multiple of that many bytes, a power of two, if it has at least `shortest`, the module defines it, and nothing
    /// keeps it where it is.
    pub fn raise_alignment(self, bytes: u64, shortest: u64) {
        // SAFETY: a global variable.
        unsafe { ffi::lt_raise_alignment(self.0.raw, bytes, shortest) }
    }

    /// Whether nothing may write to it.
    pub fn is_constant(self) -> bool {
        // SAFETY: a global variable.
        unsafe { LLVMIsGlobalConstant(self.0.raw) != 0 }
    }

    /// Whether each thread has its own.
    pub fn is_thread_local(self) -> bool {
        // SAFETY: a global variable.
        unsafe { LLVMIsThreadLocal(self.0.raw) != 0 }
    }

    /// Who else may see or replace it.
    pub fn linkage(self) -> Linkage {
        // SAFETY: a global variable.
        Linkage::from_sys(unsafe { LLVMGetLinkage(self.0.raw) })
    }

    /// Changes who may see it.
    pub fn set_linkage(self, linkage: Linkage) {
        // SAFETY: a global variable.
        unsafe { LLVMSetLinkage(self.0.raw, linkage.sys()) }
    }

    /// What it holds at first; `None` where another module says so.
    pub fn initializer(self) -> Option<Value<'m>> {
        // SAFETY: a global variable.
        unsafe { Value::from_nullable(LLVMGetInitializer(self.0.raw)) }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a valid value; the message is ours.
        let text = unsafe { take_message(LLVMPrintValueToString(self.raw)) };
        f.write_str(text.trim_start())
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

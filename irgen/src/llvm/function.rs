//! Functions, their arguments and blocks.

use std::marker::PhantomData;
use std::ops::Deref;

use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMGetSubprogram;
use llvm_sys::prelude::*;

use super::ffi;
use super::inst::Inst;
use super::kinds::Linkage;
use super::metadata::{Metadata, SourceLocation};
use super::module::Module;
use super::strings::{c_string, copy_str, take_message};
use super::types::Type;
use super::value::Value;

/// A function, defined or declared; also the value of its address.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function<'m>(Value<'m>);

/// An argument of a function.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Argument<'m>(Value<'m>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block<'m> {
    raw: LLVMBasicBlockRef,
    owner: PhantomData<&'m Module<'m>>,
}

impl<'m> Deref for Function<'m> {
    type Target = Value<'m>;

    fn deref(&self) -> &Value<'m> {
        &self.0
    }
}

impl<'m> Deref for Argument<'m> {
    type Target = Value<'m>;

    fn deref(&self) -> &Value<'m> {
        &self.0
    }
}

impl<'m> Function<'m> {
    /// # Safety
    /// `raw` is a function that lives for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMValueRef) -> Function<'m> {
        // SAFETY: by contract.
        Function(unsafe { Value::from_raw(raw) })
    }

    /// As a value: its address.
    pub fn value(self) -> Value<'m> {
        self.0
    }

    /// Its function type.
    pub fn function_type(self) -> Type<'m> {
        // SAFETY: a function.
        unsafe { Type::from_raw(LLVMGlobalGetValueType(self.raw())) }
    }

    /// The type of its result.
    pub fn return_type(self) -> Type<'m> {
        // SAFETY: a function type.
        unsafe { Type::from_raw(LLVMGetReturnType(self.function_type().raw())) }
    }

    /// Whether describing some loop of it may lead to anything; `false` only where that is plain without any pass. `alone`: one straight
    /// loop by itself may, though no other order improves it.
    pub fn may_gain(self, alone: bool) -> bool {
        // SAFETY: a function with a body.
        !self.is_declaration() && unsafe { ffi::lt_may_gain(self.raw(), alone) }
    }

    /// Whether it has no body here.
    pub fn is_declaration(self) -> bool {
        // SAFETY: a function.
        unsafe { LLVMIsDeclaration(self.raw()) != 0 }
    }

    /// Its arguments.
    pub fn params(self) -> Vec<Argument<'m>> {
        // SAFETY: indices below the count.
        unsafe {
            (0..LLVMCountParams(self.raw()))
                .map(|i| Argument::from_raw(LLVMGetParam(self.raw(), i)))
                .collect()
        }
    }

    /// Its blocks, in the order of the text.
    pub fn blocks(self) -> Vec<Block<'m>> {
        let mut blocks = Vec::new();
        // SAFETY: walks the list of blocks, which nothing changes meanwhile.
        unsafe {
            let mut next = LLVMGetFirstBasicBlock(self.raw());
            while !next.is_null() {
                blocks.push(Block::from_raw(next));
                next = LLVMGetNextBasicBlock(next);
            }
        }
        blocks
    }

    /// The block it begins with; `None` for declarations.
    pub fn entry(self) -> Option<Block<'m>> {
        // SAFETY: a function; null when it has no block.
        unsafe { Block::from_nullable(LLVMGetFirstBasicBlock(self.raw())) }
    }

    /// A new empty block at the end.
    pub fn append_block(self, name: &str) -> Block<'m> {
        let name = c_string(name);
        // SAFETY: a function and its context.
        unsafe {
            let cx = LLVMGetTypeContext(LLVMTypeOf(self.raw()));
            Block::from_raw(LLVMAppendBasicBlockInContext(cx, self.raw(), name.as_ptr()))
        }
    }

    /// The number of the intrinsic it is; 0 for others.
    pub fn intrinsic_id(self) -> u32 {
        // SAFETY: a function.
        unsafe { LLVMGetIntrinsicID(self.raw()) }
    }

    /// The name of the intrinsic it is, without overloads: `llvm.sqrt` of `llvm.sqrt.f64`.
    pub fn intrinsic_name(self) -> Option<String> {
        let id = self.intrinsic_id();
        if id == 0 {
            return None;
        }
        let mut len = 0;
        // SAFETY: a valid number; LLVM owns the name.
        Some(unsafe { copy_str(LLVMIntrinsicGetName(id, &mut len), len) })
    }

    /// Whether it has an attribute by its name in the text, such as `nounwind` or `willreturn`.
    pub fn has_attribute(self, name: &str) -> bool {
        // SAFETY: a function and a string.
        unsafe { ffi::lt_has_attribute(self.raw(), name.as_ptr().cast(), name.len(), -1) }
    }

    /// The value of a string attribute, such as `target-cpu`.
    pub fn string_attribute(self, name: &str) -> Option<String> {
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        // SAFETY: a function; the attribute, where it exists, is a string attribute.
        unsafe {
            let (key, len) = (name.as_ptr().cast(), name.len() as u32);
            let attribute = LLVMGetStringAttributeAtIndex(self.raw(), index, key, len);
            if attribute.is_null() {
                return None;
            }
            let mut len = 0;
            let value = LLVMGetStringAttributeValue(attribute, &mut len);
            Some(copy_str(value, len as usize))
        }
    }

    /// Sets a string attribute.
    pub fn set_string_attribute(self, name: &str, value: &str) {
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        // SAFETY: a function of this context; LLVM copies both strings.
        unsafe {
            let cx = LLVMGetTypeContext(LLVMTypeOf(self.raw()));
            let (k, kl, v, vl) =
                (name.as_ptr().cast(), name.len() as u32, value.as_ptr().cast(), value.len() as u32);
            LLVMAddAttributeAtIndex(self.raw(), index, LLVMCreateStringAttribute(cx, k, kl, v, vl));
        }
    }

    /// Whether a call of that name from this function is one of a library's function: nothing else in the module has the name, and where
    /// it is one of the target's library, the function may call that by its meaning (no `-ffreestanding`, `-fno-builtin`).
    pub fn may_call(self, name: &str) -> bool {
        // SAFETY: a function and a string.
        unsafe { ffi::lt_may_call(self.raw(), name.as_ptr().cast(), name.len()) }
    }

    /// Whether its code may use registers of vectors that the program does not ask for: kernels and handlers of interrupts do not save them
    /// (`-mno-implicit-float`).
    pub fn may_use_vectors(self) -> bool {
        !self.has_attribute("noimplicitfloat")
    }

    /// Whether the program is ended where it allocates or waits: `nonblocking`, with `-fsanitize=realtime`.
    pub fn must_not_wait(self) -> bool {
        ["sanitize_realtime", "sanitize_realtime_blocking"].iter().any(|name| self.has_attribute(name))
    }

    /// `malloc` and `free` of the target's library, for calls from this function, whose attributes then allow them. `None` where
    /// the target has none, the function may not call them by their meaning (`-ffreestanding`, `-fno-builtin`) or at all, or they are
    /// defined in this module.
    pub fn allocator(self) -> Option<(Function<'m>, Function<'m>)> {
        if self.must_not_wait() {
            return None;
        }
        // SAFETY: a function; functions of its module, or null.
        unsafe {
            let (malloc, free) = (ffi::lt_malloc(self.raw()), ffi::lt_free(self.raw()));
            if malloc.is_null() || free.is_null() {
                return None;
            }
            ffi::lt_may_allocate(self.raw());
            Some((Function::from_raw(malloc), Function::from_raw(free)))
        }
    }

    /// Whether a call of it may begin before another one ends: it calls functions that may call it again.
    pub fn may_recurse(self) -> bool {
        // SAFETY: a function.
        unsafe { ffi::lt_may_recurse(self.raw()) }
    }

    /// A new function of the module that returns nothing and takes a pointer, for a part of this one: compiled as this one is.
    pub fn outlined(self, name: &str) -> Function<'m> {
        // SAFETY: a function and a string; a new function of its module.
        unsafe { Function::from_raw(ffi::lt_outlined(self.raw(), name.as_ptr().cast(), name.len())) }
    }

    /// Its code is to have vectors of so many bits, also where the compiler takes narrower ones by itself; `None`: as it takes them.
    pub fn set_vector_bits(self, bits: Option<u32>) {
        let Some(bits) = bits else { return };
        for attribute in ["prefer-vector-width", "min-legal-vector-width"] {
            self.set_string_attribute(attribute, &bits.to_string());
        }
    }

    /// Its attributes then allow calls that start threads.
    pub fn may_start_threads(self) {
        // SAFETY: a function.
        unsafe { ffi::lt_may_start_threads(self.raw()) }
    }

    /// Its attributes then say that it does nothing but compute.
    pub fn set_pure(self) {
        // SAFETY: a function.
        unsafe { ffi::lt_set_pure(self.raw()) }
    }

    /// Its attributes then say that it does not throw.
    pub fn set_nounwind(self) {
        // SAFETY: a function.
        unsafe { ffi::lt_set_nounwind(self.raw()) }
    }

    /// A place in code of this function, where a part of the function around the location is moved into it. `None` where it has no
    /// debug information.
    pub fn relocated(self, location: Metadata<'m>) -> Option<Metadata<'m>> {
        // SAFETY: metadata and a function; the shim is asked about locations only.
        unsafe {
            if !ffi::lt_md_is_location(location.raw()) {
                return None;
            }
            Metadata::from_nullable(ffi::lt_location_within(location.raw(), self.raw()))
        }
    }

    /// Who else may see or replace it.
    pub fn linkage(self) -> Linkage {
        // SAFETY: a function.
        Linkage::from_sys(unsafe { LLVMGetLinkage(self.raw()) })
    }

    /// Changes who may see it.
    pub fn set_linkage(self, linkage: Linkage) {
        // SAFETY: a function.
        unsafe { LLVMSetLinkage(self.raw(), linkage.sys()) }
    }

    /// Its entry of the debug information.
    pub fn subprogram(self) -> Option<Metadata<'m>> {
        // SAFETY: a function.
        unsafe { Metadata::from_nullable(LLVMGetSubprogram(self.raw())) }
    }

    /// The line that it begins at.
    pub fn location(self) -> Option<SourceLocation> {
        self.subprogram().map(Metadata::declaration)
    }
}

impl<'m> Argument<'m> {
    /// # Safety
    /// `raw` is an argument that lives for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMValueRef) -> Argument<'m> {
        // SAFETY: by contract.
        Argument(unsafe { Value::from_raw(raw) })
    }

    /// As a value.
    pub fn value(self) -> Value<'m> {
        self.0
    }

    /// Whose argument it is.
    pub fn function(self) -> Function<'m> {
        // SAFETY: arguments belong to a function.
        unsafe { Function::from_raw(LLVMGetParamParent(self.raw())) }
    }

    /// Its place among the arguments, from 0.
    pub fn index(self) -> u32 {
        // SAFETY: walks the arguments before it.
        unsafe {
            let (mut n, mut at) = (0, LLVMGetPreviousParam(self.raw()));
            while !at.is_null() {
                (n, at) = (n + 1, LLVMGetPreviousParam(at));
            }
            n
        }
    }

    /// Whether it has an attribute by its name in the text, such as `noalias` or `nonnull`.
    pub fn has_attribute(self, name: &str) -> bool {
        let (data, len, index) = (name.as_ptr().cast(), name.len(), i64::from(self.index()));
        // SAFETY: a function, a string, and an index of its arguments.
        unsafe { ffi::lt_has_attribute(self.function().raw(), data, len, index) }
    }
}

impl<'m> Block<'m> {
    /// # Safety
    /// `raw` is a block that lives for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMBasicBlockRef) -> Block<'m> {
        Block { raw, owner: PhantomData }
    }

    /// # Safety
    /// `raw` is null or a block that lives for `'m`.
    pub(crate) unsafe fn from_nullable(raw: LLVMBasicBlockRef) -> Option<Block<'m>> {
        (!raw.is_null()).then_some(Block { raw, owner: PhantomData })
    }

    pub(crate) fn raw(self) -> LLVMBasicBlockRef {
        self.raw
    }

    /// As a value: a label.
    pub fn value(self) -> Value<'m> {
        // SAFETY: a valid block.
        unsafe { Value::from_raw(LLVMBasicBlockAsValue(self.raw)) }
    }

    /// Its name, empty where it has none.
    pub fn name(self) -> String {
        self.value().name()
    }

    /// As the text refers to it: `%body`, `%5`.
    pub fn label(self) -> String {
        // SAFETY: a valid block; the message is ours.
        unsafe { take_message(ffi::lt_block_label(self.raw)) }
    }

    /// Whose block it is.
    pub fn function(self) -> Function<'m> {
        // SAFETY: handles are made only of blocks in functions.
        unsafe { Function::from_raw(LLVMGetBasicBlockParent(self.raw)) }
    }

    /// Its instructions in order.
    pub fn insts(self) -> Vec<Inst<'m>> {
        let mut insts = Vec::new();
        // SAFETY: walks the list of instructions, which nothing changes meanwhile.
        unsafe {
            let mut next = LLVMGetFirstInstruction(self.raw);
            while !next.is_null() {
                insts.push(Inst::from_raw(next));
                next = LLVMGetNextInstruction(next);
            }
        }
        insts
    }

    /// The phis it begins with.
    pub fn phis(self) -> Vec<Inst<'m>> {
        let mut phis = self.insts();
        let count = phis.iter().take_while(|i| i.is_phi()).count();
        phis.truncate(count);
        phis
    }

    /// The first instruction.
    pub fn first_inst(self) -> Option<Inst<'m>> {
        // SAFETY: a valid block; null when it is empty.
        unsafe {
            let first = LLVMGetFirstInstruction(self.raw);
            (!first.is_null()).then(|| Inst::from_raw(first))
        }
    }

    /// The instruction that leaves it; `None` while it is being built.
    pub fn terminator(self) -> Option<Inst<'m>> {
        // SAFETY: a valid block; null when it has none.
        unsafe {
            let last = LLVMGetBasicBlockTerminator(self.raw);
            (!last.is_null()).then(|| Inst::from_raw(last))
        }
    }

    /// Where it may go, once per edge.
    pub fn successors(self) -> Vec<Block<'m>> {
        self.terminator().map(Inst::successors).unwrap_or_default()
    }

    /// Where it may come from, once per block, in the order of the function.
    pub fn predecessors(self) -> Vec<Block<'m>> {
        let from: Vec<Block<'m>> = self
            .value()
            .users()
            .into_iter()
            .filter_map(Value::as_inst)
            .filter(|user| user.is_terminator())
            .map(Inst::block)
            .collect();
        match from.len() {
            0 => from,
            1 => from,
            // The list of uses is in no meaningful order.
            _ => self.function().blocks().into_iter().filter(|b| from.contains(b)).collect(),
        }
    }
}

impl std::fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "%{}", self.name())
    }
}

//! Modules: printing, verification, passes, and what they contain.

use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyFunction, LLVMVerifyModule};
use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core::*;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::transforms::pass_builder::*;
use llvm_sys::{LLVMLinkage, LLVMUnnamedAddr};

use super::context::Context;
use super::error::{LlvmError, Result, require};
use super::ffi;
use super::function::Function;
use super::strings::{c_string, copy_str, take_error, take_message};
use super::target::TargetMachine;
use super::types::{Type, TypeKind};
use super::value::{Global, Value};

/// A module, owned; it borrows its context.
pub struct Module<'c> {
    raw: LLVMModuleRef,
    context: &'c Context,
}

/// Lends a module that something else owns, a compiler for one; its context keeps its handler of messages.
///
/// New values have names meanwhile, as in contexts of our own: names of parameters come from them. In a context that discards names none
/// is left: functions of such a context have no tables of them, so that several values would have the same.
///
/// # Safety
/// `raw` is a valid module, and nothing else uses it or its context meanwhile.
pub unsafe fn with_lent_module<R>(raw: LLVMModuleRef, f: impl FnOnce(&mut Module<'_>) -> R) -> R {
    struct Restore(LLVMModuleRef, LLVMContextRef, LLVMBool);
    impl Drop for Restore {
        fn drop(&mut self) {
            // SAFETY: module and context outlive the call that lends the module.
            unsafe {
                if self.2 != 0 {
                    discard_names(self.0);
                }
                LLVMContextSetDiscardValueNames(self.1, self.2);
            }
        }
    }
    // SAFETY: the module's context lives as long as the module, and is not used by others.
    let (context, _restore) = unsafe {
        let context = LLVMGetModuleContext(raw);
        let restore = Restore(raw, context, LLVMContextShouldDiscardValueNames(context));
        LLVMContextSetDiscardValueNames(context, 0);
        (Context::lent(context), restore)
    };
    // It belongs to somebody else, and is not dropped.
    let mut module = ManuallyDrop::new(Module { raw, context: &context });
    f(&mut module)
}

/// Takes the names of arguments, blocks and instructions.
///
/// # Safety
/// `module` is a valid one that nothing else uses meanwhile.
unsafe fn discard_names(module: LLVMModuleRef) {
    let each = |first: LLVMValueRef, next: unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef| {
        let some = |value: LLVMValueRef| (!value.is_null()).then_some(value);
        // SAFETY: `next` goes from one value of a list to the next, or to null.
        std::iter::successors(some(first), move |at| some(unsafe { next(*at) }))
    };
    // SAFETY: all of it is of the module, whose lists stay as they are.
    unsafe {
        let unnamed = |value| LLVMSetValueName2(value, c"".as_ptr(), 0);
        for function in each(LLVMGetFirstFunction(module), LLVMGetNextFunction) {
            each(LLVMGetFirstParam(function), LLVMGetNextParam).for_each(unnamed);
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                unnamed(LLVMBasicBlockAsValue(block));
                each(LLVMGetFirstInstruction(block), LLVMGetNextInstruction).for_each(unnamed);
                block = LLVMGetNextBasicBlock(block);
            }
        }
    }
}

/// As the C libraries of Linux call it, but for Android's.
const ERRNO_LOCATION: &str = "__errno_location";

impl<'c> Module<'c> {
    /// # Safety
    /// `raw` is a module of `context`, owned by the result.
    pub(crate) unsafe fn from_raw(raw: LLVMModuleRef, context: &'c Context) -> Module<'c> {
        Module { raw, context }
    }

    pub(crate) fn raw(&self) -> LLVMModuleRef {
        self.raw
    }

    /// The context it borrows.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// A copy of its own.
    pub fn duplicate(&self) -> Module<'c> {
        // SAFETY: a valid module; the copy is of the same context.
        unsafe { Module::from_raw(LLVMCloneModule(self.raw), self.context) }
    }

    /// Checks the rules of the IR.
    pub fn verify(&self) -> Result<()> {
        let mut message = ptr::null_mut();
        // SAFETY: a valid module; the message is ours in either case.
        let (broken, message) = unsafe {
            let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
            (LLVMVerifyModule(self.raw, action, &mut message), take_message(message))
        };
        if broken == 0 { Ok(()) } else { Err(LlvmError::Verify(message.trim_end().to_owned())) }
    }

    /// Checks the rules of the IR for one function.
    pub fn verify_function(&self, name: &str) -> Result<()> {
        let Some(f) = self.function(name) else { return Err(LlvmError::NoFunction(name.to_owned())) };
        // SAFETY: a function of this module.
        let broken =
            unsafe { LLVMVerifyFunction(f.raw(), LLVMVerifierFailureAction::LLVMReturnStatusAction) };
        // Only the whole is told what is wrong.
        if broken == 0 { Ok(()) } else { self.verify().and(Err(LlvmError::Verify(name.to_owned()))) }
    }

    /// As bitcode.
    pub fn to_bitcode(&self) -> Vec<u8> {
        // SAFETY: a valid module; the buffer is ours, copied and freed.
        unsafe { take_buffer(LLVMWriteBitcodeToMemoryBuffer(self.raw)) }
    }

    /// As bitcode that tells as much as the module, the order of uses included: passes do to what is read from it exactly what
    /// they do to this module.
    pub fn to_exact_bitcode(&self) -> Vec<u8> {
        // SAFETY: a valid module; the buffer is ours, copied and freed.
        unsafe { take_buffer(ffi::lt_bitcode(self.raw)) }
    }

    /// A function by name.
    pub fn function(&self, name: &str) -> Option<Function<'_>> {
        // SAFETY: a valid module and string; null where there is none.
        unsafe {
            let raw = LLVMGetNamedFunctionWithLength(self.raw, name.as_ptr().cast(), name.len());
            (!raw.is_null()).then(|| Function::from_raw(raw))
        }
    }

    /// Its functions, defined and declared, in the order of the text.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let mut all = Vec::new();
        // SAFETY: walks the list of functions, which nothing changes meanwhile.
        unsafe {
            let mut next = LLVMGetFirstFunction(self.raw);
            while !next.is_null() {
                all.push(Function::from_raw(next));
                next = LLVMGetNextFunction(next);
            }
        }
        all
    }

    /// Its global variables in the order of the text.
    pub fn globals(&self) -> Vec<Global<'_>> {
        let mut all = Vec::new();
        // SAFETY: walks the list of globals, which nothing changes meanwhile.
        unsafe {
            let mut next = LLVMGetFirstGlobal(self.raw);
            while !next.is_null() {
                all.extend(Value::from_raw(next).as_global());
                next = LLVMGetNextGlobal(next);
            }
        }
        all
    }

    /// What the source says of functions by `__attribute__((annotate("...")))`, in its order.
    pub fn annotations(&self) -> Vec<Annotation<'_>> {
        fn text(entry: Value<'_>, index: u32) -> Option<String> {
            entry.const_element(index)?.as_global()?.initializer()?.const_text()
        }
        fn place(entry: Value<'_>) -> Option<(String, u32)> {
            let line = u32::try_from(entry.const_element(3)?.const_int()?).ok()?;
            Some((text(entry, 2)?, line))
        }
        fn read(entry: Value<'_>) -> Option<Annotation<'_>> {
            let function = entry.const_element(0)?.as_function()?;
            Some(Annotation { function, text: text(entry, 1)?, place: place(entry) })
        }
        let all = self.global("llvm.global.annotations").and_then(Global::initializer);
        (0..).map_while(|n| all?.const_element(n)).filter_map(read).collect()
    }

    /// A global variable by name.
    pub fn global(&self, name: &str) -> Option<Global<'_>> {
        // SAFETY: a valid module and string; null where there is none.
        unsafe {
            Value::from_nullable(LLVMGetNamedGlobalWithLength(self.raw, name.as_ptr().cast(), name.len()))
                .and_then(Value::as_global)
        }
    }

    /// Whether [`Module::errno_location`] has an answer.
    pub fn knows_errno(&self) -> bool {
        let triple = self.triple();
        let free = || !self.has_name(ERRNO_LOCATION);
        let known = || {
            self.function(ERRNO_LOCATION).is_some_and(|f| {
                f.is_declaration() && f.function_type().signature() == Some((self.context.ptr(), Vec::new()))
            })
        };
        triple.contains("-linux-") && !triple.contains("android") && (free() || known())
    }

    /// The function of the C library that returns the address of the thread's `errno`; `None` where none is known.
    pub fn errno_location(&self) -> Result<Option<Function<'_>>> {
        if !self.knows_errno() {
            return Ok(None);
        }
        if let Some(known) = self.function(ERRNO_LOCATION) {
            return Ok(Some(known));
        }
        let function = self.add_function(ERRNO_LOCATION, self.context.ptr().function(&[])?)?;
        function.set_pure();
        Ok(Some(function))
    }

    /// Whether a function, variable, alias or the like of it has the name.
    pub fn has_name(&self, name: &str) -> bool {
        // SAFETY: a valid module and string.
        unsafe { ffi::lt_has_name(self.raw, name.as_ptr().cast(), name.len()) }
    }

    /// A function that is defined elsewhere, declared as one that does not throw if it is not; `None` where something else has the name.
    pub fn external<'m>(&'m self, name: &str, ty: Type<'m>) -> Result<Option<Function<'m>>> {
        if self.has_name(name) {
            return Ok(self.function(name).filter(|f| f.is_declaration() && f.function_type() == ty));
        }
        let function = self.add_function(name, ty)?;
        function.set_nounwind();
        Ok(Some(function))
    }

    /// A new function without body; LLVM makes the name unique.
    pub fn add_function<'m>(&'m self, name: &str, ty: Type<'m>) -> Result<Function<'m>> {
        let fits = ty.signature().is_some() && ty.context() == self.context.raw();
        require(fits, "add function", "no function type of this context")?;
        let name = c_string(name);
        // SAFETY: a function type of the module's context.
        Ok(unsafe { Function::from_raw(LLVMAddFunction(self.raw, name.as_ptr(), ty.raw())) })
    }

    /// A new constant of these bytes that is the module's own; LLVM makes the name unique.
    pub fn add_bytes<'m>(&'m self, name: &str, bytes: &[u8]) -> Result<Global<'m>> {
        let name = c_string(name);
        // SAFETY: bytes that are copied into the context, and a variable of their type.
        unsafe {
            let (data, len) = (bytes.as_ptr().cast(), bytes.len());
            let content = LLVMConstStringInContext2(self.context.raw(), data, len, 1);
            let global = LLVMAddGlobal(self.raw, LLVMTypeOf(content), name.as_ptr());
            LLVMSetInitializer(global, content);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetUnnamedAddress(global, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            LLVMSetAlignment(global, 1);
            let what = LlvmError::argument("add bytes", "no variable");
            Value::from_raw(global).as_global().ok_or(what)
        }
    }

    /// The declaration of an intrinsic by its name without overloads (`llvm.sqrt`) and its whole signature.
    pub fn intrinsic<'m>(&'m self, name: &str, ret: Type<'m>, params: &[Type<'m>]) -> Result<Function<'m>> {
        let operation = "declare intrinsic";
        // Metadata is allowed to intrinsics only.
        let values: Vec<_> = params.iter().copied().filter(|t| t.kind() != TypeKind::Metadata).collect();
        ret.function(&values)?;
        require(ret.context() == self.context.raw(), operation, "a type of another context")?;
        let mut raw: Vec<_> = params.iter().map(|t| t.raw()).collect();
        let (data, len) = (name.as_ptr().cast(), name.len());
        // SAFETY: valid types of this context; the shim checks that they fit, and returns null otherwise.
        unsafe {
            let f = ffi::lt_intrinsic(self.raw, data, len, ret.raw(), raw.as_mut_ptr(), raw.len());
            require(!f.is_null(), operation, "no such intrinsic, or not of this signature")?;
            Ok(Function::from_raw(f))
        }
    }

    /// Sizes and alignments of its target.
    pub fn data_layout(&self) -> DataLayout<'_> {
        // SAFETY: a valid module, which owns its layout.
        DataLayout { raw: unsafe { LLVMGetModuleDataLayout(self.raw) }, module: self }
    }

    /// The target triple, empty where none is stated.
    pub fn triple(&self) -> String {
        // SAFETY: a valid module; the string is terminated and owned by it.
        unsafe {
            let triple = LLVMGetTarget(self.raw);
            copy_str(triple, std::ffi::CStr::from_ptr(triple).count_bytes())
        }
    }

    /// The name in messages.
    pub fn name(&self) -> String {
        let mut len = 0;
        // SAFETY: a valid module, which owns the string.
        unsafe { copy_str(LLVMGetModuleIdentifier(self.raw, &mut len), len) }
    }

    /// Sets triple and data layout to the target's.
    pub fn set_target(&mut self, target: &TargetMachine) {
        let triple = c_string(target.triple());
        // SAFETY: LLVM copies the triple and the layout, which is freed here.
        unsafe {
            LLVMSetTarget(self.raw, triple.as_ptr());
            let layout = llvm_sys::target_machine::LLVMCreateTargetDataLayout(target.raw());
            LLVMSetModuleDataLayout(self.raw, layout);
            LLVMDisposeTargetData(layout);
        }
    }

    /// Runs passes over the module, as `opt -passes` spells them. Verifies first.
    pub fn run_passes(&mut self, pipeline: &str, target: Option<&TargetMachine>) -> Result<()> {
        self.verify()?;
        let tm = target.map_or(ptr::null_mut(), TargetMachine::raw);
        self.reporting(pipeline, |module, passes| {
            // SAFETY: a verified module, exclusively borrowed: no handle sees what passes delete. The options are freed.
            unsafe {
                let options = LLVMCreatePassBuilderOptions();
                let result = LLVMRunPasses(module.raw, passes.as_ptr(), tm, options);
                LLVMDisposePassBuilderOptions(options);
                take_error(result)
            }
        })
    }

    /// Puts small functions in the place of their calls in the function's loops; whether there were any.
    pub fn inline_in_loops(&mut self, function: &str) -> Result<bool> {
        let f = self.defined(function)?.raw();
        // SAFETY: a function of this module, with a body; the exclusive borrow leaves no handle to what changes.
        Ok(unsafe { ffi::lt_inline(f) })
    }

    /// A function with a body.
    pub(super) fn defined(&self, name: &str) -> Result<Function<'_>> {
        let found = self.function(name).filter(|f| !f.is_declaration());
        found.ok_or_else(|| LlvmError::NoFunction(name.to_owned()))
    }

    /// Runs a pipeline, and returns what it or a pass complains of.
    pub(super) fn reporting(
        &mut self,
        pipeline: &str,
        run: impl FnOnce(&mut Self, CString) -> Result<(), String>,
    ) -> Result<()> {
        let error = |message| LlvmError::Passes { pipeline: pipeline.to_owned(), message };
        let passes = CString::new(pipeline).map_err(|e| error(e.to_string()))?;
        let before = self.context.num_diagnostics();
        run(self, passes).map_err(error)?;
        self.context.errors_since(before).map_or(Ok(()), |message| Err(error(message)))
    }

    /// Moves everything of another module of the same context into this one.
    pub fn link(&mut self, other: Module<'c>) -> Result<()> {
        require(ptr::eq(self.context, other.context), "link", "the modules have different contexts")?;
        self.verify()?;
        other.verify()?;
        let before = self.context.num_diagnostics();
        let other = ManuallyDrop::new(other);
        // SAFETY: verified modules of one context; the other one is destroyed by the call, and not dropped again.
        let failed = unsafe { LLVMLinkModules2(self.raw, other.raw) } != 0;
        match self.context.errors_since(before) {
            Some(message) => Err(LlvmError::Link(message)),
            None if failed => Err(LlvmError::Link("LLVM does not say why".to_owned())),
            None => Ok(()),
        }
    }

    /// Deletes a function that nothing uses.
    pub fn delete_function(&mut self, name: &str) -> Result<()> {
        let f = self.function(name).ok_or_else(|| LlvmError::NoFunction(name.to_owned()))?;
        require(!f.is_used(), "delete function", "it is used")?;
        // SAFETY: a function without uses; the exclusive borrow leaves no handle to it.
        unsafe { LLVMDeleteFunction(f.raw()) };
        Ok(())
    }
}

impl fmt::Display for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a valid module; the message is ours.
        f.write_str(&unsafe { take_message(LLVMPrintModuleToString(self.raw)) })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: owned; handles borrow the module, so they are gone.
        unsafe { LLVMDisposeModule(self.raw) }
    }
}

/// Takes the bytes of a buffer.
///
/// # Safety
/// `buffer` is valid and used by no one else.
pub(crate) unsafe fn take_buffer(buffer: LLVMMemoryBufferRef) -> Vec<u8> {
    // SAFETY: by contract; the bytes are copied before the buffer is freed.
    unsafe {
        let (start, len) = (LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        let bytes = std::slice::from_raw_parts(start.cast::<u8>(), len).to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        bytes
    }
}

/// What the source says of a function.
#[derive(Clone, Debug)]
pub struct Annotation<'m> {
    /// The function.
    pub function: Function<'m>,
    /// What is said.
    pub text: String,
    /// File and line of the function.
    pub place: Option<(String, u32)>,
}

/// Sizes and alignments of a module's target, in bytes. `None` where a type has no constant size.
#[derive(Clone, Copy)]
pub struct DataLayout<'m> {
    raw: LLVMTargetDataRef,
    module: &'m Module<'m>,
}

impl<'m> DataLayout<'m> {
    fn sized(self, ty: Type<'_>) -> Option<LLVMTypeRef> {
        let fits = ty.is_sized() && !ty.is_scalable() && ty.context() == self.module.context.raw();
        fits.then(|| ty.raw())
    }

    /// The distance of consecutive elements in an array.
    pub fn size_of(self, ty: Type<'_>) -> Option<u64> {
        // SAFETY: a sized type.
        self.sized(ty).map(|t| unsafe { LLVMABISizeOfType(self.raw, t) })
    }

    /// Bytes of the object that a pointer is the beginning of, where the program says so.
    pub fn object_size(self, pointer: super::value::Value<'_>) -> Option<u64> {
        // SAFETY: a pointer of the module; anything else has no size.
        let size = unsafe { ffi::lt_object_size(pointer.raw(), self.module.raw) };
        (size != u64::MAX).then_some(size)
    }

    /// How many bytes a store writes.
    pub fn store_size(self, ty: Type<'_>) -> Option<u64> {
        // SAFETY: a sized type.
        self.sized(ty).map(|t| unsafe { LLVMStoreSizeOfType(self.raw, t) })
    }

    /// Where a field of a struct begins.
    pub fn field_offset(self, ty: Type<'_>, field: u32) -> Option<u64> {
        if (field as usize) >= ty.fields().len() {
            return None;
        }
        // SAFETY: a sized struct and one of its fields.
        self.sized(ty).map(|t| unsafe { LLVMOffsetOfElement(self.raw, t, field) })
    }

    /// How many bytes a pointer of the default address space has.
    pub fn pointer_size(self) -> u32 {
        // SAFETY: a valid layout.
        unsafe { LLVMPointerSize(self.raw) }
    }
}

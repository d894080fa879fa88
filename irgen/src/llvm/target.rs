//! Code generation for a target.

use std::ptr;

use llvm_sys::core::LLVMDisposeMessage;
use llvm_sys::target_machine::*;
use rustc_hash::FxHashMap;

use super::context::initialize_native_target;
use super::error::{LlvmError, Result};
use super::ffi;
use super::module::{Module, take_buffer};
use super::strings::{c_string, take_message};

/// A target with processor, features and options. The host's architecture only.
pub struct TargetMachine {
    raw: LLVMTargetMachineRef,
    triple: String,
}

/// How hard the code generator tries.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptLevel {
    None,
    Default,
    #[default]
    Aggressive,
}

/// How code and data may be placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeModel {
    /// For files to be linked; position-independent.
    #[default]
    Object,
    /// For code run from memory.
    Jit,
}

/// What to emit.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    Assembly,
    Object,
}

impl TargetMachine {
    /// This machine, with all of its features.
    pub fn host(level: OptLevel, model: CodeModel) -> Result<TargetMachine> {
        // SAFETY: each returns a message of ours.
        let (triple, cpu, features) = unsafe {
            (
                take_message(LLVMGetDefaultTargetTriple()),
                take_message(LLVMGetHostCPUName()),
                take_message(LLVMGetHostCPUFeatures()),
            )
        };
        TargetMachine::new(&triple, &cpu, &features, level, model)
    }

    /// A target by triple, processor (`generic`, `x86-64-v3`, `znver4`) and features (`+avx2,-avx512f`).
    pub fn new(
        triple: &str,
        cpu: &str,
        features: &str,
        level: OptLevel,
        model: CodeModel,
    ) -> Result<TargetMachine> {
        initialize_native_target();
        let fail = |message: String| LlvmError::Target { triple: triple.to_owned(), message };
        let (c_triple, cpu, features) = (c_string(triple), c_string(cpu), c_string(features));
        let level = match level {
            OptLevel::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            OptLevel::Default => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            OptLevel::Aggressive => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
        };
        let (reloc, model) = match model {
            CodeModel::Object => (LLVMRelocMode::LLVMRelocPIC, LLVMCodeModel::LLVMCodeModelDefault),
            CodeModel::Jit => (LLVMRelocMode::LLVMRelocPIC, LLVMCodeModel::LLVMCodeModelJITDefault),
        };
        let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: terminated strings; the message is ours on failure.
        unsafe {
            if LLVMGetTargetFromTriple(c_triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(fail(take_message(message)));
            }
            if LLVMTargetHasTargetMachine(target) == 0 || LLVMTargetHasAsmBackend(target) == 0 {
                return Err(fail("no code generator".to_owned()));
            }
            let (t, c, f) = (c_triple.as_ptr(), cpu.as_ptr(), features.as_ptr());
            let raw = LLVMCreateTargetMachine(target, t, c, f, level, reloc, model);
            if raw.is_null() {
                return Err(fail("cannot be set up".to_owned()));
            }
            Ok(TargetMachine { raw, triple: triple.to_owned() })
        }
    }

    /// The triple it was made for.
    pub fn triple(&self) -> &str {
        &self.triple
    }

    /// The processor.
    pub fn cpu(&self) -> String {
        // SAFETY: a valid machine; the message is ours.
        unsafe { take_message(LLVMGetTargetMachineCPU(self.raw)) }
    }

    /// The features.
    pub fn features(&self) -> String {
        // SAFETY: a valid machine; the message is ours.
        unsafe { take_message(LLVMGetTargetMachineFeatureString(self.raw)) }
    }

    /// Whether there is a processor of that name on the architecture.
    pub fn has_processor(&self, name: &str) -> bool {
        let c_name = c_string(name);
        // SAFETY: a valid machine and a terminated string.
        !name.contains('\0') && unsafe { ffi::lt_has_processor(self.raw, c_name.as_ptr()) }
    }

    /// Refuses a module with code that this machine, which the target is, cannot execute: for a processor that LLVM does not
    /// know, or with instructions that this one lacks. Functions without attributes are for the target.
    pub fn require_executable(&self, module: &Module<'_>) -> Result<()> {
        let mut known = FxHashMap::default();
        let system = |triple: &str| {
            triple
                .split('-')
                .nth(2)
                .map(|s| s.trim_end_matches(|c: char| !c.is_ascii_alphabetic()).to_string())
        };
        let other =
            system(&module.triple()).filter(|s| s != "unknown" && system(self.triple()).as_ref() != Some(s));
        for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
            if let Some(other) = other {
                return Err(LlvmError::Machine { function: function.name(), what: other });
            }
            let [processor, features] =
                ["target-cpu", "target-features"].map(|a| function.string_attribute(a));
            if processor.is_none() && features.is_none() {
                continue;
            }
            let processor = processor.unwrap_or_else(|| self.cpu());
            let key = (processor, features.unwrap_or_default());
            let fail = |what: String| Err(LlvmError::Machine { function: function.name(), what });
            if !self.has_processor(&key.0) {
                return fail(format!("a processor `{}`, of which LLVM does not know", key.0));
            }
            let lacking = known.entry(key).or_insert_with_key(|(processor, features)| {
                let (processor, features) = (c_string(processor), c_string(features));
                // SAFETY: a valid machine, which has the processor, and terminated strings; the message is ours.
                unsafe { take_message(ffi::lt_lacking(self.raw, processor.as_ptr(), features.as_ptr())) }
            });
            if !lacking.is_empty() {
                return fail(format!("a processor with {lacking}"));
            }
        }
        Ok(())
    }

    /// Generates code for a copy of the module, which is verified first.
    pub fn emit(&self, module: &Module<'_>, kind: FileType) -> Result<Vec<u8>> {
        module.verify()?;
        // Code generation changes the module.
        let mut copy = module.duplicate();
        copy.set_target(self);
        let before = module.context().num_diagnostics();
        let kind = match kind {
            FileType::Assembly => LLVMCodeGenFileType::LLVMAssemblyFile,
            FileType::Object => LLVMCodeGenFileType::LLVMObjectFile,
        };
        let (mut message, mut buffer) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: a verified module of our own; the message or the buffer is ours.
        let bytes = unsafe {
            let failed =
                LLVMTargetMachineEmitToMemoryBuffer(self.raw, copy.raw(), kind, &mut message, &mut buffer);
            if failed != 0 {
                return Err(LlvmError::Codegen(take_message(message)));
            }
            if !message.is_null() {
                LLVMDisposeMessage(message);
            }
            take_buffer(buffer)
        };
        match module.context().errors_since(before) {
            Some(message) => Err(LlvmError::Codegen(message)),
            None => Ok(bytes),
        }
    }

    pub(crate) fn raw(&self) -> LLVMTargetMachineRef {
        self.raw
    }

    /// Gives the machine away.
    pub(crate) fn into_raw(self) -> LLVMTargetMachineRef {
        let mut this = std::mem::ManuallyDrop::new(self);
        drop(std::mem::take(&mut this.triple));
        this.raw
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { LLVMDisposeTargetMachine(self.raw) }
    }
}

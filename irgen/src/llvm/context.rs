//! The owner of types, constants and metadata.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::path::Path;
use std::ptr;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMDiagnosticSeverity, target};

use super::error::{InputPosition, LlvmError, Result};
use super::ffi;
use super::module::Module;
use super::strings::{c_string, take_message};

/// Owns what modules share. Not `Send`: one context per thread.
///
/// Messages of LLVM are collected here; nothing is printed, and no error message ends the process.
pub struct Context {
    raw: LLVMContextRef,
    /// Whether it ends with this value.
    owned: bool,
    // Boxed: LLVM keeps its address.
    diagnostics: Box<RefCell<Vec<Diagnostic>>>,
}

/// A message of LLVM that is no error of the call that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// The text.
    pub message: String,
}

/// How bad a message is.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
    Remark,
    Note,
}

/// The version of the LLVM that is loaded.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three numbers.
    unsafe { LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

impl Default for Context {
    fn default() -> Self {
        Context::new()
    }
}

impl Context {
    /// An empty context.
    pub fn new() -> Context {
        let diagnostics = Box::<RefCell<Vec<Diagnostic>>>::default();
        // SAFETY: a new context; the handler's argument lives as long as the context (see `drop`).
        let raw = unsafe {
            let raw = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(raw, Some(collect), ptr::from_ref(&*diagnostics) as *mut c_void);
            raw
        };
        Context { raw, owned: true, diagnostics }
    }

    /// A context of somebody else, who hears of messages.
    ///
    /// # Safety
    /// `raw` outlives the result.
    pub(crate) unsafe fn lent(raw: LLVMContextRef) -> Context {
        Context { raw, owned: false, diagnostics: Box::default() }
    }

    /// An empty module.
    pub fn module(&self, name: &str) -> Module<'_> {
        let name = c_string(name);
        // SAFETY: the context is valid; the new module is owned by the result.
        unsafe { Module::from_raw(LLVMModuleCreateWithNameInContext(name.as_ptr(), self.raw), self) }
    }

    /// Parses text IR or bitcode. `name` is what errors call it.
    pub fn parse(&self, bytes: &[u8], name: &str) -> Result<Module<'_>> {
        // The text parser reads a terminating zero.
        let mut data = Vec::with_capacity(bytes.len() + 1);
        data.extend_from_slice(bytes);
        data.push(0);
        let c_name = c_string(name);
        let (mut message, mut line, mut column): (*mut c_char, u32, u32) = (ptr::null_mut(), 0, 0);
        // SAFETY: the buffer outlives the call, which reads the module entirely, and ends with a zero.
        let raw = unsafe {
            ffi::lt_parse(
                self.raw,
                data.as_ptr().cast(),
                bytes.len(),
                c_name.as_ptr(),
                &mut message,
                &mut line,
                &mut column,
            )
        };
        if raw.is_null() {
            // SAFETY: set by the failed call, ours to free.
            let message = unsafe { take_message(message) };
            let number = |n: u32| (n > 0).then_some(n);
            let place = InputPosition { name: name.to_owned(), line: number(line), column: number(column) };
            return Err(LlvmError::Parse { place, message });
        }
        // SAFETY: a module of this context, owned by the result.
        Ok(unsafe { Module::from_raw(raw, self) })
    }

    /// Reads a file of text IR or bitcode.
    pub fn parse_file(&self, path: &Path) -> Result<Module<'_>> {
        let bytes = std::fs::read(path).map_err(|source| LlvmError::Io { path: path.to_owned(), source })?;
        self.parse(&bytes, &path.display().to_string())
    }

    pub(crate) fn raw(&self) -> LLVMContextRef {
        self.raw
    }

    /// The text of the errors collected since `from` messages, or nothing.
    pub(crate) fn errors_since(&self, from: usize) -> Option<String> {
        let all = self.diagnostics.borrow();
        let errors: Vec<&str> = all
            .iter()
            .skip(from)
            .filter(|d| d.severity == Severity::Error)
            .map(|d| d.message.as_str())
            .collect();
        (!errors.is_empty()).then(|| errors.join("\n"))
    }

    pub(crate) fn num_diagnostics(&self) -> usize {
        self.diagnostics.borrow().len()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: modules borrow the context, so they are gone. The diagnostics are dropped after it.
            unsafe { LLVMContextDispose(self.raw) }
        }
    }
}

/// Makes the host's code generator available; cheap after the first time.
pub(crate) fn initialize_native_target() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: registration, once.
        unsafe {
            target::LLVM_InitializeNativeTarget();
            target::LLVM_InitializeNativeAsmPrinter();
            target::LLVM_InitializeNativeAsmParser();
        }
    });
}

/// Files a message with the `RefCell<Vec<Diagnostic>>` that `sink` points to.
pub(crate) extern "C" fn collect(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: LLVM passes a valid message, and the pointer given with the handler, which outlives the context. The
    // cell is borrowed only for the push: no LLVM call is made meanwhile.
    unsafe {
        let severity = match LLVMGetDiagInfoSeverity(info) {
            LLVMDiagnosticSeverity::LLVMDSError => Severity::Error,
            LLVMDiagnosticSeverity::LLVMDSWarning => Severity::Warning,
            LLVMDiagnosticSeverity::LLVMDSRemark => Severity::Remark,
            LLVMDiagnosticSeverity::LLVMDSNote => Severity::Note,
        };
        let message = take_message(LLVMGetDiagInfoDescription(info));
        let sink = &*sink.cast::<RefCell<Vec<Diagnostic>>>();
        if let Ok(mut sink) = sink.try_borrow_mut() {
            sink.push(Diagnostic { severity, message });
        }
    }
}

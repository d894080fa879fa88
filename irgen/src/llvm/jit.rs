//! Running code in this process.

use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::ptr;

use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::core::*;
use llvm_sys::error::LLVMErrorRef;
use llvm_sys::orc2::lljit::*;
use llvm_sys::orc2::*;

use super::context::{Diagnostic, Severity, collect};
use super::error::{LlvmError, Result};
use super::module::Module;
use super::strings::{c_string, take_error};
use super::target::{CodeModel, OptLevel, TargetMachine};

/// Where an OpenMP runtime is, by preference: LLVM's, GCC's.
const RUNTIMES: [&CStr; 3] = [c"libomp.so.5", c"libomp.so", c"libgomp.so.1"];

/// Compiled modules that run in this process, for this machine. Symbols of the process (libc, libm) are found.
///
/// Each JIT has names of its own; compile a variant of the same function in a JIT of its own.
pub struct Jit {
    raw: LLVMOrcLLJITRef,
    // Boxed: LLVM keeps its address.
    messages: Box<RefCell<Vec<Diagnostic>>>,
}

impl Jit {
    /// A JIT for this machine, with all of its features. Passes are the caller's business: this only generates code.
    pub fn new(level: OptLevel) -> Result<Jit> {
        let messages = Box::<RefCell<Vec<Diagnostic>>>::default();
        let target = TargetMachine::host(level, CodeModel::Jit)?;
        // SAFETY: the target builder takes the machine, the JIT builder the target builder, the JIT the JIT builder,
        // also when it fails. The reporter's argument outlives the JIT (see `drop`).
        unsafe {
            let machine = LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(target.into_raw());
            let builder = LLVMOrcCreateLLJITBuilder();
            LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, machine);
            let mut raw = ptr::null_mut();
            take_error(LLVMOrcCreateLLJIT(&mut raw, builder)).map_err(LlvmError::Jit)?;
            let sink = ptr::from_ref(&*messages) as *mut c_void;
            LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(raw), report, sink);
            Ok(Jit { raw, messages })
        }
    }

    /// Adds a copy of the module, which is verified first. Code is generated at the first look-up.
    pub fn add(&self, module: &Module<'_>) -> Result<()> {
        module.verify()?;
        let bitcode = module.to_bitcode();
        let name = c_string(&module.name());
        let fail = |message: &str| Err(LlvmError::Jit(message.to_owned()));
        // SAFETY: the bitcode outlives its reading. The new context is owned by the thread-safe one, and that by the
        // module, which the JIT takes also when it fails.
        unsafe {
            let cx = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(cx, Some(collect), ptr::from_ref(&*self.messages) as *mut c_void);
            let (data, len) = (bitcode.as_ptr().cast(), bitcode.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len, name.as_ptr());
            let mut raw = ptr::null_mut();
            let failed = LLVMParseBitcodeInContext2(cx, buffer, &mut raw) != 0;
            LLVMDisposeMemoryBuffer(buffer);
            if failed {
                LLVMContextDispose(cx);
                return fail("cannot read back the module's bitcode");
            }
            let thread_safe = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(cx);
            let module = LLVMOrcCreateNewThreadSafeModule(raw, thread_safe);
            LLVMOrcDisposeThreadSafeContext(thread_safe);
            let library = LLVMOrcLLJITGetMainJITDylib(self.raw);
            take_error(LLVMOrcLLJITAddLLVMIRModule(self.raw, library, module)).map_err(LlvmError::Jit)
        }
    }

    /// Adds a compiled object file for this machine.
    pub fn add_object(&self, object: &[u8]) -> Result<()> {
        // SAFETY: the buffer copies the bytes; the JIT takes it, also when it fails.
        unsafe {
            let (data, len) = (object.as_ptr().cast(), object.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len, c"object".as_ptr());
            let library = LLVMOrcLLJITGetMainJITDylib(self.raw);
            take_error(LLVMOrcLLJITAddObjectFile(self.raw, library, buffer)).map_err(LlvmError::Jit)
        }
    }

    /// Makes an OpenMP runtime known, which loops that threads share need.
    pub fn load_openmp(&self) -> Result<()> {
        for name in RUNTIMES {
            let mut found = ptr::null_mut();
            // SAFETY: the name of a library; the JIT takes the generator, which is valid where there is no error. Names have no
            // prefix on this machine, and no filter is called.
            let result = unsafe {
                let error = LLVMOrcCreateDynamicLibrarySearchGeneratorForPath(
                    &mut found,
                    name.as_ptr(),
                    0,
                    None,
                    ptr::null_mut(),
                );
                take_error(error).map(|()| {
                    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(self.raw), found);
                })
            };
            if result.is_ok() {
                // Its threads wait for work until the process is gone, which LLVM has closed its libraries before.
                // SAFETY: the name of a library that is loaded, and whose initialisation has run.
                unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NODELETE) };
                return Ok(());
            }
        }
        Err(LlvmError::Jit("no OpenMP runtime is installed, neither libomp nor libgomp".to_owned()))
    }

    /// The address of a symbol, whose code is generated now if it was not.
    pub fn address(&self, symbol: &str) -> Result<u64> {
        self.messages.take();
        let name = c_string(symbol);
        let mut address = 0;
        // SAFETY: a valid JIT and string.
        let found = unsafe { take_error(LLVMOrcLLJITLookup(self.raw, &mut address, name.as_ptr())) };
        let messages = self.messages.take();
        let errors = messages.iter().filter(|d| d.severity == Severity::Error);
        let errors: Vec<&str> = errors.map(|d| d.message.as_str()).collect();
        match found {
            Ok(()) if errors.is_empty() => Ok(address),
            Ok(()) => Err(LlvmError::Jit(errors.join("\n"))),
            Err(message) if errors.is_empty() => Err(LlvmError::Jit(message)),
            Err(message) => Err(LlvmError::Jit(format!("{message}\n{}", errors.join("\n")))),
        }
    }

    /// A function by name, as a function pointer of type `F`.
    ///
    /// # Safety
    /// `F` is an `unsafe extern "C" fn` type of exactly the signature that the symbol was compiled with, and is not
    /// called once the JIT is dropped.
    pub unsafe fn lookup<F: Copy>(&self, symbol: &str) -> Result<F> {
        const { assert!(size_of::<F>() == size_of::<usize>(), "a function pointer is expected") };
        let address = self.address(symbol)?;
        let address = usize::try_from(address)
            .ok()
            .filter(|&a| a != 0)
            .ok_or_else(|| LlvmError::Jit(format!("`{symbol}` has no address here")))?;
        // SAFETY: of a pointer's size; a valid value of `F` by contract.
        Ok(unsafe { std::mem::transmute_copy::<usize, F>(&address) })
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: owned; the messages are dropped after it. Its code is no longer called, by the contract of `lookup`.
        let end = unsafe { take_error(LLVMOrcDisposeLLJIT(self.raw)) };
        if let Err(message) = end {
            tracing::warn!(%message, "the JIT did not end cleanly");
        }
    }
}

/// Files an error of the session with the `RefCell<Vec<Diagnostic>>` that `sink` points to.
extern "C" fn report(sink: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: an error that is ours, and the pointer given with the reporter, which outlives the session.
    unsafe {
        let Err(message) = take_error(error) else { return };
        let sink = &*sink.cast::<RefCell<Vec<Diagnostic>>>();
        if let Ok(mut sink) = sink.try_borrow_mut() {
            sink.push(Diagnostic { severity: Severity::Error, message });
        }
    }
}

//! Compiled modules: calling them, and reading and writing their globals. The only code here that is not checked by Rust.

use super::inputs::{CallSetup, Memory, Outcome, Part, RESULT, Random};
use super::trial::{NoReturn, try_calling};
use super::{MeasureError, ORIGINAL};
use irgen::emit::add_trampoline;
use irgen::llvm::{
    CodeModel, Context, DataLayout, Global, Jit, Linkage, LlvmError, OptLevel, TargetMachine, Type, TypeKind,
};
use loop_tree::ScalarType;
use std::time::Duration;

type Call = unsafe extern "C" fn(*mut u64);

/// A global variable of a compiled module.
struct Observed {
    name: String,
    element: ScalarType,
    /// Whether to put generated contents into it.
    generated: bool,
    address: u64,
    len: usize,
}

/// A module as machine code.
pub(super) struct Native {
    pub(super) label: String,
    call: Call,
    /// By argument: whether it is a `float`.
    single: Vec<bool>,
    /// Bytes of the result.
    result: Option<ScalarType>,
    globals: Vec<Observed>,
    /// Whether threads share some of its loops.
    pub(super) shared: bool,
    // Owns the code; dropped last.
    _jit: Jit,
}

/// What globals hold before a call, by name.
pub(super) type Globals = Vec<(String, Vec<u8>)>;

impl Native {
    pub(super) fn compile(
        label: &str,
        bytes: &[u8],
        function: &str,
        setup: &CallSetup,
    ) -> Result<Native, MeasureError> {
        let llvm = |e| MeasureError::llvm(label, e);
        let context = Context::new();
        let mut module = context.parse(bytes, label).map_err(llvm)?;
        for part in &setup.others {
            if let Part::Ir(name, bytes) = part {
                let linked = context.parse(bytes, name).and_then(|other| module.link(other));
                linked.map_err(|e| MeasureError::llvm(name, e))?;
            }
        }
        let target = TargetMachine::host(OptLevel::Aggressive, CodeModel::Jit).map_err(llvm)?;
        if module.triple().is_empty() {
            module.set_target(&target);
        }
        let callee = module.function(function).filter(|f| !f.is_declaration());
        let callee = callee.ok_or_else(|| llvm(LlvmError::NoFunction(function.to_owned())))?;
        // Passes must neither delete it nor change how it is called.
        callee.set_linkage(Linkage::External);
        let (expected, given) = (callee.params().len(), setup.arguments.len());
        if expected != given {
            return Err(MeasureError::Arguments { function: function.to_owned(), expected, given });
        }
        let single = callee.params().iter().map(|p| p.value().ty().kind() == TypeKind::Float).collect();
        let result = scalar(callee.return_type());
        let mut globals = Vec::new();
        for global in module.globals() {
            if let Some(place) = observe(global, module.data_layout(), globals.len()) {
                globals.push(place);
            }
        }
        // What only other functions need may have no definition.
        for other in module.functions() {
            if !other.is_declaration() && other.name() != function {
                other.set_linkage(Linkage::Internal);
            }
        }
        module.run_passes("globaldce", None).map_err(llvm)?;
        target.require_executable(&module).map_err(llvm)?;
        module.run_passes("default<O3>", Some(&target)).map_err(llvm)?;
        let symbol = add_trampoline(&module, function).map_err(|e| MeasureError::emit(label, e))?;
        let jit = Jit::new(OptLevel::Aggressive).map_err(llvm)?;
        let shared = module.function("GOMP_parallel").is_some();
        if shared {
            jit.load_openmp().map_err(llvm)?;
        }
        jit.add(&module).map_err(llvm)?;
        for part in &setup.others {
            if let Part::Object(bytes) = part {
                jit.add_object(bytes).map_err(llvm)?;
            }
        }
        // SAFETY: the signature of every trampoline; not called after `_jit` is dropped.
        let call = unsafe { jit.lookup::<Call>(&symbol) }.map_err(llvm)?;
        for place in &mut globals {
            place.address = jit.address(&place.name).map_err(llvm)?;
        }
        Ok(Native { label: label.to_owned(), call, single, result, globals, shared, _jit: jit })
    }

    /// What the globals hold at first, with generated contents in arrays that were zero.
    pub(super) fn initial_globals(&self, seed: u64) -> Globals {
        let mut random = Random::new(seed.wrapping_add(1));
        let contents = |place: &Observed| {
            let bytes = match place.generated {
                true => random.contents(place.element, place.len),
                false => read(place),
            };
            (place.name.clone(), bytes)
        };
        self.globals.iter().map(contents).collect()
    }

    fn set_globals(&self, globals: &Globals) {
        for place in &self.globals {
            if let Some((_, bytes)) =
                globals.iter().find(|(name, b)| *name == place.name && b.len() == place.len)
            {
                // SAFETY: a global of that many bytes in memory that the JIT owns and made writable.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.address as *mut u8, place.len) };
            }
        }
    }

    /// Inputs as they are before the first call.
    pub(super) fn restore(&self, memory: &mut Memory, globals: &Globals) {
        memory.restore();
        self.set_globals(globals);
    }

    /// The slots to call with.
    pub(super) fn slots(&self, memory: &mut Memory) -> Vec<u64> {
        memory.slots(&self.single)
    }

    /// Calls the function.
    pub(super) fn call(&self, slots: &mut [u64]) {
        // SAFETY: a trampoline, with as many slots as the function has arguments, and one more. That the function stays
        // within its arguments is its contract, which the caller of this module takes on.
        unsafe { (self.call)(slots.as_mut_ptr()) };
    }

    /// Why a call from fresh inputs does not return, if so.
    pub(super) fn try_call(
        &self,
        memory: &mut Memory,
        globals: &Globals,
        limit: Duration,
    ) -> Result<Option<NoReturn>, MeasureError> {
        self.restore(memory, globals);
        let mut slots = self.slots(memory);
        try_calling(|| self.call(&mut slots), limit).map_err(MeasureError::NoProcess)
    }

    /// What one call from fresh inputs leaves behind.
    pub(super) fn outcome(&self, memory: &mut Memory, globals: &Globals) -> Result<Outcome, MeasureError> {
        self.restore(memory, globals);
        let mut slots = self.slots(memory);
        self.call(&mut slots);
        let mut outcome = memory.contents(&self.label)?;
        if let (Some(ty), Some(bits)) = (self.result, slots.last()) {
            outcome.add(RESULT, ty, 0, bits.to_le_bytes()[..ty.size() as usize].to_vec());
        }
        for place in &self.globals {
            outcome.add(&format!("@{}", place.name), place.element, 0, read(place));
        }
        Ok(outcome)
    }

    pub(super) fn is_original(&self) -> bool {
        self.label == ORIGINAL
    }
}

fn read(place: &Observed) -> Vec<u8> {
    // SAFETY: a global of that many bytes in memory that the JIT owns.
    unsafe { std::slice::from_raw_parts(place.address as *const u8, place.len) }.to_vec()
}

/// Makes a variable visible from outside, so that it can be compared.
fn observe(global: Global<'_>, layout: DataLayout<'_>, number: usize) -> Option<Observed> {
    let initializer = global.initializer().filter(|_| !global.is_constant() && !global.is_thread_local())?;
    let value = global.value();
    if value.name().starts_with("llvm.") {
        return None;
    }
    if value.name().is_empty() {
        value.set_name(&format!("lt.global.{number}"));
    }
    let len = layout.size_of(global.value_type()).and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0)?;
    global.set_linkage(Linkage::External);
    let inner = innermost(global.value_type());
    let is_array = inner != global.value_type();
    let element = scalar(inner);
    Some(Observed {
        name: value.name(),
        element: element.unwrap_or(ScalarType::I8),
        generated: is_array && element.is_some() && initializer.is_null(),
        address: 0,
        len,
    })
}

fn innermost<'m>(ty: Type<'m>) -> Type<'m> {
    match ty.kind() {
        TypeKind::Array(element, _) => innermost(element),
        _ => ty,
    }
}

fn scalar(ty: Type<'_>) -> Option<ScalarType> {
    Some(match ty.kind() {
        TypeKind::Float => ScalarType::F32,
        TypeKind::Double => ScalarType::F64,
        TypeKind::Integer(1) => ScalarType::I1,
        TypeKind::Integer(2..=8) => ScalarType::I8,
        TypeKind::Integer(9..=16) => ScalarType::I16,
        TypeKind::Integer(17..=32) => ScalarType::I32,
        TypeKind::Integer(33..=64) => ScalarType::I64,
        _ => return None,
    })
}

//! Measuring variants in this process, and comparing what they compute with the original, bit for bit.
//!
//! [`measure_ir`] takes modules that contain variants of one function, [`measure_kernel`] trees over one kernel. Each module is
//! optimised for this machine (`default<O3>`), compiled, and called on the same generated inputs. After one call each, all
//! memory that the function can reach is compared: buffers, globals, and the result. Then calls are timed in turns, so
//! that what slows the machine down for a while slows all down.
//!
//! Code runs in this process: a variant that computes wild addresses ends it. The original is called first in a process of its own, since a program may refuse
//! generated inputs. Writes near the ends of buffers are noticed.

mod arguments;
mod inputs;
mod native;
mod timing;
mod trial;

pub(crate) use arguments::argument_of;
pub use arguments::{NotCallable, argument_specs};
pub use inputs::{ArgumentSpec, CallSetup, Part};
#[cfg(feature = "tune")]
pub(crate) use timing::spread;
pub use trial::NoReturn;

use emission::extent::touched;
use inputs::Memory;
use irgen::emit::{EmitError, FunctionParameter, Variant, emit_function, function_parameters};
use irgen::llvm::{CodeModel, Context, LlvmError, OptLevel, TargetMachine};
use loop_tree::{Kernel, ScalarType, Storage};
use native::Native;
use std::time::Duration;

/// Why there are no measurements.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A module cannot be read, optimised or compiled.
    #[error("{label}: {source}")]
    Llvm {
        /// Which module.
        label: String,
        /// Why.
        source: LlvmError,
    },
    /// A tree has no IR, or its function cannot be called.
    #[error("{label}: {source}")]
    Emit {
        /// Which module.
        label: String,
        /// Why.
        source: EmitError,
    },
    /// The function takes other arguments.
    #[error("`{function}` takes {expected} arguments, {given} are given")]
    Arguments {
        /// The function.
        function: String,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        given: usize,
    },
    /// Buffers would need more memory than allowed.
    #[error("the arguments need {bytes} bytes, more than {limit}: choose smaller parameters")]
    TooLarge {
        /// In all.
        bytes: u128,
        /// Allowed.
        limit: usize,
    },
    /// The size of an array is not known.
    #[error("which elements of {array} are touched is not known")]
    NoRange {
        /// Its name.
        array: String,
    },
    /// A parameter has no value.
    #[error("{expected} parameters need values, {given} are given")]
    Parameters {
        /// Parameters of the kernel.
        expected: usize,
        /// Values.
        given: usize,
    },
    /// A variant computes something else than the original.
    #[error("{label}: {array}[{index}] is {variant}, the original computes {original}")]
    Mismatch {
        /// The variant.
        label: String,
        /// The buffer or global, or the result.
        array: String,
        /// The element, from the pointer passed.
        index: i64,
        /// What the original leaves there.
        original: String,
        /// What the variant leaves there.
        variant: String,
    },
    /// Something was written next to a buffer.
    #[error("{label}: writes out of bounds of {array}, near byte {offset}")]
    OutOfBounds {
        /// The variant, or the original.
        label: String,
        /// The buffer.
        array: String,
        /// Relative to the pointer passed.
        offset: i64,
    },
    /// The original does not return from the first call.
    #[error("`{function}`, called with {inputs}, {why}")]
    NoReturn {
        /// The function.
        function: String,
        /// Its arguments.
        inputs: String,
        /// What happens.
        why: NoReturn,
    },
    /// There can be no other process for the first call.
    #[error("no process for the first call: {0}")]
    NoProcess(#[source] std::io::Error),
    /// A variant did not run for these inputs.
    #[error("{label}: its conditions do not hold for these parameters")]
    Conditions {
        /// The variant.
        label: String,
    },
}

impl MeasureError {
    /// Whether the function needs what no module given defines.
    pub fn is_incomplete(&self) -> bool {
        let MeasureError::Llvm { source: LlvmError::Jit(message), .. } = self else { return false };
        message.contains("Symbols not found")
    }

    fn llvm(label: &str, source: LlvmError) -> Self {
        MeasureError::Llvm { label: label.to_owned(), source }
    }

    fn emit(label: &str, source: EmitError) -> Self {
        MeasureError::Emit { label: label.to_owned(), source }
    }
}

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasureOptions {
    /// A sample repeats the call until it takes at least this long.
    pub sample: Duration,
    /// Samples of each module that are wanted.
    pub samples: usize,
    /// All samples together take no longer than this, once there are [`MIN_SAMPLES`] of each.
    pub budget: Duration,
    /// Bytes of all buffers together.
    pub memory: usize,
    /// The first call of the original may take this long, in whole seconds.
    pub limit: Duration,
    /// Whether to time at all, or only compare.
    pub timed: bool,
}

/// Fewer samples have no spread.
pub const MIN_SAMPLES: usize = 3;

/// How long a call may take where nothing else is said.
pub const LIMIT: Duration = Duration::from_secs(300);

impl Default for MeasureOptions {
    fn default() -> Self {
        MeasureOptions {
            sample: Duration::from_millis(1),
            samples: 21,
            budget: Duration::from_secs(5),
            memory: 1 << 31,
            limit: LIMIT,
            timed: true,
        }
    }
}

/// Median and quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// A quarter is below.
    pub low: f64,
    /// Half is below.
    pub median: f64,
    /// Three quarters are below.
    pub high: f64,
}

/// What a variant takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Which.
    pub label: String,
    /// Seconds per call; zero where nothing was timed.
    pub seconds: Spread,
    /// Time of the original over that of the variant, in samples taken next to each other: above 1 is faster.
    pub ratio: Spread,
    /// Calls in a sample.
    pub calls: u32,
    /// The samples, each taken next to the one of the other modules with the same number.
    pub samples: Vec<Duration>,
}

/// Label of the original in measurements and errors.
pub const ORIGINAL: &str = "original";

/// Measures variants of `function` against the original; the first measurement is the original's.
///
/// Modules are IR or bitcode. Functions keep their `target-cpu` and `target-features`. What the function does not need is left
/// out, so that what only the rest of its program needs can be missing.
///
/// # Errors
/// Where something cannot be compiled or called, and where a variant computes something else.
pub fn measure_ir(
    original: &[u8],
    function: &str,
    variants: &[(&str, &[u8])],
    setup: &CallSetup,
    options: &MeasureOptions,
) -> Result<Vec<Measurement>, MeasureError> {
    measure_modules(original, function, variants, setup, options, false)
}

/// `result_first`: a different result is reported rather than different memory.
fn measure_modules(
    original: &[u8],
    function: &str,
    variants: &[(&str, &[u8])],
    setup: &CallSetup,
    options: &MeasureOptions,
    result_first: bool,
) -> Result<Vec<Measurement>, MeasureError> {
    let mut memory = Memory::new(setup, options.memory)?;
    let reference = Native::compile(ORIGINAL, original, function, setup)?;
    // What the globals hold before each call: the same for all.
    let globals = reference.initial_globals(setup.seed);
    reference.try_call(&mut memory, &globals, options.limit)?.map_or(Ok(()), |why| {
        Err(MeasureError::NoReturn { function: function.to_owned(), inputs: setup.shown(), why })
    })?;
    let expected = reference.outcome(&mut memory, &globals)?;
    let mut compiled = vec![reference];
    for (label, module) in variants {
        let variant = Native::compile(label, module, function, setup)?;
        let found = variant.outcome(&mut memory, &globals)?;
        if result_first {
            expected.compare_result(&found, label)?;
        }
        expected.compare(&found, label)?;
        compiled.push(variant);
    }
    Ok(timing::measure(&compiled, &mut memory, &globals, options))
}

/// Measures variants of a kernel against its original order.
///
/// # Errors
/// As [`measure_ir`]; and where the conditions of a variant do not hold for these parameters and separate arrays.
pub fn measure_kernel(
    kernel: &Kernel,
    variants: &[(&str, Variant<'_>)],
    params: &[i64],
    options: &MeasureOptions,
) -> Result<Vec<Measurement>, MeasureError> {
    let setup = CallSetup { arguments: kernel_arguments(kernel, params)?, seed: 1, others: Vec::new() };
    let name = "kernel";
    let original = kernel_module(name, kernel, ORIGINAL, Variant::of(&kernel.original))?;
    let mut modules = Vec::with_capacity(variants.len());
    for (label, variant) in variants {
        modules.push(kernel_module(name, kernel, label, *variant)?);
    }
    let labels = variants.iter().map(|(label, _)| *label);
    let labelled: Vec<(&str, &[u8])> = labels.zip(modules.iter().map(|m| &m[..])).collect();
    measure_modules(&original, name, &labelled, &setup, options, true).map_err(|error| match error {
        // The result says whether the kernel ran.
        MeasureError::Mismatch { label, array, .. } if array == inputs::RESULT => {
            MeasureError::Conditions { label }
        }
        other => other,
    })
}

fn kernel_arguments(kernel: &Kernel, params: &[i64]) -> Result<Vec<ArgumentSpec>, MeasureError> {
    let (expected, given) = (kernel.params.len(), params.len());
    if expected != given {
        return Err(MeasureError::Parameters { expected, given });
    }
    let argument = |p: FunctionParameter| match p {
        FunctionParameter::Param(id) => Ok(ArgumentSpec::Int(params[id.index()])),
        FunctionParameter::Array(id) => {
            let array = kernel.array(id);
            let no_range = || MeasureError::NoRange { array: array.name.to_string() };
            let size = i64::from(array.element.size());
            let range =
                if array.is_scalar() { 0..1 } else { touched(kernel, id, params).ok_or_else(no_range)? };
            let bytes = |elements: i64| {
                elements.max(0).checked_mul(size).and_then(|b| usize::try_from(b).ok()).ok_or_else(no_range)
            };
            Ok(ArgumentSpec::Pointer {
                name: array.name.to_string(),
                element: array.element,
                before: bytes(range.start.saturating_neg())?,
                after: bytes(range.end)?,
                observed: matches!(array.storage, Storage::Memory | Storage::LiveOut),
            })
        }
    };
    function_parameters(kernel).into_iter().map(argument).collect()
}

fn kernel_module(
    name: &str,
    kernel: &Kernel,
    label: &str,
    variant: Variant<'_>,
) -> Result<Vec<u8>, MeasureError> {
    let context = Context::new();
    let module = emit_function(&context, name, kernel, variant).map_err(|e| MeasureError::emit(label, e))?;
    let target = TargetMachine::host(OptLevel::Aggressive, CodeModel::Jit)
        .map_err(|e| MeasureError::llvm(label, e))?;
    for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
        function.set_string_attribute("target-cpu", &target.cpu());
        function.set_string_attribute("target-features", &target.features());
    }
    Ok(module.to_bitcode())
}

/// The value of an element, for messages.
fn show(element: ScalarType, bytes: &[u8]) -> String {
    let mut wide = [0; 8];
    let count = bytes.len().min(8);
    wide[..count].copy_from_slice(&bytes[..count]);
    let bits = u64::from_le_bytes(wide);
    match element {
        ScalarType::F64 => format!("{:?} ({bits:#018x})", f64::from_bits(bits)),
        ScalarType::F32 => format!("{:?} ({bits:#010x})", f32::from_bits(bits as u32)),
        ScalarType::I64 => (bits as i64).to_string(),
        ScalarType::I32 => (bits as i32).to_string(),
        ScalarType::I16 => (bits as i16).to_string(),
        ScalarType::I8 => (bits as i8).to_string(),
        ScalarType::I1 => bits.to_string(),
    }
}

#[cfg(test)]
mod tests;

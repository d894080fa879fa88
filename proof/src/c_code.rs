//! C that is emitted, compiled by gcc and clang, against the reference interpreter.

use crate::differential::threads_wait_passively;
use analyses::idioms::Idioms;
use cgen::{Argument, CgenError, File, Function, Variant};
use loop_tree::interp::{Layout, Memory, RunOptions, run};
use loop_tree::{ArrayId, Green, Kernel, RuntimeCondition, ScalarType, Storage};
use std::ffi::{CString, c_void};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// What compiles.
pub const COMPILERS: [&str; 2] = ["gcc", "clang-22"];

/// Warnings are errors.
pub const FLAGS: [&str; 5] = ["-std=gnu11", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"];

/// A kernel in an order.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The order.
    pub root: Green,
    /// When it is allowed.
    pub conditions: Vec<RuntimeCondition>,
}

/// What became of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The same memory as the interpreter's.
    Same,
    /// The function did nothing, and said so.
    Declined,
}

/// From one array to the next, in bytes: the check compares ranges that may be wider than what is touched.
const APART: usize = 1 << 19;
/// Elements along an unknown extent.
const UNKNOWN_EXTENT: i64 = 40;
const CANARY: u8 = 0xa5;

/// Programs as one file, with a function `run_N(params, pointers)` for each that calls it. Those of which there is no C are left out.
pub struct Source {
    text: String,
    functions: Vec<Result<Function, CgenError>>,
}

impl Source {
    /// Writes them.
    pub fn new(programs: &[Program]) -> Source {
        let mut file = File::new();
        let functions: Vec<_> = programs
            .iter()
            .map(|p| {
                let (kernel, root, conditions) = (&*p.kernel, &p.root, &p.conditions[..]);
                let calls = &Idioms::standard().calls(kernel, root);
                file.add("kernel", &Variant { kernel, root, conditions, calls, comment: "" })
            })
            .collect();
        let mut text =
            file.text().replacen("#include <stdint.h>\n", "#include <stdint.h>\n#include <stdbool.h>\n", 1);
        for (number, function) in functions.iter().enumerate() {
            let Ok(function) = function else { continue };
            let kernel = &programs[number].kernel;
            let argument = |a: &Argument| match a {
                Argument::Param(p) => format!("p[{}]", p.index()),
                Argument::Pointer(a) => format!("a[{}]", a.index()),
                Argument::Scalar(a) => {
                    format!("*(const {} *)a[{}]", element(kernel.array(*a).element), a.index())
                }
            };
            let arguments: Vec<String> = function.arguments.iter().map(argument).collect();
            let call = format!("{}({})", function.name, arguments.join(", "));
            let _ = writeln!(text, "bool run_{number}(const int64_t *p, void *const *a);");
            let _ =
                writeln!(text, "bool run_{number}(const int64_t *p, void *const *a) {{\n  (void)p; (void)a;");
            let _ = match function.declines {
                true => writeln!(text, "  return {call};\n}}"),
                false => writeln!(text, "  {call};\n  return true;\n}}"),
            };
        }
        Source { text, functions }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What became of each program.
    pub fn functions(&self) -> &[Result<Function, CgenError>] {
        &self.functions
    }

    /// Compiles and loads.
    ///
    /// # Errors
    /// The compiler's words, warnings among them.
    pub fn load(&self, compiler: &str, flags: &[&str]) -> Result<Loaded, String> {
        let directory = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (source, library) = (directory.path().join("emitted.c"), directory.path().join("emitted.so"));
        std::fs::write(&source, &self.text).map_err(|e| e.to_string())?;
        let mut command = Command::new(compiler);
        command
            .args(FLAGS)
            .args(flags)
            // gcc before 13.3 folds parts of functions that differ in what is known of values: its bug 113907.
            .args((compiler == "gcc").then_some("-fno-ipa-icf"))
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source)
            .arg("-lm");
        let done = command.output().map_err(|e| format!("{compiler}: {e}"))?;
        if !done.status.success() {
            return Err(format!("{compiler}: {}", String::from_utf8_lossy(&done.stderr)));
        }
        Loaded::open(&library, self.functions.len())
    }
}

fn element(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::I1 => "bool",
        ScalarType::I8 => "int8_t",
        ScalarType::I16 => "int16_t",
        ScalarType::I32 => "int32_t",
        ScalarType::I64 => "int64_t",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
    }
}

type Run = unsafe extern "C" fn(*const i64, *const *mut c_void) -> bool;

/// Functions of a library, by number of the program. It stays loaded: threads of an OpenMP runtime that it brought may still wait there.
pub struct Loaded {
    functions: Vec<Option<Run>>,
}

impl Loaded {
    fn open(library: &Path, count: usize) -> Result<Loaded, String> {
        let path = CString::new(library.to_string_lossy().as_bytes()).map_err(|e| e.to_string())?;
        threads_wait_passively();
        // SAFETY: a library that was just made, without constructors.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err("the library cannot be loaded".to_owned());
        }
        let mut functions = Vec::with_capacity(count);
        for number in 0..count {
            let name = CString::new(format!("run_{number}")).map_err(|e| e.to_string())?;
            // SAFETY: the handle is open; functions of this name were written with this type.
            functions.push(unsafe {
                let symbol = libc::dlsym(handle, name.as_ptr());
                (!symbol.is_null()).then(|| std::mem::transmute::<*mut c_void, Run>(symbol))
            });
        }
        Ok(Loaded { functions })
    }

    /// Calls a program and compares what anybody may see with what the interpreter did.
    ///
    /// # Errors
    /// What differs.
    pub fn agrees(&self, program: &Program, number: usize, expected: &Expected) -> Result<Outcome, String> {
        let function = self.functions[number].ok_or("it was left out of the file")?;
        let kernel = &*program.kernel;
        let Expected { params, apart, places, before, after } = expected;
        let mut words = vec![0_u64; before.len() / 8];
        let base = words.as_mut_ptr().cast::<u8>();
        // SAFETY: the words as bytes; arrays lie inside of them.
        let bytes = unsafe { std::slice::from_raw_parts_mut(base, before.len()) };
        bytes.copy_from_slice(before);
        let pointers: Vec<*mut c_void> = places.iter().map(|p| base.wrapping_add(p.start).cast()).collect();
        // SAFETY: the interpreter has shown that the kernel stays within its arrays.
        let ran = unsafe { function(params.as_ptr(), pointers.as_ptr()) };
        let told = || {
            loop_tree::text::print(&loop_tree::text::Program {
                kernel: program.kernel.clone(),
                variant: Some(program.root.clone()),
            })
        };
        if !ran {
            return match *bytes == **before {
                true => Ok(Outcome::Declined),
                false => Err(format!("it declined and did something, for {params:?}\n{}", told())),
            };
        }
        for a in (0..kernel.arrays.len()).map(ArrayId::new) {
            let (array, place) = (kernel.array(a), places[a.index()].clone());
            let end = place.end;
            let seen = matches!(array.storage, Storage::Memory | Storage::LiveOut);
            if seen && !same(array.element, &bytes[place], after.array_bytes(a)) {
                return Err(format!("{} differs for {params:?}\n{}", array.name, told()));
            }
            let behind = end..(a.index() + 1) * APART;
            if *apart && bytes[behind.clone()] != before[behind] {
                return Err(format!("out of bounds behind {} for {params:?}\n{}", array.name, told()));
            }
        }
        Ok(Outcome::Same)
    }
}

/// Memory before and after a call, by the interpreter.
pub struct Expected {
    params: Vec<i64>,
    /// No two arrays overlap.
    apart: bool,
    /// Of each array, in the bytes.
    places: Vec<Range<usize>>,
    before: Vec<u8>,
    after: Memory,
}

impl Expected {
    /// What a program does for these parameters; `None`: it is undefined. `over`: two arrays that overlap, by so many bytes from the
    /// start of the first.
    pub fn of(
        program: &Program,
        params: Vec<i64>,
        seed: u64,
        over: Option<(ArrayId, ArrayId, i64)>,
    ) -> Option<Expected> {
        let kernel = &*program.kernel;
        let layout = Layout::disjoint(kernel, &params, &|_| UNKNOWN_EXTENT).ok()?;
        let layout = Arc::new(match over {
            None => layout,
            Some((at, array, offset)) => layout.placed(array, at, offset)?,
        });
        let ids = || (0..kernel.arrays.len()).map(ArrayId::new);
        let place = |a: ArrayId| {
            let range = layout.range(a);
            let start = match over {
                None => a.index() * APART,
                Some(_) => range.start,
            };
            start..start + range.len()
        };
        let places: Vec<Range<usize>> = ids().map(place).collect();
        // Before anything is filled: arrays of programs are large.
        if ids().any(|a| places[a.index()].end > (a.index() + 1) * APART) {
            return None;
        }
        // What is not aligned is no C.
        if ids().any(|a| !places[a.index()].start.is_multiple_of(kernel.array(a).element.size() as usize)) {
            return None;
        }
        let mut memory = Memory::new(layout.clone());
        memory.fill(seed);
        let mut before = vec![CANARY; (kernel.arrays.len() + 1) * APART];
        ids().for_each(|a| before[places[a.index()].clone()].copy_from_slice(memory.array_bytes(a)));
        let options = RunOptions { fuel: 200_000, ..RunOptions::default() };
        run(kernel, &kernel.original, &mut memory, &options).ok()?;
        Some(Expected { params, apart: over.is_none(), places, before, after: memory })
    }
}

/// Equal bytes; any two NaNs are equal, as LLVM leaves their sign and payload open.
fn same(element: ScalarType, a: &[u8], b: &[u8]) -> bool {
    let nan = |bytes: &[u8]| match (element, bytes) {
        (ScalarType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (ScalarType::F64, bytes) => <[u8; 8]>::try_from(bytes).is_ok_and(|b| f64::from_le_bytes(b).is_nan()),
        _ => false,
    };
    let size = element.size() as usize;
    a == b
        || a.len() == b.len() && a.chunks(size).zip(b.chunks(size)).all(|(x, y)| x == y || nan(x) && nan(y))
}

#[cfg(test)]
mod tests;

//! A translation unit of random functions, compiled by clang once and then in this process.

use super::calls::{Calls, Compiled};
use super::isolate::Outcome;
use crate::c_programs::scenario::{Scenario, scenarios};
use crate::c_programs::{Fitted, text};
use irgen::llvm::{CodeModel, Context, Jit, LlvmError, Module, OptLevel, TargetMachine};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Once;

/// What clang did before lifting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// What the front end wrote: `-O3 -Xclang -disable-llvm-passes`.
    Raw,
    /// After `-O1`.
    O1,
    /// After `-O2`, without vectorisation and unrolling.
    O2,
}

/// Why a batch cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// A file or process.
    #[error("clang-22: {0}")]
    Io(#[from] std::io::Error),
    /// Clang refused the text.
    #[error("clang-22 refused the program:\n{0}")]
    Clang(String),
    /// LLVM refused.
    #[error(transparent)]
    Llvm(#[from] LlvmError),
}

/// Functions with their calls, and the original as bitcode.
pub struct Batch {
    /// The functions; `test_<number>` in the module.
    pub functions: Vec<Fitted>,
    /// Calls of each.
    pub scenarios: Vec<Vec<Scenario>>,
    /// What clang read.
    pub source: String,
    bitcode: Vec<u8>,
}

impl Batch {
    /// Compiles the functions. Cost: a clang process.
    pub fn new(functions: Vec<Fitted>, seed: u64) -> Result<Batch, BatchError> {
        let mut source = String::from(text::PRELUDE);
        for (number, fitted) in functions.iter().enumerate() {
            source.push_str(&text::function(fitted, number));
        }
        let scenarios = functions.iter().map(|f| scenarios(f, seed, 2)).collect();
        Ok(Batch { bitcode: front_end(&source, seed)?, source, functions, scenarios })
    }

    /// All calls.
    pub fn calls(&self) -> Calls<'_> {
        Calls::new(&self.functions, &self.scenarios)
    }

    /// The module in a form of the original.
    pub fn module<'c>(&self, context: &'c Context, level: Level) -> Result<Module<'c>, BatchError> {
        let mut module = context.parse(&self.bitcode, "random")?;
        match level {
            Level::Raw => return Ok(module),
            Level::O1 => module.run_passes("default<O1>", None)?,
            // Without a target machine LLVM knows no vectors, so that loops stay as they are.
            Level::O2 => module.run_passes("default<O2>", None)?,
        }
        Ok(context.parse(without_memory_effects(&module.to_string()).as_bytes(), "random")?)
    }

    /// What the original does: not optimised, and by LLVM's `-O3`. They differ only if clang or the generator is wrong.
    pub fn reference(&self) -> Result<(Vec<Outcome>, Vec<Outcome>), BatchError> {
        let calls = self.calls();
        let plain = {
            let context = Context::new();
            execute(&self.module(&context, Level::Raw)?, self.functions.len(), OptLevel::None, &calls)?
        };
        Ok((plain, self.behind(Level::Raw, "default<O3>", OptLevel::Default)?))
    }

    /// What the original in a form does behind passes of LLVM.
    pub fn behind(&self, level: Level, passes: &str, code: OptLevel) -> Result<Vec<Outcome>, BatchError> {
        let context = Context::new();
        let mut module = self.module(&context, level)?;
        let target = TargetMachine::host(OptLevel::Default, CodeModel::Jit)?;
        module.run_passes(passes, Some(&target))?;
        execute(&module, self.functions.len(), code, &self.calls())
    }
}

/// Text IR in which no function promises to leave memory alone: counting how often new code runs writes to a global,
/// which would make the promise that LLVM found for the original a lie.
fn without_memory_effects(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        match (line.strip_prefix("attributes #"), line.find(" memory(")) {
            (Some(_), Some(from)) => {
                let to = line[from..].find(')').map_or(line.len(), |end| from + end + 1);
                out.push_str(&line[..from]);
                out.push_str(&line[to..]);
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// Makes an OpenMP runtime known to code that needs one.
pub fn load_threads(jit: &Jit, module: &Module<'_>) -> Result<(), LlvmError> {
    if module.function("GOMP_parallel").is_none() {
        return Ok(());
    }
    threads_wait_passively();
    jit.load_openmp()
}

/// To be called before an OpenMP runtime is loaded: its threads do not spin, as there may be more of them than processors.
pub fn threads_wait_passively() {
    static ONCE: Once = Once::new();
    // SAFETY: strings; runtimes read the variable when they are loaded.
    ONCE.call_once(|| unsafe {
        libc::setenv(c"OMP_WAIT_POLICY".as_ptr(), c"passive".as_ptr(), 0);
    });
}

/// Compiles a module and makes all calls. Functions that are gone from it are passed over.
pub fn execute(
    module: &Module<'_>,
    functions: usize,
    level: OptLevel,
    calls: &Calls<'_>,
) -> Result<Vec<Outcome>, BatchError> {
    let jit = Jit::new(level)?;
    load_threads(&jit, module)?;
    jit.add(module)?;
    let mut compiled = Vec::with_capacity(functions);
    for number in 0..functions {
        let name = format!("run_{number}");
        if module.function(&name).is_none_or(|f| f.is_declaration()) {
            compiled.push(None);
            continue;
        }
        // SAFETY: the text of a function declares `run_<number>` so; the JIT lives until the calls are made.
        let run = unsafe { jit.lookup(&name)? };
        let taken = jit.address(&format!("taken_{number}")).map_or(std::ptr::null(), |a| a as *const i64);
        compiled.push(Some(Compiled { run, taken }));
    }
    Ok(calls.run(&compiled)?)
}

pub(super) fn front_end(source: &str, seed: u64) -> Result<Vec<u8>, BatchError> {
    let directory = tempfile::tempdir()?;
    let output = directory.path().join("random.bc");
    let mut command = Command::new("clang-22");
    command.args(["-w", "-O3", "-Xclang", "-disable-llvm-passes", "-ffp-contract=off", "-emit-llvm", "-c"]);
    if seed.is_multiple_of(2) {
        command.arg("-fno-math-errno");
    }
    if seed.is_multiple_of(5) {
        command.arg("-g");
    }
    command.args(["-x", "c", "-", "-o"]).arg(&output);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(source.as_bytes())?;
    }
    let result = child.wait_with_output()?;
    if !result.status.success() {
        return Err(BatchError::Clang(String::from_utf8_lossy(&result.stderr).into_owned()));
    }
    Ok(std::fs::read(&output)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_programs::{Profile, generate};

    #[test]
    fn the_original_is_defined_at_every_level() {
        let functions: Vec<Fitted> = (0..30).filter_map(|s| generate(s, &Profile::default())).collect();
        let batch = Batch::new(functions, 7).unwrap();
        let start = std::time::Instant::now();
        let (plain, optimised) = batch.reference().unwrap();
        eprintln!("reference {:?}, {} calls", start.elapsed(), plain.len());
        assert_eq!(plain, optimised);
        assert!(plain.iter().all(|o| matches!(o, Outcome::Value(_))));
        let calls = batch.calls();
        for level in [Level::O1, Level::O2] {
            let context = Context::new();
            let module = batch.module(&context, level).unwrap();
            assert_eq!(
                execute(&module, batch.functions.len(), OptLevel::None, &calls).unwrap(),
                plain,
                "{level:?}"
            );
        }
    }
}

//! `looptree run`: a `.lt` program, or each nest of a file of C or LLVM IR, by the reference interpreter.

use super::args::{InputArguments, RunArguments};
use super::error::CliError;
use super::input::{self, Input};
use super::output;
use looptree::driver::{DriverError, Likely, Session, Settings};
use looptree::names;
use looptree::tree::interp::{self, InterpError, InterpErrorKind, Layout, Memory, RunOptions};
use looptree::tree::{ArrayId, Green, Kernel, Storage, text};
use std::fmt::Write;
use std::sync::Arc;

/// Elements along an extent that is unknown, at least.
const UNKNOWN_EXTENT: i64 = 64;
/// Of the generated contents of arrays.
const SEED: u64 = 1;

/// What is executed.
struct Work {
    label: String,
    kernel: Arc<Kernel>,
    tree: Green,
    params: Vec<i64>,
}

/// Runs the command.
pub fn run(arguments: &RunArguments) -> Result<(), CliError> {
    let params = input::parameters(&arguments.params)?;
    let settings = Settings {
        params,
        default_param: arguments.default_param,
        function: arguments.function.clone(),
        region: arguments.region,
        unrolls: looptree::driver::unrolls(&arguments.file, &arguments.clang_flags),
        ..Settings::default()
    };
    let read = input::read(&InputArguments {
        file: arguments.file.clone(),
        function: arguments.function.clone(),
        region: arguments.region,
        clang_flags: arguments.clang_flags.clone(),
    })?;
    let works = match read {
        Input::Text(program) => {
            let work = self::program(arguments, &settings, &program)?;
            return output::print(&execute(&work, arguments)?);
        }
        Input::Ir(module) => nests(arguments, settings, &module)?,
    };
    let (mut out, mut executed, mut last) = (String::new(), 0, None);
    for work in &works {
        match execute(work, arguments) {
            Ok(text) => {
                executed += 1;
                out.push_str(&text);
            }
            Err(CliError::Failed { message, help }) => {
                let _ = writeln!(out, "{}: not executed: {message}", work.label);
                last = Some(CliError::Failed { message: format!("{}: {message}", work.label), help });
            }
            Err(other) => return Err(other),
        }
    }
    // One nest that cannot be executed does not keep the others from it.
    let failed = last.filter(|_| executed == 0);
    if failed.is_none() || works.len() > 1 {
        output::print(&out)?;
    }
    failed.map_or(Ok(()), Err)
}

fn program(arguments: &RunArguments, settings: &Settings, program: &text::Program) -> Result<Work, CliError> {
    if arguments.function.is_some() || arguments.region.is_some() {
        return Err(CliError::Usage {
            message: "a loop tree is one nest".to_string(),
            help: "leave out --function and --region".to_string(),
        });
    }
    let kernel = program.kernel.clone();
    if let Some(unknown) = settings.params.keys().find(|name| kernel.find_param(name).is_none()) {
        let names: Vec<&str> = kernel.params.iter().map(|p| &*p.name).collect();
        return Err(CliError::Usage {
            message: format!("{} has no parameter `{unknown}`", kernel.name),
            help: if names.is_empty() {
                "it has none".into()
            } else {
                format!("it has {}", names.join(", "))
            },
        });
    }
    let params = settings.parameter_values(&kernel, &[]);
    Ok(Work { label: kernel.name.to_string(), tree: program.tree().clone(), kernel, params })
}

/// The nests that are lifted from C or IR, each as it stands there.
fn nests(arguments: &RunArguments, settings: Settings, module: &[u8]) -> Result<Vec<Work>, CliError> {
    let file = &arguments.file;
    let failed = |e: DriverError| input::from_driver(e, file);
    if arguments.compare {
        return Err(CliError::Usage {
            message: format!("--compare: {} has no variant", file.display()),
            help: "`looptree apply FILE --recipe RECIPE | looptree run - --compare` makes one".to_string(),
        });
    }
    let optimizer = input::optimizer(settings)?;
    let name = file.display().to_string();
    let session = Session::new(module, &name, &optimizer);
    let functions = session.kernels().map_err(failed)?;
    session.require_names(&functions).map_err(failed)?;
    let mut works = Vec::new();
    for function in functions {
        for (number, region) in function.regions.into_iter().enumerate() {
            if optimizer.settings.region.is_some_and(|r| r != number) {
                continue;
            }
            // Sizes that callers pass are for programs; products are so for certain.
            let certain = |l: &Likely| match l {
                Likely::Product(_) | Likely::Ratio(..) => l.clone(),
                _ => Likely::Unknown,
            };
            let likely: Vec<Likely> = region.likely.iter().map(certain).collect();
            works.push(Work {
                label: names::label(&function.name, number),
                params: optimizer.settings.parameter_values(&region.kernel, &likely),
                tree: region.kernel.original.clone(),
                kernel: region.kernel,
            });
        }
    }
    if works.is_empty() {
        return Err(CliError::Failed {
            message: format!("{name}: no loops are described"),
            help: "`looptree show FILE --what remarks` says what stands in the way".to_string(),
        });
    }
    Ok(works)
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::Failed {
        message: error.to_string(),
        help: "parameters are set with --param NAME=VALUE, the bound on instances with --fuel".to_string(),
    }
}

fn execute(work: &Work, arguments: &RunArguments) -> Result<String, CliError> {
    let Work { label, kernel, tree, params } = work;
    let values: Vec<String> =
        kernel.params.iter().zip(params).map(|(p, v)| format!("{}={v}", p.name)).collect();
    require_assumed(kernel, params)?;
    let mut out = String::new();
    if arguments.trace {
        let instances = interp::instances(kernel, tree, params, arguments.fuel).map_err(failed)?;
        for instance in instances {
            let dims: Vec<String> = instance.dims.iter().map(i64::to_string).collect();
            let _ = writeln!(out, "{}({})", kernel.statement(instance.statement).name, dims.join(", "));
        }
        return Ok(out);
    }
    let (memory, instances) = run_tree(kernel, tree, params, arguments.fuel)?;
    let head = [label.as_str()].into_iter().chain(values.iter().map(String::as_str));
    let head: Vec<&str> = head.collect();
    let _ = writeln!(out, "{}: {instances} statement instances", head.join(" "));
    for (index, array) in kernel.arrays.iter().enumerate() {
        if matches!(array.storage, Storage::Memory | Storage::LiveOut) {
            let bytes = memory.array_bytes(ArrayId::new(index));
            let _ = writeln!(out, "  {}: {} bytes, hash {:016x}", array.name, bytes.len(), hash(bytes));
        }
    }
    if arguments.compare {
        let (original, _) = run_tree(kernel, &kernel.original, params, arguments.fuel)?;
        if original.bits() != memory.bits() {
            return Err(CliError::Failed {
                message: "the variant computes something else than the original".to_string(),
                help: "`looptree apply` says which dependence it breaks".to_string(),
            });
        }
        let _ = writeln!(out, "  equal to the original, bit for bit");
    }
    Ok(out)
}

/// A kernel says what its program does only where this holds.
fn require_assumed(kernel: &Kernel, params: &[i64]) -> Result<(), CliError> {
    // Arrays are laid out apart.
    for constraint in kernel.constraints() {
        let value = constraint.expression.eval(&|_| None, &|p| params.get(p.index()).copied());
        if !value.is_some_and(|v| constraint.accepts(v)) {
            let condition = text::print_constraint(kernel, constraint);
            return Err(failed(format!("{} is described only for {condition}", kernel.name)));
        }
    }
    Ok(())
}

/// What helps where a subscript is negative: memory here begins with the element 0 of an array, whatever is in front in a program.
const BELOW: &str = "arrays begin at element 0 here: a nest that touches what is in front of that, as `a[i - 1]` from i = 0, \
     is executed by `looptree explore FILE --measure`";
const ABOVE: &str =
    "the array has fixed extents, which its subscripts exceed for these parameters: --param NAME=VALUE";

fn run_tree(kernel: &Kernel, tree: &Green, params: &[i64], fuel: u64) -> Result<(Memory, u64), CliError> {
    let mut unknown = vec![UNKNOWN_EXTENT; kernel.arrays.len()];
    loop {
        let layout = Layout::disjoint(kernel, params, &|a| unknown[a.index()]).map_err(failed)?;
        let mut memory = Memory::new(layout);
        memory.fill(SEED);
        let options = RunOptions { fuel, ..RunOptions::default() };
        match interp::run(kernel, tree, &mut memory, &options) {
            Ok(stats) => return Ok((memory, stats.instances)),
            Err(error) if grow(kernel, &error, &mut unknown) => {}
            Err(error) => {
                let help = match &error.kind {
                    InterpErrorKind::Opaque(_) => {
                        "calls of functions are left to what is compiled: `looptree explore FILE --measure`"
                    }
                    InterpErrorKind::OutOfBounds { subscript: ..0, .. } => BELOW,
                    InterpErrorKind::OutOfBounds { .. } => ABOVE,
                    _ => return Err(failed(error)),
                };
                return Err(CliError::Failed { message: error.to_string(), help: help.to_string() });
            }
        }
    }
}

/// Where no extent is known, arrays are as long as what is touched, to the next power of two: so in whatever order.
fn grow(kernel: &Kernel, error: &InterpError, unknown: &mut [i64]) -> bool {
    let InterpErrorKind::OutOfBounds { array, dimension: 0, subscript, extent } = &error.kind else {
        return false;
    };
    let index = kernel.arrays.iter().position(|a| *a.name == **array && a.extents.first() == Some(&None));
    let Some(known) = index.and_then(|i| unknown.get_mut(i)).filter(|known| *known == extent) else {
        return false;
    };
    let needed = u64::try_from(*subscript).ok().and_then(|s| (s + 1).checked_next_power_of_two());
    match needed.and_then(|n| i64::try_from(n).ok()).filter(|n| *n > *known) {
        Some(needed) => *known = needed,
        None => return false,
    }
    true
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

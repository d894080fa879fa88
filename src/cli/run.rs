//! `looptree run`: a `.lt` program by the reference interpreter.

use super::args::RunArguments;
use super::error::CliError;
use super::{input, output};
use looptree::driver::Settings;
use looptree::tree::interp::{self, Layout, Memory, RunOptions};
use looptree::tree::{Green, Kernel, Storage, text::Program};
use std::fmt::Write;

/// Elements along an extent that is unknown.
const UNKNOWN_EXTENT: i64 = 64;
/// Of the generated contents of arrays.
const SEED: u64 = 1;

/// Runs the command.
pub fn run(arguments: &RunArguments) -> Result<(), CliError> {
    let program = input::read_program(&arguments.file)?;
    let kernel = &*program.kernel;
    let params = input::parameters(&arguments.params)?;
    let settings = Settings { params, default_param: arguments.default_param, ..Settings::default() };
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
    let params = settings.parameter_values(kernel, &[]);
    let text = if arguments.trace {
        trace(&program, &params, arguments)?
    } else {
        execute(&program, &params, arguments)?
    };
    output::print(&text)
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::Failed {
        message: error.to_string(),
        help: "parameters are set with --param NAME=VALUE, the bound on instances with --fuel".to_string(),
    }
}

fn trace(program: &Program, params: &[i64], arguments: &RunArguments) -> Result<String, CliError> {
    let kernel = &*program.kernel;
    let instances = interp::instances(kernel, program.tree(), params, arguments.fuel).map_err(failed)?;
    let mut out = String::new();
    for instance in instances {
        let dims: Vec<String> = instance.dims.iter().map(i64::to_string).collect();
        let _ = writeln!(out, "{}({})", kernel.statement(instance.statement).name, dims.join(", "));
    }
    Ok(out)
}

fn execute(program: &Program, params: &[i64], arguments: &RunArguments) -> Result<String, CliError> {
    let kernel = &*program.kernel;
    let (memory, instances) = run_tree(kernel, program.tree(), params, arguments)?;
    let mut out = String::new();
    let values: Vec<String> =
        kernel.params.iter().zip(params).map(|(p, v)| format!("{}={v}", p.name)).collect();
    let _ = writeln!(out, "{} {}: {instances} statement instances", kernel.name, values.join(" "));
    for (index, array) in kernel.arrays.iter().enumerate() {
        if matches!(array.storage, Storage::Memory | Storage::LiveOut) {
            let bytes = memory.array_bytes(looptree::tree::ArrayId::new(index));
            let _ = writeln!(out, "  {}: {} bytes, hash {:016x}", array.name, bytes.len(), hash(bytes));
        }
    }
    if arguments.compare {
        let (original, _) = run_tree(kernel, &kernel.original, params, arguments)?;
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

fn run_tree(
    kernel: &Kernel,
    tree: &Green,
    params: &[i64],
    arguments: &RunArguments,
) -> Result<(Memory, u64), CliError> {
    let layout = Layout::disjoint(kernel, params, &|_| UNKNOWN_EXTENT).map_err(failed)?;
    let mut memory = Memory::new(layout);
    memory.fill(SEED);
    let options = RunOptions { fuel: arguments.fuel, ..RunOptions::default() };
    let stats = interp::run(kernel, tree, &mut memory, &options).map_err(failed)?;
    Ok((memory, stats.instances))
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

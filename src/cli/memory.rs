//! `looptree memory`: temporary arrays over time, and what fusion saves of them.

use super::args::MemoryArguments;
use super::error::CliError;
use super::input::{self, Input};
use super::output;
use super::terminal;
use console::style;
use looptree::analyses::fusion_graph::{Nest, Temporary};
use looptree::driver::{DriverError, Session};
use looptree::memory::{Memory, Prevention};
use looptree::names;
use std::fmt::Write;

/// Runs the command.
pub fn run(arguments: &MemoryArguments) -> Result<(), CliError> {
    let file = &arguments.input.file;
    let read = input::read(&arguments.input)?;
    let settings = input::settings(&arguments.input, &arguments.model, None)?;
    let optimizer = input::optimizer(settings)?;
    let failed = |e: DriverError| input::from_driver(e, file);
    let name = file.display().to_string();
    let session = Session::new(read.module(), &name, &optimizer);
    let mut kernels = Vec::new();
    match &read {
        Input::Text(program) => {
            kernels.push((program.kernel.name.to_string(), program.kernel.clone(), Vec::new()))
        }
        Input::Ir(_) => {
            let functions = session.kernels().map_err(failed)?;
            session.require_names(&functions).map_err(failed)?;
            for function in functions {
                for (number, region) in function.regions.into_iter().enumerate() {
                    if optimizer.settings.region.is_none_or(|r| r == number) {
                        kernels.push((names::label(&function.name, number), region.kernel, region.likely));
                    }
                }
            }
        }
    }
    let mut out = String::new();
    for (label, kernel, likely) in &kernels {
        match optimizer.memory(label, kernel, likely) {
            Ok(Some(memory)) if !memory.arrays.is_empty() => tell(&mut out, label, &memory),
            Ok(_) => {}
            Err(DriverError::Analysis { source, .. }) => {
                let _ = writeln!(out, "{}: {source}", style(label).bold());
            }
            Err(other) => return Err(failed(other)),
        }
    }
    if out.is_empty() {
        let _ = writeln!(out, "{name}: no nests with temporary arrays between them");
        let _ = writeln!(
            out,
            "an array is temporary where no value of it enters or leaves a region: a local one, or one that is"
        );
        let _ = writeln!(out, "allocated and freed in the function");
    }
    output::print(&out)
}

fn tell(out: &mut String, label: &str, memory: &Memory) {
    let [before, after] = memory.bytes;
    let (nests, arrays) = (memory.nests.len(), memory.arrays.len());
    let _ = writeln!(
        out,
        "{}: {nests} nests and statements, {arrays} temporary arrays of {} bytes, {} alive at a time",
        style(label).bold(),
        grouped(before),
        grouped(memory.alive[0])
    );
    for (number, nest) in memory.nests.iter().enumerate() {
        let place = nest.location.as_ref().map_or_else(String::new, |l| format!(" at {l}"));
        let _ = writeln!(out, "  {number:>3}  {}{place}", nest.name);
    }
    chart(out, memory);
    for ((a, b), why) in &memory.prevented {
        let why = match why {
            Prevention::Structure(why) => why.clone(),
            Prevention::Dependence(witness) => format!("fused, it {witness}"),
        };
        let _ = writeln!(out, "  {} and {} stay apart: {why}", a.0, b.0);
    }
    let list = |nests: &Vec<Nest>| nests.iter().map(|n| n.0.to_string()).collect::<Vec<_>>().join(" ");
    let clusters: Vec<String> = memory.plan.clusters.iter().map(|c| format!("({})", list(c))).collect();
    let plan = &memory.plan;
    let best = if plan.is_optimal() {
        "nothing saves more".to_string()
    } else {
        format!("nothing saves more than {} bytes", grouped(plan.bound))
    };
    let _ = writeln!(
        out,
        "  plan: {}: {} bytes need not be there; {best}",
        clusters.join(" "),
        grouped(plan.size)
    );
    for why in &memory.left {
        let _ = writeln!(out, "  {why}");
    }
    let saved = 100.0 * (1.0 - after as f64 / before.max(1) as f64);
    let _ = write!(out, "  after: {} bytes, {saved:.1} % less", grouped(after));
    if memory.recipe.0.is_empty() {
        out.push('\n');
        return;
    }
    let gain = memory.cycles[0].max(1.0) / memory.cycles[1].max(1.0);
    let _ = writeln!(out, ", and predicted to be {gain:.2}x as fast, by");
    terminal::recipe(out, &memory.recipe.to_string(), "");
}

/// Which array is alive when.
fn chart(out: &mut String, memory: &Memory) {
    let width = memory.arrays.iter().map(|a| a.name.len()).max().unwrap_or(0).max(5);
    let columns: String = (0..memory.nests.len()).map(|n| format!("{n:>4}")).collect();
    let _ = writeln!(out, "  {:<width$}{columns}   bytes -> fused", "array");
    for (number, array) in memory.arrays.iter().enumerate() {
        let touched = || array.written.iter().chain(&array.read).map(|n| n.0);
        let (first, last) = (touched().min().unwrap_or(0), touched().max().unwrap_or(0));
        let mut line = String::new();
        for n in 0..memory.nests.len() {
            let what = match (array.written.contains(&Nest(n)), array.read.contains(&Nest(n))) {
                (true, true) => "WR",
                (true, false) => "W",
                (false, true) => "R",
                (false, false) if (first..last).contains(&n) => "-",
                (false, false) => "",
            };
            let fill = if n > first && n <= last { '-' } else { ' ' };
            line.extend(std::iter::repeat_n(fill, 4 - what.len()));
            line.push_str(what);
        }
        let becomes = match array.contracted {
            Some(bytes) => grouped(bytes),
            None if memory.plan.removed.contains(&Temporary(number)) => "stays, see below".to_string(),
            None => "stays".to_string(),
        };
        let _ = writeln!(out, "  {:<width$}{line}   {} -> {becomes}", array.name, grouped(array.bytes));
    }
}

/// `12,345`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

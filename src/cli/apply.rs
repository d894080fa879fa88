//! `looptree apply`: one recipe, the tree it makes, and the oracle's verdict.

use super::args::{ApplyArguments, Language};
use super::error::CliError;
use super::input::{self, Input};
use super::output;
use super::regions::{self, Picked};
use looptree::driver::{DriverError, Session, emit_c};
use looptree::tree::text::{self, Program};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Runs the command.
pub fn run(arguments: &ApplyArguments) -> Result<(), CliError> {
    let file = &arguments.input.file;
    let read = input::read(&arguments.input)?;
    let settings = input::settings(&arguments.input, &arguments.model, Some(&arguments.search))?;
    let optimizer = input::optimizer(settings)?;
    let name = file.display().to_string();
    let session = Session::new(read.module(), &name, &optimizer);
    let failed = |e: DriverError| input::from_driver(e, file);
    let picked = regions::pick(&session, &read, &arguments.recipe, file)?;
    let costs = arguments.explain.then(|| picked.costs(&optimizer));
    if arguments.emit == Some(Language::Llvm) {
        picked.warn_of_threads();
    }
    let Picked { function, number, kernel, chosen, .. } = picked;
    let text = if arguments.emit == Some(Language::C) {
        let choices = BTreeMap::from([((function, number), chosen)]);
        emit_c(&choices, matches!(read, Input::Ir(_))).map_err(failed)?
    } else if arguments.emit.is_some() {
        match &read {
            Input::Ir(_) => {
                let choices = BTreeMap::from([((function, number), chosen)]);
                session.emit(&choices, |m| m.to_string()).map_err(failed)?
            }
            Input::Text(_) => optimizer.emit(&kernel, &chosen).map_err(failed)?,
        }
    } else {
        let mut out = String::new();
        let _ = match chosen.conditions.len() {
            0 => writeln!(out, "; valid: always"),
            _ => {
                let list: Vec<String> =
                    chosen.conditions.iter().map(|c| text::print_runtime_condition(&kernel, c)).collect();
                writeln!(out, "; valid under: {}", list.join(", "))
            }
        };
        if let Some((original, variant)) = costs {
            let _ = writeln!(out, "; predicted {:.2}x", original.cycles / variant.cycles);
            for (of, cost) in [("the original", original), ("the variant", variant)] {
                let _ = writeln!(out, "; cost of {of}:");
                cost.explain().to_string().lines().for_each(|line| out.push_str(&format!("; {line}\n")));
            }
        }
        out.push_str(&text::print(&Program { kernel: kernel.clone(), variant: Some(chosen.root.clone()) }));
        out
    };
    output::write(&arguments.output, text.as_bytes())
}

//! `looptree opt`: IR in, IR out.

use super::args::OptArguments;
use super::error::CliError;
use super::input::{self, Input};
use super::output;
use super::progress::Progress;
use irgen::llvm::is_bitcode;
use looptree::driver::{Choices, Explored, Purpose, Session, notes};
use looptree::explore::Statistics;
use std::io::IsTerminal;
use std::path::Path;

/// Runs the command.
pub fn run(arguments: &OptArguments) -> Result<(), CliError> {
    let file = &arguments.input.file;
    let Input::Ir(bytes) = input::read(&arguments.input)? else {
        return Err(CliError::Usage {
            message: format!("{} is a loop tree, not IR", file.display()),
            help: "use `looptree apply FILE --recipe … --emit` to get IR from a `.lt` file".to_string(),
        });
    };
    let settings = input::settings(&arguments.input, &arguments.model, Some(&arguments.search))?;
    let optimizer = input::optimizer(settings)?;
    let progress = Progress::new();
    let tell = |region: &str, s: &Statistics| progress.of_search(region, s);
    let name = file.display().to_string();
    // Both find the same.
    let purpose = if arguments.remarks { Purpose::Explain } else { Purpose::Replace };
    let session = Session { progress: Some(&tell), purpose, ..Session::new(&bytes, &name, &optimizer) };
    let failed = |e| input::from_driver(e, file);
    let mut told = None;
    let choices = if arguments.recipe == "best" {
        let explored = session.explore().map_err(failed)?;
        if arguments.remarks {
            remarks(&explored, arguments.min_gain);
        } else if std::io::stderr().is_terminal() {
            told = Some(summary(&explored, arguments.min_gain));
        }
        session.best(&explored, arguments.min_gain).map_err(failed)?
    } else {
        by_recipe(&session, &arguments.recipe, file)?
    };
    let bitcode = arguments.output.extension().is_some_and(|e| e == "bc");
    let unchanged = choices.is_empty() && bitcode == is_bitcode(&bytes);
    let written = if unchanged {
        Ok(None)
    } else {
        progress.say("emitting");
        session.emit(&choices, |m| Some(if bitcode { m.to_bitcode() } else { m.to_string().into_bytes() }))
    };
    progress.finish();
    output::write(&arguments.output, written.map_err(failed)?.as_deref().unwrap_or(&bytes))?;
    if let Some(told) = told {
        eprintln!("{told}");
    }
    Ok(())
}

fn by_recipe(session: &Session<'_>, recipe: &str, input: &Path) -> Result<Choices, CliError> {
    let recipe = input::recipe(recipe, &session.optimizer.registry)?;
    let (function, number, kernel) = session.only_region().map_err(|e| input::from_driver(e, input))?;
    let chosen = session
        .optimizer
        .apply(&format!("{function}#{number}"), &kernel, &recipe)
        .map_err(|e| input::from_driver(e, input))?;
    Ok(Choices::from([((function, number), chosen)]))
}

/// What happened, in a line.
fn summary(explored: &Explored, min_gain: f64) -> String {
    let changed = explored.regions.iter().filter(|r| r.exploration.worthwhile(min_gain).is_some()).count();
    let alone = explored.regions.len() + explored.skipped.len() - changed;
    format!(
        "loop nests improved: {changed}, left alone: {alone}; --remarks tells which, why, and what was not understood"
    )
}

/// One line per region and per part that was not understood, on standard error.
fn remarks(explored: &Explored, min_gain: f64) {
    for note in notes(explored, min_gain) {
        let place = note.location.as_ref().map_or_else(String::new, |l| format!("{l}: "));
        eprintln!("{place}remark: {note}");
    }
}

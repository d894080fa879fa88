//! `looptree opt`: IR in, IR out.

use super::args::OptArguments;
use super::error::CliError;
use super::input::{self, Input};
use super::output;
use super::progress::Progress;
use irgen::llvm::is_bitcode;
use looptree::driver::{Chosen, DriverError, Explored, Session};
use looptree::explore::Statistics;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

type Choices = BTreeMap<(Arc<str>, usize), Chosen>;

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
    let session = Session { progress: Some(&tell), ..Session::new(&bytes, &name, &optimizer) };
    let failed = |e| input::from_driver(e, file);
    let choices = if arguments.recipe == "best" {
        let explored = session.explore().map_err(failed)?;
        if arguments.remarks {
            remarks(&explored, arguments.min_gain);
        }
        best(&session, &explored, arguments.min_gain).map_err(failed)?
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
    output::write(&arguments.output, written.map_err(failed)?.as_deref().unwrap_or(&bytes))
}

fn best(session: &Session<'_>, explored: &Explored, min_gain: f64) -> Result<Choices, DriverError> {
    let mut choices = Choices::new();
    for region in &explored.regions {
        if let Some(variant) = region.exploration.worthwhile(min_gain) {
            choices
                .insert((region.function.clone(), region.number), session.optimizer.choose(region, variant)?);
        }
    }
    Ok(choices)
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

/// One line per region and per part that was not understood, on standard error.
fn remarks(explored: &Explored, min_gain: f64) {
    for region in &explored.regions {
        let exploration = &region.exploration;
        let place = region.location.as_ref().map_or_else(String::new, |l| format!("{l}: "));
        let label = region.label();
        match (exploration.worthwhile(min_gain), exploration.statistics.legal) {
            (Some(v), _) => {
                eprintln!("{place}remark: {label}: {} (predicted {:.2}x)", v.recipe, exploration.ratio(v));
            }
            (None, legal) => {
                let Statistics { judged, undecided, .. } = exploration.statistics;
                let best = match legal {
                    0 => "no variant is legal".to_string(),
                    _ => {
                        let ratio = exploration.ratio(exploration.best());
                        format!("the best of {legal} legal variants is predicted to be {ratio:.2}x")
                    }
                };
                // Without it, it would look as if nothing could be done.
                let why = match undecided {
                    0 => String::new(),
                    _ => format!("; {undecided} of {judged} variants could not be judged within the quota"),
                };
                eprintln!("{place}remark: {label}: left alone: {best}{why}");
            }
        }
    }
    for (region, why) in &explored.skipped {
        eprintln!("remark: {region}: left alone: {why}");
    }
    for (function, remark) in &explored.remarks {
        let place = remark.location.as_ref().map_or_else(|| function.to_string(), |l| l.to_string());
        let help = if remark.help.is_empty() { String::new() } else { format!("; {}", remark.help) };
        eprintln!("{place}: remark: {} [{}]{help}", remark.message, remark.code);
    }
}

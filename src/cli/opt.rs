//! `looptree opt`: IR in, IR out.

use super::args::{Language, OptArguments};
use super::error::CliError;
use super::input::{self, Input};
use super::measured;
use super::output::{self, IrForm};
use super::progress::Progress;
use super::regions::{self, Picked};
use super::terminal;
use super::tuned::{self, Tuned};
use console::style;
use looptree::driver::{Choices, Explored, NO_THREADS, Note, Purpose, Session, Subject, emit_c, notes};
use looptree::explore::Statistics;
use looptree::measure::Part;
use looptree::names;
use looptree::tree::SourceLocation;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::IsTerminal;
use std::sync::Arc;

/// Predicted gain from which on variants are worth being measured: less is within what the clock tells apart at best.
const LEAST_MEASURED: f64 = 1.05;

/// Runs the command.
pub fn run(arguments: &OptArguments) -> Result<(), CliError> {
    let file = &arguments.input.file;
    let read = input::read(&arguments.input)?;
    let bytes = read.module();
    if matches!(read, Input::Text(_)) && arguments.emit != Language::C {
        return Err(CliError::Usage {
            message: format!("{} is a loop tree, not IR", file.display()),
            help: "use `looptree apply FILE --recipe … --emit` to get IR from a `.lt` file, or --emit c"
                .to_string(),
        });
    }
    let others = input::parts(&arguments.with, &arguments.input)?;
    let settings = input::settings(&arguments.input, &arguments.model, Some(&arguments.search))?;
    let optimizer = input::optimizer(settings)?;
    let progress = Progress::new();
    let tell = |region: &str, s: &Statistics| progress.of_search(region, s);
    let name = file.display().to_string();
    // Both find the same.
    let purpose = if arguments.remarks { Purpose::Explain } else { Purpose::Replace };
    // What is measured may gain little.
    let min_gain = if arguments.measure { LEAST_MEASURED } else { arguments.min_gain };
    let session =
        Session { progress: Some(&tell), purpose, min_gain, ..Session::new(bytes, &name, &optimizer) };
    let failed = |e| input::from_driver(e, file);
    let mut told = None;
    let choices = if arguments.recipe == "best" {
        let tuned = match &arguments.tuned {
            Some(database) => tuned::look_up(&session, database, file)?,
            None => Tuned::default(),
        };
        // Where nothing is left to be searched, all that a search would add are remarks.
        let explored = match tuned.all && !arguments.remarks {
            true => Explored::default(),
            false => regions::explore(&session, &read, file)?,
        };
        let (mut choices, mut measured) = if arguments.measure {
            fastest(&session, &read, &explored, arguments, &others, &progress)?
        } else {
            (session.best(&explored, arguments.min_gain).map_err(failed)?, BTreeSet::new())
        };
        let regions = explored.regions.iter().map(|r| (&r.function, r.number));
        let regions = regions.chain(explored.skipped.iter().map(|s| (&s.function, s.number)));
        let regions: BTreeSet<_> =
            regions.chain(tuned.regions.iter().map(|r| (&r.function, r.number))).collect();
        let regions = regions.len();
        for region in tuned.regions {
            let label = region.label();
            if arguments.remarks {
                say("remark", region.location.as_ref(), format_args!("{label}: {}", region.told));
            }
            let key = (region.function, region.number);
            match region.chosen {
                Some(chosen) => choices.insert(key.clone(), chosen),
                None => choices.remove(&key),
            };
            measured.insert(key);
        }
        for note in notes(&explored, arguments.min_gain) {
            match note.subject {
                // C says itself which loops threads share.
                Subject::Doubtful if note.code == NO_THREADS && arguments.emit == Language::C => {}
                Subject::Denied | Subject::Doubtful => say("warning", note.location.as_ref(), &note),
                _ if arguments.remarks && !is_about(&note, &measured) => {
                    say("remark", note.location.as_ref(), &note)
                }
                _ => {}
            }
        }
        if !arguments.remarks && std::io::stderr().is_terminal() {
            told = Some(summary(regions, choices.len()));
        }
        choices
    } else {
        let picked = regions::pick(&session, &read, &arguments.recipe, file)?;
        if arguments.remarks {
            let (original, variant) = picked.costs(&optimizer);
            let gain = original.cycles / variant.cycles;
            let label = names::label(&picked.function, picked.number);
            say("remark", None, format_args!("{label}: as asked (predicted {gain:.2}x)"));
        }
        if arguments.emit == Language::Llvm {
            picked.warn_of_threads();
        }
        let Picked { function, number, chosen, .. } = picked;
        Choices::from([((function, number), chosen)])
    };
    if arguments.emit == Language::C {
        progress.finish();
        if choices.is_empty() {
            return Err(CliError::Failed {
                message: format!(
                    "{}: no change is predicted to pay, so that there is nothing to write",
                    file.display()
                ),
                help: "name a variant with --recipe, or lower --min-gain".to_string(),
            });
        }
        let text = emit_c(&choices, matches!(read, Input::Ir(_))).map_err(failed)?;
        return output::write(&arguments.output, text.as_bytes());
    }
    let form = IrForm::of(&arguments.output);
    let written = if choices.is_empty() && form.is_of(bytes) {
        Ok(None)
    } else {
        progress.say("emitting");
        session.emit(&choices, |m| Some(form.written(m)))
    };
    progress.finish();
    output::write(&arguments.output, written.map_err(failed)?.as_deref().unwrap_or(bytes))?;
    if let Some(told) = told {
        output::say(terminal::said(&told));
    }
    Ok(())
}

/// The variant of each region that measures fastest, among those ranked first, and the regions that were measured; the best by
/// prediction where nothing can be.
fn fastest(
    session: &Session<'_>,
    read: &Input,
    explored: &Explored,
    arguments: &OptArguments,
    others: &[Part],
    progress: &Progress,
) -> Result<(Choices, Regions), CliError> {
    let file = &arguments.input.file;
    // What the source asks for is done, whatever it takes.
    let mut choices = session.best(explored, f64::INFINITY).map_err(|e| input::from_driver(e, file))?;
    let mut measured = BTreeSet::new();
    for region in explored.regions.iter().filter(|r| !r.exploration.asked) {
        let exploration = &region.exploration;
        if exploration.worthwhile(LEAST_MEASURED).is_none() {
            continue;
        }
        let shown: Vec<usize> = (0..exploration.variants.len().min(arguments.top.max(1))).collect();
        let label = region.label();
        let times = progress.while_measuring(&label, shown.len(), || {
            measured::measure(session, read, region, &shown, others, arguments.measure_limit, file)
        })?;
        let fastest = times.fastest().filter(|rank| !exploration.variants[*rank].recipe.0.is_empty());
        let picked = match times.why_not() {
            Some(_) => exploration.worthwhile(arguments.min_gain),
            None => fastest.map(|rank| &exploration.variants[rank]),
        };
        if arguments.remarks {
            let told = match (times.why_not(), fastest, picked) {
                (Some(why), ..) => format!("not measured, so that the prediction counts: {why}"),
                (None, Some(rank), Some(variant)) => {
                    format!("{} (measured {:.2}x)", variant.recipe, times.ratio(rank).unwrap_or(1.0))
                }
                _ => format!("left alone: of {} variants measured none is faster", shown.len()),
            };
            say("remark", region.location.as_ref(), format_args!("{label}: {told}"));
        }
        if times.why_not().is_none() {
            measured.insert((region.function.clone(), region.number));
        }
        if let Some(variant) = picked {
            let chosen =
                session.optimizer.choose(region, variant).map_err(|e| input::from_driver(e, file))?;
            choices.insert((region.function.clone(), region.number), chosen);
        }
    }
    Ok((choices, measured))
}

/// What happened, in a line.
fn summary(regions: usize, changed: usize) -> String {
    let alone = regions.saturating_sub(changed);
    format!(
        "loop nests improved: {changed}, left alone: {alone}; --remarks tells which, why, and what was not understood"
    )
}

/// A line on standard error.
pub fn say(kind: &str, location: Option<&SourceLocation>, told: impl Display) {
    let place = location.map_or_else(String::new, |l| format!("{l}: "));
    output::say(terminal::said(&format!("{place}{kind}: {told}")));
    if let Some(excerpt) = location.and_then(|l| terminal::excerpt(l, style("^").green().for_stderr())) {
        output::say(excerpt);
    }
}

/// Functions, each with the number of a region.
type Regions = BTreeSet<(Arc<str>, usize)>;

/// Whether it is about one of these regions.
fn is_about(note: &Note, regions: &Regions) -> bool {
    note.region.is_some_and(|number| regions.contains(&(note.function.clone(), number)))
}

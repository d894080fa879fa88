//! `looptree tune`: what to measure, by whom, and what came of it.

mod engine;
mod hq;
mod local;
mod plan;
mod table;

use super::args::{Engine, TuneArguments};
use super::error::CliError;
use super::input;
use super::output;
use super::progress::Progress;
use engine::{Done, Planned};
use looptree::cost_model::targets;
use looptree::tune::{Item, Report, Store, StoreError, Taken};
use std::path::Path;

/// Runs the command.
pub fn run(arguments: &TuneArguments) -> Result<(), CliError> {
    let changes = !(arguments.files.is_empty() && arguments.collect.is_empty() && arguments.merge.is_empty());
    let mut store =
        if changes { Store::open(&arguments.db) } else { Store::read(&arguments.db) }.map_err(store_error)?;
    for other in &arguments.merge {
        let from = Store::read(other).map_err(store_error)?;
        let taken = store.merge(&from).map_err(store_error)?;
        tell(other, taken);
    }
    let mut refused = 0;
    for file in &arguments.collect {
        refused += collect(&mut store, file)?;
    }
    let mut shown = None;
    let mut lost = Vec::new();
    if !arguments.files.is_empty() {
        let progress = Progress::new();
        let planned = plan::plan(arguments, &progress)?;
        let items: Vec<Item> = planned.iter().map(|p| p.item.clone()).collect();
        store.add_items(&items).map_err(store_error)?;
        let pending = pending(&store, planned, arguments)?;
        if let Some(file) = &arguments.emit_work {
            progress.finish();
            let lines: String = pending.iter().map(|p| p.item.to_line() + "\n").collect();
            return output::write(file, lines.as_bytes()).and_then(|()| refused_error(refused));
        }
        lost = measure(&mut store, &pending, arguments, &progress)?;
        progress.finish();
        shown = Some(items);
    }
    if shown.is_some() || !changes {
        output::print(&table::print(&store, shown.as_deref(), arguments.format).map_err(store_error)?)?;
    }
    if let Some((label, why)) = lost.first() {
        return Err(CliError::Failed {
            message: format!("{} measurements did not come back, first of {label}: {why}", lost.len()),
            help: "what came back is kept; the same command again measures the rest".to_string(),
        });
    }
    wrong_error(&store, shown.as_deref())?;
    refused_error(refused)
}

/// What is to be measured.
fn pending(
    store: &Store,
    planned: Vec<Planned>,
    arguments: &TuneArguments,
) -> Result<Vec<Planned>, CliError> {
    let processor = targets::processor();
    let here = arguments.engine == Engine::Local && arguments.emit_work.is_none();
    let mut pending = Vec::new();
    for one in planned {
        let place = here.then_some((&*processor, &*one.target));
        if arguments.again || !store.has_report(&one.item, place).map_err(store_error)? {
            pending.push(one);
        }
    }
    Ok(pending)
}

/// Measures; returns what did not come back, and why.
fn measure(
    store: &mut Store,
    pending: &[Planned],
    arguments: &TuneArguments,
    progress: &Progress,
) -> Result<Vec<(String, String)>, CliError> {
    let mut lost = Vec::new();
    let mut count = 0;
    let mut each = |done: Done| {
        count += 1;
        progress.say(format!("measured {count} of {}", pending.len()));
        match done {
            Done::Report(report) => store.add_report(&report).map(|_| ()).map_err(store_error)?,
            Done::Lost { label, why } => lost.push((label, why)),
        }
        Ok(())
    };
    match arguments.engine {
        Engine::Local => local::run(pending, arguments, &mut each)?,
        Engine::Hq => hq::run(pending, arguments, progress, &mut each)?,
    }
    Ok(lost)
}

/// Takes reports in; returns how many could not be.
fn collect(store: &mut Store, file: &Path) -> Result<usize, CliError> {
    let text = input::text(file)?;
    let (mut all, mut refused) = (Taken::default(), 0);
    for (number, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        match Report::from_line(line) {
            Ok(report) => {
                let taken = store.add_report(&report).map_err(store_error)?;
                all.items += taken.items;
                all.reports += taken.reports;
                all.known += taken.known;
            }
            Err(error) => {
                output::say(format_args!(
                    "{}:{}: warning: not taken in: {error}",
                    file.display(),
                    number + 1
                ));
                refused += 1;
            }
        }
    }
    tell(file, all);
    Ok(refused)
}

fn tell(from: &Path, taken: Taken) {
    let Taken { items, reports, known } = taken;
    output::say(format_args!(
        "{}: {reports} reports taken in, {known} known, {items} new items",
        from.display()
    ));
}

fn refused_error(refused: usize) -> Result<(), CliError> {
    match refused {
        0 => Ok(()),
        _ => Err(CliError::Failed {
            message: format!("{refused} reports cannot be used; all others were taken in"),
            help: "measure these items again: `looptree tune` does, or --emit-work".to_string(),
        }),
    }
}

/// A variant that computes something else must not go unnoticed.
fn wrong_error(store: &Store, items: Option<&[Item]>) -> Result<(), CliError> {
    let of_all;
    let items = match items {
        Some(items) => items,
        None => {
            of_all = store.items().map_err(store_error)?;
            &of_all
        }
    };
    for item in items {
        let known = store.measured(item, "", "").map_err(store_error)?;
        if let Some(message) = known.wrong {
            return Err(CliError::Failed {
                message: format!("{}: {}: {message}", item.file.display(), item.label()),
                help: "this is a bug in looptree, or a machine that errs; `opt --tuned` leaves the recipe out. Please report the input and the recipe".to_string(),
            });
        }
    }
    Ok(())
}

/// What to do about a database.
pub fn store_error(error: StoreError) -> CliError {
    let help = match &error {
        StoreError::Missing { .. } => "`looptree tune FILE` makes one; --db names another",
        StoreError::Foreign { .. } => "name another file with --db; this one was left as it is",
        StoreError::Version { .. } => "use the looptree that wrote it, or another file",
        StoreError::ReadOnly { .. } => {
            "check the permissions of the file and of its directory; a copy can be written"
        }
        StoreError::Locked { .. } => {
            "wait for the other process, or work with another file and take it in later: `looptree tune --merge OTHER`"
        }
        StoreError::Item(_) => {
            "the database was changed by something else: take what was collected into a new one"
        }
        StoreError::Sqlite { .. } => {
            "check that the directory exists and has room, and that the file is whole"
        }
    };
    CliError::Failed { message: error.to_string(), help: help.to_string() }
}

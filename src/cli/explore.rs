//! `looptree explore`: what could be done to a nest, why not more, and what it is worth.

mod details;
mod document;
mod dump;
mod iterations;
mod kinds;
mod plots;
pub(super) mod roofline;
mod source;
mod table;

use super::args::{ExploreArguments, Format};
use super::error::CliError;
use super::input::{self, Input};
use super::measured;
use super::output;
use super::progress::Progress;
use super::regions;
use super::report;
use document::Extent;
use looptree::driver::{self, Session};
use looptree::explore::Statistics;

/// Runs the command.
pub fn run(arguments: &ExploreArguments) -> Result<(), CliError> {
    let file = &arguments.input.file;
    let read = input::read(&arguments.input)?;
    let others = input::parts(&arguments.with, &arguments.input)?;
    let settings = input::settings(&arguments.input, &arguments.model, Some(&arguments.search))?;
    let optimizer = input::optimizer(settings)?;
    let progress = Progress::new();
    let tell = |region: &str, s: &Statistics| progress.of_search(region, s);
    let name = file.display().to_string();
    let session = Session { progress: Some(&tell), ..Session::new(read.module(), &name, &optimizer) };
    let explored = regions::explore(&session, &read, file)?;
    let extent = Extent::of(arguments);
    let loops = match read {
        Input::Ir(_) if extent.details => {
            session.loop_terms(driver::is_source(file)).map_err(|e| input::from_driver(e, file))?
        }
        _ => Vec::new(),
    };
    let mut summaries = Vec::new();
    for region in &explored.regions {
        let shown = kinds::shown(&region.exploration.variants, arguments.top.max(1));
        let times = if arguments.measure {
            Some(progress.while_measuring(&region.label(), shown.len(), || {
                measured::measure(&session, &read, region, &shown, &others, arguments.measure_limit, file)
            })?)
        } else {
            None
        };
        let models = optimizer.models.for_code(region.vectors);
        let idioms = &optimizer.idioms;
        summaries.push(document::summary(region, shown, extent, times.as_ref(), &models, idioms, &loops));
    }
    progress.finish();
    let document = document::document(&arguments.input, optimizer.models.target.name(), summaries, &explored);
    if let Some(directory) = &arguments.dump {
        for (region, summary) in explored.regions.iter().zip(&document.regions) {
            dump::write(&session, &read, region, summary, directory, file)?;
        }
    }
    if let Some(directory) = &arguments.svg {
        for summary in &document.regions {
            plots::write(summary, directory)?;
        }
    }
    let failed = |e: serde_json::Error| CliError::Failed {
        message: format!("the result cannot be written as JSON: {e}"),
        help: "this is a bug in looptree: please report the input".to_string(),
    };
    if let Some(place) = &arguments.html {
        let json = serde_json::to_string(&document).map_err(failed)?;
        output::write(place, report::page(&json).as_bytes())?;
        if place.as_os_str() == "-" {
            return Ok(());
        }
    }
    output::print(&match arguments.format {
        Format::Json => serde_json::to_string_pretty(&document).map_err(failed)? + "\n",
        Format::Table => table::table(&document, arguments),
    })
}

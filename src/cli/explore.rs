//! `looptree explore`: what could be done to a nest, why not more, and what it is worth.

mod dump;
mod report;

use super::args::{ExploreArguments, Format};
use super::error::CliError;
use super::input;
use super::measured;
use super::output;
use super::progress::Progress;
use super::regions;
use looptree::driver::Session;
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
    let mut summaries = Vec::new();
    for region in &explored.regions {
        let shown = region.exploration.variants.len().min(arguments.top.max(1));
        let times = if arguments.measure {
            Some(progress.while_measuring(&region.label(), shown, || {
                measured::measure(&session, &read, region, shown, &others, file)
            })?)
        } else {
            None
        };
        let models = optimizer.models.for_code(region.vectors);
        summaries.push(report::summary(region, shown, times.as_ref(), arguments, &*models.cost));
    }
    progress.finish();
    if let Some(directory) = &arguments.dump {
        for (region, summary) in explored.regions.iter().zip(&summaries) {
            dump::write(&session, &read, region, summary, directory, file)?;
        }
    }
    let text = match arguments.format {
        Format::Json => report::json(&summaries, &explored, optimizer.models.target.name()),
        Format::Table => report::table(&summaries, &explored, optimizer.models.target.name(), arguments),
    };
    output::print(&text)
}

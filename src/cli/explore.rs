//! `looptree explore`: what could be done to a nest, why not more, and what it is worth.

mod dump;
mod measured;
mod report;

use super::args::{ExploreArguments, Format};
use super::error::CliError;
use super::input::{self, Input};
use super::output;
use super::progress::Progress;
use looptree::driver::{DriverError, Explored, ExploredRegion, Session};
use looptree::explore::Statistics;
use std::sync::Arc;

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
    let failed = |e| input::from_driver(e, file);
    let session = Session { progress: Some(&tell), ..Session::new(read.module(), &name, &optimizer) };
    let explored = match &read {
        Input::Ir(_) => session.explore().map_err(failed)?,
        Input::Text(program) => {
            optimizer
                .settings
                .require_parameters(std::iter::once(&*program.kernel))
                .map_err(|e| failed(DriverError::Model(e)))?;
            let label = program.kernel.name.to_string();
            let (problem, exploration) =
                optimizer.explore(&label, &program.kernel, &[], session.progress).map_err(failed)?;
            Explored {
                regions: vec![ExploredRegion {
                    function: Arc::from(label),
                    vectors: None,
                    number: 0,
                    location: None,
                    kernel: program.kernel.clone(),
                    params: problem.params,
                    dependences: problem.dependences,
                    exploration,
                }],
                skipped: Vec::new(),
                remarks: Vec::new(),
            }
        }
    };
    let mut summaries = Vec::new();
    for region in &explored.regions {
        let shown = region.exploration.variants.len().min(arguments.top.max(1));
        let times = if arguments.measure {
            progress.say(format!("{}: measuring {shown} variants", region.label()));
            Some(measured::measure(&session, &read, region, shown, &others, file)?)
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

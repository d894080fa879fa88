//! `looptree measure`: work items of `looptree tune`, one after the other.

use super::args::{InputArguments, MeasureArguments};
use super::error::CliError;
use super::input::{self, Input};
use super::output;
use looptree::cost_model::targets::{self, Vectors};
use looptree::driver::{Chosen, DriverError, Optimizer, Session, Settings};
use looptree::measure::{
    CallSetup, MeasureError, MeasureOptions, Measurement, Part, measure_ir, measure_kernel,
};
use looptree::transforms::Recipe;
use looptree::tree::{Kernel, text::Program};
use looptree::tune::{FORMAT, Item, Outcome, Report, code_name, kernel_hash};
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

/// Runs the command.
pub fn run(arguments: &MeasureArguments) -> Result<(), CliError> {
    output::keep_for_itself()?;
    let lines = if arguments.item == "-" {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|source| CliError::Read { file: "-".into(), source })?;
        text
    } else {
        arguments.item.clone()
    };
    let lines: Vec<&str> = lines.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let items = lines.iter().map(|line| Item::from_line(line)).collect::<Result<Vec<_>, _>>();
    let items =
        items.map_err(|e| CliError::Usage { message: format!("--item: {e}"), help: HELP.to_string() })?;
    if items.is_empty() {
        return Err(CliError::Usage { message: "--item: there is none".to_string(), help: HELP.to_string() });
    }
    let mut reports = String::new();
    for item in items {
        let line = perform(item)?.to_line() + "\n";
        // A report that is there is not lost where a later item ends the process.
        match arguments.output.as_os_str() == "-" {
            true => output::print(&line)?,
            false => {
                reports += &line;
                output::write(&arguments.output, reports.as_bytes())?;
            }
        }
    }
    Ok(())
}

const HELP: &str = "items are lines of JSON, as `looptree tune --emit-work` writes them";

/// Why there is no measurement.
enum NoTime {
    /// What is computed is something else.
    Wrong(String),
    /// Anything else.
    Failed(String),
}

impl From<DriverError> for NoTime {
    fn from(error: DriverError) -> Self {
        NoTime::Failed(error.to_string())
    }
}

/// Measures one item; an error where its files cannot be read, which is no result of it.
fn perform(item: Item) -> Result<Report, CliError> {
    let input = InputArguments {
        file: item.file.clone(),
        function: Some(item.function.clone()),
        region: Some(item.region),
        clang_flags: item.flags.clone(),
    };
    let read = input::read(&input)?;
    let others = input::parts(&item.with, &input)?;
    let settings = Settings {
        params: item.params.iter().cloned().collect(),
        default_param: item.default_param,
        function: input.function,
        region: input.region,
        unrolls: looptree::driver::unrolls(&item.file, &item.flags),
        ..Settings::default()
    };
    let optimizer = input::optimizer(settings)?;
    let name = item.file.display().to_string();
    let session = Session::new(read.module(), &name, &optimizer);
    let (kernel, code) = find(&session, &read, &item)?;
    let target = code_name(code);
    let outcome = match time(&session, &read, &item, (&kernel, code), others) {
        Ok(measurements) => outcome(&measurements),
        Err(NoTime::Wrong(message)) => Outcome::Wrong { message },
        Err(NoTime::Failed(message)) => Outcome::Failed { message },
    };
    Ok(Report { format: FORMAT, item, processor: targets::processor(), target, outcome })
}

/// The kernel that the item is about, with what its code is compiled for.
fn find(
    session: &Session<'_>,
    read: &Input,
    item: &Item,
) -> Result<(Arc<Kernel>, Option<Vectors>), CliError> {
    let found = match read {
        Input::Text(program) => Some((program.kernel.clone(), None)),
        Input::Ir(_) => {
            let functions = session.kernels().map_err(|e| input::from_driver(e, &item.file))?;
            let function = functions.into_iter().find(|f| *f.name == *item.function);
            function.and_then(|f| Some((f.regions.get(item.region)?.kernel.clone(), f.vectors)))
        }
    };
    let hash = found.as_ref().map(|(kernel, _)| kernel_hash(kernel));
    found.filter(|_| hash.as_ref() == Some(&item.kernel)).ok_or_else(|| CliError::Failed {
        message: format!("{}: {} is not what the work item is about", item.file.display(), item.label()),
        help: "the file, or what it includes, was changed since, or is another one here: run `looptree tune` again"
            .to_string(),
    })
}

fn time(
    session: &Session<'_>,
    read: &Input,
    item: &Item,
    (kernel, code): (&Arc<Kernel>, Option<Vectors>),
    others: Vec<Part>,
) -> Result<Vec<Measurement>, NoTime> {
    let optimizer = session.optimizer;
    let recipe =
        Recipe::parse(&item.recipe, &optimizer.registry).map_err(|e| NoTime::Failed(e.to_string()))?;
    let chosen = optimizer.apply(&item.label(), kernel, &recipe, code)?;
    let options = MeasureOptions::default();
    let label = format!("`{}`", item.recipe);
    let measured = match read {
        Input::Text(program) => time_tree(optimizer, program, &chosen, &label, &options),
        Input::Ir(bytes) => {
            let arguments = session.argument_specs(&item.function)?;
            let arguments = arguments.map_err(|not| NoTime::Failed(not.to_string()))?;
            let choices = BTreeMap::from([((Arc::from(&*item.function), item.region), chosen)]);
            let module = session.emit(&choices, |m| m.to_bitcode())?;
            let setup = CallSetup { arguments, seed: 1, others };
            measure_ir(bytes, &item.function, &[(&label, &module)], &setup, &options)
        }
    };
    measured.map_err(|error| match error {
        MeasureError::Mismatch { .. } | MeasureError::OutOfBounds { .. } => NoTime::Wrong(error.to_string()),
        other => NoTime::Failed(other.to_string()),
    })
}

fn time_tree(
    optimizer: &Optimizer,
    program: &Program,
    chosen: &Chosen,
    label: &str,
    options: &MeasureOptions,
) -> Result<Vec<Measurement>, MeasureError> {
    let params = optimizer.settings.parameter_values(&program.kernel, &[]);
    measure_kernel(&program.kernel, &[(label, chosen.variant())], &params, options)
}

fn outcome(measurements: &[Measurement]) -> Outcome {
    let [original, variant] = measurements else {
        return Outcome::Failed { message: "there is no measurement".to_string() };
    };
    let samples = |m: &Measurement| -> Vec<u64> {
        m.samples.iter().map(|s| u64::try_from(s.as_nanos()).unwrap_or(u64::MAX)).collect()
    };
    let (calls, original, variant) = (original.calls, samples(original), samples(variant));
    match original.iter().chain(&variant).all(|ns| *ns > 0) {
        true => Outcome::Measured { calls, original, variant },
        false => Outcome::Failed { message: "it takes no time that could be measured".to_string() },
    }
}

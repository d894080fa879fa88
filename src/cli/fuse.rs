//! `looptree fuse`: fusion by itself.

use super::args::FuseArguments;
use super::error::CliError;
use super::input::{self, Input};
use super::output::{self, IrForm};
use super::record::{self, Kind, Remark};
use console::style;
use looptree::driver::{Choices, DriverError, Session};
use looptree::fusion::{Fusion, FusionOptions, Outcome, Pair};
use looptree::irgen::lift;
use looptree::names;
use looptree::tree::text::{self, Program};
use looptree::tree::{Kernel, SourceLocation};
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

const PASS: &str = "looptree-fuse";

/// Runs the command.
pub fn run(arguments: &FuseArguments) -> Result<(), CliError> {
    let file = &arguments.input.file;
    let read = input::read(&arguments.input)?;
    let settings = input::settings(&arguments.input, &arguments.model, None)?;
    let optimizer = input::optimizer(settings)?;
    let options = FusionOptions { always: arguments.always, ..FusionOptions::default() };
    let failed = |e: DriverError| input::from_driver(e, file);
    let name = file.display().to_string();
    let session = Session::new(read.module(), &name, &optimizer);
    let mut told = Told::default();
    let written = match &read {
        Input::Text(program) => {
            let kernel = &program.kernel;
            let fusion =
                optimizer.fuse(&kernel.name, kernel, &[], &optimizer.models, &options).map_err(failed)?;
            told.region(&kernel.name, &kernel.name, kernel, &fusion);
            let variant = Some(fusion.root).filter(|_| !fusion.recipe.0.is_empty());
            text::print(&Program { kernel: kernel.clone(), variant }).into_bytes()
        }
        Input::Ir(bytes) => {
            let mut choices = choices(&session, &options, &mut told).map_err(failed)?;
            let form = IrForm::of(arguments.output.as_deref().unwrap_or(Path::new("-")));
            loop {
                if choices.is_empty() && form.is_of(bytes) {
                    break bytes.clone();
                }
                match session.emit(&choices, |m| form.written(m)) {
                    Ok(written) => break written,
                    // Of which there is no code after all is left alone, and the others are not.
                    Err(DriverError::Emit { region, source }) => {
                        choices.retain(|(function, number), _| names::label(function, *number) != region);
                        told.left(&region, &source.to_string());
                    }
                    Err(other) => return Err(failed(other)),
                }
            }
        }
    };
    let to = match &arguments.output {
        None if arguments.explain => None,
        None => Some(Path::new("-")),
        Some(path) => Some(path.as_path()),
    };
    if let Some(to) = to {
        output::write(to, &written)?;
    }
    if let Some(record) = &arguments.record {
        output::write(record, told.record.as_bytes())?;
    }
    if told.text.is_empty() {
        let _ = writeln!(told.text, "{name}: no loops that follow each other");
    }
    match arguments.explain {
        false => Ok(()),
        // What is written is not to be mixed with what is told.
        true if to == Some(Path::new("-")) => {
            output::say(told.text.trim_end());
            Ok(())
        }
        true => output::print(&told.text),
    }
}

/// Fuses the loops of every region.
fn choices(session: &Session<'_>, options: &FusionOptions, told: &mut Told) -> Result<Choices, DriverError> {
    let optimizer = session.optimizer;
    let mut choices = Choices::new();
    let functions = session.kernels()?;
    session.require_names(&functions)?;
    for function in functions {
        let models = optimizer.models.for_code(function.vectors);
        for (number, region) in function.regions.iter().enumerate() {
            if optimizer.settings.region.is_some_and(|r| r != number) {
                continue;
            }
            let label = names::label(&function.name, number);
            let fusion = match optimizer.fuse(&label, &region.kernel, &region.likely, &models, options) {
                Ok(fusion) => fusion,
                Err(DriverError::Analysis { source, .. }) => {
                    told.not_described(
                        &function.name,
                        "NotAnalysed",
                        &source.to_string(),
                        "",
                        region.location.as_ref(),
                    );
                    continue;
                }
                Err(other) => return Err(other),
            };
            told.region(&label, &function.name, &region.kernel, &fusion);
            if !fusion.recipe.0.is_empty() {
                let chosen = optimizer.apply(&label, &region.kernel, &fusion.recipe, function.vectors)?;
                choices.insert((function.name.clone(), number), chosen);
            }
        }
        for lift::Remark { code, message, help, location, .. } in &function.remarks {
            told.not_described(&function.name, code, message, help, location.as_ref());
        }
    }
    Ok(choices)
}

/// What became of the pairs, for people and as a record.
#[derive(Default)]
struct Told {
    text: String,
    record: String,
}

impl Told {
    fn region(&mut self, label: &str, function: &str, kernel: &Kernel, fusion: &Fusion) {
        if fusion.pairs.is_empty() {
            return;
        }
        let fused = fusion.pairs.iter().filter(|p| matches!(p.outcome, Outcome::Fused { .. })).count();
        let gain = fusion.cycles[0].max(1.0) / fusion.cycles[1].max(1.0);
        let predicted = if fused > 0 { format!(", predicted {gain:.2}x") } else { String::new() };
        let (pairs, cut) = (fusion.pairs.len(), if fusion.cut { ", not all were tried" } else { "" });
        let _ =
            writeln!(self.text, "{}: {fused} of {pairs} pairs fused{predicted}{cut}", style(label).bold());
        for pair in &fusion.pairs {
            self.pair(function, kernel, pair);
        }
    }

    fn pair(&mut self, function: &str, kernel: &Kernel, pair: &Pair) {
        let Pair { first, second, outcome } = pair;
        let (kind, pieces): (Kind, Vec<(&str, String)>) = match outcome {
            Outcome::Fused { steps, conditions, gain } => {
                let list: Vec<String> =
                    conditions.iter().map(|c| text::print_runtime_condition(kernel, c)).collect();
                let under =
                    if list.is_empty() { String::new() } else { format!(", under {}", list.join(", ")) };
                let how = ("Recipe", steps.to_string());
                (
                    Kind::Passed,
                    vec![
                        ("String", "fused by ".into()),
                        how,
                        ("String", format!(", {gain:.2}x predicted{under}")),
                    ],
                )
            }
            Outcome::Slower { steps, gain } => {
                let how = ("Recipe", steps.to_string());
                (
                    Kind::Missed,
                    vec![
                        ("String", "legal, but ".into()),
                        how,
                        ("String", format!(" is predicted to be {gain:.2}x")),
                    ],
                )
            }
            Outcome::Illegal { steps, witness } => {
                let how = ("Recipe", steps.to_string());
                (Kind::Missed, vec![("String", "not fused: ".into()), how, ("String", format!(" {witness}"))])
            }
            Outcome::Refused(refusal) => (Kind::Missed, vec![("String", format!("not fused: {refusal}"))]),
        };
        let indent = "  ".repeat(first.depth + 1);
        let whole: String = pieces.iter().map(|(_, text)| text.as_str()).collect();
        let _ = writeln!(self.text, "{indent}{first} and {second}: {whole} [{}]", outcome.code());
        let loops = [
            ("First", first.to_string()),
            ("String", " and ".into()),
            ("Second", second.to_string()),
            ("String", ": ".into()),
        ];
        let pieces: Vec<(&str, String)> = loops.into_iter().chain(pieces).chain(named(function)).collect();
        let location = first.location.as_ref();
        let name = outcome.code();
        record::add(
            &mut self.record,
            &Remark { kind, pass: PASS, name, function, location, pieces: &pieces },
        );
    }

    /// A region of which there is no code, whatever was told of it.
    fn left(&mut self, region: &str, why: &str) {
        let _ = writeln!(self.text, "{region}: left as it is after all: {why}");
    }

    /// What is no candidate.
    fn not_described(
        &mut self,
        function: &str,
        code: &str,
        message: &str,
        help: &str,
        location: Option<&SourceLocation>,
    ) {
        let place =
            location.map_or_else(|| names::readable(function).into_owned(), SourceLocation::to_string);
        let help = if help.is_empty() { String::new() } else { format!("; {help}") };
        let _ = writeln!(self.text, "{place}: no candidate: {message}{help} [{code}]");
        let pieces =
            [("String", "no candidate: ".to_string()), ("Reason", message.to_string()), ("String", help)];
        let pieces: Vec<_> = pieces.into_iter().chain(named(function)).collect();
        record::add(
            &mut self.record,
            &Remark { kind: Kind::Analysis, pass: PASS, name: code, function, location, pieces: &pieces },
        );
    }
}

/// What a function is called, where its symbol does not say so.
fn named(symbol: &str) -> Vec<(&'static str, String)> {
    match names::readable(symbol) {
        Cow::Owned(name) => vec![("String", ", in ".into()), ("Name", name)],
        Cow::Borrowed(_) => Vec::new(),
    }
}

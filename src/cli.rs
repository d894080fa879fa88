//! Arguments and commands.
//!
//! Exit codes: 0 success; 1 the input was read but the request failed (a recipe that does not apply, a function that is not there, a variant that
//! computes something else, an execution error); 2 wrong usage; 3 the input could not be read, parsed or verified.
//! Results go to standard output, everything else to standard error.

mod apply;
mod args;
mod calibrate;
mod cc;
mod documents;
mod error;
mod explore;
mod fuse;
mod input;
mod measure;
mod measured;
mod memory;
mod opt;
mod output;
mod progress;
mod recipes;
mod record;
mod regions;
mod report;
mod run;
mod show;
mod terminal;
mod timings;
mod tune;
mod tuned;
mod why;

use args::{Arguments, Command};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use error::CliError;
use std::ffi::OsString;
use std::process::ExitCode;
use timings::Timings;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Parses the arguments, runs the command, reports its error.
pub fn main() -> ExitCode {
    // Their flags are clang's, `--help` and `--version` included.
    let words: Vec<_> = std::env::args_os().collect();
    if let Some((command, rest)) = cc::is_asked_for(&words) {
        return failed(cc::run(command, rest));
    }
    // clap itself ends with 2 on wrong usage.
    let arguments = Arguments::try_parse().unwrap_or_else(|error| wrong_usage(error, &words).exit());
    let timings = arguments.timings.then(Timings::default);
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let asked = match std::env::var("LOOPTREE_LOG").unwrap_or_default().as_str() {
        "" => Targets::new(),
        text => text.parse().unwrap_or_else(|error| {
            eprintln!("LOOPTREE_LOG is not as in `info` or `looptree=debug,analyses=trace`: {error}");
            Targets::new()
        }),
    };
    tracing_subscriber::registry()
        .with(log.with_filter(asked))
        .with(timings.clone().map(|t| t.with_filter(LevelFilter::INFO)))
        .init();
    looptree::irgen::llvm::on_fatal_error(|reason| {
        let message = format!("LLVM gives up: {}", reason.trim());
        let help = "`clang-22 -c` of this input fails as well, or this is a bug in looptree: please report the input";
        let error = CliError::Llvm { message, help: help.to_string() };
        let code = error.exit_code();
        failed(error);
        std::process::exit(code.into())
    });
    let result = match arguments.command {
        Command::Explore(a) => explore::run(&a),
        Command::Opt(a) => opt::run(&a),
        Command::Apply(a) => apply::run(&a),
        Command::Run(a) => run::run(&a),
        Command::Show(a) => show::run(&a),
        Command::Why(a) => why::run(&a),
        Command::Fuse(a) => fuse::run(&a),
        Command::Memory(a) => memory::run(&a),
        Command::Recipes(a) => recipes::run(&a),
        Command::Completions(a) => documents::completions(&a),
        Command::Man(a) => documents::manual_pages(&a),
        Command::Tune(a) => tune::run(&a),
        Command::Measure(a) => measure::run(&a),
        Command::Calibrate(a) => calibrate::run(&a),
        Command::Cc(a) => Err(cc::run("cc".as_ref(), &a.arguments)),
        Command::Cxx(a) => Err(cc::run("c++".as_ref(), &a.arguments)),
    };
    if let Some(timings) = timings {
        output::say(timings.table().trim_end());
    }
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(error),
    }
}

/// Flags that belong behind `--` look like several short options of ours.
fn wrong_usage(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let flags = |word: &&OsString| {
        let word = word.as_encoded_bytes();
        word.len() > 2 && word[0] == b'-' && word[1] != b'-'
    };
    if error.kind() == ErrorKind::UnknownArgument
        && !words.iter().any(|word| word == "--")
        && let Some(flag) = words.iter().find(flags)
    {
        let flag = flag.to_string_lossy();
        let tip = format!("flags for clang follow `--`: `-- {flag}`");
        error.insert(ContextKind::InvalidArg, ContextValue::String(flag.into_owned()));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

fn failed(error: CliError) -> ExitCode {
    let code = error.exit_code();
    if !error.is_broken_pipe() {
        if let Some(said) = error.said() {
            output::say(said.trim_end());
        }
        output::say(format_args!("{:?}", miette::Report::new(error)));
    }
    ExitCode::from(code)
}

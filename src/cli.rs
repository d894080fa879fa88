//! Arguments and commands.
//!
//! Exit codes: 0 success; 1 the input was read but the request failed (a recipe that does not apply, a variant that
//! computes something else, an execution error); 2 wrong usage; 3 the input could not be read, parsed or verified.
//! Results go to standard output, everything else to standard error.

mod apply;
mod args;
mod calibrate;
mod error;
mod explore;
mod input;
mod opt;
mod output;
mod progress;
mod run;
mod show;

use args::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

/// Parses the arguments, runs the command, reports its error.
pub fn main() -> ExitCode {
    // clap itself ends with 2 on wrong usage.
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("LOOPTREE_LOG"))
        .with_writer(std::io::stderr)
        .init();
    let result = match arguments.command {
        Command::Explore(a) => explore::run(&a),
        Command::Opt(a) => opt::run(&a),
        Command::Apply(a) => apply::run(&a),
        Command::Run(a) => run::run(&a),
        Command::Show(a) => show::run(&a),
        Command::Calibrate(a) => calibrate::run(&a),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let code = error.exit_code();
            if !error.is_broken_pipe() {
                eprintln!("{:?}", miette::Report::new(error));
            }
            ExitCode::from(code)
        }
    }
}

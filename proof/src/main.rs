//! `soak`: random programs for as long as wanted. `one`: a single seed again. `show`: the program of a seed.

use clap::{Parser, Subcommand};
use proof::c_programs::{Profile, generate, scenario, text};
use proof::soak::{self, Options};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Random programs against everything that may be wrong")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs random programs and prints a summary. Exit code 1: something was wrong; see the directory of failures.
    Soak {
        /// How long.
        #[arg(long, default_value_t = 60.0)]
        minutes: f64,
        /// First seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Processes at once.
        #[arg(long, default_value_t = 2)]
        threads: u64,
        /// Where failing cases are written.
        #[arg(long, default_value = "proof/failures")]
        failures: PathBuf,
    },
    /// Works through seeds and prints one JSON object for each; what `soak` starts.
    #[command(hide = true)]
    Worker {
        #[arg(long)]
        seed: u64,
        #[arg(long)]
        stride: u64,
        #[arg(long)]
        failures: PathBuf,
    },
    /// Everything of one seed again.
    One {
        /// The seed.
        seed: u64,
        /// Where failing cases are written.
        #[arg(long, default_value = "proof/failures")]
        failures: PathBuf,
    },
    /// Emits the original order of every region of `test_0` of a C file, as for a failing case, and prints kernel and IR.
    Emit {
        /// The file.
        file: PathBuf,
        /// Passes before lifting, such as `default<O1>`.
        #[arg(long, default_value = "")]
        before: String,
        /// Recipe text.
        #[arg(long, default_value = "")]
        recipe: String,
    },
    /// Runs one function alone, at all levels, with many placings of its arrays.
    Function {
        /// The seed.
        seed: u64,
        /// Affine only.
        #[arg(long)]
        affine: bool,
        /// Placings.
        #[arg(long, default_value_t = 20)]
        tries: u64,
    },
    /// Prints the C program of a seed.
    Show {
        /// The seed.
        seed: u64,
        /// Affine only.
        #[arg(long)]
        affine: bool,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Soak { minutes, seed, threads, failures } => {
            soak::run(&Options { minutes, seed, threads: threads.max(1), failures })
        }
        Command::Worker { seed, stride, failures } => soak::work(seed, stride, &failures),
        Command::One { seed, failures } => {
            let report = soak::one(seed, &failures);
            println!("{}", report.summary());
            if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Command::Emit { file, before, recipe } => match proof::differential::show(&file, &before, &recipe) {
            Ok(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        Command::Function { seed, affine, tries } => {
            let profile = if affine { Profile::affine() } else { Profile::default() };
            let Some(function) = generate(seed, &profile) else {
                eprintln!("seed {seed} gives no program");
                return ExitCode::FAILURE;
            };
            match soak::function(&function, tries) {
                None => ExitCode::SUCCESS,
                Some(text) => {
                    print!("{text}");
                    ExitCode::FAILURE
                }
            }
        }
        Command::Show { seed, affine } => {
            let profile = if affine { Profile::affine() } else { Profile::default() };
            match generate(seed, &profile) {
                Some(f) => {
                    print!("{}", text::program(&f, &scenario::scenarios(&f, seed, 2)));
                    ExitCode::SUCCESS
                }
                None => {
                    eprintln!("seed {seed} gives no program");
                    ExitCode::FAILURE
                }
            }
        }
    }
}

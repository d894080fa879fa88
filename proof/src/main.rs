//! `soak`: random programs for as long as wanted. `one`: a single seed again. `show`: the program of a seed.

use clap::{Parser, Subcommand};
use proof::c_programs::{Profile, generate, scenario, text};
use proof::ir_loops::KINDS;
use proof::mutants::{Limits, Mutant, Row, table};
use proof::soak::{self, Options, Part};
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
        /// Only this of each seed.
        #[arg(long)]
        only: Option<Part>,
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
        #[arg(long)]
        only: Option<Part>,
    },
    /// Everything of one seed again.
    One {
        /// The seed.
        seed: u64,
        /// Where failing cases are written.
        #[arg(long, default_value = "proof/failures")]
        failures: PathBuf,
        /// Only this of each seed.
        #[arg(long)]
        only: Option<Part>,
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
        /// The seed of the case: which analyses are asked, and clang's flags.
        #[arg(long, default_value_t = 0)]
        seed: u64,
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
    /// Leaves out each rule of the compiler in turn and prints who notices. Exit code 1: nobody notices one of them.
    Mutants {
        /// Random kernels per rule.
        #[arg(long, default_value_t = 200)]
        kernels: u64,
        /// Translation units of 20 programs per rule.
        #[arg(long, default_value_t = 6)]
        batches: u64,
        /// Stop at the first suite that notices.
        #[arg(long)]
        first: bool,
        /// Rules whose name begins so.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Checks cases: files of kernels or IR that say what must hold of them.
    Case {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Checks random loops of one kind. Exit code 1: something was wrong; its case is printed.
    Loops {
        /// The kind.
        #[arg(value_parser = KINDS.map(|kind| kind.name))]
        kind: String,
        /// First seed.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Cases.
        #[arg(long, default_value_t = 1000)]
        count: u64,
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
        Command::Soak { minutes, seed, threads, failures, only } => {
            soak::run(&Options { minutes, seed, threads: threads.max(1), failures, only })
        }
        Command::Worker { seed, stride, failures, only } => soak::work(seed, stride, only, &failures),
        Command::One { seed, failures, only } => {
            let report = soak::one(seed, only, &failures);
            println!("{}", report.summary());
            if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Command::Emit { file, before, recipe, seed } => {
            match proof::differential::show(&file, &before, &recipe, seed) {
                Ok(text) => {
                    print!("{text}");
                    ExitCode::SUCCESS
                }
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            }
        }
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
        Command::Mutants { kernels, batches, first, only } => {
            let mut chosen = Mutant::all();
            chosen.retain(|m| m.rule().starts_with(&only));
            println!("| rule | without it | cases | kernels | programs |\n|---|---|---|---|---|");
            let rows = table(&chosen, Limits { kernels, batches }, first, |line| println!("{line}"));
            if rows.iter().all(Row::is_noticed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Command::Case { files } => {
            let mut code = ExitCode::SUCCESS;
            for file in files {
                let content = std::fs::read_to_string(&file).map_err(|e| e.to_string());
                match content.and_then(|c| proof::cases::check(&file.to_string_lossy(), &c, 8)) {
                    Ok(done) => println!("{}: {done:?}", file.display()),
                    Err(what) => {
                        println!("{}: {what}", file.display());
                        code = ExitCode::FAILURE;
                    }
                }
            }
            code
        }
        Command::Loops { kind, seed, count } => {
            let mut total = proof::cases::Done::default();
            for kind in KINDS.into_iter().filter(|k| k.name == kind) {
                for seed in seed..seed + count {
                    match kind.check(seed, 6) {
                        Ok(done) => total.add(done),
                        Err(what) => {
                            println!("; seed {seed}\n{what}");
                            return ExitCode::FAILURE;
                        }
                    }
                }
            }
            println!("{total:?}");
            ExitCode::SUCCESS
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

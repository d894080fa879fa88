//! Measures looptree on whole programs.
//!
//! `cargo run -p bench --release -- compare` builds every kernel of `bench/kernels` as it is and as looptree changes it, runs
//! the programs interleaved, and prints how the variants compare with `clang-22 -O3 -march=native`. `bench/README.md` has all.

mod compare;
mod corpus;
mod fidelity;
mod figures;
mod memory_graphs;
mod programs;
mod sac;
mod statistics;
mod suite;
mod timing;
mod written;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser, Debug)]
#[command(name = "bench", about = "Measures looptree on whole programs")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Original against the best predicted and the best measured variant, whole runs.
    Compare(compare::Arguments),
    /// Every C or C++ file of a source tree with and without looptree: what is described and changed, why the rest is not,
    /// and what that costs.
    Corpus(corpus::Arguments),
    /// Mean shares of the time of several programs, by reason; each program weighs the same.
    Shares(corpus::shares::Arguments),
    /// What is predicted of many variants of each kernel, beside what is measured.
    Fidelity(fidelity::Arguments),
    /// Speed and memory of transformations, search and legality, beside what is wanted.
    Figures(figures::Arguments),
    /// Fusion for memory space on random graphs, beside what its paper reports.
    MemoryGraphs(memory_graphs::Arguments),
    /// Programs fused and not, over their size, beside what the paper on With-loop fusion reports.
    Sac(sac::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Corpus(arguments) => corpus::run(&arguments),
        Command::Shares(arguments) => corpus::shares::run(&arguments),
        Command::Fidelity(arguments) => fidelity::run(&arguments),
        Command::Figures(arguments) => figures::run(&arguments),
        Command::MemoryGraphs(arguments) => memory_graphs::run(&arguments),
        Command::Sac(arguments) => sac::run(&arguments),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

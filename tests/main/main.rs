//! Tests of the crate and the command from outside, in one binary; `leaks` needs a process of its own.

mod analyses_by_name;
mod bad_input;
mod cli;
mod emit_c;
mod examples;
mod file_tests;
mod kernels;
mod least;
mod library;
mod loopfuse;
mod memory;
mod plugin;
mod regressions;
mod report;
mod search;
mod shared;
mod sizes;
mod sketches;
mod threads;
mod tune;

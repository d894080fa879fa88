//! Tests of the crate from outside, in one binary.

mod brute_force;
mod buffers;
mod common;
mod coverage;
mod examples;
mod fusion_graph;
mod idioms;
mod settings;

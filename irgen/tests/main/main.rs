//! Tests of the crate from outside, in one binary.

mod emit;
mod lift;
mod pluggable;
mod regions;
mod sources;

//! Kernels, candidate comparison and micro-benchmarks.
fn main() {}

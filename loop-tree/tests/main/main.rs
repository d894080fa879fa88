//! Tests of the crate from outside, in one binary.

mod buffers;
mod interp;
mod laws;
mod privates;
mod text;

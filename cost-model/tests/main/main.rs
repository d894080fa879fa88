//! Tests of the crate from outside, in one binary.

mod buffers;
mod calibration;
mod laws;
mod registers;
mod threads;
mod truth;

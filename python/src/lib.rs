//! looptree for Python.
//!
//! *Threads.* All classes are frozen and hold plain data (trees, kernels, dependences), so that any thread may use them, and Python
//! goes on while they work. What cannot cross threads, LLVM contexts and isl objects, never lives in them: contexts last for one
//! call, and each thread has oracles of its own ([`judge`]).
//!
//! *Errors.* A panic is caught and raised as `InternalError`; damaged bitcode is tried in another process first.

mod error;
mod judge;
mod module;
mod results;
mod tree;

use pyo3::prelude::*;

/// The native part of `looptree`.
#[pymodule]
fn _looptree(m: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add_to(m)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<module::Module>()?;
    m.add_class::<module::Region>()?;
    m.add_class::<tree::Tree>()?;
    m.add_class::<results::Verdict>()?;
    m.add_class::<results::Cost>()?;
    m.add_class::<results::Measurement>()?;
    m.add_class::<results::Move>()?;
    m.add_function(wrap_pyfunction!(module::lift, m)?)?;
    m.add_function(wrap_pyfunction!(module::parse, m)?)?;
    m.add_function(wrap_pyfunction!(module::_read_bitcode, m)?)
}

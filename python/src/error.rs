//! Exceptions.

use looptree::driver::{DriverError, ModelError};
use looptree::measure::{MeasureError as Measuring, NotCallable};
use looptree::transforms::{RecipeError as Parsing, ReplayError};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

create_exception!(looptree, Error, PyException, "What looptree cannot do.");
create_exception!(looptree, InputError, Error, "Input that cannot be read, compiled or analysed.");
create_exception!(looptree, RecipeError, Error, "A step that is none, or does not apply.");
create_exception!(looptree, IllegalError, Error, "A variant that would change what is computed.");
create_exception!(
    looptree,
    MeasureError,
    Error,
    "A function that cannot be called, or a variant that computes something else."
);
create_exception!(looptree, InternalError, Error, "A bug in looptree.");

pub fn add_to(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("Error", py.get_type::<Error>())?;
    m.add("InputError", py.get_type::<InputError>())?;
    m.add("RecipeError", py.get_type::<RecipeError>())?;
    m.add("IllegalError", py.get_type::<IllegalError>())?;
    m.add("MeasureError", py.get_type::<MeasureError>())?;
    m.add("InternalError", py.get_type::<InternalError>())
}

/// What becomes an exception.
pub enum Failure {
    Input(String),
    Recipe(String),
    Illegal(String),
    Measure(String),
    Value(String),
}

impl Failure {
    /// An error about a file, which LLVM does not always name.
    pub fn of_file(error: DriverError, file: &str) -> Failure {
        let is_llvm = matches!(error, DriverError::Llvm(_));
        match Failure::from(error) {
            Failure::Input(message) if is_llvm && !message.starts_with(file) => {
                Failure::Input(format!("{file}: {message}"))
            }
            other => other,
        }
    }
}

impl From<DriverError> for Failure {
    fn from(error: DriverError) -> Self {
        let mut message = error.to_string();
        match &error {
            DriverError::Read { source, .. } | DriverError::Run { source, .. } => {
                message += &format!(": {source}")
            }
            _ => {}
        }
        if let Some(help) = error.help() {
            message += &format!("; {help}");
        }
        match error {
            DriverError::Recipe(_) | DriverError::Replay { .. } => Failure::Recipe(message),
            DriverError::Illegal { .. } => Failure::Illegal(message),
            DriverError::Model(_) | DriverError::NoFunction { .. } | DriverError::SeveralFunctions { .. } => {
                Failure::Value(message)
            }
            _ => Failure::Input(message),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Failure::Value(error.to_string())
    }
}

impl From<Parsing> for Failure {
    fn from(error: Parsing) -> Self {
        Failure::Recipe(error.to_string())
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        Failure::Recipe(error.to_string())
    }
}

impl From<Measuring> for Failure {
    fn from(error: Measuring) -> Self {
        Failure::Measure(error.to_string())
    }
}

impl From<NotCallable> for Failure {
    fn from(error: NotCallable) -> Self {
        Failure::Measure(error.to_string())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(message) => InputError::new_err(message),
            Failure::Recipe(message) => RecipeError::new_err(message),
            Failure::Illegal(message) => IllegalError::new_err(message),
            Failure::Measure(message) => MeasureError::new_err(message),
            Failure::Value(message) => PyValueError::new_err(message),
        }
    }
}

/// Works while Python goes on. A panic ends only this.
pub fn work<R: Send>(py: Python<'_>, what: impl FnOnce() -> Result<R, Failure> + Send) -> PyResult<R> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(what)));
    match result {
        Ok(result) => Ok(result?),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
            Err(InternalError::new_err(format!("this is a bug in looptree, please report it: {words}")))
        }
    }
}

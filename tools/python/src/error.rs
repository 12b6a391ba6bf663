//! Errors of the store as exceptions of the package.

use cullet::store::StoreError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The exception that the package raises when the program ends with the exit code of this error.
pub fn exception(py: Python<'_>, error: &StoreError) -> PyErr {
    let class = match error.caused_by_user() {
        true => "BadInput",
        false => "Failed",
    };
    let message = error.to_string();
    let made = py
        .import("cullet._errors")
        .and_then(|module| module.getattr(class)?.call1((message.clone(),)));
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(_) => PyRuntimeError::new_err(message),
    }
}

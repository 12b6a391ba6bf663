//! Reader of the frame store for Python: tables through the C interface of Arrow, surfaces through the array interface
//! of NumPy. The package `cullet` wraps it.

mod error;
mod store;
mod surface;
mod table;

use pyo3::prelude::*;

/// The module `cullet._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::store::NativeStore;
    #[pymodule_export]
    use super::surface::{ArrayView, NativeSurface};
    #[pymodule_export]
    use super::table::NativeTable;
}

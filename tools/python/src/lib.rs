//! Reader of the frame store for Python: tables through the C interface of Arrow, surfaces through the array interface
//! of NumPy. The package `cullet` wraps it.

mod error;
mod store;
mod surface;
mod table;

use pyo3::prelude::*;

/// Keeps memory that one frame no longer needs for the next. That of the system gives it back at once, and to get it
/// again takes half of the time in which a large frame is read.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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

//! A frame store.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use cullet::store::{Manifest, Store, StoreError, SurfaceFrame, batches};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::exception;
use crate::surface::NativeSurface;
use crate::table::{Kind, NativeTable};

/// A frame store that is open for reading.
#[pyclass(frozen, module = "cullet._native")]
pub struct NativeStore {
    store: Arc<Store>,
}

#[pymethods]
impl NativeStore {
    /// Opens the store in a folder.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| Store::open(path));
        let store = Arc::new(opened.map_err(|error| exception(py, &error))?);
        Ok(NativeStore { store })
    }

    /// Contents of store.json, checked, as JSON.
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        let manifest = py.detach(|| Manifest::read(&self.store));
        let manifest = manifest.map_err(|error| exception(py, &error))?;
        serde_json::to_string(&manifest).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Numbers of the files kind/NNNNNN.extension, ascending.
    fn numbers(&self, py: Python<'_>, kind: &str, extension: &str) -> PyResult<Vec<u32>> {
        let numbers = py.detach(|| self.store.numbers(kind, extension));
        numbers.map_err(|error| exception(py, &error))
    }

    /// Number and simulated time of each frame, s.
    fn times(&self, py: Python<'_>) -> PyResult<Vec<(u32, f64)>> {
        let times = py.detach(|| {
            let frames = self.store.frames(&(0..u32::MAX))?;
            let time = |frame: u32| Ok((frame, time_of(&self.store, frame)?));
            frames.into_iter().map(time).collect::<Result<_, _>>()
        });
        times.map_err(|error| exception(py, &error))
    }

    /// A table: of the packing if `frames` is None, else of these frames, one after the other.
    fn table(
        &self,
        kind: &str,
        frames: Option<Vec<u32>>,
        columns: Option<Vec<String>>,
    ) -> PyResult<NativeTable> {
        let Some(kind) = Kind::named(kind) else {
            return Err(PyValueError::new_err(format!("no table {kind:?}")));
        };
        Ok(NativeTable::new(self.store.clone(), kind, frames, columns))
    }

    /// The surfaces of a frame.
    fn surface(&self, py: Python<'_>, frame: u32) -> PyResult<NativeSurface> {
        let surface = py.detach(|| SurfaceFrame::read(&self.store, frame));
        let surface = surface.map_err(|error| exception(py, &error))?;
        Ok(NativeSurface::new(surface))
    }
}

/// Simulated time of a frame: from its short history, or from its elements in a store that has none.
fn time_of(store: &Store, frame: u32) -> Result<f64, StoreError> {
    let history = store.numbered("history", frame, "parquet");
    let path = match history.is_file() {
        true => history,
        false => store.numbered("frames", frame, "parquet"),
    };
    let path = store.checked(path, "simulate")?;
    let (_, batches) = batches::read(&path, Some(&["time".to_owned()]))?;
    let first = batches.first().map(|batch| batch.column(0));
    let first = first.and_then(|column| column.as_primitive_opt::<Float64Type>());
    Ok(first.map_or(f64::NAN, |times| times.value(0)))
}

//! Surfaces of a frame through the array interface of NumPy.

use std::sync::Arc;

use cullet::store::SurfaceFrame;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The surfaces of a frame.
#[pyclass(frozen, module = "cullet._native")]
pub struct NativeSurface {
    surface: Arc<SurfaceFrame>,
}

impl NativeSurface {
    /// Takes the surfaces.
    pub fn new(surface: SurfaceFrame) -> Self {
        let surface = Arc::new(surface);
        NativeSurface { surface }
    }
}

#[pymethods]
impl NativeSurface {
    /// Frame number.
    #[getter]
    fn frame(&self) -> u32 {
        self.surface.frame
    }

    /// Simulated time, s.
    #[getter]
    fn time(&self) -> f64 {
        self.surface.time
    }

    /// Names of the materials of triangles.
    #[getter]
    fn material_names(&self) -> Vec<String> {
        self.surface.material_names.clone()
    }

    /// Of each fragment: body, label, first vertex, vertices, first triangle, triangles.
    fn fragments(&self) -> Vec<(u32, u32, u32, u32, u32, u32)> {
        let pieces = self.surface.pieces.iter();
        let numbers = pieces.map(|piece| {
            (
                piece.body,
                piece.fragment,
                piece.first_vertex,
                piece.vertices,
                piece.first_triangle,
                piece.triangles,
            )
        });
        numbers.collect()
    }

    /// An array of the surfaces by its name, without a copy.
    fn array(&self, name: &str) -> PyResult<ArrayView> {
        let s = &self.surface;
        let (shape, kind, address) = match name {
            "positions" => vectors(&s.positions),
            "normals" => vectors(&s.normals),
            "velocities" => vectors(&s.velocities),
            "rest_positions" => vectors(&s.rest_positions),
            "stress" => (vec![s.stress.len()], "<f4", s.stress.as_ptr() as usize),
            "uv" => (vec![s.uv.len(), 3, 2], "<f4", s.uv.as_ptr() as usize),
            "colours" => (
                vec![s.colours.len(), 3, 3],
                "<f4",
                s.colours.as_ptr() as usize,
            ),
            "materials" => (
                vec![s.materials.len()],
                "<u4",
                s.materials.as_ptr() as usize,
            ),
            "triangles" => (
                vec![s.triangles.len(), 3],
                "<u4",
                s.triangles.as_ptr() as usize,
            ),
            "inside" => (vec![s.inside.len()], "|b1", s.inside.as_ptr() as usize),
            _ => return Err(PyValueError::new_err(format!("no array {name:?}"))),
        };
        Ok(ArrayView {
            _owner: s.clone(),
            shape,
            kind,
            address,
        })
    }
}

fn vectors(values: &[[f32; 3]]) -> (Vec<usize>, &'static str, usize) {
    (vec![values.len(), 3], "<f4", values.as_ptr() as usize)
}

/// A read-only array that NumPy uses where it is.
#[pyclass(frozen, module = "cullet._native")]
pub struct ArrayView {
    /// Keeps the memory at `address` for as long as an array refers to it.
    _owner: Arc<SurfaceFrame>,
    shape: Vec<usize>,
    kind: &'static str,
    address: usize,
}

#[pymethods]
impl ArrayView {
    /// Shape, type and place of the numbers.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        let shape = pyo3::types::PyTuple::new(py, &self.shape)?;
        interface.set_item("shape", shape)?;
        interface.set_item("typestr", self.kind)?;
        interface.set_item("data", (self.address, true))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

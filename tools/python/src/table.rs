//! Tables through the C interface of Arrow (the PyCapsule protocol).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use cullet::columns::{
    Bonds, Breaks, Cells, Column, Convergence, Elements, Faces, Fragments, Frames, History, Loads,
    Sleep, Stress, Table,
};
use cullet::store::{Store, StoreError, batches, parquet, writer_of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::exception;

/// A table of the store, as the library declares it.
pub struct Kind {
    /// Its file without extension, or the folder of its numbered files.
    place: &'static str,
    columns: fn() -> Vec<Column>,
}

const KINDS: [Kind; 12] = [
    kind::<Elements>("packing/elements"),
    kind::<Bonds>("packing/bonds"),
    kind::<Cells>("packing/cells"),
    kind::<Faces>("packing/faces"),
    kind::<Frames>("frames"),
    kind::<Breaks>("breaks"),
    kind::<Fragments>("fragments"),
    kind::<History>("history"),
    kind::<Loads>("loads"),
    kind::<Convergence>("convergence"),
    kind::<Sleep>("sleep"),
    kind::<Stress>("stress"),
];

const fn kind<T: Table>(place: &'static str) -> Kind {
    let columns = T::columns;
    Kind { place, columns }
}

impl Kind {
    /// The table in this file or folder of the store.
    pub fn named(place: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.place == place)
    }
}

/// Some columns of a table, of some frames. Nothing is read before it is asked for.
#[pyclass(frozen, module = "cullet._native")]
pub struct NativeTable {
    source: Arc<Source>,
}

/// The files of a table, and the columns that are wanted.
struct Source {
    store: Arc<Store>,
    kind: &'static Kind,
    files: Vec<PathBuf>,
    columns: Option<Vec<String>>,
}

impl NativeTable {
    /// A table of these frames, or of the packing.
    pub fn new(
        store: Arc<Store>,
        kind: &'static Kind,
        frames: Option<Vec<u32>>,
        columns: Option<Vec<String>>,
    ) -> Self {
        let files = match frames {
            None => vec![store.path(format!("{}.parquet", kind.place))],
            Some(frames) => {
                let path = |frame| store.numbered(kind.place, frame, "parquet");
                frames.into_iter().map(path).collect()
            }
        };
        let source = Arc::new(Source {
            store,
            kind,
            files,
            columns,
        });
        NativeTable { source }
    }
}

#[pymethods]
impl NativeTable {
    /// Number of rows, from the metadata of the files.
    fn rows(&self, py: Python<'_>) -> PyResult<usize> {
        let rows = py.detach(|| self.source.rows());
        rows.map_err(|error| exception(py, &error))
    }

    /// Name, type, unit and meaning of each column.
    fn describe(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String, String)>> {
        let schema = py.detach(|| self.source.schema());
        let schema = schema.map_err(|error| exception(py, &error))?;
        let field = |field: &Arc<Field>| {
            let words = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            let data_type = field.data_type().to_string();
            (
                field.name().clone(),
                data_type,
                words("unit"),
                words("description"),
            )
        };
        Ok(schema.fields().iter().map(field).collect())
    }

    /// The schema as a capsule `arrow_schema`.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = py.detach(|| self.source.schema());
        let schema = schema.map_err(|error| exception(py, &error))?;
        let schema = FFI_ArrowSchema::try_from(schema.as_ref())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows as a capsule `arrow_array_stream`. The first file is read at once, so that its errors are exceptions of
    /// the package; each other file when the stream comes to it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol allows a producer to ignore the schema that the consumer would prefer.
        drop(requested_schema);
        let stream = py.detach(|| Stream::begin(self.source.clone()));
        let stream = stream.map_err(|error| exception(py, &error))?;
        let stream = FFI_ArrowArrayStream::new(Box::new(stream));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

impl Source {
    fn checked(&self, path: &Path) -> Result<PathBuf, StoreError> {
        let folder = self.kind.place.split('/').next().unwrap_or_default();
        self.store.checked(path.to_owned(), writer_of(folder))
    }

    fn rows(&self) -> Result<usize, StoreError> {
        let rows = |path: &PathBuf| parquet::rows(&self.checked(path)?);
        self.files.iter().map(rows).sum()
    }

    /// Schema of the first file; of no file, the columns that are declared.
    fn schema(&self) -> Result<SchemaRef, StoreError> {
        match self.files.first() {
            Some(path) => {
                let schema = batches::schema(&self.checked(path)?, self.columns.as_deref())?;
                Ok(self.annotated(&schema))
            }
            None => self.declared(),
        }
    }

    fn declared(&self) -> Result<SchemaRef, StoreError> {
        let columns = (self.kind.columns)();
        let field = |column: &Column| Field::new(column.name, column.data_type.clone(), false);
        let fields: Vec<Field> = match &self.columns {
            None => columns.iter().map(field).collect(),
            Some(wanted) => {
                let named = |name: &String| {
                    let known = columns.iter().find(|column| column.name == name);
                    known.map(field).ok_or_else(|| StoreError::Invalid {
                        path: self.store.path(self.kind.place),
                        what: format!("column {name}: there is no such column"),
                    })
                };
                wanted.iter().map(named).collect::<Result<_, _>>()?
            }
        };
        Ok(self.annotated(&Schema::new(fields)))
    }

    /// The schema with unit and meaning of each column.
    fn annotated(&self, schema: &Schema) -> SchemaRef {
        let columns = (self.kind.columns)();
        let field = |field: &Arc<Field>| {
            let known = columns.iter().find(|column| column.name == field.name());
            let Some(known) = known else {
                return field.as_ref().clone();
            };
            let metadata = HashMap::from([
                ("unit".to_owned(), known.unit.to_owned()),
                ("description".to_owned(), known.doc.to_owned()),
            ]);
            field.as_ref().clone().with_metadata(metadata)
        };
        let fields: Vec<Field> = schema.fields().iter().map(field).collect();
        Arc::new(Schema::new(fields))
    }
}

/// The rows of the files of a table, file by file.
struct Stream {
    source: Arc<Source>,
    schema: SchemaRef,
    /// Batches of the current file, the next one last.
    batches: Vec<RecordBatch>,
    /// Number of the file that is read next.
    next: usize,
}

impl Stream {
    fn begin(source: Arc<Source>) -> Result<Self, StoreError> {
        let mut stream = Stream {
            schema: Arc::new(Schema::empty()),
            source,
            batches: Vec::new(),
            next: 0,
        };
        if let Some(path) = stream.source.files.first() {
            let path = stream.source.checked(path)?;
            let (schema, batches) = batches::read(&path, stream.source.columns.as_deref())?;
            stream.schema = stream.source.annotated(&schema);
            stream.load(batches);
        } else {
            stream.schema = stream.source.declared()?;
        }
        Ok(stream)
    }

    fn load(&mut self, batches: Vec<RecordBatch>) {
        self.batches = batches;
        self.batches.reverse();
        self.next += 1;
    }

    /// Reads the next file with the columns of the first.
    fn advance(&mut self) -> Result<(), StoreError> {
        let path = self.source.checked(&self.source.files[self.next])?;
        let names = self.schema.fields().iter();
        let names: Vec<String> = names.map(|field| field.name().clone()).collect();
        let (_, batches) = batches::read(&path, Some(&names))?;
        self.load(batches);
        Ok(())
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.batches.is_empty() {
            if self.next >= self.source.files.len() {
                return None;
            }
            if let Err(error) = self.advance() {
                self.next = usize::MAX;
                return Some(Err(ArrowError::from_external_error(Box::new(error))));
            }
        }
        let batch = self.batches.pop()?;
        Some(RecordBatch::try_new(
            self.schema.clone(),
            batch.columns().to_vec(),
        ))
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

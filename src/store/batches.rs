//! Tables as Arrow record batches, for readers outside of this crate.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};

use super::encode::LEFT_OUT_KEY;
use super::error::{Result, StoreError};
use super::parquet::{self, ROWS_PER_PART};
use super::parquet_limits;
use crate::parallel::prelude::*;

/// Schema of these columns of a Parquet file, in this order; without `columns`, of all of them. A column that the file
/// lacks is an error.
pub fn schema(path: &Path, columns: Option<&[String]>) -> Result<SchemaRef> {
    chosen(path, &parquet::open(path)?, columns)
}

/// Reads these columns of a Parquet file, in this order; without `columns`, all of them. Each column is decoded by a
/// thread of its own.
pub fn read(path: &Path, columns: Option<&[String]>) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let builder = parquet::open(path)?;
    let schema = chosen(path, &builder, columns)?;
    let damaged = |what: &dyn std::fmt::Display| StoreError::damaged(path, what);
    let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    let mut file = File::open(path).map_err(StoreError::io(path))?;
    parquet_limits::check_pages(&mut file, builder.metadata(), |name| {
        names.iter().any(|wanted| *wanted == name)
    })
    .map_err(|what| damaged(&what))?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::try_new(builder.metadata().clone(), options)
        .map_err(|error| damaged(&error))?;
    let decoded = names
        .par_iter()
        .map(|name| decode(path, metadata.clone(), name));
    let decoded: Result<Vec<Vec<ArrayRef>>> = decoded.collect();
    let decoded = decoded?;
    let parts = decoded.first().map_or(0, Vec::len);
    if decoded.iter().any(|column| column.len() != parts) {
        return Err(damaged(&"its columns differ in length"));
    }
    let batch = |part: usize| {
        let arrays = decoded.iter().map(|column| column[part].clone()).collect();
        RecordBatch::try_new(schema.clone(), arrays).map_err(|error| damaged(&error))
    };
    let batches: Result<Vec<_>> = (0..parts).map(batch).collect();
    Ok((schema.clone(), batches?))
}

/// One column in parts of at most [`ROWS_PER_PART`] rows.
fn decode(path: &Path, metadata: ArrowReaderMetadata, name: &str) -> Result<Vec<ArrayRef>> {
    let damaged = |error: &dyn std::fmt::Display| StoreError::damaged(path, error);
    let file = File::open(path).map_err(StoreError::io(path))?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let columns = builder.parquet_schema();
    let roots = columns.root_schema().get_fields().iter().enumerate();
    let roots = roots.filter(|(_, field)| field.name() == name);
    let mask = ProjectionMask::roots(columns, roots.map(|(at, _)| at));
    let reader = builder.with_projection(mask).with_batch_size(ROWS_PER_PART);
    let batches = reader.build().map_err(|error| damaged(&error))?;
    let arrays = batches.map(|batch| match batch {
        Ok(batch) => Ok(batch.column(0).clone()),
        Err(error) => Err(damaged(&error)),
    });
    arrays.collect()
}

fn chosen(
    path: &Path,
    builder: &ParquetRecordBatchReaderBuilder<File>,
    columns: Option<&[String]>,
) -> Result<SchemaRef> {
    let all = builder.schema().fields();
    let Some(columns) = columns else {
        return Ok(Arc::new(Schema::new(all.clone())));
    };
    let field = |name: &String| match all.find(name) {
        Some((_, field)) => Ok(field.clone()),
        None => Err(missing(path, builder, name)),
    };
    let fields: Result<Vec<_>> = columns.iter().map(field).collect();
    Ok(Arc::new(Schema::new(fields?)))
}

fn missing(
    path: &Path,
    builder: &ParquetRecordBatchReaderBuilder<File>,
    column: &str,
) -> StoreError {
    let metadata = builder.metadata().file_metadata().key_value_metadata();
    let left_out = parquet::value(metadata, LEFT_OUT_KEY);
    parquet::deliberately_left_out(path, column, left_out).unwrap_or_else(|| {
        let fields = builder.schema().fields().iter();
        let names: Vec<&str> = fields.map(|field| &field.name()[..]).collect();
        let what = format!("has no column {column:?}; there are {}", names.join(", "));
        StoreError::invalid(path, what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Loads;
    use crate::store::Store;

    fn loads(rows: u32) -> Loads {
        let zeros = || vec![0.0; rows as usize];
        Loads {
            frame: vec![1; rows as usize],
            time: zeros(),
            kind: vec![crate::columns::LoadKind::Collider; rows as usize],
            index: (0..rows).collect(),
            name: (0..rows).map(|k| format!("floor {k}")).collect(),
            fx: (0..rows).map(f64::from).collect(),
            fy: zeros(),
            fz: zeros(),
            tx: zeros(),
            ty: zeros(),
            tz: zeros(),
            x: zeros(),
            y: zeros(),
            z: zeros(),
            dx: zeros(),
            dy: zeros(),
            dz: zeros(),
            angle: zeros(),
            contacts: vec![0; rows as usize],
        }
    }

    #[test]
    fn columns_come_in_the_order_asked_for_and_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let rows = ROWS_PER_PART as u32 + 3;
        store.write_numbered("loads", 1, &loads(rows)).unwrap();
        let path = store.numbered("loads", 1, "parquet");
        let wanted = ["name".to_owned(), "fx".to_owned()];
        let (schema, batches) = read(&path, Some(&wanted)).unwrap();
        let names: Vec<_> = schema.fields().iter().map(|field| field.name()).collect();
        assert_eq!(names, ["name", "fx"]);
        let lengths: Vec<_> = batches.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(lengths, [ROWS_PER_PART, 3]);
        let last = arrow_array::cast::as_primitive_array::<arrow_array::types::Float64Type>(
            batches[1].column(1),
        );
        assert_eq!(last.value(2), f64::from(rows - 1));
        assert_eq!(read(&path, None).unwrap().0.fields().len(), 19);
    }

    #[test]
    fn a_missing_column_is_named_with_those_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        store.write_numbered("loads", 1, &loads(1)).unwrap();
        let path = store.numbered("loads", 1, "parquet");
        let message = schema(&path, Some(&["force".to_owned()])).unwrap_err();
        assert!(
            message
                .to_string()
                .contains("has no column \"force\"; there are frame, time, kind, index, name, fx,"),
            "{message}"
        );
    }
}

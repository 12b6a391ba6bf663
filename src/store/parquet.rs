//! Tables as Parquet: byte-stream-split floats with zstd, which halves noise-like columns at little cost;
//! dictionaries only where values repeat (labels and names).

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::ColumnPath;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};

use super::manifest::SCHEMA_VERSION;
use super::{Result, StoreError, atomic};
use crate::columns::{Column, Table};

/// Key of the schema version in a file's metadata.
pub const VERSION_KEY: &str = "cullet.schema_version";

/// Rows per row group: small enough to stream, large enough to compress.
const ROWS_PER_GROUP: usize = 1 << 20;

/// Writes a table, whole or not at all.
pub fn write<T: Table>(path: &Path, table: &T) -> Result<()> {
    let columns = T::columns();
    let schema = Arc::new(schema(&columns));
    let batch = RecordBatch::try_new(schema.clone(), table.to_arrays())
        .map_err(|error| StoreError::damaged(path, error))?;
    atomic::write(path, |writer| {
        let mut encoder = ArrowWriter::try_new(writer, schema, Some(properties(&columns)))?;
        encoder.write(&batch)?;
        encoder.close()?;
        Ok(())
    })
}

/// Rows of a table, without reading them.
pub fn rows(path: &Path) -> Result<usize> {
    let metadata = open(path)?.metadata().file_metadata().num_rows();
    usize::try_from(metadata).map_err(|error| StoreError::damaged(path, error))
}

/// Reads a table by column name; columns that it does not know are ignored, missing ones named.
pub fn read<T: Table>(path: &Path) -> Result<T> {
    let mut table = T::default();
    for batch in open(path)?
        .with_batch_size(ROWS_PER_GROUP)
        .build()
        .map_err(broken(path))?
    {
        append(&mut table, path, &batch.map_err(broken(path))?)?;
    }
    Ok(table)
}

/// Rows of a part.
const ROWS_PER_PART: usize = 1 << 16;

/// Reads a table part by part, in order, so that it never stands in memory as a whole.
pub fn read_parts<T: Table>(path: &Path, part: &mut dyn FnMut(&T)) -> Result<()> {
    for batch in open(path)?
        .with_batch_size(ROWS_PER_PART)
        .build()
        .map_err(broken(path))?
    {
        let mut table = T::default();
        append(&mut table, path, &batch.map_err(broken(path))?)?;
        part(&table);
    }
    Ok(())
}

fn broken<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> StoreError {
    move |error| StoreError::damaged(path, error)
}

fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let damaged = |what: String| StoreError::damaged(path, what);
    let file = File::open(path).map_err(StoreError::io(path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| damaged(format!("not a readable Parquet file: {error}")))?;
    check_version(builder.metadata().file_metadata().key_value_metadata()).map_err(damaged)?;
    Ok(builder)
}

fn append<T: Table>(table: &mut T, path: &Path, batch: &RecordBatch) -> Result<()> {
    let damaged = |what: String| StoreError::damaged(path, what);
    for (at, column) in T::columns().iter().enumerate() {
        let array = batch.column_by_name(column.name).ok_or_else(|| {
            damaged(format!(
                "column {} ({}, {}) is missing: {}",
                column.name, column.data_type, column.unit, column.doc
            ))
        })?;
        table
            .append(at, array.as_ref())
            .map_err(|what| damaged(format!("column {} {what}", column.name)))?;
    }
    Ok(())
}

fn check_version(metadata: Option<&Vec<KeyValue>>) -> std::result::Result<(), String> {
    let version = metadata
        .into_iter()
        .flatten()
        .find(|entry| entry.key == VERSION_KEY)
        .and_then(|entry| entry.value.as_deref());
    match version {
        // Files of other programs may leave the version out.
        None => Ok(()),
        Some(text) if text == SCHEMA_VERSION.to_string() => Ok(()),
        Some(text) => Err(format!(
            "schema version {text}; this program reads version {SCHEMA_VERSION}"
        )),
    }
}

fn schema(columns: &[Column]) -> Schema {
    let fields: Vec<Field> = columns
        .iter()
        .map(|column| {
            Field::new(column.name, column.data_type.clone(), false).with_metadata(HashMap::from([
                ("unit".to_owned(), column.unit.to_owned()),
                ("description".to_owned(), column.doc.to_owned()),
            ]))
        })
        .collect();
    Schema::new(fields)
}

fn properties(columns: &[Column]) -> WriterProperties {
    let units: serde_json::Map<String, serde_json::Value> = columns
        .iter()
        .map(|column| (column.name.to_owned(), column.unit.into()))
        .collect();
    let mut builder = WriterProperties::builder()
        .set_created_by("cullet".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_key_value_metadata(Some(vec![
            KeyValue::new(VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string()),
            KeyValue::new(
                "cullet.units".to_owned(),
                serde_json::Value::Object(units).to_string(),
            ),
        ]));
    for column in columns {
        let path = ColumnPath::from(column.name);
        builder = match (&column.data_type, column.name) {
            (DataType::Float32 | DataType::Float64, _) => {
                builder.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT)
            }
            // Labels and names repeat; ids and steps grow.
            (DataType::Utf8, _) | (_, "frame" | "fragment" | "body" | "material") => {
                builder.set_column_dictionary_enabled(path, true)
            }
            _ => builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        };
    }
    builder.build()
}

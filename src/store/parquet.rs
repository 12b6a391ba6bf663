//! Tables in Parquet files: writes whole files, reads and checks columns.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use ::parquet::basic::Compression as Codec;
use ::parquet::file::metadata::{KeyValue, ParquetMetaData};
use arrow_array::{
    Array, ArrayRef, Float32Array, Float64Array, RecordBatch, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;

use super::encode::{LEFT_OUT_KEY, VERSION_KEY, encode};
use super::error::{Result, StoreError};
use super::format::TableFormat;
use super::rules::SchemaFaults;
use super::version::{self, SCHEMA_VERSION};
use super::{atomic, parquet_limits};
use crate::columns::{Column, Table};

/// Writes a table, atomically.
pub fn write<T: Table>(path: &Path, table: &T) -> Result<()> {
    atomic::write(path, |writer| {
        Ok(encode(writer, table, &TableFormat::default())?)
    })
}

/// Writes a table in this format, atomically. The file's name is durable only after its
/// [folder is synced](atomic::sync_folder).
pub fn write_unsynced<T: Table>(path: &Path, table: &T, format: &TableFormat) -> Result<()> {
    atomic::write_unsynced(path, |writer| Ok(encode(writer, table, format)?))
}

/// Number of rows of a table, from the metadata alone.
pub fn rows(path: &Path) -> Result<usize> {
    let rows = open(path)?.metadata().file_metadata().num_rows();
    usize::try_from(rows).map_err(|error| StoreError::damaged(path, error))
}

/// Names of a file's columns.
pub fn column_names(path: &Path) -> Result<Vec<String>> {
    let builder = open(path)?;
    let fields = builder.schema().fields().iter();
    Ok(fields.map(|field| field.name().clone()).collect())
}

/// Reads a table by column name. Unknown columns are ignored; a missing one is an error that names it.
pub fn read<T: Table>(path: &Path) -> Result<T> {
    read_needed(path, |_| true)
}

/// Reads a table of which only some columns are `needed`. Other numeric columns read as zeros if they are missing.
pub fn read_needed<T: Table>(path: &Path, needed: impl Fn(&str) -> bool) -> Result<T> {
    let mut table = T::default();
    batches(
        open(path)?,
        path,
        &names::<T>(),
        &mut |first, batch, left_out| append(&mut table, path, first, batch, &needed, left_out),
    )?;
    Ok(table)
}

/// Reads these columns of a table. All others stay empty, and so do optional columns that are missing.
pub fn read_columns<T: Table>(path: &Path, wanted: &[&str]) -> Result<T> {
    let mut table = T::default();
    batches(open(path)?, path, wanted, &mut |first, batch, left_out| {
        let columns = T::columns();
        let columns = columns.iter().enumerate();
        for (at, column) in columns.filter(|(_, column)| wanted.contains(&column.name)) {
            match batch.column_by_name(column.name) {
                Some(array) => append_one(&mut table, path, first, (at, column), array.as_ref())?,
                None if column.optional => {}
                None => return Err(missing(path, column, left_out)),
            }
        }
        Ok(())
    })?;
    Ok(table)
}

/// Reads all columns of a table; optional columns that are missing stay empty.
pub fn read_present<T: Table>(path: &Path) -> Result<T> {
    read_columns(path, &names::<T>())
}

/// Names of all columns of a table.
pub(super) fn names<T: Table>() -> Vec<&'static str> {
    T::columns().iter().map(|column| column.name).collect()
}

/// Rows read at a time. The reader allocates memory for these alone, whatever number of rows the file claims.
pub(super) const ROWS_PER_PART: usize = 1 << 16;

/// Reads a table part by part, in order, so that it is never in memory as a whole.
pub fn read_parts<T: Table>(path: &Path, part: &mut dyn FnMut(&T)) -> Result<()> {
    batches(
        open(path)?,
        path,
        &names::<T>(),
        &mut |first, batch, left_out| {
            let mut table = T::default();
            append(&mut table, path, first, batch, |_| true, left_out)?;
            part(&table);
            Ok(())
        },
    )
}

/// Whether the metadata of a file list columns that were deliberately left out.
pub(super) fn lists_left_out_columns(path: &Path) -> bool {
    open(path).is_ok_and(|builder| {
        let metadata = builder.metadata().file_metadata().key_value_metadata();
        value(metadata, LEFT_OUT_KEY).is_some()
    })
}

/// Opens a file. Columns get the types of Parquet itself, whatever Arrow types the writer used: strings are strings,
/// whether they were large strings, views or dictionary entries.
pub(super) fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let invalid = |what: String| StoreError::invalid(path, what);
    let mut file = File::open(path).map_err(StoreError::io(path))?;
    parquet_limits::check_footer(&mut file)
        .map_err(|what| invalid(format!("not a readable Parquet file: {what}")))?;
    let size = file.metadata().map_err(StoreError::io(path))?.len();
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(|error| invalid(format!("not a readable Parquet file: {error}")))?;
    check_version(builder.metadata().file_metadata().key_value_metadata()).map_err(invalid)?;
    check_codecs(builder.metadata()).map_err(invalid)?;
    parquet_limits::check_rows(builder.metadata(), size)
        .map_err(|what| StoreError::damaged(path, what))?;
    Ok(builder)
}

/// Receives a batch of rows: the number of its first row, the batch, and the JSON metadata about columns that were left
/// out, if any were.
pub(super) type BatchSink<'a> = dyn FnMut(usize, &RecordBatch, Option<&str>) -> Result<()> + 'a;

/// Passes the rows of those `wanted` columns that exist to `take`, batch by batch.
pub(super) fn batches(
    builder: ParquetRecordBatchReaderBuilder<File>,
    path: &Path,
    wanted: &[&str],
    take: &mut BatchSink,
) -> Result<()> {
    let damaged = |error: &dyn std::fmt::Display| StoreError::damaged(path, error);
    let metadata = builder.metadata().file_metadata().key_value_metadata();
    let left_out = value(metadata, LEFT_OUT_KEY).map(str::to_owned);
    let mut file = File::open(path).map_err(StoreError::io(path))?;
    parquet_limits::check_pages(&mut file, builder.metadata(), |name| wanted.contains(&name))
        .map_err(|what| damaged(&what))?;
    let schema = builder.parquet_schema();
    let roots = schema.root_schema().get_fields().iter().enumerate();
    let roots = roots.filter(|(_, field)| wanted.contains(&field.name()));
    let mask = ProjectionMask::roots(schema, roots.map(|(at, _)| at));
    let builder = builder.with_projection(mask);
    let reader = builder.with_batch_size(ROWS_PER_PART).build();
    let mut first = 0;
    for batch in reader.map_err(|error| damaged(&error))? {
        let batch = batch.map_err(|error| damaged(&error))?;
        take(first, &batch, left_out.as_deref())?;
        first += batch.num_rows();
    }
    Ok(())
}

fn append<T: Table>(
    table: &mut T,
    path: &Path,
    first: usize,
    batch: &RecordBatch,
    needed: impl Fn(&str) -> bool,
    left_out: Option<&str>,
) -> Result<()> {
    for (at, column) in T::columns().iter().enumerate() {
        let array = match batch.column_by_name(column.name) {
            Some(array) => array.clone(),
            None => Some(column)
                .filter(|column| !needed(column.name))
                .and_then(|column| zeros(&column.data_type, batch.num_rows()))
                .ok_or_else(|| missing(path, column, left_out))?,
        };
        append_one(table, path, first, (at, column), array.as_ref())?;
    }
    Ok(())
}

/// Appends a batch of one column, whose first row is row number `first`.
fn append_one<T: Table>(
    table: &mut T,
    path: &Path,
    first: usize,
    (at, column): (usize, &Column),
    array: &dyn Array,
) -> Result<()> {
    let mut faults = SchemaFaults::first_only();
    table.append(at, array, &mut |row, what| {
        faults.add(column.name, row.map(|row| first + row), what);
    });
    faults.into_result(path)
}

fn zeros(data_type: &DataType, rows: usize) -> Option<ArrayRef> {
    Some(match data_type {
        DataType::Float32 => Arc::new(Float32Array::from(vec![0.0; rows])),
        DataType::Float64 => Arc::new(Float64Array::from(vec![0.0; rows])),
        DataType::UInt32 => Arc::new(UInt32Array::from(vec![0; rows])),
        DataType::UInt64 => Arc::new(UInt64Array::from(vec![0; rows])),
        _ => return None,
    })
}

fn missing(path: &Path, column: &Column, left_out: Option<&str>) -> StoreError {
    deliberately_left_out(path, column.name, left_out).unwrap_or_else(|| {
        let what = format!("column {}: {}", column.name, missing_column(column));
        StoreError::invalid(path, what)
    })
}

/// Error for a column that the metadata of a file, `left_out`, list as left out.
pub(super) fn deliberately_left_out(
    path: &Path,
    column: &str,
    left_out: Option<&str>,
) -> Option<StoreError> {
    let words: serde_json::Value = serde_json::from_str(left_out?).ok()?;
    Some(StoreError::LeftOut {
        path: path.to_owned(),
        column: column.to_owned(),
        word: words[column].as_str()?.to_owned(),
    })
}

/// Message for a missing column.
pub(super) fn missing_column(column: &Column) -> String {
    let Column {
        data_type,
        unit,
        doc,
        ..
    } = column;
    format!("missing; {data_type}, unit {unit}: {doc}")
}

pub(super) fn value<'a>(metadata: Option<&'a Vec<KeyValue>>, key: &str) -> Option<&'a str> {
    let mut entries = metadata.into_iter().flatten();
    entries
        .find(|entry| entry.key == key)
        .and_then(|entry| entry.value.as_deref())
}

fn check_version(metadata: Option<&Vec<KeyValue>>) -> std::result::Result<(), String> {
    match value(metadata, VERSION_KEY) {
        // Files of other programs may lack the version.
        None => Ok(()),
        Some(text) if text == SCHEMA_VERSION.to_string() => Ok(()),
        Some(text) => Err(version::unread(text, None)),
    }
}

/// Refuses a file compressed by a codec that is not built in, before any page is read.
fn check_codecs(metadata: &ParquetMetaData) -> std::result::Result<(), String> {
    let groups = metadata.row_groups().iter();
    for column in groups.flat_map(|group| group.columns()) {
        let codec = column.compression();
        // Brotli would take longer to compile than all others together, and no writer uses it by default.
        let known = match codec {
            Codec::UNCOMPRESSED | Codec::SNAPPY | Codec::GZIP(_) => true,
            Codec::ZSTD(_) | Codec::LZ4 | Codec::LZ4_RAW => true,
            Codec::BROTLI(_) | Codec::LZO => false,
        };
        if !known {
            let name = codec.to_string();
            let name = name.split('(').next().unwrap_or_default();
            return Err(format!(
                "column {} is compressed with {name}, which is not read here; write it with zstd, snappy, gzip, lz4 or none",
                column.column_path().string()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Frames;
    use crate::columns::fixture::noisy_frames;
    use crate::spec::{Compression, FrameGroup, Output, PrecisionBits};
    use crate::store::format::round_mantissa;

    fn written(format: &TableFormat, threads: usize, table: &Frames) -> Vec<u8> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let mut bytes = Vec::new();
        pool.expect("threads")
            .install(|| encode(&mut bytes, table, format))
            .expect("encodes");
        bytes
    }

    #[test]
    fn what_is_written_is_read_whatever_the_threads() {
        let table = noisy_frames(0..300_000);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("frame.parquet");
        for compression in [Compression::Zstd, Compression::None] {
            let format = TableFormat {
                compression,
                ..TableFormat::default()
            };
            write_unsynced(&path, &table, &format).expect("written");
            assert!(
                read::<Frames>(&path).expect("read") == table,
                "{compression:?}"
            );
            let bytes = std::fs::read(&path).expect("there");
            for threads in [1, 3] {
                assert!(
                    written(&format, threads, &table) == bytes,
                    "{threads} threads"
                );
            }
        }
    }

    #[test]
    fn columns_left_out_and_rounded_are_told() {
        let table = noisy_frames(0..1000);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("frame.parquet");
        let format = TableFormat::of_frames(&Output {
            columns: vec![FrameGroup::Position, FrameGroup::Velocity],
            precision_bits: PrecisionBits {
                velocity: Some(6),
                ..PrecisionBits::default()
            },
            ..Output::default()
        });
        write_unsynced(&path, &table, &format).expect("written");
        let found: Frames = read_needed(&path, |name| name == "x").expect("x is there");
        let rounded: Vec<f32> = table.vx.iter().map(|v| round_mantissa(*v, 6)).collect();
        assert_eq!((&found.x, &found.id), (&table.x, &table.id));
        assert_eq!((&found.vx, &found.sigma), (&rounded, &vec![0.0; 1000]));
        assert_ne!(found.vx, table.vx);
        let error = read::<Frames>(&path).expect_err("not whole").to_string();
        assert!(
            error.contains("column qx") && error.contains("add \"rotation\" to output.columns"),
            "{error}"
        );
        let file = File::open(&path).expect("there");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
        let metadata = reader.metadata().file_metadata().key_value_metadata();
        assert_eq!(
            value(metadata, "cullet.precision_bits"),
            Some("{\"vx\":6,\"vy\":6,\"vz\":6}")
        );
        let field = reader.schema().field_with_name("vy").expect("vy");
        assert_eq!(field.metadata()["precision_bits"], "6");
    }
}

//! Tables in Parquet files: whole files out, checked columns in.

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
use super::format::Format;
use super::rules::Faults;
use super::version::SCHEMA_VERSION;
use super::{atomic, promises};
use crate::columns::{Column, Table};

/// Writes a table, whole or not at all.
pub fn write<T: Table>(path: &Path, table: &T) -> Result<()> {
    atomic::write(path, |writer| {
        Ok(encode(writer, table, &Format::default())?)
    })
}

/// Writes a table in this format, whole or not at all; its name lasts once its [folder is synced](atomic::sync_folder).
pub fn write_unlisted<T: Table>(path: &Path, table: &T, format: &Format) -> Result<()> {
    atomic::write_unlisted(path, |writer| Ok(encode(writer, table, format)?))
}

/// Rows of a table, without reading them.
pub fn rows(path: &Path) -> Result<usize> {
    let metadata = open(path)?.metadata().file_metadata().num_rows();
    usize::try_from(metadata).map_err(|error| StoreError::damaged(path, error))
}

/// Names of a file's columns.
pub fn column_names(path: &Path) -> Result<Vec<String>> {
    let builder = open(path)?;
    let fields = builder.schema().fields().iter();
    Ok(fields.map(|field| field.name().clone()).collect())
}

/// Reads a table by column name; columns that it does not know are ignored, missing ones named.
pub fn read<T: Table>(path: &Path) -> Result<T> {
    read_needed(path, |_| true)
}

/// Reads a table of which only some columns are `needed`; of the others, a missing one of numbers reads as zeros.
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

/// Reads these columns of a table; all others stay empty, as those do that are optional and not there.
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

/// Reads the columns of a table that are there; those that are optional may not be.
pub fn read_present<T: Table>(path: &Path) -> Result<T> {
    read_columns(path, &names::<T>())
}

/// Names of all columns of a table.
pub(super) fn names<T: Table>() -> Vec<&'static str> {
    T::columns().iter().map(|column| column.name).collect()
}

/// Rows read at a time. The reader makes room for them, and for no more, whatever the file says that it has.
const ROWS_PER_PART: usize = 1 << 16;

/// Reads a table part by part, in order, so that it never stands in memory as a whole.
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

/// Whether a file tells that columns were left out of it by choice.
pub(super) fn tells_left_out(path: &Path) -> bool {
    open(path).is_ok_and(|builder| {
        let told = builder.metadata().file_metadata().key_value_metadata();
        value(told, LEFT_OUT_KEY).is_some()
    })
}

/// Opens a file. Its columns have the types of Parquet itself, whatever Arrow type the writer had in memory:
/// words are words, whether they were large, views or in a dictionary.
pub(super) fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let invalid = |what: String| StoreError::invalid(path, what);
    let mut file = File::open(path).map_err(StoreError::io(path))?;
    promises::check_footer(&mut file)
        .map_err(|what| invalid(format!("not a readable Parquet file: {what}")))?;
    let size = file.metadata().map_err(StoreError::io(path))?.len();
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(|error| invalid(format!("not a readable Parquet file: {error}")))?;
    check_version(builder.metadata().file_metadata().key_value_metadata()).map_err(invalid)?;
    check_codecs(builder.metadata()).map_err(invalid)?;
    promises::check_rows(builder.metadata(), size)
        .map_err(|what| StoreError::damaged(path, what))?;
    Ok(builder)
}

/// Takes a batch of rows: the number of its first one, the batch, and the words for columns that were left
/// out, if any were.
pub(super) type Take<'a> = dyn FnMut(usize, &RecordBatch, Option<&str>) -> Result<()> + 'a;

/// Gives every batch of rows of the `wanted` columns that are there with the number of its first one, and the
/// word for each column that was left out.
pub(super) fn batches(
    builder: ParquetRecordBatchReaderBuilder<File>,
    path: &Path,
    wanted: &[&str],
    take: &mut Take,
) -> Result<()> {
    let damaged = |error: &dyn std::fmt::Display| StoreError::damaged(path, error);
    let told = builder.metadata().file_metadata().key_value_metadata();
    let left_out = value(told, LEFT_OUT_KEY).map(str::to_owned);
    let mut file = File::open(path).map_err(StoreError::io(path))?;
    promises::check_pages(&mut file, builder.metadata(), |name| wanted.contains(&name))
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

/// Appends rows from number `first` on.
fn append_one<T: Table>(
    table: &mut T,
    path: &Path,
    first: usize,
    (at, column): (usize, &Column),
    array: &dyn Array,
) -> Result<()> {
    let mut faults = Faults::first();
    table.append(at, array, &mut |row, what| {
        faults.tell(column.name, row.map(|row| first + row), what);
    });
    faults.refuse(path)
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
    let words: Option<serde_json::Value> =
        left_out.and_then(|text| serde_json::from_str(text).ok());
    match words.as_ref().and_then(|words| words[column.name].as_str()) {
        Some(word) => StoreError::LeftOut {
            path: path.to_owned(),
            column: column.name,
            word: word.to_owned(),
        },
        None => {
            let what = format!("column {}: {}", column.name, lacks(column));
            StoreError::invalid(path, what)
        }
    }
}

/// What is to be said of a column that is not there.
pub(super) fn lacks(column: &Column) -> String {
    let Column {
        data_type,
        unit,
        doc,
        ..
    } = column;
    format!("missing; {data_type}, unit {unit}: {doc}")
}

pub(super) fn value<'a>(told: Option<&'a Vec<KeyValue>>, key: &str) -> Option<&'a str> {
    let mut entries = told.into_iter().flatten();
    entries
        .find(|entry| entry.key == key)
        .and_then(|entry| entry.value.as_deref())
}

fn check_version(told: Option<&Vec<KeyValue>>) -> std::result::Result<(), String> {
    match value(told, VERSION_KEY) {
        // Files of other programs may leave the version out.
        None => Ok(()),
        Some(text) if text == SCHEMA_VERSION.to_string() => Ok(()),
        Some(text) => Err(format!(
            "schema version {text}; this program reads version {SCHEMA_VERSION}"
        )),
    }
}

/// Refuses a file packed by a codec that is not built in, before anything is read of it.
fn check_codecs(metadata: &ParquetMetaData) -> std::result::Result<(), String> {
    let groups = metadata.row_groups().iter();
    for column in groups.flat_map(|group| group.columns()) {
        let codec = column.compression();
        // Brotli would take longer to build than all others together, and no writer chooses it by itself.
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
    use crate::spec::{Compression, FrameGroup, Output, PrecisionBits};
    use crate::store::format::round_mantissa;

    /// Motion without a pattern, over more than one page.
    fn frames(count: u32) -> Frames {
        let noise = |seed: u32| -> Vec<f32> {
            let word = |k: u32| (k ^ seed << 20).wrapping_mul(0x9E37_79B9) >> 8;
            (0..count).map(|k| word(k) as f32 / 1e6 - 8.0).collect()
        };
        let [x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz, sigma, tau] =
            std::array::from_fn(|k| noise(k as u32));
        let n = count as usize;
        Frames {
            frame: vec![3; n],
            time: vec![0.25; n],
            id: (0..count).collect(),
            fragment: (0..count).map(|k| k / 100).collect(),
            broken: (0..count).map(|k| k % 13).collect(),
            #[rustfmt::skip]
            x,
            y,
            z,
            qx,
            qy,
            qz,
            qw,
            vx,
            vy,
            vz,
            wx,
            wy,
            wz,
            sigma,
            tau,
        }
    }

    fn written(format: &Format, threads: usize, table: &Frames) -> Vec<u8> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let mut bytes = Vec::new();
        pool.expect("threads")
            .install(|| encode(&mut bytes, table, format))
            .expect("encodes");
        bytes
    }

    #[test]
    fn what_is_written_is_read_whatever_the_threads() {
        let table = frames(300_000);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("frame.parquet");
        for compression in [Compression::Zstd, Compression::None] {
            let format = Format {
                compression,
                ..Format::default()
            };
            write_unlisted(&path, &table, &format).expect("written");
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
        let table = frames(1000);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("frame.parquet");
        let format = Format::of_frames(&Output {
            columns: vec![FrameGroup::Position, FrameGroup::Velocity],
            precision_bits: PrecisionBits {
                velocity: Some(6),
                ..PrecisionBits::default()
            },
            ..Output::default()
        });
        write_unlisted(&path, &table, &format).expect("written");
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
        let told = reader.metadata().file_metadata().key_value_metadata();
        assert_eq!(
            value(told, "cullet.precision_bits"),
            Some("{\"vx\":6,\"vy\":6,\"vz\":6}")
        );
        let field = reader.schema().field_with_name("vy").expect("vy");
        assert_eq!(field.metadata()["precision_bits"], "6");
    }
}

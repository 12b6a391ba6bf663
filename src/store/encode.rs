//! Encodes tables as Parquet: floats are byte-stream-split and compressed with zstd, which halves noise-like columns at
//! little cost; dictionaries are used only where values repeat (labels and names).

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use crate::parallel::prelude::*;
use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use ::parquet::basic::{Compression as Codec, Encoding, ZstdLevel};
use ::parquet::errors::Result;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::ColumnPath;
use arrow_array::types::Float32Type;
use arrow_array::{ArrayRef, cast::AsArray};
use arrow_schema::{DataType, Field, Schema};

use super::format::{TableFormat, round_mantissa};
use super::version::SCHEMA_VERSION;
use crate::columns::{Column, Table};
use crate::spec::Compression;

/// Metadata key of the schema version.
pub(super) const VERSION_KEY: &str = "cullet.schema_version";
/// Metadata key of the columns that were left out, each with the word of `output.columns` that would include it.
pub(super) const LEFT_OUT_KEY: &str = "cullet.left_out";
/// Metadata key of the mantissa bits kept in rounded columns.
pub(super) const BITS_KEY: &str = "cullet.precision_bits";

/// Rows per row group: small enough to stream, large enough to compress.
pub(super) const ROWS_PER_GROUP: usize = 1 << 20;
/// Rows per page: each byte stream of a split column then fills a zstd block (128 KiB), which has its own statistics.
const ROWS_PER_PAGE: usize = 1 << 17;
/// Rows passed to an encoder at a time: their copy stays in the cache.
const ROWS_PER_WRITE: usize = 8192;
/// Tables with fewer rows are not compressed: setting up a compressor costs more than it saves.
const MIN_ROWS_TO_COMPRESS: usize = 256;

/// Writes a table as a Parquet file. Threads encode one column at a time; the bytes are the same for any number of
/// threads. During a simulation its threads encode columns when they are idle: an additional thread would compete with
/// them.
pub(super) fn encode<T: Table>(
    writer: &mut (impl Write + Send),
    table: &T,
    format: &TableFormat,
) -> Result<()> {
    let columns: Vec<(usize, Column)> = T::columns()
        .into_iter()
        .enumerate()
        .filter(|(at, column)| table.has(*at) && !format.left_out.contains_key(column.name))
        .collect();
    let schema = Arc::new(schema(&columns, format));
    let properties = properties(&columns, table.rows(), format);
    let (mut file, groups) =
        ArrowWriter::try_new(writer, schema.clone(), Some(properties))?.into_serialized_writer()?;
    for (group, first) in (0..table.rows()).step_by(ROWS_PER_GROUP).enumerate() {
        let rows = first..(first + ROWS_PER_GROUP).min(table.rows());
        let encode = |(writer, at): (ArrowColumnWriter, usize)| {
            let (number, column) = &columns[at];
            let bits = format.bits.get(column.name).copied();
            encode_column(writer, schema.field(at), rows.clone(), |rows| {
                rounded(table.array(*number, rows), bits)
            })
        };
        let writers = groups.create_column_writers(group)?;
        let writers: Vec<_> = writers.into_iter().zip(0..).collect();
        let chunks: Vec<Result<ArrowColumnChunk>> = writers.into_par_iter().map(encode).collect();
        let mut out = file.next_row_group()?;
        for chunk in chunks {
            chunk?.append_to_row_group(&mut out)?;
        }
        out.close()?;
    }
    file.close()?;
    Ok(())
}

fn encode_column(
    mut writer: ArrowColumnWriter,
    field: &Field,
    rows: Range<usize>,
    array: impl Fn(Range<usize>) -> ArrayRef,
) -> Result<ArrowColumnChunk> {
    for first in rows.clone().step_by(ROWS_PER_WRITE) {
        for leaf in compute_leaves(field, &array(first..(first + ROWS_PER_WRITE).min(rows.end)))? {
            writer.write(&leaf)?;
        }
    }
    writer.close()
}

fn rounded(array: ArrayRef, bits: Option<u32>) -> ArrayRef {
    match (bits, array.as_primitive_opt::<Float32Type>()) {
        (Some(bits), Some(values)) => {
            Arc::new(values.unary::<_, Float32Type>(|value| round_mantissa(value, bits)))
        }
        _ => array,
    }
}

fn schema(columns: &[(usize, Column)], format: &TableFormat) -> Schema {
    let field = |(_, column): &(usize, Column)| {
        let mut metadata = HashMap::from([
            ("unit".to_owned(), column.unit.to_owned()),
            ("description".to_owned(), column.doc.to_owned()),
        ]);
        if let Some(bits) = format.bits.get(column.name) {
            metadata.insert("precision_bits".to_owned(), bits.to_string());
        }
        Field::new(column.name, column.data_type.clone(), false).with_metadata(metadata)
    };
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}

fn properties(columns: &[(usize, Column)], rows: usize, format: &TableFormat) -> WriterProperties {
    let json = |map: &BTreeMap<&str, serde_json::Value>| serde_json::json!(map).to_string();
    let units = columns
        .iter()
        .map(|(_, column)| (column.name, column.unit.into()))
        .collect();
    let mut metadata = vec![
        KeyValue::new(VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string()),
        KeyValue::new("cullet.units".to_owned(), json(&units)),
    ];
    if !format.left_out.is_empty() {
        let left_out = format.left_out.iter();
        let groups = left_out.map(|(name, word)| (*name, (*word).into()));
        metadata.push(KeyValue::new(
            LEFT_OUT_KEY.to_owned(),
            json(&groups.collect()),
        ));
    }
    if !format.bits.is_empty() {
        let bits = format.bits.iter().map(|(name, k)| (*name, (*k).into()));
        metadata.push(KeyValue::new(BITS_KEY.to_owned(), json(&bits.collect())));
    }
    let mut builder = WriterProperties::builder()
        .set_created_by("cullet".to_owned())
        .set_compression(match format.compression {
            _ if rows < MIN_ROWS_TO_COMPRESS => Codec::UNCOMPRESSED,
            Compression::Zstd => Codec::ZSTD(ZstdLevel::default()),
            Compression::None => Codec::UNCOMPRESSED,
        })
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_data_page_row_count_limit(ROWS_PER_PAGE)
        .set_data_page_size_limit(2 * ROWS_PER_PAGE * size_of::<f64>())
        .set_key_value_metadata(Some(metadata));
    for (_, column) in columns {
        let path = ColumnPath::from(column.name);
        if matches!(column.name, "frame" | "time" | "id") {
            // Nearly empty once encoded: compression would not pay.
            builder = builder.set_column_compression(path.clone(), Codec::UNCOMPRESSED);
        }
        builder = match (&column.data_type, column.name) {
            // Labels, names and times repeat; ids and steps ascend or are constant.
            (DataType::Utf8, _) | (_, "fragment" | "body" | "material" | "time") => {
                builder.set_column_dictionary_enabled(path, true)
            }
            (DataType::Float32 | DataType::Float64, _) => {
                builder.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT)
            }
            _ => builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        };
    }
    builder.build()
}

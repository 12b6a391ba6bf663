//! Encodes tables as Parquet: floats are byte-stream-split and compressed with zstd, which halves noise-like columns at
//! little cost; dictionaries are used only where values repeat (labels and names).

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use crate::parallel::prelude::*;
use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use ::parquet::basic::{Compression as Codec, Encoding, ZstdLevel};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
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
pub const ROWS_PER_WRITE: usize = 8192;
/// Tables with fewer rows are not compressed: setting up a compressor costs more than it saves.
const MIN_ROWS_TO_COMPRESS: usize = 256;

/// Writes a table as a Parquet file. The bytes are the same for any number of threads.
pub(super) fn encode<T: Table>(
    writer: &mut (impl Write + Send),
    table: &T,
    format: &TableFormat,
) -> Result<()> {
    let mut encoder = TableEncoder::new(writer, table, table.rows(), format)?;
    encoder.write(table)?;
    encoder.finish()
}

/// Writes a table that comes in parts as a Parquet file. Threads encode one column at a time. During a simulation its
/// threads encode columns when they are idle: an additional thread would compete with them.
///
/// The bytes are those of the whole table if the rows of all parts except the last are a multiple of
/// [`ROWS_PER_WRITE`].
pub(super) struct TableEncoder<'a, W: Write + Send> {
    file: SerializedFileWriter<W>,
    groups: ArrowRowGroupWriterFactory,
    schema: Arc<Schema>,
    columns: Vec<(usize, Column)>,
    format: &'a TableFormat,
    /// Writers of the columns of the row group that is not complete; empty if there is none.
    open: Vec<ArrowColumnWriter>,
    /// Rows in this group.
    open_rows: usize,
    /// Number of complete groups.
    complete: usize,
    /// Rows still to be written.
    left: usize,
}

impl<'a, W: Write + Send> TableEncoder<'a, W> {
    /// An encoder of a table of this many rows, which has the columns that `like` has.
    pub fn new<T: Table>(
        writer: W,
        like: &T,
        rows: usize,
        format: &'a TableFormat,
    ) -> Result<Self> {
        let columns: Vec<(usize, Column)> = T::columns()
            .into_iter()
            .enumerate()
            .filter(|(at, column)| like.has(*at) && !format.left_out.contains_key(column.name))
            .collect();
        let schema = Arc::new(schema(&columns, format));
        let properties = properties(&columns, rows, format);
        let (file, groups) = ArrowWriter::try_new(writer, schema.clone(), Some(properties))?
            .into_serialized_writer()?;
        Ok(TableEncoder {
            file,
            groups,
            schema,
            columns,
            format,
            open: Vec::new(),
            open_rows: 0,
            complete: 0,
            left: rows,
        })
    }

    /// Writes the next rows.
    pub fn write<T: Table>(&mut self, part: &T) -> Result<()> {
        let mut first = 0;
        while first < part.rows() {
            if self.open.is_empty() {
                self.open = self.groups.create_column_writers(self.complete)?;
            }
            let rows = first..part.rows().min(first + ROWS_PER_GROUP - self.open_rows);
            self.write_rows(part, rows.clone())?;
            self.open_rows += rows.len();
            if self.open_rows == ROWS_PER_GROUP {
                self.close_group()?;
            }
            first = rows.end;
        }
        self.left = self.left.checked_sub(part.rows()).ok_or_else(|| {
            ParquetError::General("the parts of a table have more rows than it has".to_owned())
        })?;
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Rows are missing.
    pub fn finish(mut self) -> Result<()> {
        if self.left > 0 {
            let what = format!("{} rows of a table were not written", self.left);
            return Err(ParquetError::General(what));
        }
        if self.open_rows > 0 {
            self.close_group()?;
        }
        self.file.close()?;
        Ok(())
    }

    /// Writes these rows of a part to the open group.
    fn write_rows<T: Table>(&mut self, part: &T, rows: Range<usize>) -> Result<()> {
        let (columns, schema, format) = (&self.columns, &self.schema, self.format);
        let encode = |(at, writer): (usize, &mut ArrowColumnWriter)| {
            let (number, column) = &columns[at];
            let bits = format.bits.get(column.name).copied();
            encode_column(writer, schema.field(at), rows.clone(), |rows| {
                rounded(part.array(*number, rows), bits)
            })
        };
        let encoded: Result<Vec<()>> = self.open.par_iter_mut().enumerate().map(encode).collect();
        encoded.map(drop)
    }

    /// Completes the open group.
    fn close_group(&mut self) -> Result<()> {
        let writers = std::mem::take(&mut self.open).into_par_iter();
        let chunks: Result<Vec<_>> = writers.map(ArrowColumnWriter::close).collect();
        let mut out = self.file.next_row_group()?;
        for chunk in chunks? {
            chunk.append_to_row_group(&mut out)?;
        }
        out.close()?;
        self.open_rows = 0;
        self.complete += 1;
        Ok(())
    }
}

fn encode_column(
    writer: &mut ArrowColumnWriter,
    field: &Field,
    rows: Range<usize>,
    array: impl Fn(Range<usize>) -> ArrayRef,
) -> Result<()> {
    for first in rows.clone().step_by(ROWS_PER_WRITE) {
        for leaf in compute_leaves(field, &array(first..(first + ROWS_PER_WRITE).min(rows.end)))? {
            writer.write(&leaf)?;
        }
    }
    Ok(())
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

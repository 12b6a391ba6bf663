//! Checks the sizes and counts that a Parquet file claims before memory is allocated for them.
//!
//! A file may hold many more values than bytes: a run of equal values takes a few bytes however long it is,
//! and zstd compresses repetitions. So the number of rows is limited to [`MAX_ROWS_PER_BYTE`], three times
//! that of a row group of a million equal rows, and the unpacked size of a page to what its values need. The
//! Parquet reader itself trusts these numbers and the lengths in page headers.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use ::parquet::basic::Type;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::thrift::{self, ThriftValue};

/// Limit on rows per byte of a file.
const MAX_ROWS_PER_BYTE: u64 = 1000;
/// Limit on columns and on groups of columns: the reader allocates memory and stack for the counts in the schema.
const MAX_COLUMNS: i64 = 1000;
/// Limit on bytes of a page in addition to its values: levels, tables of encodings.
const PAGE_OVERHEAD: i64 = 1 << 16;
/// Limit on bytes of a page header.
const MAX_HEADER_BYTES: u64 = 1 << 16;

type CheckResult = Result<(), String>;

/// Refuses a file whose footer is missing or damaged, or has too many columns.
pub(super) fn check_footer(file: &mut File) -> CheckResult {
    let footer = footer(file).map_err(|error| error.to_string())?;
    check_schema(&footer.ok_or("no footer at its end: truncated, or not a Parquet file")?)
}

fn check_schema(footer: &[u8]) -> CheckResult {
    let mut most = 0;
    let read = thrift::read(footer, &mut |path, found| match (path, found) {
        // The schema: a list of columns and groups; field 5 is the number of children of a group.
        ([2], ThriftValue::List(count)) => most = most.max(count as i64),
        ([2, 5], ThriftValue::Number(count)) => most = most.max(count),
        _ => {}
    });
    if read.is_none() {
        return Err("its footer is damaged".to_owned());
    }
    if most > MAX_COLUMNS {
        return Err(format!("{most} columns; at most {MAX_COLUMNS} are allowed"));
    }
    Ok(())
}

/// The footer without its length and magic; `None` if there is no valid one.
fn footer(file: &mut File) -> std::io::Result<Option<Vec<u8>>> {
    let size = file.seek(SeekFrom::End(0))?;
    if size < 12 {
        return Ok(None);
    }
    let mut end = [0; 8];
    file.seek(SeekFrom::Start(size - 8))?;
    file.read_exact(&mut end)?;
    let [a, b, c, d, magic @ ..] = end;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if &magic != b"PAR1" || length > size - 12 {
        return Ok(None);
    }
    let mut footer = vec![0; length as usize];
    file.seek(SeekFrom::Start(size - 8 - length))?;
    file.read_exact(&mut footer)?;
    Ok(Some(footer))
}

/// Refuses impossible numbers of rows, and columns that lie outside the file.
pub(super) fn check_rows(metadata: &ParquetMetaData, size: u64) -> CheckResult {
    let rows = metadata.file_metadata().num_rows();
    let mut sum = 0_i64;
    for group in metadata.row_groups() {
        let rows = group.num_rows();
        sum = sum.saturating_add(rows);
        if rows < 0 {
            return Err(format!("a row group of {rows} rows"));
        }
        for column in group.columns() {
            let name = column.column_path().string();
            let (start, length) = range(column);
            let end = u64::try_from(start)
                .ok()
                .zip(u64::try_from(length).ok())
                .and_then(|(start, length)| start.checked_add(length));
            if end.is_none_or(|end| end > size) {
                return Err(format!("column {name}: lies outside the file"));
            }
            let is_flat = column.column_descr().max_rep_level() == 0;
            if is_flat && column.num_values() != rows {
                let found = column.num_values();
                return Err(format!(
                    "column {name}: {found} values; its row group has {rows} rows"
                ));
            }
        }
    }
    if rows != sum {
        return Err(format!("{rows} rows; its row groups have {sum}"));
    }
    if rows as u64 > MAX_ROWS_PER_BYTE.saturating_mul(size) {
        return Err(format!(
            "{rows} rows in {size} bytes; at most {MAX_ROWS_PER_BYTE} per byte are allowed"
        ));
    }
    Ok(())
}

/// Offset and length of a column in a row group, bytes.
fn range(column: &ColumnChunkMetaData) -> (i64, i64) {
    let start = column.dictionary_page_offset();
    let start = start.unwrap_or(column.data_page_offset());
    (start, column.compressed_size())
}

/// Refuses pages of `wanted` columns whose unpacked size exceeds what their values need, or that lack their dictionary.
pub(super) fn check_pages(
    file: &mut File,
    metadata: &ParquetMetaData,
    wanted: impl Fn(&str) -> bool,
) -> CheckResult {
    for group in metadata.row_groups() {
        let rows = group.num_rows();
        for column in group.columns() {
            let parts = column.column_path().parts();
            let name = parts[0].as_str();
            if !wanted(name) {
                continue;
            }
            if parts.len() > 1 || column.column_descr().max_rep_level() > 0 {
                return Err(format!("column {name}: holds lists or groups, not values"));
            }
            check_column(file, column, rows).map_err(|what| format!("column {name}: {what}"))?;
        }
    }
    Ok(())
}

/// Header of a page.
#[derive(Default)]
struct PageHeader {
    unpacked: i64,
    packed: i64,
    values: i64,
    kind: i64,
    encoding: i64,
}

impl PageHeader {
    fn is_dictionary(&self) -> bool {
        self.kind == 2
    }

    /// Whether its data are indices into a dictionary (PLAIN_DICTIONARY, RLE_DICTIONARY).
    fn needs_dictionary(&self) -> bool {
        !self.is_dictionary() && matches!(self.encoding, 2 | 8)
    }
}

fn check_column(file: &mut File, column: &ColumnChunkMetaData, rows: i64) -> CheckResult {
    // For strings, and for numbers.
    let bytes_a_value = match column.column_type() {
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => 256,
        _ => 16,
    };
    let (start, length) = range(column);
    let (mut at, end) = (start as u64, start as u64 + length as u64);
    let mut header = Vec::new();
    let mut has_dictionary = false;
    while at < end {
        let mut read = |limit: u64| -> std::io::Result<Option<(PageHeader, usize)>> {
            header.clear();
            file.seek(SeekFrom::Start(at))?;
            file.take(limit.min(end - at)).read_to_end(&mut header)?;
            let mut page = PageHeader::default();
            let length = thrift::read(&header, &mut |path, found| match (path, found) {
                ([1], ThriftValue::Number(kind)) => page.kind = kind,
                ([2], ThriftValue::Number(bytes)) => page.unpacked = bytes,
                ([3], ThriftValue::Number(bytes)) => page.packed = bytes,
                // Headers of data pages, dictionary pages, data pages of version 2.
                ([5 | 7 | 8, 1], ThriftValue::Number(values)) => page.values = values,
                ([5, 2] | [8, 4], ThriftValue::Number(encoding)) => page.encoding = encoding,
                _ => {}
            });
            Ok(length.map(|length| (page, length)))
        };
        // Most headers are small; long strings in the statistics make some larger.
        let found = match read(256) {
            Ok(None) => read(MAX_HEADER_BYTES),
            found => found,
        };
        let Some((page, length)) = found.map_err(|error| error.to_string())? else {
            return Err(format!("no page at byte {at}"));
        };
        if !(0..=rows).contains(&page.values) {
            let values = page.values;
            return Err(format!("a page of {values} values; there are {rows} rows"));
        }
        has_dictionary |= page.is_dictionary();
        if page.needs_dictionary() && !has_dictionary {
            return Err(format!(
                "the page at byte {at} needs a dictionary, but none precedes it"
            ));
        }
        let limit = PAGE_OVERHEAD + bytes_a_value * page.values;
        if !(0..=limit).contains(&page.unpacked) {
            return Err(format!(
                "a page of {} values that claims to unpack to {} bytes",
                page.values, page.unpacked
            ));
        }
        at += length as u64;
        if page.packed < 0 || page.packed as u64 > end.saturating_sub(at) {
            return Err(format!(
                "a page of {} bytes that ends after the column",
                page.packed
            ));
        }
        at += page.packed as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use ::parquet::arrow::ArrowWriter;
    use ::parquet::file::properties::WriterProperties;
    use arrow_array::{ArrayRef, RecordBatch, StructArray, UInt32Array};

    use super::super::parquet;
    use super::*;
    use crate::columns::Breaks;

    /// Writes these columns into one row group with one page per column.
    fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(None)
            .set_data_page_row_count_limit(usize::MAX)
            .set_write_batch_size(1 << 20)
            .build();
        let file = File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    fn bonds(rows: usize) -> (&'static str, ArrayRef) {
        ("bond", Arc::new(UInt32Array::from(vec![7; rows])))
    }

    fn read_error(path: &Path) -> String {
        let read = parquet::read_columns::<Breaks>(path, &["bond"]);
        read.unwrap_err().to_string()
    }

    #[test]
    fn rows_are_bounded_by_the_size_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        write(&path, vec![bonds(100_000)]);
        let read = parquet::read_columns::<Breaks>(&path, &["bond"]).unwrap();
        assert_eq!(read.bond, vec![7; 100_000]);
        write(&path, vec![bonds(4_000_000)]);
        let message = read_error(&path);
        assert!(message.contains("a.parquet: 4000000 rows in "), "{message}");
        assert!(parquet::rows(&path).is_err());
    }

    #[test]
    fn pages_are_bounded_by_their_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let numbers = (0..2_000_000).map(|row: u32| row.wrapping_mul(0x9E37_79B9));
        let numbers: ArrayRef = Arc::new(UInt32Array::from_iter_values(numbers));
        write(&path, vec![("bond", numbers)]);
        parquet::read_columns::<Breaks>(&path, &["bond"]).unwrap();
        // A page of data: kind 0, then its unpacked size in four bytes, then its packed size.
        let bytes = std::fs::read(&path).unwrap();
        let header =
            |at: &usize| bytes[*at..].starts_with(&[0x15, 0, 0x15]) && bytes[at + 7] == 0x15;
        let at = (4..bytes.len() - 16).find(header).unwrap();
        let mut altered = bytes.clone();
        altered[at + 3..at + 7].copy_from_slice(&[0xFE, 0xFF, 0xFF, 0x7F]);
        std::fs::write(&path, &altered).unwrap();
        let message = read_error(&path);
        assert!(
            message.ends_with("claims to unpack to 134217727 bytes"),
            "{message}"
        );
        assert!(
            message.contains("a.parquet: column bond: a page of "),
            "{message}"
        );
        // A page that continues past the end of the column.
        altered[at + 3..at + 7].copy_from_slice(&bytes[at + 3..at + 7]);
        altered[at + 8..at + 12].copy_from_slice(&[0xFE, 0xFF, 0xFF, 0x7F]);
        std::fs::write(&path, &altered).unwrap();
        let message = read_error(&path);
        assert!(message.contains("ends after the column"), "{message}");
    }

    #[test]
    fn a_page_without_its_dictionary_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        write(&path, vec![bonds(100)]);
        let mut bytes = std::fs::read(&path).unwrap();
        // The first page is the dictionary, of kind 2. It is changed to kind 1, an index page.
        assert_eq!(bytes[4..6], [0x15, 4]);
        bytes[5] = 2;
        std::fs::write(&path, &bytes).unwrap();
        let message = read_error(&path);
        assert!(
            message.contains("column bond: the page at byte ")
                && message.contains("needs a dictionary"),
            "{message}"
        );
    }

    #[test]
    fn columns_hold_values_and_no_more_than_a_thousand_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let (name, values) = bonds(3);
        let fields = vec![(
            Arc::new(arrow_schema::Field::new(
                "a",
                values.data_type().clone(),
                false,
            )),
            values,
        )];
        write(&path, vec![(name, Arc::new(StructArray::from(fields)))]);
        let message = read_error(&path);
        assert!(
            message.contains("column bond: holds lists or groups, not values"),
            "{message}"
        );
        // A group in the schema that claims two million columns: field 2, a list with one entry, which has field 5.
        let footer = [0x29, 0x1C, 0x55, 0x80, 0x92, 0xF4, 0x01, 0, 0];
        let message = check_schema(&footer).unwrap_err();
        assert_eq!(message, "2000000 columns; at most 1000 are allowed");
        assert_eq!(
            check_schema(&footer[..7]).unwrap_err(),
            "its footer is damaged"
        );
    }

    #[test]
    fn a_file_without_a_footer_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        for text in ["", "PAR1", "PAR1....PAR2", "PAR1\u{1}\0\0\0PAR1"] {
            std::fs::write(&path, text).unwrap();
            let message = read_error(&path);
            assert!(
                message.contains("not a readable Parquet file: no footer"),
                "{message}"
            );
        }
    }
}

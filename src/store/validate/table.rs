//! Reads a table as far as possible and reports the faults of the rest.

use std::path::Path;

use super::checked_file::CheckedFile;
use crate::columns::{Column, Table};
use crate::store::encode::BITS_KEY;
use crate::store::parquet;
use crate::store::rules::SchemaFaults;

/// Consecutive rows of a table: the number of the first one, and the columns of which all values are valid; other
/// columns are empty.
pub struct TablePart<'a, T> {
    pub first: usize,
    pub table: &'a T,
}

/// Reads a table part by part. Reports columns that are `required` but missing, that have a wrong type, or
/// values that do not fit.
///
/// Returns the number of rows if the table can be read to the end.
pub fn read<T: Table>(
    path: &Path,
    file: &mut CheckedFile,
    required: impl Fn(&Column, &[String]) -> bool,
    take: &mut dyn FnMut(TablePart<T>, &mut SchemaFaults),
) -> Option<usize> {
    if !path.is_file() {
        file.faults.add(None, None, format_args!("missing"));
        return None;
    }
    let builder = match parquet::open(path) {
        Ok(builder) => builder,
        Err(error) => {
            file.error(&error);
            return None;
        }
    };
    let columns = T::columns();
    let fields = builder.schema().fields().iter();
    let present: Vec<String> = fields.map(|field| field.name().clone()).collect();
    for column in &columns {
        if !present.iter().any(|name| name == column.name) && required(column, &present) {
            let what = parquet::missing_column(column);
            file.faults.add(column.name, None, format_args!("{what}"));
        }
    }
    let mut wrong_type = vec![false; columns.len()];
    let mut rows = 0;
    let read = parquet::batches(
        builder,
        path,
        &parquet::names::<T>(),
        &mut |first, batch, _| {
            let mut table = T::default();
            for (at, column) in columns.iter().enumerate() {
                let Some(array) = batch
                    .column_by_name(column.name)
                    .filter(|_| !wrong_type[at])
                else {
                    continue;
                };
                let mut valid = true;
                table.append(at, array.as_ref(), &mut |row, what| {
                    valid = false;
                    // A wrong type is the same in every part: it is reported once.
                    wrong_type[at] |= row.is_none();
                    let row = row.map(|row| first + row);
                    file.faults.add(column.name, row, what);
                });
                if !valid {
                    table.clear(at);
                }
            }
            rows = first + batch.num_rows();
            let part = TablePart {
                first,
                table: &table,
            };
            take(part, &mut file.faults);
            Ok(())
        },
    );
    match read {
        Ok(()) => Some(rows),
        Err(error) => {
            file.error(&error);
            None
        }
    }
}

/// Relative rounding error of a column, from the mantissa bits in the file's metadata.
pub fn rounding(path: &Path, column: &str) -> f64 {
    let Ok(builder) = parquet::open(path) else {
        return 0.0;
    };
    let metadata = builder.metadata().file_metadata().key_value_metadata();
    let bits = parquet::value(metadata, BITS_KEY);
    let bits: Option<serde_json::Value> = bits.and_then(|text| serde_json::from_str(text).ok());
    let bits = bits.and_then(|bits| bits[column].as_i64());
    bits.map_or(0.0, |bits| 0.5_f64.powi(bits.clamp(0, 23) as i32))
}

//! Reads a table as far as it can be read, and tells the rest.

use std::path::Path;

use super::checked::Checked;
use crate::columns::{Column, Table};
use crate::store::encode::BITS_KEY;
use crate::store::parquet;
use crate::store::rules::Faults;

/// Rows of a table as they come: the first one's number, and the columns of which every value is good; others
/// are empty.
pub struct Part<'a, T> {
    pub first: usize,
    pub table: &'a T,
}

/// Reads a table part by part. Told are columns that are missing though `required`, of the wrong type, or
/// with values that do not fit.
///
/// The number of its rows if it can be read to the end.
pub fn read<T: Table>(
    path: &Path,
    file: &mut Checked,
    required: impl Fn(&Column, &[String]) -> bool,
    take: &mut dyn FnMut(Part<T>, &mut Faults),
) -> Option<usize> {
    if !path.is_file() {
        file.faults.tell(None, None, format_args!("missing"));
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
    let there: Vec<String> = fields.map(|field| field.name().clone()).collect();
    for column in &columns {
        if !there.iter().any(|name| name == column.name) && required(column, &there) {
            let what = parquet::lacks(column);
            file.faults.tell(column.name, None, format_args!("{what}"));
        }
    }
    let mut wrong = vec![false; columns.len()];
    let mut rows = 0;
    let read = parquet::batches(
        builder,
        path,
        &parquet::names::<T>(),
        &mut |first, batch, _| {
            let mut table = T::default();
            for (at, column) in columns.iter().enumerate() {
                let Some(array) = batch.column_by_name(column.name).filter(|_| !wrong[at]) else {
                    continue;
                };
                let mut good = true;
                table.append(at, array.as_ref(), &mut |row, what| {
                    good = false;
                    // A wrong type is wrong in every part.
                    wrong[at] |= row.is_none();
                    let row = row.map(|row| first + row);
                    file.faults.tell(column.name, row, what);
                });
                if !good {
                    table.clear(at);
                }
            }
            rows = first + batch.num_rows();
            let part = Part {
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

/// How far numbers of this column may be from what they were, over their size, as the file tells.
pub fn rounding(path: &Path, column: &str) -> f64 {
    let Ok(builder) = parquet::open(path) else {
        return 0.0;
    };
    let told = builder.metadata().file_metadata().key_value_metadata();
    let bits = parquet::value(told, BITS_KEY);
    let bits: Option<serde_json::Value> = bits.and_then(|text| serde_json::from_str(text).ok());
    let bits = bits.and_then(|bits| bits[column].as_i64());
    bits.map_or(0.0, |bits| 0.5_f64.powi(bits.clamp(0, 23) as i32))
}

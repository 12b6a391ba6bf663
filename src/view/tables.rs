//! Tables as JSON, column by column.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use serde_json::{Value, json};

use super::error::ViewError;
use super::viewed::ViewedStore;
use crate::columns::{Column, Table};
use crate::store::if_present;

/// The tables `kind` of all frames as one table.
pub fn of_all_frames(viewed: &ViewedStore, kind: &str) -> Result<Value, ViewError> {
    let store = viewed.view()?.store;
    let frames = store.numbers(kind, "parquet")?;
    match kind {
        "history" => {
            let mut all = JsonTable::default();
            for frame in frames {
                if let Some(table) = viewed.history(frame)? {
                    all.add(&*table);
                }
            }
            Ok(all.finish())
        }
        "loads" => {
            let mut all = JsonTable::default();
            for frame in frames {
                all.add(&store.read_loads(frame)?);
            }
            Ok(all.finish())
        }
        _ => Err(ViewError::NoSuchAddress(format!("table {kind}"))),
    }
}

/// The table `kind` of a frame; without rows if there is none.
pub fn of_frame(viewed: &ViewedStore, kind: &str, frame: u32) -> Result<Value, ViewError> {
    let store = viewed.view()?.store;
    match kind {
        "fragments" => Ok(one(if_present(store.read_fragments(frame))?)),
        "sleep" => Ok(one(if_present(store.read_sleep(frame))?)),
        _ => Err(ViewError::NoSuchAddress(format!("table {kind}"))),
    }
}

fn one<T: Table>(table: Option<T>) -> Value {
    let mut all = JsonTable::default();
    all.add(&table.unwrap_or_default());
    all.finish()
}

/// Rows of tables of one kind.
#[derive(Default)]
struct JsonTable {
    columns: Vec<Column>,
    values: Vec<Vec<Value>>,
    rows: usize,
}

impl JsonTable {
    fn add<T: Table>(&mut self, table: &T) {
        if self.columns.is_empty() {
            self.columns = T::columns();
            self.values = vec![Vec::new(); self.columns.len()];
        }
        let rows = table.rows();
        for (at, values) in self.values.iter_mut().enumerate() {
            match table.has(at) {
                true => append(values, &table.array(at, 0..rows)),
                false => values.resize(values.len() + rows, Value::Null),
            }
        }
        self.rows += rows;
    }

    /// The table; without the optional columns that no frame has.
    fn finish(self) -> Value {
        let columns = self.columns.iter().zip(self.values);
        let present = columns.filter(|(_, values)| !values.iter().all(Value::is_null));
        let columns = present.map(|(column, values)| {
            json!({ "name": column.name, "unit": column.unit, "doc": column.doc, "values": values })
        });
        json!({ "rows": self.rows, "columns": columns.collect::<Vec<Value>>() })
    }
}

/// Appends the values of a column; NaN and infinities become null.
fn append(values: &mut Vec<Value>, array: &ArrayRef) {
    match array.data_type() {
        DataType::Float32 => {
            values.extend(array.as_primitive::<Float32Type>().iter().map(Value::from))
        }
        DataType::Float64 => {
            values.extend(array.as_primitive::<Float64Type>().iter().map(Value::from))
        }
        DataType::UInt32 => {
            values.extend(array.as_primitive::<UInt32Type>().iter().map(Value::from))
        }
        DataType::UInt64 => {
            values.extend(array.as_primitive::<UInt64Type>().iter().map(Value::from))
        }
        DataType::Utf8 => values.extend(array.as_string::<i32>().iter().map(Value::from)),
        // No table has other types; a null per row keeps the columns equally long.
        _ => values.resize(values.len() + array.len(), Value::Null),
    }
}

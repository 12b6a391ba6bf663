//! What a column can hold: numbers, and enums stored by name so that SQL reads words.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float32Array, Float64Array, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;

/// A value that a column can hold.
pub trait Cell: Clone + Send + Sync + 'static {
    /// Arrow type of the column.
    fn data_type() -> DataType;
    /// Column from values.
    fn to_array(values: &[Self]) -> ArrayRef;
    /// Appends the values of `array` to `out`; the message says what did not fit.
    fn append_from(array: &dyn Array, out: &mut Vec<Self>) -> Result<(), String>;
}

macro_rules! number_cell {
    ($($rust:ty => $arrow:ty, $kind:ident;)*) => {$(
        impl Cell for $rust {
            fn data_type() -> DataType {
                DataType::$kind
            }
            fn to_array(values: &[Self]) -> ArrayRef {
                Arc::new(<$arrow>::new(values.to_vec().into(), None))
            }
            fn append_from(array: &dyn Array, out: &mut Vec<Self>) -> Result<(), String> {
                let array = array
                    .as_any()
                    .downcast_ref::<$arrow>()
                    .ok_or_else(|| format!("holds {}, not {}", array.data_type(), DataType::$kind))?;
                if let Some(row) = (0..array.len()).find(|&row| array.is_null(row)) {
                    return Err(format!("has no value in row {row}"));
                }
                out.extend_from_slice(array.values());
                Ok(())
            }
        }
    )*};
}
number_cell! {
    u32 => UInt32Array, UInt32;
    u64 => UInt64Array, UInt64;
    f32 => Float32Array, Float32;
    f64 => Float64Array, Float64;
}

impl Cell for String {
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn to_array(values: &[Self]) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(values))
    }
    fn append_from(array: &dyn Array, out: &mut Vec<Self>) -> Result<(), String> {
        each_word(array, &mut |word| {
            out.push(word.to_owned());
            Ok(())
        })
    }
}

/// Gives every word of a column.
fn each_word(
    array: &dyn Array,
    take: &mut dyn FnMut(&str) -> Result<(), String>,
) -> Result<(), String> {
    let array = array
        .as_any()
        .downcast_ref::<StringArray>()
        .ok_or_else(|| format!("holds {}, not {}", array.data_type(), DataType::Utf8))?;
    for word in array {
        take(word.ok_or("has an empty row")?)?;
    }
    Ok(())
}

/// An enum that the store keeps by name.
pub trait Named: Copy + Send + Sync + PartialEq + 'static {
    /// Every value with its name.
    const NAMES: &'static [(Self, &'static str)];

    /// The name of this value.
    fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(value, _)| *value == self)
            .map(|(_, name)| *name)
            .expect("every value of the enum stands in its table of names")
    }

    /// The value called `name`, or a message that lists the names.
    fn from_name(name: &str) -> Result<Self, String> {
        Self::NAMES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(value, _)| *value)
            .ok_or_else(|| {
                let known: Vec<_> = Self::NAMES.iter().map(|(_, name)| *name).collect();
                format!("holds {name:?}; allowed: {}", known.join(", "))
            })
    }
}

impl<T: Named> Cell for T {
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn to_array(values: &[Self]) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            values.iter().map(|value| value.name()),
        ))
    }
    fn append_from(array: &dyn Array, out: &mut Vec<Self>) -> Result<(), String> {
        each_word(array, &mut |name| {
            out.push(T::from_name(name)?);
            Ok(())
        })
    }
}

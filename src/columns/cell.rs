//! What a column can hold: numbers, words, and enums stored by name so that SQL reads words.
//!
//! Files are written with one type a column and read with any that loses nothing: integers of other widths
//! and signs, floats of the other precision, whole numbers as floats.

use std::fmt;
use std::sync::Arc;

use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, Float32Array, Float64Array, StringArray, UInt32Array,
    UInt64Array, cast::AsArray,
};
use arrow_schema::DataType;

/// Hears of a value that does not fit its column: its row in the array, none where the whole array does not
/// fit, and what is wrong.
pub type Misfit<'a> = dyn FnMut(Option<usize>, fmt::Arguments) + 'a;

/// A value that a column can hold.
pub trait Cell: Clone + Send + Sync + 'static {
    /// Arrow type of the column.
    fn data_type() -> DataType;
    /// Column from values.
    fn to_array(values: &[Self]) -> ArrayRef;
    /// Appends the values of `array` to `out`, as many as it has rows; `misfit` hears of each that does not
    /// fit and has another in its place.
    fn append_from(array: &dyn Array, out: &mut Vec<Self>, misfit: &mut Misfit);
    /// Whether it is neither infinite nor no number.
    fn is_finite(&self) -> bool {
        true
    }
}

/// A number as a file has it.
enum Given {
    Whole(i128),
    Real(f64),
}

/// Gives every value of an array of numbers, none where there is none; false if it is no array of numbers.
fn each_number(array: &dyn Array, each: &mut dyn FnMut(Option<Given>)) -> bool {
    fn primitive<T: ArrowPrimitiveType>(
        array: &dyn Array,
        each: &mut dyn FnMut(Option<Given>),
        given: impl Fn(T::Native) -> Given,
    ) {
        for value in array.as_primitive::<T>() {
            each(value.map(&given));
        }
    }
    let whole = |value| Given::Whole(value);
    match array.data_type() {
        DataType::Int8 => primitive::<Int8Type>(array, each, |v| whole(v.into())),
        DataType::Int16 => primitive::<Int16Type>(array, each, |v| whole(v.into())),
        DataType::Int32 => primitive::<Int32Type>(array, each, |v| whole(v.into())),
        DataType::Int64 => primitive::<Int64Type>(array, each, |v| whole(v.into())),
        DataType::UInt8 => primitive::<UInt8Type>(array, each, |v| whole(v.into())),
        DataType::UInt16 => primitive::<UInt16Type>(array, each, |v| whole(v.into())),
        DataType::UInt32 => primitive::<UInt32Type>(array, each, |v| whole(v.into())),
        DataType::UInt64 => primitive::<UInt64Type>(array, each, |v| whole(v.into())),
        DataType::Float16 => primitive::<Float16Type>(array, each, |v| Given::Real(v.to_f64())),
        DataType::Float32 => primitive::<Float32Type>(array, each, |v| Given::Real(v.into())),
        DataType::Float64 => primitive::<Float64Type>(array, each, Given::Real),
        _ => return false,
    }
    true
}

/// Appends each number as `accept` converts it to a `T`. Reports to `misfit` each row for which `accept` returns
/// `None`, and appends the default there.
fn convert<T: Cell + Copy + Default>(
    array: &dyn Array,
    out: &mut Vec<T>,
    misfit: &mut Misfit,
    accept: impl Fn(&Given) -> Option<T>,
) {
    let (first, wanted) = (out.len(), T::data_type());
    let mut whole_type = true;
    let numbers = each_number(array, &mut |given| {
        let value = given.as_ref().and_then(&accept);
        let row = Some(out.len() - first);
        match (&given, &value) {
            (None, _) => misfit(row, format_args!("has no value")),
            (Some(Given::Whole(v)), None) => {
                misfit(row, format_args!("holds {v}, which is no {wanted}"));
            }
            (Some(Given::Real(v)), None) if matches!(wanted, DataType::Float32) => {
                misfit(row, format_args!("holds {v}, which is no {wanted}"));
            }
            (Some(Given::Real(_)), None) => whole_type = false,
            (Some(_), Some(_)) => {}
        }
        out.push(value.unwrap_or_default());
    });
    if !numbers || !whole_type {
        misfit(
            None,
            format_args!("holds {}, not {wanted}", array.data_type()),
        );
        out.resize(first + array.len(), T::default());
    }
}

macro_rules! number_cell {
    ($($rust:ty => $arrow:ty, $kind:ident, $accept:expr, $finite:expr;)*) => {$(
        impl Cell for $rust {
            fn data_type() -> DataType {
                DataType::$kind
            }
            fn to_array(values: &[Self]) -> ArrayRef {
                Arc::new(<$arrow>::new(values.to_vec().into(), None))
            }
            fn append_from(array: &dyn Array, out: &mut Vec<Self>, misfit: &mut Misfit) {
                match array.as_any().downcast_ref::<$arrow>() {
                    Some(own) if own.null_count() == 0 => out.extend_from_slice(own.values()),
                    _ => convert(array, out, misfit, $accept),
                }
            }
            fn is_finite(&self) -> bool {
                $finite(*self)
            }
        }
    )*};
}
number_cell! {
    u32 => UInt32Array, UInt32, |given| match given {
        Given::Whole(value) => u32::try_from(*value).ok(),
        Given::Real(_) => None,
    }, |_| true;
    u64 => UInt64Array, UInt64, |given| match given {
        Given::Whole(value) => u64::try_from(*value).ok(),
        Given::Real(_) => None,
    }, |_| true;
    f32 => Float32Array, Float32, |given| match given {
        Given::Whole(value) => Some(*value as f32).filter(|x| *x as i128 == *value),
        // What is too large for single precision would become infinite.
        Given::Real(value) => Some(*value as f32).filter(|x| x.is_infinite() == value.is_infinite()),
    }, f32::is_finite;
    f64 => Float64Array, Float64, |given| match given {
        Given::Whole(value) => Some(*value as f64).filter(|x| *x as i128 == *value),
        Given::Real(value) => Some(*value),
    }, f64::is_finite;
}

impl Cell for String {
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn to_array(values: &[Self]) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(values))
    }
    fn append_from(array: &dyn Array, out: &mut Vec<Self>, misfit: &mut Misfit) {
        words(
            array,
            out,
            misfit,
            |word| Ok(word.to_owned()),
            String::new(),
        );
    }
}

/// Takes words that `accept` can make into a `T`; `fallback` stands where it cannot.
fn words<T: Clone>(
    array: &dyn Array,
    out: &mut Vec<T>,
    misfit: &mut Misfit,
    accept: impl Fn(&str) -> Result<T, String>,
    fallback: T,
) {
    let first = out.len();
    let Some(words) = array.as_any().downcast_ref::<StringArray>() else {
        let held = array.data_type();
        misfit(None, format_args!("holds {held}, not {}", DataType::Utf8));
        out.resize(first + array.len(), fallback);
        return;
    };
    for (row, word) in words.iter().enumerate() {
        let value = match word.map(&accept) {
            Some(Ok(value)) => value,
            Some(Err(what)) => {
                misfit(Some(row), format_args!("{what}"));
                fallback.clone()
            }
            None => {
                misfit(Some(row), format_args!("has no value"));
                fallback.clone()
            }
        };
        out.push(value);
    }
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

/// Declares an enum that the store keeps by name, so that no value is without one: `Value = "name"`.
macro_rules! named {
    ($(#[$meta:meta])* $type:ident { $($(#[$about:meta])* $value:ident = $name:literal,)* }) => {
        $(#[$meta])*
        pub enum $type {
            $($(#[$about])* $value,)*
        }
        impl $crate::columns::cell::Named for $type {
            const NAMES: &'static [(Self, &'static str)] = &[$(($type::$value, $name)),*];
        }
    };
}
pub(super) use named;

impl<T: Named> Cell for T {
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn to_array(values: &[Self]) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            values.iter().map(|value| value.name()),
        ))
    }
    fn append_from(array: &dyn Array, out: &mut Vec<Self>, misfit: &mut Misfit) {
        words(array, out, misfit, T::from_name, T::NAMES[0].0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::BreakMode;
    use arrow_array::{Int8Array, Int64Array};

    fn taken<T: Cell>(array: &dyn Array) -> (Vec<T>, Vec<String>) {
        let (mut out, mut messages) = (Vec::new(), Vec::new());
        T::append_from(array, &mut out, &mut |row, what| {
            messages.push(row.map_or(format!("{what}"), |row| format!("{row}: {what}")));
        });
        (out, messages)
    }

    #[test]
    fn numbers_of_other_types_are_taken_where_nothing_is_lost() {
        let whole = Int64Array::from(vec![0, 7, i64::from(u32::MAX)]);
        assert_eq!(taken::<u32>(&whole), (vec![0, 7, u32::MAX], vec![]));
        assert_eq!(
            taken::<f64>(&Int8Array::from(vec![-3])),
            (vec![-3.0], vec![])
        );
        let double = Float64Array::from(vec![0.1, f64::INFINITY]);
        assert_eq!(taken::<f32>(&double), (vec![0.1, f32::INFINITY], vec![]));
        let single = Float32Array::from(vec![0.1]);
        assert_eq!(taken::<f64>(&single), (vec![f64::from(0.1_f32)], vec![]));
    }

    #[test]
    fn what_does_not_fit_is_told_by_row() {
        let whole = Int64Array::from(vec![Some(-1), Some(2), None, Some(1 << 40)]);
        let (values, messages) = taken::<u32>(&whole);
        assert_eq!(values, [0, 2, 0, 0]);
        let expected = ["0: holds -1, which is no UInt32", "2: has no value"];
        assert_eq!(messages[..2], expected);
        assert_eq!(messages[2], "3: holds 1099511627776, which is no UInt32");
        let odd = Int64Array::from(vec![(1 << 24) + 1]);
        assert_eq!(
            taken::<f32>(&odd).1,
            ["0: holds 16777217, which is no Float32"]
        );
        let large = Float64Array::from(vec![1e300]);
        assert_eq!(taken::<f32>(&large).1.len(), 1);
        let real = Float64Array::from(vec![1.0, 2.0]);
        assert_eq!(taken::<u64>(&real).1, ["holds Float64, not UInt64"]);
        let words = StringArray::from(vec![Some("shear"), Some("bend"), None]);
        let (modes, messages) = taken::<BreakMode>(&words);
        assert_eq!(modes[0], BreakMode::Shear);
        let expected = "1: holds \"bend\"; allowed: tension, shear, hydrostatic";
        assert_eq!(messages, [expected, "2: has no value"]);
        assert_eq!(taken::<f64>(&words).1, ["holds Utf8, not Float64"]);
        assert_eq!(taken::<f64>(&words).0.len(), 3);
        assert_eq!(taken::<BreakMode>(&real).0.len(), 2);
        assert_eq!(taken::<String>(&words).0, ["shear", "bend", ""]);
        assert_eq!(taken::<String>(&words).1, ["2: has no value"]);
        assert_eq!(taken::<String>(&real).1, ["holds Float64, not Utf8"]);
    }
}

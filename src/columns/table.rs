//! The declaration of a table and what follows from it.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::cell::Misfit;

/// One column of a table as the store documents it.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name in the file.
    pub name: &'static str,
    /// Arrow type.
    pub data_type: DataType,
    /// SI unit; `1` for a pure number.
    pub unit: &'static str,
    /// Meaning.
    pub doc: &'static str,
    /// Foreign stores may omit it; reconstruct, export and preview never need it.
    pub optional: bool,
}

/// A struct of equally long columns.
pub trait Table: Default + Send + Sync + 'static {
    /// Name in messages and documentation.
    const NAME: &'static str;
    /// File of the store that has it, and what its rows are.
    const DOC: &'static str;
    /// The columns in the order of the file.
    fn columns() -> Vec<Column>;
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Whether column number `column` is there: one that is optional may be empty beside others that have
    /// rows, and is not written then.
    fn has(&self, column: usize) -> bool;
    /// These rows of column number `column` as an Arrow array.
    fn array(&self, column: usize, rows: Range<usize>) -> ArrayRef;
    /// The columns that are there as Arrow arrays, in order.
    fn to_arrays(&self) -> Vec<ArrayRef> {
        let columns = (0..Self::columns().len()).filter(|&at| self.has(at));
        columns.map(|at| self.array(at, 0..self.rows())).collect()
    }
    /// Appends an array to column number `column`; `misfit` hears what does not fit.
    fn append(&mut self, column: usize, array: &dyn Array, misfit: &mut Misfit);
    /// Empties column number `column`.
    fn clear(&mut self, column: usize);
    /// Gives name and row of every value that is infinite or no number.
    fn each_not_finite(&self, found: &mut dyn FnMut(&'static str, usize));
}

/// Appends the rows of a table to another one.
pub fn append_rows<T: Table>(to: &mut T, part: &T) {
    for column in (0..T::columns().len()).filter(|&at| part.has(at)) {
        let array = part.array(column, 0..part.rows());
        to.append(column, array.as_ref(), &mut |_, what| {
            unreachable!("{}: {what}", T::NAME)
        });
    }
}

/// Declares a table: `field: type, "unit", "meaning";`, with `, optional` before the semicolon where stores
/// of other programs may lack it.
macro_rules! table {
    ($(#[doc = $text:literal])* $name:ident { $($field:ident: $cell:ty, $unit:literal, $doc:literal $(, $optional:ident)?;)* }) => {
        $(#[doc = $text])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $(#[doc = concat!($doc, ", `", $unit, "`")] pub $field: Vec<$cell>,)* }

        impl $crate::columns::table::Table for $name {
            const NAME: &'static str = stringify!($name);
            const DOC: &'static str = concat!($($text),*);
            fn columns() -> Vec<$crate::columns::table::Column> {
                vec![$($crate::columns::table::Column {
                    name: stringify!($field),
                    data_type: <$cell as $crate::columns::cell::Cell>::data_type(),
                    unit: $unit,
                    doc: $doc,
                    optional: !stringify!($($optional)?).is_empty(),
                },)*]
            }
            fn rows(&self) -> usize {
                let lengths = [$((self.$field.len(), !stringify!($($optional)?).is_empty())),*];
                let (rows, _) = lengths[0];
                debug_assert!(
                    lengths.iter().all(|(n, optional)| *n == rows || *optional && *n == 0),
                    "columns of one length"
                );
                rows
            }
            fn has(&self, column: usize) -> bool {
                [$(self.$field.len()),*][column] == self.rows()
            }
            fn array(&self, column: usize, rows: std::ops::Range<usize>) -> arrow_array::ArrayRef {
                let mut at = 0;
                $(
                    if at == column {
                        return <$cell as $crate::columns::cell::Cell>::to_array(&self.$field[rows]);
                    }
                    at += 1;
                )*
                unreachable!("column {column} of {at}")
            }
            fn append(
                &mut self,
                column: usize,
                array: &dyn arrow_array::Array,
                misfit: &mut $crate::columns::cell::Misfit,
            ) {
                let mut at = 0;
                $(
                    if at == column {
                        return <$cell as $crate::columns::cell::Cell>::append_from(array, &mut self.$field, misfit);
                    }
                    at += 1;
                )*
                unreachable!("column {column} of {at}")
            }
            fn clear(&mut self, column: usize) {
                let mut at = 0;
                $(
                    if at == column {
                        return self.$field.clear();
                    }
                    at += 1;
                )*
                unreachable!("column {column} of {at}")
            }
            fn each_not_finite(&self, found: &mut dyn FnMut(&'static str, usize)) {
                $(
                    for (row, value) in self.$field.iter().enumerate() {
                        if !$crate::columns::cell::Cell::is_finite(value) {
                            found(stringify!($field), row);
                        }
                    }
                )*
            }
        }
    };
}
pub(crate) use table;

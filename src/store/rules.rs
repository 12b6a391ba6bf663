//! What the tables of a store must hold beyond columns of the right types: one set of rules for the stages,
//! which refuse the first thing wrong in the columns that they read, and for [`validate`](super::validate),
//! which tells all of them.
//!
//! Each rule takes rows from number `first` on and passes by columns that are empty, as those are that were not read.

use std::fmt;
use std::path::Path;

use super::error::{Result, StoreError};
use crate::columns::{Bonds, Breaks, Elements, Frames, Table};

/// How far directions may be from unit length.
pub(super) const UNIT: f64 = 1e-3;

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Column; absent: the whole file.
    pub column: Option<&'static str>,
    /// Row, counted from 0; absent: all.
    pub row: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.column, self.row) {
            (Some(column), Some(row)) => write!(f, "column {column}, row {row}: {}", self.what),
            (Some(column), None) => write!(f, "column {column}: {}", self.what),
            (None, Some(row)) => write!(f, "row {row}: {}", self.what),
            (None, None) => f.write_str(&self.what),
        }
    }
}

/// Faults of a file as they are found: the first ones are kept, all are counted.
#[derive(Clone, Debug)]
pub struct Faults {
    /// Those kept.
    pub kept: Vec<Fault>,
    /// How many more there were.
    pub more: usize,
    limit: usize,
}

impl Faults {
    /// Keeps up to `limit`.
    pub fn new(limit: usize) -> Self {
        Faults {
            kept: Vec::new(),
            more: 0,
            limit,
        }
    }

    /// Keeps the first alone.
    pub fn first() -> Self {
        Faults::new(1)
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.kept.len() + self.more
    }

    /// Takes a fault.
    pub fn tell(
        &mut self,
        column: impl Into<Option<&'static str>>,
        row: impl Into<Option<usize>>,
        what: fmt::Arguments,
    ) {
        if self.kept.len() == self.limit {
            self.more += 1;
            return;
        }
        self.kept.push(Fault {
            column: column.into(),
            row: row.into(),
            what: what.to_string(),
        });
    }

    /// The first fault as an error about the file at `path`.
    pub fn refuse(self, path: &Path) -> Result<()> {
        match self.kept.first() {
            None => Ok(()),
            Some(fault) => Err(StoreError::invalid(path, fault)),
        }
    }
}

/// Ids are the numbers of rows.
pub(super) fn ids(ids: &[u32], first: usize, faults: &mut Faults) {
    for (row, &id) in (first..).zip(ids) {
        if id as usize != row {
            faults.tell("id", row, format_args!("is {id}; ids are the row numbers"));
        }
    }
}

/// Numbers are finite, but for those of the columns `free`.
pub fn finite(table: &impl Table, free: &[&str], first: usize, faults: &mut Faults) {
    table.each_not_finite(&mut |column, row| {
        if !free.contains(&column) {
            faults.tell(column, first + row, format_args!("is not finite"));
        }
    });
}

/// Numbers are above 0, or at least 0 where `zero` says so. What is no number is told by [`finite`].
pub(super) fn positive(
    name: &'static str,
    column: &[f64],
    zero: bool,
    unit: &str,
    first: usize,
    faults: &mut Faults,
) {
    for (row, &value) in (first..).zip(column) {
        if value < 0.0 || (value == 0.0 && !zero) {
            let least = if zero { "at least" } else { "above" };
            faults.tell(
                name,
                row,
                format_args!("is {value} {unit}; it must be {least} 0"),
            );
        }
    }
}

/// Vectors have unit length within `within`; told under the name of their first component.
pub(super) fn unit<const N: usize, T: Copy + Into<f64>>(
    name: &'static str,
    components: [&[T]; N],
    within: f64,
    first: usize,
    faults: &mut Faults,
) {
    if components.iter().any(|column| column.is_empty()) {
        return;
    }
    for at in 0..components[0].len() {
        let squares = components.map(|column| column[at].into().powi(2));
        let length = squares.iter().sum::<f64>().sqrt();
        if length.is_finite() && (length - 1.0).abs() > within {
            let what = format_args!("begins a vector of length {length:.6}; it must be 1");
            faults.tell(name, first + at, what);
        }
    }
}

/// Rows of `packing/elements.parquet`.
pub fn elements(part: &Elements, first: usize, faults: &mut Faults) {
    ids(&part.id, first, faults);
    finite(part, &[], first, faults);
    positive("r", &part.r, false, "m", first, faults);
    positive("mass", &part.mass, false, "kg", first, faults);
    positive("inertia", &part.inertia, true, "kg m^2", first, faults);
    positive("volume", &part.volume, true, "m^3", first, faults);
}

/// Rows of `packing/bonds.parquet` of a packing of `elements` elements.
pub fn bonds(part: &Bonds, first: usize, elements: usize, faults: &mut Faults) {
    ids(&part.id, first, faults);
    for (name, ends) in [("i", &part.i), ("j", &part.j)] {
        for (row, &end) in (first..).zip(ends) {
            if end as usize >= elements {
                faults.tell(
                    name,
                    row,
                    format_args!("is element {end}; the packing has {elements} elements"),
                );
            }
        }
    }
    for (row, (&i, &j)) in (first..).zip(part.i.iter().zip(&part.j)) {
        if i >= j {
            faults.tell(
                "i",
                row,
                format_args!("is {i} and j is {j}; i must be the smaller"),
            );
        }
    }
    finite(part, &["sigma_c", "tau_c"], first, faults);
    positive("l0", &part.l0, false, "m", first, faults);
    unit("dx", [&part.dx, &part.dy, &part.dz], UNIT, first, faults);
    positive("radius", &part.radius, false, "m", first, faults);
    positive("young", &part.young, true, "Pa", first, faults);
    positive("shear", &part.shear, true, "Pa", first, faults);
    for (name, strengths) in [("sigma_c", &part.sigma_c), ("tau_c", &part.tau_c)] {
        positive(name, strengths, false, "Pa", first, faults);
        for (row, strength) in (first..).zip(strengths) {
            if strength.is_nan() {
                faults.tell(name, row, format_args!("is no number"));
            }
        }
    }
}

/// Rows of `frames/NNNNNN.parquet`. Quaternions may be off unit length by `rounding` beyond what is always allowed.
pub fn frames(part: &Frames, first: usize, number: u32, rounding: f64, faults: &mut Faults) {
    numbered(&part.frame, first, number, faults);
    ids(&part.id, first, faults);
    finite(part, &[], first, faults);
    let turns: [&[f32]; 4] = [&part.qx, &part.qy, &part.qz, &part.qw];
    unit("qx", turns, UNIT + rounding, first, faults);
}

/// A file of `rows` rows that must have one for each of `elements` elements.
pub fn one_an_element(rows: usize, elements: usize, faults: &mut Faults) {
    if rows != elements {
        faults.tell(
            None,
            None,
            format_args!("{rows} rows; the packing has {elements} elements"),
        );
    }
}

/// Ends of bonds that broke are those of the packing, where `bonds` has them.
pub fn ends(part: &Breaks, first: usize, bonds: &[[u32; 2]], faults: &mut Faults) {
    let ends = part.i.iter().zip(&part.j);
    for (row, (bond, (&i, &j))) in (first..).zip(part.bond.iter().zip(ends)) {
        if let Some(&[a, b]) = bonds.get(*bond as usize)
            && [i, j] != [a, b]
        {
            let what = format_args!("is {i} and j is {j}; bond {bond} joins {a} and {b}");
            faults.tell("i", row, what);
        }
    }
}

/// Bonds that broke are among the `bonds` of the packing.
pub fn broken(broken: &[u32], first: usize, bonds: usize, faults: &mut Faults) {
    for (row, &bond) in (first..).zip(broken) {
        if bond as usize >= bonds {
            faults.tell(
                "bond",
                row,
                format_args!("is {bond}; the packing has {bonds} bonds"),
            );
        }
    }
}

/// The number of the file stands in every row.
pub fn numbered(frames: &[u32], first: usize, number: u32, faults: &mut Faults) {
    for (row, &frame) in (first..).zip(frames) {
        if frame != number {
            faults.tell(
                "frame",
                row,
                format_args!("is {frame}; the file is number {number}"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(check: impl FnOnce(&mut Faults)) -> Vec<String> {
        let mut faults = Faults::new(100);
        check(&mut faults);
        faults.kept.iter().map(Fault::to_string).collect()
    }

    #[test]
    fn rows_count_over_parts_and_columns_that_were_not_read_are_passed_by() {
        let part = Elements {
            id: vec![10, 12],
            r: vec![1.0, f64::NAN],
            mass: vec![0.0, 1.0],
            ..Elements::default()
        };
        assert_eq!(
            told(|faults| elements(&part, 10, faults)),
            [
                "column id, row 11: is 12; ids are the row numbers",
                "column r, row 11: is not finite",
                "column mass, row 10: is 0 kg; it must be above 0"
            ]
        );
    }

    #[test]
    fn bonds_end_at_elements_and_may_be_infinitely_strong() {
        let mut part = Bonds {
            id: vec![0, 1],
            i: vec![0, 2],
            j: vec![1, 2],
            l0: vec![1.0; 2],
            dx: vec![1.0, 0.9],
            dy: vec![0.0; 2],
            dz: vec![0.0; 2],
            sigma_c: vec![f64::INFINITY, f64::NAN],
            ..Bonds::default()
        };
        assert_eq!(
            told(|faults| bonds(&part, 0, 3, faults)),
            [
                "column i, row 1: is 2 and j is 2; i must be the smaller",
                "column dx, row 1: begins a vector of length 0.900000; it must be 1",
                "column sigma_c, row 1: is no number"
            ]
        );
        part.j[0] = 3;
        let first = &told(|faults| bonds(&part, 0, 3, faults))[0];
        assert_eq!(
            first,
            "column j, row 0: is element 3; the packing has 3 elements"
        );
    }

    #[test]
    fn no_more_is_kept_than_asked_for() {
        let mut faults = Faults::first();
        broken(&[4, 1, 7], 0, 2, &mut faults);
        assert_eq!((faults.kept.len(), faults.more, faults.count()), (1, 1, 2));
        let error = faults.refuse(Path::new("b.parquet")).unwrap_err();
        let expected = "b.parquet: column bond, row 0: is 4; the packing has 2 bonds";
        assert_eq!(error.to_string(), expected);
    }
}

//! Rules for the values in the tables of a store, beyond columns of the right types. The stages use them, and
//! fail at the first fault in the columns that they read; so does [`validate`](super::validate), which
//! reports all faults.
//!
//! Each rule checks a part of a table, whose first row is row number `first`. It skips empty columns: these
//! were not read.

use std::fmt;
use std::path::Path;

use super::error::{Result, StoreError};
use crate::columns::{Bonds, Breaks, Elements, Frames, Sleep, Table};

/// Allowed deviation of directions from unit length.
pub(super) const UNIT_TOLERANCE: f64 = 1e-3;

/// A fault in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// Column; `None`: the whole row or file.
    pub column: Option<&'static str>,
    /// Row, counted from 0; `None`: the whole column or file.
    pub row: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.column, self.row) {
            (Some(column), Some(row)) => write!(f, "column {column}, row {row}: {}", self.what),
            (Some(column), None) => write!(f, "column {column}: {}", self.what),
            (None, Some(row)) => write!(f, "row {row}: {}", self.what),
            (None, None) => f.write_str(&self.what),
        }
    }
}

/// Faults found in a file: the first `limit` are kept, all are counted.
#[derive(Clone, Debug)]
pub struct SchemaFaults {
    /// The faults that were kept.
    pub kept: Vec<SchemaFault>,
    /// Number of further faults.
    pub more: usize,
    limit: usize,
}

impl SchemaFaults {
    /// Keeps up to `limit` faults.
    pub fn new(limit: usize) -> Self {
        SchemaFaults {
            kept: Vec::new(),
            more: 0,
            limit,
        }
    }

    /// Keeps only the first fault.
    pub fn first_only() -> Self {
        SchemaFaults::new(1)
    }

    /// Number of all faults.
    pub fn count(&self) -> usize {
        self.kept.len() + self.more
    }

    /// Adds a fault.
    pub fn add(
        &mut self,
        column: impl Into<Option<&'static str>>,
        row: impl Into<Option<usize>>,
        what: fmt::Arguments,
    ) {
        if self.kept.len() == self.limit {
            self.more += 1;
            return;
        }
        self.kept.push(SchemaFault {
            column: column.into(),
            row: row.into(),
            what: what.to_string(),
        });
    }

    /// An error with the first fault of the file at `path`, if there is any.
    pub fn into_result(self, path: &Path) -> Result<()> {
        match self.kept.first() {
            None => Ok(()),
            Some(fault) => Err(StoreError::invalid(path, fault)),
        }
    }
}

/// Ids equal the row numbers.
pub(super) fn ids(ids: &[u32], first: usize, faults: &mut SchemaFaults) {
    for (row, &id) in (first..).zip(ids) {
        if id as usize != row {
            faults.add("id", row, format_args!("is {id}; ids are the row numbers"));
        }
    }
}

/// Numbers are finite, except those of the columns `exempt`.
pub fn finite(table: &impl Table, exempt: &[&str], first: usize, faults: &mut SchemaFaults) {
    table.each_not_finite(&mut |column, row| {
        if !exempt.contains(&column) {
            faults.add(column, first + row, format_args!("is not finite"));
        }
    });
}

/// Numbers are above 0, or at least 0 if `zero_allowed`. NaN is reported by [`finite`].
pub(super) fn positive(
    name: &'static str,
    column: &[f64],
    zero_allowed: bool,
    unit: &str,
    first: usize,
    faults: &mut SchemaFaults,
) {
    for (row, &value) in (first..).zip(column) {
        if value < 0.0 || (value == 0.0 && !zero_allowed) {
            let least = if zero_allowed { "at least" } else { "above" };
            faults.add(
                name,
                row,
                format_args!("is {value} {unit}; it must be {least} 0"),
            );
        }
    }
}

/// Vectors have unit length within `tolerance`; faults are reported for the column of their first component, `name`.
pub(super) fn unit_vectors<const N: usize, T: Copy + Into<f64>>(
    name: &'static str,
    components: [&[T]; N],
    tolerance: f64,
    first: usize,
    faults: &mut SchemaFaults,
) {
    if components.iter().any(|column| column.is_empty()) {
        return;
    }
    for at in 0..components[0].len() {
        let squares = components.map(|column| column[at].into().powi(2));
        let length = squares.iter().sum::<f64>().sqrt();
        if length.is_finite() && (length - 1.0).abs() > tolerance {
            let what = format_args!("begins a vector of length {length:.6}; it must be 1");
            faults.add(name, first + at, what);
        }
    }
}

/// Checks rows of `packing/elements.parquet`.
pub fn elements(part: &Elements, first: usize, faults: &mut SchemaFaults) {
    ids(&part.id, first, faults);
    finite(part, &[], first, faults);
    positive("r", &part.r, false, "m", first, faults);
    positive("mass", &part.mass, false, "kg", first, faults);
    positive("inertia", &part.inertia, true, "kg m^2", first, faults);
    positive("volume", &part.volume, true, "m^3", first, faults);
}

/// Checks rows of `packing/bonds.parquet` of a packing of `elements` elements.
pub fn bonds(part: &Bonds, first: usize, elements: usize, faults: &mut SchemaFaults) {
    ids(&part.id, first, faults);
    for (name, ends) in [("i", &part.i), ("j", &part.j)] {
        for (row, &end) in (first..).zip(ends) {
            if end as usize >= elements {
                faults.add(
                    name,
                    row,
                    format_args!("is element {end}; the packing has {elements} elements"),
                );
            }
        }
    }
    for (row, (&i, &j)) in (first..).zip(part.i.iter().zip(&part.j)) {
        if i >= j {
            faults.add(
                "i",
                row,
                format_args!("is {i} and j is {j}; i must be the smaller"),
            );
        }
    }
    finite(part, &["sigma_c", "tau_c"], first, faults);
    positive("l0", &part.l0, false, "m", first, faults);
    unit_vectors(
        "dx",
        [&part.dx, &part.dy, &part.dz],
        UNIT_TOLERANCE,
        first,
        faults,
    );
    positive("radius", &part.radius, false, "m", first, faults);
    positive("young", &part.young, true, "Pa", first, faults);
    positive("shear", &part.shear, true, "Pa", first, faults);
    for (name, strengths) in [("sigma_c", &part.sigma_c), ("tau_c", &part.tau_c)] {
        positive(name, strengths, true, "Pa", first, faults);
        for (row, strength) in (first..).zip(strengths) {
            if strength.is_nan() {
                faults.add(name, row, format_args!("is NaN"));
            }
        }
    }
    let both = part.sigma_c.iter().zip(&part.tau_c);
    for (row, (sigma, tau)) in (first..).zip(both) {
        if (*sigma == 0.0) != (*tau == 0.0) {
            faults.add(
                "sigma_c",
                row,
                format_args!(
                    "is {sigma} Pa and tau_c is {tau} Pa; a bond has both strengths or none"
                ),
            );
        }
    }
}

/// Checks rows of `frames/NNNNNN.parquet`. Quaternions may deviate from unit length by `rounding` more than the usual
/// tolerance.
pub fn frames(part: &Frames, first: usize, number: u32, rounding: f64, faults: &mut SchemaFaults) {
    frame_numbers(&part.frame, first, number, faults);
    ids(&part.id, first, faults);
    finite(part, &[], first, faults);
    let rotations: [&[f32]; 4] = [&part.qx, &part.qy, &part.qz, &part.qw];
    unit_vectors("qx", rotations, UNIT_TOLERANCE + rounding, first, faults);
}

/// Checks rows of `sleep/NNNNNN.parquet`. `last_step` is the step of the row before, if there is one.
pub fn sleep(
    part: &Sleep,
    first: usize,
    number: u32,
    last_step: &mut Option<u64>,
    faults: &mut SchemaFaults,
) {
    frame_numbers(&part.frame, first, number, faults);
    finite(part, &[], first, faults);
    for (row, &step) in (first..).zip(&part.step) {
        if let Some(earlier) = last_step.replace(step)
            && step < earlier
        {
            let what = format_args!("is {step}, after {earlier}; steps must not fall");
            faults.add("step", row, what);
        }
    }
    for (row, &used) in (first..).zip(&part.use_of_strength) {
        if used < 0.0 {
            let what = format_args!("is {used}; it must be at least 0");
            faults.add("use_of_strength", row, what);
        }
    }
}

/// The number of rows is the number of elements.
pub fn one_row_per_element(rows: usize, elements: usize, faults: &mut SchemaFaults) {
    if rows != elements {
        faults.add(
            None,
            None,
            format_args!("{rows} rows; the packing has {elements} elements"),
        );
    }
}

/// Ends of broken bonds agree with those of the packing, `bonds`; bonds that it lacks are skipped.
pub fn break_ends(part: &Breaks, first: usize, bonds: &[[u32; 2]], faults: &mut SchemaFaults) {
    let ends = part.i.iter().zip(&part.j);
    for (row, (bond, (&i, &j))) in (first..).zip(part.bond.iter().zip(ends)) {
        if let Some(&[a, b]) = bonds.get(*bond as usize)
            && [i, j] != [a, b]
        {
            let what = format_args!("is {i} and j is {j}; bond {bond} joins {a} and {b}");
            faults.add("i", row, what);
        }
    }
}

/// Broken bonds are among the `bonds` bonds of the packing.
pub fn broken_bonds(broken: &[u32], first: usize, bonds: usize, faults: &mut SchemaFaults) {
    for (row, &bond) in (first..).zip(broken) {
        if bond as usize >= bonds {
            faults.add(
                "bond",
                row,
                format_args!("is {bond}; the packing has {bonds} bonds"),
            );
        }
    }
}

/// Every row has the number of the file.
pub fn frame_numbers(frames: &[u32], first: usize, number: u32, faults: &mut SchemaFaults) {
    for (row, &frame) in (first..).zip(frames) {
        if frame != number {
            faults.add(
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

    fn messages(check: impl FnOnce(&mut SchemaFaults)) -> Vec<String> {
        let mut faults = SchemaFaults::new(100);
        check(&mut faults);
        faults.kept.iter().map(SchemaFault::to_string).collect()
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
            messages(|faults| elements(&part, 10, faults)),
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
            messages(|faults| bonds(&part, 0, 3, faults)),
            [
                "column i, row 1: is 2 and j is 2; i must be the smaller",
                "column dx, row 1: begins a vector of length 0.900000; it must be 1",
                "column sigma_c, row 1: is NaN"
            ]
        );
        part.j[0] = 3;
        let first = &messages(|faults| bonds(&part, 0, 3, faults))[0];
        assert_eq!(
            first,
            "column j, row 0: is element 3; the packing has 3 elements"
        );
    }

    #[test]
    fn steps_of_events_of_sleep_do_not_fall_from_one_part_to_the_next() {
        let part = |step: Vec<u64>, use_of_strength: Vec<f64>| Sleep {
            frame: vec![4; step.len()],
            time: vec![1.0, f64::INFINITY],
            step,
            use_of_strength,
            energy: vec![0.0, f64::NAN],
            ..Sleep::default()
        };
        let mut last_step = None;
        let mut messages_of = |part: &Sleep, first, number| {
            messages(|faults| sleep(part, first, number, &mut last_step, faults))
        };
        assert_eq!(
            messages_of(&part(vec![7, 7], vec![0.0, 1.5]), 0, 4),
            [
                "column time, row 1: is not finite",
                "column energy, row 1: is not finite"
            ]
        );
        let mut later = part(vec![6, 8], vec![0.0, -0.5]);
        later.time[1] = 2.0;
        later.energy[1] = -1.0;
        assert_eq!(
            messages_of(&later, 2, 5),
            [
                "column frame, row 2: is 4; the file is number 5",
                "column frame, row 3: is 4; the file is number 5",
                "column step, row 2: is 6, after 7; steps must not fall",
                "column use_of_strength, row 3: is -0.5; it must be at least 0"
            ]
        );
    }

    #[test]
    fn no_more_is_kept_than_asked_for() {
        let mut faults = SchemaFaults::first_only();
        broken_bonds(&[4, 1, 7], 0, 2, &mut faults);
        assert_eq!((faults.kept.len(), faults.more, faults.count()), (1, 1, 2));
        let error = faults.into_result(Path::new("b.parquet")).unwrap_err();
        let expected = "b.parquet: column bond, row 0: is 4; the packing has 2 bonds";
        assert_eq!(error.to_string(), expected);
    }
}

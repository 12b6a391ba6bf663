//! Checks the tables of frames: elements, breaks, history, fragments, loads, convergence, stress.

use std::collections::BTreeMap;

use crate::parallel::prelude::*;

use super::checked_file::{CheckedFile, name_of};
use super::packing::PackingData;
use super::table::{self, TablePart};
use crate::columns::{
    Breaks, Column, Convergence, Fragments, Frames, History, Loads, Stress, Table,
};
use crate::spec::FrameGroup;
use crate::store::error::Result;
use crate::store::folder::Store;
use crate::store::parquet;
use crate::store::rules::{self, SchemaFaults};

/// Allowed relative difference between a fragment's mass and that of its elements.
const MASS_TOLERANCE: f64 = 1e-5;
/// Allowed relative difference between the times of two tables of a frame: one may have been stored in single
/// precision.
const TIME_TOLERANCE: f64 = 1e-6;

/// Result of checking the tables of a frame number, except breaks and stress.
struct FrameTables {
    number: u32,
    time: Option<f64>,
    frame: Option<CheckedFile>,
    history: Option<CheckedFile>,
    fragments: Option<CheckedFile>,
    loads: Option<CheckedFile>,
    convergence: Option<CheckedFile>,
}

/// Broken bonds, with their rows, in `breaks/NNNNNN.parquet`.
struct BreaksFile {
    number: u32,
    bonds: Vec<(usize, u32)>,
    file: CheckedFile,
}

/// Checks `frames/`, `breaks/`, `history/`, `fragments/`, `loads/`, `convergence/` and `stress/`.
pub fn check(store: &Store, packing: &PackingData, checked: &mut Vec<CheckedFile>) -> Result<()> {
    let numbers = |kind| store.numbers(kind, "parquet");
    let (frames, history, fragments) = (
        numbers("frames")?,
        numbers("history")?,
        numbers("fragments")?,
    );
    let (loads, convergence) = (numbers("loads")?, numbers("convergence")?);
    let mut numbers = [&frames[..], &history, &fragments, &loads, &convergence].concat();
    numbers.sort_unstable();
    numbers.dedup();
    let mut frame_tables: Vec<FrameTables> = numbers
        .into_par_iter()
        .map(|number| {
            let exists = |list: &[u32]| list.binary_search(&number).is_ok();
            let frame = exists(&frames).then(|| FrameFile::new(store, packing, number));
            FrameTables {
                number,
                time: frame.as_ref().and_then(|frame| frame.time),
                history: exists(&history).then(|| check_history(store, frame.as_ref(), number)),
                fragments: exists(&fragments)
                    .then(|| check_fragments(store, packing, frame.as_ref(), number)),
                loads: exists(&loads).then(|| {
                    check_timed(store, "loads", frame.as_ref(), number, |t: &Loads| {
                        (&t.frame, &t.time)
                    })
                }),
                convergence: exists(&convergence).then(|| {
                    check_timed(
                        store,
                        "convergence",
                        frame.as_ref(),
                        number,
                        |t: &Convergence| (&t.frame, &t.time),
                    )
                }),
                frame: frame.map(|frame| frame.file),
            }
        })
        .collect();
    report_unordered_times(&mut frame_tables);
    let breaks = store.numbers("breaks", "parquet")?;
    let mut breaks: Vec<BreaksFile> = breaks
        .into_par_iter()
        .map(|number| BreaksFile::new(store, packing, number))
        .collect();
    report_repeated_breaks(&mut breaks);
    let mut tables: [Vec<CheckedFile>; 5] = Default::default();
    for tables_of_frame in frame_tables {
        let FrameTables {
            frame,
            history,
            fragments,
            loads,
            convergence,
            ..
        } = tables_of_frame;
        let files = [frame, history, fragments, loads, convergence];
        for (table, file) in tables.iter_mut().zip(files) {
            table.extend(file);
        }
    }
    let [frames, history, fragments, loads, convergence] = tables;
    checked.extend(frames);
    checked.extend(breaks.into_iter().map(|breaks| breaks.file));
    checked.extend(history);
    checked.extend(fragments);
    checked.extend(loads);
    checked.extend(convergence);
    let stress = store.numbers("stress", "parquet")?;
    let stress: Vec<CheckedFile> = stress
        .into_par_iter()
        .map(|number| {
            // Stress is computed for a load in the pipeline, which has its own time.
            check_timed(store, "stress", None, number, |t: &Stress| {
                (&t.frame, &t.time)
            })
        })
        .collect();
    checked.extend(stress);
    Ok(())
}

/// Data of a frame file that other tables are compared with.
struct FrameFile {
    file: CheckedFile,
    time: Option<f64>,
    labels: Option<Vec<u32>>,
}

impl FrameFile {
    fn new(store: &Store, packing: &PackingData, number: u32) -> Self {
        let mut file = CheckedFile::new(name_of("frames", number, "parquet"));
        let path = store.path(&file.file);
        // Columns that cullet left out are listed in the file. Files of other programs must have all columns from which
        // surfaces are computed.
        let lists_left_out = parquet::lists_left_out_columns(&path);
        let required = |column: &Column, present: &[String]| {
            let mut groups = FrameGroup::ALL.into_iter();
            let Some(group) = groups.find(|group| group.columns().contains(&column.name)) else {
                return true;
            };
            let is_present = |name: &&str| present.iter().any(|found| found == name);
            group == FrameGroup::Position
                || group.columns().iter().any(is_present)
                || !(lists_left_out || column.optional)
        };
        let rounding = table::rounding(&path, "qx");
        let (mut time, mut labels) = (None, Vec::new());
        let rows = table::read(
            &path,
            &mut file,
            required,
            &mut |part: TablePart<Frames>, faults| {
                rules::frames(part.table, part.first, number, rounding, faults);
                check_equal_times(&part.table.time, part.first, &mut time, faults);
                labels.extend_from_slice(&part.table.fragment);
            },
        );
        if let (Some(rows), Some(elements)) = (rows, packing.elements) {
            rules::one_row_per_element(rows, elements, &mut file.faults);
        }
        FrameFile {
            file,
            time,
            labels: Some(labels).filter(|labels| Some(labels.len()) == rows),
        }
    }
}

/// All rows of a frame have the time of the first.
fn check_equal_times(
    times: &[f64],
    first: usize,
    time: &mut Option<f64>,
    faults: &mut SchemaFaults,
) {
    for (row, &found) in (first..).zip(times) {
        let expected = *time.get_or_insert(found);
        if found.is_finite() && expected.is_finite() && found != expected {
            let what = format_args!("is {found} s; row 0 is at {expected} s");
            faults.add("time", row, what);
        }
    }
}

/// The rows of another table have the time of the frame.
fn check_frame_time(
    times: &[f64],
    first: usize,
    frame: Option<&FrameFile>,
    faults: &mut SchemaFaults,
) {
    let Some(expected) = frame.and_then(|frame| frame.time) else {
        return;
    };
    for (row, &found) in (first..).zip(times) {
        if (found - expected).abs() > TIME_TOLERANCE * expected.abs() {
            let what = format_args!("is {found} s; the frame is at {expected} s");
            faults.add("time", row, what);
        }
    }
}

fn check_history(store: &Store, frame: Option<&FrameFile>, number: u32) -> CheckedFile {
    let mut file = CheckedFile::new(name_of("history", number, "parquet"));
    let path = store.path(&file.file);
    let rows = table::read(
        &path,
        &mut file,
        |column, _| !column.optional,
        &mut |part: TablePart<History>, faults| {
            rules::frame_numbers(&part.table.frame, part.first, number, faults);
            rules::finite(part.table, &[], part.first, faults);
            check_frame_time(&part.table.time, part.first, frame, faults);
        },
    );
    if let Some(rows) = rows.filter(|&rows| rows != 1) {
        file.faults
            .add(None, None, format_args!("{rows} rows; one is expected"));
    }
    file
}

/// Checks a table of which all columns are required, and whose rows have the number and the time of the frame.
fn check_timed<T: Table>(
    store: &Store,
    kind: &str,
    frame: Option<&FrameFile>,
    number: u32,
    columns: fn(&T) -> (&[u32], &[f64]),
) -> CheckedFile {
    let mut file = CheckedFile::new(name_of(kind, number, "parquet"));
    let path = store.path(&file.file);
    table::read(
        &path,
        &mut file,
        |_, _| true,
        &mut |part: TablePart<T>, faults| {
            let (frames, times) = columns(part.table);
            rules::frame_numbers(frames, part.first, number, faults);
            rules::finite(part.table, &[], part.first, faults);
            check_frame_time(times, part.first, frame, faults);
        },
    );
    file
}

/// Sums over the elements of a frame that have the same fragment label.
struct FragmentMembers {
    count: u32,
    /// Mass, kg.
    mass: f64,
    /// Lowest and highest index of a body.
    bodies: [u32; 2],
}

fn members(packing: &PackingData, labels: &[u32]) -> BTreeMap<u32, FragmentMembers> {
    let mut found: BTreeMap<u32, FragmentMembers> = BTreeMap::new();
    for (row, &label) in labels.iter().enumerate() {
        let mass = packing.mass.as_ref().and_then(|mass| mass.get(row));
        let body = packing.body.as_ref().and_then(|body| body.get(row));
        let body = body.copied().unwrap_or_default();
        let members = found.entry(label).or_insert(FragmentMembers {
            count: 0,
            mass: 0.0,
            bodies: [body; 2],
        });
        members.count += 1;
        members.mass += mass.copied().unwrap_or(f64::NAN);
        members.bodies = [members.bodies[0].min(body), members.bodies[1].max(body)];
    }
    found
}

fn check_fragments(
    store: &Store,
    packing: &PackingData,
    frame: Option<&FrameFile>,
    number: u32,
) -> CheckedFile {
    let mut file = CheckedFile::new(name_of("fragments", number, "parquet"));
    let path = store.path(&file.file);
    let labels = frame.and_then(|frame| frame.labels.as_deref());
    let mut unlisted = labels.map(|labels| members(packing, labels));
    let mut previous = None;
    let rows = table::read(
        &path,
        &mut file,
        |_, _| true,
        &mut |part: TablePart<Fragments>, faults| {
            let table = part.table;
            rules::frame_numbers(&table.frame, part.first, number, faults);
            rules::finite(table, &[], part.first, faults);
            check_frame_time(&table.time, part.first, frame, faults);
            for (at, &label) in table.fragment.iter().enumerate() {
                let row = part.first + at;
                if previous.is_some_and(|previous| previous >= label) {
                    faults.add(
                        "fragment",
                        row,
                        format_args!("is {label}; labels must rise"),
                    );
                }
                previous = Some(label);
                let Some(unlisted) = &mut unlisted else {
                    continue;
                };
                let Some(members) = unlisted.remove(&label) else {
                    let what = format_args!("is {label}, which no element of the frame carries");
                    faults.add("fragment", row, what);
                    continue;
                };
                members.compare(table, at, row, faults);
            }
        },
    );
    // Unreadable rows may have had any label.
    let readable = rows.is_some()
        && file
            .faults
            .kept
            .iter()
            .all(|f| f.column != Some("fragment"));
    for (label, members) in unlisted.into_iter().flatten().filter(|_| readable) {
        let what = format_args!("lacks {label}, which {} elements carry", members.count);
        file.faults.add("fragment", None, what);
    }
    file
}

impl FragmentMembers {
    /// Reports where a row of the fragments table differs; `at` is its index in the part.
    fn compare(&self, table: &Fragments, at: usize, row: usize, faults: &mut SchemaFaults) {
        if let Some(&elements) = table.elements.get(at)
            && elements != self.count
        {
            let what = format_args!("is {elements}; {} carry the label", self.count);
            faults.add("elements", row, what);
        }
        if let Some(&mass) = table.mass.get(at)
            && (mass - self.mass).abs() > MASS_TOLERANCE * self.mass
        {
            let what = format_args!("is {mass} kg; the elements have {} kg", self.mass);
            faults.add("mass", row, what);
        }
        // A fragment may contain two bodies that a bond holds together.
        let [low, high] = self.bodies;
        if let Some(&body) = table.body.get(at)
            && !(low..=high).contains(&body)
        {
            let what = format_args!("is {body}; the elements are of body {low}");
            faults.add("body", row, what);
        }
    }
}

/// Reports frames whose time is not above that of the previous frame.
fn report_unordered_times(frame_tables: &mut [FrameTables]) {
    let mut previous: Option<(u32, f64)> = None;
    for tables in frame_tables {
        let (Some(file), Some(time)) = (&mut tables.frame, tables.time) else {
            continue;
        };
        if let Some((number, earlier)) = previous
            && time <= earlier
        {
            let what =
                format_args!("is {time} s; frame {number} is at {earlier} s: times must rise");
            file.faults.add("time", 0, what);
        }
        previous = Some((tables.number, time));
    }
}

impl BreaksFile {
    fn new(store: &Store, packing: &PackingData, number: u32) -> Self {
        let mut file = CheckedFile::new(name_of("breaks", number, "parquet"));
        let path = store.path(&file.file);
        let mut bonds = Vec::new();
        let required = |column: &Column, _: &[String]| !column.optional;
        table::read(
            &path,
            &mut file,
            required,
            &mut |part: TablePart<Breaks>, faults| {
                rules::frame_numbers(&part.table.frame, part.first, number, faults);
                rules::finite(part.table, &[], part.first, faults);
                if let Some(ends) = &packing.bonds {
                    rules::broken_bonds(&part.table.bond, part.first, ends.len(), faults);
                    rules::break_ends(part.table, part.first, ends, faults);
                }
                bonds.extend((part.first..).zip(part.table.bond.iter().copied()));
            },
        );
        BreaksFile {
            number,
            bonds,
            file,
        }
    }
}

/// Reports bonds that break more than once.
fn report_repeated_breaks(breaks: &mut [BreaksFile]) {
    let mut broken_in: BTreeMap<u32, u32> = BTreeMap::new();
    for BreaksFile {
        number,
        bonds,
        file,
    } in breaks
    {
        for &(row, bond) in bonds.iter() {
            if let Some(earlier) = broken_in.insert(bond, *number) {
                let what = format_args!("is {bond}, which broke in frame {earlier}");
                file.faults.add("bond", row, what);
            }
        }
    }
}

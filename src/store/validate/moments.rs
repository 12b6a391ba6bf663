//! The tables of frames: elements, breaks, history, fragments, loads, convergence, stress.

use std::collections::BTreeMap;

use crate::parallel::prelude::*;

use super::checked::{Checked, name_of};
use super::packing::Known;
use super::table::{self, Part};
use crate::columns::{
    Breaks, Column, Convergence, Fragments, Frames, History, Loads, Stress, Table,
};
use crate::spec::FrameGroup;
use crate::store::error::Result;
use crate::store::folder::Store;
use crate::store::parquet;
use crate::store::rules::{self, Faults};

/// How far a fragment's mass may be from that of its elements, over itself.
const MASS: f64 = 1e-5;
/// How far the times of two tables of a frame may be apart, over themselves: one may have been kept in single
/// precision.
const TIME: f64 = 1e-6;

/// What is known of a moment once its tables have been looked at.
struct Moment {
    number: u32,
    time: Option<f64>,
    frame: Option<Checked>,
    history: Option<Checked>,
    fragments: Option<Checked>,
    loads: Option<Checked>,
    convergence: Option<Checked>,
}

/// Bonds that broke, with their rows, in `breaks/NNNNNN.parquet`.
struct Broken {
    number: u32,
    bonds: Vec<(usize, u32)>,
    file: Checked,
}

/// Checks `frames/`, `breaks/`, `history/`, `fragments/`, `loads/`, `convergence/` and `stress/`.
pub fn check(store: &Store, known: &Known, checked: &mut Vec<Checked>) -> Result<()> {
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
    let mut moments: Vec<Moment> = numbers
        .into_par_iter()
        .map(|number| {
            let there = |list: &[u32]| list.binary_search(&number).is_ok();
            let seen = there(&frames).then(|| Seen::new(store, known, number));
            Moment {
                number,
                time: seen.as_ref().and_then(|seen| seen.time),
                history: there(&history).then(|| check_history(store, seen.as_ref(), number)),
                fragments: there(&fragments)
                    .then(|| check_fragments(store, known, seen.as_ref(), number)),
                loads: there(&loads).then(|| {
                    check_timed(store, "loads", seen.as_ref(), number, |t: &Loads| {
                        (&t.frame, &t.time)
                    })
                }),
                convergence: there(&convergence).then(|| {
                    check_timed(
                        store,
                        "convergence",
                        seen.as_ref(),
                        number,
                        |t: &Convergence| (&t.frame, &t.time),
                    )
                }),
                frame: seen.map(|seen| seen.file),
            }
        })
        .collect();
    times_rise(&mut moments);
    let breaks = store.numbers("breaks", "parquet")?;
    let mut breaks: Vec<Broken> = breaks
        .into_par_iter()
        .map(|number| Broken::new(store, known, number))
        .collect();
    once(&mut breaks);
    let mut tables: [Vec<Checked>; 5] = Default::default();
    for moment in moments {
        let Moment {
            frame,
            history,
            fragments,
            loads,
            convergence,
            ..
        } = moment;
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
    let stress: Vec<Checked> = stress
        .into_par_iter()
        .map(|number| {
            // Loads of the pipeline have a time of their own.
            check_timed(store, "stress", None, number, |t: &Stress| {
                (&t.frame, &t.time)
            })
        })
        .collect();
    checked.extend(stress);
    Ok(())
}

/// A frame as far as it can be read.
struct Seen {
    file: Checked,
    time: Option<f64>,
    labels: Option<Vec<u32>>,
}

impl Seen {
    fn new(store: &Store, known: &Known, number: u32) -> Self {
        let mut file = Checked::new(name_of("frames", number, "parquet"));
        let path = store.path(&file.file);
        // What was left out by choice is told in the file; what another program leaves out must not be what
        // surfaces follow from.
        let told = parquet::tells_left_out(&path);
        let required = |column: &Column, there: &[String]| {
            let mut groups = FrameGroup::ALL.into_iter();
            let Some(group) = groups.find(|group| group.columns().contains(&column.name)) else {
                return true;
            };
            let begun = |name: &&str| there.iter().any(|found| found == name);
            group == FrameGroup::Position
                || group.columns().iter().any(begun)
                || !(told || column.optional)
        };
        let rounding = table::rounding(&path, "qx");
        let (mut time, mut labels) = (None, Vec::new());
        let rows = table::read(
            &path,
            &mut file,
            required,
            &mut |part: Part<Frames>, faults| {
                rules::frames(part.table, part.first, number, rounding, faults);
                same_time(&part.table.time, part.first, &mut time, faults);
                labels.extend_from_slice(&part.table.fragment);
            },
        );
        if let (Some(rows), Some(elements)) = (rows, known.elements) {
            rules::one_an_element(rows, elements, &mut file.faults);
        }
        Seen {
            file,
            time,
            labels: Some(labels).filter(|labels| Some(labels.len()) == rows),
        }
    }
}

/// All rows of a frame have one time, that of the first.
fn same_time(times: &[f64], first: usize, time: &mut Option<f64>, faults: &mut Faults) {
    for (row, &found) in (first..).zip(times) {
        let expected = *time.get_or_insert(found);
        if found.is_finite() && expected.is_finite() && found != expected {
            let what = format_args!("is {found} s; row 0 is at {expected} s");
            faults.tell("time", row, what);
        }
    }
}

/// The time of a row of another table is that of the frame.
fn time_of(times: &[f64], first: usize, frame: Option<&Seen>, faults: &mut Faults) {
    let Some(expected) = frame.and_then(|seen| seen.time) else {
        return;
    };
    for (row, &found) in (first..).zip(times) {
        if (found - expected).abs() > TIME * expected.abs() {
            let what = format_args!("is {found} s; the frame is at {expected} s");
            faults.tell("time", row, what);
        }
    }
}

fn check_history(store: &Store, frame: Option<&Seen>, number: u32) -> Checked {
    let mut file = Checked::new(name_of("history", number, "parquet"));
    let path = store.path(&file.file);
    let rows = table::read(
        &path,
        &mut file,
        |column, _| !column.optional,
        &mut |part: Part<History>, faults| {
            rules::numbered(&part.table.frame, part.first, number, faults);
            rules::finite(part.table, &[], part.first, faults);
            time_of(&part.table.time, part.first, frame, faults);
        },
    );
    if let Some(rows) = rows.filter(|&rows| rows != 1) {
        file.faults
            .tell(None, None, format_args!("{rows} rows; one is wanted"));
    }
    file
}

/// Checks a table of which every column is wanted, each row of the frame's number and time.
fn check_timed<T: Table>(
    store: &Store,
    kind: &str,
    frame: Option<&Seen>,
    number: u32,
    columns: fn(&T) -> (&[u32], &[f64]),
) -> Checked {
    let mut file = Checked::new(name_of(kind, number, "parquet"));
    let path = store.path(&file.file);
    table::read(
        &path,
        &mut file,
        |_, _| true,
        &mut |part: Part<T>, faults| {
            let (frames, times) = columns(part.table);
            rules::numbered(frames, part.first, number, faults);
            rules::finite(part.table, &[], part.first, faults);
            time_of(times, part.first, frame, faults);
        },
    );
    file
}

/// The elements of a frame that carry a label.
struct Members {
    count: u32,
    /// kg.
    mass: f64,
    /// Lowest and highest body.
    bodies: [u32; 2],
}

fn members(known: &Known, labels: &[u32]) -> BTreeMap<u32, Members> {
    let mut found: BTreeMap<u32, Members> = BTreeMap::new();
    for (row, &label) in labels.iter().enumerate() {
        let mass = known.mass.as_ref().and_then(|mass| mass.get(row));
        let body = known.body.as_ref().and_then(|body| body.get(row));
        let body = body.copied().unwrap_or_default();
        let members = found.entry(label).or_insert(Members {
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

fn check_fragments(store: &Store, known: &Known, frame: Option<&Seen>, number: u32) -> Checked {
    let mut file = Checked::new(name_of("fragments", number, "parquet"));
    let path = store.path(&file.file);
    let labels = frame.and_then(|seen| seen.labels.as_deref());
    let mut left = labels.map(|labels| members(known, labels));
    let mut before = None;
    let rows = table::read(
        &path,
        &mut file,
        |_, _| true,
        &mut |part: Part<Fragments>, faults| {
            let table = part.table;
            rules::numbered(&table.frame, part.first, number, faults);
            rules::finite(table, &[], part.first, faults);
            time_of(&table.time, part.first, frame, faults);
            for (at, &label) in table.fragment.iter().enumerate() {
                let row = part.first + at;
                if before.is_some_and(|before| before >= label) {
                    faults.tell(
                        "fragment",
                        row,
                        format_args!("is {label}; labels must rise"),
                    );
                }
                before = Some(label);
                let Some(left) = &mut left else { continue };
                let Some(members) = left.remove(&label) else {
                    let what = format_args!("is {label}, which no element of the frame carries");
                    faults.tell("fragment", row, what);
                    continue;
                };
                members.hold_against(table, at, row, faults);
            }
        },
    );
    // Rows that cannot be read may have been any label's.
    let readable = rows.is_some()
        && file
            .faults
            .kept
            .iter()
            .all(|f| f.column != Some("fragment"));
    for (label, members) in left.into_iter().flatten().filter(|_| readable) {
        let what = format_args!("lacks {label}, which {} elements carry", members.count);
        file.faults.tell("fragment", None, what);
    }
    file
}

impl Members {
    /// Tells where a row of fragments says otherwise; `at` is its place in the part.
    fn hold_against(&self, table: &Fragments, at: usize, row: usize, faults: &mut Faults) {
        if let Some(&elements) = table.elements.get(at)
            && elements != self.count
        {
            let what = format_args!("is {elements}; {} carry the label", self.count);
            faults.tell("elements", row, what);
        }
        if let Some(&mass) = table.mass.get(at)
            && (mass - self.mass).abs() > MASS * self.mass
        {
            let what = format_args!("is {mass} kg; the elements have {} kg", self.mass);
            faults.tell("mass", row, what);
        }
        // A bond may hold two bodies together.
        let [low, high] = self.bodies;
        if let Some(&body) = table.body.get(at)
            && !(low..=high).contains(&body)
        {
            let what = format_args!("is {body}; the elements are of body {low}");
            faults.tell("body", row, what);
        }
    }
}

/// Tells frames that do not come after the one before.
fn times_rise(moments: &mut [Moment]) {
    let mut before: Option<(u32, f64)> = None;
    for moment in moments {
        let (Some(file), Some(time)) = (&mut moment.frame, moment.time) else {
            continue;
        };
        if let Some((number, earlier)) = before
            && time <= earlier
        {
            let what =
                format_args!("is {time} s; frame {number} is at {earlier} s: times must rise");
            file.faults.tell("time", 0, what);
        }
        before = Some((moment.number, time));
    }
}

impl Broken {
    fn new(store: &Store, known: &Known, number: u32) -> Self {
        let mut file = Checked::new(name_of("breaks", number, "parquet"));
        let path = store.path(&file.file);
        let mut bonds = Vec::new();
        let required = |column: &Column, _: &[String]| !column.optional;
        table::read(
            &path,
            &mut file,
            required,
            &mut |part: Part<Breaks>, faults| {
                rules::numbered(&part.table.frame, part.first, number, faults);
                rules::finite(part.table, &[], part.first, faults);
                if let Some(ends) = &known.bonds {
                    rules::broken(&part.table.bond, part.first, ends.len(), faults);
                    rules::ends(part.table, part.first, ends, faults);
                }
                bonds.extend((part.first..).zip(part.table.bond.iter().copied()));
            },
        );
        Broken {
            number,
            bonds,
            file,
        }
    }
}

/// Tells bonds that break more than once.
fn once(breaks: &mut [Broken]) {
    let mut known: BTreeMap<u32, u32> = BTreeMap::new();
    for Broken {
        number,
        bonds,
        file,
    } in breaks
    {
        for &(row, bond) in bonds.iter() {
            if let Some(before) = known.insert(bond, *number) {
                let what = format_args!("is {bond}, which broke in frame {before}");
                file.faults.tell("bond", row, what);
            }
        }
    }
}

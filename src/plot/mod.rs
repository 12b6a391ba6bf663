//! Charts of a store as SVG and PNG: energies, broken bonds, masses of fragments, loads, convergence,
//! packings.
//!
//! To add a chart, write one function from the tables to a figure, and its entry in `CHARTS`. The only input
//! is the store.

mod axis;
mod breaks;
mod convergence;
mod energy;
mod figure;
mod fragments;
mod loads;
mod packing;
mod svg;
mod tables;

pub use axis::{Axis, AxisUnit};
pub use figure::{COLOURS, Figure, Panel, Series};
pub use loads::MOTION_TOLERANCE;

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::picture;
use crate::store::{Store, StoreError, atomic};
use tables::ChartTables;

/// Why charts could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The store could not be read, or a chart could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store has no table for any chart.
    #[error(
        "{path}: no chart can be drawn for frames {}..{}: {absent}; `cullet simulate` writes them",
        .frames.start, .frames.end, path = .path.display()
    )]
    NoTables {
        /// The store.
        path: PathBuf,
        /// Requested frames.
        frames: Range<u32>,
        /// The tables that each chart lacks.
        absent: String,
    },
}

impl PlotError {
    /// Whether the store is at fault.
    pub fn caused_by_user(&self) -> bool {
        match self {
            PlotError::Store(error) => error.caused_by_user(),
            PlotError::NoTables { .. } => true,
        }
    }
}

/// A file format of charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ChartFormat {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics, two pixels per point.
    Png,
}

impl ChartFormat {
    /// Both formats.
    pub const ALL: [ChartFormat; 2] = [ChartFormat::Svg, ChartFormat::Png];
}

/// Files that were written, and charts that were not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlotSummary {
    /// The files, chart by chart.
    pub files: Vec<PathBuf>,
    /// Charts that the store has no tables for, each with the missing tables.
    pub absent: Vec<String>,
}

/// A kind of chart.
struct Chart {
    /// Name of its files.
    name: &'static str,
    /// Tables that it needs.
    required: &'static str,
    /// Makes the figure from the tables; `None` if they are missing or empty.
    figure: fn(&ChartTables) -> Option<Figure>,
}

/// All charts.
const CHARTS: [Chart; 8] = [
    Chart {
        name: "energy",
        required: "history/*.parquet",
        figure: energy::figure,
    },
    Chart {
        name: "breaks",
        required: "breaks/*.parquet",
        figure: breaks::figure,
    },
    Chart {
        name: "fragments",
        required: "fragments/*.parquet",
        figure: fragments::figure,
    },
    Chart {
        name: "loads",
        required: "loads/*.parquet",
        figure: loads::figure,
    },
    Chart {
        name: "convergence",
        required: "convergence/*.parquet",
        figure: convergence::figure,
    },
    Chart {
        name: "packing_distances",
        required: "packing/elements.parquet",
        figure: packing::distances,
    },
    Chart {
        name: "packing_bonds",
        required: "packing/bonds.parquet",
        figure: packing::coordination,
    },
    Chart {
        name: "packing_directions",
        required: "packing/bonds.parquet",
        figure: packing::directions,
    },
];

/// Writes the charts of `frames` in the given formats to `folder`, or to `plots` in the store.
///
/// The files have the same bytes for any number of threads.
pub fn run(
    store: &Store,
    frames: &Range<u32>,
    formats: &[ChartFormat],
    folder: Option<&Path>,
) -> Result<PlotSummary, PlotError> {
    let tables = ChartTables {
        history: read_tables(store, "history", frames, Store::read_history)?,
        breaks: read_tables(store, "breaks", frames, Store::read_breaks)?,
        fragments: read_tables(store, "fragments", frames, Store::read_fragments)?,
        loads: read_tables(store, "loads", frames, Store::read_loads)?,
        convergence: read_tables(store, "convergence", frames, Store::read_convergence)?,
        packing: store
            .path("packing/bonds.parquet")
            .is_file()
            .then(|| store.read_packing())
            .transpose()?,
    };
    let mut summary = PlotSummary::default();
    let mut figures = Vec::new();
    for Chart {
        name,
        required,
        figure,
    } in CHARTS
    {
        match figure(&tables) {
            Some(figure) => figures.push((name, figure)),
            None => {
                let absent = format!("{name} needs {required}");
                summary.absent.push(absent);
            }
        }
    }
    if figures.is_empty() {
        return Err(PlotError::NoTables {
            path: store.root().to_owned(),
            frames: frames.clone(),
            absent: summary.absent.join(", "),
        });
    }
    let folder = folder.map_or_else(|| store.path("plots"), Path::to_owned);
    for (name, figure) in figures {
        summary
            .files
            .extend(write(&figure, formats, &folder, name)?);
    }
    Ok(summary)
}

/// Writes a figure in the given formats to `folder`, with `name` as file name.
pub fn write(
    figure: &Figure,
    formats: &[ChartFormat],
    folder: &Path,
    name: &str,
) -> Result<Vec<PathBuf>, PlotError> {
    let drawing = figure.draw();
    let mut files = Vec::new();
    for format in formats {
        let path = match format {
            ChartFormat::Svg => {
                let path = folder.join(format!("{name}.svg"));
                atomic::write_bytes(&path, svg::write(&drawing).as_bytes())?;
                path
            }
            ChartFormat::Png => {
                let path = folder.join(format!("{name}.png"));
                picture::write(&path, &picture::raster::draw(&drawing))?;
                path
            }
        };
        files.push(path);
    }
    Ok(files)
}

/// Reads the table of each frame in `frames` that has one.
fn read_tables<T>(
    store: &Store,
    kind: &str,
    frames: &Range<u32>,
    read_table: fn(&Store, u32) -> crate::store::Result<T>,
) -> Result<Vec<T>, PlotError> {
    let numbers = store.numbers(kind, "parquet")?;
    let wanted = numbers.into_iter().filter(|frame| frames.contains(frame));
    wanted.map(|frame| Ok(read_table(store, frame)?)).collect()
}

#[cfg(test)]
mod tests;

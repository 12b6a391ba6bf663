//! `cullet plot`: charts of a store.

use std::ops::Range;
use std::path::PathBuf;

use super::arguments::frame_range;
use super::progress::ProgressReporter;
use crate::plot::{self, ChartFormat};
use crate::store::{Manifest, Store};

#[derive(Debug, clap::Args)]
pub struct PlotArguments {
    /// Frame store.
    store: PathBuf,
    /// Format; default: both.
    #[arg(long)]
    format: Option<ChartFormat>,
    /// Frames A..B (without B; either may be left out), A..=B or A-B (with B), or one frame A.
    #[arg(long, value_name = "RANGE", value_parser = frame_range, default_value = "..")]
    frames: Range<u32>,
    /// Target folder; default: plots in the store.
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

/// Draws the charts.
pub fn plot(arguments: &PlotArguments, report: &ProgressReporter) -> anyhow::Result<()> {
    let store = Store::open(&arguments.store)?;
    // This refuses a store of another schema version.
    Manifest::read(&store)?;
    let formats = match arguments.format {
        Some(format) => vec![format],
        None => ChartFormat::ALL.to_vec(),
    };
    let stage = report.stage("plot", 1);
    let summary = plot::run(&store, &arguments.frames, &formats, arguments.to.as_deref())?;
    for absent in &summary.absent {
        report.note(&format!("left out: {absent}"));
    }
    let first = summary.files.first().map(|file| file.display().to_string());
    let files = summary.files.len();
    stage.files(&summary.files);
    stage.finish(&format!(
        "{files} charts, first {}",
        first.unwrap_or_default()
    ));
    Ok(())
}

//! `cullet view`: frames of stores in a browser.

use std::ops::Range;
use std::path::PathBuf;

use serde_json::json;

use super::arguments::frame_range;
use super::print::print;
use super::progress::ProgressReporter;
use crate::view::{self, ViewServer, ViewedStore};

#[derive(Debug, clap::Args)]
pub struct ViewArguments {
    /// Frame store, or two of them side by side.
    #[arg(required = true, num_args = 1..=2, value_name = "STORE")]
    stores: Vec<PathBuf>,
    /// Port of the page's address on this machine; 0: any that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Open the page in the browser.
    #[arg(long, conflicts_with = "export")]
    open: bool,
    /// End when standard input ends: for programs that start the viewer.
    #[arg(long, hide = true)]
    until_input_ends: bool,
    /// Write a page that needs neither this program nor the store to this HTML file, instead of serving one.
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Frames of the file: A..B (without B; either may be left out), A..=B or A-B (with B), or one frame A.
    #[arg(long, value_parser = frame_range, default_value = "..", requires = "export")]
    frames: Range<u32>,
}

/// Serves or writes the page.
pub fn view(
    arguments: &ViewArguments,
    report: &ProgressReporter,
    as_json: bool,
) -> anyhow::Result<()> {
    let stores = arguments.stores.iter();
    let stores: Vec<ViewedStore> = stores
        .map(|root| ViewedStore::new(root))
        .collect::<Result<_, _>>()?;
    if let Some(path) = &arguments.export {
        let stage = report.stage("view", 1);
        let bytes = view::write_page(&stores, &arguments.frames, path, &mut |done, total| {
            stage.update(done as u64, total as u64, "frames");
        })?;
        let megabytes = bytes as f64 / 1e6;
        stage.finish(&format!("{}, {megabytes:.1} MB", path.display()));
        return Ok(());
    }
    let server = ViewServer::listen(arguments.port)?;
    let url = server.url();
    match as_json {
        true => print(&json!({ "url": url }).to_string())?,
        false => print(&format!("{url}\nCtrl-C ends the viewer."))?,
    }
    if arguments.open
        && let Err(error) = open(&url)
    {
        report.note(&format!("the browser could not be opened: {error}"));
    }
    if arguments.until_input_ends {
        std::thread::spawn(|| {
            // An input that cannot be read has ended, too.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            std::process::exit(0);
        });
    }
    server.serve(&stores);
    Ok(())
}

/// Opens an address in the browser that the system chooses.
fn open(url: &str) -> std::io::Result<()> {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start"]),
        _ => ("xdg-open", &[]),
    };
    std::process::Command::new(program)
        .args(arguments)
        .arg(url)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .map(drop)
}

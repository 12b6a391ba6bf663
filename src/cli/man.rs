//! `cullet man`: manual pages.

use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::error::WrongUse;
use super::progress::ProgressReporter;
use crate::store::atomic;

/// Exit codes and what they mean.
const EXIT_CODES: [(&str, &str); 4] = [
    ("0", "Done."),
    ("1", "The run failed."),
    (
        "2",
        "The command, the pipeline file or the store is wrong; the message says how to correct it.",
    ),
    (
        "130",
        "Interrupted after a whole frame; --resume continues.",
    ),
];

/// What clap_mangen writes for an empty line before possible values; mandoc objects to it.
const TWO_BREAKS: &str = "\n.br\n\n.br\n";

/// Writes the page of the program and one for each of its commands.
pub fn man(program: Command, out: &Path, report: &ProgressReporter) -> anyhow::Result<()> {
    if out.exists() && !out.is_dir() {
        let message = format!("{}: --out is a file; it must be a folder", out.display());
        return Err(WrongUse(message).into());
    }
    let mut program = program.disable_help_subcommand(true);
    // Gives global options and full names to the commands.
    program.build();
    let mut pages = 0;
    for command in std::iter::once(&program).chain(program.get_subcommands()) {
        let page = Man::new(command.clone());
        let mut text = Vec::new();
        page.render_name_section(&mut text)?;
        page.render_synopsis_section(&mut text)?;
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
        if command.has_subcommands() {
            page.render_subcommands_section(&mut text)?;
        }
        closing_sections(command).to_writer(&mut text)?;
        let name = page.get_filename();
        let text = heading(&name) + &String::from_utf8(text)?.replace(TWO_BREAKS, "\n.sp\n");
        atomic::write_bytes(&out.join(name), text.as_bytes())?;
        pages += 1;
    }
    report.note(&format!("{pages} pages in {}", out.display()));
    Ok(())
}

/// Heading of a page without a date: clap_mangen's would have the version in its place.
fn heading(name: &str) -> String {
    let name = name.trim_end_matches(".1");
    let version = env!("CARGO_PKG_VERSION");
    format!(".TH {name} 1 \"\" \"cullet {version}\" \"cullet manual\"\n")
}

/// Exit status, environment, other pages.
fn closing_sections(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_CODES {
        roff.control("TP", []);
        roff.text([bold(code)]);
        roff.text([roman(meaning)]);
    }
    if command.has_subcommands() {
        roff.control("SH", ["ENVIRONMENT"]);
        roff.control("TP", []);
        roff.text([bold("VK_LOADER_DEBUG")]);
        roff.text([roman(
            "If set, what graphics drivers print on their own is shown.",
        )]);
    } else {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold("cullet"), roman("(1)")]);
    }
    roff
}

//! Standard output.

use std::io::Write;

/// Prints a line on standard output. A closed pipe is an error here, which `main` treats as success.
pub fn print(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout().lock(), "{line}")?;
    Ok(())
}

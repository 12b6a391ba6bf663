//! Standard output.

use std::io::Write;

/// A line on standard output; a closed pipe is an error here and no failure in the program.
pub fn print(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout().lock(), "{line}")?;
    Ok(())
}

//! The `cullet` program: parses, runs, prints the chain of causes, exits.

use std::process::ExitCode;

fn main() -> ExitCode {
    cullet::cli::main()
}

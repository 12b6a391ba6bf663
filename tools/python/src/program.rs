//! The `cullet` program, as the wheel carries it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cullet::cli::main()
}

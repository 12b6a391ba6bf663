//! Property tests: written data is read back unchanged, and altered files are refused with a clear message.

mod altered;
mod meshes;
mod quantities;
mod stores;

use proptest::test_runner::Config;

/// Configuration with `count` cases per test and no file of failed cases.
fn cases(count: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(count)
    }
}

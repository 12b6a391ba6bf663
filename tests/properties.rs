//! What holds for whatever is written or read: it comes back as it was, and files that were altered are
//! refused in words.

mod altered;
mod meshes;
mod quantities;
mod stores;

use proptest::test_runner::Config;

/// So many cases each; none is kept in a file of its own.
fn cases(count: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(count)
    }
}

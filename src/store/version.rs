//! Version of the store, `major.minor`. `README.md` beside this file says what it promises.

/// Major version of the store's layout and columns. It is in every file; files of another one are refused.
pub const SCHEMA_VERSION: u32 = 1;

/// Minor version: counts the additions that older programs may skip. Only `store.json` has it, as `schema_minor`,
/// absent while it is 0.
pub const SCHEMA_MINOR: u32 = 0;

/// Message about a version that this program does not read. `writer` is the version of the program that wrote the
/// store, if it is known.
pub(super) fn unread(found: &str, writer: Option<&str>) -> String {
    let major = found.split('.').next().and_then(|major| major.parse().ok());
    let other = match major {
        Some(0..=SCHEMA_VERSION) => "the cullet that wrote it",
        _ => "a newer cullet",
    };
    let writer = writer.map_or_else(String::new, |writer| format!(" (cullet {writer} wrote it)"));
    format!(
        "schema version {found}; this program reads version {SCHEMA_VERSION}. This is cullet {}: use {other}{writer}, \
         or run the pipeline again into a new folder",
        env!("CARGO_PKG_VERSION")
    )
}

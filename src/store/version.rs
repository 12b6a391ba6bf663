//! Version of the store.

/// Version of the store's layout and columns.
pub const SCHEMA_VERSION: u32 = 1;

//! Sizes that hold for every kernel.

/// Invocations of a workgroup, in every kernel.
pub const WORKGROUP: u32 = 64;
/// Bytes from one row of launch numbers to the next: what every adapter aligns uniforms to.
pub const LAUNCH_STRIDE: u64 = 256;
/// Storage buffers that a kernel binds at most while no column is split: what every adapter must have.
pub const STORAGE_BUFFERS: u32 = 16;

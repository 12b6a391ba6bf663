//! Sizes common to all kernels.

/// Invocations per workgroup, in every kernel.
pub const WORKGROUP: u32 = 64;
/// Bytes between rows of launch parameters: uniform offsets aligned to this are valid on every adapter.
pub const LAUNCH_STRIDE: u64 = 256;
/// Limit on storage buffers that a kernel binds while no column is split. Every adapter must support this number.
pub const STORAGE_BUFFERS: u32 = 16;

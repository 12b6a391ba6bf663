//! Graphics processors through wgpu: adapters, columns in device memory, kernels composed of WGSL texts.
//!
//! Knows no physics and none of the other modules.

mod adapters;
mod column;
mod device;
mod error;
mod kernel;
mod quiet;
mod sizes;
mod text;
mod timer;

pub use adapters::{AdapterReport, Kind, Request, adapters};
pub use column::{Access, Column, Item};
pub use device::{Device, Limits};
pub use error::GpuError;
pub use kernel::{Kernel, Launches};
pub use sizes::{LAUNCH_STRIDE, STORAGE_BUFFERS, WORKGROUP};
pub use text::{Binding, BoundColumns, ColumnName, Constant, KernelText, Split, compose};
pub use timer::{Timer, copy_bandwidth};

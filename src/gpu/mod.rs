//! Graphics processors through wgpu: adapters, columns in device memory, kernels composed of WGSL texts.
//!
//! This module contains no physics and uses no other module.

mod adapters;
mod bandwidth;
mod binding;
mod column;
mod device;
mod error;
mod kernel;
mod silence_stderr;
mod sizes;
mod text;
mod timer;

pub use adapters::{AdapterKind, AdapterReport, DeviceRequest, adapters};
pub use bandwidth::copy_bandwidth;
pub use binding::{Access, Binding, ColumnName, ColumnSplit, Constant, Item};
pub use column::Column;
pub use device::{Device, Limits};
pub use error::GpuError;
pub use kernel::{Kernel, LaunchParameters};
pub use sizes::{LAUNCH_STRIDE, STORAGE_BUFFERS, WORKGROUP};
pub use text::{BoundColumns, KernelText, compose};
pub use timer::Timer;

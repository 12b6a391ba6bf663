//! Errors of graphics devices.

/// Error of a graphics device.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GpuError {
    /// No adapter that matches the request.
    #[error(
        "no graphics adapter{requested}: {found}; install the vendor's Vulkan driver (`mesa-vulkan-drivers libvulkan1` for a software one), \
         or use --backend cpu"
    )]
    NoAdapter {
        /// The adapter requested, with a leading blank, or empty.
        requested: String,
        /// Adapters that exist.
        found: String,
    },
    /// An adapter that lacks a feature or limit.
    #[error("adapter {adapter:?} cannot run the simulation: {lacks}; --backend cpu can")]
    Lacks {
        /// Its name.
        adapter: String,
        /// What it lacks.
        lacks: String,
    },
    /// The device is out of memory.
    #[error(
        "adapter {adapter:?} is out of memory for {what}, {bytes} bytes; use a larger element radius or --backend cpu"
    )]
    OutOfMemory {
        /// Its name.
        adapter: String,
        /// What did not fit.
        what: String,
        /// Size requested, bytes.
        bytes: u64,
    },
    /// The device was lost: a driver reset, a removed card, a time-out.
    #[error(
        "the graphics device was lost: {reason}; the last state written is intact, continue with --resume"
    )]
    Lost {
        /// Message of the driver.
        reason: String,
    },
    /// A kernel or command was refused: a bug in this program or the driver.
    #[error("the graphics device refused {what}: {reason}")]
    Refused {
        /// Kernel or command.
        what: String,
        /// Message of the validation.
        reason: String,
    },
}

impl GpuError {
    /// Whether the user can fix the error by another adapter, fewer elements or `--backend cpu`.
    pub fn caused_by_user(&self) -> bool {
        match self {
            GpuError::NoAdapter { .. } | GpuError::Lacks { .. } | GpuError::OutOfMemory { .. } => {
                true
            }
            GpuError::Lost { .. } | GpuError::Refused { .. } => false,
        }
    }
}

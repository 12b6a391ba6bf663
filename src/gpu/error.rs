//! Why a device cannot be used, or no longer.

/// Why a device cannot be used, or no longer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GpuError {
    /// Nothing to run on.
    #[error(
        "no graphics adapter{wanted}: {found}; install the vendor's Vulkan driver (`mesa-vulkan-drivers libvulkan1` for a software one), \
         or take --backend cpu"
    )]
    NoAdapter {
        /// What was asked for, with a leading blank, or nothing.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// An adapter that cannot do what is needed.
    #[error("adapter {adapter:?} cannot run the simulation: {lacks}; --backend cpu can")]
    Lacks {
        /// Its name.
        adapter: String,
        /// What it lacks.
        lacks: String,
    },
    /// The device has no room.
    #[error(
        "adapter {adapter:?} has no room for {what}, {bytes} bytes; a larger element radius or --backend cpu needs less"
    )]
    OutOfMemory {
        /// Its name.
        adapter: String,
        /// What did not fit.
        what: String,
        /// Size asked for.
        bytes: u64,
    },
    /// The device went away: a driver reset, a removed card, a time-out.
    #[error(
        "the graphics device was lost: {reason}; the last state written is good, continue with --resume"
    )]
    Lost {
        /// What the driver said.
        reason: String,
    },
    /// A kernel or command was refused: a fault of this program or of the driver.
    #[error("the graphics device refused {what}: {reason}")]
    Refused {
        /// Kernel or command.
        what: String,
        /// What was said.
        reason: String,
    },
}

impl GpuError {
    /// Whether another adapter, fewer elements or `--backend cpu` would do.
    pub fn caused_by_user(&self) -> bool {
        match self {
            GpuError::NoAdapter { .. } | GpuError::Lacks { .. } | GpuError::OutOfMemory { .. } => {
                true
            }
            GpuError::Lost { .. } | GpuError::Refused { .. } => false,
        }
    }
}

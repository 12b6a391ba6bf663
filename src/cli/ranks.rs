//! Ranks that an MPI launcher (`mpirun`, `srun`) started, or this process alone.

use std::sync::Arc;
use std::time::Duration;

use super::error::WrongUse;
#[cfg(feature = "mpi")]
use crate::ranks::mpi::Mpi;
use crate::ranks::transport::{self, Transport};

/// Variables in which launchers tell each process how many there are.
const COUNTS: [&str; 3] = ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_WORLD_SIZE"];
/// Variables in which launchers tell each process its number.
const RANKS: [&str; 3] = ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"];
/// Variables in which launchers tell each process how many there are on its machine.
const LOCAL_COUNTS: [&str; 2] = ["MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"];
/// How long rank 1 waits before it reports an error, and how much longer each further rank.
const REPORT_DELAY: Duration = Duration::from_secs(2);
const DELAY_PER_RANK: Duration = Duration::from_millis(200);

/// The largest number in these variables: those inherited from an outer launcher may say 1.
fn number(variables: &[&str]) -> Option<usize> {
    let values = variables.iter().filter_map(|name| std::env::var(name).ok());
    values.filter_map(|value| value.parse().ok()).max()
}

/// How many processes a launcher started, as its variables say; 1 if none did.
fn count() -> usize {
    // With `srun --mpi=pmix` only this variable of Slurm has the number; programs not started for MPI have it, too.
    let of_slurm = match std::env::var_os("PMIX_RANK") {
        Some(_) => number(&["SLURM_STEP_NUM_TASKS"]),
        None => None,
    };
    number(&COUNTS).max(of_slurm).unwrap_or(1)
}

/// Whether this is the only process, or the first, as the variables of launchers say.
pub fn is_first_started() -> bool {
    count() == 1 || number(&RANKS).unwrap_or(0) == 0
}

/// The processes that a launcher started together.
#[derive(Default)]
pub struct Launch {
    #[cfg(feature = "mpi")]
    mpi: Option<Mpi>,
    transport: Option<Arc<dyn Transport>>,
}

impl Launch {
    /// Connects to the other processes of the launcher, if any. `is_shared`: whether the command supports several.
    ///
    /// # Errors
    /// The command or the program supports one process only; the MPI library lacks support of threads, or does not
    /// belong to the launcher.
    pub fn begin(is_shared: bool) -> anyhow::Result<Self> {
        let count = count();
        if count == 1 {
            return Ok(Launch::default());
        }
        if !is_shared {
            let what = format!(
                "started {count} times by an MPI launcher: only `cullet simulate` runs on several ranks"
            );
            return Err(WrongUse(what).into());
        }
        Self::of_mpi(count)
    }

    #[cfg(feature = "mpi")]
    fn of_mpi(count: usize) -> anyhow::Result<Self> {
        let Some(mpi) = Mpi::start() else {
            anyhow::bail!("the MPI library does not allow threads to send (MPI_THREAD_SERIALIZED)");
        };
        let transport: Arc<dyn Transport> = Arc::new(mpi.transport());
        if transport.count() != count {
            anyhow::bail!(
                "the launcher started {count} processes, of which the MPI library sees {}: the launcher must belong to \
                 the library that this program was built with",
                transport.count()
            );
        }
        Ok(Launch {
            mpi: Some(mpi),
            transport: Some(transport),
        })
    }

    #[cfg(not(feature = "mpi"))]
    fn of_mpi(count: usize) -> anyhow::Result<Self> {
        let what = format!(
            "started {count} times by an MPI launcher, but built without MPI: build with `--features mpi`"
        );
        Err(WrongUse(what).into())
    }

    /// Messages between the processes; `None` if this one is alone.
    pub fn transport(&self) -> Option<Arc<dyn Transport>> {
        self.transport.clone()
    }

    /// Whether this process writes and reports.
    pub fn is_first(&self) -> bool {
        transport::is_first(self.transport.as_ref())
    }

    /// Threads for this process if the user does not say: its share of the cores.
    pub fn threads(&self) -> Option<usize> {
        self.transport.as_ref()?;
        let local = number(&LOCAL_COUNTS).unwrap_or(1).max(1);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Some((cores / local).max(1))
    }

    /// Runs `find` on rank 0 and broadcasts its result.
    ///
    /// # Errors
    /// That of rank 0; the others wait until it ends them.
    pub fn ask_first(&self, find: impl FnOnce() -> anyhow::Result<u32>) -> anyhow::Result<u32> {
        let own = match self.is_first() {
            true => find()?,
            false => 0,
        };
        let Some(transport) = &self.transport else {
            return Ok(own);
        };
        let all = transport.gather_all(&own.to_ne_bytes());
        Ok(bytemuck::pod_read_unaligned(&all[0]))
    }

    /// Waits until all processes call this.
    pub fn meet(&self) {
        if let Some(transport) = &self.transport {
            transport.gather_all(&[]);
        }
    }

    /// Delays the report of an error on ranks other than 0: if several fail alike, the first reports and ends the
    /// others.
    pub fn wait_for_first(&self) {
        let rank = self
            .transport
            .as_ref()
            .map_or(0, |transport| transport.rank());
        if rank > 0 {
            std::thread::sleep(REPORT_DELAY + DELAY_PER_RANK * (rank as u32 - 1));
        }
    }

    /// Ends all processes after an error of this one; returns if it is alone.
    pub fn end_all(&self, code: u8) {
        #[cfg(feature = "mpi")]
        if let Some(mpi) = &self.mpi {
            mpi.abort(code);
        }
        let _ = code;
    }
}

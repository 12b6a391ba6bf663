//! Ranks: the processes that compute one simulation together, and the messages between them.
//!
//! [`Transport`] is what a simulation needs of them. [`local`] carries messages between threads of one process, for
//! tests; with the feature `mpi`, the module `mpi` carries them by MPI.

#[cfg(feature = "mpi")]
mod heap;
pub mod local;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod transport;

pub use transport::Transport;

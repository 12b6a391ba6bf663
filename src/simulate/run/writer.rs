//! Writes frames and states on a separate thread while the simulation continues.

use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::columns::Table;
use crate::simulate::run_state::snapshot::Snapshot;
use crate::simulate::run_state::state::State;
use crate::spec::Output;
use crate::store::{self, FileChecksums, Store, TableFormat, layout};

/// Jobs that may wait while another one is written. If more come, the simulation waits: this bounds the memory that a
/// slow disk costs.
const QUEUE: usize = 1;

/// A job for the writing thread.
pub enum WriteJob {
    /// The tables of a frame.
    Frame(u32, Box<Snapshot>),
    /// The state of a frame that was sent before.
    State(Box<State>),
    /// Signals that all earlier jobs are done.
    Done(SyncSender<()>),
}

/// Handle of the writing thread.
pub struct Writer {
    queue: SyncSender<WriteJob>,
    thread: JoinHandle<store::Result<()>>,
}

impl Writer {
    /// Starts the thread. Tables are written in the format that `output` specifies; the `keep` newest states
    /// stay on disk.
    pub fn start(store: Store, output: &Output, keep: usize) -> Self {
        let (queue, jobs) = sync_channel::<WriteJob>(QUEUE);
        let mut writer = WriterThread {
            store,
            frame_format: TableFormat::of_frames(output),
            table_format: TableFormat::of_tables(output),
            keep,
            sums: FileChecksums::new(),
        };
        let thread = std::thread::spawn(move || {
            let written = jobs.into_iter().try_for_each(|job| writer.write(job));
            written?;
            writer.record_checksums()?;
            // A killed run may have left one state too many.
            writer.prune()
        });
        Writer { queue, thread }
    }

    /// Sends a job; `false` if the thread has stopped with an error, which [`finish`](Self::finish) returns.
    pub fn send(&self, job: WriteJob) -> bool {
        self.queue.send(job).is_ok()
    }

    /// Waits until all jobs sent are written and freed; `false` as for [`send`](Self::send).
    pub fn wait(&self) -> bool {
        let (done, signal) = sync_channel(1);
        self.send(WriteJob::Done(done)) && signal.recv().is_ok()
    }

    /// Waits until everything is on disk; returns the first error.
    pub fn finish(self) -> store::Result<()> {
        drop(self.queue);
        self.thread.join().expect("the writer does not panic")
    }
}

/// State of the writing thread.
struct WriterThread {
    store: Store,
    frame_format: TableFormat,
    table_format: TableFormat,
    keep: usize,
    /// Checksums of files that are not yet in `store.json`.
    sums: FileChecksums,
}

impl WriterThread {
    fn write(&mut self, job: WriteJob) -> store::Result<()> {
        match job {
            WriteJob::Frame(frame, snapshot) => self.write_frame(frame, &snapshot),
            WriteJob::State(state) => self.write_state(&state),
            WriteJob::Done(signal) => {
                // The receiver may no longer exist.
                let _ = signal.send(());
                Ok(())
            }
        }
    }

    /// Writes the tables of a frame; `frames/` comes last, so that a frame on disk has all its tables.
    fn write_frame(&mut self, frame: u32, snapshot: &Snapshot) -> store::Result<()> {
        let Snapshot {
            frames,
            breaks,
            history,
            fragments,
            loads,
            convergence,
        } = snapshot;
        let mut paths = vec![
            self.write_table("breaks", frame, breaks)?,
            self.write_table("fragments", frame, fragments)?,
            self.write_table("history", frame, history)?,
        ];
        if loads.rows() > 0 {
            paths.push(self.write_table("loads", frame, loads)?);
        }
        if convergence.rows() > 0 {
            paths.push(self.write_table("convergence", frame, convergence)?);
        }
        self.store
            .write_unsynced("frames", frame, frames, &self.frame_format)?;
        paths.push(self.store.numbered("frames", frame, "parquet"));
        self.sums.append(&mut self.store.checksums_of(&paths)?);
        Ok(())
    }

    fn write_table(&self, kind: &str, frame: u32, table: &impl Table) -> store::Result<PathBuf> {
        self.store
            .write_unsynced(kind, frame, table, &self.table_format)?;
        Ok(self.store.numbered(kind, frame, "parquet"))
    }

    /// Makes the names of all written tables durable, and adds their checksums to `store.json`.
    fn record_checksums(&mut self) -> store::Result<()> {
        for kind in layout::tables() {
            // Not every run has tables of loads or convergence.
            if !self.sums.is_empty() && self.store.path(kind).is_dir() {
                self.store.sync_names(kind)?;
            }
        }
        self.store.add_checksums(std::mem::take(&mut self.sums))
    }

    /// Writes a state after its frame and all earlier ones, so that a state on disk has all of them.
    fn write_state(&mut self, state: &State) -> store::Result<()> {
        self.record_checksums()?;
        state.write(&self.store)?;
        self.prune()
    }

    /// Removes all states except the newest ones.
    fn prune(&self) -> store::Result<()> {
        let kept = self.store.numbers("state", "rkyv")?;
        for &old in kept.iter().rev().skip(self.keep.max(1)) {
            self.store.remove_numbered("state", old, "rkyv")?;
        }
        Ok(())
    }
}

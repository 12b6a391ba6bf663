//! Frames go to disk on a thread of their own, while the simulation goes on.

use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::columns::Table;
use crate::simulate::run_state::snapshot::Snapshot;
use crate::simulate::run_state::state::State;
use crate::spec::Output;
use crate::store::{self, Format, Store, Sums, layout};

/// Frames that may wait while one is written, before the simulation waits for them: what a slow disk costs in memory.
const QUEUE: usize = 1;

/// What there is to write.
pub enum Job {
    /// The tables of a frame.
    Frame(u32, Box<Snapshot>),
    /// The state of a frame that was handed over before.
    State(Box<State>),
    /// Nothing: tells when all before it is done.
    Done(SyncSender<()>),
}

/// The writing thread.
pub struct Writer {
    queue: SyncSender<Job>,
    thread: JoinHandle<store::Result<()>>,
}

impl Writer {
    /// Starts the thread; tables are written as `output` says, and the `keep` newest states stay on disk.
    pub fn start(store: Store, output: &Output, keep: usize) -> Self {
        let (queue, jobs) = sync_channel::<Job>(QUEUE);
        let mut desk = Desk {
            store,
            frames: Format::of_frames(output),
            tables: Format::of_tables(output),
            keep,
            sums: Sums::new(),
        };
        let thread = std::thread::spawn(move || {
            let written = jobs.into_iter().try_for_each(|job| desk.write(job));
            written?;
            desk.list()?;
            // A run that was killed may have left one more than is kept.
            desk.prune()
        });
        Writer { queue, thread }
    }

    /// Hands a frame over; `false` when the thread has stopped with an error, which [`finish`](Self::finish) tells.
    pub fn send(&self, job: Job) -> bool {
        self.queue.send(job).is_ok()
    }

    /// Waits until what was handed over is written and out of memory; `false` as [`send`](Self::send).
    pub fn wait(&self) -> bool {
        let (done, told) = sync_channel(1);
        self.send(Job::Done(done)) && told.recv().is_ok()
    }

    /// Waits until everything is on disk.
    pub fn finish(self) -> store::Result<()> {
        drop(self.queue);
        self.thread.join().expect("the writer does not panic")
    }
}

/// What the writing thread works with.
struct Desk {
    store: Store,
    frames: Format,
    tables: Format,
    keep: usize,
    /// Of files not yet in `store.json`.
    sums: Sums,
}

impl Desk {
    fn write(&mut self, job: Job) -> store::Result<()> {
        match job {
            Job::Frame(frame, snapshot) => self.write_frame(frame, &snapshot),
            Job::State(state) => self.write_state(&state),
            Job::Done(told) => {
                // Who asked may have gone.
                let _ = told.send(());
                Ok(())
            }
        }
    }

    /// The frame comes after what belongs to it.
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
            .write_unlisted("frames", frame, frames, &self.frames)?;
        paths.push(self.store.numbered("frames", frame, "parquet"));
        self.sums.append(&mut self.store.sums_of(&paths)?);
        Ok(())
    }

    fn write_table(&self, kind: &str, frame: u32, table: &impl Table) -> store::Result<PathBuf> {
        self.store
            .write_unlisted(kind, frame, table, &self.tables)?;
        Ok(self.store.numbered(kind, frame, "parquet"))
    }

    /// Makes what was written last, and puts its sums into `store.json`.
    fn list(&mut self) -> store::Result<()> {
        for kind in layout::tables() {
            // Not every run has loads, or a step that methods are compared in.
            if !self.sums.is_empty() && self.store.path(kind).is_dir() {
                self.store.sync_names(kind)?;
            }
        }
        self.store.list(std::mem::take(&mut self.sums))
    }

    /// The state comes last, so that a state on disk has its frame and all before it.
    fn write_state(&mut self, state: &State) -> store::Result<()> {
        self.list()?;
        state.write(&self.store)?;
        self.prune()
    }

    /// Removes states but for the newest ones.
    fn prune(&self) -> store::Result<()> {
        let kept = self.store.numbers("state", "rkyv")?;
        for &old in kept.iter().rev().skip(self.keep.max(1)) {
            self.store.remove_numbered("state", old, "rkyv")?;
        }
        Ok(())
    }
}

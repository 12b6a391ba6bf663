//! Frames go to disk on a thread of their own, while the simulation goes on.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::engine::Snapshot;
use super::state::State;
use crate::columns::Table;
use crate::spec::Output;
use crate::store::{self, Format, Store, Sums};

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

/// Tables of a frame, in the order in which they are written.
const KINDS: [&str; 5] = ["breaks", "fragments", "history", "loads", "frames"];

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
        let store = &self.store;
        let Snapshot {
            frames,
            breaks,
            history,
            fragments,
            loads,
        } = snapshot;
        let [first, second, third, fourth, last] = KINDS;
        store.write_unlisted(first, frame, breaks, &self.tables)?;
        store.write_unlisted(second, frame, fragments, &self.tables)?;
        store.write_unlisted(third, frame, history, &self.tables)?;
        if loads.rows() > 0 {
            store.write_unlisted(fourth, frame, loads, &self.tables)?;
        }
        store.write_unlisted(last, frame, frames, &self.frames)?;
        let kinds = KINDS.into_iter();
        let kinds = kinds.filter(|kind| *kind != fourth || loads.rows() > 0);
        let paths: Vec<_> = kinds
            .map(|kind| store.numbered(kind, frame, "parquet"))
            .collect();
        self.sums.append(&mut store.sums_of(&paths)?);
        Ok(())
    }

    /// Makes what was written last, and puts its sums into `store.json`.
    fn list(&mut self) -> store::Result<()> {
        for kind in KINDS {
            // A scene without colliders and attachments has no loads.
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

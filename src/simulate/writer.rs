//! Frames go to disk on a thread of their own, while the simulation goes on.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::engine::Snapshot;
use super::state::State;
use crate::spec::Output;
use crate::store::{self, Format, Store};

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
        let desk = Desk {
            store,
            frames: Format::of_frames(output),
            tables: Format::of_tables(output),
            keep,
        };
        let thread =
            std::thread::spawn(move || jobs.into_iter().try_for_each(|job| desk.write(job)));
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
const KINDS: [&str; 4] = ["breaks", "fragments", "history", "frames"];

/// What the writing thread works with.
struct Desk {
    store: Store,
    frames: Format,
    tables: Format,
    keep: usize,
}

impl Desk {
    fn write(&self, job: Job) -> store::Result<()> {
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
    fn write_frame(&self, frame: u32, snapshot: &Snapshot) -> store::Result<()> {
        let store = &self.store;
        let Snapshot {
            frames,
            breaks,
            history,
            fragments,
        } = snapshot;
        let [first, second, third, last] = KINDS;
        store.write_unlisted(first, frame, breaks, &self.tables)?;
        store.write_unlisted(second, frame, fragments, &self.tables)?;
        store.write_unlisted(third, frame, history, &self.tables)?;
        store.write_unlisted(last, frame, frames, &self.frames)
    }

    /// The state comes last, so that a state on disk has its frame and all before it.
    fn write_state(&self, state: &State) -> store::Result<()> {
        let (store, frame) = (&self.store, state.frame);
        for kind in KINDS {
            store.sync_names(kind)?;
        }
        state.write(store)?;
        let kept = store.numbers("state", "rkyv")?;
        let older = kept.iter().filter(|&&number| number < frame).rev();
        for &old in older.skip(self.keep.max(1) - 1) {
            store.remove_numbered("state", old, "rkyv")?;
        }
        Ok(())
    }
}

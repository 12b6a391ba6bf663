//! Frames go to disk on a thread of their own, while the simulation goes on.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::engine::Snapshot;
use super::state::State;
use crate::store::{self, Store};

/// Frames that may wait for the disk before the simulation waits for them.
const QUEUE: usize = 2;

/// A frame with the state that belongs to it, if one is due.
pub struct Job {
    /// Frame number.
    pub frame: u32,
    /// Tables.
    pub snapshot: Snapshot,
    /// State to continue from.
    pub state: Option<State>,
}

/// The writing thread.
pub struct Writer {
    queue: SyncSender<Job>,
    thread: JoinHandle<store::Result<()>>,
}

impl Writer {
    /// Starts the thread; `keep` newest states stay on disk.
    pub fn start(store: Store, keep: usize) -> Self {
        let (queue, jobs) = sync_channel::<Job>(QUEUE);
        let thread = std::thread::spawn(move || {
            for job in jobs {
                write(&store, &job, keep)?;
            }
            Ok(())
        });
        Writer { queue, thread }
    }

    /// Hands a frame over; `false` when the thread has stopped with an error, which [`finish`](Self::finish) tells.
    pub fn send(&self, job: Job) -> bool {
        self.queue.send(job).is_ok()
    }

    /// Waits until everything is on disk.
    pub fn finish(self) -> store::Result<()> {
        drop(self.queue);
        self.thread.join().expect("the writer does not panic")
    }
}

/// The frame comes after what belongs to it and the state last, so that a state on disk has its frame and all before it.
fn write(store: &Store, job: &Job, keep: usize) -> store::Result<()> {
    let Snapshot {
        frames,
        breaks,
        history,
        fragments,
    } = &job.snapshot;
    store.write_numbered("breaks", job.frame, breaks)?;
    store.write_numbered("fragments", job.frame, fragments)?;
    store.write_numbered("history", job.frame, history)?;
    store.write_numbered("frames", job.frame, frames)?;
    if let Some(state) = &job.state {
        state.write(store)?;
        let kept = store.numbers("state", "rkyv")?;
        for &old in kept
            .iter()
            .filter(|&&n| n < job.frame)
            .rev()
            .skip(keep.max(1) - 1)
        {
            store.remove_numbered("state", old, "rkyv")?;
        }
    }
    Ok(())
}

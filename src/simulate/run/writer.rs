//! Writes frames and states on a separate thread while the simulation continues.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::columns::{Frames, Table};
use crate::simulate::run_state::snapshot::Snapshot;
use crate::simulate::run_state::state_in_parts::StateInParts;
use crate::spec::Output;
use crate::store::{self, FileChecksums, Store, TableFormat, layout, parts};

/// Jobs that may wait while another one is written. If more come, the simulation waits: this bounds the memory that a
/// slow disk costs.
const QUEUE: usize = 1;

/// A job for the writing thread.
pub enum WriteJob {
    /// The next rows of a frame that comes in parts.
    Part(u32, Box<Frames>),
    /// The tables of a frame; without the rows of the elements if they came in parts.
    Frame(u32, Box<Snapshot>),
    /// The state of a frame that was sent before.
    State(Box<StateInParts>),
    /// The next bytes of a state that comes in parts.
    StateBytes(Vec<u8>),
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
    /// stay on disk. `elements`: the number of rows of a frame.
    pub fn start(store: Store, output: &Output, keep: usize, elements: usize) -> Self {
        let (queue, jobs) = sync_channel::<WriteJob>(QUEUE);
        let mut writer = WriterThread {
            store,
            frame_format: TableFormat::of_frames(output),
            table_format: TableFormat::of_tables(output),
            keep,
            elements,
            sums: FileChecksums::new(),
        };
        let thread = std::thread::spawn(move || {
            while let Ok(job) = jobs.recv() {
                writer.write(job, &jobs)?;
            }
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
    /// Rows of a frame.
    elements: usize,
    /// Checksums of files that are not yet in `store.json`.
    sums: FileChecksums,
}

impl WriterThread {
    fn write(&mut self, job: WriteJob, next: &Receiver<WriteJob>) -> store::Result<()> {
        match job {
            WriteJob::Part(frame, part) => self.write_parts(frame, part, next),
            WriteJob::Frame(frame, snapshot) => {
                let paths = self.write_tables(frame, &snapshot)?;
                self.store
                    .write_unsynced("frames", frame, &snapshot.frames, &self.frame_format)?;
                self.finish_frame(frame, paths)
            }
            WriteJob::State(state) => self.write_state(&state, next),
            WriteJob::StateBytes(_) => unreachable!("bytes follow their state"),
            WriteJob::Done(signal) => {
                // The receiver may no longer exist.
                let _ = signal.send(());
                Ok(())
            }
        }
    }

    /// Writes a frame whose first rows are `part`; the `next` jobs have the others, and then its other tables.
    fn write_parts(
        &mut self,
        frame: u32,
        part: Box<Frames>,
        next: &Receiver<WriteJob>,
    ) -> store::Result<()> {
        let path = self.store.numbered("frames", frame, "parquet");
        // The error of another table keeps the path of that table.
        let mut tables = Ok(Vec::new());
        let written =
            parts::write_unsynced::<Frames>(&path, self.elements, &self.frame_format, |write| {
                write(&part)?;
                drop(part);
                loop {
                    match next.recv() {
                        Ok(WriteJob::Part(_, part)) => write(&part)?,
                        Ok(WriteJob::Frame(_, snapshot)) => {
                            tables = self.write_tables(frame, &snapshot);
                            return match &tables {
                                Ok(_) => Ok(()),
                                Err(_) => Err(std::io::Error::other("another table failed")),
                            };
                        }
                        // The run has failed within the frame.
                        _ => return Err(std::io::Error::other("the frame is not complete")),
                    }
                }
            });
        let paths = tables?;
        written?;
        self.finish_frame(frame, paths)
    }

    /// Writes the tables of a frame except `frames/`, which comes last, so that a frame on disk has all its tables.
    fn write_tables(&self, frame: u32, snapshot: &Snapshot) -> store::Result<Vec<PathBuf>> {
        let Snapshot {
            frames: _,
            breaks,
            history,
            fragments,
            loads,
            convergence,
            sleep,
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
        if sleep.rows() > 0 {
            paths.push(self.write_table("sleep", frame, sleep)?);
        }
        Ok(paths)
    }

    /// Notes the checksums of a frame that is on disk; `paths` are those of its other tables.
    fn finish_frame(&mut self, frame: u32, mut paths: Vec<PathBuf>) -> store::Result<()> {
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
            // Not every run has tables of loads, convergence or sleep.
            if !self.sums.is_empty() && self.store.path(kind).is_dir() {
                self.store.sync_names(kind)?;
            }
        }
        self.store.add_checksums(std::mem::take(&mut self.sums))
    }

    /// Writes a state after its frame and all earlier ones, so that a state on disk has all of them.
    fn write_state(
        &mut self,
        state: &StateInParts,
        next: &Receiver<WriteJob>,
    ) -> store::Result<()> {
        self.record_checksums()?;
        state.write(&self.store, &mut || match next.recv() {
            Ok(WriteJob::StateBytes(bytes)) => Some(bytes),
            _ => None,
        })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::fixture::noisy_frames;
    use crate::columns::{History, Sleep, SleepEvent, SleepReason};

    fn events() -> Sleep {
        Sleep {
            frame: vec![1, 1],
            time: vec![0.25, 0.5],
            step: vec![3, 6],
            fragment: vec![0, 7],
            elements: vec![40, 1],
            what: vec![SleepEvent::Asleep, SleepEvent::Judged],
            reason: vec![SleepReason::Calm, SleepReason::Stress],
            use_of_strength: vec![0.0, 0.75],
            energy: vec![1e-6, 0.0],
        }
    }

    fn history(frame: u32, awake: Vec<u32>, rigidified: Vec<f64>) -> History {
        let zero = || vec![0.0];
        History {
            frame: vec![frame],
            time: zero(),
            step: vec![0],
            dt: zero(),
            kinetic: zero(),
            rotational: zero(),
            gravity: zero(),
            bond: zero(),
            contact: zero(),
            held: vec![0.0; rigidified.len()],
            rigidified,
            px: zero(),
            py: zero(),
            pz: zero(),
            lx: zero(),
            ly: zero(),
            lz: zero(),
            broken: vec![0],
            fragments: vec![1],
            awake,
            contacts: vec![0],
            outside: vec![0],
            seconds: zero(),
            ..History::default()
        }
    }

    #[test]
    fn events_of_sleep_are_written_where_there_are_any_and_removed_with_their_frames() {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::at(folder.path());
        let snapshots = [
            Snapshot {
                history: history(0, vec![], vec![]),
                ..Snapshot::default()
            },
            Snapshot {
                history: history(1, vec![41], vec![2e-6]),
                sleep: events(),
                ..Snapshot::default()
            },
        ];
        let writer = Writer::start(store.clone(), &Output::default(), 1, 0);
        for (frame, snapshot) in (0..).zip(&snapshots) {
            assert!(writer.send(WriteJob::Frame(frame, Box::new(snapshot.clone()))));
        }
        writer.finish().expect("written");
        assert_eq!(store.numbers("sleep", "parquet").expect("numbers"), [1]);
        assert_eq!(store.read_sleep(1).expect("a table"), events());
        for (frame, snapshot) in (0..).zip(&snapshots) {
            assert_eq!(store.read_history(frame).expect("a row"), snapshot.history);
        }
        let made = layout::made_by("simulate");
        store.clear_after(&made, 0).expect("cleared");
        assert!(!store.numbered("sleep", 1, "parquet").exists());
        assert!(store.numbered("history", 0, "parquet").exists());
        store.clear(&made).expect("cleared");
        assert!(!store.path("sleep").exists() && !store.path("history").exists());
    }

    #[test]
    fn a_frame_in_parts_has_the_bytes_of_a_whole_one_or_leaves_no_file() {
        let rows = 20_000;
        let part = parts::ROWS_PER_WRITE;
        let cut = (0..rows).step_by(part);
        let cut = cut.map(|first| noisy_frames(first..(first + part as u32).min(rows)));
        let cut: Vec<Frames> = cut.collect();
        let others = || Snapshot {
            history: history(1, vec![], vec![]),
            ..Snapshot::default()
        };
        // What the writer leaves of these jobs, and its error.
        let written = |jobs: Vec<WriteJob>, prepare: &dyn Fn(&Store)| {
            let folder = tempfile::tempdir().expect("folder");
            let store = Store::at(folder.path());
            prepare(&store);
            let writer = Writer::start(store.clone(), &Output::default(), 1, rows as usize);
            let sent = jobs.into_iter().all(|job| writer.send(job));
            let error = writer.finish().err().map(|error| error.to_string());
            assert!(sent || error.is_some());
            let path = store.path("frames");
            let names = std::fs::read_dir(&path).into_iter().flatten();
            let files =
                names.map(|file| std::fs::read(file.expect("a file").path()).expect("bytes"));
            (files.collect::<Vec<_>>(), error)
        };
        let in_parts = |count: usize| {
            let parts = cut[..count].iter().cloned();
            parts.map(|part| WriteJob::Part(1, Box::new(part)))
        };
        let last = || WriteJob::Frame(1, Box::new(others()));
        let nothing = |_: &Store| ();
        let (expected, error) = written(
            vec![WriteJob::Frame(
                1,
                Box::new(Snapshot {
                    frames: noisy_frames(0..rows),
                    ..others()
                }),
            )],
            &nothing,
        );
        assert_eq!((expected.len(), error), (1, None));
        let (found, error) = written(in_parts(3).chain([last()]).collect(), &nothing);
        assert!(found == expected && error.is_none(), "{error:?}");
        // A run that ends within a frame, and rows that are missing.
        let (found, error) = written(in_parts(2).collect(), &nothing);
        assert!(found.is_empty());
        assert!(error.expect("no frame").contains("not complete"));
        let (found, error) = written(in_parts(2).chain([last()]).collect(), &nothing);
        assert!(found.is_empty());
        assert!(error.expect("no frame").contains("3616 rows"));
        // Another table cannot be written: its path is named.
        let blocked = |store: &Store| {
            std::fs::create_dir_all(store.root()).expect("folder");
            std::fs::write(store.path("breaks"), "a file").expect("written");
        };
        let (found, error) = written(in_parts(3).chain([last()]).collect(), &blocked);
        assert!(found.is_empty());
        let error = error.expect("no table of breaks");
        assert!(
            error.contains("breaks") && !error.contains("frames"),
            "{error}"
        );
    }
}

//! Runs of a packed store in one process and on ranks that are threads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::harness::{files, shot};
use cullet::columns::History;
use cullet::pack;
use cullet::ranks::{Transport, local};
use cullet::simulate::bonded::system::System;
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::{self, Capture, Method, Options, Shared, SimulateError, Start};
use cullet::spec::{self, Backend, Pipeline};
use cullet::store::{Manifest, Store};

/// Tables and states of a run, all but the wall times of the history. Not every run has a table of sleep.
const FOLDERS: [&str; 6] = ["frames", "breaks", "fragments", "loads", "state", "sleep"];

pub fn options(start: Start, until: Option<f64>) -> Options {
    Options {
        backend: Some(Backend::Cpu),
        adapter: None,
        start,
        until,
        inherited: None,
    }
}

/// Calls `act` on each of some ranks that are threads, each with a pool of `threads`; returns what all return.
pub fn on_ranks<T: Send>(
    (ranks, threads): (usize, usize),
    act: impl Fn(Arc<dyn Transport>) -> T + Sync,
) -> Vec<T> {
    let on_rank = |rank: local::Local| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| act(Arc::new(rank)))
    };
    std::thread::scope(|scope| {
        let ranks = local::ranks(ranks).into_iter();
        let threads: Vec<_> = ranks.map(|rank| scope.spawn(|| on_rank(rank))).collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// The history without wall times, and files by their names.
type Recorded = (Vec<History>, BTreeMap<String, Vec<u8>>);

/// A packed store, with its pipeline.
pub struct Packed {
    pub store: Store,
    pub pipeline: Pipeline,
}

impl Packed {
    /// Of a pipeline file, or of a shot of this repository.
    pub fn new(folder: &Path, name: &str, settings: &[&str]) -> Self {
        let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
        let file = match name.ends_with(".toml") {
            true => name.to_owned(),
            false => shot(name),
        };
        let read = spec::read(file.as_ref(), &settings).unwrap();
        let store = Store::at(folder);
        pack::write(&store, &pack::pack(&read.pipeline, &read.folder).unwrap()).unwrap();
        Manifest::new(read.pipeline.clone()).write(&store).unwrap();
        let pipeline = read.pipeline;
        Packed { store, pipeline }
    }

    /// Runs it in one process.
    pub fn run_alone(&self) {
        let (start, stop) = (options(Start::Packing, None), AtomicBool::new(false));
        simulate::run(&self.store, &self.pipeline, &start, &stop, &mut |_| ()).unwrap();
    }

    /// Runs it on ranks and threads until a flag is set; returns the results of all ranks.
    pub fn run(
        &self,
        options: &Options,
        on: (usize, usize),
        stop: &AtomicBool,
    ) -> Vec<Result<simulate::Outcome, SimulateError>> {
        let Packed { store, pipeline } = self;
        on_ranks(on, |transport| {
            let transport = Some(transport);
            simulate::run_on_ranks(store, pipeline, options, transport, stop, &mut |_| ())
        })
    }

    /// Everything that a run recorded, except wall times.
    pub fn recorded(&self) -> Recorded {
        let numbers = self.store.numbers("history", "parquet").unwrap();
        let history = numbers.into_iter().map(|frame| {
            let mut row = self.store.read_history(frame).unwrap();
            row.seconds = vec![0.0];
            row
        });
        let has = |folder: &&str| self.store.path(folder).exists();
        let folders: Vec<&str> = FOLDERS.into_iter().filter(has).collect();
        (history.collect(), files(self.store.root(), &folders))
    }
}

/// A run whose chunks moved between ranks.
pub struct Moved {
    /// Frames, with their states.
    pub captures: Vec<Capture>,
    /// Bonds that this rank held at the start and at the end, counted at each end that it held.
    pub bonds: [usize; 2],
    /// Elements whose rows it held. At the start ranks also have those of bond neighbours.
    pub rows: [usize; 2],
}

impl Moved {
    pub fn assert_same_captures(&self, other: &Moved) {
        assert_eq!(self.captures.len(), other.captures.len());
        for (one, other) in self.captures.iter().zip(&other.captures) {
            assert!(one.snapshot == other.snapshot);
            assert!(one.state == other.state);
        }
    }
}

impl Packed {
    /// Takes eight times 700 steps. On several ranks chunks move to others in each of these intervals.
    pub fn moving_chunks(&self, transport: Option<Arc<dyn Transport>>) -> Moved {
        let dt = simulate::schedule(&self.store, &self.pipeline).unwrap().dt;
        let ranks = transport.as_ref().map(Shared::new);
        let built = simulate::build_shared(&self.store, &self.pipeline, ranks).unwrap();
        let bonds = built.system.bonds.entries().count();
        let rows = |system: &System<f32>| {
            let rows = system.tail.iter();
            rows.filter(|row| row.0[3] > 0.0).count()
        };
        let rows_at_start = rows(&built.system);
        let mut run = Cpu::<f32>::new(built, &self.pipeline, dt);
        let chunks = run.system().motion.len().div_ceil(run.system().chunk);
        let mut captures = Vec::new();
        for frame in 1..=8u32 {
            if transport.is_some() {
                // So large that balance is worth any effort.
                let cost = |chunk: usize| {
                    1e6 * (1.0 + f64::from((chunk as u32 * 7 + frame * 3) % 5).powi(2))
                };
                run.rebalance_next((0..chunks).map(cost).collect());
            }
            run.advance(700).unwrap();
            run.capture(frame, true).unwrap();
            let mut capture = run.deliver().unwrap();
            capture.snapshot.history.seconds.clear();
            let again = run.state_without_frame(frame);
            assert!(capture.state == again);
            captures.push(capture);
        }
        assert!(transport.is_none() || run.traffic().unwrap().rebalances > 4);
        Moved {
            captures,
            bonds: [bonds, run.system().bonds.entries().count()],
            rows: [rows_at_start, rows(run.system())],
        }
    }
}

/// Asserts that a shot has the same bytes on these ranks and threads as in one process, and that it breaks bonds if it
/// `breaks`.
pub fn assert_same(name: &str, settings: &[&str], breaks: bool, on: &[(usize, usize)]) {
    let folder = tempfile::tempdir().unwrap();
    assert_runs_alike(&Packed::new(folder.path(), name, settings), breaks, on);
}

/// Asserts the same of a packed store.
pub fn assert_runs_alike(packed: &Packed, breaks: bool, on: &[(usize, usize)]) {
    let critical = |shared: Option<Shared>| {
        let built = simulate::build_shared::<f32>(&packed.store, &packed.pipeline, shared);
        built.unwrap().critical_step(&packed.pipeline).to_bits()
    };
    let expected = critical(None);
    for &at in on {
        let found = on_ranks(at, |transport| critical(Some(Shared::new(&transport))));
        assert_eq!(found, vec![expected; at.0], "critical step on {at:?}");
    }
    packed.run_alone();
    let last = *packed
        .store
        .numbers("frames", "parquet")
        .unwrap()
        .last()
        .unwrap();
    let broken = packed.store.read_history(last).unwrap().broken[0];
    assert!(last > 1 && (broken > 0) == breaks, "{last}, {broken}");
    let alone = packed.recorded();
    for &at in on {
        let stop = AtomicBool::new(false);
        for result in packed.run(&options(Start::Packing, None), at, &stop) {
            assert!(!result.unwrap().interrupted);
        }
        assert!(packed.recorded() == alone, "{at:?}");
    }
}

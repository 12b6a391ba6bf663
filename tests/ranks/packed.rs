//! Runs of a packed store in one process and on ranks that are threads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::harness::{files, shot};
use cullet::columns::History;
use cullet::pack;
use cullet::ranks::{Transport, local};
use cullet::simulate::{self, Options, Shared, SimulateError, Start};
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

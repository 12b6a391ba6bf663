//! Parquet tables: the first byte selects the table, the rest is the file.

#![no_main]

use std::sync::LazyLock;

use cullet::columns::{Bonds, Breaks, Elements, Fragments, Frames, History, Loads, Table};
use cullet::spec::FrameGroup;
use cullet::store::validate::validate;
use cullet::store::{self, Store, parquet};
use cullet_fuzz::{Shot, bounded, seed};
use libfuzzer_sys::fuzz_target;

const TABLES: [&str; 7] = [
    "packing/elements.parquet",
    "packing/bonds.parquet",
    "frames/000001.parquet",
    "breaks/000001.parquet",
    "history/000001.parquet",
    "fragments/000001.parquet",
    "loads/000001.parquet",
];

/// One store per table, so that only one table of each is altered.
static SHOTS: LazyLock<[Shot; 7]> = LazyLock::new(|| TABLES.map(|_| Shot::new()));

fuzz_target!(
    init: {
        for (number, name) in TABLES.iter().enumerate() {
            let bytes = [&[number as u8], &SHOTS[number].read(name)[..]].concat();
            seed(&name.replace('/', "."), &bytes);
            run(&bytes);
        }
    },
    |input: &[u8]| bounded(input, || run(input))
);

fn run(input: &[u8]) {
    let Some((&table, bytes)) = input.split_first() else {
        return;
    };
    let table = table as usize % TABLES.len();
    let (shot, name) = (&SHOTS[table], TABLES[table]);
    shot.put(name, bytes);
    let store = shot.store();
    let read = read_as(table, &store, name);
    let is_read = read.is_ok();
    check_message(read, name);
    check_message(read_as_stages(table, &store), ".parquet");
    // Validation reads the whole store: for unreadable files, every eighth is enough.
    if !is_read && bytes.len() % 8 != 0 {
        return;
    }
    let report = validate(&store, &|_, _| Ok(())).expect("the folder is there");
    assert!(
        report
            .findings
            .iter()
            .all(|finding| !finding.to_string().is_empty())
    );
}

fn check_message<T>(read: store::Result<T>, name: &str) {
    if let Err(error) = read {
        assert!(error.to_string().contains(name), "{error}");
    }
}

/// Reads the file as the table with its name.
fn read_as(table: usize, store: &Store, name: &str) -> store::Result<()> {
    fn all<T: Table>(store: &Store, name: &str) -> store::Result<()> {
        let path = store.path(name);
        let rows = parquet::rows(&path)?;
        let names = parquet::column_names(&path)?;
        let part = parquet::read_columns::<T>(&path, &["frame", "id", "x", "mode"])?;
        drop(part);
        let mut parts = 0;
        let read = parquet::read_parts(&path, &mut |part: &T| parts += part.rows());
        let whole = parquet::read::<T>(&path);
        assert_eq!(read.is_ok(), whole.is_ok());
        let whole = whole?;
        assert!(
            T::columns()
                .iter()
                .all(|column| names.iter().any(|name| name == column.name))
        );
        assert_eq!((rows, rows), (whole.rows(), parts));
        Ok(())
    }
    match table {
        0 => all::<Elements>(store, name),
        1 => all::<Bonds>(store, name),
        2 => all::<Frames>(store, name),
        3 => all::<Breaks>(store, name),
        4 => all::<History>(store, name),
        5 => all::<Fragments>(store, name),
        _ => all::<Loads>(store, name),
    }
}

/// Reads the file as the stages do.
fn read_as_stages(table: usize, store: &Store) -> store::Result<()> {
    match table {
        0 | 1 => {
            store.bond_count()?;
            store.read_packing_columns(&["x", "y", "z", "r", "body"], &["i", "j", "l0"])?;
        }
        2 => {
            store.frame_groups(1)?;
            store.read_frame_with(1, &[FrameGroup::Position])?;
            store.read_frame_of(1, &FrameGroup::ALL, 40)?;
        }
        3 => {
            store.read_breaks(1)?;
            store.read_broken(1, 60)?;
        }
        4 => drop(store.read_history(1)?),
        5 => drop(store.read_fragments(1)?),
        _ => drop(store.read_loads(1)?),
    }
    Ok(())
}

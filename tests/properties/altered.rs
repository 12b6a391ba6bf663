//! Files of a shot, altered at random: they are read, or refused with a message that names the file.

use std::sync::atomic::AtomicBool;
use std::sync::{LazyLock, Mutex, PoisonError};

use cullet::columns::{Bonds, Breaks, Elements, Fragments, Frames, History, Table};
use cullet::geometry::{check, read};
use cullet::simulate::{self, run_state::state::State};
use cullet::store::validate::validate;
use cullet::store::{self, Manifest, Store, SurfaceFrame, parquet};
use cullet::{pack, reconstruct, spec};
use proptest::prelude::*;

use super::cases;

const SHOT: &str = r#"
[time]
end = "1 ms"
frames_per_second = "1 kHz"

[[material]]
name = "gypsum"
density = "1100 kg/m^3"
young = "1 MPa"
tensile_strength = "2.5 Pa"
shear_strength = "3 kPa"

[[body]]
name = "bar"
material = "gypsum"
shape = { type = "box", size = ["4 cm", "2 cm", "2 cm"] }
packing = { type = "hexagonal", radius = "5 mm" }
velocity = [0, "-1 m/s", 0]

[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
position = [0, "-11 mm", 0]

[simulate]
backend = "cpu"
state_every = 1

[scales.smoke]
"time.end" = "2 ms"
"#;

/// A store in which one file at a time is altered.
struct Altered {
    folder: tempfile::TempDir,
}

static STORE: LazyLock<Mutex<Altered>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let pipeline = spec::parse(SHOT, "shot", &[]).unwrap();
    pack::write(&store, &pack::pack(&pipeline, folder.path()).unwrap()).unwrap();
    Manifest::new(pipeline.clone()).write(&store).unwrap();
    let options = simulate::Options {
        backend: None,
        adapter: None,
        start: simulate::Start::Packing,
        until: None,
        inherited: None,
    };
    let never = AtomicBool::new(false);
    simulate::run(&store, &pipeline, &options, &never, &mut |_| ()).unwrap();
    reconstruct::run(&store, &pipeline.reconstruct, 0..9, &mut |_, _| ()).unwrap();
    Mutex::new(Altered { folder })
});

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Change {
    /// Bits of the byte at a place are flipped.
    Flip(prop::sample::Index, u8),
    /// A byte is replaced by a value that often corrupts lengths and numbers.
    Set(prop::sample::Index, u8),
    /// The file is truncated at a position.
    Cut(prop::sample::Index),
    /// Bytes from a position on are duplicated.
    Double(prop::sample::Index, u8),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Change::Flip(at, bits) => *at.get_mut(bytes) ^= bits,
            Change::Set(at, value) => *at.get_mut(bytes) = *value,
            Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Change::Double(at, count) => {
                let at = at.index(bytes.len());
                let end = (at + usize::from(*count)).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let place = any::<prop::sample::Index>;
    let spoilt = prop::sample::select(&[0_u8, 1, 0x0F, 0x7F, 0x80, 0xFE, 0xFF][..]);
    let change = prop_oneof![
        4 => (place(), 1..=255_u8).prop_map(|(at, bits)| Change::Flip(at, bits)),
        4 => (place(), spoilt).prop_map(|(at, value)| Change::Set(at, value)),
        1 => place().prop_map(Change::Cut),
        1 => (place(), any::<u8>()).prop_map(|(at, count)| Change::Double(at, count)),
    ];
    prop::collection::vec(change, 1..4)
}

/// Alters a file, reads it, and restores it. Every message must name the file.
fn altered(name: &str, changes: &[Change], read: impl FnOnce(&Store) -> Result<(), Vec<String>>) {
    let altered = STORE.lock().unwrap_or_else(PoisonError::into_inner);
    let store = Store::at(altered.folder.path());
    let path = store.path(name);
    let whole = std::fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    changes.iter().for_each(|change| change.apply(&mut bytes));
    // Checksums of archives are corrected, or nothing after them would be read.
    if name.ends_with("rkyv") && bytes.len() > 16 && changes.len() > 1 {
        bytes[..12].copy_from_slice(&whole[..12]);
        let sum = xxhash_rust::xxh3::xxh3_64(&bytes[16..]) as u32;
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    }
    std::fs::write(&path, &bytes).unwrap();
    let messages = read(&store);
    let report = validate(&store, &|store, number| {
        State::read(store, number).map(drop)
    });
    std::fs::write(&path, &whole).unwrap();
    let file = name.rsplit('/').next().unwrap();
    for message in messages.err().into_iter().flatten() {
        assert!(message.contains(file), "{message}");
    }
    for finding in report.unwrap().findings {
        assert!(!finding.fault.what.is_empty());
    }
}

fn messages<T>(read: store::Result<T>) -> Result<(), Vec<String>> {
    read.map(drop).map_err(|error| vec![error.to_string()])
}

fn table<T: Table>(store: &Store, name: &str) -> Result<(), Vec<String>> {
    let path = store.path(name);
    messages(parquet::column_names(&path))?;
    messages(parquet::read_columns::<T>(
        &path,
        &["id", "bond", "mass", "kind"],
    ))?;
    messages(parquet::read::<T>(&path))
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn altered_tables_are_read_or_refused(changes in changes(), which in 0..6_usize) {
        type Read = fn(&Store, &str) -> Result<(), Vec<String>>;
        let tables: [(&str, Read); 6] = [
            ("packing/elements.parquet", table::<Elements>),
            ("packing/bonds.parquet", table::<Bonds>),
            ("frames/000001.parquet", table::<Frames>),
            ("breaks/000001.parquet", table::<Breaks>),
            ("history/000001.parquet", table::<History>),
            ("fragments/000001.parquet", table::<Fragments>),
        ];
        let (name, read) = tables[which];
        altered(name, &changes, |store| read(store, name));
    }

    #[test]
    fn altered_archives_are_read_or_refused(changes in changes()) {
        altered("meshes/000001.rkyv", &changes, |store| messages(SurfaceFrame::read(store, 1)));
        altered("state/000001.rkyv", &changes, |store| messages(State::read(store, 1)));
    }

    #[test]
    fn an_altered_manifest_is_read_or_refused(changes in changes()) {
        altered("store.json", &changes, |store| messages(Manifest::read(store)));
    }

    #[test]
    fn altered_skins_are_read_or_refused(changes in changes()) {
        altered("packing/shapes/0.ply", &changes, |store| {
            match read::read(&store.shape_path(0)) {
                Ok(mut mesh) => {
                    let _ = check::require_solid(&mut mesh).map_err(|defect| defect.to_string());
                    Ok(())
                }
                Err(error) => Err(vec![error.to_string()]),
            }
        });
    }

    #[test]
    fn altered_pipelines_are_read_or_refused(changes in changes(), set in "[a-z.0-9]{0,9}=\\PC{0,9}") {
        let mut bytes = SHOT.as_bytes().to_vec();
        changes.iter().for_each(|change| change.apply(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        for sets in [vec![], vec![set], vec!["scale=smoke".to_owned()]] {
            if let Err(errors) = spec::parse(&text, "shot.toml", &sets) {
                prop_assert!(errors.0.iter().all(|error| !error.to_string().is_empty()));
            }
        }
    }

    #[test]
    fn altered_texts_of_meshes_are_read_or_refused(changes in changes()) {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0 2\nv 0 0 1 1 1 1\nvt 0 0\nvt 1e0 -1\no a\nf 1 3 2\nf 1/1 2/-1 4/1/2\nf 2//3 3 4\nf 1 -1 3\n";
        let ply = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty double y\nproperty int z\n\
            element face 3\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n4 0 1 3 2\n3 1 2 3\n";
        let stl = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a.obj", text), ("a.ply", ply), ("a.stl", stl)] {
            let mut bytes = text.as_bytes().to_vec();
            changes.iter().for_each(|change| change.apply(&mut bytes));
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            if let Err(error) = read::read(&path) {
                prop_assert!(error.to_string().contains(name));
            }
        }
    }
}

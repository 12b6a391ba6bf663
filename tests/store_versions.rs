//! Versions of the store: what is read, kept and refused.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, RecordBatch};
use cullet::store::{Manifest, Store};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use crate::harness::TestFolder;
use crate::store::copy;

/// The kept store of version 1.0, with a changed `store.json` whose checksum is left out.
fn changed(change: impl FnOnce(&mut Value)) -> TestFolder {
    let folder = TestFolder::new();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/v1");
    copy(&kept, &folder.path("store"));
    let mut manifest = json_of(&folder);
    manifest.as_object_mut().unwrap().remove("checksum");
    change(&mut manifest);
    folder.write("store/store.json", &manifest.to_string());
    folder
}

fn json_of(folder: &TestFolder) -> Value {
    serde_json::from_slice(&std::fs::read(folder.path("store/store.json")).unwrap()).unwrap()
}

/// Adds a column to a table, as a newer program would.
fn add_column(path: &Path) {
    let open = || std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(open()).unwrap();
    let metadata = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .cloned();
    let own = |entry: &KeyValue| entry.key.starts_with("cullet.");
    let metadata = metadata.map(|all| all.into_iter().filter(own).collect());
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    let novelty: ArrayRef = Arc::new(Float32Array::from(vec![1.0; batch.num_rows()]));
    let schema = batch.schema();
    let old = schema.fields().iter().map(|field| field.name().clone());
    let columns = old.zip(batch.columns().iter().cloned());
    let columns = columns.chain([("novelty".to_owned(), novelty)]);
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_key_value_metadata(metadata)
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn a_newer_minor_version_is_read_and_its_keys_are_kept() {
    let folder = changed(|manifest| {
        manifest["schema_minor"] = json!(7);
        manifest["novelty"] = json!({ "a": [1, 2.5] });
        manifest["files"]
            .as_object_mut()
            .unwrap()
            .remove("frames/000001.parquet");
    });
    add_column(&folder.path("store/frames/000001.parquet"));
    std::fs::create_dir(folder.path("store/novelties")).unwrap();
    folder.write("store/novelties/000000.parquet", "of a later version");
    let message = folder.succeed(&["inspect", "store", "--validate"]);
    assert!(message.starts_with("valid: "), "{message}");
    let message = folder.succeed(&["inspect", "store"]);
    assert!(message.contains("1.7; this program knows 1."), "{message}");
    folder.succeed(&["reconstruct", "store"]);
    folder.succeed(&["export", "store", "--format", "obj"]);
    let manifest = json_of(&folder);
    assert_eq!(manifest["schema_minor"], 7);
    assert_eq!(manifest["novelty"], json!({ "a": [1, 2.5] }));
    assert!(manifest["checksum"].is_string());
    assert!(manifest["files"]["frames/000002.parquet"].is_string());
    assert!(folder.path("store/novelties/000000.parquet").exists());
}

#[test]
fn a_store_of_version_1_0_has_no_minor_version_and_keeps_its_form() {
    let folder = changed(|_| ());
    let store = Store::open(folder.path("store")).unwrap();
    let read = Manifest::read(&store).unwrap();
    assert_eq!((read.schema_version, read.schema_minor), (1, 0));
    assert!(read.other.is_empty(), "{:?}", read.other);
    assert!(!folder.succeed(&["inspect", "store"]).contains("schema"));
}

/// Name, change to `store.json`, parts of the message.
type Refusal<'a> = (&'a str, &'a dyn Fn(&mut Value), &'a [&'a str]);

#[test]
fn what_cannot_be_read_is_refused_with_both_versions() {
    let program = env!("CARGO_PKG_VERSION");
    let cases: [Refusal; 4] = [
        (
            "newer",
            &|manifest| {
                manifest["schema_version"] = json!(2);
                manifest["schema_minor"] = json!(3);
                manifest["stages"] = json!({ "pack": { "program": "9.8.7" } });
            },
            &[
                "schema version 2.3; this program reads version 1",
                "use a newer cullet",
                "9.8.7",
            ],
        ),
        (
            "older",
            &|manifest| manifest["schema_version"] = json!(0),
            &[
                "schema version 0; this program reads version 1",
                "use the cullet that wrote it",
            ],
        ),
        (
            "a new key",
            &|manifest| {
                manifest["schema_minor"] = json!(3);
                manifest["pipeline"]["simulate"]["novelty"] = json!(true);
            },
            &[
                "`novelty`",
                "The store has schema version 1.3",
                "use a newer cullet",
            ],
        ),
        (
            "no number",
            &|manifest| manifest["schema_minor"] = json!("x"),
            &["schema_minor \"x\", which is not a number"],
        ),
    ];
    for (name, change, parts) in cases {
        let folder = changed(change);
        let before = json_of(&folder);
        let code = if name == "no number" { 1 } else { 2 };
        for command in [&["inspect", "store"][..], &["reconstruct", "store"][..]] {
            let message = folder.fail(command, code);
            for part in parts {
                assert!(message.contains(part), "{name}: {part} is not in {message}");
            }
            assert!(code == 1 || message.contains(program), "{name}: {message}");
        }
        assert_eq!(json_of(&folder), before, "{name}");
    }
}

#[test]
fn files_of_another_version_are_refused_by_name() {
    let folder = changed(|manifest| {
        manifest["files"]
            .as_object_mut()
            .unwrap()
            .remove("meshes/000001.rkyv");
    });
    let path = folder.path("store/meshes/000001.rkyv");
    let whole = std::fs::read(&path).unwrap();
    for (at, bytes, code, part) in [
        (
            8,
            &b"\x02"[..],
            2,
            "000001.rkyv: schema version 2; this program reads version 1",
        ),
        (
            0,
            b"culletm9",
            1,
            "000001.rkyv: holds culletm9, this program",
        ),
        (0, b"notours1", 1, "000001.rkyv: not a file of this kind"),
    ] {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        std::fs::write(&path, changed).unwrap();
        let message = folder.fail(&["export", "store", "--format", "obj"], code);
        assert!(message.contains(part), "{message}");
    }
}

/// Paths of all keys, without the numbers of entries.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let path = format!("{path}.{key}");
                found.insert(path.clone());
                keys(value, &path, found);
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| keys(entry, path, found)),
        _ => {}
    }
}

/// The list is that of version 1.0. A key that is missing in it must be left out of `store.json` at its default
/// (`skip_serializing_if`), or older programs could not read stores that do not use it.
#[test]
fn a_pipeline_without_new_keys_is_written_with_those_of_version_1_0() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("tests/stores/v1.toml")).unwrap();
    let pipeline = cullet::spec::parse(&text, "v1", &[]).unwrap();
    let mut found = BTreeSet::new();
    keys(&serde_json::to_value(pipeline).unwrap(), "", &mut found);
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let known: Vec<&str> = include_str!("stores/keys_1_0.txt").lines().collect();
    let new: Vec<_> = found.iter().filter(|key| !known.contains(key)).collect();
    assert!(new.is_empty(), "{new:?}");
}

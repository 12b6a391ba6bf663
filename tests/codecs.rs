//! Columns as other programs write them: other types, other codecs, and values out of range.

use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float32Array, Float64Array, Int16Array, Int64Array,
    LargeStringArray, RecordBatch, StringViewArray, UInt64Array,
};
use cullet::store::Store;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use crate::foreign_stores::{ALL, RECONSTRUCT, findings, survives};
use crate::harness::TestFolder;

fn write_table(path: &Path, compression: Compression, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Three elements in a row with bonds, of which the last breaks in frame 1, in types that other programs use.
fn write_three_elements(store: &Store, modes: ArrayRef) {
    let whole = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let short = |values: &[i16]| Arc::new(Int16Array::from(values.to_vec())) as ArrayRef;
    let long = |values: &[u64]| Arc::new(UInt64Array::from(values.to_vec())) as ArrayRef;
    let single = |values: &[f32]| Arc::new(Float32Array::from(values.to_vec())) as ArrayRef;
    let double = |values: &[f64]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
    let elements = vec![
        ("id", whole(&[0, 1, 2])),
        ("body", short(&[0; 3])),
        ("x", single(&[0.0, 2.0, 4.0])),
        ("y", whole(&[0; 3])),
        ("z", double(&[0.0; 3])),
        ("r", single(&[1.0; 3])),
        ("mass", double(&[1.0; 3])),
        ("colour", double(&[0.5; 3])),
    ];
    write_table(
        &store.path("packing/elements.parquet"),
        Compression::SNAPPY,
        elements,
    );
    let bonds = vec![
        ("id", long(&[0, 1])),
        ("i", whole(&[0, 1])),
        ("j", short(&[1, 2])),
        ("l0", single(&[2.0; 2])),
        ("dx", short(&[1; 2])),
        ("dy", single(&[0.0; 2])),
        ("dz", single(&[0.0; 2])),
    ];
    write_table(
        &store.path("packing/bonds.parquet"),
        Compression::GZIP(Default::default()),
        bonds,
    );
    for frame in 0..2 {
        let apart = f64::from(frame);
        let columns = vec![
            ("frame", whole(&[i64::from(frame); 3])),
            ("time", single(&[frame as f32; 3])),
            ("id", long(&[0, 1, 2])),
            ("x", double(&[0.0, 2.0, 4.0 + apart])),
            ("y", double(&[0.0; 3])),
            ("z", double(&[0.0; 3])),
            ("qx", double(&[0.0; 3])),
            ("qy", double(&[0.0; 3])),
            ("qz", double(&[0.0; 3])),
            ("qw", short(&[1; 3])),
            ("fragment", short(&[0, 0, frame as i16])),
        ];
        let path = store.numbered("frames", frame, "parquet");
        write_table(&path, Compression::LZ4_RAW, columns);
    }
    let breaks = vec![
        ("frame", whole(&[1])),
        ("time", double(&[0.5])),
        ("bond", whole(&[1])),
        ("i", whole(&[1])),
        ("j", whole(&[2])),
        ("x", double(&[3.0])),
        ("y", double(&[0.0])),
        ("z", double(&[0.0])),
        ("mode", modes),
    ];
    write_table(
        &store.path("breaks/000001.parquet"),
        Compression::SNAPPY,
        breaks,
    );
    let manifest =
        r#"{"schema_version": 1, "units": "SI", "coordinates": "right-handed, y up, metres"}"#;
    std::fs::write(store.path("store.json"), manifest).unwrap();
}

#[test]
fn types_and_codecs_of_other_programs_are_read() {
    let dictionary: DictionaryArray<Int32Type> = vec!["tension"].into_iter().collect();
    let large = LargeStringArray::from(vec!["shear"]);
    let view = StringViewArray::from(vec!["shear"]);
    let modes = [
        Arc::new(dictionary) as ArrayRef,
        Arc::new(large),
        Arc::new(view),
    ];
    for modes in modes {
        let folder = TestFolder::new();
        write_three_elements(&Store::at(folder.path("store")), modes);
        assert_eq!(findings(&folder), [""; 0]);
        folder.succeed(RECONSTRUCT);
        for arguments in ALL {
            folder.succeed(arguments);
        }
        let message = folder.succeed(&["inspect", "store", "--json"]);
        let json: Value = serde_json::from_str(&message).unwrap();
        assert_eq!(
            (&json["last"]["broken"], &json["mass"]),
            (&1.into(), &3.0.into())
        );
        folder.succeed(&[
            "export",
            "store",
            "--format",
            "usd-elements",
            "--usd",
            "usda",
        ]);
        let elements = std::fs::read_to_string(folder.path("store/exports/store.elements.usda"));
        let elements = elements.unwrap();
        assert!(elements.contains("orientations") && !elements.contains("velocities"));
    }
}

#[test]
fn values_out_of_range_are_reported_with_their_row() {
    let folder = TestFolder::new();
    let store = Store::at(folder.path("store"));
    write_three_elements(&store, Arc::new(LargeStringArray::from(vec!["bend"])));
    let whole = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values)) as ArrayRef;
    let columns = vec![
        ("id", whole(vec![Some(0), Some(-1), Some(1 << 40)])),
        ("body", whole(vec![Some(0), None, None])),
        (
            "x",
            Arc::new(LargeStringArray::from(vec!["a", "b", "c"])) as ArrayRef,
        ),
        ("y", whole(vec![Some(0); 3])),
        ("r", whole(vec![Some(1); 3])),
        ("mass", whole(vec![Some(1), Some(0), Some(1)])),
    ];
    write_table(
        &store.path("packing/elements.parquet"),
        Compression::UNCOMPRESSED,
        columns,
    );
    let file = "packing/elements.parquet";
    assert_eq!(
        findings(&folder),
        [
            format!("{file}: column z: missing; Float64, unit m: rest position"),
            format!("{file}: column id, row 1: holds -1, which is no UInt32"),
            format!("{file}: column id, row 2: holds 1099511627776, which is no UInt32"),
            format!("{file}: column body, row 1: has no value"),
            format!("{file}: column body, row 2: has no value"),
            format!("{file}: column x: holds Utf8, not Float64"),
            format!("{file}: column mass, row 1: is 0 kg; it must be above 0"),
            "breaks/000001.parquet: column mode, row 0: holds \"bend\"; allowed: tension, shear, hydrostatic"
                .to_owned(),
        ]
    );
    let refusals = survives(&folder);
    let refusal = refusals
        .iter()
        .find(|(command, _)| command == "preview store");
    assert!(
        refusal.unwrap().1.contains("column id, row 1: holds -1"),
        "{refusals:?}"
    );
}

//! Stores of other programs: files may be damaged or missing, optional parts of a store may be absent.

use cullet::store::Store;
use serde_json::Value;

use crate::foreign_stores::{
    ALL, RECONSTRUCT, change_frame, change_packing, changed_store, findings, survives,
};

#[test]
fn files_that_are_damaged_or_missing() {
    let cut = |name: &'static str| {
        move |store: &Store| {
            let bytes = std::fs::read(store.path(name)).unwrap();
            std::fs::write(store.path(name), &bytes[..bytes.len() / 2]).unwrap();
        }
    };
    for name in [
        "packing/elements.parquet",
        "packing/bonds.parquet",
        "frames/000001.parquet",
    ] {
        let folder = changed_store(cut(name));
        let found = findings(&folder);
        assert!(
            found[0].starts_with(&format!("{name}: not a readable Parquet file")),
            "{found:?}"
        );
        let refusals = survives(&folder);
        let refusal = refusals
            .iter()
            .find(|(command, _)| command == "reconstruct store");
        assert!(refusal.unwrap().1.contains(name), "{refusals:?}");
    }
    let folder =
        changed_store(|store| std::fs::remove_file(store.path("packing/bonds.parquet")).unwrap());
    assert_eq!(findings(&folder), ["packing/bonds.parquet: missing"]);
    assert!(!survives(&folder).is_empty());

    let folder = changed_store(|store| {
        let path = store.path("meshes/000001.rkyv");
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        std::fs::copy(
            store.path("meshes/000000.rkyv"),
            store.path("meshes/000002.rkyv"),
        )
        .unwrap();
        for number in store.numbers("state", "rkyv").unwrap() {
            std::fs::write(store.numbered("state", number, "rkyv"), b"state").unwrap();
        }
        std::fs::rename(
            store.path("frames/000000.parquet"),
            store.path("frames/0.parquet"),
        )
        .unwrap();
        std::fs::write(
            store.path("packing/shapes/0.ply"),
            "ply\nformat ascii 1.0\n",
        )
        .unwrap();
        std::fs::copy(
            store.path("packing/shapes/0.ply"),
            store.path("packing/shapes/4.ply"),
        )
        .unwrap();
    });
    let found = findings(&folder);
    for (start, part) in [
        ("meshes/000001.rkyv: ", "checksum"),
        (
            "meshes/000002.rkyv: ",
            "holds frame 0; the file is number 2",
        ),
        ("state/", "truncated"),
        ("frames/0.parquet: ", "not named like frames/000012.parquet"),
        ("packing/shapes/0.ply: ", ""),
        ("packing/shapes/4.ply: ", "there are 1 bodies"),
    ] {
        let is_found = found
            .iter()
            .any(|line| line.starts_with(start) && line.contains(part));
        assert!(is_found, "{start}{part} is not in {found:#?}");
    }
    let refusals = survives(&folder);
    assert!(
        refusals
            .iter()
            .any(|(command, _)| command == "export store --format usd")
    );
    assert!(
        refusals
            .iter()
            .any(|(_, message)| message.contains("skin of body 0"))
    );
}

#[test]
fn optional_parts_of_a_store_may_be_missing() {
    // Neither pipeline nor shapes nor anything else that only `simulate` writes for its own use.
    let folder = changed_store(|store| {
        let kinds = ["history", "fragments", "loads", "state", "meshes", "breaks"];
        store
            .clear(&[&kinds[..], &["packing/shapes"]].concat())
            .unwrap();
        let manifest =
            r#"{"schema_version": 1, "units": "SI", "coordinates": "right-handed, y up, metres"}"#;
        std::fs::write(store.path("store.json"), manifest).unwrap();
    });
    assert_eq!(findings(&folder), [""; 0]);
    folder.succeed(RECONSTRUCT);
    for arguments in ALL {
        folder.succeed(arguments);
    }
    let json: Value =
        serde_json::from_str(&folder.succeed(&["inspect", "store", "--json"])).unwrap();
    assert_eq!(
        (&json["last"]["fragments"], &json["last"]["frame"]),
        (&1.into(), &2.into())
    );

    // A body may have any id, and tables may be empty.
    let folder = changed_store(|store| change_packing(store, |p| p.elements.body.fill(u32::MAX)));
    assert!(survives(&folder).is_empty());
    let folder = changed_store(|store| store.write_packing(&Default::default()).unwrap());
    assert!(findings(&folder).contains(&"packing/elements.parquet: no elements".to_owned()));
    assert!(!survives(&folder).is_empty());
}

#[test]
fn findings_are_all_reported_up_to_a_limit_per_file() {
    let folder = changed_store(|store| {
        change_packing(store, |p| p.elements.r[..50].fill(-1.0));
        change_frame(store, |f| f.z[9] = f32::INFINITY);
    });
    let found = findings(&folder);
    let first = "packing/elements.parquet: column r, row 0: is -1 m; it must be above 0";
    assert_eq!((found.len(), &found[0][..]), (22, first));
    assert_eq!(found[20], "packing/elements.parquet: and 30 more");
    assert_eq!(
        found[21],
        "frames/000001.parquet: column z, row 9: is not finite"
    );
    let output = folder.output(&["inspect", "store", "--validate", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let last = &json.as_array().unwrap()[21];
    let expected = serde_json::json!({
        "file": "frames/000001.parquet", "column": "z", "row": 9, "what": "is not finite",
    });
    assert_eq!(last, &expected);
    for threads in ["1", "3"] {
        let again = folder.output(&[
            "inspect",
            "store",
            "--validate",
            "--json",
            "--threads",
            threads,
        ]);
        assert!(again.stdout == output.stdout, "{threads} threads");
    }
}

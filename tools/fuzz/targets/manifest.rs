//! `store.json`: as given, and without the checksum, which would reject altered files.

#![no_main]

use std::sync::LazyLock;

use cullet::store::validate::validate;
use cullet::store::{Manifest, Store};
use cullet_fuzz::{Shot, bounded, seed};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static SHOT: LazyLock<Shot> = LazyLock::new(Shot::new);

fuzz_target!(
    init: {
        let text = SHOT.read("store.json");
        run(&text);
        let mut value: Value = serde_json::from_slice(&text).expect("JSON");
        seed("whole.json", &text);
        value.as_object_mut().expect("an object").remove("checksum");
        seed("compact.json", value.to_string().as_bytes());
    },
    |input: &[u8]| bounded(input, || run(input))
);

fn run(input: &[u8]) {
    read(input);
    if let Ok(mut value) = serde_json::from_slice::<Value>(input)
        && value
            .as_object_mut()
            .is_some_and(|object| object.remove("checksum").is_some())
    {
        read(value.to_string().as_bytes());
    }
}

fn read(text: &[u8]) {
    SHOT.put("store.json", text);
    let store = SHOT.store();
    let read = Manifest::read(&store);
    let is_read = read.is_ok();
    match read {
        Ok(manifest) => {
            manifest.write(&store).expect("room in the folder");
            assert_eq!(Manifest::read(&store).expect("as it was written"), manifest);
        }
        Err(error) => assert!(error.to_string().contains("store.json")),
    }
    if let Ok(store) = Store::open(SHOT.path()) {
        for kind in ["frames", "history"] {
            let _ = store.numbers(kind, "parquet");
        }
        let _ = store.read_frame(1);
    }
    // Validation reads the whole store: for unreadable manifests, every eighth is enough.
    if is_read || text.len() % 8 == 0 {
        validate(&store, &|_, _| Ok(())).expect("the folder is there");
    }
}

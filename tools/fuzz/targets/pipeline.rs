//! Pipeline files with overrides: text, then overrides, separated by zero bytes.

#![no_main]

use cullet::spec::{self, Pipeline};
use cullet_fuzz::{ACROSS, bounded, seed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: {
        seed("across", ACROSS.as_bytes());
        seed("smoke", format!("{ACROSS}\0scale=smoke").as_bytes());
        let sets = "\0body.bar.packing.radius=3 mm\0time = { end = 0.5 }\0material.0.young=1e9";
        seed("sets", format!("{ACROSS}{sets}").as_bytes());
        for file in std::fs::read_dir("pipelines").into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|extension| extension == "toml") {
                let text = std::fs::read(file.path()).expect("a pipeline");
                seed(&file.file_name().to_string_lossy(), &text);
            }
        }
        // One-time initialisation is not charged to an input.
        run(ACROSS.as_bytes());
        let _ = spec::parse("", "shot", &["a".to_owned()]);
    },
    |input: &[u8]| bounded(input, || run(input))
);

fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut parts = text.split('\0');
    let text = parts.next().unwrap_or_default();
    let sets: Vec<String> = parts.take(5).map(str::to_owned).collect();
    match spec::parse(text, "shot", &sets) {
        Ok(pipeline) => {
            // Serialised to JSON as in store.json and read again, the pipeline is the same.
            let json = serde_json::to_string(&pipeline).expect("numbers that JSON has");
            let again: Pipeline = serde_json::from_str(&json).expect("the same keys");
            assert_eq!(pipeline, again);
        }
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
}

//! The hash of all inputs that determine the results of a run. A run can resume from a state with the same hash.
//!
//! It hashes a canonical text of the physics, JSON with sorted keys and without absent values, then the hash of the
//! packing. The text has a version. Keys added later are omitted while they have the value that earlier runs used
//! implicitly, so that older states stay usable.

use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use crate::spec::Pipeline;

/// Version of the text; increasing it makes all older states unusable.
const VERSION: u32 = 1;

/// Keys added since [`VERSION`], as paths such as `material[].friction`, each with the value (JSON) that
/// earlier runs used implicitly.
const ADDED: &[(&str, &str)] = &[
    ("attach[].action.signal", "null"),
    ("attach[].action.torque", "[0.0, 0.0, 0.0]"),
    ("body[].cracks", "[]"),
    ("body[].shape.each", "false"),
    ("body[].shape.object", "null"),
    ("body[].shape.thickness", "null"),
    ("body[].shape.thickness_side", "\"both\""),
    ("body[].shape.unit", "null"),
    ("body[].shape.up", "null"),
    ("collider[].shape.fill", "\"auto\""),
    ("collider[].shape.object", "null"),
    ("collider[].shape.thickness", "null"),
    ("collider[].shape.thickness_side", "\"both\""),
    ("collider[].shape.unit", "null"),
    ("collider[].shape.up", "null"),
    ("material[].restitution", "null"),
    ("material[].static_friction", "null"),
    // The packing has the strengths of all bonds.
    ("material[].strength", "\"bond\""),
    ("material[].strength", "\"material\""),
    ("material[].toughness", "null"),
    ("material[].weibull_length", "null"),
    ("material[].weibull_size", "null"),
    ("pair[].restitution", "null"),
    ("pair[].static_friction", "null"),
    // Earlier cells had spherical contacts: the hash of a packing of cells distinguishes these.
    ("simulate.cell_contact", "\"polyhedra\""),
    ("simulate.method", "null"),
    ("simulate.sleep", "false"),
    // Earlier runs had no such limit.
    ("simulate.sleep_limits.loss", "1e300"),
    (
        "simulate.sleep_limits",
        r#"{"calm":0.4,"vibration":0.1,"wake":0.5}"#,
    ),
    ("world.absorbing", "[]"),
    ("world.plane_strain", "null"),
    ("world.remove", "false"),
];

/// Tables that do not change the results of a run: recording, surfaces, export, preview.
const UNHASHED_TABLES: [&str; 5] = ["stress", "output", "reconstruct", "export", "preview"];
/// Keys of `simulate` that do not change the results: where a run is computed, and its states.
const UNHASHED_SIMULATE_KEYS: [&str; 4] = ["backend", "gpu", "keep_states", "state_every"];
/// Keys of `time` that do not change the results up to a given time.
const UNHASHED_TIME_KEYS: [&str; 2] = ["end", "frames_per_second"];

/// Hash of a packing, itself given by its hash, and of the physics of a pipeline.
pub fn hash(packing: u64, pipeline: &Pipeline) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(canonical(pipeline, ADDED).as_bytes());
    hash.update(&packing.to_le_bytes());
    hash.digest()
}

fn canonical(pipeline: &Pipeline, added: &[(&str, &str)]) -> String {
    let mut physics = serde_json::to_value(pipeline).expect("a pipeline is JSON");
    remove(Some(&mut physics), &UNHASHED_TABLES);
    remove(physics.get_mut("simulate"), &UNHASHED_SIMULATE_KEYS);
    remove(physics.get_mut("time"), &UNHASHED_TIME_KEYS);
    drop_absent(&mut physics);
    if !pipeline.simulate.sleep {
        // Without sleep its limits change nothing.
        remove(physics.get_mut("simulate"), &["sleep_limits"]);
    }
    for (path, before) in added {
        let before: Value = serde_json::from_str(before).expect("earlier values are JSON");
        let path: Vec<&str> = path.split('.').collect();
        drop_equal(&mut physics, &path, &before);
    }
    // In earlier runs all bonds of a body took the same energy, and toughness was not that of the solid.
    let is_tough = pipeline.materials.iter().any(|one| one.toughness.is_some());
    let rules = (0..pipeline.bodies.len()).map(|body| pipeline.crack_rule(body));
    let rules = is_tough.then(|| format!(" toughness {:?}", rules.collect::<Vec<_>>()));
    format!("{VERSION} {physics}{}", rules.unwrap_or_default())
}

fn remove(table: Option<&mut Value>, keys: &[&str]) {
    if let Some(table) = table.and_then(Value::as_object_mut) {
        table.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

/// Removes null values from tables; in lists they stay, since positions count.
fn drop_absent(value: &mut Value) {
    match value {
        Value::Object(table) => {
            table.retain(|_, value| !value.is_null());
            table.values_mut().for_each(drop_absent);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_absent),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes the key at the end of a path if it has this value.
fn drop_equal(value: &mut Value, path: &[&str], before: &Value) {
    let (Some(table), [key, rest @ ..]) = (value.as_object_mut(), path) else {
        return;
    };
    let (name, is_list) = match key.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (*key, false),
    };
    if rest.is_empty() {
        if table.get(name) == Some(before) {
            table.remove(name);
        }
        return;
    }
    match table.get_mut(name) {
        Some(Value::Array(list)) if is_list => {
            list.iter_mut()
                .for_each(|one| drop_equal(one, rest, before));
        }
        Some(inner) => drop_equal(inner, rest, before),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Map;

    use super::*;
    use crate::spec::{self, Backend};

    const SHOT: &str = "[time]\nend = 1\nframes_per_second = 24\nfraction = 0.4\n[[material]]\nname = \"m\"\ndensity = 1\nyoung = 1e6\npoisson = 0.2\n\
                        [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"sphere\", radius = 1 }\n\
                        packing = { type = \"hexagonal\", elements = 10 }\n";

    fn shot() -> Pipeline {
        spec::parse(SHOT, "shot.toml", &[]).unwrap()
    }

    #[test]
    fn what_only_records_a_run_does_not_change_its_hash() {
        let mut other = shot();
        other.time.end = 9.0;
        other.time.frames_per_second = 7.0;
        other.simulate.backend = Backend::Cpu;
        other.simulate.keep_states += 1;
        other.output.work = true;
        other.reconstruct.voxel = 0.5;
        assert_eq!(hash(3, &shot()), hash(3, &other));
        assert_ne!(hash(3, &shot()), hash(4, &shot()));
        other.materials[0].young += 1.0;
        assert_ne!(hash(3, &shot()), hash(3, &other));
        let mut slower = shot();
        slower.time.fraction *= 0.5;
        assert_ne!(hash(3, &shot()), hash(3, &slower));
    }

    /// The text of version 1, which must not change without increasing [`VERSION`].
    #[test]
    fn the_text_stays_as_it_is() {
        let text = canonical(&shot(), ADDED);
        assert!(text.starts_with("1 {\"attach\":[],\"body\":[{"), "{text}");
        assert_eq!(
            xxhash_rust::xxh3::xxh3_64(text.as_bytes()),
            GOLDEN,
            "{text}"
        );
    }

    const GOLDEN: u64 = 1_886_083_626_226_479_184;

    #[test]
    fn a_key_added_later_leaves_no_trace_at_its_old_value() {
        let mut pipeline = shot();
        let added = [("material[].friction", "0.25"), ("simulate.drag", "0.0")];
        pipeline.materials[0].friction = 0.25;
        let text = canonical(&pipeline, &added);
        assert!(!text.contains("\"friction\":0.25"), "{text}");
        assert!(!text.contains("\"drag\""), "{text}");
        pipeline.materials[0].friction = 0.5;
        assert!(canonical(&pipeline, &added).contains("\"friction\":0.5"));
    }

    /// Structs of tables that are not hashed.
    const UNHASHED_STRUCTS: [&str; 12] = [
        "Stress",
        "Fracture",
        "Output",
        "PrecisionBits",
        "Reconstruct",
        "Export",
        "Detail",
        "Preview",
        "Camera",
        "Section",
        "ElementColour",
        "Gpu",
    ];

    #[test]
    fn every_key_is_of_version_1_or_listed() {
        let schema = schema();
        let mut known: BTreeSet<String> = include_str!("keys_of_hash_version_1.txt")
            .lines()
            .map(str::to_owned)
            .collect();
        for (path, _) in ADDED {
            let keys = keys_at(&schema, path);
            assert!(!keys.is_empty(), "ADDED: there is no key at {path}");
            known.extend(keys);
        }
        let mut keys: BTreeSet<String> = keys_of("Pipeline", &schema);
        for (owner, definition) in schema["$defs"].as_object().unwrap() {
            if !UNHASHED_STRUCTS.contains(&owner.as_str()) {
                keys.extend(keys_of(owner, definition));
            }
        }
        let new: Vec<_> = keys.difference(&known).collect();
        assert!(
            new.is_empty(),
            "new keys: {new:?}. For a key of an existing struct or variant, list its path in ADDED with the value that earlier runs used \
             implicitly, so that their states stay usable. For a key of a new variant, add it to keys_of_hash_version_1.txt as printed \
             here. For a key of a table that does not change results, add the table to UNHASHED_TABLES and its struct to UNHASHED_STRUCTS"
        );
    }

    #[test]
    fn a_path_names_keys_of_its_own_struct_alone() {
        let schema = schema();
        let keys = |path: &str| Vec::from_iter(keys_at(&schema, path));
        assert_eq!(keys("material[].friction"), ["Material.friction"]);
        assert_eq!(keys("simulate.implicit.friction"), ["Implicit.friction"]);
        assert_eq!(keys("collider[].keys[].time"), ["Key.time"]);
        assert_eq!(
            keys("collider[].shape.radius"),
            [
                "ColliderShape.cylinder.radius",
                "ColliderShape.sphere.radius"
            ]
        );
        assert_eq!(keys("time"), ["Pipeline.time"]);
        assert!(keys("material[].drag").is_empty());
    }

    fn schema() -> Value {
        serde_json::from_str(&spec::json_schema()).unwrap()
    }

    /// Tables that a schema allows: those of its variants, each with `.` and the variant's name; else its
    /// own, with an empty name.
    fn tables(schema: &Value) -> Vec<(String, &Map<String, Value>)> {
        let properties = |one: &'_ Value| one["properties"].as_object().is_some();
        let variants = schema["oneOf"].as_array().into_iter().flatten();
        let all = variants.chain([schema]).filter(|one| properties(one));
        all.map(|one| {
            let properties = one["properties"].as_object().expect("it has some");
            let name = properties
                .get("type")
                .and_then(|kind| kind["const"].as_str());
            (
                name.map_or(String::new(), |name| format!(".{name}")),
                properties,
            )
        })
        .collect()
    }

    /// Keys as `Owner.key`, those of variants as `Owner.variant.key`.
    fn keys_of(owner: &str, schema: &Value) -> BTreeSet<String> {
        let tables = tables(schema).into_iter();
        let keys = tables.flat_map(|(variant, table)| {
            let names = table.keys();
            names.map(move |name| format!("{owner}{variant}.{name}"))
        });
        keys.collect()
    }

    /// Keys that a path such as `material[].friction` refers to.
    fn keys_at(schema: &Value, path: &str) -> BTreeSet<String> {
        let mut owners = vec![("Pipeline", schema)];
        let mut found = BTreeSet::new();
        for part in path.split('.') {
            let name = part.strip_suffix("[]").unwrap_or(part);
            let mut below = Vec::new();
            found.clear();
            for (owner, schema) in owners {
                for (variant, table) in tables(schema) {
                    if let Some(value) = table.get(name) {
                        found.insert(format!("{owner}{variant}.{name}"));
                        references(value, &mut below);
                    }
                }
            }
            owners = below
                .into_iter()
                .map(|name: &str| (name, &schema["$defs"][name]))
                .collect();
        }
        found
    }

    /// Collects the names of the definitions that a value refers to.
    fn references<'a>(value: &'a Value, names: &mut Vec<&'a str>) {
        match value {
            Value::Object(table) => {
                let own = table.get("$ref").and_then(Value::as_str);
                names.extend(own.and_then(|path| path.strip_prefix("#/$defs/")));
                table.values().for_each(|one| references(one, names));
            }
            Value::Array(list) => list.iter().for_each(|one| references(one, names)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

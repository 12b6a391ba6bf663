//! Scenes written by hand, whole and damaged.

use std::path::Path;

use base64::Engine;
use serde_json::{Value, json};

use super::*;

fn read(bytes: &[u8]) -> Result<ParsedFile, String> {
    let path = Path::new("scene.glb");
    parse(&FormatSource { bytes, path }).map_err(|fault| fault.what)
}

/// A GLB file of a JSON and a binary chunk.
fn glb(json: &Value, binary: &[u8]) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend((28 + text.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, data) in [(*b"JSON", &text[..]), (*b"BIN\0", binary)] {
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(data);
    }
    bytes
}

/// The square (0,0) (1,0) (1,1) (0,1) in x and y with the same texture coordinates, as a list, strip and fan.
fn square() -> (Value, Vec<u8>) {
    let corners = [[0.0_f32, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let mut data = Vec::new();
    for [x, y] in corners {
        data.extend([x, y, 0.0].iter().flat_map(|value| value.to_le_bytes()));
    }
    for [u, v] in corners {
        data.extend(
            [u, v]
                .map(|x| (x * 65535.0) as u16)
                .iter()
                .flat_map(|value| value.to_le_bytes()),
        );
    }
    data.extend([0, 1, 2, 0, 2, 3]);
    data.extend([0, 1, 3, 2, 0, 1, 2, 3]);
    let attributes = json!({ "POSITION": 0, "TEXCOORD_0": 1 });
    let primitive = |indices: u32, mode: u32| json!({ "attributes": attributes, "indices": indices, "mode": mode });
    let view = |offset: usize, length: usize| json!({ "buffer": 0, "byteOffset": offset, "byteLength": length });
    let indices = |view: usize, offset: usize, count: usize| json!({ "bufferView": view, "byteOffset": offset, "componentType": 5121, "count": count, "type": "SCALAR" });
    let json = json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [
            { "name": "root", "translation": [0, 0, 5], "children": [1, 2, 3] },
            { "name": "list", "mesh": 0, "scale": [2, 2, 2] },
            { "name": "mirrored", "mesh": 1, "scale": [-1, 1, 1] },
            { "mesh": 2, "matrix": [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 7, 0, 0, 1] },
        ],
        "meshes": [
            { "name": "a", "primitives": [primitive(2, 4)] },
            { "name": "b", "primitives": [primitive(3, 5)] },
            { "name": "fan", "primitives": [primitive(4, 6), { "attributes": attributes, "mode": 0 }] },
        ],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5123, "normalized": true, "count": 4, "type": "VEC2" },
            indices(2, 0, 6),
            indices(2, 6, 4),
            indices(2, 10, 4),
        ],
        "bufferViews": [view(0, 48), view(48, 16), view(64, 14)],
        "buffers": [{ "byteLength": 78 }],
    });
    (json, data)
}

#[test]
fn nodes_place_lists_strips_and_fans() {
    let (json, data) = square();
    let parsed = read(&glb(&json, &data)).unwrap();
    assert_eq!(parsed.names, ["list", "mirrored", "fan"]);
    assert_eq!(parsed.object_of, [0, 0, 1, 1, 2, 2]);
    assert_eq!(
        (parsed.metres_per_unit, parsed.up),
        (Some(1.0), Some(UpAxis::Y))
    );
    let mesh = &parsed.mesh;
    assert_eq!(mesh.positions[2], DVec3::new(2.0, 2.0, 5.0));
    assert_eq!(mesh.positions[5], DVec3::new(-1.0, 0.0, 5.0));
    assert_eq!(mesh.positions[9], DVec3::new(7.0, 1.0, 5.0));
    for t in 0..6 {
        // Also the mirrored one looks along z.
        let [a, b, c] = mesh.corners(t);
        let area = (b - a).cross(c - a).z / 2.0;
        assert_eq!(area, if t < 2 { 2.0 } else { 0.5 }, "triangle {t}");
    }
    // v of glTF runs from the top of the image.
    assert_eq!(mesh.uv[0], [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]);
}

#[test]
fn primitives_have_colours_and_materials() {
    let (mut json, mut data) = square();
    // Colours with opacity, whole numbers, of the strip only.
    let start = data.len();
    data.extend([255, 0, 0, 9, 0, 255, 0, 9, 0, 0, 255, 9, 51, 51, 51, 9]);
    json["buffers"][0]["byteLength"] = data.len().into();
    let list = |json: &mut Value, name: &str, entry: Value| {
        json[name].as_array_mut().unwrap().push(entry);
    };
    list(
        &mut json,
        "bufferViews",
        json!({ "buffer": 0, "byteOffset": start, "byteLength": 16 }),
    );
    list(
        &mut json,
        "accessors",
        json!({ "bufferView": 3, "componentType": 5121, "normalized": true, "count": 4, "type": "VEC4" }),
    );
    json["materials"] = json!([{ "name": "glass" }, {}]);
    json["meshes"][1]["primitives"][0]["attributes"]["COLOR_0"] = 5.into();
    json["meshes"][1]["primitives"][0]["material"] = 0.into();
    json["meshes"][2]["primitives"][0]["material"] = 1.into();
    let paint = read(&glb(&json, &data)).unwrap().mesh.paint;
    assert_eq!(paint.names, ["glass", "material_1"]);
    assert_eq!(paint.materials, [u32::MAX, u32::MAX, 0, 0, 1, 1]);
    let [red, green, blue, grey] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.2; 3]];
    assert_eq!(paint.colours[0], [[1.0; 3]; 3]);
    let mut corners: Vec<[f32; 3]> = paint.colours[2..4].as_flattened().to_vec();
    corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
    corners.dedup();
    assert_eq!(corners, [blue, green, grey, red]);
    json["meshes"][2]["primitives"][0]["material"] = 2.into();
    let unknown = read(&glb(&json, &data)).unwrap_err();
    assert!(unknown.contains("no material 2"), "{unknown}");
}

#[test]
fn buffers_come_from_data_uris_and_files() {
    let (mut json, data) = square();
    let text = base64::engine::general_purpose::STANDARD.encode(&data);
    json["buffers"][0]["uri"] = json!(format!("data:application/octet-stream;base64,{text}"));
    let inside = read(json.to_string().as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a b.bin"), &data).unwrap();
    json["buffers"][0]["uri"] = json!("a%20b.bin");
    let path = folder.path().join("scene.gltf");
    let bytes = json.to_string();
    let source = FormatSource {
        bytes: bytes.as_bytes(),
        path: &path,
    };
    assert_eq!(external_buffers(&source), [folder.path().join("a b.bin")]);
    assert_eq!(parse(&source).unwrap().mesh, inside.mesh);
    std::fs::remove_file(folder.path().join("a b.bin")).unwrap();
    assert!(parse(&source).unwrap_err().what.contains("a b.bin"));
}

#[test]
fn sparse_accessors_replace_values() {
    let (mut json, mut data) = square();
    data.resize(80, 0);
    data.push(3);
    data.resize(84, 0);
    data.extend(
        [0.0_f32, 4.0, 0.0]
            .iter()
            .flat_map(|value| value.to_le_bytes()),
    );
    json["buffers"][0]["byteLength"] = json!(96);
    let view = json!({ "buffer": 0, "byteOffset": 80, "byteLength": 16 });
    json["bufferViews"].as_array_mut().unwrap().push(view);
    json["accessors"][0]["sparse"] = json!({
        "count": 1,
        "indices": { "bufferView": 3, "componentType": 5121 },
        "values": { "bufferView": 3, "byteOffset": 4 },
    });
    let parsed = read(&glb(&json, &data)).unwrap();
    assert_eq!(parsed.mesh.positions[3], DVec3::new(0.0, 8.0, 5.0));
    json["accessors"][0]["sparse"]["count"] = json!(2);
    assert!(
        read(&glb(&json, &data))
            .unwrap_err()
            .contains("too short for 2 elements")
    );
}

#[test]
fn what_is_not_read_is_named() {
    let (json, data) = square();
    let message = |path: &str, value: Value| {
        let mut changed = json.clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        let parent = changed.pointer_mut(parent).unwrap();
        match parent {
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
            _ => parent[key] = value,
        }
        read(&glb(&changed, &data)).unwrap_err()
    };
    let error = message("/extensionsRequired", json!(["KHR_draco_mesh_compression"]));
    assert!(
        error.contains("KHR_draco_mesh_compression") && error.contains("without compression"),
        "{error}"
    );
    let error = message(
        "/bufferViews/0/extensions",
        json!({ "EXT_meshopt_compression": {} }),
    );
    assert!(error.contains("EXT_meshopt_compression"), "{error}");
    assert!(message("/nodes/0/children", json!([1, 1])).contains("node 1 has two parents"));
    assert!(message("/nodes/1/children", json!([0])).contains("two parents"));
    assert!(message("/nodes/1/mesh", json!(9)).contains("no mesh 9"));
    assert!(message("/accessors/0/count", json!(u64::MAX)).contains("too short"));
    assert!(message("/bufferViews/0/byteStride", json!(u64::MAX)).contains("too short"));
    assert!(message("/accessors/2/byteOffset", json!(12)).contains("too short"));
    assert!(message("/accessors/2/bufferView", json!(1)).contains("a triangle uses vertex"));
    assert!(message("/accessors/0/type", json!("VEC4")).contains("VEC4; expected VEC3"));
    assert!(message("/buffers/0/byteLength", json!(99)).contains("78 bytes of 99"));
    assert!(message("/asset/version", json!("1.0")).contains("version 1.0"));
    let mut empty = json.clone();
    empty["accessors"][0] =
        json!({ "componentType": 5126, "count": 900_000_000_u64, "type": "VEC3" });
    assert!(read(&glb(&empty, &data)).unwrap_err().contains("no data"));
}

#[test]
fn damaged_files_give_messages() {
    let (json, data) = square();
    let whole = glb(&json, &data);
    for length in 0..whole.len() {
        assert!(read(&whole[..length]).is_err(), "{length} bytes");
    }
    for at in 0..whole.len() {
        for value in [0, 0x7f, 0xff, whole[at] ^ 1, b'9'] {
            let mut changed = whole.clone();
            changed[at] = value;
            if let Ok(parsed) = read(&changed) {
                assert!(parsed.mesh.positions.iter().all(|p| p.is_finite()));
            }
        }
    }
}

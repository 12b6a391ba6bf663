//! A minimal reader: decodes views with meshopt and evaluates tracks like a player.

use std::path::Path;

use glam::{DQuat, DVec3};
use serde_json::{Value, json};

use crate::export::gltf::file::COMPRESSION;

/// An animated binary glTF file.
pub struct File {
    /// The document.
    pub root: Value,
    binary: Vec<u8>,
}

impl File {
    /// Reads a file and checks the sizes in its header.
    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("file");
        let word =
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) as usize;
        let json = word(12);
        assert_eq!(
            (word(8), word(20 + json)),
            (bytes.len(), bytes.len() - 28 - json)
        );
        File {
            root: serde_json::from_slice(&bytes[20..20 + json]).expect("JSON"),
            binary: bytes[28 + json..].to_vec(),
        }
    }

    /// A list of the document; empty if it is absent.
    pub fn list(&self, name: &str) -> &[Value] {
        self.root[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// The decoded bytes of a view.
    fn view(&self, number: &Value) -> Vec<u8> {
        let view = &self.root["bufferViews"][at(number)];
        let coding = &view["extensions"][COMPRESSION];
        if coding.is_null() {
            assert_eq!(view["buffer"], 0);
            let from = at(&view["byteOffset"]);
            return self.binary[from..from + at(&view["byteLength"])].to_vec();
        }
        let from = at(&coding["byteOffset"]);
        let encoded = &self.binary[from..from + at(&coding["byteLength"])];
        let (count, stride) = (at(&coding["count"]), at(&coding["byteStride"]));
        let decoded = match (coding["mode"].as_str(), coding["filter"].as_str(), stride) {
            (Some("TRIANGLES"), None, 2) => {
                bytes(&meshopt::decode_index_buffer::<u16>(encoded, count).expect("indices"))
            }
            (Some("ATTRIBUTES"), Some("OCTAHEDRAL"), 4) => {
                let mut rows = rows::<[i8; 4]>(encoded, count);
                meshopt::decode_filter_oct(&mut rows);
                bytes(rows.as_flattened())
            }
            (Some("ATTRIBUTES"), Some("EXPONENTIAL"), 8) => {
                let mut rows = rows::<[u32; 2]>(encoded, count);
                meshopt::decode_filter_exp(&mut rows);
                bytes(rows.as_flattened())
            }
            (Some("ATTRIBUTES"), None, 4) => bytes(rows::<[u8; 4]>(encoded, count).as_flattened()),
            (Some("ATTRIBUTES"), None, 8) => bytes(rows::<[u8; 8]>(encoded, count).as_flattened()),
            (Some("ATTRIBUTES"), None, 12) => {
                bytes(rows::<[u8; 12]>(encoded, count).as_flattened())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(decoded.len(), at(&view["byteLength"]));
        assert_eq!(view["buffer"], 1);
        decoded
    }

    /// Values of an accessor, row by row.
    pub fn rows<const N: usize>(&self, number: &Value) -> Vec<[f64; N]> {
        let accessor = &self.root["accessors"][at(number)];
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        assert_eq!(accessor["type"], kind);
        let view = &self.root["bufferViews"][at(&accessor["bufferView"])];
        let bytes = self.view(&accessor["bufferView"]);
        let (size, number): (usize, fn(&[u8]) -> f64) = match accessor["componentType"].as_u64() {
            Some(5120) => (1, |b| f64::from(b[0] as i8) / 127.0),
            Some(5122) => (2, |b| f64::from(i16::from_le_bytes([b[0], b[1]])) / 32767.0),
            Some(5123) => (2, |b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
            Some(5126) => (4, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).into()),
            other => panic!("{other:?}"),
        };
        let stride = view["byteStride"]
            .as_u64()
            .map_or(size * N, |stride| stride as usize);
        let from = at(&accessor["byteOffset"]);
        (0..at(&accessor["count"]))
            .map(|row| std::array::from_fn(|k| number(&bytes[from + row * stride + k * size..])))
            .collect()
    }

    /// Number of the node with this name.
    pub fn node(&self, name: &str) -> usize {
        let mut nodes = self.list("nodes").iter();
        nodes.position(|node| node["name"] == name).expect("a node")
    }

    /// Times and values of a node's track.
    pub fn track<const N: usize>(&self, node: usize, path: &str) -> Option<Vec<(f64, [f64; N])>> {
        let animation = self.list("animations").first()?;
        let mut channels = animation["channels"].as_array()?.iter();
        let target = json!({"node": node, "path": path});
        let channel = channels.find(|channel| channel["target"] == target)?;
        let sampler = &animation["samplers"][at(&channel["sampler"])];
        let step = if path == "scale" { "STEP" } else { "LINEAR" };
        assert_eq!(
            sampler
                .get("interpolation")
                .and_then(Value::as_str)
                .unwrap_or("LINEAR"),
            step
        );
        let times = self.rows::<1>(&sampler["input"]).into_iter();
        let values = self.rows::<N>(&sampler["output"]);
        assert_eq!(times.len(), values.len());
        Some(times.map(|[time]| time).zip(values).collect())
    }

    /// Scale, rotation and translation of a node at a time, s, as a player computes them.
    pub fn pose(&self, node: usize, time: f64) -> (f64, DQuat, DVec3) {
        let still = |name: &str| -> Vec<f64> {
            let values = self.root["nodes"][node][name].as_array().expect("a list");
            values.iter().filter_map(Value::as_f64).collect()
        };
        let scale = self
            .track::<3>(node, "scale")
            .map_or(still("scale")[0], |keys| {
                keys.iter()
                    .rev()
                    .find(|(at, _)| *at <= time)
                    .unwrap_or(&keys[0])
                    .1[0]
            });
        let rotation = self.track::<4>(node, "rotation").map_or_else(
            || DQuat::from_slice(&still("rotation")),
            |keys| {
                let (a, b, part) = around(&keys, time);
                DQuat::from_array(a).slerp(DQuat::from_array(b), part)
            },
        );
        let position = self.track::<3>(node, "translation").map_or_else(
            || DVec3::from_slice(&still("translation")),
            |keys| {
                let (a, b, part) = around(&keys, time);
                DVec3::from(a).lerp(DVec3::from(b), part)
            },
        );
        (scale, rotation, position)
    }

    /// Triangles of the skin and of the crack faces of a node at a time, s: each as the positions of its
    /// three corners and their normals.
    pub fn triangles(&self, node: usize, time: f64) -> [Vec<[DVec3; 6]>; 2] {
        let (scale, rotation, position) = self.pose(node, time);
        let mesh = &self.root["meshes"][at(&self.root["nodes"][node]["mesh"])];
        let mut sides = [Vec::new(), Vec::new()];
        for primitive in mesh["primitives"].as_array().expect("primitives") {
            let attributes = &primitive["attributes"];
            let positions = self.rows::<3>(&attributes["POSITION"]);
            let normals = self.rows::<3>(&attributes["NORMAL"]);
            let indices = self.rows::<1>(&primitive["indices"]);
            let material = &self.root["materials"][at(&primitive["material"])]["name"];
            let side = usize::from(material == "inside");
            for corners in indices.chunks_exact(3) {
                let corner = |k: usize| corners[k][0] as usize;
                sides[side].push(std::array::from_fn(|k| match k {
                    0..3 => rotation * (scale * DVec3::from(positions[corner(k)])) + position,
                    k => rotation * DVec3::from(normals[corner(k - 3)]),
                }));
            }
        }
        sides
    }
}

/// A JSON number as an index or count.
pub fn at(number: &Value) -> usize {
    number.as_u64().expect("a whole number") as usize
}

fn bytes<T: bytemuck::NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

fn rows<T: Clone + Default>(encoded: &[u8], count: usize) -> Vec<T> {
    // Readers of the extension support no other version of the vertex codec.
    assert_eq!(meshopt::decode_vertex_version(encoded), Some(0));
    meshopt::decode_vertex_buffer(encoded, count).expect("rows")
}

/// Values of the keyframes on both sides of a time, and its fraction between them.
fn around<const N: usize>(keys: &[(f64, [f64; N])], time: f64) -> ([f64; N], [f64; N], f64) {
    let next = keys.iter().position(|(at, _)| *at >= time);
    match next {
        None => (keys[keys.len() - 1].1, keys[keys.len() - 1].1, 0.0),
        Some(0) => (keys[0].1, keys[0].1, 0.0),
        Some(next) => {
            let ((from, a), (to, b)) = (keys[next - 1], keys[next]);
            (a, b, (time - from) / (to - from))
        }
    }
}

//! Buffer views and accessors of a glTF document, plain or compressed (EXT_meshopt_compression), and the
//! binary file around them.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::export::error::ExportError;
use crate::export::space::bounds;
use crate::store::atomic;

/// Component type: signed, 8 bits.
pub const BYTE: u32 = 5120;
/// Component type: signed, 16 bits.
pub const SHORT: u32 = 5122;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
/// Component type: single precision.
pub const FLOAT: u32 = 5126;

const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Name of the extension that compresses buffer views.
pub const COMPRESSION: &str = "EXT_meshopt_compression";

/// What a buffer view is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Attributes of vertices.
    Vertices,
    /// Vertex indices, three a triangle.
    Triangles,
    /// Times and values of animations.
    Keys,
}

/// A buffer view that grows.
struct View {
    usage: Usage,
    /// Bytes a row.
    stride: usize,
    /// What a decoder does to the rows after decoding.
    filter: Option<&'static str>,
    bytes: Vec<u8>,
}

/// Views of indices by their width, there from the start.
const SHORTS: usize = 0;
const WORDS: usize = 1;

/// Accessors and views under construction. A view holds what all objects have of one kind.
pub struct Buffers {
    views: Vec<View>,
    accessors: Vec<Value>,
}

impl Buffers {
    /// With views for indices, and no other.
    pub fn new() -> Self {
        let mut buffers = Buffers {
            views: Vec::new(),
            accessors: Vec::new(),
        };
        buffers.view(Usage::Triangles, 2, None);
        buffers.view(Usage::Triangles, 4, None);
        buffers
    }

    /// Opens a view with rows of `stride` bytes and returns its number. A filter is told to who decompresses:
    /// rows come as it takes them.
    pub fn view(&mut self, usage: Usage, stride: usize, filter: Option<&'static str>) -> usize {
        self.views.push(View {
            usage,
            stride,
            filter,
            bytes: Vec::new(),
        });
        self.views.len() - 1
    }

    /// Adds an accessor on `bytes` in view number `view` and returns its number.
    pub fn add(&mut self, view: usize, mut accessor: Value, bytes: &[u8]) -> usize {
        accessor["bufferView"] = view.into();
        accessor["byteOffset"] = self.views[view].bytes.len().into();
        self.views[view].bytes.extend_from_slice(bytes);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds floats; `bounded`: with their bounds, as glTF demands of positions and times.
    pub fn floats<const N: usize>(
        &mut self,
        view: usize,
        values: &[[f32; N]],
        bounded: bool,
    ) -> usize {
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        let mut accessor = json!({"componentType": FLOAT, "count": values.len(), "type": kind});
        if bounded {
            let (low, high) = bounds(values);
            accessor["min"] = json!(short(low).to_vec());
            accessor["max"] = json!(short(high).to_vec());
        }
        self.add(view, accessor, bytemuck::cast_slice(values.as_flattened()))
    }

    /// Adds the vertex indices of triangles in a mesh of so many vertices.
    pub fn triangles(&mut self, indices: &[u32], vertices: usize) -> usize {
        // The largest number of each width is kept for restarting strips.
        let short = vertices <= usize::from(u16::MAX);
        let (view, component, bytes) = if short {
            let bytes = indices.iter().flat_map(|&v| (v as u16).to_le_bytes());
            (SHORTS, UNSIGNED_SHORT, bytes.collect())
        } else {
            let bytes = indices.iter().flat_map(|v| v.to_le_bytes());
            (WORDS, UNSIGNED_INT, bytes.collect::<Vec<u8>>())
        };
        let accessor =
            json!({"componentType": component, "count": indices.len(), "type": "SCALAR"});
        self.add(view, accessor, &bytes)
    }

    /// Puts accessors, views and buffers into `root` and returns the binary chunk. glTF allows no empty
    /// lists: where nothing was added, none.
    pub fn finish(mut self, root: &mut Value, compressed: bool) -> Vec<u8> {
        let (mut chunk, mut decoded) = (Vec::new(), 0);
        let mut views = Vec::new();
        let mut numbers = vec![0; self.views.len()];
        for (number, view) in numbers.iter_mut().zip(&self.views) {
            if view.bytes.is_empty() {
                continue;
            }
            *number = views.len();
            let length = view.bytes.len();
            let mut entry = json!({"buffer": 0, "byteOffset": chunk.len(), "byteLength": length});
            if compressed {
                let encoded = view.encoded();
                let mut coding = json!({
                    "buffer": 0, "byteOffset": chunk.len(), "byteLength": encoded.len(),
                    "byteStride": view.stride, "count": length / view.stride, "mode": view.mode(),
                });
                if let Some(filter) = view.filter {
                    coding["filter"] = filter.into();
                }
                entry["buffer"] = 1.into();
                entry["byteOffset"] = decoded.into();
                entry["extensions"] = json!({COMPRESSION: coding});
                chunk.extend(encoded);
            } else {
                chunk.extend_from_slice(&view.bytes);
            }
            if view.usage == Usage::Vertices {
                entry["byteStride"] = view.stride.into();
            }
            match view.usage {
                Usage::Vertices => entry["target"] = ARRAY_BUFFER.into(),
                Usage::Triangles => entry["target"] = ELEMENT_ARRAY_BUFFER.into(),
                Usage::Keys => {}
            }
            views.push(entry);
            chunk.resize(chunk.len().next_multiple_of(4), 0);
            decoded += length.next_multiple_of(4);
        }
        for accessor in &mut self.accessors {
            let view = accessor["bufferView"].as_u64().unwrap_or_default() as usize;
            accessor["bufferView"] = numbers[view].into();
        }
        if views.is_empty() {
            return chunk;
        }
        let mut buffers = vec![json!({"byteLength": chunk.len()})];
        if compressed {
            // Where the views lie once decoded; there are no such bytes in the file.
            let fallback = json!({COMPRESSION: {"fallback": true}});
            buffers.push(json!({"byteLength": decoded, "extensions": fallback}));
        }
        root["buffers"] = buffers.into();
        root["bufferViews"] = views.into();
        root["accessors"] = self.accessors.into();
        chunk
    }
}

impl View {
    fn mode(&self) -> &'static str {
        match self.usage {
            Usage::Triangles => "TRIANGLES",
            Usage::Vertices | Usage::Keys => "ATTRIBUTES",
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let bytes = &self.bytes;
        match (self.usage, self.stride) {
            (Usage::Triangles, 2) => {
                let (rows, _) = bytes.as_chunks();
                indices(rows.iter().map(|row| u16::from_le_bytes(*row).into()))
            }
            (Usage::Triangles, _) => {
                let (rows, _) = bytes.as_chunks();
                indices(rows.iter().map(|row| u32::from_le_bytes(*row)))
            }
            (_, 4) => rows::<4>(bytes),
            (_, 8) => rows::<8>(bytes),
            (_, 12) => rows::<12>(bytes),
            (_, stride) => unreachable!("no view has rows of {stride} bytes"),
        }
    }
}

fn indices(indices: impl Iterator<Item = u32>) -> Vec<u8> {
    let indices: Vec<u32> = indices.collect();
    let vertices = indices.iter().max().map_or(0, |last| *last as usize + 1);
    meshopt::encode_index_buffer(&indices, vertices).expect("the encoder makes its own room")
}

fn rows<const N: usize>(bytes: &[u8]) -> Vec<u8> {
    let (rows, _) = bytes.as_chunks::<N>();
    // The extension has version 0 of the vertex codec; the encoder's default is a later one.
    let encoded = meshopt::encode_vertex_buffer_level(rows, 2, Some(0));
    encoded.expect("the encoder makes its own room")
}

/// Numbers with no more digits than single precision needs, which JSON writes with those of double precision.
pub fn short<const N: usize>(values: [f32; N]) -> [f64; N] {
    values.map(|value| {
        let text = value.to_string();
        text.parse().expect("a number reads back")
    })
}

/// What every document begins with: one scene, which is node 0.
pub fn root() -> Value {
    json!({
        "asset": {"version": "2.0", "generator": concat!("cullet ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
    })
}

/// Writes a binary glTF file of a document and its binary chunk.
pub fn write(path: &Path, root: &Value, binary: &[u8]) -> Result<(), ExportError> {
    let mut json = root.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let bytes = 12 + 8 + json.len() as u64 + 8 + binary.len() as u64;
    let limit = u64::from(u32::MAX);
    if bytes > limit {
        let path = path.to_owned();
        return Err(ExportError::TooLarge { path, bytes, limit });
    }
    let word = |number: usize| (number as u32).to_le_bytes();
    atomic::write(path, |out| {
        out.write_all(b"glTF")?;
        out.write_all(&word(2))?;
        out.write_all(&word(bytes as usize))?;
        out.write_all(&word(json.len()))?;
        out.write_all(b"JSON")?;
        out.write_all(&json)?;
        out.write_all(&word(binary.len()))?;
        out.write_all(b"BIN\0")?;
        out.write_all(binary)
    })?;
    Ok(())
}

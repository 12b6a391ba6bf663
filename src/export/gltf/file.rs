//! Buffer views and accessors of a glTF document, plain or compressed (EXT_meshopt_compression), and the
//! binary file that contains them.

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
/// Component type: unsigned, 16 bits.
pub const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
/// Component type: single precision.
pub const FLOAT: u32 = 5126;

const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Name of the extension that compresses buffer views.
pub const COMPRESSION: &str = "EXT_meshopt_compression";

/// Purpose of a buffer view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewUsage {
    /// Vertex attributes.
    Vertices,
    /// Vertex indices, three a triangle.
    Triangles,
    /// Times and values of animations.
    Keyframes,
}

/// A buffer view under construction.
struct BufferView {
    usage: ViewUsage,
    /// Bytes per row.
    stride: usize,
    /// Filter that a decoder applies to the rows after decompression.
    filter: Option<&'static str>,
    bytes: Vec<u8>,
}

/// Number of the view of 16-bit indices.
const U16_VIEW: usize = 0;
/// Number of the view of 32-bit indices.
const U32_VIEW: usize = 1;

/// Accessors and buffer views under construction. A view holds the data of one kind of all objects.
pub struct BufferBuilder {
    views: Vec<BufferView>,
    accessors: Vec<Value>,
}

impl BufferBuilder {
    /// A builder with the views for indices only.
    pub fn new() -> Self {
        let mut buffers = BufferBuilder {
            views: Vec::new(),
            accessors: Vec::new(),
        };
        buffers.add_view(ViewUsage::Triangles, 2, None);
        buffers.add_view(ViewUsage::Triangles, 4, None);
        buffers
    }

    /// Adds a view with rows of `stride` bytes and returns its number. `filter` is the filter that decoders
    /// apply; rows must be encoded for it.
    pub fn add_view(
        &mut self,
        usage: ViewUsage,
        stride: usize,
        filter: Option<&'static str>,
    ) -> usize {
        self.views.push(BufferView {
            usage,
            stride,
            filter,
            bytes: Vec::new(),
        });
        self.views.len() - 1
    }

    /// Appends `bytes` to view number `view`, adds an accessor to them and returns its number.
    pub fn add_accessor(&mut self, view: usize, mut accessor: Value, bytes: &[u8]) -> usize {
        accessor["bufferView"] = view.into();
        accessor["byteOffset"] = self.views[view].bytes.len().into();
        self.views[view].bytes.extend_from_slice(bytes);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds an accessor to floats; with bounds if `bounded`, which glTF requires for positions and times.
    pub fn add_floats<const N: usize>(
        &mut self,
        view: usize,
        values: &[[f32; N]],
        bounded: bool,
    ) -> usize {
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        let mut accessor = json!({"componentType": FLOAT, "count": values.len(), "type": kind});
        if bounded {
            let (low, high) = bounds(values);
            accessor["min"] = json!(shortest_decimals(low).to_vec());
            accessor["max"] = json!(shortest_decimals(high).to_vec());
        }
        self.add_accessor(view, accessor, bytemuck::cast_slice(values.as_flattened()))
    }

    /// Adds an accessor to the vertex indices of triangles; `vertices` is the number of vertices of the mesh.
    pub fn add_triangles(&mut self, indices: &[u32], vertices: usize) -> usize {
        // The largest index of each width is reserved for primitive restart.
        let short = vertices <= usize::from(u16::MAX);
        let (view, component, bytes) = if short {
            let bytes = indices.iter().flat_map(|&v| (v as u16).to_le_bytes());
            (U16_VIEW, UNSIGNED_SHORT, bytes.collect())
        } else {
            let bytes = indices.iter().flat_map(|v| v.to_le_bytes());
            (U32_VIEW, UNSIGNED_INT, bytes.collect::<Vec<u8>>())
        };
        let accessor =
            json!({"componentType": component, "count": indices.len(), "type": "SCALAR"});
        self.add_accessor(view, accessor, &bytes)
    }

    /// Puts accessors, views and buffers into `root` and returns the binary chunk. Lists that would be empty
    /// are omitted, since glTF does not allow empty lists.
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
            if view.usage == ViewUsage::Vertices {
                entry["byteStride"] = view.stride.into();
            }
            match view.usage {
                ViewUsage::Vertices => entry["target"] = ARRAY_BUFFER.into(),
                ViewUsage::Triangles => entry["target"] = ELEMENT_ARRAY_BUFFER.into(),
                ViewUsage::Keyframes => {}
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
            // The buffer of the decoded views; the file does not contain its bytes.
            let fallback = json!({COMPRESSION: {"fallback": true}});
            buffers.push(json!({"byteLength": decoded, "extensions": fallback}));
        }
        root["buffers"] = buffers.into();
        root["bufferViews"] = views.into();
        root["accessors"] = self.accessors.into();
        chunk
    }
}

impl BufferView {
    fn mode(&self) -> &'static str {
        match self.usage {
            ViewUsage::Triangles => "TRIANGLES",
            ViewUsage::Vertices | ViewUsage::Keyframes => "ATTRIBUTES",
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let bytes = &self.bytes;
        match (self.usage, self.stride) {
            (ViewUsage::Triangles, 2) => {
                let (rows, _) = bytes.as_chunks();
                indices(rows.iter().map(|row| u16::from_le_bytes(*row).into()))
            }
            (ViewUsage::Triangles, _) => {
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
    meshopt::encode_index_buffer(&indices, vertices).expect("the encoder allocates its own output")
}

fn rows<const N: usize>(bytes: &[u8]) -> Vec<u8> {
    let (rows, _) = bytes.as_chunks::<N>();
    // The extension requires version 0 of the vertex codec; the encoder's default is a later one.
    let encoded = meshopt::encode_vertex_buffer_level(rows, 2, Some(0));
    encoded.expect("the encoder allocates its own output")
}

/// Converts to the doubles with the fewest decimal digits, since JSON would write all digits of double
/// precision.
pub fn shortest_decimals<const N: usize>(values: [f32; N]) -> [f64; N] {
    values.map(|value| {
        let text = value.to_string();
        text.parse().expect("a number reads back")
    })
}

/// A document with one scene, whose root is node 0.
pub fn new_document() -> Value {
    json!({
        "asset": {"version": "2.0", "generator": concat!("cullet ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
    })
}

/// Writes a binary glTF file with a document and its binary chunk.
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

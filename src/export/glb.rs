//! Binary glTF 2.0 of one frame: a node and mesh a fragment, pivot at its middle, skin and crack faces as two materials.
//!
//! Of a range of frames the last is written. Triangles and vertices of each fragment are ordered for the caches of a GPU.

use std::io::Write;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::space::bounds;
use super::{Axes, ExportError, ExportSummary, Format, Job, Needs};
use crate::spec::ExportFormat;
use crate::store::{Piece, SurfaceFrame, atomic};

/// Binary glTF.
pub const FORMAT: Format = Format {
    format: ExportFormat::Glb,
    name: "glb",
    extension: "glb",
    needs: Needs::Surfaces,
    space: Axes::YUp,
    single: true,
    write,
};

const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let frame = *job.frames.last().expect("a job has a frame");
    let surface = job.read(frame)?;
    let (json, binary) = document(job, &surface);
    let total = 12 + 8 + json.len() as u64 + 8 + binary.len() as u64;
    let limit = u64::from(u32::MAX);
    if total > limit {
        return Err(ExportError::TooLarge {
            frame,
            bytes: total,
            limit,
        });
    }
    let word = |number: usize| (number as u32).to_le_bytes();
    atomic::write(&job.target, |out| {
        out.write_all(b"glTF")?;
        out.write_all(&word(2))?;
        out.write_all(&word(total as usize))?;
        out.write_all(&word(json.len()))?;
        out.write_all(b"JSON")?;
        out.write_all(&json)?;
        out.write_all(&word(binary.len()))?;
        out.write_all(b"BIN\0")?;
        out.write_all(&binary)
    })?;
    let mut summary = ExportSummary::default();
    summary.add(job.target.clone())?;
    on_frame(1, 1);
    Ok(summary)
}

/// A fragment ready for the file: vertices about its pivot, triangles by material.
struct Part {
    pivot: [f32; 3],
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    uv: Vec<[f32; 2]>,
    /// Vertex indices of the skin's and of the crack faces' triangles.
    indices: [Vec<u32>; 2],
}

impl Part {
    fn new(surface: &SurfaceFrame, piece: &Piece) -> Self {
        let vertices = surface.vertex_range(piece);
        let mut indices = [Vec::new(), Vec::new()];
        let flags = &surface.inside[surface.triangle_range(piece)];
        for (triangle, &flag) in surface.local_triangles(piece).zip(flags) {
            indices[usize::from(flag != 0)].extend(triangle);
        }
        for list in &mut indices {
            meshopt::optimize_vertex_cache_in_place(list, vertices.len());
        }
        let remap = meshopt::optimize_vertex_fetch_remap(&indices.concat(), vertices.len());
        for vertex in indices.iter_mut().flatten() {
            *vertex = remap[*vertex as usize];
        }
        // Vertices of no triangle are mapped to u32::MAX and drop out.
        let kept = remap.iter().filter(|&&to| to != u32::MAX).count();
        let source = &surface.positions[vertices.clone()];
        let (low, high) = bounds(source);
        let pivot = [0, 1, 2].map(|axis| low[axis] + (high[axis] - low[axis]) / 2.0);
        let mut positions = vec![[0.0; 3]; kept];
        let mut normals = vec![[0.0; 3]; kept];
        let mut uv = vec![[0.0; 2]; if surface.uv.is_empty() { 0 } else { kept }];
        for (from, &to) in remap.iter().enumerate() {
            if to == u32::MAX {
                continue;
            }
            let at = to as usize;
            positions[at] = [0, 1, 2].map(|axis| source[from][axis] - pivot[axis]);
            normals[at] = unit(surface.normals[vertices.start + from]);
            if let Some(slot) = uv.get_mut(at) {
                // glTF counts v from the top of the image.
                let [u, v] = surface.uv[vertices.start + from];
                *slot = [u, 1.0 - v];
            }
        }
        Part {
            pivot,
            positions,
            normals,
            uv,
            indices,
        }
    }
}

/// glTF demands unit normals; a vertex of slivers only may have none.
fn unit(normal: [f32; 3]) -> [f32; 3] {
    let normal = glam::DVec3::from(normal.map(f64::from));
    let unit = normal.try_normalize().unwrap_or(glam::DVec3::Y);
    unit.to_array().map(|number| number as f32)
}

/// A buffer view that grows.
struct View {
    bytes: Vec<u8>,
    stride: Option<u32>,
    target: u32,
}

/// Views by number.
const POSITIONS: usize = 0;
const NORMALS: usize = 1;
const TEXTURE: usize = 2;
const SHORTS: usize = 3;
const WORDS: usize = 4;

/// Accessors and views under construction.
struct Buffers {
    views: [View; 5],
    accessors: Vec<Value>,
}

impl Buffers {
    fn new() -> Self {
        let view = |stride, target| View {
            bytes: Vec::new(),
            stride,
            target,
        };
        Buffers {
            views: [
                view(Some(12), ARRAY_BUFFER),
                view(Some(12), ARRAY_BUFFER),
                view(Some(8), ARRAY_BUFFER),
                view(None, ELEMENT_ARRAY_BUFFER),
                view(None, ELEMENT_ARRAY_BUFFER),
            ],
            accessors: Vec::new(),
        }
    }

    /// Adds an accessor on `bytes` and returns its number; `view` counts the views as they stand here.
    fn add(&mut self, view: usize, mut accessor: Value, bytes: &[u8]) -> usize {
        accessor["bufferView"] = view.into();
        accessor["byteOffset"] = self.views[view].bytes.len().into();
        self.views[view].bytes.extend_from_slice(bytes);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn vectors<const N: usize>(&mut self, view: usize, kind: &str, values: &[[f32; N]]) -> usize {
        let mut accessor = json!({"componentType": FLOAT, "count": values.len(), "type": kind});
        if view == POSITIONS {
            let first = values[0];
            let least = |low: [f32; N], v: &[f32; N]| std::array::from_fn(|i| low[i].min(v[i]));
            let most = |high: [f32; N], v: &[f32; N]| std::array::from_fn(|i| high[i].max(v[i]));
            accessor["min"] = json!(values.iter().fold(first, least).to_vec());
            accessor["max"] = json!(values.iter().fold(first, most).to_vec());
        }
        self.add(view, accessor, bytemuck::cast_slice(values.as_flattened()))
    }

    fn indices(&mut self, indices: &[u32], vertices: usize) -> usize {
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

    /// The binary chunk, and the views that hold anything; accessors are renumbered to those.
    fn finish(&mut self) -> (Vec<u8>, Vec<Value>) {
        let mut binary = Vec::new();
        let mut views = Vec::new();
        let mut numbers = [0; 5];
        for (number, view) in numbers.iter_mut().zip(&self.views) {
            if view.bytes.is_empty() {
                continue;
            }
            *number = views.len();
            let mut entry = json!({
                "buffer": 0, "byteOffset": binary.len(), "byteLength": view.bytes.len(), "target": view.target,
            });
            if let Some(stride) = view.stride {
                entry["byteStride"] = stride.into();
            }
            views.push(entry);
            binary.extend_from_slice(&view.bytes);
            binary.resize(binary.len().next_multiple_of(4), 0);
        }
        for accessor in &mut self.accessors {
            let view = accessor["bufferView"].as_u64().unwrap_or_default() as usize;
            accessor["bufferView"] = numbers[view].into();
        }
        (binary, views)
    }
}

/// The JSON chunk, padded, and the binary chunk.
fn document(job: &Job, surface: &SurfaceFrame) -> (Vec<u8>, Vec<u8>) {
    let parts: Vec<(&Piece, Part)> = surface
        .pieces
        .par_iter()
        .map(|piece| (piece, Part::new(surface, piece)))
        .filter(|(_, part)| !part.positions.is_empty())
        .collect();
    let materials = materials(&parts);
    let mut buffers = Buffers::new();
    let mut nodes = vec![json!({"name": job.names.shot()})];
    let mut meshes = Vec::new();
    for (piece, part) in &parts {
        let name = format!("{}_fragment_{}", job.names.body(piece.body), piece.fragment);
        let mut attributes = json!({
            "POSITION": buffers.vectors(POSITIONS, "VEC3", &part.positions),
            "NORMAL": buffers.vectors(NORMALS, "VEC3", &part.normals),
        });
        if !part.uv.is_empty() {
            attributes["TEXCOORD_0"] = buffers.vectors(TEXTURE, "VEC2", &part.uv).into();
        }
        let mut primitives = Vec::new();
        for (indices, material) in part.indices.iter().zip(materials.numbers) {
            if !indices.is_empty() {
                primitives.push(json!({
                    "attributes": attributes,
                    "indices": buffers.indices(indices, part.positions.len()),
                    "material": material,
                }));
            }
        }
        nodes.push(json!({"name": name, "mesh": meshes.len(), "translation": part.pivot}));
        meshes.push(json!({"name": name, "primitives": primitives}));
    }
    let mut root = json!({
        "asset": {"version": "2.0", "generator": concat!("cullet ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "extras": {"frame": surface.frame, "time": surface.time},
    });
    let (binary, views) = buffers.finish();
    // glTF allows no empty lists.
    if !parts.is_empty() {
        nodes[0]["children"] = (1..nodes.len()).collect();
        root["meshes"] = meshes.into();
        root["materials"] = materials.entries.into();
        root["buffers"] = json!([{"byteLength": binary.len()}]);
        root["bufferViews"] = views.into();
        root["accessors"] = buffers.accessors.into();
    }
    root["nodes"] = nodes.into();
    let mut json = root.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    (json, binary)
}

struct Materials {
    entries: Vec<Value>,
    /// Number of the skin's and the crack faces' material; used only where there are such faces.
    numbers: [usize; 2],
}

fn materials(parts: &[(&Piece, Part)]) -> Materials {
    let looks = [
        ("outside", [0.72, 0.70, 0.66, 1.0], 0.65),
        ("inside", [0.42, 0.30, 0.22, 1.0], 0.9),
    ];
    let mut entries = Vec::new();
    let mut numbers = [0; 2];
    for (side, (name, color, roughness)) in looks.into_iter().enumerate() {
        if parts.iter().any(|(_, part)| !part.indices[side].is_empty()) {
            numbers[side] = entries.len();
            entries.push(json!({
                "name": name,
                "pbrMetallicRoughness": {
                    "baseColorFactor": color, "metallicFactor": 0.0, "roughnessFactor": roughness,
                },
            }));
        }
    }
    Materials { entries, numbers }
}

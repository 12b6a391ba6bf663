//! A fragment as glTF has it: vertices about a pivot, one for each normal and each texture coordinate that
//! its corners have, and triangles by material, both ordered for the caches of a GPU.

use glam::DVec3;
use serde_json::{Value, json};

use super::file::Buffers;
use crate::geometry::corners::Corners;
use crate::store::corner_normals::Fans;
use crate::store::{Piece, SurfaceFrame};

/// A fragment ready for the file.
pub struct Part {
    /// In the coordinates of the positions given.
    pub pivot: DVec3,
    /// Vertices about the pivot.
    pub positions: Vec<[f32; 3]>,
    /// The vertex of the piece that each of them is.
    pub sources: Vec<u32>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates, v from the top of the image; empty where there are none.
    pub uv: Vec<[f32; 2]>,
    /// Vertex indices of the skin's and of the crack faces' triangles.
    pub indices: [Vec<u32>; 2],
}

impl Part {
    /// A piece with its vertices at `source`, about a pivot.
    pub fn new(surface: &SurfaceFrame, piece: &Piece, source: &[[f32; 3]], pivot: DVec3) -> Self {
        let fans = Fans::of(surface, piece);
        let uv = surface.uv_of(piece);
        // Each vertex of the file by its fan.
        let (corners, fan_of, texture) = if uv.is_empty() {
            let all = (0..fans.vertices.len() as u32).collect();
            (fans.corners.clone(), all, Vec::new())
        } else {
            let corners = Corners::of_vertices(fans.corners.iter().copied(), uv);
            let fan_of: Vec<u32> = corners.distinct.iter().map(|&(fan, _)| fan).collect();
            let texture = corners.uv();
            (corners.numbers, fan_of, texture)
        };
        let count = fan_of.len();
        let mut indices = [Vec::new(), Vec::new()];
        let flags = &surface.inside[surface.triangle_range(piece)];
        for (corners, &flag) in corners.iter().zip(flags) {
            indices[usize::from(flag != 0)].extend(corners);
        }
        for list in &mut indices {
            meshopt::optimize_vertex_cache_in_place(list, count);
        }
        let remap = meshopt::optimize_vertex_fetch_remap(&indices.concat(), count);
        for vertex in indices.iter_mut().flatten() {
            *vertex = remap[*vertex as usize];
        }
        let mut positions = vec![[0.0; 3]; count];
        let mut sources = vec![0; count];
        let mut normals = vec![[0.0; 3]; count];
        let mut uv = vec![[0.0; 2]; texture.len()];
        let of_fans = fans.normals(source);
        for (vertex, (&fan, &to)) in fan_of.iter().zip(&remap).enumerate() {
            let (from, at) = (fans.vertices[fan as usize], to as usize);
            let place = DVec3::from(source[from as usize].map(f64::from));
            sources[at] = from;
            positions[at] = (place - pivot).as_vec3().to_array();
            normals[at] = of_fans[fan as usize];
            if let Some(&[u, v]) = texture.get(vertex) {
                // glTF counts v from the top of the image.
                uv[at] = [u, 1.0 - v];
            }
        }
        Part {
            pivot,
            positions,
            sources,
            normals,
            uv,
            indices,
        }
    }

    /// Its mesh, a primitive a material; `attributes` are the accessors of its vertices.
    pub fn mesh(&self, attributes: &Value, materials: &Materials, buffers: &mut Buffers) -> Value {
        let mut primitives = Vec::new();
        for (indices, material) in self.indices.iter().zip(materials.numbers) {
            if !indices.is_empty() {
                primitives.push(json!({
                    "attributes": attributes,
                    "indices": buffers.triangles(indices, self.positions.len()),
                    "material": material,
                }));
            }
        }
        json!({"primitives": primitives})
    }
}

/// The materials that parts use.
pub struct Materials {
    /// As the file has them.
    pub entries: Vec<Value>,
    /// Number of the skin's and the crack faces' material; used only where there are such faces.
    numbers: [usize; 2],
}

impl Materials {
    /// Those of `parts`.
    pub fn new<'a>(parts: impl Iterator<Item = &'a Part> + Clone) -> Self {
        let looks = [
            ("outside", [0.72, 0.70, 0.66, 1.0], 0.65),
            ("inside", [0.42, 0.30, 0.22, 1.0], 0.9),
        ];
        let mut entries = Vec::new();
        let mut numbers = [0; 2];
        for (side, (name, color, roughness)) in looks.into_iter().enumerate() {
            if parts.clone().any(|part| !part.indices[side].is_empty()) {
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
}

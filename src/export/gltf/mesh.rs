//! Fragment mesh for glTF: vertices relative to a pivot, one for each distinct normal and texture coordinate
//! of the corners, and triangles by material; both are ordered for GPU caches.

use glam::DVec3;
use serde_json::{Value, json};

use super::file::BufferBuilder;
use crate::geometry::corners::DistinctCorners;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// Mesh of a fragment for glTF.
pub struct FragmentMesh {
    /// Pivot, in the coordinates of the source positions.
    pub pivot: DVec3,
    /// Vertex positions relative to the pivot.
    pub positions: Vec<[f32; 3]>,
    /// For each vertex, its vertex in the piece.
    pub sources: Vec<u32>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates, v from the top of the image; empty without texture.
    pub uv: Vec<[f32; 2]>,
    /// Vertex indices of the triangles of the skin and of the crack faces.
    pub indices: [Vec<u32>; 2],
}

impl FragmentMesh {
    /// Mesh of a piece whose vertices are at `source`, with the given pivot.
    pub fn new(
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        source: &[[f32; 3]],
        pivot: DVec3,
    ) -> Self {
        let fans = Fans::of(surface, piece);
        let uv = surface.uv_of(piece);
        // The fan of each vertex in the file.
        let (corners, fan_of, texture) = if uv.is_empty() {
            let all = (0..fans.vertices.len() as u32).collect();
            (fans.corners.clone(), all, Vec::new())
        } else {
            let corners = DistinctCorners::of_vertices(fans.corners.iter().copied(), uv);
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
        let fan_normals = fans.normals(source);
        for (vertex, (&fan, &to)) in fan_of.iter().zip(&remap).enumerate() {
            let (from, at) = (fans.vertices[fan as usize], to as usize);
            let place = DVec3::from(source[from as usize].map(f64::from));
            sources[at] = from;
            positions[at] = (place - pivot).as_vec3().to_array();
            normals[at] = fan_normals[fan as usize];
            if let Some(&[u, v]) = texture.get(vertex) {
                // In glTF, v = 0 is the top of the image.
                uv[at] = [u, 1.0 - v];
            }
        }
        FragmentMesh {
            pivot,
            positions,
            sources,
            normals,
            uv,
            indices,
        }
    }

    /// JSON of the mesh, with one primitive per material; `attributes` are the accessors of its vertices.
    pub fn mesh(
        &self,
        attributes: &Value,
        materials: &Materials,
        buffers: &mut BufferBuilder,
    ) -> Value {
        let mut primitives = Vec::new();
        for (indices, material) in self.indices.iter().zip(materials.numbers) {
            if !indices.is_empty() {
                primitives.push(json!({
                    "attributes": attributes,
                    "indices": buffers.add_triangles(indices, self.positions.len()),
                    "material": material,
                }));
            }
        }
        json!({"primitives": primitives})
    }
}

/// The materials that the meshes use.
pub struct Materials {
    /// JSON of the materials.
    pub entries: Vec<Value>,
    /// Indices of the materials of skin and crack faces; valid only if there are such faces.
    numbers: [usize; 2],
}

impl Materials {
    /// Materials that at least one of `meshes` uses.
    pub fn new<'a>(meshes: impl Iterator<Item = &'a FragmentMesh> + Clone) -> Self {
        let styles = [
            ("outside", [0.72, 0.70, 0.66, 1.0], 0.65),
            ("inside", [0.42, 0.30, 0.22, 1.0], 0.9),
        ];
        let mut entries = Vec::new();
        let mut numbers = [0; 2];
        for (side, (name, color, roughness)) in styles.into_iter().enumerate() {
            if meshes.clone().any(|mesh| !mesh.indices[side].is_empty()) {
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

//! Fragment mesh for glTF: vertices relative to a pivot, one for each distinct normal, texture coordinate and colour
//! of the corners, and triangles by material; both are ordered for GPU caches.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use serde_json::{Value, json};

use super::file::BufferBuilder;
use crate::export::materials::{FaceMaterial, faces_by_material};
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
    /// Colours; empty if the surface has none.
    pub colours: Vec<[f32; 3]>,
    /// Vertex indices of the triangles of each material.
    pub indices: Vec<(FaceMaterial, Vec<u32>)>,
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
        let attributes = surface.attributes_of(piece);
        // The fan of each vertex in the file.
        let (corners, fan_of, values) = if attributes.is_empty() {
            let all = (0..fans.vertices.len() as u32).collect();
            (fans.corners.clone(), all, Vec::new())
        } else {
            let corners = fans.corners.iter().copied();
            let corners = DistinctCorners::of_vertices(corners, &attributes);
            let fan_of: Vec<u32> = corners.distinct.iter().map(|&(fan, _)| fan).collect();
            let values = corners.values();
            (corners.numbers, fan_of, values)
        };
        let count = fan_of.len();
        let mut indices = Vec::new();
        for (material, faces) in faces_by_material(surface, piece) {
            let faces = faces.iter().map(|face| corners[*face as usize]);
            let mut list = faces.collect::<Vec<_>>().into_flattened();
            meshopt::optimize_vertex_cache_in_place(&mut list, count);
            indices.push((material, list));
        }
        let all: Vec<u32> = indices.iter().flat_map(|(_, list)| list).copied().collect();
        let remap = meshopt::optimize_vertex_fetch_remap(&all, count);
        for vertex in indices.iter_mut().flat_map(|(_, list)| list) {
            *vertex = remap[*vertex as usize];
        }
        let mut positions = vec![[0.0; 3]; count];
        let mut sources = vec![0; count];
        let mut normals = vec![[0.0; 3]; count];
        let of = |has: bool| if has { values.len() } else { 0 };
        let mut uv = vec![[0.0; 2]; of(!surface.uv.is_empty())];
        let mut colours = vec![[1.0; 3]; of(!surface.colours.is_empty())];
        let fan_normals = fans.normals(source);
        for (vertex, (&fan, &to)) in fan_of.iter().zip(&remap).enumerate() {
            let (from, at) = (fans.vertices[fan as usize], to as usize);
            let place = DVec3::from(source[from as usize].map(f64::from));
            sources[at] = from;
            positions[at] = (place - pivot).as_vec3().to_array();
            normals[at] = fan_normals[fan as usize];
            if let Some(&[u, v, r, g, b]) = values.get(vertex) {
                // In glTF, v = 0 is the top of the image.
                if let Some(uv) = uv.get_mut(at) {
                    *uv = [u, 1.0 - v];
                }
                if let Some(colour) = colours.get_mut(at) {
                    *colour = [r, g, b];
                }
            }
        }
        FragmentMesh {
            pivot,
            positions,
            sources,
            normals,
            uv,
            colours,
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
        for (material, indices) in &self.indices {
            primitives.push(json!({
                "attributes": attributes,
                "indices": buffers.add_triangles(indices, self.positions.len()),
                "material": materials.numbers[material],
            }));
        }
        json!({"primitives": primitives})
    }
}

/// The materials that the meshes use.
pub struct Materials {
    /// JSON of the materials.
    pub entries: Vec<Value>,
    /// Index of each material in `entries`.
    numbers: BTreeMap<FaceMaterial, usize>,
}

impl Materials {
    /// Materials that at least one of `meshes` uses.
    pub fn new<'a>(meshes: impl Iterator<Item = &'a FragmentMesh>) -> Self {
        let used = meshes.flat_map(|mesh| &mesh.indices);
        let used: BTreeSet<&FaceMaterial> = used.map(|(material, _)| material).collect();
        let entry = |material: &FaceMaterial| {
            let (color, roughness) = match material {
                FaceMaterial::Inside => ([0.42, 0.30, 0.22, 1.0], 0.9),
                FaceMaterial::Outside | FaceMaterial::Named(_) => ([0.72, 0.70, 0.66, 1.0], 0.65),
            };
            json!({
                "name": material.name(),
                "pbrMetallicRoughness": {
                    "baseColorFactor": color, "metallicFactor": 0.0, "roughnessFactor": roughness,
                },
            })
        };
        let numbers = used.iter().zip(0..);
        Materials {
            entries: used.iter().map(|material| entry(material)).collect(),
            numbers: numbers
                .map(|(material, number)| ((*material).clone(), number))
                .collect(),
        }
    }
}

//! glTF 2.0, as `.glb` and `.gltf`: the triangles of all nodes of the scene with their texture coordinates,
//! colours and names of materials, one object per node. Lengths are metres, y is up.
//!
//! Only what meshes need is read: transforms, accessors and buffers. Skins and morph targets are left at rest.
//! Accessors are read here and not by the `gltf` crate 1.4, as that panics on damaged ones: a count of 0 or
//! beyond 64 bits, a stride shorter than an element, sparse values of another type.

mod accessors;
mod document;

use std::path::{Path, PathBuf};

use glam::{DMat4, DQuat, DVec3};

use self::accessors::SceneReader;
use self::document::{Node, Primitive, contents, decode_percent, document, fault};
use super::fault::{FormatFault, FormatSource, ParseResult, ParsedFile, UpAxis};
use super::mesh::CornerUv;
use super::paint::{NO_MATERIAL, Paint};

/// Greatest number of triangles of a scene: instances could multiply a small file without bound.
const MAX_TRIANGLES: usize = 20_000_000;
/// Extensions that a file may require, as they do not change meshes; also all `KHR_materials_…`.
/// `KHR_mesh_quantization` allows integers for positions, which are read anyway.
const HARMLESS: &[&str] = &[
    "KHR_mesh_quantization",
    "KHR_lights_punctual",
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "KHR_xmp_json_ld",
    "EXT_texture_webp",
    "EXT_texture_avif",
    "MSFT_texture_dds",
];

/// Reads all nodes of the default scene; of a file without scenes all nodes.
pub(super) fn parse(source: &FormatSource<'_>) -> ParseResult {
    let (document, chunk) = document(source.bytes)?;
    if !document.asset.version.starts_with("2.") {
        let version = &document.asset.version;
        return Err(fault(format!("glTF version {version}; version 2 is read")));
    }
    let required = document.extensions_required.iter();
    let mut unread = required
        .filter(|name| !HARMLESS.contains(&name.as_str()) && !name.starts_with("KHR_materials_"));
    if let Some(name) = unread.next() {
        return Err(fault(format!(
            "the file requires the extension {name}, which is not read; export it without{}",
            match name.as_str() {
                "KHR_draco_mesh_compression" | "EXT_meshopt_compression" => " compression",
                _ => "",
            }
        )));
    }
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let buffers = document.buffers.iter().enumerate();
    let buffers = buffers.map(|(number, buffer)| contents(number, buffer, chunk, folder));
    let scene = SceneReader {
        buffers: buffers.collect::<Result<_, _>>()?,
        document: &document,
    };
    let mut parsed = ParsedFile {
        metres_per_unit: Some(1.0),
        up: Some(UpAxis::Y),
        ..ParsedFile::default()
    };
    scene.append_nodes(&mut parsed)?;
    Ok(parsed)
}

/// Files with the buffers of a file, which lie next to it.
pub(super) fn external_buffers(source: &FormatSource<'_>) -> Vec<PathBuf> {
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let Ok((document, _)) = document(source.bytes) else {
        return Vec::new();
    };
    let uris = document
        .buffers
        .iter()
        .filter_map(|buffer| buffer.uri.as_deref());
    uris.filter(|uri| !uri.starts_with("data:"))
        .map(|uri| folder.join(decode_percent(uri)))
        .collect()
}

impl SceneReader<'_> {
    fn append_nodes(&self, parsed: &mut ParsedFile) -> Result<(), FormatFault> {
        let nodes = &self.document.nodes;
        let scenes = &self.document.scenes;
        let roots: Vec<usize> = match scenes.get(self.document.scene.unwrap_or(0)) {
            Some(scene) => scene.nodes.clone(),
            None => {
                let mut is_root = vec![true; nodes.len()];
                for child in nodes.iter().flat_map(|node| &node.children) {
                    if let Some(is_root) = is_root.get_mut(*child) {
                        *is_root = false;
                    }
                }
                (0..nodes.len()).filter(|&node| is_root[node]).collect()
            }
        };
        let mut seen = vec![false; nodes.len()];
        let roots = roots.into_iter().rev();
        let mut waiting: Vec<(usize, DMat4)> = roots.map(|node| (node, DMat4::IDENTITY)).collect();
        while let Some((number, parent)) = waiting.pop() {
            let node = item(nodes, number, "node")?;
            if std::mem::replace(&mut seen[number], true) {
                return Err(fault(format!("node {number} has two parents")));
            }
            let world = parent * transform(node);
            let children = node.children.iter().rev();
            waiting.extend(children.map(|&child| (child, world)));
            if let Some(mesh) = node.mesh {
                let mesh = item(&self.document.meshes, mesh, "mesh")?;
                let object = parsed.names.len() as u32;
                let name = if node.name.is_empty() {
                    &mesh.name
                } else {
                    &node.name
                };
                parsed.names.push(name.clone());
                for primitive in &mesh.primitives {
                    self.append(primitive, world, parsed)
                        .map_err(|what| fault(format!("node {number} {name:?}: {what}")))?;
                }
                parsed.object_of.resize(parsed.mesh.triangles.len(), object);
            }
        }
        Ok(())
    }

    fn append(
        &self,
        primitive: &Primitive,
        world: DMat4,
        parsed: &mut ParsedFile,
    ) -> Result<(), String> {
        let (Some(position), 4..=6) = (primitive.attributes.position, primitive.mode) else {
            // Points and lines.
            return Ok(());
        };
        let positions: Vec<[f64; 3]> = self.numbers(position, "VEC3")?;
        let texture: Vec<[f64; 2]> = match primitive.attributes.texture {
            Some(texture) => self.numbers(texture, "VEC2")?,
            None => Vec::new(),
        };
        if primitive.attributes.texture.is_some() && texture.len() != positions.len() {
            return Err(format!(
                "{} texture coordinates for {} positions",
                texture.len(),
                positions.len()
            ));
        }
        let colours = self.colours(primitive, positions.len())?;
        let indices = self.indices(primitive, positions.len())?;
        let mesh = &mut parsed.mesh;
        let (first, before) = (mesh.positions.len() as u32, mesh.triangles.len());
        let added = match primitive.mode {
            4 => indices.len() / 3,
            _ => indices.len(),
        };
        if before + added > MAX_TRIANGLES
            || mesh.positions.len() + positions.len() > 3 * MAX_TRIANGLES
        {
            return Err(format!("the scene has more than {MAX_TRIANGLES} triangles"));
        }
        for position in positions {
            let position = world.transform_point3(DVec3::from_array(position));
            if !position.is_finite() {
                return Err("a coordinate is not finite".to_owned());
            }
            mesh.positions.push(position);
        }
        let is_mirrored = world.determinant() < 0.0;
        let material = self.material(primitive, &mut mesh.paint)?;
        let with_texture = !texture.is_empty();
        if with_texture {
            mesh.uv.resize(before, CornerUv::default());
        }
        for mut triangle in triangles(&indices, primitive.mode) {
            if is_mirrored {
                triangle.swap(1, 2);
            }
            if with_texture {
                // v runs from the top of the image.
                let uv = triangle.map(|vertex| texture[vertex as usize]);
                let uv = uv.map(|[u, v]| [u as f32, (1.0 - v) as f32]);
                if !uv.as_flattened().iter().all(|value| value.is_finite()) {
                    return Err("a texture coordinate is not finite".to_owned());
                }
                mesh.uv.push(uv);
            }
            let colours = (!colours.is_empty()).then(|| triangle.map(|v| colours[v as usize]));
            mesh.paint.push(mesh.triangles.len(), colours, material);
            mesh.triangles.push(triangle.map(|vertex| first + vertex));
        }
        mesh.paint.resize(mesh.triangles.len());
        if !mesh.uv.is_empty() {
            mesh.uv.resize(mesh.triangles.len(), CornerUv::default());
        }
        Ok(())
    }

    /// Vertex indices of a primitive with this number of vertices.
    fn indices(&self, primitive: &Primitive, vertices: usize) -> Result<Vec<u32>, String> {
        let indices: Vec<u32> = match primitive.indices {
            Some(indices) => {
                let values: Vec<[f64; 1]> = self.numbers(indices, "SCALAR")?;
                values.into_iter().map(|[value]| value as u32).collect()
            }
            None => (0..vertices as u32).collect(),
        };
        if let Some(index) = indices.iter().find(|index| **index as usize >= vertices) {
            return Err(format!(
                "a triangle uses vertex {index}; there are {vertices}"
            ));
        }
        Ok(indices)
    }

    /// Number of a primitive's material.
    fn material(&self, primitive: &Primitive, paint: &mut Paint) -> Result<u32, String> {
        let Some(number) = primitive.material else {
            return Ok(NO_MATERIAL);
        };
        let material = self.document.materials.get(number);
        let material = material.ok_or_else(|| format!("there is no material {number}"))?;
        Ok(match &material.name[..] {
            "" => paint.number(&format!("material_{number}")),
            name => paint.number(name),
        })
    }

    /// Colours of the vertices; empty if the primitive has none. Opacity is left out.
    fn colours(&self, primitive: &Primitive, vertices: usize) -> Result<Vec<[f32; 3]>, String> {
        let Some(number) = primitive.attributes.colour else {
            return Ok(Vec::new());
        };
        let accessor = self.document.accessors.get(number);
        let opaque = |[r, g, b, _]: [f64; 4]| [r, g, b];
        let colours: Vec<[f64; 3]> = match accessor.is_some_and(|found| found.kind == "VEC4") {
            true => (self.numbers(number, "VEC4")?.into_iter().map(opaque)).collect(),
            false => self.numbers(number, "VEC3")?,
        };
        if colours.len() != vertices {
            let count = colours.len();
            return Err(format!("{count} colours for {vertices} positions"));
        }
        if !colours.as_flattened().iter().all(|value| value.is_finite()) {
            return Err("a colour is not finite".to_owned());
        }
        Ok(colours.into_iter().map(|c| c.map(|x| x as f32)).collect())
    }
}

fn item<'a, T>(list: &'a [T], number: usize, what: &str) -> Result<&'a T, FormatFault> {
    list.get(number)
        .ok_or_else(|| fault(format!("there is no {what} {number}")))
}

/// Transform of a node in its parent.
fn transform(node: &Node) -> DMat4 {
    if let Some(matrix) = &node.matrix {
        return DMat4::from_cols_array(matrix);
    }
    let rotation = DQuat::from_array(node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
    // Files hold quaternions in single precision.
    let rotation = match rotation.length() > 0.0 && rotation != DQuat::IDENTITY {
        true => rotation.normalize(),
        false => DQuat::IDENTITY,
    };
    let scale = DVec3::from_array(node.scale.unwrap_or([1.0; 3]));
    DMat4::from_scale_rotation_translation(scale, rotation, DVec3::from_array(node.translation))
}

/// Triangles of a list (mode 4), strip (5) or fan (6).
fn triangles(indices: &[u32], mode: u32) -> Vec<[u32; 3]> {
    match mode {
        4 => indices.as_chunks::<3>().0.to_vec(),
        5 => {
            let windows = indices.windows(3).enumerate();
            windows
                .map(|(at, w)| {
                    if at % 2 == 0 {
                        [w[0], w[1], w[2]]
                    } else {
                        [w[0], w[2], w[1]]
                    }
                })
                .collect()
        }
        _ => {
            let sides = indices.get(1..).unwrap_or_default().windows(2);
            sides.map(|side| [side[0], side[1], indices[0]]).collect()
        }
    }
}

#[cfg(test)]
mod tests;

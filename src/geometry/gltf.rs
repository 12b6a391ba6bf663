//! glTF 2.0, as `.glb` and `.gltf`: the triangles of all nodes of the scene with their texture coordinates,
//! one object per node. Lengths are metres, y is up.
//!
//! Only what meshes need is read: transforms, accessors and buffers. Skins and morph targets are left at rest.
//! Accessors are read here and not by the `gltf` crate, as that panics where a damaged file has an accessor
//! longer than its buffer.

use std::path::{Path, PathBuf};

use base64::Engine;
use glam::{DMat4, DQuat, DVec3};
use serde::Deserialize;

use super::fault::{FormatFault, FormatSource, ParseResult, ParsedFile, UpAxis};
use super::mesh::CornerUv;

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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    asset: Asset,
    scene: Option<usize>,
    #[serde(default)]
    scenes: Vec<Scene>,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    meshes: Vec<Mesh>,
    #[serde(default)]
    accessors: Vec<Accessor>,
    #[serde(default)]
    buffer_views: Vec<BufferView>,
    #[serde(default)]
    buffers: Vec<Buffer>,
    #[serde(default)]
    extensions_required: Vec<String>,
}

#[derive(Deserialize)]
struct Asset {
    version: String,
}

#[derive(Deserialize)]
struct Scene {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    name: String,
    mesh: Option<usize>,
    #[serde(default)]
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    #[serde(default)]
    translation: [f64; 3],
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
struct Mesh {
    #[serde(default)]
    name: String,
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    #[serde(default = "triangle_list")]
    mode: u32,
}

fn triangle_list() -> u32 {
    4
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
    #[serde(rename = "TEXCOORD_0")]
    texture: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    #[serde(default)]
    normalized: bool,
    count: usize,
    #[serde(rename = "type")]
    kind: String,
    sparse: Option<Sparse>,
}

#[derive(Deserialize)]
struct Sparse {
    count: usize,
    indices: SparsePart,
    values: SparsePart,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SparsePart {
    buffer_view: usize,
    #[serde(default)]
    byte_offset: usize,
    /// Of indices only.
    component_type: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferView {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
    extensions: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    uri: Option<String>,
    byte_length: usize,
}

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

fn fault(what: impl Into<String>) -> FormatFault {
    FormatFault::new(None, what)
}

/// The JSON of a file and the binary chunk of a GLB.
fn document(bytes: &[u8]) -> Result<(Document, Option<&[u8]>), FormatFault> {
    const JSON: u32 = 0x4E4F_534A;
    const BINARY: u32 = 0x004E_4942;
    let json = |text: &[u8]| {
        serde_json::from_slice(text).map_err(|error| fault(format!("its JSON is invalid: {error}")))
    };
    let Some(mut rest) = bytes.strip_prefix(b"glTF") else {
        return Ok((json(bytes)?, None));
    };
    let cut = || fault("the file is cut off");
    let version = word(&mut rest).ok_or_else(cut)?;
    if version != 2 {
        return Err(fault(format!("GLB version {version}; version 2 is read")));
    }
    // The length of the file.
    word(&mut rest).ok_or_else(cut)?;
    let (mut text, mut binary) = (None, None);
    while !rest.is_empty() {
        let length = word(&mut rest).ok_or_else(cut)?;
        let kind = word(&mut rest).ok_or_else(cut)?;
        let (data, after) = rest.split_at_checked(length as usize).ok_or_else(cut)?;
        rest = after;
        match kind {
            JSON => text = text.or(Some(data)),
            BINARY => binary = binary.or(Some(data)),
            _ => {}
        }
    }
    Ok((json(text.ok_or_else(|| fault("no JSON chunk"))?)?, binary))
}

/// Takes a little-endian number from the beginning.
fn word(rest: &mut &[u8]) -> Option<u32> {
    let (word, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*word))
}

/// The bytes of a buffer.
fn contents(
    number: usize,
    buffer: &Buffer,
    chunk: Option<&[u8]>,
    folder: &Path,
) -> Result<Vec<u8>, FormatFault> {
    let bytes = match buffer.uri.as_deref() {
        None => chunk
            .map(<[u8]>::to_vec)
            .ok_or_else(|| fault(format!("buffer {number} has no data in this file")))?,
        Some(uri) => match uri.strip_prefix("data:") {
            Some(data) => {
                let Some((_, text)) = data.split_once(";base64,") else {
                    return Err(fault(format!("buffer {number}: its data are not base64")));
                };
                let engine = base64::engine::general_purpose::STANDARD;
                engine
                    .decode(text)
                    .map_err(|error| fault(format!("buffer {number}: {error}")))?
            }
            None => {
                let path = folder.join(decode_percent(uri));
                std::fs::read(&path).map_err(|error| {
                    fault(format!("buffer {number}: {}: {error}", path.display()))
                })?
            }
        },
    };
    if bytes.len() < buffer.byte_length {
        return Err(fault(format!(
            "buffer {number} has {} bytes of {}",
            bytes.len(),
            buffer.byte_length
        )));
    }
    Ok(bytes)
}

/// Replaces `%20` and the like.
fn decode_percent(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = uri.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

struct SceneReader<'a> {
    document: &'a Document,
    buffers: Vec<Vec<u8>>,
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
        let indices: Vec<u32> = match primitive.indices {
            Some(indices) => {
                let values: Vec<[f64; 1]> = self.numbers(indices, "SCALAR")?;
                values.into_iter().map(|[value]| value as u32).collect()
            }
            None => (0..positions.len() as u32).collect(),
        };
        if let Some(index) = indices
            .iter()
            .find(|index| **index as usize >= positions.len())
        {
            let count = positions.len();
            return Err(format!("a triangle uses vertex {index}; there are {count}"));
        }
        let mesh = &mut parsed.mesh;
        let (first, before) = (mesh.positions.len() as u32, mesh.triangles.len());
        if before + indices.len() > MAX_TRIANGLES
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
            mesh.triangles.push(triangle.map(|vertex| first + vertex));
        }
        if !mesh.uv.is_empty() {
            mesh.uv.resize(mesh.triangles.len(), CornerUv::default());
        }
        Ok(())
    }

    /// Reads an accessor of this type, which has `N` components.
    fn numbers<const N: usize>(&self, number: usize, kind: &str) -> Result<Vec<[f64; N]>, String> {
        let name = || format!("accessor {number}");
        let accessor = (self.document.accessors.get(number))
            .ok_or_else(|| format!("there is no accessor {number}"))?;
        if accessor.kind != kind {
            return Err(format!(
                "{} has the type {}; expected {kind}",
                name(),
                accessor.kind
            ));
        }
        let component =
            Component::of(accessor.component_type, accessor.normalized).ok_or_else(|| {
                format!(
                    "{}: unknown component type {}",
                    name(),
                    accessor.component_type
                )
            })?;
        let read = |view, offset, component, count| {
            self.elements::<N>(view, offset, component, count)
                .map_err(|what| format!("{}: {what}", name()))
        };
        let mut values = match accessor.buffer_view {
            Some(view) => read(view, accessor.byte_offset, component, accessor.count)?,
            // Without data all are 0, so only the size of the file bounds their number.
            None if accessor.count <= self.buffers.iter().map(Vec::len).sum() => {
                vec![[0.0; N]; accessor.count]
            }
            None => {
                return Err(format!(
                    "{} has {} elements, but no data",
                    name(),
                    accessor.count
                ));
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let indices = sparse.indices.component_type.unwrap_or_default();
            let indices = Component::of(indices, false)
                .ok_or_else(|| format!("{}: unknown type of sparse indices", name()))?;
            let SparsePart {
                buffer_view,
                byte_offset,
                ..
            } = sparse.indices;
            let indices = self
                .elements::<1>(buffer_view, byte_offset, indices, sparse.count)
                .map_err(|what| format!("{}: {what}", name()))?;
            let SparsePart {
                buffer_view,
                byte_offset,
                ..
            } = sparse.values;
            let replaced = read(buffer_view, byte_offset, component, sparse.count)?;
            for ([index], value) in indices.into_iter().zip(replaced) {
                *values
                    .get_mut(index as usize)
                    .ok_or_else(|| format!("{}: sparse index {index} is too large", name()))? =
                    value;
            }
        }
        Ok(values)
    }

    /// Reads `count` elements of `N` components from a buffer view.
    fn elements<const N: usize>(
        &self,
        view: usize,
        offset: usize,
        component: Component,
        count: usize,
    ) -> Result<Vec<[f64; N]>, String> {
        let number = view;
        let short = || format!("buffer view {number} is too short for {count} elements");
        let view = (self.document.buffer_views.get(view))
            .ok_or_else(|| format!("there is no buffer view {number}"))?;
        if let Some(name) = view
            .extensions
            .iter()
            .flat_map(serde_json::Map::keys)
            .find(|name| name.contains("meshopt"))
        {
            return Err(format!(
                "its data are compressed ({name}), which is not read; export it without compression"
            ));
        }
        let buffer = (self.buffers.get(view.buffer))
            .ok_or_else(|| format!("there is no buffer {}", view.buffer))?;
        let bytes = (view.byte_offset.checked_add(view.byte_length))
            .and_then(|end| buffer.get(view.byte_offset..end))
            .and_then(|bytes| bytes.get(offset..))
            .ok_or_else(short)?;
        let size = N * component.size;
        let stride = view.byte_stride.unwrap_or(size).max(size);
        let Some(last) = count.checked_sub(1) else {
            return Ok(Vec::new());
        };
        let end = last
            .checked_mul(stride)
            .and_then(|start| start.checked_add(size));
        if end.is_none_or(|end| end > bytes.len()) {
            return Err(short());
        }
        let element = |at: usize| {
            std::array::from_fn(|c| component.read(&bytes[at * stride + c * component.size..]))
        };
        Ok((0..count).map(element).collect())
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

/// Number format of an accessor.
#[derive(Clone, Copy)]
struct Component {
    kind: u32,
    /// Bytes.
    size: usize,
    normalized: bool,
}

impl Component {
    fn of(kind: u32, normalized: bool) -> Option<Self> {
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            _ => return None,
        };
        Some(Component {
            kind,
            size,
            normalized,
        })
    }

    /// The number at the beginning of `bytes`, which has at least `size`.
    fn read(self, bytes: &[u8]) -> f64 {
        let two = || [bytes[0], bytes[1]];
        let four = || [bytes[0], bytes[1], bytes[2], bytes[3]];
        let (value, most) = match self.kind {
            5120 => (f64::from(bytes[0] as i8), 127.0),
            5121 => (f64::from(bytes[0]), 255.0),
            5122 => (f64::from(i16::from_le_bytes(two())), 32767.0),
            5123 => (f64::from(u16::from_le_bytes(two())), 65535.0),
            5125 => return f64::from(u32::from_le_bytes(four())),
            _ => return f64::from(f32::from_le_bytes(four())),
        };
        match self.normalized {
            true => (value / most).max(-1.0),
            false => value,
        }
    }
}

#[cfg(test)]
mod tests;

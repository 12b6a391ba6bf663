//! The parts of a glTF document that meshes need, and the buffers that it names.

use std::path::Path;

use base64::Engine;
use serde::Deserialize;

use crate::geometry::fault::FormatFault;

/// A fault of the file as a whole.
pub(super) fn fault(what: impl Into<String>) -> FormatFault {
    FormatFault::new(None, what)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: Asset,
    pub scene: Option<usize>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    #[serde(default)]
    pub extensions_required: Vec<String>,
    #[serde(default)]
    pub materials: Vec<Material>,
}

#[derive(Deserialize)]
pub(super) struct Material {
    #[serde(default)]
    pub name: String,
}

#[derive(Deserialize)]
pub(super) struct Asset {
    pub version: String,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub name: String,
    pub mesh: Option<usize>,
    #[serde(default)]
    pub children: Vec<usize>,
    pub matrix: Option<[f64; 16]>,
    #[serde(default)]
    pub translation: [f64; 3],
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    #[serde(default)]
    pub name: String,
    pub primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    #[serde(default = "triangle_list")]
    pub mode: u32,
}

fn triangle_list() -> u32 {
    4
}

#[derive(Deserialize)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
    #[serde(rename = "TEXCOORD_0")]
    pub texture: Option<usize>,
    #[serde(rename = "COLOR_0")]
    pub colour: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: usize,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<Sparse>,
}

#[derive(Deserialize)]
pub(super) struct Sparse {
    pub count: usize,
    pub indices: SparsePart,
    pub values: SparsePart,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparsePart {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: usize,
    /// Of indices only.
    pub component_type: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
    pub extensions: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: usize,
}

/// The JSON of a file and the binary chunk of a GLB.
pub(super) fn document(bytes: &[u8]) -> Result<(Document, Option<&[u8]>), FormatFault> {
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
pub(super) fn contents(
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
pub(super) fn decode_percent(uri: &str) -> String {
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

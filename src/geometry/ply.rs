//! PLY: reader for text and binary files, writer for binary ones.

mod write;

use std::io::BufReader;

use glam::DVec3;
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{
    ElementDef, Encoding, Property, PropertyAccess, PropertyAccessResult, PropertyType, ScalarType,
};

use super::fault::{FormatFault, FormatSource, ParseResult};
use super::mesh::TriMesh;
use super::paint::{CornerColours, NO_MATERIAL, WHITE};
use super::polygon;

pub use write::{MATERIAL_COMMENT, write_ply};

/// Property names of the texture coordinates of a vertex.
const TEXTURE_NAMES: [[&str; 2]; 3] = [["s", "t"], ["u", "v"], ["texture_u", "texture_v"]];

/// Property names of a colour.
const COLOUR_NAMES: [&str; 3] = ["red", "green", "blue"];

/// A row of any element; properties other than position, texture coordinates, colour, material and vertex list are
/// skipped.
#[derive(Default)]
struct PlyRow {
    position: DVec3,
    texture: [f32; 2],
    vertices: Vec<i64>,
    /// Texture coordinates of the face's corners, u and v alternating.
    corners: Vec<f32>,
    colour: [f32; 3],
    /// Colours of the face's corners, red, green and blue in turn.
    corner_colours: Vec<f32>,
    /// Number of the face's material; below 0 for none.
    material: f64,
}

impl PropertyAccess for PlyRow {
    fn new() -> Self {
        Self::default()
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        let target = match name {
            "x" => &mut self.position.x,
            "y" => &mut self.position.y,
            "z" => &mut self.position.z,
            "vertex_indices" | "vertex_index" => {
                return match integers(property) {
                    Some(list) => {
                        self.vertices = list;
                        PropertyAccessResult::Set
                    }
                    None => PropertyAccessResult::UnsupportedType,
                };
            }
            "texcoord" | "corner_colours" => {
                let list = match property {
                    Property::ListFloat(list) => list,
                    Property::ListDouble(list) => list.into_iter().map(|x| x as f32).collect(),
                    _ => return PropertyAccessResult::UnsupportedType,
                };
                match name {
                    "texcoord" => self.corners = list,
                    _ => self.corner_colours = list,
                }
                return PropertyAccessResult::Set;
            }
            "material" => &mut self.material,
            _ => {
                if let Some(at) = COLOUR_NAMES.iter().position(|known| *known == name) {
                    // Whole numbers are parts of 255.
                    let most = match property {
                        Property::UChar(_) => 255.0,
                        _ => 1.0,
                    };
                    let Some(value) = number(property) else {
                        return PropertyAccessResult::UnsupportedType;
                    };
                    self.colour[at] = (value / most) as f32;
                    return PropertyAccessResult::Set;
                }
                let mut names = TEXTURE_NAMES.iter().flatten();
                let Some(at) = names.position(|known| *known == name) else {
                    return PropertyAccessResult::Ignored;
                };
                let Some(value) = number(property) else {
                    return PropertyAccessResult::UnsupportedType;
                };
                self.texture[at % 2] = value as f32;
                return PropertyAccessResult::Set;
            }
        };
        let Some(value) = number(property) else {
            return PropertyAccessResult::UnsupportedType;
        };
        *target = value;
        PropertyAccessResult::Set
    }
}

fn number(property: Property) -> Option<f64> {
    Some(match property {
        Property::Char(value) => value.into(),
        Property::UChar(value) => value.into(),
        Property::Short(value) => value.into(),
        Property::UShort(value) => value.into(),
        Property::Int(value) => value.into(),
        Property::UInt(value) => value.into(),
        Property::Float(value) => value.into(),
        Property::Double(value) => value,
        _ => return None,
    })
}

fn integers(property: Property) -> Option<Vec<i64>> {
    fn widen<T: Into<i64>>(list: Vec<T>) -> Option<Vec<i64>> {
        Some(list.into_iter().map(Into::into).collect())
    }
    match property {
        Property::ListChar(list) => widen(list),
        Property::ListUChar(list) => widen(list),
        Property::ListShort(list) => widen(list),
        Property::ListUShort(list) => widen(list),
        Property::ListInt(list) => widen(list),
        Property::ListUInt(list) => widen(list),
        _ => None,
    }
}

/// Parses positions, faces and texture coordinates; those of a face take precedence over those of its
/// vertices. Polygons are cut into triangles.
pub(super) fn parse(source: &FormatSource<'_>) -> ParseResult {
    let bytes = source.bytes;
    let parser = Parser::<PlyRow>::new();
    let mut reader = Reader::new(BufReader::new(bytes));
    let fault = |error: ply_rs_bw::parser::ParseError| {
        let text = error.to_string();
        // The text starts with the line number, which the caller prints with the file name.
        let what = text
            .split_once(": ")
            .map_or(text.as_str(), |(_, rest)| rest);
        match error.line() {
            Some(line) => FormatFault::new(Some(line), what),
            None => FormatFault::new(None, text),
        }
    };
    let header = parser.read_header(&mut reader).map_err(fault)?;
    let is_text = header.encoding == Encoding::Ascii;
    let mut line = header_lines(bytes);
    let left = bytes.len().saturating_sub(header_length(bytes));
    let mut mesh = TriMesh::default();
    let mut kinds = FaceKinds::default();
    let names = header.comments.iter();
    let names = names.filter_map(|comment| comment.trim().strip_prefix(MATERIAL_COMMENT));
    mesh.paint.names = names.map(str::to_owned).collect();
    for (name, element) in &header.elements {
        check_count(name, element, is_text, left).map_err(|what| FormatFault::new(None, what))?;
        let rows = parser
            .read_payload_for_element(&mut reader, element, &header)
            .map_err(fault)?;
        let at = |row: usize| is_text.then_some(line + row + 1);
        if name == "vertex" {
            if let Some(missing) = ["x", "y", "z"]
                .iter()
                .find(|axis| !element.properties.contains_key(**axis))
            {
                let what = format!("element vertex has no property {missing}");
                return Err(FormatFault::new(None, what));
            }
            if let Some(row) = rows.iter().position(|row| !row.position.is_finite()) {
                let what = format!("vertex {row}: a coordinate is not finite");
                return Err(FormatFault::new(at(row), what));
            }
            mesh.positions = rows.iter().map(|row| row.position).collect();
            let has = |name: &&str| element.properties.contains_key(*name);
            if TEXTURE_NAMES.iter().any(|pair| pair.iter().all(has)) {
                kinds.is_textured = true;
                kinds.texture = rows.iter().map(|row| row.texture).collect();
            }
            if COLOUR_NAMES.iter().all(has) {
                kinds.colours = rows.iter().map(|row| row.colour).collect();
            }
        } else if name == "face" {
            let has = |name: &&str| element.properties.contains_key(*name);
            kinds.is_textured |= has(&"texcoord");
            kinds.is_coloured = COLOUR_NAMES.iter().all(has);
            kinds.has_materials = has(&"material");
            for (number, row) in rows.iter().enumerate() {
                append_face(&mut mesh, row, number, &kinds)
                    .map_err(|what| FormatFault::new(at(number), what))?;
            }
        }
        line += rows.len();
    }
    Ok(mesh.into())
}

/// Which attributes faces have, beside those of their vertices.
#[derive(Default)]
struct FaceKinds {
    is_textured: bool,
    /// Texture coordinates of vertices; may be empty.
    texture: Vec<[f32; 2]>,
    is_coloured: bool,
    /// Colours of vertices; may be empty.
    colours: Vec<[f32; 3]>,
    has_materials: bool,
}

impl FaceKinds {
    /// Colours of a triangle: those of the face's corners, else of the face, else of its vertices.
    fn colours(&self, row: &PlyRow, part: [usize; 3], triangle: [u32; 3]) -> Option<CornerColours> {
        let (own, _) = row.corner_colours.as_chunks::<3>();
        if own.len() == row.vertices.len() {
            return Some(part.map(|corner| own[corner]));
        }
        if self.is_coloured {
            return Some([row.colour; 3]);
        }
        let of_vertex = |v: u32| self.colours.get(v as usize).copied().unwrap_or(WHITE[0]);
        (!self.colours.is_empty()).then(|| triangle.map(of_vertex))
    }

    /// Index of a face's material in this number of names.
    fn material(&self, row: &PlyRow, names: usize) -> Result<u32, String> {
        if !self.has_materials || row.material < 0.0 {
            return Ok(NO_MATERIAL);
        }
        match row.material < names as f64 {
            true => Ok(row.material as u32),
            // Other programs number materials without naming them.
            false if names == 0 => Ok(NO_MATERIAL),
            false => Err(format!(
                "its material is {}; {names} are named, counted from 0",
                row.material
            )),
        }
    }
}

/// Adds a face.
fn append_face(
    mesh: &mut TriMesh,
    row: &PlyRow,
    number: usize,
    kinds: &FaceKinds,
) -> Result<(), String> {
    let vertices = mesh.positions.len();
    if let Some(bad) = row
        .vertices
        .iter()
        .find(|&&vertex| usize::try_from(vertex).map_or(true, |vertex| vertex >= vertices))
    {
        return Err(format!(
            "face {number} uses vertex {bad}; there are {vertices}, counted from 0"
        ));
    }
    let corners = row.vertices.len();
    let (own, _) = row.corners.as_chunks::<2>();
    if !row.corners.is_empty() && row.corners.len() != 2 * corners {
        return Err(format!(
            "face {number} has {} texture coordinates for {corners} corners, two each",
            row.corners.len()
        ));
    }
    let points: Vec<DVec3> = row
        .vertices
        .iter()
        .map(|&vertex| mesh.positions[vertex as usize])
        .collect();
    let mut parts = Vec::new();
    polygon::triangulate(&points, &mut parts).map_err(|what| format!("face {number}: {what}"))?;
    for part in parts {
        let triangle = part.map(|corner| row.vertices[corner] as u32);
        let colours = kinds.colours(row, part, triangle);
        if colours.is_some_and(|c| !c.as_flattened().iter().all(|x| x.is_finite())) {
            return Err(format!("face {number}: a colour is not finite"));
        }
        let material = kinds
            .material(row, mesh.paint.names.len())
            .map_err(|what| format!("face {number}: {what}"))?;
        mesh.paint.push(mesh.triangles.len(), colours, material);
        mesh.triangles.push(triangle);
        if !kinds.is_textured {
            continue;
        }
        let uv = [0, 1, 2].map(|m| {
            let of_vertex = || kinds.texture.get(triangle[m] as usize);
            own.get(part[m])
                .or_else(of_vertex)
                .copied()
                .unwrap_or_default()
        });
        if !uv.as_flattened().iter().all(|x| x.is_finite()) {
            let what = "a texture coordinate is not finite";
            return Err(format!("face {number}: {what}"));
        }
        mesh.uv.push(uv);
    }
    Ok(())
}

/// Refuses more rows than the bytes after the header can hold, as memory for all rows is allocated before the
/// first is read.
fn check_count(
    name: &str,
    element: &ElementDef,
    is_text: bool,
    bytes: usize,
) -> Result<(), String> {
    let size = |scalar: &ScalarType| match scalar {
        ScalarType::Char | ScalarType::UChar => 1,
        ScalarType::Short | ScalarType::UShort => 2,
        ScalarType::Int | ScalarType::UInt | ScalarType::Float => 4,
        ScalarType::Double => 8,
    };
    // For a list, the size of its length field.
    let least = |data_type: &PropertyType| match data_type {
        PropertyType::Scalar(scalar) | PropertyType::List(scalar, _) => size(scalar),
    };
    let properties = element.properties.iter();
    let row: usize = match is_text {
        // At least a digit and a separator each.
        true => properties.map(|_| 2).sum(),
        false => properties
            .map(|(_, property)| least(&property.data_type))
            .sum(),
    };
    let count = element.count;
    if count > 0 && row == 0 {
        return Err(format!("element {name} has {count} rows but no properties"));
    }
    // The last line of a text may lack the line break.
    if count.saturating_mul(row) > bytes + usize::from(is_text) {
        return Err(format!(
            "element {name} declares {count} rows, but only {bytes} bytes follow the header"
        ));
    }
    Ok(())
}

/// Number of lines up to and including `end_header`.
fn header_lines(bytes: &[u8]) -> usize {
    let lines = bytes.split(|byte| *byte == b'\n');
    let before = lines.take_while(|line| !line.trim_ascii().eq(b"end_header"));
    before.count() + 1
}

/// Number of bytes up to and including the line `end_header`.
fn header_length(bytes: &[u8]) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.take(header_lines(bytes)).map(<[u8]>::len).sum()
}

//! PLY: reader for text and binary files, writer for binary ones.

use std::io::{self, BufReader, Write};

use glam::DVec3;
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{
    ElementDef, Encoding, Property, PropertyAccess, PropertyAccessResult, PropertyType, ScalarType,
};

use super::TriMesh;
use super::read::{Fault, Parsed};

/// A row of any element; what is neither position nor vertex list is skipped.
#[derive(Default)]
struct Row {
    position: DVec3,
    vertices: Vec<i64>,
}

impl PropertyAccess for Row {
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
            _ => return PropertyAccessResult::Ignored,
        };
        *target = match property {
            Property::Char(value) => value.into(),
            Property::UChar(value) => value.into(),
            Property::Short(value) => value.into(),
            Property::UShort(value) => value.into(),
            Property::Int(value) => value.into(),
            Property::UInt(value) => value.into(),
            Property::Float(value) => value.into(),
            Property::Double(value) => value,
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
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

/// Positions and faces, polygons cut into fans.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let parser = Parser::<Row>::new();
    let mut reader = Reader::new(BufReader::new(bytes));
    let fault = |error: ply_rs_bw::parser::ParseError| {
        let text = error.to_string();
        // The line stands before the text already, once with the file name.
        let what = text
            .split_once(": ")
            .map_or(text.as_str(), |(_, rest)| rest);
        match error.line() {
            Some(line) => Fault::new(Some(line), what),
            None => Fault::new(None, text),
        }
    };
    let header = parser.read_header(&mut reader).map_err(fault)?;
    let is_text = header.encoding == Encoding::Ascii;
    let mut line = header_lines(bytes);
    let left = bytes.len().saturating_sub(header_length(bytes));
    let mut mesh = TriMesh::default();
    for (name, element) in &header.elements {
        check_count(name, element, is_text, left).map_err(|what| Fault::new(None, what))?;
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
                return Err(Fault::new(None, what));
            }
            if let Some(row) = rows.iter().position(|row| !row.position.is_finite()) {
                let what = format!("vertex {row}: a coordinate is not finite");
                return Err(Fault::new(at(row), what));
            }
            mesh.positions = rows.iter().map(|row| row.position).collect();
        } else if name == "face" {
            for (number, row) in rows.iter().enumerate() {
                append_face(&mut mesh, row, number).map_err(|what| Fault::new(at(number), what))?;
            }
        }
        line += rows.len();
    }
    Ok(mesh)
}

fn append_face(mesh: &mut TriMesh, row: &Row, number: usize) -> Result<(), String> {
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
    if let [first, rest @ ..] = row.vertices.as_slice() {
        let fan = rest.windows(2).map(|pair| [*first, pair[0], pair[1]]);
        mesh.triangles
            .extend(fan.map(|triangle| triangle.map(|vertex| vertex as u32)));
    }
    Ok(())
}

/// Refuses more rows than the bytes behind the header can hold: room for all would be taken before the first is read.
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
    // Of a list its length.
    let least = |data_type: &PropertyType| match data_type {
        PropertyType::Scalar(scalar) | PropertyType::List(scalar, _) => size(scalar),
    };
    let properties = element.properties.iter();
    let row: usize = match is_text {
        // A digit and a space or the end of the line each.
        true => properties.map(|_| 2).sum(),
        false => properties.map(|(_, property)| least(&property.data_type)).sum(),
    };
    let count = element.count;
    if count > 0 && row == 0 {
        return Err(format!("element {name} has {count} rows of no property"));
    }
    // The last line of a text may have no end.
    if count.saturating_mul(row) > bytes + usize::from(is_text) {
        return Err(format!(
            "element {name} is said to have {count} rows; the file has {bytes} bytes behind its header"
        ));
    }
    Ok(())
}

/// Lines up to and including `end_header`.
fn header_lines(bytes: &[u8]) -> usize {
    let lines = bytes.split(|byte| *byte == b'\n');
    let before = lines.take_while(|line| !line.trim_ascii().eq(b"end_header"));
    before.count() + 1
}

/// Bytes up to and including the line `end_header`.
fn header_length(bytes: &[u8]) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.take(header_lines(bytes)).map(<[u8]>::len).sum()
}

/// Writes a binary (little-endian) PLY with positions in double precision.
pub fn write_ply(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment metres, y up\nelement vertex {}\n\
         property double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        mesh.positions.len(),
        mesh.triangles.len()
    )?;
    for position in &mesh.positions {
        for value in position.to_array() {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    for triangle in &mesh.triangles {
        out.write_all(&[3])?;
        for vertex in triangle {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    Ok(())
}

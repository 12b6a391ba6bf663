//! Wavefront OBJ: the triangles of all objects and groups with their texture coordinates, colours and names of
//! materials. Normals, points and lines are ignored.

use std::collections::HashMap;

use glam::DVec3;

use super::fault::{FormatFault, FormatSource, ParseResult, ParsedFile};
use super::mesh::{CornerUv, TriMesh};
use super::paint::{NO_MATERIAL, Paint, WHITE};
use super::polygon;

/// Reads the records `v`, `vt`, `f`, `o`, `g` and `usemtl`; polygons are cut into triangles. A `\` at the end of a line
/// continues the record on the next. Objects are those of `o`, or the groups of `g` if the file has no `o`.
pub(super) fn parse(source: &FormatSource<'_>) -> ParseResult {
    let mut reader = ObjReader::default();
    let mut lines = source.bytes.split(|byte| *byte == b'\n').enumerate();
    let mut joined = Vec::new();
    while let Some((number, mut line)) = lines.next() {
        if let Some(start) = continued(line) {
            joined.clear();
            joined.extend(start);
            for (_, line) in lines.by_ref() {
                joined.push(b' ');
                match continued(line) {
                    Some(part) => joined.extend(part),
                    None => {
                        joined.extend(line);
                        break;
                    }
                }
            }
            line = &joined;
        }
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        let (record, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let words = rest.split_whitespace();
        let done = match record {
            "v" => reader.vertex(words),
            "vt" => reader.texture_vertex(words),
            "f" => reader.face(words),
            "o" => {
                reader.has_objects = true;
                reader.object = reader.objects.number(rest);
                Ok(())
            }
            "g" => {
                reader.group = reader.groups.number(rest);
                Ok(())
            }
            "usemtl" => {
                reader.material = reader.materials.number(rest);
                Ok(())
            }
            _ => Ok(()),
        };
        done.map_err(|what| FormatFault::new(Some(number + 1), what))?;
    }
    Ok(reader.finish())
}

/// A line that continues on the next, without its `\`.
fn continued(line: &[u8]) -> Option<&[u8]> {
    line.strip_suffix(b"\r").unwrap_or(line).strip_suffix(b"\\")
}

/// Names in the order of their first use.
struct Names {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Default for Names {
    /// The object of faces before the first name has none.
    fn default() -> Self {
        Names {
            list: vec![String::new()],
            numbers: HashMap::from([(String::new(), 0)]),
        }
    }
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        let name = name.trim();
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// Mesh data of the lines read so far.
#[derive(Default)]
struct ObjReader {
    vertices: Vec<DVec3>,
    /// One per vertex as soon as one has a colour; earlier vertices are white.
    colours: Vec<[f32; 3]>,
    texture: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
    /// One per triangle as soon as a face has texture coordinates; earlier triangles get 0.
    uv: Vec<CornerUv>,
    /// Object and group of each triangle.
    owners: Vec<[u32; 2]>,
    paint: Paint,
    objects: Names,
    groups: Names,
    materials: Names,
    /// Current object, group and material; 0 is none.
    object: u32,
    group: u32,
    material: u32,
    /// Whether the file has a record `o`.
    has_objects: bool,
    /// Corners of the current face.
    corners: Vec<Corner>,
    /// Positions of the corners.
    points: Vec<DVec3>,
    /// Triangles of the current face, by corner.
    parts: Vec<[usize; 3]>,
}

#[derive(Clone, Copy)]
struct Corner {
    vertex: u32,
    texture: Option<[f32; 2]>,
}

type LineResult = Result<(), String>;

impl ObjReader {
    fn vertex<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> LineResult {
        let words: Vec<&str> = words.collect();
        let [x, y, z] = numbers(&words, "a vertex", "coordinate")?;
        let mut position = DVec3::new(x, y, z);
        // A fourth number is a weight; three further ones are a colour.
        let mut colour = None;
        match words[..] {
            [_, _, _, weight] => position /= number(weight, "weight")?,
            [_, _, _, ref rest @ ..] if rest.len() >= 3 => {
                let values: [f64; 3] = numbers(rest, "a colour", "colour")?;
                colour = Some(values.map(|value| value as f32));
            }
            _ => {}
        }
        if !position.is_finite() {
            return Err("a coordinate over its weight is not finite".to_owned());
        }
        if colour.is_some() || !self.colours.is_empty() {
            self.colours.resize(self.vertices.len(), WHITE[0]);
            self.colours.push(colour.unwrap_or(WHITE[0]));
        }
        self.vertices.push(position);
        Ok(())
    }

    fn texture_vertex<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> LineResult {
        let words: Vec<&str> = words.collect();
        let name = "texture coordinate";
        let values: [f64; 2] = numbers(&words, "a texture vertex", name)?;
        let values = values.map(|value| value as f32);
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(format!("{name} {value} is not finite"));
        }
        self.texture.push(values);
        Ok(())
    }

    fn face<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> LineResult {
        self.corners.clear();
        for word in words {
            let mut parts = word.split('/');
            let vertex = parts.next().unwrap_or_default();
            let vertex = resolve_index(vertex, "vertex", self.vertices.len())?;
            let texture = parts.next().filter(|part| !part.is_empty() && *part != "0");
            let texture = match texture {
                Some(part) => Some(resolve_index(part, "texture vertex", self.texture.len())?),
                None => None,
            };
            self.corners.push(Corner {
                vertex: vertex as u32,
                texture: texture.map(|at| self.texture[at]),
            });
        }
        self.points.clear();
        let points = self.corners.iter();
        self.points
            .extend(points.map(|corner| self.vertices[corner.vertex as usize]));
        polygon::triangulate(&self.points, &mut self.parts)?;
        let is_textured = self.corners.iter().all(|corner| corner.texture.is_some());
        for part in &self.parts {
            let part = part.map(|corner| self.corners[corner]);
            if is_textured {
                self.uv.resize(self.triangles.len(), CornerUv::default());
            }
            self.owners.push([self.object, self.group]);
            let colour = |corner: Corner| self.colours[corner.vertex as usize];
            let colours = (!self.colours.is_empty()).then(|| part.map(colour));
            // The first name is that of no material.
            let material = self.material.checked_sub(1).unwrap_or(NO_MATERIAL);
            self.paint.push(self.triangles.len(), colours, material);
            self.triangles.push(part.map(|corner| corner.vertex));
            if is_textured || !self.uv.is_empty() {
                let uv = part.map(|corner| corner.texture.filter(|_| is_textured));
                self.uv.push(uv.map(Option::unwrap_or_default));
            }
        }
        Ok(())
    }

    /// The contents, with vertices in the order of their first use.
    fn finish(mut self) -> ParsedFile {
        self.paint.names = self.materials.list.split_off(1);
        self.paint.resize(self.triangles.len());
        let mut mesh = TriMesh {
            uv: self.uv,
            paint: self.paint,
            triangles: self.triangles,
            ..TriMesh::default()
        };
        let mut number = vec![u32::MAX; self.vertices.len()];
        for vertex in mesh.triangles.as_flattened_mut() {
            let number = &mut number[*vertex as usize];
            if *number == u32::MAX {
                *number = mesh.positions.len() as u32;
                mesh.positions.push(self.vertices[*vertex as usize]);
            }
            *vertex = *number;
        }
        let (names, kind) = match self.has_objects {
            true => (self.objects, 0),
            false => (self.groups, 1),
        };
        ParsedFile {
            mesh,
            names: names.list,
            object_of: self.owners.iter().map(|owner| owner[kind]).collect(),
            ..ParsedFile::default()
        }
    }
}

/// Parses the first `N` numbers of a record.
fn numbers<const N: usize>(words: &[&str], record: &str, name: &str) -> Result<[f64; N], String> {
    let Some(first) = words.first_chunk::<N>() else {
        return Err(format!(
            "{record} needs {N} coordinates, found {}",
            words.len()
        ));
    };
    let mut values = [0.0; N];
    for (value, word) in values.iter_mut().zip(first) {
        *value = number(word, name)?;
    }
    Ok(values)
}

fn number(word: &str, name: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => Err(format!("{name} {value} is not finite")),
        Err(_) => Err(format!("{name} {word:?} is not a number")),
    }
}

/// Zero-based index of a reference in a face, which counts from 1, or backwards from the end if it is
/// negative; `count` entries have been read so far.
fn resolve_index(word: &str, what: &str, count: usize) -> Result<usize, String> {
    let Ok(index) = word.parse::<i64>() else {
        return Err(format!("face has {word:?} for a {what} index"));
    };
    let place = match index {
        1.. => index - 1,
        _ => count as i64 + index,
    };
    match usize::try_from(place) {
        Ok(place) if place < count => Ok(place),
        _ => Err(format!(
            "face uses {what} {index}; there are {count} so far"
        )),
    }
}

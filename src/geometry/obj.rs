//! Wavefront OBJ: the triangles of all objects and groups with their texture coordinates. Normals, materials,
//! points and lines are ignored.

use glam::DVec3;

use super::fault::{Fault, Parsed};
use super::mesh::{CornerUv, TriMesh};

/// Reads the records `v`, `vt` and `f` line by line; polygons are cut into fans.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let mut found = Found::default();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_whitespace();
        let done = match words.next() {
            Some("v") => found.vertex(words),
            Some("vt") => found.texture_vertex(words),
            Some("f") => found.face(words),
            _ => Ok(()),
        };
        done.map_err(|what| Fault::new(Some(number + 1), what))?;
    }
    Ok(found.mesh())
}

/// What the lines so far have brought.
#[derive(Default)]
struct Found {
    vertices: Vec<DVec3>,
    texture: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
    /// One a triangle from the first face on that names any, those before it included.
    uv: Vec<CornerUv>,
    /// Corners of the face at hand.
    corners: Vec<Corner>,
}

#[derive(Clone, Copy)]
struct Corner {
    vertex: u32,
    texture: Option<[f32; 2]>,
}

type Done = Result<(), String>;

impl Found {
    fn vertex<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Done {
        let words: Vec<&str> = words.collect();
        let [x, y, z] = numbers(&words, "a vertex", "coordinate")?;
        let mut position = DVec3::new(x, y, z);
        // A fourth number is a weight; three more are a colour.
        if let [_, _, _, weight] = words[..] {
            position /= number(weight, "weight")?;
        }
        if !position.is_finite() {
            return Err("a coordinate over its weight is not finite".to_owned());
        }
        self.vertices.push(position);
        Ok(())
    }

    fn texture_vertex<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Done {
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

    fn face<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Done {
        self.corners.clear();
        for word in words {
            let mut parts = word.split('/');
            let vertex = parts.next().unwrap_or_default();
            let vertex = index(vertex, "vertex", self.vertices.len())?;
            let texture = parts.next().filter(|part| !part.is_empty() && *part != "0");
            let texture = match texture {
                Some(part) => Some(index(part, "texture vertex", self.texture.len())?),
                None => None,
            };
            self.corners.push(Corner {
                vertex: vertex as u32,
                texture: texture.map(|at| self.texture[at]),
            });
        }
        let is_textured = self.corners.iter().all(|corner| corner.texture.is_some());
        for third in 2..self.corners.len() {
            let fan = [0, third - 1, third].map(|corner| self.corners[corner]);
            if is_textured {
                self.uv.resize(self.triangles.len(), CornerUv::default());
            }
            self.triangles.push(fan.map(|corner| corner.vertex));
            if is_textured || !self.uv.is_empty() {
                let uv = fan.map(|corner| corner.texture.filter(|_| is_textured));
                self.uv.push(uv.map(Option::unwrap_or_default));
            }
        }
        Ok(())
    }

    /// The triangles, with vertices in the order of their first use.
    fn mesh(self) -> TriMesh {
        let mut mesh = TriMesh {
            uv: self.uv,
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
        mesh
    }
}

/// The first numbers of a record.
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
        Err(_) => Err(format!("{name} {word:?} is no number")),
    }
}

/// Place of what a face names, counted from 1 or backwards from the end, where there are `count` so far.
fn index(word: &str, what: &str, count: usize) -> Result<usize, String> {
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

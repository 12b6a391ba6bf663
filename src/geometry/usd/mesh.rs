//! Contents of mesh prims.

use glam::DVec3;

use super::text::Properties;
use crate::geometry::fault::ParsedFile;
use crate::geometry::mesh::CornerUv;
use crate::geometry::polygon;

/// Adds the triangles of a mesh prim in its own coordinates.
pub(super) fn append(properties: &Properties<'_>, parsed: &mut ParsedFile) -> Result<(), String> {
    let numbers = |key: &str| properties.get(key).map_or(&[][..], |value| &value.numbers);
    let (points, rest) = numbers("points").as_chunks::<3>();
    if !rest.is_empty() {
        return Err(format!(
            "points has {} numbers; expected three each",
            3 * points.len() + rest.len()
        ));
    }
    let points: Vec<DVec3> = points.iter().copied().map(DVec3::from_array).collect();
    if let Some(point) = points.iter().position(|point| !point.is_finite()) {
        return Err(format!("point {point}: a coordinate is not finite"));
    }
    let (indices, counts) = (numbers("faceVertexIndices"), numbers("faceVertexCounts"));
    if counts.iter().sum::<f64>() != indices.len() as f64
        || counts
            .iter()
            .any(|count| *count < 0.0 || count.fract() != 0.0)
    {
        return Err(format!(
            "faceVertexCounts does not add up to the {} faceVertexIndices",
            indices.len()
        ));
    }
    let in_range =
        |index: &f64| *index >= 0.0 && *index < points.len() as f64 && index.fract() == 0.0;
    if let Some(index) = indices.iter().find(|index| !in_range(index)) {
        return Err(format!(
            "a face uses point {index}; there are {}, counted from 0",
            points.len()
        ));
    }
    let texture = Texture::of(properties)?;
    let flips = properties
        .get("orientation")
        .and_then(|value| value.texts.first())
        == Some(&"leftHanded");
    let mesh = &mut parsed.mesh;
    let first = mesh.positions.len() as u32;
    if texture.is_some() {
        mesh.uv.resize(mesh.triangles.len(), CornerUv::default());
    }
    let (mut start, mut corners, mut parts) = (0, Vec::new(), Vec::new());
    for (face, count) in counts.iter().enumerate() {
        let polygon = &indices[start..start + *count as usize];
        corners.clear();
        corners.extend(polygon.iter().map(|index| points[*index as usize]));
        polygon::triangulate(&corners, &mut parts)
            .map_err(|what| format!("face {face}: {what}"))?;
        for part in &mut parts {
            if flips {
                part.swap(1, 2);
            }
            let triangle = part.map(|corner| first + polygon[corner] as u32);
            mesh.triangles.push(triangle);
            if let Some(texture) = &texture {
                let mut uv = CornerUv::default();
                for (uv, corner) in uv.iter_mut().zip(*part) {
                    *uv = texture.at(face, start + corner, polygon[corner] as usize)?;
                }
                mesh.uv.push(uv);
            }
        }
        start += *count as usize;
    }
    mesh.positions.extend(points);
    if !mesh.uv.is_empty() {
        mesh.uv.resize(mesh.triangles.len(), CornerUv::default());
    }
    Ok(())
}

/// Texture coordinates of a mesh prim.
struct Texture<'a> {
    values: &'a [[f64; 2]],
    indices: Option<&'a [f64]>,
    interpolation: &'a str,
    name: &'a str,
}

impl<'a> Texture<'a> {
    fn of(properties: &'a Properties<'_>) -> Result<Option<Self>, String> {
        let st = "primvars:st";
        let other = || properties.get("@texture")?.texts.first().copied();
        let name = match properties.contains_key(st) {
            true => st,
            false => match other() {
                Some(name) => name,
                None => return Ok(None),
            },
        };
        let Some(value) = properties
            .get(name)
            .filter(|value| !value.numbers.is_empty())
        else {
            return Ok(None);
        };
        let (values, rest) = value.numbers.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(format!(
                "{name} has {} numbers; expected two each",
                value.numbers.len()
            ));
        }
        let interpolation = properties.get(&format!("{name}@interpolation"));
        let indices = properties.get(&format!("{name}:indices"));
        Ok(Some(Texture {
            values,
            indices: indices.map(|value| &value.numbers[..]),
            interpolation: interpolation
                .and_then(|value| value.texts.first().copied())
                .unwrap_or("constant"),
            name,
        }))
    }

    /// Texture coordinates at a corner, the `corner`-th of all faces.
    fn at(&self, face: usize, corner: usize, point: usize) -> Result<[f32; 2], String> {
        let place = match self.interpolation {
            "faceVarying" => corner,
            "vertex" | "varying" => point,
            "uniform" => face,
            _ => 0,
        };
        let value = match self.indices {
            None => self.values.get(place),
            Some(indices) => indices
                .get(place)
                .and_then(|index| self.values.get(*index as usize)),
        };
        let value =
            value.ok_or_else(|| format!("{} has no value for corner {corner}", self.name))?;
        let value = value.map(|x| x as f32);
        match value.iter().all(|x| x.is_finite()) {
            true => Ok(value),
            false => Err(format!("{}: a texture coordinate is not finite", self.name)),
        }
    }
}

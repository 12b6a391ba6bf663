//! Contents of mesh prims.

use glam::DVec3;

use super::text::Properties;
use crate::geometry::fault::ParsedFile;
use crate::geometry::mesh::CornerUv;
use crate::geometry::paint::{CornerColours, NO_MATERIAL, WHITE};
use crate::geometry::polygon;

/// Faces of a mesh that have a material of their own.
pub(super) struct FaceSubset {
    faces: Vec<f64>,
    material: String,
}

impl FaceSubset {
    /// The contents of a `GeomSubset`; `None` if it is one of edges or points, or has no material.
    pub fn of(properties: &Properties<'_>, name: &str) -> Option<Self> {
        let kind = properties.get("elementType")?.texts.first()?;
        (*kind == "face").then_some(())?;
        let material = material_of(properties)?;
        let faces = &properties.get("indices")?.numbers;
        Some(FaceSubset {
            faces: faces.clone(),
            material: if material.is_empty() { name } else { material }.to_owned(),
        })
    }
}

/// Name of the material that a prim is bound to, the last part of its path.
fn material_of<'a>(properties: &Properties<'a>) -> Option<&'a str> {
    let path = properties.get("material:binding")?.texts.first()?;
    path.rsplit('/').next()
}

/// Number of each face's material.
fn materials(
    properties: &Properties<'_>,
    subsets: &[FaceSubset],
    faces: usize,
    parsed: &mut ParsedFile,
) -> Result<Vec<u32>, String> {
    let paint = &mut parsed.mesh.paint;
    let whole = material_of(properties).map_or(NO_MATERIAL, |name| paint.number(name));
    let mut materials = vec![whole; faces];
    for subset in subsets {
        let number = paint.number(&subset.material);
        for &face in &subset.faces {
            let material = (face.fract() == 0.0 && face >= 0.0).then_some(face as usize);
            *material
                .and_then(|face| materials.get_mut(face))
                .ok_or_else(|| format!("a subset has the face {face}; there are {faces}"))? =
                number;
        }
    }
    Ok(materials)
}

/// Points of a mesh prim, point indices of its faces' corners, and the number of corners of each face.
type Faces<'a> = (Vec<DVec3>, &'a [f64], &'a [f64]);

/// The faces of a mesh prim, whose numbers agree.
fn faces<'a>(properties: &'a Properties<'_>) -> Result<Faces<'a>, String> {
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
    Ok((points, indices, counts))
}

/// Texture coordinates of a mesh prim.
fn texture<'a>(properties: &'a Properties<'_>) -> Result<Option<Primvar<'a, 2>>, String> {
    let other = || properties.get("@texture")?.texts.first().copied();
    let name = match properties.contains_key("primvars:st") {
        true => Some("primvars:st"),
        false => other(),
    };
    let found = name.map(|name| Primvar::of(properties, name));
    Ok(found.transpose()?.flatten())
}

/// Adds the triangles of a mesh prim in its own coordinates.
pub(super) fn append(
    properties: &Properties<'_>,
    subsets: &[FaceSubset],
    parsed: &mut ParsedFile,
) -> Result<(), String> {
    let (points, indices, counts) = faces(properties)?;
    let texture = texture(properties)?;
    let colours = Primvar::<3>::of(properties, "primvars:displayColor")?;
    let materials = materials(properties, subsets, counts.len(), parsed)?;
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
            let mut own = WHITE;
            if let Some(colours) = &colours {
                colours.fill(&mut own, *part, (face, start, polygon))?;
            }
            let own: Option<CornerColours> = colours.is_some().then_some(own);
            mesh.paint.push(mesh.triangles.len(), own, materials[face]);
            mesh.triangles.push(triangle);
            if let Some(texture) = &texture {
                let mut uv = CornerUv::default();
                texture.fill(&mut uv, *part, (face, start, polygon))?;
                mesh.uv.push(uv);
            }
        }
        start += *count as usize;
    }
    mesh.positions.extend(points);
    mesh.paint.resize(mesh.triangles.len());
    if !mesh.uv.is_empty() {
        mesh.uv.resize(mesh.triangles.len(), CornerUv::default());
    }
    Ok(())
}

/// Vectors of a mesh prim, with an interpolation.
struct Primvar<'a, const N: usize> {
    values: &'a [[f64; N]],
    indices: Option<&'a [f64]>,
    interpolation: &'a str,
    name: &'a str,
}

impl<'a, const N: usize> Primvar<'a, N> {
    /// The primvar of this name; `None` if it is absent or empty.
    fn of(properties: &'a Properties<'_>, name: &'a str) -> Result<Option<Self>, String> {
        let Some(value) = properties
            .get(name)
            .filter(|value| !value.numbers.is_empty())
        else {
            return Ok(None);
        };
        let (values, rest) = value.numbers.as_chunks::<N>();
        if !rest.is_empty() {
            return Err(format!(
                "{name} has {} numbers; expected {N} each",
                value.numbers.len()
            ));
        }
        let interpolation = properties.get(&format!("{name}@interpolation"));
        let indices = properties.get(&format!("{name}:indices"));
        Ok(Some(Primvar {
            values,
            indices: indices.map(|value| &value.numbers[..]),
            interpolation: interpolation
                .and_then(|value| value.texts.first().copied())
                .unwrap_or("constant"),
            name,
        }))
    }

    /// The values at the corners `part` of a face: its number, its first corner among those of all faces, its points.
    fn fill(
        &self,
        values: &mut [[f32; N]; 3],
        part: [usize; 3],
        (face, start, polygon): (usize, usize, &[f64]),
    ) -> Result<(), String> {
        for (value, corner) in values.iter_mut().zip(part) {
            *value = self.at(face, start + corner, polygon[corner] as usize)?;
        }
        Ok(())
    }

    /// The value at a corner, the `corner`-th of all faces.
    fn at(&self, face: usize, corner: usize, point: usize) -> Result<[f32; N], String> {
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
            false => Err(format!("{} has a value that is not finite", self.name)),
        }
    }
}

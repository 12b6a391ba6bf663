//! Wavefront OBJ. Parsed by `tobj`; as that keeps no line numbers, the text is searched again once something is wrong.

use glam::DVec3;

use super::read::{Fault, Parsed};
use super::{CornerUv, TriMesh};

/// Triangles of all objects and groups with their texture coordinates; normals and materials are ignored.
pub(super) fn parse(mut bytes: &[u8]) -> Parsed {
    let text = bytes;
    let options = tobj::LoadOptions {
        triangulate: true,
        ignore_points: true,
        ignore_lines: true,
        ..Default::default()
    };
    let (models, _) = tobj::load_obj_buf(&mut bytes, &options, |_| Ok(Default::default()))
        .map_err(|error| find_fault(text).unwrap_or(Fault::new(None, error.to_string())))?;
    let mut mesh = TriMesh::default();
    for model in &models {
        let base = mesh.positions.len() as u32;
        let (positions, _) = model.mesh.positions.as_chunks::<3>();
        let (triangles, _) = model.mesh.indices.as_chunks::<3>();
        let (uv, _) = model.mesh.texcoords.as_chunks::<2>();
        let uv_of = |corner: &u32| uv[*corner as usize].map(|value| value as f32);
        let (corners, _) = model.mesh.texcoord_indices.as_chunks::<3>();
        mesh.uv
            .extend(corners.iter().map(|[a, b, c]| [a, b, c].map(uv_of)));
        mesh.positions
            .extend(positions.iter().copied().map(DVec3::from_array));
        mesh.triangles
            .extend(triangles.iter().map(|triangle| triangle.map(|v| v + base)));
        // A model before the first `vt` has none.
        mesh.uv.resize(mesh.triangles.len(), CornerUv::default());
    }
    if mesh.positions.iter().any(|position| !position.is_finite()) {
        let fault = Fault::new(None, "a coordinate is not finite");
        return Err(find_fault(text).unwrap_or(fault));
    }
    if !mesh
        .uv
        .as_flattened()
        .as_flattened()
        .iter()
        .all(|x| x.is_finite())
    {
        let fault = Fault::new(None, "a texture coordinate is not finite");
        return Err(find_fault(text).unwrap_or(fault));
    }
    clear_untextured(&mut mesh, text);
    Ok(mesh)
}

/// Zeros the texture coordinates of faces that name none: `tobj` gives them those of the corner before. Where no face names any, there are none.
fn clear_untextured(mesh: &mut TriMesh, text: &[u8]) {
    let named = |word: &str| {
        let mut parts = word.split('/').skip(1);
        parts
            .next()
            .is_some_and(|index| !index.is_empty() && index != "0")
    };
    let (mut t, mut any) = (0, false);
    for line in String::from_utf8_lossy(text).lines() {
        let mut words = line.split_whitespace();
        // A line of three points or more counts as a face, as it does to `tobj`.
        if !matches!(words.next(), Some("f" | "l")) {
            continue;
        }
        let (mut corners, mut textured) = (0_usize, true);
        for word in words {
            corners += 1;
            textured &= named(word);
        }
        let end = t + corners.saturating_sub(2);
        if textured {
            any |= end > t;
        } else if let Some(uv) = mesh.uv.get_mut(t..end) {
            uv.fill(CornerUv::default());
        }
        t = end;
    }
    if !any {
        mesh.uv = Vec::new();
    }
}

/// The first `v`, `vt` or `f` record that cannot be used.
fn find_fault(text: &[u8]) -> Option<Fault> {
    let text = String::from_utf8_lossy(text);
    let (mut vertices, mut textures) = (0_i64, 0_i64);
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let fault = match words.next() {
            Some("v") => {
                vertices += 1;
                coordinates_fault(words, "a vertex", "coordinate", 3)
            }
            Some("vt") => {
                textures += 1;
                coordinates_fault(words, "a texture vertex", "texture coordinate", 2)
            }
            Some("f") => words.find_map(|word| index_fault(word, vertices, textures)),
            _ => None,
        };
        if let Some(what) = fault {
            return Some(Fault::new(Some(number + 1), what));
        }
    }
    None
}

/// What is wrong with the numbers of a record, which needs so many.
fn coordinates_fault<'a>(
    words: impl Iterator<Item = &'a str>,
    record: &str,
    number: &str,
    needed: usize,
) -> Option<String> {
    let words: Vec<&str> = words.collect();
    if words.len() < needed {
        return Some(format!(
            "{record} needs {needed} coordinates, found {}",
            words.len()
        ));
    }
    words
        .iter()
        .take(needed)
        .find_map(|word| match word.parse::<f64>() {
            Ok(value) if value.is_finite() => None,
            Ok(value) => Some(format!("{number} {value} is not finite")),
            Err(_) => Some(format!("{number} {word:?} is no number")),
        })
}

/// What is wrong with a corner of a face where there are so many vertices and texture vertices.
fn index_fault(word: &str, vertices: i64, textures: i64) -> Option<String> {
    let mut parts = word.split('/');
    let fault = |index: &str, what: &str, count: i64| match index.parse::<i64>() {
        Ok(index) if (1..=count).contains(&index) || (-count..0).contains(&index) => None,
        Ok(index) => Some(format!(
            "face uses {what} {index}; there are {count} so far"
        )),
        Err(_) => Some(format!("face has {index:?} for a {what} index")),
    };
    fault(parts.next().unwrap_or_default(), "vertex", vertices).or_else(|| {
        let texture = parts.next().filter(|index| !index.is_empty())?;
        fault(texture, "texture vertex", textures)
    })
}

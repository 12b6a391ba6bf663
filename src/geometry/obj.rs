//! Wavefront OBJ. Parsed by `tobj`; as that keeps no line numbers, the text is searched again once something is wrong.

use glam::DVec3;

use super::TriMesh;
use super::read::{Fault, Parsed};

/// Triangles of all objects and groups; texture, normals and materials are ignored.
pub(super) fn parse(mut bytes: &[u8]) -> Parsed {
    let text = bytes;
    if let Some(fault) = find_nonsense(text) {
        return Err(fault);
    }
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
        mesh.positions
            .extend(positions.iter().copied().map(DVec3::from_array));
        mesh.triangles
            .extend(triangles.iter().map(|triangle| triangle.map(|v| v + base)));
    }
    if mesh.positions.iter().any(|position| !position.is_finite()) {
        let fault = Fault::new(None, "a coordinate is not finite");
        return Err(find_fault(text).unwrap_or(fault));
    }
    Ok(mesh)
}

/// The first face with an index that no file of this size has, or with none at all. `tobj` would compute with it.
fn find_nonsense(text: &[u8]) -> Option<Fault> {
    let most = text.len() as u64;
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let mut words = line
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty());
        if !matches!(words.next(), Some(b"f" | b"l")) {
            continue;
        }
        let mut corners = 0;
        for word in words {
            corners += 1;
            let indices = word.split(|byte| *byte == b'/');
            for index in indices.filter_map(|index| std::str::from_utf8(index).ok()) {
                if index
                    .parse()
                    .is_ok_and(|index: i64| index.unsigned_abs() > most)
                {
                    let what = format!("face has index {index}; the file has no so many records");
                    return Some(Fault::new(Some(number + 1), what));
                }
            }
        }
        if corners == 0 {
            return Some(Fault::new(Some(number + 1), "a face without vertices"));
        }
    }
    None
}

/// The first `v` or `f` record that cannot be used.
fn find_fault(text: &[u8]) -> Option<Fault> {
    let text = String::from_utf8_lossy(text);
    let mut vertices = 0_i64;
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let fault = match words.next() {
            Some("v") => {
                vertices += 1;
                coordinates_fault(words)
            }
            Some("f") => words.find_map(|word| index_fault(word, vertices)),
            _ => None,
        };
        if let Some(what) = fault {
            return Some(Fault::new(Some(number + 1), what));
        }
    }
    None
}

fn coordinates_fault<'a>(words: impl Iterator<Item = &'a str>) -> Option<String> {
    let words: Vec<&str> = words.collect();
    if words.len() < 3 {
        return Some(format!(
            "a vertex needs 3 coordinates, found {}",
            words.len()
        ));
    }
    words
        .iter()
        .take(3)
        .find_map(|word| match word.parse::<f64>() {
            Ok(value) if value.is_finite() => None,
            Ok(value) => Some(format!("coordinate {value} is not finite")),
            Err(_) => Some(format!("coordinate {word:?} is no number")),
        })
}

fn index_fault(word: &str, vertices: i64) -> Option<String> {
    let index = word.split('/').next().unwrap_or_default();
    match index.parse::<i64>() {
        Ok(index) if (1..=vertices).contains(&index) || (-vertices..0).contains(&index) => None,
        Ok(index) => Some(format!(
            "face uses vertex {index}; there are {vertices} so far"
        )),
        Err(_) => Some(format!("face has {word:?} for a vertex index")),
    }
}

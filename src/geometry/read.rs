//! Reads triangle meshes from files: one reader per format, listed in `FORMATS`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use glam::DVec3;

pub use super::fault::UpAxis;
use super::fault::{FormatFault, FormatSource, ParseResult, ParsedFile};
use super::mesh::TriMesh;
use super::{gltf, obj, ply, stl, usd};

/// Why a mesh file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The operating system reported an error.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason it gives.
        source: std::io::Error,
    },
    /// The file extension belongs to no supported format.
    #[error("{path}: unknown mesh format {extension:?}; allowed: {allowed}", path = .path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its extension, without the dot.
        extension: String,
        /// The supported extensions.
        allowed: String,
    },
    /// The file has no object of that name.
    #[error("{path}: no object {object:?}; there are {objects}", path = .path.display())]
    UnknownObject {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        object: String,
        /// The names of the objects.
        objects: String,
    },
    /// The contents are invalid.
    #[error("{path}{at}: {what}", path = .path.display(), at = LineSuffix(*.line))]
    Contents {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1, if the format has lines and the position is known.
        line: Option<usize>,
        /// What is wrong.
        what: String,
    },
}

/// Prints `:line` after a file name.
struct LineSuffix(Option<usize>);

impl std::fmt::Display for LineSuffix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A mesh format: file extension and parser.
type Format = (&'static str, fn(&FormatSource<'_>) -> ParseResult);

/// Every format that can be read.
const FORMATS: &[Format] = &[
    ("glb", gltf::parse),
    ("gltf", gltf::parse),
    ("obj", obj::parse),
    ("ply", ply::parse),
    ("stl", stl::parse),
    ("usda", usd::parse),
    ("usd", usd::parse),
    ("usdc", usd::parse),
    ("usdz", usd::parse),
];

/// A named object of a mesh file.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its name in the file; objects of equal names get a number.
    pub name: String,
    /// Its triangles, in the file's coordinates.
    pub mesh: TriMesh,
}

/// A mesh file that was read.
pub struct MeshFile {
    path: PathBuf,
    parsed: ParsedFile,
}

/// Reads a triangle mesh; the file extension selects the format. All objects of the file become one mesh, in
/// the file's unit and axes. Polygons are cut into triangles.
///
/// Vertices at equal positions are merged: files split them along seams of texture, normals and groups, and
/// STL always does. Vertices without a triangle and triangles without three different vertices are removed.
/// Texture coordinates and colours stay with the corners of triangles, materials with triangles; in a file that has
/// some, faces without any get 0, white and none.
pub fn read(path: &Path) -> Result<TriMesh, MeshError> {
    open(path)?.mesh(None)
}

/// The objects of a mesh file that have triangles, each read as by [`read`].
pub fn objects(path: &Path) -> Result<Vec<Object>, MeshError> {
    let file = open(path)?;
    let names = file.names();
    let object = |name: &String| {
        Ok(Object {
            name: name.clone(),
            mesh: file.mesh(Some(name))?,
        })
    };
    names.iter().map(object).collect()
}

/// Reads a mesh file with its objects; the file extension selects the format.
pub fn open(path: &Path) -> Result<MeshFile, MeshError> {
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let Some((_, parse)) = FORMATS.iter().find(|(known, _)| *known == extension) else {
        let known: Vec<_> = FORMATS.iter().map(|(known, _)| *known).collect();
        return Err(MeshError::UnknownFormat {
            path: path.to_owned(),
            extension,
            allowed: known.join(", "),
        });
    };
    let bytes = std::fs::read(path).map_err(|source| MeshError::Io {
        path: path.to_owned(),
        source,
    })?;
    let source = FormatSource {
        bytes: &bytes,
        path,
    };
    let parsed = parse(&source).map_err(|FormatFault { line, what }| MeshError::Contents {
        path: path.to_owned(),
        line,
        what,
    })?;
    Ok(MeshFile {
        path: path.to_owned(),
        parsed: with_named_objects(parsed, path),
    })
}

/// Other files that a mesh file consists of: the buffers of a `.gltf`. None where the file cannot be read.
pub fn companions(path: &Path) -> Vec<PathBuf> {
    let is_gltf = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gltf"));
    match std::fs::read(path) {
        Ok(bytes) if is_gltf => gltf::external_buffers(&FormatSource {
            bytes: &bytes,
            path,
        }),
        _ => Vec::new(),
    }
}

impl MeshFile {
    /// Names of the objects that have triangles, all different, in the order of the file.
    pub fn names(&self) -> &[String] {
        &self.parsed.names
    }

    /// Length of the file's unit, m, where the file says it.
    pub fn metres_per_unit(&self) -> Option<f64> {
        self.parsed.metres_per_unit
    }

    /// Axis that points up, where the file says it.
    pub fn up(&self) -> Option<UpAxis> {
        self.parsed.up
    }

    /// The mesh of one object, or of all together, as [`read`] says.
    pub fn mesh(&self, object: Option<&str>) -> Result<TriMesh, MeshError> {
        let parsed = &self.parsed;
        let mesh = match object {
            None => weld(&parsed.mesh),
            Some(name) => {
                let Some(number) = parsed.names.iter().position(|known| known == name) else {
                    return Err(MeshError::UnknownObject {
                        path: self.path.clone(),
                        object: name.to_owned(),
                        objects: listed(&parsed.names),
                    });
                };
                weld(&part(parsed, number as u32))
            }
        };
        if mesh.triangles.is_empty() {
            return Err(MeshError::Contents {
                path: self.path.clone(),
                line: None,
                what: "no triangles".to_owned(),
            });
        }
        Ok(mesh)
    }
}

/// Names in a message.
fn listed(names: &[String]) -> String {
    const MOST: usize = 40;
    let mut text: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("{name:?}"))
        .collect();
    if names.len() > MOST {
        text.push(format!("and {} more", names.len() - MOST));
    }
    text.join(", ")
}

/// Leaves out objects without triangles and gives the others names that are all different. A file without
/// objects is one, with the file's name.
fn with_named_objects(mut parsed: ParsedFile, path: &Path) -> ParsedFile {
    parsed.object_of.resize(parsed.mesh.triangles.len(), 0);
    if parsed.names.is_empty() {
        parsed.names.push(String::new());
    }
    let mut has_triangles = vec![false; parsed.names.len()];
    for &object in &parsed.object_of {
        has_triangles[object as usize] = true;
    }
    let (mut names, mut taken) = (Vec::new(), HashSet::new());
    // Copies of each name so far, so that many equal names take no longer than different ones.
    let mut copies: HashMap<String, u32> = HashMap::new();
    let mut numbers = Vec::with_capacity(parsed.names.len());
    for (name, has_triangles) in parsed.names.iter().zip(has_triangles) {
        numbers.push(names.len() as u32);
        if !has_triangles {
            continue;
        }
        let name = match name.trim() {
            "" => {
                let stem = path.file_stem().unwrap_or_default();
                stem.to_string_lossy().into_owned()
            }
            name => name.to_owned(),
        };
        let copy = copies.entry(name.clone()).or_default();
        let free = loop {
            *copy += 1;
            let free = match *copy {
                1 => name.clone(),
                number => format!("{name}_{number}"),
            };
            if taken.insert(free.clone()) {
                break free;
            }
        };
        names.push(free);
    }
    for object in &mut parsed.object_of {
        *object = numbers[*object as usize];
    }
    parsed.names = names;
    parsed
}

/// The triangles of one object, with its vertices in the order of their first use.
fn part(parsed: &ParsedFile, object: u32) -> TriMesh {
    let mut number = HashMap::new();
    let (mut part, mut own) = (TriMesh::default(), Vec::new());
    for (t, triangle) in parsed.mesh.triangles.iter().enumerate() {
        if parsed.object_of[t] != object {
            continue;
        }
        let triangle = triangle.map(|vertex| {
            *number.entry(vertex).or_insert_with(|| {
                part.positions.push(parsed.mesh.positions[vertex as usize]);
                part.positions.len() as u32 - 1
            })
        });
        part.triangles.push(triangle);
        part.uv.extend(parsed.mesh.uv.get(t));
        own.push(t);
    }
    part.paint = parsed.mesh.paint.of(&own);
    part
}

/// Message of an error without the file name, for use where the name was printed already.
pub fn without_path(error: &MeshError, path: &Path) -> String {
    let what = error.to_string();
    let what = what
        .strip_prefix(&path.display().to_string())
        .unwrap_or(&what);
    what.trim_start_matches([':', ' ']).to_owned()
}

/// Merges vertices at equal positions; they keep the order of first use in the file.
pub fn weld(mesh: &TriMesh) -> TriMesh {
    let mut first = HashMap::with_capacity(mesh.positions.len());
    let same: Vec<u32> = (0..mesh.positions.len() as u32)
        .map(|vertex| {
            // Adding zero turns -0 into 0.
            let key = (mesh.positions[vertex as usize] + DVec3::ZERO)
                .to_array()
                .map(f64::to_bits);
            *first.entry(key).or_insert(vertex)
        })
        .collect();
    let (mut triangles, mut uv) = (Vec::with_capacity(mesh.triangles.len()), Vec::new());
    let mut kept = Vec::with_capacity(mesh.triangles.len());
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|vertex| same[vertex as usize]);
        if a != b && b != c && c != a {
            triangles.push([a, b, c]);
            uv.extend(mesh.uv.get(t));
            kept.push(t);
        }
    }
    without_unused(&TriMesh {
        positions: mesh.positions.clone(),
        triangles,
        uv,
        paint: mesh.paint.of(&kept),
    })
}

/// Copy of a mesh without the vertices that no triangle uses.
pub(super) fn without_unused(mesh: &TriMesh) -> TriMesh {
    let mut used = vec![false; mesh.positions.len()];
    for &vertex in mesh.triangles.as_flattened() {
        used[vertex as usize] = true;
    }
    let mut positions = Vec::new();
    let number: Vec<u32> = used
        .iter()
        .zip(&mesh.positions)
        .map(|(used, position)| {
            let next = positions.len() as u32;
            if *used {
                positions.push(*position);
            }
            next
        })
        .collect();
    TriMesh {
        positions,
        triangles: mesh
            .triangles
            .iter()
            .map(|triangle| triangle.map(|vertex| number[vertex as usize]))
            .collect(),
        uv: mesh.uv.clone(),
        paint: mesh.paint.clone(),
    }
}

#[cfg(test)]
mod tests;

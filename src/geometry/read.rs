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
    /// Its name in the file; equal names are told apart by a number.
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
/// Texture coordinates stay with the corners of triangles; in a file that has some, faces without any get 0.
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
    let numbers: Vec<u32> = (0..parsed.names.len())
        .map(|object| {
            let number = names.len() as u32;
            if has_triangles[object] {
                let name = match parsed.names[object].trim() {
                    "" => path
                        .file_stem()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned(),
                    name => name.to_owned(),
                };
                let free = (1..)
                    .map(|copy| match copy {
                        1 => name.clone(),
                        _ => format!("{name}_{copy}"),
                    })
                    .find(|name| !taken.contains(name))
                    .expect("a finite number of names is taken");
                taken.insert(free.clone());
                names.push(free);
            }
            number
        })
        .collect();
    for object in &mut parsed.object_of {
        *object = numbers[*object as usize];
    }
    parsed.names = names;
    parsed
}

/// The triangles of one object, with its vertices in the order of their first use.
fn part(parsed: &ParsedFile, object: u32) -> TriMesh {
    let mut number = HashMap::new();
    let mut part = TriMesh::default();
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
    }
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
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|vertex| same[vertex as usize]);
        if a != b && b != c && c != a {
            triangles.push([a, b, c]);
            uv.extend(mesh.uv.get(t));
        }
    }
    without_unused(&TriMesh {
        positions: mesh.positions.clone(),
        triangles,
        uv,
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{ply, shapes};

    fn read_text(name: &str, text: &[u8]) -> Result<TriMesh, MeshError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    fn message(name: &str, text: &str) -> String {
        read_text(name, text.as_bytes()).unwrap_err().to_string()
    }

    const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";

    #[test]
    fn obj_with_groups_seams_and_polygons_is_one_mesh() {
        // A cube of six quads in two groups, corner 1 given twice.
        let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nv -0 0 0\nvt 0 0\n\
            g a\nf 1/1 4/1 3/1 2/1\nf 5 6 7 8\nf 1 2 6 5\ng b\nf 3 4 8 7\nf -9 -5 -2 -6\nf 9 5 8 4\n";
        let text = text.replace("f -9 -5 -2 -6", "f -8 -7 -3 -4");
        let mesh = read_text("cube.obj", text.as_bytes()).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (8, 12));
        assert!((mesh.volume() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn obj_gives_corners_their_texture_coordinates() {
        // A quad whose last corner has a negative index, then one in reverse order over a seam, a face
        // without texture coordinates and one with index zero.
        let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0 0.5\nvt 1 1\nvt 0 1\nvt 7 -8.5\n\
            f 1/1 2/2 3/3 4/-2\ng b\nf 1/5/ 3/3 2/2\nf 1 2 3\nf 1//1 2//1 4//1\nf 1/0 2/1 4/2\nvn 0 0 1\n";
        let mesh = read_text("quad.obj", text.as_bytes()).unwrap();
        let (a, b, c, d, far) = ([0.0; 2], [1.0, 0.0], [1.0; 2], [0.0, 1.0], [7.0, -8.5]);
        let none = [[0.0; 2]; 3];
        assert_eq!(
            mesh.uv,
            [[a, b, c], [a, c, d], [far, c, b], none, none, none]
        );
        assert_eq!(mesh.triangles[2], [0, 2, 1]);
        // Without a face that uses texture coordinates the mesh has none.
        let unused = read_text(
            "plain.obj",
            format!("vt 1 1\n{TETRAHEDRON}f 1 2 3\n").as_bytes(),
        );
        assert!(unused.unwrap().uv.is_empty());
        // An object before the first `vt`.
        let late = format!("o a\n{TETRAHEDRON}f 1 2 3\no b\nvt 3 4\nf 1/1 2/1 4/1\n");
        let late = read_text("late.obj", late.as_bytes()).unwrap();
        assert_eq!(late.uv, [none, [[3.0, 4.0]; 3]]);
    }

    #[test]
    fn ply_gives_corners_their_texture_coordinates() {
        let header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
        let face = "element face 2\nproperty list uchar int vertex_indices\n";
        let (a, b, c, d) = ([0.0; 2], [1.0, 0.5], [1.0; 2], [0.25, 1.0]);
        for names in [["s", "t"], ["u", "v"], ["texture_u", "texture_v"]] {
            let [u, v] = names.map(|name| format!("property float {name}\n"));
            let text = format!(
                "{header}{u}{v}{face}end_header\n0 0 0 0 0\n1 0 0 1 0.5\n1 1 0 1 1\n0 1 0 0.25 1\n4 0 1 2 3\n3 0 3 2\n"
            );
            let mesh = read_text("a.ply", text.as_bytes()).unwrap();
            assert_eq!(mesh.uv, [[a, b, c], [a, c, d], [a, d, c]], "{names:?}");
        }
        let positions = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
        let of_faces =
            format!("{header}{face}property list uchar float texcoord\nend_header\n{positions}");
        let mesh = format!("{of_faces}4 0 1 2 3 8 0 0 1 0.5 1 1 0.25 1\n3 0 3 2 0\n");
        let mesh = read_text("a.ply", mesh.as_bytes()).unwrap();
        assert_eq!(mesh.uv, [[a, b, c], [a, c, d], [[0.0; 2]; 3]]);
        let short = message(
            "a.ply",
            &format!("{of_faces}3 0 1 2 6 0 0 0 0 0 0\n3 0 3 2 3 0 0 0\n"),
        );
        assert!(
            short.contains("a.ply:16") && short.contains("3 texture coordinates for 3 corners"),
            "{short}"
        );
        let nan = message(
            "a.ply",
            &format!("{of_faces}3 0 1 2 6 0 0 0 1e39 0 0\n3 0 3 2 0\n"),
        );
        assert!(
            nan.contains("a.ply:15") && nan.contains("not finite"),
            "{nan}"
        );
    }

    #[test]
    fn texture_coordinates_follow_their_triangles() {
        let mut mesh = shapes::cuboid(DVec3::ONE);
        mesh.uv = (0..12)
            .map(|t| [0, 1, 2].map(|m| [t as f32, m as f32]))
            .collect();
        let mut bytes = Vec::new();
        ply::write_ply(&mesh, &mut bytes).unwrap();
        assert_eq!(read_text("a.ply", &bytes).unwrap(), mesh);
        // Wound inside out, and with a triangle that is removed when vertices are merged.
        let mut odd = mesh.clone();
        crate::geometry::check::flip(&mut odd);
        odd.positions.push(odd.positions[0]);
        odd.triangles.insert(5, [0, 8, 1]);
        odd.uv.insert(5, [[9.0; 2]; 3]);
        let mut odd = weld(&odd);
        assert_ne!(odd, mesh);
        crate::geometry::check::require_solid(&mut odd).unwrap();
        assert_eq!(odd, mesh);
    }

    #[test]
    fn obj_objects_are_told_apart() {
        // Two objects that share vertices, one of them in two parts; CRLF and continued lines.
        let text = format!(
            "{TETRAHEDRON}mtllib a.mtl\no one\nusemtl red\nf 1 2 \\\n3\no two\nf 1 2 4\nf -4 -3 -2\n\
            o empty\no one\nf 1 \\\n 3 \\\n 4\n"
        );
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.obj");
            std::fs::write(&path, text).unwrap();
            let objects = objects(&path).unwrap();
            let names: Vec<&str> = objects.iter().map(|object| object.name.as_str()).collect();
            assert_eq!(names, ["one", "two"]);
            assert_eq!(objects[0].mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
            assert_eq!(objects[1].mesh.triangles, [[0, 1, 2], [0, 1, 3]]);
            assert_eq!(read(&path).unwrap().triangles.len(), 4);
            let error = open(&path).unwrap().mesh(Some("three")).unwrap_err();
            let error = error.to_string();
            assert!(
                error.contains("no object \"three\"; there are \"one\", \"two\""),
                "{error}"
            );
        }
        let groups = format!("{TETRAHEDRON}f 1 2 3\ng lid top\nf 1 2 4\n");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("box.obj");
        std::fs::write(&path, groups).unwrap();
        assert_eq!(open(&path).unwrap().names(), ["box", "lid top"]);
    }

    #[test]
    fn objects_of_equal_names_are_numbered() {
        let names = ["a", "", "a", "unused", "a_2"].map(str::to_owned).to_vec();
        let parsed = ParsedFile {
            mesh: TriMesh {
                triangles: vec![[0, 1, 2]; 4],
                ..TriMesh::default()
            },
            names,
            object_of: vec![0, 1, 2, 4],
            ..ParsedFile::default()
        };
        let parsed = with_named_objects(parsed, Path::new("file.obj"));
        assert_eq!(parsed.names, ["a", "file", "a_2", "a_2_2"]);
        assert_eq!(parsed.object_of, [0, 1, 2, 3]);
    }

    #[test]
    fn concave_faces_keep_their_area() {
        let l = "0 0 0\n3 0 0\n3 1 0\n1 1 0\n1 2 0\n0 2 0\n";
        let obj = format!(
            "v {}f 4 5 6 1 2 3\n",
            l.trim_end().replace('\n', "\nv ") + "\n"
        );
        let ply = format!(
            "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\n\
            element face 1\nproperty list uchar int vertex_indices\nend_header\n{l}6 1 2 3 4 5 0\n"
        );
        for (name, text) in [("l.obj", obj), ("l.ply", ply)] {
            let mesh = read_text(name, text.as_bytes()).unwrap();
            assert_eq!(mesh.area(), 4.0, "{name}");
        }
    }

    #[test]
    fn faults_name_file_and_line() {
        let nan = message("a.obj", "v 0 0 0\nv 1 0 0\n# remark\nv 0 nan 0\nf 1 2 3\n");
        assert!(nan.contains("a.obj:4") && nan.contains("finite"), "{nan}");
        let index = message("a.obj", &format!("{TETRAHEDRON}f 1 2 3\nf 1 2 5\n"));
        assert!(index.contains("a.obj:6") && index.contains('5'), "{index}");
        let number = message("a.obj", "v 0 0 0\nv 1 zero 0\nf 1 1 1\n");
        assert!(number.contains("a.obj:2"), "{number}");
        let texture = message("a.obj", &format!("{TETRAHEDRON}vt 0 inf\nf 1/1 2/1 3/1\n"));
        assert!(
            texture.contains("a.obj:5") && texture.contains("not finite"),
            "{texture}"
        );
        let texture = message("a.obj", &format!("{TETRAHEDRON}vt 0 0\nf 1/1 2/1 3/2\n"));
        assert!(
            texture.contains("a.obj:6: face uses texture vertex 2"),
            "{texture}"
        );
        let texture = message("a.obj", &format!("{TETRAHEDRON}vt 0\nf 1/1 2/1 3/1\n"));
        assert!(
            texture.contains("a.obj:5: a texture vertex needs 2"),
            "{texture}"
        );
        assert!(message("a.obj", TETRAHEDRON).contains("no triangles"));
        assert!(message("a.dae", "").contains("glb, gltf, obj, ply, stl, usda"));
        let header = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
            element face 1\nproperty list uchar int vertex_indices\nend_header\n";
        let nan = message(
            "a.ply",
            &format!("{header}0 0 0\n1 0 0\n0 inf 0\n3 0 1 2\n"),
        );
        assert!(nan.contains("a.ply:12"), "{nan}");
        let index = message("a.ply", &format!("{header}0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"));
        assert!(index.contains("a.ply:13") && index.contains('3'), "{index}");
        let cut = message("a.ply", &format!("{header}0 0 0\n1 0 0\n"));
        assert!(cut.contains("a.ply"), "{cut}");
        assert!(
            read(Path::new("/nowhere/a.obj"))
                .unwrap_err()
                .to_string()
                .contains("/nowhere/a.obj")
        );
    }

    #[test]
    fn counts_that_the_file_cannot_hold_are_refused() {
        let header = |format: &str, elements: &str| {
            format!("ply\nformat {format} 1.0\n{elements}end_header\n")
        };
        let vertices =
            "element vertex 9000000000000\nproperty uchar x\nproperty uchar y\nproperty uchar z\n";
        for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
            let error = message("a.ply", &(header(format, vertices) + "0 0 0\n"));
            let expected =
                "element vertex declares 9000000000000 rows, but only 6 bytes follow the header";
            assert!(error.ends_with(expected), "{error}");
            let none = header(format, "element nothing 9000000000000\n");
            let error = message("a.ply", &none);
            assert!(
                error.contains("nothing has 9000000000000 rows but no properties"),
                "{error}"
            );
        }
        let faces = "element face 9\nproperty list uint uchar vertex_indices\n";
        let error = message("a.ply", &(header("binary_little_endian", faces) + "0123"));
        assert!(error.contains("9 rows, but only 4 bytes"), "{error}");
        let error = message(
            "a.obj",
            &format!("{TETRAHEDRON}f 1 2 9223372036854775807\n"),
        );
        assert!(
            error.contains("a.obj:5: face uses vertex 9223372036854775807"),
            "{error}"
        );
        let error = message(
            "a.obj",
            &format!("{TETRAHEDRON}vt 0 0\nf 1/-9223372036854775808 2 3\n"),
        );
        assert!(
            error.contains("uses texture vertex -9223372036854775808"),
            "{error}"
        );
        let mut stl = vec![b' '; 80];
        stl.extend(u32::MAX.to_le_bytes());
        stl.extend([0; 120]);
        assert!(read_text("a.stl", &stl).is_err());
    }

    #[test]
    fn obj_weights_and_colours_are_taken_or_refused() {
        let text = "v 0 0 0 0.5\nv 2 0 0 2\nv 0 1 0 0.1 0.2 0.3\nl 1 2 3\nf\nf 1\nf 1 2 3\n";
        let mesh = read_text("a.obj", text.as_bytes()).unwrap();
        assert_eq!(mesh.positions, [DVec3::ZERO, DVec3::X, DVec3::Y]);
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        let error = message("a.obj", "v 1 0 0 0\n");
        assert!(
            error.contains("a.obj:1") && error.contains("not finite"),
            "{error}"
        );
    }

    #[test]
    fn formats_agree() {
        let mesh = shapes::sphere(0.3);
        let mut bytes = Vec::new();
        ply::write_ply(&mesh, &mut bytes).unwrap();
        assert_eq!(read_text("a.ply", &bytes).unwrap(), mesh);
        let mut text = String::from("solid s\n");
        for t in 0..mesh.triangles.len() {
            text += "facet normal 0 0 0\nouter loop\n";
            for p in mesh.corners(t) {
                text += &format!("vertex {} {} {}\n", p.x, p.y, p.z);
            }
            text += "endloop\nendfacet\n";
        }
        let from_stl = read_text("a.stl", (text + "endsolid s\n").as_bytes()).unwrap();
        assert_eq!(from_stl.positions.len(), mesh.positions.len());
        assert!((from_stl.volume() / mesh.volume() - 1.0).abs() < 1e-6);
    }
}

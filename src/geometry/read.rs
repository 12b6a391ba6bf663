//! Triangle meshes from files: one reader a format, listed in `FORMATS`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::fault::{Fault, Parsed};
use super::mesh::TriMesh;
use super::{obj, ply, stl};

/// What can be wrong with a mesh file.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The operating system refused.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
    /// The ending names no format that is read.
    #[error("{path}: unknown mesh format {extension:?}; allowed: {allowed}", path = .path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its ending, without the dot.
        extension: String,
        /// The endings that are read.
        allowed: String,
    },
    /// The contents cannot be used.
    #[error("{path}{at}: {what}", path = .path.display(), at = At(*.line))]
    Contents {
        /// The file.
        path: PathBuf,
        /// Line counted from 1, where the format has lines and the place is known.
        line: Option<usize>,
        /// What is wrong.
        what: String,
    },
}

/// `:line` behind a file name.
struct At(Option<usize>);

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A mesh format: ending of its files and reader of their bytes.
type Format = (&'static str, fn(&[u8]) -> Parsed);

/// Every format that [`read`] knows.
const FORMATS: &[Format] = &[
    ("obj", obj::parse),
    ("ply", ply::parse),
    ("stl", stl::parse),
];

/// Reads a triangle mesh, format by ending; polygons are cut into triangles.
///
/// Vertices at equal positions become one (files split them along seams of texture, normals and groups, and
/// STL knows no others), vertices without a triangle and triangles without three different vertices go.
/// Texture coordinates stay with the corners of triangles; in a file that has some, those of faces without
/// are 0.
pub fn read(path: &Path) -> Result<TriMesh, MeshError> {
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
    let fault = |Fault { line, what }| MeshError::Contents {
        path: path.to_owned(),
        line,
        what,
    };
    let mesh = weld(&parse(&bytes).map_err(fault)?);
    if mesh.triangles.is_empty() {
        return Err(fault(Fault::new(None, "no triangles")));
    }
    Ok(mesh)
}

/// What is wrong with a mesh file whose name is told already.
pub fn without_path(error: &MeshError, path: &Path) -> String {
    let what = error.to_string();
    let what = what
        .strip_prefix(&path.display().to_string())
        .unwrap_or(&what);
    what.trim_start_matches([':', ' ']).to_owned()
}

/// Joins vertices at equal positions; order of first use by position in the file is kept.
pub fn weld(mesh: &TriMesh) -> TriMesh {
    let mut first = HashMap::with_capacity(mesh.positions.len());
    let same: Vec<u32> = (0..mesh.positions.len() as u32)
        .map(|vertex| {
            // Adding zero makes -0 and 0 one.
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

/// Leaves out the vertices that no triangle uses.
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
        // A quad of which the last corner is told backwards, then one in reverse over a seam, a face that
        // names none and one with a zero.
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
        // Without a face that names any there are none.
        let unused = read_text(
            "plain.obj",
            format!("vt 1 1\n{TETRAHEDRON}f 1 2 3\n").as_bytes(),
        );
        assert!(unused.unwrap().uv.is_empty());
        // A model before the first `vt`.
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
        // Wound inside out and with a triangle that goes when vertices are joined.
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
        assert!(message("a.dae", "").contains("obj, ply, stl"));
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
            let told = message("a.ply", &(header(format, vertices) + "0 0 0\n"));
            let expected = "element vertex is said to have 9000000000000 rows; the file has 6 bytes behind its header";
            assert!(told.ends_with(expected), "{told}");
            let none = header(format, "element nothing 9000000000000\n");
            let told = message("a.ply", &none);
            assert!(
                told.contains("nothing has 9000000000000 rows of no property"),
                "{told}"
            );
        }
        let faces = "element face 9\nproperty list uint uchar vertex_indices\n";
        let told = message("a.ply", &(header("binary_little_endian", faces) + "0123"));
        assert!(told.contains("9 rows; the file has 4 bytes"), "{told}");
        let told = message(
            "a.obj",
            &format!("{TETRAHEDRON}f 1 2 9223372036854775807\n"),
        );
        assert!(
            told.contains("a.obj:5: face uses vertex 9223372036854775807"),
            "{told}"
        );
        let told = message(
            "a.obj",
            &format!("{TETRAHEDRON}vt 0 0\nf 1/-9223372036854775808 2 3\n"),
        );
        assert!(
            told.contains("uses texture vertex -9223372036854775808"),
            "{told}"
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
        let told = message("a.obj", "v 1 0 0 0\n");
        assert!(
            told.contains("a.obj:1") && told.contains("not finite"),
            "{told}"
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

//! Files written by hand, of all formats.

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

const RED: [f32; 3] = [1.0, 0.0, 0.0];
const GREY: [f32; 3] = [0.5, 0.25, 0.75];

#[test]
fn obj_has_colours_of_vertices_and_materials_of_faces() {
    let text = "v 0 0 0\nv 1 0 0 1 0 0\nv 0 1 0 0.5 0.25 0.75\nv 0 0 1\n\
        f 1 2 3\nusemtl old  wood\nf 1 2 4\nusemtl stone\nf 2 3 4\nusemtl\nf 1 3 4\nusemtl old  wood\nf 4 3 2\n";
    let mesh = read_text("a.obj", text.as_bytes()).unwrap();
    let white = [1.0; 3];
    assert_eq!(mesh.paint.names, ["old  wood", "stone"]);
    let none = u32::MAX;
    assert_eq!(mesh.paint.materials, [none, 0, 1, none, 0]);
    assert_eq!(mesh.paint.colours[0], [white, RED, GREY]);
    assert_eq!(mesh.paint.colours[4], [white, GREY, RED]);
    let bad = message("a.obj", "v 0 0 0 1 red 0\n");
    assert!(
        bad.contains("a.obj:1") && bad.contains("colour \"red\""),
        "{bad}"
    );
    let plain = read_text("a.obj", format!("{TETRAHEDRON}f 1 2 3\n").as_bytes());
    assert!(plain.unwrap().paint.is_empty());
}

#[test]
fn ply_has_colours_of_vertices_or_faces_and_its_own_materials() {
    let header = "ply\nformat ascii 1.0\ncomment material wood\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
    let colours = |kind: &str| {
        ["red", "green", "blue"]
            .map(|name| format!("property {kind} {name}\n"))
            .concat()
    };
    let face = "element face 1\nproperty list uchar int vertex_indices\n";
    let [whole, parts] = ["uchar", "float"].map(colours);
    let of_vertices = format!(
        "{header}{whole}{face}end_header\n0 0 0 255 0 0\n1 0 0 51 0 255\n0 1 0 0 0 0\n3 0 1 2\n"
    );
    let mesh = read_text("a.ply", of_vertices.as_bytes()).unwrap();
    assert_eq!(mesh.paint.colours, [[RED, [0.2, 0.0, 1.0], [0.0; 3]]]);
    assert!(mesh.paint.materials.is_empty());
    let corners = "0 0 0\n1 0 0\n0 1 0\n";
    let of_face = |material: i32| {
        format!(
            "{header}{face}{parts}property int material\nend_header\n{corners}3 0 1 2 0.5 0.25 0.75 {material}\n"
        )
    };
    let mesh = read_text("a.ply", of_face(0).as_bytes()).unwrap();
    assert_eq!(mesh.paint.colours, [[GREY; 3]]);
    assert_eq!(
        (mesh.paint.materials, &mesh.paint.names[0][..]),
        (vec![0], "wood")
    );
    let none = read_text("a.ply", of_face(-1).as_bytes()).unwrap();
    assert!(none.paint.materials.is_empty());
    let unknown = message("a.ply", &of_face(1));
    assert!(
        unknown.contains("face 0: its material is 1; 1 are named"),
        "{unknown}"
    );
}

#[test]
fn written_ply_keeps_all_attributes() {
    let mut mesh = shapes::cuboid(DVec3::ONE);
    let count = mesh.triangles.len();
    mesh.uv = vec![[[0.25, 0.5]; 3]; count];
    mesh.paint.colours = vec![[RED, GREY, RED]; count];
    mesh.paint.materials = (0..count as u32)
        .map(|t| [0, 1, u32::MAX][t as usize % 3])
        .collect();
    mesh.paint.names = vec!["old wood".into(), "stone".into()];
    let mut bytes = Vec::new();
    ply::write_ply(&mesh, &mut bytes).unwrap();
    assert!(read_text("a.ply", &bytes).unwrap() == mesh);
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
    let header =
        |format: &str, elements: &str| format!("ply\nformat {format} 1.0\n{elements}end_header\n");
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

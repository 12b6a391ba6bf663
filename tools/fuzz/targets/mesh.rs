//! Mesh files: the first byte selects the format, the rest is the file.

#![no_main]

use std::sync::LazyLock;

use cullet::geometry::{TriMesh, check, ply, read, shapes};
use cullet::pack;
use cullet::spec::{self, Body, BodyShape, Fill};
use cullet_fuzz::{ACROSS, Shot, bounded, seed};
use glam::DVec3;
use libfuzzer_sys::fuzz_target;

const FORMATS: [&str; 5] = ["obj", "ply", "stl", "glb", "usda"];

static SHOT: LazyLock<Shot> = LazyLock::new(Shot::new);
static BODY: LazyLock<Body> = LazyLock::new(|| {
    let text = ACROSS.replacen("radius = \"5 mm\"", "elements = 40", 1);
    let pipeline = spec::parse(&text, "shot", &[]);
    pipeline.expect("a pipeline").bodies.remove(0)
});

fuzz_target!(
    init: {
        let cuboid = shapes::cuboid(DVec3::new(1.0, 2.0, 3.0));
        seed("cuboid.obj", &[&[0], obj(&cuboid).as_bytes()].concat());
        seed("cuboid.stl", &[&[2], stl(&cuboid).as_bytes()].concat());
        seed("binary.stl", &[&[2], &binary_stl(&cuboid)[..]].concat());
        for (name, mesh) in [("cuboid.ply", cuboid), ("ball.ply", shapes::cylinder(1.0, 0.5))] {
            let mut bytes = vec![1];
            ply::write_ply(&mesh, &mut bytes).expect("written");
            seed(name, &bytes);
            run(&bytes);
        }
        let header = "ply\nformat ascii 1.0\ncomment text\nelement vertex 4\nproperty float x\nproperty float y\n\
            property float z\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n\
            0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";
        seed("text.ply", format!("\u{1}{header}").as_bytes());
    },
    |input: &[u8]| bounded(input, || run(input))
);

fn run(input: &[u8]) {
    let Some((&format, bytes)) = input.split_first() else {
        return;
    };
    let name = format!("mesh.{}", FORMATS[format as usize % FORMATS.len()]);
    SHOT.put(&name, bytes);
    match read::read(&SHOT.path().join(&name)) {
        Ok(mesh) => {
            let known = mesh.positions.len() as u32;
            assert!(mesh.positions.iter().all(|position| position.is_finite()));
            assert!(
                mesh.triangles
                    .as_flattened()
                    .iter()
                    .all(|&vertex| vertex < known)
            );
            let mut solid = mesh;
            let sound = check::require_solid(&mut solid).map_err(|defect| defect.to_string());
            let fills = [Some(Fill::Winding), sound.is_ok().then_some(Fill::Closed)];
            for fill in fills.into_iter().flatten() {
                let mut body = BODY.clone();
                body.shape = BodyShape::Mesh {
                    file: name.clone().into(),
                    object: None,
                    each: false,
                    up: None,
                    unit: None,
                    scale: None,
                    height: (format & 64 != 0).then_some(0.1),
                    fill,
                };
                if let Err(error) = pack::pack_body(&body, SHOT.path(), (0, 0)) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        Err(error) => assert!(error.to_string().contains(&name)),
    }
}

fn obj(mesh: &TriMesh) -> String {
    let vertices = mesh
        .positions
        .iter()
        .map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let faces = mesh.triangles.iter();
    let faces = faces
        .map(|t| t.map(|v| v + 1))
        .map(|[a, b, c]| format!("f {a} {b}/1 {c}//1\n"));
    format!(
        "o a\n{}vt 0 0\nvn 0 0 1\ng b\n{}",
        vertices.collect::<String>(),
        faces.collect::<String>()
    )
}

fn stl(mesh: &TriMesh) -> String {
    let facet = |t| {
        let corner = |p: DVec3| format!("vertex {} {} {}\n", p.x, p.y, p.z);
        let corners: String = mesh.corners(t).map(corner).concat();
        format!("facet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n")
    };
    let facets: String = (0..mesh.triangles.len()).map(facet).collect();
    format!("solid a\n{facets}endsolid a\n")
}

fn binary_stl(mesh: &TriMesh) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for t in 0..mesh.triangles.len() {
        bytes.extend([0; 12]);
        let numbers = mesh.corners(t).map(|p| p.as_vec3().to_array());
        bytes.extend(numbers.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

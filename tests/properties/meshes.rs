//! Round trips of meshes through files.

use cullet::geometry::{TriMesh, ply, read};
use glam::DVec3;
use proptest::prelude::*;

use super::cases;

/// A mesh as a reader returns it: every vertex used, all positions distinct, no triangle with the same corner
/// twice.
fn mesh() -> impl Strategy<Value = TriMesh> {
    let position = prop::array::uniform3(any::<f64>()).prop_map(DVec3::from_array);
    let corner = any::<prop::sample::Index>();
    let parts = (
        prop::collection::vec(position, 3..30),
        prop::collection::vec(prop::array::uniform3(corner), 1..60),
    );
    parts.prop_filter_map("no triangle", |(positions, corners)| {
        let triangle = |corners: [prop::sample::Index; 3]| {
            corners.map(|corner| corner.index(positions.len()) as u32)
        };
        let mesh = TriMesh {
            triangles: corners.into_iter().map(triangle).collect(),
            positions,
            ..TriMesh::default()
        };
        let mesh = read::weld(&mesh);
        (!mesh.triangles.is_empty()).then_some(mesh)
    })
}

fn read_as(name: &str, bytes: &[u8]) -> TriMesh {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read::read(&path).unwrap()
}

/// Corners of all triangles.
fn corners(mesh: &TriMesh) -> Vec<[DVec3; 3]> {
    let triangles = 0..mesh.triangles.len();
    triangles.map(|t| mesh.corners(t)).collect()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn ply_keeps_every_bit(mesh in mesh()) {
        let mut bytes = Vec::new();
        ply::write_ply(&mesh, &mut bytes).unwrap();
        prop_assert_eq!(read_as("a.ply", &bytes), mesh);
    }

    #[test]
    fn obj_keeps_every_bit_whichever_way_its_faces_count(mesh in mesh(), backwards in any::<bool>()) {
        let mut text = String::new();
        for p in &mesh.positions {
            text += &format!("v {} {:e} {}\n", p.x, p.y, p.z);
        }
        let count = mesh.positions.len() as i64;
        for triangle in &mesh.triangles {
            let number = |v: u32| i64::from(v) + if backwards { -count } else { 1 };
            let [a, b, c] = triangle.map(number);
            text += &format!("f {a} {b}// {c}//7\r\n");
        }
        // Vertices are numbered in the order of their first use.
        prop_assert_eq!(corners(&read_as("a.obj", text.as_bytes())), corners(&mesh));
    }

    #[test]
    fn stl_keeps_single_precision(mesh in mesh()) {
        let round = |p: &DVec3| p.clamp(DVec3::splat(-1e30), DVec3::splat(1e30)).as_vec3().as_dvec3();
        let rounded = TriMesh { positions: mesh.positions.iter().map(round).collect(), ..mesh };
        let rounded = read::weld(&rounded);
        prop_assume!(!rounded.triangles.is_empty());
        let mut bytes = vec![b' '; 80];
        bytes.extend((rounded.triangles.len() as u32).to_le_bytes());
        for corners in corners(&rounded) {
            bytes.extend([0; 12]);
            for value in corners.map(|p| p.as_vec3().to_array()).as_flattened() {
                bytes.extend(value.to_le_bytes());
            }
            bytes.extend([0; 2]);
        }
        prop_assert_eq!(corners(&read_as("a.stl", &bytes)), corners(&rounded));
    }
}

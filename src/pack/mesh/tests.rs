//! Meshes of colliders.

use crate::pack::pack;

#[test]
fn meshes_of_colliders_are_repaired_as_those_of_bodies_are() {
    let folder = tempfile::tempdir().unwrap();
    // A dish of four triangles without walls, and a box without a lid.
    let dish =
        "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nv 0 -0.5 0\nf 2 1 5\nf 3 2 5\nf 4 3 5\nf 1 4 5\n";
    let open = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n\
        f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 1 5 7 3\nf 2 4 8 6\n";
    std::fs::write(folder.path().join("dish.obj"), dish).unwrap();
    std::fs::write(folder.path().join("open.obj"), open).unwrap();
    let pack_with = |shape: &str| {
        let text = format!(
            "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e7\n\
             [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ type = \"sphere\", radius = 0.1 }}\n\
             packing = {{ type = \"hexagonal\", elements = 10 }}\n\
             [[collider]]\nname = \"stand\"\nshape = {{ type = \"mesh\", {shape} }}\nposition = [0, -3, 0]\n"
        );
        let file = folder.path().join("shot.toml");
        std::fs::write(&file, text).unwrap();
        let shot = crate::spec::read(&file, &[]).unwrap();
        pack(&shot.pipeline, &shot.folder)
    };
    let lidless = pack_with("file = \"open.obj\"").unwrap();
    assert!((lidless.packing.colliders[&0].volume() - 1.0).abs() < 1e-12);
    let (name, done) = &lidless.closed_colliders[0];
    assert_eq!(name, "stand");
    assert!(done.to_string().contains("filled 1 hole"), "{done}");
    let wall =
        pack_with("file = \"dish.obj\", thickness = 0.1, thickness_side = \"inside\"").unwrap();
    let volume = wall.packing.colliders[&0].volume();
    // Its area times the thickness, but for the corners.
    let area = 4.0 * 1.25_f64.sqrt();
    assert!((volume / (0.1 * area) - 1.0).abs() < 0.1, "{volume}");
    let refused = |shape: &str| pack_with(shape).unwrap_err().to_string();
    let sheet = refused("file = \"dish.obj\", fill = \"closed\"");
    assert!(
        sheet.starts_with("collider \"stand\"") && sheet.ends_with("or set fill = \"auto\""),
        "{sheet}"
    );
}

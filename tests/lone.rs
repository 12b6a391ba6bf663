//! A body of one element passes through all stages.

use cullet::store::Store;

use crate::harness::TestFolder;

/// Packs a body of one element above a floor, onto which it falls.
fn packed(folder: &TestFolder, shape: &str, packing: &str) {
    let text = format!(
        "[time]\nend = \"20 ms\"\nframes_per_second = 500\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 MPa\"\ntensile_strength = \"1 kPa\"\n\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ {shape} }}\npacking = {{ {packing} }}\nvelocity = [0, -1, 0]\n\
         [[collider]]\nname = \"floor\"\nshape = {{ type = \"half_space\", normal = [0, 1, 0] }}\nposition = [0, -0.012, 0]\n\
         [preview]\nwidth = 64\nheight = 48\n"
    );
    folder.write("shot.toml", &text);
    folder.succeed(&["check", "shot.toml"]);
    folder.succeed(&["pack", "shot.toml", "--out", "store"]);
    let packing = Store::open(folder.path("store"))
        .unwrap()
        .read_packing()
        .unwrap();
    assert_eq!(packing.elements.id, [0], "{shape} {packing:?}");
    assert!(packing.bonds.id.is_empty());
    // The radius of the element fits the volume of its body.
    assert!(packing.elements.r[0] < 1.7 * packing.elements.volume[0].cbrt());
}

const CUBE: &str = "type = \"box\", size = [0.01, 0.01, 0.01]";
const ROW: &str = "type = \"block\", rows = [1, 1, 1]";

#[test]
fn a_body_of_one_element_is_packed_simulated_drawn_and_exported() {
    for (shape, packing) in [
        (ROW, "type = \"hexagonal\", radius = \"4 mm\""),
        (CUBE, "type = \"hexagonal\", elements = 1"),
        (CUBE, "type = \"random\", elements = 1"),
        (CUBE, "type = \"loose\", elements = 1"),
    ] {
        let folder = TestFolder::new();
        packed(&folder, shape, packing);
        folder.succeed(&["simulate", "store"]);
        let store = Store::open(folder.path("store")).unwrap();
        let y = |frame| f64::from(store.read_frame(frame).unwrap().y[0]);
        assert!(y(1) < y(0) - 1e-3, "it falls");
        let ground = -0.012 + store.read_elements().unwrap().r[0];
        assert!(y(10) > ground - 1e-3, "the floor holds it");
        folder.succeed(&["reconstruct", "store"]);
        let surfaces = cullet::store::SurfaceFrame::read(&store, 3).unwrap();
        assert_eq!(surfaces.pieces.len(), 1);
        for format in [
            "usd",
            "usd-elements",
            "glb",
            "glb-animated",
            "obj",
            "ply",
            "vtk",
        ] {
            folder.succeed(&["export", "store", "--format", format]);
        }
        folder.succeed(&["preview", "store"]);
        folder.succeed(&["plot", "store"]);
        let message = folder.succeed(&["inspect", "store"]);
        assert!(message.contains("elements"), "{message}");
        let message = folder.succeed(&["inspect", "store", "--validate"]);
        assert!(message.starts_with("valid: "), "{message}");
        // The element must be visible: a picture without it would show only the floor.
        let picture = |frame| std::fs::read(folder.path(&format!("store/preview/{frame:06}.png")));
        assert!(picture(0).unwrap() != picture(3).unwrap());
    }
}

#[test]
fn other_shapes_and_implicit_steps_take_one_element_too() {
    for (shape, packing) in [
        (
            "type = \"plate\", size = [0.002, 0.002], layers = 1",
            "type = \"hexagonal\", radius = \"1 mm\"",
        ),
        (
            "type = \"sphere\", radius = 0.01",
            "type = \"hexagonal\", elements = 1",
        ),
        (
            "type = \"cylinder\", radius = 0.01, height = 0.01",
            "type = \"random\", elements = 1",
        ),
        (CUBE, "type = \"loose\", radius = \"4 mm\""),
    ] {
        packed(&TestFolder::new(), shape, packing);
    }
    let folder = TestFolder::new();
    packed(&folder, CUBE, "type = \"hexagonal\", elements = 1");
    let implicit = [
        "run",
        "shot.toml",
        "--out",
        "implicit",
        "--set",
        "simulate.integrator=backward_euler",
    ];
    folder.succeed(&implicit);
}

#[test]
fn an_element_larger_than_its_body_is_refused() {
    let folder = TestFolder::new();
    let text = "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e6\n\
        [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"box\", size = [0.01, 0.01, 0.01] }\n\
        packing = { type = \"hexagonal\", radius = \"7 mm\" }\n";
    folder.write("shot.toml", text);
    let message = folder.refuse(&["pack", "shot.toml", "--out", "store"]);
    assert!(message.contains("too large"), "{message}");
}

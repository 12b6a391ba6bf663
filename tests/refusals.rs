//! Bad input: one clear message, exit code 2, nothing written.

use crate::harness::TestFolder;

const BODY: &str = "shape = { type = \"box\", size = [0.01, 0.01, 0.01] }";

/// A small valid pipeline with one part replaced.
fn pipeline(from: &str, to: &str) -> String {
    let text = format!(
        "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n\n[[material]]\nname = \"m\"\ndensity = \"1000 kg/m^3\"\nyoung = \"1 MPa\"\n\n\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\n{BODY}\npacking = {{ type = \"hexagonal\", radius = \"1 mm\" }}\n"
    );
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

/// Packs a pipeline that must be refused; the message must hold every part.
fn refused(folder: &TestFolder, text: &str, parts: &[&str]) {
    folder.write("shot.toml", text);
    for arguments in [
        &["pack", "shot.toml", "--out", "store"][..],
        &["run", "shot.toml", "--out", "store"],
        &["check", "shot.toml"],
    ] {
        let message = folder.refuse(arguments);
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
        assert!(!folder.path("store").exists(), "nothing is written");
    }
}

#[test]
fn the_small_pipeline_itself_is_valid() {
    let folder = TestFolder::new();
    folder.write("shot.toml", &pipeline("1 mm", "1 mm"));
    folder.succeed(&["run", "shot.toml", "--out", "store"]);
}

#[test]
fn unknown_key() {
    let text = pipeline("young = ", "frcition = 0.3\nyoung = ");
    let parts = ["shot.toml:8:1", "frcition", "did you mean `friction`"];
    refused(&TestFolder::new(), &text, &parts);
}

#[test]
fn shapes_that_enclose_nothing() {
    for (shape, parts) in [
        (
            "{ type = \"revolved\", profile = [[0.01, 0], [0.02, 0.01], [0.02, 0], [0.01, 0.02]] }",
            &["shape.profile", "crosses itself", "points 1"][..],
        ),
        (
            "{ type = \"revolved\", profile = [[\"1 cm\", 0.1], [0.01, 0]] }",
            &["shape.profile", "from bottom to top", "0.1 m"],
        ),
        (
            "{ type = \"revolved\", profile = [[0.01, 0], [-0.01, 0.1]] }",
            &["shape.profile", "point 2", "must not be negative"],
        ),
        (
            "{ type = \"plate\", size = [0.01, 0.02], layers = 1, hole = \"5 mm\" }",
            &["shape.hole", "0.005 m", "half the shorter side"],
        ),
    ] {
        let text = pipeline(BODY, &format!("shape = {shape}"));
        refused(
            &TestFolder::new(),
            &text,
            &[&["shot.toml:13:"], parts].concat(),
        );
    }
}

#[test]
fn shells_ropes_and_cloth_that_cannot_be() {
    let plate = "{ type = \"plate\", size = [0.01, 0.01], layers = 2 }";
    let block = "{ type = \"block\", rows = [4, 4, 4] }";
    let cuboid = "{ type = \"box\", size = [0.01, 0.01, 0.01] }";
    let rod = "{ type = \"cylinder\", radius = 0.01, height = 0.1 }";
    for (shape, packing, parts) in [
        (
            plate,
            "type = \"shell\", radius = \"1 mm\", layers = 2",
            &["packing.type", "rows and layers"][..],
        ),
        (
            block,
            "type = \"woven\", radius = \"1 mm\"",
            &["packing.type", "rows and layers"],
        ),
        (
            cuboid,
            "type = \"shell\", radius = \"1 mm\", layers = 4",
            &["\"b\"", "too thin", "4 layers", "0.001 m"],
        ),
        (
            cuboid,
            "type = \"shell\", radius = \"1 mm\", layers = 0",
            &["packing.layers", "≥ 1"],
        ),
        (
            cuboid,
            "type = \"twisted\", radius = \"1 mm\", strands = 3, pitch = 0.1",
            &["packing.type", "cylinder"],
        ),
        (
            rod,
            "type = \"twisted\", radius = \"1 mm\", strands = 1, pitch = 0.1",
            &["packing.strands", "≥ 2"],
        ),
        (
            rod,
            "type = \"twisted\", radius = \"1 mm\", strands = 3, filaments = 37, pitch = 0.1",
            &["\"b\"", "37 filaments", "largest element radius"],
        ),
        (
            cuboid,
            "type = \"woven\", radius = \"1 mm\", weave = \"satin\"",
            &["packing.weave", "satin", "plain"],
        ),
        (
            cuboid,
            "type = \"woven\", radius = \"3 mm\"",
            &["\"b\"", "sheet of cloth", "thick"],
        ),
    ] {
        let text = pipeline(BODY, &format!("shape = {shape}"));
        let text = text.replace("type = \"hexagonal\", radius = \"1 mm\"", packing);
        refused(&TestFolder::new(), &text, parts);
    }
}

#[test]
fn random_packing_that_cannot_be() {
    let random = |keys: &str| pipeline("type = \"hexagonal\", radius = \"1 mm\"", keys);
    for (keys, part) in [
        (
            "type = \"random\", radius = \"1 mm\", spread = 0.7",
            "≤ 0.64",
        ),
        (
            "type = \"random\", radius = \"1 mm\", neighbourhood = 2",
            "≤ 1.5",
        ),
        (
            "type = \"random\", spread = 0.1",
            "either `radius` or `elements`",
        ),
        (
            "type = \"random\", radius = \"1 mm\", elements = 9",
            "give one of them",
        ),
        ("type = \"random\", radius = \"1 cm\"", "too large"),
        (
            "type = \"loose\", radius = \"1 mm\", fraction = 0.7",
            "≤ 0.62",
        ),
        (
            "type = \"loose\", radius = \"1 mm\", neighbourhood = 1.1",
            "neighbourhood",
        ),
    ] {
        refused(&TestFolder::new(), &random(keys), &[part]);
    }
    let plate = random("type = \"random\", radius = \"1 mm\"").replace(
        BODY,
        "shape = { type = \"plate\", size = [0.01, 0.01], layers = 2 }",
    );
    let parts = [
        "shot.toml:14:",
        "packing.type",
        "rows and layers",
        "\"box\"",
    ];
    refused(&TestFolder::new(), &plate, &parts);
}

#[test]
fn columns_that_do_not_fit_together() {
    let output = |keys: &str| pipeline("[[material]]", &format!("[output]\n{keys}\n[[material]]"));
    let unknown = output("columns = [\"positon\"]");
    let parts = [
        "shot.toml:6:12",
        "output.columns.0",
        "did you mean `position`",
    ];
    refused(&TestFolder::new(), &unknown, &parts);
    let many = output("precision_bits = { spin = 24 }");
    let parts = [
        "shot.toml:6:",
        "output.precision_bits.spin",
        "24",
        "≥ 1 and ≤ 23",
    ];
    refused(&TestFolder::new(), &many, &parts);
    let absent = output("columns = [\"position\"]\nprecision_bits = { spin = 4 }");
    let parts = [
        "shot.toml:7:",
        "output.precision_bits.spin",
        "leaves spin out",
    ];
    refused(&TestFolder::new(), &absent, &parts);
}

#[test]
fn details_that_contradict_each_other() {
    let camera = "camera = { eye = [0, 0, 1], target = [0, 0, 0], fov = 0.6 }";
    for (keys, parts) in [
        ("triangles = 0", &["export.detail.triangles", "≥ 4"][..]),
        ("triangles = -5", &["export.detail.triangles", "≥ 4"]),
        ("error = 0", &["export.detail.error", "> 0"]),
        ("error = \"-1 mm\"", &["export.detail.error", "> 0"]),
        ("pixels = inf", &["export.detail.pixels", "finite"]),
        ("pixels = 1", &["export.detail.pixels", "needs a camera"]),
        (
            "error = 0.1\npixels = 1",
            &["export.detail.pixels", "exclude each other"],
        ),
        (
            &format!("error = 0.1\n{camera}"),
            &["export.detail.camera", "any distance"],
        ),
        (camera, &["export.detail.camera", "no effect"]),
        ("height = 720", &["export.detail.height", "no effect"]),
        (
            "error = 0.1\nheight = 720",
            &["export.detail.height", "no effect"],
        ),
        (
            &format!("pixels = 1\n{}", camera.replace("0, 1]", "0, 0]")),
            &["export.detail.camera.target", "same point"],
        ),
    ] {
        let text = pipeline(
            "[[material]]",
            &format!("[export.detail]\n{keys}\n[[material]]"),
        );
        refused(
            &TestFolder::new(),
            &text,
            &[parts, &["shot.toml:"]].concat(),
        );
    }
}

#[test]
fn a_shutter_that_closes_before_it_opens() {
    for ends in ["[0.25, -0.25]", "[-2, 2]"] {
        let export = format!("[export]\nshutter = {ends}\n[[material]]");
        let parts = ["shot.toml:", "export.shutter", "[-0.25, 0.25]"];
        refused(
            &TestFolder::new(),
            &pipeline("[[material]]", &export),
            &parts,
        );
    }
}

#[test]
fn surfaces_of_frames_without_their_columns() {
    let folder = TestFolder::new();
    let columns = "[output]\ncolumns = [\"position\"]\n[[material]]";
    folder.write("shot.toml", &pipeline("[[material]]", columns));
    let run = ["run", "shot.toml", "--out", "store"];
    let message = folder.refuse(&run);
    let wanted = ["output.columns", "\"rotation\"", "reconstruct"];
    assert!(
        wanted.iter().all(|part| message.contains(part)),
        "{message}"
    );
    assert!(!folder.path("store").exists(), "nothing is written");
    folder.succeed(&[&run[..], &["--to", "simulate"]].concat());
    let message = folder.refuse(&["reconstruct", "store"]);
    let wanted = [
        "000000.parquet",
        "column qx",
        "\"rotation\"",
        "output.columns",
    ];
    assert!(
        wanted.iter().all(|part| message.contains(part)),
        "{message}"
    );
    folder.succeed(&["preview", "store"]);
}

#[test]
fn missing_mesh() {
    let text = pipeline(
        BODY,
        "shape = { type = \"mesh\", file = \"no.obj\", scale = 1 }",
    );
    refused(&TestFolder::new(), &text, &["shot.toml:13:", "no.obj"]);
}

const TETRAHEDRON: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

#[test]
fn open_mesh() {
    let folder = TestFolder::new();
    folder.write(
        "open.obj",
        TETRAHEDRON.trim_end().rsplit_once('\n').unwrap().0,
    );
    let shape = "shape = { type = \"mesh\", file = \"open.obj\", scale = 0.1, fill = \"closed\" }";
    let parts = ["open.obj", "open", "3 boundary edges", "fill = \"auto\""];
    refused(&folder, &pipeline(BODY, shape), &parts);
}

#[test]
fn an_object_that_the_file_lacks() {
    let folder = TestFolder::new();
    folder.write(
        "two.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\no lid\nf 1 3 2\no pot\nf 1 2 4\n",
    );
    let shape = "shape = { type = \"mesh\", file = \"two.obj\", object = \"cup\" }";
    let parts = [
        "body \"b\"",
        "two.obj",
        "no object \"cup\"",
        "\"lid\", \"pot\"",
    ];
    refused(&folder, &pipeline(BODY, shape), &parts);
    let shape = "shape = { type = \"mesh\", file = \"two.obj\", unit = \"cm\", scale = 2 }";
    let parts = ["shot.toml:13", "shape.unit", "`unit` and `scale`"];
    refused(&folder, &pipeline(BODY, shape), &parts);
}

#[test]
fn an_open_mesh_is_closed_and_said_so() {
    let folder = TestFolder::new();
    folder.write(
        "open.obj",
        TETRAHEDRON.trim_end().rsplit_once('\n').unwrap().0,
    );
    let shape = "shape = { type = \"mesh\", file = \"open.obj\", scale = 0.1 }";
    folder.write("shot.toml", &pipeline(BODY, shape));
    let said = folder.succeed(&["check", "shot.toml"]);
    assert!(
        said.contains("note ") && said.contains("filled 1 hole"),
        "{said}"
    );
    folder.succeed(&["pack", "shot.toml", "--out", "store"]);
    folder.succeed(&["simulate", "store"]);
    folder.succeed(&["reconstruct", "store"]);
}

#[test]
fn a_mesh_alone_is_checked_and_its_skin_written() {
    let folder = TestFolder::new();
    folder.write("pane.obj", PANE);
    let message = folder.refuse(&["check", "--mesh", "pane.obj"]);
    assert!(message.contains("open sheet"), "{message}");
    let open = TETRAHEDRON.trim_end().rsplit_once('\n').unwrap().0;
    folder.write("open.obj", open);
    let message = folder.refuse(&["check", "--mesh", "open.obj", "--out", "skin.stl"]);
    assert!(message.contains(".ply"), "{message}");
    let said = folder.succeed(&["check", "--mesh", "open.obj", "--out", "skin.ply"]);
    for part in [
        "3 boundary edges",
        "filled 1 hole",
        "volume 1.666667e-1",
        "skin.ply",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let skin = cullet::geometry::read::read(&folder.path("skin.ply")).unwrap();
    assert_eq!(skin.triangles.len(), 4);
}

/// A square of two triangles.
const PANE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";

#[test]
fn a_sheet_needs_a_thickness() {
    let folder = TestFolder::new();
    folder.write("pane.obj", PANE);
    let shape = "shape = { type = \"mesh\", file = \"pane.obj\", scale = 0.1 }";
    refused(
        &folder,
        &pipeline(BODY, shape),
        &["pane.obj", "open sheet", "thickness"],
    );
    let shape =
        "shape = { type = \"mesh\", file = \"pane.obj\", scale = 0.1, thickness = \"8 mm\" }";
    folder.write("shot.toml", &pipeline(BODY, shape));
    folder.succeed(&["pack", "shot.toml", "--out", "store"]);
    let store = cullet::store::Store::open(folder.path("store")).unwrap();
    let skin = cullet::geometry::read::read(&store.shape_path(0)).unwrap();
    assert!(
        (skin.volume() / 8e-5 - 1.0).abs() < 1e-6,
        "{}",
        skin.volume()
    );
}

#[test]
fn not_a_number_in_an_obj() {
    let folder = TestFolder::new();
    folder.write("nan.obj", &TETRAHEDRON.replace("v 0 1 0", "v 0 nan 0"));
    let shape = "shape = { type = \"mesh\", file = \"nan.obj\", scale = 0.1 }";
    refused(&folder, &pipeline(BODY, shape), &["nan.obj", "3", "finite"]);
}

#[test]
fn radius_larger_than_the_body() {
    let text = pipeline("radius = \"1 mm\"", "radius = \"20 mm\"");
    refused(&TestFolder::new(), &text, &["\"b\"", "radius", "too large"]);
}

#[test]
fn negative_density() {
    let text = pipeline("1000 kg/m^3", "-1000 kg/m^3");
    refused(
        &TestFolder::new(),
        &text,
        &["shot.toml:7:", "density", "-1000"],
    );
}

#[test]
fn unit_that_does_not_fit() {
    let text = pipeline("1000 kg/m^3", "1000 kg");
    refused(
        &TestFolder::new(),
        &text,
        &["shot.toml:7:", "density", "mass", "density"],
    );
}

#[test]
fn zero_length_run() {
    let text = pipeline("end = \"1 ms\"", "end = 0");
    refused(&TestFolder::new(), &text, &["shot.toml:2:", "time.end"]);
}

#[test]
fn a_gpu_that_is_not_there_and_a_store_that_is_none() {
    let folder = TestFolder::new();
    folder.write("shot.toml", &pipeline("1 mm", "1 mm"));
    folder.succeed(&["pack", "shot.toml", "--out", "store"]);
    let message = folder.refuse(&["simulate", "store", "--adapter", "no such card"]);
    assert!(message.contains("no graphics adapter named"), "{message}");
    assert!(message.contains("--backend cpu"), "{message}");
    assert!(!folder.path("store/frames").exists());
    let double = [
        "check",
        "shot.toml",
        "--set",
        "simulate.backend=gpu",
        "--set",
        "simulate.precision=f64",
    ];
    let message = folder.refuse(&double);
    assert!(
        message.contains("f64") && message.contains("f32"),
        "{message}"
    );
    let message = folder.refuse(&["inspect", "nowhere"]);
    assert!(message.contains("store.json"), "{message}");
    let message = folder.refuse(&["reconstruct", "store"]);
    assert!(message.contains("no frame"), "{message}");
}

#[test]
fn a_folder_with_other_things_in_it_is_not_touched() {
    let folder = TestFolder::new();
    folder.write("shot.toml", &pipeline("1 mm", "1 mm"));
    std::fs::create_dir_all(folder.path("mine/frames")).unwrap();
    folder.write("mine/frames/holiday.jpg", "picture");
    let message = folder.refuse(&["run", "shot.toml", "--out", "mine"]);
    assert!(message.contains("mine"), "{message}");
    assert!(folder.path("mine/frames/holiday.jpg").exists());
}

#[test]
fn a_refused_run_leaves_the_store_as_it_was() {
    let folder = TestFolder::new();
    folder.write("shot.toml", &pipeline("1 mm", "1 mm"));
    folder.succeed(&["run", "shot.toml", "--out", "store", "--to", "simulate"]);
    let folders = ["packing", "frames", "state"];
    let before = crate::harness::files(&folder.path("store"), &folders);
    let manifest = std::fs::read(folder.path("store/store.json")).unwrap();
    let nowhere = "[[attach]]\nname = \"a\"\nbody = \"b\"\nregion = { min = [1, 1, 1], max = [2, 2, 2] }\naction = { type = \"clamp\" }\n";
    folder.write("shot.toml", &(pipeline("1 mm", "1 mm") + nowhere));
    let message = folder.refuse(&["run", "shot.toml", "--out", "store"]);
    assert!(message.contains("no element"), "{message}");
    let message = folder.refuse(&["run", "shot.toml", "--out", "store", "--from", "simulate"]);
    assert!(message.contains("no element"), "{message}");
    let denser = pipeline("1000 kg/m^3", "2000 kg/m^3");
    folder.write("shot.toml", &denser);
    let message = folder.refuse(&["run", "shot.toml", "--out", "store", "--from", "simulate"]);
    assert!(
        message.contains("other bodies, materials or meshes"),
        "{message}"
    );
    assert!(crate::harness::files(&folder.path("store"), &folders) == before);
    assert!(std::fs::read(folder.path("store/store.json")).unwrap() == manifest);
}

#[test]
fn until_before_the_first_frame() {
    let folder = TestFolder::new();
    folder.write("shot.toml", &pipeline("1 mm", "1 mm"));
    folder.succeed(&["run", "shot.toml", "--out", "store", "--to", "simulate"]);
    for until in ["--until=0", "--until=-5 ms", "--until=0.1 ms"] {
        let message = folder.refuse(&["simulate", "store", until]);
        assert!(message.contains("first frame"), "{message}");
    }
    assert!(folder.path("store/frames/000001.parquet").exists());
}

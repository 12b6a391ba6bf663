//! Readers of other projects: usd-core, Alembic, pyarrow, trimesh, VTK, Khronos' glTF validator, glTF-Transform,
//! three.js, DuckDB, Polars, pandas, Mitsuba, SciPy, run on shots from the command line.
//!
//! They are Python and Node packages in the folder that `CULLET_EXTERNAL` names (`tests/external/setup.sh`
//! fills it). Without it each test reports that it was skipped and passes; with `CULLET_EXTERNAL_REQUIRED`
//! set it fails.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::harness::{TestFolder, shot};

/// A store with all exports, made once.
fn store() -> &'static PathBuf {
    static STORE: OnceLock<(TestFolder, PathBuf)> = OnceLock::new();
    &STORE
        .get_or_init(|| {
            let place = TestFolder::new();
            let bunny = shot("bunny_drop");
            place.succeed(&[
                "run",
                &bunny,
                "--out",
                "store",
                "--set",
                "scale=smoke",
                "--set",
                "time.end=4 ms",
                "--set",
                "export.formats=[\"usd\", \"usd_elements\", \"glb\", \"glb_animated\", \"obj\", \"ply\", \"vtk\"]",
            ]);
            let store = place.path("store");
            (place, store)
        })
        .1
}

/// The store of the plate with surfaces as PLY, made once.
fn plate_store() -> &'static PathBuf {
    static STORE: OnceLock<(TestFolder, PathBuf)> = OnceLock::new();
    &STORE
        .get_or_init(|| {
            let place = TestFolder::new();
            let plate = shot("plate_impact");
            let mut arguments = vec!["run", &plate, "--out", "store", "--to", "export"];
            for setting in ["scale=smoke", "export.formats=[\"ply\"]"] {
                arguments.extend(["--set", setting]);
            }
            place.succeed(&arguments);
            let store = place.path("store");
            (place, store)
        })
        .1
}

/// A cube of edge 1 about the origin with texture coordinates: the sides -x, +x, -y, +y, -z, +z in a row of
/// six, each with a chart of its own. Its colours are the coordinates plus 1/2. The sides -x and +x have a material,
/// -y and +y one whose name is also that of crack faces, -z and +z none.
fn cube_obj() -> String {
    let mut text = String::new();
    let mut faces = String::new();
    for side in 0..6 {
        let (axis, sign) = (side / 2, if side % 2 == 0 { -1.0 } else { 1.0 });
        for (a, b) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            let mut p = [0.0; 3];
            (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (sign * 0.5, sign * a, b);
            let [u, v] = [(side as f64 + a + 0.5) / 6.0, b + 0.5];
            let [x, y, z] = p;
            let [r, g, b] = p.map(|x| x + 0.5);
            text += &format!("v {x} {y} {z} {r} {g} {b}\nvt {u} {v}\n");
        }
        faces += &format!("usemtl {}\n", ["wall-x", "inside", ""][axis]);
        let corner = |m: usize| 4 * side + m + 1;
        let [a, b, c, d] = [0, 1, 2, 3].map(|m| format!("{0}/{0}", corner(m)));
        faces += &format!("f {a} {b} {c} {d}\n");
    }
    text + &faces
}

/// A cube with texture coordinates that breaks on a floor, exported to every format that carries them, made
/// once.
fn textured_store() -> &'static PathBuf {
    static STORE: OnceLock<(TestFolder, PathBuf)> = OnceLock::new();
    &STORE
        .get_or_init(|| {
            let place = TestFolder::new();
            place.write("cube.obj", &cube_obj());
            let pipeline = place.write(
                "cube.toml",
                r#"
[time]
end = "6 ms"
frames_per_second = "1000 Hz"
[[material]]
name = "gypsum"
density = 1100
young = "1 GPa"
poisson = 0.2
tensile_strength = "1 MPa"
shear_strength = "1.2 MPa"
[[body]]
name = "cube"
material = "gypsum"
shape = { type = "mesh", file = "cube.obj", scale = 0.1 }
packing = { type = "hexagonal", elements = 800 }
position = [0, "9 cm", 0]
rotation = { axis = [1, 0, 1], angle = "40 deg" }
velocity = [0, "-4 m/s", 0]
[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
[export]
formats = ["usd", "glb", "glb_animated", "obj", "ply", "vtk"]
"#,
            );
            place.succeed(&["run", &pipeline.display().to_string(), "--out", "store"]);
            let store = place.path("store");
            (place, store)
        })
        .1
}

/// A store whose frames lack columns and hold rounded values, made once.
fn lean_store() -> &'static PathBuf {
    static STORE: OnceLock<(TestFolder, PathBuf)> = OnceLock::new();
    &STORE
        .get_or_init(|| {
            let place = TestFolder::new();
            let bunny = shot("bunny_drop");
            let mut arguments = vec!["run", &bunny, "--out", "store", "--to", "simulate"];
            for setting in [
                "scale=smoke",
                "time.end=2 ms",
                "output.columns=[\"position\", \"rotation\", \"velocity\", \"fragment\"]",
                "output.precision_bits.position=20",
                "output.precision_bits.velocity=10",
            ] {
                arguments.extend(["--set", setting]);
            }
            place.succeed(&arguments);
            let store = place.path("store");
            (place, store)
        })
        .1
}

/// A folder for the output of the tools.
fn scratch() -> &'static PathBuf {
    static FOLDER: OnceLock<(TestFolder, PathBuf)> = OnceLock::new();
    &FOLDER
        .get_or_init(|| {
            let place = TestFolder::new();
            let folder = place.path("stores");
            std::fs::create_dir(&folder).unwrap();
            (place, folder)
        })
        .1
}

/// A store called `shot`, as in the READMEs, with numbers that do not depend on the machine, made once.
fn shot_store() -> &'static PathBuf {
    static STORE: OnceLock<(TestFolder, PathBuf)> = OnceLock::new();
    &STORE
        .get_or_init(|| {
            let place = TestFolder::new();
            let bunny = shot("bunny_drop");
            let mut arguments = vec!["run", &bunny, "--out", "shot", "--to", "simulate"];
            for setting in ["scale=smoke", "time.end=4 ms", "simulate.backend=cpu"] {
                arguments.extend(["--set", setting]);
            }
            place.succeed(&arguments);
            let store = place.path("shot");
            (place, store)
        })
        .1
}

/// Two stores of the same bunny run, one with four times the frame rate of the other, with the exports that
/// contain motion; made once.
fn shots_at_two_rates() -> &'static [PathBuf; 2] {
    static STORES: OnceLock<(TestFolder, [PathBuf; 2])> = OnceLock::new();
    &STORES
        .get_or_init(|| {
            let place = TestFolder::new();
            let bunny = shot("bunny_drop");
            let stores = ["600", "2400"].map(|rate| {
                let mut arguments = vec!["run", &bunny, "--out", rate];
                let fps = format!("time.frames_per_second={rate}");
                for setting in [
                    "scale=smoke",
                    "time.end=10 ms",
                    // Both runs take the same steps.
                    "time.step=2.6041666666666667e-6",
                    "export.formats=[\"usd\", \"glb_animated\"]",
                    &fps,
                ] {
                    arguments.extend(["--set", setting]);
                }
                place.succeed(&arguments);
                place.path(rate)
            });
            (place, stores)
        })
        .1
}

fn check(script: &str) {
    check_on(script, store);
}

fn check_on(script: &str, store: fn() -> &'static PathBuf) {
    check_with(script, || std::slice::from_ref(store()));
}

fn check_with(script: &str, stores: impl Fn() -> &'static [PathBuf]) {
    check_arguments(script, || stores().to_vec());
}

/// Runs a script with these arguments, which are made only if it runs.
pub fn check_arguments(script: &str, arguments: impl FnOnce() -> Vec<PathBuf>) {
    let required = std::env::var_os("CULLET_EXTERNAL_REQUIRED").is_some();
    let Some(readers) = std::env::var_os("CULLET_EXTERNAL").map(PathBuf::from) else {
        assert!(!required, "CULLET_EXTERNAL names no folder of readers");
        println!("skipped: {script}: CULLET_EXTERNAL names no folder of readers");
        return;
    };
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/external")
        .join(script);
    let mut command = if script.ends_with(".py") {
        Command::new(readers.join("venv/bin/python"))
    } else {
        let mut node = Command::new("node");
        node.env("NODE_PATH", readers.join("node_modules"));
        node
    };
    // Some checks of tools start the program themselves.
    command.env("CULLET", env!("CARGO_BIN_EXE_cullet"));
    let output = match command.arg(path).args(arguments()).output() {
        Ok(output) => output,
        Err(error) => {
            assert!(!required, "{script}: {error}");
            println!("skipped: {script}: {error}");
            return;
        }
    };
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    println!("{script}: {said}");
    if output.status.code() == Some(77) {
        assert!(!required, "{said}");
        return;
    }
    assert!(output.status.success(), "{said}");
}

#[test]
fn usd_core_traverses_every_frame() {
    check("check_usd.py");
}

#[test]
fn usd_core_places_elements_and_debris() {
    check("check_usd_instances.py");
}

#[test]
fn usd_core_finds_the_same_in_binary_and_text() {
    check("check_usd_kinds.py");
}

#[test]
fn alembic_has_the_meshes_poses_and_velocities_of_usd() {
    check("check_alembic.py");
}

#[test]
fn trimesh_finds_every_fragment_closed_and_no_volume_lost() {
    check_on("check_meshes.py", store);
    check_on("check_meshes.py", plate_store);
}

#[test]
fn khronos_validator_finds_no_error() {
    check("check_glb.js");
}

#[test]
fn gltf_transform_shows_every_fragment_where_it_was() {
    check("check_glb_animated.js");
}

#[test]
fn three_plays_the_clip_as_usd_moves_at_every_rate() {
    check("check_clip.py");
}

#[test]
fn velocities_in_usd_make_the_ways_at_every_rate() {
    check("check_velocities.py");
}

#[test]
fn between_frames_fragments_are_where_a_finer_recording_has_them() {
    check_with("check_motion.py", || shots_at_two_rates().as_slice());
}

#[test]
fn vtk_reads_what_the_tables_hold() {
    check("check_vtk.py");
}

#[test]
fn duckdb_counts_elements_per_fragment() {
    check("check_duckdb.py");
}

#[test]
fn the_queries_of_the_readmes_give_the_rows_pinned() {
    check_on("check_queries.py", shot_store);
}

#[test]
fn pyarrow_reads_frames_and_how_they_were_rounded() {
    check_on("check_columns.py", store);
    check_on("check_columns.py", lean_store);
}

#[test]
fn mitsuba_shows_skin_and_cracks() {
    check_on("check_mitsuba.py", store);
    check_on("check_mitsuba.py", plate_store);
}

#[test]
fn trimesh_finds_every_repaired_mesh_closed_and_near_its_original() {
    check_on("check_closed.py", || {
        static FOLDER: OnceLock<(TestFolder, PathBuf)> = OnceLock::new();
        let place = || {
            let place = TestFolder::new();
            let folder = place.path("meshes");
            (place, folder)
        };
        &FOLDER.get_or_init(place).1
    });
}

#[test]
fn readers_find_the_texture_coordinates_of_the_input() {
    check_on("check_uv.py", textured_store);
    check_on("check_glb.js", textured_store);
    check_on("check_glb_animated.js", textured_store);
}

#[test]
fn a_store_that_pyarrow_wrote_becomes_closed_fragments() {
    check_on("check_write_store.py", scratch);
}

#[test]
fn a_lammps_run_becomes_closed_fragments() {
    check_on("check_lammps_store.py", scratch);
}

#[test]
fn scenes_of_five_objects_become_five_bodies() {
    check_on("check_inputs.py", scratch);
}

#[test]
fn scipy_finds_the_cells_and_faces_of_voronoi_packings() {
    check_on("check_cells.py", scratch);
}

//! Shells, ropes and cloth: the stiffness of a shell, and all stages for each of them.

use std::f64::consts::PI;

use cullet::pack;
use cullet::simulate::{method, schedule};
use cullet::spec::{Action, Attachment, Backend, Region};

use crate::harness::{TestFolder, files};
use crate::scenes::slope;

const E: f64 = 1e7;

#[test]
fn a_pulled_tube_is_as_stiff_as_the_solid_asked_for() {
    let [length, radius, r] = [0.06, 0.012, 1e-3];
    for layers in [1, 3] {
        let text = format!(
            "[time]\nend = 1\nframes_per_second = 1\nfraction = 0.6\n[world]\ngravity = [0, 0, 0]\n\
             [[material]]\nname = \"solid\"\ndensity = 1700\nyoung = {E}\npoisson = 0.2\ndamping = 0\n\
             [[body]]\nname = \"tube\"\nmaterial = \"solid\"\nshape = {{ type = \"cylinder\", radius = {radius}, height = {length} }}\n\
             packing = {{ type = \"shell\", radius = {r}, layers = {layers} }}\n"
        );
        let mut pipeline = cullet::spec::parse(&text, "tube", &[]).unwrap();
        let packed = pack::pack(&pipeline, ".".as_ref()).unwrap();
        let thickness = r * (1.8 * f64::from(layers) - 0.8);
        let section = PI * (radius.powi(2) - (radius - thickness).powi(2));
        let force = 1e-3 * E * section;
        for side in [-1.0, 1.0] {
            let (inner, outer) = (side * (length / 2.0 - 6e-3), side * length);
            pipeline.attachments.push(Attachment {
                name: format!("end {side}"),
                body: "tube".into(),
                region: Region {
                    min: [-1.0, inner.min(outer), -1.0],
                    max: [1.0, inner.max(outer), 1.0],
                },
                action: Action::force([0.0, side * force, 0.0]),
            });
        }
        // The first longitudinal mode, critically damped.
        let omega = PI * (E / 1700.0).sqrt() / length;
        pipeline.simulate.drag = 2.0 * omega;
        let dt = 0.6 * schedule(&packed.packing, &pipeline).unwrap().critical;
        let mut run = method(&packed.packing, &pipeline, Backend::Cpu, dt).unwrap();
        run.advance((12.0 / (omega * dt)) as u64).unwrap();
        let frames = run.snapshot(0).unwrap().frames;
        let e = &packed.packing.elements;
        let middle = (0..e.id.len()).filter(|&i| e.y[i].abs() < 0.2 * length);
        let strain = slope(middle.map(|i| (e.y[i], f64::from(frames.y[i]) - e.y[i])));
        let young = force / section / strain / E;
        println!("{layers} layers: E {young:.4} of that asked for");
        assert!((young - 1.0).abs() < 0.15, "{young}");
    }
}

/// All stages of a small shot, with equal results on one thread and two.
fn runs_alike(text: &str, frames: usize) {
    let folder = TestFolder::new();
    folder.write("shot.toml", text);
    for (threads, out) in [("1", "one"), ("2", "two")] {
        folder.succeed(&["run", "shot.toml", "--out", out, "--threads", threads]);
    }
    let folders = ["packing", "frames", "breaks", "meshes"];
    let [one, two] = ["one", "two"].map(|out| files(&folder.path(out), &folders));
    assert!(one.len() >= 2 * frames && one == two);
}

fn shot(shape: &str, packing: &str, more: &str) -> String {
    format!(
        "[time]\nend = \"2 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"m\"\ndensity = 1100\nyoung = \"50 MPa\"\ntensile_strength = \"0.2 MPa\"\n\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {shape}\npacking = {packing}\n{more}"
    )
}

#[test]
fn shells_ropes_and_cloth_run_and_get_surfaces_the_same_on_any_number_of_threads() {
    let fall = "position = [0, \"20.5 mm\", 0]\nvelocity = [0, \"-6 m/s\", 0]\n\
                [[collider]]\nname = \"floor\"\nshape = { type = \"half_space\", normal = [0, 1, 0] }\n";
    for (shape, packing, more) in [
        (
            "{ type = \"sphere\", radius = \"20 mm\" }",
            "{ type = \"shell\", elements = 1500, layers = 2 }",
            fall,
        ),
        (
            "{ type = \"cylinder\", radius = \"5 mm\", height = \"40 mm\" }",
            "{ type = \"twisted\", radius = \"0.5 mm\", strands = 3, filaments = 7, pitch = \"40 mm\" }",
            fall,
        ),
        (
            "{ type = \"plate\", size = [\"30 mm\", \"30 mm\"], layers = 1 }",
            "{ type = \"woven\", radius = \"0.8 mm\", weave = \"twill\" }",
            "[[attach]]\nname = \"left\"\nbody = \"b\"\nregion = { min = [-1, -1, -1], max = [\"-10 mm\", 1, 1] }\naction = { type = \"clamp\" }\n",
        ),
    ] {
        runs_alike(&shot(shape, packing, more), 2);
    }
}

//! Three-point bending: beam, supports and press of the shot, pressed slowly.

use std::path::Path;

use cullet::columns::Loads;
use cullet::simulate::{method, schedule};
use cullet::spec::{self, Backend};

use crate::scenes::slope;

/// ΔF/Δδ for press displacements from 0.2 to 1 mm, N/m: the result of `tools/beam_bending.py --rows 6
/// --elasticity bond`, a sparse static solution of the same bonds and contacts.
const STATIC_SLOPE: f64 = 85_881.0;

/// Speed of the press, m/s.
const SPEED: f64 = 0.02;

fn row(loads: &Loads, name: &str) -> usize {
    loads.name.iter().position(|found| found == name).unwrap()
}

#[test]
fn a_beam_on_two_supports_is_as_stiff_as_its_static_solution() {
    let sets = [
        "body.beam.shape.rows=[36, 6, 6]".to_owned(),
        "body.beam.packing.radius=3.333333333333e-3".to_owned(),
        "collider.left.position=[-0.1, -0.0269416096821, 0]".to_owned(),
        "collider.right.position=[0.1, -0.0269416096821, 0]".to_owned(),
        "collider.press.position=[0, 0.0269416096821, 0]".to_owned(),
        format!("collider.press.velocity=[0, -{SPEED}, 0]"),
        "world.gravity=[0, 0, 0]".to_owned(),
        // The drag damps the oscillation of the start.
        "simulate.drag=200".to_owned(),
    ];
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/beam_bending.toml");
    let resolved = spec::read(&file, &sets).unwrap();
    let packing = cullet::pack::pack(&resolved.pipeline, &resolved.folder)
        .unwrap()
        .packing;
    let dt = 0.4 * schedule(&packing, &resolved.pipeline).unwrap().critical;
    let mut run = method(&packing, &resolved.pipeline, Backend::Cpu, dt).unwrap();
    let mut moments = Vec::new();
    let mut before = 0.0;
    for frame in 0..=55 {
        if frame > 0 {
            run.advance((1e-3 / dt) as u64).unwrap();
        }
        let loads = run.snapshot(frame).unwrap().loads;
        let way = -loads.dy[row(&loads, "middle")];
        // A load is averaged over the time since the previous frame.
        moments.push(((way + before) / 2.0, loads.fy[row(&loads, "press")]));
        before = way;
    }
    let fitted: Vec<_> = moments
        .into_iter()
        .filter(|(way, _)| (0.2e-3..=1e-3).contains(way))
        .collect();
    assert!(fitted.len() > 30, "{}", fitted.len());
    let slope = slope(fitted.into_iter());
    let off = slope / STATIC_SLOPE - 1.0;
    assert!(off.abs() < 0.03, "{slope:.4e} N/m: {off:+.3}");
}

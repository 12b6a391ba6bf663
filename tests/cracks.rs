//! Cracks that bodies have from the start.

use cullet::columns::Breaks;
use cullet::simulate::{Method, method};
use cullet::spec::{Backend, Integrator, Pipeline};
use cullet::store::Packing;
use glam::DVec3;

use crate::device;
use crate::harness::TestFolder;
use crate::scenes;

const SHOT: &str = r#"
[time]
end = "2 ms"
frames_per_second = 1000

[world]
gravity = [0, 0, 0]

[[material]]
name = "stone"
density = 2000
young = "10 MPa"
tensile_strength = "25 kPa"
shear_strength = "50 kPa"

[[body]]
name = "block"
material = "stone"
shape = { type = "box", size = ["40 mm", "20 mm", "20 mm"] }
packing = { type = "random", radius = "1.7 mm" }
position = [1, 2, 3]
rotation = { axis = [0, 0, 1], angle = "90 deg" }
cracks = [{ points = [[0, 0, -1], [0, 1, -1], [0, 1, 1], [0, 0, 1]] }]
"#;

/// A block that is cut to its middle across its length.
fn block() -> (Packing, Pipeline) {
    let (pipeline, packed) = scenes::read(SHOT);
    (packed.packing, pipeline)
}

/// Bonds that cross the crack: places at rest, turned back into the frame of the shape.
fn crossing(packing: &Packing) -> Vec<u32> {
    let rest = packing.centres();
    let place = |id: u32| {
        let p = rest[id as usize] - DVec3::new(1.0, 2.0, 3.0);
        DVec3::new(p.y, -p.x, p.z)
    };
    let b = &packing.bonds;
    let crosses = |k: &usize| {
        let [p, q] = [b.i[*k], b.j[*k]].map(place);
        (p.x > 0.0) != (q.x > 0.0) && (p.y * q.x - q.y * p.x) / (q.x - p.x) > 0.0
    };
    (0..b.i.len()).filter(crosses).map(|k| k as u32).collect()
}

/// The bonds that break up to the first frame, and up to the second of a run that goes on from it.
fn breaks(engine: &mut dyn Method, fresh: &mut dyn Method) -> [Breaks; 2] {
    let first = engine.snapshot(0).unwrap();
    let state = engine.state(0).unwrap();
    let count = first.breaks.bond.len();
    assert_eq!(first.history.broken[0] as usize, count);
    let twice: u32 = first.frames.broken.iter().sum();
    assert_eq!(twice as usize, 2 * count);
    fresh.restore(&state).unwrap();
    fresh.advance(1).unwrap();
    [first.breaks, fresh.snapshot(1).unwrap().breaks]
}

#[test]
fn bonds_across_a_crack_are_broken_in_the_first_frame() {
    let (packing, mut pipeline) = block();
    let expected = crossing(&packing);
    assert!((20..200).contains(&expected.len()), "{}", expected.len());
    let dt = 1e-6;
    for integrator in [Integrator::Explicit, Integrator::Midpoint] {
        pipeline.simulate.integrator = integrator;
        let engine = || method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
        let [first, second] = breaks(engine().as_mut(), engine().as_mut());
        assert_eq!(first.bond, expected, "{integrator:?}");
        assert!(first.time.iter().all(|&time| time == 0.0));
        assert_eq!(second.bond, [0; 0], "{integrator:?}");
    }
    pipeline.simulate.integrator = Integrator::Explicit;
    if let Some(request) = device::request() {
        let engine = || device::engine(&packing, &pipeline, dt, &request);
        let [first, second] = breaks(&mut engine(), &mut engine());
        assert_eq!(first.bond, expected);
        assert_eq!(second.bond, [0; 0]);
    }
}

#[test]
fn a_crack_through_a_body_makes_two_pieces_that_fly_apart_and_press_on_each_other() {
    let through = SHOT.replace(
        "[[0, 0, -1], [0, 1, -1], [0, 1, 1], [0, 0, 1]]",
        "[[0, -1, -1], [0, 1, 0], [0, -1, 1]]",
    );
    let (pipeline, packed) = scenes::read(&through);
    let mut packing = packed.packing;
    let rest = packing.centres();
    let speed = |apart: f64| -> Vec<DVec3> {
        let side = |p: &DVec3| DVec3::Y * apart * (p.y - 2.0).signum();
        rest.iter().map(side).collect()
    };
    for (apart, held) in [(0.05, false), (-0.05, true)] {
        scenes::set_motion(
            &mut packing.elements,
            &speed(apart),
            &vec![DVec3::ZERO; rest.len()],
        );
        let mut engine = method(&packing, &pipeline, Backend::Cpu, 2e-6).unwrap();
        let first = engine.snapshot(0).unwrap();
        let pieces = first.frames.fragment.iter().max().unwrap() + 1;
        assert_eq!(pieces, 2);
        engine.advance(300).unwrap();
        let after = engine.snapshot(1).unwrap();
        let contacts = after.history.contacts[0];
        assert_eq!(contacts > 0, held, "{contacts} contacts");
        assert_eq!(after.history.broken[0], first.history.broken[0]);
    }
}

#[test]
fn surfaces_show_the_crack_and_the_store_is_valid() {
    let place = TestFolder::new();
    place.write("shot.toml", SHOT);
    let size = |out: &str, cracks: &[&str]| {
        let words = ["run", "shot.toml", "--to", "reconstruct", "--out", out];
        place.succeed(&[&words[..], cracks].concat());
        place.succeed(&["inspect", out, "--validate"]);
        let first = place.path(out).join("meshes/000000.rkyv");
        std::fs::metadata(first).unwrap().len() as f64
    };
    let cracked = size("cracked", &[]);
    let whole = size("whole", &["--set", "body.block.cracks=[]"]);
    // Both faces of the crack are drawn.
    assert!(cracked > 1.05 * whole, "{cracked} and {whole} bytes");
}

#[test]
fn cracks_that_are_no_polygons_are_refused_by_name() {
    let place = TestFolder::new();
    place.write("shot.toml", SHOT);
    for (set, expected) in [
        (
            "body.block.cracks=[{points=[[0,0,0],[1,0,0]]}]",
            "at least 3 corners",
        ),
        (
            "body.block.cracks=[{points=[[0,0,0],[1,0,0],[2,0,0]]}]",
            "on one line",
        ),
        (
            "body.block.cracks=[{points=[[0,0,0],[1,0,0],[1,1,0.1],[0,1,0]]}]",
            "one plane",
        ),
        (
            "body.block.cracks=[{points=[[0,0,0],[2,0,0],[0.5,0.5,0],[0,2,0]]}]",
            "not convex",
        ),
        (
            "body.block.cracks=[{points=[[9,0,0],[9,1,0],[9,1,1]]}]",
            "crosses no bond",
        ),
        ("simulate.method=\"bem\"", "skin of a body only"),
        ("body.block.bonded=false", "loose"),
        ("body.block.rigid=true", "rigid body does not break"),
        (
            "body.block.packing={type=\"voronoi\",size=\"4 mm\"}",
            "bodies of cells",
        ),
    ] {
        let message = place.refuse(&["check", "shot.toml", "--set", set]);
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("cracks"), "{message}");
    }
}

//! Energy balance: the energy dissipated by damping, friction and breaking equals the energy lost.

use cullet::columns::History;
use cullet::math::LaneWidth;
use cullet::simulate::{Method, Snapshot};
use cullet::spec::{Backend, Law, Material, Pipeline};
use cullet::store::Packing;
use glam::DVec3;

use crate::energy::unit_step;
use crate::harness::TestFolder;
use crate::scenes;

const R: f64 = 1e-3;
/// Gravitational acceleration, m/s².
const GRAVITY: f64 = 9.81;

/// Runs on this many threads; long runs of few elements use one, which never waits for others.
fn on<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(run)
}

/// A packing above a floor, with a gap `gap` below its lowest elements and all of it at velocity `v`; and its
/// time step.
struct DropTest {
    packing: Packing,
    pipeline: Pipeline,
    dt: f64,
}

impl DropTest {
    fn new(points: &[DVec3], material: &Material, strength: f64, gap: f64, v: DVec3) -> Self {
        let mut packing = scenes::packing(points, R, material, (strength, strength));
        let n = points.len();
        scenes::set_motion(&mut packing.elements, &vec![v; n], &vec![DVec3::ZERO; n]);
        let mut pipeline = scenes::pipeline(material.clone());
        pipeline.world.gravity = [0.0, -GRAVITY, 0.0];
        pipeline.output.work = true;
        let lowest = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let mut floor = scenes::rising_floor(lowest - R - gap, 0.0);
        floor.friction = material.friction;
        pipeline.colliders = vec![floor];
        DropTest {
            packing,
            pipeline,
            dt: 0.2 * unit_step(material),
        }
    }

    fn engine(&self) -> Box<dyn Method> {
        cullet::simulate::method(&self.packing, &self.pipeline, Backend::Cpu, self.dt).unwrap()
    }

    /// History at the start and after a time, s.
    fn history_after(&self, time: f64) -> [History; 2] {
        on(1, || {
            let mut engine = self.engine();
            let first = engine.snapshot(0).unwrap().history;
            engine.advance((time / self.dt) as u64).unwrap();
            [first, engine.snapshot(1).unwrap().history]
        })
    }
}

fn material(friction: f64) -> Material {
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    material.friction = friction;
    material
}

/// Mechanical energy, J.
fn mechanical_energy(h: &History) -> f64 {
    h.kinetic[0] + h.rotational[0] + h.gravity[0] + h.bond[0] + h.contact[0]
}

/// Dissipated energy, J.
fn dissipated_energy(h: &History) -> f64 {
    h.damping[0] + h.friction[0] + h.breaking[0]
}

/// A block that loses energy almost only by friction with its floor.
fn block() -> DropTest {
    let mut material = material(0.5);
    (material.damping, material.contact_damping) = (0.05, 0.1);
    let points = scenes::block(9, 3, 9, R);
    DropTest::new(&points, &material, f64::INFINITY, 0.0, DVec3::X * 0.3)
}

#[test]
fn friction_takes_the_kinetic_energy_of_a_block_that_slides_to_rest() {
    // It comes to rest after v/(μ g) = 61 ms.
    let [first, last] = block().history_after(0.1);
    assert_eq!(dissipated_energy(&first), 0.0);
    let (before, after) = (first.kinetic[0], last.kinetic[0] + last.rotational[0]);
    assert!(after < 1e-4 * before, "at rest: {after:e} of {before:e} J");
    let off = last.friction[0] / before - 1.0;
    println!("friction of a sliding block is off by {:.2} %", 100.0 * off);
    assert!(off.abs() < 0.02, "friction is off by {off:.1e}");
    assert_eq!(last.breaking[0], 0.0);
    let off =
        (mechanical_energy(&first) - mechanical_energy(&last)) / dissipated_energy(&last) - 1.0;
    assert!(off.abs() < 0.02, "the balance is off by {off:.1e}");
}

#[test]
fn rolling_friction_takes_the_kinetic_energy_of_a_ball() {
    let mut material = material(0.8);
    (material.rolling_friction, material.contact_damping) = (0.1, 0.2);
    let v = 0.1;
    let mut ball = DropTest::new(&[DVec3::ZERO], &material, f64::INFINITY, 0.0, DVec3::X * v);
    // It rolls from the start: only rolling friction slows it down.
    ball.packing.elements.wz = vec![-v / R];
    let [first, last] = ball.history_after(0.3);
    let before = first.kinetic[0] + first.rotational[0];
    let after = last.kinetic[0] + last.rotational[0];
    assert!(after < 1e-4 * before, "at rest: {after:e} of {before:e} J");
    let off = last.friction[0] / before - 1.0;
    println!("rolling friction is off by {:.2} %", 100.0 * off);
    assert!(off.abs() < 0.02, "rolling friction is off by {off:.1e}");
}

/// A plate that breaks on its floor, and slides and rolls to rest in pieces.
fn plate() -> DropTest {
    let mut material = material(0.5);
    (material.damping, material.contact_damping) = (0.02, 0.2);
    material.rolling_friction = 0.3;
    let points = scenes::block(10, 3, 10, R);
    let v = DVec3::new(0.8, -2.0, 0.2);
    DropTest::new(&points, &material, 1.5e5, 0.1 * R, v)
}

#[test]
fn what_a_dropped_plate_loses_is_what_damping_friction_and_breaking_take() {
    for law in [Law::Bdem, Law::Manifold] {
        let mut plate = plate();
        plate.pipeline.simulate.law = Some(law);
        check_balance(&plate);
    }
}

fn check_balance(plate: &DropTest) {
    let moves = |h: &History| h.kinetic[0] + h.rotational[0];
    let [first, last] = on(1, || {
        let mut engine = plate.engine();
        let first = engine.snapshot(0).unwrap().history;
        let steps = (0.05 / plate.dt) as u64;
        let mut frames = (1..=40).map(|frame| {
            engine.advance(steps).unwrap();
            engine.snapshot(frame).unwrap().history
        });
        let rest = frames.find(|h| moves(h) < 1e-3 * moves(&first));
        [first, rest.expect("it comes to rest")]
    });
    let lost = mechanical_energy(&first) - mechanical_energy(&last);
    assert!(last.broken[0] > 20, "it breaks: {}", last.broken[0]);
    let parts = [last.damping[0], last.friction[0], last.breaking[0]].map(|part| part / lost);
    let off = dissipated_energy(&last) / lost - 1.0;
    println!(
        "a dropped plate lost {lost:.3e} J: damping, friction, breaking took {parts:.3?}, {:.2} % off",
        100.0 * off
    );
    assert!(parts.iter().all(|part| *part > 0.05), "{parts:.3?}");
    assert!(off.abs() < 0.05, "off by {off:.1e}: {parts:.3?}");
}

/// Frames after each of these numbers of steps.
fn frames(drop: &DropTest, width: LaneWidth, chunk: usize, steps: &[u64]) -> Option<Vec<Snapshot>> {
    let shot = (&drop.packing, &drop.pipeline, drop.dt);
    let mut engine = scenes::on_width(width, shot, Some(chunk))?;
    let mut frames = Vec::new();
    for &steps in steps {
        engine.advance(steps).unwrap();
        frames.push(engine.snapshot(frames.len() as u32).unwrap());
    }
    Some(frames)
}

#[test]
fn threads_chunks_lanes_and_going_on_from_a_state_change_no_bit_of_it() {
    let plate = plate();
    let steps = [0, 900, 700];
    let one = on(1, || frames(&plate, LaneWidth::One, 1024, &steps)).unwrap();
    let three = on(3, || frames(&plate, LaneWidth::One, 80, &steps)).unwrap();
    assert!(one == three, "threads or chunks");
    if let Some(eight) = on(3, || frames(&plate, LaneWidth::Eight, 160, &steps)) {
        assert!(one == eight, "lanes");
    }
    let last = &one[2].history;
    let all = [last.damping[0], last.friction[0], last.breaking[0]];
    assert!(all.iter().all(|taken| *taken > 0.0), "{all:?}");
    let mut engine = plate.engine();
    engine.advance(900).unwrap();
    let state = engine.state(1).unwrap();
    let mut resumed = plate.engine();
    resumed.restore(&state).unwrap();
    resumed.advance(700).unwrap();
    assert!(one[2].history == resumed.snapshot(2).unwrap().history);

    // A state of a run without work output does not contain the dissipated energies since the start.
    let mut silent = plate;
    silent.pipeline.output.work = false;
    let mut engine = silent.engine();
    engine.advance(900).unwrap();
    let state = engine.state(1).unwrap();
    silent.pipeline.output.work = true;
    let mut resumed = silent.engine();
    resumed.restore(&state).unwrap();
    resumed.advance(700).unwrap();
    let history = resumed.snapshot(2).unwrap().history;
    assert_eq!(history.kinetic, last.kinetic, "it changes no motion");
    assert!(history.damping.is_empty() && history.friction.is_empty());
}

/// A bar that falls on a floor.
const SHOT: &str = r#"
[time]
end = "2 ms"
frames_per_second = 1000
[[material]]
name = "gypsum"
density = 2300
young = "10 MPa"
elasticity = "bond"
shear = "4 MPa"
tensile_strength = "20 kPa"
shear_strength = "20 kPa"
damping = 0.05
friction = 0.5
[[body]]
name = "bar"
material = "gypsum"
shape = { type = "box", size = ["2 cm", "4 mm", "4 mm"] }
position = [0, "2.5 mm", 0]
packing = { type = "hexagonal", radius = "0.5 mm" }
velocity = ["1 m/s", "-3 m/s", 0]
[[collider]]
name = "floor"
shape = { type = "half_space", normal = [0, 1, 0] }
"#;

#[test]
fn a_store_tells_it_where_it_is_asked_for_and_lacks_the_columns_elsewhere() {
    let folder = TestFolder::new();
    folder.write("shot.toml", SHOT);
    let run = |out: &str, work: &str| {
        let work = format!("output.work={work}");
        folder.succeed(&[
            "run",
            "shot.toml",
            "--out",
            out,
            "--to",
            "simulate",
            "--set",
            "simulate.backend=cpu",
            "--set",
            &work,
        ]);
        folder.succeed(&["inspect", out, "--validate"]);
        let json: serde_json::Value =
            serde_json::from_str(&folder.succeed(&["inspect", out, "--json"])).unwrap();
        folder.succeed(&["plot", out]);
        let path = folder.path(&format!("{out}/plots/energy.svg"));
        (json, std::fs::read_to_string(path).unwrap())
    };
    let (json, chart) = run("with", "true");
    for kind in ["damping", "friction", "breaking"] {
        let taken = json["last"]["work"][kind].as_f64().unwrap();
        assert!(taken > 0.0, "{kind}: {taken}");
        assert!(chart.contains(&format!("dissipated by {kind}")), "{kind}");
    }
    let text = folder.succeed(&["inspect", "with"]);
    assert!(text.contains("dissipated by    breaking"), "{text}");
    let (json, chart) = run("without", "false");
    assert_eq!(json["last"]["work"], serde_json::json!({}));
    assert!(chart.contains("kinetic") && !chart.contains("dissipated by"));
    let names = |out: &str| {
        let path = folder.path(&format!("{out}/history/000001.parquet"));
        cullet::store::parquet::column_names(&path).unwrap()
    };
    let all = names("with");
    let others = names("without");
    let lacking: Vec<_> = all.iter().filter(|name| !others.contains(name)).collect();
    assert_eq!(lacking, ["damping", "friction", "breaking"]);

    let said = folder.refuse(&[
        "run",
        "shot.toml",
        "--out",
        "device",
        "--set",
        "simulate.backend=gpu",
        "--set",
        "output.work=true",
    ]);
    assert!(
        said.contains("output.work on backend gpu") && said.contains("--backend cpu"),
        "{said}"
    );
}

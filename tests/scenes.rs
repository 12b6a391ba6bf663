//! Small scenes built for tests.

use cullet::columns::{BondLaw, Bonds, Elements, Shape};
pub use cullet::math::regression::slope;
use cullet::math::{LaneWidth, Lanes, OnLanes};
use cullet::pack::{self, Packed};
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::{Built, Method, Snapshot, build, method, schedule};
use cullet::spec::*;
use cullet::store::Packing;
use glam::DVec3;

/// All bond laws that implicit steps support.
pub fn energy_laws() -> impl Iterator<Item = Law> {
    let all = Law::NAMES.iter().map(|(law, _)| *law);
    all.filter(|law| law.has_energy())
}

/// A material without dissipation and without breaking.
pub fn elastic(young: f64, shear: f64, density: f64) -> Material {
    Material {
        name: "elastic".into(),
        density,
        young,
        poisson: None,
        shear: Some(shear),
        elasticity: Elasticity::Bond,
        strength: Some(Strength::Bond),
        criterion: Criterion::Lu2021,
        tensile_strength: None,
        shear_strength: None,
        weibull_modulus: None,
        weibull_size: None,
        weibull_length: None,
        toughness: None,
        hydrostatic_strength: None,
        grain: None,
        damping: 0.0,
        friction: 0.0,
        static_friction: None,
        rolling_friction: 0.0,
        contact_damping: 0.0,
        restitution: None,
        contact_shear_ratio: 0.5,
        contact_young: None,
    }
}

/// Positions of the elements at rest.
pub fn at_rest(packing: &Packing) -> Vec<DVec3> {
    packing.centres()
}

/// Positions of the elements in a frame.
pub fn places(snapshot: &Snapshot) -> Vec<DVec3> {
    snapshot.centres()
}

/// A pipeline around one material, without gravity and colliders.
pub fn pipeline(material: Material) -> Pipeline {
    Pipeline {
        time: Time {
            end: 1.0,
            frames_per_second: 1.0,
            step: None,
            fraction: 0.2,
        },
        world: World {
            gravity: [0.0; 3],
            bounds: None,
            ..World::default()
        },
        materials: vec![material],
        pairs: vec![],
        bodies: vec![],
        colliders: vec![],
        attachments: vec![],
        simulate: Simulate::default(),
        stress: None,
        output: Default::default(),
        reconstruct: Reconstruct::default(),
        export: Export::default(),
        preview: Preview::default(),
    }
}

/// Equal elements at `points` with masses of solid balls, bonded where they touch, with the given strengths.
pub fn packing(points: &[DVec3], r: f64, material: &Material, strength: (f64, f64)) -> Packing {
    let n = points.len();
    let mass = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * material.density;
    let column = |f: &dyn Fn(DVec3) -> f64| points.iter().map(|&p| f(p)).collect::<Vec<_>>();
    let elements = Elements {
        id: (0..n as u32).collect(),
        body: vec![0; n],
        material: vec![0; n],
        kind: vec![Shape::Sphere; n],
        x: column(&|p| p.x),
        y: column(&|p| p.y),
        z: column(&|p| p.z),
        r: vec![r; n],
        mass: vec![mass; n],
        inertia: vec![0.4 * mass * r * r; n],
        volume: vec![4.0 * 2f64.sqrt() * r.powi(3); n],
        vx: vec![0.0; n],
        vy: vec![0.0; n],
        vz: vec![0.0; n],
        wx: vec![0.0; n],
        wy: vec![0.0; n],
        wz: vec![0.0; n],
    };
    let mut bonds = Bonds::default();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| points[a].x.total_cmp(&points[b].x));
    let mut pairs = Vec::new();
    for (at, &a) in order.iter().enumerate() {
        for &b in order[at + 1..]
            .iter()
            .take_while(|&&b| points[b].x - points[a].x < 2.01 * r)
        {
            if points[a].distance(points[b]) < 2.01 * r {
                pairs.push((a.min(b), a.max(b)));
            }
        }
    }
    pairs.sort_unstable();
    for (k, (i, j)) in pairs.into_iter().enumerate() {
        let d = points[j] - points[i];
        let n = d.normalize();
        bonds.id.push(k as u32);
        bonds.i.push(i as u32);
        bonds.j.push(j as u32);
        bonds.l0.push(d.length());
        bonds.dx.push(n.x);
        bonds.dy.push(n.y);
        bonds.dz.push(n.z);
        bonds.radius.push(r);
        bonds.young.push(material.young);
        bonds.shear.push(material.shear.unwrap());
        bonds.sigma_c.push(strength.0);
        bonds.tau_c.push(strength.1);
        bonds.law.push(BondLaw::Bdem);
    }
    Packing {
        elements,
        bonds,
        ..Packing::default()
    }
}

/// A floor at height `y` that moves up at speed `speed`.
pub fn rising_floor(y: f64, speed: f64) -> Collider {
    Collider {
        name: "floor".into(),
        shape: ColliderShape::HalfSpace {
            normal: [0.0, 1.0, 0.0],
        },
        position: [0.0, y, 0.0],
        rotation: Rotation::default(),
        velocity: [0.0, speed, 0.0],
        spin: [0.0; 3],
        keys: vec![],
        friction: 0.3,
        young: None,
    }
}

/// A clamp that moves at a velocity and does not rotate.
pub fn clamp(velocity: [f64; 3]) -> Action {
    Action::Clamp {
        velocity,
        spin: [0.0; 3],
        pivot: None,
        keys: vec![],
    }
}

/// Hexagonal block: `nx` elements a row along x, `ny` rows a layer along y, `nz` layers along z.
pub fn block(nx: usize, ny: usize, nz: usize, r: f64) -> Vec<DVec3> {
    let mut points = Vec::new();
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                points.push(DVec3::new(
                    (2 * i + (j + k) % 2) as f64 * r,
                    3f64.sqrt() * (j as f64 + (k % 2) as f64 / 3.0) * r,
                    2.0 * 6f64.sqrt() / 3.0 * k as f64 * r,
                ));
            }
        }
    }
    points
}

/// Sets the initial velocity and spin of each element.
pub fn set_motion(elements: &mut Elements, v: &[DVec3], w: &[DVec3]) {
    elements.vx = v.iter().map(|v| v.x).collect();
    elements.vy = v.iter().map(|v| v.y).collect();
    elements.vz = v.iter().map(|v| v.z).collect();
    elements.wx = w.iter().map(|w| w.x).collect();
    elements.wy = w.iter().map(|w| w.y).collect();
    elements.wz = w.iter().map(|w| w.z).collect();
}

/// A pipeline read from its text, and its packing.
pub fn read(text: &str) -> (Pipeline, Packed) {
    let pipeline = cullet::spec::parse(text, "shot", &[]).unwrap();
    let packed = pack::pack(&pipeline, ".".as_ref()).unwrap();
    (pipeline, packed)
}

/// All frames of a pipeline on the CPU, the initial one first.
pub fn play(pipeline: &Pipeline, packing: &Packing) -> Vec<Snapshot> {
    let schedule = schedule(packing, pipeline).unwrap();
    let mut run = method(packing, pipeline, Backend::Cpu, schedule.dt).unwrap();
    let frames = (0..=schedule.frames).map(|frame| {
        if frame > 0 {
            run.advance(schedule.steps_per_frame).unwrap();
        }
        run.snapshot(frame).unwrap()
    });
    frames.collect()
}

/// Frames of a run, `steps` steps apart.
pub fn frames(run: &mut dyn Method, steps: u64, range: std::ops::Range<u32>) -> Vec<Snapshot> {
    range
        .map(|frame| {
            run.advance(steps).unwrap();
            run.snapshot(frame).unwrap()
        })
        .collect()
}

/// Arguments of a CPU run on lanes of any width.
struct OnCpu<'a>(Built<f32>, &'a Pipeline, f64);

impl OnLanes for OnCpu<'_> {
    type Out = Box<dyn Method>;
    fn on<L: Lanes<Scalar = f32>>(self) -> Self::Out {
        Box::new(Cpu::<L>::new(self.0, self.1, self.2))
    }
}

/// A run on lanes of this width, with an optional size of its chunks of elements; prints a message and
/// returns `None` where this machine lacks such lanes.
pub fn on_width(
    width: LaneWidth,
    (packing, pipeline, dt): (&Packing, &Pipeline, f64),
    chunk: Option<usize>,
) -> Option<Box<dyn Method>> {
    let mut built = build(packing, pipeline).unwrap();
    built.system.chunk = chunk.unwrap_or(built.system.chunk);
    let run = width.run(OnCpu(built, pipeline, dt));
    if run.is_none() {
        println!("skipped: this machine has no instructions for {width:?} lanes");
    }
    run
}

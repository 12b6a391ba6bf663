//! Beams in static equilibrium, by damped relaxation in explicit steps, or by long implicit steps.
//!
//! The reference values of the relaxed ones come from a sparse direct solution of the same linearised packing.

use cullet::simulate::{method, schedule};
use cullet::spec::{Action, Attachment, Backend, Body, BodyShape, Integrator, Pipeline, Region};
use cullet::store::Packing;
use glam::DVec3;

use crate::scenes;

const R: f64 = 1e-3;
const E: f64 = 1e7;

/// A bonded block whose elements have the masses of solid balls, and its section.
struct Beam {
    points: Vec<DVec3>,
    packing: Packing,
    pipeline: Pipeline,
    width: f64,
    height: f64,
}

impl Beam {
    fn new(rows: [usize; 3], shear_ratio: f64) -> Self {
        let mut material = scenes::elastic(E, shear_ratio * E, 2600.0);
        material.damping = 0.0;
        let points = scenes::block(rows[0], rows[1], rows[2], R);
        let packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
        let mut pipeline = scenes::pipeline(material);
        pipeline.bodies = vec![body()];
        pipeline.time.fraction = 0.6;
        Beam {
            points,
            packing,
            pipeline,
            width: rows[1] as f64 * 3f64.sqrt() * R,
            height: rows[2] as f64 * 2.0 * 6f64.sqrt() / 3.0 * R,
        }
    }

    fn length(&self) -> f64 {
        self.points.iter().map(|p| p.x).fold(0.0, f64::max)
    }

    /// Elements within 2.1 radii of the last or first one along x.
    fn end(&self, last: bool) -> Vec<usize> {
        let limit = self.length() - 2.1 * R;
        (0..self.points.len())
            .filter(|&i| {
                if last {
                    self.points[i].x > limit
                } else {
                    self.points[i].x < 2.1 * R
                }
            })
            .collect()
    }

    /// Clamps or loads an end.
    fn attach(&mut self, last: bool, action: Action) {
        let (from, to) = if last {
            (self.length() - 2.1 * R, 1.0)
        } else {
            (-1.0, 2.1 * R)
        };
        self.pipeline.attachments.push(Attachment {
            name: "end".into(),
            body: "beam".into(),
            region: Region {
                min: [from, -1.0, -1.0],
                max: [to, 1.0, 1.0],
            },
            action,
        });
    }

    /// Displacements at rest, relaxed with drag 2ω for a mode of angular frequency ω.
    fn relax(mut self, omega: f64) -> (Vec<DVec3>, Self) {
        self.pipeline.simulate.drag = 2.0 * omega;
        let plan = schedule(&self.packing, &self.pipeline).unwrap();
        let dt = 0.6 * plan.critical;
        let mut run = method(&self.packing, &self.pipeline, Backend::Cpu, dt).unwrap();
        // A critically damped mode is within (1 + ωt) e^{-ωt} of rest; 10 leaves 5e-4.
        run.advance((10.0 / (omega * dt)) as u64).unwrap();
        let frames = run.snapshot(0).unwrap().frames;
        let moved = (0..self.points.len())
            .map(|i| {
                DVec3::new(
                    f64::from(frames.x[i]),
                    f64::from(frames.y[i]),
                    f64::from(frames.z[i]),
                ) - self.points[i]
            })
            .collect();
        (moved, self)
    }
}

pub fn body() -> Body {
    Body {
        name: "beam".into(),
        material: "elastic".into(),
        grains: vec![],
        cracks: vec![],
        shape: BodyShape::Box { size: [1.0; 3] },
        packing: cullet::spec::PackingSpec::Hexagonal {
            radius: Some(R),
            elements: None,
        },
        mass: Default::default(),
        bonded: true,
        rigid: false,
        position: [0.0; 3],
        rotation: Default::default(),
        velocity: [0.0; 3],
        spin: [0.0; 3],
    }
}

/// Young's modulus of the pulled beam over that of its bonds.
fn pulled_modulus(rows: [usize; 3], shear_ratio: f64) -> f64 {
    let mut beam = Beam::new(rows, shear_ratio);
    let force = 2e-3 * E * beam.width * beam.height;
    beam.attach(false, Action::force([-force, 0.0, 0.0]));
    beam.attach(true, Action::force([force, 0.0, 0.0]));
    // Longitudinal mode π c/L, slowed because the elements have less mass than the solid.
    let omega = 3.0 * (1.5 * E / 2000.0).sqrt() / beam.length();
    let (moved, beam) = beam.relax(omega);
    // Strain of the middle 40 %, by least squares.
    let length = beam.length();
    let (mut n, mut x, mut u, mut xx, mut xu) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (p, d) in beam.points.iter().zip(&moved) {
        if p.x > 0.3 * length && p.x < 0.7 * length {
            n += 1.0;
            x += p.x;
            u += d.x;
            xx += p.x * p.x;
            xu += p.x * d.x;
        }
    }
    let strain = (n * xu - x * u) / (n * xx - x * x);
    force / (beam.width * beam.height) / strain / E
}

/// Tip deflection of the cantilever over Timoshenko's with the moduli of the bonds (κ = 5/6).
fn tip_deflection(rows: [usize; 3], shear_ratio: f64) -> f64 {
    let mut beam = Beam::new(rows, shear_ratio);
    let (area, inertia) = (
        beam.width * beam.height,
        beam.width * beam.height.powi(3) / 12.0,
    );
    beam.attach(false, scenes::clamp([0.0; 3]));
    let (clamped, loaded) = (beam.end(false), beam.end(true));
    let mean = loaded.iter().map(|&i| beam.points[i].x).sum::<f64>() / loaded.len() as f64;
    let length = mean
        - clamped
            .iter()
            .map(|&i| beam.points[i].x)
            .fold(0.0, f64::max);
    let timoshenko = |force: f64| {
        force * length.powi(3) / (3.0 * E * inertia)
            + force * length / (5.0 / 6.0 * shear_ratio * E * area)
    };
    // A small load: the tip deflects by a thousandth of the length.
    let force = 1e-3 * length / timoshenko(1.0);
    beam.attach(true, Action::force([0.0, 0.0, force]));
    let omega = 3.0 * (1.5 * E * inertia / (2000.0 * area)).sqrt() / length.powi(2);
    let (moved, _) = beam.relax(omega);
    let tip = loaded.iter().map(|&i| moved[i].z).sum::<f64>() / loaded.len() as f64;
    tip / timoshenko(force)
}

fn check(rows: [usize; 3], shear_ratio: f64, pull: f64, tip: f64) {
    let found = (
        pulled_modulus(rows, shear_ratio),
        tip_deflection(rows, shear_ratio),
    );
    println!(
        "{rows:?} G/E {shear_ratio}: pull {:.4} ({pull}), tip {:.4} ({tip})",
        found.0, found.1
    );
    assert!(
        (found.0 / pull - 1.0).abs() < 0.01,
        "pull {} for {pull}",
        found.0
    );
    assert!(
        (found.1 / tip - 1.0).abs() < 0.01,
        "tip {} for {tip}",
        found.1
    );
}

#[test]
fn slender_beam_at_shear_ratio_0_4() {
    check([60, 10, 10], 0.4, 1.595, 0.645);
}

#[test]
fn short_beam_at_shear_ratio_0_4() {
    check([40, 6, 6], 0.4, 1.558, 0.668);
}

#[test]
fn slender_beam_at_shear_ratio_0_3() {
    check([60, 10, 10], 0.3, 1.4917, 0.6831);
}

#[test]
fn short_beam_at_shear_ratio_0_3() {
    check([40, 6, 6], 0.3, 1.4625, 0.7039);
}

/// Tip deflection of a cantilever packed from a pipeline with the moduli of a solid, over Timoshenko's for
/// that solid (κ = 5/6).
fn bent_solid(rows: [usize; 3]) -> f64 {
    let poisson = 0.15;
    let text = format!(
        "[time]\nend = 1\nframes_per_second = 1\nfraction = 0.6\n[world]\ngravity = [0, 0, 0]\n\
         [[material]]\nname = \"solid\"\ndensity = 1700\nyoung = \"10 MPa\"\npoisson = {poisson}\ndamping = 0\n\
         [[body]]\nname = \"beam\"\nmaterial = \"solid\"\nshape = {{ type = \"block\", rows = {rows:?} }}\n\
         packing = {{ type = \"hexagonal\", radius = \"1 mm\" }}\n"
    );
    let mut pipeline = cullet::spec::parse(&text, "beam", &[]).unwrap();
    let packing = cullet::pack::pack(&pipeline, ".".as_ref()).unwrap().packing;
    let e = &packing.elements;
    let first = e.x.iter().copied().fold(f64::INFINITY, f64::min);
    let last = e.x.iter().copied().fold(0.0, f64::max);
    let loaded: Vec<usize> = (0..e.x.len())
        .filter(|&i| e.x[i] > last - 2.1 * R)
        .collect();
    let clamped =
        e.x.iter()
            .filter(|&&x| x < first + 2.1 * R)
            .copied()
            .fold(first, f64::max);
    let length = loaded.iter().map(|&i| e.x[i]).sum::<f64>() / loaded.len() as f64 - clamped;
    let (width, height) = (
        rows[1] as f64 * 3f64.sqrt() * R,
        rows[2] as f64 * 2.0 * 6f64.sqrt() / 3.0 * R,
    );
    let (area, inertia) = (width * height, width * height.powi(3) / 12.0);
    let shear = E / (2.0 * (1.0 + poisson));
    let timoshenko = |force: f64| {
        force * length.powi(3) / (3.0 * E * inertia) + force * length / (5.0 / 6.0 * shear * area)
    };
    let force = 1e-3 * length / timoshenko(1.0);
    let end = |from: f64, to: f64, action: Action| Attachment {
        name: "end".into(),
        body: "beam".into(),
        region: Region {
            min: [from, -1.0, -1.0],
            max: [to, 1.0, 1.0],
        },
        action,
    };
    pipeline.attachments = vec![
        end(-1.0, first + 2.1 * R, scenes::clamp([0.0; 3])),
        end(last - 2.1 * R, 1.0, Action::force([0.0, 0.0, force])),
    ];
    // Implicit steps so long that inertia does nothing.
    pipeline.simulate.integrator = Integrator::BackwardEuler;
    let mut run = method(&packing, &pipeline, Backend::Cpu, 10.0).unwrap();
    run.advance(3).unwrap();
    let frames = run.snapshot(0).unwrap().frames;
    let tip = loaded
        .iter()
        .map(|&i| f64::from(frames.z[i]) - e.z[i])
        .sum::<f64>()
        / loaded.len() as f64;
    tip / timoshenko(force)
}

#[test]
fn a_solid_of_ten_layers_bends_within_four_percent() {
    let found = bent_solid([60, 10, 10]);
    println!("ten layers: {found:.4} of Timoshenko");
    assert!((found - 1.0).abs() < 0.04, "{found}");
}

#[test]
fn a_solid_of_twenty_layers_bends_within_two_percent() {
    let found = bent_solid([80, 20, 20]);
    println!("twenty layers: {found:.4} of Timoshenko");
    assert!((found - 1.0).abs() < 0.02, "{found}");
}

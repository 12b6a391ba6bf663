//! Implicit steps: agreement with explicit ones, order, energy, stability, determinism.

use cullet::simulate::{Method, method};
use cullet::spec::*;
use cullet::store::Packing;
use glam::DVec3;

use crate::scenes;

pub const R: f64 = 1e-3;
pub const DENSITY: f64 = 2600.0;

/// Critical step of the papers' estimate, s (Lu 2025, eq. 30 with N = 16).
pub fn period(young: f64) -> f64 {
    let mass = 4.0 / 3.0 * std::f64::consts::PI * R * R * R * DENSITY;
    2.0 / (16.0 * std::f64::consts::FRAC_PI_2 * young * R / mass).sqrt()
}

/// A beam along x clamped at its foot, with unbreakable bonds.
pub struct Cantilever {
    pub pipeline: Pipeline,
    pub packing: Packing,
    pub tip: usize,
}

impl Cantilever {
    pub fn new([nx, ny, nz]: [usize; 3], young: f64) -> Self {
        let material = scenes::elastic(young, 0.4 * young, DENSITY);
        let points = scenes::block(nx, ny, nz, R);
        let packing = scenes::packing(&points, R, &material, (f64::INFINITY, f64::INFINITY));
        let mut pipeline = scenes::pipeline(material);
        pipeline.bodies = vec![crate::statics::body()];
        pipeline.simulate.precision = Precision::F64;
        pipeline.attachments = vec![Attachment {
            name: "foot".into(),
            body: "beam".into(),
            region: Region {
                min: [-1.0; 3],
                max: [2.1 * R, 1.0, 1.0],
            },
            action: scenes::clamp([0.0; 3]),
        }];
        let far = |p: &DVec3| p.x - p.y.abs() - p.z.abs();
        let mut all: Vec<usize> = (0..points.len()).collect();
        all.sort_by(|&a, &b| far(&points[a]).total_cmp(&far(&points[b])));
        Cantilever {
            pipeline,
            packing,
            tip: all[points.len() - 1],
        }
    }

    pub fn integrated(mut self, integrator: Integrator, law: Law) -> Self {
        self.pipeline.simulate.integrator = integrator;
        self.pipeline.simulate.law = Some(law);
        self.pipeline.simulate.shear_correction = 1.0;
        self
    }

    pub fn engine(&self, dt: f64) -> Box<dyn Method> {
        method(&self.packing, &self.pipeline, Backend::Cpu, dt).unwrap()
    }

    /// Displacement of the tip, m, after every `steps` steps, `times` times.
    pub fn tips(&self, dt: f64, (steps, times): (u64, usize)) -> Vec<f64> {
        let mut run = self.engine(dt);
        let rest = self.packing.elements.z[self.tip];
        let mut tips = vec![0.0];
        for _ in 0..times {
            run.advance(steps).unwrap();
            let state = run.snapshot(0).unwrap();
            tips.push(f64::from(state.frames.z[self.tip]) - rest);
        }
        tips
    }
}

/// Period and mean of an oscillation that begins at a turning point, sampled at intervals.
pub fn oscillation(values: &[f64], interval: f64) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let middle = 0.5 * (low + values[0]);
    let mut crossings = Vec::new();
    for (k, pair) in values.windows(2).enumerate() {
        if (pair[0] > middle) != (pair[1] > middle) {
            let part = (pair[0] - middle) / (pair[0] - pair[1]);
            crossings.push((k as f64 + part) * interval);
        }
    }
    let halves = crossings.len() - 1;
    let span = crossings[halves] - crossings[0];
    (2.0 * span / halves as f64, middle)
}

#[test]
fn a_cantilever_swings_as_in_explicit_steps() {
    let young = 1e7;
    let t = period(young);
    let beam = || {
        let mut beam = Cantilever::new([16, 3, 3], young);
        beam.pipeline.world.gravity = [0.0, 0.0, -9.81];
        beam
    };
    let samples = (400, 100.0 * t / 10.0);
    let explicit = beam().tips(0.2 * t, (50, samples.0));
    let (period, deflection) = oscillation(&explicit, samples.1);
    for law in scenes::energy_laws() {
        let implicit = beam()
            .integrated(Integrator::Midpoint, law)
            .tips(2.0 * t, (5, samples.0));
        let found = oscillation(&implicit, samples.1);
        println!(
            "{law:?}: period {:.5} s against {period:.5} s, mean deflection {:.4e} m against {deflection:.4e} m",
            found.0, found.1
        );
        assert!((found.0 / period - 1.0).abs() < 0.02);
        assert!((found.1 / deflection - 1.0).abs() < 0.02);
    }
}

/// Largest difference between the tip displacements of two runs, at the same times.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

#[test]
fn midpoint_steps_are_of_second_order_and_euler_steps_of_first() {
    let young = 1e7;
    let t = period(young);
    let tips = |integrator, step: f64| {
        let mut beam = Cantilever::new([12, 3, 3], young).integrated(integrator, Law::Manifold);
        beam.pipeline.world.gravity = [0.0, 0.0, -9.81];
        beam.pipeline.simulate.implicit.tolerance = 1e-6;
        let steps = (16.0 / step).round() as u64;
        beam.tips(step * t, (steps, 20))
    };
    for (integrator, order, steps) in [
        (Integrator::Midpoint, 2.0, [4.0, 2.0]),
        (Integrator::BackwardEuler, 1.0, [2.0, 1.0]),
    ] {
        let reference = tips(Integrator::Midpoint, 0.5);
        let [coarse, fine] = steps.map(|step| apart(&tips(integrator, step), &reference));
        let found = (coarse / fine).log2();
        println!("{integrator:?}: errors {coarse:.2e} and {fine:.2e} m, order {found:.2}");
        assert!((found - order).abs() < 0.3, "{found}");
    }
}

#[test]
fn midpoint_steps_keep_energy() {
    let young = 1e7;
    let t = period(young);
    for law in scenes::energy_laws() {
        let mut beam = Cantilever::new([12, 3, 3], young).integrated(Integrator::Midpoint, law);
        beam.pipeline.world.gravity = [0.0, 0.0, -9.81];
        beam.pipeline.simulate.implicit.tolerance = 1e-6;
        let mut run = beam.engine(4.0 * t);
        let (mut least, mut most, mut stored) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
        for _ in 0..250 {
            run.advance(10).unwrap();
            let history = run.snapshot(0).unwrap().history;
            let elastic = history.kinetic[0] + history.rotational[0] + history.bond[0];
            let all = elastic + history.gravity[0];
            (least, most) = (least.min(all), most.max(all));
            stored = stored.max(elastic);
        }
        let drift = (most - least) / stored;
        println!("{law:?}: energy within {drift:.1e} of what is stored");
        assert!(drift < 1e-3);
    }
}

/// A short beam that swings from an initial velocity, with this damping ratio.
fn swinging(damping: f64) -> Cantilever {
    let mut beam = Cantilever::new([10, 3, 3], 1e7);
    let material = &mut beam.pipeline.materials[0];
    material.damping = damping;
    let e = &mut beam.packing.elements;
    let length = e.x.iter().copied().fold(0.0, f64::max);
    e.vz = e.x.iter().map(|x| 0.02 * (x / length).powi(2)).collect();
    beam
}

/// Ratio of the amplitudes of successive periods, from the mean squares of the first and the last one.
fn amplitude_ratio(tips: &[f64], interval: f64) -> f64 {
    let crossings: Vec<f64> = (1..tips.len() - 1)
        .filter(|&k| (tips[k] > 0.0) != (tips[k + 1] > 0.0))
        .map(|k| (k as f64 + tips[k] / (tips[k] - tips[k + 1])) * interval)
        .collect();
    let halves = crossings.len() - 1;
    let period = 2.0 * (crossings[halves] - crossings[0]) / halves as f64;
    let a_period = (period / interval).round() as usize;
    let size = |from: usize| {
        let span = &tips[from * a_period..(from + 1) * a_period];
        span.iter().map(|v| v * v).sum::<f64>().sqrt()
    };
    let periods = tips.len() / a_period - 1;
    assert!(periods > 4, "{periods}");
    (size(periods) / size(0)).powf(1.0 / periods as f64)
}

#[test]
fn damping_of_bonds_takes_as_much_as_in_explicit_steps_whatever_their_length() {
    let t = period(1e7);
    let samples = (400, 8.0 * t);
    let damping = 2.0;
    let explicit = swinging(damping).tips(0.02 * t, (400, samples.0));
    let wanted = amplitude_ratio(&explicit, samples.1);
    assert!((0.5..0.95).contains(&wanted), "{wanted}");
    for (law, steps, length) in [
        (Law::Manifold, 8, 1.0),
        (Law::Manifold, 1, 8.0),
        (Law::Cosserat, 1, 8.0),
    ] {
        let tips = swinging(damping)
            .integrated(Integrator::Midpoint, law)
            .tips(length * t, (steps, samples.0));
        let found = amplitude_ratio(&tips, samples.1);
        println!(
            "{law:?}, steps of {length} T: {found:.4} of a swing is left for the next, by explicit steps {wanted:.4}"
        );
        let lost = found.ln() / wanted.ln();
        assert!((lost - 1.0).abs() < 0.05, "{lost}");
    }
    let free = swinging(0.0)
        .integrated(Integrator::Midpoint, Law::Manifold)
        .tips(8.0 * t, (1, samples.0));
    let kept = amplitude_ratio(&free, samples.1);
    assert!(kept.ln().abs() < 0.05 * wanted.ln().abs(), "{kept}");
}

#[test]
fn damped_midpoint_steps_are_of_second_order() {
    let t = period(1e7);
    let tips = |step: f64| {
        let mut beam = swinging(1.0).integrated(Integrator::Midpoint, Law::Manifold);
        beam.pipeline.simulate.implicit.tolerance = 1e-6;
        let steps = (16.0 / step).round() as u64;
        beam.tips(step * t, (steps, 20))
    };
    let reference = tips(0.5);
    let [coarse, fine] = [4.0, 2.0].map(|step| apart(&tips(step), &reference));
    let order = (coarse / fine).log2();
    println!("damped: errors {coarse:.2e} and {fine:.2e} m, order {order:.2}");
    assert!((order - 2.0).abs() < 0.3, "{order}");
}

#[test]
fn damping_of_bonds_lets_a_body_fly_and_spin() {
    let mut beam = swinging(2.0).integrated(Integrator::Midpoint, Law::Manifold);
    beam.pipeline.attachments.clear();
    let points = scenes::at_rest(&beam.packing);
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let spin = DVec3::Z * 40.0;
    let v: Vec<DVec3> = points.iter().map(|p| spin.cross(*p - middle)).collect();
    scenes::set_motion(&mut beam.packing.elements, &v, &vec![spin; v.len()]);
    beam.pipeline.simulate.implicit.tolerance = 1e-6;
    let dt = 40.0 * period(1e7);
    let mut run = beam.engine(dt);
    let [first, last] = [0u64, 100].map(|steps| {
        run.advance(steps).unwrap();
        let history = run.snapshot(0).unwrap().history;
        (history.lz[0], history.kinetic[0] + history.rotational[0])
    });
    let turned = 40.0 * 100.0 * dt;
    println!(
        "turned by {turned:.2} rad in steps of {:.3}: angular momentum {:.8}, energy {:.6} of what they were",
        40.0 * dt,
        last.0 / first.0,
        last.1 / first.1
    );
    assert!(turned > 1.0);
    assert!((last.0 / first.0 - 1.0).abs() < 1e-5);
    assert!((last.1 / first.1 - 1.0).abs() < 1e-2);
}

#[test]
fn one_step_a_frame_is_stable_for_a_stiff_beam() {
    let mut beam =
        Cantilever::new([24, 4, 4], 1e9).integrated(Integrator::BackwardEuler, Law::Manifold);
    beam.pipeline.world.gravity = [0.0, 0.0, -9.81];
    let mut run = beam.engine(1.0 / 60.0);
    let mut last = 0.0;
    for frame in 0..30 {
        run.advance(1).unwrap();
        let state = run.snapshot(frame).unwrap();
        last = f64::from(state.frames.z[beam.tip]) - beam.packing.elements.z[beam.tip];
        assert!(last.abs() < 1e-3, "{last}");
    }
    println!("tip of the stiff beam at rest {last:.3e} m");
    assert!(last < -1e-7);
}

#[test]
fn threads_change_no_bit_of_implicit_steps() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut beam = Cantilever::new([30, 6, 6], 1e8)
                .integrated(Integrator::BackwardEuler, Law::Manifold);
            beam.pipeline.world.gravity = [0.0, 0.0, -9.81];
            let mut run = beam.engine(2e-4);
            run.advance(4).unwrap();
            run.state(0).unwrap()
        })
    };
    assert!(run(1) == run(3));
}

//! Runs of cells: what is kept, and what the solid of them does to known loads.

use cullet::simulate::methods::voronoi::build::{CellScene, scene};
use cullet::simulate::methods::voronoi::cpu::CellRun;
use cullet::simulate::methods::voronoi::stability::{Linear, State};
use cullet::simulate::{Method, Snapshot};
use cullet::store::Packing;
use glam::DVec3;

use crate::cell_scenes::{Stuff, bricks, method, packing, random, shot};

const RATIOS: [f64; 6] = [-0.5, -0.2, 0.0, 0.25, 0.4, 0.49];

fn stuff(poisson: f64) -> Stuff {
    Stuff {
        density: 2000.0,
        young: 1e7,
        poisson,
    }
}

/// Numbers between −1 and 1.
fn numbers() -> impl FnMut() -> f64 {
    let mut state = 29u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 32) as f64 / f64::from(1u32 << 31) - 1.0
    }
}

/// Random velocities and spins.
fn stir(packing: &mut Packing, speed: f64, spin: f64) {
    let mut number = numbers();
    let e = &mut packing.elements;
    for column in [&mut e.vx, &mut e.vy, &mut e.vz] {
        column.iter_mut().for_each(|v| *v = speed * number());
    }
    for column in [&mut e.wx, &mut e.wy, &mut e.wz] {
        column.iter_mut().for_each(|w| *w = spin * number());
    }
}

fn energy(snapshot: &Snapshot) -> [f64; 3] {
    let h = &snapshot.history;
    [
        h.kinetic[0] + h.rotational[0],
        h.bond[0],
        h.kinetic[0] + h.rotational[0] + h.bond[0],
    ]
}

fn momenta(snapshot: &Snapshot) -> [DVec3; 2] {
    let h = &snapshot.history;
    [
        DVec3::new(h.px[0], h.py[0], h.pz[0]),
        DVec3::new(h.lx[0], h.ly[0], h.lz[0]),
    ]
}

#[test]
fn ten_thousand_steps_keep_energy_and_momenta() {
    for poisson in [-0.5, 0.25, 0.49] {
        let mut packing = packing(&random(DVec3::new(1.0, 1.0, 1.0), 40, 3), stuff(poisson));
        stir(&mut packing, 1.0, 2.0);
        let pipeline = shot(stuff(poisson), "");
        let (mut run, _) = method(&packing, &pipeline, 0.3);
        let start = run.snapshot(0).unwrap();
        let (before, at) = (momenta(&start), energy(&start));
        let (mut worst, mut least, mut most) = ([0.0f64; 2], f64::INFINITY, 0.0f64);
        for frame in 1..=20 {
            run.advance(500).unwrap();
            let now = run.snapshot(frame).unwrap();
            for (k, (b, a)) in before.iter().zip(momenta(&now)).enumerate() {
                worst[k] = worst[k].max((a - *b).length() / b.length());
            }
            let [_, _, all] = energy(&now);
            (least, most) = (least.min(all), most.max(all));
        }
        println!(
            "{poisson}: momenta off by {worst:?}, energy {:?} {:.3e}",
            at,
            (most - least) / at[2]
        );
        assert!(worst.iter().all(|off| *off < 1e-12), "{worst:?}");
        assert!(most - least < 0.05 * at[2]);
    }
}

#[test]
fn time_runs_back() {
    for (speed, spin, steps) in [
        (0.01, 0.0, 1000),
        (0.01, 2.0, 1000),
        (1.0, 2.0, 100),
        (1.0, 2.0, 300),
        (1.0, 0.0, 1000),
    ] {
        let mut packing = packing(&random(DVec3::new(1.0, 1.0, 1.0), 40, 3), stuff(0.3));
        stir(&mut packing, speed, spin);
        let pipeline = shot(stuff(0.3), "");
        let made: CellScene<f64> = scene(&packing, &pipeline).unwrap();
        let (_, dt) = method(&packing, &pipeline, 0.3);
        let mut run = CellRun::<f64>::new(made, &pipeline, dt);
        run.advance(steps).unwrap();
        run.reverse();
        run.advance(steps).unwrap();
        let system = run.system();
        let e = &packing.elements;
        let (mut moved, mut turned) = (0.0f64, 0.0f64);
        for i in 0..system.count {
            let rest = DVec3::new(e.x[i], e.y[i], e.z[i]);
            moved = moved.max(system.position(i).distance(rest));
            turned = turned.max(system.rotation(i).xyz().length());
        }
        println!("{speed} {spin} {steps}: off by {moved:.1e} m, {turned:.1e}");
    }
}

/// A straight bar of N joints, clamped at one end, whose other end takes the moment that bends a beam to a circle.
#[test]
fn an_end_moment_rolls_a_bar_up() {
    for joints in [8usize, 16, 32] {
        let made_of = Stuff {
            density: 1000.0,
            young: 1e6,
            poisson: 0.0,
        };
        let (length, edge) = (1.0, 0.1);
        let step = length / joints as f64;
        let packing = packing(
            &bricks([joints + 1, 1, 1], DVec3::new(step, edge, edge)),
            made_of,
        );
        let moment = 2.0 * std::f64::consts::PI * made_of.young * edge.powi(4) / 12.0 / length;
        let slowest =
            3.516 * (made_of.young * edge * edge / 12.0 / made_of.density).sqrt() / length.powi(2);
        let more = format!(
            "drag = {}\n[[attach]]\nname = \"wall\"\nbody = \"body\"\nregion = {{ min = [-1, -1, -1], max = [{}, 1, 1] }}\naction = {{ type = \"clamp\" }}\n\
             [[attach]]\nname = \"end\"\nbody = \"body\"\nregion = {{ min = [{}, -1, -1], max = [9, 1, 1] }}\naction = {{ type = \"force\", torque = [0, 0, {moment}] }}\n",
            2.0 * slowest,
            step,
            length
        );
        let pipeline = shot(made_of, &more);
        let (mut run, dt) = method(&packing, &pipeline, 0.9);
        let clock = std::time::Instant::now();
        let steps = (40.0 / slowest / dt) as u64;
        run.advance(steps).unwrap();
        let end = run.snapshot(0).unwrap().frames;
        let last = end.id.len() - 1;
        let turned = 2.0 * f64::from(end.qz[last]).atan2(f64::from(end.qw[last]));
        let known = joints as f64 * (2.0 * std::f64::consts::PI / joints as f64).asin();
        println!(
            "{joints}: {turned} {known} after {steps} steps, {:?}",
            clock.elapsed()
        );
    }
}

/// K x = f by conjugate gradients, without the rigid motions.
fn solve(linear: &Linear<f64>, load: &State) -> State {
    let dot = |a: &State, b: &State| -> f64 {
        let pairs = a.iter().flatten().zip(b.iter().flatten());
        pairs.map(|(a, b)| a.dot(*b)).sum()
    };
    let add = |a: &mut State, factor: f64, b: &State| {
        for (a, b) in a.iter_mut().flatten().zip(b.iter().flatten()) {
            *a += *b * factor;
        }
    };
    let mut x: State = vec![[DVec3::ZERO; 2]; load.len()];
    let mut residual = load.clone();
    let mut direction = residual.clone();
    let mut size = dot(&residual, &residual);
    let first = size;
    for _ in 0..20_000 {
        let mut pushed = linear.restoring(&direction);
        pushed.iter_mut().flatten().for_each(|v| *v = -*v);
        let step = size / dot(&direction, &pushed);
        add(&mut x, step, &direction);
        add(&mut residual, -step, &pushed);
        let next = dot(&residual, &residual);
        if next < 1e-20 * first {
            break;
        }
        let mut turned = residual.clone();
        add(&mut turned, next / size, &direction);
        (direction, size) = (turned, next);
    }
    x
}

/// Slope of values over places, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let xy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let xx: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    xy / xx
}

/// E and ν of a bar along z whose ends are pulled.
fn pulled(packing: &Packing, stuff: Stuff, size: DVec3) -> [f64; 2] {
    let pipeline = shot(stuff, "");
    let made: CellScene<f64> = scene(packing, &pipeline).unwrap();
    let rest = &made.built.rest;
    let system = &made.built.system;
    let faces = &packing.cells.faces;
    let stress = 1000.0;
    // Where the ends' faces are, each with its own lever.
    let mut load: State = vec![[DVec3::ZERO; 2]; system.count];
    for k in (0..faces.id.len()).filter(|&k| faces.bond[k] == u32::MAX && faces.nz[k].abs() > 0.999)
    {
        let i = faces.i[k] as usize;
        let force = DVec3::Z * (faces.nz[k] * faces.area[k] * stress);
        let arm = DVec3::new(faces.x[k], faces.y[k], faces.z[k]) - system.position(i);
        load[i][0] += force;
        load[i][1] += arm.cross(force);
    }
    let ground = vec![0.0; system.count];
    let linear = Linear::new(
        system,
        (&made.faces, &made.cells),
        &rest.inverse_mass,
        ground,
    );
    let x = solve(&linear, &load);
    let middle = |k: usize| (0.25..0.75).contains(&(system.position(k).z / size.z));
    let line = |axis: usize| -> f64 {
        let cells = (0..system.count).filter(|&k| middle(k));
        let points: Vec<_> = cells
            .map(|k| (system.position(k)[axis], x[k][0][axis]))
            .collect();
        slope(&points)
    };
    let (along, across) = (line(2), 0.5 * (line(0) + line(1)));
    [stress / along, -across / along]
}

#[test]
fn a_pulled_bar_has_the_moduli_asked_for() {
    for poisson in RATIOS {
        let size = DVec3::new(1.0, 1.0, 3.0);
        let cubic = packing(&bricks([10, 10, 30], DVec3::splat(0.1)), stuff(poisson));
        let cells = packing(&random(size, 1500, 20), stuff(poisson));
        for (name, packing) in [("cubic", cubic), ("voronoi", cells)] {
            let [young, ratio] = pulled(&packing, stuff(poisson), size);
            println!(
                "{name}, nu {poisson}: E {:+.3} %, nu {ratio:.4}",
                100.0 * (young / 1e7 - 1.0)
            );
        }
    }
}

/// Uniform strain put on all cells: what interior cells of a Voronoi body feel should be nothing.
#[test]
fn patch_test() {
    for relax in [0, 5, 20, 80] {
        let made_of = stuff(0.3);
        let packing = packing(&random(DVec3::ONE, 600, relax), made_of);
        let made: CellScene<f64> = scene(&packing, &shot(made_of, "")).unwrap();
        let system = &made.built.system;
        let ground = vec![0.0; system.count];
        let inverse = &made.built.rest.inverse_mass;
        let linear = Linear::new(system, (&made.faces, &made.cells), inverse, ground);
        let strain = DVec3::new(1.0, -0.3, 0.2);
        let moved = (0..system.count).map(|k| [system.position(k) * strain, DVec3::ZERO]);
        let loads = linear.restoring(&moved.collect::<Vec<_>>());
        let inside = |k: usize| {
            system.position(k).min_element() > 0.25 && system.position(k).max_element() < 0.75
        };
        let scale = 1e7 * (1.0f64 / 600.0).powf(2.0 / 3.0);
        let inner: Vec<f64> = (0..system.count)
            .filter(|&k| inside(k))
            .map(|k| loads[k][0].length() / scale)
            .collect();
        let rms = (inner.iter().map(|f| f * f).sum::<f64>() / inner.len() as f64).sqrt();
        println!("relax {relax}: rms of force over E a^2 times strain {rms:.4}");
    }
}

#[test]
fn waves_on_cubes_have_the_speeds_of_the_formula() {
    let size = 1.0;
    let count = 7;
    for poisson in RATIOS {
        let made_of = stuff(poisson);
        let packing = packing(&bricks([count; 3], DVec3::splat(size)), made_of);
        let made: CellScene<f64> = scene(&packing, &shot(made_of, "")).unwrap();
        let system = &made.built.system;
        let ground = vec![0.0; system.count];
        let inverse = &made.built.rest.inverse_mass;
        let linear = Linear::new(system, (&made.faces, &made.cells), inverse, ground);
        let centre = (0..system.count)
            .find(|&k| system.position(k).distance(DVec3::splat(3.5)) < 1e-9)
            .unwrap();
        let mu = made_of.young / (2.0 * (1.0 + poisson));
        let lame = made_of.young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        for waves in [10.0, 20.0] {
            let k = 2.0 * std::f64::consts::PI / waves;
            let phase = |i: usize| k * (system.position(i).x - 3.5);
            let along = (0..system.count).map(|i| [DVec3::X * phase(i).cos(), DVec3::ZERO]);
            let force = linear.restoring(&along.collect::<Vec<_>>())[centre][0].x;
            let found = -force / (made_of.density * size.powi(3));
            let known = (8.0 * mu * (0.5 * k * size).sin().powi(2)
                + lame * (k * size).sin().powi(2))
                / (made_of.density * size * size);
            // Across: displacement as cosine, rotation about z as sine.
            let shear = (0..system.count).map(|i| [DVec3::Y * phase(i).cos(), DVec3::ZERO]);
            let turn = (0..system.count).map(|i| [DVec3::ZERO, DVec3::Z * phase(i).cos()]);
            let shifted = |i: usize| phase(i) + 0.5 * std::f64::consts::PI;
            let shear_s = (0..system.count).map(|i| [DVec3::Y * shifted(i).cos(), DVec3::ZERO]);
            let turn_s = (0..system.count).map(|i| [DVec3::ZERO, DVec3::Z * shifted(i).cos()]);
            let at = |x: State| linear.restoring(&x)[centre];
            let uu = -at(shear.collect())[0].y;
            let tt = -at(turn.collect())[1].z;
            let ut = -at(turn_s.collect())[0].y;
            let tu = -at(shear_s.collect())[1].z;
            let mass = made_of.density * size.powi(3);
            let inertia = mass * size * size / 6.0;
            // det [[uu − m w², ut],[−tu, tt − I w²]] = 0 with u cos, θ sin.
            let (a, b, c) = (
                mass * inertia,
                -(uu * inertia + tt * mass),
                uu * tt + ut * tu,
            );
            let w2 = (-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
            println!(
                "nu {poisson}, {waves} cells a wave: P {:+.4} %, S {:.4} of c_S k, signs {ut:.3e} {tu:.3e}",
                100.0 * ((found / known).sqrt() - 1.0),
                w2.sqrt() / (k * (mu / made_of.density).sqrt())
            );
        }
    }
}

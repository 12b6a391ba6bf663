//! Runs of cells: conserved quantities, and the response of a solid of cells to known loads.

use cullet::simulate::methods::voronoi::build::{CellScene, scene};
use cullet::simulate::methods::voronoi::cpu::CellRun;
use cullet::simulate::methods::voronoi::stability::{LinearisedCells, State};
use cullet::simulate::run_state::state::{SectionKind, State as State_};
use cullet::simulate::{Method, Snapshot};
use cullet::spec::CellContact;
use cullet::store::Packing;
use glam::DVec3;

use crate::cell_scenes::{CellMaterial, bricks, method, packing, random, shot, stir};
use crate::scenes::slope;

const RATIOS: [f64; 6] = [-0.5, -0.2, 0.0, 0.25, 0.4, 0.49];

fn material(poisson: f64) -> CellMaterial {
    CellMaterial {
        density: 2000.0,
        young: 1e7,
        poisson,
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
        let mut packing = packing(&random(DVec3::new(1.0, 1.0, 1.0), 40, 3), material(poisson));
        stir(&mut packing, 1.0, 2.0);
        let pipeline = shot(material(poisson), "");
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
        assert!(most - least < 0.01 * at[2]);
    }
}

#[test]
fn time_runs_back() {
    let mut packing = packing(&random(DVec3::ONE, 40, 3), material(0.3));
    stir(&mut packing, 1.0, 2.0);
    let pipeline = shot(material(0.3), "");
    let made: CellScene<f64> = scene(&packing, &pipeline).unwrap();
    let (_, dt) = method(&packing, &pipeline, 0.3);
    let mut run = CellRun::<f64>::new(made, &pipeline, dt);
    run.advance(1000).unwrap();
    run.reverse();
    run.advance(1000).unwrap();
    let system = run.system();
    let e = &packing.elements;
    let (mut moved, mut turned) = (0.0f64, 0.0f64);
    for i in 0..system.count {
        let rest = DVec3::new(e.x[i], e.y[i], e.z[i]);
        moved = moved.max(system.position(i).distance(rest));
        turned = turned.max(system.rotation(i).xyz().length());
    }
    println!("off by {moved:.1e} m, {turned:.1e}");
    assert!(moved < 1e-9 && turned < 1e-9, "{moved} {turned}");
}

/// Angle by which a moment that bends a beam of this length to a circle turns the end of N joints (002, eq.
/// 46 and 47).
#[test]
fn an_end_moment_rolls_a_bar_up() {
    let (mut last, mut orders) = (None, Vec::new());
    for joints in [8usize, 16, 32] {
        let cell_material = CellMaterial {
            density: 1000.0,
            young: 1e6,
            poisson: 0.0,
        };
        let (length, edge) = (1.0, 0.1);
        let step = length / joints as f64;
        let size = DVec3::new(step, edge, edge);
        let packing = packing(&bricks([joints + 1, 1, 1], size), cell_material);
        let moment = std::f64::consts::TAU * cell_material.young * edge.powi(4) / 12.0 / length;
        let speed = (cell_material.young / cell_material.density).sqrt();
        let slowest = 3.516 * speed * edge / 12.0f64.sqrt() / length.powi(2);
        let attach = |name: &str, min: f64, max: f64, action: &str| {
            format!(
                "[[attach]]\nname = \"{name}\"\nbody = \"body\"\naction = {{ {action} }}\n\
                 region = {{ min = [{min}, -1, -1], max = [{max}, 1, 1] }}\n"
            )
        };
        let more = format!("drag = {}\n", 2.0 * slowest)
            + &attach("wall", -1.0, step, "type = \"clamp\"")
            + &attach(
                "end",
                length,
                9.0,
                &format!("type = \"force\", torque = [0, 0, {moment}]"),
            );
        let mut pipeline = shot(cell_material, &more);
        // The bar may pass through itself. Contacts of polyhedra could push it out of its plane, in which it
        // is not stable.
        pipeline.materials[0].contact_young = Some(1e-9);
        pipeline.simulate.cell_contact = CellContact::Balls;
        let (mut run, dt) = method(&packing, &pipeline, 0.9);
        run.advance((60.0 / slowest / dt) as u64).unwrap();
        let state = run.state(0).unwrap();
        let turned = end_angle(&state, joints);
        let known = joints as f64 * (std::f64::consts::TAU / joints as f64).asin();
        println!("{joints} joints: {turned} rad, {known} known");
        assert!((turned / known - 1.0).abs() < 1e-6, "{turned} {known}");
        let off = turned - std::f64::consts::TAU;
        if let Some(last) = last.replace(off) {
            orders.push((last / off).log2());
        }
    }
    println!("orders {orders:?}");
    assert!((1.9..2.3).contains(&orders[1]), "{orders:?}");
}

/// Rotation about z of the last of `joints + 1` cells, including full turns.
fn end_angle(state: &State_, joints: usize) -> f64 {
    let rows = state
        .require::<f64, 16>(SectionKind::first("motion"))
        .unwrap();
    let angles = rows.map(|row| 2.0 * row[6].atan2(row[7]));
    let mut all = 0.0;
    let mut last = 0.0;
    for angle in angles.take(joints + 1) {
        let step: f64 = angle - last;
        all += step - std::f64::consts::TAU * (step / std::f64::consts::TAU).round();
        last = angle;
    }
    all
}

/// Solves K x = f by conjugate gradients, with rigid motions projected out.
fn solve(linear: &LinearisedCells<f64>, load: &State) -> State {
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

/// E and ν of a bar along z that is pulled at its ends.
fn measured_moduli(packing: &Packing, material: CellMaterial, size: DVec3) -> [f64; 2] {
    let pipeline = shot(material, "");
    let made: CellScene<f64> = scene(packing, &pipeline).unwrap();
    let rest = &made.built.rest;
    let system = &made.built.system;
    let faces = &packing.cells.faces;
    let stress = 1000.0;
    // Force on each end face, and its torque about the centre of the cell.
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
    let linear = LinearisedCells::new(
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
        slope(points.iter().copied())
    };
    let (along, across) = (line(2), 0.5 * (line(0) + line(1)));
    [stress / along, -across / along]
}

#[test]
fn a_pulled_bar_has_the_moduli_asked_for() {
    for poisson in RATIOS {
        let size = DVec3::new(1.0, 1.0, 3.0);
        let cubic = packing(&bricks([8, 8, 24], DVec3::splat(0.125)), material(poisson));
        let cells = packing(&random(size, 1000, 20), material(poisson));
        for (name, packing, most) in [("cubic", cubic, 0.005), ("voronoi", cells, 0.02)] {
            let [young, ratio] = measured_moduli(&packing, material(poisson), size);
            let off = [young / 1e7 - 1.0, ratio - poisson];
            println!(
                "{name}, nu {poisson}: E {:+.3} %, nu {ratio:.4}",
                100.0 * off[0]
            );
            // The error is relative to a Poisson's ratio of at least 0.25, as it cannot be relative to zero.
            let part = off[1].abs() / poisson.abs().max(0.25);
            assert!(off[0].abs() < most && part < most, "{off:?}");
        }
    }
}

/// A uniform strain applied to all cells: interior cells of a Voronoi body should feel no force.
#[test]
fn uniform_strain_leaves_cells_nearly_at_rest_the_more_centroidal_the_nearer() {
    let mut last = f64::INFINITY;
    for relax in [0, 5, 20] {
        let cell_material = material(0.3);
        let packing = packing(&random(DVec3::ONE, 600, relax), cell_material);
        let made: CellScene<f64> = scene(&packing, &shot(cell_material, "")).unwrap();
        let system = &made.built.system;
        let ground = vec![0.0; system.count];
        let inverse = &made.built.rest.inverse_mass;
        let linear = LinearisedCells::new(system, (&made.faces, &made.cells), inverse, ground);
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
        println!("{relax} rounds: forces of {rms:.4} E a\u{b2} at unit strain");
        assert!(rms < 0.5 * last, "{rms} {last}");
        last = rms;
    }
    assert!(last < 0.05, "{last}");
}

#[test]
fn waves_on_cubes_have_the_speeds_of_the_formula() {
    let size = 1.0;
    let count = 7;
    for poisson in RATIOS {
        let cell_material = material(poisson);
        let packing = packing(&bricks([count; 3], DVec3::splat(size)), cell_material);
        let made: CellScene<f64> = scene(&packing, &shot(cell_material, "")).unwrap();
        let system = &made.built.system;
        let ground = vec![0.0; system.count];
        let inverse = &made.built.rest.inverse_mass;
        let linear = LinearisedCells::new(system, (&made.faces, &made.cells), inverse, ground);
        let centre = (0..system.count)
            .find(|&k| system.position(k).distance(DVec3::splat(3.5)) < 1e-9)
            .unwrap();
        let mu = cell_material.young / (2.0 * (1.0 + poisson));
        let lame = cell_material.young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        for waves in [10.0, 20.0] {
            let k = 2.0 * std::f64::consts::PI / waves;
            let phase = |i: usize| k * (system.position(i).x - 3.5);
            let along = (0..system.count).map(|i| [DVec3::X * phase(i).cos(), DVec3::ZERO]);
            let force = linear.restoring(&along.collect::<Vec<_>>())[centre][0].x;
            let found = -force / (cell_material.density * size.powi(3));
            let known = (8.0 * mu * (0.5 * k * size).sin().powi(2)
                + lame * (k * size).sin().powi(2))
                / (cell_material.density * size * size);
            // For transverse waves the displacement is a cosine, the rotation about z a sine.
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
            let mass = cell_material.density * size.powi(3);
            let inertia = mass * size * size / 6.0;
            // det [[uu − m w², ut],[−tu, tt − I w²]] = 0, where u varies as cos and θ as sin.
            let (a, b, c) = (
                mass * inertia,
                -(uu * inertia + tt * mass),
                uu * tt + ut * tu,
            );
            let w2 = (-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
            // s = 2 sin(kD/2), c = 2 cos(kD/2): ρω²D² (u, θD) = [[2μs², −μsc], [−μsc, 2μ(1 + c²/4) + E
            // s²/12]], the second row over the inertia's 1/6.
            let (s, c) = (2.0 * (0.5 * k).sin(), 2.0 * (0.5 * k).cos());
            let (p, q) = (
                2.0 * mu * s * s,
                2.0 * mu * (1.0 + c * c / 4.0) + cell_material.young * s * s / 12.0,
            );
            let (sum, product) = (p + 6.0 * q, 6.0 * (p * q - (mu * s * c).powi(2)));
            let shear_known =
                0.5 * (sum - (sum * sum - 4.0 * product).sqrt()) / cell_material.density;
            let off = [
                (found / known).sqrt() - 1.0,
                (w2 / shear_known).sqrt() - 1.0,
            ];
            let slow = w2.sqrt() / (k * (mu / cell_material.density).sqrt()) - 1.0;
            println!(
                "nu {poisson}, {waves} cells a wave: off the formulas by {off:?}, S {:+.2} % fast",
                100.0 * slow
            );
            assert!(off.iter().all(|off| off.abs() < 1e-3), "{off:?}");
        }
    }
}

/// The state of a run, as bytes.
pub fn bytes(state: &State_) -> Vec<u8> {
    let rows = state
        .require::<f32, 16>(SectionKind::first("motion"))
        .unwrap();
    rows.flat_map(|row| row.map(f32::to_le_bytes))
        .flatten()
        .collect()
}

#[test]
fn threads_lanes_and_going_on_change_no_bit() {
    let cell_material = material(0.3);
    let mut packing = packing(&random(DVec3::ONE, 1500, 2), cell_material);
    stir(&mut packing, 2.0, 5.0);
    packing.bonds.sigma_c.fill(2e5);
    let mut pipeline = shot(cell_material, "");
    pipeline.simulate.precision = cullet::spec::Precision::F32;
    pipeline.materials[0].damping = 0.02;
    pipeline.output.work = true;
    let (_, dt) = method(&packing, &pipeline, 0.3);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut run, _) = method(&packing, &pipeline, 0.3);
            run.advance(40).unwrap();
            run.state(1).unwrap()
        })
    };
    let [one, three] = [1, 3].map(on);
    assert_eq!(bytes(&one), bytes(&three));
    let made: CellScene<f32> = scene(&packing, &pipeline).unwrap();
    let mut narrow = CellRun::<f32>::new(made, &pipeline, dt);
    narrow.advance(25).unwrap();
    let middle = narrow.state(0).unwrap();
    narrow.advance(15).unwrap();
    assert_eq!(bytes(&one), bytes(&narrow.state(1).unwrap()));
    // Resume from the middle of the run.
    let (mut again, _) = method(&packing, &pipeline, 0.3);
    again.restore(&middle).unwrap();
    again.advance(15).unwrap();
    assert_eq!(bytes(&one), bytes(&again.state(1).unwrap()));
    let broken = again.snapshot(2).unwrap().history.broken[0];
    println!("{broken} faces broke");
    assert!(broken > 10, "something breaks: {broken}");
}

/// Breaking dissipates energy, and all of it is accounted for.
#[test]
fn energy_that_breaking_and_damping_take_is_accounted_for() {
    let cell_material = material(0.3);
    let mut packing = packing(&random(DVec3::ONE, 300, 3), cell_material);
    stir(&mut packing, 2.0, 5.0);
    packing.bonds.sigma_c.fill(2e5);
    let mut pipeline = shot(cell_material, "");
    pipeline.materials[0].damping = 0.01;
    pipeline.materials[0].friction = 0.0;
    pipeline.output.work = true;
    let (mut run, _) = method(&packing, &pipeline, 0.05);
    let start = energy(&run.snapshot(0).unwrap())[2];
    run.advance(2000).unwrap();
    let end = run.snapshot(1).unwrap();
    let h = &end.history;
    let left = energy(&end)[2] + h.contact[0];
    let taken = h.damping[0] + h.friction[0] + h.breaking[0];
    println!(
        "{start:.4} J = {left:.4} left + {taken:.4}: breaking {:.4}, broken {}",
        h.breaking[0], h.broken[0]
    );
    assert!(h.broken[0] > 5 && h.breaking[0] > 0.0);
    assert!(((left + taken) / start - 1.0).abs() < 0.01);
}

/// Energy of one layer of cells that is bent, J; `shape` gives displacement and rotation at each position.
fn bending_energy(count: [usize; 2], poisson: f64, shape: impl Fn(DVec3) -> [DVec3; 2]) -> f64 {
    let cell_material = material(poisson);
    let size = DVec3::new(1.0, 1.0, 0.1);
    let packing = packing(&bricks([count[0], count[1], 1], size), cell_material);
    let made: CellScene<f64> = scene(&packing, &shot(cell_material, "")).unwrap();
    let system = &made.built.system;
    let ground = vec![0.0; system.count];
    let inverse = &made.built.rest.inverse_mass;
    let linear = LinearisedCells::new(system, (&made.faces, &made.cells), inverse, ground);
    let x: State = (0..system.count)
        .map(|i| shape(system.position(i)))
        .collect();
    let loads = linear.restoring(&x);
    let work = x.iter().flatten().zip(loads.iter().flatten());
    -0.5 * work.map(|(x, load)| x.dot(*load)).sum::<f64>()
}

/// w = ½ (κ_x x² + κ_y y²) + c x y stores ½ D (κ_x² + κ_y² + 2ν κ_x κ_y + 2 (1 − ν) c²) on unit area, D = E
/// h³/(12 (1 − ν²)).
#[test]
fn a_wall_of_one_layer_bends_as_a_plate() {
    for poisson in [-0.3, 0.0, 0.3, 0.45] {
        let rigidity = 1e7 * 1e-3 / (12.0 * (1.0 - poisson * poisson));
        for (name, [a, b, c]) in [
            ("cylinder", [1.0, 0.0, 0.0]),
            ("bowl", [1.0, 1.0, 0.0]),
            ("saddle", [1.0, -1.0, 0.0]),
            ("twist", [0.0, 0.0, 1.0]),
        ] {
            let shape = |p: DVec3| {
                let up = 0.5 * (a * p.x * p.x + b * p.y * p.y) + c * p.x * p.y;
                let slope = [a * p.x + c * p.y, b * p.y + c * p.x];
                [DVec3::Z * up, DVec3::new(slope[1], -slope[0], 0.0)]
            };
            let of = |n: usize, m: usize| bending_energy([n, m], poisson, shape);
            // The energy stored at the border is the same for all four sizes.
            let inner = (of(8, 8) - of(8, 6) - of(6, 8) + of(6, 6)) / 4.0;
            let plate = 0.5
                * rigidity
                * (a * a + b * b + 2.0 * poisson * a * b + 2.0 * (1.0 - poisson) * c * c);
            println!("nu {poisson}, {name}: {:.6} of the plate's", inner / plate);
            assert!((inner / plate - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn waves_leave_through_absorbing_sides() {
    let cell_material = material(0.0);
    let mut packing = packing(&bricks([200, 1, 1], DVec3::ONE), cell_material);
    for i in 0..200 {
        let from_middle = (packing.elements.x[i] - 100.0) / 10.0;
        packing.elements.vx[i] = (-from_middle * from_middle).exp();
    }
    let left = |sides: Vec<cullet::spec::Side>| {
        let mut pipeline = shot(cell_material, "");
        pipeline.world.absorbing = sides;
        let (mut run, dt) = method(&packing, &pipeline, 0.5);
        let start = energy(&run.snapshot(0).unwrap())[2];
        let speed = (cell_material.young / cell_material.density).sqrt();
        run.advance((180.0 / speed / dt) as u64).unwrap();
        energy(&run.snapshot(1).unwrap())[2] / start
    };
    use cullet::spec::Side::{MinusX, PlusX};
    let all = [Vec::new(), vec![PlusX], vec![MinusX, PlusX]].map(left);
    println!("left of the energy: {all:?}");
    assert!((all[0] - 1.0).abs() < 1e-3 && (all[1] - 0.5).abs() < 1e-2 && all[2] < 1e-3);
}

/// A pulled sheet has E under plane stress and E/(1 − ν²) under plane strain.
#[test]
fn plane_strain_stiffens_a_sheet() {
    let cell_material = material(0.4);
    let packing = packing(&bricks([16, 8, 1], DVec3::ONE), cell_material);
    let stretched = |axis: Option<cullet::spec::Axis>| {
        let mut pipeline = shot(cell_material, "");
        pipeline.world.plane_strain = axis;
        let made: CellScene<f64> = scene(&packing, &pipeline).unwrap();
        let system = &made.built.system;
        let ground = vec![0.0; system.count];
        let inverse = &made.built.rest.inverse_mass;
        let linear = LinearisedCells::new(system, (&made.faces, &made.cells), inverse, ground);
        let mut load: State = vec![[DVec3::ZERO; 2]; system.count];
        for (i, load) in load.iter_mut().enumerate() {
            let x = system.position(i).x;
            if !(1.0..15.0).contains(&x) {
                load[0] = DVec3::X * (x - 8.0).signum() * 1000.0;
            }
        }
        let x = solve(&linear, &load);
        let inner = (0..system.count).filter(|&i| (4.0..12.0).contains(&system.position(i).x));
        let points: Vec<_> = inner.map(|i| (system.position(i).x, x[i][0].x)).collect();
        1000.0 / slope(points.iter().copied())
    };
    let [stress, strain] = [None, Some(cullet::spec::Axis::Z)].map(stretched);
    println!("plane stress {stress:.0}, plane strain {strain:.0}");
    assert!((stress / 1e7 - 1.0).abs() < 0.005);
    assert!((strain / 1e7 * (1.0 - 0.16) - 1.0).abs() < 0.005);
}

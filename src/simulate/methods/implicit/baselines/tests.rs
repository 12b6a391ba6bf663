mod rotation_vectors;

use std::path::Path;

use glam::DVec3;

use super::free::{FreeQuaternions, Seven};
use super::*;
use crate::laws::manifold::Manifold;
use crate::simulate::methods::implicit::{Implicit as Run, bonds};
use crate::solve::{Operator, vector};

/// Pipeline of a beam along x clamped at one end.
fn shot(rows: &str, radius: &str, held: &str, spin: &str) -> String {
    format!(
        r#"
[time]
end = 1
frames_per_second = 1
[world]
gravity = [0, 0, -9.81]
[[material]]
name = "rubber"
density = 1000
elasticity = "bond"
young = "1 MPa"
shear = "0.4 MPa"
damping = 0
[[body]]
name = "beam"
material = "rubber"
shape = {{ type = "block", rows = {rows} }}
packing = {{ type = "hexagonal", radius = "{radius}" }}
spin = {spin}
[[attach]]
name = "held"
body = "beam"
region = {{ min = [-1, -1, -1], max = ["{held}", 1, 1] }}
action = {{ type = "clamp" }}
[simulate]
integrator = "backward_euler"
"#
    )
}

fn run(shot: &str, step: f64) -> Run<Manifold> {
    let pipeline = crate::spec::parse(shot, "shot", &[]).expect("a pipeline");
    let packed = crate::pack::pack(&pipeline, Path::new(".")).expect("packed");
    let built = crate::simulate::build(&packed.packing, &pipeline).expect("built");
    Run::new(built, &pipeline, step, step)
}

/// Step at which inertia of rotations counts as much as bending, s.
const STEP: f64 = 1e-3;

/// Reproducible values between −1 and 1.
fn drawn(count: usize, held: &dyn Fn(usize) -> bool, seed: u32) -> Vec<Seven> {
    let value = |i: usize, k: usize| ((7 * i + k + 1) as f64 * (1.3 + f64::from(seed))).sin();
    let of = |i: usize| match held(i) {
        true => [0.0; 7],
        false => std::array::from_fn(|k| value(i, k)),
    };
    (0..count).map(of).collect()
}

/// Ψ by its definition, without contacts, J.
fn energy(
    problem: &StepProblem<Manifold>,
    free: &FreeQuaternions,
    constant_forces: &[[f64; 3]],
    run: &Run<Manifold>,
) -> f64 {
    let mut sum = bonds::energy::<Manifold>(&problem.system);
    for i in (0..problem.system.count).filter(|&i| !problem.start.is_held(i)) {
        let p = problem.system.position(i);
        let off = p - problem.start.position[i] - run.run.system.velocity(i) * STEP;
        sum += 0.5 / (run.run.load[i].0[3] * STEP * STEP) * off.length_squared();
        sum -= DVec3::from_array(constant_forces[i]).dot(p);
        let q = free.q[i];
        let (inertia, ahead) = problem.start.free_inertia(i, q);
        let square = q.dot(q) + ahead.dot(ahead) - 2.0 * q.dot(ahead);
        let c = free.violation(i);
        sum += 0.5 * inertia * square + free.multiplier[i] * c + 0.5 * free.stiffness[i] * c * c;
    }
    sum
}

#[test]
fn derivatives_of_free_quaternions_are_those_of_their_energy() {
    let run = run(&shot("[5, 3, 2]", "1 cm", "-3.5 cm", "[30, -20, 10]"), STEP);
    let start = StepStart::new(
        &run.run.system,
        &run.run.load,
        Vec::new(),
        Vec::new(),
        (STEP, 0.0),
    );
    let surroundings = Surroundings {
        colliders: &[],
        before: &[],
        pulls: &[],
        constant_forces: &run.constant_forces,
        supports: &run.run.supports,
    };
    let at = (run.run.system.clone(), run.run.contacts.clone());
    let mut problem = StepProblem::<Manifold>::new(at, &start, &surroundings, run.simulate.clone());
    let count = problem.system.count;
    let held = |i: usize| start.is_held(i);
    assert!((0..count).any(held) && !(0..count).all(held));
    let mut free = FreeQuaternions::new(&problem.system);
    let r = problem.system.radius(0);
    free.displace(&mut problem.system, &drawn(count, &held, 1), 0.2 * r);
    assert!(
        free.worst() > 0.05,
        "lengths must differ from 1: {}",
        free.worst()
    );
    let scale = 1e6 * r.powi(3);
    for (i, by) in drawn(count, &|_| false, 2).iter().enumerate() {
        (free.multiplier[i], free.stiffness[i]) = (scale * by[0], scale * by[1].abs());
    }
    problem.evaluate();
    problem.assemble(HessianForm::Exact);
    let gradient = free.gradient(&problem.system, &start, &problem.newton.gradient);
    let first = (&problem.newton.matrix, &problem.newton.gradient[..]);
    let matrix = free.matrix((&problem.system, &start), first, HessianForm::Exact);
    let h = 1e-4 * r;
    for seed in 3..6 {
        let along = drawn(count, &held, seed);
        let mut image = vec![[0.0; 7]; count];
        matrix.times(&along, &mut image);
        let mut sides = Vec::new();
        for factor in [-h, h] {
            let mut free = free.clone();
            let at = (problem.system.clone(), problem.contacts.clone());
            let mut moved =
                StepProblem::<Manifold>::new(at, &start, &surroundings, run.simulate.clone());
            free.displace(&mut moved.system, &along, factor);
            moved.evaluate();
            let energy = energy(&moved, &free, &run.constant_forces, &run);
            let six = &moved.newton.gradient;
            sides.push((energy, free.gradient(&moved.system, &start, six)));
        }
        let slope = (sides[1].0 - sides[0].0) / (2.0 * h);
        let expected = vector::dot(&gradient, &along);
        println!("slope {expected:.8e}, by differences {slope:.8e}");
        assert!((slope / expected - 1.0).abs() < 1e-6);
        let mut change = sides[1].1.clone();
        vector::add_scaled(&mut change, -1.0, &sides[0].1);
        let mut off = image.clone();
        vector::add_scaled(&mut off, -0.5 / h, &change);
        let off = vector::norm(&off) / vector::norm(&image);
        println!("products {off:.1e} off");
        assert!(off < 1e-6);
    }
    // The diagonal blocks agree with products of the whole matrix.
    let blocks = matrix.inverse_diagonal();
    let i = (0..count).find(|&i| !held(i)).expect("a free element");
    let mut unit = vec![[0.0; 7]; count];
    unit[i] = [1.0, -2.0, 0.5, 3.0, -1.0, 0.2, 0.7];
    let mut image = unit.clone();
    matrix.times(&unit, &mut image);
    if let Some(blocks) = blocks {
        let back = blocks.apply_at(i, &image[i]);
        let pairs = back.iter().zip(&unit[i]);
        assert!(
            pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9),
            "{back:?}"
        );
    }
}

/// A long beam.
fn long_beam() -> String {
    shot("[25, 4, 4]", "24 mm", "-57 cm", "[0, 0, 0]")
}

/// A long beam is released and bends far down within one long step.
fn long_step(beam: &str, tolerance: f64) -> (Run<Manifold>, StepStart) {
    let step = 0.5;
    let mut run = run(beam, step);
    run.simulate.implicit.tolerance = tolerance;
    let start = StepStart::new(
        &run.run.system,
        &run.run.load,
        Vec::new(),
        Vec::new(),
        (step, 0.0),
    );
    (run, start)
}

#[test]
fn methods_end_at_one_place_and_newtons_on_the_manifold_there_first() {
    let (run, start) = long_step(&long_beam(), 1e-6);
    let surroundings = Surroundings {
        colliders: &[],
        before: &[],
        pulls: &[],
        constant_forces: &run.constant_forces,
        supports: &run.run.supports,
    };
    let (mut system, mut contacts) = (run.run.system.clone(), run.run.contacts.clone());
    let mut newton = Newton::new(&system, &run.simulate, false);
    newton.contact_set.collect(&contacts, &system);
    newton.guess::<Manifold>(&mut system, &mut contacts, &start, &surroundings);
    let mut record = ConvergenceRecord {
        table: Convergence::default(),
        step: 1,
        method: Method::Newton,
        clock: Instant::now(),
    };
    let mut first: Option<(usize, System<f64>)> = None;
    for (method, preconditioner, solve) in methods::<Manifold>() {
        let mut simulate = run.simulate.clone();
        simulate.implicit.preconditioner = preconditioner;
        let at = (system.clone(), contacts.clone());
        let mut problem = StepProblem::new(at, &start, &surroundings, simulate);
        record.table = Convergence::default();
        record.method = method;
        solve(&mut problem, &mut record);
        let table = &record.table;
        let last = table.residual.len() - 1;
        let (residual, violation) = (table.residual[last], table.violation[last]);
        let (newtons, there) = first.get_or_insert_with(|| (last, problem.system.clone()));
        let apart = (0..there.count).map(|i| problem.system.position(i) - there.position(i));
        let apart = apart.map(DVec3::length).fold(0.0, f64::max) / there.radius(0);
        println!(
            "{method:?}: {last} iterations to {residual:.1e}, {violation:.1e}; {apart:.1e} radii apart"
        );
        if method != Method::Descent {
            assert!(residual.max(violation) <= 1e-6);
            assert!(apart < 1e-2);
        }
        // Rotation vectors have six unknowns as well: their iterations may be as few.
        use Method::{Augmented, Descent, Multipliers, Penalty};
        if matches!(method, Descent | Penalty | Multipliers | Augmented) {
            assert!(last > *newtons);
        }
    }
}

#[test]
fn threads_change_nothing_but_seconds() {
    let (run, start) = long_step(&long_beam(), 1e-2);
    let surroundings = Surroundings {
        colliders: &[],
        before: &[],
        pulls: &[],
        constant_forces: &run.constant_forces,
        supports: &run.run.supports,
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("threads").install(|| {
            let at = (&run.run.system, &run.run.contacts);
            let mut table = compare::<Manifold>(at, (&start, &surroundings), &run.simulate, 1);
            table.seconds.fill(0.0);
            table
        })
    };
    let table = on(1);
    assert!(table == on(3));
    assert!(
        methods::<Manifold>()
            .iter()
            .all(|(method, ..)| table.method.contains(method))
    );
}

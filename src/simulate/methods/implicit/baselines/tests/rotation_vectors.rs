use super::super::rotation_vectors::RotationVectors;
use super::*;
use crate::solve::Six;

fn surroundings(run: &Run<Manifold>) -> Surroundings<'_> {
    Surroundings {
        colliders: &[],
        before: &[],
        pulls: &[],
        constant_forces: &run.constant_forces,
        supports: &run.run.supports,
    }
}

/// Reproducible directions, in radii: small displacements, large rotations.
fn directions(count: usize, held: &dyn Fn(usize) -> bool, seed: u32) -> Vec<Six> {
    let six = |s: Seven| [0.1 * s[0], 0.1 * s[1], 0.1 * s[2], s[3], s[4], s[5]];
    drawn(count, held, seed).into_iter().map(six).collect()
}

#[test]
fn derivatives_in_rotation_vectors_are_those_of_the_energy() {
    let run = run(&shot("[5, 3, 2]", "1 cm", "-3.5 cm", "[30, -20, 10]"), STEP);
    let at = &run.run;
    let start = StepStart::new(&at.system, &at.load, Vec::new(), Vec::new(), (STEP, 0.0));
    let surroundings = surroundings(&run);
    let problem = |system: &System<f64>| {
        let at = (system.clone(), at.contacts.clone());
        StepProblem::<Manifold>::new(at, &start, &surroundings, run.simulate.clone())
    };
    let (count, r) = (at.system.count, at.system.radius(0));
    let held = |i: usize| start.is_held(i);
    let mut system = at.system.clone();
    let mut vectors = RotationVectors::new(&system, &start, HessianForm::Exact);
    vectors.displace(&mut system, &directions(count, &held, 1), 0.9 * r);
    // On both sides of where the coefficients are computed in another way.
    let angles = vectors.theta.iter().map(|theta| theta.norm());
    let beyond = angles.filter(|&angle| angle > 1.0).count();
    assert!((1..count - 1).contains(&beyond), "{beyond} of {count}");
    let mut here = problem(&system);
    here.assemble(HessianForm::Exact);
    let gradient = vectors.gradient(&here.newton.gradient);
    let mut matrix = here.newton.matrix.clone();
    vectors.convert(&mut matrix, &here.newton.gradient, HessianForm::Exact);
    let h = 1e-4 * r;
    for seed in 3..6 {
        let along = directions(count, &held, seed);
        let sides = [-h, h].map(|factor| {
            let (mut system, mut vectors) = (system.clone(), vectors.clone());
            vectors.displace(&mut system, &along, factor);
            let moved = problem(&system);
            let free = FreeQuaternions::new(&moved.system);
            let energy = energy(&moved, &free, &run.constant_forces, &run);
            (
                energy,
                vectors.gradient(&moved.newton.gradient).into_owned(),
            )
        });
        let slope = (sides[1].0 - sides[0].0) / (2.0 * h);
        let expected = vector::dot(&gradient, &along);
        println!("slope {expected:.8e}, by differences {slope:.8e}");
        assert!((slope / expected - 1.0).abs() < 1e-6);
        let mut image = vec![[0.0; 6]; count];
        matrix.times(&along, &mut image);
        let size = vector::norm(&image);
        vector::add_scaled(&mut image, -0.5 / h, &sides[1].1);
        vector::add_scaled(&mut image, 0.5 / h, &sides[0].1);
        let off = vector::norm(&image) / size;
        println!("products {off:.1e} off");
        assert!(off < 1e-6);
    }
}

/// Solves the long step from the guess of runs, in rotation vectors with second derivatives of this form or else on
/// the manifold. Returns the iterations and where it ends.
fn solved(
    (run, start): (&Run<Manifold>, &StepStart),
    form: Option<HessianForm>,
) -> (u32, System<f64>) {
    let surroundings = surroundings(run);
    let (mut system, mut contacts) = (run.run.system.clone(), run.run.contacts.clone());
    let mut newton = Newton::new(&system, &run.simulate, false);
    newton.contact_set.collect(&contacts, &system);
    newton.guess::<Manifold>(&mut system, &mut contacts, start, &surroundings);
    let mut coordinates: Box<dyn Coordinates> = match form {
        Some(form) => Box::new(RotationVectors::new(&system, start, form)),
        None => Box::new(Geodesics),
    };
    let solved = newton.iterate::<Manifold>(
        &mut system,
        &mut contacts,
        (start, &surroundings),
        (200, &mut *coordinates),
        &mut |_, _| {},
    );
    println!("{solved:?}");
    assert!(solved.converged);
    drop(coordinates);
    (solved.iterations, system)
}

#[test]
fn rotation_vectors_end_where_the_manifold_does_after_large_rotations() {
    let soft = long_beam().replace("\"1 MPa", "\"0.2 MPa");
    let soft = soft.replace("\"0.4 MPa", "\"0.08 MPa");
    let (run, start) = long_step(&soft, 1e-11);
    let (newton, there) = solved((&run, &start), None);
    let turned = RotationVectors::new(&there, &start, HessianForm::Exact);
    let most = turned.theta.iter().map(|theta| theta.norm());
    let most = most.fold(0.0, f64::max);
    println!("rotations of up to {most:.2} rad");
    assert!(most > 1.0);
    for form in [HessianForm::Exact, HessianForm::GaussNewton] {
        let (iterations, system) = solved((&run, &start), Some(form));
        let mut apart = [0.0f64; 2];
        for i in 0..system.count {
            let moved = (system.position(i) - there.position(i)).length() / system.radius(i);
            let (p, q) = (system.quaternion(i), there.quaternion(i));
            let sign = p.dot(q).signum();
            let turned = (p.v - q.v * sign).norm().max((p.w - q.w * sign).abs());
            apart = [apart[0].max(moved), apart[1].max(turned)];
        }
        println!("{form:?}: {iterations} iterations, manifold {newton}; {apart:?} apart");
        assert!(apart.iter().all(|&apart| apart < 1e-8));
        // Exact second derivatives converge quadratically in either coordinates, Gauss–Newton's linearly.
        match form {
            HessianForm::Exact => assert!(iterations <= newton + 3),
            _ => assert!(iterations > newton + 3),
        }
    }
}

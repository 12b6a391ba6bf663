use std::path::Path;

use super::*;
use crate::laws::manifold::Manifold;
use crate::simulate::methods::implicit::bonds::HessianForm;
use crate::simulate::methods::implicit::start::displace;
use crate::simulate::methods::implicit::touch::ContactSet;
use crate::simulate::methods::implicit::{Implicit, assemble};

/// Radius of both elements, m.
const R: f64 = 0.01;
/// Overlap at the start of the step, m.
const OVERLAP: f64 = 2e-4;

/// A block whose first two elements are moved far from the others, one above the other, and a contact set
/// with this pair alone.
fn run(friction: f64, damping: f64) -> (Implicit<Manifold>, ContactSet) {
    let shot = format!(
        r#"
[time]
end = 1
frames_per_second = 1
[[material]]
name = "rubber"
density = 1000
young = "1 MPa"
[[body]]
name = "block"
material = "rubber"
shape = {{ type = "block", rows = [2, 2, 2] }}
packing = {{ type = "hexagonal", radius = {R} }}
[simulate]
integrator = "backward_euler"
"#
    );
    let pipeline = crate::spec::parse(&shot, "shot", &[]).expect("a pipeline");
    let packed = crate::pack::pack(&pipeline, Path::new(".")).expect("packed");
    let built = crate::simulate::build(&packed.packing, &pipeline).expect("built");
    let mut run = Implicit::new(built, &pipeline, 1e-3, 1e-3);
    for (i, y) in [0.0, 2.0 * R - OVERLAP].into_iter().enumerate() {
        run.run.system.set_position(i, DVec3::new(1.0, y, 0.0));
    }
    let pair = CandidatePair {
        i: 0,
        j: 1,
        touch: 2.0 * R,
        k: ContactParameters {
            normal: 1e4,
            tangential: 4e3,
            friction,
            damping,
        },
        spring: Vec3::zero(),
        friction_force: Vec3::zero(),
        projected_friction: [0.0; 2],
    };
    let mut touch = ContactSet::new(&run.simulate);
    touch.pairs.push(pair);
    (run, touch)
}

/// Loads of a pair after its second element moved by `way` (rotations times the radius) in a step of length
/// `h`. Returns its matrix for that element, the same matrix by finite differences, and the difference
/// expected from what the matrix neglects: the limit of sliding friction follows the normal force.
fn matrices(friction: f64, damping: f64, h: f64, way: Six) -> ([[[f64; 6]; 6]; 2], [[f64; 6]; 6]) {
    let (mut run, mut touch) = run(friction, damping);
    let start = StepStart::new(
        &run.run.system,
        &run.run.load,
        Vec::new(),
        Vec::new(),
        (h, 0.0),
    );
    displace(&mut run.run.system, &[[0.0; 6], way], 1.0);
    touch.evaluate(&run.run.system, &[], &start);
    // Friction as at the end of a converged iteration.
    let before = touch.active.clone();
    touch.update_friction(&before, 1.0);
    let block = assemble::contact(&touch.active[0], true, true, HessianForm::Exact);
    let computed = assemble::block_of(&block, [R, R]);
    let mut loads = |by: Six, factor: f64| {
        displace(&mut run.run.system, &[[0.0; 6], by], factor);
        touch.evaluate(&run.run.system, &[], &start);
        let mut load = touch.active[0].load(true);
        load[3..].iter_mut().for_each(|torque| *torque /= R);
        displace(&mut run.run.system, &[[0.0; 6], by], -factor);
        load
    };
    let by = 1e-8;
    let columns: [Six; 6] = std::array::from_fn(|column| {
        let unit = std::array::from_fn(|k| if k == column { 1.0 } else { 0.0 });
        let (more, less) = (loads(unit, by), loads(unit, -by));
        std::array::from_fn(|row| (less[row] - more[row]) / (2.0 * by))
    });
    let measured = std::array::from_fn(|row| std::array::from_fn(|column| columns[column][row]));
    let measured: [[f64; 6]; 6] = measured;
    let load = loads([0.0; 6], 0.0);
    let pair = &touch.active[0];
    let n = pair.n.to_f64();
    let along = |v: &dyn Fn(usize) -> f64| (0..3).map(|k| n[k] * v(k)).sum::<f64>();
    // The normal points from the second to the first; the normal force on the second is opposite.
    let pressed = -along(&|k| load[k]);
    let lagged = std::array::from_fn(|row| {
        let friction = load[row] + if row < 3 { pressed * n[row] } else { 0.0 };
        std::array::from_fn(|column| match pair.slides() && pressed > 0.0 {
            true => -friction / pressed * along(&|k| measured[k][column]),
            false => 0.0,
        })
    });
    ([computed, measured], lagged)
}

fn largest(m: &[[f64; 6]; 6]) -> f64 {
    m.as_flattened()
        .iter()
        .fold(0.0, |most, v| v.abs().max(most))
}

#[test]
fn the_matrix_of_a_pair_is_the_derivative_of_its_loads() {
    let across = |far: f64| [far, -1e-5, 0.3 * far, 0.2 * far, 0.0, -0.4 * far];
    // The rotation of loads with the normal is neglected; it is as small as overlap over radius.
    let rough = 0.04;
    let mut stiff = 0.0;
    for (name, friction, damping, h, way) in [
        ("held", 0.5, 1.0, 1e-3, across(1e-6)),
        ("sliding", 0.5, 1.0, 1e-3, across(1e-3)),
        ("smooth", 0.0, 1.0, 1e-3, across(1e-3)),
        ("parting", 0.5, 1.0, 1e-6, [1e-5, 1e-4, 0.0, 0.0, 0.0, 1e-5]),
    ] {
        let ([computed, measured], lagged) = matrices(friction, damping, h, way);
        match name {
            "held" => {
                stiff = largest(&computed);
                assert!((largest(&measured) / stiff - 1.0).abs() < rough);
            }
            "parting" => assert_eq!(
                largest(&computed),
                0.0,
                "without normal force there is no friction"
            ),
            _ => {}
        }
        for (row, (computed, measured)) in computed.iter().zip(&measured).enumerate() {
            for (column, (computed, measured)) in computed.iter().zip(measured).enumerate() {
                let off = (computed + lagged[row][column] - measured).abs();
                assert!(
                    off < rough * stiff,
                    "{name}, {row}, {column}: {computed} for {measured} of {stiff}"
                );
            }
        }
    }
}

#[test]
fn friction_that_slides_goes_from_its_secant_to_its_derivative_as_it_is_learned() {
    let (mut run, mut touch) = run(0.5, 0.0);
    let start = StepStart::new(
        &run.run.system,
        &run.run.load,
        Vec::new(),
        Vec::new(),
        (1e-3, 0.0),
    );
    displace(
        &mut run.run.system,
        &[[0.0; 6], [1e-3, -1e-5, 0.0, 0.0, 0.0, 0.0]],
        1.0,
    );
    touch.evaluate(&run.run.system, &[], &start);
    let along = |touch: &ContactSet| {
        let pair = &touch.active[0];
        let way = pair.trial * (1.0 / pair.trial.norm());
        way.dot(pair.tangent().times(way)) / pair.secant
    };
    assert!(touch.active[0].slides());
    assert!((along(&touch) - 1.0).abs() < 1e-12);
    let mut last = 1.0;
    for left in [0.5, 0.25, 0.125] {
        let before = touch.active.clone();
        touch.update_friction(&before, 0.5);
        assert!((along(&touch) - left).abs() < 1e-12);
        // The next iteration begins with the friction that this one left.
        touch.evaluate(&run.run.system, &[], &start);
        assert!((along(&touch) - left).abs() < 1e-12 && left < last);
        last = left;
    }
    // Friction beyond the current limit is scaled back to it.
    let mut far = touch.active.clone();
    far[0].friction_force = far[0].friction_force * 100.0;
    touch.update_friction(&far, 0.0);
    let pair = &touch.active[0];
    assert!((pair.friction_force.norm() / pair.limit - 1.0).abs() < 1e-12);
}

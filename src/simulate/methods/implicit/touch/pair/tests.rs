use std::path::Path;

use super::*;
use crate::laws::manifold::Manifold;
use crate::simulate::methods::implicit::bonds::Form;
use crate::simulate::methods::implicit::start::displace;
use crate::simulate::methods::implicit::touch::Touch;
use crate::simulate::methods::implicit::{Implicit, assemble};

/// Radius of both elements, m.
const R: f64 = 0.01;
/// How far they overlap when the step begins, m.
const OVERLAP: f64 = 2e-4;

/// Elements of which the first two are far from the others, one above the other, and no more than a pair.
fn run(friction: f64, damping: f64) -> (Implicit<Manifold>, Touch) {
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
    let pair = Pair {
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
        pull: Vec3::zero(),
        rubs: [0.0; 2],
    };
    let mut touch = Touch::new(&run.simulate);
    touch.pairs.push(pair);
    (run, touch)
}

/// What a pair does once its second element went on by `way` (rotations times the radius) in a step of length
/// `h`: its matrix for that element, the same by differences of its loads, and how these differ by what the
/// matrix leaves out: the limit of friction that slides follows what presses.
fn matrices(friction: f64, damping: f64, h: f64, way: Six) -> ([[[f64; 6]; 6]; 2], [[f64; 6]; 6]) {
    let (mut run, mut touch) = run(friction, damping);
    let start = Start::new(
        &run.run.system,
        &run.run.load,
        Vec::new(),
        Vec::new(),
        (h, 0.0),
    );
    displace(&mut run.run.system, &[[0.0; 6], way], 1.0);
    touch.evaluate(&run.run.system, &[], &start);
    // As an iteration that has come to its end has friction.
    let before = touch.touching.clone();
    touch.learn(&before, 1.0);
    let block = assemble::contact(&touch.touching[0], true, true, Form::Exact);
    let told = assemble::block_of(&block, [R, R]);
    let mut loads = |by: Six, factor: f64| {
        displace(&mut run.run.system, &[[0.0; 6], by], factor);
        touch.evaluate(&run.run.system, &[], &start);
        let mut load = touch.touching[0].load(true);
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
    let pair = &touch.touching[0];
    let n = pair.n.to_f64();
    let along = |v: &dyn Fn(usize) -> f64| (0..3).map(|k| n[k] * v(k)).sum::<f64>();
    // From the second to the first: what presses it is against that.
    let pressed = -along(&|k| load[k]);
    let lagged = std::array::from_fn(|row| {
        let friction = load[row] + if row < 3 { pressed * n[row] } else { 0.0 };
        std::array::from_fn(|column| match pair.slides() && pressed > 0.0 {
            true => -friction / pressed * along(&|k| measured[k][column]),
            false => 0.0,
        })
    });
    ([told, measured], lagged)
}

fn largest(m: &[[f64; 6]; 6]) -> f64 {
    m.as_flattened()
        .iter()
        .fold(0.0, |most, v| v.abs().max(most))
}

#[test]
fn the_matrix_of_a_pair_is_what_its_loads_change_by() {
    let across = |far: f64| [far, -1e-5, 0.3 * far, 0.2 * far, 0.0, -0.4 * far];
    // Without what loads turn by with the normal, which is as small as the overlap against the radius.
    let rough = 0.04;
    let mut stiff = 0.0;
    for (name, friction, damping, h, way) in [
        ("held", 0.5, 1.0, 1e-3, across(1e-6)),
        ("sliding", 0.5, 1.0, 1e-3, across(1e-3)),
        ("smooth", 0.0, 1.0, 1e-3, across(1e-3)),
        ("parting", 0.5, 1.0, 1e-6, [1e-5, 1e-4, 0.0, 0.0, 0.0, 1e-5]),
    ] {
        let ([told, measured], lagged) = matrices(friction, damping, h, way);
        match name {
            "held" => {
                stiff = largest(&told);
                assert!((largest(&measured) / stiff - 1.0).abs() < rough);
            }
            "parting" => assert_eq!(largest(&told), 0.0, "nothing presses, so nothing rubs"),
            _ => {}
        }
        for (row, (told, measured)) in told.iter().zip(&measured).enumerate() {
            for (column, (told, measured)) in told.iter().zip(measured).enumerate() {
                let off = (told + lagged[row][column] - measured).abs();
                assert!(
                    off < rough * stiff,
                    "{name}, {row}, {column}: {told} for {measured} of {stiff}"
                );
            }
        }
    }
}

#[test]
fn friction_that_slides_goes_from_its_secant_to_its_derivative_as_it_is_learned() {
    let (mut run, mut touch) = run(0.5, 0.0);
    let start = Start::new(
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
    let along = |touch: &Touch| {
        let pair = &touch.touching[0];
        let way = pair.trial * (1.0 / pair.trial.norm());
        way.dot(pair.tangent().times(way)) / pair.secant
    };
    assert!(touch.touching[0].slides());
    assert!((along(&touch) - 1.0).abs() < 1e-12);
    let mut last = 1.0;
    for left in [0.5, 0.25, 0.125] {
        let before = touch.touching.clone();
        touch.learn(&before, 0.5);
        assert!((along(&touch) - left).abs() < 1e-12);
        // The next iteration begins with what this one left.
        touch.evaluate(&run.run.system, &[], &start);
        assert!((along(&touch) - left).abs() < 1e-12 && left < last);
        last = left;
    }
    // What is beyond the limit of another place is brought back to it.
    let mut far = touch.touching.clone();
    far[0].pull = far[0].pull * 100.0;
    touch.learn(&far, 0.0);
    let pair = &touch.touching[0];
    assert!((pair.pull.norm() / pair.limit - 1.0).abs() < 1e-12);
}

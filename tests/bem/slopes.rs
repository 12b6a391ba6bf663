//! Gradients of energy density, singular values and principal stresses, compared with differences of the
//! field.

use cullet::bem::{Balance, Field, FieldGradients, Solution, Solver, Surface};
use cullet::solve::Recycled;
use glam::{DVec3, dvec3};

use super::bodies::torus;
use super::solved::{ORDERS, elastic, loads, tractions};

/// Step of the differences, m.
const STEP: f64 = 1e-4;

/// Energy density, singular values and principal stresses.
fn numbers(field: &Field, slope: &FieldGradients) -> [f64; 7] {
    let ([a, b, c], [d, e, f]) = (slope.singular_values, field.principal().values);
    [field.energy_density, a, b, c, d, e, f]
}

fn at(solution: &Solution, x: DVec3) -> [f64; 7] {
    numbers(&solution.inside(&[x])[0], &solution.slopes(&[x])[0])
}

/// Fourth-order central difference along an axis.
fn difference(solution: &Solution, x: DVec3, axis: DVec3) -> [f64; 7] {
    let [near, far] = [1.0, 2.0].map(|steps| {
        let [up, down] = [steps, -steps].map(|s| at(solution, x + axis * (s * STEP)));
        std::array::from_fn::<f64, 7, _>(|k| (up[k] - down[k]) / (2.0 * steps * STEP))
    });
    std::array::from_fn(|k| (4.0 * near[k] - far[k]) / 3.0)
}

#[test]
fn slopes_are_differences_of_the_field() {
    let surface = Surface::new(&torus(0.4, 12, 6)).unwrap();
    let twist = |x: DVec3, n: DVec3| DVec3::Z.cross(x) * x.z + n * x.x * x.x;
    let tractions = tractions(&surface, twist);
    let mut loads = loads(&tractions);
    (loads.density, loads.spin, loads.gravity) = (1.0, DVec3::Z, dvec3(0.2, -0.1, 0.3));
    loads.balance = Balance::Inertia;
    let points = [dvec3(0.9, 0.1, 0.15), dvec3(-0.3, -0.95, -0.1)];
    for order in ORDERS {
        let solver = Solver::dense(&surface, elastic(0.3), order);
        let solution = solver.solve(&loads, &mut Recycled::default()).unwrap();
        for (x, slope) in points.iter().zip(solution.slopes(&points)) {
            let mut gradients = vec![slope.energy_density];
            gradients.extend(slope.singular);
            gradients.extend(slope.principal);
            let differences = DVec3::AXES.map(|axis| difference(&solution, *x, axis));
            for (k, gradient) in gradients.into_iter().enumerate() {
                let off = gradient - DVec3::from(differences.map(|d| d[k]));
                let relative = off.length() / gradient.length();
                println!("{order:?}, number {k} at {x}: {relative:.1e}");
                assert!(relative < 1e-6);
            }
        }
    }
}

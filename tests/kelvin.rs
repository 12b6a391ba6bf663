//! Kelvin's solution, compared with independently computed values (float64, automatic differentiation).

use cullet::laws::{galerkin, hooke, kelvin};
use cullet::math::{Mat3, Vec3};
use serde_json::Value;

use crate::vectors::read;

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        one => vec![one.as_f64().unwrap()],
    }
}

fn vector(value: &Value) -> Vec3<f64> {
    let v = numbers(value);
    Vec3::new(v[0], v[1], v[2])
}

/// Largest difference, relative to the largest expected number.
fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0f64, |most, e| most.max(e.abs()));
    let pairs = found.iter().zip(expected);
    pairs.fold(0.0, |most: f64, (f, e)| most.max((f - e).abs())) / largest
}

#[test]
fn kelvin_vectors() {
    let file = read("kelvin");
    let rows = file.as_array().unwrap();
    assert!(rows.len() >= 24);
    let mut worst = [0.0f64; 3];
    for row in rows {
        let r = vector(&row["x"]) - vector(&row["y"]);
        let (force, normal) = (vector(&row["force"]), vector(&row["normal"]));
        let [shear, poisson] = ["G", "nu"].map(|key| row[key].as_f64().unwrap());
        let displacement = kelvin::displacement(r, force, shear, poisson).to_f64();
        let stress = kelvin::stress(r, force, poisson).rows;
        let traction = kelvin::traction(r, force, normal, poisson).to_f64();
        let stress: Vec<f64> = stress.iter().flat_map(|row| row.to_f64()).collect();
        for (worst, (found, key)) in worst.iter_mut().zip([
            (&displacement[..], "displacement"),
            (&stress[..], "stress"),
            (&traction[..], "traction"),
        ]) {
            *worst = worst.max(relative_error(found, &numbers(&row[key])));
        }
    }
    println!("displacement, stress, traction off by {worst:?}");
    assert!(worst.iter().all(|off| *off < 1e-12), "{worst:?}");
}

/// Gradients equal central differences of the displacement, and give the stress by Hooke's law.
#[test]
fn gradients_are_differences_and_give_the_stress() {
    let step = 1e-5;
    for row in read("kelvin").as_array().unwrap() {
        let r = vector(&row["x"]) - vector(&row["y"]);
        let force = vector(&row["force"]);
        let [shear, poisson] = ["G", "nu"].map(|key| row[key].as_f64().unwrap());
        let found = kelvin::gradient(r, force, shear, poisson);
        let [along_x, along_y, along_z] =
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| {
                let step = Vec3::from_f64(axis) * (step * r.norm());
                let [up, down] =
                    [r + step, r - step].map(|r| kelvin::displacement(r, force, shear, poisson));
                (up - down) * (0.5 / step.norm())
            });
        let differences = Mat3::new(along_x, along_y, along_z).transposed();
        assert!(relative_error(&flat(found), &flat(differences)) < 1e-8);
        let by_hooke = hooke::stress(found, shear, poisson);
        assert!(relative_error(&flat(by_hooke), &flat(kelvin::stress(r, force, poisson))) < 1e-12);
    }
}

/// Galerkin's vector Ψ = r of a point gives the point force.
#[test]
fn galerkins_vector_of_a_point_is_the_point_force() {
    for row in read("kelvin").as_array().unwrap() {
        let r = vector(&row["x"]) - vector(&row["y"]);
        let force = vector(&row["force"]);
        let [shear, poisson] = ["G", "nu"].map(|key| row[key].as_f64().unwrap());
        let phi = 1.0 / r.norm();
        let n = r * phi;
        let second = (Mat3::diagonal(1.0) - Mat3::outer(n, n)) * phi;
        let slope = n * (-phi * phi);
        // f_k ∂_k of the second derivatives.
        let along = n.dot(force);
        let third = (Mat3::outer(n, n) * (3.0 * along)
            - Mat3::diagonal(along)
            - Mat3::both_outer(n, force))
            * (phi * phi);
        let displacement = galerkin::displacement((phi, second), force, shear, poisson);
        let expected = kelvin::displacement(r, force, shear, poisson);
        assert!(relative_error(&displacement.to_f64(), &expected.to_f64()) < 1e-12);
        let gradient = galerkin::gradient((slope, third), force, shear, poisson);
        let expected = kelvin::gradient(r, force, shear, poisson);
        assert!(relative_error(&flat(gradient), &flat(expected)) < 1e-12);
    }
}

fn flat(matrix: Mat3<f64>) -> Vec<f64> {
    matrix.rows.iter().flat_map(|row| row.to_f64()).collect()
}

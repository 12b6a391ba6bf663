//! Kelvin's solution against independently computed values (float64, automatic differentiation).

use cullet::laws::kelvin;
use cullet::math::Vec3;
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

/// Largest difference over the largest number expected.
fn off(found: &[f64], expected: &[f64]) -> f64 {
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
            *worst = worst.max(off(found, &numbers(&row[key])));
        }
    }
    println!("displacement, stress, traction off by {worst:?}");
    assert!(worst.iter().all(|off| *off < 1e-12), "{worst:?}");
}

//! Principal stresses on a device.

use cullet::math::Vec3;

use super::largest;
use super::probe::{device, run};
use crate::vectors::{number, numbers, read, vec3};
use crate::vectors_materials::entries;

/// The vectors of Rankine's criterion: 1e-5 of the largest component against the file.
#[test]
fn principal_stresses_on_a_device() {
    let Some(device) = device() else { return };
    let entries = entries(&read("rankine"), "elements");
    let stresses: Vec<[f64; 9]> = entries
        .iter()
        .map(|entry| {
            let rows = entry["stress"].as_array().unwrap();
            let rows: Vec<f64> = rows.iter().flat_map(numbers).collect();
            std::array::from_fn(|k| rows[k])
        })
        .collect();
    let rows: Vec<Vec<f32>> = stresses
        .iter()
        .map(|s| {
            [s[0], s[4], s[8], s[5], s[2], s[1], 1.0, 0.0, 0.0]
                .map(|x| x as f32)
                .to_vec()
        })
        .collect();
    let found = run(device, "principal", &rows, 5);
    for (n, ((entry, stress), found)) in entries.iter().zip(&stresses).zip(&found).enumerate() {
        let found: Vec<f64> = found.iter().map(|x| f64::from(*x)).collect();
        let size = largest(stress.iter().copied());
        let known = number(&entry["largest"]);
        let direction: Vec3<f64> = vec3(&found[1..]);
        let pulled = [0, 3, 6].map(|at| vec3(&stress[at..at + 3]).dot(direction));
        let off = (Vec3::from_f64(pulled) - direction * known).norm();
        assert!(
            (found[0] - known).abs() < 1e-5 * size,
            "{n}: {found:?} {known}"
        );
        assert!(
            off < 1e-5 * size && (direction.norm() - 1.0).abs() < 1e-5,
            "{n}: {off}"
        );
        let leans = direction.x * direction.x < 65.0_f64.to_radians().cos().powi(2);
        assert_eq!(found[4], if leans { 0.0 } else { found[0].max(0.0) }, "{n}");
    }
}

//! Stress of a cell and Rankine's criterion at a face: the face breaks where the largest principal stress of
//! the material around it exceeds the tensile strength. A bond between balls breaks by the mean of the stresses of
//! its two ends ([`hydrostatic`](super::hydrostatic)), beside broken bonds too; its direction takes the place of the
//! normal.
//!
//! ```text
//! σ_i = 1/V_i Σ_faces ½ (a_f ⊗ F_f + F_f ⊗ a_f)          a_f from the cell's centre to the face's, F_f the force on the cell through it
//! T = σ̄ + n dᵀ + d nᵀ − (n·d) n nᵀ,   d = F/S − σ̄ n       σ̄ the mean of both cells of a face, F the force on the cell that its normal n points out of
//! ```
//!
//! σ_i is the mean Cauchy stress of a body in equilibrium (divergence theorem). Faces of cells without broken
//! faces use σ̄: unlike the force on a face it does not depend on the orientation of the face, so that a
//! solid breaks at the same load for any arrangement of its cells. Where either cell has a broken face, σ̄
//! averages over the whole cell the loads that only its other faces carry, and T decides instead: it has the
//! face's own traction, T n = F/S, and the stress of the cells in the plane of the face. A face breaks only
//! if its normal is within 65° of the principal direction: faces along a crack stay intact.

use crate::math::{Real, Vec3, eigen};

/// Square of the cosine of 65°, the largest angle between principal direction and normal at which a face
/// breaks. Faces of a crack through packed cells are inclined by up to 55° (truncated octahedra along an
/// axis) or 60° (hexagonal prisms); with a smaller angle a crack would stay bridged.
pub const MIN_COSINE_SQUARED: f64 = 0.1786;

/// Symmetric stress or virial: xx, yy, zz, yz, xz, xy.
pub type SymmetricTensor<T> = [T; 6];

/// ½ (a ⊗ F + F ⊗ a), N m.
#[inline(always)]
pub fn virial<T: Real>(arm: Vec3<T>, force: Vec3<T>) -> SymmetricTensor<T> {
    let half = T::splat(0.5);
    [
        arm.x * force.x,
        arm.y * force.y,
        arm.z * force.z,
        (arm.y * force.z + arm.z * force.y) * half,
        (arm.x * force.z + arm.z * force.x) * half,
        (arm.x * force.y + arm.y * force.x) * half,
    ]
}

/// No principal stress is larger than this (Gershgorin), Pa.
#[inline(always)]
pub fn bound<T: Real>([xx, yy, zz, yz, xz, xy]: SymmetricTensor<T>) -> T {
    let (yz, xz, xy) = (yz.abs(), xz.abs(), xy.abs());
    (xx + xy + xz).max(yy + xy + yz).max(zz + xz + yz)
}

/// Largest principal value of ½ (x⊗F + F⊗x), N m, rounded up a little: the sum over bonds bounds that of the sum of
/// these tensors despite rounding.
#[inline(always)]
pub fn bound_of_bond<T: Real>(x: Vec3<T>, force: Vec3<T>) -> T {
    (x.dot(force) + x.norm() * force.norm()) * T::splat(0.500_005)
}

/// T of a face, Pa, from the mean stress of its cells, its unit normal and the traction on the side out of
/// which the normal points; `broken`: 1 if a face of either cell is broken, otherwise 0, and T is the mean
/// stress.
#[inline(always)]
pub fn at_face<T: Real>(
    mean: SymmetricTensor<T>,
    n: Vec3<T>,
    traction: Vec3<T>,
    broken: T,
) -> SymmetricTensor<T> {
    let [xx, yy, zz, yz, xz, xy] = mean;
    let own = Vec3::new(
        xx * n.x + xy * n.y + xz * n.z,
        xy * n.x + yy * n.y + yz * n.z,
        xz * n.x + yz * n.y + zz * n.z,
    );
    let d = (traction - own) * broken;
    let more = virial(n, d * T::splat(2.0) - n * n.dot(d));
    std::array::from_fn(|k| mean[k] + more[k])
}

/// Largest principal stress, Pa, and its unit direction.
pub fn largest_principal([xx, yy, zz, yz, xz, xy]: SymmetricTensor<f64>) -> (f64, Vec3<f64>) {
    let (values, directions) = eigen([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
    let mut most = 0;
    for k in 1..3 {
        if values[k] > values[most] {
            most = k;
        }
    }
    let [x, y, z] = directions[most];
    (values[most], Vec3::new(x, y, z))
}

/// σ of a face, Pa: the largest principal stress if its direction is within 65° of the face's unit `normal`,
/// otherwise 0.
pub fn sigma(stress: SymmetricTensor<f64>, normal: Vec3<f64>) -> f64 {
    let (value, direction) = largest_principal(stress);
    let cosine = direction.dot(normal);
    if value > 0.0 && cosine * cosine >= MIN_COSINE_SQUARED {
        value
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A brick whose faces transmit σ n S has the stress σ.
    #[test]
    fn a_brick_has_the_stress_that_its_faces_transmit() {
        let stress = [3.0, -1.0, 2.0, 0.5, -0.7, 0.9];
        let [xx, yy, zz, yz, xz, xy] = stress;
        let rows = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
        let size = [0.2, 0.5, 0.3];
        let volume = size.iter().product::<f64>();
        let mut sum = [0.0; 6];
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let mut arm = [0.0; 3];
                arm[axis] = 0.5 * side * size[axis];
                let area = volume / size[axis];
                let force = rows[axis].map(|s| s * side * area);
                let more: SymmetricTensor<f64> = virial(Vec3::from_f64(arm), Vec3::from_f64(force));
                for (sum, more) in sum.iter_mut().zip(more) {
                    *sum += more / volume;
                }
            }
        }
        for (found, known) in sum.iter().zip(stress) {
            assert!((found - known).abs() < 1e-12, "{sum:?}");
        }
        let (value, n) = largest_principal(stress);
        let pulled: Vec<f64> = rows
            .iter()
            .map(|row| Vec3::from_f64(*row).dot(n) / value)
            .collect();
        assert!((Vec3::from_f64([pulled[0], pulled[1], pulled[2]]) - n).norm() < 1e-12);
        assert!(bound(stress) >= value);
    }

    #[test]
    fn a_face_has_its_own_traction_and_the_stress_of_its_cells_in_its_plane() {
        let mean = [3.0, -1.0, 2.0, 0.5, -0.7, 0.9];
        let n = Vec3::from_f64([0.6, 0.0, 0.8]);
        let times = |[xx, yy, zz, yz, xz, xy]: SymmetricTensor<f64>, v: Vec3<f64>| {
            let rows = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
            Vec3::from_f64(rows.map(|row| Vec3::from_f64(row).dot(v)))
        };
        let traction = Vec3::from_f64([1.0, -2.0, 0.3]);
        let found = at_face(mean, n, traction, 1.0);
        assert!((times(found, n) - traction).norm() < 1e-12);
        let plane = [[0.0, 1.0, 0.0], [0.8, 0.0, -0.6]].map(Vec3::from_f64);
        for (a, b) in [(0, 0), (0, 1), (1, 1)] {
            let part = |s: SymmetricTensor<f64>| plane[a].dot(times(s, plane[b]));
            assert!((part(found) - part(mean)).abs() < 1e-12);
        }
        // In a uniform stress T of every face is that stress.
        let same = at_face(mean, n, times(mean, n), 1.0);
        assert_eq!(at_face(mean, n, traction, 0.0), mean);
        assert!(same.iter().zip(mean).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn faces_along_the_pull_do_not_break() {
        let pulled = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let leaning = |degrees: f64| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            sigma(pulled, Vec3::new(cosine, sine, 0.0))
        };
        assert_eq!([0.0, 60.0, 64.9].map(leaning), [2.0; 3]);
        assert_eq!([65.1, 90.0].map(leaning), [0.0; 2]);
        assert_eq!(sigma(pulled.map(|s| -s), Vec3::new(1.0, 0.0, 0.0)), 0.0);
    }
}

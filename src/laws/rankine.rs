//! Stress of a cell and Rankine's criterion at a face: the face breaks where the largest principal stress of
//! the material around it exceeds the tensile strength. A bond between balls breaks by the mean of the stresses of
//! its two ends ([`hydrostatic`]), beside broken bonds too; its direction takes the place of the
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

use super::hydrostatic;
use crate::math::{Real, Vec3, eigen};

/// Symmetric stress or virial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymmetricTensor<T> {
    /// xx, yy, zz.
    pub diagonal: Vec3<T>,
    /// yz, xz, xy.
    pub off_diagonal: Vec3<T>,
}

impl<T: Copy> SymmetricTensor<T> {
    /// From xx, yy, zz, yz, xz, xy.
    #[inline(always)]
    pub fn from_array([xx, yy, zz, yz, xz, xy]: [T; 6]) -> Self {
        SymmetricTensor {
            diagonal: Vec3 {
                x: xx,
                y: yy,
                z: zz,
            },
            off_diagonal: Vec3 {
                x: yz,
                y: xz,
                z: xy,
            },
        }
    }

    /// xx, yy, zz, yz, xz, xy.
    #[inline(always)]
    pub fn to_array(self) -> [T; 6] {
        let (a, b) = (self.diagonal, self.off_diagonal);
        [a.x, a.y, a.z, b.x, b.y, b.z]
    }
}

/// ½ (a ⊗ F + F ⊗ a), N m.
#[inline(always)]
pub fn virial<T: Real>(arm: Vec3<T>, force: Vec3<T>) -> SymmetricTensor<T> {
    let half = T::splat(0.5);
    SymmetricTensor {
        diagonal: Vec3::new(arm.x * force.x, arm.y * force.y, arm.z * force.z),
        off_diagonal: Vec3::new(
            (arm.y * force.z + arm.z * force.y) * half,
            (arm.x * force.z + arm.z * force.x) * half,
            (arm.x * force.y + arm.y * force.x) * half,
        ),
    }
}

/// Sum of two stresses or virials.
#[inline(always)]
pub fn sum<T: Real>(a: SymmetricTensor<T>, b: SymmetricTensor<T>) -> SymmetricTensor<T> {
    SymmetricTensor {
        diagonal: a.diagonal + b.diagonal,
        off_diagonal: a.off_diagonal + b.off_diagonal,
    }
}

/// Mean of two stresses.
#[inline(always)]
pub fn mean<T: Real>(a: SymmetricTensor<T>, b: SymmetricTensor<T>) -> SymmetricTensor<T> {
    let half = T::splat(0.5);
    SymmetricTensor {
        diagonal: (a.diagonal + b.diagonal) * half,
        off_diagonal: (a.off_diagonal + b.off_diagonal) * half,
    }
}

/// σ̄ of a ball, Pa, from the sum of the virials of its bonds (N m) and the volume that it represents (m³).
#[inline(always)]
pub fn of_element<T: Real>(virial: SymmetricTensor<T>, volume: T) -> SymmetricTensor<T> {
    let (a, b) = (virial.diagonal, virial.off_diagonal);
    SymmetricTensor {
        diagonal: Vec3::new(
            hydrostatic::stress(a.x, volume),
            hydrostatic::stress(a.y, volume),
            hydrostatic::stress(a.z, volume),
        ),
        off_diagonal: Vec3::new(
            hydrostatic::stress(b.x, volume),
            hydrostatic::stress(b.y, volume),
            hydrostatic::stress(b.z, volume),
        ),
    }
}

/// No principal stress is larger than this (Gershgorin), Pa.
#[inline(always)]
pub fn bound<T: Real>(stress: SymmetricTensor<T>) -> T {
    let (a, b) = (stress.diagonal, stress.off_diagonal);
    let (yz, xz, xy) = (b.x.abs(), b.y.abs(), b.z.abs());
    (a.x + xy + xz).max(a.y + xy + yz).max(a.z + xz + yz)
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
    let (a, b) = (mean.diagonal, mean.off_diagonal);
    let own = Vec3::new(
        a.x * n.x + b.z * n.y + b.y * n.z,
        b.z * n.x + a.y * n.y + b.x * n.z,
        b.y * n.x + b.x * n.y + a.z * n.z,
    );
    let d = (traction - own) * broken;
    sum(mean, virial(n, d * T::splat(2.0) - n * n.dot(d)))
}

/// Largest principal stress, Pa, and its unit direction.
pub fn largest_principal<T: Real>(stress: SymmetricTensor<T>) -> (T, Vec3<T>) {
    let (value, direction) = eigen::largest(stress.diagonal, stress.off_diagonal);
    (value, direction)
}

/// σ of a face, Pa: the largest principal stress if its direction is within 65° of the face's unit `normal`,
/// otherwise 0.
///
/// 0.1786 is the square of the cosine of 65°. Faces of a crack through packed cells are inclined by up to 55°
/// (truncated octahedra along an axis) or 60° (hexagonal prisms); with a smaller angle a crack would stay bridged.
pub fn sigma<T: Real>(stress: SymmetricTensor<T>, normal: Vec3<T>) -> T {
    let (value, direction) = largest_principal(stress);
    let cosine = direction.dot(normal);
    let zero = T::splat(0.0);
    let leans = (cosine * cosine).lt(T::splat(0.1786));
    T::select(leans, zero, value.max(zero))
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
        let mut found = SymmetricTensor::from_array([0.0; 6]);
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let mut arm = [0.0; 3];
                arm[axis] = 0.5 * side * size[axis];
                let area = volume / size[axis];
                let force = rows[axis].map(|s| s * side * area);
                let more: SymmetricTensor<f64> = virial(Vec3::from_f64(arm), Vec3::from_f64(force));
                found = sum(
                    found,
                    SymmetricTensor::from_array(more.to_array().map(|part| part / volume)),
                );
            }
        }
        for (part, known) in found.to_array().iter().zip(stress) {
            assert!((part - known).abs() < 1e-12, "{found:?}");
        }
        let stress = SymmetricTensor::from_array(stress);
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
        let mean = SymmetricTensor::from_array([3.0, -1.0, 2.0, 0.5, -0.7, 0.9]);
        let n = Vec3::from_f64([0.6, 0.0, 0.8]);
        let times = |stress: SymmetricTensor<f64>, v: Vec3<f64>| {
            let [xx, yy, zz, yz, xz, xy] = stress.to_array();
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
        let both = same.to_array().into_iter().zip(mean.to_array());
        assert!(both.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn faces_along_the_pull_do_not_break() {
        let along_x = |stress| SymmetricTensor::from_array([stress, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let leaning = |degrees: f64| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            sigma(along_x(2.0), Vec3::new(cosine, sine, 0.0))
        };
        assert_eq!([0.0, 60.0, 64.9].map(leaning), [2.0; 3]);
        assert_eq!([65.1, 90.0].map(leaning), [0.0; 2]);
        assert_eq!(sigma(along_x(-2.0), Vec3::new(1.0, 0.0, 0.0)), 0.0);
    }
}

//! Rigid cells that fill a body and transmit stress through the faces between them (Monasse and Mariotti, *An energy-preserving discrete element
//! method for elastodynamics*, 2012, §2.2), an energy:
//!
//! ```text
//! U_t = ½ Σ_faces S E/((1 + ν) D₀) |Δu|²        Δu = x_j + R_j a_j − x_i − R_i a_i, the gap between both images of the face's centre
//! U_d = ½ Σ_cells λ V ε²                          ε_i = Σ_faces ½ S Δu·e / V_i,  e = (x_j − x_i)/|x_j − x_i|
//! U_f = −Σ_faces (k_n n_i·n_j + k_s s_i·s_j + k_t t_i·t_j)
//! ```
//!
//! a: from a cell's centre to the face's at rest; n, s, t: normal and principal axes of the face, turned with either cell; V: the cell's volume and 3ν/(1 − 2ν)
//! of what of it stands over free faces. With π = λ (ε_i + ε_j), the pressure that volume changes put on a face,
//!
//! ```text
//! G = S E/((1 + ν) D₀) Δu + ½ S π e          H = ½ S π (Δu − (Δu·e) e)/|x_j − x_i|
//! force on i = G + H                           torque on i = R_i a_i × G + Σ k (k_i × k_j) over n, s, t        on j: the opposite force, −R_j a_j × G, …
//! ```
//!
//! which are the derivatives of the energy (eq. 16, 18, 19) and add up to no force and no torque on both together.

use crate::math::{Quat, Real, Vec3};

/// How two cells stand to each other at a face between them.
#[derive(Clone, Copy, Debug)]
pub struct Face<T> {
    /// x_j − x_i, m.
    pub line: Vec3<T>,
    /// From the centre of i to the face's as i has it now, m.
    pub arm: Vec3<T>,
    /// Δu, m.
    pub gap: Vec3<T>,
}

/// What a face transmits to cell i.
#[derive(Clone, Copy, Debug)]
pub struct FaceLoad<T> {
    /// N.
    pub force: Vec3<T>,
    /// About the centre of i, N m.
    pub torque: Vec3<T>,
}

/// The face between two cells; `arm_i`, `arm_j` = a at rest.
#[inline(always)]
pub fn face<T: Real>(
    line: Vec3<T>,
    q_i: Quat<T>,
    q_j: Quat<T>,
    arm_i: Vec3<T>,
    arm_j: Vec3<T>,
) -> Face<T> {
    let arm = q_i.rotate(arm_i);
    Face {
        line,
        arm,
        gap: line + q_j.rotate(arm_j) - arm,
    }
}

/// What a face adds to ε V of both cells, m³: ½ S Δu·e.
#[inline(always)]
pub fn dilation<T: Real>(at: Face<T>, half_area: T) -> T {
    half_area * at.gap.dot(at.line) / at.line.norm()
}

/// Force and torque on i without that of bending and twist; `stiffness` = S E/((1 + ν) D₀), N/m; `pressure` = π, Pa.
#[inline(always)]
pub fn traction<T: Real>(at: Face<T>, stiffness: T, half_area: T, pressure: T) -> FaceLoad<T> {
    let length = at.line.norm();
    let direction = at.line * (T::splat(1.0) / length);
    let squeeze = half_area * pressure;
    let at_face = at.gap * stiffness + direction * squeeze;
    let across = at.gap - direction * at.gap.dot(direction);
    FaceLoad {
        force: at_face + across * (squeeze / length),
        torque: at.arm.cross(at_face),
    }
}

/// Part of k (k_j × k_i) of an axis k_i of the face, `turned` = v of q_j q̄_i = (v, w).
///
/// k_j = k_i + 2w v × k_i + 2 v × (v × k_i), so that k_j × k_i = 2w ((v·k_i) k_i − v) + 2 (v·k_i) v × k_i: small turns keep their relative precision.
#[inline(always)]
fn about<T: Real>(axis: Vec3<T>, turned: Vec3<T>, w: T, stiffness: T) -> Vec3<T> {
    let along = turned.dot(axis);
    let bent = (axis * along - turned) * w + turned.cross(axis) * along;
    bent * (stiffness * T::splat(2.0))
}

/// Torque on i of bending and twist; `axes` = n, s, t at rest, `stiffness` = k_n, k_s, k_t, N m.
#[inline(always)]
pub fn bending<T: Real>(
    q_i: Quat<T>,
    q_j: Quat<T>,
    normal: Vec3<T>,
    second: Vec3<T>,
    third: Vec3<T>,
    stiffness: Vec3<T>,
) -> Vec3<T> {
    // q_j q̄_i through the difference of both, which is exact where they are nearly alike.
    let difference = Quat {
        v: q_j.v - q_i.v,
        w: q_j.w - q_i.w,
    };
    let turned = difference.v * q_i.w - q_i.v * difference.w - difference.v.cross(q_i.v);
    let w = q_i.dot(q_j);
    -(about(q_i.rotate(normal), turned, w, stiffness.x)
        + about(q_i.rotate(second), turned, w, stiffness.y)
        + about(q_i.rotate(third), turned, w, stiffness.z))
}

/// Energy of a face by its gap and by its bending, J; what the cells' dilation adds is [`dilation_energy`].
#[inline(always)]
pub fn energy<T: Real>(
    at: Face<T>,
    stiffness: T,
    axes_i: [Vec3<T>; 3],
    axes_j: [Vec3<T>; 3],
    bending: Vec3<T>,
) -> T {
    let [n, s, t] = axes_i;
    let [m, r, o] = axes_j;
    stiffness * at.gap.dot(at.gap) * T::splat(0.5)
        - (bending.x * n.dot(m) + bending.y * s.dot(r) + bending.z * t.dot(o))
}

/// Energy of a cell by its dilation ε, J; `volume` = V.
#[inline(always)]
pub fn dilation_energy<T: Real>(dilation: T, lame: T, volume: T) -> T {
    lame * volume * dilation * dilation * T::splat(0.5)
}

/// A face at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Area S, m².
    pub area: f64,
    /// Distance D₀ of the cells' centres, m.
    pub distance: f64,
    /// Second moments ∫ (x·s)², ∫ (x·t)² about the face's centre along its principal axes, m⁴.
    pub second: [f64; 2],
}

/// Stiffnesses of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceStiffness {
    /// S E/((1 + ν) D₀), N/m.
    pub traction: f64,
    /// k_n, k_s, k_t, N m.
    pub bending: [f64; 3],
}

/// Stiffnesses of a face of a solid with Young's modulus E (Pa) and Poisson's ratio in (−1, ½) (eq. 52–54).
///
/// Bending about s then has the stiffness (k_n + k_t) = E I_t/D₀ of a beam of that section, and twist (k_s + k_t) that of its polar moment.
pub fn stiffness(young: f64, poisson: f64, section: Section) -> FaceStiffness {
    let Section {
        area,
        distance,
        second: [s, t],
    } = section;
    let scale = young / (4.0 * (1.0 + poisson) * distance);
    let (own, other) = (3.0 + 2.0 * poisson, 1.0 + 2.0 * poisson);
    FaceStiffness {
        traction: area * young / ((1.0 + poisson) * distance),
        bending: [
            scale * other * (s + t),
            scale * (own * s - other * t),
            scale * (own * t - other * s),
        ],
    }
}

/// Lamé's λ, Pa.
pub fn lame(young: f64, poisson: f64) -> f64 {
    young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
}

/// Volume V that a dilation is over, m³; `free` = the pyramids over the cell's free faces.
pub fn effective_volume(volume: f64, free: f64, poisson: f64) -> f64 {
    volume + 3.0 * poisson / (1.0 - 2.0 * poisson) * free
}

#[cfg(test)]
mod tests {
    use super::*;

    /// M = E I/D₀ sin θ in bending, G J/D₀ sin θ in twist (eq. 46 put right).
    #[test]
    fn two_cells_bend_and_twist_as_a_beam() {
        let (young, poisson) = (3.0e9, 0.3);
        let (wide, high, distance) = (0.2, 0.1, 0.05);
        let second = [
            high * wide * wide * wide / 12.0,
            wide * high * high * high / 12.0,
        ];
        let section = Section {
            area: wide * high,
            distance,
            second,
        };
        let [n, s, t] = [
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
            Vec3::new(0.0, 0.0, 1.0),
        ];
        let k = stiffness(young, poisson, section).bending;
        let (rest, angle) = (Quat::new(0.0, 0.0, 0.0, 1.0), 0.4f64);
        let shear = young / (2.0 * (1.0 + poisson));
        // About t the fibres along s are pulled, about s those along t.
        for (axis, rigidity) in [
            (t, young * second[0]),
            (s, young * second[1]),
            (n, shear * (second[0] + second[1])),
        ] {
            let turned = Quat::from_rotation_vector(axis * angle);
            let torque = bending(rest, turned, n, s, t, Vec3::new(k[0], k[1], k[2]));
            let expected = axis * (rigidity / distance * angle.sin());
            let off = (torque - expected).norm() / expected.norm();
            assert!(off < 1e-12, "{torque:?} {expected:?}");
        }
    }
}

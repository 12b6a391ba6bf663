//! Rigid cells that fill a body and transmit stress through the faces between them (Monasse and Mariotti, *An
//! energy-preserving discrete element method for elastodynamics*, 2012, §2.2), an energy:
//!
//! ```text
//! U_t = ½ Σ_faces S E/((1 + ν) D₀) |Δu|²        Δu = x_j + R_j a_j − x_i − R_i a_i, the gap between both images of the face's centre
//! U_d = ½ Σ_cells λ V ε²                          ε_i = Σ_faces ½ S Δu·e / V_i,  e = (x_j − x_i)/|x_j − x_i|
//! U_f = −Σ_faces (k_n n_i·n_j + k_s s_i·s_j + k_t t_i·t_j)
//! ```
//!
//! a: from a cell's centre to the face's at rest; n, s, t: normal and principal axes of the face, rotated
//! with either cell; V: the cell's volume plus 3ν/(1 − 2ν) times the volume of the pyramids over its free
//! faces. With π = λ (ε_i + ε_j), the pressure of volume changes on a face,
//!
//! ```text
//! G = S E/((1 + ν) D₀) Δu + ½ S π e          H = ½ S π (Δu − (Δu·e) e)/|x_j − x_i|
//! force on i = G + H       torque on i = R_i a_i × G + Σ k (k_i × k_j) over n, s, t       on j: the opposite force, −R_j a_j × G − Σ k (k_i × k_j)
//! ```
//!
//! which are the derivatives of the energy (eq. 16, 18, 19) and add up to zero total force and torque.

use super::bond::BondLoad;
use crate::math::{Mat3, Quat, Real, Vec3};

/// Relative configuration of two cells at a face between them.
#[derive(Clone, Copy, Debug)]
pub struct FaceConfiguration<T> {
    /// x_j − x_i, m.
    pub line: Vec3<T>,
    /// From the centre of i to the current face centre as carried by i, m.
    pub arm: Vec3<T>,
    /// Δu, m.
    pub gap: Vec3<T>,
}

/// Load of a face on its cells, from its gap and their dilation.
#[derive(Clone, Copy, Debug)]
pub struct FaceLoad<T> {
    /// Force on i, N; on j the opposite.
    pub force: Vec3<T>,
    /// Torque on i about its centre, N m.
    pub torque: Vec3<T>,
    /// Torque on j about its centre, N m.
    pub torque_j: Vec3<T>,
}

/// Rotation of a cell since rest, computed once for all faces that it owns.
#[derive(Clone, Copy, Debug)]
pub struct CellRotation<T> {
    q: Quat<T>,
    /// Rotation not yet included in the quaternion, rad.
    left: Vec3<T>,
    /// R − 1, including `left`.
    swing: Mat3<T>,
}

impl<T: Real> CellRotation<T> {
    /// From a quaternion and `left`, the rotation not yet included in it.
    #[inline(always)]
    pub fn new(q: Quat<T>, left: Vec3<T>) -> Self {
        turned(q, left)
    }
}

/// Rotation of a cell from a quaternion and `left`, the rotation not yet included in it.
#[inline(always)]
fn turned<T: Real>(q: Quat<T>, left: Vec3<T>) -> CellRotation<T> {
    let swing = Mat3::swing(q);
    let [x, y, z] = (swing + Mat3::diagonal(T::splat(1.0))).transposed().rows;
    let more = Mat3::new(left.cross(x), left.cross(y), left.cross(z));
    CellRotation {
        q,
        left,
        swing: swing + more.transposed(),
    }
}

/// A direction at rest, rotated with the cell.
#[inline(always)]
pub fn rotated<T: Real>(own: &CellRotation<T>, v: Vec3<T>) -> Vec3<T> {
    v + own.swing.times(v)
}

/// Displacement by the cell's rotation of a point at `arm` = a from its centre at rest: (R − 1) a + ρ × R a,
/// where ρ = `left` is the rotation not yet included in the quaternion.
///
/// The arm itself is not added, so that small rotations keep their relative precision.
#[inline(always)]
fn swing<T: Real>(q: Quat<T>, left: Vec3<T>, arm: Vec3<T>) -> Vec3<T> {
    let twice = q.v.cross(arm) * T::splat(2.0);
    let turned = twice * q.w + q.v.cross(twice);
    turned + left.cross(arm + turned)
}

/// The face between two cells; `line` = x_j − x_i, `own` = i, `arm_i`, `arm_j` = a at rest, `left_j` =
/// rotation not yet included in j's quaternion.
#[inline(always)]
pub fn face<T: Real>(
    line: Vec3<T>,
    own: &CellRotation<T>,
    (q_j, left_j): (Quat<T>, Vec3<T>),
    (arm_i, arm_j): (Vec3<T>, Vec3<T>),
) -> FaceConfiguration<T> {
    let swung = own.swing.times(arm_i);
    FaceConfiguration {
        line,
        arm: arm_i + swung,
        gap: (line - (arm_i - arm_j)) + (swing(q_j, left_j, arm_j) - swung),
    }
}

/// From the centre of j to the current face centre as carried by j, m: x_i + R_i a_i + Δu = x_j + R_j a_j.
#[inline(always)]
pub fn arm_j<T: Real>(at: FaceConfiguration<T>) -> Vec3<T> {
    at.arm + at.gap - at.line
}

/// Contribution of a face to ε V of both cells, m³: ½ S Δu·e.
#[inline(always)]
pub fn dilation<T: Real>(at: FaceConfiguration<T>, half_area: T) -> T {
    half_area * at.gap.dot(at.line) / at.line.norm()
}

/// Force and torques without the torques of bending and twist; `stiffness` = S E/((1 + ν) D₀), N/m;
/// `pressure` = π, Pa.
#[inline(always)]
pub fn traction<T: Real>(
    at: FaceConfiguration<T>,
    stiffness: T,
    half_area: T,
    pressure: T,
) -> FaceLoad<T> {
    let length = at.line.norm();
    let direction = at.line * (T::splat(1.0) / length);
    let squeeze = half_area * pressure;
    let at_face = at.gap * stiffness + direction * squeeze;
    let across = at.gap - direction * at.gap.dot(direction);
    FaceLoad {
        force: at_face + across * (squeeze / length),
        torque: at.arm.cross(at_face),
        torque_j: -arm_j(at).cross(at_face),
    }
}

/// Load and energy of bending and twist of a face.
#[derive(Clone, Copy, Debug)]
pub struct FaceBending<T> {
    /// Torque on i, N m; on j the opposite.
    pub torque: Vec3<T>,
    /// Energy relative to rest, J.
    pub energy: T,
    /// Current n of i.
    pub n: Vec3<T>,
    /// Current s of i.
    pub s: Vec3<T>,
    /// Current t of i.
    pub t: Vec3<T>,
}

/// Bending and twist of a face; `normal`, `second` = n, s at rest, `stiffness` = k_n, k_s, k_t, N m.
///
/// With q_j q̄_i = (v, w), k_j = k_i + 2w v × k_i + 2 v × (v × k_i), so that with m = Σ k (v·k_i) k_i and K =
/// k_n + k_s + k_t
///
/// ```text
/// Σ k (k_i × k_j) = 2 (w (K v − m) − v × m)          Σ k (1 − k_i·k_j) = 2 (K v·v − v·m)
/// ```
#[inline(always)]
pub fn bending<T: Real>(
    own: &CellRotation<T>,
    (q_j, left_j): (Quat<T>, Vec3<T>),
    normal: Vec3<T>,
    second: Vec3<T>,
    stiffness: Vec3<T>,
) -> FaceBending<T> {
    let q_i = own.q;
    // q_j q̄_i by the difference of both, which is exact where they are nearly equal.
    let difference = Quat {
        v: q_j.v - q_i.v,
        w: q_j.w - q_i.w,
    };
    let turned = difference.v * q_i.w - q_i.v * difference.w - difference.v.cross(q_i.v);
    let v = turned + (left_j - own.left) * T::splat(0.5);
    let w = q_i.dot(q_j);
    let (n, s) = (rotated(own, normal), rotated(own, second));
    let t = n.cross(s);
    let m =
        n * (stiffness.x * v.dot(n)) + s * (stiffness.y * v.dot(s)) + t * (stiffness.z * v.dot(t));
    let all = stiffness.x + stiffness.y + stiffness.z;
    let two = T::splat(2.0);
    FaceBending {
        torque: ((v * all - m) * w - v.cross(m)) * two,
        energy: (all * v.dot(v) - v.dot(m)) * two,
        n,
        s,
        t,
    }
}

/// Angle by which a wall is folded at a face, and its derivative.
#[derive(Clone, Copy, Debug)]
pub struct FaceFold<T> {
    /// θ, rad.
    pub angle: T,
    /// −∂θ/∂(rotation of i); for j the opposite.
    pub slope: Vec3<T>,
}

/// Bending of a wall of one layer of cells across a face; `normal` = n out of i, `through` = z through the
/// wall, at rest.
///
/// Gaps are measured at the centres of faces, where bending opens none, so that U_d does not include bending:
/// a wall of one layer would have no Poisson coupling. Integrated over the faces, the gaps of bending add to
/// the energy, for a cell of thickness h,
///
/// ```text
/// U_c = ½ λ (h²/12)/V Ω²        Ω = Σ_faces ½ S θ        θ = ½ ((R_j n)·(R_i z) − (R_i n)·(R_j z))
/// ```
///
/// and U_t gives E I/(1 + ν) in place of E I for bending of the wall. Together they have the stiffness of a
/// plate: E h³/(12 (1 − ν²)) in cylindrical bending.
#[inline(always)]
pub fn fold<T: Real>(
    (q_i, q_j): (Quat<T>, Quat<T>),
    normal: Vec3<T>,
    through: Vec3<T>,
) -> FaceFold<T> {
    let (n_i, n_j) = (q_i.rotate(normal), q_j.rotate(normal));
    let (z_i, z_j) = (q_i.rotate(through), q_j.rotate(through));
    let half = T::splat(0.5);
    FaceFold {
        angle: (n_j.dot(z_i) - n_i.dot(z_j)) * half,
        slope: (n_i.cross(z_j) - z_i.cross(n_j)) * half,
    }
}

/// Energy of the gap of a face, J.
#[inline(always)]
pub fn gap_energy<T: Real>(at: FaceConfiguration<T>, stiffness: T) -> T {
    stiffness * at.gap.dot(at.gap) * T::splat(0.5)
}

/// Viscous force and torque of a face on i, proportional to the opening rate of its gap and to the relative
/// angular velocity of the cells; on j the opposite force at the same point.
///
/// ```text
/// g = v_j − v_i + (ω_j × (p − x_j) − ω_i × (p − x_i))          p the middle between both images of the face's centre
/// force on i = c g       torque on i = (p − x_i) × c g + c_r (ω_j − ω_i)       torque on j = −(p − x_j) × c g − c_r (ω_j − ω_i)
/// ```
#[inline(always)]
pub fn damping<T: Real>(
    at: FaceConfiguration<T>,
    (v_i, v_j): (Vec3<T>, Vec3<T>),
    (spin_i, spin_j): (Vec3<T>, Vec3<T>),
    (translation, rotation): (T, T),
) -> FaceDamping<T> {
    let arm = at.arm + at.gap * T::splat(0.5);
    let other = arm - at.line;
    let rate = v_j - v_i + spin_j.cross(other) - spin_i.cross(arm);
    let turning = spin_j - spin_i;
    let (force, moment) = (rate * translation, turning * rotation);
    FaceDamping {
        force,
        torque_i: arm.cross(force) + moment,
        torque_j: -(other.cross(force) + moment),
        power: rate.dot(force) + turning.dot(moment),
    }
}

/// Damping load at a face.
#[derive(Clone, Copy, Debug)]
pub struct FaceDamping<T> {
    /// Force on i, N.
    pub force: Vec3<T>,
    /// Torque on i, N m.
    pub torque_i: Vec3<T>,
    /// Torque on j, N m.
    pub torque_j: Vec3<T>,
    /// Dissipated power, W.
    pub power: T,
}

/// Load transmitted by a face, in the form that the failure criteria of bonds need: `load` and `bend` act on
/// i, `moduli` = c/J, c/I_s, c/I_t of the section, 1/m³.
///
/// Moments are given as the stresses that they cause at the section's rim, for a
/// [`failure::CriterionSection`](super::failure::CriterionSection) with moduli of 1.
#[inline(always)]
pub fn transmitted<T: Real>(
    load: FaceLoad<T>,
    bend: &FaceBending<T>,
    moduli: Vec3<T>,
) -> BondLoad<T> {
    let (n, s, t) = (bend.n, bend.s, bend.t);
    let (force, torque) = (load.force, bend.torque);
    let axial = force.dot(n);
    BondLoad {
        force,
        moment: torque,
        axial,
        shear: n * axial - force,
        twist: n * (torque.dot(n) * moduli.x),
        // Bending about s strains the fibres along t.
        bend: s * (torque.dot(s) * moduli.z) + t * (torque.dot(t) * moduli.y),
    }
}

/// Energy of a cell's dilation ε, J; `volume` = V.
#[inline(always)]
pub fn dilation_energy<T: Real>(dilation: T, lame: T, volume: T) -> T {
    lame * volume * dilation * dilation * T::splat(0.5)
}

/// A face at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceSection {
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

/// Torsion constant J of a face, m⁴, where G J/D₀ is the torque per radian of twist.
///
/// For a solid it is the polar moment (eq. 51–54). In a plate of one layer of cells b wide and h thick, in
/// pure twist w = c x y the cells rotate by (c x, −c y, 0): two neighbours rotate by c D₀ relative to each
/// other about their face's normal, and no gap opens, so that the faces alone store the plate's energy ½ G
/// h³/6 c² on unit area, half of it in each of the two families of faces. This requires J = b h³/6; the polar
/// moment is (b² + h²)/(2 h²) times as large. A strip one cell wide has only one family, and J = b h³/3; a
/// cell with one free side is between the two. Near a free side, the reduction of Saint-Venant's solution for
/// a narrow rectangle is applied.
pub fn plate_torsion(wide: f64, high: f64, free_sides: f64) -> f64 {
    let cube = high * high * high;
    let (b, h) = (wide.max(high), high.min(wide));
    let end = 0.105 * h.powi(4) * (1.0 - (h / b).powi(4) / 12.0);
    wide * cube / 6.0 + free_sides * (wide * cube / 12.0 - end)
}

/// Stiffnesses of a face of a solid with Young's modulus E (Pa) and Poisson's ratio in (−1, ½) (eq. 52–54),
/// with this torsion constant J, m⁴ (`None`: the polar moment). `wall`: the axis, 0 for s and 1 for t, that
/// points through a wall of one layer, whose bending [`fold`] completes.
///
/// Bending of the fibres along s has the stiffness k_n + k_s = E I_s/D₀ of a beam of that section, along t
/// k_n + k_t = E I_t/D₀, twist k_s + k_t = G J/D₀.
pub fn stiffness(
    young: f64,
    poisson: f64,
    section: FaceSection,
    torsion: Option<f64>,
    wall: Option<usize>,
) -> FaceStiffness {
    let FaceSection {
        area,
        distance,
        second: [s, t],
    } = section;
    let fibres = |axis: usize, second: f64| {
        let factor = if wall == Some(axis) {
            1.0 / (1.0 + poisson)
        } else {
            1.0
        };
        factor * young * second / distance
    };
    let (along_s, along_t) = (fibres(0, s), fibres(1, t));
    let shear = young / (2.0 * (1.0 + poisson));
    let twist = shear * torsion.unwrap_or(s + t) / distance;
    FaceStiffness {
        traction: area * young / ((1.0 + poisson) * distance),
        bending: [
            0.5 * (along_s + along_t - twist),
            0.5 * (along_s - along_t + twist),
            0.5 * (along_t - along_s + twist),
        ],
    }
}

/// c/J, c/I_s, c/I_t of a section, 1/m³: rim stresses by twist and by bending of fibres along s and along t,
/// as for a rectangle with its area and moments.
pub fn moduli(section: FaceSection) -> [f64; 3] {
    let [s, t] = section.second;
    // A rectangle of width b has I = S b²/12, so c = b/2 = √(3 I/S).
    let rim = |second: f64| (3.0 * second / section.area).sqrt();
    [rim(s + t) / (s + t), rim(s) / s, rim(t) / t]
}

/// Lamé's λ, Pa.
pub fn lame(young: f64, poisson: f64) -> f64 {
    young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
}

/// Effective volume V for the dilation, m³; `free` = volume of the pyramids over the cell's free faces.
pub fn effective_volume(volume: f64, free: f64, poisson: f64) -> f64 {
    volume + 3.0 * poisson / (1.0 - 2.0 * poisson) * free
}

#[cfg(test)]
mod tests {
    use super::*;

    /// M = E I/D₀ sin θ in bending, G J/D₀ sin θ in twist (eq. 46, corrected).
    #[test]
    fn two_cells_bend_and_twist_as_a_beam() {
        let (young, poisson) = (3.0e9, 0.3);
        let (wide, high, distance) = (0.2, 0.1, 0.05);
        let second = [
            high * wide * wide * wide / 12.0,
            wide * high * high * high / 12.0,
        ];
        let section = FaceSection {
            area: wide * high,
            distance,
            second,
        };
        let [n, s, t] = [
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
            Vec3::new(0.0, 0.0, 1.0),
        ];
        let k = stiffness(young, poisson, section, None, None).bending;
        let (rest, angle) = (Quat::new(0.0, 0.0, 0.0, 1.0), 0.4f64);
        let shear = young / (2.0 * (1.0 + poisson));
        // Bending about t strains the fibres along s, bending about s those along t.
        for (axis, rigidity) in [
            (t, young * second[0]),
            (s, young * second[1]),
            (n, shear * (second[0] + second[1])),
        ] {
            let turned = Quat::from_rotation_vector(axis * angle);
            let own = CellRotation::new(rest, Vec3::zero());
            let other = (turned, Vec3::zero());
            let torque = bending(&own, other, n, s, Vec3::new(k[0], k[1], k[2])).torque;
            let expected = axis * (rigidity / distance * angle.sin());
            let off = (torque - expected).norm() / expected.norm();
            assert!(off < 1e-12, "{torque:?} {expected:?}");
        }
    }
}

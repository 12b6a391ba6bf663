//! Critical time step of central differences, from the largest eigenvalue of M⁻¹K.
//!
//! K is the bond law linearised at rest, translations and rotations: with the bond vector d = l0 n,
//! the stretch e = u_j − u_i − ½(θ_i + θ_j) × d and the bend θ_j − θ_i,
//! ```text
//! s = k_n n(n·e) + (k_s/l0)(e − n(n·e))      + on i, − on j; torque ½ d × s on both
//! m = k_t n(n·b) + k_b (b − n(n·b))          + on i, − on j, b = θ_j − θ_i
//! ```

use glam::DVec3;

/// One linear bond.
#[derive(Clone, Copy, Debug)]
pub struct LinearBond {
    /// Direction from i to j at rest.
    pub n: DVec3,
    /// Length at rest, m.
    pub length: f64,
    /// k_n, N/m.
    pub normal: f64,
    /// k_s/l0, N/m.
    pub transverse: f64,
    /// k_t, N m.
    pub twist: f64,
    /// k_b, N m.
    pub bend: f64,
}

impl LinearBond {
    /// Restoring force and torque on i for displacements u and rotations θ of both ends.
    #[inline]
    pub fn restoring(
        &self,
        u_i: DVec3,
        theta_i: DVec3,
        u_j: DVec3,
        theta_j: DVec3,
    ) -> (DVec3, DVec3) {
        let (n, d) = (self.n, self.n * self.length);
        let e = u_j - u_i - 0.5 * (theta_i + theta_j).cross(d);
        let along = n * n.dot(e);
        let s = self.normal * along + self.transverse * (e - along);
        let b = theta_j - theta_i;
        let axial = n * n.dot(b);
        let m = self.twist * axial + self.bend * (b - axial);
        (s, m + 0.5 * d.cross(s))
    }
}

/// Critical step 2/√λ_max, reduced where the bonds' viscous damping of ratio ζ makes the highest mode overdamped.
///
/// Damping proportional to stiffness, c = 2ζ√(k m*), damps the mode of λ_max at the ratio ζ √(λ_max m*/k); central differences with
/// lagged damping ζ_e are stable up to (√(1+ζ_e²) − ζ_e) times the undamped step (Belytschko, Liu, Moran 2000, eq. 6.2.10).
pub fn critical(lambda_max: f64, damping_ratio: f64, stiffness_over_mass: f64) -> f64 {
    let effective = damping_ratio * (lambda_max / stiffness_over_mass).sqrt();
    2.0 / lambda_max.sqrt() * ((1.0 + effective * effective).sqrt() - effective)
}

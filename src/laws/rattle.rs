//! Turn of a rigid body over a step by RATTLE (Monasse and Mariotti 2012, eq. 33–43), second order,
//! symplectic and reversible.
//!
//! ```text
//! F D − D Fᵀ = Δt [Π]×,  D = ½ tr(I) − I        F the rotation of the step, Π the angular momentum, both in the body's frame
//! ```
//!
//! With the rotation vector φ of F, θ = |φ| and the principal moments I this is
//!
//! ```text
//! a I φ + b φ × I φ = Δt Π,   a = sin θ/θ,   b = (1 − cos θ)/θ²
//! ```
//!
//! solved by a fixed point from φ = Δt Π/I, which converges where Δt Σ |Π_k|/I_k < 0.26 (eq. 44).

use crate::math::{Real, Vec3};

/// The next φ of the fixed point; `momentum` = Δt Π, kg m²; `inertia` = principal moments, `inverse` = 1 over them.
#[inline(always)]
pub fn next<T: Real>(
    phi: Vec3<T>,
    momentum: Vec3<T>,
    inertia: Vec3<T>,
    inverse: Vec3<T>,
) -> Vec3<T> {
    let square = phi.dot(phi);
    let half = T::sinc(square * T::splat(0.25));
    let b = half * half * T::splat(0.5);
    let spun = Vec3::new(phi.x * inertia.x, phi.y * inertia.y, phi.z * inertia.z);
    let left = momentum - phi.cross(spun) * b;
    let scale = T::splat(1.0) / T::sinc(square);
    Vec3::new(
        left.x * inverse.x * scale,
        left.y * inverse.y * scale,
        left.z * inverse.z * scale,
    )
}

/// Δt Σ |Π_k|/I_k, which must stay below [`LIMIT`].
#[inline(always)]
pub fn reach<T: Real>(momentum: Vec3<T>, inverse: Vec3<T>) -> T {
    momentum.x.abs() * inverse.x + momentum.y.abs() * inverse.y + momentum.z.abs() * inverse.z
}

/// (√21 − 3)/6 (eq. 44).
pub const LIMIT: f64 = 0.263_762_615_825_973_4;

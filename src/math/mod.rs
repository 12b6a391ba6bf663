//! Arithmetic used by the laws: scalars, lanes, vectors, rotations, distances from solids, connected
//! components. Contains no physics.

pub mod analytic;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod bisection;
pub mod dual;
pub mod eigen;
pub mod hash;
pub mod lanes;
pub mod mat3;
#[cfg(target_arch = "aarch64")]
mod neon;
mod prefetch;
pub mod quat;
pub mod real;
pub mod regression;
pub mod solid;
pub mod union_find;
pub mod vec3;
pub mod width;

pub use analytic::Analytic;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::F32x8;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::F32x16;
pub use dual::Dual;
pub use eigen::{eigen, pseudo_inverse};
pub use lanes::{Lanes, Pass, has_fused_multiply_add};
pub use mat3::Mat3;
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::F32x4;
pub use prefetch::prefetch;
pub use quat::Quat;
pub use real::{Mask, Real, Scalar};
pub use union_find::UnionFind;
pub use vec3::Vec3;
pub use width::{LaneWidth, OnLanes};

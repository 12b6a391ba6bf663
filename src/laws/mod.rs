//! The physical laws. Each formula is written once, as a branch-free function of numbers, generic over
//! [`crate::math::Real`].
//!
//! A law depends on neither storage nor backend. "Lu 2021" cites the explicit bonded DEM paper (Lu, Li, Cao,
//! Hu: *Simulating fractures with bonded discrete element method*, 2021), "Lu 2025" the implicit one (Lu,
//! Cao, Li, Hu: *Implicit bonded discrete element method with manifold optimization*), "Zhang 2024" Rod-BDEM
//! (Zhang, Yan, Lu, Ren: *Rod-bonded discrete element method*).

pub mod barrier;
pub mod bond;
pub mod cell;
pub mod contact;
pub mod damping;
pub mod double_layer;
pub mod elasticity;
pub mod energy;
pub mod failure;
pub mod field;
pub mod galerkin;
pub mod grain;
pub mod hooke;
pub mod hydrostatic;
pub mod kelvin;
pub mod lattice;
pub mod motion;
pub mod overlap;
pub mod papkovich;
pub mod projection;
pub mod rankine;
pub mod rattle;
pub mod relative;
pub mod restitution;
pub mod rigid;
pub mod rolling;
pub mod softening;
pub mod static_friction;
pub mod strength;
pub mod table;
pub mod tangent;
pub mod timestep;
pub mod weibull;
pub mod work;

macro_rules! modules {
    ([] $({ $doc:literal, $law:ident, $module:ident, $type:path, $energy:ident, $texts:tt })*) => {
        $(pub mod $module;)*
    };
}
// The modules of all laws in the table.
table::bond_laws!(modules []);

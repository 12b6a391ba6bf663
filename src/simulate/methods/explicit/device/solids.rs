//! The solids that kernels support. Their indices, their rows and the WGSL function that distinguishes them
//! follow from one list.

use glam::DVec3;

use crate::geometry::solid::Solid;
use crate::gpu::Constant;

/// One row per solid: the name of its index in kernels, its pattern, the vector of its dimensions, and the
/// WGSL expression for its surface nearest to `p`.
macro_rules! solids {
    ($($number:ident: $solid:pat => $shape:expr, $nearest:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)] // named as in kernels
        enum SolidIndex {
            $($number,)*
        }

        /// Indices of the solids.
        pub const CONSTANTS: &[Constant] = &[$((stringify!($number), SolidIndex::$number as u32)),*];

        /// Index and dimensions (m) of a solid; none for one that kernels lack, for which the GPU backend is
        /// refused.
        pub fn row(solid: &Solid) -> Option<(u32, DVec3)> {
            match *solid {
                $($solid => Some((SolidIndex::$number as u32, $shape)),)*
                Solid::Mesh(_) => None,
            }
        }

        /// `nearest_of`: the surface of a solid with this index and these dimensions as seen from `p`.
        pub const TEXT: &str = concat!(
            "fn nearest_of(number: u32, p: vec3<f32>, shape: vec3<f32>) -> Nearest {\n    switch number {\n",
            $("        case ", stringify!($number), ": { return ", $nearest, "; }\n",)*
            "        default: { return Nearest(3.0e38, vec3<f32>(0.0)); } // indices come from the same list\n    }\n}\n"
        );
    };
}

solids! {
    HALF_SPACE: Solid::HalfSpace { normal } => normal, "solid_half_space(p, shape)";
    CUBOID: Solid::Box { half } => half, "solid_cuboid(p, shape)";
    SPHERE: Solid::Sphere { radius } => DVec3::new(radius, 0.0, 0.0), "solid_sphere(p, shape.x)";
    CYLINDER: Solid::Cylinder { radius, half_height } => DVec3::new(radius, half_height, 0.0),
        "solid_cylinder(p, shape.x, shape.y)";
}

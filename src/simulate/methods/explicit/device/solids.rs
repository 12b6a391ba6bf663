//! The solids that kernels know. Their numbers, their rows and the text that tells them apart follow from one list.

use glam::DVec3;

use crate::geometry::solid::Solid;
use crate::gpu::Constant;

/// A solid a row: its number's name in kernels, the solid, what `shape` is made of, and how kernels find the
/// surface nearest to `p`.
macro_rules! solids {
    ($($number:ident: $solid:pat => $shape:expr, $nearest:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)] // named as in kernels
        enum Number {
            $($number,)*
        }

        /// The numbers of the solids.
        pub const CONSTANTS: &[Constant] = &[$((stringify!($number), Number::$number as u32)),*];

        /// Number and lengths (m) of a solid; none of one that kernels lack, for which no device is chosen.
        pub fn row(solid: &Solid) -> Option<(u32, DVec3)> {
            match *solid {
                $($solid => Some((Number::$number as u32, $shape)),)*
                Solid::Mesh(_) => None,
            }
        }

        /// `nearest_of`: the surface of a solid of this number and these lengths as seen from `p`.
        pub const TEXT: &str = concat!(
            "fn nearest_of(number: u32, p: vec3<f32>, shape: vec3<f32>) -> Nearest {\n    switch number {\n",
            $("        case ", stringify!($number), ": { return ", $nearest, "; }\n",)*
            "        default: { return Nearest(3.0e38, vec3<f32>(0.0)); } // numbers come from the same list\n    }\n}\n"
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

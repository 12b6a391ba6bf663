//! Scatter of strengths from bond to bond.

use glam::DVec3;

use super::filled::Calibration;
use super::inputs::PackedMaterial;
use crate::laws::field::uniform_at;
use crate::laws::strength;
use crate::laws::weibull::{factor, uniform};

/// How the strengths of bonds scatter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    modulus: f64,
    /// Where they scatter by place; absent: bonds are drawn one by one.
    field: Option<Field>,
}

/// A field of strengths.
#[derive(Clone, Copy, Debug)]
struct Field {
    /// Correlation length L, m.
    length: f64,
    /// Mean strength at a point over that of the material: (V_0/V_1)^{1/m}, at least 1; V_1 is the volume of one
    /// independent draw.
    scale: f64,
}

/// A bond for which strengths are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawnBond {
    /// Id.
    pub id: u32,
    /// Middle in the frame of the shape, m.
    pub middle: DVec3,
    /// Number of its body.
    pub body: u64,
}

impl Scatter {
    /// The scatter of a material whose Weibull modulus this is, in a packing of elements of a mean diameter `element`,
    /// m.
    pub fn new(
        material: &PackedMaterial,
        modulus: f64,
        (calibration, element): (Calibration, f64),
    ) -> Self {
        let field = |length: f64| Field {
            length,
            scale: material.weibull_size.map_or(1.0, |size| {
                let (across, edge) = (length / element, size / element);
                let volume = match calibration {
                    Calibration::Random(_) => {
                        let by_stress = material.rankine;
                        strength::independent_volume_in_random(across, edge, modulus, by_stress)
                    }
                    // Only the first of these was tested.
                    Calibration::Lattice
                    | Calibration::Shell { .. }
                    | Calibration::Yarn
                    | Calibration::Cells => {
                        strength::independent_volume_in_lattice(across, material.rankine)
                    }
                };
                // A smaller body has one strength throughout: its mean is that at a point.
                (edge.powi(3) / volume).max(1.0).powf(1.0 / modulus)
            }),
        };
        Scatter {
            modulus,
            field: material.weibull_length.map(field),
        }
    }

    /// The wider of two scatters.
    pub fn wider(self, other: Self) -> Self {
        if other.modulus < self.modulus {
            other
        } else {
            self
        }
    }

    /// Factors on the tensile and the shear strength of a bond.
    pub fn factors(&self, bond: DrawnBond, seed: u64) -> [f64; 2] {
        match self.field {
            None => [factor(uniform(seed, bond.id), self.modulus); 2],
            Some(Field { length, scale }) => [seed, !seed].map(|seed| {
                let seed = seed.wrapping_add(bond.body << 32);
                let u = uniform_at(bond.middle.to_array(), length, seed);
                scale * factor(u, self.modulus)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pack, spec};

    #[test]
    fn a_body_of_a_given_size_is_weaker_than_its_bonds_unless_it_is_small() {
        let scale = |size: f64| {
            let text = format!(
                "[time]\nend = 1\nframes_per_second = 24\n[[material]]\nname = \"m\"\ndensity = 1\nyoung = 1e6\n\
                 poisson = 0.2\ntensile_strength = 1\nweibull_modulus = 8\nweibull_length = 0.4\n\
                 weibull_size = {size}\n[[body]]\nname = \"b\"\nmaterial = \"m\"\n\
                 shape = {{ type = \"box\", size = [1, 1, 1] }}\npacking = {{ type = \"random\", radius = 0.05 }}\n"
            );
            let shot = spec::parse(&text, "shot.toml", &[]).expect("a shot");
            let packing = pack::pack(&shot, "".as_ref()).expect("packed").packing;
            packing.bonds.sigma_c[0]
        };
        // Elements are 0.1 m wide: cubes of the first two sizes are smaller than one independent draw.
        let [small, other, large, larger] = [0.01, 0.3, 2.0, 4.0].map(scale);
        assert_eq!(small, other);
        assert!(large > 1.1 * small && larger > 1.1 * large);
    }

    #[test]
    fn places_have_their_strengths() {
        let field = Field {
            length: 0.5,
            scale: 1.5,
        };
        let scatter = Scatter {
            modulus: 5.0,
            field: Some(field),
        };
        let bond = |id, x| DrawnBond {
            id,
            middle: DVec3::new(x, 0.2, 0.1),
            body: 0,
        };
        let here = scatter.factors(bond(3, 0.3), 7);
        assert_eq!(here, scatter.factors(bond(90, 0.3), 7));
        assert_ne!(here[0], here[1], "strengths have fields of their own");
        let places = (0..4000).map(|k| scatter.factors(bond(0, f64::from(k)), 7)[1]);
        let found = places.sum::<f64>() / 4000.0;
        assert!((found / field.scale - 1.0).abs() < 0.02, "{found}");
    }
}

//! Contact properties: of materials, of what two of them have in common, and of elements against obstacles.

use super::contact_pass::Obstacle;
use crate::laws::contact::{self, SurfacePair, series_modulus};
use crate::spec::Pipeline;

/// Contact properties of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Young's modulus of contacts, Pa.
    pub young: f64,
    /// Friction coefficient.
    pub friction: f64,
    /// Rolling friction coefficient.
    pub rolling: f64,
    /// Ratio of critical normal damping.
    pub damping: f64,
    /// k_t/k_r.
    pub shear_ratio: f64,
}

impl Surface {
    /// What contacts of this surface with another share.
    fn against(&self, other: &Surface) -> Shared {
        let contact = SurfacePair {
            modulus: series_modulus(self.young, other.young),
            shear_ratio: 0.5 * (self.shear_ratio + other.shear_ratio),
            friction: self.friction.min(other.friction),
            damping_ratio: self.damping.max(other.damping),
        };
        Shared {
            contact,
            rolling: self.rolling.min(other.rolling),
        }
    }
}

/// Contact properties of all materials, and of every two of them.
#[derive(Clone, Debug)]
pub struct Surfaces {
    own: Vec<Surface>,
    pairs: Vec<Shared>,
}

/// What contacts of two materials share.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// What the contact law asks for.
    pub contact: SurfacePair<f64>,
    /// Rolling friction coefficient.
    pub rolling: f64,
}

impl Surfaces {
    /// Of materials that have nothing special in common.
    pub fn new(own: Vec<Surface>) -> Self {
        let pairs = own
            .iter()
            .flat_map(|a| own.iter().map(|b| a.against(b)))
            .collect();
        Surfaces { own, pairs }
    }

    /// Of the materials of a pipeline.
    pub fn of(pipeline: &Pipeline) -> Self {
        let materials = &pipeline.materials;
        let own = materials.iter().map(|m| Surface {
            young: m.contact_young.unwrap_or(m.young),
            friction: m.friction,
            rolling: m.rolling_friction,
            damping: m.contact_damping,
            shear_ratio: m.contact_shear_ratio,
        });
        let mut surfaces = Self::new(own.collect());
        let both = materials
            .iter()
            .flat_map(|a| materials.iter().map(move |b| (a, b)));
        for (shared, (a, b)) in surfaces.pairs.iter_mut().zip(both) {
            if let Some(pair) = pipeline.pair(&a.name, &b.name) {
                let contact = &mut shared.contact;
                contact.modulus = pair.contact_young.unwrap_or(contact.modulus);
                contact.friction = pair.friction.unwrap_or(contact.friction);
                contact.damping_ratio = pair.contact_damping.unwrap_or(contact.damping_ratio);
                shared.rolling = pair.rolling_friction.unwrap_or(shared.rolling);
            }
        }
        surfaces
    }

    /// Materials.
    pub fn count(&self) -> usize {
        self.own.len()
    }

    /// Contact properties of a material.
    pub fn own(&self, material: usize) -> &Surface {
        &self.own[material]
    }

    /// What contacts of two materials share.
    pub fn pair(&self, a: usize, b: usize) -> &Shared {
        &self.pairs[a * self.own.len() + b]
    }

    /// What contacts of a material with an obstacle share.
    pub fn wall(&self, material: usize, obstacle: &Obstacle) -> Shared {
        let surface = &self.own[material];
        surface.against(&obstacle.surface(surface))
    }

    /// Whether anything resists rolling.
    pub fn any_rolling(&self) -> bool {
        // An obstacle resists as much as the element that it touches.
        let own = self.own.iter().map(|surface| surface.rolling);
        own.chain(self.pairs.iter().map(|pair| pair.rolling))
            .any(|rolling| rolling > 0.0)
    }

    /// Stiffness that a contact of a material can have at most, N/m, for the time step: of an element with every material at its own and at
    /// the largest radius, and with every obstacle.
    pub fn stiffest(
        &self,
        material: usize,
        radius: f64,
        largest: f64,
        obstacles: &[Obstacle],
    ) -> f64 {
        let walls = obstacles
            .iter()
            .map(|obstacle| (self.wall(material, obstacle).contact.modulus, radius));
        let elements = (0..self.count()).flat_map(|other| {
            let modulus = self.pair(material, other).contact.modulus;
            [(modulus, radius), (modulus, largest)]
        });
        walls
            .chain(elements)
            .map(|(modulus, r)| contact::stiffness(modulus, radius, r))
            .fold(0.0, f64::max)
    }
}

//! Contact properties of materials, of pairs of materials, and of elements at colliders.

use crate::laws::barrier;
use crate::laws::contact::{self, ContactParameters, SurfacePair, series_modulus};
use crate::laws::restitution::damping_ratio;
use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::properties::{ContactProperties, PairFeatures};
use crate::simulate::scene::colliders::PosedCollider;
use crate::spec::{ContactLaw, Pipeline};

/// Contact properties of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Young's modulus of contacts, Pa.
    pub young: f64,
    /// Friction coefficient.
    pub friction: f64,
    /// Coefficient of static friction.
    pub static_friction: f64,
    /// Rolling friction coefficient.
    pub rolling: f64,
    /// Ratio of critical normal damping.
    pub damping: f64,
    /// k_t/k_r.
    pub shear_ratio: f64,
}

impl Surface {
    /// Contact properties of a collider touched by this surface; damping, rolling friction and spring ratio
    /// are those of this surface.
    fn of_collider(&self, collider: &PosedCollider) -> Surface {
        Surface {
            young: collider.young.unwrap_or(self.young),
            friction: collider.friction,
            static_friction: collider.friction,
            ..*self
        }
    }

    /// Properties shared by the contacts of this surface with another.
    fn against(&self, other: &Surface) -> Shared<f64> {
        let contact = SurfacePair {
            modulus: series_modulus(self.young, other.young),
            shear_ratio: 0.5 * (self.shear_ratio + other.shear_ratio),
            friction: self.friction.min(other.friction),
            damping_ratio: self.damping.max(other.damping),
        };
        Shared {
            contact,
            static_friction: self.static_friction.min(other.static_friction),
            rolling: self.rolling.min(other.rolling),
        }
    }
}

impl<T: Copy> Shared<T> {
    /// Properties of a contact with these parameters of the law.
    pub fn of(&self, k: ContactParameters<T>) -> ContactProperties<T> {
        ContactProperties {
            k,
            static_friction: self.static_friction,
            rolling: self.rolling,
        }
    }
}

/// Contact properties of all materials and of all pairs of materials.
#[derive(Clone, Debug)]
pub struct Surfaces {
    own: Vec<Surface>,
    pairs: Vec<Shared<f64>>,
    /// Whether contacts push by the barrier of explicit steps.
    barrier: bool,
}

/// Properties shared by the contacts of two materials.
#[derive(Clone, Copy, Debug)]
pub struct Shared<T> {
    /// Parameters of the contact law.
    pub contact: SurfacePair<T>,
    /// Coefficient of static friction.
    pub static_friction: T,
    /// Rolling friction coefficient.
    pub rolling: T,
}

impl Surfaces {
    /// Surfaces of materials without properties set for pairs.
    pub fn new(own: Vec<Surface>) -> Self {
        let pairs = own
            .iter()
            .flat_map(|a| own.iter().map(|b| a.against(b)))
            .collect();
        Surfaces {
            own,
            pairs,
            barrier: false,
        }
    }

    /// Surfaces of the materials of a pipeline.
    pub fn of(pipeline: &Pipeline) -> Self {
        let materials = &pipeline.materials;
        let own = materials.iter().map(|m| Surface {
            young: m.contact_young.unwrap_or(m.young),
            friction: m.friction,
            static_friction: m.static_friction(),
            rolling: m.rolling_friction,
            damping: m.restitution.map_or(m.contact_damping, damping_ratio),
            shear_ratio: m.contact_shear_ratio,
        });
        let mut surfaces = Self::new(own.collect());
        let simulate = &pipeline.simulate;
        // Implicit steps evaluate contacts themselves, and count the stiffness of the penalty in their steps.
        surfaces.barrier =
            simulate.contact == ContactLaw::Barrier && !simulate.integrator.is_implicit();
        let both = materials
            .iter()
            .flat_map(|a| materials.iter().map(move |b| (a, b)));
        for (shared, (a, b)) in surfaces.pairs.iter_mut().zip(both) {
            if let Some(pair) = pipeline.pair(&a.name, &b.name) {
                let contact = &mut shared.contact;
                contact.modulus = pair.contact_young.unwrap_or(contact.modulus);
                contact.friction = pair.friction.unwrap_or(contact.friction);
                let static_friction = pair.static_friction.or(pair.friction);
                shared.static_friction = static_friction.unwrap_or(shared.static_friction);
                let damping = pair.restitution.map(damping_ratio).or(pair.contact_damping);
                contact.damping_ratio = damping.unwrap_or(contact.damping_ratio);
                shared.rolling = pair.rolling_friction.unwrap_or(shared.rolling);
            }
        }
        surfaces
    }

    /// Number of materials.
    pub fn count(&self) -> usize {
        self.own.len()
    }

    /// Largest damping ratio of the contacts of a material: its own, or that of a pair which says more.
    pub fn damping(&self, material: usize) -> f64 {
        let own = self.own[material].damping;
        let pairs = (0..self.count()).map(|other| {
            let given = self.pair(material, other).contact.damping_ratio;
            let both = own.max(self.own[other].damping);
            if given > both { given } else { own }
        });
        pairs.fold(own, f64::max)
    }

    /// Contact properties of a material.
    pub fn own(&self, material: usize) -> &Surface {
        &self.own[material]
    }

    /// Properties shared by the contacts of two materials.
    pub fn pair(&self, a: usize, b: usize) -> &Shared<f64> {
        &self.pairs[a * self.own.len() + b]
    }

    /// Properties shared by the contacts of a material with a collider.
    pub fn with_collider(&self, material: usize, collider: &PosedCollider) -> Shared<f64> {
        let surface = &self.own[material];
        surface.against(&surface.of_collider(collider))
    }

    /// Whether anything resists rolling.
    pub fn any_rolling(&self) -> bool {
        // A collider resists rolling as much as the element that touches it.
        let own = self.own.iter().map(|surface| surface.rolling);
        own.chain(self.pairs.iter().map(|pair| pair.rolling))
            .any(|rolling| rolling > 0.0)
    }

    /// Whether static friction exceeds kinetic friction in any pair of materials.
    pub fn any_static_friction(&self) -> bool {
        let mut pairs = self.pairs.iter();
        pairs.any(|pair| pair.static_friction > pair.contact.friction)
    }

    /// Whether contacts push by the barrier of explicit steps.
    pub fn has_barrier(&self) -> bool {
        self.barrier
    }

    /// Largest stiffness of a contact over k_r.
    pub fn stiffening(&self) -> f64 {
        match self.barrier {
            true => barrier::largest_stiffness(),
            false => 1.0,
        }
    }

    /// Largest k_r that a contact of an element of this material and radius can have, N/m, for the time step:
    /// with every material at its own and at the largest radius, and with every collider.
    pub fn stiffest(
        &self,
        material: usize,
        radius: f64,
        largest: f64,
        colliders: &[PosedCollider],
    ) -> f64 {
        let with_colliders = colliders.iter().map(|collider| {
            (
                self.with_collider(material, collider).contact.modulus,
                radius,
            )
        });
        let elements = (0..self.count()).flat_map(|other| {
            let modulus = self.pair(material, other).contact.modulus;
            [(modulus, radius), (modulus, largest)]
        });
        with_colliders
            .chain(elements)
            .map(|(modulus, r)| contact::stiffness(modulus, radius, r))
            .fold(0.0, f64::max)
    }
}

/// Shared properties in working precision.
fn rounded<S: Scalar>(shared: &Shared<f64>) -> Shared<S> {
    let pair = &shared.contact;
    Shared {
        contact: SurfacePair {
            modulus: S::from_f64(pair.modulus),
            shear_ratio: S::from_f64(pair.shear_ratio),
            friction: S::from_f64(pair.friction),
            damping_ratio: S::from_f64(pair.damping_ratio),
        },
        static_friction: S::from_f64(shared.static_friction),
        rolling: S::from_f64(shared.rolling),
    }
}

/// Properties shared by the contacts of all pairs of materials, in working precision.
#[derive(Clone, Debug)]
pub struct SurfaceTable<S> {
    surfaces: Surfaces,
    pairs: Vec<Shared<S>>,
    features: PairFeatures,
}

impl<S: Scalar> SurfaceTable<S> {
    /// Table of these surfaces.
    pub fn new(surfaces: &Surfaces) -> Self {
        let count = surfaces.count();
        let pairs = (0..count)
            .flat_map(|a| (0..count).map(move |b| rounded(surfaces.pair(a, b))))
            .collect();
        SurfaceTable {
            pairs,
            features: PairFeatures {
                rolling: surfaces.any_rolling(),
                static_friction: surfaces.any_static_friction(),
            },
            surfaces: surfaces.clone(),
        }
    }

    /// The surfaces in double precision.
    pub fn surfaces(&self) -> &Surfaces {
        &self.surfaces
    }

    /// Features that some contacts between elements have.
    pub fn features(&self) -> PairFeatures {
        self.features
    }

    /// Properties of a contact between two elements.
    pub fn pair(&self, system: &System<S>, i: usize, j: usize) -> ContactProperties<S> {
        let [a, b] = [i, j].map(|k| system.material[k] as usize);
        let shared = &self.pairs[a * self.surfaces.count() + b];
        let k = contact::parameters(
            shared.contact,
            system.tail[i].0[3],
            system.tail[j].0[3],
            system.inverse_mass[i],
            system.inverse_mass[j],
        );
        shared.of(k)
    }

    /// Properties of a contact of an element with a collider, which acts as its mirror image.
    pub fn with_collider(
        &self,
        system: &System<S>,
        i: usize,
        collider: &PosedCollider,
    ) -> ContactProperties<S> {
        let shared = self
            .surfaces
            .with_collider(system.material[i] as usize, collider);
        let shared: Shared<S> = rounded(&shared);
        let r = system.tail[i].0[3];
        let inverse_mass = system.inverse_mass[i];
        let k = contact::parameters(shared.contact, r, r, inverse_mass, S::default());
        shared.of(k)
    }
}

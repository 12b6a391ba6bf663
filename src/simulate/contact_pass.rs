//! The loads of listed contacts: between elements, and against obstacles.

use super::contacts::ContactChunk;
use super::pair_pass::{PairPass, measure};
use super::reaction_sums::ReactionSums;
use super::system::{Load, System};
use super::wall_list::Walls;
use crate::geometry::solid::{Pose, Solid};
use crate::laws::contact::{self, ContactParameters, SurfacePair, series_modulus};
use crate::math::{Lanes, Pass, Scalar};

/// Contact properties of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Young's modulus of contacts, Pa.
    pub young: f64,
    /// Friction coefficient.
    pub friction: f64,
    /// Ratio of critical normal damping.
    pub damping: f64,
    /// k_t/k_r.
    pub shear_ratio: f64,
}

impl Surface {
    /// What contacts of this surface with another share.
    pub fn against(&self, other: &Surface) -> SurfacePair<f64> {
        SurfacePair {
            modulus: series_modulus(self.young, other.young),
            shear_ratio: 0.5 * (self.shear_ratio + other.shear_ratio),
            friction: self.friction.min(other.friction),
            damping_ratio: self.damping.max(other.damping),
        }
    }
}

/// A pair of surfaces in working precision.
fn rounded<S: Scalar>(pair: SurfacePair<f64>) -> SurfacePair<S> {
    SurfacePair {
        modulus: S::from_f64(pair.modulus),
        shear_ratio: S::from_f64(pair.shear_ratio),
        friction: S::from_f64(pair.friction),
        damping_ratio: S::from_f64(pair.damping_ratio),
    }
}

/// A solid obstacle at one moment.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Shape.
    pub solid: Solid,
    /// Where it is and how it moves.
    pub pose: Pose,
    /// Young's modulus, Pa; absent: that of the element it touches.
    pub young: Option<f64>,
    /// Friction coefficient.
    pub friction: f64,
}

impl Obstacle {
    /// Bound on the speed of its surface, m/s; infinite for a half-space that turns.
    pub fn fastest(&self) -> f64 {
        self.pose.velocity.length() + self.pose.turning(&self.solid)
    }

    /// Contact properties beside an element's; a wall brings no damping and no spring ratio of its own.
    pub fn surface(&self, element: &Surface) -> Surface {
        Surface {
            young: self.young.unwrap_or(element.young),
            friction: self.friction,
            ..*element
        }
    }
}

/// What contacts of a chunk add up to, for the history.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactTotals {
    /// Elastic energy, J; pairs of elements count half on each side.
    pub energy: f64,
    /// Twice the touching pairs of elements plus twice the touched colliders.
    pub sides: u64,
}

/// Stiffness that a contact can have at most, for the time step: of an element with every material at its own
/// and at the largest radius, and with every obstacle.
pub fn stiffest(
    surface: &Surface,
    radius: f64,
    partners: (&[Surface], f64),
    obstacles: &[Obstacle],
) -> f64 {
    let (surfaces, largest) = partners;
    let walls = obstacles.iter().map(|o| (o.surface(surface), radius));
    let elements = surfaces
        .iter()
        .flat_map(|other| [(*other, radius), (*other, largest)]);
    walls
        .chain(elements)
        .map(|(other, r)| contact::stiffness(surface.against(&other).modulus, radius, r))
        .fold(0.0, f64::max)
}

/// What contacts of every two materials share, in working precision.
#[derive(Clone, Debug)]
pub struct SurfaceTable<S> {
    surfaces: Vec<Surface>,
    pairs: Vec<SurfacePair<S>>,
}

impl<S: Scalar> SurfaceTable<S> {
    /// Of these materials.
    pub fn new(surfaces: &[Surface]) -> Self {
        let pairs = surfaces
            .iter()
            .flat_map(|a| surfaces.iter().map(|b| rounded(a.against(b))))
            .collect();
        SurfaceTable {
            surfaces: surfaces.to_vec(),
            pairs,
        }
    }

    /// Parameters of a contact between two elements.
    pub fn pair(&self, system: &System<S>, i: usize, j: usize) -> ContactParameters<S> {
        let [a, b] = [i, j].map(|k| system.material[k] as usize);
        contact::parameters(
            self.pairs[a * self.surfaces.len() + b],
            system.tail[i].0[3],
            system.tail[j].0[3],
            system.inverse_mass[i],
            system.inverse_mass[j],
        )
    }

    /// Parameters of a contact of an element with an obstacle, its mirror image.
    pub fn wall(&self, system: &System<S>, i: usize, obstacle: &Obstacle) -> ContactParameters<S> {
        let surface = &self.surfaces[system.material[i] as usize];
        let pair = rounded(surface.against(&obstacle.surface(surface)));
        let r = system.tail[i].0[3];
        contact::parameters(pair, r, r, system.inverse_mass[i], S::default())
    }
}

/// The contacts of one chunk: adds their loads and steps their springs.
///
/// An element adds up its partners in ascending order, obstacles last: pairs with elements before the chunk come first, then those within
/// the chunk, of which each is evaluated once by its first end, then those behind it. Pairs that do not touch are not added at all, so
/// that neither the width of lanes nor what is listed beside a pair can change a bit.
pub struct ContactPass<'a, L: Lanes> {
    /// System, obstacles and step.
    pub walls: Walls<'a, L::Scalar>,
    /// How far a pair may have closed up since the lists were made, m.
    pub closed: f64,
    /// First element of the chunk.
    pub first: usize,
    /// Contacts of the chunk.
    pub contacts: &'a mut ContactChunk<L::Scalar>,
    /// Loads of the chunk.
    pub load: &'a mut [Load<L::Scalar>],
    /// What its elements do to obstacles; added to.
    pub sums: &'a mut ReactionSums,
}

impl<L: Lanes> Pass<L> for ContactPass<'_, L> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let mut pairs = PairPass {
            system: self.walls.system,
            dt: L::splat(self.walls.dt.to_f64()),
            closed: self.closed,
            first: self.first,
            load: self.load,
        };
        pairs.apply::<false>(&mut self.contacts.before);
        pairs.apply::<true>(&mut self.contacts.within);
        pairs.apply::<false>(&mut self.contacts.behind);
        for entry in &mut self.contacts.walls {
            let local = entry.element as usize - self.first;
            self.walls
                .apply(entry, local, &mut pairs.load[local], self.sums);
        }
    }
}

/// What the contacts of one chunk add up to as they stand: energies by element, so that chunks change no bit of their sum.
pub struct MeasurePass<'a, S> {
    /// System and obstacles.
    pub walls: Walls<'a, S>,
    /// First element of the chunk.
    pub first: usize,
    /// Energies of its elements, J; added to.
    pub energy: &'a mut [f64],
    /// Elements that touch each obstacle; added to.
    pub touching: &'a mut [u32],
    /// Contacts of the chunk.
    pub contacts: &'a ContactChunk<S>,
}

impl<L: Lanes> Pass<L> for MeasurePass<'_, L::Scalar> {
    /// Twice the touching pairs, counted as [`ContactTotals::sides`].
    type Out = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let (system, lists, first) = (self.walls.system, self.contacts, self.first);
        let mut sides = measure::<L, false>(system, &lists.before, first, self.energy);
        sides += measure::<L, true>(system, &lists.within, first, self.energy);
        sides += measure::<L, false>(system, &lists.behind, first, self.energy);
        for entry in &lists.walls {
            if let Some(energy) = self.walls.energy(entry) {
                self.energy[entry.element as usize - first] += energy;
                sides += 2;
                self.touching[entry.wall as usize] += 1;
            }
        }
        sides
    }
}

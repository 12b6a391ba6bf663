//! The loads of listed contacts: between elements, and against obstacles.

use super::contacts::ContactChunk;
use super::pair_pass::{PairPass, measure};
use super::reaction_sums::ReactionSums;
use super::surfaces::{Shared, Surface, Surfaces};
use super::system::{Load, System};
use super::wall_list::Walls;
use super::work::Taken;
use crate::geometry::solid::{Pose, Solid};
use crate::laws::contact::{self, ContactParameters, SurfacePair};
use crate::math::{Lanes, Pass, Scalar};

/// What two surfaces share in working precision, and their coefficient of rolling friction.
fn rounded<S: Scalar>(shared: &Shared) -> (SurfacePair<S>, S) {
    let pair = &shared.contact;
    let pair = SurfacePair {
        modulus: S::from_f64(pair.modulus),
        shear_ratio: S::from_f64(pair.shear_ratio),
        friction: S::from_f64(pair.friction),
        damping_ratio: S::from_f64(pair.damping_ratio),
    };
    (pair, S::from_f64(shared.rolling))
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

    /// Contact properties beside an element's; a wall brings no damping, rolling friction and spring ratio of its own.
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

/// What contacts of every two materials share, in working precision.
#[derive(Clone, Debug)]
pub struct SurfaceTable<S> {
    surfaces: Surfaces,
    pairs: Vec<(SurfacePair<S>, S)>,
    rolling: bool,
}

impl<S: Scalar> SurfaceTable<S> {
    /// Of these materials.
    pub fn new(surfaces: &Surfaces) -> Self {
        let count = surfaces.count();
        let pairs = (0..count)
            .flat_map(|a| (0..count).map(move |b| rounded(surfaces.pair(a, b))))
            .collect();
        SurfaceTable {
            pairs,
            rolling: surfaces.any_rolling(),
            surfaces: surfaces.clone(),
        }
    }

    /// Whether anything resists rolling.
    pub fn rolling(&self) -> bool {
        self.rolling
    }

    /// Parameters and coefficient of rolling friction of a contact between two elements.
    pub fn pair(&self, system: &System<S>, i: usize, j: usize) -> (ContactParameters<S>, S) {
        let [a, b] = [i, j].map(|k| system.material[k] as usize);
        let (pair, rolling) = self.pairs[a * self.surfaces.count() + b];
        let k = contact::parameters(
            pair,
            system.tail[i].0[3],
            system.tail[j].0[3],
            system.inverse_mass[i],
            system.inverse_mass[j],
        );
        (k, rolling)
    }

    /// The same of a contact of an element with an obstacle, its mirror image.
    pub fn wall(
        &self,
        system: &System<S>,
        i: usize,
        obstacle: &Obstacle,
    ) -> (ContactParameters<S>, S) {
        let shared = self.surfaces.wall(system.material[i] as usize, obstacle);
        let (pair, rolling) = rounded(&shared);
        let r = system.tail[i].0[3];
        let k = contact::parameters(pair, r, r, system.inverse_mass[i], S::default());
        (k, rolling)
    }
}

/// The contacts of one chunk: adds their loads and steps their springs.
///
/// An element adds up its partners in ascending order, obstacles last: pairs with elements before the chunk come first, then those within
/// the chunk, of which each is evaluated once by its first end, then those behind it. Pairs that do not touch are not added at all, so
/// that neither the width of lanes nor what is listed beside a pair can change a bit.
pub struct ContactPass<'a, L: Lanes, const WORK: bool> {
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
    /// What each of its elements has lost; added to where `WORK` asks for it.
    pub taken: &'a mut [Taken],
}

impl<L: Lanes, const WORK: bool> Pass<L> for ContactPass<'_, L, WORK> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let mut pairs = PairPass {
            system: self.walls.system,
            dt: L::splat(self.walls.dt.to_f64()),
            closed: self.closed,
            first: self.first,
            load: self.load,
            taken: self.taken,
        };
        pairs.apply::<false, WORK>(&mut self.contacts.before);
        pairs.apply::<true, WORK>(&mut self.contacts.within);
        pairs.apply::<false, WORK>(&mut self.contacts.behind);
        for entry in &mut self.contacts.walls {
            let local = entry.element as usize - self.first;
            let taken = WORK.then(|| &mut pairs.taken[local]);
            self.walls
                .apply(entry, (local, &mut pairs.load[local]), self.sums, taken);
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

//! The loads of listed contacts: between elements, and against obstacles.

use super::contacts::{COLLIDER, ContactChunk};
use super::system::{Load, System, motion};
use crate::geometry::solid::{Pose, Solid};
use crate::laws::contact::{
    self, ContactParameters, ContactState, SurfacePair, contact, series_modulus,
};
use crate::laws::motion as motion_law;
use crate::math::{Scalar, Vec3};

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
#[derive(Clone, Copy, Debug)]
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
        let turning = match self.pose.spin.length() {
            0.0 => 0.0,
            spin => spin * self.solid.extent(),
        };
        self.pose.velocity.length() + turning
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

impl std::iter::Sum for ContactTotals {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(ContactTotals::default(), |a, b| ContactTotals {
            energy: a.energy + b.energy,
            sides: a.sides + b.sides,
        })
    }
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

/// The contacts of one chunk: adds their loads and steps their springs, or measures them.
pub struct ContactPass<'a, S> {
    /// The system.
    pub system: &'a System<S>,
    /// Contact properties by material.
    pub surfaces: &'a [Surface],
    /// Obstacles now.
    pub obstacles: &'a [Obstacle],
    /// Time step, s.
    pub dt: S,
    /// First element of the chunk.
    pub first: usize,
}

impl<S: Scalar> ContactPass<'_, S> {
    /// Adds loads to the chunk's rows.
    pub fn apply(&self, contacts: &mut ContactChunk<S>, load: &mut [Load<S>]) {
        if contacts.partner.is_empty() {
            return;
        }
        for (local, row) in load.iter_mut().enumerate() {
            for at in contacts.entries(local) {
                let Some((state, k)) = self.pair(contacts, local, at) else {
                    continue;
                };
                let result = contact(state, self.dt, k);
                let (f, m) = (result.force, result.torque);
                for (sum, add) in row.0.iter_mut().zip([f.x, f.y, f.z]) {
                    *sum = *sum + add;
                }
                for (sum, add) in row.0[4..].iter_mut().zip([m.x, m.y, m.z]) {
                    *sum = *sum + add;
                }
                contacts.spring[at] = [result.spring.x, result.spring.y, result.spring.z];
            }
        }
    }

    /// Totals of the chunk as it stands.
    pub fn measure(&self, contacts: &ContactChunk<S>) -> ContactTotals {
        let mut totals = ContactTotals::default();
        for local in 0..contacts.start.len().saturating_sub(1) {
            for at in contacts.entries(local) {
                let Some((state, k)) = self.pair(contacts, local, at) else {
                    continue;
                };
                let overlap = contact(state, S::default(), k).overlap;
                if overlap <= S::default() {
                    continue;
                }
                let energy = contact::energy(overlap, state.spring, k).to_f64();
                let collider = contacts.partner[at] >= COLLIDER;
                totals.energy += if collider { energy } else { 0.5 * energy };
                totals.sides += if collider { 2 } else { 1 };
            }
        }
        totals
    }

    /// State and parameters of an entry; `None` when the pair is clearly apart.
    fn pair(
        &self,
        contacts: &ContactChunk<S>,
        local: usize,
        at: usize,
    ) -> Option<(ContactState<S>, ContactParameters<S>)> {
        let i = self.first + local;
        let system = self.system;
        let inverse = system.inverse_mass[i];
        let own = &system.motion[i].0;
        let vec = |row: &[S; 16], at: usize| Vec3::new(row[at], row[at + 1], row[at + 2]);
        let low = |row: &[S; 16]| {
            Vec3::new(
                row[motion::LOW[0]],
                row[motion::LOW[1]],
                row[motion::LOW[2]],
            )
        };
        let r_i = system.tail[i].0[3];
        let surface = &self.surfaces[system.material[i] as usize];
        let [sx, sy, sz] = contacts.spring[at];
        let partner = contacts.partner[at];
        let mut state = ContactState {
            x: Vec3::zero(),
            v: vec(own, motion::V),
            w_i: vec(own, motion::W),
            w_j: Vec3::zero(),
            arm_i: r_i,
            arm_j: S::default(),
            touch: contacts.touch[at],
            spring: Vec3::new(sx, sy, sz),
        };
        if partner >= COLLIDER {
            let obstacle = &self.obstacles[(partner - COLLIDER) as usize];
            let (distance, normal, velocity) =
                obstacle.pose.surface(&obstacle.solid, system.position(i));
            let r = r_i.to_f64();
            if distance >= r && state.spring.dot(state.spring).to_f64() == 0.0 {
                return None;
            }
            let wall = contact::wall(distance, Vec3::from_f64(normal.to_array()), r);
            state.touch = S::from_f64(wall.touch);
            state.arm_i = S::from_f64(wall.arm);
            state.x = Vec3::from_f64(wall.x.to_f64());
            state.v = state.v - Vec3::from_f64(velocity.to_array());
            let pair = rounded(surface.against(&obstacle.surface(surface)));
            let k = contact::parameters(pair, r_i, r_i, inverse, S::default());
            return Some((state, k));
        }
        let j = partner as usize;
        let other = &system.motion[j].0;
        state.x = motion_law::separation(
            vec(own, motion::P),
            low(own),
            vec(other, motion::P),
            low(other),
        );
        let untouched = state.spring.dot(state.spring).to_f64() == 0.0;
        if untouched && state.x.dot(state.x) > state.touch * state.touch * S::splat(1.0001) {
            return None;
        }
        state.v = state.v - vec(other, motion::V);
        state.w_j = vec(other, motion::W);
        let r_j = system.tail[j].0[3];
        (state.arm_i, state.arm_j) = contact::arms(state.x, r_i, r_j);
        let pair = rounded(surface.against(&self.surfaces[system.material[j] as usize]));
        let k = contact::parameters(pair, r_i, r_j, inverse, system.inverse_mass[j]);
        Some((state, k))
    }
}

//! Initial guess and line search of an iteration.

use glam::DVec3;

use super::{Newton, Surroundings};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::methods::implicit::coordinates::Coordinates;
use crate::simulate::methods::implicit::line;
use crate::simulate::methods::implicit::passing::StraightMotion;
use crate::simulate::methods::implicit::start::{Guess, StepStart, positions};
use crate::simulate::scene::colliders::PosedCollider;
use crate::solve::vector;

impl Newton {
    /// Chooses the initial guess with the smallest gradient: the old positions, free motion, or motion with
    /// the expected accelerations.
    pub fn guess<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
    ) {
        let guesses = [Guess::Unmoved, Guess::FreeMotion, Guess::Accelerated];
        let guesses = &guesses[..if start.expects_acceleration() { 3 } else { 2 }];
        let mut best = (f64::INFINITY, Guess::Unmoved);
        let mut at = Guess::Unmoved;
        for &guess in guesses {
            self.try_guess::<W>(guess, system, contacts, start, surroundings);
            at = guess;
            let size = vector::norm(&self.gradient);
            if size < best.0 {
                best = (size, guess);
            }
        }
        if at != best.1 {
            self.try_guess::<W>(best.1, system, contacts, start, surroundings);
        }
    }

    fn try_guess<W: EnergyLaw>(
        &mut self,
        guess: Guess,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
    ) {
        start.apply_guess(system, guess);
        if self.contact_set.is_barrier() {
            let to = positions(system);
            // Held elements are already at their final positions.
            let from = (0..system.count).map(|i| match start.is_held(i) {
                true => to[i],
                false => start.position[i],
            });
            let from: Vec<DVec3> = from.collect();
            let part = self
                .straight_motion(system, (&from, &to), [surroundings.colliders; 2])
                .free_fraction();
            if part < 1.0 {
                for i in (0..system.count).filter(|&i| !start.is_held(i)) {
                    system.set_position(i, from[i].lerp(to[i], part));
                }
            }
        }
        self.update_contacts(system, contacts, start, surroundings);
        self.gradient::<W>(system, start, surroundings);
    }

    /// A straight motion of the elements while colliders move from `before` to `after`.
    pub(super) fn straight_motion<'a>(
        &'a self,
        system: &'a System<f64>,
        (from, to): (&'a [DVec3], &'a [DVec3]),
        [before, after]: [&'a [PosedCollider]; 2],
    ) -> StraightMotion<'a> {
        StraightMotion {
            system,
            pairs: self.contact_set.pairs(),
            from,
            to,
            before,
            after,
        }
    }

    /// Whether elements got from `from` (m) to their current positions, while colliders moved from before to
    /// after, without passing through each other. Always true without barriers.
    pub fn is_free(
        &self,
        system: &System<f64>,
        from: &[DVec3],
        walls: [&[PosedCollider]; 2],
    ) -> bool {
        let to = positions(system);
        !self.contact_set.is_barrier() || self.straight_motion(system, (from, &to), walls).is_free()
    }

    /// Rebuilds the contact lists if elements may have come within reach of others.
    pub fn update_contacts(
        &mut self,
        system: &System<f64>,
        contacts: &mut Contacts<f64>,
        start: &StepStart,
        surroundings: &Surroundings,
    ) {
        if contacts.rebuild_if_moved(system, surroundings.colliders) {
            // A pair that was out of reach meanwhile keeps its spring; one that is out of reach now has none.
            contacts.restore_springs(&start.springs);
            self.contact_set.collect(contacts, system);
        }
    }

    /// Line search along the direction, straight in these coordinates, until the slope is small enough.
    /// Returns whether barriers allowed the full length.
    pub(super) fn line_search<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        (start, surroundings): (&StepStart, &Surroundings),
        coordinates: &mut dyn Coordinates,
    ) -> bool {
        let direction = std::mem::take(&mut self.direction);
        let slope = coordinates.slope(&self.gradient, &direction);
        let mut most = line::largest_multiple(system, &direction).min(1.0);
        let mut part = 1.0;
        if self.contact_set.is_barrier() {
            let from = positions(system);
            let by = direction
                .iter()
                .map(|&[x, y, z, ..]| DVec3::new(x, y, z) * most);
            let to: Vec<DVec3> = from.iter().zip(by).map(|(from, by)| *from + by).collect();
            part = self
                .straight_motion(system, (&from, &to), [surroundings.colliders; 2])
                .free_fraction();
            most *= part;
        }
        let (linear, mut at) = (self.linear, 0.0);
        let before = self.contact_set.active.clone();
        let mut slope_at = |factor: f64| {
            coordinates.displace(system, &direction, factor - at);
            at = factor;
            self.update_contacts(system, contacts, start, surroundings);
            self.gradient::<W>(system, start, surroundings);
            coordinates.slope(&self.gradient, &direction)
        };
        if linear {
            slope_at(most);
        } else {
            let part = line::search(slope, [most; 2], line::MAX_REMAINING_SLOPE, &mut slope_at);
            self.contact_set.update_friction(&before, part);
        }
        self.direction = direction;
        part == 1.0
    }
}

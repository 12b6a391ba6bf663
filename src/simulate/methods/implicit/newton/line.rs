//! Where an iteration begins and how far it goes.

use glam::DVec3;

use super::{Newton, Scene};
use crate::laws::energy::EnergyLaw;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::methods::implicit::line;
use crate::simulate::methods::implicit::passing::Motion;
use crate::simulate::methods::implicit::start::{Guess, Start, displace, places};
use crate::simulate::scene::colliders::Obstacle;
use crate::solve::vector;

impl Newton {
    /// Begins where elements are, where they would go alone, or where they would go if velocities changed as
    /// is expected: wherever they are nearest to balance.
    pub fn guess<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
    ) {
        let guesses = [Guess::Still, Guess::Ahead, Guess::Pushed];
        let guesses = &guesses[..if start.is_pushed() { 3 } else { 2 }];
        let mut best = (f64::INFINITY, Guess::Still);
        let mut at = Guess::Still;
        for &guess in guesses {
            self.try_guess::<W>(guess, system, contacts, start, scene);
            at = guess;
            let size = vector::norm(&self.gradient);
            if size < best.0 {
                best = (size, guess);
            }
        }
        if at != best.1 {
            self.try_guess::<W>(best.1, system, contacts, start, scene);
        }
    }

    fn try_guess<W: EnergyLaw>(
        &mut self,
        guess: Guess,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
    ) {
        start.place(system, guess);
        if self.touch.is_barrier() {
            let to = places(system);
            // Held elements are where they are to be already.
            let from = (0..system.count).map(|i| match start.is_held(i) {
                true => to[i],
                false => start.position[i],
            });
            let from: Vec<DVec3> = from.collect();
            let part = self.way(system, (&from, &to), [scene.obstacles; 2]).part();
            if part < 1.0 {
                for i in (0..system.count).filter(|&i| !start.is_held(i)) {
                    system.set_position(i, from[i].lerp(to[i], part));
                }
            }
        }
        self.follow(system, contacts, start, scene);
        self.gradient::<W>(system, start, scene);
    }

    /// A motion about colliders that go from before to after.
    pub(super) fn way<'a>(
        &'a self,
        system: &'a System<f64>,
        (from, to): (&'a [DVec3], &'a [DVec3]),
        [before, after]: [&'a [Obstacle]; 2],
    ) -> Motion<'a> {
        Motion {
            system,
            pairs: self.touch.pairs(),
            from,
            to,
            before,
            after,
        }
    }

    /// Whether elements that were at `from` (m) came to where they are, and colliders from before to after,
    /// without passing through each other; where there are no barriers they may.
    pub fn is_free(&self, system: &System<f64>, from: &[DVec3], walls: [&[Obstacle]; 2]) -> bool {
        let to = places(system);
        !self.touch.is_barrier() || self.way(system, (from, &to), walls).is_free()
    }

    /// Lists contacts anew where elements may have come within reach of others.
    pub fn follow(
        &mut self,
        system: &System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
    ) {
        if contacts.follow(system, scene.obstacles) {
            // A pair that was out of reach on the way keeps what it remembers; one that is now has nothing to remember.
            contacts.restore_springs(&start.springs);
            self.touch.collect(contacts, system);
        }
    }

    /// Goes along the direction, along geodesics of the rotations, until the slope has turned by no more than
    /// half; whether barriers let it go as far as that.
    pub(super) fn line<W: EnergyLaw>(
        &mut self,
        system: &mut System<f64>,
        contacts: &mut Contacts<f64>,
        start: &Start,
        scene: &Scene,
    ) -> bool {
        let direction = std::mem::take(&mut self.found);
        let slope = vector::dot(&self.gradient, &direction);
        let mut most = line::farthest(system, &direction).min(1.0);
        let mut part = 1.0;
        if self.touch.is_barrier() {
            let from = places(system);
            let by = direction
                .iter()
                .map(|&[x, y, z, ..]| DVec3::new(x, y, z) * most);
            let to: Vec<DVec3> = from.iter().zip(by).map(|(from, by)| *from + by).collect();
            part = self.way(system, (&from, &to), [scene.obstacles; 2]).part();
            most *= part;
        }
        let (linear, mut at) = (self.linear, 0.0);
        let before = self.touch.touching.clone();
        let mut slope_at = |factor: f64| {
            displace(system, &direction, factor - at);
            at = factor;
            self.follow(system, contacts, start, scene);
            self.gradient::<W>(system, start, scene);
            vector::dot(&self.gradient, &direction)
        };
        if linear {
            slope_at(most);
        } else {
            let part = line::search(slope, [most; 2], line::LEFT, &mut slope_at);
            self.touch.learn(&before, part);
        }
        self.found = direction;
        part == 1.0
    }
}

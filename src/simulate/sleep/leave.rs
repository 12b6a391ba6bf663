//! Pieces that leave the bounds of the world, and are taken out of the simulation for good.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::rebuild::Candidates;
use crate::simulate::sleep::pieces::Sleep;

impl<S: Scalar> Sleep<S> {
    /// Whether a box, given by its corners (m), lies outside the bounds beyond which fragments are removed.
    pub fn is_outside(&self, low: DVec3, high: DVec3) -> bool {
        let beyond = |k: usize| {
            self.bounds
                .is_some_and(|bounds| high[k] < bounds.min[k] || low[k] > bounds.max[k])
        };
        (0..3).any(beyond)
    }

    /// Pieces, as indices, that lie outside and are not removed yet.
    pub fn leaving(&self, system: &System<S>) -> Vec<usize> {
        let leaves = |at: &usize| {
            let piece = &self.pieces[*at];
            // The box around the elements of a piece contains its centre.
            if piece.removed || !self.is_outside(piece.centre(), piece.centre()) {
                return false;
            }
            let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            for (k, &element) in piece.elements.iter().enumerate() {
                let (p, r) = (piece.place(k), system.radius(element as usize));
                (low, high) = (low.min(p - r), high.max(p + r));
            }
            self.is_outside(low, high)
        };
        (0..self.pieces.len()).filter(leaves).collect()
    }

    /// Stops these pieces for good; returns the kinetic energy of each, J.
    pub fn remove(&mut self, pieces: &[usize]) -> Vec<f64> {
        let mut lost = Vec::new();
        for &at in pieces {
            let piece = &mut self.pieces[at];
            self.removed_energy += std::mem::take(&mut piece.held).energy;
            lost.push(piece.stop());
            piece.removed = true;
        }
        self.removed_energy += lost.iter().sum::<f64>();
        let springs = std::mem::take(&mut self.unlisted_springs).into_iter();
        self.unlisted_springs = springs
            .filter(|entry| self.is_kept([entry.element, entry.partner]))
            .collect();
        let soft = std::mem::take(&mut self.unlisted_soft).into_iter();
        self.unlisted_soft = soft.filter(|(contact, _)| self.is_kept(*contact)).collect();
        lost
    }

    /// Whether an element belongs to a removed piece.
    pub fn is_removed(&self, element: u32) -> bool {
        self.piece_of(element)
            .is_some_and(|piece| self.pieces[piece].removed)
    }

    /// All elements but those of removed pieces; `None` if no piece is removed.
    pub fn all_but_removed(&self, rows: usize) -> Option<Candidates> {
        if !self.pieces.iter().any(|piece| piece.removed) {
            return None;
        }
        let mut marks = vec![true; rows];
        for piece in self.pieces.iter().filter(|piece| piece.removed) {
            for &element in &piece.elements {
                marks[element as usize] = false;
            }
        }
        Some(Candidates {
            pairs: marks.clone(),
            colliders: marks,
            exposure: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use crate::simulate::contact::lists::Contacts;
    use crate::simulate::sleep::surroundings::Surroundings;
    use crate::simulate::sleep::test_scene::{asleep, two_blocks};
    use crate::spec::Region;

    #[test]
    fn a_piece_outside_is_removed_and_touches_nothing() {
        for awake in [0, 1] {
            let (built, mut sleep) = asleep(&two_blocks(), awake..2);
            let system = &built.system;
            let mut contacts = Contacts::new(system, &built.surfaces, &[]);
            let touching = |contacts: &Contacts<f64>| {
                (0..system.count as u32).any(|i| !contacts.partners(i).is_empty())
            };
            assert!(touching(&contacts));
            // A piece that reaches into the bounds stays.
            let (min, last) = (DVec3::splat(-1.0).to_array(), sleep.pieces.len() - 1);
            for (end, expected) in [(3.5e-3, vec![]), (1.5e-3, vec![last])] {
                let max = [end, 1.0, 1.0];
                sleep.bounds = Some(Region { min, max });
                assert_eq!(sleep.leaving(system), expected);
            }
            let kinetic = sleep.pieces[last].kinetic();
            assert!(kinetic > 0.0);
            sleep.pieces[last].held.energy = 0.5;
            assert_eq!(sleep.remove(&[last]), [kinetic]);
            assert_eq!((sleep.removed_energy, sleep.held()), (0.5 + kinetic, 0.0));
            assert!(sleep.leaving(system).is_empty());
            assert_eq!(sleep.pieces[last].kinetic(), 0.0);
            let around = Surroundings {
                system,
                contacts: &contacts,
                colliders: &[],
            };
            let candidates = sleep.candidates(around);
            contacts.rebuild_among(system, &[], candidates.as_ref());
            assert!(!touching(&contacts), "{awake}");
        }
    }
}

//! Pieces at rest: a group of pieces that touch each other, stand on something fixed and hardly move is not
//! stepped at all until something touches one of them.

use crate::math::{Scalar, UnionFind};
use crate::simulate::contact::chunk::{COLLIDER, SpringEntry};
use crate::simulate::contact::lists::Contacts;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::resting::RestingLoads;
use crate::simulate::sleep::surroundings::Surroundings;

/// Largest speed of a piece at rest, over that of a fall through the radius of an element.
const SLOW: f64 = 3e-4;
/// Time for which all pieces of a group must be slow, s.
const PATIENCE: f64 = 0.05;

/// What was kept of the contacts of pieces at rest that move again.
#[derive(Clone, Debug)]
pub struct Released<S> {
    springs: Vec<SpringEntry<S>>,
    soft: Vec<([u32; 2], S)>,
}

impl<S: Scalar> Released<S> {
    /// Hands it to the contact lists, in which these contacts must be.
    pub fn restore(&self, contacts: &mut Contacts<S>) {
        contacts.restore_springs(&self.springs);
        for &(contact, normal) in &self.soft {
            contacts.soften(contact, normal);
        }
    }
}

impl<S: Scalar> Sleep<S> {
    /// Notes which pieces are slow; returns whether any may come to rest. `time` is the step and its length (s).
    pub fn note_slow(&mut self, largest: f64, (step, dt): (u64, f64)) -> bool {
        let slow = SLOW * (2.0 * self.fields().gravity.length() * largest).sqrt();
        let mut any = false;
        for piece in self.pieces.iter_mut().filter(|piece| !piece.still) {
            if piece.fastest() >= slow {
                piece.slow_since = None;
                continue;
            }
            let since = *piece.slow_since.get_or_insert(step);
            any |= is_patient(since, step, dt);
        }
        any
    }

    /// Pieces, as indices, that come to rest: groups that touch, all slow for long enough, and that touch
    /// something fixed but nothing that is awake or moves.
    pub fn resting(&self, around: Surroundings<S>, (step, dt): (u64, f64)) -> Vec<usize> {
        let Surroundings {
            system,
            contacts,
            colliders,
        } = around;
        let count = self.pieces.len();
        let mut groups = UnionFind::new(count);
        let (mut grounded, mut moved) = (vec![false; count], vec![false; count]);
        for (at, piece) in self.pieces.iter().enumerate() {
            let patient = |since: u64| is_patient(since, step, dt);
            moved[at] = !piece.still && !piece.slow_since.is_some_and(patient);
        }
        let chosen = |element: u32| self.is_asleep(element as usize);
        contacts.each_listed(system, colliders, chosen, |contact| {
            if contact.gap > 0.0 {
                return;
            }
            let ends = [contact.element, contact.partner];
            let pieces = ends.map(|end| match end < COLLIDER {
                true => self.piece_of(end),
                false => None,
            });
            match (pieces, ends) {
                ([Some(a), Some(b)], _) => {
                    groups.join(a as u32, b as u32);
                }
                ([Some(a), None], [_, other]) | ([None, Some(a)], [other, _]) => {
                    let fixed = match other.checked_sub(COLLIDER) {
                        Some(collider) => colliders[collider as usize].fastest() == 0.0,
                        None => {
                            let i = other as usize;
                            system.inverse_mass[i].to_f64() == 0.0
                                && system.velocity(i).length_squared() == 0.0
                        }
                    };
                    grounded[a] |= fixed;
                    moved[a] |= !fixed;
                }
                ([None, None], _) => {}
            }
        });
        let roots = groups.roots();
        let (mut ground, mut motion) = (vec![false; count], vec![false; count]);
        for (at, &root) in roots.iter().enumerate() {
            ground[root as usize] |= grounded[at] || self.pieces[at].still;
            motion[root as usize] |= moved[at];
        }
        let rests = |at: &usize| {
            let root = roots[*at] as usize;
            !self.pieces[*at].still && ground[root] && !motion[root]
        };
        (0..count).filter(rests).collect()
    }

    /// Stops these pieces, which form one group with those at rest that they touch. Returns the kinetic energy of each,
    /// J.
    pub fn stop(&mut self, pieces: &[usize], contacts: &Contacts<S>) -> Vec<f64> {
        let stopped = pieces.iter().map(|&at| self.pieces[at].stop());
        let lost: Vec<f64> = stopped.collect();
        self.rigidified += lost.iter().sum::<f64>();
        let springs = contacts.springs().into_iter();
        let kept = springs.filter(|entry| self.rests([entry.element, entry.partner]));
        let kept: Vec<SpringEntry<S>> = kept.collect();
        self.springs_at_rest.extend(kept);
        self.springs_at_rest
            .sort_by_key(|entry| (entry.element, entry.partner));
        self.springs_at_rest
            .dedup_by_key(|entry| (entry.element, entry.partner));
        let soft = contacts.soft().filter(|(contact, _)| self.rests(*contact));
        let soft: Vec<([u32; 2], S)> = soft.collect();
        self.soft_at_rest.extend(soft);
        self.soft_at_rest.sort_by_key(|(contact, _)| *contact);
        self.soft_at_rest.dedup_by_key(|(contact, _)| *contact);
        lost
    }

    /// Whether the pieces of both ends of a contact are at rest, and none is removed.
    pub fn rests(&self, [element, partner]: [u32; 2]) -> bool {
        let rests = |element| self.is_still(element) && !self.is_removed(element);
        rests(element) && (partner >= COLLIDER || rests(partner))
    }

    /// Lets these pieces move again; returns what was kept of their contacts, which are listed from now on.
    pub fn release(&mut self, pieces: &[usize]) -> Released<S> {
        for &at in pieces {
            self.pieces[at].still = false;
            self.pieces[at].resting = RestingLoads::default();
            self.pieces[at].slow_since = None;
        }
        let springs = std::mem::take(&mut self.springs_at_rest);
        let (kept, springs) = springs
            .into_iter()
            .partition(|entry| self.rests([entry.element, entry.partner]));
        self.springs_at_rest = kept;
        let soft = std::mem::take(&mut self.soft_at_rest);
        let (kept, soft) = soft
            .into_iter()
            .partition(|(contact, _)| self.rests(*contact));
        self.soft_at_rest = kept;
        Released { springs, soft }
    }

    /// Those of these pieces that are at rest, and all others at rest that they touch, directly or through others;
    /// ascending.
    ///
    /// Contacts at rest are not listed; those with a stretched spring tell who touches whom.
    pub fn groups_of(&self, pieces: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut groups = UnionFind::new(self.pieces.len());
        for entry in &self.springs_at_rest {
            if entry.partner < COLLIDER
                && let (Some(a), Some(b)) =
                    (self.piece_of(entry.element), self.piece_of(entry.partner))
            {
                groups.join(a as u32, b as u32);
            }
        }
        let roots = groups.roots();
        let mut chosen = vec![false; self.pieces.len()];
        for piece in pieces.filter(|&piece| self.pieces[piece].still) {
            chosen[roots[piece] as usize] = true;
        }
        let belongs = |at: &usize| self.pieces[*at].still && chosen[roots[*at] as usize];
        (0..self.pieces.len()).filter(belongs).collect()
    }
}

fn is_patient(since: u64, step: u64, dt: f64) -> bool {
    (step - since) as f64 * dt >= PATIENCE
}

#[cfg(test)]
mod tests {
    use crate::simulate::contact::lists::Contacts;
    use crate::simulate::sleep::test_scene::{asleep, two_blocks};

    #[test]
    fn contacts_of_pieces_at_rest_stay_soft() {
        let (built, mut sleep) = asleep(&two_blocks(), 0..2);
        let system = &built.system;
        let mut contacts = Contacts::new(system, &built.surfaces, &[]);
        let element = (0..system.count as u32).find(|&i| !contacts.partners(i).is_empty());
        let element = element.unwrap();
        let pair = [element, contacts.partners(element)[0]];
        contacts.soften(pair, 123.0);
        let soft: Vec<_> = contacts.soft().collect();
        assert!(soft.contains(&(pair, 123.0)));
        sleep.stop(&[0, 1], &contacts);
        assert_eq!(sleep.soft_at_rest.len(), soft.len());
        let released = sleep.release(&[1]);
        assert!(sleep.soft_at_rest.is_empty());
        let mut again = Contacts::new(system, &built.surfaces, &[]);
        released.restore(&mut again);
        assert_eq!(again.soft().collect::<Vec<_>>(), soft);
    }
}

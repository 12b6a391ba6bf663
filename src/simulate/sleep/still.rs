//! Pieces at rest: a group of pieces that touch each other, stand on something fixed and hardly move is not
//! stepped at all until something touches one of them.

use glam::DVec3;

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

/// What was kept of contacts that were not listed and are from now on.
#[derive(Clone, Debug)]
pub struct Released<S> {
    springs: Vec<SpringEntry<S>>,
    soft: Vec<([u32; 2], S)>,
}

impl<S: Scalar> Released<S> {
    /// Hands it to the contact lists. Contacts that are not in them are forgotten.
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
        self.keep_contacts(contacts);
        lost
    }

    /// Keeps the springs and the softness of contacts that the next lists leave out; the springs in a piece as they are
    /// when it is made.
    pub fn keep_contacts(&mut self, contacts: &Contacts<S>) {
        let springs = contacts.springs().into_iter();
        let kept = springs.filter(|entry| self.is_kept([entry.element, entry.partner]));
        let kept: Vec<SpringEntry<S>> = kept.collect();
        self.unlisted_springs.extend(kept);
        self.unlisted_springs
            .sort_by_key(|entry| (entry.element, entry.partner));
        self.unlisted_springs
            .dedup_by_key(|entry| (entry.element, entry.partner));
        let soft = contacts.soft().into_iter();
        let soft = soft.filter(|(contact, _)| self.is_kept(*contact));
        let soft: Vec<([u32; 2], S)> = soft.collect();
        self.unlisted_soft.extend(soft);
        self.unlisted_soft.sort_by_key(|(contact, _)| *contact);
        self.unlisted_soft.dedup_by_key(|(contact, _)| *contact);
    }

    /// Whether what is known of a contact is kept while the lists leave it out: it is one between pieces at rest, or of
    /// such a piece and a collider, or one inside a piece. Contacts of removed pieces are forgotten.
    pub fn is_kept(&self, [element, partner]: [u32; 2]) -> bool {
        let stays = |element| !self.is_removed(element);
        if partner >= COLLIDER {
            return self.is_still(element) && stays(element);
        }
        let at = self.piece_of(element);
        let is_inside = at.is_some() && at == self.piece_of(partner);
        let rests = self.is_still(element) && self.is_still(partner);
        (is_inside || rests) && stays(element) && stays(partner)
    }

    /// Turns the springs in these pieces, which were kept when the pieces were made, as the pieces have turned since.
    pub fn turn_springs(&mut self, pieces: &[usize]) {
        let mut springs = std::mem::take(&mut self.unlisted_springs);
        for entry in springs.iter_mut().filter(|entry| entry.partner < COLLIDER) {
            let at = self.piece_of(entry.element);
            let at =
                at.filter(|at| pieces.contains(at) && self.piece_of(entry.partner) == Some(*at));
            let Some(at) = at else {
                continue;
            };
            let turned = self.pieces[at].body.moving.rotation;
            let turn = |v: [S; 3]| {
                let v = turned * DVec3::from_array(v.map(Scalar::to_f64));
                v.to_array().map(S::from_f64)
            };
            let memory = &mut entry.memory;
            (memory.spring, memory.roll) = (turn(memory.spring), turn(memory.roll));
        }
        self.unlisted_springs = springs;
    }

    /// Lets these pieces move again.
    pub fn release(&mut self, pieces: &[usize]) {
        for &at in pieces {
            self.pieces[at].still = false;
            self.pieces[at].resting = RestingLoads::default();
            self.pieces[at].slow_since = None;
        }
    }

    /// Takes out what was kept of contacts that are listed from now on.
    pub fn take_listed(&mut self) -> Released<S> {
        let springs = std::mem::take(&mut self.unlisted_springs);
        let (kept, springs) = springs
            .into_iter()
            .partition(|entry| self.is_kept([entry.element, entry.partner]));
        self.unlisted_springs = kept;
        let soft = std::mem::take(&mut self.unlisted_soft);
        let (kept, soft) = soft
            .into_iter()
            .partition(|(contact, _)| self.is_kept(*contact));
        self.unlisted_soft = kept;
        Released { springs, soft }
    }

    /// Those of these pieces that are at rest, and all others at rest that they touch, directly or through others;
    /// ascending.
    ///
    /// Contacts at rest are not listed; those with a stretched spring tell who touches whom.
    pub fn groups_of(&self, pieces: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut groups = UnionFind::new(self.pieces.len());
        for entry in &self.unlisted_springs {
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
    use std::f64::consts::FRAC_PI_2;

    use glam::DQuat;

    use crate::simulate::contact::chunk::SpringEntry;
    use crate::simulate::contact::lists::Contacts;
    use crate::simulate::contact::pair_list::Memory;
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
        let soft = contacts.soft();
        assert!(soft.contains(&(pair, 123.0)));
        sleep.stop(&[0, 1], &contacts);
        assert_eq!(sleep.unlisted_soft.len(), soft.len());
        sleep.release(&[1]);
        let released = sleep.take_listed();
        assert!(sleep.unlisted_soft.is_empty());
        let mut again = Contacts::new(system, &built.surfaces, &[]);
        released.restore(&mut again);
        assert_eq!(again.soft(), soft);
    }

    #[test]
    fn springs_inside_a_piece_are_kept_until_it_wakes() {
        let (built, mut sleep) = asleep(&two_blocks(), 0..2);
        let system = &built.system;
        let mut contacts = Contacts::new(system, &built.surfaces, &[]);
        let element = (0..system.count as u32).find(|&i| !contacts.partners(i).is_empty());
        let element = element.unwrap();
        let partner = contacts.partners(element)[0];
        let entry = |element, partner, sign: f64| SpringEntry {
            element,
            partner,
            memory: Memory {
                spring: [sign * 1e-6, 0.0, 0.0],
                ..Memory::default()
            },
        };
        let both = [entry(element, partner, 1.0), entry(partner, element, -1.0)];
        assert_eq!(contacts.restore_springs(&both), 0);
        sleep.keep_contacts(&contacts);
        assert!(
            sleep.unlisted_springs.is_empty(),
            "the blocks are two pieces that move"
        );
        // As if both blocks were one piece with a crack.
        let other = sleep.pieces.pop().unwrap();
        sleep.pieces[0].elements.extend(other.elements);
        sleep.index(system);
        sleep.keep_contacts(&contacts);
        assert_eq!(sleep.unlisted_springs.len(), 2);
        // They turn with the piece.
        sleep.pieces[0].body.moving.rotation = DQuat::from_rotation_z(FRAC_PI_2);
        sleep.turn_springs(&[0]);
        sleep.wake(&[0], 1);
        sleep.index(system);
        let mut again = Contacts::new(system, &built.surfaces, &[]);
        sleep.take_listed().restore(&mut again);
        for (turned, spring) in again.springs().iter().zip(contacts.springs()) {
            let [x, y, z] = turned.memory.spring;
            assert_eq!(
                (turned.element, turned.partner),
                (spring.element, spring.partner)
            );
            assert!(x.abs() < 1e-20 && z == 0.0 && (y - spring.memory.spring[0]).abs() < 1e-20);
        }
        assert_eq!(again.springs().len(), 2);
        assert!(sleep.unlisted_springs.is_empty());
    }
}

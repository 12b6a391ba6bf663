//! Pieces that listed contacts connect. Until the lists are built again only they push one another: what moves
//! along with all of its group brings nothing nearer within it.

use glam::DVec3;

use crate::math::{Scalar, UnionFind};
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::surroundings::Surroundings;

/// Speed after a bounce over the largest before: a light body at rest that a heavy one hits.
const BOUNCE: f64 = 2.0;

/// Bounds on the motion of a piece until the contact lists are built again, apart from gravity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Velocity of the centre of mass of its group, or of the piece if it is free, m/s; zero for groups that
    /// touch a collider or a piece at rest.
    pub velocity: DVec3,
    /// Largest speed relative to that: of any element, or of the elements about the centre of a piece that is
    /// free, m/s.
    pub speed: f64,
    /// Whether gravity moves the group as a whole.
    pub falls: bool,
}

impl Bounds {
    /// Whether a piece with listed contacts is faster than this bound; `gained` is the speed that gravity gave it
    /// since, m/s. Contacts that were pressed can give pieces more speed than a bounce does.
    pub fn is_outrun(&self, piece: &Piece, gained: DVec3) -> bool {
        let (own, allowed) = match self.falls {
            true => (piece.body.moving.velocity - gained, self.speed),
            false => (piece.body.moving.velocity, self.speed + gained.length()),
        };
        (own - self.velocity).length() + piece.spin_speed() > allowed
    }
}

/// Pieces by the group that listed contacts connect.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// The first piece of the group of each piece.
    pub roots: Vec<usize>,
    /// Whether the group of each piece has a listed contact with an element that is awake.
    pub meets_awake: Vec<bool>,
    /// Bounds on the motion of each piece.
    pub bounds: Vec<Bounds>,
}

/// Sums over a group.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    meets_awake: bool,
    mass: f64,
    momentum: DVec3,
    is_grounded: bool,
    speed: f64,
}

impl Group {
    fn velocity(&self) -> DVec3 {
        match self.is_grounded {
            true => DVec3::ZERO,
            false => self.momentum / self.mass,
        }
    }
}

impl<S: Scalar> Sleep<S> {
    /// Groups of the pieces, and bounds on their motion. The contact lists must just have been built.
    pub fn groups(&self, around: Surroundings<S>) -> Groups {
        let mut joined = UnionFind::new(self.pieces.len());
        let (mut grounded, mut met) = (Vec::new(), Vec::new());
        let moves = |at: &usize| !self.pieces[*at].still;
        around.contacts.each_pair(|element, partner| {
            let at = self.piece_of(element);
            let other = match partner < COLLIDER {
                true => self.piece_of(partner),
                false => None,
            };
            let is_awake = at.is_none() || partner < COLLIDER && other.is_none();
            match (at.filter(moves), other.filter(moves)) {
                (Some(a), Some(b)) => {
                    joined.join(a as u32, b as u32);
                }
                (Some(one), None) | (None, Some(one)) => {
                    grounded.push(one);
                    if is_awake {
                        met.push(one);
                    }
                }
                (None, None) => {}
            }
        });
        let roots = joined.roots();
        let mut groups = vec![Group::default(); self.pieces.len()];
        for at in grounded {
            groups[roots[at] as usize].is_grounded = true;
        }
        for at in met {
            groups[roots[at] as usize].meets_awake = true;
        }
        let moving = || {
            self.pieces
                .iter()
                .enumerate()
                .filter(|(_, piece)| !piece.still)
        };
        for (at, piece) in moving() {
            let (group, mass) = (
                &mut groups[roots[at] as usize],
                1.0 / piece.body.inverse_mass,
            );
            group.mass += mass;
            group.momentum += mass * piece.body.moving.velocity;
        }
        for (at, piece) in moving() {
            let group = &mut groups[roots[at] as usize];
            let apart = (piece.body.moving.velocity - group.velocity()).length();
            group.speed = group.speed.max(apart + piece.spin_speed());
        }
        let bounds = self.pieces.iter().zip(&roots).map(|(piece, &root)| {
            let group = &groups[root as usize];
            match (piece.still, piece.is_free()) {
                (true, _) => Bounds::default(),
                (_, true) => Bounds {
                    velocity: piece.body.moving.velocity,
                    speed: piece.spin_speed(),
                    falls: true,
                },
                (_, false) => Bounds {
                    velocity: group.velocity(),
                    speed: BOUNCE * group.speed,
                    falls: !group.is_grounded,
                },
            }
        });
        let bounds = bounds.collect();
        Groups {
            bounds,
            meets_awake: roots
                .iter()
                .map(|&root| groups[root as usize].meets_awake)
                .collect(),
            roots: roots.into_iter().map(|root| root as usize).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, DVec3};
    use crate::simulate::sleep::test_scene::{asleep, blocks};

    #[test]
    fn a_piece_that_springs_apart_outruns_its_bound_and_one_that_falls_does_not() {
        let text = blocks(&[([4, 3, 3], 0.0)], 0.0);
        let (_, mut sleep) = asleep(&text, 0..1);
        let gained = sleep.fields().gravity * 0.5;
        assert!(gained.length() > 4.0);
        let mut at = |velocity: DVec3, falls: bool| {
            let bound = Bounds {
                speed: 1.0,
                falls,
                ..Bounds::default()
            };
            sleep.pieces[0].body.moving.velocity = velocity;
            bound.is_outrun(&sleep.pieces[0], gained)
        };
        let sideways = DVec3::new(1.5, 0.0, 0.0);
        assert!(!at(gained, true) && at(gained + sideways, true));
        assert!(!at(gained, false) && !at(sideways, false) && at(4.0 * sideways, false));
    }
}

//! Pieces that listed contacts connect. Until the lists are built again only they push one another: what moves
//! along with all of its group brings nothing nearer within it.

use glam::DVec3;

use crate::math::{Scalar, UnionFind};
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::surroundings::Surroundings;

/// Speed after a bounce over the largest before: a light body that a heavy one hits.
const BOUNCE: f64 = 3.0;

/// Bounds on the motion of a piece until the contact lists are built again, apart from gravity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Velocity of the centre of mass of its group, or of the piece if it is free, m/s; zero for groups that
    /// touch a collider or a piece at rest.
    pub velocity: DVec3,
    /// Largest speed relative to that: of any element, or of the elements about the centre of a piece that is
    /// free, m/s.
    pub speed: f64,
}

/// Sums over a group.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
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
    /// Bounds on the motion of each piece. The contact lists must just have been built.
    pub fn bounds(&self, around: Surroundings<S>) -> Vec<Bounds> {
        let (mut joined, mut grounded) = (UnionFind::new(self.pieces.len()), Vec::new());
        around.contacts.each_listed(
            around.system,
            around.colliders,
            |_| true,
            |contact| {
                let at = self.piece_of(contact.element);
                let other = match contact.partner < COLLIDER {
                    true => self.piece_of(contact.partner),
                    false => None,
                };
                let moves = |at: &usize| !self.pieces[*at].still;
                match (at.filter(moves), other.filter(moves)) {
                    (Some(a), Some(b)) => {
                        joined.join(a as u32, b as u32);
                    }
                    (Some(one), None) | (None, Some(one)) => grounded.push(one),
                    (None, None) => {}
                }
            },
        );
        let roots = joined.roots();
        let mut groups = vec![Group::default(); self.pieces.len()];
        for at in grounded {
            groups[roots[at] as usize].is_grounded = true;
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
                },
                (_, false) => Bounds {
                    velocity: group.velocity(),
                    speed: BOUNCE * group.speed,
                },
            }
        });
        bounds.collect()
    }
}

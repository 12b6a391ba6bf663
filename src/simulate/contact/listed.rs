//! Listed contacts one by one in double precision: their gaps, and how they close.

use glam::DVec3;

use super::chunk::COLLIDER;
use super::lists::Contacts;
use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::colliders::PosedCollider;

/// A listed contact at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedContact {
    /// Element that it is seen from.
    pub element: u32,
    /// Other element, or [`COLLIDER`] plus the collider's index.
    pub partner: u32,
    /// Gap, m; negative where they overlap.
    pub gap: f64,
    /// Speed at which the gap closes, m/s.
    pub closing: f64,
}

impl<S: Scalar> Contacts<S> {
    /// Calls `act` for every listed contact of an element for which `chosen` is true, pairs once, in the order
    /// of the chunks.
    pub fn each_listed(
        &self,
        system: &System<S>,
        colliders: &[PosedCollider],
        chosen: impl Fn(u32) -> bool,
        mut act: impl FnMut(ListedContact),
    ) {
        for chunk in &self.chunks {
            // Pairs with earlier chunks are listed there too.
            for list in [&chunk.within, &chunk.behind] {
                for at in 0..list.len() {
                    let (i, j) = (list.own[at], list.partner[at]);
                    if !chosen(i) && !chosen(j) {
                        continue;
                    }
                    let (a, b) = (i as usize, j as usize);
                    let x = system.position(a) - system.position(b);
                    let distance = x.length();
                    let v = system.velocity(a) - system.velocity(b);
                    act(ListedContact {
                        element: i,
                        partner: j,
                        gap: distance - list.touch[at].to_f64(),
                        closing: closing(v, x, distance),
                    });
                }
            }
            for entry in chunk.near_colliders.iter().filter(|e| chosen(e.element)) {
                let collider = &colliders[entry.collider as usize];
                let i = entry.element as usize;
                let (distance, normal, velocity) =
                    collider.pose.surface(&collider.solid, system.position(i));
                act(ListedContact {
                    element: entry.element,
                    partner: COLLIDER + entry.collider,
                    gap: distance - system.radius(i),
                    closing: -(system.velocity(i) - velocity).dot(normal),
                });
            }
        }
    }

    /// Calls `act` for every listed contact, pairs once, in the order of the chunks: element, and other element
    /// or [`COLLIDER`] plus the collider's index.
    pub fn each_pair(&self, mut act: impl FnMut(u32, u32)) {
        for chunk in &self.chunks {
            // Pairs with earlier chunks are listed there too.
            for list in [&chunk.within, &chunk.behind] {
                (0..list.len()).for_each(|at| act(list.own[at], list.partner[at]));
            }
            for wall in &chunk.near_colliders {
                act(wall.element, COLLIDER + wall.collider);
            }
        }
    }

    /// Calls `act` for the partner of each listed contact between a chunk and others.
    pub fn each_partner_outside(&self, chunk: usize, mut act: impl FnMut(u32)) {
        let lists = &self.chunks[chunk];
        for list in [&lists.before, &lists.behind] {
            list.partner[..list.len()]
                .iter()
                .for_each(|&partner| act(partner));
        }
    }

    /// Marks every element with a listed contact.
    pub fn mark_listed(&self, marks: &mut [bool]) {
        for chunk in &self.chunks {
            for list in chunk.lists() {
                for at in 0..list.len() {
                    marks[list.own[at] as usize] = true;
                    marks[list.partner[at] as usize] = true;
                }
            }
            for entry in &chunk.near_colliders {
                marks[entry.element as usize] = true;
            }
        }
    }
}

/// Speed at which a distance shrinks, m/s.
fn closing(v: DVec3, x: DVec3, distance: f64) -> f64 {
    match distance > 0.0 {
        true => -v.dot(x) / distance,
        false => 0.0,
    }
}

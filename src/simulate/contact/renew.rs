//! Listed contacts whose elements have other masses than when the lists were built.

use super::lists::Contacts;
use super::near::entry;
use super::soft::with_normal;
use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::colliders::PosedCollider;

impl<S: Scalar> Contacts<S> {
    /// Gives the listed contacts of the elements for which `chosen` is true the parameters that follow from the masses
    /// in the system. Soft contacts keep their normal stiffness.
    pub fn renew(
        &mut self,
        system: &System<S>,
        colliders: &[PosedCollider],
        chosen: impl Fn(u32) -> bool,
    ) {
        let surfaces = &self.surfaces;
        for chunk in &mut self.chunks {
            for list in [&mut chunk.before, &mut chunk.within, &mut chunk.behind] {
                for at in 0..list.len() {
                    let pair = (list.own[at], list.partner[at]);
                    if chosen(pair.0) || chosen(pair.1) {
                        let renewed = entry(system, surfaces, pair, list.touch[at]);
                        list.set_constants(at, renewed.constants);
                    }
                }
            }
            let walls = chunk.near_colliders.iter_mut();
            for wall in walls.filter(|wall| chosen(wall.element)) {
                let collider = &colliders[wall.collider as usize];
                let element = wall.element as usize;
                let k = surfaces.with_collider(system, element, collider).k;
                wall.k = match wall.soft {
                    true => with_normal(k, wall.k.normal.to_f64()),
                    false => k,
                };
            }
        }
    }
}

//! Contacts that the passes over chunks leave out for a while, because their pieces are stepped apart, and those that
//! are soft since then.

use super::chunk::{COLLIDER, ContactChunk, SpringEntry};
use super::lists::Contacts;
use super::pair_list::Memory;
use super::soft::with_normal;
use crate::laws::contact::ContactParameters;
use crate::math::Scalar;
use crate::simulate::bonded::system::System;

/// A listed contact that the passes leave out.
#[derive(Clone, Debug)]
pub struct SuspendedContact<S> {
    /// Element that it is seen from.
    pub element: u32,
    /// Other element, or [`COLLIDER`] plus the collider's index.
    pub partner: u32,
    /// Distance at which two elements touch, m.
    pub touch: S,
    /// Radii of both elements; that of the element twice at a collider, m.
    pub radii: [f64; 2],
    /// Contact parameters.
    pub k: ContactParameters<f64>,
    /// Coefficient of static friction.
    pub static_friction: f64,
    /// Coefficient of rolling friction.
    pub rolling: f64,
    /// Sum of the inverse masses of what touches, 1/kg.
    pub inverse_mass: f64,
    /// Its history when it was suspended.
    pub memory: Memory<S>,
    /// Whether these are those of a soft contact.
    pub soft: bool,
    /// Normal stiffness while it is not soft, N/m.
    pub stiff: f64,
}

/// Contact parameters in double precision.
fn wide<S: Scalar>(k: &ContactParameters<S>) -> ContactParameters<f64> {
    ContactParameters {
        normal: k.normal.to_f64(),
        tangential: k.tangential.to_f64(),
        friction: k.friction.to_f64(),
        damping: k.damping.to_f64(),
    }
}

impl<S: Scalar> Contacts<S> {
    /// Takes the listed contacts for which `chosen` is true (element; partner as listed) out of the passes and
    /// returns them, pairs once, by element and partner. Until they are [resumed](Self::resume) the lists
    /// must not be rebuilt.
    pub fn suspend(
        &mut self,
        system: &System<S>,
        chosen: impl Fn(u32, u32) -> bool,
    ) -> Vec<SuspendedContact<S>> {
        let surfaces = &self.surfaces;
        let stiff = |i: u32, j: u32| {
            let properties = surfaces.pair(system, i as usize, j as usize);
            properties.k.normal.to_f64()
        };
        let mut out = Vec::new();
        for chunk in &mut self.chunks {
            for (list, is_first) in [
                (&mut chunk.before, false),
                (&mut chunk.within, true),
                (&mut chunk.behind, true),
            ] {
                for at in 0..list.len() {
                    let (element, partner) = (list.own[at], list.partner[at]);
                    if !chosen(element, partner) {
                        continue;
                    }
                    let (radii, k, [rolling, inverse_mass]) = list.parameters(at);
                    let soft = list.is_soft(at);
                    let stiff = match soft {
                        true => stiff(element, partner),
                        false => k.normal,
                    };
                    let (touch, memory) = list.suspend(at);
                    // Pairs with earlier chunks are listed there too.
                    if is_first {
                        out.push(SuspendedContact {
                            element,
                            partner,
                            touch,
                            radii,
                            k,
                            static_friction: list.static_friction(at),
                            rolling,
                            inverse_mass,
                            memory,
                            soft,
                            stiff,
                        });
                    }
                }
            }
            for wall in &mut chunk.near_colliders {
                let (element, partner) = (wall.element, COLLIDER + wall.collider);
                if !chosen(element, partner) {
                    continue;
                }
                let k = wide(&wall.k);
                wall.clear_until = f64::INFINITY;
                out.push(SuspendedContact {
                    element,
                    partner,
                    touch: S::default(),
                    radii: [system.radius(element as usize); 2],
                    k,
                    static_friction: wall.static_friction.to_f64(),
                    rolling: wall.rolling.to_f64(),
                    inverse_mass: system.inverse_mass[element as usize].to_f64(),
                    memory: std::mem::take(&mut wall.memory),
                    soft: wall.soft,
                    stiff: wall.stiff.to_f64(),
                });
            }
        }
        // Sums over contacts must not depend on how elements are divided into chunks.
        out.sort_by_key(|contact| (contact.element, contact.partner));
        out
    }

    /// Hands a suspended contact back to the passes, with this history.
    pub fn resume(&mut self, contact: &SuspendedContact<S>, memory: Memory<S>) {
        let (element, partner) = (contact.element, contact.partner);
        let entry = SpringEntry {
            element,
            partner,
            memory,
        };
        if partner >= COLLIDER {
            let chunk = &mut self.chunks[element as usize / self.chunk];
            chunk.restore(&entry);
            return;
        }
        let opposite = SpringEntry {
            element: partner,
            partner: element,
            memory: memory.mirrored(),
        };
        for entry in [entry, opposite] {
            let chunk = &mut self.chunks[entry.element as usize / self.chunk];
            let (list, key) = chunk.list_of(entry.element, entry.partner);
            if let Ok(at) = list.find(key) {
                list.touch[at] = contact.touch;
            }
            chunk.restore(&entry);
        }
    }

    /// Soft contacts and their normal stiffness, N/m: element, and partner or [`COLLIDER`] plus the collider's index;
    /// pairs once, by element and partner.
    pub fn soft(&self) -> Vec<([u32; 2], S)> {
        let of = |chunk: &ContactChunk<S>| {
            // Pairs with earlier chunks are listed there too.
            let listed = [&chunk.within, &chunk.behind].into_iter();
            let listed = listed.flat_map(|list| list.soft());
            let walls = chunk.near_colliders.iter().filter(|wall| wall.soft);
            let walls = walls.map(|wall| ([wall.element, COLLIDER + wall.collider], wall.k.normal));
            listed.chain(walls).collect::<Vec<_>>()
        };
        let mut all: Vec<([u32; 2], S)> = self.chunks.iter().flat_map(of).collect();
        all.sort_by_key(|(contact, _)| *contact);
        all
    }

    /// Makes a contact soft, with a normal stiffness (N/m), if it is listed and not soft yet: an element, and its
    /// partner or [`COLLIDER`] plus the collider's index.
    pub fn soften(&mut self, [element, partner]: [u32; 2], normal: S) {
        if partner < COLLIDER {
            for (own, other) in [(element, partner), (partner, element)] {
                let (list, key) = self.chunks[own as usize / self.chunk].list_of(own, other);
                if let Ok(at) = list.find(key) {
                    list.soften(at, normal);
                }
            }
            return;
        }
        let key = (element, partner - COLLIDER);
        let walls = &mut self.chunks[element as usize / self.chunk].near_colliders;
        let found = walls.binary_search_by_key(&key, |wall| (wall.element, wall.collider));
        if let Ok(at) = found
            && !walls[at].soft
        {
            walls[at].k = with_normal(walls[at].k, normal.to_f64());
            walls[at].soft = true;
        }
    }
}

//! Contacts that the passes over chunks leave out for a while, because their pieces are stepped apart.

use super::chunk::{COLLIDER, SpringEntry};
use super::lists::Contacts;
use super::pair_list::Memory;
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
    /// Coefficient of rolling friction.
    pub rolling: f64,
    /// Sum of the inverse masses of what touches, 1/kg.
    pub inverse_mass: f64,
    /// Springs when it was suspended.
    pub memory: Memory<S>,
    /// Whether it is a soft contact with a collider.
    pub soft: bool,
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
    /// returns them, pairs once, in the order of the chunks. Until they are [resumed](Self::resume) the lists
    /// must not be rebuilt.
    pub fn suspend(
        &mut self,
        system: &System<S>,
        chosen: impl Fn(u32, u32) -> bool,
    ) -> Vec<SuspendedContact<S>> {
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
                    let (touch, memory) = list.suspend(at);
                    // Pairs with earlier chunks are listed there too.
                    if is_first {
                        out.push(SuspendedContact {
                            element,
                            partner,
                            touch,
                            radii,
                            k,
                            rolling,
                            inverse_mass,
                            memory,
                            soft: false,
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
                    rolling: wall.rolling.to_f64(),
                    inverse_mass: system.inverse_mass[element as usize].to_f64(),
                    memory: std::mem::take(&mut wall.memory),
                    soft: wall.soft,
                });
            }
        }
        out
    }

    /// Hands a suspended contact back to the passes, with these springs; `soft`: whether it is soft now.
    pub fn resume(&mut self, contact: &SuspendedContact<S>, memory: Memory<S>, soft: bool) {
        let (element, partner) = (contact.element, contact.partner);
        let entry = SpringEntry {
            element,
            partner,
            memory,
        };
        if partner >= COLLIDER {
            let chunk = &mut self.chunks[element as usize / self.chunk];
            chunk.restore(&entry);
            if soft {
                let [radius, _] = contact.radii;
                self.soften([element, partner - COLLIDER], radius, contact.inverse_mass);
            }
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
}

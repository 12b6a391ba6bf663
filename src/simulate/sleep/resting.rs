//! Contacts of a piece at rest.

use crate::simulate::contact::pass::ContactTotals;
use crate::simulate::scene::reactions::Wrench;

/// What a piece at rest does to a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColliderLoad {
    /// Index of the collider.
    pub collider: u32,
    /// Number of elements that touch it.
    pub touching: u32,
    /// Force and torque on it.
    pub wrench: Wrench,
}

/// Contacts of a piece at rest with colliders, and with pieces that came to rest before it or with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestingLoads {
    /// Energy and number of these contacts.
    pub totals: ContactTotals,
    /// Loads on colliders, by ascending collider.
    pub on_colliders: Vec<ColliderLoad>,
}

impl RestingLoads {
    /// Adds a contact: its elastic energy, J, and, if it is with a collider, that and the force and torque on it.
    pub fn add(&mut self, energy: f64, on_collider: Option<(u32, Wrench)>) {
        self.totals.energy += energy;
        self.totals.sides += 2;
        let Some((collider, wrench)) = on_collider else {
            return;
        };
        let found = self
            .on_colliders
            .binary_search_by_key(&collider, |load| load.collider);
        let at = found.unwrap_or_else(|at| {
            let none = ColliderLoad {
                collider,
                touching: 0,
                wrench: Wrench::default(),
            };
            self.on_colliders.insert(at, none);
            at
        });
        self.on_colliders[at].touching += 1;
        self.on_colliders[at].wrench += wrench;
    }
}

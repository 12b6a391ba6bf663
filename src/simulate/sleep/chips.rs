//! Chips: fragments too light to send a wave through what they hit.

use std::collections::HashSet;

use crate::math::Scalar;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::sleep::pieces::Sleep;

/// Largest mass of a chip over that of the element that it hits: eight equal elements, and room for rounding.
const LIGHT: f64 = 8.5;

/// Whether a body of this inverse mass (1/kg) is a chip to an element of mass `hit` (kg).
pub fn is_light(inverse_mass: f64, hit: f64) -> bool {
    1.0 <= LIGHT * hit * inverse_mass
}

impl<S: Scalar> Sleep<S> {
    /// Whether an element is struck by another one of a chip, and does not belong to a chip itself.
    pub fn is_struck_by_chip(
        &self,
        around: (&System<S>, &RestData),
        element: u32,
        by: u32,
    ) -> bool {
        by < COLLIDER && self.is_chip(around, by, element) && !self.is_chip(around, element, by)
    }

    /// Whether the fragment of an element is a chip to one that it hits.
    fn is_chip(&self, (system, rest): (&System<S>, &RestData), element: u32, hit: u32) -> bool {
        let hit = rest.mass[hit as usize];
        match self.piece_of(element) {
            Some(at) => is_light(self.pieces[at].body.inverse_mass, hit),
            None => is_awake_chip((system, rest), element as usize, hit),
        }
    }
}

/// Whether the fragment of an element, followed along its bonds, is a chip to an element of mass `hit` (kg).
fn is_awake_chip<S: Scalar>(
    (system, rest): (&System<S>, &RestData),
    element: usize,
    hit: f64,
) -> bool {
    let bonds = &system.bonds;
    let (mut found, mut seen) = (vec![element], HashSet::from([element]));
    let (mut mass, mut at) = (0.0, 0);
    while let Some(&i) = found.get(at) {
        mass += rest.mass[i];
        if rest.inverse_mass[i] == 0.0 || !is_light(1.0 / mass, hit) {
            return false;
        }
        let intact = bonds.sides(i).filter(|side| bonds.is_intact(side.entry));
        for side in intact {
            if seen.insert(side.other) {
                found.push(side.other);
            }
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::simulate::sleep::test_scene::{asleep, blocks};

    #[test]
    fn eight_elements_are_a_chip_to_an_element_of_their_size_and_twelve_are_none_awake_or_asleep() {
        let text = blocks(&[([2, 2, 2], 0.0), ([3, 2, 2], 0.1)], 0.0);
        for bodies in [0..0, 0..2] {
            let (built, sleep) = asleep(&text, bodies);
            let (system, rest) = (&built.system, &built.rest);
            let of = |body: u32| {
                (0..system.count as u32).filter(move |&i| rest.body[i as usize] == body)
            };
            assert_eq!((of(0).count(), of(1).count()), (8, 12));
            for (body, is_chip) in [(0, true), (1, false)] {
                assert!(of(body).all(|i| sleep.is_chip((system, rest), i, 0) == is_chip));
            }
        }
    }
}

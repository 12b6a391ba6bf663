//! Which awake fragments are calm: no bond broke for a while, stresses are far below strength, and they hardly
//! vibrate.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;
use crate::simulate::scene::rigid_body::{BodyPart, RigidBody};
use crate::simulate::sleep::piece::part;
use crate::simulate::sleep::pieces::Sleep;

/// Times for which sound crosses a fragment before it may fall asleep.
const CROSSINGS: f64 = 2.0;

/// What was found about an awake fragment.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Its elements, ascending.
    pub elements: Vec<u32>,
    /// Largest stress over strength.
    pub use_of_strength: f64,
    /// Kinetic energy that is not rigid motion, J.
    pub vibration: f64,
    /// How it goes on.
    pub verdict: Verdict,
}

/// Whether a fragment falls asleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is strained or vibrates, or may never sleep.
    Restless,
    /// It is calm, but not long enough.
    Waits,
    /// It falls asleep.
    Sleeps,
}

/// All awake fragments. `uses` holds the stress over strength of the bonds of each element, `labels` the
/// fragment of each element, `time` the step and its length (s).
pub fn fragments<S: Scalar>(
    sleep: &Sleep<S>,
    (system, rest): (&System<S>, &RestData),
    (labels, uses): (&[u32], &[f64]),
    time: (u64, f64),
) -> Vec<Fragment> {
    let mut by_label: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (i, &label) in (0..).zip(labels) {
        if !sleep.is_asleep(i as usize) {
            by_label.entry(label).or_default().push(i);
        }
    }
    let all: Vec<Vec<u32>> = by_label.into_values().collect();
    all.into_par_iter()
        .map(|elements| fragment(sleep, (system, rest), elements, uses, time))
        .collect()
}

fn fragment<S: Scalar>(
    sleep: &Sleep<S>,
    (system, rest): (&System<S>, &RestData),
    elements: Vec<u32>,
    uses: &[f64],
    (step, dt): (u64, f64),
) -> Fragment {
    let mut found = Fragment {
        use_of_strength: 0.0,
        vibration: 0.0,
        verdict: Verdict::Restless,
        elements,
    };
    let (mut slowness, mut unrest) = (0.0_f64, 0);
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for &element in &found.elements {
        let i = element as usize;
        let Some(bonds) = sleep.bonds(i) else {
            return found;
        };
        found.use_of_strength = found.use_of_strength.max(uses[i]);
        slowness = slowness.max(bonds.slowness);
        unrest = unrest.max(sleep.unrest[i]);
        let p = system.position(i);
        (low, high) = (low.min(p), high.max(p));
    }
    let limits = &sleep.limits;
    if found.use_of_strength >= limits.calm {
        return found;
    }
    let (energy, stress) = vibration(sleep, &found.elements, system, rest);
    found.vibration = energy;
    if stress >= limits.vibration {
        return found;
    }
    let wait = CROSSINGS * (high - low).length() * slowness;
    found.verdict = match (step - unrest) as f64 * dt >= wait {
        true => Verdict::Sleeps,
        false => Verdict::Waits,
    };
    found
}

/// Kinetic energy of elements that is not rigid motion, J, and the largest stress over strength that it causes
/// as waves.
fn vibration<S: Scalar>(
    sleep: &Sleep<S>,
    elements: &[u32],
    system: &System<S>,
    rest: &RestData,
) -> (f64, f64) {
    if elements.len() == 1 {
        return (0.0, 0.0);
    }
    let parts: Vec<BodyPart> = elements
        .iter()
        .map(|&i| part(system, rest, i as usize))
        .collect();
    let body = RigidBody::new(&parts);
    let (velocity, spin) = (body.moving.velocity, body.pose().spin);
    let (mut energy, mut stress) = (0.0, 0.0_f64);
    for (part, &element) in parts.iter().zip(elements) {
        let v = part.velocity - velocity - spin.cross(part.place - body.centre);
        let w = part.spin - spin;
        energy += 0.5 * (part.mass * v.length_squared() + part.inertia * w.length_squared());
        let impact = sleep
            .bonds(element as usize)
            .map_or(0.0, |bonds| bonds.impact);
        let speed = v.length() + w.length() * system.radius(element as usize);
        stress = stress.max(impact * speed);
    }
    (energy, stress)
}

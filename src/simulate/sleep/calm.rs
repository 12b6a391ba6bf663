//! Which awake fragments are calm: for a while no bond broke, and the stresses were below strength and hardly changed.

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
/// The same for a fragment whose bonds use more of their strength: crumbs in its cracks may hold it so for good.
const LONG_CROSSINGS: f64 = 10.0;
/// Steps after which the range of the stresses shows how much a fragment vibrates: eight samples.
const WATCHED: u64 = 1024;

/// What was found about an awake fragment.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Its elements, ascending.
    pub elements: Vec<u32>,
    /// Largest stress over strength.
    pub use_of_strength: f64,
    /// Kinetic energy that is not rigid motion, J.
    pub vibration: f64,
    /// Whether that is more than may be lost: as a piece it holds its vibration.
    pub holds: bool,
    /// How it goes on.
    pub verdict: Verdict,
}

/// Whether a fragment falls asleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its stresses change much, or it may never sleep.
    Restless,
    /// It may vibrate: its elements are fast, and its stresses were not watched for long enough.
    Vibrates,
    /// It is calm, but not long enough.
    Waits,
    /// It falls asleep.
    Sleeps,
    /// It is outside the bounds of the world, and falls asleep to be removed.
    Leaves,
}

/// All awake fragments, after [`Sleep::watch`]. `labels` holds the fragment of each element, `time` the step and its
/// length (s).
pub fn fragments<S: Scalar>(
    sleep: &Sleep<S>,
    (system, rest): (&System<S>, &RestData),
    labels: &[u32],
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
        .map(|elements| fragment(sleep, (system, rest), elements, time))
        .collect()
}

fn fragment<S: Scalar>(
    sleep: &Sleep<S>,
    (system, rest): (&System<S>, &RestData),
    elements: Vec<u32>,
    (step, dt): (u64, f64),
) -> Fragment {
    let mut found = Fragment {
        use_of_strength: 0.0,
        vibration: 0.0,
        holds: false,
        verdict: Verdict::Restless,
        elements,
    };
    let (mut slowness, mut unrest, mut swing) = (0.0_f64, 0, 0.0_f64);
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (mut least, mut most) = (low, high);
    for &element in &found.elements {
        let i = element as usize;
        let Some(bonds) = sleep.bonds(i) else {
            return found;
        };
        let watched = &sleep.watched[i];
        found.use_of_strength = found.use_of_strength.max(watched.high.into());
        swing = swing.max(watched.swing());
        slowness = slowness.max(bonds.slowness);
        unrest = unrest.max(sleep.unrest[i]);
        let p = system.position(i);
        let r = system.radius(i);
        (low, high) = (low.min(p), high.max(p));
        (least, most) = (least.min(p - r), most.max(p + r));
    }
    let limits = &sleep.limits;
    let leaves = sleep.is_outside(least, most);
    if swing >= limits.vibration && !leaves {
        return found;
    }
    let crossings = match found.use_of_strength >= limits.calm {
        true => LONG_CROSSINGS,
        false => CROSSINGS,
    };
    let (energy, stress) = vibration(sleep, &found.elements, system, rest);
    found.vibration = energy;
    if leaves {
        found.verdict = Verdict::Leaves;
        return found;
    }
    let (watched, wait) = (step - unrest, crossings * (high - low).length() * slowness);
    let mass = found.elements.iter().map(|&i| rest.mass[i as usize]).sum();
    let is_unknown = stress >= limits.vibration && watched < WATCHED;
    found.holds = energy > sleep.most_lost(mass);
    found.verdict = if is_unknown {
        Verdict::Vibrates
    } else if (watched as f64) * dt >= wait {
        Verdict::Sleeps
    } else {
        Verdict::Waits
    };
    found
}

/// Kinetic energy of elements that is not rigid motion, J, and the largest stress that it causes as waves, over the
/// strength that is left.
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
        energy += part.kinetic(v, w);
        let i = element as usize;
        let impact = sleep.bonds(i).map_or(0.0, |bonds| bonds.impact);
        let speed = v.length() + w.length() * system.radius(i);
        stress = stress.max(impact * speed / sleep.watched[i].left());
    }
    (energy, stress)
}

//! Which loads wake a piece: the closing speed of a touch, a bound on the stress under the contact forces, and
//! the stress of the bonds in balance with them, in this order.

use std::collections::{BTreeMap, HashSet};

use crate::columns::SleepReason;
use crate::math::Scalar;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::LoadRow;
use crate::simulate::contact::chunk::COLLIDER;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::surroundings::Surroundings;
use crate::simulate::sleep::watched::Watched;

/// Part of the limit from which the use of strength of a touch is worth a row in the table.
pub const WORTH_NOTING: f64 = 0.03;

/// A piece on which a load acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alarm {
    /// Index of the piece.
    pub piece: usize,
    /// How the load was judged.
    pub reason: SleepReason,
    /// Use of strength that it causes.
    pub use_of_strength: f64,
    /// Whether it is a touch that just begins: the piece wakes in the step before.
    pub is_hit: bool,
}

/// What the loads of a step do.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    /// Pieces to wake or to set in motion, at most one alarm each, in their order.
    pub wakes: Vec<Alarm>,
    /// Pieces whose loads were judged to be harmless.
    pub harmless: Vec<Alarm>,
}

impl<S: Scalar> Sleep<S> {
    /// Judges the loads of a step.
    pub fn alarms(
        &mut self,
        around: Surroundings<S>,
        rest: &RestData,
        load: &[LoadRow<S>],
    ) -> Alarms {
        let (mut wakes, mut harmless) = (BTreeMap::new(), Vec::new());
        let mut fresh: HashSet<u32> = HashSet::new();
        let (mut loaded, limit) = (Vec::new(), self.limits.wake);
        for (at, piece) in self.pieces.iter_mut().enumerate() {
            if piece.apart {
                continue;
            }
            let now = piece.loads(load);
            if piece.still {
                if !now.is_empty() {
                    wakes.insert(at, alarm(at, SleepReason::Touched, 0.0));
                }
                fresh.extend(now.iter().map(|one| one.element));
                continue;
            }
            let is_new = |element: &u32| piece.loaded.binary_search(element).is_err();
            fresh.extend(now.iter().map(|one| one.element).filter(is_new));
            piece.loaded.clear();
            piece.loaded.extend(now.iter().map(|one| one.element));
            let force = now.iter().map(|one| one.force.length()).sum();
            if let Some(strength) = piece.doubtful(force, limit) {
                loaded.push((at, strength, now));
            }
        }
        if !fresh.is_empty() {
            self.impacts((around, rest), &fresh, (&mut wakes, &mut harmless));
        }
        for (at, strength, loads) in loaded {
            if wakes.contains_key(&at) {
                continue;
            }
            let around = (around.system, rest);
            let judged = self.pieces[at].alarm((loads, Vec::new()), strength, around, limit);
            if let Some((reason, used)) = judged {
                match used >= limit {
                    true => drop(wakes.insert(at, alarm(at, reason, used))),
                    false => harmless.push(alarm(at, reason, used)),
                }
            }
        }
        Alarms {
            wakes: wakes.into_values().collect(),
            harmless,
        }
    }

    /// Judges new touches by their closing speeds, except those of a moving piece with a chip, whose forces decide.
    fn impacts(
        &self,
        (around, rest): (Surroundings<S>, &RestData),
        fresh: &HashSet<u32>,
        (wakes, harmless): (&mut BTreeMap<usize, Alarm>, &mut Vec<Alarm>),
    ) {
        let mut hardest: BTreeMap<usize, f64> = BTreeMap::new();
        let chosen = |element: u32| fresh.contains(&element);
        around
            .contacts
            .each_listed(around.system, around.colliders, chosen, |contact| {
                if contact.gap > 0.0 || contact.closing <= 0.0 {
                    return;
                }
                let [one, other] = [contact.element, contact.partner];
                for (end, by) in [(one, other), (other, one)] {
                    if end >= COLLIDER {
                        continue;
                    }
                    let Some(at) = self.piece_of(end) else {
                        continue;
                    };
                    let piece = &self.pieces[at];
                    let Some(strength) = piece.strength else {
                        continue;
                    };
                    let least = WORTH_NOTING * self.limits.wake;
                    if strength.impact * contact.closing < least {
                        continue;
                    }
                    // The force on a piece at rest is not judged as it is touched, so the whole piece counts.
                    let impact = match piece.still {
                        true => strength.impact,
                        false => self.impact(around.system, end),
                    };
                    let used = impact * contact.closing;
                    let is_struck =
                        || !piece.still && self.is_struck_by_chip((around.system, rest), end, by);
                    if used >= least && !is_struck() {
                        let hardest = hardest.entry(at).or_insert(0.0);
                        *hardest = hardest.max(used);
                    }
                }
            });
        for (at, used) in hardest {
            let one = alarm(at, SleepReason::Impact, used);
            if used >= self.limits.wake {
                wakes.insert(at, one);
            } else {
                harmless.push(one);
            }
        }
    }

    /// Notes which elements bear contact forces now, so that only later ones count as new touches.
    pub fn note_loaded(&mut self, load: &[LoadRow<S>]) {
        for piece in self.pieces.iter_mut().filter(|piece| !piece.still) {
            let loads = piece.loads(load);
            piece.loaded = loads.iter().map(|one| one.element).collect();
        }
    }

    /// Notes that the stresses of the newest `count` pieces are in balance with the loads that they bear now.
    pub fn note_balance(&mut self, count: usize, load: &[LoadRow<S>]) {
        let from = self.pieces.len() - count;
        for piece in &mut self.pieces[from..] {
            let loads = piece.in_own_frame(piece.loads(load));
            piece.balance(loads);
        }
    }

    /// Notes that these elements were not calm in a step.
    pub fn disturb(&mut self, elements: &[u32], step: u64) {
        for &element in elements {
            self.unrest[element as usize] = step;
            self.watched[element as usize] = Watched::NEVER;
        }
    }

    /// Removes pieces (indices), whose elements are awake from this step on.
    pub fn wake(&mut self, pieces: &[usize], step: u64) {
        let mut at = 0;
        let mut woken = Vec::new();
        self.pieces.retain_mut(|piece| {
            let stays = !pieces.contains(&at);
            at += 1;
            if !stays {
                woken.append(&mut piece.elements);
            }
            stays
        });
        self.disturb(&woken, step);
    }
}

/// An alarm of a load that lasts.
pub fn alarm(piece: usize, reason: SleepReason, use_of_strength: f64) -> Alarm {
    Alarm {
        piece,
        reason,
        use_of_strength,
        is_hit: false,
    }
}

//! Mean loads on colliders and attachments since the previous frame.
//!
//! The mean is over the steps of a frame with the weights of the trapezoidal rule, by which the loads change
//! the momentum: half of the loads at both ends of the frame, all of those between. So the momentum of
//! consecutive frames differs exactly by these loads and gravity.

use glam::DVec3;

use crate::columns::LoadKind;
use crate::simulate::scene::reactions::{MeanWrenches, Supports, Wrench};

/// Load on a collider or an attachment in the last step before a state.
#[derive(Clone, Debug, PartialEq)]
pub struct LastLoad {
    /// Whether it is an attachment.
    pub attachment: bool,
    /// Name of the collider or attachment.
    pub name: String,
    /// Force, N, and torque, N m.
    pub wrench: [f64; 6],
}

/// Loads on all colliders and attachments: of the last step, and summed since the previous frame.
#[derive(Clone, Debug)]
pub struct MeanLoads {
    /// Loads in the last step.
    last: Vec<Wrench>,
    /// Weighted sum over the steps since the previous frame.
    sum: Vec<Wrench>,
    steps: u64,
}

impl MeanLoads {
    /// `count` supports, all loads zero.
    pub fn new(count: usize) -> Self {
        MeanLoads {
            last: vec![Wrench::default(); count],
            sum: vec![Wrench::default(); count],
            steps: 0,
        }
    }

    /// Loads in the last step.
    pub fn last(&self) -> &[Wrench] {
        &self.last
    }

    /// Sets the loads before the first step.
    pub fn start(&mut self, now: Vec<Wrench>) {
        *self = MeanLoads {
            last: now,
            ..MeanLoads::new(self.sum.len())
        };
    }

    /// Adds `steps` steps: `before` is the sum of the loads in all of them except the last, `now` the loads
    /// in the last.
    pub fn add(&mut self, steps: u64, before: &[Wrench], now: Vec<Wrench>) {
        for (k, sum) in self.sum.iter_mut().enumerate() {
            *sum += before[k] + (self.last[k] + now[k]) * 0.5;
        }
        self.last = now;
        self.steps += steps;
    }

    /// Adds `steps` steps, given by the weighted sum of their loads, `sum`; `now` is the load in the last.
    pub fn add_sum(&mut self, steps: u64, sum: &[Wrench], now: Vec<Wrench>) {
        for (total, added) in self.sum.iter_mut().zip(sum) {
            *total += *added;
        }
        self.last = now;
        self.steps += steps;
    }

    /// Returns the mean since the last call and resets it; `None` if there was no step.
    pub fn take(&mut self) -> Option<MeanWrenches> {
        let steps = std::mem::take(&mut self.steps);
        let sum = std::mem::replace(&mut self.sum, vec![Wrench::default(); self.last.len()]);
        let mean = |sum: Wrench| sum * (1.0 / steps as f64);
        (steps > 0).then(|| MeanWrenches {
            wrenches: sum.into_iter().map(mean).collect(),
            steps,
        })
    }

    /// The loads of the last step, to be stored in a state.
    pub fn pack(&self, supports: &Supports) -> Vec<LastLoad> {
        let all = supports.kinds().zip(&self.last);
        all.map(|((kind, _, name), wrench)| LastLoad {
            attachment: kind != LoadKind::Collider,
            name: name.to_owned(),
            wrench: [wrench.force, wrench.torque]
                .map(|v| v.to_array())
                .concat()
                .try_into()
                .expect("two vectors are six numbers"),
        })
        .collect()
    }

    /// Continues from the loads in a state; supports that the state lacks start at zero.
    pub fn unpack(&mut self, supports: &Supports, loads: &[LastLoad]) {
        let last = supports.kinds().enumerate().map(|(at, (kind, _, name))| {
            let same =
                |b: &&LastLoad| b.attachment == (kind != LoadKind::Collider) && b.name == name;
            let mut found = loads.get(at).into_iter().chain(loads);
            found.find(same).map_or(Wrench::default(), |b| {
                let [fx, fy, fz, tx, ty, tz] = b.wrench;
                Wrench {
                    force: DVec3::new(fx, fy, fz),
                    torque: DVec3::new(tx, ty, tz),
                }
            })
        });
        self.start(last.collect());
    }
}

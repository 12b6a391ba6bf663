//! What colliders and attachments bore since the frame before, from step to step.
//!
//! A mean over the steps of a frame, weighted as these kick the elements: half of the load at either end of
//! the frame, all of each load between. So the momentum that a frame shows changes by just these forces and
//! gravity.

use glam::DVec3;

use crate::columns::LoadKind;
use crate::simulate::scene::reactions::{Bearers, Mean, Wrench};

/// Load on a collider or an attachment in the last step of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct LastLoad {
    /// Whether it is an attachment.
    pub attachment: bool,
    /// Name of the collider or attachment.
    pub name: String,
    /// Force, N, and torque, N m.
    pub wrench: [f64; 6],
}

/// Load on each collider and attachment, in the last step and on average.
#[derive(Clone, Debug)]
pub struct MeanLoads {
    /// In the last step.
    last: Vec<Wrench>,
    /// Since the frame before, times steps.
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

    /// Takes what each bears before the first step.
    pub fn start(&mut self, now: Vec<Wrench>) {
        *self = MeanLoads {
            last: now,
            ..MeanLoads::new(self.sum.len())
        };
    }

    /// Takes some steps: the sum over all of them but the last, and the last.
    pub fn add(&mut self, steps: u64, before: &[Wrench], now: Vec<Wrench>) {
        for (k, sum) in self.sum.iter_mut().enumerate() {
            *sum += before[k] + (self.last[k] + now[k]) * 0.5;
        }
        self.last = now;
        self.steps += steps;
    }

    /// Takes some steps of which what each bore is known in sum; `now` is what it bore at the end.
    pub fn add_sum(&mut self, steps: u64, sum: &[Wrench], now: Vec<Wrench>) {
        for (all, more) in self.sum.iter_mut().zip(sum) {
            *all += *more;
        }
        self.last = now;
        self.steps += steps;
    }

    /// The mean since it was taken before; none where no step was.
    pub fn take(&mut self) -> Option<Mean> {
        let steps = std::mem::take(&mut self.steps);
        let sum = std::mem::replace(&mut self.sum, vec![Wrench::default(); self.last.len()]);
        let mean = |sum: Wrench| sum * (1.0 / steps as f64);
        (steps > 0).then(|| Mean {
            wrenches: sum.into_iter().map(mean).collect(),
            steps,
        })
    }

    /// What a state keeps of it at a frame.
    pub fn pack(&self, bearers: &Bearers) -> Vec<LastLoad> {
        let all = bearers.kinds().zip(&self.last);
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

    /// Goes on from a state; what is new in a run has borne nothing yet.
    pub fn unpack(&mut self, bearers: &Bearers, borne: &[LastLoad]) {
        let last = bearers.kinds().enumerate().map(|(at, (kind, _, name))| {
            let same =
                |b: &&LastLoad| b.attachment == (kind != LoadKind::Collider) && b.name == name;
            let mut found = borne.get(at).into_iter().chain(borne);
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

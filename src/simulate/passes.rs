//! The two passes of an explicit step over one chunk of elements: motion, then bonds. Generic in the lane type.

use super::system::{BondClass, CLASS_FIELDS, Load, Motion, Slots, System, Tail, motion};
use crate::columns::BreakMode;
use crate::laws;
use crate::math::{Lanes, Pass, Quat, Real, Scalar, Vec3};

/// Time and fields of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepParameters<S> {
    /// Time step, s.
    pub dt: S,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3<S>,
    /// Global drag, 1/s.
    pub drag: S,
}

/// Kick, drift, turn of a chunk.
pub struct AdvancePass<'a, S> {
    /// Parameters of the step.
    pub step: StepParameters<S>,
    /// Whether velocities are half a step behind and the last step's second kick is still due.
    pub close: bool,
    /// Whether a new step begins: first kick, drift and turn.
    pub open: bool,
    /// Motion of the chunk.
    pub motion: &'a mut [Motion<S>],
    /// Left-over rotations of the chunk.
    pub tail: &'a mut [Tail<S>],
    /// Loads of the chunk.
    pub load: &'a [Load<S>],
}

/// What a pass over a chunk found out about its speeds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Speeds {
    /// Largest |v|², m²/s².
    pub largest_squared: f64,
    /// Not finite when any coordinate, velocity or spin of the chunk is not.
    pub probe: f64,
}

impl<L: Lanes> Pass<L> for AdvancePass<'_, L::Scalar> {
    type Out = Speeds;

    #[inline(always)]
    fn run(self) -> Speeds {
        let dt = L::splat(self.step.dt.to_f64());
        let half = dt * L::splat(0.5);
        let g = splat(self.step.gravity);
        let no_field = Vec3::zero();
        let drag = L::splat(self.step.drag.to_f64());
        let (mut fastest, mut probe) = (L::zero(), L::zero());
        for at in (0..self.motion.len()).step_by(L::WIDTH) {
            let mut row: [L; 16] = L::load_rows(&self.motion[at..]);
            let mut tail: [L; 4] = L::load_rows(&self.tail[at..]);
            let load: [L; 8] = L::load_rows(&self.load[at..]);
            let (force, torque) = (vector(&load, 0), vector(&load, 4));
            let mut v = vector(&row, motion::V);
            let mut w = vector(&row, motion::W);
            if self.close {
                v = laws::motion::kick(v, force, load[3], g, drag, half);
                w = laws::motion::kick(w, torque, load[7], no_field, drag, half);
            }
            if self.open {
                v = laws::motion::kick(v, force, load[3], g, drag, half);
                w = laws::motion::kick(w, torque, load[7], no_field, drag, half);
                let moved = v * dt;
                for (k, step) in [moved.x, moved.y, moved.z].into_iter().enumerate() {
                    let (high, low) = (motion::P + k, motion::LOW[k]);
                    (row[high], row[low]) = laws::motion::add_to_pair(row[high], row[low], step);
                }
                let (q, left) = laws::motion::turn(quaternion(&row), vector(&tail, 0), w * dt);
                put(&mut row, motion::Q, q.v);
                row[motion::Q + 3] = q.w;
                put(&mut tail, 0, left);
                L::store_rows(tail, &mut self.tail[at..]);
            }
            put(&mut row, motion::V, v);
            put(&mut row, motion::W, w);
            L::store_rows(row, &mut self.motion[at..]);
            let speed = v.dot(v);
            fastest = fastest.max(speed);
            // Zero times a finite number is zero; anything else spreads.
            probe = probe + (speed + w.dot(w) + row[0] + row[1] + row[2]) * L::zero();
        }
        let mut lanes = vec_of::<L>();
        fastest.store(&mut lanes);
        let largest_squared = lanes.iter().map(|s| s.to_f64()).fold(0.0, f64::max);
        probe.store(&mut lanes);
        Speeds {
            largest_squared,
            probe: lanes[..L::WIDTH].iter().map(|s| s.to_f64()).sum(),
        }
    }
}

/// A bond found beyond its strength, told by the end with the lower index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakEvent {
    /// Element with the lower index.
    pub element: u32,
    /// Its slot.
    pub slot: u32,
    /// Normal stress, Pa.
    pub sigma: f64,
    /// Shear stress, Pa.
    pub tau: f64,
    /// Strength that was passed.
    pub mode: BreakMode,
}

/// Bond loads of a chunk: every element gathers its own bonds, slot after slot.
pub struct BondPass<'a, S> {
    /// First element of the chunk.
    pub first: usize,
    /// Loads of the chunk; written.
    pub load: &'a mut [Load<S>],
    /// Motion of all elements.
    pub motion: &'a [Motion<S>],
    /// Left-over rotation of all elements.
    pub tail: &'a [Tail<S>],
    /// Bonds.
    pub slots: &'a Slots<S>,
    /// Kinds of bonds.
    pub classes: &'a [BondClass<S>],
    /// Bonds that break in this step.
    pub breaks: &'a mut Vec<BreakEvent>,
}

impl<L: Lanes> Pass<L> for BondPass<'_, L::Scalar> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let slots = self.slots;
        for at in (0..self.load.len()).step_by(L::WIDTH) {
            let i = self.first + at;
            let own: [L; 16] = L::load_rows(&self.motion[i..]);
            let own_tail: [L; 4] = L::load_rows(&self.tail[i..]);
            let whole = &slots.whole[i..i + L::WIDTH];
            let any = whole.iter().fold(0, |all, bits| all | bits);
            let mut force = Vec3::<L>::zero();
            let mut torque = Vec3::<L>::zero();
            for slot in 0..slots.slots {
                if any >> slot & 1 == 0 {
                    continue;
                }
                let mut bits = 0;
                for (lane, mask) in whole.iter().enumerate() {
                    bits |= (mask >> slot & 1) << lane;
                }
                let entry = slots.at(slot, i);
                let other = &slots.neighbour[entry..entry + L::WIDTH];
                let row: [L; 16] = L::gather(self.motion, other);
                let tail: [L; 4] = L::gather(self.tail, other);
                let length = L::load(&slots.length[entry..]);
                let direction = Vec3::new(
                    L::load(&slots.direction[0][entry..]),
                    L::load(&slots.direction[1][entry..]),
                    L::load(&slots.direction[2][entry..]),
                );
                let class = class_lanes::<L>(&slots.class[entry..entry + L::WIDTH], self.classes);

                let x = laws::motion::separation(
                    vector(&own, motion::P),
                    low(&own),
                    vector(&row, motion::P),
                    low(&row),
                );
                let unapplied = vector(&tail, 0) - vector(&own_tail, 0);
                let load = laws::bdem::bond(
                    x,
                    quaternion(&own),
                    quaternion(&row),
                    unapplied,
                    direction,
                    length,
                    class.stiffness(length),
                );
                let (w_i, w_j) = (vector(&own, motion::W), vector(&row, motion::W));
                let (damp, damp_arm, damp_spin) = laws::damping::bond(
                    x,
                    vector(&own, motion::V) - vector(&row, motion::V),
                    w_i,
                    w_j,
                    class.damping,
                    class.spin_damping,
                );
                let mask = L::mask(bits);
                let none = Vec3::zero();
                force = force + Vec3::select(mask, load.force + damp, none);
                let moment = (load.shear_moment + damp_arm) + (load.moment + damp_spin);
                torque = torque + Vec3::select(mask, moment, none);

                let sigma_c = L::load(&slots.sigma_c[entry..]);
                let tau_c = L::load(&slots.tau_c[entry..]);
                let near = laws::failure::may_exceed(&load, &class.section, sigma_c, tau_c);
                if L::bits(mask & near) == 0 {
                    continue;
                }
                let (sigma, tau) = laws::failure::stress(&load, &class.section);
                let broken = L::bits(mask & (sigma_c.lt(sigma) | tau_c.lt(tau)));
                if broken != 0 {
                    let (mut s, mut t) = (vec_of::<L>(), vec_of::<L>());
                    sigma.store(&mut s);
                    tau.store(&mut t);
                    for lane in (0..L::WIDTH).filter(|lane| broken >> lane & 1 != 0) {
                        if other[lane] as usize > i + lane {
                            let sigma = s[lane].to_f64();
                            self.breaks.push(BreakEvent {
                                element: (i + lane) as u32,
                                slot: slot as u32,
                                sigma,
                                tau: t[lane].to_f64(),
                                mode: if sigma > slots.sigma_c[entry + lane].to_f64() {
                                    BreakMode::Tension
                                } else {
                                    BreakMode::Shear
                                },
                            });
                        }
                    }
                }
            }
            let mut out: [L; 8] = L::load_rows(&self.load[at..]);
            put(&mut out, 0, force);
            put(&mut out, 4, torque);
            L::store_rows(out, &mut self.load[at..]);
        }
    }
}

/// The bond class of each lane; classes rarely differ within a row of lanes.
#[inline(always)]
fn class_lanes<L: Lanes>(class: &[u32], classes: &[BondClass<L::Scalar>]) -> BondClass<L> {
    if class.iter().all(|&k| k == class[0]) {
        return classes[class[0] as usize].map(|value| L::splat(value.to_f64()));
    }
    let mut fields = [vec_of::<L>(); CLASS_FIELDS];
    for (lane, &k) in class.iter().enumerate() {
        let mut field = 0;
        classes[k as usize].map(|value| {
            fields[field][lane] = value;
            field += 1;
            value
        });
    }
    let mut field = 0;
    classes[class[0] as usize].map(|_| {
        field += 1;
        L::load(&fields[field - 1])
    })
}

/// Room for the lanes of any type.
#[inline(always)]
fn vec_of<L: Lanes>() -> [L::Scalar; 16] {
    [L::Scalar::default(); 16]
}

#[inline(always)]
fn splat<L: Lanes>(v: Vec3<L::Scalar>) -> Vec3<L> {
    Vec3::new(
        L::splat(v.x.to_f64()),
        L::splat(v.y.to_f64()),
        L::splat(v.z.to_f64()),
    )
}

#[inline(always)]
fn vector<L: Real, const C: usize>(row: &[L; C], at: usize) -> Vec3<L> {
    Vec3::new(row[at], row[at + 1], row[at + 2])
}

#[inline(always)]
fn low<L: Real>(row: &[L; 16]) -> Vec3<L> {
    Vec3::new(
        row[motion::LOW[0]],
        row[motion::LOW[1]],
        row[motion::LOW[2]],
    )
}

#[inline(always)]
fn quaternion<L: Real>(row: &[L; 16]) -> Quat<L> {
    let q = motion::Q;
    Quat::new(row[q], row[q + 1], row[q + 2], row[q + 3])
}

#[inline(always)]
fn put<L: Real, const C: usize>(row: &mut [L; C], at: usize, v: Vec3<L>) {
    (row[at], row[at + 1], row[at + 2]) = (v.x, v.y, v.z);
}

impl<S: Scalar> System<S> {
    /// The bond in a slot, evaluated for one element: its load, stress and nominal energy.
    pub fn evaluate(&self, element: usize, slot: usize) -> (laws::bdem::BondLoad<S>, S, S, S) {
        let at = self.slots.at(slot, element);
        let other = self.slots.neighbour[at] as usize;
        let (own, row) = (&self.motion[element].0, &self.motion[other].0);
        let class = &self.classes[self.slots.class[at] as usize];
        let k = class.stiffness(self.slots.length[at]);
        let x = laws::motion::separation(
            vector(own, motion::P),
            low(own),
            vector(row, motion::P),
            low(row),
        );
        let unapplied = vector(&self.tail[other].0, 0) - vector(&self.tail[element].0, 0);
        let load = laws::bdem::bond(
            x,
            self.quaternion(element),
            self.quaternion(other),
            unapplied,
            self.slots.rest_direction(at),
            self.slots.length[at],
            k,
        );
        let (sigma, tau) = laws::failure::stress(&load, &class.section);
        let energy = laws::bdem::linear_energy(&load, self.slots.length[at], k);
        (load, sigma, tau, energy)
    }
}

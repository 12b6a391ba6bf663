//! A contact of a sleeping piece, evaluated alone and in double precision, by the laws of all other contacts.

use glam::DVec3;

use crate::laws::contact::{self, ContactParameters, ContactState};
use crate::laws::rolling::{self, RollingParameters};
use crate::laws::{static_friction, work};
use crate::math::{Scalar, Vec3};
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::contact::soft::{STIFF_SPEED, SoftLaw, softened, with_normal};
use crate::simulate::contact::suspend::SuspendedContact;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::sleep::course::{Course, Hit, Touch};
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::sides::{Partner, Place, Stance};

/// Distance, over its radius, that an element may move along a mesh until its nearest triangles are searched
/// again.
const NEAR_SLACK: f64 = 0.05;

/// Part of its kinetic energy that an element may lose as its contact becomes soft.
const LOST: f64 = 1e-4;
/// Overlap over the radius that the force of a contact may lead to once it is soft.
const SETTLED: f64 = 0.05;
/// Part of its stiffness that this may need: a contact that is pressed harder stays stiff.
const PART: f64 = 1.0 / 16.0;

/// A contact of an element of an island.
#[derive(Clone, Debug)]
pub struct Joint<S> {
    /// As it was listed.
    pub listed: SuspendedContact<S>,
    /// Whether its sides are exchanged, so that the element belongs to the island.
    pub is_exchanged: bool,
    /// The element.
    pub own: Place,
    /// Its partner.
    pub partner: Partner,
    /// What changes from step to step.
    pub now: Course,
    /// Parameters while it is stiff.
    stiff: ContactParameters<f64>,
    /// Parameters while it is soft and hardly overlaps.
    softest: ContactParameters<f64>,
    /// Its law while it is soft.
    soft_law: SoftLaw,
}

impl<S: Scalar> Joint<S> {
    /// A contact that was suspended.
    pub fn new(
        listed: SuspendedContact<S>,
        is_exchanged: bool,
        own: Place,
        partner: Partner,
    ) -> Self {
        let memory = match is_exchanged {
            true => listed.memory.mirrored(),
            false => listed.memory,
        };
        let wide = |v: [S; 3]| Vec3::from_f64(v.map(Scalar::to_f64));
        let [r_i, r_j] = listed.radii;
        let stiff = match listed.soft {
            true => with_normal(listed.k, listed.stiff),
            false => listed.k,
        };
        let softest = softened(stiff, r_i.min(r_j), listed.inverse_mass);
        let soft_law = SoftLaw::new((softest.normal, stiff.normal), r_i.min(r_j));
        Joint {
            stiff,
            softest,
            soft_law,
            now: Course {
                spring: wide(memory.spring),
                roll: wide(memory.roll),
                slides: memory.slides,
                touches: false,
                overlap: 0.0,
                soft: listed.soft,
                k: listed.k,
                stiffest: stiff.normal,
                clear_until: 0,
                calm_until: 0,
                calm: 0.0,
                speed: 0.0,
                onset: 0.0,
                normal: DVec3::ZERO,
                dissipated: [0.0; 2],
                force: DVec3::ZERO,
                torques: [DVec3::ZERO; 2],
                arms: [DVec3::ZERO; 2],
            },
            listed,
            is_exchanged,
            own,
            partner,
        }
    }

    /// The element and its partner.
    pub fn ends(&self) -> [u32; 2] {
        match self.is_exchanged {
            true => [self.listed.partner, self.listed.element],
            false => [self.listed.element, self.listed.partner],
        }
    }

    /// Whether the partner belongs to this piece of the island.
    pub fn is_with(&self, member: usize) -> bool {
        matches!(self.partner, Partner::Member(other) if other.member == member)
    }

    /// Radii of the element and of its partner, m.
    fn radii(&self) -> [f64; 2] {
        let [r_i, r_j] = self.listed.radii;
        match self.is_exchanged {
            true => [r_j, r_i],
            false => [r_i, r_j],
        }
    }

    /// Its normal stiffness now, N/m.
    pub fn stiffness(&self) -> f64 {
        self.now.k.normal
    }

    /// Square of the frequency with which a piece of the island vibrates on it, 1/s², an upper bound; `arm` is that of
    /// the contact about its centre, m.
    pub fn rate(&self, member: usize, arm: DVec3, pieces: &[&mut Piece]) -> f64 {
        let (now, body) = (&self.now, &pieces[member].body);
        let turning = arm.length_squared() * body.top.largest_inverse();
        self.sides() * now.stiffest.max(now.k.tangential) * (body.inverse_mass + turning)
    }

    /// Rate at which it damps the motion of a piece of the island, 1/s, an upper bound; `arm` as for
    /// [`rate`](Self::rate).
    pub fn damping_rate(&self, member: usize, arm: DVec3, pieces: &[&mut Piece]) -> f64 {
        let (now, body) = (&self.now, &pieces[member].body);
        let turning = arm.cross(now.normal).length_squared() * body.top.largest_inverse();
        self.sides() * now.k.damping * (body.inverse_mass + turning)
    }

    /// A partner that yields as well makes it twice as stiff.
    fn sides(&self) -> f64 {
        match self.partner {
            Partner::Member(..) => 2.0,
            Partner::Still(..) | Partner::Collider(..) => 1.0,
        }
    }

    /// Whether it touches and is soft.
    pub fn is_soft(&self) -> bool {
        self.now.soft && self.now.touches
    }

    /// Bound on the force of a touch of rigid pieces at this closing speed (m/s) if it were stiff, N, and the elastic
    /// energy that the contact has under this force, J. It is damped as one of awake elements, the sum of whose inverse
    /// masses (1/kg) is given.
    pub fn peak(&self, closing: f64, of_elements: f64) -> (f64, f64) {
        let (k, of_pieces) = (&self.stiff, self.listed.inverse_mass);
        let damping = k.damping * k.damping * of_pieces / of_elements;
        let force = closing * (k.normal / of_pieces + damping).sqrt();
        (force, 0.5 * force * force / k.normal)
    }

    /// Force on the element without what damping adds to it, which grows with the mass of the pieces, N.
    pub fn undamped_force(&self) -> DVec3 {
        let now = &self.now;
        let added = now.force.dot(now.normal) - now.k.normal * now.overlap;
        now.force - added.max(0.0) * now.normal
    }

    /// Its elastic energy, J.
    pub fn energy(&self) -> f64 {
        let now = &self.now;
        let rolling = self.rolling().map(|k| rolling::energy(now.roll, k));
        contact::energy(now.overlap, now.spring, now.k) + rolling.unwrap_or(0.0)
    }

    /// Force and torque on its partner, a collider.
    pub fn on_collider(&self) -> Wrench {
        let [torque, _] = self.now.torques;
        Wrench::at(self.now.arms[1], -self.now.force, -torque)
    }

    /// Its history, as it was listed.
    pub fn memory(&self) -> Memory<S> {
        let narrow = |v: Vec3<f64>| [v.x, v.y, v.z].map(S::from_f64);
        let memory = Memory {
            spring: narrow(self.now.spring),
            roll: narrow(self.now.roll),
            slides: self.now.slides,
        };
        match self.is_exchanged {
            true => memory.mirrored(),
            false => memory,
        }
    }

    /// Evaluates the contact after a step of `dt` (s), which its springs follow; `account`: whether dissipated
    /// energy is summed.
    pub fn evaluate(
        &mut self,
        (stances, colliders): (&[Stance], &[PosedCollider]),
        dt: f64,
        account: bool,
    ) -> Touch {
        let own = &stances[self.own.member];
        let arm = own.turn * self.own.arm;
        let place = own.centre + arm;
        self.now.arms[0] = arm;
        let velocity = own.velocity + own.spin.cross(arm);
        let (spin, [r_i, r_j]) = (own.spin, self.radii());
        let (x, arms, touch, other_velocity, other_spin) = match &mut self.partner {
            Partner::Collider(collider, near) => {
                let collider = &colliders[*collider];
                let (pose, solid) = (&collider.pose, &collider.solid);
                pose.refresh_near(solid, place, NEAR_SLACK * r_i, near);
                let (distance, normal, velocity) = pose.surface_near(solid, place, near);
                let wall = contact::wall(distance, vec(normal), r_i);
                self.now.arms[1] = place - pose.position;
                (wall.x, (wall.arm, 0.0), wall.touch, velocity, DVec3::ZERO)
            }
            other => {
                let (there, velocity, spin) = match other {
                    Partner::Member(at) => {
                        let other = &stances[at.member];
                        let arm = other.turn * at.arm;
                        self.now.arms[1] = arm;
                        let velocity = other.velocity + other.spin.cross(arm);
                        (other.centre + arm, velocity, other.spin)
                    }
                    Partner::Still(still) => (still.place, DVec3::ZERO, DVec3::ZERO),
                    Partner::Collider(..) => unreachable!("colliders were treated above"),
                };
                let x = vec(place - there);
                let touch = self.listed.touch.to_f64();
                (x, contact::arms(x, r_i, r_j), touch, velocity, spin)
            }
        };
        let state = ContactState {
            x,
            v: vec(velocity - other_velocity),
            w_i: vec(spin),
            w_j: vec(other_spin),
            arm_i: arms.0,
            arm_j: arms.1,
            touch,
            spring: self.now.spring,
        };
        self.load(state, dt, account)
    }

    fn load(&mut self, state: ContactState<f64>, dt: f64, account: bool) -> Touch {
        let length = state.x.norm();
        let gap = length - state.touch;
        let begins = !self.now.touches && dt > 0.0;
        self.soften((state.v, -state.v.dot(state.x) / length), gap, begins);
        let rolling = self.rolling();
        let now = &mut self.now;
        let k = now.k;
        now.speed = state.v.norm();
        now.normal = dvec(state.x) / length;
        if gap >= 0.0 && !now.touches {
            return Touch::Apart(gap);
        }
        let load = match self.listed.static_friction > k.friction {
            false => contact::pair(state, dt, k),
            true => {
                let (most, slid) = (self.listed.static_friction, now.slides);
                let (load, slides) = static_friction::pair(state, dt, k, most, slid);
                now.slides = slides;
                load
            }
        };
        let w = state.w_i - state.w_j;
        let mut moment = Vec3::zero();
        if account {
            let done = work::ContactOutcome {
                force: load.force,
                overlap: load.overlap,
                spring: load.spring,
            };
            let lost = work::contact(&state, done, dt, self.listed.inverse_mass, k);
            now.dissipated[0] += lost.0;
            now.dissipated[1] += lost.1;
        }
        if let Some(parameters) = rolling {
            let rolled = rolling::rolling((state.x, load.force), w, now.roll, dt, parameters);
            if account {
                let lost = work::rolling(state.x, w, now.roll, rolled, dt, parameters);
                now.dissipated[0] += lost.0;
                now.dissipated[1] += lost.1;
            }
            (moment, now.roll) = (rolled.moment, rolled.spring);
        }
        (now.spring, now.overlap) = (load.spring, load.overlap);
        now.force = dvec(load.force);
        let [couple, moment] = [dvec(load.couple), dvec(moment)];
        now.torques = [couple * state.arm_i + moment, couple * state.arm_j - moment];
        let was = std::mem::replace(&mut now.touches, gap < 0.0);
        match (was, now.touches) {
            (_, false) => Touch::Apart(gap),
            (true, true) => Touch::Lasting,
            (false, true) => Touch::New(Hit {
                closing: -state.v.dot(state.x) / length,
                normal: now.normal,
            }),
        }
    }

    /// Its rolling resistance, if it has any.
    fn rolling(&self) -> Option<RollingParameters<f64>> {
        let SuspendedContact { rolling, radii, .. } = self.listed;
        let k = match self.now.soft {
            true => self.softest,
            false => self.stiff,
        };
        (rolling > 0.0).then(|| rolling::parameters(k, rolling, radii[0], radii[1]))
    }

    /// Makes the contact soft if that costs little energy, which counts as damped, or its force is small; or stiff, if
    /// it is apart and closes fast. `v` is the velocity of its sides to each other, `closing` the speed at which they
    /// approach, m/s.
    ///
    /// A contact that touches and closes becomes soft only if it begins to touch (`begins`), when the force that it
    /// would have if it were stiff is judged.
    fn soften(&mut self, (v, closing): (Vec3<f64>, f64), gap: f64, begins: bool) {
        let (overlap, radius) = (
            -gap.min(0.0),
            self.listed.radii[0].min(self.listed.radii[1]),
        );
        let (stiff, softest) = (&self.stiff, &self.softest);
        if !self.now.soft || gap >= 0.0 {
            let kinetic = v.dot(v) / self.listed.inverse_mass;
            let settled = stiff.normal * overlap / (SETTLED * radius);
            let is_little = stiff.normal * overlap * overlap <= LOST * kinetic
                || settled <= softest.normal.max(PART * stiff.normal);
            let is_judged = gap >= 0.0 || closing <= 0.0 || begins;
            self.now.soft = is_little && is_judged && closing < STIFF_SPEED;
            if self.now.soft && overlap > 0.0 {
                let spring = self.now.spring;
                let lost = 0.5 * stiff.normal * overlap * overlap
                    - self.soft_law.at(overlap).energy
                    + 0.5 * (stiff.tangential - softest.tangential) * spring.dot(spring);
                self.now.dissipated[0] += lost;
            }
        }
        if !self.now.soft {
            (self.now.k, self.now.stiffest) = (*stiff, stiff.normal);
            return;
        }
        let now = self.soft_law.at(overlap);
        // As far as the pieces' motion takes it at most.
        let rate = softest.normal * self.listed.inverse_mass;
        let approach = closing.max(0.0);
        let deepest = (overlap * overlap + approach * approach / rate).sqrt();
        self.now.k = ContactParameters {
            tangential: softest.tangential,
            ..with_normal(*stiff, now.secant)
        };
        self.now.stiffest = self.soft_law.at(deepest).tangent;
    }
}

fn vec(v: DVec3) -> Vec3<f64> {
    Vec3::new(v.x, v.y, v.z)
}

fn dvec(v: Vec3<f64>) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

#[cfg(test)]
mod tests {
    use super::{ContactParameters, Joint, Partner, Place};
    use crate::simulate::contact::chunk::COLLIDER;
    use crate::simulate::contact::suspend::SuspendedContact;

    /// Stiffness, N/m, damping ratio, and inverse masses of a piece and of one of its elements, 1/kg.
    const STIFFNESS: f64 = 1e6;
    const RATIO: f64 = 0.8;
    const INVERSE: [f64; 2] = [2.0, 2e3];

    fn joint() -> Joint<f64> {
        let damping = |inverse: f64| 2.0 * RATIO * (STIFFNESS / inverse).sqrt();
        let listed = SuspendedContact {
            element: 0,
            partner: COLLIDER,
            touch: 0.0,
            radii: [1e-3; 2],
            k: ContactParameters {
                normal: STIFFNESS,
                tangential: 0.0,
                friction: 0.0,
                damping: damping(INVERSE[0]),
            },
            static_friction: 0.0,
            rolling: 0.0,
            inverse_mass: INVERSE[0],
            memory: Default::default(),
            soft: false,
            stiff: STIFFNESS,
        };
        let own = Place {
            member: 0,
            arm: glam::DVec3::ZERO,
        };
        let wall = Partner::Collider(0, Default::default());
        Joint::new(listed, false, own, wall)
    }

    #[test]
    fn the_peak_of_a_touch_is_that_of_a_piece_on_the_contact_of_one_of_its_elements() {
        let closing = 0.3;
        let (bound, energy) = joint().peak(closing, INVERSE[1]);
        let damping = 2.0 * RATIO * (STIFFNESS / INVERSE[1]).sqrt();
        let (mut x, mut v, mut most) = (0.0, closing, 0.0_f64);
        let dt = 1e-4 / (STIFFNESS * INVERSE[0]).sqrt();
        while v > 0.0 {
            let force = STIFFNESS * x + damping * v;
            most = most.max(force);
            v -= force * INVERSE[0] * dt;
            x += v * dt;
        }
        assert!((most..1.05 * most).contains(&bound), "{bound} {most}");
        assert_eq!(energy, 0.5 * bound * bound / STIFFNESS);
    }

    #[test]
    fn what_damping_adds_to_a_force_does_not_count() {
        let mut joint = joint();
        let now = &mut joint.now;
        (now.normal, now.overlap) = (glam::DVec3::Y, 1e-6);
        for (normal, undamped) in [(3.0, 1.0), (0.4, 0.4)] {
            joint.now.force = glam::DVec3::new(0.2, normal, 0.0);
            let expected = glam::DVec3::new(0.2, undamped, 0.0);
            assert!((joint.undamped_force() - expected).length() < 1e-12);
        }
    }
}

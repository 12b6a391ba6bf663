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

/// What changes in a contact from step to step.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Tangential spring, m.
    spring: Vec3<f64>,
    /// Rolling spring, rad.
    roll: Vec3<f64>,
    /// Whether it slides; only with static friction.
    slides: bool,
    /// Whether it touches.
    pub touches: bool,
    /// Overlap, m, while it touches.
    overlap: f64,
    /// Whether it has become soft.
    soft: bool,
    /// Parameters of its law.
    k: ContactParameters<f64>,
    /// Largest normal stiffness that it soon may have, N/m.
    stiffest: f64,
    /// Step until which it certainly does not touch.
    pub clear_until: u64,
    /// Step until which it does not touch either, as long as the change of the velocities of its pieces since the start
    /// of the island is at most `calm`.
    pub calm_until: u64,
    /// See `calm_until`, m/s.
    pub calm: f64,
    /// Speed of its sides relative to each other when it was last looked at, m/s.
    pub speed: f64,
    /// Square of the frequency that it would have if it touched, 1/s², when it was last found apart.
    pub onset: f64,
    /// Direction of the force on the element when it was last looked at.
    normal: DVec3,
    /// Energy dissipated by damping and by friction, J.
    pub dissipated: [f64; 2],
    /// Force on the element, N; the opposite acts on the partner.
    pub force: DVec3,
    /// Torques on the element and on its partner, N m.
    pub torques: [DVec3; 2],
    /// From the centre of mass of the element's piece to the element, and the same for its partner, m.
    pub arms: [DVec3; 2],
}

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

/// A new touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Closing speed, m/s.
    pub closing: f64,
    /// Direction of the force on the element.
    pub normal: DVec3,
}

/// What was found about a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// The gap is this wide, m.
    Apart(f64),
    /// It begins to touch.
    New(Hit),
    /// It goes on.
    Lasting,
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

    /// Bound on the force of a touch at this closing speed (m/s) if it were stiff, N; zero if it is.
    pub fn peak(&self, closing: f64) -> f64 {
        match self.now.soft {
            true => {
                let k = &self.stiff;
                let elastic = k.normal / self.listed.inverse_mass;
                closing * (elastic + k.damping * k.damping).sqrt()
            }
            false => 0.0,
        }
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
        self.soften((state.v, -state.v.dot(state.x) / length), gap);
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
    fn soften(&mut self, (v, closing): (Vec3<f64>, f64), gap: f64) {
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
            self.now.soft = is_little && closing < STIFF_SPEED;
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

//! How specimens are loaded: pulled, crushed, bent or twisted; what moves their elements, and what is measured.

use glam::DVec3;

use crate::columns::Loads;
use crate::math::regression::slope;

/// Length over width of a bar, with its clamps.
const BAR: f64 = 3.5;
/// Length over width of a prism, with its clamps.
const PRISM: f64 = 2.5;
/// Torsion of a square section of width a (Saint-Venant): torque over G a⁴ × twist per length.
const TORSION_STIFFNESS: f64 = 0.140_577;
/// Torque over a³ × largest shear stress.
const TORSION_STRENGTH: f64 = 0.208_174;

/// How the ends of a specimen are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Pull,
    Crush,
    /// Both ends are turned about the second axis across the specimen, in opposite senses.
    Bend,
    /// Both ends are turned about the length of the specimen, in opposite senses.
    Twist,
}

/// A square specimen under load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) load: Load,
    /// Its length, then the two axes across.
    pub(super) axes: [usize; 3],
    /// Width and height, m.
    pub(super) width: f64,
    /// Where the held ends begin, from the middle, m.
    pub(super) grip: f64,
    /// Rate of the strain, 1/s; of that at the surface if it is bent or twisted.
    pub(super) rate: f64,
    pub(super) poisson: f64,
}

/// Stress and strains, positive under tension. A bent bar has those of a fibre at the surface, a twisted one the shear
/// in the middle of a side as `stress` and `along`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Pa.
    pub(super) stress: f64,
    pub(super) along: f64,
    pub(super) across: f64,
}

impl Load {
    /// Length over width, with the clamps.
    pub(super) fn slenderness(self) -> f64 {
        match self {
            Load::Pull | Load::Bend | Load::Twist => BAR,
            Load::Crush => PRISM,
        }
    }

    /// A test ends when the load falls below this part of its largest value. The parts of a broken bar may brace each
    /// other when they are turned on, and bear more than the bar did.
    pub(super) fn fallen(self) -> f64 {
        match self {
            Load::Pull | Load::Crush => 0.5,
            Load::Bend | Load::Twist => 0.95,
        }
    }
}

impl Loaded {
    /// Coordinates along the axes of the specimen.
    fn local(&self, p: DVec3) -> [f64; 3] {
        self.axes.map(|axis| p[axis])
    }

    fn global(&self, local: [f64; 3]) -> DVec3 {
        let mut out = DVec3::ZERO;
        for (axis, value) in self.axes.into_iter().zip(local) {
            out[axis] = value;
        }
        out
    }

    /// Curvature, or twist per length, over the strain at the surface, 1/m.
    fn turn_over_strain(&self) -> f64 {
        match self.load {
            Load::Pull | Load::Crush => 0.0,
            Load::Bend => 2.0 / self.width,
            Load::Twist => TORSION_STRENGTH / TORSION_STIFFNESS / self.width,
        }
    }

    /// Area, m², or section modulus, m³: force, moment or torque over the stress of a [`Reading`].
    fn section(&self) -> f64 {
        match self.load {
            Load::Pull | Load::Crush => self.width.powi(2),
            Load::Bend => self.width.powi(3) / 6.0,
            Load::Twist => TORSION_STRENGTH * self.width.powi(3),
        }
    }

    /// Moment or torque over the angle by which half a bent or twisted bar turns, N m; infinite for others.
    /// `young`: its modulus, Pa.
    pub(super) fn stiffness(&self, young: f64) -> f64 {
        let modulus = match self.load {
            Load::Twist => 0.5 * young / (1.0 + self.poisson),
            Load::Pull | Load::Crush | Load::Bend => young,
        };
        modulus * self.section() / (self.grip * self.turn_over_strain())
    }

    /// Velocity, m/s, and angular velocity, rad/s, of a place at rest of a specimen that is strained evenly.
    pub(super) fn motion(&self, place: DVec3) -> (DVec3, DVec3) {
        let (rate, poisson) = (self.rate, self.poisson);
        let [s, t, b] = self.local(place);
        let turn = rate * self.turn_over_strain();
        let (v, w) = match self.load {
            Load::Pull | Load::Crush => {
                let across = -poisson * rate;
                ([s * rate, t * across, b * across], [0.0; 3])
            }
            Load::Bend => {
                let sag = 0.5 * (s * s - self.grip * self.grip);
                let bow = 0.5 * poisson * (t * t - b * b);
                (
                    [-turn * s * t, turn * (sag + bow), turn * poisson * t * b],
                    [turn * poisson * b, 0.0, turn * s],
                )
            }
            Load::Twist => (
                [0.0, -turn * s * b, turn * s * t],
                [turn * s, -0.5 * turn * t, -0.5 * turn * b],
            ),
        };
        (self.global(v), self.global(w))
    }

    /// Velocity and angular velocity of the end on a side (−1 or 1), about the middle of the section where the grip
    /// begins.
    pub(super) fn end_motion(&self, side: f64) -> (DVec3, DVec3) {
        let turn = side * self.grip * self.rate * self.turn_over_strain();
        match self.load {
            Load::Pull | Load::Crush => {
                let along = side * self.rate * self.grip;
                (self.global([along, 0.0, 0.0]), DVec3::ZERO)
            }
            Load::Bend => (DVec3::ZERO, self.global([0.0, 0.0, turn])),
            Load::Twist => (DVec3::ZERO, self.global([turn, 0.0, 0.0])),
        }
    }

    /// Stress and strains; `moved` are the places at rest of the elements in the middle, with their displacements.
    pub(super) fn read(
        &self,
        loads: &Loads,
        moved: impl Iterator<Item = (DVec3, DVec3)> + Clone,
    ) -> Reading {
        let local = moved.map(|(rest, u)| (self.local(rest), self.local(u)));
        let force = [&loads.fx, &loads.fy, &loads.fz];
        let torque = [&loads.tx, &loads.ty, &loads.tz];
        let fit = |x: fn([f64; 3]) -> f64, y: fn([f64; 3]) -> f64| {
            slope(local.clone().map(|(rest, u)| (x(rest), y(u))))
        };
        match self.load {
            Load::Pull | Load::Crush => Reading {
                stress: mean_reaction(force[self.axes[0]], loads) / self.section(),
                along: fit(|p| p[0], |u| u[0]),
                across: 0.5 * (fit(|p| p[1], |u| u[1]) + fit(|p| p[2], |u| u[2])),
            },
            Load::Bend => Reading {
                stress: mean_reaction(torque[self.axes[2]], loads) / self.section(),
                along: -fit(|p| p[0] * p[1], |u| u[0]) / self.turn_over_strain(),
                across: -fit(|p| p[1] * p[2], |u| u[2]) / self.turn_over_strain(),
            },
            Load::Twist => {
                let twist =
                    0.5 * (fit(|p| -p[0] * p[2], |u| u[1]) + fit(|p| p[0] * p[1], |u| u[2]));
                Reading {
                    stress: mean_reaction(torque[self.axes[0]], loads) / self.section(),
                    along: twist / self.turn_over_strain(),
                    across: 0.0,
                }
            }
        }
    }
}

/// Names of the attachments at the low and the high end.
pub(super) const ENDS: [&str; 2] = ["low", "high"];

/// Mean reaction of both ends along one axis, N or N m; positive where the high end is pulled or turned in the
/// positive sense.
pub(super) fn mean_reaction(column: &[f64], loads: &Loads) -> f64 {
    let [low, high] = ENDS.map(|end| {
        let row = loads.name.iter().position(|name| name == end);
        column[row.expect("a row for each end")]
    });
    0.5 * (low - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(load: Load) -> Loaded {
        Loaded {
            load,
            axes: [1, 2, 0],
            width: 0.2,
            grip: 0.3,
            rate: 2.0,
            poisson: 0.25,
        }
    }

    #[test]
    fn the_strains_measured_are_those_of_the_motion() {
        let places = || (0..60).map(|k| f64::from(k) * DVec3::new(0.37, 0.71, 0.53) % DVec3::ONE);
        let places = || places().map(|p| 0.2 * (p - 0.5));
        for (load, across) in [
            (Load::Pull, -0.5),
            (Load::Crush, -0.5),
            (Load::Bend, -0.5),
            (Load::Twist, 0.0),
        ] {
            let bar = loaded(load);
            let loads = Loads {
                name: vec!["low".into(), "high".into()],
                fx: vec![0.0; 2],
                fy: vec![3.0, -3.0],
                fz: vec![0.0; 2],
                tx: vec![2.0, -2.0],
                ty: vec![1.0, -1.0],
                tz: vec![0.0; 2],
                ..Loads::default()
            };
            let moved = places().map(|p| (p, bar.motion(p).0));
            let found = bar.read(&loads, moved);
            let stress = match load {
                Load::Pull | Load::Crush => 3.0 / 0.04,
                Load::Bend => 6.0 * 2.0 / 0.008,
                Load::Twist => 1.0 / (0.208_174 * 0.008),
            };
            let off = [
                found.stress / stress - 1.0,
                found.along - 2.0,
                found.across - across,
            ];
            assert!(off.iter().all(|x| x.abs() < 1e-9), "{load:?} {off:?}");
        }
    }

    #[test]
    fn the_moment_that_turns_an_end_is_that_of_the_stress() {
        let young = 7.0;
        for (load, modulus, section) in [
            (Load::Bend, young, 1.0 / 6.0),
            (Load::Twist, 0.5 * young / 1.25, 0.208_174),
        ] {
            let bar = loaded(load);
            let moment = bar.stiffness(young) * bar.end_motion(1.0).1.length();
            let stress = moment / (section * bar.width.powi(3));
            assert!(
                (stress / (modulus * bar.rate) - 1.0).abs() < 1e-9,
                "{load:?}"
            );
        }
    }

    #[test]
    fn the_axis_of_a_bar_turns_with_its_ends() {
        for load in [Load::Bend, Load::Twist] {
            let bar = loaded(load);
            for side in [-1.0, 1.0] {
                let (v, w) = bar.motion(bar.global([side * bar.grip, 0.0, 0.0]));
                let (clamp, turning) = bar.end_motion(side);
                assert!(v.distance(clamp) < 1e-12 && w.distance(turning) < 1e-12);
            }
            // Half the curl of the velocity is the angular velocity of a place.
            let (p, h) = (DVec3::new(0.03, 0.11, -0.02), 1e-6);
            let slope = |axis: usize| {
                let step = DVec3::AXES[axis] * h;
                (bar.motion(p + step).0 - bar.motion(p - step).0) / (2.0 * h)
            };
            let [x, y, z] = [0, 1, 2].map(slope);
            let curl = DVec3::new(y.z - z.y, z.x - x.z, x.y - y.x);
            assert!(bar.motion(p).1.distance(0.5 * curl) < 1e-8, "{load:?}");
        }
    }
}

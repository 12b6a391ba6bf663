//! Path of a point between two times, from its positions and velocities at both.

use glam::DVec3;

/// Exponent by which the impact gets shorter as its time moves away from the middle of the interval: a tenth
/// of the interval off the middle, it lasts 2 % of the interval.
const IMPACT_SHARPNESS: i32 = 16;

/// Path of a point that moves straight except for one impact, or several. Times are fractions of the
/// interval.
#[derive(Clone, Copy, Debug)]
pub struct PointPath {
    /// Positions at the start and at the end.
    positions: [DVec3; 2],
    /// Velocities at the start and at the end, as displacement over the whole interval.
    velocities: [DVec3; 2],
    /// Closest distance vector between the straight continuations from both ends.
    gap: DVec3,
    /// Start and end of the impact that changes the velocity. It is centred on the time at which the straight
    /// continuations from both ends are closest. Under constant acceleration that is the middle of the
    /// interval, where an impact is hardly ever: only there does the impact last long, elsewhere it is short.
    pub impact: [f64; 2],
    /// Share of the velocity change due to several impacts, from 0 to 1: 0 where the straight continuations
    /// meet, or are so far apart that the velocities say nothing about the path.
    pub spread: f64,
}

impl PointPath {
    /// Path between two positions; `velocities` are displacements over the whole interval at either end's
    /// velocity.
    pub fn new(positions: [DVec3; 2], velocities: [DVec3; 2]) -> Self {
        let gained = velocities[1] - velocities[0];
        let ahead = positions[1] - positions[0] - velocities[0];
        // NaN if the velocity is constant.
        let remaining = ahead.dot(gained) / gained.length_squared();
        let remaining = if remaining.is_finite() {
            remaining.clamp(0.0, 1.0)
        } else {
            0.5
        };
        let most = remaining.min(1.0 - remaining);
        let half = most * (2.0 * most).powi(IMPACT_SHARPNESS);
        let gap = ahead - gained * remaining;
        let apart = gap.length() / gained.length();
        PointPath {
            positions,
            velocities,
            gap,
            impact: [1.0 - remaining - half, 1.0 - remaining + half],
            // At 0.5, one impact explains little of the motion. Beyond 2, the velocities say less and less
            // about the path; from 3 the point just drifts across the gap.
            spread: if apart < 3.0 {
                (2.0 * apart).min(3.0 - apart).min(1.0)
            } else {
                0.0
            },
        }
    }

    /// Position at a fraction of the interval: a blend of the path with one impact, along which the point
    /// drifts across the gap, and the cubic over the whole interval, which approximates several impacts.
    pub fn at(&self, fraction: f64) -> DVec3 {
        let drifting = self.velocities.map(|way| way + self.gap);
        let one = self.hermite(drifting, self.impact, fraction);
        one.lerp(
            self.hermite(self.velocities, [0.0, 1.0], fraction),
            self.spread,
        )
    }

    /// Position on a path that is straight before `from` and after `to`, with the cubic Hermite curve in
    /// between.
    fn hermite(&self, velocities: [DVec3; 2], [from, to]: [f64; 2], fraction: f64) -> DVec3 {
        let before = |fraction: f64| self.positions[0] + velocities[0] * fraction;
        let after = |fraction: f64| self.positions[1] + velocities[1] * (fraction - 1.0);
        if fraction < from {
            return before(fraction);
        }
        if fraction >= to {
            return after(fraction);
        }
        let duration = to - from;
        let u = (fraction - from) / duration;
        let (u2, u3) = (u * u, u * u * u);
        before(from) * (2.0 * u3 - 3.0 * u2 + 1.0)
            + velocities[0] * (duration * (u3 - 2.0 * u2 + u))
            + after(to) * (3.0 * u2 - 2.0 * u3)
            + velocities[1] * (duration * (u3 - u2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRACTIONS: [f64; 5] = [0.0, 0.2, 0.5, 0.7, 1.0];

    #[test]
    fn a_constant_velocity_makes_a_straight_path() {
        let (from, way) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.5, 0.0, -1.0));
        let course = PointPath::new([from, from + way], [way; 2]);
        for fraction in FRACTIONS {
            assert!(course.at(fraction).distance(from + way * fraction) < 1e-12);
        }
    }

    #[test]
    fn a_constant_acceleration_makes_a_parabola() {
        let (way, gained) = (DVec3::X, DVec3::new(0.0, -2.0, 0.5));
        let at = |fraction: f64| way * fraction + gained * (0.5 * fraction * fraction);
        let course = PointPath::new([at(0.0), at(1.0)], [way, way + gained]);
        for fraction in FRACTIONS {
            assert!(course.at(fraction).distance(at(fraction)) < 1e-12);
        }
    }

    #[test]
    fn the_time_of_an_impact_is_found() {
        let (before, after) = (DVec3::new(1.0, -2.0, 0.0), DVec3::new(0.8, 1.5, 0.3));
        let at = |fraction: f64| before * fraction.min(0.3) + after * (fraction - 0.3).max(0.0);
        let course = PointPath::new([at(0.0), at(1.0)], [before, after]);
        for fraction in FRACTIONS {
            assert!(course.at(fraction).distance(at(fraction)) < 1e-12);
        }
    }

    #[test]
    fn several_impacts_make_a_cubic() {
        let velocities = [DVec3::X, DVec3::NEG_X];
        let course = PointPath::new([DVec3::ZERO, 2.0 * DVec3::Y], velocities);
        let middle = DVec3::Y + 0.125 * (velocities[0] - velocities[1]);
        assert!(course.at(0.5).distance(middle) < 1e-12);
    }

    #[test]
    fn velocities_that_contradict_the_positions_leave_it_straight() {
        let course = PointPath::new([DVec3::ZERO, DVec3::Y], [0.1 * DVec3::X; 2]);
        for fraction in FRACTIONS {
            assert!(course.at(fraction).distance(DVec3::Y * fraction) < 1e-12);
        }
    }

    #[test]
    fn the_path_has_no_gap_wherever_the_impact_is() {
        let positions = [DVec3::ZERO, DVec3::new(0.4, 0.25, 0.0)];
        for velocities in [
            [DVec3::X, DVec3::NEG_X],
            [0.5 * DVec3::X, DVec3::X],
            [DVec3::X, 0.5 * DVec3::X],
            [DVec3::ZERO; 2],
            [DVec3::Z, DVec3::new(1.0, 0.3, 0.0)],
        ] {
            let course = PointPath::new(positions, velocities);
            assert!(course.at(0.0).distance(positions[0]) < 1e-12, "{course:?}");
            assert!(course.at(1.0).distance(positions[1]) < 1e-12, "{course:?}");
            for step in 0..10_000 {
                let fraction = f64::from(step) * 1e-4;
                let gone = course.at(fraction).distance(course.at(fraction + 1e-4));
                assert!(gone < 1e-3, "{course:?}: {gone} at {fraction}");
            }
        }
    }
}

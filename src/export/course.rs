//! Where a point is between two times, by its place and velocity at both.

use glam::DVec3;

/// Exponent by which a blow gets shorter as its date leaves the middle of the way: a tenth of the way off the
/// middle, it lasts 2 % of the way.
const SHARP: i32 = 16;

/// The way of a point that goes straight on but for a blow, or many.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    places: [DVec3; 2],
    /// How far it would go in the whole time by its velocity at either end.
    ways: [DVec3; 2],
    /// How far the straight ways from both ends miss each other.
    gap: DVec3,
    /// The parts of the way between which one blow changes the velocity: about where the straight ways from
    /// both ends come nearest to each other. A velocity that changes evenly over the whole way has that in
    /// the middle, and a blow hardly ever: elsewhere it takes no time.
    pub blow: [f64; 2],
    /// The part of the change that many blows make: 0 where the straight ways meet, or are too far apart to
    /// be ways at all.
    pub many: f64,
}

impl Course {
    /// From one place to another; `ways` are how far the point would go in the whole time by its velocity at either.
    pub fn new(places: [DVec3; 2], ways: [DVec3; 2]) -> Self {
        let gained = ways[1] - ways[0];
        let ahead = places[1] - places[0] - ways[0];
        // Not a number where the velocity stays.
        let after = ahead.dot(gained) / gained.length_squared();
        let after = if after.is_finite() {
            after.clamp(0.0, 1.0)
        } else {
            0.5
        };
        let most = after.min(1.0 - after);
        let half = most * (2.0 * most).powi(SHARP);
        let gap = ahead - gained * after;
        let apart = gap.length() / gained.length();
        Course {
            places,
            ways,
            gap,
            blow: [1.0 - after - half, 1.0 - after + half],
            // One blow explains little where that is a half; beyond 2 the velocities say nothing of the way,
            // and it drifts.
            many: if apart < 3.0 {
                (2.0 * apart).min(3.0 - apart).min(1.0)
            } else {
                0.0
            },
        }
    }

    /// Where it is at a part of the way: between the way of one blow, on which it drifts across the gap, and
    /// the cubic over the whole way that many blows come near to.
    pub fn at(&self, part: f64) -> DVec3 {
        let drifting = self.ways.map(|way| way + self.gap);
        let one = self.through(drifting, self.blow, part);
        one.lerp(self.through(self.ways, [0.0, 1.0], part), self.many)
    }

    /// On the way that is straight before and after two parts of it, and the cubic that joins both in between
    /// (Hermite).
    fn through(&self, ways: [DVec3; 2], [from, to]: [f64; 2], part: f64) -> DVec3 {
        let before = |part: f64| self.places[0] + ways[0] * part;
        let after = |part: f64| self.places[1] + ways[1] * (part - 1.0);
        if part < from {
            return before(part);
        }
        if part >= to {
            return after(part);
        }
        let lasts = to - from;
        let u = (part - from) / lasts;
        let (u2, u3) = (u * u, u * u * u);
        before(from) * (2.0 * u3 - 3.0 * u2 + 1.0)
            + ways[0] * (lasts * (u3 - 2.0 * u2 + u))
            + after(to) * (3.0 * u2 - 2.0 * u3)
            + ways[1] * (lasts * (u3 - u2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [f64; 5] = [0.0, 0.2, 0.5, 0.7, 1.0];

    #[test]
    fn a_velocity_that_stays_makes_a_straight_way() {
        let (from, way) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.5, 0.0, -1.0));
        let course = Course::new([from, from + way], [way; 2]);
        for part in PARTS {
            assert!(course.at(part).distance(from + way * part) < 1e-12);
        }
    }

    #[test]
    fn a_velocity_that_changes_evenly_makes_a_parabola() {
        let (way, gained) = (DVec3::X, DVec3::new(0.0, -2.0, 0.5));
        let at = |part: f64| way * part + gained * (0.5 * part * part);
        let course = Course::new([at(0.0), at(1.0)], [way, way + gained]);
        for part in PARTS {
            assert!(course.at(part).distance(at(part)) < 1e-12);
        }
    }

    #[test]
    fn a_blow_is_dated() {
        let (before, after) = (DVec3::new(1.0, -2.0, 0.0), DVec3::new(0.8, 1.5, 0.3));
        let at = |part: f64| before * part.min(0.3) + after * (part - 0.3).max(0.0);
        let course = Course::new([at(0.0), at(1.0)], [before, after]);
        for part in PARTS {
            assert!(course.at(part).distance(at(part)) < 1e-12);
        }
    }

    #[test]
    fn many_blows_make_a_cubic() {
        let ways = [DVec3::X, DVec3::NEG_X];
        let course = Course::new([DVec3::ZERO, 2.0 * DVec3::Y], ways);
        let middle = DVec3::Y + 0.125 * (ways[0] - ways[1]);
        assert!(course.at(0.5).distance(middle) < 1e-12);
    }

    #[test]
    fn velocities_that_the_places_belie_leave_it_straight() {
        let course = Course::new([DVec3::ZERO, DVec3::Y], [0.1 * DVec3::X; 2]);
        for part in PARTS {
            assert!(course.at(part).distance(DVec3::Y * part) < 1e-12);
        }
    }

    #[test]
    fn the_way_has_no_gap_wherever_the_blow_comes() {
        let places = [DVec3::ZERO, DVec3::new(0.4, 0.25, 0.0)];
        for ways in [
            [DVec3::X, DVec3::NEG_X],
            [0.5 * DVec3::X, DVec3::X],
            [DVec3::X, 0.5 * DVec3::X],
            [DVec3::ZERO; 2],
            [DVec3::Z, DVec3::new(1.0, 0.3, 0.0)],
        ] {
            let course = Course::new(places, ways);
            assert!(course.at(0.0).distance(places[0]) < 1e-12, "{course:?}");
            assert!(course.at(1.0).distance(places[1]) < 1e-12, "{course:?}");
            for step in 0..10_000 {
                let part = f64::from(step) * 1e-4;
                let gone = course.at(part).distance(course.at(part + 1e-4));
                assert!(gone < 1e-3, "{course:?}: {gone} at {part}");
            }
        }
    }
}

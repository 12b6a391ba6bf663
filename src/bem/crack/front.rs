//! Advance of the rim of a crack: each vertex inside the body moves in the direction across which the tension
//! ahead is largest (Erdogan and Sih 1963).

use glam::{DMat3, DVec3};

use super::inside::Inside;
use super::sheet::RimFrame;
use crate::bem::field::PrincipalStresses;
use crate::bem::solution::Solution;

/// Angles to the sheet at which the stress ahead is read, degrees.
const FAN_ANGLES: [f64; 7] = [-60.0, -40.0, -20.0, 0.0, 20.0, 40.0, 60.0];
/// Ratio of the advance of rim vertices outside the body to that of the nearest vertices inside: for the
/// first and the second vertex outside.
const OUTER_ADVANCE: [f64; 2] = [1.0, 0.5];
/// Smallest distance of the outer rim from the body, over the length of a step. If it is closer, the panels
/// do not resolve the tractions that the jump causes on them.
const RIM_MARGIN: f64 = 4.0;

/// What determines the direction of a crack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// The stress of the body without the crack: the crack runs normal to the largest principal stress,
    /// wherever that is at least half the strength.
    Load,
    /// The stress ahead of the rim: the crack runs in the direction across which the tension is largest
    /// (Erdogan and Sih 1963). This needs steps that are short compared with the body's bending.
    Rim,
}

/// Settings of the steps of a crack: lengths, m, strength, Pa, and toughness.
#[derive(Clone, Copy, Debug)]
pub struct GrowthSettings {
    /// Largest advance of the rim in one step.
    pub length: f64,
    /// Distance ahead of the rim at which stress is read.
    pub ahead: f64,
    /// Strength.
    pub strength: f64,
    /// Energy per area that a crack takes, J/m², if the energy that it releases may drive it (Griffith).
    pub toughness: Option<f64>,
    /// What determines the direction of the crack.
    pub steering: Steering,
}

/// Next advance of each rim vertex in a stress field, m; all zero if the stress nowhere exceeds the strength.
/// `base`: the body without the crack.
pub fn advance(
    frames: &[RimFrame],
    body: &Inside,
    settings: GrowthSettings,
    stress: impl Fn(&[DVec3]) -> Vec<DMat3>,
    base: &Solution,
) -> Vec<DVec3> {
    let is_inside: Vec<bool> = frames.iter().map(|f| body.contains(f.place)).collect();
    let fans: Vec<Fan> = frames
        .iter()
        .zip(&is_inside)
        .filter(|(_, inside)| **inside)
        .map(|(frame, _)| Fan::new(*frame, body, settings.ahead))
        .collect();
    let places: Vec<DVec3> = fans.iter().flat_map(Fan::places).collect();
    let found = stress(&places);
    let mut at = 0;
    let read: Vec<(f64, Option<f64>)> = fans
        .iter()
        .map(|fan| {
            let count = fan.places().count();
            at += count;
            fan.largest_tension(&found[at - count..at])
        })
        .collect();
    let mut angles = vec![None; frames.len()];
    let places = || (0..frames.len()).filter(|k| is_inside[*k]);
    for (k, (_, angle)) in places().zip(&read) {
        angles[k] = *angle;
    }
    if settings.steering == Steering::Load {
        let here: Vec<DVec3> = places().map(|k| frames[k].place).collect();
        for (k, field) in places().zip(base.inside(&here)) {
            angles[k] = Some(angle_to_principal_plane(
                &frames[k],
                field.principal(),
                settings.strength,
            ));
        }
    }
    let largest = read
        .iter()
        .map(|(s, _)| *s)
        .filter(|s| s.is_finite())
        .fold(settings.strength, f64::max);
    let mut vectors = vec![DVec3::ZERO; frames.len()];
    for (k, (stress, _)) in places().zip(&read) {
        if *stress > settings.strength {
            let part = (stress / largest).min(1.0);
            let (out, _) = ray(&frames[k], nearest_angle(&angles, k));
            vectors[k] = out * (settings.length * part);
        }
    }
    let mut vectors = smoothed(&vectors, &is_inside);
    move_outer_rim(&mut vectors, frames, &is_inside, body, settings.length);
    vectors
}

/// Angle between the sheet and the plane normal to the largest principal stress, reduced where that stress is
/// small.
fn angle_to_principal_plane(frame: &RimFrame, principal: PrincipalStresses, strength: f64) -> f64 {
    let pull = principal.directions[0];
    let pull = pull * pull.dot(frame.normal).signum();
    let angle = (-pull.dot(frame.out)).atan2(pull.dot(frame.normal));
    let most = FAN_ANGLES[FAN_ANGLES.len() - 1].to_radians();
    let weight = (principal.values[0] / (0.5 * strength)).clamp(0.0, 1.0);
    angle.clamp(-most, most) * weight
}

/// Angle of a rim vertex, or the mean of those nearest along the rim that have one.
fn nearest_angle(angles: &[Option<f64>], k: usize) -> f64 {
    let count = angles.len();
    let found = (0..=count / 2).find_map(|distance| {
        let near = [k + distance, k + count - distance].map(|n| angles[n % count]);
        let known: Vec<f64> = near.into_iter().flatten().collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        (!known.is_empty()).then_some(mean)
    });
    found.unwrap_or(0.0)
}

/// Next advance of each rim vertex if the crack runs on straight ahead in its sheet, m.
pub fn tear(frames: &[RimFrame], body: &Inside, settings: GrowthSettings) -> Vec<DVec3> {
    let is_inside: Vec<bool> = frames.iter().map(|f| body.contains(f.place)).collect();
    let pairs = frames.iter().zip(&is_inside);
    let ahead = pairs.map(|(frame, inside)| {
        if *inside {
            frame.out * settings.length
        } else {
            DVec3::ZERO
        }
    });
    let mut vectors = smoothed(&ahead.collect::<Vec<_>>(), &is_inside);
    move_outer_rim(&mut vectors, frames, &is_inside, body, settings.length);
    vectors
}

/// Vectors, m, that move the part of the first disc's rim outside the body away from its surface.
pub fn clear_outer_rim(frames: &[RimFrame], body: &Inside, settings: GrowthSettings) -> Vec<DVec3> {
    let way = |frame: &RimFrame| {
        if body.contains(frame.place) {
            DVec3::ZERO
        } else {
            body.vector_away(frame.place, frame.normal, RIM_MARGIN * settings.length)
        }
    };
    frames.iter().map(way).collect()
}

/// Points ahead of a rim vertex at which stress is read.
struct Fan {
    frame: RimFrame,
    /// Angle to the sheet and point, m.
    rays: Vec<(f64, DVec3)>,
    /// Whether the body ends before the points at which stress is read.
    breaks_through: bool,
}

impl Fan {
    fn new(frame: RimFrame, body: &Inside, ahead: f64) -> Self {
        let rays: Vec<(f64, DVec3)> = FAN_ANGLES
            .iter()
            .map(|angle| angle.to_radians())
            .map(|angle| (angle, frame.place + ray(&frame, angle).0 * ahead))
            .filter(|(_, place)| body.contains(*place))
            .collect();
        let straight = frame.place + frame.out * ahead;
        Fan {
            breaks_through: rays.len() < 3 || !body.contains(straight),
            frame,
            rays,
        }
    }

    fn places(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.rays.iter().map(|(_, place)| *place)
    }

    /// Largest tension across a direction ahead, Pa, and the angle of that direction; infinite, and none, if
    /// the body ends there.
    fn largest_tension(&self, stress: &[DMat3]) -> (f64, Option<f64>) {
        if self.breaks_through {
            return (f64::INFINITY, None);
        }
        let across = |k: usize| {
            let (_, normal) = ray(&self.frame, self.rays[k].0);
            normal.dot(stress[k] * normal)
        };
        let values: Vec<f64> = (0..self.rays.len()).map(across).collect();
        let mut best = 0;
        for k in 1..values.len() {
            if values[k] > values[best] {
                best = k;
            }
        }
        let mut angle = self.rays[best].0;
        if best > 0 && best + 1 < values.len() {
            // Vertex of the parabola through three readings; they are equally spaced unless rays outside the
            // body are missing.
            let [low, here, high] = [best - 1, best, best + 1].map(|k| values[k]);
            let curve = low - 2.0 * here + high;
            if curve < 0.0 {
                let step = (self.rays[best + 1].0 - self.rays[best - 1].0) / 2.0;
                angle += 0.5 * step * (low - high) / curve;
            }
        }
        (values[best], Some(angle))
    }
}

/// Direction at an angle to the sheet, rad, and the normal to that direction.
fn ray(frame: &RimFrame, angle: f64) -> (DVec3, DVec3) {
    let (sin, cos) = angle.sin_cos();
    (
        frame.out * cos + frame.normal * sin,
        frame.normal * cos - frame.out * sin,
    )
}

/// Vectors averaged with both neighbours inside, weights ¼ ½ ¼; zero outside.
fn smoothed(vectors: &[DVec3], is_inside: &[bool]) -> Vec<DVec3> {
    let count = vectors.len();
    let of = |k: usize| {
        let mut sum = vectors[k] * 0.5;
        for other in [(k + 1) % count, (k + count - 1) % count] {
            let other = if is_inside[other] { other } else { k };
            sum += vectors[other] * 0.25;
        }
        sum
    };
    (0..count)
        .map(|k| if is_inside[k] { of(k) } else { DVec3::ZERO })
        .collect()
}

/// Moves the rim outside the body along with the vertices inside, and away from the body.
fn move_outer_rim(
    vectors: &mut [DVec3],
    frames: &[RimFrame],
    is_inside: &[bool],
    body: &Inside,
    length: f64,
) {
    let count = vectors.len();
    let moved = vectors.to_vec();
    for k in (0..count).filter(|k| !is_inside[*k]) {
        for (distance, part) in (1..).zip(OUTER_ADVANCE) {
            let near = [
                (k + distance) % count,
                (k + count - distance % count) % count,
            ];
            let inside: Vec<usize> = near.into_iter().filter(|n| is_inside[*n]).collect();
            if inside.is_empty() {
                continue;
            }
            let share = part / inside.len() as f64;
            vectors[k] = inside.iter().map(|n| moved[*n] * share).sum();
            if vectors[k].length() > 0.0 {
                let to = frames[k].place + vectors[k];
                vectors[k] += body.vector_away(to, frames[k].normal, RIM_MARGIN * length);
            }
            break;
        }
    }
}

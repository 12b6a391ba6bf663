//! Where the rim of a crack moves: at each vertex inside the body along the direction across which the stress
//! ahead pulls most (Erdogan and Sih 1963).

use glam::{DMat3, DVec3};

use super::inside::Inside;
use super::sheet::Frame;
use crate::bem::field::Principal;
use crate::bem::solution::Solution;

/// Angles to the sheet in which stress is read, degrees.
const FAN: [f64; 7] = [-60.0, -40.0, -20.0, 0.0, 20.0, 40.0, 60.0];
/// Advance of the rim just outside over that of the last vertex inside, by how many vertices it is away.
const FOLLOW: [f64; 2] = [1.0, 0.5];
/// Distance from the body over the length of a step, at least, that the rim outside keeps: nearer, panels do
/// not resolve what the jump leaves on them.
const MARGIN: f64 = 4.0;

/// What turns a crack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// The stress of the body without the crack: it runs normal to its largest principal stress, as far as
    /// that reaches half the strength.
    Load,
    /// The stress ahead of its rim: where the tension across is largest (Erdogan and Sih 1963). Needs steps
    /// finer than the body bends them.
    Rim,
}

/// Lengths, m, strength, Pa, and toughness that steps go by.
#[derive(Clone, Copy, Debug)]
pub struct Stride {
    /// Largest advance of a step.
    pub length: f64,
    /// Distance ahead of the rim at which stress is read.
    pub ahead: f64,
    /// Strength.
    pub strength: f64,
    /// Energy that a crack takes, J/m², where it runs on by what it sets free as well.
    pub toughness: Option<f64>,
    /// What turns the crack.
    pub steering: Steering,
}

/// Next step of a rim in a stress field, m for each of its vertices: none where nothing is over the strength.
pub fn advance(
    frames: &[Frame],
    body: &Inside,
    stride: Stride,
    stress: impl Fn(&[DVec3]) -> Vec<DMat3>,
    base: &Solution,
) -> Vec<DVec3> {
    let is_inside: Vec<bool> = frames.iter().map(|f| body.contains(f.place)).collect();
    let fans: Vec<Fan> = frames
        .iter()
        .zip(&is_inside)
        .filter(|(_, inside)| **inside)
        .map(|(frame, _)| Fan::new(*frame, body, stride.ahead))
        .collect();
    let places: Vec<DVec3> = fans.iter().flat_map(Fan::places).collect();
    let found = stress(&places);
    let mut at = 0;
    let read: Vec<(f64, Option<f64>)> = fans
        .iter()
        .map(|fan| {
            let count = fan.places().count();
            at += count;
            fan.most(&found[at - count..at])
        })
        .collect();
    let mut angles = vec![None; frames.len()];
    let places = || (0..frames.len()).filter(|k| is_inside[*k]);
    for (k, (_, angle)) in places().zip(&read) {
        angles[k] = *angle;
    }
    if stride.steering == Steering::Load {
        let here: Vec<DVec3> = places().map(|k| frames[k].place).collect();
        for (k, field) in places().zip(base.inside(&here)) {
            angles[k] = Some(turn(&frames[k], field.principal(), stride.strength));
        }
    }
    let largest = read
        .iter()
        .map(|(s, _)| *s)
        .filter(|s| s.is_finite())
        .fold(stride.strength, f64::max);
    let mut vectors = vec![DVec3::ZERO; frames.len()];
    for (k, (stress, _)) in places().zip(&read) {
        if *stress > stride.strength {
            let part = (stress / largest).min(1.0);
            let (out, _) = ray(&frames[k], nearest(&angles, k));
            vectors[k] = out * (stride.length * part);
        }
    }
    let mut vectors = smoothed(&vectors, &is_inside);
    follow(&mut vectors, frames, &is_inside, body, stride.length);
    vectors
}

/// Angle to the plane normal to the largest principal stress, less where that is small.
fn turn(frame: &Frame, principal: Principal, strength: f64) -> f64 {
    let pull = principal.directions[0];
    let pull = pull * pull.dot(frame.normal).signum();
    let angle = (-pull.dot(frame.out)).atan2(pull.dot(frame.normal));
    let most = FAN[FAN.len() - 1].to_radians();
    let weight = (principal.values[0] / (0.5 * strength)).clamp(0.0, 1.0);
    angle.clamp(-most, most) * weight
}

/// Angle of a vertex of the rim, or of those nearest along it that have one.
fn nearest(angles: &[Option<f64>], k: usize) -> f64 {
    let count = angles.len();
    let found = (0..=count / 2).find_map(|distance| {
        let near = [k + distance, k + count - distance].map(|n| angles[n % count]);
        let known: Vec<f64> = near.into_iter().flatten().collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        (!known.is_empty()).then_some(mean)
    });
    found.unwrap_or(0.0)
}

/// Next step of a rim that nothing holds: ahead in the sheet.
pub fn tear(frames: &[Frame], body: &Inside, stride: Stride) -> Vec<DVec3> {
    let is_inside: Vec<bool> = frames.iter().map(|f| body.contains(f.place)).collect();
    let pairs = frames.iter().zip(&is_inside);
    let ahead = pairs.map(|(frame, inside)| {
        if *inside {
            frame.out * stride.length
        } else {
            DVec3::ZERO
        }
    });
    let mut vectors = smoothed(&ahead.collect::<Vec<_>>(), &is_inside);
    follow(&mut vectors, frames, &is_inside, body, stride.length);
    vectors
}

/// Moves the rim outside of a crack's first disc off the body.
pub fn skirt(frames: &[Frame], body: &Inside, stride: Stride) -> Vec<DVec3> {
    let way = |frame: &Frame| {
        if body.contains(frame.place) {
            DVec3::ZERO
        } else {
            body.push(frame.place, frame.normal, MARGIN * stride.length)
        }
    };
    frames.iter().map(way).collect()
}

/// Places about a vertex where stress is read.
struct Fan {
    frame: Frame,
    /// Angle and place.
    rays: Vec<(f64, DVec3)>,
    /// Whether the body ends before the reading.
    breaks_through: bool,
}

impl Fan {
    fn new(frame: Frame, body: &Inside, ahead: f64) -> Self {
        let rays: Vec<(f64, DVec3)> = FAN
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

    /// Largest tension across a direction ahead, Pa, and the angle of that direction; infinite, and none,
    /// where the body ends.
    fn most(&self, stress: &[DMat3]) -> (f64, Option<f64>) {
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
            // Vertex of the parabola through three readings, which stand at one distance but where rays left
            // the body.
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

/// Direction at an angle to the sheet, and the normal to it.
fn ray(frame: &Frame, angle: f64) -> (DVec3, DVec3) {
    let (sin, cos) = angle.sin_cos();
    (
        frame.out * cos + frame.normal * sin,
        frame.normal * cos - frame.out * sin,
    )
}

/// Means with both neighbours inside, weights ¼ ½ ¼.
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

/// Moves the rim outside along with the vertices inside, and off the body.
fn follow(vectors: &mut [DVec3], frames: &[Frame], is_inside: &[bool], body: &Inside, length: f64) {
    let count = vectors.len();
    let moved = vectors.to_vec();
    for k in (0..count).filter(|k| !is_inside[*k]) {
        for (distance, part) in (1..).zip(FOLLOW) {
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
                vectors[k] += body.push(to, frames[k].normal, MARGIN * length);
            }
            break;
        }
    }
}

//! Rope: strands that wind about an axis, touching each other, each a bundle of filaments that wind with it.
//!
//! Strand and filaments are all helices of one pitch, since the frame of a helix turns with it: a filament
//! beside a strand's axis in its section is a helix about the rope's axis itself. Distances between helices
//! are found along one turn and a half to either side.
//!
//! A rope along a curve is the straight one bent: each of its sections goes with the curve's frame, which
//! does not wind about it. On the inner side of a bend what stood obliquely to the axis comes closer, so the
//! filaments are laid anew with more room until no element overlaps another.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::laid::{FEWEST, Laid, bundle, chain, ends_covered, thickness};
use crate::geometry::curve::Curve;
use crate::pack::error::PackError;
use crate::pack::filled::Filled;
use crate::pack::random::OVERLAP;
use crate::pack::request::{CLOSE, DEPTH, Wanted, refuse_too_many};
use crate::spec::Body;

/// Filaments of a strand that are tried where none are asked for: full hexagons.
const HEXAGONS: [u32; 7] = [1, 7, 19, 37, 61, 91, 127];
/// Places along a turn and a half that distances are first looked for at.
const LOOKS: u32 = 60;
/// Narrowings of an interval in which something is looked for.
const HALVINGS: usize = 24;
/// Rounds in which filaments of a strand and strands of the rope make room for each other.
const ROUNDS: usize = 8;
/// The same for a rope in the bends of its axis.
const BENDINGS: usize = 12;
/// What is wrong with a rope that finds no room.
const BENT: &str = "the tube bends too sharply for the strands of its rope; move its points, or give fewer filaments or a longer pitch";

/// A rope to be laid.
pub(in crate::pack) struct Rope {
    pub strands: u32,
    pub filaments: Option<u32>,
    /// Length of one turn, m.
    pub pitch: f64,
    /// Of the cylinder, m.
    pub radius: f64,
    pub height: f64,
    /// What the cylinder's axis follows; absent: y.
    pub axis: Option<Curve>,
}

/// A helix about y: (ϱ cos(φ + t), y + rise t, ϱ sin(φ + t)).
#[derive(Clone, Copy)]
struct Helix {
    around: f64,
    phase: f64,
    y: f64,
    /// m/rad
    rise: f64,
}

impl Helix {
    fn at(self, t: f64) -> DVec3 {
        let (sin, cos) = (self.phase + t).sin_cos();
        DVec3::new(self.around * cos, self.y + self.rise * t, self.around * sin)
    }

    /// The helix beside it, `site` (m) away in its section: outwards and across.
    fn beside(self, site: DVec2) -> Self {
        let speed = self.around.hypot(self.rise);
        let aside = site.y * self.rise / speed;
        let out = self.around + site.x;
        Helix {
            around: out.hypot(aside),
            phase: self.phase + aside.atan2(out),
            y: self.y - site.y * self.around / speed,
            rise: self.rise,
        }
    }

    fn turned(self, angle: f64) -> Self {
        Helix {
            phase: self.phase + angle,
            ..self
        }
    }

    /// Least distance from another helix of the same pitch, m.
    fn distance(self, other: Helix) -> f64 {
        let squared = |t: f64| {
            let turn = (other.phase - self.phase + t).cos();
            let up = other.y - self.y + self.rise * t;
            self.around.powi(2) + other.around.powi(2) - 2.0 * self.around * other.around * turn
                + up * up
        };
        let step = 1.5 * TAU / f64::from(LOOKS);
        let looks = (0..=2 * LOOKS).map(|k| step * (f64::from(k) - f64::from(LOOKS)));
        let nearest = looks.min_by(|a, b| squared(*a).total_cmp(&squared(*b)));
        let nearest = nearest.unwrap_or(0.0);
        let (mut low, mut high) = (nearest - step, nearest + step);
        for _ in 0..HALVINGS {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if squared(a) < squared(b) {
                high = b;
            } else {
                low = a;
            }
        }
        squared(0.5 * (low + high)).max(0.0).sqrt()
    }
}

/// A rope of elements of one radius.
struct Plan {
    /// Axis of the first strand, and its filaments.
    axis: Helix,
    filaments: Vec<Helix>,
    /// Of the elements and of a strand's skin, m.
    radius: f64,
    strand: f64,
}

/// Least distance of a helix of one list from one of the other.
fn closest(of: &[Helix], and: &[Helix]) -> f64 {
    let pairs = of.iter().flat_map(|a| and.iter().map(move |b| (*a, *b)));
    pairs
        .map(|(a, b)| a.distance(b))
        .fold(f64::INFINITY, f64::min)
}

impl Rope {
    /// Where a point of the straight rope lies.
    fn place(&self, p: DVec3) -> DVec3 {
        let bent = |axis: &Curve| axis.bent(p.y + self.height / 2.0, [p.x, p.z]);
        self.axis.as_ref().map_or(p, bent)
    }

    /// The rope whose strands of so many filaments touch, or leave more `room` (over the distance of those
    /// that touch); none where the pitch is too short for them.
    fn plan(&self, count: u32, radius: f64, room: f64) -> Option<Plan> {
        let sites = bundle(count);
        let rise = self.pitch / TAU;
        let strand = |around: f64, apart: f64| {
            let axis = Helix {
                around,
                phase: 0.0,
                y: 0.0,
                rise,
            };
            let filaments = sites.iter().map(|site| axis.beside(*site * apart));
            (axis, filaments.collect::<Vec<_>>())
        };
        let touch = 2.0 * radius * room;
        // The first strand and the next; those farther round are farther away. What lies within a strand
        // meets no other.
        let farthest = (thickness(&sites) - 1.0) / 2.0;
        let is_outer: Vec<bool> = sites.iter().map(|p| p.length() > farthest - 1.0).collect();
        let apart_at = |around: f64, apart: f64| {
            let (_, own) = strand(around, apart);
            let outer = own.iter().zip(&is_outer).filter(|(_, is_outer)| **is_outer);
            let own: Vec<Helix> = outer.map(|(helix, _)| *helix).collect();
            let angle = TAU / f64::from(self.strands);
            let next: Vec<Helix> = own.iter().map(|helix| helix.turned(angle)).collect();
            closest(&own, &next)
        };
        let beside: Vec<(usize, usize)> = (0..sites.len())
            .flat_map(|k| (0..k).map(move |m| (k, m)))
            .filter(|&(k, m)| sites[k].distance(sites[m]) < 1.5)
            .collect();
        let mut apart = touch;
        let mut around = 0.0;
        for _ in 0..ROUNDS {
            let (mut low, mut high) = (0.0, self.radius);
            if apart_at(high, apart) < touch {
                return None;
            }
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if apart_at(middle, apart) < touch {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            around = high;
            let (_, own) = strand(around, apart);
            // Neighbours lean against each other where they wind.
            let least = beside
                .iter()
                .map(|&(k, m)| own[k].distance(own[m]))
                .fold(touch, f64::min);
            if least > touch * (1.0 - OVERLAP / 4.0) {
                break;
            }
            apart *= touch / least;
        }
        let (axis, filaments) = strand(around, apart);
        // Filaments of one strand lie in the furrows of the next: their skins, which must not, are round.
        let next = axis.turned(TAU / f64::from(self.strands));
        let strand = (radius + farthest * apart).min(axis.distance(next) / 2.0);
        Some(Plan {
            axis,
            filaments,
            radius,
            strand,
        })
    }

    /// The same if it goes into the cylinder.
    fn fitting(&self, count: u32, radius: f64, room: f64) -> Option<Plan> {
        let plan = self.plan(count, radius, room)?;
        (plan.reach() <= self.radius * (1.0 + 1e-9)).then_some(plan)
    }

    /// Largest radius of elements, m, with which strands of so many filaments fit.
    fn largest(&self, count: u32, room: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.radius);
        for _ in 0..HALVINGS / 2 {
            let middle = 0.5 * (low + high);
            if self.fitting(count, middle, room).is_some() {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Filaments of a strand and radius of the elements.
    fn sized(&self, body: &Body, wanted: Wanted, room: f64) -> Result<Plan, PackError> {
        let too_thick = |count: u32, radius: f64| PackError::Rope {
            body: body.name.clone(),
            strands: self.strands,
            filaments: count,
            radius,
            cylinder: self.radius,
            pitch: self.pitch,
            largest: self.largest(count, room),
        };
        let fitting = |count, radius| {
            self.fitting(count, radius, room)
                .ok_or_else(|| too_thick(count, radius))
        };
        match (wanted, self.filaments) {
            (Wanted::Radius(radius), Some(count)) => fitting(count, radius),
            (Wanted::Radius(radius), None) => {
                let mut best = fitting(HEXAGONS[0], radius)?;
                for count in &HEXAGONS[1..] {
                    match self.fitting(*count, radius, room) {
                        Some(plan) => best = plan,
                        None => break,
                    }
                }
                Ok(best)
            }
            (Wanted::Elements(number), Some(count)) => {
                let strands = f64::from(self.strands * count);
                let mut radius = strands * self.height / (2.0 * number);
                let mut plan = fitting(count, radius)?;
                for _ in 0..4 {
                    let found = plan.elements(self);
                    if (found / number - 1.0).abs() < CLOSE / 4.0 {
                        break;
                    }
                    radius *= found / number;
                    plan = fitting(count, radius)?;
                }
                Ok(plan)
            }
            (Wanted::Elements(number), None) => {
                let plans = HEXAGONS.iter().filter_map(|&count| {
                    // Not to the last digit, so that it does fit.
                    self.fitting(count, 0.999 * self.largest(count, room), room)
                });
                let off = |plan: &Plan| (plan.elements(self) / number).ln().abs();
                plans
                    .min_by(|a, b| off(a).total_cmp(&off(b)))
                    .ok_or_else(|| too_thick(1, self.radius))
            }
        }
    }
}

impl Plan {
    /// Radius of the rope, m.
    fn reach(&self) -> f64 {
        let around = self.filaments.iter().map(|helix| helix.around);
        around.fold(0.0, f64::max) + self.radius
    }

    /// About how many elements there are in the whole rope.
    fn elements(&self, rope: &Rope) -> f64 {
        let rise = self.axis.rise;
        let lengths = self.filaments.iter().map(|helix| helix.around.hypot(rise));
        let each = lengths.sum::<f64>() * rope.height / rise / (2.0 * self.radius);
        each * f64::from(rope.strands)
    }
}

/// Lays a rope in a cylinder or along a curve.
pub(in crate::pack) fn fill(body: &Body, wanted: Wanted, rope: &Rope) -> Result<Filled, PackError> {
    // Filaments at the least radius, end to end.
    if let Wanted::Radius(radius) = wanted {
        let most = (PI * rope.radius.powi(2) * rope.height) / (2.0 * PI * radius.powi(3));
        refuse_too_many(body, radius, most)?;
    }
    let mut room = 1.0;
    for _ in 0..BENDINGS {
        let plan = rope.sized(body, wanted, room)?;
        refuse_too_many(body, plan.radius, plan.elements(rope))?;
        let laid = rope.lay(body, &plan)?;
        let closest = laid.closest(plan.radius);
        if closest > 1.0 - OVERLAP / 2.0 {
            return Ok(laid.filled(plan.radius, room));
        }
        room /= closest;
    }
    Err(PackError::Unfit {
        body: body.name.clone(),
        what: BENT,
    })
}

impl Rope {
    fn lay(&self, body: &Body, plan: &Plan) -> Result<Laid, PackError> {
        let mut laid = Laid::default();
        let half = self.height / 2.0 - DEPTH * plan.radius;
        let points = |helix: Helix| {
            let at = |y: f64| (y - helix.y) / helix.rise;
            let speed = helix.around.hypot(helix.rise);
            let curve = |t: f64| self.place(helix.at(t));
            let along = chain(curve, (at(-half), at(half)), 2.0 * plan.radius, speed);
            along.into_iter().map(curve).collect::<Vec<_>>()
        };
        for strand in 0..self.strands {
            let angle = TAU * f64::from(strand) / f64::from(self.strands);
            let axis = points(plan.axis.turned(angle));
            if axis.len() < FEWEST {
                return Err(PackError::RadiusTooLarge {
                    body: body.name.clone(),
                    radius: plan.radius,
                    extent: DVec3::new(2.0 * self.radius, self.height, 2.0 * self.radius),
                });
            }
            let filaments = plan
                .filaments
                .iter()
                .map(|helix| points(helix.turned(angle)));
            laid.add(filaments, &ends_covered(axis, plan.radius), plan.strand);
        }
        Ok(laid)
    }
}

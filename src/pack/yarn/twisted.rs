//! Rope: strands that wind about an axis and touch each other, each a bundle of filaments that wind with it.
//!
//! Strands and filaments are all helices of one pitch, since the frame of a helix turns with it: a filament
//! at a constant offset from a strand's axis, in its section, is itself a helix about the rope's axis.
//! Distances between helices are searched along one and a half turns to either side.
//!
//! A rope along a curve is a bent straight rope: each section moves with the twist-free frame of the curve.
//! On the inner side of a bend filaments that are oblique to the axis come closer, so the filaments are laid
//! again with a larger spacing until no elements overlap.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::laid::{
    LaidYarns, MIN_FILAMENT_ELEMENTS, bundle_radius, bundle_sites, spaced_parameters,
    with_covered_ends,
};
use crate::geometry::curve::Curve;
use crate::pack::error::PackError;
use crate::pack::filled::FilledShape;
use crate::pack::random::MAX_OVERLAP;
use crate::pack::request::{CENTRE_DEPTH, COUNT_TOLERANCE, SizeRequest, refuse_too_many};
use crate::spec::Body;

/// Numbers of filaments of a strand that are tried if none is given: full hexagons.
const HEXAGONS: [u32; 7] = [1, 7, 19, 37, 61, 91, 127];
/// Points along one and a half turns at which distances are first sampled.
const SEARCH_POINTS: u32 = 60;
/// Number of steps that narrow a search interval.
const BISECTIONS: usize = 24;
/// Rounds that adjust the spacing of filaments in a strand and of strands in the rope.
const SPACING_ROUNDS: usize = 8;
/// Rounds that adjust the spacing to the bends of the rope's axis.
const BEND_ROUNDS: usize = 12;
/// Message for a rope that does not fit into the bends.
const TOO_SHARP: &str = "the tube bends too sharply for the strands of its rope; move its points, or give fewer filaments or a longer pitch";

/// Parameters of a rope.
pub(in crate::pack) struct Rope {
    pub strands: u32,
    pub filaments: Option<u32>,
    /// Length of one turn, m.
    pub pitch: f64,
    /// Radius and height of the cylinder, m.
    pub radius: f64,
    pub height: f64,
    /// Curve of the cylinder's axis; `None`: the y axis.
    pub axis: Option<Curve>,
}

/// A helix about y: (ϱ cos(φ + t), y + rise t, ϱ sin(φ + t)).
#[derive(Clone, Copy)]
struct Helix {
    helix_radius: f64,
    phase: f64,
    y: f64,
    /// Rise per angle, m/rad.
    rise: f64,
}

impl Helix {
    fn at(self, t: f64) -> DVec3 {
        let (sin, cos) = (self.phase + t).sin_cos();
        DVec3::new(
            self.helix_radius * cos,
            self.y + self.rise * t,
            self.helix_radius * sin,
        )
    }

    /// The helix at an offset of `site` (m) in its section: outwards and across.
    fn at_offset(self, site: DVec2) -> Self {
        let speed = self.helix_radius.hypot(self.rise);
        let aside = site.y * self.rise / speed;
        let out = self.helix_radius + site.x;
        Helix {
            helix_radius: out.hypot(aside),
            phase: self.phase + aside.atan2(out),
            y: self.y - site.y * self.helix_radius / speed,
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
            self.helix_radius.powi(2) + other.helix_radius.powi(2)
                - 2.0 * self.helix_radius * other.helix_radius * turn
                + up * up
        };
        let step = 1.5 * TAU / f64::from(SEARCH_POINTS);
        let looks =
            (0..=2 * SEARCH_POINTS).map(|k| step * (f64::from(k) - f64::from(SEARCH_POINTS)));
        let nearest = looks.min_by(|a, b| squared(*a).total_cmp(&squared(*b)));
        let nearest = nearest.unwrap_or(0.0);
        let (mut low, mut high) = (nearest - step, nearest + step);
        for _ in 0..BISECTIONS {
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

/// Layout of a rope of equal elements.
struct RopeLayout {
    /// Axis and filaments of the first strand.
    axis: Helix,
    filaments: Vec<Helix>,
    /// Radius of the elements and of a strand's skin, m.
    radius: f64,
    strand_radius: f64,
}

/// Smallest distance between helices of two lists.
fn closest(of: &[Helix], and: &[Helix]) -> f64 {
    let pairs = of.iter().flat_map(|a| and.iter().map(move |b| (*a, *b)));
    pairs
        .map(|(a, b)| a.distance(b))
        .fold(f64::INFINITY, f64::min)
}

impl Rope {
    /// Position of a point of the straight rope in the bent one.
    fn bent(&self, p: DVec3) -> DVec3 {
        let bent = |axis: &Curve| axis.bend_point(p.y + self.height / 2.0, [p.x, p.z]);
        self.axis.as_ref().map_or(p, bent)
    }

    /// Layout of strands with `count` filaments each; `spacing_factor` is the distance between filaments over
    /// their contact distance. `None` if the pitch is too short.
    fn layout(&self, count: u32, radius: f64, spacing_factor: f64) -> Option<RopeLayout> {
        let sites = bundle_sites(count);
        let rise = self.pitch / TAU;
        let strand = |helix_radius: f64, apart: f64| {
            let axis = Helix {
                helix_radius,
                phase: 0.0,
                y: 0.0,
                rise,
            };
            let filaments = sites.iter().map(|site| axis.at_offset(*site * apart));
            (axis, filaments.collect::<Vec<_>>())
        };
        let touch = 2.0 * radius * spacing_factor;
        // Compare the first strand with the next; others are farther away. Filaments inside a strand cannot
        // meet another strand.
        let farthest = (bundle_radius(&sites) - 1.0) / 2.0;
        let is_outer: Vec<bool> = sites.iter().map(|p| p.length() > farthest - 1.0).collect();
        let apart_at = |helix_radius: f64, apart: f64| {
            let (_, own) = strand(helix_radius, apart);
            let outer = own.iter().zip(&is_outer).filter(|(_, is_outer)| **is_outer);
            let own: Vec<Helix> = outer.map(|(helix, _)| *helix).collect();
            let angle = TAU / f64::from(self.strands);
            let next: Vec<Helix> = own.iter().map(|helix| helix.turned(angle)).collect();
            closest(&own, &next)
        };
        let adjacent: Vec<(usize, usize)> = (0..sites.len())
            .flat_map(|k| (0..k).map(move |m| (k, m)))
            .filter(|&(k, m)| sites[k].distance(sites[m]) < 1.5)
            .collect();
        let mut apart = touch;
        let mut helix_radius = 0.0;
        for _ in 0..SPACING_ROUNDS {
            let (mut low, mut high) = (0.0, self.radius);
            if apart_at(high, apart) < touch {
                return None;
            }
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (low + high);
                if apart_at(middle, apart) < touch {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            helix_radius = high;
            let (_, own) = strand(helix_radius, apart);
            // Winding brings neighbours closer than their offset.
            let least = adjacent
                .iter()
                .map(|&(k, m)| own[k].distance(own[m]))
                .fold(touch, f64::min);
            if least > touch * (1.0 - MAX_OVERLAP / 4.0) {
                break;
            }
            apart *= touch / least;
        }
        let (axis, filaments) = strand(helix_radius, apart);
        // Filaments of one strand lie in the furrows of the next. The skins are round and must not overlap,
        // so they are thinner.
        let next = axis.turned(TAU / f64::from(self.strands));
        let strand_radius = (radius + farthest * apart).min(axis.distance(next) / 2.0);
        Some(RopeLayout {
            axis,
            filaments,
            radius,
            strand_radius,
        })
    }

    /// The layout if it fits into the cylinder.
    fn fitting(&self, count: u32, radius: f64, spacing_factor: f64) -> Option<RopeLayout> {
        let layout = self.layout(count, radius, spacing_factor)?;
        (layout.outer_radius() <= self.radius * (1.0 + 1e-9)).then_some(layout)
    }

    /// Largest radius of elements, m, at which strands of `count` filaments fit.
    fn largest_radius(&self, count: u32, spacing_factor: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.radius);
        for _ in 0..BISECTIONS / 2 {
            let middle = 0.5 * (low + high);
            if self.fitting(count, middle, spacing_factor).is_some() {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Layout with the requested radius or number of elements, and number of filaments.
    fn sized_layout(
        &self,
        body: &Body,
        request: SizeRequest,
        spacing_factor: f64,
    ) -> Result<RopeLayout, PackError> {
        let too_thick = |count: u32, radius: f64| PackError::RopeTooThick {
            body: body.name.clone(),
            strands: self.strands,
            filaments: count,
            radius,
            cylinder: self.radius,
            pitch: self.pitch,
            largest: self.largest_radius(count, spacing_factor),
        };
        let fitting = |count, radius| {
            self.fitting(count, radius, spacing_factor)
                .ok_or_else(|| too_thick(count, radius))
        };
        match (request, self.filaments) {
            (SizeRequest::Radius(radius), Some(count)) => fitting(count, radius),
            (SizeRequest::Radius(radius), None) => {
                let mut best = fitting(HEXAGONS[0], radius)?;
                for count in &HEXAGONS[1..] {
                    match self.fitting(*count, radius, spacing_factor) {
                        Some(layout) => best = layout,
                        None => break,
                    }
                }
                Ok(best)
            }
            (SizeRequest::Elements(number), Some(count)) => {
                let strands = f64::from(self.strands * count);
                let mut radius = strands * self.height / (2.0 * number);
                let mut layout = fitting(count, radius)?;
                for _ in 0..4 {
                    let found = layout.element_count(self);
                    if (found / number - 1.0).abs() < COUNT_TOLERANCE / 4.0 {
                        break;
                    }
                    radius *= found / number;
                    layout = fitting(count, radius)?;
                }
                Ok(layout)
            }
            (SizeRequest::Elements(number), None) => {
                let plans = HEXAGONS.iter().filter_map(|&count| {
                    // A little smaller than the largest, so that it fits despite rounding.
                    self.fitting(
                        count,
                        0.999 * self.largest_radius(count, spacing_factor),
                        spacing_factor,
                    )
                });
                let off = |layout: &RopeLayout| (layout.element_count(self) / number).ln().abs();
                plans
                    .min_by(|a, b| off(a).total_cmp(&off(b)))
                    .ok_or_else(|| too_thick(1, self.radius))
            }
        }
    }
}

impl RopeLayout {
    /// Outer radius of the rope, m.
    fn outer_radius(&self) -> f64 {
        let helix_radius = self.filaments.iter().map(|helix| helix.helix_radius);
        helix_radius.fold(0.0, f64::max) + self.radius
    }

    /// Estimated number of elements in the whole rope.
    fn element_count(&self, rope: &Rope) -> f64 {
        let rise = self.axis.rise;
        let lengths = self
            .filaments
            .iter()
            .map(|helix| helix.helix_radius.hypot(rise));
        let each = lengths.sum::<f64>() * rope.height / rise / (2.0 * self.radius);
        each * f64::from(rope.strands)
    }
}

/// Fills a cylinder or a tube along a curve with a rope.
pub(in crate::pack) fn fill(
    body: &Body,
    request: SizeRequest,
    rope: &Rope,
) -> Result<FilledShape, PackError> {
    // Upper bound: the cylinder full of filaments.
    if let SizeRequest::Radius(radius) = request {
        let most = (PI * rope.radius.powi(2) * rope.height) / (2.0 * PI * radius.powi(3));
        refuse_too_many(body, radius, most)?;
    }
    let mut spacing_factor = 1.0;
    for _ in 0..BEND_ROUNDS {
        let layout = rope.sized_layout(body, request, spacing_factor)?;
        refuse_too_many(body, layout.radius, layout.element_count(rope))?;
        let laid = rope.lay(body, &layout)?;
        let closest = laid.closest(layout.radius);
        if closest > 1.0 - MAX_OVERLAP / 2.0 {
            return Ok(laid.filled(layout.radius, spacing_factor));
        }
        spacing_factor /= closest;
    }
    Err(PackError::UnsuitableShape {
        body: body.name.clone(),
        what: TOO_SHARP,
    })
}

impl Rope {
    fn lay(&self, body: &Body, layout: &RopeLayout) -> Result<LaidYarns, PackError> {
        let mut laid = LaidYarns::default();
        let half = self.height / 2.0 - CENTRE_DEPTH * layout.radius;
        let points = |helix: Helix| {
            let at = |y: f64| (y - helix.y) / helix.rise;
            let speed = helix.helix_radius.hypot(helix.rise);
            let curve = |t: f64| self.bent(helix.at(t));
            let along = spaced_parameters(curve, (at(-half), at(half)), 2.0 * layout.radius, speed);
            along.into_iter().map(curve).collect::<Vec<_>>()
        };
        for strand in 0..self.strands {
            let angle = TAU * f64::from(strand) / f64::from(self.strands);
            let axis = points(layout.axis.turned(angle));
            if axis.len() < MIN_FILAMENT_ELEMENTS {
                return Err(PackError::RadiusTooLarge {
                    body: body.name.clone(),
                    radius: layout.radius,
                    extent: DVec3::new(2.0 * self.radius, self.height, 2.0 * self.radius),
                });
            }
            let filaments = layout
                .filaments
                .iter()
                .map(|helix| points(helix.turned(angle)));
            laid.add(
                filaments,
                &with_covered_ends(axis, layout.radius),
                layout.strand_radius,
            );
        }
        Ok(laid)
    }
}

//! Grouped signed distances of fracture points.
//!
//! A bond whose ends lie in different fragments leaves a fracture point p_f at its middle on both sides, with the
//! outward normal n_f. For fragment k (Lu et al. 2021, eq. 19, with a fallback so that F is defined everywhere)
//!
//! ```text
//! F_k(x) = (Σ_f w_f (x − p_f)·n_f + ε (d_k − r)) / (Σ_f w_f + ε),   w_f = max(0, 1 − |x − p_f|² / 10σ_k²)³
//! ```
//!
//! The weight stands for a Gaussian of width σ_k: it has the same variance over a plane, and ends. d_k is the distance
//! to the fragment's nearest element. The smallest F_k owns the point, which is the sign of the partition
//! φ_k = ½ (F_k − min F_m): every point has exactly one owner, and both sides of a crack are one sheet.
//!
//! (x − p_f)·n_f is linear in x, so the points of one element that face the same way are added up beforehand; only
//! their weight is then taken at their mean. This makes the sum three times shorter.

use glam::DVec3;
use rayon::prelude::*;

use super::body::Body;
use super::field::OUTSIDE;

/// Width of the Gaussian for large fragments, radii. Half of it shows the steps of the lattice as lumps.
const WIDTH: f64 = 1.5;
/// Width for a fragment of one element: faces on opposite sides of it must not average out. It grows with the cube
/// root of the number of elements up to [`WIDTH`].
const LEAST_WIDTH: f64 = 0.7;
/// Weight ε of the fallback, against 1 for a fracture point at its place: it counts where no fracture point is near.
const FALLBACK: f64 = 0.02;
/// Points of an element are weighed together if the mean of their normals is at least this long.
const ONE_WAY: f64 = 0.6;
/// A fragment owns no point farther than this from its elements, radii. Holes of a close packing reach √2.
const OWN_REACH: f64 = 2.2;
/// Beyond the outermost elements, how much farther away than the nearest a fragment may be to count, radii.
const OWN_SLACK: f64 = 1.2;
/// Elements farther than this have no fracture point that counts, radii: it lies a radius off the centre.
pub const POINT_REACH: f64 = 1.0 + 3.17 * WIDTH;

/// What one fragment contributes at a point.
#[derive(Debug)]
pub struct Sum {
    piece: u32,
    nearest_squared: f64,
    weight: f64,
    value: f64,
}

/// Fracture points of one element that are weighed together.
#[derive(Clone, Copy, Debug)]
struct FracturePoints {
    /// Vector from the element's centre to their mean, m.
    offset: DVec3,
    /// Sum of their outward normals.
    normal: DVec3,
    /// Sum of their distances from the element's centre, m.
    height: f64,
    count: f64,
}

impl FracturePoints {
    /// The points at `halves` from the element's centre.
    fn sum(halves: &[DVec3]) -> Self {
        let count = halves.len() as f64;
        FracturePoints {
            offset: halves.iter().sum::<DVec3>() / count,
            normal: halves.iter().map(|half| half.normalize_or_zero()).sum(),
            height: halves.iter().map(|half| half.length()).sum(),
            count,
        }
    }
}

/// Elements and fracture points of a body in one state.
#[derive(Debug)]
pub struct Sources<'a> {
    /// The body.
    pub body: &'a Body,
    /// Piece of each of its elements.
    pub piece_of: &'a [u32],
    /// Range of each element in `points`.
    first: Vec<u32>,
    /// Fracture points.
    points: Vec<FracturePoints>,
    /// For each piece, 1 / 10σ², 1/m².
    pub falloff: Vec<f64>,
    /// For each bin, the piece that all elements of it and of the bins around it belong to.
    alone: Vec<Option<u32>>,
}

impl<'a> Sources<'a> {
    /// The fracture points between the pieces that the elements belong to.
    pub fn new(body: &'a Body, piece_of: &'a [u32]) -> Self {
        let cut = || {
            body.bonds
                .iter()
                .filter(|bond| piece_of[bond.i as usize] != piece_of[bond.j as usize])
        };
        let mut first = vec![0_u32; piece_of.len() + 1];
        for bond in cut() {
            first[bond.i as usize + 1] += 1;
            first[bond.j as usize + 1] += 1;
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let mut next = first.clone();
        let mut halves = vec![DVec3::ZERO; *first.last().expect("one more than elements") as usize];
        for bond in cut() {
            for (end, half) in [(bond.i as usize, bond.half), (bond.j as usize, -bond.half)] {
                halves[next[end] as usize] = half;
                next[end] += 1;
            }
        }
        let mut counts = vec![0_u32; piece_of.iter().max().map_or(0, |&last| last as usize + 1)];
        for &piece in piece_of {
            counts[piece as usize] += 1;
        }
        let width = |piece: u32| {
            let count = f64::from(counts[piece as usize]);
            (LEAST_WIDTH * count.cbrt()).min(WIDTH)
        };
        let mut points = Vec::new();
        let mut start = 0;
        for (element, &piece) in piece_of.iter().enumerate() {
            let end = first[element + 1] as usize;
            let own = &halves[start..end];
            start = end;
            first[element] = points.len() as u32;
            let together = FracturePoints::sum(own);
            let one_way = together.normal.length() > ONE_WAY * together.count;
            if width(piece) == WIDTH && one_way {
                points.push(together);
            } else {
                points.extend(own.iter().map(|&half| FracturePoints::sum(&[half])));
            }
        }
        *first.last_mut().expect("one more than elements") = points.len() as u32;
        let falloff = (0..counts.len())
            .map(|piece| 1.0 / (10.0 * (width(piece as u32) * body.radius).powi(2)))
            .collect();
        let alone = (0..body.bins.count())
            .into_par_iter()
            .map(|bin| {
                let mut only = None;
                let mut mixed = false;
                body.bins.each_around(bin, |other| {
                    for &element in body.bins.points(other) {
                        let piece = piece_of[element as usize];
                        mixed |= *only.get_or_insert(piece) != piece;
                    }
                });
                only.filter(|_| !mixed)
            })
            .collect();
        Sources {
            body,
            piece_of,
            first,
            points,
            falloff,
            alone,
        }
    }

    /// The piece that owns `x`. Where several are near, appends their fields to `values`.
    pub fn owner(&self, x: DVec3, sums: &mut Vec<Sum>, values: &mut Vec<(u32, f32)>) -> u32 {
        let (body, r) = (self.body, self.body.radius);
        // A bin with its neighbours reaches three radii beyond any point in it.
        if let Some(piece) = self.alone[body.bins.flat_of(x)] {
            return piece;
        }
        sums.clear();
        body.bins.each_bin(x, POINT_REACH * r, |bin| {
            for &element in body.bins.points(bin) {
                let element = element as usize;
                let from = x - body.positions[element];
                let squared = from.length_squared();
                if squared > (POINT_REACH * r).powi(2) {
                    continue;
                }
                let piece = self.piece_of[element];
                let falloff = self.falloff[piece as usize];
                let at = sums.iter().position(|sum| sum.piece == piece);
                let at = at.unwrap_or_else(|| {
                    sums.push(Sum {
                        piece,
                        nearest_squared: f64::INFINITY,
                        weight: 0.0,
                        value: 0.0,
                    });
                    sums.len() - 1
                });
                let sum = &mut sums[at];
                sum.nearest_squared = sum.nearest_squared.min(squared);
                let range = self.first[element] as usize..self.first[element + 1] as usize;
                for points in &self.points[range] {
                    let away = from - points.offset;
                    let left = (1.0 - away.length_squared() * falloff).max(0.0);
                    let weight = left * left * left;
                    sum.weight += weight * points.count;
                    sum.value += weight * (from.dot(points.normal) - points.height);
                }
            }
        });
        let least = sums.iter().map(|sum| sum.nearest_squared);
        let least = least.fold(f64::INFINITY, f64::min).sqrt();
        let reach = (OWN_REACH * r).max(least + OWN_SLACK * r);
        sums.retain(|sum| sum.nearest_squared <= reach * reach);
        match sums.len() {
            0 => return self.piece_of[self.nearest(x)],
            1 => return sums[0].piece,
            _ => {}
        }
        sums.sort_unstable_by_key(|sum| sum.piece);
        let mut best = (f64::INFINITY, OUTSIDE);
        for sum in sums.iter() {
            let fallback = FALLBACK * (sum.nearest_squared.sqrt() - r);
            let value = (sum.value + fallback) / (sum.weight + FALLBACK);
            values.push((sum.piece, value as f32));
            if value < best.0 {
                best = (value, sum.piece);
            }
        }
        best.1
    }

    fn nearest(&self, x: DVec3) -> usize {
        nearest_elements(self.body, x, |_| true, 1)[0].1 as usize
    }
}

/// Up to `count` elements nearest to `x` among those that `wanted` admits, as (squared distance, element), nearest first.
/// At least one must be admitted.
pub fn nearest_elements(
    body: &Body,
    x: DVec3,
    wanted: impl Fn(usize) -> bool,
    count: usize,
) -> Vec<(f64, u32)> {
    let mut found: Vec<(f64, u32)> = Vec::new();
    let mut reach = 2.5 * body.radius;
    let everything = body.bins.diameter() + x.distance(body.positions[0]);
    loop {
        found.clear();
        body.bins.each_bin(x, reach, |bin| {
            for &element in body.bins.points(bin) {
                let squared = x.distance_squared(body.positions[element as usize]);
                if squared <= reach * reach && wanted(element as usize) {
                    found.push((squared, element));
                }
            }
        });
        if !found.is_empty() || reach > everything {
            break;
        }
        reach *= 2.0;
    }
    found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.truncate(count);
    found
}

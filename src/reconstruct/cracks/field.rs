//! Signed distances of the sides of cracks.
//!
//! A broken bond whose ends no short way round joins is open: it leaves a fracture point p_f at its middle on
//! both ends, with the outward normal n_f. The side of an element is what [`super::graph`] joins to it; its
//! field (Lu et al. 2021, eq. 19, with a fallback so that it is defined everywhere) is
//!
//! ```text
//! F(x) = (Σ_f w_f (x − p_f)·n_f + ε (d − r)) / (Σ_f w_f + ε),   w_f = max(0, 1 − |x − p_f|² / 10σ²)³
//! ```
//!
//! over the fracture points of the side. The weight stands for a Gaussian of width σ: it has the same
//! variance over a plane, and ends. d is the distance to the side's nearest element. Of all sides about a
//! point the one with the smallest F owns it, which is the sign of the partition φ_k = ½ (F_k − min F_m):
//! every point has one owner, and both faces of a crack are one sheet.
//!
//! (x − p_f)·n_f is linear in x, so the points of one element that face the same way are added up beforehand; only
//! their weight is then taken at their mean. This makes the sum three times shorter.

use crate::parallel::prelude::*;
use glam::{DMat3, DVec3};

use super::graph::{Graph, Scratch};
use crate::reconstruct::body::rest::Body;

/// Width of the Gaussian for large fragments, radii. Half of it shows the steps of the lattice as lumps.
const WIDTH: f64 = 1.5;
/// Width for a fragment of one element: faces on opposite sides of it must not average out. It grows with the cube
/// root of the number of elements up to [`WIDTH`].
const LEAST_WIDTH: f64 = 0.7;
/// Weight ε of the fallback, against 1 for a fracture point at its place: it counts where no fracture point is near.
const FALLBACK: f64 = 0.02;
/// Points of an element are weighed together if the mean of their normals is at least this long.
const ONE_WAY: f64 = 0.6;
/// Fracture points within this of another, radii, and facing as it does to within this cosine, tell the
/// crack's direction there.
const PATCH: f64 = 3.5;
const FACING: f64 = 0.2;
/// Spread of fracture points, radii squared, below which they say as much of the crack's direction as the bonds do.
const SPREAD: f64 = 0.05;

/// Fracture points of one element that are weighed together.
#[derive(Clone, Copy, Debug)]
struct FracturePoints {
    /// Their mean, m.
    mean: DVec3,
    /// Their outward normal times their number.
    normal: DVec3,
    /// Sum of p_f·n_f, m.
    height: f64,
    count: f64,
}

impl FracturePoints {
    /// The points at `halves` from the element at `centre`.
    fn sum(centre: DVec3, halves: &[DVec3]) -> Self {
        let count = halves.len() as f64;
        let normal = halves.iter().map(|half| half.normalize_or_zero()).sum();
        FracturePoints {
            mean: centre + halves.iter().sum::<DVec3>() / count,
            normal,
            height: centre.dot(normal) + halves.iter().map(|half| half.length()).sum::<f64>(),
            count,
        }
    }
}

/// F at a point.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// F, m.
    pub value: f64,
    /// Its gradient, the weights held.
    pub gradient: DVec3,
}

/// The cracks of a body in one state.
#[derive(Debug)]
pub struct Cracks<'a> {
    /// The body.
    pub body: &'a Body,
    /// Piece of each of its elements.
    pub piece_of: &'a [u32],
    /// Its whole bonds.
    pub graph: Graph,
    /// Its open bonds, by number.
    pub open: Vec<u32>,
    /// Range of each element in `points`.
    first: Vec<u32>,
    points: Vec<FracturePoints>,
    /// For each piece, 1 / 10σ², 1/m².
    falloff: Vec<f64>,
    /// For each piece, its elements.
    counts: Vec<u32>,
    /// Range of each element in `members`; empty for one without open bonds.
    side: Vec<u32>,
    /// Elements with open bonds on the side of each such element.
    members: Vec<u32>,
}

impl<'a> Cracks<'a> {
    /// Whether the ends of two elements are held together by any bond decides `broken`, by bond; elements of
    /// different pieces are apart.
    pub fn new(body: &'a Body, piece_of: &'a [u32], broken: &[bool]) -> Self {
        let parted = |b: usize| {
            let bond = &body.bonds[b];
            broken[b] || piece_of[bond.i as usize] != piece_of[bond.j as usize]
        };
        let graph = Graph::new(piece_of.len(), &body.bonds, |b| !parted(b));
        let open: Vec<u32> = (0..body.bonds.len())
            .into_par_iter()
            .filter(|&b| {
                let bond = &body.bonds[b];
                parted(b) && !graph.near(bond.i, bond.j)
            })
            .map(|b| b as u32)
            .collect();
        let mut cracks = Cracks {
            body,
            piece_of,
            graph,
            open,
            first: vec![0; piece_of.len() + 1],
            points: Vec::new(),
            falloff: Vec::new(),
            counts: Vec::new(),
            side: vec![0; piece_of.len() + 1],
            members: Vec::new(),
        };
        let partners = cracks.find_points();
        cracks.find_sides(&partners);
        cracks.turn_normals();
        cracks
    }

    /// Fills in the fracture points; the other ends of each element's open bonds.
    fn find_points(&mut self) -> Partners {
        let (body, piece_of) = (self.body, self.piece_of);
        let elements = piece_of.len();
        let mut ends = vec![0_u32; elements + 1];
        for &b in &self.open {
            let bond = &body.bonds[b as usize];
            ends[bond.i as usize + 1] += 1;
            ends[bond.j as usize + 1] += 1;
        }
        for element in 0..elements {
            ends[element + 1] += ends[element];
        }
        let mut next = ends.clone();
        let total = ends[elements] as usize;
        let (mut halves, mut others) = (vec![DVec3::ZERO; total], vec![0_u32; total]);
        for &b in &self.open {
            let bond = &body.bonds[b as usize];
            for (end, other, half) in [(bond.i, bond.j, bond.half), (bond.j, bond.i, -bond.half)] {
                let at = &mut next[end as usize];
                halves[*at as usize] = half;
                others[*at as usize] = other;
                *at += 1;
            }
        }
        let pieces = piece_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut counts = vec![0_u32; pieces];
        for &piece in piece_of {
            counts[piece as usize] += 1;
        }
        let width = |count: u32| (LEAST_WIDTH * f64::from(count).cbrt()).min(WIDTH);
        for element in 0..elements {
            let own = &halves[ends[element] as usize..ends[element + 1] as usize];
            self.first[element] = self.points.len() as u32;
            if own.is_empty() {
                continue;
            }
            let centre = body.positions[element];
            let together = FracturePoints::sum(centre, own);
            let one_way = together.normal.length() > ONE_WAY * together.count;
            if width(counts[piece_of[element] as usize]) == WIDTH && one_way {
                self.points.push(together);
            } else {
                let each = own.iter().map(|&half| FracturePoints::sum(centre, &[half]));
                self.points.extend(each);
            }
        }
        self.first[elements] = self.points.len() as u32;
        let falloff = counts.iter();
        self.falloff = falloff
            .map(|&count| 1.0 / (10.0 * (width(count) * body.radius).powi(2)))
            .collect();
        self.counts = counts;
        Partners {
            first: ends,
            others,
        }
    }

    /// Fills in the members of the side of each element with open bonds.
    fn find_sides(&mut self, partners: &Partners) {
        let elements = self.piece_of.len();
        let lists: Vec<Vec<u32>> = (0..elements as u32)
            .into_par_iter()
            .with_min_len(1024)
            .map_init(
                || Scratch::new(elements),
                |scratch, element| {
                    if partners.of(element).is_empty() {
                        return Vec::new();
                    }
                    let around = self.graph.around(element, scratch);
                    let mut near: Vec<(u32, u8)> = around
                        .iter()
                        .copied()
                        .filter(|&(e, _)| !partners.of(e).is_empty())
                        .collect();
                    near.sort_unstable();
                    // Around a tip both sides may be in reach: an element counts only if it is nearer than
                    // what it has parted from.
                    let nearer = |&(e, hops): &(u32, u8)| {
                        partners.of(e).iter().all(|&other| {
                            let at = near.binary_search_by_key(&other, |&(e, _)| e);
                            at.map_or(true, |at| near[at].1 > hops)
                        })
                    };
                    let kept = near.iter().filter(|entry| nearer(entry));
                    kept.map(|&(e, _)| e).collect()
                },
            )
            .collect();
        self.members.reserve(lists.iter().map(Vec::len).sum());
        for (element, list) in lists.into_iter().enumerate() {
            self.members.extend(list);
            self.side[element + 1] = self.members.len() as u32;
        }
    }

    /// Turns the normals from the directions of single bonds to that of the crack. Where a crack meets the
    /// skin bonds are missing on one side, and those left lean; the points themselves lie on the crack. n
    /// minimises Σ w ((p_f − p̄)·n)² + SPREAD r² Σ w |n − n_f|².
    fn turn_normals(&mut self) {
        let r = self.body.radius;
        let entry_range = |element: u32| {
            self.first[element as usize] as usize..self.first[element as usize + 1] as usize
        };
        let turned: Vec<Vec<FracturePoints>> = (0..self.piece_of.len() as u32)
            .into_par_iter()
            .with_min_len(512)
            .map(|element| {
                let side =
                    self.side[element as usize] as usize..self.side[element as usize + 1] as usize;
                let members = &self.members[side];
                let own = self.points[entry_range(element)].iter();
                own.map(|entry| {
                    let facing = entry.normal.normalize_or_zero();
                    let mut near: Vec<(f64, &FracturePoints)> = Vec::new();
                    for other in members.iter().flat_map(|&e| &self.points[entry_range(e)]) {
                        let left =
                            1.0 - entry.mean.distance_squared(other.mean) / (PATCH * r).powi(2);
                        if left > 0.0 && other.normal.normalize_or_zero().dot(facing) > FACING {
                            near.push((left * left * other.count, other));
                        }
                    }
                    let weight: f64 = near.iter().map(|(w, _)| w).sum();
                    if weight <= 0.0 {
                        return *entry;
                    }
                    let mean = near.iter().map(|(w, p)| *w * p.mean).sum::<DVec3>() / weight;
                    let facing = near
                        .iter()
                        .map(|(w, p)| *w * p.normal / p.count)
                        .sum::<DVec3>();
                    let mut spread = DMat3::from_diagonal(DVec3::splat(SPREAD * r * r * weight));
                    for (w, p) in near {
                        let off = p.mean - mean;
                        spread += DMat3::from_cols(off * off.x, off * off.y, off * off.z) * w;
                    }
                    let normal = (spread.inverse() * facing).normalize_or_zero() * entry.count;
                    FracturePoints {
                        normal,
                        height: entry.mean.dot(normal),
                        ..*entry
                    }
                })
                .collect()
            })
            .collect();
        self.points = turned.concat();
    }

    /// Whether an element has open bonds.
    pub fn is_open(&self, element: u32) -> bool {
        self.first[element as usize] != self.first[element as usize + 1]
    }

    /// Middle of an open bond at rest, m.
    pub fn middle(&self, open: u32) -> DVec3 {
        let bond = &self.body.bonds[open as usize];
        self.body.positions[bond.i as usize] + bond.half
    }

    /// Whether a crack may pass between `a` and `b`.
    pub fn parts(&self, a: u32, b: u32) -> bool {
        a != b && (self.piece_of[a as usize] != self.piece_of[b as usize] || !self.graph.near(a, b))
    }

    /// Number of fragments.
    pub fn pieces(&self) -> usize {
        self.counts.len()
    }

    /// Number of elements of the fragment of `element`.
    pub fn elements_with(&self, element: u32) -> u32 {
        self.counts[self.piece_of[element as usize] as usize]
    }

    /// F at `x` of the side of `element`, which should be its nearest element to `x`.
    pub fn field(&self, x: DVec3, element: u32) -> Field {
        let at = element as usize;
        let own = &self.members[self.side[at] as usize..self.side[at + 1] as usize];
        let falloff = self.falloff[self.piece_of[at] as usize];
        let distance = x.distance(self.body.positions[at]);
        let (mut weights, mut value) = (FALLBACK, FALLBACK * (distance - self.body.radius));
        let mut gradient = DVec3::ZERO;
        let mut add = |member: u32| {
            let range =
                self.first[member as usize] as usize..self.first[member as usize + 1] as usize;
            for points in &self.points[range] {
                let left = (1.0 - x.distance_squared(points.mean) * falloff).max(0.0);
                let weight = left * left * left;
                weights += weight * points.count;
                value += weight * (x.dot(points.normal) - points.height);
                gradient += weight * points.normal;
            }
        };
        if own.is_empty() {
            // Deep in a fragment; its neighbours may face a crack.
            self.graph
                .row(element)
                .iter()
                .for_each(|&member| add(member));
        } else {
            own.iter().for_each(|&member| add(member));
        }
        Field {
            value: value / weights,
            gradient: gradient / weights,
        }
    }

    /// Height of `x` above the sheet between the sides of two elements, m: negative on the side of the first.
    pub fn height(&self, x: DVec3, elements: [u32; 2]) -> f64 {
        let [a, b] = elements.map(|element| self.field(x, element).value);
        (a - b) / 2.0
    }

    /// The point of the sheet between the sides of two elements nearest to `x`, to first order, and the
    /// sheet's unit normal from the first to the second; `x` itself and zero where no fracture point is near.
    pub fn between(&self, x: DVec3, elements: [u32; 2]) -> (DVec3, DVec3) {
        let [a, b] = elements.map(|element| self.field(x, element));
        let gradient = a.gradient - b.gradient;
        let squared = gradient.length_squared();
        if squared < 1e-12 {
            return (x, DVec3::ZERO);
        }
        let step = gradient * ((b.value - a.value) / squared);
        (x + step, gradient / squared.sqrt())
    }
}

/// The other ends of the open bonds of each element.
struct Partners {
    first: Vec<u32>,
    others: Vec<u32>,
}

impl Partners {
    fn of(&self, element: u32) -> &[u32] {
        let element = element as usize;
        &self.others[self.first[element] as usize..self.first[element + 1] as usize]
    }
}

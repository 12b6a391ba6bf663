//! Signed distances of the sides of cracks.
//!
//! A broken bond is *open* unless a short path of intact bonds still connects its ends. An open bond leaves a
//! fracture point p_f at its middle for both ends, with the outward normal n_f. The side of an element
//! consists of the elements that [`BondGraph`] connects to it. The field of a side (Lu et al. 2021, eq. 19,
//! with a fallback so that it is defined everywhere) is
//!
//! ```text
//! F(x) = (Σ_f w_f (x − p_f)·n_f + ε (d − r)) / (Σ_f w_f + ε),   w_f = max(0, 1 − |x − p_f|² / 10σ²)³
//! ```
//!
//! over the fracture points of the side. The weight approximates a Gaussian of width σ: it has the same
//! variance over a plane, and compact support. d is the distance to the side's nearest element. At each point
//! the side with the smallest F is the owner, which is the sign of the partition φ_k = ½ (F_k − min F_m):
//! every point has one owner, and both faces of a crack are one sheet.
//!
//! (x − p_f)·n_f is linear in x, so the points of one element with similar normals are summed beforehand;
//! only their weight is then evaluated at their mean. This makes the sum three times shorter.

use crate::parallel::prelude::*;
use glam::{DMat3, DVec3};

use crate::reconstruct::body::graph::{BondGraph, GraphScratch};
use crate::reconstruct::body::rest::RestBody;

/// Width of the Gaussian for large fragments, radii. Half of it shows the steps of the lattice as bumps.
const WIDTH: f64 = 1.5;
/// Width for a fragment of one element, where faces on opposite sides of the element must not average out.
/// The width grows with the cube root of the number of elements up to [`WIDTH`].
const MIN_WIDTH: f64 = 0.7;
/// Weight ε of the fallback; a fracture point at its own position has weight 1. It counts where no fracture
/// point is near.
const FALLBACK_WEIGHT: f64 = 0.02;
/// The fracture points of an element are merged if the mean of their normals is at least this long.
const MIN_MEAN_NORMAL: f64 = 0.6;
/// Fracture points within this distance of another one (radii) contribute to the normal of the crack there,
/// if the cosine between the normals exceeds [`MIN_FACING_COSINE`].
const PATCH_RADIUS: f64 = 3.5;
const MIN_FACING_COSINE: f64 = 0.2;
/// Variance of the fracture points, radii squared, at which their positions and the directions of their bonds
/// determine the normal with equal weight.
const DIRECTION_VARIANCE: f64 = 0.05;

/// Merged fracture points of one element.
#[derive(Clone, Copy, Debug)]
struct FracturePoints {
    /// Mean position, m.
    mean: DVec3,
    /// Sum of the outward normals.
    normal: DVec3,
    /// Sum of p_f·n_f, m.
    height: f64,
    count: f64,
}

impl FracturePoints {
    /// Merges the points at offsets `halves` from the element at `centre`.
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

/// Value of F at a point.
#[derive(Clone, Copy, Debug)]
pub struct FieldValue {
    /// F, m.
    pub value: f64,
    /// Gradient of F with fixed weights.
    pub gradient: DVec3,
}

/// The cracks of a body in one state of breakage.
#[derive(Debug)]
pub struct Cracks<'a> {
    /// The body.
    pub body: &'a RestBody,
    /// Index of the fragment of each element.
    pub fragment_of: &'a [u32],
    /// The intact bonds.
    pub graph: BondGraph,
    /// Indices of the open bonds.
    pub open: Vec<u32>,
    /// First entry of each element in `points`.
    first: Vec<u32>,
    points: Vec<FracturePoints>,
    /// 1 / 10σ² of each fragment, 1/m².
    falloff: Vec<f64>,
    /// Number of elements of each fragment.
    counts: Vec<u32>,
    /// First entry of each element in `members`; elements without open bonds have none.
    side: Vec<u32>,
    /// For each element with open bonds, the elements with open bonds on its side.
    members: Vec<u32>,
}

impl<'a> Cracks<'a> {
    /// Finds the cracks. `broken` says for each bond whether it is broken; elements of different fragments
    /// are always separate.
    pub fn new(body: &'a RestBody, fragment_of: &'a [u32], broken: &[bool]) -> Self {
        let is_separated = |b: usize| {
            let bond = &body.bonds[b];
            broken[b] || fragment_of[bond.i as usize] != fragment_of[bond.j as usize]
        };
        let intact = (0..body.bonds.len()).filter(|&b| !is_separated(b));
        let pairs = intact.map(|b| [body.bonds[b].i, body.bonds[b].j]);
        let graph = BondGraph::new(fragment_of.len(), pairs);
        let open: Vec<u32> = (0..body.bonds.len())
            .into_par_iter()
            .filter(|&b| {
                let bond = &body.bonds[b];
                is_separated(b) && !graph.are_close(bond.i, bond.j)
            })
            .map(|b| b as u32)
            .collect();
        let mut cracks = Cracks {
            body,
            fragment_of,
            graph,
            open,
            first: vec![0; fragment_of.len() + 1],
            points: Vec::new(),
            falloff: Vec::new(),
            counts: Vec::new(),
            side: vec![0; fragment_of.len() + 1],
            members: Vec::new(),
        };
        let partners = cracks.find_points();
        cracks.find_sides(&partners);
        cracks.fit_normals();
        cracks
    }

    /// Fills in the fracture points. Returns the other ends of each element's open bonds.
    fn find_points(&mut self) -> Partners {
        let (body, fragment_of) = (self.body, self.fragment_of);
        let elements = fragment_of.len();
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
        let pieces = fragment_of
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        let mut counts = vec![0_u32; pieces];
        for &piece in fragment_of {
            counts[piece as usize] += 1;
        }
        let width = |count: u32| (MIN_WIDTH * f64::from(count).cbrt()).min(WIDTH);
        for element in 0..elements {
            let own = &halves[ends[element] as usize..ends[element + 1] as usize];
            self.first[element] = self.points.len() as u32;
            if own.is_empty() {
                continue;
            }
            let centre = body.positions[element];
            let together = FracturePoints::sum(centre, own);
            let one_way = together.normal.length() > MIN_MEAN_NORMAL * together.count;
            if width(counts[fragment_of[element] as usize]) == WIDTH && one_way {
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
        let elements = self.fragment_of.len();
        let lists: Vec<Vec<u32>> = (0..elements as u32)
            .into_par_iter()
            .with_min_len(1024)
            .map_init(
                || GraphScratch::new(elements),
                |scratch, element| {
                    if partners.of(element).is_empty() {
                        return Vec::new();
                    }
                    let around = self.graph.within_hops(element, scratch);
                    let mut near: Vec<(u32, u8)> = around
                        .iter()
                        .copied()
                        .filter(|&(e, _)| !partners.of(e).is_empty())
                        .collect();
                    near.sort_unstable();
                    // Around a tip both sides may be in reach: an element counts only if it is nearer than
                    // the elements that it has separated from.
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

    /// Replaces the directions of single bonds by fitted normals of the crack. Where a crack meets the skin,
    /// bonds are missing on one side and the mean direction of the others leans, but the fracture points
    /// themselves lie on the crack. n minimises Σ w ((p_f − p̄)·n)² + s r² Σ w |n − n_f|², with s =
    /// [`DIRECTION_VARIANCE`].
    fn fit_normals(&mut self) {
        let r = self.body.radius;
        let entry_range = |element: u32| {
            self.first[element as usize] as usize..self.first[element as usize + 1] as usize
        };
        let turned: Vec<Vec<FracturePoints>> = (0..self.fragment_of.len() as u32)
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
                        let left = 1.0
                            - entry.mean.distance_squared(other.mean) / (PATCH_RADIUS * r).powi(2);
                        if left > 0.0
                            && other.normal.normalize_or_zero().dot(facing) > MIN_FACING_COSINE
                        {
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
                    let mut spread =
                        DMat3::from_diagonal(DVec3::splat(DIRECTION_VARIANCE * r * r * weight));
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
    pub fn has_open_bonds(&self, element: u32) -> bool {
        self.first[element as usize] != self.first[element as usize + 1]
    }

    /// Midpoint of an open bond at rest, m.
    pub fn midpoint(&self, open: u32) -> DVec3 {
        let bond = &self.body.bonds[open as usize];
        self.body.positions[bond.i as usize] + bond.half
    }

    /// Whether a crack may pass between elements `a` and `b`.
    pub fn separates(&self, a: u32, b: u32) -> bool {
        a != b
            && (self.fragment_of[a as usize] != self.fragment_of[b as usize]
                || !self.graph.are_close(a, b))
    }

    /// Number of fragments.
    pub fn fragment_count(&self) -> usize {
        self.counts.len()
    }

    /// Number of elements of the fragment that contains `element`.
    pub fn fragment_size(&self, element: u32) -> u32 {
        self.counts[self.fragment_of[element as usize] as usize]
    }

    /// F at `x` of the side of `element`, which should be the element of that side that is nearest to `x`.
    pub fn field(&self, x: DVec3, element: u32) -> FieldValue {
        let at = element as usize;
        let own = &self.members[self.side[at] as usize..self.side[at + 1] as usize];
        let falloff = self.falloff[self.fragment_of[at] as usize];
        let distance = x.distance(self.body.positions[at]);
        let (mut weights, mut value) = (
            FALLBACK_WEIGHT,
            FALLBACK_WEIGHT * (distance - self.body.radius),
        );
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
            // The element is inside a fragment, but its neighbours may be at a crack.
            self.graph
                .neighbours(element)
                .iter()
                .for_each(|&member| add(member));
        } else {
            own.iter().for_each(|&member| add(member));
        }
        FieldValue {
            value: value / weights,
            gradient: gradient / weights,
        }
    }

    /// Height of `x` above the sheet between the sides of two elements, m; negative on the side of the first.
    pub fn height(&self, x: DVec3, elements: [u32; 2]) -> f64 {
        let [a, b] = elements.map(|element| self.field(x, element).value);
        (a - b) / 2.0
    }

    /// Nearest point to `x` on the sheet between the sides of two elements, to first order, and the sheet's
    /// unit normal from the first to the second. Returns `x` itself and zero if no fracture point is near.
    pub fn nearest_on_sheet(&self, x: DVec3, elements: [u32; 2]) -> (DVec3, DVec3) {
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

/// The other ends of each element's open bonds.
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

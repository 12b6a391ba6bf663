//! Elements that push each other apart on the layers of a shell until none overlaps another.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::super::hilbert;
use super::super::random::OVERLAP;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::cell_grid::CellGrid;

/// Elements that a thread takes at a time.
const CHUNK: usize = 1024;
/// What of a step is kept for the next, and what of the push is added to it: heavy balls roll past the many small dips.
const INERTIA: f64 = 0.8;
const PUSH: f64 = 0.15;
/// Longest step, radii.
const LONGEST: f64 = 0.1;
/// Steps between two looks at the skin.
const LOOK: usize = 8;
/// How far apart pairs in the list may be beyond their reach, radii.
const SKIN: f64 = 0.4;
/// How far an element may leave its layer in the end, radii.
const LEAVE: f64 = 0.2;
/// Distance of neighbours on a triangular lattice over the root of the area of each, √(2/√3).
const LATTICE: f64 = 1.074_569_931_823_542;
/// Steps of each phase; the last may be repeated.
const SPREADING: usize = 100;
const NESTING: usize = 60;
const PARTING: usize = 200;
/// Times that elements are left out where others have no room for them, at most.
const LEFT_OUT: usize = 200;
/// Reach of elements of one layer over their mean distance while they spread.
const FAR: f64 = 1.35;
/// Reach of elements of different layers while they nest, radii: they slide into the hollows of the next layer.
const HOLLOW: f64 = 2.2;

/// A skin that depths are measured from.
pub(super) struct Surface<'a> {
    mesh: &'a TriMesh,
    bvh: Bvh,
}

impl<'a> Surface<'a> {
    pub fn new(mesh: &'a TriMesh) -> Self {
        Surface {
            mesh,
            bvh: Bvh::new(mesh),
        }
    }

    /// How far a point lies from the skin, m.
    #[cfg(test)]
    pub fn depth(&self, p: DVec3) -> f64 {
        self.foot(p, f64::INFINITY)
            .map_or(f64::INFINITY, |(q, _)| p.distance(q))
    }

    /// Nearest point of the skin and the way from it to a point inside.
    fn foot(&self, p: DVec3, reach: f64) -> Option<(DVec3, DVec3)> {
        let (q, t) = self.bvh.nearest_within(self.mesh, p, reach)?;
        let [a, b, c] = self.mesh.corners(t as usize);
        let inward = || (c - a).cross(b - a).normalize_or_zero();
        Some((q, (p - q).try_normalize().unwrap_or_else(inward)))
    }
}

/// Elements on layers under a skin.
pub(super) struct Layers<'a> {
    skin: Surface<'a>,
    radius: f64,
    /// Depth of each layer, m.
    depths: Vec<f64>,
    places: Vec<DVec3>,
    layer: Vec<u32>,
    /// Foot on the skin and the way inwards, as of the last look.
    feet: Vec<(DVec3, DVec3)>,
}

/// How far pairs push, m: those of one layer, those of different ones. How far an element may leave its layer, m.
#[derive(Clone, Copy)]
struct Phase {
    same: f64,
    other: f64,
    leave: f64,
}

/// Pairs that are near each other.
struct Near {
    starts: Vec<u32>,
    others: Vec<u32>,
    anchors: Vec<DVec3>,
}

impl<'a> Layers<'a> {
    pub fn new(skin: Surface<'a>, radius: f64, depths: Vec<f64>, drawn: Vec<Vec<DVec3>>) -> Self {
        let layer = (0..).zip(&drawn).flat_map(|(k, on)| vec![k; on.len()]);
        let layer = layer.collect();
        let places = drawn.concat();
        let mut layers = Layers {
            skin,
            radius,
            depths,
            feet: vec![(DVec3::ZERO, DVec3::ZERO); places.len()],
            places,
            layer,
        };
        // So that elements a thread takes lie together.
        let order = hilbert::order(&layers.places);
        layers.reorder(&order);
        layers
    }

    fn reorder(&mut self, order: &[u32]) {
        let at = |k: &u32| *k as usize;
        self.places = order.iter().map(|k| self.places[at(k)]).collect();
        self.layer = order.iter().map(|k| self.layer[at(k)]).collect();
        self.feet = order.iter().map(|k| self.feet[at(k)]).collect();
    }

    /// Spreads the elements, `mean` radii apart on their layer, and leaves none that overlaps another by more
    /// than a packing may.
    pub fn pack(&mut self, mean: f64) {
        let r = self.radius;
        let spreading = Phase {
            same: FAR * mean * r * LATTICE,
            other: 0.0,
            leave: 0.0,
        };
        self.run(spreading, SPREADING);
        let nesting = Phase {
            same: mean * LATTICE * r,
            other: HOLLOW * r,
            leave: 0.0,
        };
        self.run(nesting, NESTING);
        // A little farther than they touch: the last part of the way takes longest.
        let touch = r * (2.0 + OVERLAP);
        let parting = Phase {
            same: touch,
            other: touch,
            leave: LEAVE * r,
        };
        for _ in 0..LEFT_OUT {
            self.run(parting, PARTING);
            if !self.leave_out_deepest() {
                break;
            }
        }
    }

    /// Centres and the ways inwards from the skin.
    pub fn done(self) -> (Vec<DVec3>, Vec<DVec3>) {
        let inward = self.feet.into_iter().map(|(_, inward)| inward).collect();
        (self.places, inward)
    }

    fn look(&mut self) {
        let (skin, deepest) = (&self.skin, self.depths[self.depths.len() - 1]);
        let reach = deepest + 2.0 * self.radius;
        let places = self.places.par_iter().with_min_len(CHUNK);
        places.zip(&mut self.feet).for_each(|(p, foot)| {
            if let Some(found) = skin.foot(*p, reach) {
                *foot = found;
            }
        });
    }

    fn near(&self, phase: Phase) -> Near {
        let (same, other) = (
            phase.same + SKIN * self.radius,
            phase.other + SKIN * self.radius,
        );
        let grid = CellGrid::new(&self.places, same.max(other));
        let lists: Vec<(Vec<u32>, Vec<u32>)> = (0..self.places.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let first = chunk * CHUNK;
                let (mut ends, mut others) = (Vec::new(), Vec::with_capacity(16 * CHUNK));
                for i in first..(first + CHUNK).min(self.places.len()) {
                    let (p, layer) = (self.places[i], self.layer[i]);
                    grid.around(p, |j| {
                        let k = j as usize;
                        let reach = if self.layer[k] == layer { same } else { other };
                        if k != i && p.distance_squared(self.places[k]) < reach * reach {
                            others.push(j);
                        }
                    });
                    ends.push(others.len() as u32);
                }
                (ends, others)
            })
            .collect();
        let mut near = Near {
            starts: vec![0],
            others: Vec::new(),
            anchors: self.places.clone(),
        };
        for (ends, others) in lists {
            let before = near.others.len() as u32;
            near.starts.extend(ends.iter().map(|end| before + end));
            near.others.extend(others);
        }
        near
    }

    /// Lets pairs push each other for so many steps, or until none that overlaps is left where they may leave
    /// their layers.
    fn run(&mut self, phase: Phase, steps: usize) {
        let mut near = self.near(phase);
        let mut moves = vec![DVec3::ZERO; self.places.len()];
        let limit = self.radius * (2.0 - OVERLAP);
        for step in 0..steps {
            if step % LOOK == 0 {
                self.look();
            }
            let deepest = moves
                .par_chunks_mut(CHUNK)
                .enumerate()
                .map(|(chunk, moves)| {
                    let mut closest = f64::INFINITY;
                    for (i, step) in (chunk * CHUNK..).zip(moves) {
                        let push = self.push(i, &near, phase, &mut closest);
                        let inward = self.feet[i].1;
                        // Along the layer while elements are held on it.
                        let held = if phase.leave == 0.0 {
                            inward
                        } else {
                            DVec3::ZERO
                        };
                        let next = INERTIA * *step + PUSH * push;
                        let next = next - held * held.dot(next);
                        *step = next.clamp_length_max(LONGEST * self.radius);
                    }
                    closest
                })
                .reduce(|| f64::INFINITY, f64::min);
            let parting = phase.leave > 0.0;
            if parting && step % LOOK == 0 && deepest >= limit {
                return;
            }
            let (feet, layer, depths) = (&self.feet, &self.layer, &self.depths);
            let far = self
                .places
                .par_iter_mut()
                .with_min_len(CHUNK)
                .enumerate()
                .map(|(i, p)| {
                    let (foot, inward) = feet[i];
                    *p += moves[i];
                    let over = (*p - foot).dot(inward) - depths[layer[i] as usize];
                    *p -= inward * (over - over.clamp(-phase.leave, phase.leave));
                    p.distance_squared(near.anchors[i])
                })
                .reduce(|| 0.0, f64::max);
            if far.sqrt() > 0.5 * SKIN * self.radius {
                near = self.near(phase);
            }
        }
    }

    /// The push on an element, m, and the least distance from it, if it is less than `closest`.
    fn push(&self, i: usize, near: &Near, phase: Phase, closest: &mut f64) -> DVec3 {
        let (p, layer) = (self.places[i], self.layer[i]);
        let others = &near.others[near.starts[i] as usize..near.starts[i + 1] as usize];
        let mut sum = DVec3::ZERO;
        for &j in others {
            let j = j as usize;
            let reach = if self.layer[j] == layer {
                phase.same
            } else {
                phase.other
            };
            let d = p - self.places[j];
            let squared = d.length_squared();
            if squared < reach * reach {
                let distance = squared.sqrt();
                *closest = closest.min(distance);
                sum += d * ((reach - distance) / distance.max(f64::MIN_POSITIVE));
            }
        }
        sum
    }

    /// Leaves out elements that overlap another by more than they may: of those beside each other the one
    /// that overlaps most, all in all. False if none does.
    fn leave_out_deepest(&mut self) -> bool {
        let limit = self.radius * (2.0 - OVERLAP);
        let phase = Phase {
            same: limit,
            other: limit,
            leave: 0.0,
        };
        let near = self.near(phase);
        let depth: Vec<f64> = (0..self.places.len())
            .into_par_iter()
            .map(|i| self.push_depth(i, &near, limit))
            .collect();
        if depth.iter().all(|depth| *depth == 0.0) {
            return false;
        }
        let kept: Vec<u32> = (0..self.places.len())
            .filter(|&i| {
                let others = &near.others[near.starts[i] as usize..near.starts[i + 1] as usize];
                let most = others
                    .iter()
                    .all(|&j| (depth[i], j) > (depth[j as usize], i as u32));
                depth[i] == 0.0 || !most
            })
            .map(|i| i as u32)
            .collect();
        self.reorder(&kept);
        true
    }

    /// Overlaps of an element with others, added, m.
    fn push_depth(&self, i: usize, near: &Near, limit: f64) -> f64 {
        let others = &near.others[near.starts[i] as usize..near.starts[i + 1] as usize];
        let gaps = others
            .iter()
            .map(|&j| limit - self.places[i].distance(self.places[j as usize]));
        gaps.filter(|depth| *depth > 0.0).sum()
    }
}

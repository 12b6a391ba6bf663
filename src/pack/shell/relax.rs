//! Relaxation of the elements on the layers of a shell: they push each other apart until none overlaps
//! another.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::super::hilbert;
use super::super::random::OVERLAP;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::cell_grid::CellGrid;

/// Number of elements per parallel task.
const CHUNK: usize = 1024;
/// Fraction of the last step that is kept, and fraction of the push that is added to it. The momentum carries
/// elements across small local minima (heavy-ball method).
const INERTIA: f64 = 0.8;
const PUSH: f64 = 0.15;
/// Largest step, radii.
const LONGEST: f64 = 0.1;
/// Steps between two updates of the nearest points on the skin.
const LOOK: usize = 8;
/// Verlet skin: margin of the distances in the neighbour list, radii.
const SKIN: f64 = 0.4;
/// Largest final distance of an element from its layer, radii.
const LEAVE: f64 = 0.2;
/// Distance of neighbours on a triangular lattice over the square root of the area per point, √(2/√3).
const LATTICE: f64 = 1.074_569_931_823_542;
/// Numbers of steps of each phase; the last phase may be repeated.
const SPREADING: usize = 100;
const NESTING: usize = 60;
const PARTING: usize = 200;
/// Largest number of rounds in which overlapping elements are removed.
const LEFT_OUT: usize = 200;
/// Interaction range within a layer while elements spread, over their mean distance.
const FAR: f64 = 1.35;
/// Interaction range between layers while elements nest, radii: they slide into the hollows of the next
/// layer.
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

    /// Distance of a point from the skin, m.
    #[cfg(test)]
    pub fn depth(&self, p: DVec3) -> f64 {
        self.foot(p, f64::INFINITY)
            .map_or(f64::INFINITY, |(q, _)| p.distance(q))
    }

    /// Nearest point of the skin within `reach` (m), and the unit vector from it to the point `p` inside.
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
    /// Nearest point of the skin and the unit vector inwards from it, as of the last update.
    feet: Vec<(DVec3, DVec3)>,
}

/// Parameters of a phase, m: interaction range within a layer, interaction range between layers, largest
/// distance of an element from its layer.
#[derive(Clone, Copy)]
struct Phase {
    same: f64,
    other: f64,
    leave: f64,
}

/// Neighbour list: the neighbours of element k are `others[starts[k]..starts[k + 1]]`; `anchors` are the
/// positions when it was built.
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
        // Elements of one parallel task then lie near each other.
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

    /// Spreads the elements, whose area per element on their layer is (`mean` radii)², and removes those that
    /// overlap another by more than is allowed.
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
        // A range a little larger than contact, since the last part of the separation takes longest.
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

    /// Centres of the elements, and the unit vectors inwards from the skin.
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

    /// Runs a phase for `steps` steps; a phase in which elements may leave their layers ends early when no
    /// overlap is left.
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
                        // While elements are kept on their layer, they move only along it.
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

    /// The push on an element, m; lowers `closest` to the smallest distance of its neighbours.
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

    /// Removes elements that overlap another by more than is allowed: among neighbours, the one with the
    /// largest sum of overlaps. Returns false if there are none.
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

    /// Sum of the overlaps of an element with others, m.
    fn push_depth(&self, i: usize, near: &Near, limit: f64) -> f64 {
        let others = &near.others[near.starts[i] as usize..near.starts[i + 1] as usize];
        let gaps = others
            .iter()
            .map(|&j| limit - self.places[i].distance(self.places[j as usize]));
        gaps.filter(|depth| *depth > 0.0).sum()
    }
}

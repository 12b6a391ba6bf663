//! Relaxation of the elements on the layers of a shell: they push each other apart until none overlaps
//! another.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::super::hilbert;
use super::super::random::MAX_OVERLAP;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::cell_grid::CellGrid;

/// Number of elements per parallel task.
const CHUNK: usize = 1024;
/// Fraction of the last step that is kept, and fraction of the push that is added to it. The momentum carries
/// elements across small local minima (heavy-ball method).
const MOMENTUM: f64 = 0.8;
const PUSH_FACTOR: f64 = 0.15;
/// Largest step, radii.
const MAX_STEP: f64 = 0.1;
/// Steps between two updates of the nearest points on the skin.
const SKIN_UPDATE_INTERVAL: usize = 8;
/// Verlet skin: margin of the distances in the neighbour list, radii.
const VERLET_SKIN: f64 = 0.4;
/// Largest final distance of an element from its layer, radii.
const MAX_DEPARTURE: f64 = 0.2;
/// Distance of neighbours on a triangular lattice over the square root of the area per point, √(2/√3).
const LATTICE_DISTANCE: f64 = 1.074_569_931_823_542;
/// Numbers of steps of each phase; the last phase may be repeated.
const SPREADING_STEPS: usize = 100;
const NESTING_STEPS: usize = 60;
const PARTING_STEPS: usize = 200;
/// Largest number of rounds in which overlapping elements are removed.
const MAX_REMOVAL_ROUNDS: usize = 200;
/// Interaction range within a layer while elements spread, over their mean distance.
const SPREADING_RANGE: f64 = 1.35;
/// Interaction range between layers while elements nest, radii: they slide into the hollows of the next
/// layer.
const NESTING_RANGE: f64 = 2.2;

/// A skin that depths are measured from.
pub(super) struct SkinSurface<'a> {
    mesh: &'a TriMesh,
    bvh: Bvh,
}

impl<'a> SkinSurface<'a> {
    pub fn new(mesh: &'a TriMesh) -> Self {
        SkinSurface {
            mesh,
            bvh: Bvh::new(mesh),
        }
    }

    /// Distance of a point from the skin, m.
    #[cfg(test)]
    pub fn depth(&self, p: DVec3) -> f64 {
        self.nearest(p, f64::INFINITY)
            .map_or(f64::INFINITY, |(q, _)| p.distance(q))
    }

    /// Nearest point of the skin within `reach` (m), and the unit vector from it to the point `p` inside.
    fn nearest(&self, p: DVec3, reach: f64) -> Option<(DVec3, DVec3)> {
        let (q, t) = self.bvh.nearest_within(self.mesh, p, reach)?;
        let [a, b, c] = self.mesh.corners(t as usize);
        let inward = || (c - a).cross(b - a).normalize_or_zero();
        Some((q, (p - q).try_normalize().unwrap_or_else(inward)))
    }
}

/// Elements on layers under a skin.
pub(super) struct ShellLayers<'a> {
    skin: SkinSurface<'a>,
    radius: f64,
    /// Depth of each layer, m.
    depths: Vec<f64>,
    positions: Vec<DVec3>,
    layer: Vec<u32>,
    /// Nearest point of the skin and the unit vector inwards from it, as of the last update.
    skin_points: Vec<(DVec3, DVec3)>,
}

/// Parameters of a phase, m: interaction range within a layer, interaction range between layers, largest
/// distance of an element from its layer.
#[derive(Clone, Copy)]
struct RelaxationPhase {
    layer_range: f64,
    cross_range: f64,
    max_departure: f64,
}

/// Neighbour list: the neighbours of element k are `others[starts[k]..starts[k + 1]]`; `anchors` are the
/// positions when it was built.
struct LayerNeighbours {
    starts: Vec<u32>,
    others: Vec<u32>,
    anchors: Vec<DVec3>,
}

impl<'a> ShellLayers<'a> {
    pub fn new(
        skin: SkinSurface<'a>,
        radius: f64,
        depths: Vec<f64>,
        drawn: Vec<Vec<DVec3>>,
    ) -> Self {
        let layer = (0..).zip(&drawn).flat_map(|(k, on)| vec![k; on.len()]);
        let layer = layer.collect();
        let positions = drawn.concat();
        let mut layers = ShellLayers {
            skin,
            radius,
            depths,
            skin_points: vec![(DVec3::ZERO, DVec3::ZERO); positions.len()],
            positions,
            layer,
        };
        // Elements of one parallel task then lie near each other.
        let order = hilbert::order(&layers.positions);
        layers.reorder(&order);
        layers
    }

    fn reorder(&mut self, order: &[u32]) {
        let at = |k: &u32| *k as usize;
        self.positions = order.iter().map(|k| self.positions[at(k)]).collect();
        self.layer = order.iter().map(|k| self.layer[at(k)]).collect();
        self.skin_points = order.iter().map(|k| self.skin_points[at(k)]).collect();
    }

    /// Spreads the elements, whose area per element on their layer is (`mean` radii)², and removes those that
    /// overlap another by more than is allowed.
    pub fn relax(&mut self, mean: f64) {
        let r = self.radius;
        let spreading = RelaxationPhase {
            layer_range: SPREADING_RANGE * mean * r * LATTICE_DISTANCE,
            cross_range: 0.0,
            max_departure: 0.0,
        };
        self.run_phase(spreading, SPREADING_STEPS);
        let nesting = RelaxationPhase {
            layer_range: mean * LATTICE_DISTANCE * r,
            cross_range: NESTING_RANGE * r,
            max_departure: 0.0,
        };
        self.run_phase(nesting, NESTING_STEPS);
        // A range a little larger than contact, since the last part of the separation takes longest.
        let touch = r * (2.0 + MAX_OVERLAP);
        let parting = RelaxationPhase {
            layer_range: touch,
            cross_range: touch,
            max_departure: MAX_DEPARTURE * r,
        };
        for _ in 0..MAX_REMOVAL_ROUNDS {
            self.run_phase(parting, PARTING_STEPS);
            if !self.remove_deepest() {
                break;
            }
        }
    }

    /// Centres of the elements, and the unit vectors inwards from the skin.
    pub fn into_centres(self) -> (Vec<DVec3>, Vec<DVec3>) {
        let inward = self
            .skin_points
            .into_iter()
            .map(|(_, inward)| inward)
            .collect();
        (self.positions, inward)
    }

    fn update_skin_points(&mut self) {
        let (skin, deepest) = (&self.skin, self.depths[self.depths.len() - 1]);
        let reach = deepest + 2.0 * self.radius;
        let positions = self.positions.par_iter().with_min_len(CHUNK);
        positions
            .zip(&mut self.skin_points)
            .for_each(|(p, nearest)| {
                if let Some(found) = skin.nearest(*p, reach) {
                    *nearest = found;
                }
            });
    }

    fn neighbour_list(&self, phase: RelaxationPhase) -> LayerNeighbours {
        let (same, other) = (
            phase.layer_range + VERLET_SKIN * self.radius,
            phase.cross_range + VERLET_SKIN * self.radius,
        );
        let grid = CellGrid::new(&self.positions, same.max(other));
        let lists: Vec<(Vec<u32>, Vec<u32>)> = (0..self.positions.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let first = chunk * CHUNK;
                let (mut ends, mut others) = (Vec::new(), Vec::with_capacity(16 * CHUNK));
                for i in first..(first + CHUNK).min(self.positions.len()) {
                    let (p, layer) = (self.positions[i], self.layer[i]);
                    grid.around(p, |j| {
                        let k = j as usize;
                        let reach = if self.layer[k] == layer { same } else { other };
                        if k != i && p.distance_squared(self.positions[k]) < reach * reach {
                            others.push(j);
                        }
                    });
                    ends.push(others.len() as u32);
                }
                (ends, others)
            })
            .collect();
        let mut near = LayerNeighbours {
            starts: vec![0],
            others: Vec::new(),
            anchors: self.positions.clone(),
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
    fn run_phase(&mut self, phase: RelaxationPhase, steps: usize) {
        let mut near = self.neighbour_list(phase);
        let mut moves = vec![DVec3::ZERO; self.positions.len()];
        let limit = self.radius * (2.0 - MAX_OVERLAP);
        for step in 0..steps {
            if step % SKIN_UPDATE_INTERVAL == 0 {
                self.update_skin_points();
            }
            let deepest = moves
                .par_chunks_mut(CHUNK)
                .enumerate()
                .map(|(chunk, moves)| {
                    let mut closest = f64::INFINITY;
                    for (i, step) in (chunk * CHUNK..).zip(moves) {
                        let push = self.push(i, &near, phase, &mut closest);
                        let inward = self.skin_points[i].1;
                        // While elements are kept on their layer, they move only along it.
                        let held = if phase.max_departure == 0.0 {
                            inward
                        } else {
                            DVec3::ZERO
                        };
                        let next = MOMENTUM * *step + PUSH_FACTOR * push;
                        let next = next - held * held.dot(next);
                        *step = next.clamp_length_max(MAX_STEP * self.radius);
                    }
                    closest
                })
                .reduce(|| f64::INFINITY, f64::min);
            let parting = phase.max_departure > 0.0;
            if parting && step % SKIN_UPDATE_INTERVAL == 0 && deepest >= limit {
                return;
            }
            let (skin_points, layer, depths) = (&self.skin_points, &self.layer, &self.depths);
            let far = self
                .positions
                .par_iter_mut()
                .with_min_len(CHUNK)
                .enumerate()
                .map(|(i, p)| {
                    let (nearest, inward) = skin_points[i];
                    *p += moves[i];
                    let over = (*p - nearest).dot(inward) - depths[layer[i] as usize];
                    *p -= inward * (over - over.clamp(-phase.max_departure, phase.max_departure));
                    p.distance_squared(near.anchors[i])
                })
                .reduce(|| 0.0, f64::max);
            if far.sqrt() > 0.5 * VERLET_SKIN * self.radius {
                near = self.neighbour_list(phase);
            }
        }
    }

    /// The push on an element, m; lowers `closest` to the smallest distance of its neighbours.
    fn push(
        &self,
        i: usize,
        near: &LayerNeighbours,
        phase: RelaxationPhase,
        closest: &mut f64,
    ) -> DVec3 {
        let (p, layer) = (self.positions[i], self.layer[i]);
        let others = &near.others[near.starts[i] as usize..near.starts[i + 1] as usize];
        let mut sum = DVec3::ZERO;
        for &j in others {
            let j = j as usize;
            let reach = if self.layer[j] == layer {
                phase.layer_range
            } else {
                phase.cross_range
            };
            let d = p - self.positions[j];
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
    fn remove_deepest(&mut self) -> bool {
        let limit = self.radius * (2.0 - MAX_OVERLAP);
        let phase = RelaxationPhase {
            layer_range: limit,
            cross_range: limit,
            max_departure: 0.0,
        };
        let near = self.neighbour_list(phase);
        let depth: Vec<f64> = (0..self.positions.len())
            .into_par_iter()
            .map(|i| self.overlap_sum(i, &near, limit))
            .collect();
        if depth.iter().all(|depth| *depth == 0.0) {
            return false;
        }
        let kept: Vec<u32> = (0..self.positions.len())
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
    fn overlap_sum(&self, i: usize, near: &LayerNeighbours, limit: f64) -> f64 {
        let others = &near.others[near.starts[i] as usize..near.starts[i + 1] as usize];
        let gaps = others
            .iter()
            .map(|&j| limit - self.positions[i].distance(self.positions[j as usize]));
        gaps.filter(|depth| *depth > 0.0).sum()
    }
}

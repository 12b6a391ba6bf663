//! Search for pairs with polyhedra that may touch and are near.
//!
//! Cells joined by an intact face do not touch. Two cells that never shared a face do not touch while both
//! share an intact face with a common neighbour, which keeps them apart. So while a body is intact, cells
//! that meet at an edge exert no force on each other. A cell is *exposed* if it or a neighbour has an open
//! face, that is, a broken one or one of the skin: cells that are not exposed cannot be reached.

use std::ops::Range;

use glam::DVec3;

use super::collider;
use super::list::{Parameters, ShapeChunk, ShapeColliderContact, ShapeMemory, ShapePair, find};
use super::pair::evaluate;
use super::shapes::Shapes;
use crate::geometry::hash_grid::HashGrid;
use crate::geometry::polyhedron::OverlapScratch;
use crate::laws::contact;
use crate::laws::overlap::{self, OverlapParameters};
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::bonds::BondSide;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::{ChunkSide, chunk_side};
use crate::simulate::contact::collider_list::ColliderContext;
use crate::simulate::contact::surfaces::{Shared, Surfaces};
use crate::simulate::scene::colliders::PosedCollider;

/// A system with its polyhedra and their contact properties.
#[derive(Clone, Copy)]
pub struct ShapePairFinder<'a, S> {
    /// Elements and bonds.
    pub system: &'a System<S>,
    /// Polyhedra.
    pub shapes: &'a Shapes,
    /// Contact properties.
    pub surfaces: &'a Surfaces,
    /// Skin: gap up to which pairs are listed, m.
    pub skin: f64,
}

impl<S: Scalar> ShapePairFinder<'_, S> {
    /// Other ends of the intact bonds of an element.
    fn joined(&self, element: usize) -> impl Iterator<Item = usize> {
        let bonds = &self.system.bonds;
        let whole = bonds
            .sides(element)
            .filter(|side| bonds.is_intact(side.entry));
        whole.map(|side| side.other)
    }

    fn is_joined(&self, i: usize, j: usize) -> bool {
        self.joined(i).any(|other| other == j)
    }

    /// Whether nothing keeps two elements from touching. Elements that shared a face may touch once it is
    /// broken, others if no common neighbour shares an intact face with both; at least one of the two must be
    /// able to move.
    fn may_touch(&self, i: usize, j: usize) -> bool {
        let system = self.system;
        let held = |k: usize| system.inverse_mass[k].to_f64() == 0.0;
        if (held(i) && held(j)) || system.is_one_piece(i, j) {
            return false;
        }
        let bonds = &system.bonds;
        match bonds.find(i, j) {
            Some(side) => !bonds.is_intact(side.entry),
            None => self.joined(i).all(|near| !self.is_joined(near, j)),
        }
    }

    /// Whether an element has an open face; always true for balls.
    fn is_open(&self, element: usize) -> bool {
        let bonds = &self.system.bonds;
        let broken = |side: BondSide| !bonds.is_intact(side.entry);
        match self.shapes.get(element) {
            Some(shape) => shape.is_at_skin || bonds.sides(element).any(broken),
            None => true,
        }
    }

    /// Distance between centres up to which two elements are listed, m.
    fn reach(&self, i: usize, j: usize) -> f64 {
        let reach = |k: usize| self.shapes.reach(self.system, k);
        reach(i) + reach(j) + self.skin
    }

    /// The list entry of a pair, without history.
    fn pair(&self, own: u32, partner: u32) -> ShapePair {
        let ends = [own, partner].map(|end| end as usize);
        let system = self.system;
        let inverse_mass = ends.map(|end| system.inverse_mass[end].to_f64());
        let [a, b] = ends.map(|end| system.material[end] as usize);
        let shared = self.surfaces.pair(a, b);
        let parameters = match ends.map(|end| self.shapes.get(end)) {
            [Some(i), Some(j)] => {
                let length = system.radius(ends[0]) + system.radius(ends[1]);
                let area = i.area.min(j.area);
                let moves = |k: usize| f64::from(u8::from(inverse_mass[k] > 0.0));
                let inverse = (
                    inverse_mass[0] + inverse_mass[1],
                    moves(0) * i.inverse_inertia + moves(1) * j.inverse_inertia,
                );
                Parameters::Solids(overlap_parameters(shared, length, area, inverse))
            }
            shapes => {
                let ball = ends[usize::from(shapes[0].is_some())];
                let k = contact::parameters(
                    shared.contact,
                    system.radius(ends[0]),
                    system.radius(ends[1]),
                    inverse_mass[0],
                    inverse_mass[1],
                );
                Parameters::Ball(shared.of(k), system.radius(ball))
            }
        };
        ShapePair {
            own,
            partner,
            parameters,
            inverse_mass: inverse_mass[0] + inverse_mass[1],
            memory: ShapeMemory::default(),
            axis: DVec3::X,
        }
    }

    /// Rebuilds the lists of pairs of all chunks; pairs that stay listed keep their springs.
    pub fn rebuild(&self, chunks: &mut [ShapeChunk]) {
        let (system, count) = (self.system, self.system.count);
        let all = || (0..count).into_par_iter().with_min_len(512);
        let is_open: Vec<bool> = all().map(|i| self.is_open(i)).collect();
        let is_exposed: Vec<bool> = all()
            .map(|i| is_open[i] || system.bonds.sides(i).any(|side| is_open[side.other]))
            .collect();
        let exposed: Vec<u32> = (0..count as u32)
            .filter(|&i| is_exposed[i as usize])
            .collect();
        let places: Vec<DVec3> = exposed
            .iter()
            .map(|&i| system.position(i as usize))
            .collect();
        let balls = (0..count).filter(|&i| self.shapes.get(i).is_none());
        let largest = balls
            .map(|i| system.radius(i))
            .fold(self.shapes.largest_reach(), f64::max);
        let grid = HashGrid::new(exposed.len(), 2.0 * largest + self.skin, |k| places[k]);
        let near = |first: &Range<usize>, i: usize, p: DVec3, found: &mut Vec<u32>| {
            found.clear();
            let is_ball = self.shapes.get(i).is_none();
            grid.around(p, |k| {
                let (j, other) = (exposed[k as usize], exposed[k as usize] as usize);
                // Inside the chunk the lower element lists the pair.
                if other >= first.start && other <= i {
                    return;
                }
                let reach = self.reach(i, other);
                if p.distance_squared(places[k as usize]) > reach * reach
                    || (is_ball && self.shapes.get(other).is_none())
                {
                    return;
                }
                if self.may_touch(i, other) {
                    found.push(j);
                }
            });
            found.sort_unstable();
        };
        chunks.par_iter_mut().for_each(|lists| {
            let chunk = lists.elements.clone();
            let old = [&mut lists.before, &mut lists.within, &mut lists.behind].map(std::mem::take);
            let mut found = Vec::new();
            for i in (chunk.start..chunk.end.min(count)).filter(|&i| is_exposed[i]) {
                near(&chunk, i, system.position(i), &mut found);
                for &partner in &found {
                    let (list, old) = match chunk_side(&chunk, partner as usize) {
                        ChunkSide::Before => (&mut lists.before, &old[0]),
                        ChunkSide::Within => (&mut lists.within, &old[1]),
                        ChunkSide::Behind => (&mut lists.behind, &old[2]),
                    };
                    let known = find(old, (i as u32, partner)).map(|at| old[at]);
                    list.push(known.unwrap_or_else(|_| self.pair(i as u32, partner)));
                }
            }
        });
    }

    /// Rebuilds the lists of polyhedra near colliders; those that stay listed keep their springs.
    pub fn rebuild_near_colliders(&self, chunks: &mut [ShapeChunk], colliders: &[PosedCollider]) {
        let system = self.system;
        chunks.par_iter_mut().for_each(|lists| {
            let old = std::mem::take(&mut lists.near_colliders);
            for i in lists.elements.start..lists.elements.end.min(system.count) {
                let Some(shape) = self.shapes.get(i) else {
                    continue;
                };
                if system.inverse_mass[i].to_f64() == 0.0 {
                    continue;
                }
                let (p, reach) = (system.position(i), shape.solid.reach() + self.skin);
                for (index, collider) in colliders.iter().enumerate() {
                    if !collider.pose.reaches(&collider.solid, p, reach) {
                        continue;
                    }
                    let key = (i as u32, index as u32);
                    let known = old.binary_search_by_key(&key, |e| (e.element, e.collider));
                    let shared = self
                        .surfaces
                        .with_collider(system.material[i] as usize, collider);
                    let length = 2.0 * system.radius(i);
                    let inverse = (system.inverse_mass[i].to_f64(), shape.inverse_inertia);
                    lists.near_colliders.push(ShapeColliderContact {
                        element: key.0,
                        collider: key.1,
                        parameters: overlap_parameters(&shared, length, shape.area, inverse),
                        memory: known.map_or_else(|_| ShapeMemory::default(), |at| old[at].memory),
                        clear_until: 0.0,
                        near: Default::default(),
                    });
                }
            }
        });
    }

    /// Lists the pairs that may touch after the face between two cells broke. Their present overlaps exert no
    /// force.
    pub fn separate(&self, chunks: &mut [ShapeChunk], i: usize, j: usize) {
        self.list(chunks, i, j);
        for (own, other) in [(i, j), (j, i)] {
            for near in self.joined(other) {
                self.list(chunks, own, near);
            }
        }
        // The first open face of a cell exposes the cell and its neighbours.
        for (own, other) in [(i, j), (j, i)] {
            if self.is_first_open(own, other) {
                self.expose(chunks, own);
                for side in self.system.bonds.sides(own) {
                    self.expose(chunks, side.other);
                }
            }
        }
    }

    /// Whether the face to another cell is the only open face of a cell.
    fn is_first_open(&self, element: usize, other: usize) -> bool {
        let bonds = &self.system.bonds;
        let mut sides = bonds.sides(element);
        let at_skin = self
            .shapes
            .get(element)
            .is_none_or(|shape| shape.is_at_skin);
        !at_skin && sides.all(|side| side.other == other || bonds.is_intact(side.entry))
    }

    /// Lists the pairs of a cell with cells that are at most three faces away at rest: others cannot have
    /// come near.
    fn expose(&self, chunks: &mut [ShapeChunk], element: usize) {
        let bonds = &self.system.bonds;
        let mut near = vec![element];
        for _ in 0..3 {
            let others = near
                .iter()
                .flat_map(|&k| bonds.sides(k))
                .map(|side| side.other);
            near = others.collect();
            near.sort_unstable();
            near.dedup();
        }
        let exposed =
            |k: usize| self.is_open(k) || bonds.sides(k).any(|side| self.is_open(side.other));
        for other in near.into_iter().filter(|&k| exposed(k)) {
            self.list(chunks, element, other);
        }
    }

    /// Lists a pair if it is near, may touch and is not listed. Its present overlap exerts no force.
    fn list(&self, chunks: &mut [ShapeChunk], i: usize, j: usize) {
        let chunk = self.system.chunk;
        let (p, q) = (self.system.position(i), self.system.position(j));
        let reach = self.reach(i, j);
        if i == j || p.distance_squared(q) > reach * reach || !self.may_touch(i, j) {
            return;
        }
        let mut pair = self.pair(i as u32, j as u32);
        self.ignore_overlap(&mut pair, &mut chunks[i / chunk].scratch);
        for (own, partner) in [(i, j), (j, i)] {
            // A pair inside one chunk is already listed the second time.
            chunks[own / chunk].insert(ShapePair {
                own: own as u32,
                partner: partner as u32,
                ..pair
            });
        }
    }

    /// Makes the present overlaps of all listed contacts exert no force.
    pub fn ignore_overlaps(&self, chunks: &mut [ShapeChunk], colliders: &[PosedCollider]) {
        let context = ColliderContext {
            system: self.system,
            colliders,
            dt: S::default(),
            collider_approach: 0.0,
            barrier: false,
        };
        chunks.par_iter_mut().for_each(|lists| {
            let mut scratch = OverlapScratch::default();
            for list in [&mut lists.before, &mut lists.within, &mut lists.behind] {
                for pair in list {
                    self.ignore_overlap(pair, &mut scratch);
                }
            }
            for entry in &mut lists.near_colliders {
                entry.memory.allowed = f64::INFINITY;
                let found = collider::evaluate((&context, self.shapes), entry, &mut scratch);
                entry.memory = found.map_or_else(ShapeMemory::default, |action| action.memory);
            }
        });
    }

    /// Makes the present overlap of a pair exert no force.
    pub fn ignore_overlap(&self, pair: &mut ShapePair, scratch: &mut OverlapScratch) {
        pair.memory.allowed = f64::INFINITY;
        let found = evaluate((self.system, self.shapes), pair, 0.0, scratch);
        pair.memory = found.map_or_else(ShapeMemory::default, |action| action.memory);
    }
}

/// Parameters of the contact of two solids; arguments as of [`overlap::parameters`].
fn overlap_parameters(
    shared: &Shared<f64>,
    length: f64,
    area: f64,
    inverse: (f64, f64),
) -> OverlapParameters<f64> {
    OverlapParameters {
        static_friction: shared.static_friction,
        ..overlap::parameters(shared.contact, length, area, inverse)
    }
}

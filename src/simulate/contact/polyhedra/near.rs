//! Which pairs with polyhedra may touch, and which of them are near.
//!
//! Cells that a whole face joins do not touch. Of those that never shared a face, two with a common neighbour
//! beyond whole faces do not: it holds them apart. So while a body is whole, cells that meet at an edge do
//! nothing to each other. A cell is *exposed* where it or a neighbour has an open face, a broken one or one
//! of the skin: what is not exposed cannot be reached.

use std::ops::Range;

use glam::DVec3;

use super::list::{Parameters, ShapeChunk, ShapeMemory, ShapePair, ShapeWall, find};
use super::pair::evaluate;
use super::shapes::Shapes;
use super::wall;
use crate::geometry::hash_grid::HashGrid;
use crate::geometry::polyhedron::Scratch;
use crate::laws::contact;
use crate::laws::overlap;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::bonds::Side;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::{Place, place};
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::contact::wall_list::Walls;
use crate::simulate::scene::colliders::Obstacle;

/// A system with its polyhedra, and how they touch.
#[derive(Clone, Copy)]
pub struct Scene<'a, S> {
    /// Elements and bonds.
    pub system: &'a System<S>,
    /// Polyhedra.
    pub shapes: &'a Shapes,
    /// Contact properties.
    pub surfaces: &'a Surfaces,
    /// Distance beyond touching up to which pairs are listed, m.
    pub skin: f64,
}

impl<S: Scalar> Scene<'_, S> {
    /// Other ends of the whole bonds of an element.
    fn joined(&self, element: usize) -> impl Iterator<Item = usize> {
        let bonds = &self.system.bonds;
        let whole = bonds
            .sides(element)
            .filter(|side| bonds.is_whole(side.entry));
        whole.map(|side| side.other)
    }

    fn is_joined(&self, i: usize, j: usize) -> bool {
        self.joined(i).any(|other| other == j)
    }

    /// Whether nothing keeps two elements from touching. Those that shared a face touch once it is broken,
    /// others where they have no common neighbour beyond whole faces; one of both can move.
    fn may_touch(&self, i: usize, j: usize) -> bool {
        let system = self.system;
        let held = |k: usize| system.inverse_mass[k].to_f64() == 0.0;
        if (held(i) && held(j)) || system.is_one_piece(i, j) {
            return false;
        }
        let bonds = &system.bonds;
        match bonds.find(i, j) {
            Some(side) => !bonds.is_whole(side.entry),
            None => self.joined(i).all(|near| !self.is_joined(near, j)),
        }
    }

    /// Whether an element has an open face; balls have nothing else.
    fn is_open(&self, element: usize) -> bool {
        let bonds = &self.system.bonds;
        let broken = |side: Side| !bonds.is_whole(side.entry);
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

    /// A pair as it is listed, with nothing to remember.
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
                Parameters::Solids(overlap::parameters(shared.contact, length, area, inverse))
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
                Parameters::Ball(k, system.radius(ball), shared.rolling)
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
                // Within the chunk the first end lists the pair.
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
                    let (list, old) = match place(&chunk, partner as usize) {
                        Place::Before => (&mut lists.before, &old[0]),
                        Place::Within => (&mut lists.within, &old[1]),
                        Place::Behind => (&mut lists.behind, &old[2]),
                    };
                    let known = find(old, (i as u32, partner)).map(|at| old[at]);
                    list.push(known.unwrap_or_else(|_| self.pair(i as u32, partner)));
                }
            }
        });
    }

    /// Rebuilds the lists of polyhedra near colliders; those that stay listed keep their springs.
    pub fn rebuild_walls(&self, chunks: &mut [ShapeChunk], obstacles: &[Obstacle]) {
        let system = self.system;
        chunks.par_iter_mut().for_each(|lists| {
            let old = std::mem::take(&mut lists.walls);
            for i in lists.elements.start..lists.elements.end.min(system.count) {
                let Some(shape) = self.shapes.get(i) else {
                    continue;
                };
                if system.inverse_mass[i].to_f64() == 0.0 {
                    continue;
                }
                let (p, reach) = (system.position(i), shape.solid.reach() + self.skin);
                for (wall, obstacle) in obstacles.iter().enumerate() {
                    if !obstacle.pose.reaches(&obstacle.solid, p, reach) {
                        continue;
                    }
                    let key = (i as u32, wall as u32);
                    let known = old.binary_search_by_key(&key, |e| (e.element, e.wall));
                    let shared = self.surfaces.wall(system.material[i] as usize, obstacle);
                    let length = 2.0 * system.radius(i);
                    let inverse = (system.inverse_mass[i].to_f64(), shape.inverse_inertia);
                    lists.walls.push(ShapeWall {
                        element: key.0,
                        wall: key.1,
                        parameters: overlap::parameters(
                            shared.contact,
                            length,
                            shape.area,
                            inverse,
                        ),
                        memory: known.map_or_else(|_| ShapeMemory::default(), |at| old[at].memory),
                        quiet: 0.0,
                        near: Default::default(),
                    });
                }
            }
        });
    }

    /// The face between two cells broke: lists the pairs that may touch from now on. What they overlap by now
    /// pushes nothing.
    pub fn part(&self, chunks: &mut [ShapeChunk], i: usize, j: usize) {
        self.list(chunks, i, j);
        for (own, other) in [(i, j), (j, i)] {
            for near in self.joined(other) {
                self.list(chunks, own, near);
            }
        }
        // What the first open face of a cell exposes: the cell, and its neighbours.
        for (own, other) in [(i, j), (j, i)] {
            if self.is_first_open(own, other) {
                self.expose(chunks, own);
                for side in self.system.bonds.sides(own) {
                    self.expose(chunks, side.other);
                }
            }
        }
    }

    /// Whether the face to another is the only open one of a cell.
    fn is_first_open(&self, element: usize, other: usize) -> bool {
        let bonds = &self.system.bonds;
        let mut sides = bonds.sides(element);
        let at_skin = self
            .shapes
            .get(element)
            .is_none_or(|shape| shape.is_at_skin);
        !at_skin && sides.all(|side| side.other == other || bonds.is_whole(side.entry))
    }

    /// Lists what a cell may touch among those that stand within three faces of it at rest: others cannot
    /// have come near.
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

    /// Lists a pair if it is near and may touch, and is not listed. What it overlaps by now pushes nothing.
    fn list(&self, chunks: &mut [ShapeChunk], i: usize, j: usize) {
        let chunk = self.system.chunk;
        let (p, q) = (self.system.position(i), self.system.position(j));
        let reach = self.reach(i, j);
        if i == j || p.distance_squared(q) > reach * reach || !self.may_touch(i, j) {
            return;
        }
        let mut pair = self.pair(i as u32, j as u32);
        self.settle(&mut pair, &mut chunks[i / chunk].scratch);
        for (own, partner) in [(i, j), (j, i)] {
            // A pair within a chunk is found there the second time.
            chunks[own / chunk].insert(ShapePair {
                own: own as u32,
                partner: partner as u32,
                ..pair
            });
        }
    }

    /// Lets all that is listed overlap by what it does now without pushing.
    pub fn settle_all(&self, chunks: &mut [ShapeChunk], obstacles: &[Obstacle]) {
        let walls = Walls {
            system: self.system,
            obstacles,
            dt: S::default(),
            neared: 0.0,
        };
        chunks.par_iter_mut().for_each(|lists| {
            let mut scratch = Scratch::default();
            for list in [&mut lists.before, &mut lists.within, &mut lists.behind] {
                for pair in list {
                    self.settle(pair, &mut scratch);
                }
            }
            for entry in &mut lists.walls {
                entry.memory.allowed = f64::INFINITY;
                let found = wall::evaluate((&walls, self.shapes), entry, &mut scratch);
                entry.memory = found.map_or_else(ShapeMemory::default, |acting| acting.memory);
            }
        });
    }

    /// Lets a pair overlap by what it does now without pushing.
    pub fn settle(&self, pair: &mut ShapePair, scratch: &mut Scratch) {
        pair.memory.allowed = f64::INFINITY;
        let found = evaluate((self.system, self.shapes), pair, 0.0, scratch);
        pair.memory = found.map_or_else(ShapeMemory::default, |acting| acting.memory);
    }
}

//! The rim of cracks within a cell.
//!
//! In a cell in which a crack reaches the skin, each point of the skin gets the side of the crack that it
//! lies on: on the faces by the chains, within by the smaller field. Between points on different sides lies a
//! point of the rim, which each side has as a vertex of its own; along the rim the crack's faces are tied to
//! the skin by triangles with the loop's vertex.

use std::collections::HashSet;

use glam::DVec3;

use super::cells::{Cells, SkinArcs, chains_of};
use super::clip::{Name, Point};
use super::seam::Seam;
use crate::math::hash::QuickMap;
use crate::math::union_find::UnionFind;
use crate::reconstruct::body::solid::Solid;
use crate::reconstruct::cracks::crossing::on_segment;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::surface::hold::Hold;

/// What makes a vertex of the skin one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A point of the skin.
    Point(Name),
    /// A half of a crossing on a chain.
    Crossing(u32),
    /// A point of a rim within a cell, between two points of the skin, on the side of the first.
    Rim(Name, Name),
    /// Where rims meet in a piece: triangle, piece, and corner of the piece that the side begins with.
    Meeting(u32, u32, u32),
}

/// A vertex of the skin as a piece names it.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    /// What makes it the same for all who meet it.
    pub key: Key,
    /// Position, m.
    pub x: DVec3,
    /// What it moves with.
    pub hold: Hold,
}

/// A part of the skin to be drawn, and the border along which a loop's vertex is tied to it.
#[derive(Debug, Default)]
pub struct Patch {
    /// Its corners, counter-clockwise.
    pub corners: Vec<Corner>,
    /// The loop's vertex, and the corners from which its edge of the rim runs to the next one.
    pub tied: Option<(u32, Vec<usize>)>,
}

/// The side that a point on a face of a cell lies on.
#[derive(Clone, Copy)]
enum Side {
    /// That of a loop.
    Loop(u8),
    /// That of a part of the skin's border that no crack crosses, by number: any, but one for all its points.
    Free(u8),
}

/// What is known of a cell that the skin and cracks meet in.
struct CellSkin {
    /// Side of each point on its faces.
    side: QuickMap<Name, Side>,
    /// For each loop on the skin, the owners of its gates.
    owners: Vec<(u8, Vec<u32>)>,
}

/// The pieces of a cell that are cut, and what its points move with.
pub type Drawn = (Vec<(PieceId, Vec<Patch>)>, Vec<(Name, Hold)>);

/// A piece of the skin: place in `seam.touched`, and in its polygons.
pub type PieceId = (u32, u32);

/// What the rims of a body follow from.
#[derive(Clone, Copy)]
pub struct Rims<'a> {
    /// Grid and skin.
    pub solid: &'a Solid,
    /// The cracks.
    pub cracks: &'a Cracks<'a>,
    /// Where they meet the skin.
    pub seam: &'a Seam,
    /// The cells that they pass through.
    pub cells: &'a Cells,
}

impl Rims<'_> {
    /// Where a point lies, m.
    pub fn world(&self, point: &Point) -> DVec3 {
        match point.name {
            Name::Vertex(v) => self.solid.skin.mesh.positions[v as usize],
            _ => self.solid.grid.origin + point.at * self.solid.grid.spacing,
        }
    }

    /// What the pieces of a cell become where they are cut, and what its points move with.
    pub fn cell(
        &self,
        node: usize,
        pieces: &[PieceId],
        on_segment: &QuickMap<(Name, Name), u32>,
        single: &HashSet<u32>,
    ) -> Drawn {
        let skin = self.sides(node);
        let side = self.label(pieces, &skin);
        let number = self.cells.at(node);
        let hold = |own: Option<u8>| self.hold(&skin, own);
        let mut holds = Vec::new();
        let mut result = Vec::new();
        for &piece in pieces {
            let (triangle, all) = &self.seam.touched[piece.0 as usize];
            let points: Vec<&Point> = all.polygons[piece.1 as usize]
                .1
                .iter()
                .map(|&p| &all.points[p as usize])
                .collect();
            let sides: Vec<Option<u8>> = points
                .iter()
                .map(|p| side.get(&p.name).copied().flatten())
                .collect();
            for (point, &own) in points.iter().zip(&sides) {
                holds.push((point.name, hold(own)));
            }
            // The corners with the points of the rim between them: those that stay within a side, and those
            // that part two.
            let mut outline: Vec<(Corner, Option<u8>)> = Vec::new();
            let mut parted = Vec::new();
            for m in 0..points.len() {
                let next = (m + 1) % points.len();
                let (p, q) = (points[m], points[next]);
                outline.push((
                    Corner {
                        key: Key::Point(p.name),
                        x: self.world(p),
                        hold: hold(sides[m]),
                    },
                    sides[m],
                ));
                let chain = on_segment.get(&(p.name, q.name));
                let same = sides[m] == sides[next];
                if same && chain.is_none() {
                    continue;
                }
                let (keys, x) = match chain {
                    Some(&half) => (
                        [Key::Crossing(half), Key::Crossing(half ^ 1)],
                        self.seam.crossings[half as usize / 2].point,
                    ),
                    None => (
                        [Key::Rim(p.name, q.name), Key::Rim(q.name, p.name)],
                        self.on_rim(&skin, [p, q], [sides[m], sides[next]]),
                    ),
                };
                let corner = |key, own| Corner {
                    key,
                    x,
                    hold: hold(own),
                };
                outline.push((corner(keys[0], sides[m]), sides[m]));
                if !same {
                    parted.push(outline.len() - 1);
                    outline.push((corner(keys[1], sides[next]), sides[next]));
                }
            }
            if outline.len() > points.len() {
                // A stretch of rim between two ends of rims would be one edge for both sides.
                let ends = parted.iter().filter(|&&m| match outline[m].0.key {
                    Key::Crossing(half) => single.contains(&(half / 2)),
                    _ => false,
                });
                let meets = parted.len() > 2 || ends.count() == 2;
                let meeting = |corner: u32| Key::Meeting(*triangle, piece.1, corner);
                let apex = |own: Option<u8>| {
                    let number = number?;
                    Some(self.cells.first[number] + u32::from(own?))
                };
                result.push((piece, patches(&outline, &parted, meets, meeting, apex)));
            }
        }
        (result, holds)
    }

    /// The loops on the sides of the chains of a cell.
    fn sides(&self, node: usize) -> CellSkin {
        let chains = chains_of(self.solid, self.seam, node);
        let arcs = SkinArcs::new(self.seam, &chains);
        let number = self.cells.at(node);
        // Classes with the same loop are one side.
        let side_of: Vec<Side> = arcs
            .halves
            .iter()
            .enumerate()
            .map(|(class, halves)| {
                let half = halves.first();
                let own = half.and_then(|&half| self.cells.loop_of(number?, half));
                own.map_or(Side::Free(class as u8), Side::Loop)
            })
            .collect();
        let mut skin = CellSkin {
            side: QuickMap::default(),
            owners: Vec::new(),
        };
        for (class, owners) in arcs.owners.into_iter().enumerate() {
            let Side::Loop(side) = side_of[class] else {
                continue;
            };
            match skin.owners.iter_mut().find(|(known, _)| *known == side) {
                Some((_, known)) => known.extend(owners),
                None => skin.owners.push((side, owners)),
            }
        }
        for (chain, of) in chains.iter().zip(&arcs.of_chain) {
            for (m, point) in chain.points.iter().enumerate() {
                let end = usize::from(chain.crossing.is_some_and(|(_, segment)| m > segment));
                skin.side.insert(point.name, side_of[of[end] as usize]);
            }
        }
        skin
    }

    /// The side of every point of a cell's pieces: nothing where the skin has no border on the cell's faces.
    fn label(&self, pieces: &[PieceId], skin: &CellSkin) -> QuickMap<Name, Option<u8>> {
        // Connected parts of the skin within the cell.
        let mut part_of: QuickMap<Name, u32> = QuickMap::default();
        let mut parts = UnionFind::new(pieces.len());
        let points = |&(t, m): &PieceId| {
            let all = &self.seam.touched[t as usize].1;
            all.polygons[m as usize]
                .1
                .iter()
                .map(|&p| &all.points[p as usize])
        };
        for (piece, n) in pieces.iter().zip(0..) {
            for point in points(piece) {
                parts.join(*part_of.entry(point.name).or_insert(n), n);
            }
        }
        let parts = parts.roots();
        let part = |point: &Point| parts[part_of[&point.name] as usize] as usize;
        let mut of_part: Vec<Vec<u8>> = vec![Vec::new(); pieces.len()];
        for point in pieces.iter().flat_map(points) {
            if let Some(&Side::Loop(side)) = skin.side.get(&point.name) {
                of_part[part(point)].push(side);
            }
        }
        for sides in &mut of_part {
            sides.sort_unstable();
            sides.dedup();
        }
        let choose = |point: &Point| {
            let sides = &of_part[part(point)];
            let x = self.world(point);
            let field = |side: &u8| self.field(skin, *side, x);
            match sides[..] {
                [] => None,
                [only] => Some(only),
                _ => sides
                    .iter()
                    .copied()
                    .min_by(|a, b| field(a).total_cmp(&field(b))),
            }
        };
        let mut free: QuickMap<u8, Option<u8>> = QuickMap::default();
        let mut result = QuickMap::default();
        for point in pieces.iter().flat_map(points) {
            let side = match skin.side.get(&point.name) {
                Some(&Side::Loop(side)) => Some(side),
                Some(&Side::Free(class)) => *free.entry(class).or_insert_with(|| choose(point)),
                None => choose(point),
            };
            result.insert(point.name, side);
        }
        result
    }

    /// The smallest field of a side's owners at `x`.
    fn field(&self, skin: &CellSkin, side: u8, x: DVec3) -> f64 {
        let owners = skin.owners.iter().find(|(known, _)| *known == side);
        let owners = owners.map_or(&[][..], |(_, owners)| owners);
        let fields = owners
            .iter()
            .map(|&owner| self.cracks.field(x, owner).value);
        fields.fold(f64::INFINITY, f64::min)
    }

    /// Where the rim passes between two points.
    fn on_rim(&self, skin: &CellSkin, points: [&Point; 2], sides: [Option<u8>; 2]) -> DVec3 {
        // From the smaller name to the larger, as the other piece beside it has to find the same.
        let turned = points[0].name > points[1].name;
        let (points, sides) = if turned {
            ([points[1], points[0]], [sides[1], sides[0]])
        } else {
            (points, sides)
        };
        let ends = points.map(|point| self.world(point));
        let heights = ends.map(|x| match sides {
            [Some(a), Some(b)] => self.field(skin, a, x) - self.field(skin, b, x),
            _ => 0.0,
        });
        on_segment(ends, heights)
    }

    /// What the points of a side move with.
    fn hold(&self, skin: &CellSkin, side: Option<u8>) -> Hold {
        let owners = skin.owners.iter().find(|(known, _)| Some(*known) == side);
        let mut owners = owners.map_or_else(Vec::new, |(_, owners)| owners.clone());
        owners.sort_unstable();
        owners.dedup();
        Hold::of(&owners)
    }
}

/// Parts the outline of a piece along the rim. `parted` are the places after which the side changes;
/// `meeting` names the point where stretches of rim meet, if they do, on the side that begins with a corner;
/// `apex` is the vertex of a side's loop.
fn patches(
    outline: &[(Corner, Option<u8>)],
    parted: &[usize],
    meets: bool,
    meeting: impl Fn(u32) -> Key,
    apex: impl Fn(Option<u8>) -> Option<u32>,
) -> Vec<Patch> {
    let count = outline.len();
    if parted.is_empty() {
        return vec![Patch {
            corners: outline.iter().map(|(corner, _)| *corner).collect(),
            tied: None,
        }];
    }
    let middle: DVec3 = parted.iter().map(|&m| outline[m].0.x).sum::<DVec3>() / parted.len() as f64;
    (0..parted.len())
        .map(|m| {
            let start = (parted[m] + 1) % count;
            let end = parted[(m + 1) % parted.len()];
            let length = (end + count - start) % count + 1;
            let mut corners: Vec<Corner> = (0..length)
                .map(|k| outline[(start + k) % count].0)
                .collect();
            let side = outline[start].1;
            let mut from = vec![corners.len() - 1];
            if meets {
                from.push(corners.len());
                corners.push(Corner {
                    key: meeting(start as u32),
                    x: middle,
                    hold: corners[0].hold,
                });
            }
            Patch {
                corners,
                tied: apex(side).map(|apex| (apex, from)),
            }
        })
        .collect()
}

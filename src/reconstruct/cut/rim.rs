//! The rims of cracks on the skin within a cell.
//!
//! In a cell in which a crack reaches the skin, each point of the skin is assigned to a side of the crack: on
//! the cell's faces by the chains, inside the cell by the smaller field. Between points on different sides
//! lies a point of the rim, which becomes a separate vertex for each side. Along the rim the crack's faces
//! are connected to the skin by triangles with the loop's vertex.

use std::collections::HashSet;

use glam::DVec3;

use super::cells::{CrackCells, SkinArcs, chains_of};
use super::clip::{PointName, SkinPoint};
use super::intersection::SkinIntersection;
use crate::math::hash::QuickMap;
use crate::math::union_find::UnionFind;
use crate::reconstruct::body::skin_grid::SkinGrid;
use crate::reconstruct::cracks::crossing::locate_on_segment;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::surface::binding::Binding;

/// Identity of a vertex of the cut skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VertexKey {
    /// A point of the skin.
    SkinPoint(PointName),
    /// A half of a crossing on a chain.
    Crossing(u32),
    /// A point of a rim within a cell, between two points of the skin, on the side of the first one.
    Rim(PointName, PointName),
    /// Point where rims meet in a piece: triangle, piece, and the corner of the piece at which the side
    /// begins.
    Meeting(u32, u32, u32),
}

/// A corner of a patch.
#[derive(Clone, Copy, Debug)]
pub struct PatchCorner {
    /// Identity, the same in every patch that contains the corner.
    pub key: VertexKey,
    /// Position, m.
    pub x: DVec3,
    /// The elements that it moves with.
    pub binding: Binding,
}

/// A polygon of the cut skin, and the border along which a loop's vertex is connected to it.
#[derive(Debug, Default)]
pub struct SkinPatch {
    /// Corners, counter-clockwise seen from outside.
    pub corners: Vec<PatchCorner>,
    /// The loop's vertex, and the corners where the edges of the rim start; each runs to the next corner.
    pub tied: Option<(u32, Vec<usize>)>,
}

/// The side of a crack on which a point on a face of a cell lies.
#[derive(Clone, Copy)]
enum CrackSide {
    /// The side of a loop.
    Loop(u8),
    /// A class of the skin's border that no crack crosses, by number: its side is arbitrary, but the same for
    /// all its points.
    Free(u8),
}

/// The sides of cracks on the skin in a cell.
struct CellSkin {
    /// Side of each skin point on the cell's faces.
    side: QuickMap<PointName, CrackSide>,
    /// For each loop at the skin, the owners of its gates.
    owners: Vec<(u8, Vec<u32>)>,
}

/// The cut pieces of a cell with their patches, and the elements that the points of the cell move with.
pub type CutCell = (Vec<(PieceId, Vec<SkinPatch>)>, Vec<(PointName, Binding)>);

/// A piece of the skin: index in [`SkinIntersection::touched`], and index of its polygon there.
pub type PieceId = (u32, u32);

/// Input for cutting the skin along rims.
#[derive(Clone, Copy)]
pub struct RimCutter<'a> {
    /// Skin and grid.
    pub skin_grid: &'a SkinGrid,
    /// Cracks.
    pub cracks: &'a Cracks<'a>,
    /// Where the cracks meet the skin.
    pub intersection: &'a SkinIntersection,
    /// Cells that the cracks pass through.
    pub cells: &'a CrackCells,
}

impl RimCutter<'_> {
    /// Position of a point, m.
    pub fn position(&self, point: &SkinPoint) -> DVec3 {
        match point.name {
            PointName::Vertex(v) => self.skin_grid.skin.mesh.positions[v as usize],
            _ => self.skin_grid.grid.origin + point.at * self.skin_grid.grid.spacing,
        }
    }

    /// Cuts the pieces of the cell at `node`. `crossing_on` maps the ends of a segment to the crossing half
    /// on it; `rim_ends` holds the crossings at which a rim ends.
    pub fn cut_cell(
        &self,
        node: usize,
        pieces: &[PieceId],
        crossing_on: &QuickMap<(PointName, PointName), u32>,
        rim_ends: &HashSet<u32>,
    ) -> CutCell {
        let skin = self.sides(node);
        let side = self.point_sides(pieces, &skin);
        let number = self.cells.at(node);
        let binding = |own: Option<u8>| self.binding_of(&skin, own);
        let mut bindings = Vec::new();
        let mut result = Vec::new();
        for &piece in pieces {
            let (triangle, all) = &self.intersection.touched[piece.0 as usize];
            let points: Vec<&SkinPoint> = all.polygons[piece.1 as usize]
                .1
                .iter()
                .map(|&p| &all.points[p as usize])
                .collect();
            let sides: Vec<Option<u8>> = points
                .iter()
                .map(|p| side.get(&p.name).copied().flatten())
                .collect();
            for (point, &own) in points.iter().zip(&sides) {
                bindings.push((point.name, binding(own)));
            }
            // The corners of the piece and the rim points between them. `side_changes` are the rim points at
            // which the side changes.
            let mut outline: Vec<(PatchCorner, Option<u8>)> = Vec::new();
            let mut side_changes = Vec::new();
            for m in 0..points.len() {
                let next = (m + 1) % points.len();
                let (p, q) = (points[m], points[next]);
                outline.push((
                    PatchCorner {
                        key: VertexKey::SkinPoint(p.name),
                        x: self.position(p),
                        binding: binding(sides[m]),
                    },
                    sides[m],
                ));
                let chain = crossing_on.get(&(p.name, q.name));
                let same = sides[m] == sides[next];
                if same && chain.is_none() {
                    continue;
                }
                let (keys, x) = match chain {
                    Some(&half) => (
                        [VertexKey::Crossing(half), VertexKey::Crossing(half ^ 1)],
                        self.intersection.crossings[half as usize / 2].point,
                    ),
                    None => (
                        [
                            VertexKey::Rim(p.name, q.name),
                            VertexKey::Rim(q.name, p.name),
                        ],
                        self.on_rim(&skin, [p, q], [sides[m], sides[next]]),
                    ),
                };
                let corner = |key, own| PatchCorner {
                    key,
                    x,
                    binding: binding(own),
                };
                outline.push((corner(keys[0], sides[m]), sides[m]));
                if !same {
                    side_changes.push(outline.len() - 1);
                    outline.push((corner(keys[1], sides[next]), sides[next]));
                }
            }
            if outline.len() > points.len() {
                // A stretch of rim between two ends of rims would be the same edge for both sides.
                let ends = side_changes.iter().filter(|&&m| match outline[m].0.key {
                    VertexKey::Crossing(half) => rim_ends.contains(&(half / 2)),
                    _ => false,
                });
                let meets = side_changes.len() > 2 || ends.count() == 2;
                let meeting = |corner: u32| VertexKey::Meeting(*triangle, piece.1, corner);
                let apex = |own: Option<u8>| {
                    let number = number?;
                    Some(self.cells.first[number] + u32::from(own?))
                };
                result.push((
                    piece,
                    split_outline(&outline, &side_changes, meets, meeting, apex),
                ));
            }
        }
        (result, bindings)
    }

    /// Sides of the points on the chains of a cell.
    fn sides(&self, node: usize) -> CellSkin {
        let chains = chains_of(self.skin_grid, self.intersection, node);
        let arcs = SkinArcs::new(self.intersection, &chains);
        let number = self.cells.at(node);
        // Classes with the same loop are one side.
        let side_of: Vec<CrackSide> = arcs
            .halves
            .iter()
            .enumerate()
            .map(|(class, halves)| {
                let half = halves.first();
                let own = half.and_then(|&half| self.cells.loop_of(number?, half));
                own.map_or(CrackSide::Free(class as u8), CrackSide::Loop)
            })
            .collect();
        let mut skin = CellSkin {
            side: QuickMap::default(),
            owners: Vec::new(),
        };
        for (class, owners) in arcs.owners.into_iter().enumerate() {
            let CrackSide::Loop(side) = side_of[class] else {
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

    /// Side of every point of a cell's pieces; `None` where the skin does not meet the cell's faces.
    fn point_sides(&self, pieces: &[PieceId], skin: &CellSkin) -> QuickMap<PointName, Option<u8>> {
        // Connected components of the skin within the cell.
        let mut part_of: QuickMap<PointName, u32> = QuickMap::default();
        let mut parts = UnionFind::new(pieces.len());
        let points = |&(t, m): &PieceId| {
            let all = &self.intersection.touched[t as usize].1;
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
        let part = |point: &SkinPoint| parts[part_of[&point.name] as usize] as usize;
        let mut of_part: Vec<Vec<u8>> = vec![Vec::new(); pieces.len()];
        for point in pieces.iter().flat_map(points) {
            if let Some(&CrackSide::Loop(side)) = skin.side.get(&point.name) {
                of_part[part(point)].push(side);
            }
        }
        for sides in &mut of_part {
            sides.sort_unstable();
            sides.dedup();
        }
        let choose = |point: &SkinPoint| {
            let sides = &of_part[part(point)];
            let x = self.position(point);
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
                Some(&CrackSide::Loop(side)) => Some(side),
                Some(&CrackSide::Free(class)) => {
                    *free.entry(class).or_insert_with(|| choose(point))
                }
                None => choose(point),
            };
            result.insert(point.name, side);
        }
        result
    }

    /// Smallest field at `x` of the owners of a side.
    fn field(&self, skin: &CellSkin, side: u8, x: DVec3) -> f64 {
        let owners = skin.owners.iter().find(|(known, _)| *known == side);
        let owners = owners.map_or(&[][..], |(_, owners)| owners);
        let fields = owners
            .iter()
            .map(|&owner| self.cracks.field(x, owner).value);
        fields.fold(f64::INFINITY, f64::min)
    }

    /// Point of the rim between two points.
    fn on_rim(&self, skin: &CellSkin, points: [&SkinPoint; 2], sides: [Option<u8>; 2]) -> DVec3 {
        // Always from the smaller name to the larger, so that the other piece at this edge finds the same
        // point.
        let turned = points[0].name > points[1].name;
        let (points, sides) = if turned {
            ([points[1], points[0]], [sides[1], sides[0]])
        } else {
            (points, sides)
        };
        let ends = points.map(|point| self.position(point));
        let heights = ends.map(|x| match sides {
            [Some(a), Some(b)] => self.field(skin, a, x) - self.field(skin, b, x),
            _ => 0.0,
        });
        locate_on_segment(ends, heights)
    }

    /// The elements that the points of a side move with.
    fn binding_of(&self, skin: &CellSkin, side: Option<u8>) -> Binding {
        let owners = skin.owners.iter().find(|(known, _)| Some(*known) == side);
        let mut owners = owners.map_or_else(Vec::new, |(_, owners)| owners.clone());
        owners.sort_unstable();
        owners.dedup();
        Binding::to(&owners)
    }
}

/// Splits the outline of a piece along the rim. `side_changes` are the positions after which the side
/// changes. `meeting` returns the key of the point where stretches of rim meet, if they do, on the side that
/// begins with a corner. `apex` returns the vertex of a side's loop.
fn split_outline(
    outline: &[(PatchCorner, Option<u8>)],
    side_changes: &[usize],
    meets: bool,
    meeting: impl Fn(u32) -> VertexKey,
    apex: impl Fn(Option<u8>) -> Option<u32>,
) -> Vec<SkinPatch> {
    let count = outline.len();
    if side_changes.is_empty() {
        return vec![SkinPatch {
            corners: outline.iter().map(|(corner, _)| *corner).collect(),
            tied: None,
        }];
    }
    let middle: DVec3 =
        side_changes.iter().map(|&m| outline[m].0.x).sum::<DVec3>() / side_changes.len() as f64;
    (0..side_changes.len())
        .map(|m| {
            let start = (side_changes[m] + 1) % count;
            let end = side_changes[(m + 1) % side_changes.len()];
            let length = (end + count - start) % count + 1;
            let mut corners: Vec<PatchCorner> = (0..length)
                .map(|k| outline[(start + k) % count].0)
                .collect();
            let side = outline[start].1;
            let mut from = vec![corners.len() - 1];
            if meets {
                from.push(corners.len());
                corners.push(PatchCorner {
                    key: meeting(start as u32),
                    x: middle,
                    binding: corners[0].binding,
                });
            }
            SkinPatch {
                corners,
                tied: apex(side).map(|apex| (apex, from)),
            }
        })
        .collect()
}

//! Cuts the whole skin along the rims of cracks.
//!
//! Triangles away from rims stay as they are. Triangles that [`super::rim`] cuts are added piece by piece,
//! and their neighbours get the cuts of the edges between them, so that no gap opens.

use std::collections::HashSet;

use crate::parallel::prelude::*;
use glam::DVec3;

use super::cells::CrackCells;
use super::chain::node_of;
use super::clip::{PointName, SkinPoint, triangulate};
use super::intersection::SkinIntersection;
use super::rim::{CutCell, PatchCorner, PieceId, RimCutter, SkinPatch, VertexKey};
use crate::math::hash::QuickMap;
use crate::reconstruct::body::skin_grid::SkinGrid;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::surface::binding::Binding;

/// The cut skin of a body in one state of breakage.
#[derive(Debug, Default)]
pub struct CutSkin {
    /// Vertex positions, m. Their indices start at the number of vertices of the crack cells.
    pub positions: Vec<DVec3>,
    /// The elements that each vertex moves with.
    pub bindings: Vec<Binding>,
    /// Triangles of the skin.
    pub triangles: Vec<[u32; 3]>,
    /// For each of these triangles, the triangle of the uncut skin that it is a part of.
    pub sources: Vec<u32>,
    /// Triangles of crack faces along the rims.
    pub rims: Vec<[u32; 3]>,
    /// Vertices on both sides of each crossing on a chain.
    pub of_chain: Vec<[u32; 2]>,
}

/// Cuts the skin. In the final numbering the vertices of `cells` come before those of the skin.
pub fn cut_along_rims(
    skin_grid: &SkinGrid,
    cracks: &Cracks,
    intersection: &SkinIntersection,
    cells: &CrackCells,
    corners: &[SkinPoint],
) -> CutSkin {
    let rims = RimCutter {
        skin_grid,
        cracks,
        intersection,
        cells,
    };
    SkinCutter { rims }.cut(corners)
}

struct SkinCutter<'a> {
    rims: RimCutter<'a>,
}

impl SkinCutter<'_> {
    fn cut(&self, corners: &[SkinPoint]) -> CutSkin {
        let RimCutter {
            skin_grid,
            cells,
            intersection,
            ..
        } = self.rims;
        let mut cut_skin = CutSkin::default();
        let mut numbers: QuickMap<VertexKey, u32> = QuickMap::default();
        // Crossings on chains by the ends of their segment, as the half on the first end's side.
        let mut crossing_on: QuickMap<(PointName, PointName), u32> = QuickMap::default();
        let mut rim_ends: HashSet<u32> = HashSet::new();
        let mut short: Vec<u32> = Vec::new();
        for (face, chains) in intersection.chains.iter() {
            for chain in chains {
                let Some((crossing, segment)) = chain.crossing else {
                    continue;
                };
                let [a, b] = [chain.points[segment].name, chain.points[segment + 1].name];
                crossing_on.insert((a, b), 2 * crossing);
                crossing_on.insert((b, a), 2 * crossing + 1);
                let above = (face / 3) as usize;
                let below = above - skin_grid.grid.strides()[(face % 3) as usize];
                let is_separated = |node: usize| {
                    cells.at(node).is_some_and(|number| {
                        let of = |half: u32| cells.loop_of(number, half);
                        of(2 * crossing) != of(2 * crossing + 1)
                    })
                };
                // The rim ends here if both sides are one in one of the two cells at the face. If they are
                // one in both cells, there is no rim, and the crack stops short of the skin.
                match (is_separated(above), is_separated(below)) {
                    (true, true) => (),
                    (false, false) => {
                        crossing_on.remove(&(a, b));
                        crossing_on.remove(&(b, a));
                        short.push(crossing);
                    }
                    _ => {
                        rim_ends.insert(crossing);
                    }
                }
            }
        }
        let base = cells.vertices;
        let mut vertex = |corner: &PatchCorner, cut_skin: &mut CutSkin| {
            let key = match corner.key {
                VertexKey::Crossing(half) if rim_ends.contains(&(half / 2)) => {
                    VertexKey::Crossing(half & !1)
                }
                key => key,
            };
            *numbers.entry(key).or_insert_with(|| {
                cut_skin.positions.push(corner.x);
                cut_skin.bindings.push(corner.binding);
                base + cut_skin.positions.len() as u32 - 1
            })
        };

        let touched = intersection.touched.par_iter().enumerate();
        let mut pieces_of: Vec<(usize, PieceId)> = touched
            .flat_map_iter(|(t, (_, pieces))| {
                let cells = pieces.polygons.iter().enumerate();
                cells.filter_map(move |(m, (cell, _))| {
                    let node = node_of(skin_grid, *cell);
                    intersection.active[node].then_some((node, (t as u32, m as u32)))
                })
            })
            .collect();
        pieces_of.par_sort_unstable();
        let active: Vec<&[(usize, PieceId)]> = pieces_of.chunk_by(|a, b| a.0 == b.0).collect();
        let drawn: Vec<CutCell> = active
            .par_iter()
            .with_min_len(16)
            .map(|pieces| {
                let own: Vec<PieceId> = pieces.iter().map(|(_, piece)| *piece).collect();
                self.rims
                    .cut_cell(pieces[0].0, &own, &crossing_on, &rim_ends)
            })
            .collect();
        let mut patches: QuickMap<PieceId, Vec<SkinPatch>> = QuickMap::default();
        let mut bound: QuickMap<PointName, Binding> = QuickMap::default();
        let mut cut = vec![false; intersection.touched.len()];
        for (of_pieces, bindings) in drawn {
            for (piece, parts) in of_pieces {
                cut[piece.0 as usize] = true;
                patches.insert(piece, parts);
            }
            bound.extend(bindings);
        }
        // Triangles with a cut piece are added piece by piece, and their edges keep the cuts for the
        // neighbours.
        let mut kept_cuts = vec![false; intersection.number.len()];
        for (t, _) in intersection
            .touched
            .iter()
            .zip(&cut)
            .filter(|(_, cut)| **cut)
        {
            for edge in skin_grid.skin.edges_of[t.0 as usize] {
                kept_cuts[edge as usize] = true;
            }
        }
        let corner = |point: &SkinPoint| PatchCorner {
            key: VertexKey::SkinPoint(point.name),
            x: self.rims.position(point),
            binding: bound.get(&point.name).copied().unwrap_or(match point.name {
                PointName::Vertex(v) => Binding::SkinVertex(v),
                _ => Binding::Nearest,
            }),
        };
        let mut touched = intersection.touched.iter().zip(0_u32..).peekable();
        for t in 0..skin_grid.skin.mesh.triangles.len() {
            let own = touched.next_if(|((number, _), _)| *number as usize == t);
            if let Some(((_, pieces), place)) = own.filter(|(_, place)| cut[*place as usize]) {
                for (m, (_, polygon)) in pieces.polygons.iter().enumerate() {
                    match patches.remove(&(place, m as u32)) {
                        Some(patches) => {
                            for patch in patches {
                                let ids: Vec<u32> = patch
                                    .corners
                                    .iter()
                                    .map(|c| vertex(c, &mut cut_skin))
                                    .collect();
                                fill(&patch.corners, &ids, &mut cut_skin, base);
                                let Some((apex, from)) = patch.tied else {
                                    continue;
                                };
                                for m in from {
                                    cut_skin.rims.push([ids[(m + 1) % ids.len()], ids[m], apex]);
                                }
                            }
                        }
                        None => {
                            let corners: Vec<PatchCorner> = polygon
                                .iter()
                                .map(|&p| corner(&pieces.points[p as usize]))
                                .collect();
                            let ids: Vec<u32> =
                                corners.iter().map(|c| vertex(c, &mut cut_skin)).collect();
                            fill(&corners, &ids, &mut cut_skin, base);
                        }
                    }
                }
            } else {
                let outline =
                    intersection.outline(skin_grid, corners, t, |edge| kept_cuts[edge as usize]);
                let corners: Vec<PatchCorner> = outline.iter().map(&corner).collect();
                let ids: Vec<u32> = corners.iter().map(|c| vertex(c, &mut cut_skin)).collect();
                if let [a, b, c] = ids[..] {
                    cut_skin.triangles.push([a, b, c]);
                } else {
                    fill(&corners, &ids, &mut cut_skin, base);
                }
            }
            cut_skin.sources.resize(cut_skin.triangles.len(), t as u32);
        }
        let first = intersection.edges.len() as u32;
        cut_skin.of_chain = vec![[u32::MAX; 2]; intersection.crossings.len() - first as usize];
        for (crossing, ends) in (first..).zip(&mut cut_skin.of_chain) {
            *ends = [0, 1].map(|end| {
                let half = 2 * crossing + if rim_ends.contains(&crossing) { 0 } else { end };
                numbers
                    .get(&VertexKey::Crossing(half))
                    .copied()
                    .unwrap_or(u32::MAX)
            });
        }
        for crossing in short {
            let at = &intersection.crossings[crossing as usize];
            cut_skin.of_chain[(crossing - first) as usize] =
                [base + cut_skin.positions.len() as u32; 2];
            cut_skin.positions.push(at.point);
            cut_skin.bindings.push(Binding::Nearest);
        }
        cut_skin
    }
}

/// Triangulates a convex polygon of the skin.
fn fill(corners: &[PatchCorner], ids: &[u32], cut_skin: &mut CutSkin, base: u32) {
    let at: Vec<DVec3> = corners.iter().map(|corner| corner.x).collect();
    if let Some(triangles) = triangulate(&at) {
        cut_skin
            .triangles
            .extend(triangles.into_iter().map(|t| t.map(|m| ids[m])));
        return;
    }
    let centre = base + cut_skin.positions.len() as u32;
    cut_skin
        .positions
        .push(at.iter().sum::<DVec3>() / at.len() as f64);
    cut_skin.bindings.push(corners[0].binding);
    for m in 0..ids.len() {
        cut_skin
            .triangles
            .push([centre, ids[m], ids[(m + 1) % ids.len()]]);
    }
}

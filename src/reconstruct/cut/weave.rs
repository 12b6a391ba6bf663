//! The skin, cut along the rims of cracks.
//!
//! Triangles that no rim comes near stay as they are; those that [`super::rim`] cuts are drawn piece by
//! piece, and their neighbours get the cuts of the edges between them, so that nothing gapes.

use std::collections::HashSet;

use crate::parallel::prelude::*;
use glam::DVec3;

use super::cells::Cells;
use super::chain::node_of;
use super::clip::{Name, Point, triangulate};
use super::rim::{Corner, Drawn, Key, Patch, PieceId, Rims};
use super::seam::Seam;
use crate::math::hash::QuickMap;
use crate::reconstruct::body::solid::Solid;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::surface::hold::Hold;

/// The skin of a body in one state.
#[derive(Debug, Default)]
pub struct Woven {
    /// Vertices, m; numbered from a base.
    pub positions: Vec<DVec3>,
    /// What each moves with.
    pub holds: Vec<Hold>,
    /// Triangles of the skin.
    pub triangles: Vec<[u32; 3]>,
    /// For each of them the triangle of the uncut skin that it is a part of.
    pub sources: Vec<u32>,
    /// Triangles of cracks along the rims.
    pub rims: Vec<[u32; 3]>,
    /// Vertices on both sides of each crossing on a chain.
    pub of_chain: Vec<[u32; 2]>,
}

/// Weaves the skin. Vertices of `cells` come before its own in the final numbering.
pub fn weave(
    solid: &Solid,
    cracks: &Cracks,
    seam: &Seam,
    cells: &Cells,
    corners: &[Point],
) -> Woven {
    let rims = Rims {
        solid,
        cracks,
        seam,
        cells,
    };
    Weaver { rims }.weave(corners)
}

struct Weaver<'a> {
    rims: Rims<'a>,
}

impl Weaver<'_> {
    fn weave(&self, corners: &[Point]) -> Woven {
        let Rims {
            solid, cells, seam, ..
        } = self.rims;
        let mut woven = Woven::default();
        let mut numbers: QuickMap<Key, u32> = QuickMap::default();
        // Crossings on chains by the ends of the segment that they lie on, with the half on the first end's side.
        let mut on_segment: QuickMap<(Name, Name), u32> = QuickMap::default();
        let mut single: HashSet<u32> = HashSet::new();
        let mut short: Vec<u32> = Vec::new();
        for (face, chains) in seam.chains.iter() {
            for chain in chains {
                let Some((crossing, segment)) = chain.crossing else {
                    continue;
                };
                let [a, b] = [chain.points[segment].name, chain.points[segment + 1].name];
                on_segment.insert((a, b), 2 * crossing);
                on_segment.insert((b, a), 2 * crossing + 1);
                let above = (face / 3) as usize;
                let below = above - solid.grid.strides()[(face % 3) as usize];
                let parted = |node: usize| {
                    cells.at(node).is_some_and(|number| {
                        let of = |half: u32| cells.loop_of(number, half);
                        of(2 * crossing) != of(2 * crossing + 1)
                    })
                };
                // The rim ends here if both sides are one in a cell beside the face. If they are in both,
                // there is no rim, and the crack stops short of the skin.
                match (parted(above), parted(below)) {
                    (true, true) => (),
                    (false, false) => {
                        on_segment.remove(&(a, b));
                        on_segment.remove(&(b, a));
                        short.push(crossing);
                    }
                    _ => {
                        single.insert(crossing);
                    }
                }
            }
        }
        let base = cells.vertices;
        let mut vertex = |corner: &Corner, woven: &mut Woven| {
            let key = match corner.key {
                Key::Crossing(half) if single.contains(&(half / 2)) => Key::Crossing(half & !1),
                key => key,
            };
            *numbers.entry(key).or_insert_with(|| {
                woven.positions.push(corner.x);
                woven.holds.push(corner.hold);
                base + woven.positions.len() as u32 - 1
            })
        };

        let touched = seam.touched.par_iter().enumerate();
        let mut pieces_of: Vec<(usize, PieceId)> = touched
            .flat_map_iter(|(t, (_, pieces))| {
                let cells = pieces.polygons.iter().enumerate();
                cells.filter_map(move |(m, (cell, _))| {
                    let node = node_of(solid, *cell);
                    seam.active[node].then_some((node, (t as u32, m as u32)))
                })
            })
            .collect();
        pieces_of.par_sort_unstable();
        let active: Vec<&[(usize, PieceId)]> = pieces_of.chunk_by(|a, b| a.0 == b.0).collect();
        let drawn: Vec<Drawn> = active
            .par_iter()
            .with_min_len(16)
            .map(|pieces| {
                let own: Vec<PieceId> = pieces.iter().map(|(_, piece)| *piece).collect();
                self.rims.cell(pieces[0].0, &own, &on_segment, &single)
            })
            .collect();
        let mut patches: QuickMap<PieceId, Vec<Patch>> = QuickMap::default();
        let mut held: QuickMap<Name, Hold> = QuickMap::default();
        let mut cut = vec![false; seam.touched.len()];
        for (of_pieces, holds) in drawn {
            for (piece, parts) in of_pieces {
                cut[piece.0 as usize] = true;
                patches.insert(piece, parts);
            }
            held.extend(holds);
        }
        // Triangles with a cut piece are drawn piece by piece, and their edges keep the cuts for the neighbours.
        let mut kept_cuts = vec![false; seam.number.len()];
        for (t, _) in seam.touched.iter().zip(&cut).filter(|(_, cut)| **cut) {
            for edge in solid.skin.edges_of[t.0 as usize] {
                kept_cuts[edge as usize] = true;
            }
        }
        let corner = |point: &Point| Corner {
            key: Key::Point(point.name),
            x: self.rims.world(point),
            hold: held.get(&point.name).copied().unwrap_or(match point.name {
                Name::Vertex(v) => Hold::Skin(v),
                _ => Hold::Near,
            }),
        };
        let mut touched = seam.touched.iter().zip(0_u32..).peekable();
        for t in 0..solid.skin.mesh.triangles.len() {
            let own = touched.next_if(|((number, _), _)| *number as usize == t);
            if let Some(((_, pieces), place)) = own.filter(|(_, place)| cut[*place as usize]) {
                for (m, (_, polygon)) in pieces.polygons.iter().enumerate() {
                    match patches.remove(&(place, m as u32)) {
                        Some(patches) => {
                            for patch in patches {
                                let ids: Vec<u32> = patch
                                    .corners
                                    .iter()
                                    .map(|c| vertex(c, &mut woven))
                                    .collect();
                                fill(&patch.corners, &ids, &mut woven, base);
                                let Some((apex, from)) = patch.tied else {
                                    continue;
                                };
                                for m in from {
                                    woven.rims.push([ids[(m + 1) % ids.len()], ids[m], apex]);
                                }
                            }
                        }
                        None => {
                            let corners: Vec<Corner> = polygon
                                .iter()
                                .map(|&p| corner(&pieces.points[p as usize]))
                                .collect();
                            let ids: Vec<u32> =
                                corners.iter().map(|c| vertex(c, &mut woven)).collect();
                            fill(&corners, &ids, &mut woven, base);
                        }
                    }
                }
            } else {
                let outline = seam.outline(solid, corners, t, |edge| kept_cuts[edge as usize]);
                let corners: Vec<Corner> = outline.iter().map(&corner).collect();
                let ids: Vec<u32> = corners.iter().map(|c| vertex(c, &mut woven)).collect();
                if let [a, b, c] = ids[..] {
                    woven.triangles.push([a, b, c]);
                } else {
                    fill(&corners, &ids, &mut woven, base);
                }
            }
            woven.sources.resize(woven.triangles.len(), t as u32);
        }
        let first = seam.edges.len() as u32;
        woven.of_chain = vec![[u32::MAX; 2]; seam.crossings.len() - first as usize];
        for (crossing, ends) in (first..).zip(&mut woven.of_chain) {
            *ends = [0, 1].map(|end| {
                let half = 2 * crossing + if single.contains(&crossing) { 0 } else { end };
                numbers
                    .get(&Key::Crossing(half))
                    .copied()
                    .unwrap_or(u32::MAX)
            });
        }
        for crossing in short {
            let at = &seam.crossings[crossing as usize];
            woven.of_chain[(crossing - first) as usize] = [base + woven.positions.len() as u32; 2];
            woven.positions.push(at.point);
            woven.holds.push(Hold::Near);
        }
        woven
    }
}

/// Draws a convex polygon of the skin.
fn fill(corners: &[Corner], ids: &[u32], woven: &mut Woven, base: u32) {
    let at: Vec<DVec3> = corners.iter().map(|corner| corner.x).collect();
    if let Some(triangles) = triangulate(&at) {
        woven
            .triangles
            .extend(triangles.into_iter().map(|t| t.map(|m| ids[m])));
        return;
    }
    let centre = base + woven.positions.len() as u32;
    woven
        .positions
        .push(at.iter().sum::<DVec3>() / at.len() as f64);
    woven.holds.push(corners[0].hold);
    for m in 0..ids.len() {
        woven
            .triangles
            .push([centre, ids[m], ids[(m + 1) % ids.len()]]);
    }
}

//! Voronoi cells: the region nearer to one generator than to any other.

use glam::DVec3;

use super::cell_grid::CellGrid;
use super::convex::Convex;
use super::dual::{CutResult, DualCell};
use crate::parallel::prelude::*;

/// Indices of two generators at the same position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoincidentGenerators(pub u32, pub u32);

/// Generators in a box, with a grid to find their neighbours.
///
/// The tag of a face is the index of the generator beyond it, or the entry of `walls` for that side of the
/// box (−x, +x, −y, +y, −z, +z). Tags may go up to `u32::MAX`.
pub struct VoronoiDiagram<'a> {
    generators: &'a [DVec3],
    grid: CellGrid,
    bounds: [DVec3; 2],
    walls: [u32; 6],
}

/// Scratch buffers for cutting cells.
#[derive(Default)]
pub struct CellScratch {
    near: Vec<(f64, u32)>,
    cell: DualCell,
    corners: Vec<DVec3>,
}

/// Properties of a cell that are needed to move its generator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellProperties {
    /// Volume, m³.
    pub volume: f64,
    /// Centre of mass, m.
    pub centre: DVec3,
    /// Distance of the farthest corner from the generator, m.
    pub reach: f64,
    /// Whether the cell has a face without a cell beyond it.
    pub free: bool,
}

impl<'a> VoronoiDiagram<'a> {
    /// Prepares generators that are about `spacing` (m) apart.
    pub fn new(generators: &'a [DVec3], spacing: f64, bounds: [DVec3; 2], walls: [u32; 6]) -> Self {
        VoronoiDiagram {
            generators,
            // Two rings about a grid cell contain the generators that cut most cells.
            grid: CellGrid::new(generators, 0.95 * spacing),
            bounds,
            walls,
        }
    }

    /// Computes the cell of one generator.
    ///
    /// # Errors
    /// Another generator so near that no plane separates them.
    pub fn cell(
        &self,
        own: usize,
        cutter: &mut CellScratch,
    ) -> Result<Convex, CoincidentGenerators> {
        let at = self.generators[own];
        if self.cut_dual(own, cutter)? {
            return Ok(cutter.cell.convex(at));
        }
        let mut solid = Convex::cuboid(self.bounds[0], self.bounds[1], self.walls);
        let reach = solid.reach_squared(at);
        self.each_near(own, &mut cutter.near, reach, |normal, half, other| {
            if solid.cut(normal, normal.dot(at) + half, other) {
                return Some(solid.reach_squared(at));
            }
            Some(f64::INFINITY)
        })?;
        Ok(solid)
    }

    /// Volume, centre and extent of the cell of one generator. Faces tagged `count` or more are free. `None`
    /// if the cell is flat or empty.
    ///
    /// # Errors
    /// Another generator so near that no plane separates them.
    pub fn properties(
        &self,
        own: usize,
        count: usize,
        cutter: &mut CellScratch,
    ) -> Result<Option<CellProperties>, CoincidentGenerators> {
        let at = self.generators[own];
        let (mut six, mut arm, mut free, mut square) = (0.0, DVec3::ZERO, false, 0.0);
        // Sums over the tetrahedra from the generator to the triangles of a face.
        let mut face = |tag: u32, corners: &[DVec3]| {
            free |= tag as usize >= count;
            let squares = corners.iter().map(|corner| corner.length_squared());
            square = squares.fold(square, f64::max);
            for pair in corners[1..].windows(2) {
                let part = corners[0].dot(pair[0].cross(pair[1]));
                six += part;
                arm += (corners[0] + pair[0] + pair[1]) * part;
            }
        };
        if self.cut_dual(own, cutter)? {
            let mut corners = std::mem::take(&mut cutter.corners);
            cutter.cell.each_face(&mut corners, face);
            cutter.corners = corners;
        } else {
            for one in &self.cell(own, cutter)?.faces {
                let corners: Vec<DVec3> = one.corners.iter().map(|corner| *corner - at).collect();
                face(one.tag, &corners);
            }
        }
        let solid = six > 0.0;
        Ok(solid.then(|| CellProperties {
            volume: six / 6.0,
            centre: at + arm / (4.0 * six),
            reach: square.sqrt(),
            free,
        }))
    }

    /// Cuts the cell in its dual form about its generator; false if rounding made it invalid.
    fn cut_dual(&self, own: usize, cutter: &mut CellScratch) -> Result<bool, CoincidentGenerators> {
        let (at, cell) = (self.generators[own], &mut cutter.cell);
        let [low, high] = self.bounds.map(|bound| bound - at);
        cell.reset(low, high, self.walls);
        let reach = cell.reach_squared();
        self.each_near(
            own,
            &mut cutter.near,
            reach,
            |normal, half, other| match cell.cut(normal, half, other) {
                CutResult::Unchanged => Some(f64::INFINITY),
                CutResult::Trimmed => Some(cell.reach_squared()),
                CutResult::Invalid => None,
            },
        )
    }

    /// Calls `cut` with the planes halfway to the other generators (unit normal, distance, generator index),
    /// nearest first, until the remaining ones cannot reach the cell, whose squared extent is `reach` (m²).
    /// `cut` returns the squared extent afterwards, infinite if nothing changed, or `None` to stop, in which
    /// case false is returned.
    fn each_near(
        &self,
        own: usize,
        near: &mut Vec<(f64, u32)>,
        mut reach: f64,
        mut cut: impl FnMut(DVec3, f64, u32) -> Option<f64>,
    ) -> Result<bool, CoincidentGenerators> {
        let at = self.generators[own];
        let mut ring = 0;
        loop {
            near.clear();
            let any = self.grid.ring(at, ring, |other| {
                let square = self.generators[other as usize].distance_squared(at);
                if other as usize != own && square <= 4.0 * reach {
                    near.push((square, other));
                }
            });
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for &(square, other) in near.iter() {
                // A plane halfway to a generator more than twice as far as the farthest corner cuts nothing.
                if square > 4.0 * reach {
                    break;
                }
                let length = square.sqrt();
                let normal = (self.generators[other as usize] - at) / length;
                if !normal.is_finite() {
                    return Err(CoincidentGenerators(own as u32, other));
                }
                match cut(normal, 0.5 * length, other) {
                    Some(now) => reach = reach.min(now),
                    None => return Ok(false),
                }
            }
            // Everything in the outer rings is farther than this.
            let beyond = ring as f64 * self.grid.edge();
            if !any || beyond * beyond > 4.0 * reach {
                return Ok(true);
            }
            ring += 1;
        }
    }
}

/// The cells of the first `count` generators within a box, in their order.
///
/// # Errors
/// Two generators so near to each other that no plane separates them.
pub fn cells(
    generators: &[DVec3],
    count: usize,
    [low, high]: [DVec3; 2],
    walls: [u32; 6],
) -> Result<Vec<Convex>, CoincidentGenerators> {
    let spacing = ((high - low).element_product() / generators.len().max(1) as f64).cbrt();
    let diagram = VoronoiDiagram::new(generators, spacing, [low, high], walls);
    (0..count)
        .into_par_iter()
        .map_init(CellScratch::default, |cutter, own| {
            diagram.cell(own, cutter)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::convex::Face;
    use crate::geometry::section::Section;

    const WALLS: [u32; 6] = [u32::MAX; 6];

    fn random(count: usize, seed: u64) -> Vec<DVec3> {
        let mut state = seed;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        (0..count)
            .map(|_| DVec3::new(number(), number(), number()))
            .collect()
    }

    fn section(face: &Face) -> Section {
        Section::of(&face.corners).expect("an area")
    }

    #[test]
    fn cells_fill_the_box_and_share_their_faces() {
        for count in [1, 2, 5, 300] {
            let generators = random(count, count as u64);
            let found = cells(&generators, count, [DVec3::ZERO, DVec3::ONE], WALLS).expect("cells");
            let mut volume = 0.0;
            for (own, cell) in found.iter().enumerate() {
                for face in &cell.faces {
                    let there = section(face);
                    volume += there.area * there.normal.dot(there.centre) / 3.0;
                    if face.tag == u32::MAX {
                        continue;
                    }
                    // The neighbour has the same face, and it lies halfway.
                    let other = &found[face.tag as usize].faces;
                    let back = other.iter().find(|back| back.tag == own as u32);
                    let back = section(back.expect("the same face"));
                    assert!((back.area - there.area).abs() < 1e-12);
                    assert!(back.centre.distance(there.centre) < 1e-9 / there.area.max(1e-6));
                    let [a, b] = [own, face.tag as usize].map(|at| generators[at]);
                    let off = (there.centre - 0.5 * (a + b)).dot((b - a).normalize());
                    assert!(off.abs() < 1e-12, "{off}");
                }
            }
            assert!((volume - 1.0).abs() < 1e-12, "{count}: {volume}");
        }
    }

    #[test]
    fn every_point_is_in_the_cell_of_the_nearest_generator() {
        let generators = random(200, 3);
        let found = cells(&generators, 200, [DVec3::ZERO, DVec3::ONE], WALLS).expect("cells");
        for point in random(500, 4) {
            let distance = |at: &usize| generators[*at].distance_squared(point);
            let nearest = (0..200).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            let inside = found[nearest.expect("one")].faces.iter().all(|face| {
                let there = section(face);
                there.normal.dot(point - there.centre) < 1e-12
            });
            assert!(inside, "{point}");
        }
    }

    #[test]
    fn generators_on_a_grid_have_cubes_and_coincident_ones_are_reported() {
        let mut generators: Vec<DVec3> = (0..64)
            .map(|k| DVec3::new((k % 4) as f64, (k / 4 % 4) as f64, (k / 16) as f64))
            .collect();
        let bounds = [DVec3::splat(-0.5), DVec3::splat(3.5)];
        let found = cells(&generators, 64, bounds, WALLS).expect("cells");
        for cell in &found {
            assert_eq!(cell.faces.len(), 6, "{cell:?}");
            assert!(
                cell.faces
                    .iter()
                    .all(|face| (section(face).area - 1.0).abs() < 1e-12)
            );
        }
        generators[9] = generators[40];
        assert!(matches!(
            cells(&generators, 64, bounds, WALLS),
            Err(CoincidentGenerators(9, 40))
        ));
    }
}

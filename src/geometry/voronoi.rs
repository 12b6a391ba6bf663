//! Voronoi cells: of each generator what is nearer to it than to any other.

use glam::DVec3;

use super::cell_grid::CellGrid;
use super::convex::Convex;
use super::dual::{Cut, DualCell};
use crate::parallel::prelude::*;

/// Two generators in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coincident(pub u32, pub u32);

/// Generators in a box and what finds their neighbours.
///
/// A face has the number of the generator beyond it as its tag, or one of `walls` (−x, +x, −y, +y, −z, +z).
/// Numbers up to `u32::MAX`.
pub struct Diagram<'a> {
    generators: &'a [DVec3],
    grid: CellGrid,
    bounds: [DVec3; 2],
    walls: [u32; 6],
}

/// What cutting cells needs again and again.
#[derive(Default)]
pub struct Cutter {
    near: Vec<(f64, u32)>,
    cell: DualCell,
    corners: Vec<DVec3>,
}

/// What moving a generator takes to know of its cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blob {
    /// m³
    pub volume: f64,
    /// Centre of mass.
    pub centre: DVec3,
    /// Distance of the farthest corner from the generator, m.
    pub reach: f64,
    /// Whether a face of it has the number of no cell.
    pub free: bool,
}

impl<'a> Diagram<'a> {
    /// Of generators about `spacing` (m) apart where they are.
    pub fn new(generators: &'a [DVec3], spacing: f64, bounds: [DVec3; 2], walls: [u32; 6]) -> Self {
        Diagram {
            generators,
            // Two rings about a cell of the grid hold what cuts most cells.
            grid: CellGrid::new(generators, 0.95 * spacing),
            bounds,
            walls,
        }
    }

    /// The cell of one generator.
    ///
    /// # Errors
    /// Another generator so near that no plane lies between them.
    pub fn cell(&self, own: usize, cutter: &mut Cutter) -> Result<Convex, Coincident> {
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

    /// Volume and centre of the cell of one generator; those tagged `count` or more lie outside. Nothing
    /// where it is flat or empty.
    ///
    /// # Errors
    /// Another generator so near that no plane lies between them.
    pub fn blob(
        &self,
        own: usize,
        count: usize,
        cutter: &mut Cutter,
    ) -> Result<Option<Blob>, Coincident> {
        let at = self.generators[own];
        let (mut six, mut arm, mut free, mut square) = (0.0, DVec3::ZERO, false, 0.0);
        // Tetrahedra over the triangles of a face.
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
        Ok(solid.then(|| Blob {
            volume: six / 6.0,
            centre: at + arm / (4.0 * six),
            reach: square.sqrt(),
            free,
        }))
    }

    /// Cuts the dual of a cell about its generator; false where rounding spoilt it.
    fn cut_dual(&self, own: usize, cutter: &mut Cutter) -> Result<bool, Coincident> {
        let (at, cell) = (self.generators[own], &mut cutter.cell);
        let [low, high] = self.bounds.map(|bound| bound - at);
        cell.begin(low, high, self.walls);
        let reach = cell.reach_squared();
        self.each_near(
            own,
            &mut cutter.near,
            reach,
            |normal, half, other| match cell.cut(normal, half, other) {
                Cut::Nothing => Some(f64::INFINITY),
                Cut::Some => Some(cell.reach_squared()),
                Cut::Broken => None,
            },
        )
    }

    /// Calls `cut` with the planes half-way to the other generators, nearest first, until those left are too
    /// far to reach the cell, which reaches so far (m²): unit normal, distance and number. It returns how far
    /// the cell reaches after it, infinite where nothing changed, or nothing to end this: then false is
    /// returned.
    fn each_near(
        &self,
        own: usize,
        near: &mut Vec<(f64, u32)>,
        mut reach: f64,
        mut cut: impl FnMut(DVec3, f64, u32) -> Option<f64>,
    ) -> Result<bool, Coincident> {
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
                // A plane half-way to what is twice as far as the farthest corner cuts nothing.
                if square > 4.0 * reach {
                    break;
                }
                let length = square.sqrt();
                let normal = (self.generators[other as usize] - at) / length;
                if !normal.is_finite() {
                    return Err(Coincident(own as u32, other));
                }
                match cut(normal, 0.5 * length, other) {
                    Some(now) => reach = reach.min(now),
                    None => return Ok(false),
                }
            }
            // All of the rings beyond are farther than this.
            let beyond = ring as f64 * self.grid.edge();
            if !any || beyond * beyond > 4.0 * reach {
                return Ok(true);
            }
            ring += 1;
        }
    }
}

/// The cells of the first `count` of some generators within a box, in their order.
///
/// # Errors
/// Two generators so near to each other that no plane lies between them.
pub fn cells(
    generators: &[DVec3],
    count: usize,
    [low, high]: [DVec3; 2],
    walls: [u32; 6],
) -> Result<Vec<Convex>, Coincident> {
    let spacing = ((high - low).element_product() / generators.len().max(1) as f64).cbrt();
    let diagram = Diagram::new(generators, spacing, [low, high], walls);
    (0..count)
        .into_par_iter()
        .map_init(Cutter::default, |cutter, own| diagram.cell(own, cutter))
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
                    // The neighbour has the same face, and it lies half-way.
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
    fn generators_on_a_grid_have_cubes_and_two_in_one_place_are_told() {
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
            Err(Coincident(9, 40))
        ));
    }
}

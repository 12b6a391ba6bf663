//! Voronoi cells: of each generator what is nearer to it than to any other.

use glam::DVec3;

use super::cell_grid::CellGrid;
use super::convex::Convex;
use crate::parallel::prelude::*;

/// Two generators in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coincident(pub u32, pub u32);

/// The cells of the first `count` of some generators within a box, in their order: a face has the number of the generator beyond it as its tag, or one
/// of `walls` (−x, +x, −y, +y, −z, +z). Numbers up to `u32::MAX`.
///
/// # Errors
/// Two generators so near to each other that no plane lies between them.
pub fn cells(
    generators: &[DVec3],
    count: usize,
    [low, high]: [DVec3; 2],
    walls: [u32; 6],
) -> Result<Vec<Convex>, Coincident> {
    let size = high - low;
    // About two generators a cell of the grid.
    let edge = (2.0 * size.element_product() / generators.len().max(1) as f64).cbrt();
    let grid = CellGrid::new(generators, edge);
    let box_of_all = Convex::cuboid(low, high, walls);
    let cell = |own: usize| cell(generators, own, &grid, box_of_all.clone());
    (0..count).into_par_iter().map(cell).collect()
}

/// The cell of one generator: cut by planes to the others, nearest first, until those left are too far to reach it.
fn cell(
    generators: &[DVec3],
    own: usize,
    grid: &CellGrid,
    mut solid: Convex,
) -> Result<Convex, Coincident> {
    let at = generators[own];
    let mut near: Vec<(f64, u32)> = Vec::new();
    let mut ring = 0;
    let mut reach = solid.reach_squared(at);
    loop {
        near.clear();
        let any = grid.ring(at, ring, |other| {
            if other as usize != own {
                near.push((generators[other as usize].distance_squared(at), other));
            }
        });
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(square, other) in &near {
            // A plane half-way to what is twice as far as the farthest corner cuts nothing.
            if square > 4.0 * reach {
                break;
            }
            let other_at = generators[other as usize];
            let Some(normal) = (other_at - at).try_normalize() else {
                return Err(Coincident(own as u32, other));
            };
            let middle = 0.5 * (at + other_at);
            if solid.cut(normal, normal.dot(middle), other) {
                reach = solid.reach_squared(at);
            }
        }
        // All of the rings beyond are farther than this.
        let beyond = ring as f64 * grid.edge();
        if !any || beyond * beyond > 4.0 * reach {
            return Ok(solid);
        }
        ring += 1;
    }
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

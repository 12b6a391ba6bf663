//! Hexagonal close packing: rows of touching elements along x, close-packed layers stacked along z in the order ABAB.
//!
//! With element radius r: spacing 2r in a row, √3 r between rows, 2√6/3 r between layers; the volume per
//! element is 4√2 r³, and an element touches 12 others.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::lattice::{LAYER_SPACING, ROW_SPACING};
use super::solid::FillRegion;

/// Position over the radius of element `i` of row `j` of layer `k`.
fn site(i: i64, j: i64, k: i64) -> DVec3 {
    DVec3::new(
        (2 * i + (j + k).rem_euclid(2)) as f64,
        ROW_SPACING * (j as f64 + k.rem_euclid(2) as f64 / 3.0),
        LAYER_SPACING * k as f64,
    )
}

/// Centres (m) of a block with `[elements per row, rows per layer, layers]`, their bounding box centred at
/// the origin; radius in m.
pub(super) fn block(counts: [u32; 3], radius: f64) -> Vec<DVec3> {
    let [nx, ny, nz] = counts.map(i64::from);
    let sites: Vec<DVec3> = (0..nz)
        .flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| site(i, j, k))))
        .collect();
    let (low, high) = sites
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    let centre = (low + high) / 2.0;
    sites.iter().map(|p| (*p - centre) * radius).collect()
}

/// Edges of the box that a block fills, m.
pub(super) fn block_size(counts: [u32; 3], radius: f64) -> DVec3 {
    DVec3::new(2.0, ROW_SPACING, LAYER_SPACING) * DVec3::from_array(counts.map(f64::from)) * radius
}

/// Lattice points at least `depth` (m) inside a solid. One lattice point is the middle of `bounds`, the
/// solid's bounding box.
pub(super) fn fill(
    solid: &FillRegion,
    bounds: (DVec3, DVec3),
    radius: f64,
    depth: f64,
) -> Vec<DVec3> {
    lattice_rows(bounds, radius)
        .map_init(RowBuffers::default, |buffers, at| {
            let xs = buffers.inside(solid, bounds, radius, depth, at);
            xs.map(|(x, y, z)| DVec3::new(x, y, z)).collect()
        })
        .flat_map_iter(|row: Vec<DVec3>| row)
        .collect()
}

/// Estimated number of lattice sites that are tried to fill these bounds.
pub(super) fn lattice_sites((low, high): (DVec3, DVec3), radius: f64) -> f64 {
    let half = (high - low) / (2.0 * radius);
    let each = half / DVec3::new(2.0, ROW_SPACING, LAYER_SPACING);
    each.to_array()
        .map(|n| 2.0 * n.ceil() + 1.0)
        .iter()
        .product()
}

/// Row and layer indices of every row that may intersect the bounds, layer by layer.
fn lattice_rows((low, high): (DVec3, DVec3), radius: f64) -> impl Indexed<Item = (i64, i64)> {
    let half = (high - low) / (2.0 * radius);
    let rows = (half.y / ROW_SPACING).ceil() as i64 + 1;
    let layers = (half.z / LAYER_SPACING).ceil() as i64;
    let (a_layer, number) = (2 * rows + 1, 2 * layers + 1);
    // Computed from an index rather than stored, since a needle-shaped box has very many rows.
    (0..(a_layer * number) as usize)
        .into_par_iter()
        .map(move |at| (at as i64 % a_layer - rows, at as i64 / a_layer - layers))
}

#[derive(Default)]
struct RowBuffers {
    xs: Vec<f64>,
    inside: Vec<bool>,
}

impl RowBuffers {
    /// Points (x, y, z) of row `j` of layer `k` that lie inside.
    fn inside(
        &mut self,
        solid: &FillRegion,
        (low, high): (DVec3, DVec3),
        radius: f64,
        depth: f64,
        (j, k): (i64, i64),
    ) -> impl Iterator<Item = (f64, f64, f64)> {
        let centre = (low + high) / 2.0;
        let n = ((high.x - low.x) / (4.0 * radius)).ceil() as i64 + 1;
        let first = centre + site(-n, j, k) * radius;
        self.xs.clear();
        self.xs
            .extend((-n..=n).map(|i| centre.x + site(i, j, k).x * radius));
        solid.row(&self.xs, first.y, first.z, depth, &mut self.inside);
        self.xs
            .iter()
            .zip(&self.inside)
            .filter(|(_, inside)| **inside)
            .map(move |(x, _)| (*x, first.y, first.z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::lattice::{NEIGHBOUR_DIRECTIONS, VOLUME_PER_ELEMENT};

    #[test]
    fn block_is_the_reference_lattice() {
        let (nx, ny, nz, r) = (6, 4, 3, 1e-3);
        let found = block([nx, ny, nz], r);
        let mut expected = Vec::new();
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    expected.push(DVec3::new(
                        f64::from(2 * i + (j + k) % 2) * r,
                        3.0_f64.sqrt() * (f64::from(j) + f64::from(k % 2) / 3.0) * r,
                        2.0 * 6.0_f64.sqrt() / 3.0 * f64::from(k) * r,
                    ));
                }
            }
        }
        assert_eq!(found.len(), 72);
        let shift = found[0] - expected[0];
        for (p, q) in found.iter().zip(&expected) {
            assert!((*p - *q - shift).length() < 1e-15);
        }
        let volume = block_size([nx, ny, nz], r).element_product();
        assert!((volume / (72.0 * VOLUME_PER_ELEMENT * r.powi(3)) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn neighbours_touch() {
        for d in NEIGHBOUR_DIRECTIONS {
            assert!((d.length() - 1.0).abs() < 1e-15, "{d}");
        }
        let lattice = block([5, 5, 3], 0.5);
        let middle = lattice[37];
        for p in lattice
            .iter()
            .filter(|p| (p.distance(middle) - 1.0).abs() < 1e-9)
        {
            let mirrored = [1.0, -1.0].map(|s| DVec3::new(1.0, s, 1.0) * (*p - middle));
            let known = |d: &DVec3| mirrored.iter().any(|m| m.distance(*d) < 1e-12);
            assert!(NEIGHBOUR_DIRECTIONS.iter().any(known), "{}", *p - middle);
        }
    }

    #[test]
    fn a_ball_is_filled_to_its_volume() {
        let radius = 0.02;
        let bounds = (DVec3::NEG_ONE, DVec3::ONE);
        let ball = FillRegion::Ball { radius: 1.0 };
        let found = fill(&ball, bounds, radius, 0.0);
        let volume = found.len() as f64 * VOLUME_PER_ELEMENT * radius.powi(3);
        assert!((volume / (4.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 0.005);
        let deep = fill(&ball, bounds, radius, 0.5 * radius);
        assert!(deep.len() < found.len());
        assert!(deep.iter().all(|p| p.length() <= 1.0 - 0.5 * radius));
    }
}

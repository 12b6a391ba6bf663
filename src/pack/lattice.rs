//! Hexagonal close packing: where the centres lie, and which of them a shape takes.
//!
//! Rows of touching elements run along x, rows of a layer follow one another along y, layers along z:
//! `x = (2i + (j + k) mod 2) r`, `y = √3 (j + (k mod 2)/3) r`, `z = (2√6/3) k r`.

use glam::DVec3;
use rayon::prelude::*;

use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::inside::Crossings;
use crate::geometry::winding::Winding;

/// Distances of rows and layers over the radius.
pub const ROW: f64 = 1.732_050_807_568_877_2;
/// Distance of layers over the radius.
pub const LAYER: f64 = 1.632_993_161_855_452;
/// Volume that an element of radius 1 stands for, 4√2.
pub const CELL: f64 = 5.656_854_249_492_381;

/// Centres lie at least this many radii below the skin of a mesh. Where the skin follows a lattice plane the cells end 0.8 r beyond the
/// last centres; half a radius keeps the elements' hull within half a radius of the skin on either side wherever it runs.
const DEPTH: f64 = 0.5;

/// Centre number (i, j, k) of the lattice through the origin.
fn centre(i: i64, j: i64, k: i64, r: f64) -> DVec3 {
    let odd = |n: i64| n.rem_euclid(2) as f64;
    DVec3::new(
        (2 * i) as f64 + odd(j + k),
        ROW * (j as f64 + odd(k) / 3.0),
        LAYER * k as f64,
    ) * r
}

/// A block of counted elements a row, rows and layers, its box of centres about the origin.
pub fn block(rows: [u32; 3], r: f64) -> Vec<DVec3> {
    let [nx, ny, nz] = rows.map(i64::from);
    let mut centres = Vec::with_capacity((nx * ny * nz) as usize);
    for k in 0..nz {
        for j in 0..ny {
            centres.extend((0..nx).map(|i| centre(i, j, k, r)));
        }
    }
    let first = centres.first().copied().unwrap_or_default();
    let (low, high) = centres
        .iter()
        .fold((first, first), |(low, high), &p| (low.min(p), high.max(p)));
    let middle = (low + high) / 2.0;
    centres.iter_mut().for_each(|p| *p -= middle);
    centres
}

/// Size of the body that a block stands for.
pub fn block_size(rows: [u32; 3], r: f64) -> DVec3 {
    let [nx, ny, nz] = rows.map(f64::from);
    DVec3::new(2.0 * nx, ROW * ny, LAYER * nz) * r
}

/// Rows that fill a box best.
pub fn rows_for(size: DVec3, r: f64) -> [u32; 3] {
    [size.x / (2.0 * r), size.y / (ROW * r), size.z / (LAYER * r)]
        .map(|rows| rows.round().max(1.0) as u32)
}

/// What tells inside from outside, prepared once for a mesh.
pub enum Inside<'a> {
    /// Of a closed mesh.
    Closed(&'a TriMesh, Crossings<'a>, Bvh),
    /// Where the winding number exceeds one half.
    Winding(&'a TriMesh, Winding<'a>),
}

impl Inside<'_> {
    /// Lattice points inside the mesh and `DEPTH` radii below its skin; the lattice goes through the middle of its bounds.
    pub fn fill(&self, r: f64) -> Vec<DVec3> {
        let mesh = match self {
            Inside::Closed(mesh, ..) | Inside::Winding(mesh, _) => mesh,
        };
        let Some((low, high)) = mesh.bounds() else {
            return Vec::new();
        };
        let middle = (low + high) / 2.0;
        let half = (high - low) / 2.0 / r;
        let reach = |extent: f64, step: f64| (extent / step).ceil() as i64 + 1;
        let (ni, nj, nk) = (reach(half.x, 2.0), reach(half.y, ROW), reach(half.z, LAYER));
        (-nk..=nk)
            .into_par_iter()
            .flat_map_iter(|k| {
                let (mut xs, mut flags, mut kept) = (Vec::new(), Vec::new(), Vec::new());
                for j in -nj..=nj {
                    xs.clear();
                    xs.extend((-ni..=ni).map(|i| middle.x + centre(i, j, k, r).x));
                    let row = middle + centre(0, j, k, r);
                    self.row(&xs, row.y, row.z, &mut flags);
                    for (&x, _) in xs.iter().zip(&flags).filter(|(_, inside)| **inside) {
                        let p = DVec3::new(x, row.y, row.z);
                        if !self.near_skin(p, DEPTH * r) {
                            kept.push(p);
                        }
                    }
                }
                kept
            })
            .collect()
    }

    fn row(&self, xs: &[f64], y: f64, z: f64, flags: &mut Vec<bool>) {
        match self {
            Inside::Closed(_, crossings, _) => crossings.row(xs, y, z, flags),
            Inside::Winding(_, winding) => {
                flags.clear();
                flags.extend(xs.iter().map(|&x| winding.contains(DVec3::new(x, y, z))));
            }
        }
    }

    fn near_skin(&self, p: DVec3, distance: f64) -> bool {
        match self {
            Inside::Closed(mesh, _, bvh) => bvh.any_within(mesh, p, distance),
            Inside::Winding(mesh, winding) => winding.bvh().any_within(mesh, p, distance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn inner_elements_touch_twelve_others() {
        let centres = block([6, 5, 4], 0.5);
        assert_eq!(centres.len(), 120);
        let inner = centres
            .iter()
            .min_by(|a, b| a.length().total_cmp(&b.length()))
            .unwrap();
        let touching = centres
            .iter()
            .filter(|p| (p.distance(*inner) - 1.0).abs() < 1e-12)
            .count();
        assert_eq!(touching, 12);
        let closest = centres
            .iter()
            .filter(|p| *p != inner)
            .map(|p| p.distance(*inner))
            .fold(f64::INFINITY, f64::min);
        assert!((closest - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_ball_takes_the_centres_below_its_skin() {
        let (ball, r) = (shapes::sphere(1.0), 0.04);
        let inside = Inside::Closed(&ball, Crossings::new(&ball), Bvh::new(&ball));
        let centres = inside.fill(r);
        assert!(centres.iter().all(|p| p.length() < 1.0 - 0.49 * r));
        // As many as cells fit the ball less the depth.
        let expected =
            4.0 / 3.0 * std::f64::consts::PI * (1.0 - 0.5 * r).powi(3) / (CELL * r.powi(3));
        let part = centres.len() as f64 / expected;
        assert!((part - 1.0).abs() < 0.01, "{part}");
    }
}

//! Which part of a skin no element lies under, because the body is thinner there than an element.
//!
//! An element lies under a point of the skin if it is near and the segment between them stays inside: an
//! element across an air gap does not count. The skin is sampled by points of equal area.

use std::f64::consts::PI;

use crate::parallel::prelude::*;
use glam::DVec3;

use super::lattice::LAYER_SPACING;
use super::request::CENTRE_DEPTH;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::cell_grid::CellGrid;
use crate::math::UnionFind;

/// Distance from a point of the skin up to which an element lies under it, radii. Below a flat face the
/// outermost centres are up to 2.1 radii deep and 2.5 radii away, at an edge up to 3.
const COVERED_DISTANCE: f64 = 3.0;
/// Number of samples on the cross-section of an element.
const SAMPLES_PER_SECTION: f64 = 8.0;
/// Least and largest number of samples of a skin.
const SAMPLES: [f64; 2] = [2_000.0, 400_000.0];
/// Bare samples closer together than this belong to one part, radii.
const SAME_PART: f64 = 1.5;
/// Fraction of the bare area that is thinner than the thickness for which a radius is recommended.
const THIN_FRACTION: f64 = 0.25;
/// Largest recommended radius over the present one.
const MAX_RECOMMENDED: f64 = 0.8;

/// The part of a skin that no element lies under.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BareSkin {
    /// Its fraction of the area of the skin.
    pub part: f64,
    /// Fraction of the area of the largest connected part.
    pub largest: f64,
    /// A point in the middle of that part, m.
    pub near: DVec3,
    /// Thickness of the body there, m: three quarters of the bare area are thicker.
    pub thickness: f64,
    /// Radius with which elements lie under three quarters of it, m.
    pub radius: f64,
}

/// A sample of the skin.
struct SkinSample {
    at: DVec3,
    /// Outward unit normal.
    normal: DVec3,
}

/// Finds the bare part of the skin of a solid filled with elements at `centres` of this mean radius (m).
/// `None` if every part of the skin as large as the cross-section of an element has an element under it.
pub(super) fn bare_skin(skin: &TriMesh, centres: &[DVec3], radius: f64) -> Option<BareSkin> {
    let area = skin.area();
    let section = PI * radius * radius;
    let [fewest, most] = SAMPLES;
    let count = (SAMPLES_PER_SECTION * area / section).clamp(fewest, most);
    if centres.is_empty() || !(count.is_finite() && radius > 0.0) {
        return None;
    }
    let samples = samples(skin, area, count as usize);
    let bvh = Bvh::new(skin);
    let reach = COVERED_DISTANCE * radius;
    let grid = CellGrid::new(centres, reach);
    let is_bare = |sample: &SkinSample, near: &mut Vec<(f64, u32)>| {
        near.clear();
        grid.around(sample.at, |element| {
            let squared = centres[element as usize].distance_squared(sample.at);
            if squared <= reach * reach {
                near.push((squared, element));
            }
        });
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut elements = near.iter().map(|&(_, element)| centres[element as usize]);
        !elements.any(|centre| bvh.sees(skin, sample.at, centre))
    };
    let flags: Vec<bool> = samples
        .par_iter()
        .with_min_len(256)
        .map_init(Vec::new, |near, sample| is_bare(sample, near))
        .collect();
    let bare = samples.iter().zip(flags).filter(|(_, is_bare)| *is_bare);
    let bare: Vec<&SkinSample> = bare.map(|(sample, _)| sample).collect();
    // The spacing of the samples where they are too few for the size of elements.
    let spacing = (area / samples.len() as f64).sqrt();
    let parts = parts(&bare, (SAME_PART * radius).max(2.0 * spacing));
    let least = (samples.len() as f64 * section / area).max(1.0);
    let kept = || parts.iter().filter(|part| part.len() as f64 >= least);
    let largest = kept().max_by(|a, b| a.len().cmp(&b.len()).then(b[0].cmp(&a[0])))?;
    let fraction = |count: usize| count as f64 / samples.len() as f64;
    let (low, high) = skin.bounds()?;
    let thickness = |&sample: &u32| {
        let SkinSample { at, normal } = *bare[sample as usize];
        let across = at - normal * low.distance(high);
        let from = at.lerp(across, 1e-9);
        bvh.first_on_segment(skin, from, across).unwrap_or(0.0)
    };
    let all: Vec<u32> = kept().flatten().copied().collect();
    let mut thicknesses: Vec<f64> = all.par_iter().with_min_len(64).map(thickness).collect();
    thicknesses.sort_unstable_by(f64::total_cmp);
    let thickness = thicknesses[(THIN_FRACTION * all.len() as f64) as usize];
    // Wherever the layers lie, one fits between the depths at which centres are allowed.
    let fitting = thickness / (2.0 * CENTRE_DEPTH + LAYER_SPACING);
    Some(BareSkin {
        part: fraction(all.len()),
        largest: fraction(largest.len()),
        near: middle(&bare, largest),
        thickness,
        radius: fitting.min(MAX_RECOMMENDED * radius),
    })
}

/// About `count` points of a skin of this area (m²), each for the same area.
fn samples(skin: &TriMesh, area: f64, count: usize) -> Vec<SkinSample> {
    let each = area / count as f64;
    let mut found = Vec::with_capacity(count + 1);
    let (mut before, mut next) = (0.0, 0.5 * each);
    for t in 0..skin.triangles.len() {
        let [a, b, c] = skin.corners(t);
        let normal = (b - a).cross(c - a);
        before += normal.length() / 2.0;
        while next < before {
            // Additive recurrence in the unit square (Roberts 2018), folded into the triangle.
            let k = found.len() as f64;
            let [mut u, mut v] =
                [0.754_877_666_246_692_8, 0.569_840_290_998_053_3].map(|step| (k * step).fract());
            if u + v > 1.0 {
                [u, v] = [1.0 - u, 1.0 - v];
            }
            found.push(SkinSample {
                at: a + (b - a) * u + (c - a) * v,
                normal: normal.normalize_or_zero(),
            });
            next += each;
        }
    }
    found
}

/// Indices of the samples of each part, in ascending order; samples closer than `reach` (m) belong to one
/// part.
fn parts(samples: &[&SkinSample], reach: f64) -> Vec<Vec<u32>> {
    let positions: Vec<DVec3> = samples.iter().map(|sample| sample.at).collect();
    let grid = CellGrid::new(&positions, reach);
    let mut sets = UnionFind::new(samples.len());
    for (k, at) in (0_u32..).zip(&positions) {
        grid.around(*at, |other| {
            if other < k && positions[other as usize].distance(*at) <= reach {
                sets.join(other, k);
            }
        });
    }
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); samples.len()];
    for (k, root) in (0..).zip(sets.roots()) {
        parts[root as usize].push(k);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The sample of a part that is nearest to its centre, m.
fn middle(samples: &[&SkinSample], part: &[u32]) -> DVec3 {
    let at = |k: &u32| samples[*k as usize].at;
    let centre = part.iter().map(at).sum::<DVec3>() / part.len() as f64;
    let points = part.iter().map(at);
    let nearest = points.min_by(|a, b| {
        let squared = |p: &DVec3| p.distance_squared(centre);
        squared(a).total_cmp(&squared(b))
    });
    nearest.unwrap_or(centre)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    /// A block with a fin of this thickness on it, all one closed mesh, and a grid of elements of radius 1 in
    /// the block.
    fn block_with_fin(thickness: f64) -> (TriMesh, Vec<DVec3>) {
        let half = thickness / 2.0;
        let outline = [
            [-10.0, 0.0],
            [10.0, 0.0],
            [10.0, 10.0],
            [half, 10.0],
            [half, 20.0],
            [-half, 20.0],
            [-half, 10.0],
            [-10.0, 10.0],
        ];
        let mut mesh = TriMesh::default();
        for z in [-10.0, 10.0] {
            let points = outline.iter().map(|[x, y]| DVec3::new(*x, *y, z));
            mesh.positions.extend(points);
        }
        for cap in [
            [0, 1, 2],
            [0, 2, 3],
            [0, 3, 6],
            [0, 6, 7],
            [3, 4, 5],
            [3, 5, 6],
        ] {
            let [a, b, c] = cap;
            mesh.triangles.push([a, c, b]);
            mesh.triangles.push(cap.map(|v| v + 8));
        }
        for k in 0..8 {
            let next = (k + 1) % 8;
            mesh.triangles.push([k, next, next + 8]);
            mesh.triangles.push([k, next + 8, k + 8]);
        }
        let sites = (0..10 * 5 * 10).map(|n| [n % 10, n / 10 % 5, n / 50]);
        let centres = sites.map(|[i, j, k]| {
            let at = |n: i32, first: f64| first + 2.0 * f64::from(n);
            DVec3::new(at(i, -9.0), at(j, 1.0), at(k, -9.0))
        });
        (mesh, centres.collect())
    }

    #[test]
    fn a_fin_without_elements_is_found_and_measured() {
        let (skin, centres) = block_with_fin(0.6);
        crate::geometry::check::require_solid(&mut skin.clone()).unwrap();
        let bare = bare_skin(&skin, &centres, 1.0).unwrap();
        // Both sides of the fin except the lowest radius of it, and its edges.
        let expected = (2.0 * 20.0 * 9.0 + 0.6 * (20.0 + 2.0 * 9.0)) / skin.area();
        assert!(
            (bare.part / expected - 1.0).abs() < 0.1,
            "{bare:?} {expected}"
        );
        assert!(bare.largest > 0.99 * bare.part, "{bare:?}");
        assert!(bare.near.y > 12.0 && bare.near.x.abs() < 0.4, "{bare:?}");
        assert!((bare.thickness - 0.6).abs() < 1e-6, "{bare:?}");
        assert!((bare.radius - 0.6 / 2.633).abs() < 1e-3, "{bare:?}");
    }

    #[test]
    fn corners_are_covered_and_elements_across_a_gap_cover_nothing() {
        let (_, mut centres) = block_with_fin(0.6);
        let mut cube = shapes::cuboid(DVec3::new(20.0, 10.0, 20.0));
        cube.positions.iter_mut().for_each(|p| p.y += 5.0);
        assert_eq!(bare_skin(&cube, &centres, 1.0), None);
        // Another part with elements, close to the fin.
        let shift = DVec3::new(10.9, 10.2, 0.0);
        let (mut skin, _) = block_with_fin(0.6);
        let alone = bare_skin(&skin, &centres, 1.0).unwrap().part * skin.area();
        cube.positions.iter_mut().for_each(|p| *p += shift);
        skin.append(cube);
        let all = centres.clone();
        centres.extend(all.into_iter().map(|p| p + shift));
        let bare = bare_skin(&skin, &centres, 1.0).unwrap();
        assert!(
            (bare.part * skin.area() / alone - 1.0).abs() < 0.03,
            "{bare:?}"
        );
    }
}

//! Statistics of a packing far from its borders: filling fraction, numbers of neighbours by distance,
//! directions of bonds.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::solid::FillRegion;
use crate::geometry::cell_grid::CellGrid;
use crate::geometry::{TriMesh, check};
use crate::laws::weibull::uniform;
use crate::math::eigen;

/// Depth under the skin, over the largest radius, beyond which elements have all their neighbours up to the
/// largest of [`NEIGHBOUR_DISTANCES`].
const BULK_DEPTH: f64 = 4.0;
/// Depth under the skin, over the largest radius, beyond which the filling fraction is sampled: no element
/// that could cover a point is missing there.
const SAMPLING_DEPTH: f64 = 2.0;
/// Points in the bounding box that sample the filling fraction, which gives it to 1e-3.
const FILLING_SAMPLES: u32 = 500_000;
/// Largest number of elements that are analysed.
const MAX_ANALYSED: usize = 100_000;
/// Gap over the smaller radius up to which elements count as touching.
const CONTACT_GAP: f64 = 1e-3;

/// Distances over the sum of radii within which neighbours are counted.
pub const NEIGHBOUR_DISTANCES: [f64; 6] = [1.02, 1.05, 1.1, 1.2, 1.3, 1.45];

/// Statistics of the elements of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Smallest, mean and largest radius, m.
    pub radius: [f64; 3],
    /// Deepest overlap over the smaller radius, among the analysed elements.
    pub overlap: f64,
    /// Statistics of the bulk, if the body is large enough to have one.
    pub bulk: Option<BulkFigures>,
}

/// Statistics of elements far from the border.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkFigures {
    /// Number of analysed elements.
    pub elements: usize,
    /// Filling fraction: fraction of the volume inside elements.
    pub filling: f64,
    /// Mean number of touching neighbours of an element.
    pub contacts: f64,
    /// Mean number of bonds of an element.
    pub bonds: f64,
    /// Mean number of elements within each of [`NEIGHBOUR_DISTANCES`] of an element.
    pub within: [f64; NEIGHBOUR_DISTANCES.len()],
    /// Eigenvalues, ascending, of the mean of n nᵀ over the directions n of bonds, or of contacts where there
    /// are no bonds; one third each if directions are isotropic.
    pub fabric: [f64; 3],
}

/// Sums over the neighbours of elements.
#[derive(Clone, Copy, Default)]
struct NeighbourSums {
    contacts: f64,
    within: [f64; NEIGHBOUR_DISTANCES.len()],
    overlap: f64,
    directions: f64,
    fabric: [f64; 6],
}

impl NeighbourSums {
    fn add(mut self, other: NeighbourSums) -> NeighbourSums {
        self.contacts += other.contacts;
        self.overlap = self.overlap.max(other.overlap);
        self.directions += other.directions;
        for (a, b) in self.within.iter_mut().zip(other.within) {
            *a += b;
        }
        for (a, b) in self.fabric.iter_mut().zip(other.fabric) {
            *a += b;
        }
        self
    }

    fn add_direction(&mut self, n: DVec3) {
        self.directions += 1.0;
        let products = [
            n.x * n.x,
            n.y * n.y,
            n.z * n.z,
            n.x * n.y,
            n.x * n.z,
            n.y * n.z,
        ];
        for (a, b) in self.fabric.iter_mut().zip(products) {
            *a += b;
        }
    }

    fn eigenvalues(&self) -> [f64; 3] {
        let [xx, yy, zz, xy, xz, yz] = self.fabric.map(|sum| sum / self.directions.max(1.0));
        let (mut values, _) = eigen([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
        values.sort_by(f64::total_cmp);
        values
    }
}

/// Statistics of elements with these centres and radii (m), bonded in these pairs, inside a skin. Without a
/// skin there are no statistics of the bulk.
pub fn figures(
    centres: &[DVec3],
    radii: &[f64],
    bonds: &[[u32; 2]],
    skin: Option<&TriMesh>,
) -> Option<Figures> {
    let largest = radii.iter().copied().fold(0.0, f64::max);
    if centres.is_empty() || largest <= 0.0 {
        return None;
    }
    let farthest = NEIGHBOUR_DISTANCES[NEIGHBOUR_DISTANCES.len() - 1];
    let grid = CellGrid::new(centres, 2.0 * farthest * largest);
    let skin = skin.filter(|skin| check::require_solid(&mut (*skin).clone()).is_ok());
    let deep = skin.map(|skin| SkinInside::new(skin).deeper_than(centres, BULK_DEPTH * largest));
    // A regular subsample, which limits the time for large bodies.
    let of_interest: Vec<u32> = match &deep {
        Some(deep) if !deep.is_empty() => deep.clone(),
        _ => (0..centres.len() as u32).collect(),
    };
    let stride = of_interest.len().div_ceil(MAX_ANALYSED);
    let chosen: Vec<u32> = of_interest.into_iter().step_by(stride).collect();
    let mut is_chosen = vec![false; centres.len()];
    for &i in &chosen {
        is_chosen[i as usize] = true;
    }
    let around = |i: usize| {
        let (p, r, mut seen) = (centres[i], radii[i], NeighbourSums::default());
        grid.around(p, |j| {
            let j = j as usize;
            let (d, other) = (centres[j] - p, radii[j]);
            let (distance, touch, smaller) = (d.length(), r + other, r.min(other));
            if j == i {
                return;
            }
            for (count, limit) in seen.within.iter_mut().zip(NEIGHBOUR_DISTANCES) {
                *count += f64::from(u8::from(distance <= limit * touch));
            }
            seen.overlap = seen.overlap.max((touch - distance) / smaller);
            if distance <= touch + CONTACT_GAP * smaller {
                seen.contacts += 1.0;
                if bonds.is_empty() {
                    seen.add_direction(d / distance);
                }
            }
        });
        seen
    };
    // Chunks are added in order, so that the sums are the same on any number of threads.
    let parts: Vec<NeighbourSums> = chosen
        .par_chunks(1024)
        .map(|part| {
            part.iter()
                .map(|&i| around(i as usize))
                .fold(NeighbourSums::default(), NeighbourSums::add)
        })
        .collect();
    let mut all = parts
        .into_iter()
        .fold(NeighbourSums::default(), NeighbourSums::add);
    let mut ends = 0.0;
    for &[i, j] in bonds {
        let of_chosen = [i, j]
            .iter()
            .filter(|end| is_chosen[**end as usize])
            .count();
        if of_chosen > 0 {
            ends += of_chosen as f64;
            all.add_direction((centres[j as usize] - centres[i as usize]).normalize_or_zero());
        }
    }
    let elements = chosen.len() as f64;
    let bulk = skin
        .filter(|_| deep.is_some_and(|deep| !deep.is_empty()))
        .map(|skin| BulkFigures {
            elements: chosen.len(),
            filling: filling_fraction(centres, radii, largest, &SkinInside::new(skin)),
            contacts: all.contacts / elements,
            bonds: ends / elements,
            within: all.within.map(|count| count / elements),
            fabric: all.eigenvalues(),
        });
    Some(Figures {
        radius: [
            radii.iter().copied().fold(f64::INFINITY, f64::min),
            radii.iter().sum::<f64>() / radii.len() as f64,
            largest,
        ],
        overlap: all.overlap,
        bulk,
    })
}

/// The inside of a skin, which is a solid.
struct SkinInside<'a> {
    region: FillRegion<'a>,
    bounds: (DVec3, DVec3),
}

impl<'a> SkinInside<'a> {
    fn new(skin: &'a TriMesh) -> Self {
        SkinInside {
            region: FillRegion::closed(skin),
            bounds: skin.bounds().unwrap_or_default(),
        }
    }

    /// Indices of the points that lie at least `depth` (m) inside.
    fn deeper_than(&self, points: &[DVec3], depth: f64) -> Vec<u32> {
        let inside = points.par_iter().map_init(Vec::new, |flags, p| {
            self.region.row(&[p.x], p.y, p.z, depth, flags);
            flags[0]
        });
        let inside: Vec<bool> = inside.collect();
        (0..)
            .zip(inside)
            .filter_map(|(i, inside)| inside.then_some(i))
            .collect()
    }
}

/// Fraction of the volume far from the skin that lies inside elements, by one random point in each cell of a
/// grid.
fn filling_fraction(centres: &[DVec3], radii: &[f64], largest: f64, inside: &SkinInside) -> f64 {
    let (low, high) = inside.bounds;
    let (low, high) = (
        low + SAMPLING_DEPTH * largest,
        high - SAMPLING_DEPTH * largest,
    );
    let size = (high - low).max(DVec3::ZERO);
    let edge = (size.element_product() / f64::from(FILLING_SAMPLES)).cbrt();
    let counts = (size / edge).ceil().max(DVec3::ONE);
    let [nx, ny, nz] = counts.to_array().map(|n| n as u32);
    let points: Vec<DVec3> = (0..nx * ny * nz)
        .into_par_iter()
        .map(|k| {
            let at = [k % nx, k / nx % ny, k / nx / ny];
            let [x, y, z] = [0, 1, 2].map(|axis| f64::from(at[axis]) + uniform(axis as u64, k));
            low + DVec3::new(x, y, z) * size / counts
        })
        .collect();
    let deep = inside.deeper_than(&points, SAMPLING_DEPTH * largest);
    let grid = CellGrid::new(centres, largest);
    let covered = |k: &&u32| {
        let p = points[**k as usize];
        let mut covered = false;
        grid.around(p, |i| {
            covered |= centres[i as usize].distance_squared(p) <= radii[i as usize].powi(2);
        });
        covered
    };
    let found = deep.par_iter().filter(covered).count();
    found as f64 / deep.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::hexagonal;
    use super::super::neighbours::pairs;
    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn a_lattice_has_the_figures_of_close_packing() {
        let rows = [24, 26, 28];
        let centres = hexagonal::block(rows, 0.5);
        let radii = vec![0.5; centres.len()];
        let bonds = pairs(&centres, &radii, 1.0);
        let skin = shapes::cuboid(hexagonal::block_size(rows, 0.5));
        let figures = figures(&centres, &radii, &bonds, Some(&skin)).unwrap();
        let bulk = figures.bulk.unwrap();
        // The result depends a little on where the bulk is cut between layers.
        assert!((bulk.filling - 0.7405).abs() < 4e-3, "{}", bulk.filling);
        assert_eq!((bulk.contacts, bulk.bonds), (12.0, 12.0));
        // 12 at 1, 6 at √2.
        assert_eq!(bulk.within, [12.0, 12.0, 12.0, 12.0, 12.0, 18.0]);
        for value in bulk.fabric {
            assert!((value - 1.0 / 3.0).abs() < 0.01, "{value}");
        }
        assert_eq!(figures.radius, [0.5; 3]);
        assert!(figures.overlap.abs() < 1e-9);
        // All elements below the depth, up to one layer on each side.
        let within = hexagonal::block_size(rows, 0.5) - DVec3::splat(2.0 * BULK_DEPTH * 0.5);
        let expected = within.element_product() * 2.0_f64.sqrt();
        let part = bulk.elements as f64 / expected;
        assert!((part - 1.0).abs() < 0.1, "{part}");
    }

    #[test]
    fn a_stretched_lattice_shows_in_directions_and_a_small_one_has_no_bulk() {
        let centres: Vec<DVec3> = (0..4096)
            .map(|k| {
                DVec3::new(
                    f64::from(k % 16),
                    f64::from(k / 16 % 16),
                    f64::from(k / 256),
                )
            })
            .collect();
        let radii = vec![0.5; centres.len()];
        let skin = TriMesh {
            positions: shapes::cuboid(DVec3::splat(16.0))
                .positions
                .iter()
                .map(|p| *p + 7.5)
                .collect(),
            ..shapes::cuboid(DVec3::splat(16.0))
        };
        // Chains along x alone.
        let chains: Vec<[u32; 2]> = (0..4096)
            .filter(|k| k % 16 < 15)
            .map(|k| [k, k + 1])
            .collect();
        let found = figures(&centres, &radii, &chains, Some(&skin))
            .unwrap()
            .bulk
            .unwrap();
        assert_eq!((found.contacts, found.bonds), (6.0, 2.0));
        assert_eq!(found.fabric, [0.0, 0.0, 1.0]);
        assert!((found.filling - std::f64::consts::PI / 6.0).abs() < 2e-3);
        assert_eq!(figures(&centres, &radii, &[], None).unwrap().bulk, None);
        let loose = figures(&centres, &radii, &[], Some(&skin))
            .unwrap()
            .bulk
            .unwrap();
        assert!((loose.fabric[0] - 1.0 / 3.0).abs() < 1e-12 && loose.bonds == 0.0);
        assert_eq!(figures(&[], &[], &[], None), None);
    }
}

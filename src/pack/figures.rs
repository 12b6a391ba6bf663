//! Figures of a packing far from its borders: how full it is, how many neighbours elements have and how far
//! they are, which way bonds point.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::solid::Solid;
use crate::geometry::cell_grid::CellGrid;
use crate::geometry::{TriMesh, check};
use crate::laws::weibull::uniform;
use crate::math::eigen;

/// Over the largest radius, how deep under the skin elements lie whose neighbours are all there, up to the
/// farthest of [`DISTANCES`].
const DEEP: f64 = 4.0;
/// The same for points that all elements about them may cover.
const COVERED: f64 = 2.0;
/// Points that the part of the volume in elements is found by, in the bounding box: 1e-3 of it.
const SAMPLES: u32 = 500_000;
/// Elements that are looked at, at most.
const LOOKED_AT: usize = 100_000;
/// Gap over the smaller radius up to which elements touch.
const TOUCH: f64 = 1e-3;

/// Distances over the sum of radii that neighbours are counted within.
pub const DISTANCES: [f64; 6] = [1.02, 1.05, 1.1, 1.2, 1.3, 1.45];

/// Figures of the elements of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Smallest, mean and largest radius, m.
    pub radius: [f64; 3],
    /// Deepest overlap over the smaller radius, among the elements looked at.
    pub overlap: f64,
    /// Of the bulk, where the body is large enough to have one.
    pub bulk: Option<Bulk>,
}

/// Figures far from the border.
#[derive(Clone, Debug, PartialEq)]
pub struct Bulk {
    /// Elements looked at.
    pub elements: usize,
    /// Part of the volume in elements.
    pub filling: f64,
    /// Touching elements about one, and bonds of one, in the mean.
    pub contacts: f64,
    /// Bonds of an element, in the mean.
    pub bonds: f64,
    /// Elements within each of [`DISTANCES`] of one, in the mean.
    pub within: [f64; DISTANCES.len()],
    /// Mean of n nᵀ over the bonds of direction n, or over contacts where there are no bonds: its
    /// eigenvalues, ascending, a third each where directions are spread evenly.
    pub fabric: [f64; 3],
}

/// What is seen around an element.
#[derive(Clone, Copy, Default)]
struct Around {
    contacts: f64,
    within: [f64; DISTANCES.len()],
    overlap: f64,
    directions: f64,
    fabric: [f64; 6],
}

impl Around {
    fn add(mut self, other: Around) -> Around {
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

    fn direct(&mut self, n: DVec3) {
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

/// Figures of elements with these centres and radii (m), bonded in these pairs, inside a skin. There is no
/// bulk without a skin.
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
    let farthest = DISTANCES[DISTANCES.len() - 1];
    let grid = CellGrid::new(centres, 2.0 * farthest * largest);
    let deep = skin.map(|skin| Inside::new(skin).deep(centres, DEEP * largest));
    // Every so many-th, so that a large body takes no longer than it must.
    let of_interest: Vec<u32> = match &deep {
        Some(deep) if !deep.is_empty() => deep.clone(),
        _ => (0..centres.len() as u32).collect(),
    };
    let stride = of_interest.len().div_ceil(LOOKED_AT);
    let chosen: Vec<u32> = of_interest.into_iter().step_by(stride).collect();
    let mut is_chosen = vec![false; centres.len()];
    for &i in &chosen {
        is_chosen[i as usize] = true;
    }
    let around = |i: usize| {
        let (p, r, mut seen) = (centres[i], radii[i], Around::default());
        grid.around(p, |j| {
            let j = j as usize;
            let (d, other) = (centres[j] - p, radii[j]);
            let (distance, touch, smaller) = (d.length(), r + other, r.min(other));
            if j == i {
                return;
            }
            for (count, limit) in seen.within.iter_mut().zip(DISTANCES) {
                *count += f64::from(u8::from(distance <= limit * touch));
            }
            seen.overlap = seen.overlap.max((touch - distance) / smaller);
            if distance <= touch + TOUCH * smaller {
                seen.contacts += 1.0;
                if bonds.is_empty() {
                    seen.direct(d / distance);
                }
            }
        });
        seen
    };
    // Parts in order, so that the sums are the same on any number of threads.
    let parts: Vec<Around> = chosen
        .par_chunks(1024)
        .map(|part| {
            part.iter()
                .map(|&i| around(i as usize))
                .fold(Around::default(), Around::add)
        })
        .collect();
    let mut all = parts.into_iter().fold(Around::default(), Around::add);
    let mut ends = 0.0;
    for &[i, j] in bonds {
        let of_chosen = [i, j]
            .iter()
            .filter(|end| is_chosen[**end as usize])
            .count();
        if of_chosen > 0 {
            ends += of_chosen as f64;
            all.direct((centres[j as usize] - centres[i as usize]).normalize_or_zero());
        }
    }
    let elements = chosen.len() as f64;
    let bulk = skin
        .filter(|_| deep.is_some_and(|deep| !deep.is_empty()))
        .map(|skin| Bulk {
            elements: chosen.len(),
            filling: filling(centres, radii, largest, &Inside::new(skin)),
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

/// The inside of a skin.
struct Inside<'a> {
    solid: Solid<'a>,
    bounds: (DVec3, DVec3),
}

impl<'a> Inside<'a> {
    fn new(skin: &'a TriMesh) -> Self {
        let closed = check::require_solid(&mut skin.clone()).is_ok();
        Inside {
            solid: if closed {
                Solid::closed(skin)
            } else {
                Solid::wound(skin)
            },
            bounds: skin.bounds().unwrap_or_default(),
        }
    }

    /// Which of the points lie at least `depth` inside.
    fn deep(&self, points: &[DVec3], depth: f64) -> Vec<u32> {
        let inside = points.par_iter().map_init(Vec::new, |flags, p| {
            self.solid.row(&[p.x], p.y, p.z, depth, flags);
            flags[0]
        });
        let inside: Vec<bool> = inside.collect();
        (0..)
            .zip(inside)
            .filter_map(|(i, inside)| inside.then_some(i))
            .collect()
    }
}

/// Part of the volume far from the skin that lies in elements, by points spread over it: one in each cell of a lattice.
fn filling(centres: &[DVec3], radii: &[f64], largest: f64, inside: &Inside) -> f64 {
    let (low, high) = inside.bounds;
    let (low, high) = (low + COVERED * largest, high - COVERED * largest);
    let size = (high - low).max(DVec3::ZERO);
    let edge = (size.element_product() / f64::from(SAMPLES)).cbrt();
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
    let deep = inside.deep(&points, COVERED * largest);
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
        // Where the bulk is cut between layers matters a little.
        assert!((bulk.filling - 0.7405).abs() < 4e-3, "{}", bulk.filling);
        assert_eq!((bulk.contacts, bulk.bonds), (12.0, 12.0));
        // 12 at 1, 6 at √2.
        assert_eq!(bulk.within, [12.0, 12.0, 12.0, 12.0, 12.0, 18.0]);
        for value in bulk.fabric {
            assert!((value - 1.0 / 3.0).abs() < 0.01, "{value}");
        }
        assert_eq!(figures.radius, [0.5; 3]);
        assert!(figures.overlap.abs() < 1e-9);
        // All that lie so deep: a layer more or less on each side.
        let within = hexagonal::block_size(rows, 0.5) - DVec3::splat(2.0 * DEEP * 0.5);
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

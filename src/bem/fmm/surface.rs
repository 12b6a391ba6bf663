//! Points of the cube surfaces that equivalent densities and check potentials stand on.
//!
//! Half sizes are in halves of the box: 1 is the box itself. The points are the outer ones of a regular grid
//! of p³, so that M2L is a convolution.

/// Half size of the upward equivalent and the downward check surface.
pub const INNER: f64 = 1.05;
/// Half size of the upward check and the downward equivalent surface.
pub const OUTER: f64 = 2.95;

/// Points of the surface of the cube from −1 to 1, p a side.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Points a side.
    pub side: usize,
    /// Place on the grid of p³, by axis.
    pub grid: Vec<[u8; 3]>,
    /// Coordinates, one column an axis.
    pub points: [Vec<f64>; 3],
    /// The points of the octant below zero, reflected in the axes whose bits g has: a row for each g from 0
    /// to 7. A point on a plane of symmetry stands in several rows.
    pub reflected: [Vec<u32>; 8],
    /// The point that each is reflected to, in the same axes.
    pub images: [Vec<u32>; 8],
}

impl Surface {
    /// With `side` points a side, at least two.
    pub fn new(side: usize) -> Self {
        let outer = |place: &[u8; 3]| {
            let at_end = |k: &u8| *k == 0 || usize::from(*k) == side - 1;
            place.iter().any(at_end)
        };
        let place = |k: usize| [k / (side * side), k / side % side, k % side].map(|k| k as u8);
        let grid: Vec<[u8; 3]> = (0..side.pow(3)).map(place).filter(outer).collect();
        let points = [0, 1, 2].map(|axis| {
            let coordinate = |place: &[u8; 3]| {
                (2.0 * f64::from(place[axis]) - (side - 1) as f64) / (side - 1) as f64
            };
            grid.iter().map(coordinate).collect()
        });
        let image = |place: &[u8; 3], g: usize| {
            let flip = |axis: usize| {
                let (k, last) = (place[axis], (side - 1) as u8);
                if g >> axis & 1 == 1 { last - k } else { k }
            };
            let found = grid.binary_search(&[flip(0), flip(1), flip(2)]);
            found.expect("a reflected point lies on the surface") as u32
        };
        let octants = [0, 1, 2, 3, 4, 5, 6, 7];
        let lower = |place: &&[u8; 3]| place.iter().all(|k| 2 * usize::from(*k) < side);
        let reflected = octants.map(|g| grid.iter().filter(lower).map(|p| image(p, g)).collect());
        let images = octants.map(|g| grid.iter().map(|p| image(p, g)).collect());
        Surface {
            side,
            grid,
            points,
            reflected,
            images,
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.grid.len()
    }

    /// A point, scaled.
    pub fn point(&self, k: usize, half: f64) -> [f64; 3] {
        [0, 1, 2].map(|axis| half * self.points[axis][k])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflections_give_all_points() {
        for side in [4, 5, 8] {
            let surface = Surface::new(side);
            assert_eq!(surface.len(), 6 * (side - 1) * (side - 1) + 2);
            let mut all = surface.reflected.concat();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), surface.len());
            for g in 0..8 {
                for (k, image) in surface.images[g].iter().enumerate() {
                    let (point, other) =
                        (surface.point(k, 1.0), surface.point(*image as usize, 1.0));
                    assert!(point.iter().any(|x| x.abs() == 1.0));
                    for axis in 0..3 {
                        let sign = if g >> axis & 1 == 1 { -1.0 } else { 1.0 };
                        assert_eq!(other[axis], sign * point[axis]);
                    }
                }
            }
        }
    }
}

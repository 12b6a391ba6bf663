//! Points of the cube surfaces that carry equivalent densities and check potentials.
//!
//! Half sizes are in units of the box's half side: 1 is the box itself. The points are the outer points of a
//! regular grid of p³, so that M2L is a convolution.

/// Half size of the upward equivalent and the downward check surface.
pub const INNER: f64 = 1.05;
/// Half size of the upward check and the downward equivalent surface.
pub const OUTER: f64 = 2.95;

/// Points on the surface of the cube from −1 to 1, p along a side.
#[derive(Clone, Debug)]
pub struct CubeSurface {
    /// Number of points along a side, p.
    pub side: usize,
    /// Index of each point on the grid of p³, by axis.
    pub grid: Vec<[u8; 3]>,
    /// Coordinates of the points, one vector for each axis.
    pub points: [Vec<f64>; 3],
    /// The points of the octant below zero, reflected in the axes whose bits are set in g: one row for each g
    /// from 0 to 7. A point on a plane of symmetry occurs in several rows.
    pub reflected: [Vec<u32>; 8],
    /// For each reflection g, the point to which each point is reflected.
    pub images: [Vec<u32>; 8],
}

impl CubeSurface {
    /// A surface with `side` points along a side, at least two.
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
        CubeSurface {
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

    /// Coordinates of point k on the surface with this half size.
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
            let surface = CubeSurface::new(side);
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

//! Points of the cube surfaces that equivalent densities and check potentials stand on.
//!
//! Half sizes are in halves of the box: 1 is the box itself. The points are the outer ones of a regular grid of p³, so that M2L is a convolution.
//! p is even, so that no point lies on a plane of symmetry and the eight reflections of an octant's points give all of them.

/// Half size of the upward equivalent and the downward check surface.
pub const INNER: f64 = 1.05;
/// Half size of the upward check and the downward equivalent surface.
pub const OUTER: f64 = 2.95;

/// Points of the surface of the cube from −1 to 1, p a side.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Points a side.
    pub side: usize,
    /// Place on the grid of p³, by axis. Point `m·g + r` is point r reflected in the axes whose bits g has; m is an eighth of the points.
    pub grid: Vec<[u8; 3]>,
    /// Coordinates, one column an axis.
    pub points: [Vec<f64>; 3],
}

impl Surface {
    /// With `side` points a side, an even number.
    pub fn new(side: usize) -> Self {
        assert!(
            side >= 4 && side.is_multiple_of(2),
            "an even number of points"
        );
        let half = side / 2;
        let mut grid = Vec::with_capacity(6 * (side - 1) * (side - 1) + 2);
        for reflected in 0..8 {
            let place = |axis: usize, k: usize| {
                let upper = reflected >> axis & 1 == 1;
                (if upper { side - 1 - k } else { k }) as u8
            };
            for k in 0..half.pow(3) {
                let [x, y, z] = [k / (half * half), k / half % half, k % half];
                if x == 0 || y == 0 || z == 0 {
                    grid.push([place(0, x), place(1, y), place(2, z)]);
                }
            }
        }
        let points = [0, 1, 2].map(|axis| {
            let coordinate = |place: &[u8; 3]| {
                (2.0 * f64::from(place[axis]) - (side - 1) as f64) / (side - 1) as f64
            };
            grid.iter().map(coordinate).collect()
        });
        Surface { side, grid, points }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.grid.len()
    }

    /// A point, scaled.
    pub fn point(&self, k: usize, half: f64) -> [f64; 3] {
        [0, 1, 2].map(|axis| half * self.points[axis][k])
    }

    /// Columns of all points, scaled and moved.
    pub fn columns(&self, half: f64, centre: [f64; 3]) -> [Vec<f64>; 3] {
        [0, 1, 2].map(|axis| {
            let place = |x: &f64| centre[axis] + half * x;
            self.points[axis].iter().map(place).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflections_exchange_blocks_of_points() {
        for side in [4, 6, 8] {
            let surface = Surface::new(side);
            assert_eq!(surface.len(), 6 * (side - 1) * (side - 1) + 2);
            let eighth = surface.len() / 8;
            for k in 0..surface.len() {
                let point = surface.point(k, 1.0);
                let size = point.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
                assert_eq!(size, 1.0);
                for axis in 0..3 {
                    let image = ((k / eighth) ^ (1 << axis)) * eighth + k % eighth;
                    let mut other = point;
                    other[axis] = -other[axis];
                    assert_eq!(surface.point(image, 1.0), other);
                }
            }
        }
    }
}

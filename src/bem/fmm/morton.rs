//! Positions of points along a Z-order (Morton) curve through a cube.

use glam::DVec3;

/// Largest number of subdivisions of the root cube.
pub const DEPTH: u32 = 20;

/// The cube that contains all points.
#[derive(Clone, Copy, Debug)]
pub struct RootCube {
    /// Lowest corner of the cube, m.
    pub low: DVec3,
    /// Side of the cube, m.
    pub side: f64,
}

impl RootCube {
    /// The cube around these points; there may be none.
    pub fn new(sources: &[DVec3], targets: &[DVec3]) -> Self {
        let all = sources.iter().chain(targets);
        let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = all.fold(empty, |(low, high), p| (low.min(*p), high.max(*p)));
        let side = (high - low).max_element();
        if side > 0.0 {
            let low = (low + high) * 0.5 - DVec3::splat(side * 0.5);
            RootCube { low, side }
        } else {
            // The points coincide, or there are none: any cube will do.
            let low = if low.is_finite() { low } else { DVec3::ZERO };
            RootCube { low, side: 1.0 }
        }
    }

    /// Cell of the finest grid that contains a point, by axis.
    fn cell(&self, point: DVec3) -> [u32; 3] {
        let cells = f64::from(1 << DEPTH);
        let place = (point - self.low) / self.side * cells;
        // Rounding must not lead out of the cube.
        place
            .to_array()
            .map(|x| x.clamp(0.0, cells - 1.0).floor() as u32)
    }

    /// Number of the point's cell along the curve: three bits for each level, the first level in the highest
    /// bits.
    pub fn code(&self, point: DVec3) -> u64 {
        let [x, y, z] = self.cell(point).map(spread);
        x | y << 1 | z << 2
    }
}

/// Spreads the bits of `x` so that they are three places apart.
fn spread(x: u32) -> u64 {
    let mut x = u64::from(x);
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_interleave_the_axes() {
        let corners = [DVec3::ZERO, DVec3::splat(f64::from(1 << DEPTH))];
        let root = RootCube::new(&corners, &[]);
        assert_eq!(root.code(DVec3::new(1.5, 0.5, 0.0)), 0b001);
        assert_eq!(root.code(DVec3::new(2.5, 1.5, 3.9)), 0b101_110);
        assert_eq!(root.code(corners[1]), (1 << (3 * DEPTH)) - 1);
    }

    #[test]
    fn one_place_and_no_place_have_a_cube() {
        let place = DVec3::new(3.0, 1.0, -2.0);
        assert_eq!(RootCube::new(&[place], &[place]).low, place);
        assert!(RootCube::new(&[], &[]).side > 0.0);
    }
}

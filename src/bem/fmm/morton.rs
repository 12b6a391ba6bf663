//! Places on a Z-shaped curve through a cube.

use glam::DVec3;

/// Halvings of the root at most.
pub const DEPTH: u32 = 20;

/// Cube that holds all points.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    /// Its lowest corner.
    pub low: DVec3,
    /// Its side, m.
    pub side: f64,
}

impl Root {
    /// Around points, of which there may be none.
    pub fn new(sources: &[DVec3], targets: &[DVec3]) -> Self {
        let all = sources.iter().chain(targets);
        let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = all.fold(empty, |(low, high), p| (low.min(*p), high.max(*p)));
        let side = (high - low).max_element();
        if side > 0.0 {
            let low = (low + high) * 0.5 - DVec3::splat(side * 0.5);
            Root { low, side }
        } else {
            // No extent: any cube does.
            let low = if low.is_finite() { low } else { DVec3::ZERO };
            Root { low, side: 1.0 }
        }
    }

    /// Cell of the finest grid that a point lies in, by axis.
    fn cell(&self, point: DVec3) -> [u32; 3] {
        let cells = f64::from(1 << DEPTH);
        let place = (point - self.low) / self.side * cells;
        // Rounding must not leave the cube.
        place
            .to_array()
            .map(|x| x.clamp(0.0, cells - 1.0).floor() as u32)
    }

    /// Number of that cell along the curve: three bits a level, the first level highest.
    pub fn code(&self, point: DVec3) -> u64 {
        let [x, y, z] = self.cell(point).map(spread);
        x | y << 1 | z << 2
    }
}

/// Bits three places apart.
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
        let root = Root::new(&corners, &[]);
        assert_eq!(root.code(DVec3::new(1.5, 0.5, 0.0)), 0b001);
        assert_eq!(root.code(DVec3::new(2.5, 1.5, 3.9)), 0b101_110);
        assert_eq!(root.code(corners[1]), (1 << (3 * DEPTH)) - 1);
    }

    #[test]
    fn one_place_and_no_place_have_a_cube() {
        let place = DVec3::new(3.0, 1.0, -2.0);
        assert_eq!(Root::new(&[place], &[place]).low, place);
        assert!(Root::new(&[], &[]).side > 0.0);
    }
}

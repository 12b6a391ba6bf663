//! Faces of polyhedra clipped by planes, and the overlap of two solids summed over the clipped faces.

use glam::DVec3;

/// Intersection of two solids, in the axes of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// Volume, m³.
    pub volume: f64,
    /// ∫ n dA over the surface of the first within the second, n outward, m².
    pub area: DVec3,
    /// ∫ x × n dA over the same surface, m³.
    pub moment: DVec3,
    /// Centre of area of the surface of the intersection, m.
    pub centre: DVec3,
}

/// Scratch buffers for computing overlaps.
#[derive(Clone, Debug, Default)]
pub struct OverlapScratch {
    pub(super) corners: Vec<DVec3>,
    pub(super) planes: [CuttingPlanes; 2],
    pub(super) clipper: PolygonClipper,
}

/// Planes that cut a polyhedron: those with at least one corner beyond them.
#[derive(Clone, Debug, Default)]
pub(super) struct CuttingPlanes {
    planes: Vec<(DVec3, f64)>,
    /// Heights of all corners above each plane, plane by plane, m.
    heights: Vec<f64>,
}

impl CuttingPlanes {
    pub(super) fn clear(&mut self) {
        self.planes.clear();
        self.heights.clear();
    }

    /// Adds a plane if any corner lies beyond it. Returns the height of the lowest corner above the plane, m.
    pub(super) fn add(&mut self, corners: &[DVec3], normal: DVec3, offset: f64) -> f64 {
        let before = self.heights.len();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for corner in corners {
            let height = corner.dot(normal) - offset;
            // `f64::min` also handles NaN, which is slower.
            low = if height < low { height } else { low };
            high = if height > high { height } else { high };
            self.heights.push(height);
        }
        if high > 0.0 {
            self.planes.push((normal, offset));
        } else {
            self.heights.truncate(before);
        }
        low
    }
}

/// Clips polygons by planes; holds the scratch buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct PolygonClipper {
    now: Vec<DVec3>,
    next: Vec<DVec3>,
    heights: Vec<f64>,
    /// Indices of the planes that cut the polygon.
    cuts: Vec<usize>,
}

/// Area (m²) and centre of a plane polygon.
pub(super) struct ClippedFace {
    pub(super) area: f64,
    pub(super) centre: DVec3,
}

impl PolygonClipper {
    /// Part of a face behind all planes (Sutherland and Hodgman 1974); `None` if it has no area.
    pub(super) fn clip(
        &mut self,
        rim: &[u16],
        corners: &[DVec3],
        cutting: &CuttingPlanes,
    ) -> Option<ClippedFace> {
        self.cuts.clear();
        for (plane, heights) in cutting.heights.chunks_exact(corners.len()).enumerate() {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for &corner in rim {
                let height = heights[usize::from(corner)];
                low = if height < low { height } else { low };
                high = if height > high { height } else { high };
            }
            if low >= 0.0 {
                return None;
            }
            if high > 0.0 {
                self.cuts.push(plane);
            }
        }
        self.now.clear();
        for &corner in rim {
            self.now.push(corners[usize::from(corner)]);
        }
        for cut in 0..self.cuts.len() {
            let (normal, offset) = cutting.planes[self.cuts[cut]];
            self.heights.clear();
            for corner in &self.now {
                self.heights.push(corner.dot(normal) - offset);
            }
            self.next.clear();
            let count = self.now.len();
            for at in 0..count {
                let after = if at + 1 == count { 0 } else { at + 1 };
                let (a, b) = (self.now[at], self.now[after]);
                let (high_a, high_b) = (self.heights[at], self.heights[after]);
                if high_a <= 0.0 {
                    self.next.push(a);
                }
                if (high_a <= 0.0) != (high_b <= 0.0) {
                    self.next.push(a + (b - a) * (high_a / (high_a - high_b)));
                }
            }
            std::mem::swap(&mut self.now, &mut self.next);
        }
        ClippedFace::of(&self.now)
    }
}

impl ClippedFace {
    fn of(corners: &[DVec3]) -> Option<Self> {
        let first = *corners.first()?;
        let mut twice = DVec3::ZERO;
        for pair in corners.windows(2).skip(1) {
            twice += (pair[0] - first).cross(pair[1] - first);
        }
        let length = twice.length();
        if length == 0.0 {
            return None;
        }
        let normal = twice / length;
        let mut arm = DVec3::ZERO;
        for pair in corners.windows(2).skip(1) {
            let (a, b) = (pair[0] - first, pair[1] - first);
            arm += (a + b) * (a.cross(b).dot(normal) / (3.0 * length));
        }
        Some(ClippedFace {
            area: 0.5 * length,
            centre: first + arm,
        })
    }
}

/// Sums over the surface of the intersection of two solids.
#[derive(Default)]
pub(super) struct OverlapSums {
    pub(super) overlap: Overlap,
    /// Area so far, m².
    pub(super) total_area: f64,
}

impl OverlapSums {
    pub(super) fn add(&mut self, patch: &ClippedFace, normal: DVec3) {
        self.overlap.volume += patch.area * patch.centre.dot(normal) / 3.0;
        self.overlap.centre += patch.area * patch.centre;
        self.total_area += patch.area;
    }

    /// The overlap; empty if its volume is at most `least` (m³), which rounding can leave where solids barely
    /// touch.
    pub(super) fn finish(mut self, least: f64) -> Overlap {
        if self.overlap.volume <= least {
            return Overlap::default();
        }
        self.overlap.centre /= self.total_area;
        self.overlap
    }
}

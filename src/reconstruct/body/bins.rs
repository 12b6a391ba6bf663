//! Cubic bins of elements at rest, for neighbour searches.

use glam::DVec3;

/// Points sorted into cubic bins.
#[derive(Clone, Debug)]
pub struct ElementBins {
    origin: DVec3,
    edge: f64,
    bins: [usize; 3],
    first: Vec<u32>,
    points: Vec<u32>,
}

impl ElementBins {
    /// Sorts points into bins with edge length `edge` (m). Longer bins are used where that would need far
    /// more bins than points.
    pub fn new(positions: &[DVec3], edge: f64) -> Self {
        let lo = positions.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let hi = positions
            .iter()
            .copied()
            .fold(DVec3::NEG_INFINITY, DVec3::max);
        let limit = 64.0 + 8.0 * positions.len() as f64;
        let crowd = ((hi - lo) / edge + DVec3::ONE).element_product() / limit;
        // More than needed: the number of bins falls with the cube of the edge.
        let edge = edge * crowd.max(1.0);
        let bins = ((hi - lo) / edge)
            .floor()
            .to_array()
            .map(|n| n as usize + 1);
        let mut this = ElementBins {
            origin: lo,
            edge,
            bins,
            first: vec![0; bins.iter().product::<usize>() + 1],
            points: vec![0; positions.len()],
        };
        let of: Vec<usize> = positions
            .iter()
            .map(|&p| this.flat(this.bin_of(p)))
            .collect();
        for &bin in &of {
            this.first[bin + 1] += 1;
        }
        for bin in 1..this.first.len() {
            this.first[bin] += this.first[bin - 1];
        }
        let mut next = this.first.clone();
        for (point, &bin) in of.iter().enumerate() {
            this.points[next[bin] as usize] = point as u32;
            next[bin] += 1;
        }
        this
    }

    fn flat(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.bins[1] + j) * self.bins[0] + i
    }

    /// Bin that contains `p`; the nearest bin if `p` is outside all of them.
    pub fn bin_of(&self, p: DVec3) -> [usize; 3] {
        let at = (p - self.origin) / self.edge;
        std::array::from_fn(|axis| at[axis].clamp(0.0, self.bins[axis] as f64 - 1.0) as usize)
    }

    /// Points in the bin with flat index `bin`.
    pub fn points(&self, bin: usize) -> &[u32] {
        &self.points[self.first[bin] as usize..self.first[bin + 1] as usize]
    }

    /// Calls `visit` with every bin that the box around `p` with half edge `reach` (m) overlaps.
    pub fn each_bin(&self, p: DVec3, reach: f64, mut visit: impl FnMut(usize)) {
        let lo = self.bin_of(p - DVec3::splat(reach));
        let hi = self.bin_of(p + DVec3::splat(reach));
        for k in lo[2]..=hi[2] {
            for j in lo[1]..=hi[1] {
                for i in lo[0]..=hi[0] {
                    visit(self.flat([i, j, k]));
                }
            }
        }
    }

    /// Flat index of the bin that contains `p`, or of the nearest bin.
    pub fn flat_bin_of(&self, p: DVec3) -> usize {
        self.flat(self.bin_of(p))
    }

    /// Number of bins.
    pub fn count(&self) -> usize {
        self.first.len() - 1
    }

    /// Points within `reach` (m) of `x` for which `wanted` is true, as (squared distance, point), nearest
    /// first, in `found`. `positions` are those of all points, m.
    pub fn within(
        &self,
        positions: &[DVec3],
        x: DVec3,
        reach: f64,
        wanted: impl Fn(u32) -> bool,
        found: &mut Vec<(f64, u32)>,
    ) {
        found.clear();
        self.each_bin(x, reach, |bin| {
            for &point in self.points(bin) {
                let squared = x.distance_squared(positions[point as usize]);
                if squared <= reach * reach && wanted(point) {
                    found.push((squared, point));
                }
            }
        });
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }

    /// Search radius from any bin that covers all bins, m.
    pub fn max_search_radius(&self) -> f64 {
        self.edge * (self.bins[0] + self.bins[1] + self.bins[2]) as f64
    }
}

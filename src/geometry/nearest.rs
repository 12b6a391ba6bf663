//! Nearest point of a triangle and, through bins, of a triangle mesh.

use glam::DVec3;

use super::mesh::TriMesh;

/// Part of a triangle's surface: its interior, an edge or a corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Its interior.
    Face,
    /// The edge from corner `m` to the next corner.
    Edge(usize),
    /// Corner `m`.
    Corner(usize),
}

/// Point of the triangle nearest to `p`.
pub fn nearest_on_triangle(p: DVec3, corners: [DVec3; 3]) -> DVec3 {
    nearest_feature(p, corners).0
}

/// Point of the triangle nearest to `p`, and the feature it lies on (Ericson, Real-Time Collision Detection,
/// §5.1.5).
pub fn nearest_feature(p: DVec3, [a, b, c]: [DVec3; 3]) -> (DVec3, Feature) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Feature::Corner(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Feature::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Feature::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let part = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + (c - b) * part, Feature::Edge(1));
    }
    let sum = va + vb + vc;
    (a + ab * (vb / sum) + ac * (vc / sum), Feature::Face)
}

/// Triangles of a mesh sorted into cubic bins.
#[derive(Clone, Debug)]
pub struct TriangleBins {
    origin: DVec3,
    edge: f64,
    bins: [usize; 3],
    first: Vec<u32>,
    triangles: Vec<u32>,
}

impl TriangleBins {
    /// Sorts the triangles of `mesh` into bins of this edge length (m).
    pub fn new(mesh: &TriMesh, edge: f64) -> Self {
        let (lo, hi) = mesh.bounds().unwrap_or_default();
        let bins = ((hi - lo) / edge)
            .floor()
            .to_array()
            .map(|n| n as usize + 1);
        let mut this = TriangleBins {
            origin: lo,
            edge,
            bins,
            first: vec![0; bins.iter().product::<usize>() + 1],
            triangles: Vec::new(),
        };
        let mut first = std::mem::take(&mut this.first);
        for t in 0..mesh.triangles.len() {
            this.each_bin_of(mesh.corners(t), |bin| first[bin + 1] += 1);
        }
        for bin in 1..first.len() {
            first[bin] += first[bin - 1];
        }
        let mut next = first.clone();
        this.triangles = vec![0; *first.last().expect("one more than bins") as usize];
        let mut triangles = std::mem::take(&mut this.triangles);
        for t in 0..mesh.triangles.len() {
            this.each_bin_of(mesh.corners(t), |bin| {
                triangles[next[bin] as usize] = t as u32;
                next[bin] += 1;
            });
        }
        this.first = first;
        this.triangles = triangles;
        this
    }

    fn range(&self, axis: usize, lo: f64, hi: f64) -> std::ops::Range<usize> {
        let bin = |x: f64| ((x - self.origin[axis]) / self.edge).floor();
        let last = self.bins[axis] as f64 - 1.0;
        let (a, b) = (bin(lo), bin(hi));
        if b < 0.0 || a > last {
            return 0..0;
        }
        a.max(0.0) as usize..b.min(last) as usize + 1
    }

    fn each_bin(&self, lo: DVec3, hi: DVec3, mut visit: impl FnMut([usize; 3], usize)) {
        for k in self.range(2, lo.z, hi.z) {
            for j in self.range(1, lo.y, hi.y) {
                for i in self.range(0, lo.x, hi.x) {
                    visit([i, j, k], (k * self.bins[1] + j) * self.bins[0] + i);
                }
            }
        }
    }

    fn each_bin_of(&self, [a, b, c]: [DVec3; 3], mut visit: impl FnMut(usize)) {
        let normal = (b - a).cross(c - a).normalize_or_zero();
        // Bins whose box the triangle's plane misses need not list it; otherwise large slanted triangles
        // would fill all bins.
        let reach =
            0.5 * self.edge * (normal.x.abs() + normal.y.abs() + normal.z.abs()) + 1e-6 * self.edge;
        let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
        self.each_bin(lo, hi, |[i, j, k], bin| {
            let cell = DVec3::new(i as f64, j as f64, k as f64) + DVec3::splat(0.5);
            let centre = self.origin + cell * self.edge;
            if normal == DVec3::ZERO || normal.dot(centre - a).abs() <= reach {
                visit(bin);
            }
        });
    }

    /// Point nearest to `p` of the mesh that the bins were made from, and its triangle, if it lies within
    /// `reach` (m). Of equally near triangles the one with the smallest index is returned.
    pub fn nearest(&self, mesh: &TriMesh, p: DVec3, reach: f64) -> Option<(DVec3, usize)> {
        let mut best: Option<(DVec3, usize)> = None;
        let mut best_squared = reach * reach;
        let reach = DVec3::splat(reach);
        self.each_bin(p - reach, p + reach, |_, bin| {
            let range = self.first[bin] as usize..self.first[bin + 1] as usize;
            for &t in &self.triangles[range] {
                let t = t as usize;
                let q = nearest_on_triangle(p, mesh.corners(t));
                let squared = q.distance_squared(p);
                let nearer = squared < best_squared
                    || (squared == best_squared && best.is_none_or(|(_, known)| t < known));
                if nearer {
                    best = Some((q, t));
                    best_squared = squared;
                }
            }
        });
        best
    }
}

//! Point-in-mesh tests for closed meshes: parity of the crossings on a line along x, decided exactly.
//!
//! The difficulty of such tests are lines that hit an edge or a corner. Here every point stands for the point
//! moved by (ε³, ε, ε²) with ε → 0 (simulation of simplicity, Edelsbrunner and Mücke 1990), for which no such
//! hit exists, and each sign is an exact predicate of it. Nested and disjoint surfaces need no special
//! treatment; the winding does not matter.

use glam::{DVec2, DVec3, Vec3Swizzles};

use super::exact::{normal_signs, side, turn};
use super::mesh::TriMesh;

/// A mesh prepared for lines along x: its triangles sorted into the cells of a grid in the (y, z) plane.
pub struct InsideTest<'a> {
    mesh: &'a TriMesh,
    origin: DVec2,
    per_metre: DVec2,
    cells: [usize; 2],
    /// The triangles of cell `c` are `triangles[starts[c]..starts[c + 1]]`.
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl<'a> InsideTest<'a> {
    /// Sorts the triangles into a grid with about as many cells as triangles.
    pub fn new(mesh: &'a TriMesh) -> Self {
        let (low, high) = mesh.bounds().unwrap_or_default();
        let origin = low.yz();
        let extent = (high - low).yz();
        let mut side = (mesh.triangles.len() as f64).sqrt().ceil().max(1.0) as usize;
        loop {
            let per_metre = DVec2::from_array(
                extent
                    .to_array()
                    .map(|e| if e > 0.0 { side as f64 / e } else { 0.0 }),
            );
            let mut grid = InsideTest {
                mesh,
                origin,
                per_metre,
                cells: [side; 2],
                starts: Vec::new(),
                triangles: Vec::new(),
            };
            // Long slivers cover many cells: coarsen until the lists hold at most 16 entries per triangle.
            let entries: usize = (0..mesh.triangles.len())
                .map(|t| {
                    let ([y0, z0], [y1, z1]) = grid.range(t);
                    (y1 - y0 + 1) * (z1 - z0 + 1)
                })
                .sum();
            if entries <= 16 * mesh.triangles.len() || side == 1 {
                grid.fill(entries);
                return grid;
            }
            side /= 2;
        }
    }

    fn cell(&self, p: DVec2) -> [usize; 2] {
        let at = (p - self.origin) * self.per_metre;
        // Saturating casts put points outside into the border cells. The mapping is monotone, so a triangle's
        // range contains every point that it covers.
        [0, 1].map(|axis| (at[axis] as usize).min(self.cells[axis] - 1))
    }

    fn range(&self, t: usize) -> ([usize; 2], [usize; 2]) {
        let [a, b, c] = self.mesh.corners(t).map(|p| p.yz());
        (self.cell(a.min(b).min(c)), self.cell(a.max(b).max(c)))
    }

    fn fill(&mut self, entries: usize) {
        let covered = |grid: &Self, t: usize| {
            let ([y0, z0], [y1, z1]) = grid.range(t);
            let row = grid.cells[0];
            (z0..=z1).flat_map(move |z| (y0..=y1).map(move |y| z * row + y))
        };
        let mut next = vec![0_u32; self.cells[0] * self.cells[1] + 1];
        for t in 0..self.mesh.triangles.len() {
            for cell in covered(self, t) {
                next[cell + 1] += 1;
            }
        }
        for cell in 1..next.len() {
            next[cell] += next[cell - 1];
        }
        self.starts = next.clone();
        self.triangles = vec![0; entries];
        for t in 0..self.mesh.triangles.len() {
            for cell in covered(self, t) {
                self.triangles[next[cell] as usize] = t as u32;
                next[cell] += 1;
            }
        }
    }

    /// Calls `hit` with each triangle that the line along x through (y, z) crosses, and the sign of its normal's x.
    fn on_line(&self, line: DVec2, mut hit: impl FnMut(u32, f64)) {
        let [y, z] = self.cell(line);
        let cell = z * self.cells[0] + y;
        let list = self.starts[cell] as usize..self.starts[cell + 1] as usize;
        for &t in &self.triangles[list] {
            let [a, b, c] = self.mesh.corners(t as usize).map(|p| p.yz());
            if (line.cmplt(a.min(b).min(c)) | line.cmpgt(a.max(b).max(c))).any() {
                continue;
            }
            let signs = [(a, b), (b, c), (c, a)].map(|(a, b)| perturbed_turn(a, b, line));
            if signs.iter().all(|s| *s > 0.0) || signs.iter().all(|s| *s < 0.0) {
                hit(t, signs[0]);
            }
        }
    }

    /// Calls `hit` with each triangle that the ray from `p` towards −x crosses.
    pub fn behind(&self, p: DVec3, mut hit: impl FnMut(u32)) {
        self.on_line(p.yz(), |t, normal_x| {
            if is_perturbed_beyond(self.mesh.corners(t as usize), normal_x, p) {
                hit(t);
            }
        });
    }

    /// Whether `p` lies inside: the ray towards −x has an odd number of crossings.
    pub fn contains(&self, p: DVec3) -> bool {
        let mut odd = false;
        self.behind(p, |_| odd = !odd);
        odd
    }

    /// Computes whether each point (x, y, z) of a row lies inside, for ascending `xs`; overwrites `inside`.
    pub fn row(&self, xs: &[f64], y: f64, z: f64, inside: &mut Vec<bool>) {
        inside.clear();
        inside.resize(xs.len(), false);
        self.on_line(DVec2::new(y, z), |t, normal_x| {
            let corners = self.mesh.corners(t as usize);
            let before = |x: &f64| !is_perturbed_beyond(corners, normal_x, DVec3::new(*x, y, z));
            if let Some(flip) = inside.get_mut(xs.partition_point(before)) {
                *flip = !*flip;
            }
        });
        let mut odd = false;
        for flag in inside {
            odd ^= *flag;
            *flag = odd;
        }
    }
}

/// Sign of [`turn`]`(a, b, p)` for p moved by (ε, ε²); 0 only if a = b.
fn perturbed_turn(a: DVec2, b: DVec2, p: DVec2) -> f64 {
    let exact = turn(a, b, p);
    if exact != 0.0 {
        return exact;
    }
    // The derivatives with respect to p.x and p.y; differences of doubles have exact signs.
    let first = a.y - b.y;
    if first != 0.0 { first } else { b.x - a.x }
}

/// Whether p, moved by (ε³, ε, ε²), lies on the +x side of the plane of a triangle whose normal's x has the
/// sign `normal_x`.
fn is_perturbed_beyond(corners: [DVec3; 3], normal_x: f64, p: DVec3) -> bool {
    let [a, b, c] = corners;
    let against = match side(a, b, c, p) {
        0.0 => {
            let [x, y, z] = normal_signs(corners);
            // `side` decreases along the normal.
            -[y, z, x].into_iter().find(|s| *s != 0.0).unwrap_or(0.0)
        }
        exact => exact,
    };
    (against < 0.0) == (normal_x > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;
    use glam::{DMat3, DQuat};

    fn transformed(mut mesh: TriMesh, q: DQuat, shift: DVec3) -> TriMesh {
        for p in &mut mesh.positions {
            *p = q * *p + shift;
        }
        mesh
    }

    fn joined(mut a: TriMesh, b: &TriMesh) -> TriMesh {
        let base = a.positions.len() as u32;
        a.positions.extend(&b.positions);
        a.triangles
            .extend(b.triangles.iter().map(|t| t.map(|v| v + base)));
        a
    }

    fn torus(big: f64, small: f64, n: u32) -> TriMesh {
        let mut mesh = TriMesh::default();
        let angle = |k: u32| std::f64::consts::TAU * f64::from(k) / f64::from(n);
        for i in 0..n {
            for j in 0..n {
                let (s, c) = angle(i).sin_cos();
                let (t, d) = angle(j).sin_cos();
                let rho = big + small * d;
                mesh.positions.push(DVec3::new(rho * c, small * t, rho * s));
                let at = |i: u32, j: u32| (i % n) * n + j % n;
                let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        mesh
    }

    /// Compares with a signed distance wherever its magnitude exceeds `slack`.
    fn compare(mesh: &TriMesh, slack: f64, distance: impl Fn(DVec3) -> f64) {
        let crossings = InsideTest::new(mesh);
        let n = 24;
        let xs: Vec<f64> = (0..n).map(|k| f64::from(k) / 10.0 - 1.15).collect();
        let mut inside = Vec::new();
        for j in 0..n {
            for k in 0..n {
                let (y, z) = (f64::from(j) / 10.0 - 1.15, f64::from(k) / 10.0 - 1.15);
                crossings.row(&xs, y, z, &mut inside);
                for (x, inside) in xs.iter().zip(&inside) {
                    let p = DVec3::new(*x, y, z);
                    assert_eq!(*inside, crossings.contains(p));
                    let d = distance(p);
                    if d.abs() > slack {
                        assert_eq!(*inside, d < 0.0, "{p}, distance {d}");
                    }
                }
            }
        }
    }

    fn box_distance(p: DVec3, half: DVec3) -> f64 {
        let q = p.abs() - half;
        q.max(DVec3::ZERO).length() + q.max_element().min(0.0)
    }

    #[test]
    fn agrees_with_signed_distances() {
        let half = DVec3::new(0.9, 0.3, 0.6);
        let q = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.7);
        let mesh = transformed(shapes::cuboid(2.0 * half), q, DVec3::ZERO);
        let back = DMat3::from_quat(q).transpose();
        compare(&mesh, 1e-12, |p| box_distance(back * p, half));
        compare(&shapes::sphere(1.0), 2e-3, |p| p.length() - 1.0);
        let ring = |p: DVec3| DVec2::new(p.xz().length() - 0.7, p.y).length() - 0.3;
        compare(&torus(0.7, 0.3, 96), 2e-3, ring);
        let cavity = joined(
            shapes::cuboid(DVec3::splat(2.0)),
            &shapes::cuboid(DVec3::splat(1.0)),
        );
        let nested = joined(cavity, &shapes::cuboid(DVec3::splat(0.5)));
        compare(&nested, 1e-12, |p| {
            let [a, b, c] = [1.0, 0.5, 0.25].map(|h| box_distance(p, DVec3::splat(h)));
            a.max((-b).max(-f64::INFINITY)).min(c)
        });
    }

    #[test]
    fn lines_through_edges_diagonals_and_corners_count_right() {
        // Octahedron and cube on a lattice that passes through all their corners, edges and diagonals.
        let corners = [
            DVec3::X,
            DVec3::NEG_X,
            DVec3::Y,
            DVec3::NEG_Y,
            DVec3::Z,
            DVec3::NEG_Z,
        ];
        let octahedron = TriMesh {
            positions: corners.to_vec(),
            triangles: vec![
                [0, 2, 4],
                [2, 1, 4],
                [1, 3, 4],
                [3, 0, 4],
                [2, 0, 5],
                [1, 2, 5],
                [3, 1, 5],
                [0, 3, 5],
            ],
            ..TriMesh::default()
        };
        let cube = shapes::cuboid(DVec3::splat(2.0));
        let xs: Vec<f64> = (-8..=8).map(|k| f64::from(k) / 4.0).collect();
        let mut inside = Vec::new();
        for (mesh, distance) in [
            (
                &octahedron,
                (|p| p.abs().element_sum() - 1.0) as fn(DVec3) -> f64,
            ),
            (&cube, |p| p.abs().max_element() - 1.0),
        ] {
            let crossings = InsideTest::new(mesh);
            let mut count = 0;
            for &y in &xs {
                for &z in &xs {
                    crossings.row(&xs, y, z, &mut inside);
                    for (x, inside) in xs.iter().zip(&inside) {
                        let d = distance(DVec3::new(*x, y, z));
                        if d != 0.0 {
                            assert_eq!(*inside, d < 0.0);
                        }
                        count += usize::from(*inside);
                    }
                }
            }
            // Points on the surface are counted on one side only: a cube of 8 quarter steps contains 8³ of
            // them.
            if std::ptr::eq(mesh, &cube) {
                assert_eq!(count, 512);
            }
        }
    }
}

//! Random points on a surface at a minimum distance from each other.

use glam::{DVec3, IVec3};

use super::super::random::stream;
use crate::geometry::TriMesh;
use crate::laws::weibull::uniform;
use crate::math::hash::QuickMap;

/// Minimum distances over the mean distance, tried in turn. For each, `DARTS_PER_POINT` random points per
/// requested point are drawn, and those too near to an earlier one are rejected. A larger first distance
/// would make the last points take very long to find.
const MIN_DISTANCES: [f64; 6] = [0.78, 0.7, 0.6, 0.45, 0.3, 0.0];
const DARTS_PER_POINT: usize = 5;

/// Accepted points, in a hash grid of cubes.
struct DartGrid {
    edge: f64,
    cubes: QuickMap<(i32, i32, i32), Vec<u32>>,
    points: Vec<DVec3>,
}

impl DartGrid {
    fn cube(&self, p: DVec3) -> IVec3 {
        (p / self.edge).floor().as_ivec3()
    }

    fn is_free(&self, p: DVec3, apart: f64) -> bool {
        let home = self.cube(p);
        let near = |(x, y, z): (i32, i32, i32)| {
            let at = home + IVec3::new(x, y, z);
            let members = self.cubes.get(&(at.x, at.y, at.z));
            let mut members = members.into_iter().flatten();
            members.any(|&k| self.points[k as usize].distance_squared(p) < apart * apart)
        };
        !(-1..=1).any(|x| (-1..=1).any(|y| (-1..=1).any(|z| near((x, y, z)))))
    }

    fn insert(&mut self, p: DVec3) {
        let at = self.cube(p);
        let cube = self.cubes.entry((at.x, at.y, at.z)).or_default();
        cube.push(self.points.len() as u32);
        self.points.push(p);
    }
}

/// `count` random points on a surface with mean distance `mean` (m), for the seed of a shot, a body and a
/// layer.
pub(super) fn draw_points(
    surface: &TriMesh,
    count: usize,
    mean: f64,
    ((seed, body), layer): ((u64, u32), u32),
) -> Vec<DVec3> {
    let mut sum = 0.0;
    let area_up_to: Vec<f64> = (0..surface.triangles.len())
        .map(|t| {
            sum += surface.area_of(t);
            sum
        })
        .collect();
    let streams = [0, 1, 2].map(|kind| seed ^ stream(body, kind, layer));
    let point = |k: u32| {
        let [u, v, w] = streams.map(|stream| uniform(stream, k));
        let t = area_up_to.partition_point(|area_up_to| *area_up_to < u * sum);
        let [a, b, c] = surface.corners(t.min(area_up_to.len() - 1));
        // Uniform on the triangle (Turk 1990).
        let root = v.sqrt();
        a * (1.0 - root) + (b * (1.0 - w) + c * w) * root
    };
    let mut grid = DartGrid {
        edge: MIN_DISTANCES[0] * mean,
        cubes: QuickMap::default(),
        points: Vec::with_capacity(count),
    };
    let mut dart = 0;
    for apart in MIN_DISTANCES {
        for _ in 0..DARTS_PER_POINT * count {
            if grid.points.len() == count {
                return grid.points;
            }
            let p = point(dart);
            dart += 1;
            if grid.is_free(p, apart * mean) {
                grid.insert(p);
            }
        }
    }
    grid.points
}

//! Places drawn on a surface, apart from each other.

use glam::{DVec3, IVec3};

use super::super::random::stream;
use crate::geometry::TriMesh;
use crate::laws::weibull::uniform;
use crate::math::hash::QuickMap;

/// Distances between places over the mean one, each tried until so many places for each one asked for were
/// drawn: darts that fall too near to earlier ones are thrown away. Farther apart than the first, the last
/// places would be looked for long.
const APART: [f64; 6] = [0.78, 0.7, 0.6, 0.45, 0.3, 0.0];
const DARTS: usize = 5;

/// Places kept so far, by cubes.
struct Board {
    edge: f64,
    cubes: QuickMap<(i32, i32, i32), Vec<u32>>,
    places: Vec<DVec3>,
}

impl Board {
    fn cube(&self, p: DVec3) -> IVec3 {
        (p / self.edge).floor().as_ivec3()
    }

    fn is_free(&self, p: DVec3, apart: f64) -> bool {
        let home = self.cube(p);
        let near = |(x, y, z): (i32, i32, i32)| {
            let at = home + IVec3::new(x, y, z);
            let members = self.cubes.get(&(at.x, at.y, at.z));
            let mut members = members.into_iter().flatten();
            members.any(|&k| self.places[k as usize].distance_squared(p) < apart * apart)
        };
        !(-1..=1).any(|x| (-1..=1).any(|y| (-1..=1).any(|z| near((x, y, z)))))
    }

    fn keep(&mut self, p: DVec3) {
        let at = self.cube(p);
        let cube = self.cubes.entry((at.x, at.y, at.z)).or_default();
        cube.push(self.places.len() as u32);
        self.places.push(p);
    }
}

/// `count` places on a surface, mean distance `mean` (m), drawn for the seed of a shot, a body and a layer.
pub(super) fn draw(
    surface: &TriMesh,
    count: usize,
    mean: f64,
    ((seed, body), layer): ((u64, u32), u32),
) -> Vec<DVec3> {
    let mut sum = 0.0;
    let upto: Vec<f64> = (0..surface.triangles.len())
        .map(|t| {
            sum += surface.area_of(t);
            sum
        })
        .collect();
    let streams = [0, 1, 2].map(|kind| seed ^ stream(body, kind, layer));
    let place = |k: u32| {
        let [u, v, w] = streams.map(|stream| uniform(stream, k));
        let t = upto.partition_point(|upto| *upto < u * sum);
        let [a, b, c] = surface.corners(t.min(upto.len() - 1));
        // Evenly over the triangle (Turk 1990).
        let root = v.sqrt();
        a * (1.0 - root) + (b * (1.0 - w) + c * w) * root
    };
    let mut board = Board {
        edge: APART[0] * mean,
        cubes: QuickMap::default(),
        places: Vec::with_capacity(count),
    };
    let mut dart = 0;
    for apart in APART {
        for _ in 0..DARTS * count {
            if board.places.len() == count {
                return board.places;
            }
            let p = place(dart);
            dart += 1;
            if board.is_free(p, apart * mean) {
                board.keep(p);
            }
        }
    }
    board.places
}

//! Sharp edges, and what vertices may do for them.

use glam::DVec3;

use crate::geometry::half_edges::HalfEdges;
use crate::geometry::mesh::corner_angle;
use crate::math::UnionFind;

/// Angle between the normals of two triangles from which their edge is sharp, rad: 40°.
pub const SHARP: f64 = 40.0 * std::f64::consts::PI / 180.0;

/// Sum of the angles about a vertex, over a full turn, below which it is a tip that stays.
const TIP: f64 = 0.75;

/// What a vertex may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Move in the surface.
    Smooth,
    /// Move along the sharp edges that meet at it, which are two.
    Crease,
    /// Nothing.
    Corner,
}

/// Class of each vertex.
pub struct Classes(pub Vec<Class>);

impl Classes {
    /// Marks edges whose triangles' normals differ by more than `angle`, rad. Sharp edges that hang together
    /// and are shorter than `least` (m) in all are noise.
    pub fn new(edges: &mut HalfEdges, angle: f64, least: f64) -> Self {
        let is_sharp = |h: u32| {
            let [m, n] = [h, edges.twin(h)].map(|h| edges.normal(h / 3).normalize_or_zero());
            m.dot(n) < angle.cos()
        };
        let sharp: Vec<u32> = (0..edges.len()).filter(|h| is_sharp(*h)).collect();
        let mut joined = UnionFind::new(edges.positions.len());
        for &h in &sharp {
            let [a, b] = edges.ends(h);
            joined.join(a, b);
        }
        let root = joined.roots();
        let mut lengths = vec![0.0; root.len()];
        for &h in &sharp {
            lengths[root[edges.ends(h)[0] as usize] as usize] += edges.length(h) / 2.0;
        }
        for h in sharp {
            let of_all = lengths[root[edges.ends(h)[0] as usize] as usize];
            edges.sharp[h as usize] = of_all >= least;
        }
        let vertices = 0..edges.positions.len() as u32;
        Classes(vertices.map(|v| class(edges, v, angle)).collect())
    }
}

fn class(edges: &HalfEdges, v: u32, angle: f64) -> Class {
    if !edges.has(v) {
        return Class::Smooth;
    }
    let place = |v: u32| edges.positions[v as usize];
    let sharp = edges.ring(v).filter(|h| edges.sharp[*h as usize]);
    let along: Vec<DVec3> = sharp
        .map(|h| (place(edges.ends(h)[1]) - place(v)).normalize_or_zero())
        .collect();
    match along[..] {
        [] => {
            let angles = edges.ring(v).map(|h| {
                let corner = (h % 3) as usize;
                corner_angle(edges.corners(h / 3), corner)
            });
            if angles.sum::<f64>() < TIP * std::f64::consts::TAU {
                Class::Corner
            } else {
                Class::Smooth
            }
        }
        [a, b] if a.dot(b) < -angle.cos() => Class::Crease,
        _ => Class::Corner,
    }
}

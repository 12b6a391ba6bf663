//! Detects sharp edges and classifies vertices by the motion that keeps them.

use glam::DVec3;

use crate::geometry::half_edges::HalfEdges;
use crate::geometry::mesh::corner_angle;
use crate::math::UnionFind;

/// Angle between the normals of two triangles above which their edge is sharp, rad: 40°.
pub const SHARP_ANGLE: f64 = 40.0 * std::f64::consts::PI / 180.0;

/// Ratio of the sum of the angles about a vertex to 2π below which the vertex is a tip and stays.
const TIP_ANGLE_RATIO: f64 = 0.75;

/// How a vertex may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VertexClass {
    /// Moves within the surface.
    Smooth,
    /// Moves along the two sharp edges that meet at it.
    Crease,
    /// Stays.
    Corner,
}

/// Class of each vertex.
pub struct VertexClasses(pub Vec<VertexClass>);

impl VertexClasses {
    /// Marks edges whose triangles' normals differ by more than `angle`, rad. Connected sharp edges with a
    /// total length below `least` (m) are ignored as noise.
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
        VertexClasses(vertices.map(|v| classify(edges, v, angle)).collect())
    }
}

fn classify(edges: &HalfEdges, v: u32, angle: f64) -> VertexClass {
    if !edges.has_triangles(v) {
        return VertexClass::Smooth;
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
            if angles.sum::<f64>() < TIP_ANGLE_RATIO * std::f64::consts::TAU {
                VertexClass::Corner
            } else {
                VertexClass::Smooth
            }
        }
        [a, b] if a.dot(b) < -angle.cos() => VertexClass::Crease,
        _ => VertexClass::Corner,
    }
}

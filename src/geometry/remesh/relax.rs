//! Moves vertices towards the centre of their surroundings within the original surface.

use glam::DVec3;

use super::passes::stays_on_side;
use super::sharp::{VertexClass, VertexClasses};
use crate::geometry::bvh::Bvh;
use crate::geometry::half_edges::HalfEdges;
use crate::geometry::mesh::TriMesh;
use crate::geometry::nearest::nearest_on_triangle;
use crate::parallel::prelude::*;

/// Minimum cosine between the normal at a vertex and that of the triangle it may move onto; across a thin
/// wall lies the opposite side.
const SAME_SIDE: f64 = 0.3;

/// The original surface that vertices must stay on.
pub struct TargetSurface<'a> {
    mesh: &'a TriMesh,
    bvh: Bvh,
    /// Sharp edges as triangles without area, and their tree; `None` if there are no sharp edges.
    creases: Option<(TriMesh, Bvh)>,
}

impl<'a> TargetSurface<'a> {
    /// Prepares the mesh that `edges` were made from; sharp edges must be marked in `edges`.
    pub fn new(mesh: &'a TriMesh, edges: &HalfEdges) -> Self {
        let marked = (0..edges.len()).filter(|h| edges.sharp[*h as usize] && *h < edges.twin(*h));
        let segments = TriMesh {
            positions: mesh.positions.clone(),
            triangles: marked
                .map(|h| {
                    let [a, b] = edges.ends(h);
                    [a, b, b]
                })
                .collect(),
            ..TriMesh::default()
        };
        TargetSurface {
            mesh,
            bvh: Bvh::new(mesh),
            creases: (!segments.triangles.is_empty()).then(|| {
                let bvh = Bvh::new(&segments);
                (segments, bvh)
            }),
        }
    }

    /// Moves each vertex once, as its class allows, if no triangle turns too far.
    pub fn relax(&self, edges: &mut HalfEdges, classes: &VertexClasses) {
        let wanted: Vec<Option<DVec3>> = (0..edges.positions.len() as u32)
            .into_par_iter()
            .map(|v| {
                let is_there = edges.has_triangles(v);
                match classes.0[v as usize] {
                    VertexClass::Smooth if is_there => self.on_surface(edges, v),
                    VertexClass::Crease if is_there => self.on_crease(edges, v),
                    _ => None,
                }
            })
            .collect();
        for (v, place) in (0..).zip(wanted) {
            if let Some(place) = place {
                move_to(edges, v, place);
            }
        }
    }

    /// Target position of a smooth vertex: the area-weighted centre of its triangles, projected onto
    /// the plane of their mean normal, then onto the surface.
    fn on_surface(&self, edges: &HalfEdges, v: u32) -> Option<DVec3> {
        let own = edges.positions[v as usize];
        let (mut normal, mut middle, mut area) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for h in edges.ring(v) {
            let twice = edges.normal(h / 3);
            let corners = edges.corners(h / 3);
            normal += twice;
            middle += corners.iter().map(|c| *c - own).sum::<DVec3>() / 3.0 * twice.length();
            area += twice.length();
        }
        let normal = normal.try_normalize()?;
        let step = middle / area;
        let wanted = own + step - normal * step.dot(normal);
        let (_, t) = self.bvh.nearest(self.mesh, wanted);
        let corners = self.mesh.corners(t as usize);
        let [a, b, c] = corners;
        let there = (b - a).cross(c - a).normalize_or_zero();
        (there.dot(normal) > SAME_SIDE).then(|| nearest_on_triangle(wanted, corners))
    }

    /// Target position of a vertex on a crease: halfway between its two neighbours on it, projected
    /// onto the creases.
    fn on_crease(&self, edges: &HalfEdges, v: u32) -> Option<DVec3> {
        let (segments, bvh) = self.creases.as_ref()?;
        let own = edges.positions[v as usize];
        let sharp = edges.ring(v).filter(|h| edges.sharp[*h as usize]);
        let ends: Vec<DVec3> = sharp
            .map(|h| edges.positions[edges.ends(h)[1] as usize])
            .collect();
        let &[a, b] = ends.as_slice() else {
            return None;
        };
        let along = (b - a).try_normalize()?;
        let wanted = own + along * along.dot((a + b) / 2.0 - own);
        let (_, s) = bvh.nearest(segments, wanted);
        Some(nearest_on_triangle(wanted, segments.corners(s as usize)))
    }
}

/// Moves a vertex if no triangle about it turns too far.
fn move_to(edges: &mut HalfEdges, v: u32, place: DVec3) {
    let stays = edges.ring(v).all(|h| {
        let old = edges.corners(h / 3);
        let mut new = old;
        new[(h % 3) as usize] = place;
        stays_on_side(old, new)
    });
    if stays {
        edges.positions[v as usize] = place;
    }
}

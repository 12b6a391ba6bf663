//! Moves vertices towards the middle of their neighbours, in the surface that was given.

use glam::DVec3;

use super::passes::stays_on_side;
use super::sharp::{Class, Classes};
use crate::geometry::bvh::Bvh;
use crate::geometry::half_edges::HalfEdges;
use crate::geometry::mesh::TriMesh;
use crate::geometry::nearest::nearest_on_triangle;
use crate::parallel::prelude::*;

/// Cosine between the normal at a vertex and that of the triangle it may move onto: across a thin wall lies
/// the other side.
const SAME_SIDE: f64 = 0.3;

/// The surface to stay on.
pub struct Target<'a> {
    mesh: &'a TriMesh,
    bvh: Bvh,
    /// Sharp edges as triangles without area, and their tree, if there are any.
    creases: Option<(TriMesh, Bvh)>,
}

impl<'a> Target<'a> {
    /// The mesh that `edges` are those of, with its sharp edges marked.
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
            uv: Vec::new(),
        };
        Target {
            mesh,
            bvh: Bvh::new(mesh),
            creases: (!segments.triangles.is_empty()).then(|| {
                let bvh = Bvh::new(&segments);
                (segments, bvh)
            }),
        }
    }

    /// Moves each vertex once, as its class allows and where no triangle turns.
    pub fn relax(&self, edges: &mut HalfEdges, classes: &Classes) {
        let wanted: Vec<Option<DVec3>> = (0..edges.positions.len() as u32)
            .into_par_iter()
            .map(|v| {
                let is_there = edges.has(v);
                match classes.0[v as usize] {
                    Class::Smooth if is_there => self.on_surface(edges, v),
                    Class::Crease if is_there => self.on_crease(edges, v),
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

    /// Where a smooth vertex should be: the middle of its triangles by area, in the plane of their mean
    /// normal, then the nearest point of the surface.
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

    /// Where a vertex on a crease should be: between its two neighbours on it, then the nearest point of the creases.
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

/// Moves a vertex if no triangle about it turns.
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

//! The full mesh of a fragment: as it is held for the whole clip, and prepared to be reduced.

use glam::DVec3;

use super::corners::{self, CornerRow};
use super::projection::CrackTexture;
use super::topology;
use crate::export::rigid_transform::RigidTransform;
use crate::export::space::bounds;
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::corners::DistinctCorners;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// The full mesh of a fragment as it is held while a clip is planned: only what reducing it needs.
pub struct HeldMesh {
    /// One piece without columns of frames.
    surface: SurfaceFrame,
    /// Vertices in some frames in which the fragment bends, moved back to rest by the best-fitting rigid motion.
    bent: Vec<Vec<[f32; 3]>>,
    /// Diagonal of the bounding box at rest.
    pub size: f64,
}

impl HeldMesh {
    /// The mesh of a piece.
    pub fn new(surface: &SurfaceFrame, piece: &FragmentRange) -> Self {
        let range = surface.triangle_range(piece);
        let rest = surface.rest_positions[surface.vertex_range(piece)].to_vec();
        let (low, high) = bounds(&rest);
        let [low, high] = [low, high].map(|corner| DVec3::from(corner.map(f64::from)));
        HeldMesh {
            surface: SurfaceFrame {
                rest_positions: rest,
                triangles: surface.local_triangles(piece).collect(),
                inside: surface.inside[range.clone()].to_vec(),
                uv: surface.uv_of(piece).to_vec(),
                colours: surface.colours_of(piece).to_vec(),
                materials: surface
                    .materials
                    .get(range.clone())
                    .unwrap_or_default()
                    .to_vec(),
                smooth: surface.smooth.get(range).unwrap_or_default().to_vec(),
                pieces: vec![FragmentRange {
                    first_vertex: 0,
                    first_triangle: 0,
                    ..*piece
                }],
                ..SurfaceFrame::default()
            },
            bent: Vec::new(),
            size: low.distance(high),
        }
    }

    /// Adds a frame in which the fragment bends.
    pub fn add_bent(&mut self, surface: &SurfaceFrame, piece: &FragmentRange) {
        let range = surface.vertex_range(piece);
        let now = &surface.positions[range.clone()];
        let to_rest = RigidTransform::fit(now, &surface.rest_positions[range]);
        let moved = now.iter().map(|position| to_rest.apply(*position));
        self.bent
            .push(moved.map(|place| place.as_vec3().to_array()).collect());
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        self.surface.triangles.len()
    }

    /// The mesh, prepared to be reduced.
    pub fn prepared(&self) -> FullSurface {
        let mut full = FullSurface::new(&self.surface, &self.surface.pieces[0]);
        let bent = self.bent.iter();
        full.bent = bent.map(|positions| doubles(positions)).collect();
        full
    }
}

fn doubles(positions: &[[f32; 3]]) -> Vec<DVec3> {
    let positions = positions.iter();
    positions.map(|p| DVec3::from(p.map(f64::from))).collect()
}

/// The full mesh of a fragment, prepared to be reduced.
pub struct FullSurface {
    /// Vertices at rest and triangles, units of the file.
    pub mesh: TriMesh,
    /// Vertices in some frames in which the fragment bends, moved back to rest by the best-fitting rigid motion.
    pub bent: Vec<Vec<DVec3>>,
    /// Corners: a vertex on a seam has several.
    pub corners: DistinctCorners<7>,
    /// Texture coordinates per unit of length, mean over the surface; 0 without any.
    pub density: f64,
    /// Texture of crack faces.
    pub crack_texture: CrackTexture,
    /// Corners that share a normal, and these normals.
    pub fans: Fans,
    pub fan_normals: Vec<DVec3>,
    /// Whether each fan is on a crack face.
    pub is_fan_inside: Vec<bool>,
    /// Vertices where the mesh is not a closed manifold.
    pub defects: Vec<u32>,
    /// Signed volume.
    pub volume: f64,
    /// Diagonal of the bounding box at rest.
    pub size: f64,
    /// Tree of the triangles at rest.
    pub tree: Bvh,
}

impl FullSurface {
    /// The mesh of a piece with at least one triangle.
    pub fn new(surface: &SurfaceFrame, piece: &FragmentRange) -> Self {
        let rest = &surface.rest_positions[surface.vertex_range(piece)];
        let mesh = TriMesh {
            positions: doubles(rest),
            triangles: surface.local_triangles(piece).collect(),
            ..TriMesh::default()
        };
        let fans = Fans::of(surface, piece);
        let normals = fans.normals(rest);
        let mut is_fan_inside = vec![false; normals.len()];
        let inside = &surface.inside[surface.triangle_range(piece)];
        for (fans, inside) in fans.corners.iter().zip(inside) {
            fans.iter()
                .for_each(|fan| is_fan_inside[*fan as usize] = *inside != 0);
        }
        let (low, high) = mesh.bounds().unwrap_or_default();
        FullSurface {
            bent: Vec::new(),
            corners: corners::distinct(surface, piece),
            crack_texture: CrackTexture::new(surface, piece, &mesh),
            density: density(&mesh, surface.uv_of(piece)),
            fan_normals: doubles(&normals),
            fans,
            is_fan_inside,
            defects: topology::defects(&mesh.triangles),
            volume: mesh.volume(),
            size: low.distance(high),
            tree: Bvh::new(&mesh),
            mesh,
        }
    }

    /// The row of a distinct corner.
    pub fn row(&self, corner: u32) -> CornerRow {
        self.corners.distinct[corner as usize].1
    }

    /// The fan of a vertex that fits a triangle with this normal best; `is_inside` is whether that is a crack face.
    pub fn fan_for(&self, vertex: u32, normal: DVec3, is_inside: bool) -> u32 {
        let first = self.fans.vertices.partition_point(|v| *v < vertex);
        let own = self.fans.vertices[first..].iter();
        let own = first..first + own.take_while(|v| **v == vertex).count();
        let fit = |fan: &usize| {
            let kind = f64::from(u8::from(self.is_fan_inside[*fan] == is_inside));
            // The kind counts more than any angle.
            4.0 * kind + self.fan_normals[*fan].dot(normal)
        };
        let best = own.max_by(|a, b| fit(a).total_cmp(&fit(b)));
        best.map_or(0, |fan| fan as u32)
    }
}

/// Texture coordinates per unit of length, mean over the triangles.
fn density(mesh: &TriMesh, uv: &[[[f32; 2]; 3]]) -> f64 {
    let area_of_uv = |uv: &[[f32; 2]; 3]| {
        let [p, q, r] = uv.map(|[u, v]| DVec3::new(u.into(), v.into(), 0.0));
        0.5 * (q - p).cross(r - p).length()
    };
    let area = mesh.area();
    match uv.iter().map(area_of_uv).sum::<f64>() {
        of_uv if of_uv > 0.0 && area > 0.0 => (of_uv / area).sqrt(),
        _ => 0.0,
    }
}

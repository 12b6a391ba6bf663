//! Reads frames of a store as scenes.

use std::ops::Range;

use crate::parallel::prelude::*;
use glam::{DVec3, Vec3};

use super::colliders::{self, PreviewCollider};
use super::scene::{PreviewScene, SceneBall, SceneMaterial, ScenePlane};
use crate::spec::{Collider, ColliderShape, FrameGroup, Pipeline, Preview};
use crate::store::corner_normals::Fans;
use crate::store::{Result, Store, SurfaceFrame};

/// Reader of the frames of a store.
pub struct FrameSource<'a> {
    store: &'a Store,
    colliders: Vec<PreviewCollider>,
    surfaces: Vec<u32>,
    /// Element data, read only if some frame has no surfaces.
    elements: Option<DrawnElements>,
    /// Section plane: a point and a normal; everything beyond it is left out.
    section: Option<ScenePlane>,
}

/// Data for drawing elements.
struct DrawnElements {
    body: Vec<u32>,
    r: Vec<f64>,
    /// Number of bonds of each element in the packing.
    bonds: Vec<u32>,
}

impl DrawnElements {
    fn read(store: &Store) -> Result<Self> {
        let packing = store.read_packing_columns(&["body", "r"], &["i", "j"])?;
        let mut bonds = vec![0; packing.elements.id.len()];
        for &end in packing.bonds.i.iter().chain(&packing.bonds.j) {
            bonds[end as usize] += 1;
        }
        Ok(DrawnElements {
            body: packing.elements.body,
            r: packing.elements.r,
            bonds,
        })
    }
}

impl<'a> FrameSource<'a> {
    /// Prepares to read the frames of a store.
    pub fn new(store: &'a Store, pipeline: Option<&Pipeline>, preview: &Preview) -> Result<Self> {
        let colliders = pipeline.map_or(&[][..], |pipeline| &pipeline.colliders);
        let section = preview.section.map(|cut| ScenePlane {
            point: DVec3::from(cut.point).as_vec3(),
            normal: DVec3::from(cut.normal).normalize_or_zero().as_vec3(),
        });
        // The cut must not be hidden by colliders that press on the body.
        let shown = |collider: &&Collider| match collider.shape {
            ColliderShape::HalfSpace { .. } => true,
            ColliderShape::Box { .. }
            | ColliderShape::Sphere { .. }
            | ColliderShape::Cylinder { .. }
            | ColliderShape::Mesh { .. } => section.is_none(),
        };
        let colliders = (0..).zip(colliders).filter(|(_, one)| shown(one));
        let surfaces = match section {
            Some(_) => Vec::new(),
            None => store.numbers("meshes", "rkyv")?,
        };
        let bare = store
            .frames(&(0..u32::MAX))?
            .iter()
            .any(|frame| surfaces.binary_search(frame).is_err());
        Ok(FrameSource {
            store,
            colliders: colliders
                .map(|(number, collider)| PreviewCollider::new(store, number, collider))
                .collect::<Result<_>>()?,
            surfaces,
            elements: bare.then(|| DrawnElements::read(store)).transpose()?,
            section,
        })
    }

    /// Numbers of the frames that can be drawn.
    pub fn frames(&self, range: &Range<u32>) -> Result<Vec<u32>> {
        let mut frames = self.store.frames(range)?;
        frames.extend(self.surfaces.iter().filter(|frame| range.contains(frame)));
        frames.sort_unstable();
        frames.dedup();
        Ok(frames)
    }

    /// Reads a frame.
    pub fn read(&self, frame: u32) -> Result<PreviewScene> {
        let mut scene = if self.surfaces.binary_search(&frame).is_ok() {
            surfaces(&SurfaceFrame::read(self.store, frame)?)
        } else {
            self.elements(frame)?
        };
        scene.body_vertices = scene.positions.len();
        scene.body_balls = scene.balls.len();
        for collider in &self.colliders {
            colliders::add(&mut scene, collider);
        }
        Ok(scene)
    }

    fn elements(&self, frame: u32) -> Result<PreviewScene> {
        let Some(elements) = &self.elements else {
            return Ok(PreviewScene::default());
        };
        let needed = [FrameGroup::Position];
        let rows = self
            .store
            .read_frame_of(frame, &needed, elements.body.len())?;
        let balls = (0..rows.id.len()).map(|row| {
            let broken = f64::from(rows.broken[row]) / f64::from(elements.bonds[row].max(1));
            let share = (255.0 * broken.min(1.0)) as u8;
            SceneBall {
                centre: Vec3::new(rows.x[row], rows.y[row], rows.z[row]),
                radius: elements.r[row] as f32,
                material: SceneMaterial::Damaged((elements.body[row] % 4) as u8, share),
            }
        });
        let kept = |ball: &SceneBall| {
            self.section
                .is_none_or(|cut| (ball.centre - cut.point).dot(cut.normal) <= 0.0)
        };
        Ok(PreviewScene {
            time: rows.time.first().copied().unwrap_or_default(),
            balls: balls.filter(kept).collect(),
            ..PreviewScene::default()
        })
    }
}

fn material(body: u32, inside: bool) -> SceneMaterial {
    let body = (body % 4) as u8;
    if inside {
        SceneMaterial::Crack(body)
    } else {
        SceneMaterial::Skin(body)
    }
}

fn surfaces(surface: &SurfaceFrame) -> PreviewScene {
    let mut scene = PreviewScene {
        time: surface.time,
        ..PreviewScene::default()
    };
    // Edges of a box and rims of cracks stay sharp: the scene has a separate vertex for each side of an edge.
    let fans: Vec<_> = surface
        .pieces
        .par_iter()
        .map(|piece| {
            let fans = Fans::of(surface, piece);
            let positions = &surface.positions[surface.vertex_range(piece)];
            let normals = fans.normals(positions);
            (fans, normals)
        })
        .collect();
    for (piece, (fans, normals)) in surface.pieces.iter().zip(fans) {
        let first = scene.positions.len() as u32;
        let positions = &surface.positions[surface.vertex_range(piece)];
        let vertices = fans.vertices.iter();
        scene
            .positions
            .extend(vertices.map(|&vertex| Vec3::from(positions[vertex as usize])));
        scene.normals.extend(normals.into_iter().map(Vec3::from));
        let inside = &surface.inside[surface.triangle_range(piece)];
        scene
            .triangles
            .extend(fans.corners.iter().zip(inside).map(|(corners, &inside)| {
                let corners = corners.map(|corner| corner + first);
                (corners, material(piece.body, inside != 0))
            }));
    }
    scene
}

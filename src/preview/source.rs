//! Reads frames of a store as scenes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::parallel::prelude::*;
use glam::{DVec3, Vec3};

use super::colliders::{self, PreviewCollider};
use super::colour::{QuantityScale, ShownValues};
use super::scene::{PreviewScene, SceneBall, SceneMaterial, ScenePlane};
use crate::columns::Frames;
use crate::geometry::paint::{NO_MATERIAL, WHITE};
use crate::spec::{Collider, ColliderShape, ElementColour, FrameGroup, Pipeline, Preview};
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
    /// Colour scale of the elements; absent: they show how many of their bonds broke.
    colour: Option<QuantityScale>,
}

/// Data for drawing elements.
struct DrawnElements {
    body: Vec<u32>,
    r: Vec<f64>,
    /// Number of bonds of each element in the packing.
    bonds: Vec<u32>,
    /// Frames from which on fragments are removed, ascending, and labels of these fragments.
    removed: Vec<(u32, u32)>,
}

impl DrawnElements {
    fn read(store: &Store) -> Result<Self> {
        let packing = store.read_packing_columns(&["body", "r"], &["i", "j"])?;
        Ok(DrawnElements {
            bonds: packing.bonds_per_element(),
            body: packing.elements.body,
            r: packing.elements.r,
            removed: store.removed_fragments()?,
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
        let surfaces = match (section, preview.colour) {
            (None, None) => store.numbers("meshes", "rkyv")?,
            _ => Vec::new(),
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
            colour: None,
        })
    }

    /// Finds the colour scale for these frames.
    pub fn colour(&mut self, by: ElementColour, frames: &[u32]) -> Result<()> {
        let of = |&frame: &u32| {
            let values = ShownValues::of(by);
            let Some(rows) = self.rows(frame, Some(by.group()))? else {
                return Ok(values);
            };
            Ok(values.add(&rows, self.drawn(frame, &rows)?.into_iter()))
        };
        let all: Vec<ShownValues> = frames.par_iter().map(of).collect::<Result<_>>()?;
        let values = all.into_iter().fold(ShownValues::of(by), ShownValues::join);
        self.colour = Some(values.scale());
        Ok(())
    }

    /// The colour scale of the elements.
    pub fn scale(&self) -> Option<QuantityScale> {
        self.colour
    }

    /// Positions of the elements in a frame, and another group of columns; `None` if no elements are drawn.
    fn rows(&self, frame: u32, more: Option<FrameGroup>) -> Result<Option<Frames>> {
        let Some(elements) = &self.elements else {
            return Ok(None);
        };
        let mut needed: Vec<_> = [FrameGroup::Position].into_iter().chain(more).collect();
        if !self.removed_in(frame)?.is_empty() {
            needed.push(FrameGroup::Fragment);
        }
        let count = elements.body.len();
        self.store.read_frame_of(frame, &needed, count).map(Some)
    }

    /// Labels of the fragments that are not drawn in a frame any more; none if the frame does not tell which elements
    /// are theirs.
    fn removed_in(&self, frame: u32) -> Result<BTreeSet<u32>> {
        let all = self.elements.iter().flat_map(|elements| &elements.removed);
        let gone = all.take_while(|(from, _)| *from <= frame);
        let gone: BTreeSet<u32> = gone.map(|(_, fragment)| *fragment).collect();
        let is_known = gone.is_empty()
            || self
                .store
                .frame_groups(frame)?
                .contains(&FrameGroup::Fragment);
        Ok(if is_known { gone } else { BTreeSet::new() })
    }

    /// The rows of a frame that are drawn: not removed, and on the side of the section that is kept.
    fn drawn(&self, frame: u32, rows: &Frames) -> Result<Vec<usize>> {
        let removed = self.removed_in(frame)?;
        let is_there = |row: &usize| removed.is_empty() || !removed.contains(&rows.fragment[*row]);
        let there = (0..rows.id.len()).filter(is_there);
        Ok(there
            .filter(|&row| self.is_shown(centre(rows, row)))
            .collect())
    }

    /// Whether a point lies on the side of the section that is kept.
    fn is_shown(&self, at: Vec3) -> bool {
        self.section
            .is_none_or(|cut| (at - cut.point).dot(cut.normal) <= 0.0)
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
        let group = self.colour.map(|colour| colour.group());
        let (Some(elements), Some(rows)) = (&self.elements, self.rows(frame, group)?) else {
            return Ok(PreviewScene::default());
        };
        let material = |row: usize| match &self.colour {
            Some(colour) => colour.material(&rows, row),
            None => {
                let broken = f64::from(rows.broken[row]) / f64::from(elements.bonds[row].max(1));
                let share = (255.0 * broken.min(1.0)) as u8;
                SceneMaterial::Damaged((elements.body[row] % 4) as u8, share)
            }
        };
        let drawn = self.drawn(frame, &rows)?.into_iter();
        let balls = drawn.map(|row| SceneBall {
            centre: centre(&rows, row),
            radius: elements.r[row] as f32,
            material: material(row),
        });
        Ok(PreviewScene {
            time: rows.time.first().copied().unwrap_or_default(),
            balls: balls.collect(),
            ..PreviewScene::default()
        })
    }
}

fn centre(rows: &Frames, row: usize) -> Vec3 {
    Vec3::new(rows.x[row], rows.y[row], rows.z[row])
}

/// What a triangle of a body shows; `first` is the number of the body's first material.
fn material(surface: &SurfaceFrame, (body, first): (u32, u32), t: usize) -> SceneMaterial {
    let colour = (body % 4) as u8;
    if surface.inside[t] != 0 {
        return SceneMaterial::Crack(colour);
    }
    if let Some(corners) = surface.colours.get(t).filter(|own| **own != WHITE) {
        let mean = |k: usize| corners.iter().map(|rgb| rgb[k]).sum::<f32>() / 3.0;
        return SceneMaterial::Painted([0, 1, 2].map(|k| (mean(k) * 255.0).round() as u8));
    }
    match surface
        .materials
        .get(t)
        .map(|number| number.saturating_sub(first))
    {
        None | Some(0) => SceneMaterial::Skin(colour),
        _ if surface.materials[t] == NO_MATERIAL => SceneMaterial::Skin(colour),
        Some(further) => SceneMaterial::Skin(4 + ((body + further - 1) % 4) as u8),
    }
}

/// The smallest number of a material of each body that has some.
fn first_materials(surface: &SurfaceFrame) -> BTreeMap<u32, u32> {
    let mut first = BTreeMap::new();
    if surface.materials.is_empty() {
        return first;
    }
    for piece in &surface.pieces {
        let own = &surface.materials[surface.triangle_range(piece)];
        if let Some(least) = own.iter().copied().min() {
            let known = first.entry(piece.body).or_insert(least);
            *known = least.min(*known);
        }
    }
    first
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
    let materials = first_materials(surface);
    for (piece, (fans, normals)) in surface.pieces.iter().zip(fans) {
        let first = scene.positions.len() as u32;
        let positions = &surface.positions[surface.vertex_range(piece)];
        let vertices = fans.vertices.iter();
        scene
            .positions
            .extend(vertices.map(|&vertex| Vec3::from(positions[vertex as usize])));
        scene.normals.extend(normals.into_iter().map(Vec3::from));
        let body = (piece.body, materials.get(&piece.body).copied().unwrap_or(0));
        let triangles = fans.corners.iter().zip(surface.triangle_range(piece));
        scene.triangles.extend(triangles.map(|(corners, t)| {
            let corners = corners.map(|corner| corner + first);
            (corners, material(surface, body, t))
        }));
    }
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn materials_and_colours_are_told_apart() {
        let grey = [[0.5; 3]; 3];
        let surface = SurfaceFrame {
            inside: vec![0, 0, 0, 0, 1, 0],
            materials: vec![3, 5, NO_MATERIAL, 3, NO_MATERIAL, 5],
            colours: vec![WHITE, WHITE, WHITE, grey, WHITE, WHITE],
            ..SurfaceFrame::default()
        };
        let shown = |t: usize| material(&surface, (1, 3), t);
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(shown),
            [
                SceneMaterial::Skin(1),
                SceneMaterial::Skin(6),
                SceneMaterial::Skin(1),
                SceneMaterial::Painted([128; 3]),
                SceneMaterial::Crack(1),
                SceneMaterial::Skin(6),
            ]
        );
    }
}

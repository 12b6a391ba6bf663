//! Colliders as geometry to draw, at their pose at a frame's time.

use std::f32::consts::TAU;

use glam::{DVec3, Vec3};

use super::scene::{PreviewScene, SceneBall, SceneMaterial, ScenePlane};
use crate::geometry::TriMesh;
use crate::spec::{Collider, ColliderShape};
use crate::store::corner_normals::Fans;
use crate::store::{Result, Store};

/// Number of flat sides of a drawn cylinder.
const SIDES: u32 = 96;

/// A collider to draw.
pub struct PreviewCollider {
    collider: Collider,
    /// Its mesh, if it has one.
    mesh: Option<ColliderMesh>,
}

/// A mesh with separate vertices at sharp edges.
struct ColliderMesh {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl PreviewCollider {
    /// Reads collider `number` of the pipeline of a store.
    pub fn new(store: &Store, number: u32, collider: &Collider) -> Result<Self> {
        let mesh = match collider.shape {
            ColliderShape::Mesh { .. } => Some(ColliderMesh::new(&store.read_collider(number)?)),
            ColliderShape::HalfSpace { .. }
            | ColliderShape::Box { .. }
            | ColliderShape::Sphere { .. }
            | ColliderShape::Cylinder { .. } => None,
        };
        Ok(PreviewCollider {
            collider: collider.clone(),
            mesh,
        })
    }
}

impl ColliderMesh {
    fn new(mesh: &TriMesh) -> Self {
        let points = mesh.positions.iter().map(|p| p.as_vec3().to_array());
        let points: Vec<[f32; 3]> = points.collect();
        let one_side = vec![0; mesh.triangles.len()];
        let fans = Fans::new(&points, mesh.triangles.iter().copied(), &one_side);
        let vertices = fans.vertices.iter();
        ColliderMesh {
            positions: vertices.map(|&v| Vec3::from(points[v as usize])).collect(),
            normals: fans.normals(&points).into_iter().map(Vec3::from).collect(),
            triangles: fans.corners,
        }
    }
}

/// Adds a collider to a scene, at its pose at the scene's time.
pub fn add(scene: &mut PreviewScene, PreviewCollider { collider, mesh }: &PreviewCollider) {
    let pose = collider.pose(scene.time);
    let (position, turn) = (pose.position, pose.rotation);
    let world = |local: Vec3| (turn * local.as_dvec3() + position).as_vec3();
    let normal = |local: Vec3| (turn * local.as_dvec3()).as_vec3();
    match &collider.shape {
        ColliderShape::HalfSpace { normal } => {
            if let Some(normal) = DVec3::from(*normal).try_normalize() {
                scene.planes.push(ScenePlane {
                    point: position.as_vec3(),
                    normal: (turn * normal).as_vec3(),
                });
            }
        }
        ColliderShape::Sphere { radius } => scene.balls.push(SceneBall {
            centre: position.as_vec3(),
            radius: *radius as f32,
            material: SceneMaterial::Collider,
        }),
        ColliderShape::Box { size } => {
            let half = DVec3::from(*size).as_vec3() / 2.0;
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                for side in [-1.0, 1.0] {
                    let out = axis * side;
                    let across = Vec3::new(axis.z, axis.x, axis.y);
                    let along = out.cross(across);
                    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                        .map(|(a, b)| (world((out + across * a + along * b) * half), normal(out)));
                    polygon(scene, &corners);
                }
            }
        }
        ColliderShape::Cylinder { radius, height } => {
            let (radius, half) = (*radius as f32, *height as f32 / 2.0);
            let rim: Vec<Vec3> = (0..SIDES)
                .map(|side| TAU * side as f32 / SIDES as f32)
                .map(|angle| Vec3::new(angle.sin(), 0.0, angle.cos()))
                .collect();
            for side in [-1.0, 1.0] {
                let cap = Vec3::Y * side;
                let corners: Vec<_> = rim
                    .iter()
                    .map(|&out| (world(out * radius + cap * half), normal(cap)))
                    .collect();
                polygon(scene, &corners);
            }
            for (at, &one) in rim.iter().enumerate() {
                let other = rim[(at + 1) % rim.len()];
                let corners = [(one, -half), (other, -half), (other, half), (one, half)]
                    .map(|(out, y)| (world(out * radius + Vec3::Y * y), normal(out)));
                polygon(scene, &corners);
            }
        }
        ColliderShape::Mesh { .. } => {
            if let Some(mesh) = mesh {
                let first = scene.positions.len() as u32;
                scene
                    .positions
                    .extend(mesh.positions.iter().map(|&p| world(p)));
                scene
                    .normals
                    .extend(mesh.normals.iter().map(|&n| normal(n)));
                let triangles = mesh.triangles.iter();
                let moved = triangles.map(|t| (t.map(|v| v + first), SceneMaterial::Collider));
                scene.triangles.extend(moved);
            }
        }
    }
}

/// Adds a convex polygon with corners (position, normal), as a fan of triangles.
fn polygon(scene: &mut PreviewScene, corners: &[(Vec3, Vec3)]) {
    let base = scene.positions.len() as u32;
    for &(position, normal) in corners {
        scene.positions.push(position);
        scene.normals.push(normal);
    }
    for second in 1..corners.len() as u32 - 1 {
        let triangle = [base, base + second, base + second + 1];
        scene.triangles.push((triangle, SceneMaterial::Collider));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Key;
    use crate::spec::Rotation;

    #[test]
    fn keys_are_linear_between_and_held_outside() {
        let key = |time, x| Key {
            time,
            position: [x, 0.0, 0.0],
            rotation: Rotation::default(),
        };
        let mut collider = Collider {
            name: "c".into(),
            shape: ColliderShape::Sphere { radius: 1.0 },
            position: [5.0, 0.0, 0.0],
            rotation: Rotation::default(),
            velocity: [2.0, 0.0, 0.0],
            spin: [0.0; 3],
            keys: vec![key(1.0, 0.0), key(2.0, 10.0)],
            friction: 0.5,
            young: None,
        };
        for (time, x) in [
            (0.0, 0.0),
            (1.0, 0.0),
            (1.25, 2.5),
            (2.0, 10.0),
            (9.0, 10.0),
        ] {
            assert_eq!(collider.pose(time).position.x, x, "at {time} s");
        }
        collider.keys.clear();
        assert_eq!(collider.pose(3.0).position.x, 11.0);
    }
}

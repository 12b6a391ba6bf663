//! Motion of elements from rest into a frame, and surfaces deformed by it.

use crate::parallel::prelude::*;
use glam::{DMat3, DQuat, DVec3};

use crate::columns::Frames;

/// Motion of all elements from rest into a frame.
#[derive(Debug)]
pub struct ElementMotions {
    /// Motion of each element, in the order of the rows.
    pub elements: Vec<ElementMotion>,
}

/// An element at rest and in a frame.
#[derive(Clone, Copy, Debug)]
pub struct ElementMotion {
    /// Position at rest, m.
    pub rest: DVec3,
    /// Position in the frame, m.
    pub position: DVec3,
    /// Rotation since rest.
    pub turn: DMat3,
    /// Velocity, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
    /// Normal stress, Pa.
    pub sigma: f64,
}

impl ElementMotions {
    /// Motion in `frame` of elements with rest positions `rest` (m); both in the order of the rows.
    pub fn new(rest: &[DVec3], frame: &Frames) -> Self {
        let elements = rest
            .par_iter()
            .enumerate()
            .map(|(row, &rest)| {
                let vector = |x: &[f32], y: &[f32], z: &[f32]| {
                    DVec3::new(x[row].into(), y[row].into(), z[row].into())
                };
                let q = DQuat::from_xyzw(
                    frame.qx[row].into(),
                    frame.qy[row].into(),
                    frame.qz[row].into(),
                    frame.qw[row].into(),
                );
                ElementMotion {
                    rest,
                    position: vector(&frame.x, &frame.y, &frame.z),
                    turn: DMat3::from_quat(q.normalize()),
                    velocity: vector(&frame.vx, &frame.vy, &frame.vz),
                    spin: vector(&frame.wx, &frame.wy, &frame.wz),
                    sigma: frame.sigma[row].into(),
                }
            })
            .collect();
        ElementMotions { elements }
    }
}

/// Vertices of a surface in a frame, as in the columns of a [`crate::store::SurfaceFrame`].
#[derive(Debug)]
pub struct DeformedSurface {
    /// Positions, m.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Velocities, m/s.
    pub velocities: Vec<[f32; 3]>,
    /// Normal stress, Pa.
    pub stress: Vec<f32>,
}

//! The contents of a frame: triangles, balls and planes, each with a material.

use glam::Vec3;

/// What a sample shows, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneMaterial {
    /// Nothing.
    Background,
    /// A half-space collider.
    Floor,
    /// A collider of another shape.
    Collider,
    /// Skin of a body, with its colour index: below 4 that of the body, from 4 on that of a further material.
    Skin(u8),
    /// Skin with a colour of its own: red, green and blue, sRGB.
    Painted([u8; 3]),
    /// Crack face of a body, with the body's colour index.
    Crack(u8),
    /// Element of a body: the body's colour index, and the fraction of its bonds that are broken, in 255ths.
    Damaged(u8, u8),
    /// A value on the colour scale, 255ths of the largest.
    ColourScale(u8),
}

/// A ball.
#[derive(Clone, Copy)]
pub struct SceneBall {
    pub centre: Vec3,
    pub radius: f32,
    pub material: SceneMaterial,
}

/// A half-space, visible from the side that its normal points to.
#[derive(Clone, Copy)]
pub struct ScenePlane {
    pub point: Vec3,
    pub normal: Vec3,
}

/// Geometry of a frame, ready to draw.
#[derive(Default)]
pub struct PreviewScene {
    /// Simulated time, s.
    pub time: f64,
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub triangles: Vec<([u32; 3], SceneMaterial)>,
    pub balls: Vec<SceneBall>,
    pub planes: Vec<ScenePlane>,
    /// Number of vertices, and of balls, that belong to bodies; the following ones belong to colliders.
    pub body_vertices: usize,
    pub body_balls: usize,
}

impl PreviewScene {
    /// Lower and upper corners of the vertices and balls of bodies.
    pub fn body_corners(&self) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        let points = self.positions[..self.body_vertices].iter();
        let balls = self.balls[..self.body_balls].iter();
        points.map(|&point| (point, point)).chain(balls.map(|ball| {
            let reach = Vec3::splat(ball.radius);
            (ball.centre - reach, ball.centre + reach)
        }))
    }
}

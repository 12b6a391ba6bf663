//! What stands in a frame: triangles, balls and planes with a material each.

use glam::Vec3;

/// What a surface is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    /// Nothing there.
    Background,
    /// A half-space.
    Floor,
    /// A solid collider.
    Collider,
    /// Skin of a body.
    Skin(u8),
    /// Crack face of a body.
    Crack(u8),
    /// Element of a body, and how many 255ths of its bonds broke.
    Worn(u8, u8),
    /// A number as a colour, 255ths of the largest.
    Scale(u8),
}

/// A ball.
#[derive(Clone, Copy)]
pub struct Ball {
    pub centre: Vec3,
    pub radius: f32,
    pub material: Material,
}

/// A half-space, seen from the side that its normal points to.
#[derive(Clone, Copy)]
pub struct Plane {
    pub point: Vec3,
    pub normal: Vec3,
}

/// A frame ready to draw.
#[derive(Default)]
pub struct Scene {
    /// Simulated time, s.
    pub time: f64,
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub triangles: Vec<([u32; 3], Material)>,
    pub balls: Vec<Ball>,
    pub planes: Vec<Plane>,
    /// Vertices and balls that come before this one belong to bodies, the rest to colliders.
    pub body_vertices: usize,
    pub body_balls: usize,
}

impl Scene {
    /// Lower and upper corners of what belongs to bodies.
    pub fn body_corners(&self) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        let points = self.positions[..self.body_vertices].iter();
        let balls = self.balls[..self.body_balls].iter();
        points.map(|&point| (point, point)).chain(balls.map(|ball| {
            let reach = Vec3::splat(ball.radius);
            (ball.centre - reach, ball.centre + reach)
        }))
    }
}

//! The sides of a contact: where its elements are, and how the pieces move to which they belong.

use glam::{DMat3, DVec3};

use crate::geometry::mesh_solid::NearTriangles;
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::strength::Strength;

/// Pose and motion of a piece.
#[derive(Clone, Copy, Debug)]
pub struct Stance {
    /// Centre of mass, m.
    pub centre: DVec3,
    /// Rotation since it became a piece.
    pub turn: DMat3,
    /// Velocity of the centre, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
    /// Bound on the change of the velocity of any of its elements since it was first followed, but for gravity, m/s.
    pub change: f64,
}

impl Stance {
    /// Pose and motion of a piece now.
    pub fn of(piece: &Piece) -> Self {
        let moving = &piece.body.moving;
        Stance {
            centre: piece.centre(),
            turn: DMat3::from_quat(moving.rotation),
            velocity: moving.velocity,
            spin: piece.body.top.spin(moving.rotation, moving.momentum),
            change: 0.0,
        }
    }

    /// Follows the piece over a step of `h` seconds.
    pub fn follow(&mut self, piece: &Piece, gravity: DVec3, h: f64) {
        let now = Stance::of(piece);
        let spin = now.spin.length().max(self.spin.length());
        let turning = (now.spin - self.spin).length() + spin * spin * h;
        let pushed = now.velocity - self.velocity - gravity * h;
        let change = pushed.length() + piece.reach * turning;
        *self = Stance {
            change: self.change + change,
            ..now
        };
    }
}

/// An element of a piece of an island.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Index of the piece in the island.
    pub member: usize,
    /// From the centre of mass to the element, in the frame of the piece, m.
    pub arm: DVec3,
}

/// An element of a piece at rest.
#[derive(Clone, Copy, Debug)]
pub struct Still {
    /// Its position, m.
    pub place: DVec3,
    /// Index of the piece in the run.
    pub piece: usize,
    /// Inverse of the mass of that piece, 1/kg.
    pub inverse_mass: f64,
    /// Strength of the piece; `None` if no load wakes it.
    pub strength: Option<Strength>,
}

/// What an element of an island may touch.
#[derive(Clone, Debug)]
pub enum Partner {
    /// An element of a piece of the island.
    Member(Place),
    /// An element of a piece at rest.
    Still(Still),
    /// A collider: its index, and its nearest triangles if it is a mesh.
    Collider(usize, NearTriangles),
}

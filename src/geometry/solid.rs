//! Solids by their distance function, and how they move: what elements collide with.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::mesh::TriMesh;
use super::mesh_solid::{MeshSolid, Near};
use crate::math::Vec3;
use crate::math::solid::{
    Nearest, cuboid, cylinder, half_space, point_velocity, sphere, surface_velocity,
};

/// A solid centred on its own origin; one of a mesh has that of its file.
#[derive(Clone, Debug)]
pub enum Solid {
    /// Everything on the side that the unit normal points away from.
    HalfSpace {
        /// Outward unit normal.
        normal: DVec3,
    },
    /// Box of these half edges, m.
    Box {
        /// Half of each edge.
        half: DVec3,
    },
    /// Ball, m.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// Cylinder along y, m.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half of the height.
        half_height: f64,
    },
    /// Inside of a closed mesh.
    Mesh(Arc<MeshSolid>),
}

impl Solid {
    /// Farthest that a point of the surface lies from the origin, m.
    pub fn extent(&self) -> f64 {
        match *self {
            Solid::Mesh(ref mesh) => mesh.extent(),
            Solid::HalfSpace { .. } => f64::INFINITY,
            Solid::Box { half } => half.length(),
            Solid::Sphere { radius } => radius,
            Solid::Cylinder {
                radius,
                half_height,
            } => radius.hypot(half_height),
        }
    }

    /// Bound on how far a point of the surface lies from an axis of this direction through the origin, m.
    fn reach_about(&self, axis: DVec3) -> f64 {
        match self {
            Solid::Mesh(mesh) => mesh.reach_about(axis),
            _ => self.extent(),
        }
    }

    /// The mesh that it is the inside of, if it is.
    pub fn mesh(&self) -> Option<&TriMesh> {
        match self {
            Solid::Mesh(mesh) => Some(mesh.mesh()),
            _ => None,
        }
    }

    /// Signed distance of `p` (negative inside) and the outward unit normal there.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        let at = from_glam(p);
        let nearest = match *self {
            Solid::Mesh(ref mesh) => return mesh.distance(p),
            Solid::HalfSpace { normal } => half_space(at, from_glam(normal)),
            Solid::Sphere { radius } => sphere(at, radius),
            Solid::Box { half } => cuboid(at, from_glam(half)),
            Solid::Cylinder {
                radius,
                half_height,
            } => cylinder(at, radius, half_height),
        };
        (nearest.distance, to_glam(nearest.normal))
    }

    /// The same to the bit, sooner where `near` has been looked up about `p`.
    pub fn distance_near(&self, p: DVec3, near: &Near) -> (f64, DVec3) {
        match self {
            Solid::Mesh(mesh) => mesh.distance_near(p, near),
            _ => self.distance(p),
        }
    }

    /// Whether `p` lies inside or less than `reach` (m) outside.
    fn reaches(&self, p: DVec3, reach: f64) -> bool {
        match self {
            Solid::Mesh(mesh) => mesh.reaches(p, reach),
            _ => self.distance(p).0 < reach,
        }
    }
}

fn from_glam(v: DVec3) -> Vec3<f64> {
    Vec3::new(v.x, v.y, v.z)
}

fn to_glam(v: Vec3<f64>) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

/// Where a solid is and how it moves, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Origin of the solid, m.
    pub position: DVec3,
    /// Turn of the solid.
    pub rotation: DQuat,
    /// Velocity of the origin, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

impl Pose {
    /// Distance of world point `p`, outward normal, and velocity of the surface below it.
    pub fn surface(&self, solid: &Solid, p: DVec3) -> (f64, DVec3, DVec3) {
        self.surface_by(p, |local| solid.distance(local))
    }

    /// The same to the bit, sooner where `near` has been looked up about `p`.
    pub fn surface_near(&self, solid: &Solid, p: DVec3, near: &Near) -> (f64, DVec3, DVec3) {
        self.surface_by(p, |local| solid.distance_near(local, near))
    }

    /// Looks up what of a solid is near world point `p`, to hold for points up to `slack` (m) from it, unless
    /// `near` holds there already.
    pub fn look(&self, solid: &Solid, p: DVec3, slack: f64, near: &mut Near) {
        if let Solid::Mesh(mesh) = solid {
            mesh.look(self.local(p), slack, near);
        }
    }

    /// Whether world point `p` lies inside a solid or less than `reach` (m) outside.
    pub fn reaches(&self, solid: &Solid, p: DVec3, reach: f64) -> bool {
        solid.reaches(self.local(p), reach)
    }

    /// World point `p` as the solid sees it.
    fn local(&self, p: DVec3) -> DVec3 {
        self.rotation.inverse() * (p - self.position)
    }

    fn surface_by(
        &self,
        p: DVec3,
        distance: impl FnOnce(DVec3) -> (f64, DVec3),
    ) -> (f64, DVec3, DVec3) {
        let arm = p - self.position;
        let (distance, normal) = distance(self.local(p));
        let normal = self.rotation * normal;
        let nearest = Nearest {
            distance,
            normal: from_glam(normal),
        };
        let velocity = surface_velocity(
            from_glam(arm),
            nearest,
            from_glam(self.velocity),
            from_glam(self.spin),
        );
        (distance, normal, to_glam(velocity))
    }

    /// Bound on the speed that the spin gives a point of the solid's surface, m/s; infinite for a half-space
    /// that turns.
    pub fn turning(&self, solid: &Solid) -> f64 {
        match self.spin.length() {
            0.0 => 0.0,
            spin => spin * solid.reach_about(self.rotation.inverse() * (self.spin / spin)),
        }
    }

    /// Velocity of the point at `arm` from the origin, m and m/s.
    pub fn velocity_at(&self, arm: DVec3) -> DVec3 {
        let [arm, velocity, spin] = [arm, self.velocity, self.spin].map(from_glam);
        to_glam(point_velocity(arm, velocity, spin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_that_of_the_nearest_surface_point() {
        let solids = [
            Solid::Box {
                half: DVec3::new(1.0, 2.0, 0.5),
            },
            Solid::Sphere { radius: 1.3 },
            Solid::Cylinder {
                radius: 0.8,
                half_height: 1.1,
            },
            Solid::HalfSpace { normal: DVec3::Y },
        ];
        for solid in solids {
            for k in 0..500 {
                let t = f64::from(k);
                let p = DVec3::new((t * 0.7).sin(), (t * 1.1).cos(), (t * 1.9).sin()) * 2.5;
                let (distance, normal) = solid.distance(p);
                assert!((normal.length() - 1.0).abs() < 1e-12);
                // Walking back along the normal lands on the surface.
                let (rest, _) = solid.distance(p - normal * distance);
                assert!(rest.abs() < 1e-9, "{solid:?} at {p}: {rest}");
            }
        }
    }

    #[test]
    fn surface_of_a_turned_and_spinning_box() {
        let pose = Pose {
            position: DVec3::new(0.0, 1.0, 0.0),
            rotation: DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2),
            velocity: DVec3::X,
            spin: DVec3::Z * 2.0,
        };
        let solid = Solid::Box {
            half: DVec3::new(3.0, 1.0, 1.0),
        };
        let (distance, normal, velocity) = pose.surface(&solid, DVec3::new(0.0, 5.0, 0.0));
        assert!((distance - 1.0).abs() < 1e-12);
        assert!((normal - DVec3::Y).length() < 1e-12);
        assert!((velocity - DVec3::new(1.0 - 6.0, 0.0, 0.0)).length() < 1e-12);
    }
}

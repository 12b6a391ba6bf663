//! Solids given by a distance function, and their motion: what elements collide with.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::mesh::TriMesh;
use super::mesh_solid::{MeshSolid, NearTriangles};
use crate::math::Vec3;
use crate::math::solid::{
    Nearest, cuboid, cylinder, half_space, point_velocity, sphere, surface_velocity,
};

/// A solid centred on its own origin; a mesh keeps the origin of its file.
#[derive(Clone, Debug)]
pub enum Solid {
    /// Half-space on the side that the unit normal points away from.
    HalfSpace {
        /// Outward unit normal.
        normal: DVec3,
    },
    /// Box given by its half edges, m.
    Box {
        /// Half of each edge.
        half: DVec3,
    },
    /// Ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// Cylinder along y.
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
    /// Largest distance of a surface point from the origin, m.
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

    /// Upper bound on the distance of surface points from an axis of this direction through the origin, m.
    fn reach_about(&self, axis: DVec3) -> f64 {
        match self {
            Solid::Mesh(mesh) => mesh.reach_about(axis),
            _ => self.extent(),
        }
    }

    /// The mesh of [`Solid::Mesh`], else `None`.
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

    /// Same result as without `near`, bit for bit, but faster if `near` was refreshed close to `p`.
    pub fn distance_near(&self, p: DVec3, near: &NearTriangles) -> (f64, DVec3) {
        match self {
            Solid::Mesh(mesh) => mesh.distance_near(p, near),
            _ => self.distance(p),
        }
    }

    /// Whether `p` lies inside or less than `reach` (m) outside the solid.
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

/// Position, rotation and velocity of a solid, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Origin of the solid, m.
    pub position: DVec3,
    /// Rotation from the solid's frame to the world frame.
    pub rotation: DQuat,
    /// Velocity of the solid's origin, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
}

impl Pose {
    /// Signed distance of world point `p` (m), outward normal, and velocity of the surface at the nearest
    /// point (m/s).
    pub fn surface(&self, solid: &Solid, p: DVec3) -> (f64, DVec3, DVec3) {
        self.surface_with(p, |local| solid.distance(local))
    }

    /// Same result as without `near`, bit for bit, but faster if `near` was refreshed close to `p`.
    pub fn surface_near(
        &self,
        solid: &Solid,
        p: DVec3,
        near: &NearTriangles,
    ) -> (f64, DVec3, DVec3) {
        self.surface_with(p, |local| solid.distance_near(local, near))
    }

    /// Refreshes `near` so that it holds for points up to `slack` (m) from world point `p`, unless it covers
    /// `p` already.
    pub fn refresh_near(&self, solid: &Solid, p: DVec3, slack: f64, near: &mut NearTriangles) {
        if let Solid::Mesh(mesh) = solid {
            mesh.refresh_near(self.local_position(p), slack, near);
        }
    }

    /// Whether world point `p` lies inside a solid or less than `reach` (m) outside it.
    pub fn reaches(&self, solid: &Solid, p: DVec3, reach: f64) -> bool {
        solid.reaches(self.local_position(p), reach)
    }

    /// World point `p` in the solid's frame.
    fn local_position(&self, p: DVec3) -> DVec3 {
        self.rotation.inverse() * (p - self.position)
    }

    fn surface_with(
        &self,
        p: DVec3,
        distance: impl FnOnce(DVec3) -> (f64, DVec3),
    ) -> (f64, DVec3, DVec3) {
        let arm = p - self.position;
        let (distance, normal) = distance(self.local_position(p));
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

    /// Upper bound on the speed of surface points due to the spin, m/s; infinite for a spinning half-space.
    pub fn spin_speed_bound(&self, solid: &Solid) -> f64 {
        match self.spin.length() {
            0.0 => 0.0,
            spin => spin * solid.reach_about(self.rotation.inverse() * (self.spin / spin)),
        }
    }

    /// Velocity (m/s) of the point at `arm` (m) from the origin.
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
                // Stepping back along the normal by the distance ends on the surface.
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

//! Deforms the surfaces of fragments from rest into a frame, with their elements.
//!
//! A vertex X follows up to eight elements on its own side of all cracks, with weights fixed at rest (linear
//! blend skinning): x = Σ w (p_i + R(q_i)(X − P_i)). A fragment whose elements move as one rigid body moves
//! exactly like them.

use glam::DVec3;

use super::motion::{Motion, Moved};
use super::shell::{Shell, normals};
use super::texture::Texture;
use crate::geometry::TriMesh;

/// Maximum number of elements that a vertex follows.
pub const CARRIERS: usize = 8;

/// Surface of a fragment at rest with the elements that each vertex follows.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Label of the fragment.
    pub fragment: u32,
    /// The surface at rest.
    pub shell: Shell,
    /// The elements that each of its vertices follows.
    pub carriers: Vec<[Carrier; CARRIERS]>,
}

/// An element that a vertex follows, and its weight. Unused entries have weight 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carrier {
    /// Row in the packing.
    pub row: u32,
    /// Weight relative to those of the vertex's other elements.
    pub weight: f32,
}

impl Carried {
    /// Balls that rotate with their elements. `elements` yields the row in the packing, the centre and the
    /// radius (m) of each. `ball` has radius 1; `inside` is the flag of all triangles.
    pub fn balls(
        fragment: u32,
        ball: &TriMesh,
        elements: impl Iterator<Item = (u32, DVec3, f64)>,
        inside: u8,
    ) -> Self {
        let (mut shell, mut carriers) = (Shell::default(), Vec::new());
        for (row, centre, radius) in elements {
            let mesh = &mut shell.mesh;
            let base = mesh.positions.len() as u32;
            let corners = ball.positions.iter();
            mesh.positions.extend(corners.map(|&p| centre + p * radius));
            let triangles = ball.triangles.iter();
            mesh.triangles
                .extend(triangles.map(|t| t.map(|v| v + base)));
            let mut own = [Carrier::default(); CARRIERS];
            own[0] = Carrier { row, weight: 1.0 };
            carriers.resize(mesh.positions.len(), own);
        }
        shell.inside = vec![inside; shell.mesh.triangles.len()];
        Carried {
            fragment,
            shell,
            carriers,
        }
    }

    /// The same surface with texture coordinates for crack faces on all triangles, if its body has a texture.
    pub fn textured(mut self, texture: Option<&Texture>) -> Self {
        if let Some(texture) = texture {
            let mesh = &mut self.shell.mesh;
            let corners = (0..mesh.triangles.len()).map(|t| mesh.corners(t));
            mesh.uv = corners.map(|corners| texture.on_crack(corners)).collect();
        }
        self
    }

    /// The surface in a frame.
    pub fn carry(&self, motion: &Motion) -> Moved {
        let count = self.carriers.len();
        let mut moved = Moved {
            positions: Vec::with_capacity(count),
            velocities: Vec::with_capacity(count),
            stress: Vec::with_capacity(count),
            normals: Vec::new(),
        };
        let mut exact = Vec::with_capacity(count);
        for (&rest, carriers) in self.shell.mesh.positions.iter().zip(&self.carriers) {
            let (mut x, mut v, mut sigma, mut total) = (DVec3::ZERO, DVec3::ZERO, 0.0, 0.0);
            for carrier in carriers.iter().filter(|carrier| carrier.weight > 0.0) {
                let (row, weight) = (carrier.row as usize, f64::from(carrier.weight));
                let element = &motion.elements[row];
                let arm = element.turn * (rest - element.rest);
                x += weight * (element.position + arm);
                v += weight * (element.velocity + element.spin.cross(arm));
                sigma += weight * element.sigma;
                total += weight;
            }
            exact.push(x / total);
            moved.positions.push((x / total).as_vec3().to_array());
            moved.velocities.push((v / total).as_vec3().to_array());
            moved.stress.push((sigma / total) as f32);
        }
        moved.normals = normals(&exact, &self.shell);
        moved
    }
}

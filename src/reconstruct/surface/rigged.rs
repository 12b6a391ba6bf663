//! Deforms the surfaces of fragments from rest into a frame, with their elements.
//!
//! A vertex X follows up to eight elements on its own side of all cracks, with weights fixed at rest (linear
//! blend skinning): x = Σ w (p_i + R(q_i)(X − P_i)). A fragment whose elements move as one rigid body moves
//! exactly like them.

use glam::DVec3;

use super::attributes::SkinAttributes;
use super::chips::{ball_volume, chip};
use super::motion::{DeformedSurface, ElementMotions};
use super::rest_surface::{RestSurface, vertex_normals};
use crate::geometry::TriMesh;

/// Maximum number of elements that a vertex follows.
pub const MAX_INFLUENCES: usize = 8;
/// Width of the Gaussian weight, radii.
const WIDTH: f64 = 1.0;
/// Largest number of elements that one chip has. The chip of a larger fragment, which need not be compact,
/// would enclose more than its elements.
pub const MAX_CHIP_ELEMENTS: usize = 4;

/// Surface of a fragment at rest with the elements that each vertex follows.
#[derive(Clone, Debug)]
pub struct RiggedSurface {
    /// Label of the fragment.
    pub fragment: u32,
    /// The surface at rest.
    pub rest_surface: RestSurface,
    /// The elements that each of its vertices follows.
    pub influences: Vec<[Influence; MAX_INFLUENCES]>,
}

/// An element that a vertex follows, and its weight. Unused entries have weight 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Influence {
    /// Row in the packing.
    pub row: u32,
    /// Weight relative to those of the vertex's other elements.
    pub weight: f32,
}

/// The elements `found`, as (squared distance in m², element), nearest first, with weights that fall with the
/// distance. `rows` are the rows of the elements in the packing, `radius` is a mean radius, m.
pub fn influences_of(
    found: impl IntoIterator<Item = (f64, u32)>,
    rows: &[u32],
    radius: f64,
) -> [Influence; MAX_INFLUENCES] {
    let falloff = 0.5 / (WIDTH * radius).powi(2);
    let mut influences = [Influence::default(); MAX_INFLUENCES];
    let mut first = None;
    for (influence, (squared, element)) in influences.iter_mut().zip(found) {
        influence.row = rows[element as usize];
        let nearest = *first.get_or_insert(squared);
        influence.weight = (-(squared - nearest) * falloff).exp() as f32;
    }
    influences
}

/// An element of a fragment that is drawn without its skin.
#[derive(Clone, Copy, Debug)]
pub struct DebrisElement {
    /// Row in the packing.
    pub row: u32,
    /// Centre at rest, m.
    pub centre: DVec3,
    /// Radius, m.
    pub radius: f64,
}

impl RiggedSurface {
    /// Facetted chips with the volume of the elements' balls, marked as crack faces: one chip for all
    /// elements if there are few, else one for each.
    pub fn chips(fragment: u32, elements: &[DebrisElement]) -> Self {
        let each = match elements.len() {
            few if few <= MAX_CHIP_ELEMENTS => few.max(1),
            _ => 1,
        };
        let (mut rest_surface, mut influences) = (RestSurface::default(), Vec::new());
        for own in elements.chunks(each) {
            let balls: Vec<(DVec3, f64)> = own.iter().map(|e| (e.centre, e.radius)).collect();
            let rows: Vec<u32> = own.iter().map(|e| e.row).collect();
            let volume = own.iter().map(|e| ball_volume(e.radius)).sum();
            let mesh = chip(&balls, volume, rows[0]);
            influences.extend(mesh.positions.iter().map(|x| {
                let squared = |(k, ball): (u32, &(DVec3, f64))| (x.distance_squared(ball.0), k);
                let mut found: Vec<(f64, u32)> = (0..).zip(&balls).map(squared).collect();
                found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                influences_of(found, &rows, own[0].radius)
            }));
            rest_surface.mesh.append(mesh);
        }
        rest_surface.inside = vec![1; rest_surface.mesh.triangles.len()];
        RiggedSurface {
            fragment,
            rest_surface,
            influences,
        }
    }

    /// Balls that rotate with their elements. `ball` has radius 1.
    pub fn balls(fragment: u32, ball: &TriMesh, elements: &[DebrisElement]) -> Self {
        let (mut rest_surface, mut influences) = (RestSurface::default(), Vec::new());
        for &DebrisElement {
            row,
            centre,
            radius,
        } in elements
        {
            let mesh = &mut rest_surface.mesh;
            let base = mesh.positions.len() as u32;
            let corners = ball.positions.iter();
            mesh.positions.extend(corners.map(|&p| centre + p * radius));
            let triangles = ball.triangles.iter();
            mesh.triangles
                .extend(triangles.map(|t| t.map(|v| v + base)));
            let mut own = [Influence::default(); MAX_INFLUENCES];
            own[0] = Influence { row, weight: 1.0 };
            influences.resize(mesh.positions.len(), own);
        }
        rest_surface.inside = vec![0; rest_surface.mesh.triangles.len()];
        RiggedSurface {
            fragment,
            rest_surface,
            influences,
        }
    }

    /// The same surface with attributes of crack faces on all triangles, if its body has attributes.
    pub fn as_cracks(mut self, attributes: Option<&SkinAttributes>) -> Self {
        if let Some(attributes) = attributes {
            let mesh = &mut self.rest_surface.mesh;
            for t in 0..mesh.triangles.len() {
                attributes.push(attributes.on_crack(mesh.corners(t)), mesh);
            }
            attributes.name_materials(mesh);
        }
        self
    }

    /// The surface in a frame.
    pub fn deform(&self, motion: &ElementMotions) -> DeformedSurface {
        let count = self.influences.len();
        let mut moved = DeformedSurface {
            positions: Vec::with_capacity(count),
            velocities: Vec::with_capacity(count),
            stress: Vec::with_capacity(count),
            normals: Vec::new(),
        };
        let mut exact = Vec::with_capacity(count);
        for (&rest, influences) in self
            .rest_surface
            .mesh
            .positions
            .iter()
            .zip(&self.influences)
        {
            let (mut x, mut v, mut sigma, mut total) = (DVec3::ZERO, DVec3::ZERO, 0.0, 0.0);
            for influence in influences.iter().filter(|influence| influence.weight > 0.0) {
                let (row, weight) = (influence.row as usize, f64::from(influence.weight));
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
        moved.normals = vertex_normals(&exact, &self.rest_surface);
        moved
    }
}

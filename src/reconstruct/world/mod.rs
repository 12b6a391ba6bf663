//! Surfaces from the elements of a frame alone: for granules, yarns, cloth, and stores without a shape.
//!
//! For each fragment of a frame, `field` defines a function of space that is negative inside, `blocks` finds
//! where to evaluate it, and `march` extracts its zero level set with the `cases` of marching cubes. Each
//! fragment has a function of its own, so fragments never fuse. Information that is not in the positions and
//! radii is missing: only rest positions are coherent from frame to frame, and no face is marked as a crack
//! except those of chips, which are the surfaces of the smallest fragments of bonded elements.

mod blocks;
mod field;
mod march;
mod vertex_motion;

use crate::parallel::prelude::*;
use glam::DVec3;

use self::blocks::Blocks;
use self::field::{ElementBall, Lattice};
use self::march::march;
use self::vertex_motion::VertexMotion;
use crate::geometry::{TriMesh, icosphere};
use crate::reconstruct::error::ReconstructError;
use crate::reconstruct::surface::motion::{DeformedSurface, ElementMotion, ElementMotions};
use crate::reconstruct::surface::rest_surface::{RestSurface, vertex_normals};
use crate::reconstruct::surface::rigged::{DebrisElement, MAX_CHIP_ELEMENTS, RiggedSurface};

/// Minimum cosine between the field's gradient and the normal of the triangles for the gradient to be used as
/// normal: the gradient ignores gaps, triangles do not.
const MIN_AGREEMENT: f64 = 0.7;

/// Mean number of bonds of an element from which a body is a solid. Those of a yarn have two; a few elements
/// of it stay a thread.
const MIN_SOLID_BONDS: f64 = 4.0;

/// The world mode of a body: its lattice and radii.
#[derive(Clone, Debug)]
pub struct WorldReconstruction {
    lattice: Lattice,
    /// Radius of each element, m.
    radii: Vec<f64>,
    /// Number of elements up to which a fragment is drawn as chips; 0 for loose elements, which are balls.
    largest_chip: usize,
}

/// Surface of a fragment in a frame.
#[derive(Debug)]
pub struct WorldSurface {
    /// Label of the fragment.
    pub fragment: u32,
    /// Its triangles, with vertices mapped back to the rest configuration.
    pub rest_surface: RestSurface,
    /// Its vertices in the frame.
    pub moved: DeformedSurface,
}

impl WorldReconstruction {
    /// A body whose elements have these radii (m) and are connected by `bonds` bonds at rest, on a lattice
    /// with a spacing of `voxel` mean radii.
    pub fn new(
        body: u32,
        radii: Vec<f64>,
        bonds: usize,
        voxel: f64,
    ) -> Result<Self, ReconstructError> {
        let unit = radii.iter().sum::<f64>() / radii.len() as f64;
        let spacing = voxel * unit;
        let cells: f64 = radii
            .iter()
            .map(|radius| (2.0 * radius / spacing).powi(3))
            .sum();
        if cells.is_nan() || cells >= ReconstructError::MAX_NODES {
            return Err(ReconstructError::GridTooLarge { body, cells });
        }
        let largest_chip = match 2.0 * bonds as f64 / radii.len() as f64 {
            0.0 => 0,
            each if each < MIN_SOLID_BONDS => 1,
            _ => MAX_CHIP_ELEMENTS,
        };
        Ok(WorldReconstruction {
            lattice: Lattice { spacing, unit },
            radii,
            largest_chip,
        })
    }

    /// Surfaces in a frame, in the order of the labels. `rows` are the elements' rows in the packing,
    /// `labels` their fragments.
    pub fn draw(&self, rows: &[u32], labels: &[u32], motion: &ElementMotions) -> Vec<WorldSurface> {
        let mut members: Vec<(u32, u32)> = labels.iter().copied().zip(0..).collect();
        members.sort_unstable();
        let fragments: Vec<&[(u32, u32)]> = members.chunk_by(|a, b| a.0 == b.0).collect();
        let ball = icosphere(1);
        fragments
            .into_par_iter()
            .map(|members| {
                let fragment = members[0].0;
                let elements: Vec<u32> = members.iter().map(|member| member.1).collect();
                let drawn = if elements.len() <= self.largest_chip.max(1) {
                    None
                } else {
                    self.surface(fragment, &elements, rows, motion)
                };
                drawn.unwrap_or_else(|| self.debris(fragment, &elements, rows, motion, &ball))
            })
            .collect()
    }

    /// Surface of touching elements; `None` if the lattice is too coarse to resolve it.
    fn surface(
        &self,
        fragment: u32,
        elements: &[u32],
        rows: &[u32],
        motion: &ElementMotions,
    ) -> Option<WorldSurface> {
        let of = |&element: &u32| &motion.elements[rows[element as usize] as usize];
        let motions: Vec<&ElementMotion> = elements.iter().map(of).collect();
        let balls: Vec<ElementBall> = motions
            .iter()
            .zip(elements)
            .map(|(motion, &element)| ElementBall {
                centre: motion.position.to_array(),
                radius: self.radii[element as usize],
            })
            .collect();
        let blocks = Blocks::new(self.lattice, &balls);
        let marched = march(self.lattice, &blocks, &balls);
        if marched.triangles.is_empty() {
            return None;
        }
        let (vertices, gradients): (Vec<VertexMotion>, Vec<DVec3>) = marched
            .positions
            .par_iter()
            .enumerate()
            .flat_map_iter(|(block, positions)| {
                let near = blocks.elements(block);
                let (motions, balls, unit) = (&motions, &balls, self.lattice.unit);
                positions.iter().map(move |&x| {
                    let vertex_motion =
                        VertexMotion::new(x, unit, near.iter().map(|&e| motions[e as usize]));
                    (
                        vertex_motion,
                        field::gradient(x, near.iter().map(|&e| &balls[e as usize])),
                    )
                })
            })
            .unzip();
        let count = marched.triangles.len();
        let rest_surface = RestSurface {
            mesh: TriMesh {
                positions: vertices.iter().map(|vertex| vertex.rest).collect(),
                triangles: marched.triangles,
                ..TriMesh::default()
            },
            inside: vec![0; count],
        };
        let positions = marched.positions.concat();
        let single = |v: DVec3| v.as_vec3().to_array();
        let mut normals = vertex_normals(&positions, &rest_surface);
        for (normal, gradient) in normals.iter_mut().zip(gradients) {
            let smooth = gradient.normalize_or_zero();
            if smooth.dot(DVec3::from(normal.map(f64::from))) > MIN_AGREEMENT {
                *normal = single(smooth);
            }
        }
        let moved = DeformedSurface {
            normals,
            positions: positions.into_iter().map(single).collect(),
            velocities: vertices
                .iter()
                .map(|vertex| single(vertex.velocity))
                .collect(),
            stress: vertices.iter().map(|vertex| vertex.sigma as f32).collect(),
        };
        Some(WorldSurface {
            fragment,
            rest_surface,
            moved,
        })
    }

    /// The surface of a fragment too small for the lattice: chips, or a ball for each loose element. `ball`
    /// has radius 1.
    fn debris(
        &self,
        fragment: u32,
        elements: &[u32],
        rows: &[u32],
        motion: &ElementMotions,
        ball: &TriMesh,
    ) -> WorldSurface {
        let elements: Vec<DebrisElement> = elements
            .iter()
            .map(|&element| {
                let row = rows[element as usize];
                DebrisElement {
                    row,
                    centre: motion.elements[row as usize].rest,
                    radius: self.radii[element as usize],
                }
            })
            .collect();
        let rigged = match self.largest_chip {
            0 => RiggedSurface::balls(fragment, ball, &elements),
            _ => RiggedSurface::chips(fragment, &elements),
        };
        let moved = rigged.deform(motion);
        let rest_surface = rigged.rest_surface;
        WorldSurface {
            fragment,
            rest_surface,
            moved,
        }
    }
}

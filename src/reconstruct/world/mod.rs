//! Surfaces from the elements of a frame alone: for granules, yarns, cloth, and stores without a shape.
//!
//! In each frame `field` gives every fragment a function of space that is negative inside, `blocks` says
//! where to evaluate it, `march` draws its zero by the `cases` of marching cubes. Fragments have functions of
//! their own, so they never fuse. What does not show in places and radii is not known: no face is a crack,
//! and nothing coheres from frame to frame but rest positions.

mod blocks;
mod cases;
mod field;
mod follow;
mod march;

use crate::parallel::prelude::*;
use glam::DVec3;

use self::blocks::Blocks;
use self::field::{Ball, Lattice};
use self::follow::Followed;
use self::march::march;
use crate::geometry::{TriMesh, icosphere};
use crate::reconstruct::error::ReconstructError;
use crate::reconstruct::surface::carried::Carried;
use crate::reconstruct::surface::motion::{ElementMotion, Motion, Moved};
use crate::reconstruct::surface::shell::{Shell, normals};

/// Cosine beyond which the field's gradient is taken for the normal: it knows of no gap, triangles do.
const AGREES: f64 = 0.7;

/// What the world mode knows of a body.
#[derive(Clone, Debug)]
pub struct World {
    lattice: Lattice,
    /// Radius of each element, m.
    radii: Vec<f64>,
}

/// The surface of a fragment in a frame.
#[derive(Debug)]
pub struct Drawn {
    /// Its label.
    pub fragment: u32,
    /// Its triangles, with vertices carried back to rest.
    pub shell: Shell,
    /// Its vertices in the frame.
    pub moved: Moved,
}

impl World {
    /// A body of elements with these radii (m), on cells of `voxel` mean radii.
    pub fn new(body: u32, radii: Vec<f64>, voxel: f64) -> Result<Self, ReconstructError> {
        let unit = radii.iter().sum::<f64>() / radii.len() as f64;
        let spacing = voxel * unit;
        let cells: f64 = radii
            .iter()
            .map(|radius| (2.0 * radius / spacing).powi(3))
            .sum();
        if cells.is_nan() || cells >= ReconstructError::MAX_NODES {
            return Err(ReconstructError::GridTooLarge { body, cells });
        }
        Ok(World {
            lattice: Lattice { spacing, unit },
            radii,
        })
    }

    /// The surfaces in a frame, by label. `rows` are the elements' rows in the packing, `labels` their fragments.
    pub fn draw(&self, rows: &[u32], labels: &[u32], motion: &Motion) -> Vec<Drawn> {
        let mut members: Vec<(u32, u32)> = labels.iter().copied().zip(0..).collect();
        members.sort_unstable();
        let fragments: Vec<&[(u32, u32)]> = members.chunk_by(|a, b| a.0 == b.0).collect();
        let ball = icosphere(1);
        fragments
            .into_par_iter()
            .map(|members| {
                let fragment = members[0].0;
                let elements: Vec<u32> = members.iter().map(|member| member.1).collect();
                let drawn = match elements.len() {
                    1 => None,
                    _ => self.surface(fragment, &elements, rows, motion),
                };
                drawn.unwrap_or_else(|| self.balls(fragment, &elements, rows, motion, &ball))
            })
            .collect()
    }

    /// The surface of touching elements; nothing if the grid is too coarse to see them.
    fn surface(
        &self,
        fragment: u32,
        elements: &[u32],
        rows: &[u32],
        motion: &Motion,
    ) -> Option<Drawn> {
        let of = |&element: &u32| &motion.elements[rows[element as usize] as usize];
        let motions: Vec<&ElementMotion> = elements.iter().map(of).collect();
        let balls: Vec<Ball> = motions
            .iter()
            .zip(elements)
            .map(|(motion, &element)| Ball {
                centre: motion.position.to_array(),
                radius: self.radii[element as usize],
            })
            .collect();
        let blocks = Blocks::new(self.lattice, &balls);
        let marched = march(self.lattice, &blocks, &balls);
        if marched.triangles.is_empty() {
            return None;
        }
        let (vertices, gradients): (Vec<Followed>, Vec<DVec3>) = marched
            .positions
            .par_iter()
            .enumerate()
            .flat_map_iter(|(block, positions)| {
                let near = blocks.elements(block);
                let (motions, balls, unit) = (&motions, &balls, self.lattice.unit);
                positions.iter().map(move |&x| {
                    let followed =
                        Followed::new(x, unit, near.iter().map(|&e| motions[e as usize]));
                    (
                        followed,
                        field::gradient(x, near.iter().map(|&e| &balls[e as usize])),
                    )
                })
            })
            .unzip();
        let count = marched.triangles.len();
        let shell = Shell {
            mesh: TriMesh {
                positions: vertices.iter().map(|vertex| vertex.rest).collect(),
                triangles: marched.triangles,
                uv: Vec::new(),
            },
            inside: vec![0; count],
        };
        let positions = marched.positions.concat();
        let single = |v: DVec3| v.as_vec3().to_array();
        let mut normals = normals(&positions, &shell);
        for (normal, gradient) in normals.iter_mut().zip(gradients) {
            let smooth = gradient.normalize_or_zero();
            if smooth.dot(DVec3::from(normal.map(f64::from))) > AGREES {
                *normal = single(smooth);
            }
        }
        let moved = Moved {
            normals,
            positions: positions.into_iter().map(single).collect(),
            velocities: vertices
                .iter()
                .map(|vertex| single(vertex.velocity))
                .collect(),
            stress: vertices.iter().map(|vertex| vertex.sigma as f32).collect(),
        };
        Some(Drawn {
            fragment,
            shell,
            moved,
        })
    }

    /// A ball for each element, that turns with it. `ball` has radius 1.
    fn balls(
        &self,
        fragment: u32,
        elements: &[u32],
        rows: &[u32],
        motion: &Motion,
        ball: &TriMesh,
    ) -> Drawn {
        let balls = elements.iter().map(|&element| {
            let row = rows[element as usize];
            let centre = motion.elements[row as usize].rest;
            (row, centre, self.radii[element as usize])
        });
        let carried = Carried::balls(fragment, ball, balls, 0);
        let moved = carried.carry(motion);
        let shell = carried.shell;
        Drawn {
            fragment,
            shell,
            moved,
        }
    }
}

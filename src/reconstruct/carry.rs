//! Carries the surfaces of fragments from rest into a frame with their elements.
//!
//! A vertex X follows up to eight elements on its own side of all cracks with weights fixed at rest:
//! x = Σ w (p_i + R(q_i)(X − P_i)). A fragment whose elements move as one rigid body moves exactly so.

use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;

use super::cracks::Cracks;
use super::surface::Hold;
use super::texture::Texture;
use crate::columns::Frames;
use crate::geometry::TriMesh;
use crate::geometry::mesh::corner_angle;

/// Elements that a vertex follows at most.
pub const CARRIERS: usize = 8;
/// Width of the Gaussian of the weights, radii.
const WIDTH: f64 = 1.0;

/// Closed surface of one fragment at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shell {
    /// Vertices and triangles, with texture coordinates if the body has a texture.
    pub mesh: TriMesh,
    /// For each triangle: 1 on a crack face, 0 on the skin.
    pub inside: Vec<u8>,
}

/// The surface of a fragment at rest and what carries it.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Label of the fragment.
    pub fragment: u32,
    /// The surface at rest.
    pub shell: Shell,
    carriers: Vec<[Carrier; CARRIERS]>,
}

/// An element with its weight; weight 0 fills up.
#[derive(Clone, Copy, Debug, Default)]
struct Carrier {
    /// Row in the packing.
    row: u32,
    weight: f32,
}

/// The elements that a vertex at `x` follows, of those on its own side. `piece` is its fragment.
fn carriers(cracks: &Cracks, x: DVec3, hold: Hold, piece: u32) -> [Carrier; CARRIERS] {
    let body = cracks.body;
    let own = |element: u32| cracks.piece_of[element as usize] == piece;
    let mut nearest = Nearest::default();
    let mut add = |element: u32| {
        if own(element) {
            nearest.add(
                x.distance_squared(body.positions[element as usize]),
                element,
            );
        }
    };
    match hold {
        Hold::Side(owners) => {
            for (m, &owner) in owners.iter().enumerate() {
                if m == 0 || owners[m - 1] != owner {
                    add(owner);
                    cracks.graph.row(owner).iter().for_each(|&e| add(e));
                }
            }
        }
        Hold::Skin(vertex) => body.anchors[vertex as usize].iter().for_each(|&e| add(e)),
        Hold::Near => (),
    }
    if nearest.count == 0 {
        for (squared, element) in body.nearest(x, own, CARRIERS) {
            nearest.add(squared, element);
        }
    }
    let found = &nearest.found[..nearest.count];
    // Vertices of a side have been told its elements; others keep to the side of the nearest.
    let free = !matches!(hold, Hold::Side(_)) && found.iter().any(|&(_, e)| cracks.is_open(e));
    let first = found[0];
    let found = found
        .iter()
        .filter(|&&(_, e)| !free || !cracks.parts(first.1, e));
    let falloff = 0.5 / (WIDTH * body.radius).powi(2);
    let mut carriers = [Carrier::default(); CARRIERS];
    for (carrier, &(squared, element)) in carriers.iter_mut().zip(found) {
        carrier.row = body.rows[element as usize];
        carrier.weight = (-(squared - first.0) * falloff).exp() as f32;
    }
    carriers
}

/// The nearest elements seen so far with their squared distances, nearest first, equally near ones by number.
#[derive(Default)]
struct Nearest {
    found: [(f64, u32); CARRIERS],
    count: usize,
}

impl Nearest {
    fn add(&mut self, squared: f64, element: u32) {
        let known = &self.found[..self.count];
        let place = known.partition_point(|&entry| entry < (squared, element));
        if place == CARRIERS || known.get(place) == Some(&(squared, element)) {
            return;
        }
        self.count = (self.count + 1).min(CARRIERS);
        self.found[place..self.count].rotate_right(1);
        self.found[place] = (squared, element);
    }
}

impl Carried {
    /// Finds the elements that each vertex follows; `holds` tells which it may.
    pub fn new(cracks: &Cracks, piece: u32, fragment: u32, shell: Shell, holds: &[Hold]) -> Self {
        let vertices = shell.mesh.positions.par_iter().with_min_len(256);
        let carriers = vertices
            .zip(holds)
            .map(|(&x, &hold)| carriers(cracks, x, hold, piece))
            .collect();
        Carried {
            fragment,
            shell,
            carriers,
        }
    }

    /// Balls that turn with their elements: row in the packing, centre and radius (m) of each. `ball` has radius 1.
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

    /// The same surface, nothing of which is skin, with texture coordinates if its body has a texture.
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

/// A surface in a frame, in the columns of a [`crate::store::SurfaceFrame`].
#[derive(Debug)]
pub struct Moved {
    /// Positions, m.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Velocities, m/s.
    pub velocities: Vec<[f32; 3]>,
    /// Normal stress, Pa.
    pub stress: Vec<f32>,
}

/// Vertex normals: the mean of the triangles around, weighted by their angles. At the rim of a crack only the skin
/// counts, so that a cracked body shades like a whole one until its pieces part.
pub(super) fn normals(positions: &[DVec3], shell: &Shell) -> Vec<[f32; 3]> {
    let mut sums = vec![[DVec3::ZERO; 2]; positions.len()];
    for (triangle, &inside) in shell.mesh.triangles.iter().zip(&shell.inside) {
        let p = triangle.map(|v| positions[v as usize]);
        let normal = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
        for m in 0..3 {
            sums[triangle[m] as usize][inside as usize] += corner_angle(p, m) * normal;
        }
    }
    sums.into_iter()
        .map(|[skin, crack]| {
            let normal = skin.try_normalize().or_else(|| crack.try_normalize());
            normal.unwrap_or(DVec3::Y).as_vec3().to_array()
        })
        .collect()
}

/// Motion of every element since rest.
#[derive(Debug)]
pub struct Motion {
    pub(super) elements: Vec<ElementMotion>,
}

/// An element at rest and in a frame: places in m, rotation since rest, m/s, rad/s, Pa.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementMotion {
    pub rest: DVec3,
    pub position: DVec3,
    pub turn: DMat3,
    pub velocity: DVec3,
    pub spin: DVec3,
    pub sigma: f64,
}

impl Motion {
    /// Motion in `frame` of elements that rest at `rest` (m), row by row.
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
        Motion { elements }
    }
}

//! The fragments of a body in one state of breakage, as closed surfaces at rest.

pub mod carriers;
pub mod cavities;
pub mod necks;
pub mod order;
pub mod simplify;

use std::collections::HashSet;
use std::sync::atomic::AtomicU32;

use crate::parallel::prelude::*;

use self::carriers::carried;
use self::order::ordered;
use crate::geometry::{TriMesh, icosphere};
use crate::reconstruct::body::rest::Body;
use crate::reconstruct::body::solid::Solid;
use crate::reconstruct::cells::draw;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::cracks::owners::Owners;
use crate::reconstruct::cut::seam::{Disagreement, corners};
use crate::reconstruct::error::ReconstructError;
use crate::reconstruct::faces::extract::extract;
use crate::reconstruct::faces::surface::Surface;
use crate::reconstruct::surface::carried::Carried;
use crate::reconstruct::surface::hold::Hold;
use crate::reconstruct::surface::shell::Shell;

/// Radius of the ball that stands for an element of a fragment too small for the grid, radii.
const DUST: f64 = 0.8;
/// Volume over area of a surface, radii, up to which a fragment counts as too small for the grid.
const FLAT: f64 = 1e-4;
/// Grids tried where the skin does not agree with one.
const ATTEMPTS: u32 = 6;

/// The surfaces of a body as long as nothing in it breaks.
#[derive(Debug)]
pub struct Fragments {
    /// Label of each element of the body that the surfaces were made for.
    pub labels: Vec<u32>,
    /// Number of its bonds that were broken.
    pub broken: usize,
    /// One surface a fragment, ordered by label.
    pub surfaces: Vec<Carried>,
}

impl Fragments {
    /// Surfaces of `body` when its elements carry these fragment labels and these of its bonds are broken.
    pub fn new(body: &Body, labels: Vec<u32>, broken: &[bool]) -> Result<Self, ReconstructError> {
        if let Some(complex) = &body.cells {
            let rows = body.bonds.iter().zip(broken);
            let broken_rows: HashSet<u32> = rows
                .filter_map(|(bond, broken)| broken.then_some(bond.row))
                .collect();
            let is_whole = |bond: u32| !broken_rows.contains(&bond);
            return Ok(Fragments {
                broken: broken_rows.len(),
                surfaces: draw::surfaces(complex, &body.rows, &labels, is_whole),
                labels,
            });
        }
        let mut names = labels.clone();
        names.sort_unstable();
        names.dedup();
        let piece_of: Vec<u32> = labels
            .par_iter()
            .map(|label| names.partition_point(|name| name < label) as u32)
            .collect();
        let mut elements: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
        for (element, &piece) in piece_of.iter().enumerate() {
            elements[piece as usize].push(element as u32);
        }
        let cracks = Cracks::new(body, &piece_of, broken);
        let shells = match &body.solid {
            Some(solid) => shells(solid, &cracks, names.len())
                .map_err(|Disagreement| ReconstructError::Uncut { body: body.index })?,
            None => vec![(Shell::default(), Vec::new()); names.len()],
        };
        let surfaces = shells
            .into_par_iter()
            .enumerate()
            .map(|(piece, (shell, holds))| {
                if is_flat(&shell.mesh, body.radius) {
                    balls(body, &elements[piece], names[piece])
                } else {
                    carried(&cracks, piece as u32, names[piece], shell, &holds)
                }
            })
            .collect();
        Ok(Fragments {
            labels,
            broken: broken.iter().filter(|&&broken| broken).count(),
            surfaces,
        })
    }
}

/// The surface of each of `pieces` fragments, with what its vertices move with; empty where one owns no node
/// of the grid.
fn shells(
    solid: &Solid,
    cracks: &Cracks,
    pieces: usize,
) -> Result<Vec<(Shell, Vec<Hold>)>, Disagreement> {
    let surface = if cracks.open.is_empty() {
        Surface::whole(solid)
    } else {
        let mut surface = cracked(solid, cracks)?;
        necks::part(&mut surface, cracks);
        surface
    };
    let piece_of_part = pieces_of(&surface, cracks);
    let mut triangles: Vec<Vec<u32>> = vec![Vec::new(); pieces];
    for (t, triangle) in surface.triangles.iter().enumerate() {
        let part = surface.part[triangle[0] as usize];
        triangles[piece_of_part[part as usize] as usize].push(t as u32);
    }
    let positions = surface.positions.par_iter();
    let number: Vec<AtomicU32> = positions.map(|_| AtomicU32::new(u32::MAX)).collect();
    // Pieces share no vertex, so one table of numbers serves them all.
    let shells = triangles
        .par_iter()
        .map(|own| ordered(&surface, own, &number, solid));
    Ok(shells.collect())
}

/// The surfaces with cracks. If the skin and the grid do not agree, by rounding, a grid a little aside will do.
fn cracked(solid: &Solid, cracks: &Cracks) -> Result<Surface, Disagreement> {
    let draw = |solid: &Solid| {
        extract(
            solid,
            cracks,
            &mut Owners::new(solid, cracks),
            &corners(solid),
        )
    };
    let mut result = draw(solid);
    for attempt in 1..ATTEMPTS {
        if result.is_ok() {
            break;
        }
        result = draw(&solid.aside(attempt));
    }
    result
}

/// Whether a surface encloses next to nothing: a fragment that owns no node of the grid has no surface, and
/// in one that owns a corner of a cell or two the faces of cracks may pass through each other, as each is
/// placed by itself.
fn is_flat(mesh: &TriMesh, radius: f64) -> bool {
    mesh.volume() <= FLAT * radius * mesh.area()
}

/// The fragment of each connected surface, by its smallest vertex: that of the elements that its vertices
/// move with, by majority; for a cavity that of the surface around it.
fn pieces_of(surface: &Surface, cracks: &Cracks) -> Vec<u32> {
    let of = |element: u32| cracks.piece_of[element as usize];
    let mut piece = vec![u32::MAX; surface.positions.len()];
    for (&part, hold) in surface.part.iter().zip(&surface.holds) {
        if let (Hold::Side(owners), u32::MAX) = (hold, piece[part as usize]) {
            piece[part as usize] = of(owners[0]);
        }
    }
    let mut votes: Vec<(u32, u32)> = Vec::new();
    for (v, &part) in surface.part.iter().enumerate() {
        if piece[part as usize] != u32::MAX {
            continue;
        }
        let element = match surface.holds[v] {
            Hold::Skin(vertex) => cracks.body.anchors[vertex as usize][0],
            _ => cracks.body.nearest(surface.positions[v], |_| true, 1)[0].1,
        };
        votes.push((part, of(element)));
    }
    votes.sort_unstable();
    let mut uncracked = Vec::new();
    for of_part in votes.chunk_by(|a, b| a.0 == b.0) {
        let counts = of_part.chunk_by(|a, b| a.1 == b.1);
        let most = counts.max_by(|a, b| a.len().cmp(&b.len()).then(b[0].1.cmp(&a[0].1)));
        piece[of_part[0].0 as usize] = most.map_or(0, |votes| votes[0].1);
        uncracked.push(of_part[0].0);
    }
    if cracks.pieces() > 1 {
        cavities::claim(surface, &uncracked, &mut piece);
    }
    piece
}

/// A ball for each element: the surface of loose elements and of fragments too small for the grid.
fn balls(body: &Body, elements: &[u32], fragment: u32) -> Carried {
    let ball = icosphere(1);
    let (scale, inside) = match body.solid {
        Some(_) => (DUST, 1),
        None => (1.0, 0),
    };
    let balls = elements.iter().map(|&element| {
        let element = element as usize;
        (
            body.rows[element],
            body.positions[element],
            scale * body.radius,
        )
    });
    let texture = body.solid.as_ref().and_then(|s| s.skin.texture.as_ref());
    Carried::balls(fragment, &ball, balls, inside).textured(texture)
}

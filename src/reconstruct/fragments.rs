//! The fragments of a body in one state of breakage, as closed surfaces at rest.

use rayon::prelude::*;

use super::body::Body;
use super::carry::Carried;
use super::extract::{Shell, extract};
use super::field::Field;
use crate::geometry::icosphere;

/// Radius of the ball that stands for an element of a fragment too small for the grid, radii.
const DUST: f64 = 0.8;

/// The surfaces of a body as long as no fragment splits.
#[derive(Debug)]
pub struct Fragments {
    /// Label of each element of the body that the surfaces were made for.
    pub labels: Vec<u32>,
    /// One surface a fragment, ordered by label.
    pub surfaces: Vec<Carried>,
    /// Fields that the next state can partly keep; `None` for loose elements.
    field: Option<Field>,
}

impl Fragments {
    /// Surfaces of `body` when its elements carry these fragment labels. `previous` spares work, it changes nothing.
    pub fn new(body: &Body, labels: Vec<u32>, previous: Option<Self>) -> Self {
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
        let previous = previous.and_then(|fragments| fragments.field);
        let (shells, field) = match &body.solid {
            Some(solid) => {
                let previous = previous.as_ref();
                let mut field = Field::evaluate(body, solid, &piece_of, &names, previous);
                let counts: Vec<u32> = elements.iter().map(|e| e.len() as u32).collect();
                let shells = extract(solid, &field, &counts);
                field.forget_owners();
                (shells, Some(field))
            }
            None => (vec![Shell::default(); names.len()], None),
        };
        let surfaces = shells
            .into_par_iter()
            .enumerate()
            .map(|(piece, shell)| {
                if shell.mesh.triangles.is_empty() {
                    balls(body, &elements[piece], names[piece])
                } else {
                    let shell = ordered(shell);
                    Carried::new(body, &piece_of, piece as u32, names[piece], shell)
                }
            })
            .collect();
        Fragments {
            labels,
            surfaces,
            field,
        }
    }
}

/// A ball for each element: the surface of loose elements and of fragments that own no node of the grid.
fn balls(body: &Body, elements: &[u32], fragment: u32) -> Carried {
    let ball = icosphere(1);
    let (scale, inside) = match body.solid {
        Some(_) => (DUST, 1),
        None => (1.0, 0),
    };
    let (mut shell, mut rows) = (Shell::default(), Vec::new());
    for &element in elements {
        let centre = body.positions[element as usize];
        let base = shell.mesh.positions.len() as u32;
        let corners = ball.positions.iter();
        let radius = scale * body.radius;
        shell
            .mesh
            .positions
            .extend(corners.map(|&p| centre + p * radius));
        let triangles = ball.triangles.iter();
        shell
            .mesh
            .triangles
            .extend(triangles.map(|t| t.map(|v| v + base)));
        rows.resize(shell.mesh.positions.len(), body.rows[element as usize]);
    }
    shell.inside = vec![inside; shell.mesh.triangles.len()];
    Carried::rigid(fragment, shell, &rows)
}

/// The same surface with its skin first and its cracks after, each in an order that suits a vertex cache, and with
/// vertices in the order of use.
fn ordered(shell: Shell) -> Shell {
    let vertices = shell.mesh.positions.len();
    let mut result = Shell::default();
    for inside in 0..2 {
        let chosen = shell.mesh.triangles.iter().zip(&shell.inside);
        let indices: Vec<u32> = chosen
            .filter(|(_, of)| **of == inside)
            .flat_map(|(triangle, _)| *triangle)
            .collect();
        if !indices.is_empty() {
            let indices = meshopt::optimize_vertex_cache(&indices, vertices);
            let (triangles, _) = indices.as_chunks::<3>();
            result.mesh.triangles.extend_from_slice(triangles);
        }
        result.inside.resize(result.mesh.triangles.len(), inside);
    }
    let mut number = vec![u32::MAX; vertices];
    for vertex in result.mesh.triangles.as_flattened_mut() {
        let old = *vertex as usize;
        if number[old] == u32::MAX {
            number[old] = result.mesh.positions.len() as u32;
            result.mesh.positions.push(shell.mesh.positions[old]);
        }
        *vertex = number[old];
    }
    result
}

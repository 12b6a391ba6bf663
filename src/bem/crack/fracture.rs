//! Fracture of a body into pieces, crack by crack.

use glam::DVec3;

use super::error::FractureError;
use super::forces::Forces;
use super::front::{Steering, Stride};
use super::grow::grow;
use super::inside::Inside;
use super::opening::Body;
use super::sheet::Sheet;
use super::start::most;
use crate::bem::basis::Order;
use crate::bem::elastic::Elastic;
use crate::bem::loads::{Balance, Loads};
use crate::bem::solver::Solver;
use crate::bem::surface::Surface;
use crate::geometry::TriMesh;
use crate::geometry::cut::Origin;
use crate::solve::Recycled;

/// How finely cracks grow, and when to stop.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Radius of a crack's first disc and largest advance of its rim in a step, m; about the size of the body's triangles.
    pub step: f64,
    /// Distance ahead of the rim at which stress is held against the strength, m: (K_Ic/σ_c)²/2π in the theory of critical distances (Taylor 2007).
    pub ahead: f64,
    /// Distance of the places inside the body where a crack may begin, m.
    pub spacing: f64,
    /// What turns a crack.
    pub steering: Steering,
    /// Whether a crack that has set out and comes to rest inside is torn on in its sheet, as momentum would: equilibrium ends where it rests.
    pub tears: bool,
    /// Steps of one crack at most.
    pub steps: u32,
    /// Cracks at most.
    pub cracks: u32,
}

impl Options {
    /// For steps of this length, m.
    pub fn new(step: f64) -> Self {
        Options {
            step,
            ahead: step / 2.0,
            spacing: 2.0 * step,
            steering: Steering::Load,
            tears: false,
            steps: 100,
            cracks: 100,
        }
    }
}

/// A body after fracture.
#[derive(Clone, Debug)]
pub struct Fractured {
    /// Its pieces, closed; their volumes add up to the body's.
    pub pieces: Vec<TriMesh>,
    /// For each piece, which of its triangles are faces of cracks.
    pub faces: Vec<Vec<bool>>,
    /// Cracks in the order in which they began. One that did not go through has come to rest in its body, whose mesh it leaves as it was.
    pub sheets: Vec<Sheet>,
    /// Strength over the largest principal stress of the body under its loads: what they must be multiplied with for it to crack; infinite where none pulls.
    pub load_factor_at_first_crack: f64,
    /// Steps of all cracks.
    pub steps: u32,
    /// Pieces that were not solved, and why: they stay whole.
    pub unsolved: Vec<(usize, FractureError)>,
}

/// A piece that is still to be looked at.
struct Part {
    mesh: TriMesh,
    is_face: Vec<bool>,
}

/// Breaks a body under loads until its largest principal stress is nowhere over the strength, Pa.
pub fn fracture(
    mesh: &TriMesh,
    elastic: Elastic,
    strength: f64,
    forces: &Forces,
    options: &Options,
) -> Result<Fractured, FractureError> {
    let positive = [
        (strength, "the strength"),
        (options.step, "the length of a step"),
        (options.ahead, "the distance ahead of the rim"),
        (options.spacing, "the spacing of places inside"),
    ];
    for (value, name) in positive {
        // NaN is not positive either.
        if value.is_nan() || value <= 0.0 {
            return Err(FractureError::NotPositive(name));
        }
    }
    let stride = Stride {
        length: options.step,
        ahead: options.ahead,
        strength,
        steering: options.steering,
    };
    let mut all = Fractured {
        pieces: Vec::new(),
        faces: Vec::new(),
        sheets: Vec::new(),
        load_factor_at_first_crack: f64::INFINITY,
        steps: 0,
        unsolved: Vec::new(),
    };
    let mut left = vec![Part {
        mesh: mesh.clone(),
        is_face: vec![false; mesh.triangles.len()],
    }];
    let mut is_first = true;
    while let Some(part) = left.pop() {
        match all.crack(&part, elastic, (forces, options, stride), is_first) {
            Ok(Some(parts)) => left.extend(parts.into_iter().rev()),
            Ok(None) => all.keep(part),
            Err(error) if is_first => return Err(error),
            Err(error) => {
                all.unsolved.push((all.pieces.len(), error));
                all.keep(part);
            }
        }
        is_first = false;
    }
    Ok(all)
}

impl Fractured {
    fn keep(&mut self, part: Part) {
        self.pieces.push(part.mesh);
        self.faces.push(part.is_face);
    }

    /// Lets one crack grow in a part; its pieces, if the crack goes through.
    fn crack(
        &mut self,
        part: &Part,
        elastic: Elastic,
        (forces, options, stride): (&Forces, &Options, Stride),
        is_first: bool,
    ) -> Result<Option<Vec<Part>>, FractureError> {
        if self.sheets.len() >= options.cracks as usize {
            return Ok(None);
        }
        let surface = Surface::new(&part.mesh)?;
        let solver = Solver::dense(&surface, elastic, Order::Linear);
        let places = surface.centroids.iter().zip(&surface.normals);
        let tractions: Vec<DVec3> = places
            .zip(&part.is_face)
            .map(|((x, n), is_face)| {
                if *is_face {
                    DVec3::ZERO
                } else {
                    (forces.traction)(*x, *n)
                }
            })
            .collect();
        let loads = Loads {
            tractions: &tractions,
            density: forces.density,
            gravity: forces.gravity,
            spin: forces.spin,
            balance: Balance::Inertia,
        };
        let solution = solver.solve(&loads, &mut Recycled::default())?;
        let inside = Inside::new(&surface.mesh);
        let Some(start) = most(&surface, &solution, &inside, options.spacing) else {
            return Ok(None);
        };
        if is_first && start.stress > 0.0 {
            self.load_factor_at_first_crack = stride.strength / start.stress;
        }
        if start.stress <= stride.strength {
            return Ok(None);
        }
        let body = Body {
            surface: &surface,
            solver: &solver,
            elastic,
            loads,
        };
        let span = (self.steps, options.steps);
        let grown = grow(
            &body,
            &solution,
            &inside,
            start,
            (stride, options.tears),
            span,
        )?;
        self.steps += grown.steps;
        self.sheets.push(grown.sheet);
        Ok(grown.pieces.map(|pieces| {
            let part_of = |origin: &Origin| match origin {
                Origin::Sheet(_) => true,
                Origin::Body(t) => part.is_face[*t as usize],
            };
            pieces
                .into_iter()
                .map(|piece| Part {
                    is_face: piece.origins.iter().map(part_of).collect(),
                    mesh: piece.mesh,
                })
                .collect()
        }))
    }
}

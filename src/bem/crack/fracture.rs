//! Fracture of a body into pieces, crack by crack.

use std::f64::consts::PI;

use super::error::FractureError;
use super::forces::{Loading, Piece};
use super::front::{Steering, Stride};
use super::grow::grow;
use super::inside::Inside;
use super::opening::Body;
use super::sheet::{End, Sheet};
use super::start::most;
use crate::bem::basis::Order;
use crate::bem::elastic::Elastic;
use crate::bem::solver::Solver;
use crate::bem::surface::Surface;
use crate::geometry::TriMesh;
use crate::geometry::cut::FacetOrigin;
use crate::solve::Recycled;

/// What drives a crack on once it has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The stress ahead of its rim, over the strength (Rankine).
    Stress,
    /// That, or the energy that a further step sets free, over the toughness σ_c² π a (1 − ν)/G, a being the
    /// distance ahead at which the stress is read (Griffith; K_Ic as in the theory of critical distances).
    Energy,
}

/// Places of the lattice in a body's box, at most, where a crack may begin.
const MOST_PLACES: f64 = 1e6;
/// Unknown vertices of a crack, at most. Each pair of them takes some 600 bytes.
const MOST_VERTICES: f64 = 2000.0;
/// Pairs of such a vertex and a triangle of the body, at most. Each takes 72 bytes.
const MOST_PAIRS: f64 = 3e7;

/// How finely cracks grow, and when to stop.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Radius of a crack's first disc and largest advance of its rim in a step, m; about the size of the
    /// body's triangles.
    pub step: f64,
    /// Distance ahead of the rim at which stress is held against the strength, m: (K_Ic/σ_c)²/2π in the
    /// theory of critical distances (Taylor 2007).
    pub ahead: f64,
    /// Distance of the places inside the body where a crack may begin, m.
    pub spacing: f64,
    /// What drives a crack on.
    pub criterion: Criterion,
    /// What turns a crack.
    pub steering: Steering,
    /// Whether a crack that has set out and comes to rest inside is torn on in its sheet, as momentum would:
    /// equilibrium ends where it rests.
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
            criterion: Criterion::Energy,
            steering: Steering::Load,
            tears: false,
            steps: 100,
            cracks: 100,
        }
    }

    /// The shortest step that a body may crack in, m: shorter ones take more memory and time than there is.
    pub fn shortest_step(&self, mesh: &TriMesh) -> f64 {
        let (low, high) = mesh.bounds().unwrap_or_default();
        let spacing = ((high - low).element_product() / MOST_PLACES).cbrt();
        // A quarter of the surface is the mean area of the shadow of a convex body (Cauchy).
        let section = mesh.area() / 4.0;
        let vertices = MOST_VERTICES.min(MOST_PAIRS / mesh.triangles.len() as f64);
        let step = (section / vertices).sqrt();
        step.max(spacing * self.step / self.spacing)
    }
}

/// A body after fracture.
#[derive(Clone, Debug)]
pub struct Fractured {
    /// Its pieces, closed; their volumes add up to the body's.
    pub pieces: Vec<TriMesh>,
    /// For each piece, which of its triangles are faces of cracks.
    pub faces: Vec<Vec<bool>>,
    /// Cracks in the order in which they began. One that did not go through leaves the mesh of its body as it
    /// was.
    pub sheets: Vec<Sheet>,
    /// For each crack, the piece in which it grew, as it was before. The crack's sheet may stand out of it,
    /// into other pieces.
    pub within: Vec<TriMesh>,
    /// Strength over the largest principal stress of the body under its loads: what they must be multiplied
    /// with for it to crack; infinite where none pulls.
    pub load_factor_at_first_crack: f64,
    /// Steps of all cracks.
    pub steps: u32,
    /// Pieces in which a crack could not be followed to its end, and why: they stay whole.
    pub unsolved: Vec<(usize, FractureError)>,
}

/// A piece that is still to be looked at.
struct Part {
    mesh: TriMesh,
    is_face: Vec<bool>,
}

/// What became of a part.
enum Outcome {
    /// No crack goes through it.
    Whole,
    /// A crack broke it into these.
    Broken(Vec<Part>),
    /// A crack began, but could not be followed to its end.
    Unsolved(FractureError),
}

/// Breaks a body under loads until its largest principal stress is nowhere over the strength, Pa.
pub fn fracture(
    mesh: &TriMesh,
    elastic: Elastic,
    strength: f64,
    loading: &dyn Loading,
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
    let least = options.shortest_step(mesh);
    if options.step < least {
        return Err(FractureError::TooFine {
            step: options.step,
            // Above it when printed, too.
            least: 1.001 * least,
        });
    }
    let stride = Stride {
        length: options.step,
        ahead: options.ahead,
        strength,
        toughness: match options.criterion {
            Criterion::Stress => None,
            Criterion::Energy => Some(toughness(elastic, strength, options.ahead)),
        },
        steering: options.steering,
    };
    let mut all = Fractured {
        pieces: Vec::new(),
        faces: Vec::new(),
        sheets: Vec::new(),
        within: Vec::new(),
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
        match all.crack(&part, elastic, (loading, options, stride), is_first) {
            Ok(Outcome::Broken(parts)) => left.extend(parts.into_iter().rev()),
            Ok(Outcome::Whole) => all.keep(part),
            // A body that cannot be solved at all is refused; a crack that cannot be followed leaves it
            // whole.
            Err(error) if is_first => return Err(error),
            Ok(Outcome::Unsolved(error)) | Err(error) => {
                all.unsolved.push((all.pieces.len(), error));
                all.keep(part);
            }
        }
        is_first = false;
    }
    Ok(all)
}

/// Energy that a crack takes, J/m²: K_Ic² (1 − ν²)/E with K_Ic = σ_c √(2π a) (Taylor 2007; Irwin 1957).
fn toughness(elastic: Elastic, strength: f64, ahead: f64) -> f64 {
    strength * strength * PI * ahead * (1.0 - elastic.poisson) / elastic.shear
}

/// Triangles up to which the matrix is stored: a crack asks for hundreds of solutions, each of which takes a
/// stored matrix less time. It takes 18 bytes for each pair of triangles.
const STORED: usize = 8000;
/// Accuracy of the fast multipole method.
const ACCURACY: f64 = 1e-4;

/// The equations of a piece that a crack grows in. What it grows from, the response without the crack, is
/// computed more precisely.
fn solver(surface: &Surface, elastic: Elastic) -> Solver<'_> {
    match surface.len() <= STORED {
        true => Solver::dense(surface, elastic, Order::Linear),
        false => Solver::multipole(surface, elastic, Order::Linear, ACCURACY),
    }
}

impl Fractured {
    fn keep(&mut self, part: Part) {
        self.pieces.push(part.mesh);
        self.faces.push(part.is_face);
    }

    /// Lets one crack grow in a part. An error is one of the part without a crack.
    fn crack(
        &mut self,
        part: &Part,
        elastic: Elastic,
        (loading, options, stride): (&dyn Loading, &Options, Stride),
        is_first: bool,
    ) -> Result<Outcome, FractureError> {
        if self.sheets.len() >= options.cracks as usize {
            return Ok(Outcome::Whole);
        }
        let surface = Surface::new(&part.mesh)?;
        let precise = Solver::automatic(&surface, elastic, ACCURACY);
        let tractions = loading.tractions(&Piece {
            surface: &surface,
            solver: &precise,
            is_face: &part.is_face,
        })?;
        let loads = loading.with(&tractions);
        let solution = precise.solve(&loads, &mut Recycled::default())?;
        let inside = Inside::new(&surface.mesh);
        let Some((start, largest)) = most(&surface, &solution, &inside, options.spacing) else {
            return Ok(Outcome::Whole);
        };
        if is_first && largest > 0.0 {
            self.load_factor_at_first_crack = stride.strength / largest;
        }
        if largest <= stride.strength {
            return Ok(Outcome::Whole);
        }
        let solver = solver(&surface, elastic);
        let body = Body {
            surface: &surface,
            solver: &solver,
            elastic,
        };
        let driven = (stride, options.tears);
        let grown = match grow(&body, &solution, &inside, start, driven, options.steps) {
            Ok(grown) => grown,
            Err(error) => return Ok(Outcome::Unsolved(error)),
        };
        let still_grows = grown.sheet.end == End::Growing;
        self.steps += grown.steps;
        self.sheets.push(grown.sheet);
        self.within.push(part.mesh.clone());
        let part_of = |origin: &FacetOrigin| match origin {
            FacetOrigin::Sheet(_) => true,
            FacetOrigin::Body(t) => part.is_face[*t as usize],
        };
        Ok(match grown.pieces {
            Some(pieces) => {
                let parts = pieces.into_iter().map(|piece| Part {
                    is_face: piece.origins.iter().map(part_of).collect(),
                    mesh: piece.mesh,
                });
                Outcome::Broken(parts.collect())
            }
            None if still_grows => Outcome::Unsolved(FractureError::Steps(options.steps)),
            None => Outcome::Whole,
        })
    }
}

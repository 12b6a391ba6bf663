//! Fracture of a body into pieces, crack by crack.

use std::f64::consts::PI;

use super::error::FractureError;
use super::forces::{LoadedPiece, Loading};
use super::front::{GrowthSettings, Steering};
use super::grow::grow;
use super::inside::Inside;
use super::opening::BodyEquations;
use super::sheet::{CrackEnd, Sheet};
use super::start::most_stressed;
use crate::bem::basis::Order;
use crate::bem::elastic::Elastic;
use crate::bem::solver::Solver;
use crate::bem::surface::Surface;
use crate::geometry::TriMesh;
use crate::geometry::cut::FacetOrigin;
use crate::solve::Recycled;

/// What makes a crack grow once it has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The stress ahead of its rim exceeds the strength (Rankine).
    Stress,
    /// As [`Stress`](Self::Stress), or the energy that a further step releases exceeds the toughness σ_c² π a
    /// (1 − ν)/G times the new area, a being the distance ahead of the rim at which the stress is read
    /// (Griffith; K_Ic as in the theory of critical distances).
    Energy,
}

/// Largest number of lattice points in a body's bounding box at which a crack may begin.
const MAX_START_POINTS: f64 = 1e6;
/// Largest number of vertices of a crack with an unknown jump. Each pair of them takes about 600 bytes.
const MAX_VERTICES: f64 = 2000.0;
/// Largest number of pairs of such a vertex and a triangle of the body. Each pair takes 72 bytes.
const MAX_PAIRS: f64 = 3e7;

/// How finely cracks grow, and when to stop.
#[derive(Clone, Copy, Debug)]
pub struct FractureOptions {
    /// Radius of a crack's first disc, and largest advance of its rim in one step, m; about the size of the
    /// body's triangles.
    pub step: f64,
    /// Distance ahead of the rim at which the stress is compared with the strength, m: (K_Ic/σ_c)²/2π in the
    /// theory of critical distances (Taylor 2007).
    pub ahead: f64,
    /// Spacing of the lattice points inside the body at which a crack may begin, m.
    pub spacing: f64,
    /// What makes a crack grow.
    pub criterion: Criterion,
    /// What determines the direction of a crack.
    pub steering: Steering,
    /// Whether a crack that has grown and comes to rest inside runs on in its sheet, as its momentum would
    /// make it.
    pub tears: bool,
    /// Largest number of steps of one crack.
    pub steps: u32,
    /// Largest number of cracks.
    pub cracks: u32,
}

impl FractureOptions {
    /// Default options for steps of this length, m.
    pub fn new(step: f64) -> Self {
        FractureOptions {
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

    /// The shortest step that a body may crack in, m: shorter ones take too much memory and time.
    pub fn shortest_step(&self, mesh: &TriMesh) -> f64 {
        let (low, high) = mesh.bounds().unwrap_or_default();
        let spacing = ((high - low).element_product() / MAX_START_POINTS).cbrt();
        // A quarter of the surface area is the mean area of the projections of a convex body (Cauchy).
        let section = mesh.area() / 4.0;
        let vertices = MAX_VERTICES.min(MAX_PAIRS / mesh.triangles.len() as f64);
        let step = (section / vertices).sqrt();
        step.max(spacing * self.step / self.spacing)
    }
}

/// A body after fracture.
#[derive(Clone, Debug)]
pub struct Fractured {
    /// Its pieces, as closed meshes; their volumes add up to the body's.
    pub pieces: Vec<TriMesh>,
    /// For each piece and each of its triangles, whether it is a face of a crack.
    pub faces: Vec<Vec<bool>>,
    /// Cracks in the order in which they began. A crack that did not go through leaves the mesh of its body
    /// unchanged.
    pub sheets: Vec<Sheet>,
    /// For each crack, the piece in which it grew, before it was cut. The crack's sheet may extend beyond it
    /// into other pieces.
    pub grown_in: Vec<TriMesh>,
    /// Strength over the largest principal stress of the body under its loads: the factor on the loads at
    /// which it begins to crack; infinite if there is no tension.
    pub load_factor_at_first_crack: f64,
    /// Number of steps of all cracks.
    pub steps: u32,
    /// Indices of the pieces that could not be solved, or whose crack could not be followed to its end
    /// ([`FractureError::concerns_crack`]), and why. They stay whole.
    pub unsolved: Vec<(usize, FractureError)>,
}

/// A piece in which a crack may still begin.
struct PendingPiece {
    mesh: TriMesh,
    is_face: Vec<bool>,
}

/// Result of an attempt to crack a piece.
enum CrackOutcome {
    /// No crack goes through the piece.
    Whole,
    /// A crack broke the piece into these.
    Broken(Vec<PendingPiece>),
    /// A crack began, but could not be followed to its end.
    Unsolved(FractureError),
}

/// Breaks a body under loads until its largest principal stress nowhere exceeds the strength, Pa.
pub fn fracture(
    mesh: &TriMesh,
    elastic: Elastic,
    strength: f64,
    loading: &dyn Loading,
    options: &FractureOptions,
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
            // Slightly more, so that the printed value is still long enough.
            least: 1.001 * least,
        });
    }
    let settings = GrowthSettings {
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
        grown_in: Vec::new(),
        load_factor_at_first_crack: f64::INFINITY,
        steps: 0,
        unsolved: Vec::new(),
    };
    let mut pending = vec![PendingPiece {
        mesh: mesh.clone(),
        is_face: vec![false; mesh.triangles.len()],
    }];
    let mut is_first = true;
    while let Some(part) = pending.pop() {
        match all.crack(&part, elastic, (loading, options, settings), is_first) {
            Ok(CrackOutcome::Broken(parts)) => pending.extend(parts.into_iter().rev()),
            Ok(CrackOutcome::Whole) => all.keep(part),
            // A body that cannot be solved at all is an error. A piece that cannot be solved, and one whose
            // crack cannot be followed, stay whole.
            Err(error) if is_first => return Err(error),
            Ok(CrackOutcome::Unsolved(error)) | Err(error) => {
                all.unsolved.push((all.pieces.len(), error));
                all.keep(part);
            }
        }
        is_first = false;
    }
    Ok(all)
}

/// Energy per area that a crack takes, J/m²: K_Ic² (1 − ν²)/E with K_Ic = σ_c √(2π a) (Taylor 2007; Irwin
/// 1957).
fn toughness(elastic: Elastic, strength: f64, ahead: f64) -> f64 {
    strength * strength * PI * ahead * (1.0 - elastic.poisson) / elastic.shear
}

/// Largest number of triangles for which the matrix is stored: a crack needs hundreds of solutions, each of
/// which takes less time with a stored matrix. The matrix takes 18 bytes for each pair of triangles.
const MAX_STORED_TRIANGLES: usize = 8000;
/// Accuracy of the fast multipole method.
const ACCURACY: f64 = 1e-4;

/// Solver for a piece while a crack grows in it. The response without the crack, from which the crack starts,
/// is computed with a more precise solver.
fn growth_solver(surface: &Surface, elastic: Elastic) -> Solver<'_> {
    match surface.len() <= MAX_STORED_TRIANGLES {
        true => Solver::dense(surface, elastic, Order::Linear),
        false => Solver::multipole(surface, elastic, Order::Linear, ACCURACY),
    }
}

impl Fractured {
    fn keep(&mut self, part: PendingPiece) {
        self.pieces.push(part.mesh);
        self.faces.push(part.is_face);
    }

    /// Lets one crack grow in a piece. It is an error if the piece without a crack cannot be solved.
    fn crack(
        &mut self,
        part: &PendingPiece,
        elastic: Elastic,
        (loading, options, settings): (&dyn Loading, &FractureOptions, GrowthSettings),
        is_first: bool,
    ) -> Result<CrackOutcome, FractureError> {
        if self.sheets.len() >= options.cracks as usize {
            return Ok(CrackOutcome::Whole);
        }
        let surface = Surface::new(&part.mesh)?;
        let precise = Solver::automatic(&surface, elastic, ACCURACY);
        let tractions = loading.tractions(&LoadedPiece {
            surface: &surface,
            solver: &precise,
            is_face: &part.is_face,
        })?;
        let loads = loading.loads_with(&tractions);
        let solution = precise.solve(&loads, &mut Recycled::default())?;
        let inside = Inside::new(&surface.mesh);
        let Some((start, largest)) = most_stressed(&surface, &solution, &inside, options.spacing)
        else {
            return Ok(CrackOutcome::Whole);
        };
        if is_first && largest > 0.0 {
            self.load_factor_at_first_crack = settings.strength / largest;
        }
        if largest <= settings.strength {
            return Ok(CrackOutcome::Whole);
        }
        let solver = growth_solver(&surface, elastic);
        let body = BodyEquations {
            surface: &surface,
            solver: &solver,
            elastic,
        };
        let driven = (settings, options.tears);
        let grown = match grow(&body, &solution, &inside, start, driven, options.steps) {
            Ok(grown) => grown,
            Err(error) => return Ok(CrackOutcome::Unsolved(error)),
        };
        let still_grows = grown.sheet.end == CrackEnd::Growing;
        self.steps += grown.steps;
        self.sheets.push(grown.sheet);
        self.grown_in.push(part.mesh.clone());
        let is_face_of = |origin: &FacetOrigin| match origin {
            FacetOrigin::Sheet(_) => true,
            FacetOrigin::Body(t) => part.is_face[*t as usize],
        };
        Ok(match grown.pieces {
            Some(pieces) => {
                let parts = pieces.into_iter().map(|piece| PendingPiece {
                    is_face: piece.origins.iter().map(is_face_of).collect(),
                    mesh: piece.mesh,
                });
                CrackOutcome::Broken(parts.collect())
            }
            None if still_grows => CrackOutcome::Unsolved(FractureError::Steps(options.steps)),
            None => CrackOutcome::Whole,
        })
    }
}

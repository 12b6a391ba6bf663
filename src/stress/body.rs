//! The stress in one body under its loads and clamps.

use glam::DVec3;

use super::case::{Case, Grip};
use super::clamp::Resultant;
use super::error::StressError;
use super::patch::Variation;
use super::solid::Solid;
use super::supported::{Cause, ReactionError, Supported};
use crate::bem::{Field, Solver};

/// Stress over the shear modulus below which there is none: a thousandth of a pascal in glass.
const ROUNDING: f64 = 1e-14;

/// Displacement and stress of a body.
pub struct Outcome {
    /// At the centroids of the triangles.
    pub triangles: Vec<Field>,
    /// At the points inside.
    pub points: Vec<Field>,
    /// All loads with the reactions of the clamps.
    pub total: Case,
    /// Names of the causes, and the stress of each where the largest principal stress is, as a part of that.
    pub shares: Vec<(String, f64)>,
    /// Force, N, and moment about the centre of mass, N m, that accelerate a body which nothing clamps.
    pub unbalanced: Option<(DVec3, DVec3)>,
    /// Right-hand sides solved, and iterations of all.
    pub solves: (usize, u32),
}

/// Computes the response of a body to loads and clamps.
pub fn respond(loaded: &Solid, cases: Vec<Case>, grips: &[Grip]) -> Result<Outcome, StressError> {
    let surface = &loaded.surface;
    let solver = Solver::automatic(surface, loaded.elastic, loaded.accuracy);
    let mut supported = Supported::new(surface, &solver, loaded.density, Variation::Linear);
    let found = supported.causes(cases, grips);
    let causes = found.map_err(|error| of_body(loaded, error))?;
    let mut total = Case::new("total", surface.len());
    let mut motion = [0.0; 6];
    for cause in &causes {
        total.add(&cause.case);
        motion
            .iter_mut()
            .zip(cause.motion)
            .for_each(|(sum, own)| *sum += own);
    }
    let unbalanced = unbalanced(loaded, &total);
    let found = supported.solve(&total);
    let solution = found.map_err(|error| of_body(loaded, error.into()))?;
    let (triangles, points) = (solution.surface(), solution.inside(&loaded.points));
    let mut response = Outcome {
        triangles,
        points,
        total,
        shares: Vec::new(),
        unbalanced,
        solves: (0, 0),
    };
    move_rigidly(&mut response, loaded, motion, supported.length);
    response.shares = shares((loaded, &mut supported), &causes, &response)?;
    response.solves = supported.solves;
    Ok(response)
}

/// What was wrong, with the name of the body.
fn of_body(loaded: &Solid, error: ReactionError) -> StressError {
    let body = loaded.name.clone();
    match error {
        ReactionError::Solve(source) => StressError::Solve { body, source },
        ReactionError::Clamps => StressError::Clamps { body },
        ReactionError::Small(attachment) => StressError::TooSmall { attachment },
    }
}

/// The resultant of loads that do not balance.
fn unbalanced(loaded: &Solid, total: &Case) -> Option<(DVec3, DVec3)> {
    let (surface, loads) = (&loaded.surface, total.loads(loaded.density));
    let resultant = loads.resultant(surface, &total.tractions);
    let balanced = loads.is_balanced(surface, &total.tractions, resultant);
    (!balanced).then_some(resultant)
}

/// Adds a rigid motion: shift in m, turn times ℓ.
fn move_rigidly(response: &mut Outcome, loaded: &Solid, motion: Resultant, length: f64) {
    let [x, y, z, a, b, c] = motion;
    let (shift, turn) = (DVec3::new(x, y, z), DVec3::new(a, b, c) / length);
    let surface = &loaded.surface;
    let add = |u: &mut DVec3, x: DVec3| *u += shift + turn.cross(x - surface.mass.centre);
    for (field, x) in response.triangles.iter_mut().zip(&surface.centroids) {
        add(&mut field.displacement, *x);
    }
    for (field, x) in response.points.iter_mut().zip(&loaded.points) {
        add(&mut field.displacement, *x);
    }
}

/// Number of the triangle, then of the point, whose largest principal stress is the largest of those where a
/// crack can begin; none without tension, but for rounding.
pub fn most_tension(response: &Outcome, solid: &Solid) -> Option<usize> {
    let least = ROUNDING * solid.elastic.shear;
    let triangles = response.triangles.len();
    let both = response.triangles.iter().chain(&response.points);
    let principals = both.map(Field::principal).enumerate();
    let cracks = |at: usize, direction| at >= triangles || solid.surface.may_crack(at, direction);
    let most = principals
        .filter(|(at, principal)| cracks(*at, principal.directions[0]))
        .map(|(at, principal)| (at, principal.values[0]))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    most.filter(|(_, tension)| *tension > least)
        .map(|(at, _)| at)
}

/// What each cause contributes to the largest principal stress, along its direction.
fn shares(
    (loaded, supported): (&Solid, &mut Supported),
    causes: &[Cause],
    response: &Outcome,
) -> Result<Vec<(String, f64)>, StressError> {
    let Some(at) = most_tension(response, loaded) else {
        return Ok(Vec::new());
    };
    let triangles = response.triangles.len();
    let both = response.triangles.iter().chain(&response.points);
    let Some(principal) = both.map(Field::principal).nth(at) else {
        return Ok(Vec::new());
    };
    let (tension, along) = (principal.values[0], principal.directions[0]);
    if let [only] = causes {
        return Ok(vec![(only.case.name.clone(), 1.0)]);
    }
    let mut shares = Vec::with_capacity(causes.len());
    for cause in causes {
        let points = &loaded.points;
        let found = supported.solve(&cause.case);
        let solution = found.map_err(|error| of_body(loaded, error.into()))?;
        let field = match at < triangles {
            true => solution.surface()[at],
            false => solution.inside(&points[at - triangles..=at - triangles])[0],
        };
        let own = along.dot(field.stress * along);
        shares.push((cause.case.name.clone(), own / tension));
    }
    Ok(shares)
}

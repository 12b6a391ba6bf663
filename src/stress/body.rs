//! The stress in one body under its loads and clamps.

use glam::DVec3;

use super::case::{Clamp, LoadCase};
use super::clamp::Resultant;
use super::error::StressError;
use super::patch::Variation;
use super::solid::Solid;
use super::supported::{Cause, ReactionError, SupportedBody};
use crate::bem::{Field, Solver};

/// Smallest stress over the shear modulus that counts as tension: a thousandth of a pascal in glass.
const ROUNDING_STRESS: f64 = 1e-14;

/// Displacement and stress of a body.
pub struct BodyResponse {
    /// Fields at the centroids of the triangles.
    pub triangles: Vec<Field>,
    /// Fields at the points inside.
    pub points: Vec<Field>,
    /// Sum of all loads and of the reactions of the clamps.
    pub total: LoadCase,
    /// For each load and each clamp that prescribes a motion: its name, and its contribution to the largest
    /// principal stress as a fraction of that stress.
    pub shares: Vec<(String, f64)>,
    /// Resultant force, N, and moment about the centre of mass, N m, of loads that do not balance. If nothing
    /// clamps the body, they accelerate it.
    pub unbalanced: Option<(DVec3, DVec3)>,
    /// Number of right-hand sides solved, and total number of iterations.
    pub solves: (usize, u32),
}

/// Computes the response of a body to loads and clamps.
pub fn respond(
    loaded: &Solid,
    cases: Vec<LoadCase>,
    clamps: &[Clamp],
) -> Result<BodyResponse, StressError> {
    let surface = &loaded.surface;
    let solver = Solver::automatic(surface, loaded.elastic, loaded.accuracy);
    let mut supported = SupportedBody::new(surface, &solver, loaded.density, Variation::Linear);
    let found = supported.causes(cases, clamps);
    let causes = found.map_err(|error| with_body_name(loaded, error))?;
    let mut total = LoadCase::new("total", surface.len());
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
    let solution = found.map_err(|error| with_body_name(loaded, error.into()))?;
    let (triangles, points) = (solution.surface(), solution.inside(&loaded.points));
    let mut response = BodyResponse {
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

/// Converts an error of the reactions to one that names the body.
fn with_body_name(loaded: &Solid, error: ReactionError) -> StressError {
    let body = loaded.name.clone();
    match error {
        ReactionError::Solve(source) => StressError::Solve { body, source },
        ReactionError::OverlappingClamps => StressError::Clamps { body },
        ReactionError::SmallPatch(attachment) => StressError::TooSmall { attachment },
    }
}

/// The resultant of all loads and reactions; none if they balance.
fn unbalanced(loaded: &Solid, total: &LoadCase) -> Option<(DVec3, DVec3)> {
    let (surface, loads) = (&loaded.surface, total.loads(loaded.density));
    let resultant = loads.resultant(surface, &total.tractions);
    let balanced = loads.is_balanced(surface, &total.tractions, resultant);
    (!balanced).then_some(resultant)
}

/// Adds a rigid motion to all displacements. `motion`: translation, m, then rotation vector times ℓ, m.
fn move_rigidly(response: &mut BodyResponse, loaded: &Solid, motion: Resultant, length: f64) {
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

/// Index of the triangle or point with the largest principal stress, among those where a crack can begin;
/// triangles are counted first, then points. None if there is no tension above rounding.
pub fn most_stressed(response: &BodyResponse, solid: &Solid) -> Option<usize> {
    let least = ROUNDING_STRESS * solid.elastic.shear;
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

/// Contribution of each cause to the largest principal stress, along the direction of that stress.
fn shares(
    (loaded, supported): (&Solid, &mut SupportedBody),
    causes: &[Cause],
    response: &BodyResponse,
) -> Result<Vec<(String, f64)>, StressError> {
    let Some(at) = most_stressed(response, loaded) else {
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
        let solution = found.map_err(|error| with_body_name(loaded, error.into()))?;
        let field = match at < triangles {
            true => solution.surface()[at],
            false => solution.inside(&points[at - triangles..=at - triangles])[0],
        };
        let own = along.dot(field.stress * along);
        shares.push((cause.case.name.clone(), own / tension));
    }
    Ok(shares)
}

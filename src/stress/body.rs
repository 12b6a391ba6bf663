//! The stress in one body under its loads and clamps.

use glam::DVec3;

use super::case::{Case, Grip};
use super::clamp::{self, Response, Resultant};
use super::error::StressError;
use super::solid::Solid;
use crate::bem::loads::resultant;
use crate::bem::{Field, Solution, Solver};
use crate::solve::Recycled;

/// Resultant over all loads of a body that nothing clamps, above which it is said that the body accelerates.
const BALANCED: f64 = 1e-3;

/// Stress over the shear modulus below which there is none: a thousandth of a pascal in glass.
const ROUNDING: f64 = 1e-14;

/// What a cause contributes: a load, or what a clamp prescribes, with the reactions that follow.
struct Cause {
    case: Case,
    motion: Resultant,
}

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

/// A solver with its earlier solutions.
struct Bench<'a> {
    loaded: &'a Solid,
    solver: Solver<'a>,
    recycled: Recycled<3>,
    solves: (usize, u32),
    /// ℓ, m.
    length: f64,
}

impl<'a> Bench<'a> {
    fn solve<'s>(&'s mut self, case: &Case) -> Result<Solution<'s>, StressError> {
        let loads = case.loads(self.loaded.density);
        let found = self.solver.solve(&loads, &mut self.recycled);
        let solution = found.map_err(|source| StressError::Solve {
            body: self.loaded.name.clone(),
            source,
        })?;
        self.solves.0 += 1;
        self.solves.1 += solution.found().iterations;
        Ok(solution)
    }

    /// Displacement in the modes under a load, and its resultant.
    fn response(&mut self, case: &Case, modes: &[Case]) -> Result<Response, StressError> {
        let resultant = self.resultant(case);
        let idle = case.tractions.iter().all(|t| *t == DVec3::ZERO) && case.spin == DVec3::ZERO;
        // Gravity alone lets a body fall, without stress.
        let values = match idle {
            true => vec![0.0; modes.len()],
            false => {
                let surface = &self.loaded.surface;
                let vertices = self.solve(case)?.vertices();
                let work = |mode| clamp::work(surface, mode, &vertices);
                modes.iter().map(work).collect()
            }
        };
        Ok(Response {
            modes: values,
            resultant,
        })
    }

    /// Force, and moment about the centre of mass over ℓ.
    fn resultant(&self, case: &Case) -> Resultant {
        let surface = &self.loaded.surface;
        let (pull, torque) = resultant(surface, &case.tractions);
        let force = pull + case.gravity * (self.loaded.density * surface.mass.volume);
        let momentum = surface.mass.inertia * self.loaded.density * case.spin;
        let moment = (torque - case.spin.cross(momentum)) / self.length;
        let both = force.to_array().into_iter().chain(moment.to_array());
        let mut all = [0.0; 6];
        all.iter_mut().zip(both).for_each(|(all, own)| *all = own);
        all
    }

    /// Loads with the reactions of the clamps, and what the clamps prescribe with theirs.
    fn causes(&mut self, cases: Vec<Case>, grips: &[Grip]) -> Result<Vec<Cause>, StressError> {
        let free = |case| Cause {
            case,
            motion: [0.0; 6],
        };
        if grips.is_empty() {
            return Ok(cases.into_iter().map(free).collect());
        }
        let surface = &self.loaded.surface;
        let modes = clamp::modes(surface, grips, self.length);
        let responses = modes
            .iter()
            .map(|mode| self.response(mode, &modes))
            .collect::<Result<Vec<_>, _>>()?;
        let mut causes = Vec::new();
        let still = vec![0.0; modes.len()];
        for case in cases {
            let response = self.response(&case, &modes)?;
            causes.push(self.held(case, &responses, &response, &still, &modes)?);
        }
        for grip in grips {
            if grip.displacement == DVec3::ZERO && grip.rotation == DVec3::ZERO {
                continue;
            }
            let driven = |x: DVec3| grip.displacement + grip.rotation.cross(x - grip.patch.centre);
            let vertices: Vec<DVec3> = surface.mesh.positions.iter().map(|x| driven(*x)).collect();
            let own = |mode: &Case| match mode.name == grip.name {
                true => clamp::work(surface, mode, &vertices),
                false => 0.0,
            };
            let prescribed: Vec<f64> = modes.iter().map(own).collect();
            let nothing = Response {
                modes: still.clone(),
                resultant: [0.0; 6],
            };
            let case = Case::new(&grip.name, surface.len());
            causes.push(self.held(case, &responses, &nothing, &prescribed, &modes)?);
        }
        Ok(causes)
    }

    /// A load with the reactions that it calls for.
    fn held(
        &self,
        mut case: Case,
        responses: &[Response],
        load: &Response,
        prescribed: &[f64],
        modes: &[Case],
    ) -> Result<Cause, StressError> {
        let found = clamp::reactions(responses, load, prescribed);
        let (coefficients, motion) = found.ok_or_else(|| StressError::Clamps {
            body: self.loaded.name.clone(),
        })?;
        for (mode, coefficient) in modes.iter().zip(coefficients) {
            for (sum, traction) in case.tractions.iter_mut().zip(&mode.tractions) {
                *sum += *traction * coefficient;
            }
        }
        Ok(Cause { case, motion })
    }
}

/// Computes the response of a body to loads and clamps.
pub fn respond(loaded: &Solid, cases: Vec<Case>, grips: &[Grip]) -> Result<Outcome, StressError> {
    let surface = &loaded.surface;
    let mut bench = Bench {
        loaded,
        solver: Solver::automatic(surface, loaded.elastic, loaded.accuracy),
        recycled: Recycled::default(),
        solves: (0, 0),
        length: surface.mass.volume.cbrt(),
    };
    let causes = bench.causes(cases, grips)?;
    let mut total = Case::new("total", surface.len());
    let mut motion = [0.0; 6];
    for cause in &causes {
        total.add(&cause.case);
        motion
            .iter_mut()
            .zip(cause.motion)
            .for_each(|(sum, own)| *sum += own);
    }
    let unbalanced = unbalanced(&bench, &total);
    let solution = bench.solve(&total)?;
    let (triangles, points) = (solution.surface(), solution.inside(&loaded.points));
    let mut response = Outcome {
        triangles,
        points,
        total,
        shares: Vec::new(),
        unbalanced,
        solves: (0, 0),
    };
    move_rigidly(&mut response, loaded, motion, bench.length);
    response.shares = shares(&mut bench, &causes, &response)?;
    response.solves = bench.solves;
    Ok(response)
}

/// The resultant of loads that do not balance.
fn unbalanced(bench: &Bench, total: &Case) -> Option<(DVec3, DVec3)> {
    let surface = &bench.loaded.surface;
    let all: f64 = (total.tractions.iter().zip(&surface.areas))
        .map(|(t, area)| t.length() * area)
        .sum();
    let [x, y, z, a, b, c] = bench.resultant(total);
    let (force, moment) = (DVec3::new(x, y, z), DVec3::new(a, b, c) * bench.length);
    let limit =
        BALANCED * (all + total.gravity.length() * bench.loaded.density * surface.mass.volume);
    let beyond = force.length() > limit || moment.length() > limit * surface.area.sqrt();
    beyond.then_some((force, moment))
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

/// Number of the triangle, then of the point, whose largest principal stress is the largest; none without tension, but for rounding.
pub fn most_tension(response: &Outcome, solid: &Solid) -> Option<usize> {
    let least = ROUNDING * solid.elastic.shear;
    let both = response.triangles.iter().chain(&response.points);
    let tensions = both.map(|field| field.principal().values[0]).enumerate();
    let most = tensions.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    most.filter(|(_, tension)| *tension > least)
        .map(|(at, _)| at)
}

/// What each cause contributes to the largest principal stress, along its direction.
fn shares(
    bench: &mut Bench,
    causes: &[Cause],
    response: &Outcome,
) -> Result<Vec<(String, f64)>, StressError> {
    let Some(at) = most_tension(response, bench.loaded) else {
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
        let points = &bench.loaded.points;
        let solution = bench.solve(&cause.case)?;
        let field = match at < triangles {
            true => solution.surface()[at],
            false => solution.inside(&points[at - triangles..=at - triangles])[0],
        };
        let own = along.dot(field.stress * along);
        shares.push((cause.case.name.clone(), own / tension));
    }
    Ok(shares)
}

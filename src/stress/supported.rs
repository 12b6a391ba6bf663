//! Responses of a body to each of its loads, and the reactions of its clamps.

use glam::DVec3;

use super::case::{Clamp, LoadCase};
use super::clamp::{self, Response, Resultant};
use super::patch::Variation;
use crate::bem::{Solution, SolveError, Solver, Surface, Traction};
use crate::solve::Recycled;

/// A load, or the motion that a clamp prescribes, with the reactions of all clamps to it.
pub struct Cause {
    /// The load case, including the reactions.
    pub case: LoadCase,
    /// Rigid motion that it causes: translation, m, and rotation vector times ℓ.
    pub motion: Resultant,
}

/// A body or a piece of it, its solver, and earlier solutions from which further ones start.
pub struct SupportedBody<'a> {
    surface: &'a Surface,
    solver: &'a Solver<'a>,
    /// Density, kg/m³.
    density: f64,
    /// How the reactions vary over a triangle.
    variation: Variation,
    recycled: Recycled<3>,
    /// Number of right-hand sides solved, and total number of iterations.
    pub solves: (usize, u32),
    /// ℓ, m: the length by which moments are divided and rotations multiplied.
    pub length: f64,
}

/// Why the reactions of clamps cannot be computed.
#[derive(Clone, Debug, PartialEq)]
pub enum ReactionError {
    /// A load or a mode of a clamp could not be solved.
    Solve(SolveError),
    /// Clamps overlap.
    OverlappingClamps,
    /// The clamp of this name holds too small a patch.
    SmallPatch(String),
}

impl From<SolveError> for ReactionError {
    fn from(error: SolveError) -> Self {
        ReactionError::Solve(error)
    }
}

impl<'a> SupportedBody<'a> {
    /// A body of this density, kg/m³, with this variation of the reactions.
    pub fn new(
        surface: &'a Surface,
        solver: &'a Solver<'a>,
        density: f64,
        variation: Variation,
    ) -> Self {
        SupportedBody {
            surface,
            solver,
            density,
            variation,
            recycled: Recycled::default(),
            solves: (0, 0),
            length: surface.mass.volume.cbrt(),
        }
    }

    /// Response to a load case under inertia relief.
    pub fn solve(&mut self, case: &LoadCase) -> Result<Solution<'a>, SolveError> {
        let loads = case.loads(self.density);
        let (solver, tractions) = (self.solver, &case.tractions);
        let solution = solver.solve_varying(&loads, tractions, &mut self.recycled)?;
        self.solves.0 += 1;
        self.solves.1 += solution.found().iterations;
        Ok(solution)
    }

    /// Displacement in the clamps' modes under a load case, and its resultant.
    fn response(&mut self, case: &LoadCase, modes: &[LoadCase]) -> Result<Response, ReactionError> {
        let resultant = self.resultant(case);
        let none = Traction::default();
        let idle = case.tractions.iter().all(|t| *t == none) && case.spin == DVec3::ZERO;
        // Under gravity alone a free body falls without stress.
        let values = match idle {
            true => vec![0.0; modes.len()],
            false => {
                let solution = self.solve(case)?;
                let work = |mode: &LoadCase| solution.work(&mode.tractions);
                modes.iter().map(work).collect()
            }
        };
        Ok(Response {
            modes: values,
            resultant,
        })
    }

    /// Resultant force, and moment about the centre of mass over ℓ.
    pub fn resultant(&self, case: &LoadCase) -> Resultant {
        let loads = case.loads(self.density);
        let (force, moment) = loads.resultant(self.surface, &case.tractions);
        let ([x, y, z], [a, b, c]) = (force.to_array(), (moment / self.length).to_array());
        [x, y, z, a, b, c]
    }

    /// Each load with the reactions of the clamps to it, and each motion that a clamp prescribes with its
    /// reactions.
    pub fn causes(
        &mut self,
        cases: Vec<LoadCase>,
        clamps: &[Clamp],
    ) -> Result<Vec<Cause>, ReactionError> {
        let free = |case| Cause {
            case,
            motion: [0.0; 6],
        };
        if clamps.is_empty() {
            return Ok(cases.into_iter().map(free).collect());
        }
        let surface = self.surface;
        let modes = clamp::modes(surface, clamps, self.variation, self.length);
        let responses = modes
            .iter()
            .map(|mode| self.response(mode, &modes))
            .collect::<Result<Vec<_>, _>>()?;
        let mut causes = Vec::new();
        let zeros = vec![0.0; modes.len()];
        for case in cases {
            let response = self.response(&case, &modes)?;
            let found = self.with_reactions(case, &responses, &response, &zeros, &modes);
            causes.push(found.ok_or_else(|| self.reaction_error(clamps))?);
        }
        for clamp in clamps {
            if clamp.displacement == DVec3::ZERO && clamp.rotation == DVec3::ZERO {
                continue;
            }
            let prescribed_at =
                |x: DVec3| clamp.displacement + clamp.rotation.cross(x - clamp.patch.centre);
            let own = |mode: &LoadCase| match mode.name == clamp.name {
                true => clamp::work(surface, mode, prescribed_at),
                false => 0.0,
            };
            let prescribed: Vec<f64> = modes.iter().map(own).collect();
            let nothing = Response {
                modes: zeros.clone(),
                resultant: [0.0; 6],
            };
            let case = LoadCase::new(&clamp.name, surface.len());
            let found = self.with_reactions(case, &responses, &nothing, &prescribed, &modes);
            causes.push(found.ok_or_else(|| self.reaction_error(clamps))?);
        }
        Ok(causes)
    }

    /// Why the reactions of these clamps cannot be computed.
    fn reaction_error(&self, clamps: &[Clamp]) -> ReactionError {
        let axes = |clamp: &Clamp| clamp.patch.axes(self.surface, self.variation).len();
        match clamps.iter().find(|clamp| axes(clamp) < 3) {
            Some(clamp) => ReactionError::SmallPatch(clamp.name.clone()),
            None => ReactionError::OverlappingClamps,
        }
    }

    /// A load case with the reactions to it; none if these cannot be computed.
    fn with_reactions(
        &self,
        mut case: LoadCase,
        responses: &[Response],
        load: &Response,
        prescribed: &[f64],
        modes: &[LoadCase],
    ) -> Option<Cause> {
        let (coefficients, motion) = clamp::reactions(responses, load, prescribed)?;
        for (mode, coefficient) in modes.iter().zip(coefficients) {
            for (sum, traction) in case.tractions.iter_mut().zip(&mode.tractions) {
                sum.add(traction, coefficient);
            }
        }
        Some(Cause { case, motion })
    }
}

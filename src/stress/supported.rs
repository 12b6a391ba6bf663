//! Responses of a body to its loads one by one, and the reactions of what clamps it.

use glam::DVec3;

use super::case::{Case, Grip};
use super::clamp::{self, Response, Resultant};
use crate::bem::loads::resultant;
use crate::bem::{Solution, SolveError, Solver, Surface};
use crate::solve::Recycled;

/// What a cause contributes: a load, or what a clamp prescribes, with the reactions that follow.
pub struct Cause {
    /// The load, reactions included.
    pub case: Case,
    /// Rigid motion that it comes with: shift, m, and turn times ℓ.
    pub motion: Resultant,
}

/// A body or a piece of it, with the solutions so far.
pub struct Supported<'a> {
    surface: &'a Surface,
    solver: &'a Solver<'a>,
    /// Density, kg/m³.
    density: f64,
    recycled: Recycled<3>,
    /// Right-hand sides solved, and iterations of all.
    pub solves: (usize, u32),
    /// ℓ, m: the unit of length of moments and turns.
    pub length: f64,
}

/// Why reactions do not follow.
#[derive(Clone, Debug, PartialEq)]
pub enum ReactionError {
    /// A response that is not found.
    Solve(SolveError),
    /// Clamps that overlap.
    Clamps,
}

impl From<SolveError> for ReactionError {
    fn from(error: SolveError) -> Self {
        ReactionError::Solve(error)
    }
}

impl<'a> Supported<'a> {
    /// Of a body of this density, kg/m³.
    pub fn new(surface: &'a Surface, solver: &'a Solver<'a>, density: f64) -> Self {
        Supported {
            surface,
            solver,
            density,
            recycled: Recycled::default(),
            solves: (0, 0),
            length: surface.mass.volume.cbrt(),
        }
    }

    /// Response to a load, with inertia against what does not balance.
    pub fn solve(&mut self, case: &Case) -> Result<Solution<'a>, SolveError> {
        let loads = case.loads(self.density);
        let solution = self.solver.solve(&loads, &mut self.recycled)?;
        self.solves.0 += 1;
        self.solves.1 += solution.found().iterations;
        Ok(solution)
    }

    /// Displacement in the modes under a load, and its resultant.
    fn response(&mut self, case: &Case, modes: &[Case]) -> Result<Response, ReactionError> {
        let resultant = self.resultant(case);
        let idle = case.tractions.iter().all(|t| *t == DVec3::ZERO) && case.spin == DVec3::ZERO;
        // Gravity alone lets a body fall, without stress.
        let values = match idle {
            true => vec![0.0; modes.len()],
            false => {
                let vertices = self.solve(case)?.vertices();
                let work = |mode| clamp::work(self.surface, mode, &vertices);
                modes.iter().map(work).collect()
            }
        };
        Ok(Response {
            modes: values,
            resultant,
        })
    }

    /// Force, and moment about the centre of mass over ℓ.
    pub fn resultant(&self, case: &Case) -> Resultant {
        let surface = self.surface;
        let (pull, torque) = resultant(surface, &case.tractions);
        let force = pull + case.gravity * (self.density * surface.mass.volume);
        let momentum = surface.mass.inertia * self.density * case.spin;
        let moment = (torque - case.spin.cross(momentum)) / self.length;
        let both = force.to_array().into_iter().chain(moment.to_array());
        let mut all = [0.0; 6];
        all.iter_mut().zip(both).for_each(|(all, own)| *all = own);
        all
    }

    /// Loads with the reactions of the clamps, and what the clamps prescribe with theirs.
    pub fn causes(
        &mut self,
        cases: Vec<Case>,
        grips: &[Grip],
    ) -> Result<Vec<Cause>, ReactionError> {
        let free = |case| Cause {
            case,
            motion: [0.0; 6],
        };
        if grips.is_empty() {
            return Ok(cases.into_iter().map(free).collect());
        }
        let surface = self.surface;
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
    ) -> Result<Cause, ReactionError> {
        let found = clamp::reactions(responses, load, prescribed);
        let (coefficients, motion) = found.ok_or(ReactionError::Clamps)?;
        for (mode, coefficient) in modes.iter().zip(coefficients) {
            for (sum, traction) in case.tractions.iter_mut().zip(&mode.tractions) {
                *sum += *traction * coefficient;
            }
        }
        Ok(Cause { case, motion })
    }
}

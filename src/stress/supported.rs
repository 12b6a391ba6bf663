//! Responses of a body to its loads one by one, and the reactions of what clamps it.

use glam::DVec3;

use super::case::{Case, Grip};
use super::clamp::{self, Response, Resultant};
use super::patch::Variation;
use crate::bem::{Solution, SolveError, Solver, Surface, Traction};
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
    /// Of the reactions.
    variation: Variation,
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
    /// A clamp of this name that holds too little.
    Small(String),
}

impl From<SolveError> for ReactionError {
    fn from(error: SolveError) -> Self {
        ReactionError::Solve(error)
    }
}

impl<'a> Supported<'a> {
    /// Of a body of this density, kg/m³, on which reactions vary in this way.
    pub fn new(
        surface: &'a Surface,
        solver: &'a Solver<'a>,
        density: f64,
        variation: Variation,
    ) -> Self {
        Supported {
            surface,
            solver,
            density,
            variation,
            recycled: Recycled::default(),
            solves: (0, 0),
            length: surface.mass.volume.cbrt(),
        }
    }

    /// Response to a load, with inertia against what does not balance.
    pub fn solve(&mut self, case: &Case) -> Result<Solution<'a>, SolveError> {
        let loads = case.loads(self.density);
        let (solver, tractions) = (self.solver, &case.tractions);
        let solution = solver.solve_varying(&loads, tractions, &mut self.recycled)?;
        self.solves.0 += 1;
        self.solves.1 += solution.found().iterations;
        Ok(solution)
    }

    /// Displacement in the modes under a load, and its resultant.
    fn response(&mut self, case: &Case, modes: &[Case]) -> Result<Response, ReactionError> {
        let resultant = self.resultant(case);
        let none = Traction::default();
        let idle = case.tractions.iter().all(|t| *t == none) && case.spin == DVec3::ZERO;
        // Gravity alone lets a body fall, without stress.
        let values = match idle {
            true => vec![0.0; modes.len()],
            false => {
                let solution = self.solve(case)?;
                let work = |mode: &Case| solution.work(&mode.tractions);
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
        let loads = case.loads(self.density);
        let (force, moment) = loads.resultant(self.surface, &case.tractions);
        let ([x, y, z], [a, b, c]) = (force.to_array(), (moment / self.length).to_array());
        [x, y, z, a, b, c]
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
        let modes = clamp::modes(surface, grips, self.variation, self.length);
        let responses = modes
            .iter()
            .map(|mode| self.response(mode, &modes))
            .collect::<Result<Vec<_>, _>>()?;
        let mut causes = Vec::new();
        let still = vec![0.0; modes.len()];
        for case in cases {
            let response = self.response(&case, &modes)?;
            let found = self.held(case, &responses, &response, &still, &modes);
            causes.push(found.ok_or_else(|| self.fault(grips))?);
        }
        for grip in grips {
            if grip.displacement == DVec3::ZERO && grip.rotation == DVec3::ZERO {
                continue;
            }
            let driven = |x: DVec3| grip.displacement + grip.rotation.cross(x - grip.patch.centre);
            let own = |mode: &Case| match mode.name == grip.name {
                true => clamp::work(surface, mode, driven),
                false => 0.0,
            };
            let prescribed: Vec<f64> = modes.iter().map(own).collect();
            let nothing = Response {
                modes: still.clone(),
                resultant: [0.0; 6],
            };
            let case = Case::new(&grip.name, surface.len());
            let found = self.held(case, &responses, &nothing, &prescribed, &modes);
            causes.push(found.ok_or_else(|| self.fault(grips))?);
        }
        Ok(causes)
    }

    /// Why reactions of clamps do not follow.
    fn fault(&self, grips: &[Grip]) -> ReactionError {
        let axes = |grip: &Grip| grip.patch.axes(self.surface, self.variation).len();
        match grips.iter().find(|grip| axes(grip) < 3) {
            Some(grip) => ReactionError::Small(grip.name.clone()),
            None => ReactionError::Clamps,
        }
    }

    /// A load with the reactions that it calls for; none where these do not follow.
    fn held(
        &self,
        mut case: Case,
        responses: &[Response],
        load: &Response,
        prescribed: &[f64],
        modes: &[Case],
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

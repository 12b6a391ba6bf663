//! What a user asks first: where a body is nearest to cracking, under which load, and how near.

use glam::DVec3;

use super::body::{Outcome, most_tension};
use super::fracture::Cracks;
use super::solid::Solid;

/// What a run found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// One a body and table.
    pub verdicts: Vec<Verdict>,
    /// Body and frame of those that were left out: broken, or without elements whose motion a frame records.
    pub left_out: Vec<(String, u32)>,
}

/// How near a body is to cracking.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Name of the body.
    pub body: String,
    /// Number of the table.
    pub frame: u32,
    /// Time of the loads, s.
    pub time: f64,
    /// Triangles of its surface.
    pub triangles: usize,
    /// Points inside.
    pub points: usize,
    /// Right-hand sides solved, and iterations of all.
    pub solves: (usize, u32),
    /// Wall time, s.
    pub seconds: f64,
    /// What was done to the surface, and what of the loads was left out.
    pub notes: Vec<String>,
    /// What cracks did, where bodies may crack.
    pub cracks: Option<Cracks>,
    /// The largest principal stress where a crack can begin; none where nothing pulls.
    pub largest: Option<Largest>,
    /// Force, N, and moment about the centre of mass, N m, that accelerate a body which nothing clamps.
    pub unbalanced: Option<(DVec3, DVec3)>,
}

/// The largest principal stress in a body where a crack can begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Largest {
    /// Pa.
    pub stress: f64,
    /// Stress over tensile strength; none where the material has none.
    pub utilization: Option<f64>,
    /// Where it is, m.
    pub place: DVec3,
    /// Whether that is on the surface.
    pub on_surface: bool,
    /// Direction of the stress: a crack opens along it.
    pub direction: DVec3,
    /// Names of the loads and clamps, and their parts of the stress, the largest first.
    pub shares: Vec<(String, f64)>,
}

impl Largest {
    /// Factor on all loads at which the stress reaches the strength.
    pub fn load_factor(&self) -> Option<f64> {
        self.utilization.map(|utilization| 1.0 / utilization)
    }

    /// Of a response; none where nothing pulls.
    pub fn of(response: &Outcome, solid: &Solid) -> Option<Self> {
        let at = most_tension(response, solid)?;
        let triangles = response.triangles.len();
        let on_surface = at < triangles;
        let (field, place) = match on_surface {
            true => (&response.triangles[at], solid.surface.centroids[at]),
            false => {
                let point = at - triangles;
                (&response.points[point], solid.points[point])
            }
        };
        let principal = field.principal();
        let mut shares = response.shares.clone();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let tension = principal.values[0];
        Some(Largest {
            stress: tension,
            utilization: solid.strength.map(|strength| tension / strength),
            place,
            on_surface,
            direction: principal.directions[0],
            shares,
        })
    }
}

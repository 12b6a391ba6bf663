//! The result for the user: where a body is nearest to cracking, under which load, and at which factor on the
//! loads.

use glam::DVec3;

use super::body::{BodyResponse, most_stressed};
use super::fracture::Cracks;
use super::solid::Solid;

/// Results of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// One verdict for each body and table.
    pub verdicts: Vec<Verdict>,
    /// Name and frame of the bodies that were left out: broken ones, and ones without elements, whose motion
    /// no frame records.
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
    /// Number of triangles of its surface.
    pub triangles: usize,
    /// Number of points inside.
    pub points: usize,
    /// Number of right-hand sides solved, and total number of iterations.
    pub solves: (usize, u32),
    /// Wall time, s.
    pub seconds: f64,
    /// Notes on repairs of the surface, and on loads that were left out.
    pub notes: Vec<String>,
    /// Cracks of the body, if bodies may crack.
    pub cracks: Option<Cracks>,
    /// The largest principal stress where a crack can begin; none if there is no tension.
    pub largest: Option<LargestStress>,
    /// Resultant force, N, and moment about the centre of mass, N m, that accelerate a body without clamps;
    /// none if they balance.
    pub unbalanced: Option<(DVec3, DVec3)>,
}

/// The largest principal stress in a body where a crack can begin.
#[derive(Clone, Debug, PartialEq)]
pub struct LargestStress {
    /// The stress, Pa.
    pub stress: f64,
    /// Stress over tensile strength; none if the material has no strength.
    pub utilization: Option<f64>,
    /// Its position, m.
    pub place: DVec3,
    /// Whether this position is on the surface.
    pub on_surface: bool,
    /// Direction of the stress: a crack opens along it.
    pub direction: DVec3,
    /// Name of each load and clamp, and its fraction of the stress, the largest first.
    pub shares: Vec<(String, f64)>,
}

impl LargestStress {
    /// Factor on all loads at which the stress reaches the strength.
    pub fn load_factor(&self) -> Option<f64> {
        self.utilization.map(|utilization| 1.0 / utilization)
    }

    /// The largest stress of a response; none if there is no tension.
    pub fn of(response: &BodyResponse, solid: &Solid) -> Option<Self> {
        let at = most_stressed(response, solid)?;
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
        Some(LargestStress {
            stress: tension,
            utilization: solid.strength.map(|strength| tension / strength),
            place,
            on_surface,
            direction: principal.directions[0],
            shares,
        })
    }
}

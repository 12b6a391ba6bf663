//! The point of a body where a crack begins: at the centroid of a panel or inside.

use glam::DVec3;

use super::inside::Inside;
use crate::bem::field::Field;
use crate::bem::solution::Solution;
use crate::bem::surface::Surface;

/// A point where a crack may begin, and the stress there.
#[derive(Clone, Copy, Debug)]
pub struct CrackStart {
    /// Position, m.
    pub at: DVec3,
    /// Direction of the largest principal stress.
    pub normal: DVec3,
    /// The largest principal stress, Pa.
    pub stress: f64,
    /// Outward normal of the surface; zero inside the body.
    pub out: DVec3,
}

/// Fraction of the largest stress above which points count as equally stressed: discretization errors do not
/// distinguish them.
const EQUAL_STRESS: f64 = 0.99;

/// Where a crack begins, and the largest principal stress of the solution, Pa. Of the points whose stress is
/// nearly the largest, it is the one nearest to the centre of mass. Candidates are the centroids of panels,
/// and points of a lattice inside with this spacing, m, at least half of it away from the surface.
pub fn most_stressed(
    surface: &Surface,
    solution: &Solution,
    inside: &Inside,
    spacing: f64,
) -> Option<(CrackStart, f64)> {
    let points = lattice(surface, inside, spacing);
    let of = |at: DVec3, field: &Field, out: DVec3| {
        let principal = field.principal();
        CrackStart {
            at,
            normal: principal.directions[0],
            stress: principal.values[0],
            out,
        }
    };
    let on = solution.surface();
    let on = (0..surface.len())
        .map(|t| (t, of(surface.centroids[t], &on[t], surface.normals[t])))
        .filter(|(t, place)| surface.may_crack(*t, place.normal))
        .map(|(_, place)| place);
    let within = solution.inside(&points);
    let within = points
        .iter()
        .zip(&within)
        .map(|(x, field)| of(*x, field, DVec3::ZERO));
    let all: Vec<CrackStart> = on.chain(within).collect();
    let most = all.iter().map(|place| place.stress).reduce(f64::max)?;
    let middle = surface.mass.centre;
    let nearly = all
        .into_iter()
        .filter(|place| place.stress >= EQUAL_STRESS * most);
    let start = nearly.min_by(|a, b| {
        let [a, b] = [a, b].map(|place| place.at.distance_squared(middle));
        a.total_cmp(&b)
    })?;
    Some((start, most))
}

/// Points of a cubic lattice through the centre of mass that are inside.
fn lattice(surface: &Surface, inside: &Inside, spacing: f64) -> Vec<DVec3> {
    let Some((low, high)) = surface.mesh.bounds() else {
        return Vec::new();
    };
    let centre = surface.mass.centre;
    let [first, last] = [low, high].map(|x| ((x - centre) / spacing).ceil().as_i64vec3());
    let mut points = Vec::new();
    for i in first.x..last.x {
        for j in first.y..last.y {
            for k in first.z..last.z {
                let at = centre + glam::I64Vec3::new(i, j, k).as_dvec3() * spacing;
                if inside.contains(at) && inside.distance(at) > spacing / 2.0 {
                    points.push(at);
                }
            }
        }
    }
    points
}

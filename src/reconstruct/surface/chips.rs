//! Facetted chips: the surfaces of elements that broke off in fragments too small to be resolved.
//!
//! A chip is the intersection of half-spaces whose planes touch ellipsoids about its elements, in directions
//! spread over the sphere; it is scaled to a given volume about its centre of mass, which lies at the mean
//! position of the elements. Numbers that depend only on its elements turn, stretch and shift the planes, so
//! that a chip keeps its shape in all frames and no two look alike.

use std::f64::consts::{PI, TAU};

use glam::{DMat3, DQuat, DVec3};

use crate::geometry::TriMesh;
use crate::geometry::mass::Mass;
use crate::geometry::polyhedron::Polyhedron;
use crate::laws::weibull::uniform;

/// Smallest number of planes, and how many more there may be. Fewer facets meet at sharper edges.
const PLANES: [f64; 2] = [8.0, 4.0];
/// Relative elongation and flattening of the ellipsoids, at most.
const STRETCH: [f64; 2] = [0.35, 0.4];
/// Range of the distances of the planes from the centre of the ellipsoid, over the distance at which they
/// touch it.
const DEPTH: [f64; 2] = [0.75, 1.15];
/// Largest turn of a plane from its place among evenly spread ones: in height on the unit sphere over the
/// spacing of the planes, and about its axis, rad.
const SCATTER: [f64; 2] = [0.35, 0.5];
/// Shortest edge over the cube root of the volume; other planes are drawn for a chip with shorter edges, but
/// not more often than [`DRAWS`] times.
const SHORTEST_EDGE: f64 = 0.06;
const DRAWS: u64 = 8;
/// Random stream of the shapes: other streams of the same numbers give strengths and positions.
const STREAM: u64 = 0x6368_6970;

/// Volume of a ball, m³.
pub fn ball_volume(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3)
}

/// Chip of the elements with these centres and radii (m), with this volume (m³). `key` selects the shape.
/// Elements without extent have an empty chip.
pub fn chip(elements: &[(DVec3, f64)], volume: f64, key: u32) -> TriMesh {
    let mut found = TriMesh::default();
    for draw in 0..DRAWS {
        let mut numbers = (0..).map(|k| uniform(STREAM ^ (draw << 40 | k << 48), key));
        let Some(mesh) = hull(elements, || numbers.next().unwrap_or(0.5)) else {
            break;
        };
        let shortest = SHORTEST_EDGE * mesh.volume().cbrt();
        let sound = shortest_edge(&mesh) >= shortest;
        found = mesh;
        if sound {
            break;
        }
    }
    let triangles = (0..found.triangles.len()).map(|t| found.corners(t));
    let Some(mass) = Mass::within(DVec3::ZERO, triangles) else {
        return TriMesh::default();
    };
    let centre = mean(elements);
    let scale = (volume / mass.volume).cbrt();
    for p in &mut found.positions {
        *p = centre + (*p - mass.centre) * scale;
    }
    found
}

fn mean(elements: &[(DVec3, f64)]) -> DVec3 {
    elements.iter().map(|(centre, _)| *centre).sum::<DVec3>() / elements.len() as f64
}

fn shortest_edge(mesh: &TriMesh) -> f64 {
    let lengths = (0..mesh.triangles.len()).flat_map(|t| {
        let corners = mesh.corners(t);
        [0, 1, 2].map(|m| corners[m].distance(corners[(m + 1) % 3]))
    });
    lengths.fold(f64::INFINITY, f64::min)
}

/// Intersection of the half-spaces behind random planes about the elements, relative to their mean position.
/// `random` returns numbers between 0 and 1.
fn hull(elements: &[(DVec3, f64)], mut random: impl FnMut() -> f64) -> Option<TriMesh> {
    let centre = mean(elements);
    let turn = DMat3::from_quat(rotation([random(), random(), random()]));
    let [longer, flatter] = STRETCH;
    let axes = DVec3::new(1.0 + longer * random(), 1.0, 1.0 - flatter * random());
    let count = (PLANES[0] + PLANES[1] * random()).round();
    let planes: Vec<(DVec3, f64)> = (0..count as u32)
        .map(|k| {
            // A spiral with equal steps in height and golden angles between them (Swinbank and Purser 2006).
            let k = f64::from(k);
            let step = k + 0.5 + SCATTER[0] * (2.0 * random() - 1.0);
            let angle = k * PI * (3.0 - 5.0_f64.sqrt()) + SCATTER[1] * (2.0 * random() - 1.0);
            let height = 1.0 - 2.0 * step / count;
            let (sin, cos) = angle.sin_cos();
            let across = (1.0 - height * height).max(0.0).sqrt();
            let normal = DVec3::new(across * cos, across * sin, height);
            let depth = DEPTH[0] + (DEPTH[1] - DEPTH[0]) * random();
            // Height of the ellipsoid along the normal, for radius 1.
            let reach = depth * (axes * normal).length();
            let normal = turn * normal;
            let heights = elements
                .iter()
                .map(|(p, radius)| normal.dot(*p - centre) + radius * reach);
            (normal, heights.fold(f64::NEG_INFINITY, f64::max))
        })
        .collect();
    let farthest = planes.iter().map(|plane| plane.1).fold(0.0, f64::max);
    Polyhedron::behind(&planes, 2.0 * farthest).map(|solid| solid.surface())
}

/// Rotation from three numbers between 0 and 1; uniformly distributed if they are (Shoemake 1992).
fn rotation([a, b, c]: [f64; 3]) -> DQuat {
    let (sin_b, cos_b) = (TAU * b).sin_cos();
    let (sin_c, cos_c) = (TAU * c).sin_cos();
    let [inner, outer] = [(1.0 - a).sqrt(), a.sqrt()];
    DQuat::from_xyzw(inner * sin_b, inner * cos_b, outer * sin_c, outer * cos_c)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::geometry::check::require_solid;

    #[test]
    fn chips_are_convex_solids_of_the_given_volume_about_their_elements() {
        let mut corners = std::collections::BTreeSet::new();
        for key in 0..300 {
            let count = 1 + key as usize % 4;
            let at = |k: usize| DVec3::new(2.0 * k as f64, 0.3 * (k * k) as f64, 50.0);
            let elements: Vec<(DVec3, f64)> = (0..count).map(|k| (at(k), 1.0)).collect();
            let volume = count as f64 * ball_volume(1.0);
            let mut mesh = chip(&elements, volume, key);
            require_solid(&mut mesh).unwrap();
            assert!((mesh.volume() / volume - 1.0).abs() < 1e-9);
            let triangles = (0..mesh.triangles.len()).map(|t| mesh.corners(t));
            let mass = Mass::within(at(0), triangles).unwrap();
            assert!(mass.centre.distance(mean(&elements)) < 1e-6);
            for t in 0..mesh.triangles.len() {
                let [a, b, c] = mesh.corners(t);
                let normal = (b - a).cross(c - a).normalize();
                let above = mesh.positions.iter().map(|p| normal.dot(*p - a));
                assert!(
                    above.fold(f64::MIN, f64::max) < 1e-6,
                    "chip {key} is not convex"
                );
            }
            let reach = mesh.positions.iter().map(|p| p.distance(at(0)));
            let reach = reach.fold(0.0, f64::max);
            if count == 1 {
                assert!((1.1..2.6).contains(&reach), "chip {key} reaches {reach}");
            }
            let first = (mesh.positions[0] - mean(&elements)).to_array();
            assert!(corners.insert(first.map(f64::to_bits)), "chip {key} twice");
            assert_eq!(chip(&elements, volume, key), mesh);
        }
        assert_eq!(chip(&[(DVec3::ONE, 0.0)], 0.0, 1), TriMesh::default());
    }

    #[test]
    fn facets_meet_at_sharp_edges() {
        // Most neighbours differ by more than the 40 degrees at which normals are separate.
        let (mut sharp, mut all) = (0, 0);
        for key in 0..50 {
            let mesh = chip(&[(DVec3::ZERO, 1.0)], 1.0, key);
            let normal = |t: usize| {
                let [a, b, c] = mesh.corners(t);
                (b - a).cross(c - a).normalize()
            };
            for s in 0..mesh.triangles.len() {
                for t in 0..s {
                    let own = mesh.triangles[s].iter();
                    let shared = own.filter(|v| mesh.triangles[t].contains(v)).count();
                    let cosine = normal(s).dot(normal(t));
                    if shared == 2 && cosine < 1.0 - 1e-6 {
                        all += 1;
                        sharp += usize::from(cosine < 40_f64.to_radians().cos());
                    }
                }
            }
        }
        assert!(10 * sharp > 8 * all, "{sharp} of {all}");
    }
}

//! The shape of a body, filled with elements in its own frame.

use std::path::Path;

use glam::DVec3;

use super::hexagonal::{self, CELL, LAYER, ROW};
use super::pattern::{Pattern, Points, volume_each};
use super::solid::Solid;
use super::{MAX_ELEMENTS, PackError, mesh};
use crate::geometry::{TriMesh, shapes};
use crate::spec::{Body, BodyShape, Fill, PackingSpec};

/// Depth of the outermost centres under the skin, over the radius. At 0 the elements' cells fill the shape's volume
/// best, but elements stick out by up to a whole radius; at 1 none sticks out and the gap grows to 1.6 radii.
const DEPTH: f64 = 0.5;
/// The same for loose elements at random, which lie inside as a whole: where they stuck out, a container that the shape fits would throw them.
const LOOSE_DEPTH: f64 = 1.0;

fn depth(body: &Body) -> f64 {
    match body.packing {
        PackingSpec::Random { .. } if !body.bonded => LOOSE_DEPTH,
        _ => DEPTH,
    }
}

/// A filled shape in its own frame.
pub(super) struct Filled {
    pub points: Points,
    /// Mean radius, m.
    pub radius: f64,
    /// Neighbours of an element far from any border; absent for lattices.
    pub coordination: Option<f64>,
    pub volume: f64,
    pub skin: TriMesh,
}

/// What is filled: a body, and the seed of the shot with the number of the body.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub body: &'a Body,
    pub draw: (u64, u32),
}

pub(super) fn too_large(body: &Body, radius: f64, skin: &TriMesh) -> PackError {
    let (low, high) = skin.bounds().unwrap_or_default();
    PackError::RadiusTooLarge {
        body: body.name.clone(),
        radius,
        extent: high - low,
    }
}

/// What a body is called in messages.
fn owner(body: &Body) -> String {
    format!("body {:?}", body.name)
}

fn positive(body: &Body, key: &'static str, value: f64) -> Result<f64, PackError> {
    mesh::positive(&owner(body), key, value)
}

/// How the radius is given.
#[derive(Clone, Copy)]
enum Wanted {
    Radius(f64),
    Elements(f64),
}

fn wanted(body: &Body) -> Result<Wanted, PackError> {
    let (radius, elements) = body.packing.size();
    let refuse = |found| PackError::RadiusOrElements {
        body: body.name.clone(),
        found,
    };
    match (radius, elements) {
        (Some(radius), None) => Ok(Wanted::Radius(positive(body, "packing.radius", radius)?)),
        (None, Some(elements)) => {
            let elements = positive(body, "packing.elements", f64::from(elements))?;
            Ok(Wanted::Elements(elements))
        }
        (Some(_), Some(_)) => Err(refuse("found both")),
        (None, None) => Err(refuse("found neither")),
    }
}

/// Fills the shape of a body; `base` is the folder that mesh paths start from.
pub(super) fn fill(job: Job, base: &Path) -> Result<Filled, PackError> {
    let body = job.body;
    let wanted = wanted(body)?;
    let random = matches!(body.packing, PackingSpec::Random { .. });
    match &body.shape {
        BodyShape::Mesh {
            file,
            scale,
            height,
            fill,
        } => {
            let owner = owner(body);
            let path = base.join(file);
            let skin = mesh::read(&owner, &path, (*scale, *height), Some(*fill))?;
            let solid = match fill {
                Fill::Closed => Solid::closed(&skin),
                Fill::Winding => Solid::wound(&skin),
            };
            let bounds = skin.bounds().unwrap_or_default();
            let volume = match fill {
                Fill::Closed => skin.volume(),
                Fill::Winding => solid.sampled_volume(bounds),
            };
            mesh::require_volume(&owner, &path, bounds, volume)?;
            let fit = fill_solid(job, wanted, &solid, &skin, volume)?;
            drop(solid);
            Ok(fit.filled(volume, skin))
        }
        BodyShape::Sphere { radius } => {
            let radius = positive(body, "shape.radius", *radius)?;
            let solid = Solid::Ball { radius };
            from_solid(job, wanted, &solid, shapes::sphere(radius))
        }
        BodyShape::Cylinder { radius, height } => {
            let radius = positive(body, "shape.radius", *radius)?;
            let height = positive(body, "shape.height", *height)?;
            let solid = Solid::Cylinder { radius, height };
            from_solid(job, wanted, &solid, shapes::cylinder(radius, height))
        }
        BodyShape::Box { size } => {
            for edge in size {
                positive(body, "shape.size", *edge)?;
            }
            let size = DVec3::from_array(*size);
            let skin = shapes::cuboid(size);
            if random {
                let half = size / 2.0;
                return from_solid(job, wanted, &Solid::Cuboid { half }, skin);
            }
            let start = (size.element_product() / CELL).cbrt();
            let counts = |r: f64| {
                let rows = size / (DVec3::new(2.0, ROW, LAYER) * r);
                rows.to_array().map(f64::round)
            };
            let (counts, radius) = counted(body, wanted, &skin, |n| start / n.cbrt(), counts)?;
            let centres = hexagonal::block(counts, radius);
            Ok(Fit::lattice(centres, radius).filled(size.element_product(), skin))
        }
        BodyShape::Plate { .. } | BodyShape::Block { .. } if random => Err(PackError::Counted {
            body: body.name.clone(),
        }),
        BodyShape::Plate { size, layers } => {
            for edge in size {
                positive(body, "shape.size", *edge)?;
            }
            let layers = positive(body, "shape.layers", f64::from(*layers))?;
            let [x, z] = *size;
            let skin = |r: f64| shapes::cuboid(DVec3::new(x, layers * LAYER * r, z));
            let start = |n: f64| (x * z * layers / (2.0 * ROW * n)).sqrt();
            let counts = |r: f64| [(x / (2.0 * r)).round(), (z / (ROW * r)).round(), layers];
            let (counts, radius) = counted(body, wanted, &skin(0.0), start, counts)?;
            // Rows along x as ever, layers turned from z to y.
            let turned = |p: DVec3| DVec3::new(p.x, p.z, -p.y);
            let centres = hexagonal::block(counts, radius);
            let fit = Fit::lattice(centres.into_iter().map(turned).collect(), radius);
            Ok(fit.filled(x * z * layers * LAYER * radius, skin(radius)))
        }
        BodyShape::Block { rows } => {
            for row in rows {
                positive(body, "shape.rows", f64::from(*row))?;
            }
            let radius = match wanted {
                Wanted::Radius(radius) => radius,
                // The counts are given, so nothing sets a size.
                Wanted::Elements(_) => {
                    return Err(PackError::RadiusOrElements {
                        body: body.name.clone(),
                        found: "and a block, whose rows are counted already, needs radius",
                    });
                }
            };
            refuse_too_many(body, radius, rows.iter().map(|n| f64::from(*n)).product())?;
            let size = hexagonal::block_size(*rows, radius);
            let fit = Fit::lattice(hexagonal::block(*rows, radius), radius);
            Ok(fit.filled(size.element_product(), shapes::cuboid(size)))
        }
    }
}

/// Places of the lattice for each element that a body may have at most: less of its box a body hardly fills.
const SPARSE: f64 = 1e4;

fn refuse_sparse(
    body: &Body,
    bounds: (DVec3, DVec3),
    radius: f64,
    most: f64,
) -> Result<(), PackError> {
    let sites = hexagonal::sites(bounds, radius);
    // No number is none of these.
    if sites <= most {
        return Ok(());
    }
    Err(PackError::Sparse {
        body: body.name.clone(),
        radius,
        sites,
        extent: bounds.1 - bounds.0,
    })
}

/// Elements that fit.
struct Fit {
    points: Points,
    radius: f64,
    coordination: Option<f64>,
}

impl Fit {
    fn lattice(centres: Vec<DVec3>, radius: f64) -> Self {
        Fit {
            points: Points::equal(centres, radius),
            radius,
            coordination: None,
        }
    }

    fn filled(self, volume: f64, skin: TriMesh) -> Filled {
        Filled {
            points: self.points,
            radius: self.radius,
            coordination: self.coordination,
            volume,
            skin,
        }
    }
}

fn from_solid(job: Job, wanted: Wanted, solid: &Solid, skin: TriMesh) -> Result<Filled, PackError> {
    let volume = skin.volume();
    let fit = fill_solid(job, wanted, solid, &skin, volume)?;
    Ok(fit.filled(volume, skin))
}

/// How far the number of elements may be from the one asked for before the radius is corrected.
const CLOSE: f64 = 0.02;

fn fill_solid(
    job: Job,
    wanted: Wanted,
    solid: &Solid,
    skin: &TriMesh,
    volume: f64,
) -> Result<Fit, PackError> {
    let body = job.body;
    let bounds = skin.bounds().unwrap_or_default();
    let (depth, each) = (depth(body), volume_each(&body.packing));
    let (start, room) = match wanted {
        Wanted::Radius(radius) => (radius, 1.0),
        Wanted::Elements(number) => {
            let area: f64 = (0..skin.triangles.len())
                .map(|t| {
                    let [a, b, c] = skin.corners(t);
                    (b - a).cross(c - a).length() / 2.0
                })
                .sum();
            // The layer above the outermost centres stays empty.
            let mut radius = (volume / (each * number)).cbrt();
            for _ in 0..4 {
                let filled = (volume - depth * radius * area).max(0.3 * volume);
                radius = (filled / (each * number)).cbrt();
            }
            // The radius that meets the number may be smaller.
            (radius, 1.05)
        }
    };
    let estimate = |radius: f64| refuse_too_many(body, radius, volume / (each * radius.powi(3)));
    let sparse = |radius: f64| {
        let number = match wanted {
            Wanted::Radius(_) => volume / (each * radius.powi(3)),
            Wanted::Elements(number) => number,
        };
        refuse_sparse(body, bounds, radius, SPARSE * number.max(10.0))
    };
    estimate(start)?;
    sparse(start)?;
    let pattern = Pattern::of(body, (bounds.1 - bounds.0) * room / start, job.draw);
    let at = |radius: f64| {
        estimate(radius)?;
        sparse(radius)?;
        Ok::<_, PackError>(pattern.fill(solid, bounds, radius, depth))
    };
    let (mut points, mut radius) = (at(start)?, start);
    if let Wanted::Elements(number) = wanted {
        let off = |points: &Points| (points.centres.len() as f64 / number - 1.0).abs();
        let (mut tried, mut found) = (start, points.centres.len());
        for _ in 0..5 {
            if off(&points) <= CLOSE {
                break;
            }
            tried *= (found.max(1) as f64 / number).cbrt();
            // The thinner the body, the finer the pattern that would find as many in it.
            let other = match at(tried) {
                Err(PackError::Sparse { .. }) => break,
                other => other?,
            };
            found = other.centres.len();
            if off(&other) < off(&points) {
                (points, radius) = (other, tried);
            }
        }
    }
    Ok(Fit {
        points,
        radius,
        coordination: pattern.coordination(body.packing.neighbourhood()),
    })
}

/// Counts a direction and radius of a body filled by whole rows: `start` guesses the radius for a number of elements,
/// `counts` rounds the rows.
fn counted(
    body: &Body,
    wanted: Wanted,
    skin: &TriMesh,
    start: impl Fn(f64) -> f64,
    counts: impl Fn(f64) -> [f64; 3],
) -> Result<([u32; 3], f64), PackError> {
    let product = |r: f64| counts(r).iter().product::<f64>();
    let radius = match wanted {
        Wanted::Radius(radius) => radius,
        Wanted::Elements(number) => {
            // Counts jump; of the radii within a tenth of the guess, the nearest that comes close enough, or else the closest.
            let off = |r: f64| (product(r) / number - 1.0).abs();
            let guess = start(number);
            let tries = (0..=100).map(|k| {
                let step = f64::from((k + 1) / 2) * 2e-3;
                guess * (1.0 + if k % 2 == 0 { step } else { -step })
            });
            tries
                .clone()
                .find(|r| off(*r) <= CLOSE)
                .or_else(|| tries.min_by(|a, b| off(*a).total_cmp(&off(*b))))
                .unwrap_or(guess)
        }
    };
    let number = product(radius);
    if number < 2.0 {
        return Err(too_large(body, radius, skin));
    }
    refuse_too_many(body, radius, number)?;
    Ok((counts(radius).map(|n| n as u32), radius))
}

fn refuse_too_many(body: &Body, radius: f64, estimate: f64) -> Result<(), PackError> {
    if estimate <= f64::from(MAX_ELEMENTS) {
        return Ok(());
    }
    Err(PackError::TooMany {
        body: body.name.clone(),
        radius,
        estimate,
        limit: MAX_ELEMENTS,
    })
}

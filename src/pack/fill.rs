//! The shape of a body, filled with elements in its own frame.

use std::f64::consts::PI;
use std::path::Path;

use glam::DVec3;

use super::error::PackError;
use super::filled::{Bonding, Filled, Makeup};
use super::lattice::{CELL, LAYER, ROW};
use super::outline::{Outline, curve, positive};
use super::pattern::{Kind, Pattern};
use super::points::Points;
use super::request::{CLOSE, DEPTH, Job, Wanted, refuse_too_many, too_large};
use super::yarn::twisted::{self, Rope};
use super::yarn::woven::{self, Cut};
use super::{cells, hexagonal, shell};
use crate::geometry::{TriMesh, shapes};
use crate::spec::{Body, BodyShape, PackingSpec, TWISTED, Weave};

/// [`DEPTH`] for loose elements at random, which lie inside as a whole: where they stuck out, a container
/// that the shape fits would throw them.
const LOOSE_DEPTH: f64 = 1.0;
/// Distance over the sum of radii within which loose grains count as neighbours: that of random packings.
const BESIDE: f64 = 1.1;

fn depth(body: &Body, kind: Kind) -> f64 {
    match kind {
        Kind::Random { .. } if !body.is_bonded() => LOOSE_DEPTH,
        Kind::Random { .. } | Kind::Hexagonal => DEPTH,
    }
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
    let wanted = || wanted(body);
    match body.packing {
        PackingSpec::None {} => {
            let Outline { skin, volume, .. } = Outline::of(body, base)?;
            let points = Points::default();
            Ok(Filled {
                points,
                radius: 0.0,
                bonding: Bonding::Given(Vec::new()),
                makeup: Makeup::Lattice,
                volume,
                skin,
            })
        }
        PackingSpec::Hexagonal { .. } => close_packed(job, wanted()?, base),
        PackingSpec::Random {
            spread,
            neighbourhood,
            ..
        } => {
            let kind = Kind::Random {
                spread,
                fraction: None,
                neighbourhood,
            };
            throughout(job, kind, wanted()?, base)
        }
        PackingSpec::Loose {
            spread, fraction, ..
        } => {
            let kind = Kind::Random {
                spread,
                fraction: Some(fraction),
                neighbourhood: BESIDE,
            };
            throughout(job, kind, wanted()?, base)
        }
        PackingSpec::Shell {
            layers,
            neighbourhood,
            ..
        } => {
            let wanted = wanted()?;
            let outline = Outline::of(body, base)?;
            shell::fill(job, wanted, outline, layers, neighbourhood)
        }
        PackingSpec::Twisted {
            strands,
            filaments,
            pitch,
            ..
        } => rope(body, wanted()?, base, (strands, filaments, pitch)),
        PackingSpec::Woven {
            weave, filaments, ..
        } => cloth(body, wanted()?, base, (weave, filaments)),
        PackingSpec::Voronoi {
            size,
            cells,
            relax,
            seed,
        } => {
            let outline = Outline::of(body, base)?;
            let draw = (seed.unwrap_or(job.draw.0), job.draw.1);
            cells::voronoi(Job { body, draw }, outline, (size, cells), relax)
        }
        PackingSpec::Cubic { size, rows } => cells::cubic(body, base, (size, rows)),
    }
}

/// Fills a shape with whole rows where it is made of them, others as they come.
fn close_packed(job: Job, wanted: Wanted, base: &Path) -> Result<Filled, PackError> {
    let body = job.body;
    match &body.shape {
        BodyShape::Plate { size, layers, hole } => plate(body, wanted, (*size, *layers, *hole)),
        BodyShape::Block { rows } => block(body, wanted, rows),
        BodyShape::Box { .. } => cuboid(body, wanted, base),
        BodyShape::Mesh { .. }
        | BodyShape::Sphere { .. }
        | BodyShape::Cylinder { .. }
        | BodyShape::Revolved { .. }
        | BodyShape::CylinderShell { .. }
        | BodyShape::SphereShell { .. }
        | BodyShape::Tube { .. } => throughout(job, Kind::Hexagonal, wanted, base),
    }
}

/// Fills a shape with one pattern, whatever its proportions.
fn throughout(job: Job, kind: Kind, wanted: Wanted, base: &Path) -> Result<Filled, PackError> {
    let outline = Outline::of(job.body, base)?;
    let fit = fill_solid(job, kind, wanted, &outline)?;
    Ok(fit.filled(outline.volume, outline.skin))
}

/// Fills a plate with rows in layers.
fn plate(
    body: &Body,
    wanted: Wanted,
    (size, layers, hole): ([f64; 2], u32, Option<f64>),
) -> Result<Filled, PackError> {
    for edge in size {
        positive(body, "shape.size", edge)?;
    }
    let layers = positive(body, "shape.layers", f64::from(layers))?;
    let [x, z] = size;
    let hole = hole.map(|hole| positive(body, "shape.hole", hole));
    let hole = hole.transpose()?;
    let area = x * z - hole.map_or(0.0, |hole| PI * hole * hole);
    positive(body, "area that shape.hole leaves", area)?;
    let skin = |r: f64| {
        let size = DVec3::new(x, layers * LAYER * r, z);
        hole.map_or_else(|| shapes::cuboid(size), |hole| shapes::pierced(size, hole))
    };
    // The rows are counted as if they went on through the hole.
    let whole = match wanted {
        Wanted::Elements(number) => Wanted::Elements(number * x * z / area),
        Wanted::Radius(_) => wanted,
    };
    let start = |n: f64| (x * z * layers / (2.0 * ROW * n)).sqrt();
    let counts = |r: f64| [(x / (2.0 * r)).round(), (z / (ROW * r)).round(), layers];
    let (counts, radius) = counted(body, whole, &skin(0.0), start, counts)?;
    // Rows along x as ever, layers turned from z to y.
    let turned = |p: DVec3| DVec3::new(p.x, p.z, -p.y);
    let clear = hole.map_or(0.0, |hole| hole + DEPTH * radius);
    let centres = hexagonal::block(counts, radius).into_iter().map(turned);
    let centres = centres.filter(|p| p.x.hypot(p.z) >= clear).collect();
    let fit = Fit::lattice(centres, radius);
    Ok(fit.filled(area * layers * LAYER * radius, skin(radius)))
}

/// Fills a block of counted rows.
fn block(body: &Body, wanted: Wanted, rows: &[u32; 3]) -> Result<Filled, PackError> {
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

/// Fills a box with whole rows.
fn cuboid(body: &Body, wanted: Wanted, base: &Path) -> Result<Filled, PackError> {
    let Outline { skin, volume, .. } = Outline::of(body, base)?;
    let (low, high) = skin.bounds().unwrap_or_default();
    let size = high - low;
    let start = (volume / CELL).cbrt();
    let counts = |r: f64| {
        let rows = size / (DVec3::new(2.0, ROW, LAYER) * r);
        rows.to_array().map(f64::round)
    };
    let (counts, radius) = counted(body, wanted, &skin, |n| start / n.cbrt(), counts)?;
    let centres = hexagonal::block(counts, radius);
    Ok(Fit::lattice(centres, radius).filled(volume, skin))
}

/// Fills a cylinder or a tube with a rope of so many strands and filaments and this pitch (m).
fn rope(
    body: &Body,
    wanted: Wanted,
    base: &Path,
    (strands, filaments, pitch): (u32, Option<u32>, f64),
) -> Result<Filled, PackError> {
    let (radius, height, axis) = match &body.shape {
        BodyShape::Cylinder { radius, height } => (*radius, *height, None),
        BodyShape::Tube { points, radius } => {
            // Refuses what meets itself, as for any packing of a tube.
            Outline::of(body, base)?;
            let axis = curve(body, points, *radius)?;
            (*radius, axis.length(), Some(axis))
        }
        BodyShape::Mesh { .. }
        | BodyShape::Box { .. }
        | BodyShape::Sphere { .. }
        | BodyShape::Plate { .. }
        | BodyShape::Revolved { .. }
        | BodyShape::CylinderShell { .. }
        | BodyShape::SphereShell { .. }
        | BodyShape::Block { .. } => {
            return Err(PackError::Unfit {
                body: body.name.clone(),
                what: TWISTED,
            });
        }
    };
    let rope = Rope {
        strands,
        filaments,
        pitch: positive(body, "packing.pitch", pitch)?,
        radius: positive(body, "shape.radius", radius)?,
        height: positive(body, "shape.height", height)?,
        axis,
    };
    twisted::fill(body, wanted, &rope)
}

/// Fills a shape with cloth: a plate with as many sheets as it has layers, others with as many as fit.
fn cloth(
    body: &Body,
    wanted: Wanted,
    base: &Path,
    yarns: (Weave, u32),
) -> Result<Filled, PackError> {
    if let BodyShape::Plate { size, layers, hole } = body.shape {
        for edge in size {
            positive(body, "shape.size", edge)?;
        }
        return woven::fill(body, wanted, &woven::plate(size, layers, hole), yarns);
    }
    let outline = Outline::of(body, base)?;
    let cut = Cut {
        solid: outline.solid(),
        bounds: outline.bounds(),
        sheets: None,
        hole: None,
    };
    woven::fill(body, wanted, &cut, yarns)
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
    bonding: Bonding,
    makeup: Makeup,
}

impl Fit {
    fn lattice(centres: Vec<DVec3>, radius: f64) -> Self {
        Fit {
            points: Points::equal(centres, radius),
            radius,
            bonding: Kind::Hexagonal.bonding(),
            makeup: Makeup::Lattice,
        }
    }

    fn filled(self, volume: f64, skin: TriMesh) -> Filled {
        Filled {
            points: self.points,
            radius: self.radius,
            bonding: self.bonding,
            makeup: self.makeup,
            volume,
            skin,
        }
    }
}

fn fill_solid(job: Job, kind: Kind, wanted: Wanted, outline: &Outline) -> Result<Fit, PackError> {
    let body = job.body;
    let Outline { skin, volume, .. } = outline;
    let (volume, bounds, solid) = (*volume, outline.bounds(), &outline.solid());
    let (depth, each) = (depth(body, kind), kind.volume_each());
    let (start, room) = match wanted {
        Wanted::Radius(radius) => (radius, 1.0),
        Wanted::Elements(number) => {
            let area = skin.area();
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
    let pattern = Pattern::of(kind, (bounds.1 - bounds.0) * room / start, job.draw);
    let at = |radius: f64| {
        estimate(radius)?;
        sparse(radius)?;
        let points = pattern.fill(solid, bounds, radius, depth);
        Ok::<_, PackError>(match points.centres.is_empty() {
            // One element may fit where a random packing has none: in the middle, where the lattice has one.
            true => Pattern::Hexagonal.fill(solid, bounds, radius, depth),
            false => points,
        })
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
        bonding: kind.bonding(),
        makeup: pattern.makeup(),
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
            // Counts jump; of the radii within a tenth of the guess, the nearest that comes close enough, or
            // else the closest.
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
    if number < 1.0 {
        return Err(too_large(body, radius, skin));
    }
    refuse_too_many(body, radius, number)?;
    Ok((counts(radius).map(|n| n as u32), radius))
}

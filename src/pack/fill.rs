//! Fills the shape of a body with elements, in the frame of the shape.

use std::f64::consts::PI;

use glam::DVec3;

use super::error::PackError;
use super::filled::{Bonding, FilledShape, PackingStructure};
use super::lattice::{LAYER_SPACING, ROW_SPACING, VOLUME_PER_ELEMENT};
use super::outline::{Outline, curve, positive};
use super::pattern::{Pattern, PatternKind};
use super::points::ElementSpheres;
use super::request::{
    CENTRE_DEPTH, COUNT_TOLERANCE, SeededBody, SizeRequest, refuse_too_many, too_large,
};
use super::yarn::twisted::{self, Rope};
use super::yarn::woven::{self, ClothCut};
use super::{cells, hexagonal, shell};
use crate::geometry::{TriMesh, shapes};
use crate::spec::{Body, BodyShape, PackingSpec, ROPE_NEEDS_AXIS, Weave};

/// [`CENTRE_DEPTH`] for loose elements, which lie inside as a whole: if they stuck out, a container that fits
/// the shape would throw them.
const LOOSE_CENTRE_DEPTH: f64 = 1.0;
/// Distance over the sum of radii within which loose grains count as neighbours, equal to the default of
/// random packings.
const LOOSE_NEIGHBOURHOOD: f64 = 1.1;

fn centre_depth(body: &Body, kind: PatternKind) -> f64 {
    match kind {
        PatternKind::Random { .. } if !body.is_bonded() => LOOSE_CENTRE_DEPTH,
        PatternKind::Random { .. } | PatternKind::Hexagonal => CENTRE_DEPTH,
    }
}

fn size_request(body: &Body) -> Result<SizeRequest, PackError> {
    let (radius, elements) = body.packing.size();
    let refuse = |found| PackError::RadiusOrElements {
        body: body.name.clone(),
        found,
    };
    match (radius, elements) {
        (Some(radius), None) => Ok(SizeRequest::Radius(positive(
            body,
            "packing.radius",
            radius,
        )?)),
        (None, Some(elements)) => {
            let elements = positive(body, "packing.elements", f64::from(elements))?;
            Ok(SizeRequest::Elements(elements))
        }
        (Some(_), Some(_)) => Err(refuse("found both")),
        (None, None) => Err(refuse("found neither")),
    }
}

/// Fills the shape of a body; `base` is the folder that mesh paths are relative to.
pub(super) fn fill(seeded: SeededBody, mesh: Option<&TriMesh>) -> Result<FilledShape, PackError> {
    let body = seeded.body;
    let request = || size_request(body);
    match body.packing {
        PackingSpec::None {} => {
            let Outline { skin, volume, .. } = Outline::of(body, mesh)?;
            let spheres = ElementSpheres::default();
            Ok(FilledShape {
                spheres,
                radius: 0.0,
                bonding: Bonding::Given(Vec::new()),
                structure: PackingStructure::Lattice,
                volume,
                skin,
            })
        }
        PackingSpec::Hexagonal { .. } => close_packed(seeded, request()?, mesh),
        PackingSpec::Random {
            spread,
            neighbourhood,
            ..
        } => {
            let kind = PatternKind::Random {
                spread,
                fraction: None,
                neighbourhood,
            };
            fill_with_pattern(seeded, kind, request()?, mesh)
        }
        PackingSpec::Loose {
            spread, fraction, ..
        } => {
            let kind = PatternKind::Random {
                spread,
                fraction: Some(fraction),
                neighbourhood: LOOSE_NEIGHBOURHOOD,
            };
            fill_with_pattern(seeded, kind, request()?, mesh)
        }
        PackingSpec::Shell {
            layers,
            neighbourhood,
            ..
        } => {
            let request = request()?;
            let outline = Outline::of(body, mesh)?;
            shell::fill(seeded, request, outline, layers, neighbourhood)
        }
        PackingSpec::Twisted {
            strands,
            filaments,
            pitch,
            ..
        } => rope(body, request()?, mesh, (strands, filaments, pitch)),
        PackingSpec::Woven {
            weave, filaments, ..
        } => cloth(body, request()?, mesh, (weave, filaments)),
        PackingSpec::Voronoi {
            size,
            cells,
            relax,
            seed,
        } => {
            let outline = Outline::of(body, mesh)?;
            let seed = (seed.unwrap_or(seeded.seed.0), seeded.seed.1);
            cells::voronoi(SeededBody { body, seed }, outline, (size, cells), relax)
        }
        PackingSpec::Cubic { size, rows } => cells::cubic(body, mesh, (size, rows)),
    }
}

/// Fills a shape with a hexagonal packing: plates, blocks and boxes with whole rows, others with the lattice
/// cut at the skin.
fn close_packed(
    seeded: SeededBody,
    request: SizeRequest,
    mesh: Option<&TriMesh>,
) -> Result<FilledShape, PackError> {
    let body = seeded.body;
    match &body.shape {
        BodyShape::Plate { size, layers, hole } => plate(body, request, (*size, *layers, *hole)),
        BodyShape::Block { rows } => block(body, request, rows),
        BodyShape::Box { .. } => cuboid(body, request, mesh),
        BodyShape::Mesh { .. }
        | BodyShape::Sphere { .. }
        | BodyShape::Cylinder { .. }
        | BodyShape::Revolved { .. }
        | BodyShape::CylinderShell { .. }
        | BodyShape::SphereShell { .. }
        | BodyShape::Tube { .. } => {
            fill_with_pattern(seeded, PatternKind::Hexagonal, request, mesh)
        }
    }
}

/// Fills a shape of any proportions with one pattern.
fn fill_with_pattern(
    seeded: SeededBody,
    kind: PatternKind,
    request: SizeRequest,
    mesh: Option<&TriMesh>,
) -> Result<FilledShape, PackError> {
    let outline = Outline::of(seeded.body, mesh)?;
    let fit = fill_region(seeded, kind, request, &outline)?;
    Ok(fit.filled(outline.volume, outline.skin))
}

/// Fills a plate with rows in layers.
fn plate(
    body: &Body,
    request: SizeRequest,
    (size, layers, hole): ([f64; 2], u32, Option<f64>),
) -> Result<FilledShape, PackError> {
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
        let size = DVec3::new(x, layers * LAYER_SPACING * r, z);
        hole.map_or_else(
            || shapes::cuboid(size),
            |hole| shapes::cuboid_with_hole(size, hole),
        )
    };
    // The rows are counted as if they continued through the hole.
    let whole = match request {
        SizeRequest::Elements(number) => SizeRequest::Elements(number * x * z / area),
        SizeRequest::Radius(_) => request,
    };
    let start = |n: f64| (x * z * layers / (2.0 * ROW_SPACING * n)).sqrt();
    let counts = |r: f64| {
        [
            (x / (2.0 * r)).round(),
            (z / (ROW_SPACING * r)).round(),
            layers,
        ]
    };
    let (counts, radius) = count_rows(body, whole, &skin(0.0), start, counts)?;
    // Rows along x as in the lattice, layers turned from z to y.
    let turned = |p: DVec3| DVec3::new(p.x, p.z, -p.y);
    let clear = hole.map_or(0.0, |hole| hole + CENTRE_DEPTH * radius);
    let centres = hexagonal::block(counts, radius).into_iter().map(turned);
    let centres = centres.filter(|p| p.x.hypot(p.z) >= clear).collect();
    let fit = FittedElements::lattice(centres, radius);
    Ok(fit.filled(area * layers * LAYER_SPACING * radius, skin(radius)))
}

/// Fills a block of counted rows.
fn block(body: &Body, request: SizeRequest, rows: &[u32; 3]) -> Result<FilledShape, PackError> {
    for row in rows {
        positive(body, "shape.rows", f64::from(*row))?;
    }
    let radius = match request {
        SizeRequest::Radius(radius) => radius,
        // The rows are given, so a number of elements does not determine a size.
        SizeRequest::Elements(_) => {
            return Err(PackError::RadiusOrElements {
                body: body.name.clone(),
                found: "but a block, whose rows are given, needs radius",
            });
        }
    };
    refuse_too_many(body, radius, rows.iter().map(|n| f64::from(*n)).product())?;
    let size = hexagonal::block_size(*rows, radius);
    let fit = FittedElements::lattice(hexagonal::block(*rows, radius), radius);
    Ok(fit.filled(size.element_product(), shapes::cuboid(size)))
}

/// Fills a box with whole rows.
fn cuboid(
    body: &Body,
    request: SizeRequest,
    mesh: Option<&TriMesh>,
) -> Result<FilledShape, PackError> {
    let Outline { skin, volume, .. } = Outline::of(body, mesh)?;
    let (low, high) = skin.bounds().unwrap_or_default();
    let size = high - low;
    let start = (volume / VOLUME_PER_ELEMENT).cbrt();
    let counts = |r: f64| {
        let rows = size / (DVec3::new(2.0, ROW_SPACING, LAYER_SPACING) * r);
        rows.to_array().map(f64::round)
    };
    let (counts, radius) = count_rows(body, request, &skin, |n| start / n.cbrt(), counts)?;
    let centres = hexagonal::block(counts, radius);
    Ok(FittedElements::lattice(centres, radius).filled(volume, skin))
}

/// Fills a cylinder or a tube with a rope; `(strands, filaments, pitch)`, pitch in m.
fn rope(
    body: &Body,
    request: SizeRequest,
    mesh: Option<&TriMesh>,
    (strands, filaments, pitch): (u32, Option<u32>, f64),
) -> Result<FilledShape, PackError> {
    let (radius, height, axis) = match &body.shape {
        BodyShape::Cylinder { radius, height } => (*radius, *height, None),
        BodyShape::Tube { points, radius } => {
            // Refuses a tube that intersects itself, as for every packing.
            Outline::of(body, mesh)?;
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
            return Err(PackError::UnsuitableShape {
                body: body.name.clone(),
                what: ROPE_NEEDS_AXIS,
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
    twisted::fill(body, request, &rope)
}

/// Fills a shape with cloth: a plate with as many sheets as it has layers, others with as many as fit.
fn cloth(
    body: &Body,
    request: SizeRequest,
    mesh: Option<&TriMesh>,
    yarns: (Weave, u32),
) -> Result<FilledShape, PackError> {
    if let BodyShape::Plate { size, layers, hole } = body.shape {
        for edge in size {
            positive(body, "shape.size", edge)?;
        }
        return woven::fill(body, request, &woven::plate(size, layers, hole), yarns);
    }
    let outline = Outline::of(body, mesh)?;
    let cut = ClothCut {
        region: outline.region(),
        bounds: outline.bounds(),
        sheets: None,
        hole: None,
    };
    woven::fill(body, request, &cut, yarns)
}

/// Largest number of lattice sites in the body's box per element. A valid body hardly fills less of its box.
const MAX_SITES_PER_ELEMENT: f64 = 1e4;

fn refuse_sparse(
    body: &Body,
    bounds: (DVec3, DVec3),
    radius: f64,
    most: f64,
) -> Result<(), PackError> {
    let sites = hexagonal::lattice_sites(bounds, radius);
    // NaN is refused too.
    if sites <= most {
        return Ok(());
    }
    Err(PackError::AlmostEmptyBox {
        body: body.name.clone(),
        radius,
        sites,
        extent: bounds.1 - bounds.0,
    })
}

/// Elements that fit into a shape.
struct FittedElements {
    spheres: ElementSpheres,
    radius: f64,
    bonding: Bonding,
    structure: PackingStructure,
}

impl FittedElements {
    fn lattice(centres: Vec<DVec3>, radius: f64) -> Self {
        FittedElements {
            spheres: ElementSpheres::equal(centres, radius),
            radius,
            bonding: PatternKind::Hexagonal.bonding(),
            structure: PackingStructure::Lattice,
        }
    }

    fn filled(self, volume: f64, skin: TriMesh) -> FilledShape {
        FilledShape {
            spheres: self.spheres,
            radius: self.radius,
            bonding: self.bonding,
            structure: self.structure,
            volume,
            skin,
        }
    }
}

fn fill_region(
    seeded: SeededBody,
    kind: PatternKind,
    request: SizeRequest,
    outline: &Outline,
) -> Result<FittedElements, PackError> {
    let body = seeded.body;
    let Outline { skin, volume, .. } = outline;
    let (volume, bounds, solid) = (*volume, outline.bounds(), &outline.region());
    let (depth, volume_each) = (centre_depth(body, kind), kind.volume_per_element());
    let (start, margin) = match request {
        SizeRequest::Radius(radius) => (radius, 1.0),
        SizeRequest::Elements(number) => {
            let area = skin.area();
            // The layer above the outermost centres stays empty.
            let mut radius = (volume / (volume_each * number)).cbrt();
            for _ in 0..4 {
                let filled = (volume - depth * radius * area).max(0.3 * volume);
                radius = (filled / (volume_each * number)).cbrt();
            }
            // The radius that gives the requested number may be smaller.
            (radius, 1.05)
        }
    };
    let estimate =
        |radius: f64| refuse_too_many(body, radius, volume / (volume_each * radius.powi(3)));
    let sparse = |radius: f64| {
        let number = match request {
            SizeRequest::Radius(_) => volume / (volume_each * radius.powi(3)),
            SizeRequest::Elements(number) => number,
        };
        refuse_sparse(
            body,
            bounds,
            radius,
            MAX_SITES_PER_ELEMENT * number.max(10.0),
        )
    };
    estimate(start)?;
    sparse(start)?;
    let pattern = Pattern::of(kind, (bounds.1 - bounds.0) * margin / start, seeded.seed);
    let at = |radius: f64| {
        estimate(radius)?;
        sparse(radius)?;
        let spheres = pattern.fill(solid, bounds, radius, depth);
        Ok::<_, PackError>(match spheres.centres.is_empty() {
            // If the random packing has no element inside, one may fit in the middle, where the lattice has a
            // site.
            true => Pattern::Hexagonal.fill(solid, bounds, radius, depth),
            false => spheres,
        })
    };
    let (mut spheres, mut radius) = (at(start)?, start);
    if let SizeRequest::Elements(number) = request {
        let off = |spheres: &ElementSpheres| (spheres.centres.len() as f64 / number - 1.0).abs();
        let (mut tried, mut found) = (start, spheres.centres.len());
        for _ in 0..5 {
            if off(&spheres) <= COUNT_TOLERANCE {
                break;
            }
            tried *= (found.max(1) as f64 / number).cbrt();
            // In a thin body the pattern that gives the number may be too fine.
            let other = match at(tried) {
                Err(PackError::AlmostEmptyBox { .. }) => break,
                other => other?,
            };
            found = other.centres.len();
            if off(&other) < off(&spheres) {
                (spheres, radius) = (other, tried);
            }
        }
    }
    Ok(FittedElements {
        spheres,
        radius,
        bonding: kind.bonding(),
        structure: pattern.structure(),
    })
}

/// Counts of rows per direction, and radius, of a body filled with whole rows: `start` estimates the radius
/// for a number of elements, `counts` rounds the rows for a radius.
fn count_rows(
    body: &Body,
    request: SizeRequest,
    skin: &TriMesh,
    start: impl Fn(f64) -> f64,
    counts: impl Fn(f64) -> [f64; 3],
) -> Result<([u32; 3], f64), PackError> {
    let product = |r: f64| counts(r).iter().product::<f64>();
    let radius = match request {
        SizeRequest::Radius(radius) => radius,
        SizeRequest::Elements(number) => {
            // Counts jump with the radius. Of the radii within a tenth of the estimate, take the nearest one
            // that is within the tolerance, or else the best one.
            let off = |r: f64| (product(r) / number - 1.0).abs();
            let guess = start(number);
            let tries = (0..=100).map(|k| {
                let step = f64::from((k + 1) / 2) * 2e-3;
                guess * (1.0 + if k % 2 == 0 { step } else { -step })
            });
            tries
                .clone()
                .find(|r| off(*r) <= COUNT_TOLERANCE)
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

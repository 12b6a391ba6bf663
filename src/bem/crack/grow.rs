//! Growth of one crack, from its first disc until it goes through the body or comes to rest.

use glam::DVec3;

use super::error::FractureError;
use super::front::{GrowthSettings, advance, clear_outer_rim, tear};
use super::inside::Inside;
use super::opening::{BodyEquations, OpenCrack};
use super::sheet::{CrackEnd, Sheet};
use super::start::CrackStart;
use crate::bem::solution::Solution;
use crate::bem::solver::SolveError;
use crate::bem::surface::Surface;
use crate::geometry::cut::{CutError, CutPiece, cut};

/// Depth of the centre of a crack's first disc below the surface, over its radius.
const DISC_DEPTH: f64 = 0.25;
/// For a further attempt to cut: shift of the sheet along its normal, and random displacement of its
/// vertices, over the length of a step; and the number of attempts.
const SHIFT: f64 = 0.02;
const JITTER: f64 = 1e-6;
const JITTER_GROWTH: f64 = 4.0;
const MAX_ATTEMPTS: u32 = 8;

/// Ratio of the released energy to the largest so far. Below it the equations no longer resolve the ligament
/// that still holds the body together.
const MIN_ENERGY_RATIO: f64 = 0.99;

/// A crack that has stopped growing.
pub struct GrownCrack {
    /// The surface of the crack.
    pub sheet: Sheet,
    /// The pieces of the body, if the crack went through.
    pub pieces: Option<Vec<CutPiece>>,
    /// Number of steps.
    pub steps: u32,
}

/// A growing crack.
struct Growth<'a> {
    body: &'a BodyEquations<'a>,
    base: &'a Solution<'a>,
    inside: &'a Inside<'a>,
    settings: GrowthSettings,
    /// Whether the crack runs on where it would come to rest.
    tears: bool,
    /// Largest energy that it has released, J; none once the ligament that holds the body together is too
    /// small for the equations to resolve, which then find less energy or fail.
    released: Option<f64>,
    /// The opened crack for the next step, if it has been computed already.
    precomputed: Option<OpenCrack<'a>>,
}

impl<'a> Growth<'a> {
    fn open(&self, sheet: &Sheet) -> Result<OpenCrack<'a>, SolveError> {
        OpenCrack::new(self.body, self.base, sheet, |x| self.inside.contains(x))
    }

    fn is_through(&self, sheet: &Sheet) -> bool {
        let mut rim = sheet.rim.iter().map(|v| sheet.mesh.positions[*v as usize]);
        !rim.any(|place| self.inside.contains(place))
    }
}

/// Next advance of each rim vertex, m; none if the crack comes to rest.
fn next_advance(growth: &mut Growth, sheet: &Sheet) -> Result<Option<Vec<DVec3>>, SolveError> {
    let Growth {
        inside, settings, ..
    } = *growth;
    let frames = sheet.frames();
    let ahead = tear(&frames, inside, settings);
    let Some(before) = growth.released else {
        return Ok(Some(ahead));
    };
    let opened = match growth.precomputed.take() {
        Some(opened) => Some(opened),
        None if before > 0.0 => growth.open(sheet).ok(),
        None => Some(growth.open(sheet)?),
    };
    let opened = opened.filter(|opened| {
        opened.released_energy() > 0.0 && opened.released_energy() >= MIN_ENERGY_RATIO * before
    });
    let Some(opened) = opened else {
        growth.released = None;
        return Ok(Some(ahead));
    };
    let most = before.max(opened.released_energy());
    growth.released = Some(most);
    let by_stress = advance(&frames, inside, settings, |x| opened.stress(x), growth.base);
    if by_stress.iter().any(|v| *v != DVec3::ZERO) {
        return Ok(Some(by_stress));
    }
    if let Some(toughness) = settings.toughness {
        let mut wider = sheet.clone();
        wider.grow(&ahead, settings.length);
        if growth.is_through(&wider) {
            return Ok(Some(ahead));
        }
        let wider = growth.open(&wider).ok();
        let Some(wider) = wider.filter(|wider| wider.released_energy() >= MIN_ENERGY_RATIO * most)
        else {
            growth.released = None;
            return Ok(Some(ahead));
        };
        if wider.released_energy() - opened.released_energy()
            >= toughness * (wider.area() - opened.area())
        {
            growth.precomputed = Some(wider);
            return Ok(Some(ahead));
        }
    }
    if growth.tears && before > 0.0 {
        growth.released = None;
        return Ok(Some(ahead));
    }
    Ok(None)
}

/// Lets a crack grow from a point of a body, in at most `max_steps` steps.
///
/// `tears`: whether it runs on where it would come to rest.
pub fn grow(
    body: &BodyEquations,
    base: &Solution,
    inside: &Inside,
    start: CrackStart,
    (settings, tears): (GrowthSettings, bool),
    max_steps: u32,
) -> Result<GrownCrack, FractureError> {
    let middle = start.at - start.out * (DISC_DEPTH * settings.length);
    let mut sheet = Sheet::disc(start.at, middle, start.normal, settings.length);
    let outward = clear_outer_rim(&sheet.frames(), inside, settings);
    sheet.grow(&outward, settings.length);
    let mut growth = Growth {
        body,
        base,
        inside,
        settings,
        tears,
        released: Some(0.0),
        precomputed: None,
    };
    let mut steps = 0;
    // The first disc may already cross the body.
    let pieces = loop {
        if growth.is_through(&sheet) {
            let pieces =
                cut_through(body, &mut sheet, settings.length).map_err(FractureError::Cut)?;
            sheet.end = CrackEnd::Through;
            break Some(pieces);
        }
        if steps == max_steps {
            break None;
        }
        let Some(moves) = next_advance(&mut growth, &sheet).map_err(FractureError::Opening)? else {
            sheet.end = CrackEnd::AtRest;
            break None;
        };
        sheet.grow(&moves, settings.length);
        steps += 1;
    };
    Ok(GrownCrack {
        sheet,
        pieces,
        steps,
    })
}

/// Cuts the body along a sheet whose rim is outside it. If the sheet runs along edges of the body, which
/// leaves slivers, the body is cut slightly next to them.
fn cut_through(
    body: &BodyEquations,
    sheet: &mut Sheet,
    length: f64,
) -> Result<Vec<CutPiece>, CutError> {
    let mesh = &body.surface.mesh;
    let mut poor = None;
    let mut failure = CutError::NotGeneral;
    for attempt in 0..MAX_ATTEMPTS {
        match cut(mesh, &sheet.mesh) {
            Ok(pieces) => {
                if pieces.iter().all(|piece| Surface::new(&piece.mesh).is_ok()) {
                    return Ok(pieces);
                }
                poor = poor.or(Some((sheet.clone(), pieces)));
                sheet.shift(sheet.normal * (SHIFT * length));
                continue;
            }
            Err(error) => failure = error,
        }
        match failure {
            // Farther each time: folds of the sheet need more than corners that lie in a plane.
            CutError::NotGeneral | CutError::Loop => {
                let most = JITTER * JITTER_GROWTH.powi(attempt as i32) * length;
                sheet.jitter(most, attempt);
            }
            // Edges of the rim pass through corners of the body.
            CutError::EndsInside(_) => {
                let frames = sheet.frames();
                let out: Vec<_> = frames.iter().map(|f| f.out * (length / 2.0)).collect();
                sheet.grow(&out, length);
            }
            CutError::NoIntersection | CutError::NotSeparated | CutError::VolumeMismatch => break,
        }
    }
    let (shape, pieces) = poor.ok_or(failure)?;
    *sheet = shape;
    Ok(pieces)
}

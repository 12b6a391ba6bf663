//! One crack, from its first disc to a cut body or to rest.

use glam::DVec3;

use super::error::FractureError;
use super::front::{Stride, advance, skirt, tear};
use super::inside::Inside;
use super::opening::{Body, Opened};
use super::sheet::{End, Sheet};
use super::start::Place;
use crate::bem::solution::Solution;
use crate::bem::solver::SolveError;
use crate::bem::surface::Surface;
use crate::geometry::cut::{CutError, CutPiece, cut};

/// Distance by which the middle of a crack's first disc lies inside, over its radius.
const SUNK: f64 = 0.25;
/// Part of a step by which a sheet is moved along its normal, and its vertices about, for another cut, and
/// how often that is tried.
const MOVED: f64 = 0.02;
const SHAKEN: f64 = 1e-6;
const TRIES: u32 = 8;

/// Part of the energy set free, below which a wider crack sets free less than the equations' error: what
/// holds the body together is too small for them.
const LESS: f64 = 0.99;

/// How a crack ended.
pub struct Grown {
    /// Its surface.
    pub sheet: Sheet,
    /// The pieces of the body, if it went through.
    pub pieces: Option<Vec<CutPiece>>,
    /// Steps that it took.
    pub steps: u32,
}

/// A crack on its way.
struct Growth<'a> {
    body: &'a Body<'a>,
    base: &'a Solution<'a>,
    inside: &'a Inside<'a>,
    stride: Stride,
    /// Whether it is torn on where it comes to rest.
    tears: bool,
    /// Most energy that it has set free, J; none once what holds the body together is too small for the
    /// equations to resolve: they find less energy, or none.
    released: Option<f64>,
    /// The body with the crack as the next step finds it, where that is known already.
    known: Option<Opened<'a>>,
}

impl<'a> Growth<'a> {
    fn open(&self, sheet: &Sheet) -> Result<Opened<'a>, SolveError> {
        Opened::new(self.body, self.base, sheet, |x| self.inside.contains(x))
    }

    fn is_through(&self, sheet: &Sheet) -> bool {
        let mut rim = sheet.rim.iter().map(|v| sheet.mesh.positions[*v as usize]);
        !rim.any(|place| self.inside.contains(place))
    }
}

/// How the rim moves from where it is, m for each of its vertices; none where the crack comes to rest.
fn next(growth: &mut Growth, sheet: &Sheet) -> Result<Option<Vec<DVec3>>, SolveError> {
    let Growth { inside, stride, .. } = *growth;
    let frames = sheet.frames();
    let ahead = tear(&frames, inside, stride);
    let Some(before) = growth.released else {
        return Ok(Some(ahead));
    };
    let opened = match growth.known.take() {
        Some(opened) => Some(opened),
        None if before > 0.0 => growth.open(sheet).ok(),
        None => Some(growth.open(sheet)?),
    };
    let opened = opened.filter(|opened| opened.work() > 0.0 && opened.work() >= LESS * before);
    let Some(opened) = opened else {
        growth.released = None;
        return Ok(Some(ahead));
    };
    let most = before.max(opened.work());
    growth.released = Some(most);
    let by_stress = advance(&frames, inside, stride, |x| opened.stress(x), growth.base);
    if by_stress.iter().any(|v| *v != DVec3::ZERO) {
        return Ok(Some(by_stress));
    }
    if let Some(toughness) = stride.toughness {
        let mut wider = sheet.clone();
        wider.grow(&ahead, stride.length);
        if growth.is_through(&wider) {
            return Ok(Some(ahead));
        }
        let wider = growth.open(&wider).ok();
        let Some(wider) = wider.filter(|wider| wider.work() >= LESS * most) else {
            growth.released = None;
            return Ok(Some(ahead));
        };
        if wider.work() - opened.work() >= toughness * (wider.area() - opened.area()) {
            growth.known = Some(wider);
            return Ok(Some(ahead));
        }
    }
    if growth.tears && before > 0.0 {
        growth.released = None;
        return Ok(Some(ahead));
    }
    Ok(None)
}

/// Lets a crack grow from a place of a body, in no more than `most` steps.
///
/// `tears`: whether one that comes to rest is torn on.
pub fn grow(
    body: &Body,
    base: &Solution,
    inside: &Inside,
    start: Place,
    (stride, tears): (Stride, bool),
    most: u32,
) -> Result<Grown, FractureError> {
    let middle = start.at - start.out * (SUNK * stride.length);
    let mut sheet = Sheet::disc(start.at, middle, start.normal, stride.length);
    let skirt = skirt(&sheet.frames(), inside, stride);
    sheet.grow(&skirt, stride.length);
    let mut growth = Growth {
        body,
        base,
        inside,
        stride,
        tears,
        released: Some(0.0),
        known: None,
    };
    let mut steps = 0;
    // The first disc may be wider than what it crosses.
    let pieces = loop {
        if growth.is_through(&sheet) {
            let pieces = through(body, &mut sheet, stride.length).map_err(FractureError::Cut)?;
            sheet.end = End::Through;
            break Some(pieces);
        }
        if steps == most {
            break None;
        }
        let Some(moves) = next(&mut growth, &sheet)? else {
            sheet.end = End::AtRest;
            break None;
        };
        sheet.grow(&moves, stride.length);
        steps += 1;
    };
    Ok(Grown {
        sheet,
        pieces,
        steps,
    })
}

/// Cuts the body along a sheet whose rim has left it: where the sheet runs along edges of the body, which
/// leaves slivers, beside them.
fn through(body: &Body, sheet: &mut Sheet, length: f64) -> Result<Vec<CutPiece>, CutError> {
    let mesh = &body.surface.mesh;
    let mut poor = None;
    let mut failure = CutError::NotGeneral;
    for attempt in 0..TRIES {
        match cut(mesh, &sheet.mesh) {
            Ok(pieces) => {
                if pieces.iter().all(|piece| Surface::new(&piece.mesh).is_ok()) {
                    return Ok(pieces);
                }
                poor = poor.or(Some((sheet.clone(), pieces)));
                sheet.shift(sheet.normal * (MOVED * length));
                continue;
            }
            Err(error) => failure = error,
        }
        match failure {
            CutError::NotGeneral | CutError::Loop => sheet.shake(SHAKEN * length, attempt),
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

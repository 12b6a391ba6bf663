//! One crack, from its first disc to a cut body or to rest.

use glam::DVec3;

use super::front::{Stride, advance, skirt, tear};
use super::inside::Inside;
use super::opening::{Body, Opened};
use super::sheet::Sheet;
use super::start::Place;
use crate::bem::solution::Solution;
use crate::bem::solver::SolveError;
use crate::bem::surface::Surface;
use crate::geometry::cut::{CutError, Piece, cut};

/// Distance by which the middle of a crack's first disc lies inside, over its radius.
const SUNK: f64 = 0.25;
/// Part of a step by which a sheet is moved along its normal, and its vertices about, for another cut, and how often that is tried.
const MOVED: f64 = 0.02;
const SHAKEN: f64 = 1e-6;
const TRIES: u32 = 8;

/// How a crack ended.
pub struct Grown {
    /// Its surface.
    pub sheet: Sheet,
    /// The pieces of the body, if it went through.
    pub pieces: Option<Vec<Piece>>,
    /// Steps that it took.
    pub steps: u32,
}

/// Lets a crack grow from a place of a body, in no more than `most` steps, the first of them number `first`.
///
/// `tears`: whether one that comes to rest is torn on.
pub fn grow(
    body: &Body,
    base: &Solution,
    inside: &Inside,
    start: Place,
    (stride, tears): (Stride, bool),
    (first, most): (u32, u32),
) -> Result<Grown, SolveError> {
    let middle = start.at - start.out * (SUNK * stride.length);
    let mut sheet = Sheet::disc(start.at, middle, start.normal, stride.length);
    let skirt = skirt(&sheet.frames(), inside, stride);
    sheet.grow(&skirt, stride.length, first);
    let contains = |x| inside.contains(x);
    // Energy that the crack has set free; none once what holds the body together is too small for the equations to tell.
    let mut released = Some(0.0);
    for step in 0..most {
        let frames = sheet.frames();
        if let Some(before) = released {
            let opened = Opened::new(body, base, &sheet, contains)?;
            released = Some(opened.work()).filter(|work| *work > before);
            if released.is_some() {
                let next = advance(&frames, inside, stride, |x| opened.stress(x), base);
                let rests = next.iter().all(|v| *v == DVec3::ZERO);
                if rests && (step == 0 || !tears) {
                    return Ok(Grown {
                        sheet,
                        pieces: None,
                        steps: step,
                    });
                }
                if rests {
                    released = None;
                } else {
                    sheet.grow(&next, stride.length, first + step + 1);
                }
            }
        }
        if released.is_none() {
            let next = tear(&frames, inside, stride);
            sheet.grow(&next, stride.length, first + step + 1);
        }
        let at = |v: &u32| sheet.mesh.positions[*v as usize];
        if sheet.rim.iter().any(|v| inside.contains(at(v))) {
            continue;
        }
        let pieces = through(body, &mut sheet, stride.length, first + step + 1);
        return Ok(Grown {
            sheet,
            pieces,
            steps: step + 1,
        });
    }
    Ok(Grown {
        sheet,
        pieces: None,
        steps: most,
    })
}

/// Cuts the body along a sheet whose rim has left it: where the sheet runs along edges of the body, which leaves slivers, beside them.
fn through(body: &Body, sheet: &mut Sheet, length: f64, step: u32) -> Option<Vec<Piece>> {
    let mesh = &body.surface.mesh;
    let mut poor = None;
    for attempt in 0..TRIES {
        match cut(mesh, &sheet.mesh) {
            Ok(pieces) => {
                sheet.is_through = true;
                if pieces.iter().all(|piece| Surface::new(&piece.mesh).is_ok()) {
                    return Some(pieces);
                }
                poor = poor.or(Some((sheet.clone(), pieces)));
                sheet.shift(sheet.normal * (MOVED * length));
            }
            Err(CutError::NotGeneral | CutError::Loop) => sheet.shake(SHAKEN * length, attempt),
            // Edges of the rim pass through corners of the body.
            Err(CutError::EndsInside(_)) => {
                let frames = sheet.frames();
                let out: Vec<_> = frames.iter().map(|f| f.out * (length / 2.0)).collect();
                sheet.grow(&out, length, step);
            }
            Err(_) => break,
        }
    }
    let (shape, pieces) = poor?;
    *sheet = shape;
    Some(pieces)
}

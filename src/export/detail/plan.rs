//! Decides how far each fragment of a clip is reduced.

use std::collections::BTreeMap;

use glam::DVec3;

use super::apply::Reduction;
use super::limits::{DetailLimits, DetailSummary};
use super::reduce::{Reduced, reduce};
use super::survey::{ReadFrame, ShapeKey, Survey, SurveyedShape};
use crate::export::error::ExportError;
use crate::export::space::FileCoordinates;
use crate::parallel::prelude::*;

/// Largest error of a fragment over its size: it can still be recognised.
pub const LARGEST_ERROR: f64 = 0.125;

/// Part of the triangles that may be used from which on a search ends.
const NEARLY_ALL: f64 = 0.94;

/// Most steps of the search for the error that uses all triangles.
const STEPS: usize = 14;

/// Steps to the same side after which the search bisects.
const STALLED: usize = 2;

/// Ratio of two errors between which no search is worth it.
const NEARLY_EQUAL: f64 = 1.02;

/// Smallest error that is tried, over the largest that the shape allows whose largest is least.
const SMALLEST_ERROR: f64 = 1e-4;

/// About how many triangles a fragment has at the coarsest.
const FEWEST: f64 = 16.0;

/// Plans the reduction of the surfaces of frames.
pub fn plan(
    frames: &[u32],
    limits: &DetailLimits,
    space: FileCoordinates,
    read: &ReadFrame,
) -> Result<Reduction, ExportError> {
    let eye = limits.view.map_or([0.0; 3], |view| view.eye);
    let eye = space.transform(eye.map(|x| x as f32)).map(f64::from);
    let survey = Survey::new(frames, DVec3::from(eye), read)?;
    let clip = Clip {
        survey: &survey,
        // Length of a unit of the error per unit of distance, or by itself.
        pixel: limits.view.map(|view| view.pixel),
    };
    let full = clip.most(|key| survey.shapes[key].mesh.triangles());
    let unit = match limits.view {
        Some(_) => 1.0,
        None => space.scale,
    };
    let budget = limits.triangles.map_or(u64::MAX, u64::from);
    let error = match limits.error {
        Some(error) => error * unit,
        None => clip.error_within(budget, full)?,
    };
    let reduced = clip.reduced(error);
    let counts: Vec<usize> = reduced
        .iter()
        .map(Option::as_ref)
        .zip(survey.shapes.values())
        .map(count)
        .collect();
    let exported = clip.most_triangles(&counts);
    if let Some(error) = limits.error.filter(|_| exported > budget) {
        let unit = if limits.view.is_some() { "pixels" } else { "m" };
        return Err(ExportError::Triangles {
            asked: budget,
            least: exported,
            within: format!("{error} {unit}"),
        });
    }
    let unreduced = reduced.iter().filter(|reduced| reduced.is_none()).count();
    let kept = survey.shapes.keys().zip(reduced);
    Ok(Reduction {
        shapes: kept
            .filter_map(|(key, reduced)| Some((*key, reduced?)))
            .collect(),
        summary: DetailSummary {
            full,
            exported,
            error,
            in_pixels: limits.view.is_some(),
            meshes: survey.shapes.len(),
            unreduced,
        },
    })
}

/// The meshes of a clip, and what errors are measured in.
struct Clip<'a> {
    survey: &'a Survey,
    /// Size of a pixel over its distance; `None`: errors are lengths.
    pixel: Option<f64>,
}

/// Triangles that are left of a shape.
fn count((reduced, shape): (Option<&Reduced>, &SurveyedShape)) -> usize {
    reduced.map_or_else(|| shape.mesh.triangles(), |reduced| reduced.triangles.len())
}

impl Clip<'_> {
    /// Length of a unit of the error, for a shape.
    fn unit(&self, shape: &SurveyedShape) -> f64 {
        self.pixel.map_or(1.0, |pixel| pixel * shape.distance)
    }

    /// The mesh of a shape, reduced as far as this error allows.
    fn reduce(&self, shape: &SurveyedShape, error: f64) -> Option<Reduced> {
        let allowed = error * self.unit(shape);
        if allowed > 0.0 {
            reduce(
                &shape.mesh.prepared(),
                allowed.min(LARGEST_ERROR * shape.mesh.size),
            )
        } else {
            None
        }
    }

    /// All meshes, reduced as far as this error allows; `None` where one keeps all its triangles.
    fn reduced(&self, error: f64) -> Vec<Option<Reduced>> {
        let shapes: Vec<&SurveyedShape> = self.survey.shapes.values().collect();
        let reduced = shapes.par_iter().map(|shape| self.reduce(shape, error));
        reduced.collect()
    }

    /// Triangles in the frame with the most, with this error.
    fn triangles_with(&self, error: f64) -> u64 {
        let shapes: Vec<&SurveyedShape> = self.survey.shapes.values().collect();
        let counts = shapes
            .par_iter()
            .map(|shape| count((self.reduce(shape, error).as_ref(), shape)));
        self.most_triangles(&counts.collect::<Vec<usize>>())
    }

    /// Sum over the shapes in a frame, in the frame with the largest.
    fn most(&self, count: impl Fn(&ShapeKey) -> usize) -> u64 {
        let sum = |keys: &Vec<ShapeKey>| keys.iter().map(|key| count(key) as u64).sum();
        self.survey.frames.iter().map(sum).max().unwrap_or(0)
    }

    /// Triangles in the frame with the most, from those of each shape.
    fn most_triangles(&self, counts: &[usize]) -> u64 {
        let counts: BTreeMap<&ShapeKey, usize> = self
            .survey
            .shapes
            .keys()
            .zip(counts.iter().copied())
            .collect();
        self.most(|key| counts[key])
    }

    /// About the smallest error with which no frame has more triangles than `budget`. `full` is the largest number of
    /// triangles without reduction.
    fn error_within(&self, budget: u64, full: u64) -> Result<f64, ExportError> {
        if full <= budget {
            return Ok(0.0);
        }
        let shapes = self.survey.shapes.values();
        // With an eye inside a fragment, no error in pixels is the largest.
        let largest = shapes
            .map(|shape| LARGEST_ERROR * shape.mesh.size / self.unit(shape))
            .filter(|error| error.is_finite() && *error > 0.0);
        let (finest, coarsest) = largest.fold((f64::INFINITY, f64::MIN_POSITIVE), |ends, error| {
            (ends.0.min(error), ends.1.max(error))
        });
        let fewest = FEWEST * self.most(|_| 1) as f64;
        let found = search(
            (SMALLEST_ERROR * finest.min(coarsest), full as f64),
            (coarsest, fewest),
            budget as f64,
            |error| self.triangles_with(error) as f64,
        );
        if let Some(found) = found {
            return Ok(found);
        }
        match self.triangles_with(coarsest) {
            needed if needed > budget => Err(ExportError::Triangles {
                asked: budget,
                least: needed,
                within: "an eighth of the size of each fragment".to_owned(),
            }),
            _ => Ok(coarsest),
        }
    }
}

/// About the smallest error between two errors with which `count` is at most `budget`; `None` if none was found. Both
/// errors have about the number of triangles that they leave.
fn search(
    mut low: (f64, f64),
    mut high: (f64, f64),
    budget: f64,
    count: impl Fn(f64) -> f64,
) -> Option<f64> {
    let mut best = None;
    // Whether the last steps found too many triangles, and how many steps did.
    let mut side = (false, 0);
    for _ in 0..STEPS {
        if high.0 < NEARLY_EQUAL * low.0 {
            break;
        }
        let error = match side.1 >= STALLED {
            true => (low.0 * high.0).sqrt(),
            false => interpolated(low, high, NEARLY_ALL.sqrt() * budget),
        };
        let found = count(error);
        let is_above = found > budget;
        side = (is_above, if side.0 == is_above { side.1 + 1 } else { 1 });
        if is_above {
            low = (error, found);
            continue;
        }
        best = Some(error);
        high = (error, found);
        if found >= NEARLY_ALL * budget {
            break;
        }
    }
    best
}

/// Error between two errors, given with numbers of triangles, that leaves about `count` if the number is a power of the
/// error.
fn interpolated(low: (f64, f64), high: (f64, f64), count: f64) -> f64 {
    let part = (low.1 / count).ln() / (low.1 / high.1).ln();
    // Each step gets rid of a part of the interval, even if the number is no power.
    let part = if part.is_finite() {
        part.clamp(0.1, 0.9)
    } else {
        0.5
    };
    low.0 * (high.0 / low.0).powf(part)
}

//! Decides how far each fragment of a clip is reduced.

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
const STEPS: usize = 8;

/// Smallest error that is tried, over the largest.
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
    let full = clip.most(|key| survey.shapes[key].full.mesh.triangles.len());
    let unit = match limits.view {
        Some(_) => 1.0,
        None => space.scale,
    };
    let given = limits.error.map(|error| error * unit);
    let (error, reduced) = match limits.triangles {
        None => {
            let error = given.unwrap_or_default();
            (error, clip.reduced(error))
        }
        Some(budget) => clip.within(u64::from(budget), full, given)?,
    };
    let exported = clip.most_triangles(&reduced);
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
        },
    })
}

/// The meshes of a clip, and what errors are measured in.
struct Clip<'a> {
    survey: &'a Survey,
    /// Size of a pixel over its distance; `None`: errors are lengths.
    pixel: Option<f64>,
}

/// Reduced meshes of all shapes; `None` where one keeps all its triangles.
type AllReduced = Vec<Option<Reduced>>;

impl Clip<'_> {
    /// Length of a unit of the error, for a shape.
    fn unit(&self, shape: &SurveyedShape) -> f64 {
        self.pixel.map_or(1.0, |pixel| pixel * shape.distance)
    }

    /// All meshes, reduced as far as this error allows.
    fn reduced(&self, error: f64) -> AllReduced {
        let shapes: Vec<&SurveyedShape> = self.survey.shapes.values().collect();
        let reduced = shapes.par_iter().map(|shape| {
            let allowed = error * self.unit(shape);
            reduce(&shape.full, allowed.min(LARGEST_ERROR * shape.full.size))
        });
        reduced.collect()
    }

    /// Sum over the shapes in a frame, in the frame with the largest.
    fn most(&self, count: impl Fn(&ShapeKey) -> usize) -> u64 {
        let sum = |keys: &Vec<ShapeKey>| keys.iter().map(|key| count(key) as u64).sum();
        self.survey.frames.iter().map(sum).max().unwrap_or(0)
    }

    /// Triangles in the frame with the most.
    fn most_triangles(&self, reduced: &AllReduced) -> u64 {
        let shapes = self.survey.shapes.iter().zip(reduced);
        let counts: std::collections::BTreeMap<ShapeKey, usize> = shapes
            .map(|((key, shape), reduced)| {
                let full = shape.full.mesh.triangles.len();
                (*key, reduced.as_ref().map_or(full, |r| r.triangles.len()))
            })
            .collect();
        self.most(|key| counts[key])
    }

    /// The smallest error, at least `least`, with which no frame has more triangles than `budget`, and the meshes.
    /// `full` is the largest number of triangles without reduction.
    fn within(
        &self,
        budget: u64,
        full: u64,
        least: Option<f64>,
    ) -> Result<(f64, AllReduced), ExportError> {
        if let Some(least) = least {
            let reduced = self.reduced(least);
            if self.most_triangles(&reduced) <= budget {
                return Ok((least, reduced));
            }
        } else if full <= budget {
            return Ok((0.0, self.survey.shapes.values().map(|_| None).collect()));
        }
        let shapes = self.survey.shapes.values();
        let largest = shapes.map(|shape| LARGEST_ERROR * shape.full.size / self.unit(shape));
        // With an eye inside a fragment, no error in pixels is the largest.
        let largest = largest.filter(|error| error.is_finite());
        let coarsest = largest.fold(f64::MIN_POSITIVE, f64::max);
        // Errors with about how many triangles they leave.
        let mut low = (
            least.unwrap_or(0.0).max(coarsest * SMALLEST_ERROR),
            full as f64,
        );
        let mut high = (coarsest, FEWEST * self.most(|_| 1) as f64);
        let mut best = None;
        for _ in 0..STEPS {
            let error = interpolated(low, high, NEARLY_ALL.sqrt() * budget as f64);
            let reduced = self.reduced(error);
            let count = self.most_triangles(&reduced);
            if count > budget {
                low = (error, count as f64);
                continue;
            }
            best = Some((error, reduced));
            high = (error, count as f64);
            if count as f64 >= NEARLY_ALL * budget as f64 {
                break;
            }
        }
        if let Some(best) = best {
            return Ok(best);
        }
        let reduced = self.reduced(coarsest);
        match self.most_triangles(&reduced) {
            needed if needed > budget => Err(ExportError::Triangles {
                asked: budget,
                least: needed,
            }),
            _ => Ok((coarsest, reduced)),
        }
    }
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

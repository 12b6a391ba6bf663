//! Screen-space ambient occlusion: how much of the sky is hidden by a point's surroundings.

use crate::parallel::prelude::*;
use glam::Vec3;

use super::buffer::SampleBuffer;
use super::camera::{Camera, SUPERSAMPLING, ShotSetup};
use super::projection::Projection;
use super::scene::SceneMaterial;

/// Number of points tested around each pixel.
const TAPS: usize = 24;
/// Distance of the farthest test point, radii of the bodies that the camera shows.
const MAX_DISTANCE: f32 = 0.22;
/// Side of the square of pixels in which every pixel has a different pattern of test points; results are
/// averaged over such a square.
const TILE: usize = 4;

/// Fraction of the sky that is visible from each pixel.
pub struct Occlusion {
    width: usize,
    height: usize,
    open: Vec<f32>,
    near: Vec<f32>,
}

impl Occlusion {
    /// Tests the surroundings of each pixel of a drawn picture.
    pub fn new(buffer: &SampleBuffer, setup: &ShotSetup) -> Self {
        let (width, height) = (setup.width, setup.height);
        let near: Vec<f32> = (0..width * height)
            .map(|at| buffer.near[sample(at, width, buffer.width)])
            .collect();
        let directions = directions();
        let raw: Vec<f32> = (0..width * height)
            .into_par_iter()
            .map(|at| {
                let (x, y) = (at % width, at / width);
                let sample = sample(at, width, buffer.width);
                if buffer.materials[sample] == SceneMaterial::Background {
                    return 1.0;
                }
                let pattern = (y % TILE) * TILE + x % TILE;
                visible_sky(buffer, setup, sample, &directions, pattern)
            })
            .collect();
        let mut occlusion = Occlusion {
            width,
            height,
            open: raw,
            near,
        };
        occlusion.open = (0..width * height)
            .into_par_iter()
            .map(|at| {
                let origin = (at % width) as isize - TILE as isize / 2;
                let top = (at / width) as isize - TILE as isize / 2;
                occlusion.mean(origin..origin + TILE as isize, top, occlusion.near[at])
            })
            .collect();
        occlusion
    }

    /// Mean over the pixels of a tile whose nearness is similar to `near`.
    fn mean(&self, columns: std::ops::Range<isize>, top: isize, near: f32) -> f32 {
        let (mut sum, mut weight) = (0.0, 1e-6);
        let mut fallback = 1.0;
        for y in top..top + TILE as isize {
            for x in columns.clone() {
                let inside =
                    (0..self.width as isize).contains(&x) && (0..self.height as isize).contains(&y);
                if !inside {
                    continue;
                }
                let at = y as usize * self.width + x as usize;
                let alike = 1.0 - ((self.near[at] - near).abs() / near.max(1e-12) * 60.0).min(1.0);
                sum += self.open[at] * alike;
                weight += alike;
                fallback = self.open[at];
            }
        }
        if weight > 1e-3 {
            sum / weight
        } else {
            fallback
        }
    }

    /// Fraction of the sky visible at a sample: the value of the adjacent pixel with the most similar
    /// nearness.
    pub fn at(&self, column: usize, row: usize, near: f32) -> f32 {
        let (x, y) = (column / SUPERSAMPLING, row / SUPERSAMPLING);
        let mut best = (f32::INFINITY, 1.0);
        for (dx, dy) in [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)] {
            let (Some(x), Some(y)) = (x.checked_add_signed(dx), y.checked_add_signed(dy)) else {
                continue;
            };
            if x < self.width && y < self.height {
                let at = y * self.width + x;
                let off = (self.near[at] - near).abs();
                if off < best.0 {
                    best = (off, self.open[at]);
                }
                if dx == 0 && dy == 0 && off < near * 0.005 {
                    break;
                }
            }
        }
        best.1
    }
}

/// First sample of a pixel.
fn sample(pixel: usize, width: usize, samples: usize) -> usize {
    (pixel / width) * SUPERSAMPLING * samples + (pixel % width) * SUPERSAMPLING
}

/// Points in the half-ball above a surface, denser near its centre and with a cosine distribution of
/// directions.
fn directions() -> [Vec3; TAPS] {
    std::array::from_fn(|at| {
        let part = (at as f32 + 0.5) / TAPS as f32;
        // Lengths are permuted relative to directions, so that each length is combined with many directions.
        let length = ((at * 7) % TAPS) as f32 / TAPS as f32;
        let across = part.sqrt();
        let angle = at as f32 * 2.399_963;
        let direction = Vec3::new(
            across * angle.cos(),
            across * angle.sin(),
            (1.0 - part).sqrt(),
        );
        direction * (0.04 + 0.96 * length * length)
    })
}

fn visible_sky(
    buffer: &SampleBuffer,
    setup: &ShotSetup,
    sample: usize,
    directions: &[Vec3; TAPS],
    pattern: usize,
) -> f32 {
    let camera: &Camera = &setup.camera;
    let reach = MAX_DISTANCE * setup.radius;
    let (x, y) = (sample % buffer.width, sample / buffer.width);
    let normal = buffer.normals[sample];
    let distance = 1.0 / buffer.near[sample];
    let point = camera.eye + camera.ray(x as f32 + 0.5, y as f32 + 0.5) * distance;
    let (side, other) = normal.normalize_or(Vec3::Y).any_orthonormal_pair();
    // Neighbouring patterns should differ strongly: the pattern number is permuted.
    let turn = ((pattern * 7) % (TILE * TILE)) as f32 / (TILE * TILE) as f32;
    let (sin, cos) = (turn * std::f32::consts::TAU).sin_cos();
    let lifted = point + normal * (reach * 0.012);
    let mut hidden = 0.0;
    for d in directions {
        let (u, v) = (d.x * cos - d.y * sin, d.x * sin + d.y * cos);
        let tried = lifted + (side * u + other * v + normal * d.z) * reach;
        let depth = camera.distance(tried);
        if depth <= 0.0 {
            continue;
        }
        let seen = camera.project(tried);
        let inside = seen.x >= 0.0
            && seen.y >= 0.0
            && seen.x < buffer.width as f32
            && seen.y < buffer.height as f32;
        if !inside {
            continue;
        }
        let near = buffer.near[seen.y as usize * buffer.width + seen.x as usize];
        if near * depth > 1.0 + 0.002 * reach / depth {
            // An object far in front of the point hides the point's view, not its sky.
            let gap = distance - 1.0 / near;
            hidden += 1.0 - ((gap.abs() / reach - 1.0) / 1.0).clamp(0.0, 1.0);
        }
    }
    1.0 - hidden / TAPS as f32
}

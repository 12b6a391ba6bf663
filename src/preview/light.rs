//! The key light and its shadows: a depth map along its direction, sampled with a penumbra that widens with
//! distance (percentage-closer soft shadows, Fernando 2005).

use glam::Vec3;

use super::camera::ShotSetup;
use super::projection::Projection;
use super::raster::cover;
use super::scene::PreviewScene;
use super::spheres;

/// Number of samples along a side of the depth map.
const MAP_SIDE: usize = 2048;
/// Half width of the area that the depth map covers, radii of the bodies that the camera shows.
const MAP_REACH: f32 = 2.6;
/// Tangent of the light's angular radius.
const LIGHT_TANGENT: f32 = 0.09;
/// Widest penumbra, radii of the bodies that the camera shows.
const MAX_PENUMBRA: f32 = 0.12;
/// Samples of the map per point, for blockers and for the penumbra.
const BLOCKER_TAPS: usize = 10;
const PENUMBRA_TAPS: usize = 16;

/// A directional light with a depth map.
pub struct KeyLight {
    /// Direction towards the light.
    pub direction: Vec3,
    across: Vec3,
    upward: Vec3,
    focus: Vec3,
    radius: f32,
    texel: f32,
    /// For each sample of the depth map, the largest coordinate along `direction`, m.
    near: Vec<f32>,
}

impl Projection for KeyLight {
    fn project(&self, point: Vec3) -> Vec3 {
        let d = point - self.focus;
        let half = MAP_SIDE as f32 / 2.0;
        Vec3::new(
            d.dot(self.across) / self.texel + half,
            d.dot(self.upward) / self.texel + half,
            d.dot(self.direction),
        )
    }

    fn distance(&self, _: Vec3) -> f32 {
        f32::INFINITY
    }
}

impl KeyLight {
    /// Creates a light from the camera's upper left, and renders its depth map.
    pub fn new(scene: &PreviewScene, setup: &ShotSetup) -> Self {
        let camera = &setup.camera;
        let level = Vec3::new(camera.forward.x, 0.0, camera.forward.z).normalize_or(-Vec3::Z);
        let right = level.cross(Vec3::Y);
        let direction = (right * -0.62 + Vec3::Y * 0.95 - level * 0.42).normalize();
        let (across, upward) = direction.any_orthonormal_pair();
        let mut light = KeyLight {
            direction,
            across,
            upward,
            focus: setup.focus,
            radius: setup.radius,
            texel: 2.0 * MAP_REACH * setup.radius / MAP_SIDE as f32,
            near: Vec::new(),
        };
        let mut near = vec![f32::NEG_INFINITY; MAP_SIDE * MAP_SIDE];
        let mut keep = |at: usize, found: f32| {
            if found > near[at] {
                near[at] = found;
            }
        };
        for (triangle, _) in &scene.triangles {
            let corners = triangle.map(|at| light.project(scene.positions[at as usize]));
            cover(corners, MAP_SIDE, MAP_SIDE, |at, found, _| keep(at, found));
        }
        for ball in &scene.balls {
            let middle = light.project(ball.centre);
            spheres::cover(middle, ball.radius, light.texel, MAP_SIDE, &mut keep);
        }
        light.near = near;
        light
    }

    fn depth(&self, x: f32, y: f32) -> f32 {
        let inside = 0.0..MAP_SIDE as f32;
        if inside.contains(&x) && inside.contains(&y) {
            self.near[y as usize * MAP_SIDE + x as usize]
        } else {
            f32::NEG_INFINITY
        }
    }

    /// Fraction of the light that reaches a point with this normal. `turn` in [0, 1) rotates the sampling
    /// pattern.
    pub fn unshadowed(&self, point: Vec3, normal: Vec3, turn: f32) -> f32 {
        // The offset from the surface is larger at grazing angles, where one sample of the map spans more
        // depth.
        let grazing = 1.0 - normal.dot(self.direction).clamp(0.0, 1.0);
        let lifted = point + normal * (self.texel * (1.0 + 2.0 * grazing));
        let at = self.project(lifted);
        let bias = self.texel * 1.5;
        let search = MAX_PENUMBRA * self.radius / self.texel;
        let (mut blockers, mut depth) = (0.0, 0.0);
        for tap in 0..BLOCKER_TAPS {
            let (dx, dy) = spiral(tap, BLOCKER_TAPS, turn);
            let reach = (dx * dx + dy * dy).sqrt() * search * self.texel;
            let found = self.depth(at.x + dx * search, at.y + dy * search);
            // A blocker this far to the side must be this high above the point, or the light passes it.
            if found > at.z + bias + reach * 0.5 {
                blockers += 1.0;
                depth += found - at.z;
            }
        }
        // Nothing found in the wide search: only small details nearby can still block.
        let (width, taps) = if blockers > 0.0 {
            let width = depth / blockers * LIGHT_TANGENT / self.texel;
            (width.clamp(1.5, search), PENUMBRA_TAPS)
        } else {
            (1.5, PENUMBRA_TAPS / 4)
        };
        let mut open = 0.0;
        for tap in 0..taps {
            let (dx, dy) = spiral(tap, taps, turn);
            let reach = (dx * dx + dy * dy).sqrt() * width * self.texel;
            let found = self.depth(at.x + dx * width, at.y + dy * width);
            if found <= at.z + bias + reach * 0.5 {
                open += 1.0;
            }
        }
        open / taps as f32
    }
}

/// Point `at` of `count` points spread evenly over the unit disc, rotated by `turn` of a full circle.
fn spiral(at: usize, count: usize, turn: f32) -> (f32, f32) {
    const GOLDEN_ANGLE: f32 = 2.399_963;
    let distance = ((at as f32 + 0.5) / count as f32).sqrt();
    let angle = at as f32 * GOLDEN_ANGLE + turn * std::f32::consts::TAU;
    (distance * angle.cos(), distance * angle.sin())
}

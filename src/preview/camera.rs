//! The camera, and its automatic choice for a whole shot.

use glam::{DVec3, Vec3};

use super::error::PreviewError;
use super::projection::Projection;
use super::source::FrameSource;
use crate::spec;

/// Vertical angle of view of the automatic camera, rad.
const ANGLE_OF_VIEW: f64 = spec::Camera::AUTOMATIC_ANGLE;
/// Factor on the distance of the automatic camera, which leaves a margin around the bodies.
const DISTANCE_FACTOR: f64 = 1.12;

/// A pinhole camera.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    pub eye: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
    /// Tangents of half the angles of view, horizontal and vertical.
    pub tangent: [f32; 2],
    /// Number of samples across and down.
    pub size: [f32; 2],
}

impl Camera {
    /// Ray through a sample, scaled so that its component along `forward` is 1.
    pub fn ray(&self, x: f32, y: f32) -> Vec3 {
        let across = (2.0 * x / self.size[0] - 1.0) * self.tangent[0];
        let upward = (1.0 - 2.0 * y / self.size[1]) * self.tangent[1];
        self.forward + self.right * across + self.up * upward
    }

    /// Coordinates of a point along the camera's axes: right, up, forward.
    pub fn local(&self, point: Vec3) -> Vec3 {
        let d = point - self.eye;
        Vec3::new(d.dot(self.right), d.dot(self.up), d.dot(self.forward))
    }
}

impl Projection for Camera {
    fn project(&self, point: Vec3) -> Vec3 {
        let local = self.local(point);
        Vec3::new(
            (local.x / (local.z * self.tangent[0]) + 1.0) / 2.0 * self.size[0],
            (1.0 - local.y / (local.z * self.tangent[1])) / 2.0 * self.size[1],
            1.0 / local.z,
        )
    }

    fn distance(&self, point: Vec3) -> f32 {
        (point - self.eye).dot(self.forward)
    }
}

/// What stays the same in all frames of a shot: camera, scale and size of the pictures.
#[derive(Clone, Copy)]
pub struct ShotSetup {
    pub camera: Camera,
    /// Centre of the bodies that the camera shows, m.
    pub focus: Vec3,
    /// Radius of a ball around these bodies, m.
    pub radius: f32,
    /// Width and height of a picture, pixels.
    pub width: usize,
    pub height: usize,
}

/// Samples per pixel along each side.
pub const SUPERSAMPLING: usize = 2;

/// Sets up the camera for a shot.
pub fn set_up(
    source: &FrameSource,
    preview: &spec::Preview,
    frames: &[u32],
) -> Result<ShotSetup, PreviewError> {
    set_up_around(&boxes(source, frames)?, preview)
}

/// Sets up the camera for everything inside these boxes.
pub fn set_up_around(
    boxes: &[(DVec3, DVec3)],
    preview: &spec::Preview,
) -> Result<ShotSetup, PreviewError> {
    let (low, high) = boxes
        .iter()
        .fold(boxes[0], |(low, high), (l, h)| (low.min(*l), high.max(*h)));
    let focus = (low + high) / 2.0;
    let radius = ((high - low).length() / 2.0).max(1e-9);
    let (width, height) = (preview.width as usize, preview.height as usize);
    let aspect = width as f64 / height as f64;
    let (eye, target, angle) = match preview.camera {
        Some(camera) => (
            DVec3::from(camera.eye),
            DVec3::from(camera.target),
            camera.fov,
        ),
        None => automatic(boxes, focus, radius, aspect),
    };
    if !(angle > 0.0 && angle < std::f64::consts::PI) {
        let what = format!("angle of view {angle} rad; it must lie between 0 and pi");
        return Err(PreviewError::Camera { what });
    }
    let Some(forward) = (target - eye).try_normalize() else {
        let what = format!("eye and target are the same point {eye}");
        return Err(PreviewError::Camera { what });
    };
    let (right, up) = axes(forward);
    let tangent = (angle / 2.0).tan();
    Ok(ShotSetup {
        camera: Camera {
            eye: eye.as_vec3(),
            right: right.as_vec3(),
            up: up.as_vec3(),
            forward: forward.as_vec3(),
            tangent: [(tangent * aspect) as f32, tangent as f32],
            size: [width, height].map(|side| (side * SUPERSAMPLING) as f32),
        },
        focus: focus.as_vec3(),
        radius: radius as f32,
        width,
        height,
    })
}

/// Right and up directions of a view along `forward`.
fn axes(forward: DVec3) -> (DVec3, DVec3) {
    let right = forward.cross(DVec3::Y).try_normalize().unwrap_or(DVec3::X);
    (right, right.cross(forward))
}

/// Eye, target and angle of view that show all boxes completely.
fn automatic(
    boxes: &[(DVec3, DVec3)],
    focus: DVec3,
    radius: f64,
    aspect: f64,
) -> (DVec3, DVec3, f64) {
    let forward = -DVec3::from(spec::Camera::AUTOMATIC_DIRECTION).normalize();
    let (right, up) = axes(forward);
    let upward = (ANGLE_OF_VIEW / 2.0).tan();
    let across = upward * aspect;
    let corners: Vec<DVec3> = boxes
        .iter()
        .flat_map(|&(low, high)| {
            (0..8).map(move |at| {
                let pick = |axis: usize| if at >> axis & 1 == 1 { high } else { low };
                DVec3::new(pick(0).x, pick(1).y, pick(2).z) - focus
            })
        })
        .collect();
    // Planes through a corner along each side of the view: the apex lies where opposite planes meet.
    let extreme = |side: DVec3, tangent: f64| {
        corners
            .iter()
            .map(|c| c.dot(side) - tangent * c.dot(forward))
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let (e, w) = (extreme(right, across), extreme(-right, across));
    let (n, s) = (extreme(up, upward), extreme(-up, upward));
    let back = ((e + w) / (2.0 * across)).max((n + s) / (2.0 * upward)) * DISTANCE_FACTOR;
    let aim = focus + right * ((e - w) / 2.0) + up * ((n - s) / 2.0);
    (aim - forward * back.max(radius * 0.1), aim, ANGLE_OF_VIEW)
}

/// Bounding boxes of the bodies over the shot: the complete first frame, later frames without the few chips
/// that fly farthest.
fn boxes(source: &FrameSource, frames: &[u32]) -> Result<Vec<(DVec3, DVec3)>, PreviewError> {
    let last = frames.len() - 1;
    let mut chosen = vec![0, last / 3, last / 2, last * 2 / 3, last];
    chosen.dedup();
    let mut boxes = Vec::new();
    for at in chosen {
        let scene = source.read(frames[at])?;
        let (lows, highs): (Vec<Vec3>, Vec<Vec3>) = scene.body_corners().unzip();
        if lows.is_empty() {
            continue;
        }
        let cut = if at == 0 { 0.0 } else { 0.02 };
        let low = quantile(&lows, cut);
        let high = quantile(&highs, 1.0 - cut);
        boxes.push((low, high));
    }
    if boxes.is_empty() {
        boxes.push((DVec3::splat(-0.5), DVec3::splat(0.5)));
    }
    Ok(boxes)
}

fn quantile(points: &[Vec3], part: f64) -> DVec3 {
    let at = ((points.len() - 1) as f64 * part).round() as usize;
    let axis = |axis: usize| {
        let mut values: Vec<f32> = points.iter().map(|point| point[axis]).collect();
        f64::from(*values.select_nth_unstable_by(at, f32::total_cmp).1)
    };
    DVec3::new(axis(0), axis(1), axis(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_camera_sees_every_corner_and_wastes_no_room() {
        let boxes = [
            (DVec3::new(-1.0, 0.0, -0.2), DVec3::new(3.0, 2.0, 0.4)),
            (DVec3::new(0.0, 0.0, 0.0), DVec3::new(1.0, 5.0, 0.1)),
        ];
        let aspect = 1.5;
        let (eye, target, angle) = automatic(&boxes, DVec3::new(1.0, 2.5, 0.1), 3.0, aspect);
        let forward = (target - eye).normalize();
        let (right, up) = axes(forward);
        let tangent = (angle / 2.0).tan();
        let mut widest: f64 = 0.0;
        for (low, high) in boxes {
            for at in 0..8 {
                let pick = |axis: usize| if at >> axis & 1 == 1 { high } else { low };
                let d = DVec3::new(pick(0).x, pick(1).y, pick(2).z) - eye;
                let z = d.dot(forward);
                widest = widest
                    .max((d.dot(right) / (z * tangent * aspect)).abs())
                    .max((d.dot(up) / (z * tangent)).abs());
            }
        }
        assert!(widest < 1.0 && widest > 0.8, "{widest}");
    }
}

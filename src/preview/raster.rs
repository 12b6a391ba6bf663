//! Rasterises triangles; each sample keeps the nearest hit.

use glam::Vec3;

use super::buffer::SampleBuffer;
use super::camera::Camera;
use super::projection::Projection;
use super::scene::{PreviewScene, SceneMaterial};
use super::spheres;

/// Draws a scene as the camera sees it.
pub fn draw(scene: &PreviewScene, camera: &Camera) -> SampleBuffer {
    let [width, height] = camera.size.map(|side| side as usize);
    let count = width * height;
    let mut buffer = SampleBuffer {
        width,
        height,
        near: vec![0.0; count],
        normals: vec![Vec3::ZERO; count],
        materials: vec![SceneMaterial::Background; count],
    };
    let closest = scene
        .positions
        .iter()
        .map(|&point| camera.distance(point))
        .filter(|&distance| distance > 0.0)
        .fold(f32::INFINITY, f32::min);
    let clip = (closest * 0.5).max(1e-6);
    for &(triangle, material) in &scene.triangles {
        let corner = |at: u32| (scene.positions[at as usize], scene.normals[at as usize]);
        let corners = triangle.map(corner);
        for corners in clipped(camera, &corners, clip) {
            let screen = corners.map(|(point, _)| camera.project(point));
            cover(screen, width, height, |at, near, weights| {
                buffer.put(at, near, material, || {
                    // Perspective-correct interpolation: weights divided by distance.
                    let blend: Vec3 = (0..3)
                        .map(|i| corners[i].1 * (weights[i] * screen[i].z))
                        .sum();
                    blend.normalize_or_zero()
                });
            });
        }
    }
    for ball in &scene.balls {
        spheres::draw(ball, camera, &mut buffer);
    }
    for plane in &scene.planes {
        let height = (camera.eye - plane.point).dot(plane.normal);
        if height <= 0.0 {
            continue;
        }
        for at in 0..count {
            let ray = camera.ray((at % width) as f32 + 0.5, (at / width) as f32 + 0.5);
            let near = -ray.dot(plane.normal) / height;
            buffer.put(at, near, SceneMaterial::Floor, || plane.normal);
        }
    }
    buffer
}

/// The part of a triangle farther away than `clip`, as triangles.
fn clipped(
    view: &impl Projection,
    corners: &[(Vec3, Vec3); 3],
    clip: f32,
) -> Vec<[(Vec3, Vec3); 3]> {
    let distance = corners.map(|(point, _)| view.distance(point));
    if distance.iter().all(|&d| d > clip) {
        return vec![*corners];
    }
    let mut outline = Vec::with_capacity(4);
    for one in 0..3 {
        let other = (one + 1) % 3;
        if distance[one] > clip {
            outline.push(corners[one]);
        }
        if (distance[one] > clip) != (distance[other] > clip) {
            let part = (clip - distance[one]) / (distance[other] - distance[one]);
            let ((p, n), (q, m)) = (corners[one], corners[other]);
            outline.push((p.lerp(q, part), n.lerp(m, part)));
        }
    }
    (2..outline.len())
        .map(|at| [outline[0], outline[at - 1], outline[at]])
        .collect()
}

/// Calls `put(index, nearness, weights)` for each sample whose centre the triangle covers.
pub fn cover(
    corners: [Vec3; 3],
    width: usize,
    height: usize,
    mut put: impl FnMut(usize, f32, [f32; 3]),
) {
    let [a, b, c] = corners;
    let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if area == 0.0 || !area.is_finite() {
        return;
    }
    let span = |low: f32, high: f32, limit: usize| {
        let first = (low - 0.5).ceil().clamp(0.0, limit as f32) as usize;
        let end = ((high - 0.5).floor() + 1.0).clamp(0.0, limit as f32) as usize;
        first..end
    };
    let columns = span(a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x), width);
    for row in span(a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y), height) {
        let y = row as f32 + 0.5;
        for column in columns.clone() {
            let x = column as f32 + 0.5;
            let wa = ((b.x - x) * (c.y - y) - (b.y - y) * (c.x - x)) / area;
            let wb = ((c.x - x) * (a.y - y) - (c.y - y) * (a.x - x)) / area;
            let wc = 1.0 - wa - wb;
            if wa >= 0.0 && wb >= 0.0 && wc >= 0.0 {
                let near = wa * a.z + wb * b.z + wc * c.z;
                put(row * width + column, near, [wa, wb, wc]);
            }
        }
    }
}

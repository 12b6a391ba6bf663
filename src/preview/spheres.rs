//! Ray-traces balls exactly.

use glam::Vec3;

use super::buffer::SampleBuffer;
use super::camera::Camera;
use super::scene::SceneBall;

/// Draws a ball as the camera sees it. A ball that reaches behind the camera is left out.
pub fn draw(ball: &SceneBall, camera: &Camera, buffer: &mut SampleBuffer) {
    let centre = camera.local(ball.centre);
    let radius = ball.radius;
    if centre.z <= radius * 1.01 {
        return;
    }
    // The silhouette lies within these slopes: a ball at distance z - r would look at least as large.
    let [width, height] = camera.size;
    let scale = [
        width / (2.0 * camera.tangent[0]),
        height / (2.0 * camera.tangent[1]),
    ];
    let slope = |along: f32, sign: f32| {
        let edge = along + sign * radius;
        (edge / (centre.z - radius)).max(edge / (centre.z + radius))
    };
    let least = |along: f32| {
        let edge = along - radius;
        (edge / (centre.z - radius)).min(edge / (centre.z + radius))
    };
    let limit = |value: f32, most: f32| value.clamp(0.0, most) as usize;
    let columns = limit(width / 2.0 + least(centre.x) * scale[0] - 1.0, width)
        ..limit(width / 2.0 + slope(centre.x, 1.0) * scale[0] + 1.0, width);
    let rows = limit(height / 2.0 - slope(centre.y, 1.0) * scale[1] - 1.0, height)
        ..limit(height / 2.0 - least(centre.y) * scale[1] + 1.0, height);
    let middle = ball.centre - camera.eye;
    for row in rows {
        for column in columns.clone() {
            let ray = camera.ray(column as f32 + 0.5, row as f32 + 0.5);
            let squared = ray.length_squared();
            let along = ray.dot(middle) / squared;
            // Measured from the point of the ray nearest to the centre: the usual quadratic formula loses
            // small balls to rounding.
            let past = radius * radius - (middle - ray * along).length_squared();
            if past >= 0.0 {
                let distance = along - (past / squared).sqrt();
                let at = row * buffer.width + column;
                buffer.put(at, 1.0 / distance, ball.material, || {
                    (ray * distance - middle) / radius
                });
            }
        }
    }
}

/// Calls `put(index, nearness)` for each sample of a `side` x `side` map that a ball covers, in parallel
/// projection.
///
/// `middle` is the ball's centre in map coordinates with its nearness in metres; `texel` is the size of a
/// sample in metres.
pub fn cover(middle: Vec3, radius: f32, texel: f32, side: usize, mut put: impl FnMut(usize, f32)) {
    let reach = radius / texel;
    let limit = |value: f32| value.clamp(0.0, side as f32) as usize;
    for row in limit(middle.y - reach)..limit(middle.y + reach + 1.0) {
        for column in limit(middle.x - reach)..limit(middle.x + reach + 1.0) {
            let dx = (column as f32 + 0.5 - middle.x) * texel;
            let dy = (row as f32 + 0.5 - middle.y) * texel;
            let past = radius * radius - dx * dx - dy * dy;
            if past >= 0.0 {
                put(row * side + column, middle.z + past.sqrt());
            }
        }
    }
}

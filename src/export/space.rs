//! Up axis and unit of length of exported files.

use crate::spec::{Pipeline, Up};
use crate::store::SurfaceFrame;

/// Conversion from coordinates of the simulation to those of a file: multiplies lengths by `scale` and
/// rotates the up axis of the shot to that of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileCoordinates {
    /// Up axis of the simulation.
    pub shot: Up,
    /// Up axis of the file.
    pub up: Up,
    /// Units of the file per metre.
    pub scale: f64,
}

impl FileCoordinates {
    /// The axes of the simulation, in metres.
    pub fn of_shot(pipeline: Option<&Pipeline>) -> Self {
        let shot = pipeline.map_or(Up::Y, |pipeline| up_of(pipeline.world.gravity));
        FileCoordinates {
            shot,
            up: shot,
            scale: 1.0,
        }
    }

    /// Rotates a direction to the axes of the file.
    pub fn rotate(self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        match (self.shot, self.up) {
            (Up::Y, Up::Z) => [x, -z, y],
            (Up::Z, Up::Y) => [x, z, -y],
            _ => [x, y, z],
        }
    }

    /// Converts a position, displacement or velocity to the axes and unit of the file.
    pub fn transform(self, vector: [f32; 3]) -> [f32; 3] {
        let scale = self.scale as f32;
        self.rotate(vector).map(|length| length * scale)
    }

    /// Converts a surface to the coordinates of the file.
    pub fn transform_surface(self, surface: &mut SurfaceFrame) {
        if self.shot == self.up && self.scale == 1.0 {
            return;
        }
        for normal in &mut surface.normals {
            *normal = self.rotate(*normal);
        }
        for lengths in [
            &mut surface.positions,
            &mut surface.velocities,
            &mut surface.rest_positions,
        ] {
            for vector in lengths.iter_mut() {
                *vector = self.transform(*vector);
            }
        }
    }

    /// Unit and up axis in words, for comments in files.
    pub fn describe(self) -> String {
        let unit = if self.scale == 1.0 {
            "metres".to_owned()
        } else {
            format!("{} units a metre", self.scale)
        };
        format!("{unit}, {} up", self.up.name())
    }
}

/// Up axis: z if gravity points mainly along −z, else y.
fn up_of([x, y, z]: [f64; 3]) -> Up {
    if -z > x.abs().max(y.abs()) {
        Up::Z
    } else {
        Up::Y
    }
}

/// Lowest and highest coordinates of the points; zeros if there are none.
pub fn bounds<const N: usize>(points: &[[f32; N]]) -> ([f32; N], [f32; N]) {
    let first = points.first().copied().unwrap_or([0.0; N]);
    points.iter().fold((first, first), |(low, high), point| {
        (
            std::array::from_fn(|axis| point[axis].min(low[axis])),
            std::array::from_fn(|axis| point[axis].max(high[axis])),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_is_against_gravity() {
        assert_eq!(up_of([0.0, -9.81, 0.0]), Up::Y);
        assert_eq!(up_of([0.1, 0.0, -9.81]), Up::Z);
        assert_eq!(up_of([0.0; 3]), Up::Y);
    }

    #[test]
    fn rotation_keeps_handedness_and_is_reversible() {
        let to_z = FileCoordinates {
            shot: Up::Y,
            up: Up::Z,
            scale: 100.0,
        };
        assert_eq!(to_z.rotate([0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
        let axes =
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| to_z.rotate(axis));
        let [x, y, z] = axes.map(glam::Vec3::from);
        assert_eq!(x.cross(y).dot(z), 1.0);
        let back = FileCoordinates {
            shot: Up::Z,
            up: Up::Y,
            scale: 1.0,
        };
        assert_eq!(back.rotate(to_z.rotate([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0]);
        let mut surface = SurfaceFrame {
            positions: vec![[0.0, 1.0, 0.0]],
            normals: vec![[0.0, 1.0, 0.0]],
            ..SurfaceFrame::default()
        };
        to_z.transform_surface(&mut surface);
        assert_eq!(surface.positions, [[0.0, 0.0, 100.0]]);
        assert_eq!(surface.normals, [[0.0, 0.0, 1.0]]);
        assert_eq!(to_z.describe(), "100 units a metre, z up");
    }
}

//! Which way is up in an exported file, and how long a metre is there.

use crate::spec::{Pipeline, Up};
use crate::store::SurfaceFrame;

/// From the coordinates of the simulation to those of a file: lengths times `scale`, the shot's up turned to
/// the file's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    /// Up in the simulation.
    pub shot: Up,
    /// Up in the file.
    pub up: Up,
    /// Units of the file in a metre.
    pub scale: f64,
}

impl Space {
    /// As the simulation has it, in metres.
    pub fn of_shot(pipeline: Option<&Pipeline>) -> Self {
        let shot = pipeline.map_or(Up::Y, |pipeline| up_of(pipeline.world.gravity));
        Space {
            shot,
            up: shot,
            scale: 1.0,
        }
    }

    /// A direction in the file's axes.
    pub fn turned(self, [x, y, z]: [f32; 3]) -> [f32; 3] {
        match (self.shot, self.up) {
            (Up::Y, Up::Z) => [x, -z, y],
            (Up::Z, Up::Y) => [x, z, -y],
            _ => [x, y, z],
        }
    }

    /// A place, a way or a velocity in the file's axes and unit.
    pub fn lengths(self, vector: [f32; 3]) -> [f32; 3] {
        let scale = self.scale as f32;
        self.turned(vector).map(|length| length * scale)
    }

    /// Brings a surface into the file's coordinates.
    pub fn bring(self, surface: &mut SurfaceFrame) {
        if self.shot == self.up && self.scale == 1.0 {
            return;
        }
        for normal in &mut surface.normals {
            *normal = self.turned(*normal);
        }
        for lengths in [
            &mut surface.positions,
            &mut surface.velocities,
            &mut surface.rest_positions,
        ] {
            for vector in lengths.iter_mut() {
                *vector = self.lengths(*vector);
            }
        }
    }

    /// The unit and the axis, for a comment.
    pub fn describe(self) -> String {
        let unit = if self.scale == 1.0 {
            "metres".to_owned()
        } else {
            format!("{} units a metre", self.scale)
        };
        format!("{unit}, {} up", self.up.name())
    }
}

/// Up is where gravity comes from, y where it says nothing.
fn up_of([x, y, z]: [f64; 3]) -> Up {
    if -z > x.abs().max(y.abs()) {
        Up::Z
    } else {
        Up::Y
    }
}

/// Lowest and highest coordinates; zeros where there is no point.
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
    fn turning_keeps_hands_and_comes_back() {
        let to_z = Space {
            shot: Up::Y,
            up: Up::Z,
            scale: 100.0,
        };
        assert_eq!(to_z.turned([0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
        let axes =
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| to_z.turned(axis));
        let [x, y, z] = axes.map(glam::Vec3::from);
        assert_eq!(x.cross(y).dot(z), 1.0);
        let back = Space {
            shot: Up::Z,
            up: Up::Y,
            scale: 1.0,
        };
        assert_eq!(back.turned(to_z.turned([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0]);
        let mut surface = SurfaceFrame {
            positions: vec![[0.0, 1.0, 0.0]],
            normals: vec![[0.0, 1.0, 0.0]],
            ..SurfaceFrame::default()
        };
        to_z.bring(&mut surface);
        assert_eq!(surface.positions, [[0.0, 0.0, 100.0]]);
        assert_eq!(surface.normals, [[0.0, 0.0, 1.0]]);
        assert_eq!(to_z.describe(), "100 units a metre, z up");
    }
}

//! Colliders, and attachments that hold, drive or load bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::Rotation;
use super::export::Up;
use super::mesh_file::{Fill, MeshUnit, ThicknessSide};
use super::quantity::{
    AngularVelocity, Force, Length, NonNegativeNumber, NonNegativeTime, Number, PositiveLength,
    PositiveNumber, PositivePressure, PositiveRate, PositiveStiffness, PositiveTime, Pressure,
    Velocity,
};
use super::time::Region;

/// A solid that pushes elements and is not pushed itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collider {
    /// Name of the collider, for overrides and for the table of loads.
    pub name: String,
    /// Shape of the collider.
    pub shape: ColliderShape,
    /// Position of the shape's origin at the start, m.
    #[serde(default)]
    #[schemars(with = "[Length; 3]")]
    pub position: [f64; 3],
    /// Rotation of the shape about its origin at the start.
    #[serde(default)]
    pub rotation: Rotation,
    /// Constant velocity of the collider, m/s.
    #[serde(default)]
    #[schemars(with = "[Velocity; 3]")]
    pub velocity: [f64; 3],
    /// Constant angular velocity of the collider about `position`, rad/s.
    #[serde(default)]
    #[schemars(with = "[AngularVelocity; 3]")]
    pub spin: [f64; 3],
    /// Poses in time that replace `velocity` and `spin`, in ascending order of time: linear in between, constant
    /// before the first and after the last.
    #[serde(default)]
    pub keys: Vec<Key>,
    /// Friction coefficient of the collider. A contact takes the smaller coefficient of both partners.
    #[serde(default = "default_friction")]
    #[schemars(with = "NonNegativeNumber")]
    pub friction: f64,
    /// Young's modulus of the collider's contacts, Pa; absent: that of the element in contact.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub young: Option<f64>,
}

fn default_friction() -> f64 {
    0.5
}

/// A pose of a collider or clamp at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Simulated time at which the pose is reached, s.
    #[schemars(with = "NonNegativeTime")]
    pub time: f64,
    /// Position of a collider's origin, m; for a clamp or spring, the displacement of its elements from where
    /// they were packed.
    #[schemars(with = "[Length; 3]")]
    pub position: [f64; 3],
    /// Rotation of a collider; for a clamp or spring, the rotation of its elements from how they were packed.
    /// From one key to the next it takes the shortest way.
    #[serde(default)]
    pub rotation: Rotation,
}

/// Shape of a collider, centred on its position; a mesh keeps the origin of its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ColliderShape {
    /// Half-space bounded by the plane through `position`; solid on the side that `normal` points away from.
    HalfSpace {
        /// Outward normal of the plane; any length except zero.
        #[schemars(with = "[Number; 3]")]
        normal: [f64; 3],
    },
    /// Box along its axes.
    Box {
        /// Edge lengths along x, y and z, m.
        #[schemars(with = "[PositiveLength; 3]")]
        size: [f64; 3],
    },
    /// Ball.
    Sphere {
        /// Radius of the ball, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
    },
    /// Cylinder along its y axis.
    Cylinder {
        /// Radius of the cylinder, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
        /// Length of the cylinder along y, m.
        #[schemars(with = "PositiveLength")]
        height: f64,
    },
    /// Inside of a triangle mesh from a GLB, glTF, OBJ, PLY, STL or USD text file; on the CPU only.
    Mesh {
        /// Path of the GLB, glTF, OBJ, PLY, STL or USD text (`.usda`) file, relative to the pipeline file.
        file: String,
        /// Name of one object of the file, as of a body's mesh; absent: all objects together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        object: Option<String>,
        /// Axis that points up in the file, as of a body's mesh.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Up")]
        up: Option<Up>,
        /// Unit of the file's coordinates, as of a body's mesh. Not with `scale` or `height`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "MeshUnit")]
        unit: Option<MeshUnit>,
        /// Factor on the file's coordinates: metres = scale × file units. Give this or `height`, not both;
        /// without either `unit` applies.
        #[serde(default)]
        #[schemars(with = "PositiveNumber")]
        scale: Option<f64>,
        /// Extent along y that the mesh is scaled to, m; absent: `scale` applies.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        height: Option<f64>,
        /// Thickness of the wall of a sheet, as of a body's mesh, m: a terrain, a bowl without walls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "PositiveLength")]
        thickness: Option<f64>,
        /// Side of the sheet on which the wall of `thickness` lies.
        #[serde(default, skip_serializing_if = "is_default")]
        thickness_side: ThicknessSide,
        /// How the mesh is closed, as of a body's mesh.
        #[serde(default, skip_serializing_if = "is_default")]
        fill: Fill,
    },
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ColliderShape {
    /// File that the shape is read from, relative to the pipeline file; none for other shapes.
    pub fn file(&self) -> Option<&str> {
        match self {
            ColliderShape::Mesh { file, .. } => Some(file),
            ColliderShape::HalfSpace { .. }
            | ColliderShape::Box { .. }
            | ColliderShape::Sphere { .. }
            | ColliderShape::Cylinder { .. } => None,
        }
    }
}

/// Holds, drives or loads the elements of a body whose rest positions lie in a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// Name of the attachment, for overrides and for the table of loads.
    pub name: String,
    /// Name of the `[[body]]` whose elements are attached.
    pub body: String,
    /// Box that selects elements: those whose rest positions lie inside.
    pub region: Region,
    /// What the attachment does to the selected elements.
    pub action: Action,
}

/// What an attachment does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Holds its elements in place, or moves them as one rigid piece, exactly at every step.
    Clamp {
        /// Constant velocity of the clamp, m/s.
        #[serde(default)]
        #[schemars(with = "[Velocity; 3]")]
        velocity: [f64; 3],
        /// Constant angular velocity of the clamp about `pivot`, rad/s.
        #[serde(default)]
        #[schemars(with = "[AngularVelocity; 3]")]
        spin: [f64; 3],
        /// Point that `spin` and `keys` turn about, given at rest, m; it moves along with the clamp, and loads
        /// report the torque about it. Absent: the middle of the elements held.
        #[serde(default)]
        #[schemars(with = "[Length; 3]")]
        pivot: Option<[f64; 3]>,
        /// Displacements and rotations in time from where the elements were packed, which replace `velocity`
        /// and `spin`, in ascending order of time: linear in between, constant before the first and after the
        /// last. From one key to the next the rotation takes the shortest way: for several turns use `spin`, or
        /// one key per third of a turn.
        #[serde(default)]
        keys: Vec<Key>,
    },
    /// Pulls each element by a spring of zero rest length towards where a clamp would have it. Elements can lag
    /// behind and rotate freely. Loads are reported as for a clamp, about the mean position of the elements. On
    /// the CPU only.
    Spring {
        /// Stiffness of the spring at each element, N/m.
        #[schemars(with = "PositiveStiffness")]
        stiffness: f64,
        /// Constant velocity of the positions that the springs pull to, m/s.
        #[serde(default)]
        #[schemars(with = "[Velocity; 3]")]
        velocity: [f64; 3],
        /// Constant angular velocity of the positions that the springs pull to, about `pivot`, rad/s.
        #[serde(default)]
        #[schemars(with = "[AngularVelocity; 3]")]
        spin: [f64; 3],
        /// Point that `spin` and `keys` turn about, given at rest, m; it moves along. Absent: the middle of the
        /// elements.
        #[serde(default)]
        #[schemars(with = "[Length; 3]")]
        pivot: Option<[f64; 3]>,
        /// Displacements and rotations in time from where the elements were packed, which replace `velocity`
        /// and `spin`, as for a clamp.
        #[serde(default)]
        keys: Vec<Key>,
    },
    /// Applies a force and a torque, shared evenly among the elements.
    Force {
        /// Total force on the elements, N.
        #[serde(default)]
        #[schemars(with = "[Force; 3]")]
        force: [f64; 3],
        /// Total torque on the elements, N m, each about its own centre; for explicit steps on the CPU.
        #[serde(default, skip_serializing_if = "is_zero")]
        #[schemars(with = "[Number; 3]")]
        torque: [f64; 3],
        /// Factor on force and torque that changes with time; absent: both are constant. For explicit steps on
        /// the CPU.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Signal")]
        signal: Option<Signal>,
    },
    /// Applies a pressure to the elements at the surface of the body, along the inward normal there, which
    /// follows from their missing bonds and turns with each element.
    Pressure {
        /// Pressure on the surface, Pa; a negative one pulls.
        #[schemars(with = "Pressure")]
        pressure: f64,
    },
    /// Does nothing to the elements, but records their mean displacement in the table of loads.
    Gauge {},
}

fn is_zero(vector: &[f64; 3]) -> bool {
    *vector == [0.0; 3]
}

impl Action {
    /// Whether this is a force with a torque or with a signal.
    pub fn has_torque_or_signal(&self) -> bool {
        matches!(self, Action::Force { torque, signal, .. } if !is_zero(torque) || signal.is_some())
    }

    /// A constant force.
    pub fn force(force: [f64; 3]) -> Self {
        Action::Force {
            force,
            torque: [0.0; 3],
            signal: None,
        }
    }
}

/// Factor on force and torque that changes with time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Signal {
    /// Rises linearly from 0 at the start to 1 at `time`, then stays 1.
    Ramp {
        /// Time at which the factor reaches 1, s.
        #[schemars(with = "PositiveTime")]
        time: f64,
    },
    /// (1 − cos(π t/time))/2 up to `time`, then 0: the body is bent slowly and let go.
    Release {
        /// Time at which the load is let go, s.
        #[schemars(with = "PositiveTime")]
        time: f64,
    },
    /// Ricker wavelet (1 − 2a) exp(−a), a = (π f (t − delay))²: 1 at the delay, decaying fast before and after.
    Ricker {
        /// Frequency f at which the spectrum of the wavelet is largest, Hz.
        #[schemars(with = "PositiveRate")]
        frequency: f64,
        /// Time of the middle of the wavelet, s.
        #[schemars(with = "PositiveTime")]
        delay: f64,
    },
}

impl Signal {
    /// The factor at a time, s.
    pub fn at(&self, time: f64) -> f64 {
        match *self {
            Signal::Ramp { time: whole } => (time / whole).clamp(0.0, 1.0),
            Signal::Release { time: end } if time < end => {
                0.5 - 0.5 * (std::f64::consts::PI * time / end).cos()
            }
            Signal::Release { .. } => 0.0,
            Signal::Ricker { frequency, delay } => {
                let a = (std::f64::consts::PI * frequency * (time - delay)).powi(2);
                (1.0 - 2.0 * a) * (-a).exp()
            }
        }
    }
}

//! Obstacles, and what holds, drives or loads bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::Rotation;
use super::quantity::{
    AngularVelocity, Force, Length, NonNegativeNumber, NonNegativeTime, Number, PositiveLength,
    PositiveNumber, PositivePressure, PositiveRate, PositiveStiffness, PositiveTime, Pressure,
    Velocity,
};
use super::time::Region;

/// A solid that pushes elements and is pushed by nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collider {
    /// What overrides call it.
    pub name: String,
    /// What it fills.
    pub shape: ColliderShape,
    /// Where its origin is at the start, m.
    #[serde(default)]
    #[schemars(with = "[Length; 3]")]
    pub position: [f64; 3],
    /// How it is turned at the start.
    #[serde(default)]
    pub rotation: Rotation,
    /// Velocity, m/s.
    #[serde(default)]
    #[schemars(with = "[Velocity; 3]")]
    pub velocity: [f64; 3],
    /// Angular velocity about `position`, rad/s.
    #[serde(default)]
    #[schemars(with = "[AngularVelocity; 3]")]
    pub spin: [f64; 3],
    /// Poses that replace `velocity` and `spin`: linear between them, held outside. Times ascend.
    #[serde(default)]
    pub keys: Vec<Key>,
    /// Friction coefficient. A contact takes the smaller of both partners' coefficients.
    #[serde(default = "friction")]
    #[schemars(with = "NonNegativeNumber")]
    pub friction: f64,
    /// Young's modulus of its contacts, Pa; absent: that of the element it touches.
    #[serde(default)]
    #[schemars(with = "PositivePressure")]
    pub young: Option<f64>,
}

fn friction() -> f64 {
    0.5
}

/// A pose at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Simulated time, s.
    #[schemars(with = "NonNegativeTime")]
    pub time: f64,
    /// Where the collider's origin is, m; of a clamp how far it has moved from where its elements were packed.
    #[schemars(with = "[Length; 3]")]
    pub position: [f64; 3],
    /// How it is turned; of a clamp against where its elements were packed. From key to key the shortest way.
    #[serde(default)]
    pub rotation: Rotation,
}

/// Solid obstacle, centred on its position; a mesh keeps its file's origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ColliderShape {
    /// Solid on the side that `normal` points away from, through `position`.
    HalfSpace {
        /// Outward direction, of any length but zero.
        #[schemars(with = "[Number; 3]")]
        normal: [f64; 3],
    },
    /// Box.
    Box {
        /// Edge lengths, m.
        #[schemars(with = "[PositiveLength; 3]")]
        size: [f64; 3],
    },
    /// Ball.
    Sphere {
        /// Radius, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
    },
    /// Cylinder along its y axis.
    Cylinder {
        /// Radius, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
        /// Length along y, m.
        #[schemars(with = "PositiveLength")]
        height: f64,
    },
    /// Inside of a closed triangle mesh from an OBJ, PLY or STL file; on the CPU.
    Mesh {
        /// Path relative to the pipeline file.
        file: String,
        /// Factor on the file's coordinates (metres = scale × file units); give this or `height`, not both.
        #[serde(default)]
        #[schemars(with = "PositiveNumber")]
        scale: Option<f64>,
        /// Extent along y after scaling, m.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        height: Option<f64>,
    },
}

impl ColliderShape {
    /// File that it is read from, relative to the pipeline file.
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
    /// What overrides call it.
    pub name: String,
    /// Name of a `[[body]]`.
    pub body: String,
    /// Which of its elements.
    pub region: Region,
    /// What is done to them.
    pub action: Action,
}

/// What an attachment does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Elements stay, or are moved and turned as one rigid piece.
    Clamp {
        /// Velocity, m/s.
        #[serde(default)]
        #[schemars(with = "[Velocity; 3]")]
        velocity: [f64; 3],
        /// Angular velocity about the pivot, rad/s.
        #[serde(default)]
        #[schemars(with = "[AngularVelocity; 3]")]
        spin: [f64; 3],
        /// Point at rest that `spin` and `keys` turn about, m; it moves along. Absent: the middle of the
        /// elements held, about which loads tell the torque.
        #[serde(default)]
        #[schemars(with = "[Length; 3]")]
        pivot: Option<[f64; 3]>,
        /// Displacements and turns from where the elements were packed that replace `velocity` and `spin`:
        /// linear between them, held outside, before the first from the start on. Times ascend. A turn of
        /// more than half a revolution takes keys between, or `spin`.
        #[serde(default)]
        keys: Vec<Key>,
    },
    /// A spring of no length at rest draws each element to where a clamp would have it; rotations are free. On the CPU.
    Spring {
        /// Stiffness of the spring of each element, N/m.
        #[schemars(with = "PositiveStiffness")]
        stiffness: f64,
        /// Velocity of where it draws them, m/s.
        #[serde(default)]
        #[schemars(with = "[Velocity; 3]")]
        velocity: [f64; 3],
        /// Angular velocity of the same about the pivot, rad/s.
        #[serde(default)]
        #[schemars(with = "[AngularVelocity; 3]")]
        spin: [f64; 3],
        /// Point at rest that `spin` and `keys` turn about, m; it moves along. Absent: the middle of the elements.
        #[serde(default)]
        #[schemars(with = "[Length; 3]")]
        pivot: Option<[f64; 3]>,
        /// As a clamp's.
        #[serde(default)]
        keys: Vec<Key>,
    },
    /// A force and a torque, shared out evenly.
    Force {
        /// Total force, N.
        #[serde(default)]
        #[schemars(with = "[Force; 3]")]
        force: [f64; 3],
        /// Total torque on the elements, each about its own centre, N m; in explicit steps on the CPU.
        #[serde(default, skip_serializing_if = "is_zero")]
        #[schemars(with = "[Number; 3]")]
        torque: [f64; 3],
        /// How both change with time; absent: they are constant. In explicit steps on the CPU.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Signal")]
        signal: Option<Signal>,
    },
    /// A pressure on those at the surface of the body, along its inward normal there, which turns with each element.
    Pressure {
        /// Pressure, Pa; below 0 it pulls.
        #[schemars(with = "Pressure")]
        pressure: f64,
    },
    /// Nothing: how far the elements move on average is recorded beside the loads.
    Gauge {},
}

fn is_zero(vector: &[f64; 3]) -> bool {
    *vector == [0.0; 3]
}

impl Action {
    /// Whether it loads with a torque, or with what changes with time.
    pub fn changes_or_turns(&self) -> bool {
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

/// A factor that changes with time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Signal {
    /// From 0 at the start evenly to 1, which it keeps.
    Ramp {
        /// Time at which it is 1, s.
        #[schemars(with = "PositiveTime")]
        time: f64,
    },
    /// From 0 at the start smoothly to 1, half a wave of a cosine, and 0 from then on: what is bent slowly is let go.
    Release {
        /// Time at which it is let go, s.
        #[schemars(with = "PositiveTime")]
        time: f64,
    },
    /// (1 − 2a) exp(−a), a = (π f (t − delay))²: a wavelet that is 1 at the delay and soon 0 before and after it.
    Ricker {
        /// Frequency f at which its spectrum is largest, Hz.
        #[schemars(with = "PositiveRate")]
        frequency: f64,
        /// Time of its middle, s.
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

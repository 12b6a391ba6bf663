//! Settings of preview pictures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::FrameGroup;
use super::quantity::{Length, Number, PositivePressure, PositiveVelocity, ViewAngle};

/// Settings of preview pictures, which need no renderer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Preview {
    /// Width of the pictures, pixels.
    #[schemars(range(min = 16, max = 4096))]
    pub width: u32,
    /// Height of the pictures, pixels.
    #[schemars(range(min = 16, max = 4096))]
    pub height: u32,
    /// Position and view of the camera; absent: chosen from the bounds of the scene.
    #[schemars(with = "Camera")]
    pub camera: Option<Camera>,
    /// Plane that cuts the bodies open: elements behind it are drawn as balls, and colliders except half-spaces are
    /// left out. Pictures of stress show both the surface and the elements behind the plane. Absent: whole bodies are
    /// drawn.
    #[schemars(with = "Section")]
    pub section: Option<Section>,
    /// Draws elements as balls, instead of surfaces, coloured by this quantity, with a colour bar. Absent: surfaces
    /// are drawn if there are any; elements drawn as balls get redder as their bonds break.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ElementColour")]
    pub colour: Option<ElementColour>,
}

impl Default for Preview {
    fn default() -> Self {
        Preview {
            width: 640,
            height: 480,
            camera: None,
            section: None,
            colour: None,
        }
    }
}

/// Quantity by which elements are coloured in pictures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ElementColour {
    /// Tensile stress of an element: `sigma` in the frames.
    TensileStress {
        /// Upper end of the colour bar, Pa; absent: the largest value, or below a few much larger ones.
        #[serde(default)]
        #[schemars(with = "PositivePressure")]
        most: Option<f64>,
    },
    /// Shear stress of an element: `tau` in the frames.
    ShearStress {
        /// Upper end of the colour bar, Pa; absent: the largest value, or below a few much larger ones.
        #[serde(default)]
        #[schemars(with = "PositivePressure")]
        most: Option<f64>,
    },
    /// Speed of an element.
    Speed {
        /// Upper end of the colour bar, m/s; absent: the largest value, or below a few much larger ones.
        #[serde(default)]
        #[schemars(with = "PositiveVelocity")]
        most: Option<f64>,
    },
}

impl ElementColour {
    /// Columns of frames that it needs.
    pub fn group(self) -> FrameGroup {
        match self {
            ElementColour::TensileStress { .. } | ElementColour::ShearStress { .. } => {
                FrameGroup::Stress
            }
            ElementColour::Speed { .. } => FrameGroup::Velocity,
        }
    }
}

/// Plane along which pictures cut bodies open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// A point of the plane, m.
    #[schemars(with = "[Length; 3]")]
    pub point: [f64; 3],
    /// Normal of the plane, towards the side that is removed; any length except zero.
    #[schemars(with = "[Number; 3]")]
    pub normal: [f64; 3],
}

/// Camera of the preview pictures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Position of the camera, m.
    #[schemars(with = "[Length; 3]")]
    pub eye: [f64; 3],
    /// Point that the camera looks at, m.
    #[schemars(with = "[Length; 3]")]
    pub target: [f64; 3],
    /// Vertical angle of view, rad.
    #[schemars(with = "ViewAngle")]
    pub fov: f64,
}

impl Camera {
    /// Vertical angle of view of a camera that is chosen automatically, rad: a short telephoto lens.
    pub const AUTOMATIC_ANGLE: f64 = 0.55;
    /// Direction from the target to such a camera, of any length: three-quarter view from above.
    pub const AUTOMATIC_DIRECTION: [f64; 3] = [0.52, 0.36, 0.78];
}

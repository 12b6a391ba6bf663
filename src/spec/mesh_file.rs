//! How a mesh file is read: its unit, how it is closed, and the walls of sheets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of the coordinates of a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeshUnit {
    /// Metre.
    M,
    /// Decimetre.
    Dm,
    /// Centimetre.
    Cm,
    /// Millimetre.
    Mm,
    /// Kilometre.
    Km,
    /// Inch, 25.4 mm.
    Inch,
    /// Foot, 0.3048 m.
    Foot,
}

impl MeshUnit {
    /// Length of the unit, m.
    pub fn metres(self) -> f64 {
        match self {
            MeshUnit::M => 1.0,
            MeshUnit::Dm => 0.1,
            MeshUnit::Cm => 0.01,
            MeshUnit::Mm => 0.001,
            MeshUnit::Km => 1000.0,
            MeshUnit::Inch => 0.0254,
            MeshUnit::Foot => 0.3048,
        }
    }
}

/// How a mesh is closed, and what counts as its inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// A mesh that bounds a solid stays as it is. Others are repaired: double vertices, degenerate and double
    /// triangles, wrong winding, small holes; crossing surfaces are cut and inner walls dropped. What is still open
    /// is replaced by the surface where the winding number is one half. The program says what it did.
    #[default]
    #[serde(alias = "repair")]
    Auto,
    /// The enclosed volume; a mesh that is open or intersects itself is refused.
    Closed,
    /// As `auto`, but by winding number from the start: a surface inside another, both wound outward, is dropped
    /// instead of bounding a cavity.
    Winding,
}

/// Side of a sheet on which its wall lies. Normals follow the winding: counter-clockwise seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThicknessSide {
    /// Half of the thickness on each side.
    #[default]
    Both,
    /// Behind the sheet, opposite to its normals.
    Inside,
    /// In front of the sheet.
    Outside,
}

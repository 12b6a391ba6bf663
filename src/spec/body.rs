//! Bodies: a shape, filled with elements of a material, and its first motion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{
    Angle, AngularVelocity, Fraction, Length, LooseFraction, Neighbourhood, Number, PolarAngle,
    PositiveAngle, PositiveLength, PositiveNumber, Spread, Velocity,
};
use crate::geometry::revolve;

/// How element masses follow from the density.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MassModel {
    /// The body's mass, shared out by the volume that each element stands for.
    #[default]
    Bulk,
    /// 4/3 π r³ ρ each, as in the papers: a close-packed body is 26 % too light.
    Sphere,
}

/// A body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// What attachments and overrides call it.
    pub name: String,
    /// Name of a `[[material]]`.
    pub material: String,
    /// Grains of other materials within it, as the stones of concrete.
    #[serde(default)]
    pub grains: Vec<Grains>,
    /// What the body fills.
    pub shape: BodyShape,
    /// How it is filled.
    pub packing: PackingSpec,
    /// How element masses follow from the density.
    #[serde(default)]
    pub mass: MassModel,
    /// Whether neighbours are bonded; false gives loose elements. Those of a `loose` packing never are.
    #[serde(default = "yes")]
    pub bonded: bool,
    /// Whether it moves as one rigid piece: no bond of it stretches or breaks.
    #[serde(default)]
    pub rigid: bool,
    /// Where the shape's own origin comes to lie, m.
    #[serde(default)]
    #[schemars(with = "[Length; 3]")]
    pub position: [f64; 3],
    /// How the shape is turned about its own origin.
    #[serde(default)]
    pub rotation: Rotation,
    /// Velocity at the start, m/s.
    #[serde(default)]
    #[schemars(with = "[Velocity; 3]")]
    pub velocity: [f64; 3],
    /// Angular velocity at the start, rad/s, world frame, about the centre of mass.
    #[serde(default)]
    #[schemars(with = "[AngularVelocity; 3]")]
    pub spin: [f64; 3],
}

impl Body {
    /// Whether neighbours are bonded.
    pub fn is_bonded(&self) -> bool {
        match self.packing {
            PackingSpec::Loose { .. } | PackingSpec::None {} => false,
            PackingSpec::Hexagonal { .. }
            | PackingSpec::Random { .. }
            | PackingSpec::Shell { .. }
            | PackingSpec::Twisted { .. }
            | PackingSpec::Woven { .. }
            | PackingSpec::Voronoi { .. }
            | PackingSpec::Cubic { .. } => self.bonded,
        }
    }

    /// The key of what makes the body something else than a solid of one material, which boundary elements
    /// ask for, and what is said of that; none where it is one.
    pub fn not_one_solid(&self) -> Option<(&'static str, &'static str)> {
        if !self.grains.is_empty() {
            let why = "boundary elements take one material a body; remove its grains";
            return Some(("grains", why));
        }
        let why = match self.packing {
            PackingSpec::Loose { .. } => {
                "boundary elements take solid bodies, and loose grains are none"
            }
            PackingSpec::Shell { .. } => {
                "boundary elements take solid bodies, and a shell is hollow; model its wall as the shape"
            }
            PackingSpec::Twisted { .. } => {
                "boundary elements take solid bodies, and a rope is none: its strands slide"
            }
            PackingSpec::Woven { .. } => {
                "boundary elements take solid bodies, and cloth is none: its yarns slide"
            }
            PackingSpec::None {} => return None,
            PackingSpec::Hexagonal { .. }
            | PackingSpec::Random { .. }
            | PackingSpec::Voronoi { .. }
            | PackingSpec::Cubic { .. } => {
                let why = "boundary elements take solid bodies, and loose elements are none; remove `bonded`";
                return (!self.bonded).then_some(("bonded", why));
            }
        };
        Some(("packing.type", why))
    }
}

fn yes() -> bool {
    true
}

/// Grains of another material within a body: cells about points scattered through it, of which a part is of
/// that material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grains {
    /// Name of a `[[material]]`.
    pub material: String,
    /// Part of the body's volume.
    #[schemars(with = "Fraction")]
    pub part: f64,
    /// Mean distance of neighbouring grains' middles, m.
    #[schemars(with = "PositiveLength")]
    pub size: f64,
}

/// Rotation by an angle about an axis: `{ axis = [0, 1, 0], angle = "30 deg" }`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// Direction of the axis, of any length but zero.
    #[schemars(with = "[Number; 3]")]
    pub axis: [f64; 3],
    /// Angle, rad, right-handed.
    #[schemars(with = "Angle")]
    pub angle: f64,
}

impl Default for Rotation {
    fn default() -> Self {
        Rotation {
            axis: [0.0, 1.0, 0.0],
            angle: 0.0,
        }
    }
}

/// What a body fills. Shapes are centred on their origin, meshes keep theirs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BodyShape {
    /// Triangle mesh from an OBJ, PLY or STL file.
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
        /// What counts as inside.
        #[serde(default)]
        fill: Fill,
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
    /// Cylinder along y.
    Cylinder {
        /// Radius, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
        /// Length along y, m.
        #[schemars(with = "PositiveLength")]
        height: f64,
    },
    /// Plate in the x-z plane, close-packed layers stacked along y; thickness follows from layers and radius.
    Plate {
        /// Extent along x and z, m.
        #[schemars(with = "[PositiveLength; 2]")]
        size: [f64; 2],
        /// Layers of elements.
        #[schemars(range(min = 1))]
        layers: u32,
        /// Radius of a round hole through the middle, m; none where it is absent.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        hole: Option<f64>,
    },
    /// Solid of revolution about y.
    Revolved {
        /// Points `[radius, y]` from the bottom to the top of the axis, m; ends off the axis are closed by
        /// discs. A profile that turns back, as of a bowl, may, but must not cross itself.
        #[schemars(with = "Vec<[Length; 2]>")]
        profile: Vec<[f64; 2]>,
        /// Sides of the skin about the axis.
        #[serde(default = "segments")]
        #[schemars(range(min = 3, max = 10_000))]
        segments: u32,
    },
    /// Round bar along a smooth curve through points.
    Tube {
        /// Points `[x, y, z]` of its axis, from one end to the other, m; two make it straight.
        #[schemars(with = "Vec<[Length; 3]>")]
        points: Vec<[f64; 3]>,
        /// Radius, m; it must bend less sharply and not meet itself.
        #[schemars(with = "PositiveLength")]
        radius: f64,
    },
    /// Wall of a cylinder along y, or part of it, of the rows of a `cubic` packing.
    CylinderShell {
        /// Radius of the middle of the wall, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
        /// Length along y, m.
        #[schemars(with = "PositiveLength")]
        height: f64,
        /// Thickness of the wall, m.
        #[schemars(with = "PositiveLength")]
        thickness: f64,
        /// How far it goes round, rad, from z towards x; absent: all the way.
        #[serde(default)]
        #[schemars(with = "PositiveAngle")]
        angle: Option<f64>,
    },
    /// Wall of a ball about y, between two angles from the y axis, of the rows of a `cubic` packing.
    SphereShell {
        /// Radius of the middle of the wall, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
        /// Thickness of the wall, m.
        #[schemars(with = "PositiveLength")]
        thickness: f64,
        /// Angle from the y axis at which it begins, rad; 0: at the top.
        #[serde(default)]
        #[schemars(with = "PolarAngle")]
        from: f64,
        /// Angle from the y axis at which it ends, rad; 90°: at the equator.
        #[serde(default = "half_turn")]
        #[schemars(with = "PolarAngle")]
        to: f64,
    },
    /// Hexagonal block of counted rows; the box follows.
    Block {
        /// Elements a row along x, rows a layer along y, layers along z.
        #[schemars(inner(range(min = 1)))]
        rows: [u32; 3],
    },
}

fn half_turn() -> f64 {
    std::f64::consts::PI
}

fn segments() -> u32 {
    revolve::SEGMENTS
}

impl BodyShape {
    /// File that it is read from, relative to the pipeline file.
    pub fn file(&self) -> Option<&str> {
        match self {
            BodyShape::Mesh { file, .. } => Some(file),
            BodyShape::Box { .. }
            | BodyShape::Sphere { .. }
            | BodyShape::Cylinder { .. }
            | BodyShape::Plate { .. }
            | BodyShape::Revolved { .. }
            | BodyShape::Tube { .. }
            | BodyShape::CylinderShell { .. }
            | BodyShape::SphereShell { .. }
            | BodyShape::Block { .. } => None,
        }
    }
}

/// What counts as the inside of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Refuses a mesh that is open or cuts itself.
    #[default]
    Closed,
    /// As `closed`, but double vertices, degenerate and double triangles and wrong winding are repaired first.
    Repair,
    /// Where the winding number exceeds one half.
    Winding,
}

/// How yarns of cloth cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weave {
    /// Over one, under one.
    #[default]
    Plain,
    /// Over two, under two, one further on from yarn to yarn.
    Twill,
}

/// What is wrong with a plate or block of any packing but rows and layers.
pub const COUNTED: &str = "plates and blocks are made of rows and layers, which this packing has not; use shape = { type = \"box\" } or another";
/// What is wrong with a `cylinder_shell` or `sphere_shell` of any packing but `cubic`.
pub const WALLS: &str = "cylinder_shell and sphere_shell are walls of counted bricks; use packing = { type = \"cubic\" } or another shape";
/// What is wrong with a mesh of cells that is filled by winding number.
pub const CELLS_CLOSED: &str = "cells end at the skin of a closed mesh; use fill = \"closed\"";
/// What is wrong with a rope of another shape.
pub const TWISTED: &str = "a rope winds about the axis of a cylinder or a tube; use shape = { type = \"cylinder\" } or \"tube\"";

/// How the shape is filled with elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum PackingSpec {
    /// No elements: the surface alone, for `simulate.method = "bem"`.
    None {},
    /// Hexagonal close packing; give the radius or about how many elements.
    Hexagonal {
        /// Element radius, m.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
    },
    /// Random close packing; give the mean radius or about how many elements. `simulate.seed` chooses which.
    Random {
        /// Mean element radius, m.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// Radii lie evenly between 1 − spread and 1 + spread of their mean; 0: all equal.
        #[serde(default)]
        #[schemars(with = "Spread")]
        spread: f64,
        /// Elements are bonded whose distance is at most so many times the sum of their radii.
        #[serde(default = "neighbourhood")]
        #[schemars(with = "Neighbourhood")]
        neighbourhood: f64,
    },
    /// Loose grains with gaps between them, as poured, that settle when the run begins; give the mean radius
    /// or about how many. `simulate.seed` chooses which.
    Loose {
        /// Mean radius of the grains, m.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many grains.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// Radii lie evenly between 1 − spread and 1 + spread of their mean; 0: all equal.
        #[serde(default)]
        #[schemars(with = "Spread")]
        spread: f64,
        /// Part of the volume in grains, away from the skin.
        #[serde(default = "poured")]
        #[schemars(with = "LooseFraction")]
        fraction: f64,
    },
    /// Layers of elements under the skin of a closed shape, hollow within; give the radius or about how many
    /// elements. `simulate.seed` chooses which.
    Shell {
        /// Element radius, m.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// Layers of elements.
        #[schemars(range(min = 1, max = 100))]
        layers: u32,
        /// Elements are bonded whose distance is at most so many times the sum of their radii.
        #[serde(default = "of_shells")]
        #[schemars(with = "Neighbourhood")]
        neighbourhood: f64,
    },
    /// Rope in a cylinder or a tube: strands that wind about its axis, bundles of filaments, bonded within
    /// each strand alone; give the radius or about how many elements.
    Twisted {
        /// Element radius, m.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// Strands.
        #[schemars(range(min = 2, max = 30))]
        strands: u32,
        /// Filaments of a strand; absent: the hexagon of filaments that fits.
        #[serde(default)]
        #[schemars(range(min = 1, max = 127))]
        filaments: Option<u32>,
        /// Length of one turn, m.
        #[schemars(with = "PositiveLength")]
        pitch: f64,
    },
    /// Cloth: sheets of yarns along x and z that pass over and under each other, bonded along each yarn
    /// alone; give the radius or about how many elements.
    Woven {
        /// Element radius, m.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// How yarns cross.
        #[serde(default)]
        weave: Weave,
        /// Filaments of a yarn.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 127))]
        filaments: u32,
    },
    /// Voronoi cells that fill the shape, for the energy-preserving method; give their size or about how many.
    Voronoi {
        /// Edge of the cube of a cell's mean volume, m.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        size: Option<f64>,
        /// About how many cells.
        #[serde(default)]
        #[schemars(range(min = 1))]
        cells: Option<u32>,
        /// Rounds in which the points that cells belong to move to the cells' centres (Lloyd): the more, the
        /// more even the cells.
        #[serde(default = "rounds")]
        #[schemars(range(min = 0, max = 1000))]
        relax: u32,
        /// Chooses the cells; absent: `simulate.seed`.
        #[serde(default)]
        seed: Option<u64>,
    },
    /// Bricks in rows, for the energy-preserving method: of a box, of the walls `cylinder_shell` and
    /// `sphere_shell`, or of any other shape those whose centre lies inside. Give their size or how many
    /// there are.
    Cubic {
        /// About the edges of a brick, m; they are adjusted to fill the box about the shape. Along x, y, z;
        /// of a wall round, along and through it.
        #[serde(default)]
        #[schemars(with = "[PositiveLength; 3]")]
        size: Option<[f64; 3]>,
        /// Bricks along x, y, z of the box about the shape; of a wall round, along and through it.
        #[serde(default)]
        #[schemars(inner(range(min = 1)))]
        rows: Option<[u32; 3]>,
    },
}

/// Then the points lie off the centres of their cells by a hundredth of the cells' size.
fn rounds() -> u32 {
    10
}

fn neighbourhood() -> f64 {
    1.1
}

fn one() -> u32 {
    1
}

/// As grains lie that were poured gently: Onoda and Liniger 1990 found 0.555 for the loosest of equal spheres
/// that still bears itself.
fn poured() -> f64 {
    0.55
}

/// Layers stand farther apart than the spheres of a random packing: 8 to 9 bonds an element of three layers.
fn of_shells() -> f64 {
    1.2
}

impl PackingSpec {
    /// Whether the elements are cells with faces, not balls.
    pub fn is_of_cells(&self) -> bool {
        matches!(
            self,
            PackingSpec::Voronoi { .. } | PackingSpec::Cubic { .. }
        )
    }

    /// Radius, m, and about how many elements, of which one is to be given; of cells neither.
    pub fn size(&self) -> (Option<f64>, Option<u32>) {
        match *self {
            PackingSpec::Hexagonal { radius, elements }
            | PackingSpec::Random {
                radius, elements, ..
            }
            | PackingSpec::Loose {
                radius, elements, ..
            }
            | PackingSpec::Shell {
                radius, elements, ..
            }
            | PackingSpec::Twisted {
                radius, elements, ..
            }
            | PackingSpec::Woven {
                radius, elements, ..
            } => (radius, elements),
            PackingSpec::None {} | PackingSpec::Voronoi { .. } | PackingSpec::Cubic { .. } => {
                (None, None)
            }
        }
    }
}

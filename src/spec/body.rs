//! Bodies: their shape, material and packing, and their motion at the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::export::Up;
use super::mesh_file::{Fill, MeshUnit, ThicknessSide};
use super::quantity::{
    Angle, AngularVelocity, Fraction, Length, LooseFraction, Neighbourhood, Number, PolarAngle,
    PositiveAngle, PositiveLength, PositiveNumber, Spread, Velocity,
};
use crate::geometry::revolve;

/// How the masses of elements follow from the density.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MassModel {
    /// The body weighs density × volume; each element gets its share of that by the volume it represents.
    #[default]
    Bulk,
    /// Each element weighs 4/3 π r³ ρ, as in the papers; a close-packed body is then 26 % too light.
    Sphere,
}

/// A body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Name of the body, by which attachments and overrides refer to it.
    pub name: String,
    /// Name of the `[[material]]` that the body is made of.
    pub material: String,
    /// Lumps of other materials within the body, such as the stones in concrete.
    #[serde(default)]
    pub grains: Vec<Grains>,
    /// Cracks that the body has from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cracks: Vec<Crack>,
    /// Shape that the body fills.
    pub shape: BodyShape,
    /// How the shape is filled with elements.
    pub packing: PackingSpec,
    /// How the masses of elements follow from the density.
    #[serde(default)]
    pub mass: MassModel,
    /// Whether neighbouring elements are bonded. With false they are loose, and those of a `random` packing
    /// lie wholly inside the shape. Elements of a `loose` packing are never bonded.
    #[serde(default = "default_bonded")]
    pub bonded: bool,
    /// Whether the body moves as one rigid piece with the mass and inertia of its elements. Its bonds carry
    /// no load and do not break, contacts and forces on its elements push and turn it, and it is one
    /// fragment. One clamp may hold it as a whole.
    #[serde(default)]
    pub rigid: bool,
    /// Position of the shape's origin in the world, m.
    #[serde(default)]
    #[schemars(with = "[Length; 3]")]
    pub position: [f64; 3],
    /// Rotation of the shape about its own origin.
    #[serde(default)]
    pub rotation: Rotation,
    /// Velocity at the start, m/s.
    #[serde(default)]
    #[schemars(with = "[Velocity; 3]")]
    pub velocity: [f64; 3],
    /// Angular velocity at the start, rad/s, about the centre of mass, in world axes.
    #[serde(default)]
    #[schemars(with = "[AngularVelocity; 3]")]
    pub spin: [f64; 3],
}

impl Body {
    /// Whether neighbouring elements are bonded.
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

    /// Boundary elements need a solid body of one material. If this body is not one, the key responsible and
    /// the message for the user; else none.
    pub fn boundary_element_refusal(&self) -> Option<(&'static str, &'static str)> {
        if !self.grains.is_empty() {
            let why = "boundary elements need one material per body; remove its grains";
            return Some(("grains", why));
        }
        if !self.cracks.is_empty() {
            let why = "boundary elements see the skin of a body only; remove its cracks, or model them as slots";
            return Some(("cracks", why));
        }
        let why = match self.packing {
            PackingSpec::Loose { .. } => {
                "boundary elements need a solid body; loose grains are not one"
            }
            PackingSpec::Shell { .. } => {
                "boundary elements need a solid body; a shell is hollow, so model its wall as the shape"
            }
            PackingSpec::Twisted { .. } => {
                "boundary elements need a solid body; a rope is not one, as its strands slide"
            }
            PackingSpec::Woven { .. } => {
                "boundary elements need a solid body; cloth is not one, as its yarns slide"
            }
            PackingSpec::None {} => return None,
            PackingSpec::Hexagonal { .. }
            | PackingSpec::Random { .. }
            | PackingSpec::Voronoi { .. }
            | PackingSpec::Cubic { .. } => {
                let why = "boundary elements need a solid body; loose elements are not one, so remove `bonded`";
                return (!self.bonded).then_some(("bonded", why));
            }
        };
        Some(("packing.type", why))
    }
}

fn default_bonded() -> bool {
    true
}

/// Lumps of another material within a body. Points scattered through the body divide it into cells, some of
/// which are of that material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grains {
    /// Name of the `[[material]]` of the lumps.
    pub material: String,
    /// Fraction of the body's volume that the lumps fill; the fractions of all entries add up to at most 1.
    #[schemars(with = "Fraction")]
    pub part: f64,
    /// Mean distance between the centres of neighbouring lumps, m.
    #[schemars(with = "PositiveLength")]
    pub size: f64,
}

/// A crack that a body has from the start: a flat, convex polygon in the frame of the shape. Bonds between elements on
/// either side of it are broken, so that it has no width and is sharp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crack {
    /// Corners of the polygon, in order around it, m; at least three.
    #[schemars(with = "Vec<[Length; 3]>")]
    pub points: Vec<[f64; 3]>,
}

/// Rotation by an angle about an axis: `{ axis = [0, 1, 0], angle = "30 deg" }`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// Direction of the axis; any length except zero.
    #[schemars(with = "[Number; 3]")]
    pub axis: [f64; 3],
    /// Angle of the rotation, rad, right-handed about the axis.
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

/// Shape of a body. Shapes are centred on their origin; a mesh keeps the origin of its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BodyShape {
    /// Triangle mesh from a GLB, glTF, OBJ, PLY, STL or USD text file.
    Mesh {
        /// Path of the GLB, glTF, OBJ, PLY, STL or USD text (`.usda`) file, relative to the pipeline file.
        /// Texture coordinates are kept: OBJ `vt`; PLY `s t`, `u v` or `texture_u texture_v` per vertex, or
        /// `texcoord` per face; glTF `TEXCOORD_0`; USD `primvars:st`; faces without any, among others with some,
        /// get 0.
        file: String,
        /// Name of one object of the file: a node of glTF, a mesh prim of USD, `o` of OBJ, or `g` where there is
        /// no `o`; absent: all objects together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        object: Option<String>,
        /// Whether this entry stands for one body per object of the file. Each is named BODY.OBJECT; the frame
        /// store has them one by one.
        #[serde(default, skip_serializing_if = "is_false")]
        each: bool,
        /// Axis that points up in the file; z is turned to y. Absent: as the file says (glTF, USD), else y.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Up")]
        up: Option<Up>,
        /// Unit of the file's coordinates. Absent: as the file says (glTF: metres; USD: `metersPerUnit`), else
        /// metres. Not with `scale` or `height`.
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
        /// Thickness of the wall of a sheet, m: an open surface, or a closed one that becomes hollow. Absent: the
        /// mesh bounds the body.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        thickness: Option<f64>,
        /// Side of the sheet on which the wall of `thickness` lies.
        #[serde(default)]
        thickness_side: ThicknessSide,
        /// How the mesh is closed, and what counts as its inside.
        #[serde(default)]
        fill: Fill,
    },
    /// Box along the axes.
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
    /// Cylinder along y.
    Cylinder {
        /// Radius of the cylinder, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
        /// Length of the cylinder along y, m.
        #[schemars(with = "PositiveLength")]
        height: f64,
    },
    /// Plate in the x-z plane of close-packed layers stacked along y. Its thickness follows from `layers` and
    /// the element radius.
    Plate {
        /// Extent of the plate along x and z, m.
        #[schemars(with = "[PositiveLength; 2]")]
        size: [f64; 2],
        /// Number of layers of elements; of sheets in a `woven` packing.
        #[schemars(range(min = 1))]
        layers: u32,
        /// Radius of a round hole through the middle, m, less than half the shorter side; absent: no hole.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        hole: Option<f64>,
    },
    /// Solid of revolution about y.
    Revolved {
        /// Points `[radius, y]` of the outline, from the bottom to the top of the y axis, m. Ends off the axis
        /// are closed by discs. The outline may turn back, as that of a bowl does, but must not cross itself.
        #[schemars(with = "Vec<[Length; 2]>")]
        profile: Vec<[f64; 2]>,
        /// Number of sides of the surface mesh around the axis.
        #[serde(default = "default_segments")]
        #[schemars(range(min = 3, max = 10_000))]
        segments: u32,
    },
    /// Round bar along the smooth curve (centripetal Catmull–Rom spline) through given points.
    Tube {
        /// Points `[x, y, z]` of the bar's axis, from one end to the other, m; two points make it straight.
        #[schemars(with = "Vec<[Length; 3]>")]
        points: Vec<[f64; 3]>,
        /// Radius of the bar, m. The bar must not bend more sharply than this radius, nor meet itself.
        #[schemars(with = "PositiveLength")]
        radius: f64,
    },
    /// Wall of a hollow cylinder along y, or a part of it; for `cubic` packings.
    CylinderShell {
        /// Radius of the middle surface of the wall, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
        /// Length of the cylinder along y, m.
        #[schemars(with = "PositiveLength")]
        height: f64,
        /// Thickness of the wall, m; less than twice the radius.
        #[schemars(with = "PositiveLength")]
        thickness: f64,
        /// Angle that the wall covers, rad, from z towards x; absent: 360°.
        #[serde(default)]
        #[schemars(with = "PositiveAngle")]
        angle: Option<f64>,
    },
    /// Wall of a hollow ball between two angles from the y axis; for `cubic` packings.
    SphereShell {
        /// Radius of the middle surface of the wall, m.
        #[schemars(with = "PositiveLength")]
        radius: f64,
        /// Thickness of the wall, m; less than twice the radius.
        #[schemars(with = "PositiveLength")]
        thickness: f64,
        /// Angle from the y axis at which the wall begins, rad; 0 is the top.
        #[serde(default)]
        #[schemars(with = "PolarAngle")]
        from: f64,
        /// Angle from the y axis at which the wall ends, rad, greater than `from`; 90° is the equator, 180° the
        /// bottom.
        #[serde(default = "half_turn")]
        #[schemars(with = "PolarAngle")]
        to: f64,
    },
    /// Block of rows of elements in hexagonal packing; its size follows from `radius` of its
    /// packing.
    Block {
        /// Numbers of elements in a row (along x), of rows in a layer (along y) and of layers (along z).
        #[schemars(inner(range(min = 1)))]
        rows: [u32; 3],
    },
}

fn half_turn() -> f64 {
    std::f64::consts::PI
}

fn default_segments() -> u32 {
    revolve::DEFAULT_SEGMENTS
}

impl BodyShape {
    /// File that the shape is read from, relative to the pipeline file; none for other shapes.
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

fn is_false(value: &bool) -> bool {
    !value
}

/// How yarns of cloth cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weave {
    /// Over one, under one.
    #[default]
    Plain,
    /// Over two, under two, shifted by one from yarn to yarn.
    Twill,
}

/// Message about a plate or block whose packing has no rows and layers.
pub const NEEDS_ROWS: &str = "plates and blocks consist of rows and layers, which this packing does not have; use shape = { type = \"box\" } or another";
/// Message about a `cylinder_shell` or `sphere_shell` whose packing is not `cubic`.
pub const NEEDS_CUBIC_PACKING: &str = "cylinder_shell and sphere_shell are walls of bricks in rows; use packing = { type = \"cubic\" } or another shape";
/// Message about a rope in a shape without an axis.
pub const ROPE_NEEDS_AXIS: &str = "a rope winds about the axis of a cylinder or a tube; use shape = { type = \"cylinder\" } or \"tube\"";

/// How a shape is filled with elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum PackingSpec {
    /// No elements: the surface alone, for `simulate.method = "bem"`; for any shape except `plate` and `block`.
    None {},
    /// Hexagonal close packing of balls, for any shape. Give either `radius` or `elements`.
    Hexagonal {
        /// Radius of the elements, m; absent: it follows from `elements`.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements there are; absent: it follows from `radius`.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
    },
    /// Random close packing of balls, drawn by `simulate.seed`, for any shape except `plate` and `block`. Give
    /// either `radius` or `elements`.
    Random {
        /// Mean radius of the elements, m; absent: it follows from `elements`.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements there are; absent: it follows from `radius`.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// Radii are distributed evenly between 1 − spread and 1 + spread times their mean; 0: all are equal.
        #[serde(default)]
        #[schemars(with = "Spread")]
        spread: f64,
        /// Two elements are bonded if their distance is at most this many times the sum of their radii.
        #[serde(default = "default_neighbourhood")]
        #[schemars(with = "Neighbourhood")]
        neighbourhood: f64,
    },
    /// Loose balls with gaps between them, as poured, which settle when the run begins and are never bonded;
    /// drawn by `simulate.seed`, for any shape except `plate` and `block`. Give either `radius` or `elements`.
    Loose {
        /// Mean radius of the balls, m; absent: it follows from `elements`.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many balls there are; absent: it follows from `radius`.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// Radii are distributed evenly between 1 − spread and 1 + spread times their mean; 0: all are equal.
        #[serde(default)]
        #[schemars(with = "Spread")]
        spread: f64,
        /// Fraction of the volume that the balls fill, away from the skin of the shape.
        #[serde(default = "default_loose_fraction")]
        #[schemars(with = "LooseFraction")]
        fraction: f64,
    },
    /// Layers of balls under the skin of a shape, which is hollow inside; drawn by `simulate.seed`, for any
    /// closed shape except `plate` and `block`. Give either `radius` or `elements`.
    Shell {
        /// Radius of the elements, m; absent: it follows from `elements`.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements there are; absent: it follows from `radius`.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// Number of layers of elements.
        #[schemars(range(min = 1, max = 100))]
        layers: u32,
        /// Two elements are bonded if their distance is at most this many times the sum of their radii.
        #[serde(default = "default_shell_neighbourhood")]
        #[schemars(with = "Neighbourhood")]
        neighbourhood: f64,
    },
    /// Rope in a cylinder or tube: strands wound about its axis, each a bundle of filaments. Bonds join
    /// elements of the same strand only. Give either `radius` or `elements`.
    Twisted {
        /// Radius of the elements, m; absent: it follows from `elements`.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements there are; absent: it follows from `radius`.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// Number of strands.
        #[schemars(range(min = 2, max = 30))]
        strands: u32,
        /// Number of filaments in a strand: 1, 7, 19, 37 (full hexagons) or any other up to 127; absent: the
        /// hexagon of filaments that fits.
        #[serde(default)]
        #[schemars(range(min = 1, max = 127))]
        filaments: Option<u32>,
        /// Length along the axis of one turn of a strand, m.
        #[schemars(with = "PositiveLength")]
        pitch: f64,
    },
    /// Cloth: sheets of yarns along x and z that pass over and under each other. Bonds join elements of the
    /// same yarn only. For any shape except `block`; the layers of a `plate` are the sheets. Give either
    /// `radius` or `elements`.
    Woven {
        /// Radius of the elements, m; absent: it follows from `elements`.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        radius: Option<f64>,
        /// About how many elements there are; absent: it follows from `radius`.
        #[serde(default)]
        #[schemars(range(min = 1))]
        elements: Option<u32>,
        /// How the yarns cross.
        #[serde(default)]
        weave: Weave,
        /// Number of filaments in a yarn.
        #[serde(default = "default_filaments")]
        #[schemars(range(min = 1, max = 127))]
        filaments: u32,
    },
    /// Voronoi cells that fill the shape without gaps, for `simulate.method = "voronoi"` and any closed shape
    /// except `plate` and `block`. Give either `size` or `cells`.
    Voronoi {
        /// Edge of a cube of the mean volume of the cells, m; absent: it follows from `cells`.
        #[serde(default)]
        #[schemars(with = "PositiveLength")]
        size: Option<f64>,
        /// About how many cells there are; absent: it follows from `size`.
        #[serde(default)]
        #[schemars(range(min = 1))]
        cells: Option<u32>,
        /// Number of Lloyd iterations, each of which moves the cells' generating points to the cells'
        /// centroids. The more there are, the more even the cells.
        #[serde(default = "default_relax")]
        #[schemars(range(min = 0, max = 1000))]
        relax: u32,
        /// Seed of the generating points of the cells; absent: `simulate.seed`.
        #[serde(default)]
        seed: Option<u64>,
    },
    /// Bricks in rows, for `simulate.method = "voronoi"`. They fill a box and the walls `cylinder_shell` and
    /// `sphere_shell` exactly; of other shapes except `plate` and `block`, those bricks are kept whose centre
    /// lies inside. Give either `size` or `rows`.
    Cubic {
        /// Approximate edges of a brick, m, which are adjusted to fill the bounding box of the shape: along x,
        /// y and z, in a wall around, along and through it. Absent: they follow from `rows`.
        #[serde(default)]
        #[schemars(with = "[PositiveLength; 3]")]
        size: Option<[f64; 3]>,
        /// Numbers of bricks along x, y and z of the bounding box of the shape, in a wall around, along and
        /// through it. Absent: they follow from `size`.
        #[serde(default)]
        #[schemars(inner(range(min = 1)))]
        rows: Option<[u32; 3]>,
    },
}

/// With this many iterations the points lie off the centroids of their cells by a hundredth of the cells' size.
fn default_relax() -> u32 {
    10
}

fn default_neighbourhood() -> f64 {
    1.1
}

fn default_filaments() -> u32 {
    1
}

/// Volume fraction of gently poured grains: Onoda and Liniger 1990 found 0.555 for the loosest packing of
/// equal spheres that still carries its own weight.
fn default_loose_fraction() -> f64 {
    0.55
}

/// Greater than in a random packing, as layers lie farther apart: with three layers an element has 8 to 9 bonds.
fn default_shell_neighbourhood() -> f64 {
    1.2
}

impl PackingSpec {
    /// Whether the elements are cells with faces rather than balls.
    pub fn is_of_cells(&self) -> bool {
        matches!(
            self,
            PackingSpec::Voronoi { .. } | PackingSpec::Cubic { .. }
        )
    }

    /// The keys `radius` (m) and `elements`, of which one must be given; packings of cells have neither.
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

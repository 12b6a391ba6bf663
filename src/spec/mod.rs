//! The pipeline file: what a shot is, in SI units once read.
//!
//! The structs are the file's schema: [`read`](source::read) fills them from TOML, `store.json` keeps them, `cullet schema` prints them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A shot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    pub time: Time,
    #[serde(default)]
    pub world: World,
    #[serde(rename = "material")]
    pub materials: Vec<Material>,
    #[serde(rename = "body")]
    pub bodies: Vec<Body>,
    #[serde(default, rename = "collider")]
    pub colliders: Vec<Collider>,
    #[serde(default, rename = "attach")]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    pub simulate: Simulate,
    #[serde(default)]
    pub reconstruct: Reconstruct,
    #[serde(default)]
    pub export: Export,
    #[serde(default)]
    pub preview: Preview,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// End of the simulated time, s. > 0
    pub end: f64,
    /// Frames a second of simulated time. > 0
    pub frames_per_second: f64,
    /// Time step, s; absent: `fraction` of the critical step, found by power iteration. > 0
    #[serde(default)]
    pub step: Option<f64>,
    /// Fraction of the critical step, in (0, 1]. default 0.4
    pub fraction: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// m/s²; default (0, -9.81, 0)
    pub gravity: [f64; 3],
    /// Box that elements should stay in; those outside are counted in the history.
    pub bounds: Option<Region>,
}
impl Default for World {
    fn default() -> Self {
        World {
            gravity: [0.0, -9.81, 0.0],
            bounds: None,
        }
    }
}

/// Axis-aligned box, world coordinates, m.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    pub min: [f64; 3],
    pub max: [f64; 3],
}

/// Whose moduli `young`, `poisson`/`shear` are (physics: a packing of bonds is stiffer than its bonds).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Elasticity {
    /// Of the solid: bonds get the moduli that make the packing behave so. Needs `poisson` in [.., 0.25].
    #[default]
    Material,
    /// Of the bonds themselves, as in the papers. Needs `shear`.
    Bond,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    #[default]
    Tension,
    Lu2021,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Material {
    pub name: String,
    /// kg/m³ > 0
    pub density: f64,
    /// Pa > 0
    pub young: f64,
    /// (-1, 0.25], `elasticity = "material"` only, default 0.2
    pub poisson: Option<f64>,
    /// Pa > 0, `elasticity = "bond"` only
    pub shear: Option<f64>,
    pub elasticity: Elasticity,
    pub criterion: Criterion,
    /// Pa > 0; absent: bonds do not break by tension
    pub tensile_strength: Option<f64>,
    /// Pa > 0; absent: bonds do not break by shear
    pub shear_strength: Option<f64>,
    /// Weibull modulus > 0 of both strengths; absent: no scatter
    pub weibull_modulus: Option<f64>,
    /// Viscous damping of bonds, ratio of critical, ≥ 0, default 0.02
    pub damping: f64,
    /// Friction coefficient ≥ 0, default 0.5
    pub friction: f64,
    /// Normal damping of contacts, ratio of critical, ≥ 0, default 0.2
    pub contact_damping: f64,
    /// Tangential over normal contact stiffness, > 0, default 0.5
    pub contact_shear_ratio: f64,
    /// Pa > 0; Young's modulus of contacts; default `young`
    pub contact_young: Option<f64>,
}

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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    pub name: String,
    /// Name of a [[material]].
    pub material: String,
    pub shape: BodyShape,
    pub packing: PackingSpec,
    pub mass: MassModel,
    /// Whether neighbours are bonded; false gives loose elements. default true
    pub bonded: bool,
    /// m, of the shape's own origin
    pub position: [f64; 3],
    pub rotation: Rotation,
    /// m/s
    pub velocity: [f64; 3],
    /// rad/s, world frame, about the centre of mass
    pub spin: [f64; 3],
}

/// Rotation by an angle about an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    pub axis: [f64; 3],
    /// rad
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
        scale: Option<f64>,
        /// Extent along y after scaling, m.
        height: Option<f64>,
        /// `closed` refuses a mesh that is open or cuts itself, `winding` fills where the winding number exceeds one half.
        fill: Fill,
    },
    /// Box of these edge lengths, m.
    Box { size: [f64; 3] },
    /// m
    Sphere { radius: f64 },
    /// Along y, m
    Cylinder { radius: f64, height: f64 },
    /// Plate in the x-z plane, close-packed layers stacked along y; thickness follows from layers and radius.
    Plate { size: [f64; 2], layers: u32 },
    /// Hexagonal block of counted rows: elements a row along x, rows a layer along y, layers along z; the box follows.
    Block { rows: [u32; 3] },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    #[default]
    Closed,
    Winding,
}

/// How the shape is filled with elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum PackingSpec {
    /// Hexagonal close packing; give the radius (m) or about how many elements.
    Hexagonal {
        radius: Option<f64>,
        elements: Option<u32>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collider {
    pub name: String,
    pub shape: ColliderShape,
    /// m
    pub position: [f64; 3],
    pub rotation: Rotation,
    /// m/s
    pub velocity: [f64; 3],
    /// rad/s about `position`
    pub spin: [f64; 3],
    /// Poses that replace `velocity` and `spin`: linear between them, held outside. Times ascend.
    pub keys: Vec<Key>,
    /// ≥ 0; default 0.5. A contact takes the smaller of both partners' coefficients.
    pub friction: f64,
    /// Pa; absent: that of the element it touches
    pub young: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    pub time: f64,
    pub position: [f64; 3],
    pub rotation: Rotation,
}

/// Solid obstacle, centred on its position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ColliderShape {
    /// Solid on the side that `normal` points away from, through `position`.
    HalfSpace {
        normal: [f64; 3],
    },
    Box {
        size: [f64; 3],
    },
    Sphere {
        radius: f64,
    },
    /// Along its y axis.
    Cylinder {
        radius: f64,
        height: f64,
    },
}

/// Holds, drives or loads the elements of a body whose rest positions lie in a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    pub name: String,
    /// Name of a [[body]].
    pub body: String,
    pub region: Region,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Elements keep place and turn, or move with this velocity (m/s).
    Clamp { velocity: [f64; 3] },
    /// Total force (N), shared out evenly.
    Force { force: [f64; 3] },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single precision in vector lanes.
    #[default]
    F32,
    /// Double precision reference.
    F64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    #[default]
    Auto,
    Cpu,
    Gpu,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Simulate {
    pub backend: Backend,
    pub precision: Precision,
    /// Seed of everything drawn at random.
    pub seed: u64,
    /// Global drag, 1/s, for quasi-static tests: dv/dt = −drag v. default 0
    pub drag: f64,
    /// States kept for `--resume`: the newest so many. default 2
    pub keep_states: u32,
    /// Frames from one state to the next. default 1
    pub state_every: u32,
}
impl Default for Simulate {
    fn default() -> Self {
        Simulate {
            backend: Backend::Auto,
            precision: Precision::F32,
            seed: 1,
            drag: 0.0,
            keep_states: 2,
            state_every: 1,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reconstruct {
    /// Edge of the marching-cubes cell over the element radius. default 0.8
    pub voxel: f64,
}
impl Default for Reconstruct {
    fn default() -> Self {
        Reconstruct { voxel: 0.8 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    Usd,
    Glb,
    Obj,
    Ply,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Export {
    /// default ["usd", "glb"]
    pub formats: Vec<ExportFormat>,
}
impl Default for Export {
    fn default() -> Self {
        Export {
            formats: vec![ExportFormat::Usd, ExportFormat::Glb],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Preview {
    /// Pixels.
    pub width: u32,
    pub height: u32,
    /// Camera position and target, m; absent: chosen from the scene's bounds.
    pub camera: Option<Camera>,
}
impl Default for Preview {
    fn default() -> Self {
        Preview {
            width: 640,
            height: 480,
            camera: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    pub eye: [f64; 3],
    pub target: [f64; 3],
    /// Vertical angle of view, rad.
    pub fov: f64,
}

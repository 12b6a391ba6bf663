//! How the stages run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{
    Length, NonNegativeNumber, NonNegativeRate, PositiveLength, PositiveNumber, ViewAngle,
};

/// Arithmetic of the time integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single precision in vector lanes.
    #[default]
    F32,
    /// Double precision reference.
    F64,
}

/// Where the time integration runs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// A discrete or integrated graphics processor where there is one, else all cores.
    #[default]
    Auto,
    /// All cores.
    Cpu,
    /// A graphics processor through Vulkan, Metal or Direct3D 12.
    Gpu,
}

/// Which graphics processor, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gpu {
    /// Part of the adapter's name, as `cullet adapters` lists it; the only way to get a software adapter. Absent: the first discrete one,
    /// else an integrated one.
    #[schemars(with = "String")]
    pub adapter: Option<String>,
    /// Binds at most so many bytes at a time, whatever the adapter allows; columns are split.
    #[schemars(with = "u64", range(min = 16))]
    pub binding_limit: Option<u64>,
    /// Dispatches at most so many workgroups at a time, whatever the adapter allows.
    #[schemars(with = "u32", range(min = 1))]
    pub workgroup_limit: Option<u32>,
}

/// How time goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// Velocity Verlet in steps below the critical one (Lu et al. 2021).
    #[default]
    Explicit,
    /// Implicit Euler steps of any length, each the minimum of an energy found by Newton's method (Lu et al. 2025): stable, first order, takes energy
    /// out of fast motion, as strong damping would: cracks then spread where explicit or midpoint steps let them run.
    BackwardEuler,
    /// Implicit midpoint steps, found likewise: second order, keeps energy.
    Midpoint,
    /// One Gauss–Newton iteration a step (Zhang et al. 2024).
    LinearlyImplicit,
    /// `explicit` or, where an estimate of both costs finds that cheaper, `midpoint` if anything can break, else `backward_euler`; `cullet check` prints it.
    Auto,
}

impl Integrator {
    /// Whether each step solves for where elements are at its end.
    pub fn is_implicit(self) -> bool {
        !matches!(self, Integrator::Explicit | Integrator::Auto)
    }
}

/// The law of bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Of explicit bonded DEM (Lu et al. 2021); it has no energy, so implicit steps cannot take it.
    Bdem,
    /// Of the implicit method with manifold optimisation (Lu et al. 2025).
    Manifold,
    /// Of Rod-BDEM (Zhang et al. 2024), a Cosserat rod.
    Cosserat,
}

/// What conjugate gradients are preconditioned with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preconditioner {
    /// Algebraic multigrid by smoothed aggregation: few iterations, whatever the size.
    #[default]
    Multigrid,
    /// The blocks on the diagonal.
    Jacobi,
}

/// Implicit steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Implicit {
    /// Length of a step over the critical one of explicit steps, where `time.step` is absent; a frame is at least one step.
    #[schemars(with = "PositiveNumber")]
    pub periods: f64,
    /// Times that a step may be halved where bonds break or Newton's method fails; absent: until it is no longer than two critical steps of explicit
    /// ones.
    #[schemars(with = "u32", range(min = 0, max = 24))]
    pub halvings: Option<u32>,
    /// Forces that may be out of balance at the end of a step, over those at work (root mean squares).
    #[schemars(with = "PositiveNumber")]
    pub tolerance: f64,
    /// Newton iterations of a step at most.
    #[schemars(range(min = 1))]
    pub iterations: u32,
    /// Residual of conjugate gradients over what they began with, at the finest.
    #[schemars(with = "PositiveNumber")]
    pub gradients_tolerance: f64,
    /// Their preconditioner.
    pub preconditioner: Preconditioner,
}
impl Default for Implicit {
    fn default() -> Self {
        Implicit {
            periods: 100.0,
            halvings: None,
            tolerance: 1e-3,
            iterations: 40,
            gradients_tolerance: 1e-4,
            preconditioner: Preconditioner::Multigrid,
        }
    }
}

/// Critical steps that the shortest of implicit ones is long unless `halvings` says otherwise: waves that breaking bonds let go are seen then.
const SHORTEST: f64 = 2.0;

impl Implicit {
    /// Times that a step of so many critical steps may be halved.
    pub fn halvings(&self, critical_steps: f64) -> u32 {
        let enough = (critical_steps / SHORTEST).log2().ceil().clamp(0.0, 24.0);
        self.halvings.unwrap_or(enough as u32)
    }
}

/// Time integration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Simulate {
    /// Where it runs.
    pub backend: Backend,
    /// The graphics processor, where it runs on one.
    pub gpu: Gpu,
    /// Its arithmetic; implicit steps are in double precision.
    pub precision: Precision,
    /// How time goes on.
    pub integrator: Integrator,
    /// The law of bonds; absent: `bdem` in explicit steps, `manifold` in implicit ones.
    #[schemars(with = "Law")]
    pub law: Option<Law>,
    /// Timoshenko's shear correction κ of `law = "cosserat"`; 1 makes it agree with the others to first order.
    #[schemars(with = "PositiveNumber")]
    pub shear_correction: f64,
    /// Implicit steps.
    pub implicit: Implicit,
    /// Seed of everything drawn at random.
    pub seed: u64,
    /// Global drag, 1/s, for quasi-static tests: dv/dt = −drag v.
    #[schemars(with = "NonNegativeRate")]
    pub drag: f64,
    /// States kept for `--resume`: the newest so many.
    #[schemars(range(min = 1))]
    pub keep_states: u32,
    /// Frames from one state to the next. Absent: so many that at least 1000 steps lie between.
    #[schemars(with = "u32", range(min = 1))]
    pub state_every: Option<u32>,
}
impl Default for Simulate {
    fn default() -> Self {
        Simulate {
            backend: Backend::Auto,
            gpu: Gpu::default(),
            precision: Precision::F32,
            integrator: Integrator::Explicit,
            law: None,
            shear_correction: 5.0 / 6.0,
            implicit: Implicit::default(),
            seed: 1,
            drag: 0.0,
            keep_states: 2,
            state_every: None,
        }
    }
}

/// Steps between states unless `state_every` says otherwise: little enough to do again.
const STEPS_PER_STATE: u64 = 1000;

impl Simulate {
    /// The law of bonds that this comes to.
    pub fn bond_law(&self) -> Law {
        self.law.unwrap_or(match self.integrator.is_implicit() {
            true => Law::Manifold,
            false => Law::Bdem,
        })
    }

    /// Frames from one state to the next, of so many steps each.
    pub fn frames_per_state(&self, steps_per_frame: u64) -> u32 {
        let steps = steps_per_frame.clamp(1, STEPS_PER_STATE);
        let enough = STEPS_PER_STATE.div_ceil(steps) as u32;
        self.state_every.unwrap_or(enough)
    }
}

/// What surfaces are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReconstructMode {
    /// `material` for bodies with bonds and a skin that is closed and does not cross itself, `world` for others with bonds; loose elements are
    /// balls.
    #[default]
    Auto,
    /// The skin of the packed shape, cut along cracks and carried with the elements.
    Material,
    /// Places and radii of the elements in each frame, for granules, yarns, cloth; `roughness` and `simplify` do nothing there.
    World,
}

/// Surfaces from elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reconstruct {
    /// What they are made of.
    pub mode: ReconstructMode,
    /// Edge of the marching-cubes cell over the element radius.
    #[schemars(with = "PositiveNumber")]
    pub voxel: f64,
    /// Depth of the grain on crack faces over the element radius; 0 leaves them smooth.
    #[schemars(with = "NonNegativeNumber")]
    pub roughness: f64,
    /// How far surfaces may move when they are drawn with fewer triangles, over the element radius; 0 keeps all.
    #[schemars(with = "NonNegativeNumber")]
    pub simplify: f64,
}
impl Default for Reconstruct {
    fn default() -> Self {
        Reconstruct {
            mode: ReconstructMode::Auto,
            voxel: 0.8,
            roughness: 0.0,
            simplify: 0.0,
        }
    }
}

/// A file format of meshes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// Universal Scene Description, text.
    Usd,
    /// Universal Scene Description, text: the elements as spheres.
    #[value(alias = "usd_elements")]
    UsdElements,
    /// glTF 2.0, binary: the last frame.
    Glb,
    /// glTF 2.0, binary: all frames, compressed.
    #[value(alias = "glb_animated")]
    GlbAnimated,
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY.
    Ply,
    /// VTK's XML, for ParaView: elements, bonds, breaks and surfaces.
    Vtk,
}

/// An axis that points up.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Up {
    /// y.
    Y,
    /// z.
    Z,
}

impl Up {
    /// Name in the pipeline file.
    pub fn name(self) -> &'static str {
        match self {
            Up::Y => "y",
            Up::Z => "z",
        }
    }
}

/// Meshes for renderers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Export {
    /// What is written.
    pub formats: Vec<ExportFormat>,
    /// Up in the files; absent: as in the shot, where gravity comes from. glTF's is y, VTK's is the shot's.
    #[schemars(with = "Up")]
    pub up: Option<Up>,
    /// Units of the files in a metre, 100 for centimetres; VTK's are metres.
    #[schemars(with = "PositiveNumber")]
    pub scale: f64,
    /// In USD, fragments whose bounds at rest have a shorter diagonal are instances of a few shapes, m; absent: none is.
    #[schemars(with = "PositiveLength")]
    pub debris_size: Option<f64>,
}
impl Default for Export {
    fn default() -> Self {
        Export {
            formats: vec![ExportFormat::Usd, ExportFormat::Glb],
            up: None,
            scale: 1.0,
            debris_size: None,
        }
    }
}

/// Pictures without a renderer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Preview {
    /// Width, pixels.
    #[schemars(range(min = 16, max = 4096))]
    pub width: u32,
    /// Height, pixels.
    #[schemars(range(min = 16, max = 4096))]
    pub height: u32,
    /// Absent: chosen from the scene's bounds.
    #[schemars(with = "Camera")]
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

/// Where a picture is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Where the camera is, m.
    #[schemars(with = "[Length; 3]")]
    pub eye: [f64; 3],
    /// What it looks at, m.
    #[schemars(with = "[Length; 3]")]
    pub target: [f64; 3],
    /// Vertical angle of view, rad.
    #[schemars(with = "ViewAngle")]
    pub fov: f64,
}

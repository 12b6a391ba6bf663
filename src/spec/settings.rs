//! How the stages run.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::implicit::Implicit;
use super::quantity::{
    Length, NonNegativeNumber, NonNegativeRate, Number, PlaybackRate, PositiveLength,
    PositiveNumber, ViewAngle,
};
use crate::laws::cosserat::SHEAR_CORRECTION;
pub use crate::laws::table::Law;

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
    /// Part of the adapter's name, as `cullet adapters` lists it; the only way to get a software adapter.
    /// Absent: the first discrete one, else an integrated one.
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
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// Velocity Verlet in steps below the critical one (Lu et al. 2021).
    #[default]
    Explicit,
    /// Implicit Euler steps of any length, each the minimum of an energy found by Newton's method (Lu et al.
    /// 2025): stable, first order, takes energy out of fast motion, as strong damping would: cracks then
    /// spread where explicit or midpoint steps let them run.
    BackwardEuler,
    /// Implicit midpoint steps, found likewise: second order, keeps energy.
    Midpoint,
    /// One Gauss–Newton iteration a step (Zhang et al. 2024).
    LinearlyImplicit,
    /// `explicit` or, where an estimate of both costs finds that cheaper, `midpoint` if anything can break,
    /// else `backward_euler`; `cullet check` prints it.
    Auto,
}

impl Integrator {
    /// Name in the pipeline file.
    pub fn name(self) -> &'static str {
        match self {
            Integrator::Explicit => "explicit",
            Integrator::BackwardEuler => "backward_euler",
            Integrator::Midpoint => "midpoint",
            Integrator::LinearlyImplicit => "linearly_implicit",
            Integrator::Auto => "auto",
        }
    }

    /// The method that takes such steps; `auto` is explicit until it is settled.
    pub fn method(self) -> MethodName {
        match self {
            Integrator::Explicit | Integrator::Auto => MethodName::Explicit,
            Integrator::BackwardEuler | Integrator::Midpoint | Integrator::LinearlyImplicit => {
                MethodName::Implicit
            }
        }
    }

    /// Whether each step solves for where elements are at its end.
    pub fn is_implicit(self) -> bool {
        match self.method() {
            MethodName::Explicit | MethodName::Voronoi => false,
            MethodName::Implicit => true,
        }
    }

    /// Whether each step is the minimum of an energy.
    pub fn minimises(self) -> bool {
        match self {
            Integrator::BackwardEuler | Integrator::Midpoint => true,
            Integrator::Explicit | Integrator::LinearlyImplicit | Integrator::Auto => false,
        }
    }

    /// Names of those that a test chooses, for messages: "backward_euler, midpoint".
    pub fn names(chosen: impl Fn(Integrator) -> bool) -> String {
        let all = Integrator::value_variants().iter();
        let names = all.filter(|one| chosen(**one)).map(|one| one.name());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// A method of time integration: `simulate/resolve` has the entry of each, `simulate/methods` its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodName {
    /// Explicit steps of bonded elements.
    Explicit,
    /// Implicit steps of bonded elements.
    Implicit,
    /// Explicit steps of cells that fill the bodies.
    Voronoi,
}

/// What transmits stress between elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodChoice {
    /// Bonds, as `law` says.
    Bonds,
    /// Faces of cells (Monasse and Mariotti 2012); bodies of cells alone have them.
    Voronoi,
    /// Nothing moves: boundary elements (Zhu et al. 2015) give the stress under the loads, as `cullet stress`
    /// does; see `[stress]`.
    Bem,
}

/// What pushes elements apart that no bond joins, and elements and colliders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactLaw {
    /// A force that grows with the overlap (Lu et al. 2021).
    #[default]
    Penalty,
    /// A logarithmic barrier (Zhang et al. 2024): soft where they hardly overlap, without bound as centres
    /// meet, so that nothing passes through anything; in implicit steps.
    Barrier,
}

/// The shape that cells have in contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellContact {
    /// The convex polyhedron that each of them is.
    #[default]
    Polyhedra,
    /// The ball of its volume: several times faster where much touches.
    Balls,
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
    /// What transmits stress; absent: `voronoi` where a body is packed with cells, else `bonds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MethodChoice")]
    pub method: Option<MethodChoice>,
    /// The law of bonds; absent: `bdem` in explicit steps, `manifold` in implicit ones.
    #[schemars(with = "Law")]
    pub law: Option<Law>,
    /// Timoshenko's shear correction κ of `law = "cosserat"`; 1 makes it agree with the others to first order.
    #[schemars(with = "PositiveNumber")]
    pub shear_correction: f64,
    /// The law of contacts.
    pub contact: ContactLaw,
    /// The shape that cells have in contacts.
    pub cell_contact: CellContact,
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
            method: None,
            law: None,
            shear_correction: SHEAR_CORRECTION,
            contact: ContactLaw::Penalty,
            cell_contact: CellContact::Polyhedra,
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
    /// `material` for bodies with bonds and a skin that is closed and does not cross itself, `world` for
    /// others with bonds; loose elements are balls.
    #[default]
    Auto,
    /// The skin of the packed shape, cut along cracks and carried with the elements.
    Material,
    /// The cells of a `voronoi` or `cubic` packing themselves, with exact planes where they part; `voxel`,
    /// `roughness` and `simplify` do nothing there.
    Cells,
    /// Places and radii of the elements in each frame, for granules, yarns, cloth; `roughness` and `simplify`
    /// do nothing there.
    World,
}

/// Surfaces from elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reconstruct {
    /// What they are made of.
    pub mode: ReconstructMode,
    /// Edge of the cells of the grid that cracks, and surfaces in mode `world`, are drawn on, over the element radius.
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
    /// Frames a second that hosts play; `event`: those of the event itself.
    #[schemars(with = "PlaybackRate")]
    pub playback: Playback,
    /// In USD, when a shutter opens and closes, in frames about each frame, as [-0.25, 0.25]: fragments that
    /// bend have points at those times too; absent: none.
    #[schemars(with = "[Number; 2]")]
    pub shutter: Option<[f64; 2]>,
    /// In USD, fragments whose bounds at rest have a shorter diagonal are instances of a few shapes, m;
    /// absent: none is.
    #[schemars(with = "PositiveLength")]
    pub debris_size: Option<f64>,
}
impl Default for Export {
    fn default() -> Self {
        Export {
            formats: vec![ExportFormat::Usd, ExportFormat::Glb],
            up: None,
            scale: 1.0,
            playback: Playback::default(),
            shutter: None,
            debris_size: None,
        }
    }
}

/// Whether a shutter opens before it closes, both within half a frame.
pub fn is_shutter([open, close]: [f64; 2]) -> bool {
    -0.5 <= open && open < close && close <= 0.5
}

/// How fast a host plays frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Playback {
    /// Frames a second.
    Rate(f64),
    /// The event's own rate: a second of the file is a second of the simulation.
    Event(EventRate),
}

/// The word for the event's own rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventRate {
    /// `event`.
    Event,
}

impl Default for Playback {
    /// As film.
    fn default() -> Self {
        Playback::Rate(24.0)
    }
}

impl Playback {
    /// Frames a second of what happened at `event` frames a second.
    pub fn rate(self, event: f64) -> f64 {
        match self {
            Playback::Rate(rate) => rate,
            Playback::Event(EventRate::Event) => event,
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
    /// Cuts the bodies open: elements on one side of a plane are drawn, as balls. Absent: whole bodies.
    #[schemars(with = "Section")]
    pub section: Option<Section>,
}
impl Default for Preview {
    fn default() -> Self {
        Preview {
            width: 640,
            height: 480,
            camera: None,
            section: None,
        }
    }
}

/// A plane that bodies are cut along.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// A point of it, m.
    #[schemars(with = "[Length; 3]")]
    pub point: [f64; 3],
    /// Points to the side that is taken away; of any length but zero.
    #[schemars(with = "[Number; 3]")]
    pub normal: [f64; 3],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrators_are_called_as_in_pipeline_files() {
        for one in Integrator::value_variants() {
            assert_eq!(serde_json::to_value(one).unwrap(), one.name());
        }
        assert_eq!(
            Integrator::names(Integrator::minimises),
            "backward_euler, midpoint"
        );
    }
}

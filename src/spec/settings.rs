//! Settings of the stages.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::implicit::Implicit;
use super::quantity::{NonNegativeNumber, NonNegativeRate, PositiveNumber};
use super::sleep::SleepLimits;
use crate::laws::cosserat::SHEAR_CORRECTION;
pub use crate::laws::table::Law;

/// Arithmetic of explicit steps; implicit steps always use double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single precision in vector lanes or on a graphics processor, with two words per coordinate.
    #[default]
    F32,
    /// Double precision: the reference, on the CPU only.
    F64,
}

/// Where the time integration runs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// A discrete or integrated graphics processor that can run the shot, if there is one, else all cores.
    #[default]
    Auto,
    /// All cores of the CPU.
    Cpu,
    /// A graphics processor through Vulkan, Metal or Direct3D 12.
    Gpu,
}

/// Choice and limits of the graphics processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gpu {
    /// Part of the name of the adapter to use, as `cullet adapters` lists it; the only way to get a software
    /// adapter. Absent: the first discrete one, else an integrated one.
    #[schemars(with = "String")]
    pub adapter: Option<String>,
    /// Size limit of one buffer binding, bytes: larger columns are split, results stay the same to the bit.
    /// Absent: the adapter's limit.
    #[schemars(with = "u64", range(min = 16))]
    pub binding_limit: Option<u64>,
    /// Limit of workgroups per dispatch: kernels then stride, results stay the same to the bit. Absent: the
    /// adapter's limit.
    #[schemars(with = "u32", range(min = 1))]
    pub workgroup_limit: Option<u32>,
}

/// Method of time integration.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// Velocity Verlet in steps below the critical one (Lu et al. 2021).
    #[default]
    Explicit,
    /// Implicit Euler steps of any length, each of which minimises an energy by Newton's method (Lu et al.
    /// 2025). Stable and of first order. They damp fast motion strongly, so damage spreads diffusely where
    /// explicit or midpoint steps let cracks run.
    BackwardEuler,
    /// Implicit midpoint steps, found in the same way: second order, conserves energy.
    Midpoint,
    /// Implicit steps of one Gauss–Newton iteration each (Zhang et al. 2024).
    LinearlyImplicit,
    /// Whichever is estimated to be cheaper: `explicit`, or an implicit one, which is `midpoint` if anything
    /// can break and else `backward_euler`. `cullet check` prints the choice.
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

    /// The method that takes such steps; `auto` counts as explicit until it is resolved.
    pub fn method(self) -> MethodName {
        match self {
            Integrator::Explicit | Integrator::Auto => MethodName::Explicit,
            Integrator::BackwardEuler | Integrator::Midpoint | Integrator::LinearlyImplicit => {
                MethodName::Implicit
            }
        }
    }

    /// Whether each step solves for the positions at its end.
    pub fn is_implicit(self) -> bool {
        match self.method() {
            MethodName::Explicit | MethodName::Voronoi => false,
            MethodName::Implicit => true,
        }
    }

    /// Whether each step minimises an energy.
    pub fn minimises_energy(self) -> bool {
        match self {
            Integrator::BackwardEuler | Integrator::Midpoint => true,
            Integrator::Explicit | Integrator::LinearlyImplicit | Integrator::Auto => false,
        }
    }

    /// Names of the integrators for which `chosen` is true, for messages: "backward_euler, midpoint".
    pub fn names(chosen: impl Fn(Integrator) -> bool) -> String {
        let all = Integrator::value_variants().iter();
        let names = all.filter(|one| chosen(**one)).map(|one| one.name());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// An implementation of time integration: `simulate/resolve` has the entry of each, `simulate/methods` its folder.
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
    /// Bonds, whose law is `law`.
    Bonds,
    /// Faces of cells (Monasse and Mariotti 2012); all bodies must be packed with cells.
    Voronoi,
    /// Nothing moves: boundary elements (Zhu et al. 2015) compute the stress under the loads, as `cullet
    /// stress` does; see `[stress]`.
    Bem,
}

/// Law of the contact force between elements that no bond joins, and between elements and colliders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactLaw {
    /// A force in proportion to the overlap (Lu et al. 2021).
    #[default]
    Penalty,
    /// A logarithmic barrier (Zhang et al. 2024, eq. 30): soft at small overlap. In implicit steps without bound as
    /// centres approach, so that nothing passes through anything. In explicit steps, on the CPU, the force goes on by
    /// its tangent where the overlap exceeds a quarter of the distance at which contact begins.
    Barrier,
}

/// Shape of cells in contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellContact {
    /// The convex polyhedra of the cells.
    #[default]
    Polyhedra,
    /// Balls of the cells' volumes: several times faster where there are many contacts.
    Balls,
}

/// Settings of the time integration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Simulate {
    /// Where the time integration runs.
    pub backend: Backend,
    /// Choice and limits of the graphics processor, if one is used.
    pub gpu: Gpu,
    /// Arithmetic of explicit steps; implicit steps always use double precision.
    pub precision: Precision,
    /// Method of time integration.
    pub integrator: Integrator,
    /// What transmits stress between elements; absent: `voronoi` where a body is packed with cells, else `bonds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MethodChoice")]
    pub method: Option<MethodChoice>,
    /// Law of the bonds: `bdem` is for explicit steps only, `manifold` and `cosserat` for all steps and backends.
    /// Absent: `bdem` in explicit steps, `manifold` in implicit ones.
    #[schemars(with = "Law")]
    pub law: Option<Law>,
    /// Timoshenko's shear correction factor κ of `law = "cosserat"`; with 1 it agrees with the other laws to
    /// first order.
    #[schemars(with = "PositiveNumber")]
    pub shear_correction: f64,
    /// Law of the contact force.
    pub contact: ContactLaw,
    /// Shape of cells in contacts.
    pub cell_contact: CellContact,
    /// Settings of implicit steps.
    pub implicit: Implicit,
    /// Whether fragments that nothing strains are stepped as rigid bodies until a load could break them; for
    /// explicit steps of bonds on the CPU.
    pub sleep: bool,
    /// Limits by which fragments fall asleep and wake.
    pub sleep_limits: SleepLimits,
    /// Seed of all random numbers: packings, scatter of strengths.
    pub seed: u64,
    /// Drag on all elements, 1/s, for quasi-static tests: dv/dt = −drag v.
    #[schemars(with = "NonNegativeRate")]
    pub drag: f64,
    /// Number of states (snapshots for `--resume`) that are kept, the newest ones.
    #[schemars(range(min = 1))]
    pub keep_states: u32,
    /// Number of frames from one state to the next; absent: the smallest with at least 1000 steps in between.
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
            sleep: false,
            sleep_limits: SleepLimits::default(),
            seed: 1,
            drag: 0.0,
            keep_states: 2,
            state_every: None,
        }
    }
}

/// Steps between states unless `state_every` is given: few enough to repeat after an interruption.
const STEPS_PER_STATE: u64 = 1000;

impl Simulate {
    /// The law of bonds, as given or by default.
    pub fn bond_law(&self) -> Law {
        self.law.unwrap_or(match self.integrator.is_implicit() {
            true => Law::Manifold,
            false => Law::Bdem,
        })
    }

    /// Frames from one state to the next, of `steps_per_frame` steps each.
    pub fn frames_per_state(&self, steps_per_frame: u64) -> u32 {
        let steps = steps_per_frame.clamp(1, STEPS_PER_STATE);
        let enough = STEPS_PER_STATE.div_ceil(steps) as u32;
        self.state_every.unwrap_or(enough)
    }
}

/// How the surfaces of fragments are constructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReconstructMode {
    /// `material` for bodies with bonds whose skin is closed and does not intersect itself, `world` for other
    /// bodies with bonds; loose elements are drawn as balls.
    #[default]
    Auto,
    /// From the skin of the packed shape, cut along the cracks and moved with the elements.
    Material,
    /// From the cells of a `voronoi` or `cubic` packing, with exact planes where they separate; `voxel`,
    /// `roughness` and `simplify` have no effect.
    Cells,
    /// From positions and radii of the elements in each frame, for grains, yarns and cloth; `roughness` and
    /// `simplify` have no effect.
    World,
}

/// Settings of the surfaces of fragments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reconstruct {
    /// How the surfaces are constructed.
    pub mode: ReconstructMode,
    /// Cell edge of the grid on which cracks, and surfaces in mode `world`, are computed, in element radii.
    #[schemars(with = "PositiveNumber")]
    pub voxel: f64,
    /// Depth of the roughness of crack faces, in element radii, up to 0.5, the same on both faces; 0: smooth.
    #[schemars(with = "NonNegativeNumber")]
    pub roughness: f64,
    /// How far surfaces may move to save triangles, in element radii; 0 keeps all triangles.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrators_are_called_as_in_pipeline_files() {
        for one in Integrator::value_variants() {
            assert_eq!(serde_json::to_value(one).unwrap(), one.name());
        }
        assert_eq!(
            Integrator::names(Integrator::minimises_energy),
            "backward_euler, midpoint"
        );
    }
}

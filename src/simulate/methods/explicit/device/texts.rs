//! The kernels: the source texts that each consists of, and the columns that it binds, by name.
//! `shaders/laws` is generated from the laws; `shaders/kernels` holds indices and bounds. Constants and
//! structures that both sides share are written from Rust.

use super::columns::names as column;
use super::launch::LAUNCH;
use super::{constants, launch, solids};
use crate::gpu::{Binding, KernelText};
use crate::laws::table::bond_laws;
use crate::spec::Law;

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("../../../../../shaders/kernels/", $name, ".wgsl"))
    };
}
macro_rules! law {
    ($name:literal) => {
        include_str!(concat!("../../../../../shaders/laws/", $name, ".wgsl"))
    };
}
pub(super) use {kernel, law};

/// One kernel text per bond law, in the order of [`Law`].
macro_rules! by_law {
    ($name:literal, $sources:tt, $bindings:expr) => {
        bond_laws!(kernels_of [$name, $sources, $bindings])
    };
}

macro_rules! kernels_of {
    (
        [$kernel:literal, $sources:tt, $bindings:expr]
        $({ $doc:literal, $row:ident, $module:ident, $type:path, $energy:ident, $texts:tt })*
    ) => {
        [$(kernel_of!($kernel, $module, $energy, $texts, $sources, $bindings)),*]
    };
}

macro_rules! kernel_of {
    (
        $kernel:literal, $module:ident, $energy:ident, [$($text:literal),*], [$($source:expr),* $(,)?],
        $bindings:expr
    ) => {
        kernel_text(
            $kernel,
            &[
                LAUNCH,
                kernel!("launch"),
                law!("real"),
                law!("quat"),
                law!("bond"),
                $(law!($text),)*
                law_of_bonds!($module, $energy),
                $($source,)*
            ],
            $bindings,
        )
    };
}

/// `bond_law` and `bond_energy`, which kernels call, for the bond law of this name. A law without an energy
/// function uses the energy of its linear loads.
macro_rules! law_of_bonds {
    ($name:ident, no_energy) => {
        law_of_bonds!(@ $name, "bond_linear_energy(load, rest_length, k)")
    };
    ($name:ident, energy) => {
        law_of_bonds!(
            @ $name,
            stringify!($name), "_energy(relative_relative(x, q_i, q_j, unapplied, rest_direction), rest_length, k)"
        )
    };
    (@ $name:ident, $($energy:tt)*) => {
        concat!(
            "fn bond_law(\n",
            "    x: vec3<f32>,\n",
            "    q_i: vec4<f32>,\n",
            "    q_j: vec4<f32>,\n",
            "    unapplied: vec3<f32>,\n",
            "    rest_direction: vec3<f32>,\n",
            "    rest_length: f32,\n",
            "    k: Stiffness,\n",
            ") -> BondLoad {\n",
            "    return ", stringify!($name), "_bond(x, q_i, q_j, unapplied, rest_direction, rest_length, k);\n",
            "}\n\n",
            "fn bond_energy(\n",
            "    load: BondLoad,\n",
            "    x: vec3<f32>,\n",
            "    q_i: vec4<f32>,\n",
            "    q_j: vec4<f32>,\n",
            "    unapplied: vec3<f32>,\n",
            "    rest_direction: vec3<f32>,\n",
            "    rest_length: f32,\n",
            "    k: Stiffness,\n",
            ") -> f32 {\n",
            "    return ", $($energy)*, ";\n",
            "}\n"
        )
    };
}

/// All lists of constants.
pub const ALL_CONSTANTS: &[&[crate::gpu::Constant]] = &[
    constants::CONSTANTS,
    launch::word::CONSTANTS,
    launch::reason::CONSTANTS,
    launch::phase::CONSTANTS,
    solids::CONSTANTS,
];

/// A kernel of the simulation, with all shared constants.
pub(super) const fn kernel_text(
    name: &'static str,
    sources: &'static [&'static str],
    bindings: &'static [Binding],
) -> KernelText {
    KernelText::new(name, ALL_CONSTANTS, sources, bindings)
}

/// Forces and motion of a step, for a bond law.
pub fn move_kernel(law: Law) -> &'static KernelText {
    &MOVE[law as usize]
}

static MOVE: [KernelText; Law::NAMES.len()] = by_law!(
    "move",
    [
        law!("failure"),
        law!("softening"),
        law!("damping"),
        law!("contact"),
        law!("motion"),
        law!("solid"),
        solids::TEXT,
        kernel!("element"),
        kernel!("bond"),
        kernel!("bond_left"),
        kernel!("bond_damage"),
        kernel!("collider"),
        kernel!("touch"),
        kernel!("reaction_sums"),
        kernel!("add_reactions"),
        kernel!("clamp"),
        kernel!("step"),
        kernel!("bond_loads"),
        kernel!("spin"),
        kernel!("move"),
    ],
    &[
        column::motion.read(),
        column::moved.write(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.write(),
        column::bond_strength.write(),
        column::bond_class.read(),
        column::masks.write(),
        column::loads.write(),
        column::list_bounds.read(),
        column::list_partner.read(),
        column::list_spring.write(),
        column::tables.read(),
        column::poses.read(),
        column::reactions.write(),
        column::status.write(),
    ]
);

/// Removal of bonds whose strength was exceeded, for a bond law.
pub fn break_kernel(law: Law) -> &'static KernelText {
    &BREAK[law as usize]
}

static BREAK: [KernelText; Law::NAMES.len()] = by_law!(
    "break",
    [
        law!("failure"),
        law!("softening"),
        law!("motion"),
        kernel!("element"),
        kernel!("bond"),
        kernel!("bond_left"),
        kernel!("bond_damage"),
        kernel!("bond_carried"),
        kernel!("bond_released"),
        kernel!("break"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.write(),
        column::bond_strength.write(),
        column::bond_class.read(),
        column::tables.read(),
        column::masks.write(),
        column::events.write(),
        column::status.write(),
    ]
);

/// Rankine's criterion on bonds, for a bond law.
pub fn rankine_kernel(law: Law) -> &'static KernelText {
    &RANKINE[law as usize]
}

static RANKINE: [KernelText; Law::NAMES.len()] = by_law!(
    "rankine",
    [
        law!("failure"),
        law!("softening"),
        law!("motion"),
        law!("hydrostatic"),
        law!("rankine"),
        kernel!("element"),
        kernel!("bond"),
        kernel!("bond_left"),
        kernel!("bond_carried"),
        kernel!("rankine"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.read(),
        column::bond_strength.write(),
        column::bond_class.read(),
        column::tables.read(),
        column::masks.write(),
        column::solid_strength.read(),
        column::solid_stress.write(),
        column::measured.write(),
        column::status.write(),
    ]
);

/// Check whether the contact lists are still valid.
pub const TRAVEL: KernelText = kernel_text(
    "travel",
    &[LAUNCH, kernel!("launch"), kernel!("travel")],
    &[
        column::motion.read(),
        column::anchor.read(),
        column::status.write(),
    ],
);

/// Chains of elements in grid buckets; sets the current lists aside.
pub const GRID: KernelText = kernel_text(
    "grid",
    &[
        LAUNCH,
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("motion"),
        kernel!("element"),
        kernel!("cells"),
        kernel!("grid"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::masks.write(),
        column::cells.write(),
        column::anchor.write(),
        column::list_partner.read(),
        column::list_spring.read(),
        column::kept_partner.write(),
        column::kept_spring.write(),
        column::status.write(),
    ],
);

/// Search for the partners of each element.
pub const FIND: KernelText = kernel_text(
    "find",
    &[
        LAUNCH,
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("motion"),
        law!("solid"),
        solids::TEXT,
        kernel!("element"),
        kernel!("cells"),
        kernel!("collider"),
        kernel!("find"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.read(),
        column::masks.write(),
        column::cells.plain().read(),
        column::list_bounds.read(),
        column::list_partner.write(),
        column::list_spring.write(),
        column::next_bounds.write(),
        column::kept_partner.read(),
        column::kept_spring.read(),
        column::anchor.read(),
        column::poses.read(),
        column::status.write(),
    ],
);

/// Adoption of the new contact lists.
pub const ADOPT: KernelText = kernel_text(
    "adopt",
    &[LAUNCH, kernel!("launch"), kernel!("adopt")],
    &[
        column::cells.write(),
        column::list_bounds.write(),
        column::list_partner.write(),
        column::list_spring.write(),
        column::next_bounds.read(),
        column::kept_partner.read(),
        column::kept_spring.read(),
        column::status.write(),
    ],
);

/// Stresses, energies and contacts of each element, for a bond law.
pub fn measure_kernel(law: Law) -> &'static KernelText {
    &MEASURE[law as usize]
}

static MEASURE: [KernelText; Law::NAMES.len()] = by_law!(
    "measure",
    [
        law!("failure"),
        law!("softening"),
        law!("contact"),
        law!("motion"),
        law!("damping"),
        law!("solid"),
        solids::TEXT,
        kernel!("element"),
        kernel!("bond"),
        kernel!("bond_left"),
        kernel!("collider"),
        kernel!("touch"),
        kernel!("bond_carried"),
        kernel!("measure"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.read(),
        column::bond_strength.read(),
        column::bond_class.read(),
        column::masks.write(),
        column::list_bounds.read(),
        column::list_partner.read(),
        column::list_spring.read(),
        column::tables.read(),
        column::poses.read(),
        column::measured.write(),
        column::touched.write(),
        column::reactions.write(),
        column::status.write(),
    ]
);

/// Springs for a checkpoint.
pub const SPRINGS: KernelText = kernel_text(
    "springs",
    &[
        LAUNCH,
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("motion"),
        kernel!("element"),
        kernel!("springs"),
    ],
    &[
        column::motion.read(),
        column::own.read(),
        column::neighbour.read(),
        column::bond_rest.read(),
        column::masks.write(),
        column::list_bounds.read(),
        column::list_partner.read(),
        column::list_spring.read(),
        column::stretched.write(),
        column::status.write(),
    ],
);

/// Reaction sums between advances and between frames.
pub const REACTIONS: KernelText = kernel_text(
    "reactions",
    &[
        LAUNCH,
        kernel!("launch"),
        kernel!("reaction_sums"),
        kernel!("reactions"),
    ],
    &[column::reactions.write(), column::status.write()],
);

/// The kernel texts that are not only for cells.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = &'static KernelText> {
    let others = [&TRAVEL, &GRID, &FIND, &ADOPT, &SPRINGS, &REACTIONS].into_iter();
    let of_laws = MOVE.iter().chain(&MEASURE).chain(&BREAK).chain(&RANKINE);
    of_laws.chain(others)
}

//! The kernels: which texts each is joined from and which columns it binds. `shaders/laws` is generated from the laws, `shaders/kernels`
//! holds bindings and indices.

use crate::gpu::{Access, Binding, Item, KernelText};
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

const fn bind(name: &'static str, item: Item, access: Access) -> Binding {
    Binding { name, item, access }
}

use Access::{Read, Write};
use Item::{Atomic, U32, Vec2, Vec4};

const MOTION: Binding = bind("motion", Vec4, Read);
const OWN: Binding = bind("own", Vec4, Read);
const NEIGHBOUR: Binding = bind("neighbour", U32, Read);
const REST: Binding = bind("bond_rest", Vec4, Write);
const STRENGTH: Binding = bind("bond_strength", Vec2, Write);
const CLASS: Binding = bind("bond_class", U32, Read);
const MASKS: Binding = bind("masks", Atomic, Write);
const TABLES: Binding = bind("tables", Vec4, Read);
const POSES: Binding = bind("poses", Vec4, Read);
const BORNE: Binding = bind("borne", Atomic, Write);
const STATUS: Binding = bind("status", Atomic, Write);

/// A text of the same name for every law of bonds, in the order of [`Law`].
macro_rules! by_law {
    ($name:literal, $sources:tt, $bindings:expr) => {
        bond_laws!(kernels_of [$name, $sources, $bindings])
    };
}

macro_rules! kernels_of {
    (
        [$kernel:literal, $sources:tt, $bindings:expr]
        $({ $doc:literal, $row:ident, $name:literal, $energy:ident, $texts:tt })*
    ) => {
        [$(kernel_text!($kernel, $texts, $sources, $bindings)),*]
    };
}

macro_rules! kernel_text {
    ($kernel:literal, [$($text:literal),*], [$($source:expr),* $(,)?], $bindings:expr) => {
        KernelText {
            name: $kernel,
            sources: &[
                kernel!("launch"),
                law!("real"),
                law!("quat"),
                $(include_str!(concat!("../../../../../shaders/", $text, ".wgsl")),)*
                $($source,)*
            ],
            bindings: $bindings,
        }
    };
}

/// Forces and motion of a step, by the law of bonds.
pub fn moving(law: Law) -> &'static KernelText {
    &MOVE[law as usize]
}

static MOVE: [KernelText; Law::NAMES.len()] = by_law!(
    "move",
    [
        law!("failure"),
        law!("damping"),
        law!("contact"),
        law!("motion"),
        law!("solid"),
        kernel!("element"),
        kernel!("bond"),
        kernel!("wall"),
        kernel!("touch"),
        kernel!("bear"),
        kernel!("bear_now"),
        kernel!("clamp"),
        kernel!("move"),
    ],
    &[
        MOTION,
        bind("moved", Vec4, Write),
        OWN,
        NEIGHBOUR,
        REST,
        STRENGTH,
        CLASS,
        MASKS,
        bind("loads", Vec4, Write),
        bind("list_first", U32, Read),
        bind("list_partner", U32, Read),
        bind("list_spring", Vec4, Write),
        TABLES,
        POSES,
        BORNE,
        STATUS,
    ]
);

/// Bonds beyond their strength are taken out.
pub const BREAK: KernelText = KernelText {
    name: "break",
    sources: &[
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("motion"),
        kernel!("element"),
        kernel!("break"),
    ],
    bindings: &[
        MOTION,
        OWN,
        NEIGHBOUR,
        REST,
        STRENGTH,
        MASKS,
        bind("events", U32, Write),
        STATUS,
    ],
};

/// Whether the contact lists still serve.
pub const TRAVEL: KernelText = KernelText {
    name: "travel",
    sources: &[kernel!("launch"), kernel!("travel")],
    bindings: &[MOTION, bind("anchor", Vec4, Read), STATUS],
};

/// Exclusive prefix sum.
pub const SCAN: KernelText = KernelText {
    name: "scan",
    sources: &[kernel!("launch"), kernel!("scan")],
    bindings: &[
        bind("scanned", U32, Write),
        bind("block_sums", U32, Write),
        STATUS,
    ],
};

/// Elements into buckets.
pub const GRID: KernelText = KernelText {
    name: "grid",
    sources: &[
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("motion"),
        kernel!("element"),
        kernel!("cells"),
        kernel!("grid"),
    ],
    bindings: &[
        MOTION,
        OWN,
        MASKS,
        bind("cells", Atomic, Write),
        bind("cell_elements", U32, Write),
        STATUS,
    ],
};

/// Contact lists.
pub const PAIRS: KernelText = KernelText {
    name: "pairs",
    sources: &[
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("motion"),
        law!("solid"),
        kernel!("element"),
        kernel!("cells"),
        kernel!("wall"),
        kernel!("pairs"),
    ],
    bindings: &[
        MOTION,
        OWN,
        NEIGHBOUR,
        bind("bond_rest", Vec4, Read),
        MASKS,
        bind("cells", Atomic, Write),
        bind("cell_elements", U32, Read),
        bind("list_first", U32, Write),
        bind("list_partner", U32, Write),
        bind("list_spring", Vec4, Write),
        bind("next_first", U32, Write),
        bind("kept_partner", U32, Write),
        bind("kept_spring", Vec4, Write),
        bind("anchor", Vec4, Write),
        POSES,
        STATUS,
    ],
};

/// Stresses, energies, contacts of each element, by the law of bonds.
pub fn measuring(law: Law) -> &'static KernelText {
    &MEASURE[law as usize]
}

static MEASURE: [KernelText; Law::NAMES.len()] = by_law!(
    "measure",
    [
        law!("failure"),
        law!("contact"),
        law!("motion"),
        law!("damping"),
        law!("solid"),
        kernel!("element"),
        kernel!("bond"),
        kernel!("wall"),
        kernel!("touch"),
        kernel!("measure"),
    ],
    &[
        MOTION,
        OWN,
        NEIGHBOUR,
        bind("bond_rest", Vec4, Read),
        CLASS,
        MASKS,
        bind("list_first", U32, Read),
        bind("list_partner", U32, Read),
        bind("list_spring", Vec4, Read),
        TABLES,
        POSES,
        bind("measured", Vec4, Write),
        bind("touched", U32, Write),
        BORNE,
        STATUS,
    ]
);

/// Springs for the state.
pub const SPRINGS: KernelText = KernelText {
    name: "springs",
    sources: &[
        kernel!("launch"),
        law!("real"),
        law!("quat"),
        law!("motion"),
        kernel!("element"),
        kernel!("springs"),
    ],
    bindings: &[
        MOTION,
        OWN,
        NEIGHBOUR,
        bind("bond_rest", Vec4, Read),
        MASKS,
        bind("list_first", U32, Read),
        bind("list_partner", U32, Read),
        bind("list_spring", Vec4, Read),
        bind("stretched", U32, Write),
        STATUS,
    ],
};

/// What is borne from frame to frame.
pub const REACTIONS: KernelText = KernelText {
    name: "reactions",
    sources: &[kernel!("launch"), kernel!("bear"), kernel!("reactions")],
    bindings: &[BORNE, STATUS],
};

/// All of them.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = &'static KernelText> {
    let others = [&BREAK, &TRAVEL, &SCAN, &GRID, &PAIRS, &SPRINGS, &REACTIONS];
    MOVE.iter().chain(&MEASURE).chain(others)
}

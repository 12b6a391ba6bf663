//! Constants that the host and the kernels share; the kernels' texts take them from here.

use crate::simulate::contact::{chunk, near};

/// Rust constants that kernels know by the same names; `CONSTANTS` lists all of them.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*
        /// Names and values, for the kernels' texts.
        pub const CONSTANTS: &[$crate::gpu::Constant] = &[$((stringify!($name), $name)),*];
    };
}
pub(super) use constants;

constants! {
    /// Partner indices from this number on are colliders.
    COLLIDER = chunk::COLLIDER;
    /// Number of intact bonds from which on an element cannot touch others, if all radii are equal.
    WHOLE_SHELL = near::WHOLE_SHELL as u32;

    /// Rows of a bond class in the tables.
    CLASS_ROWS = 3;

    /// Rows of a collider at a step.
    POSE_ROWS = 6;
    /// Position, index of the solid type.
    POSE_PLACE = 0;
    /// Low words of the position.
    POSE_LOW = 1;
    /// Rotation.
    POSE_ROTATION = 2;
    /// Velocity.
    POSE_VELOCITY = 3;
    /// Spin.
    POSE_SPIN = 4;
    /// Dimensions of the solid.
    POSE_SHAPE = 5;

    /// Rows of a clamp at a step. The first nine are three rows for each part of its rotation matrix minus 1;
    /// their last numbers are the high and low words of the displacement and the rotation not yet applied to
    /// the quaternion.
    CLAMP_ROWS = 14;
    /// Quaternion of the clamp.
    CLAMP_ROTATION = 9;
    /// Velocity of the clamp.
    CLAMP_VELOCITY = 10;
    /// Spin of the clamp.
    CLAMP_SPIN = 11;
    /// High words of the position of the clamp's middle.
    CLAMP_MIDDLE = 12;
    /// Low words of the position of the clamp's middle.
    CLAMP_MIDDLE_LOW = 13;
    /// Rows of a held element in the tables: its packed position (high words) with its clamp's index plus
    /// one; three parts of its arm with the low words.
    HELD_ROWS = 4;

    /// Rows of a cell.
    CELL_ROWS = 6;
    /// Principal moments; λ.
    CELL_MOMENTS = 0;
    /// Inverse principal moments; volume over which dilation is averaged while no face is broken.
    CELL_INVERSE = 1;
    /// Principal axes, a quaternion.
    CELL_AXES = 2;
    /// Angular momentum, world frame.
    CELL_MOMENTUM = 3;
    /// λε, bending moment on the faces of a wall, λ/V, h²/12 of a wall.
    CELL_DILATION = 4;
    /// Velocity coefficients of absorbing sides; 3ν/(1 − 2ν).
    CELL_RESISTANCE = 5;

    /// Arm from the centre of the cell with the lower index to the face's centre; S/2.
    FACE_ARM_I = 0;
    /// Arm from the centre of the other cell to the face's centre; S E/((1 + ν) D₀).
    FACE_ARM_J = 1;
    /// Normal, outward from the cell with the lower index; damping of translation.
    FACE_NORMAL = 2;
    /// First principal axis; damping of rotation.
    FACE_SECOND = 3;
    /// k_n, k_s, k_t; whether compression counts.
    FACE_BENDING = 4;
    /// c/J, c/I_s, c/I_t; largest shear stress over mean shear stress.
    FACE_MODULI = 5;
    /// Axis through the thickness of a one-layer wall.
    FACE_THROUGH = 6;

    /// Words of a break event.
    EVENT_WORDS = 17;
    /// Step of the force pass that detected it.
    EVENT_STEP = 0;
    /// Element with the lower index.
    EVENT_ELEMENT = 1;
    /// Slot of the bond at that element.
    EVENT_SLOT = 2;
    /// σ, τ and touching distance.
    EVENT_STRESS = 3;
    /// Middle of the bond.
    EVENT_MIDDLE = 6;
    /// Rest direction in the current orientation of the first end.
    EVENT_FROM_I = 9;
    /// Opposite rest direction in the current orientation of the other end.
    EVENT_FROM_J = 12;
    /// Strength left, of the initial one.
    EVENT_LEFT = 15;
    /// Energy that the bond released, and took as it softened.
    EVENT_ENERGY = 16;

    /// Words of a spring of a checkpoint.
    SPRING_WORDS = 5;
    /// Element.
    SPRING_ELEMENT = 0;
    /// Contact partner.
    SPRING_PARTNER = 1;
    /// Spring vector.
    SPRING_VECTOR = 2;

    /// Number of elements that share one row of each collider, so that few threads contend for a word.
    REACTION_BLOCK = 64;
    /// Components of a wrench: force and torque.
    WRENCH_COMPONENTS = 6;
    /// Words of a component.
    COMPONENT_WORDS = 3;
    /// Words of a wrench.
    ACCUMULATOR_WORDS = WRENCH_COMPONENTS * COMPONENT_WORDS;
    /// Accumulators of a row.
    ACCUMULATORS = 3;
    /// Index of the accumulator of the steps that count in full.
    FULL_STEPS = 0;
    /// Index of the accumulator of the last step of an advance, whose kick is only half done.
    LAST_STEP = 1;
    /// Index of the accumulator of the loads before the first step.
    START_LOADS = 2;
    /// Words of a row of reactions.
    REACTION_ROW_WORDS = ACCUMULATORS * ACCUMULATOR_WORDS;
}

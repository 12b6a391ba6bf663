//! Numbers that the host and kernels share; each is written into the kernels' texts from here.

use crate::gpu::WORKGROUP;
use crate::simulate::contact::{chunk, near};

/// Constants of Rust that kernels know by the same names: all of a list stand in its `CONSTANTS`.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*
        /// Names and values, for the texts of kernels.
        pub const CONSTANTS: &[$crate::gpu::Constant] = &[$((stringify!($name), $name)),*];
    };
}
pub(super) use constants;

constants! {
    /// Partners from this number on are colliders.
    COLLIDER = chunk::COLLIDER;
    /// Whole bonds from which on an element touches no other, where all radii are equal.
    WHOLE_SHELL = near::WHOLE_SHELL as u32;

    /// Items that an invocation of the prefix sum takes at a time.
    SCAN_EACH = 16;
    /// Items that a workgroup of the prefix sum takes at a time.
    SCAN_BLOCK = SCAN_EACH * WORKGROUP;

    /// Rows of a class of bonds in the tables.
    CLASS_ROWS = 3;

    /// Rows of a collider at a step.
    POSE_ROWS = 6;
    /// Position, number of the solid.
    POSE_PLACE = 0;
    /// Low words of the position.
    POSE_LOW = 1;
    /// Rotation.
    POSE_ROTATION = 2;
    /// Velocity.
    POSE_VELOCITY = 3;
    /// Spin.
    POSE_SPIN = 4;
    /// Lengths of the solid.
    POSE_SHAPE = 5;

    /// Rows of a clamp at a step. The first nine, three for each part of its turn less 1, have as last
    /// numbers both words of its displacement and the rotation that the quaternion has not taken.
    CLAMP_ROWS = 14;
    /// Its quaternion.
    CLAMP_ROTATION = 9;
    /// Its velocity.
    CLAMP_VELOCITY = 10;
    /// Its spin.
    CLAMP_SPIN = 11;
    /// High words of where its middle is.
    CLAMP_MIDDLE = 12;
    /// Low words of the same.
    CLAMP_MIDDLE_LOW = 13;
    /// Rows of a held element in the tables: where it was packed, high words, with its clamp plus one; three
    /// parts of its arm with the low words.
    GRIP_ROWS = 4;

    /// Rows of a cell.
    CELL_ROWS = 6;
    /// Principal moments; λ.
    CELL_MOMENTS = 0;
    /// Inverse principal moments; the volume that dilation is over as long as no face is broken.
    CELL_INVERSE = 1;
    /// Principal axes, a quaternion.
    CELL_AXES = 2;
    /// Angular momentum, world frame.
    CELL_MOMENTUM = 3;
    /// λε, what bending puts on the faces of a wall, λ/V, h²/12 of a wall.
    CELL_DILATION = 4;
    /// What absorbing sides resist velocities with; 3ν/(1 − 2ν).
    CELL_RESISTANCE = 5;

    /// From the centre of the cell with the lower index to the face's; S/2.
    FACE_ARM_I = 0;
    /// From the centre of the other to the face's; S E/((1 + ν) D₀).
    FACE_ARM_J = 1;
    /// Normal out of the cell with the lower index; damping of translation.
    FACE_NORMAL = 2;
    /// First principal axis; damping of rotation.
    FACE_SECOND = 3;
    /// k_n, k_s, k_t; whether compression counts.
    FACE_BENDING = 4;
    /// c/J, c/I_s, c/I_t; largest shear stress over its mean.
    FACE_MODULI = 5;
    /// Axis through a wall of one layer.
    FACE_THROUGH = 6;

    /// Words of a broken bond.
    EVENT_WORDS = 16;
    /// Step of the force pass that found it.
    EVENT_STEP = 0;
    /// Element with the lower index.
    EVENT_ELEMENT = 1;
    /// Its slot.
    EVENT_SLOT = 2;
    /// σ, τ and distance of touching.
    EVENT_STRESS = 3;
    /// Middle of the bond.
    EVENT_MIDDLE = 6;
    /// Rest direction as the first end carries it.
    EVENT_FROM_I = 9;
    /// Opposite rest direction as the other end carries it.
    EVENT_FROM_J = 12;

    /// Words of a spring of a state.
    SPRING_WORDS = 5;
    /// Element.
    SPRING_ELEMENT = 0;
    /// Its partner.
    SPRING_PARTNER = 1;
    /// Spring.
    SPRING_VECTOR = 2;

    /// Elements that share a row of each collider, so that few meet at a word.
    BEAR_BLOCK = 64;
    /// Numbers of a force and a torque.
    NUMBERS = 6;
    /// Words of a number.
    NUMBER_WORDS = 3;
    /// Words of force and torque.
    AREA_WORDS = NUMBERS * NUMBER_WORDS;
    /// Areas of a row.
    AREAS = 3;
    /// Area of steps that count in full.
    WITHIN = 0;
    /// Area of the last step of an advance, which kicks by half.
    LAST = 1;
    /// Area of the loads before the first step.
    BEGINNING = 2;
    /// Words of a row.
    ROW_WORDS = AREAS * AREA_WORDS;
}

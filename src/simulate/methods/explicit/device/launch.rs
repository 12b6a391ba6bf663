//! The launch numbers of kernels, and the status words that they write. The kernels' texts take both from
//! here: see [`LAUNCH`] and [`constants`](super::constants).

use std::mem::offset_of;

use bytemuck::{Pod, Zeroable};

use super::constants::constants;

/// A vector in uniform buffers.
type Vector = [f32; 3];

macro_rules! wgsl_type {
    (u32) => {
        "u32"
    };
    (f32) => {
        "f32"
    };
    (Vector) => {
        "vec3<f32>"
    };
}

macro_rules! launch {
    ($($(#[$doc:meta])* $field:ident: $type:ident,)*) => {
        /// `struct Launch` of the kernels.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
        #[repr(C)]
        pub struct Launch {
            $($(#[$doc])* pub $field: $type,)*
        }

        /// WGSL text of [`Launch`].
        pub const LAUNCH: &str = concat!(
            "struct Launch {\n",
            $("    ", stringify!($field), ": ", wgsl_type!($type), ",\n",)*
            "}\n"
        );

        /// Byte offsets of the members.
        #[cfg(test)]
        const OFFSETS: &[(&str, usize)] = &[$((stringify!($field), offset_of!(Launch, $field))),*];
    };
}

launch! {
    /// First step of the submission.
    base_step: u32,
    /// Number of elements.
    count: u32,
    /// Elements rounded up to whole chunks: stride of the columns.
    stride: u32,
    /// Most bonds of an element.
    slots: u32,
    /// Gravity, m/s².
    gravity: Vector,
    /// Drag, 1/s.
    drag: f32,
    /// Time step, s.
    dt: f32,
    /// Distance beyond touching up to which pairs are listed, m.
    skin: f32,
    /// Edge of a grid cell, m.
    cell: f32,
    /// Largest displacement of a collider's surface in a step, m.
    surface_travel: f32,
    /// Force passes between checks of the contact lists.
    batch: u32,
    /// Number of colliders.
    colliders: u32,
    /// Number of materials.
    materials: u32,
    /// 1 if nothing reaches elements inside a complete shell of bonds.
    closed_shells: u32,
    /// First row of the contact pairs in the tables.
    pairs: u32,
    /// First row of the attached forces in the tables.
    forces: u32,
    /// Number of grid buckets minus one.
    cell_mask: u32,
    /// Capacity of the contact lists, entries.
    list_capacity: u32,
    /// Capacity for bonds broken between two frames.
    event_capacity: u32,
    /// Capacity for the springs of a checkpoint.
    spring_capacity: u32,
    /// 0, unknown to the compiler: keeps it from simplifying sums of two words away.
    zero: u32,
    /// Integer units of the reaction sums per newton.
    load_scale: f32,
    /// Number of driven clamps.
    clamps: u32,
    /// First row of the held elements in the tables.
    held_rows: u32,
    /// First row of the clamps in the poses.
    clamp_poses: u32,
    /// Padding to a whole row of four.
    unused: u32,
}

/// Number of status words.
pub const STATUS_WORDS: usize = 16;

macro_rules! status {
    ($($(#[$doc:meta])* $word:ident = $field:ident,)*) => {
        /// Status words that the kernels write.
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        #[repr(C)]
        pub struct Status {
            $($(#[$doc])* pub $field: u32,)*
            /// Padding to sixteen words.
            pub unused: u32,
        }

        /// Indices of the words of [`Status`] in kernels.
        pub mod word {
            use super::*;
            constants! {
                $($(#[$doc])* $word = (offset_of!(Status, $field) / size_of::<u32>()) as u32;)*
            }
        }
    };
}

status! {
    /// Last phase in which commands may act.
    HALT = halt,
    /// Why they stop there: bits of [`reason`].
    REASONS = reasons,
    /// First element with a value that is not finite.
    BAD_ELEMENT = bad_element,
    /// Number of broken bonds recorded.
    EVENTS = events,
    /// Entries that the contact lists need.
    LIST_NEED = list_need,
    /// Nonzero while lists are being rebuilt.
    REBUILD = rebuild,
    /// Bits of the square of the largest displacement since the last rebuild, m².
    FARTHEST = farthest,
    /// Bits of the square of the largest speed, m²/s².
    FASTEST = fastest,
    /// Bits of the square of the largest speed for which the lists are valid, m²/s².
    SPEED_CAP = speed_cap,
    /// Step of the last rebuild.
    ANCHOR_STEP = anchor_step,
    /// Number of springs gathered.
    SPRINGS = springs,
    /// Nonzero: the next check rebuilds the lists.
    FORCE_REBUILD = force_rebuild,
    /// Number of rebuilds so far.
    REBUILDS = rebuilds,
    /// Bits of the square of the largest speed at the last check, m²/s².
    SPEED_SEEN = speed_seen,
    /// Entries of the current contact lists.
    LIST_USED = list_used,
}

const _: () = assert!(size_of::<Status>() == STATUS_WORDS * size_of::<u32>());

impl Default for Status {
    fn default() -> Self {
        Status {
            halt: u32::MAX,
            bad_element: u32::MAX,
            force_rebuild: 1,
            ..Zeroable::zeroed()
        }
    }
}

/// Bits of [`Status::reasons`].
pub mod reason {
    use super::constants;

    constants! {
        /// A value is not finite.
        NOT_FINITE = 1;
        /// An element was faster than the lists allow.
        OUTRUN = 2;
        /// The contact lists are too short.
        LISTS_FULL = 4;
        /// More bonds broke than fit the event column.
        EVENTS_FULL = 8;
        /// More springs than fit their column.
        SPRINGS_FULL = 16;
    }
}

/// Phases of a step in order. Those up to [`Status::halt`] may act.
pub mod phase {
    use super::constants;

    constants! {
        /// Number of phases per step.
        PHASES = 8;
        /// Check of the contact lists.
        LISTS = 0;
        /// Forces and motion.
        MOVE = 1;
        /// Broken bonds are removed.
        BREAK = 2;
        /// The frame is measured.
        CAPTURE = 3;
        /// Counters and sums are reset after a frame was copied out.
        CLOSE = 4;
        /// First half step of the next frame.
        OPEN = 5;
    }

    /// Number of steps that the phase counter can hold.
    pub const STEPS: u64 = (u32::MAX / PHASES) as u64 - 1;
}

#[cfg(test)]
mod tests {
    use super::super::{cell_texts, texts};
    use super::*;
    use crate::gpu::{ColumnSplit, compose};

    /// Every kernel is valid WGSL, with whole and with split columns, uses each column that it binds, and has
    /// `Launch` in the same layout as Rust.
    #[test]
    fn kernels_are_valid_and_laid_out_alike() {
        for kernel in texts::all().chain(cell_texts::ALL) {
            for parts in [1, 3] {
                let split = ColumnSplit {
                    parts,
                    per_part: 1024,
                };
                let text = compose(kernel, &vec![split; kernel.bindings().len()]);
                let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| {
                    panic!("{}: {}", kernel.name(), error.emit_to_string(&text))
                });
                let mut validator = naga::valid::Validator::new(
                    naga::valid::ValidationFlags::all(),
                    naga::valid::Capabilities::empty(),
                );
                validator.validate(&module).unwrap_or_else(|error| {
                    panic!("{}: {}", kernel.name(), error.emit_to_string(&text))
                });
                check_layout(&module);
            }
            let own = kernel.sources().concat();
            for binding in kernel.bindings() {
                let accessors = [
                    "",
                    "_set",
                    "_load",
                    "_store",
                    "_add",
                    "_and",
                    "_or",
                    "_min",
                    "_max",
                    "_exchange",
                ];
                let mut calls = accessors
                    .map(|what| format!("{}{what}(", binding.name))
                    .into_iter();
                assert!(
                    calls.any(|call| is_called(&own, &call)),
                    "{} binds {} and does not use it",
                    kernel.name(),
                    binding.name
                );
            }
        }
    }

    /// Whether a text has this call other than as the end of a longer name.
    fn is_called(text: &str, call: &str) -> bool {
        let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
        text.match_indices(call)
            .any(|(at, _)| !text[..at].ends_with(part_of_name))
    }

    fn check_layout(module: &naga::Module) {
        let launch = module
            .types
            .iter()
            .find(|(_, ty)| ty.name.as_deref() == Some("Launch"))
            .unwrap();
        let naga::TypeInner::Struct { members, span } = &launch.1.inner else {
            panic!("Launch is a struct");
        };
        assert_eq!(*span as usize, size_of::<Launch>());
        assert_eq!(members.len(), OFFSETS.len());
        for (member, (name, offset)) in members.iter().zip(OFFSETS) {
            assert_eq!(member.name.as_deref(), Some(*name));
            assert_eq!(member.offset as usize, *offset, "{name}");
        }
    }

    #[test]
    fn no_two_constants_of_kernels_have_one_name() {
        let lists = super::super::texts::ALL_CONSTANTS.iter();
        let mut names: Vec<_> = lists
            .flat_map(|list| list.iter())
            .map(|(n, _)| *n)
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

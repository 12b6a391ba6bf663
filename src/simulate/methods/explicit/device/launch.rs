//! The numbers that kernels are launched with, and the words they answer in. Kernels have both from here: see
//! [`LAUNCH`] and [`constants`](super::constants).

use std::mem::offset_of;

use bytemuck::{Pod, Zeroable};

use super::constants::constants;

/// A vector as uniforms have it.
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

        /// The same for the texts of kernels.
        pub const LAUNCH: &str = concat!(
            "struct Launch {\n",
            $("    ", stringify!($field), ": ", wgsl_type!($type), ",\n",)*
            "}\n"
        );

        /// Where its members are.
        #[cfg(test)]
        const OFFSETS: &[(&str, usize)] = &[$((stringify!($field), offset_of!(Launch, $field))),*];
    };
}

launch! {
    /// First step of the submission.
    base_step: u32,
    /// Elements.
    count: u32,
    /// Elements rounded up: stride of columns.
    stride: u32,
    /// Bonds of an element at most.
    slots: u32,
    /// m/s².
    gravity: Vector,
    /// 1/s.
    drag: f32,
    /// s.
    dt: f32,
    /// m.
    skin: f32,
    /// Edge of a grid cell, m.
    cell: f32,
    /// Farthest that a collider's surface moves in a step, m.
    driven: f32,
    /// Force passes from one look at the lists to the next.
    batch: u32,
    /// Colliders.
    colliders: u32,
    /// Materials.
    materials: u32,
    /// 1 where all radii are equal.
    equal: u32,
    /// Row of the tables where contact pairs begin.
    pairs: u32,
    /// Row of the tables where attached forces begin.
    forces: u32,
    /// Grid cells less one.
    cell_mask: u32,
    /// Entries that the contact lists have room for.
    list_room: u32,
    /// Broken bonds that there is room for until the next frame.
    event_room: u32,
    /// Springs that a state has room for.
    spring_room: u32,
    /// 0, which no compiler knows: it keeps sums of two words from being simplified away.
    zero: u32,
    /// What one N is in units of what is borne.
    load_scale: f32,
    /// Clamps that are driven.
    clamps: u32,
    /// Row of the tables where what they hold begins.
    grips: u32,
    /// Row of the poses where they begin.
    clamp_poses: u32,
    /// A whole row of four.
    unused: u32,
}

/// Number of status words.
pub const STATUS_WORDS: usize = 16;

macro_rules! status {
    ($($(#[$doc:meta])* $word:ident = $field:ident,)*) => {
        /// Words that the kernels answer in.
        #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
        #[repr(C)]
        pub struct Status {
            $($(#[$doc])* pub $field: u32,)*
            /// Sixteen words.
            pub unused: [u32; 2],
        }

        /// Where kernels find the words of [`Status`].
        pub mod word {
            use super::*;
            constants! {
                $($(#[$doc])* $word = (offset_of!(Status, $field) / size_of::<u32>()) as u32;)*
            }
        }
    };
}

status! {
    /// Phase up to which commands may act.
    HALT = halt,
    /// Why not farther: bits of [`reason`].
    REASONS = reasons,
    /// First element that is not finite.
    BAD_ELEMENT = bad_element,
    /// Broken bonds noted.
    EVENTS = events,
    /// Entries that the lists would need.
    LIST_NEED = list_need,
    /// Not zero while lists are made.
    REBUILD = rebuild,
    /// Bits of the square of how far an element has moved, m².
    FARTHEST = farthest,
    /// Bits of the square of the largest speed, m²/s².
    FASTEST = fastest,
    /// Bits of the square of the speed that the lists allow, m²/s².
    SPEED_CAP = speed_cap,
    /// Step at which lists were made.
    ANCHOR_STEP = anchor_step,
    /// Springs gathered.
    SPRINGS = springs,
    /// Not zero: lists are made anew at the next look.
    FORCE = force,
    /// Times that lists were made.
    REBUILDS = rebuilds,
    /// Bits of the square of the largest speed at the last look, m²/s².
    SPEED_SEEN = speed_seen,
}

const _: () = assert!(size_of::<Status>() == STATUS_WORDS * size_of::<u32>());

impl Default for Status {
    fn default() -> Self {
        Status {
            halt: u32::MAX,
            bad_element: u32::MAX,
            force: 1,
            ..Zeroable::zeroed()
        }
    }
}

/// Bits of [`Status::reasons`].
pub mod reason {
    use super::constants;

    constants! {
        /// A number went wrong.
        NOT_FINITE = 1;
        /// An element was faster than the lists allow.
        OUTRUN = 2;
        /// The contact lists are too short.
        LISTS_FULL = 4;
        /// More bonds broke than there is room to note.
        EVENTS_FULL = 8;
        /// More springs than there is room for.
        SPRINGS_FULL = 16;
    }
}

/// Phases of a step in their order: those up to [`Status::halt`] may act.
pub mod phase {
    use super::constants;

    constants! {
        /// A step's phases.
        PHASES = 8;
        /// The look at the contact lists.
        LISTS = 0;
        /// Forces and motion.
        MOVE = 1;
        /// Bonds are taken out.
        BREAK = 2;
        /// The frame is measured.
        CAPTURE = 3;
        /// A frame was copied out.
        CLOSE = 4;
        /// The next frame's first half step.
        OPEN = 5;
    }

    /// Steps that can be counted.
    pub const STEPS: u64 = (u32::MAX / PHASES) as u64 - 1;
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;
    use crate::gpu::{Split, compose};

    /// Every kernel, with columns whole and split, is valid WGSL, uses each column that it binds, and has
    /// `Launch` laid out as Rust has it.
    #[test]
    fn kernels_are_valid_and_laid_out_alike() {
        for kernel in texts::all() {
            for parts in [1, 3] {
                let split = Split {
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
                    "", "_set", "_load", "_store", "_add", "_and", "_or", "_min", "_max",
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

    /// Whether a text has this call, and not as the end of a longer name.
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
        let lists = super::super::texts::ALL.iter();
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

//! The numbers that kernels are launched with, and the words they answer in: twins of `shaders/kernels/launch.wgsl`.

use bytemuck::{Pod, Zeroable};

/// `struct Launch` of the kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Launch {
    /// First step of the submission.
    pub base_step: u32,
    /// Elements.
    pub count: u32,
    /// Elements rounded up: stride of columns.
    pub stride: u32,
    /// Bonds of an element at most.
    pub slots: u32,
    /// m/s².
    pub gravity: [f32; 3],
    /// 1/s.
    pub drag: f32,
    /// s.
    pub dt: f32,
    /// m.
    pub skin: f32,
    /// Edge of a grid cell, m.
    pub cell: f32,
    /// Farthest that a collider's surface moves in a step, m.
    pub driven: f32,
    /// Force passes from one look at the lists to the next.
    pub batch: u32,
    /// Colliders.
    pub colliders: u32,
    /// Materials.
    pub materials: u32,
    /// 1 where all radii are equal.
    pub equal: u32,
    /// Row of the tables where contact pairs begin.
    pub pairs: u32,
    /// Row of the tables where attached forces begin.
    pub forces: u32,
    /// Grid cells less one.
    pub cell_mask: u32,
    /// Entries that the contact lists have room for.
    pub list_room: u32,
    /// Broken bonds that there is room for until the next frame.
    pub event_room: u32,
    /// Springs that a state has room for.
    pub spring_room: u32,
    /// 0, which no compiler knows: it keeps sums of two words from being simplified away.
    pub zero: u32,
    /// What one N is in units of what is borne.
    pub load_scale: f32,
    /// Clamps that are driven.
    pub clamps: u32,
    /// Row of the tables where what they hold begins.
    pub grips: u32,
    /// Row of the poses where they begin.
    pub clamp_poses: u32,
    /// A whole row of four.
    pub unused: u32,
}

/// Number of status words.
pub const STATUS_WORDS: usize = 16;

/// Words that the kernels answer in.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Status {
    /// Phase up to which commands may act.
    pub halt: u32,
    /// Why not farther: bits of [`reason`].
    pub reasons: u32,
    /// First element that is not finite.
    pub bad_element: u32,
    /// Broken bonds noted.
    pub events: u32,
    /// Entries that the lists would need.
    pub list_need: u32,
    /// Not zero while lists are made.
    pub rebuild: u32,
    /// Bits of the square of how far an element has moved, m².
    pub farthest: u32,
    /// Bits of the square of the largest speed, m²/s².
    pub fastest: u32,
    /// Bits of the square of the speed that the lists allow, m²/s².
    pub speed_cap: u32,
    /// Step at which lists were made.
    pub anchor_step: u32,
    /// Springs gathered.
    pub springs: u32,
    /// Not zero: lists are made anew at the next look.
    pub force: u32,
    /// Times that lists were made.
    pub rebuilds: u32,
    /// Bits of the square of the largest speed at the last look, m²/s².
    pub speed_seen: u32,
    /// Sixteen words.
    pub unused: [u32; 2],
}

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
    /// A number went wrong.
    pub const NOT_FINITE: u32 = 1;
    /// An element was faster than the lists allow.
    pub const OUTRUN: u32 = 2;
    /// The contact lists are too short.
    pub const LISTS_FULL: u32 = 4;
    /// More bonds broke than there is room to note.
    pub const EVENTS_FULL: u32 = 8;
    /// More springs than there is room for.
    pub const SPRINGS_FULL: u32 = 16;
}

/// Phases of a step that the host counts with: those up to [`Status::halt`] may act.
pub mod phase {
    /// A step's phases.
    pub const COUNT: u32 = 8;
    /// Forces and motion.
    pub const MOVE: u32 = 1;
    /// Bonds are taken out.
    pub const BREAK: u32 = 2;
    /// The frame is measured.
    pub const CAPTURE: u32 = 3;
    /// The next frame's first half step.
    pub const OPEN: u32 = 5;
    /// Steps that can be counted.
    pub const STEPS: u64 = (u32::MAX / COUNT) as u64 - 1;
}

#[cfg(test)]
mod tests {
    use super::super::texts;
    use super::*;
    use crate::gpu::compose;

    /// Every kernel, with columns whole and split, is valid WGSL; the structures have one layout in both languages.
    #[test]
    fn kernels_are_valid_and_laid_out_alike() {
        for kernel in texts::all() {
            for parts in [1, 3] {
                let splits = vec![(parts, 1024); kernel.bindings.len()];
                let text = compose(kernel, &splits);
                let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| {
                    panic!("{}: {}", kernel.name, error.emit_to_string(&text))
                });
                let mut validator = naga::valid::Validator::new(
                    naga::valid::ValidationFlags::all(),
                    naga::valid::Capabilities::empty(),
                );
                validator.validate(&module).unwrap_or_else(|error| {
                    panic!("{}: {}", kernel.name, error.emit_to_string(&text))
                });
                check_layout(&module);
            }
        }
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
        macro_rules! same {
            ($($field:ident)*) => {$(
                let member = members.iter().find(|m| m.name.as_deref() == Some(stringify!($field))).unwrap();
                assert_eq!(member.offset as usize, std::mem::offset_of!(Launch, $field), stringify!($field));
            )*};
        }
        same!(base_step count stride slots gravity drag dt skin cell driven batch colliders materials equal pairs forces
              cell_mask list_room event_room spring_room zero load_scale clamps grips clamp_poses unused);
    }

    #[test]
    fn words_and_phases_have_one_number_in_both_languages() {
        let text = include_str!("../../../../../shaders/kernels/launch.wgsl");
        macro_rules! word {
            ($($name:literal $field:ident)*) => {$(
                let index = std::mem::offset_of!(Status, $field) / 4;
                assert!(text.contains(&format!("const {}: u32 = {index}u;", $name)), $name);
            )*};
        }
        word!("HALT" halt "REASONS" reasons "BAD_ELEMENT" bad_element "EVENTS" events "LIST_NEED" list_need "REBUILD" rebuild
              "FARTHEST" farthest "FASTEST" fastest "SPEED_CAP" speed_cap "ANCHOR_STEP" anchor_step "SPRINGS" springs
              "FORCE" force "REBUILDS" rebuilds "SPEED_SEEN" speed_seen);
        let numbers = [
            ("NOT_FINITE", reason::NOT_FINITE),
            ("OUTRUN", reason::OUTRUN),
            ("LISTS_FULL", reason::LISTS_FULL),
            ("EVENTS_FULL", reason::EVENTS_FULL),
            ("SPRINGS_FULL", reason::SPRINGS_FULL),
            ("PHASES", phase::COUNT),
            ("MOVE", phase::MOVE),
            ("BREAK", phase::BREAK),
            ("CAPTURE", phase::CAPTURE),
            ("OPEN", phase::OPEN),
        ];
        for (name, number) in numbers {
            assert!(
                text.contains(&format!("const {name}: u32 = {number}u;")),
                "{name}"
            );
        }
        assert_eq!(size_of::<Status>(), 4 * STATUS_WORDS);
    }
}

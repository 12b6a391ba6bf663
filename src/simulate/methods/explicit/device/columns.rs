//! The columns of a simulation in device memory, and the conversion between them and the host's rows.

use super::constants::{
    CELL_ROWS, CLAMP_ROWS, EVENT_WORDS, FACE_THROUGH, POSE_ROWS, REACTION_ROW_WORDS, SPRING_WORDS,
};
use super::launch::STATUS_WORDS;
use crate::gpu::{Column, ColumnName, Device, GpuError};
use crate::math::lanes::LaneRow;
use crate::simulate::bonded::system::{MotionRow, System, TailRow};
use crate::simulate::contact::chunk::SpringEntry;
use crate::spec::Law;

/// Most steps per submission; each has its own row of launch numbers and of collider poses.
pub const STEPS_PER_SUBMISSION: u64 = 256;
/// Number of `vec4`s of an element's motion.
pub const MOTION_ROWS: usize = 5;

/// Whether the body has one-layer walls of cells.
pub type HasWalls = bool;

/// Capacities of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Elements, rounded up to whole chunks.
    pub stride: u64,
    /// Most bonds of an element.
    pub slots: u64,
    /// Bond law.
    pub law: Law,
    /// None for balls; for cells, whether there are one-layer walls.
    pub cells: Option<HasWalls>,
    /// Whether there is more than one class of bonds.
    pub several_classes: bool,
    /// Whether bonds may have damping; always for cells.
    pub damped: bool,
    /// Whether bonds soften before they break.
    pub softens: bool,
    /// Whether bonds break by Rankine's criterion.
    pub rankine: bool,
    /// Number of colliders.
    pub colliders: u64,
    /// Number of driven clamps.
    pub clamps: u64,
    /// Rows of the small tables.
    pub tables: u64,
    /// Entries of the contact lists.
    pub lists: u64,
    /// Number of broken bonds per frame.
    pub events: u64,
    /// Number of contact springs in a checkpoint.
    pub springs: u64,
    /// Number of rows of reaction sums.
    pub reaction_rows: u64,
}

impl Sizes {
    /// Grid buckets: a power of two.
    pub fn cells(&self) -> u64 {
        self.stride.next_power_of_two().max(64)
    }

    /// Rows of collider poses of all steps of a submission.
    pub fn collider_poses(&self) -> u64 {
        STEPS_PER_SUBMISSION * self.colliders * u64::from(POSE_ROWS)
    }

    /// Rows of clamp poses of all steps of a submission and of the step after them.
    pub fn clamp_poses(&self) -> u64 {
        (STEPS_PER_SUBMISSION + 1) * self.clamps * u64::from(CLAMP_ROWS)
    }

    /// Slots of all elements.
    fn bonds(&self) -> u64 {
        self.slots * self.stride
    }

    /// Rows of a face in addition to the first row of its bond.
    fn face_rows(&self) -> u64 {
        match self.cells {
            None => 0,
            Some(walls) => u64::from(FACE_THROUGH) + u64::from(walls),
        }
    }

    /// Device memory, bytes.
    pub fn bytes(&self) -> u64 {
        let columns = self.columns().into_iter();
        columns.map(|(name, count)| name.item.size() * count).sum()
    }
}

/// Declares the columns: their names in kernels, item types and lengths. Allocation, growth and bindings
/// follow from this list.
macro_rules! columns {
    (|$sizes:ident| $($(#[$doc:meta])* $name:ident: $item:ident, $count:expr;)*) => {
        /// Names and item types of the columns, for the bindings of kernels.
        #[allow(non_upper_case_globals)] // named as in kernels
        pub mod names {
            use crate::gpu::{ColumnName, Item};
            $(
                $(#[$doc])*
                pub const $name: ColumnName = ColumnName {
                    name: stringify!($name),
                    item: Item::$item,
                };
            )*
        }

        /// All columns.
        #[derive(Debug)]
        pub struct Columns {
            $($(#[$doc])* pub $name: Column,)*
        }

        impl Sizes {
            /// Every column with its number of items.
            fn columns(&self) -> Vec<(ColumnName, u64)> {
                let $sizes = self;
                vec![$((names::$name, $count)),*]
            }
        }

        impl Columns {
            fn create(
                $sizes: &Sizes,
                make: impl Fn(ColumnName, u64) -> Result<Column, GpuError>,
            ) -> Result<Self, GpuError> {
                Ok(Columns {
                    $($name: make(names::$name, $count)?,)*
                })
            }

            /// All columns, in the order of [`Sizes::columns`].
            fn all_mut(&mut self) -> Vec<&mut Column> {
                vec![$(&mut self.$name),*]
            }

            fn all(&self) -> Vec<&Column> {
                vec![$(&self.$name),*]
            }
        }
    };
}

columns! {
    |sizes|
    /// Motion of elements; a step reads one such column and writes the other. Row k of element i is item
    /// `k·stride + i`: `p.xyz lo.x`, `q`, `v.xyz lo.y`, `ω.xyz lo.z`, `ρ.xyz r`.
    motion: Vec4, MOTION_ROWS as u64 * sizes.stride;
    /// The other motion column.
    moved: Vec4, MOTION_ROWS as u64 * sizes.stride;
    /// `1/m`, `1/I`, material, index of the attached force plus one.
    own: Vec4, sizes.stride;
    /// Slot-major: other end of each bond.
    neighbour: U32, sizes.bonds();
    /// Slot-major: rest direction and length; for a broken bond, the contact's spring and touching distance.
    /// The rows of faces follow, each slot-major.
    bond_rest: Vec4, sizes.bonds() * (1 + sizes.face_rows());
    /// Slot-major: strengths σ_c, τ_c; for a bond that is breaking, its stresses σ, τ. If bonds soften, two more
    /// such rows: stiffness and strength left; use of strength at which it breaks, and energy until then.
    bond_strength: Vec2, sizes.bonds() * if sizes.softens { 3 } else { 1 };
    /// Slot-major: tensile strength by Rankine's criterion, −1 if another criterion decides.
    solid_strength: F32, if sizes.rankine { sizes.bonds() } else { 0 };
    /// σ̄ of elements with such bonds: xx, yy, zz and volume (0 for the other elements), then yz, xz, xy.
    solid_stress: Vec4, if sizes.rankine { 2 * sizes.stride } else { 0 };
    /// Slot-major: class of each bond.
    bond_class: U32, if sizes.several_classes { sizes.bonds() } else { 1 };
    /// Moments, axes, momentum and dilation of cells: row 0 of all cells, then row 1, and so on.
    cell_rows: Vec4, if sizes.cells.is_some() { u64::from(CELL_ROWS) * sizes.stride } else { 1 };
    /// Bit masks over the slots of each element: intact bonds, broken pairs that may touch, breaking bonds.
    masks: Atomic, 3 * sizes.stride;
    /// Force and torque at the end of a frame.
    loads: Vec4, 2 * sizes.stride;
    /// First contact-list entry of each element, then the entry after each element's last one.
    list_bounds: U32, 2 * sizes.stride;
    /// Contact partners, ascending for each element.
    list_partner: U32, sizes.lists;
    /// Spring and touching distance of each contact.
    list_spring: Vec4, sizes.lists;
    /// Bounds of the lists that are being built.
    next_bounds: U32, 2 * sizes.stride;
    /// Partners of the lists before the rebuild.
    kept_partner: U32, sizes.lists;
    /// Springs of the lists before the rebuild.
    kept_spring: Vec4, sizes.lists;
    /// Grid buckets: the index plus one of the first element of each, 0 if there is none.
    cells: Atomic, sizes.cells();
    /// Position at the last rebuild of the lists; in the fourth place the index plus one of the next element in the
    /// bucket, 0 after the last one, as link_of in cells.wgsl has it.
    anchor: Vec4, sizes.stride;
    /// Bond classes, contact pairs, attached forces, elements held by driven clamps.
    tables: Vec4, sizes.tables;
    /// Poses of colliders, then of driven clamps, at each step of a submission.
    poses: Vec4, sizes.collider_poses() + sizes.clamp_poses();
    /// Bonds broken since the last frame.
    events: U32, sizes.events * u64::from(EVENT_WORDS);
    /// Springs of the checkpoint.
    stretched: U32, sizes.springs * u64::from(SPRING_WORDS);
    /// Stresses and energies of each element.
    measured: Vec4, sizes.stride;
    /// Number of contact sides of each element.
    touched: U32, sizes.stride;
    /// Number of elements that touch each collider, then the sums of reactions of colliders and held
    /// elements.
    reactions: Atomic, sizes.colliders + sizes.reaction_rows * u64::from(REACTION_ROW_WORDS);
    /// Status words, written by the kernels.
    status: Atomic, STATUS_WORDS as u64;
}

impl Columns {
    /// Allocates all columns, zeroed. The error of a device with too little memory states the total.
    pub fn new(device: &Device, sizes: &Sizes) -> Result<Self, GpuError> {
        let made = Columns::create(sizes, |name, count| {
            Column::new(device, name.name, name.item, count)
        });
        made.map_err(|error| match error {
            GpuError::OutOfMemory { adapter, .. } => GpuError::OutOfMemory {
                adapter,
                what: "the simulation".into(),
                bytes: sizes.bytes(),
            },
            other => other,
        })
    }

    /// The motion column that is read at parity 0 or 1; steps write the other one.
    pub fn motion(&self, parity: usize) -> &Column {
        [&self.motion, &self.moved][parity]
    }

    /// The column that kernels at this parity know by `name`.
    pub fn by_name(&self, name: &str, parity: usize) -> Option<&Column> {
        if name == names::motion.name {
            return Some(self.motion(parity));
        }
        if name == names::moved.name {
            return Some(self.motion(1 - parity));
        }
        let mut columns = self.all().into_iter();
        columns.find(|column| column.name() == name)
    }

    /// Enlarges the columns that are too short for these sizes and keeps their contents.
    pub fn grow(&mut self, device: &Device, sizes: &Sizes) -> Result<(), GpuError> {
        let mut encoder = device.encoder();
        for (column, (_, items)) in self.all_mut().into_iter().zip(sizes.columns()) {
            if items > column.count() {
                let new = Column::new(device, column.name(), column.item(), items)?;
                column.copy_to(&mut encoder, (0, column.count()), &new, 0);
                *column = new;
            }
        }
        device.submit(encoder);
        Ok(())
    }
}

/// Contact lists as rows per element, built from springs sorted by element and partner.
#[derive(Debug, Default)]
pub struct ListRows {
    /// First entry of each element; complete after [`finish`](Self::finish).
    pub first: Vec<u32>,
    /// Partner of each entry.
    pub partner: Vec<u32>,
    /// Spring of each entry; the next rebuild of the lists fills in the touching distance.
    pub spring: Vec<[f32; 4]>,
}

impl ListRows {
    /// Adds the spring of an element whose index is not lower than the previous one.
    pub fn push(&mut self, entry: &SpringEntry<f32>) {
        self.finish(entry.element as usize);
        let [x, y, z] = entry.memory.spring;
        self.partner.push(entry.partner);
        self.spring.push([x, y, z, 0.0]);
    }

    /// Ends the rows of all elements before `element`.
    pub fn finish(&mut self, element: usize) {
        let end = self.partner.len() as u32;
        self.first.resize(element + 1, end);
    }

    /// First entry of each element, then the entry after each element's last one.
    pub fn bounds(&self, elements: usize) -> Vec<u32> {
        [&self.first[..elements], &self.first[1..]].concat()
    }
}

/// Three numbers of a row as the device's vector.
pub fn vector(row: &[f32], at: usize) -> [f32; 4] {
    [row[at], row[at + 1], row[at + 2], 0.0]
}

/// Converts the host's rows to the device's: the first four `vec4` rows are a row of motion, the fifth is its
/// tail.
pub fn to_device(system: &System<f32>) -> Vec<[f32; 4]> {
    let mut out = Vec::with_capacity(MOTION_ROWS * system.motion.len());
    for k in 0..4 {
        let quarter = |row: &MotionRow<f32>| std::array::from_fn(|c| row.0[4 * k + c]);
        out.extend(system.motion.iter().map(quarter));
    }
    out.extend(system.tail.iter().map(|tail| tail.0));
    out
}

/// Converts the device's rows back.
pub fn from_device(words: &[u32], motion: &mut [MotionRow<f32>], tail: &mut [TailRow<f32>]) {
    let values: &[[f32; 4]] = bytemuck::cast_slice(words);
    for (k, rows) in values.chunks_exact(motion.len()).enumerate() {
        for (i, value) in rows.iter().enumerate() {
            match k {
                0..4 => motion[i].0[4 * k..4 * k + 4].copy_from_slice(value),
                _ => tail[i] = LaneRow(*value),
            }
        }
    }
}

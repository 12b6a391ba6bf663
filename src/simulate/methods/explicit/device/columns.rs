//! The columns of a simulation in device memory, and how the host's rows become theirs.

use super::constants::{
    CELL_ROWS, CLAMP_ROWS, EVENT_WORDS, FACE_THROUGH, POSE_ROWS, ROW_WORDS, SCAN_BLOCK,
    SPRING_WORDS,
};
use super::launch::STATUS_WORDS;
use crate::gpu::{Column, ColumnName, Device, GpuError};
use crate::math::lanes::Row;
use crate::simulate::bonded::system::{Motion, System, Tail};
use crate::simulate::contact::chunk::SpringEntry;
use crate::spec::Law;

/// Steps that a submission holds at most; each has a row of launch numbers and of collider poses.
pub const ROWS: u64 = 256;
/// `vec4`s of an element's motion.
pub const MOTION_ROWS: usize = 5;

/// Whether any cells are a wall of one layer.
pub type HasWalls = bool;

/// How many of everything there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Elements, rounded up.
    pub stride: u64,
    /// Bonds of an element at most.
    pub slots: u64,
    /// Law of bonds.
    pub law: Law,
    /// Whether elements are cells, and with walls of one layer among them.
    pub cells: Option<HasWalls>,
    /// Whether bonds are of more than one kind.
    pub kinds: bool,
    /// Colliders.
    pub colliders: u64,
    /// Driven clamps.
    pub clamps: u64,
    /// Rows of the tables.
    pub tables: u64,
    /// Entries of the contact lists.
    pub lists: u64,
    /// Broken bonds from frame to frame.
    pub events: u64,
    /// Springs of a state.
    pub springs: u64,
    /// Rows of what is borne.
    pub borne: u64,
}

impl Sizes {
    /// Buckets of the grid: a power of two.
    pub fn cells(&self) -> u64 {
        self.stride.next_power_of_two().max(64)
    }

    /// Rows of collider poses: those of every step of a submission.
    pub fn collider_poses(&self) -> u64 {
        ROWS * self.colliders * u64::from(POSE_ROWS)
    }

    /// Rows of clamp poses: those too, and of the step after them.
    pub fn clamp_poses(&self) -> u64 {
        (ROWS + 1) * self.clamps * u64::from(CLAMP_ROWS)
    }

    /// Entries of the slots of all elements.
    fn bonds(&self) -> u64 {
        self.slots * self.stride
    }

    /// Rows of a face beside the first of its bond.
    fn face_rows(&self) -> u64 {
        match self.cells {
            None => 0,
            Some(walls) => u64::from(FACE_THROUGH) + u64::from(walls),
        }
    }

    /// Most items that a prefix sum runs over.
    fn scanned(&self) -> u64 {
        (self.cells() + 1).max(self.stride + 1)
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> u64 {
        let columns = self.columns().into_iter();
        columns.map(|(name, count)| name.item.size() * count).sum()
    }
}

/// Declares the columns: how kernels call each, its entries, how many there are. Memory, growth and bindings follow.
macro_rules! columns {
    (|$sizes:ident| $($(#[$doc:meta])* $name:ident: $item:ident, $count:expr;)*) => {
        /// The columns for the bindings of kernels.
        #[allow(non_upper_case_globals)] // called as kernels call them
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
            /// Every column and its number of items.
            fn columns(&self) -> Vec<(ColumnName, u64)> {
                let $sizes = self;
                vec![$((names::$name, $count)),*]
            }
        }

        impl Columns {
            fn made(
                $sizes: &Sizes,
                make: impl Fn(ColumnName, u64) -> Result<Column, GpuError>,
            ) -> Result<Self, GpuError> {
                Ok(Columns {
                    $($name: make(names::$name, $count)?,)*
                })
            }

            /// In the order of [`Sizes::columns`].
            fn each_mut(&mut self) -> Vec<&mut Column> {
                vec![$(&mut self.$name),*]
            }

            fn each(&self) -> Vec<&Column> {
                vec![$(&self.$name),*]
            }
        }
    };
}

columns! {
    |sizes|
    /// Motion; steps read one and write the other. Row k of element i is item `k·stride + i`: `p.xyz lo.x`,
    /// `q`, `v.xyz lo.y`, `ω.xyz lo.z`, `ρ.xyz r`.
    motion: Vec4, MOTION_ROWS as u64 * sizes.stride;
    /// The other motion.
    moved: Vec4, MOTION_ROWS as u64 * sizes.stride;
    /// `1/m`, `1/I`, material, attached force plus one.
    own: Vec4, sizes.stride;
    /// Slot-major: other end of each bond.
    neighbour: U32, sizes.bonds();
    /// Slot-major: rest direction and length; of a broken bond the spring and the distance of touching.
    /// Behind them the rows of faces, slot-major each.
    bond_rest: Vec4, sizes.bonds() * (1 + sizes.face_rows());
    /// Slot-major: σ_c, τ_c; of a bond that is breaking σ, τ.
    bond_strength: Vec2, sizes.bonds();
    /// Slot-major: kind of bond.
    bond_class: U32, if sizes.kinds { sizes.bonds() } else { 1 };
    /// Moments, axes, momentum, dilation of cells, a row of all of them behind the other.
    cell_rows: Vec4, if sizes.cells.is_some() { u64::from(CELL_ROWS) * sizes.stride } else { 1 };
    /// Whole, near, breaking.
    masks: Atomic, 3 * sizes.stride;
    /// Force, torque at the end of a frame.
    loads: Vec4, 2 * sizes.stride;
    /// Where each element's contacts begin.
    list_first: U32, sizes.stride + 1;
    /// Partners, ascending within an element.
    list_partner: U32, sizes.lists;
    /// Spring and distance of touching.
    list_spring: Vec4, sizes.lists;
    /// Beginnings while lists are made.
    next_first: U32, sizes.stride + 1;
    /// Partners before.
    kept_partner: U32, sizes.lists;
    /// Springs before.
    kept_spring: Vec4, sizes.lists;
    /// Buckets of the grid.
    cells: Atomic, sizes.cells() + 1;
    /// Elements in the order of their buckets.
    cell_elements: U32, sizes.stride;
    /// Scratch of the prefix sum.
    block_sums: U32, sizes.scanned().div_ceil(u64::from(SCAN_BLOCK));
    /// Positions when the lists were made.
    anchor: Vec4, sizes.stride;
    /// Bond classes, contact pairs, attached forces, what driven clamps hold.
    tables: Vec4, sizes.tables;
    /// Colliders, then driven clamps, at each step of a submission.
    poses: Vec4, sizes.collider_poses() + sizes.clamp_poses();
    /// Bonds broken since the last frame.
    events: U32, sizes.events * u64::from(EVENT_WORDS);
    /// Springs of the state.
    stretched: U32, sizes.springs * u64::from(SPRING_WORDS);
    /// Stresses and energies of each element.
    measured: Vec4, sizes.stride;
    /// Contacts of each element.
    touched: U32, sizes.stride;
    /// Elements that touch each collider, and what colliders and held elements have borne.
    borne: Atomic, sizes.colliders + sizes.borne * u64::from(ROW_WORDS);
    /// Words that the kernels answer in.
    status: Atomic, STATUS_WORDS as u64;
}

impl Columns {
    /// Makes all columns, zeroed; a device without room is told what all of them need.
    pub fn new(device: &Device, sizes: &Sizes) -> Result<Self, GpuError> {
        let made = Columns::made(sizes, |name, count| {
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

    /// The motion column that is read at a parity, of 0 and 1; steps write that of the other.
    pub fn motion(&self, parity: usize) -> &Column {
        [&self.motion, &self.moved][parity]
    }

    /// The column that kernels at a parity call by this name.
    pub fn named(&self, name: &str, parity: usize) -> Option<&Column> {
        if name == names::motion.name {
            return Some(self.motion(parity));
        }
        if name == names::moved.name {
            return Some(self.motion(1 - parity));
        }
        let mut columns = self.each().into_iter();
        columns.find(|column| column.name() == name)
    }

    /// Makes the columns longer that these sizes ask more of, and keeps what they hold.
    pub fn grow(&mut self, device: &Device, sizes: &Sizes) -> Result<(), GpuError> {
        let mut encoder = device.encoder();
        for (column, (_, items)) in self.each_mut().into_iter().zip(sizes.columns()) {
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

/// Contact lists as rows of an element, from springs in the order of elements and partners.
#[derive(Debug, Default)]
pub struct ListRows {
    /// Where each element's begin; complete after [`finish`](Self::finish).
    pub first: Vec<u32>,
    /// Partners.
    pub partner: Vec<u32>,
    /// Springs; the distance of touching comes with the next making of the lists.
    pub spring: Vec<[f32; 4]>,
}

impl ListRows {
    /// Adds the spring of an element, not lower than those before.
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
}

/// Three numbers of a row, as the device wants vectors.
pub fn vector(row: &[f32], at: usize) -> [f32; 4] {
    [row[at], row[at + 1], row[at + 2], 0.0]
}

/// The host's rows as the device wants them: the first four rows of `vec4`s are a row of motion, the fifth is its tail.
pub fn to_device(system: &System<f32>) -> Vec<[f32; 4]> {
    let mut out = Vec::with_capacity(MOTION_ROWS * system.motion.len());
    for k in 0..4 {
        let quarter = |row: &Motion<f32>| std::array::from_fn(|c| row.0[4 * k + c]);
        out.extend(system.motion.iter().map(quarter));
    }
    out.extend(system.tail.iter().map(|tail| tail.0));
    out
}

/// And back.
pub fn from_device(words: &[u32], motion: &mut [Motion<f32>], tail: &mut [Tail<f32>]) {
    let values: &[[f32; 4]] = bytemuck::cast_slice(words);
    for (k, rows) in values.chunks_exact(motion.len()).enumerate() {
        for (i, value) in rows.iter().enumerate() {
            match k {
                0..4 => motion[i].0[4 * k..4 * k + 4].copy_from_slice(value),
                _ => tail[i] = Row(*value),
            }
        }
    }
}

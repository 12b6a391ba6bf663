//! The columns of a simulation in device memory, and how the host's rows become theirs.

use super::clamps::CLAMP_ROWS;
use super::reactions::ROW_WORDS;
use crate::gpu::{Column, Device, GpuError, Item};
use crate::math::lanes::Row;
use crate::simulate::bonded::system::{Motion, System, Tail};
use crate::simulate::contact::chunk::SpringEntry;
use crate::spec::Law;

/// Steps that a submission holds at most; each has a row of launch numbers and of collider poses.
pub const ROWS: u64 = 256;
/// `vec4`s of a collider at a step.
pub const POSE_ROWS: u64 = 6;
/// Words of a broken bond.
pub const EVENT_WORDS: u64 = 16;
/// Words of a spring.
pub const SPRING_WORDS: u64 = 5;
/// `vec4`s of an element's motion.
pub const MOTION_ROWS: usize = 5;
/// Items that a workgroup of the prefix sum takes at a time.
pub const SCAN_BLOCK: u64 = 1024;

/// How many of everything there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Elements, rounded up.
    pub stride: u64,
    /// Bonds of an element at most.
    pub slots: u64,
    /// Law of bonds.
    pub law: Law,
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
        ROWS * self.colliders * POSE_ROWS
    }

    /// Rows of clamp poses: those too, and of the step after them.
    pub fn clamp_poses(&self) -> u64 {
        (ROWS + 1) * self.clamps * CLAMP_ROWS
    }

    /// Name, kind and length of every column, in the order of [`Columns`].
    fn layout(&self) -> [(&'static str, Item, u64); 26] {
        let n = self.stride;
        let bonds = self.slots * n;
        let scanned = (self.cells() + 1).max(n + 1);
        [
            ("motion", Item::Vec4, MOTION_ROWS as u64 * n),
            ("motion", Item::Vec4, MOTION_ROWS as u64 * n),
            ("constants", Item::Vec4, n),
            ("neighbours", Item::U32, bonds),
            ("rest directions", Item::Vec4, bonds),
            ("strengths", Item::Vec2, bonds),
            (
                "bond classes",
                Item::U32,
                if self.kinds { bonds } else { 1 },
            ),
            ("bond masks", Item::Atomic, 3 * n),
            ("loads", Item::Vec4, 2 * n),
            ("contact rows", Item::U32, n + 1),
            ("contact partners", Item::U32, self.lists),
            ("contact springs", Item::Vec4, self.lists),
            ("new contact rows", Item::U32, n + 1),
            ("kept contact partners", Item::U32, self.lists),
            ("kept contact springs", Item::Vec4, self.lists),
            ("grid cells", Item::Atomic, self.cells() + 1),
            ("elements by cell", Item::U32, n),
            ("block sums", Item::U32, scanned.div_ceil(SCAN_BLOCK)),
            ("list positions", Item::Vec4, n),
            ("tables", Item::Vec4, self.tables),
            (
                "poses",
                Item::Vec4,
                self.collider_poses() + self.clamp_poses(),
            ),
            ("broken bonds", Item::U32, self.events * EVENT_WORDS),
            ("stretched springs", Item::U32, self.springs * SPRING_WORDS),
            ("measurements", Item::Vec4, n),
            ("touches", Item::U32, n),
            (
                "reactions",
                Item::Atomic,
                self.colliders + self.borne * ROW_WORDS,
            ),
        ]
    }

    /// Bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.layout()
            .iter()
            .map(|(_, item, count)| item.size() * count)
            .sum()
    }
}

/// All columns.
#[derive(Debug)]
pub struct Columns {
    /// Motion, two: steps read one and write the other. Row k of element i is item `k·stride + i`: `p.xyz lo.x`, `q`, `v.xyz lo.y`,
    /// `ω.xyz lo.z`, `ρ.xyz r`.
    pub motion: [Column; 2],
    /// `1/m`, `1/I`, material, attached force plus one.
    pub own: Column,
    /// Slot-major: other end of each bond.
    pub neighbour: Column,
    /// Slot-major: rest direction and length; of a broken bond the spring and the distance of touching.
    pub rest: Column,
    /// Slot-major: σ_c, τ_c; of a bond that is breaking σ, τ.
    pub strength: Column,
    /// Slot-major: kind of bond.
    pub class: Column,
    /// Whole, near, breaking.
    pub masks: Column,
    /// Force, torque at the end of a frame.
    pub loads: Column,
    /// Where each element's contacts begin.
    pub list_first: Column,
    /// Partners, ascending within an element.
    pub list_partner: Column,
    /// Spring and distance of touching.
    pub list_spring: Column,
    /// Beginnings while lists are made.
    pub next_first: Column,
    /// Partners before.
    pub kept_partner: Column,
    /// Springs before.
    pub kept_spring: Column,
    /// Buckets of the grid.
    pub cells: Column,
    /// Elements in the order of their buckets.
    pub cell_elements: Column,
    /// Scratch of the prefix sum.
    pub block_sums: Column,
    /// Positions when the lists were made.
    pub anchor: Column,
    /// Bond classes, contact pairs, attached forces, what driven clamps hold.
    pub tables: Column,
    /// Colliders, then driven clamps, at each step of a submission.
    pub poses: Column,
    /// Bonds broken since the last frame.
    pub events: Column,
    /// Springs of the state.
    pub stretched: Column,
    /// Stresses and energies of each element.
    pub measured: Column,
    /// Contacts of each element.
    pub touched: Column,
    /// Elements that touch each collider, and what colliders and held elements have borne.
    pub borne: Column,
}

impl Columns {
    /// Makes all columns, zeroed; a device without room is told what all of them need.
    pub fn new(device: &Device, sizes: &Sizes) -> Result<Self, GpuError> {
        let made: Result<Vec<_>, _> = sizes
            .layout()
            .into_iter()
            .map(|(name, item, count)| Column::new(device, name, item, count))
            .collect();
        let columns = made.map_err(|error| match error {
            GpuError::OutOfMemory { adapter, .. } => GpuError::OutOfMemory {
                adapter,
                what: "the simulation".into(),
                bytes: sizes.bytes(),
            },
            other => other,
        })?;
        let mut next = columns.into_iter();
        let mut take = || next.next().expect("the layout names every column");
        Ok(Columns {
            motion: [take(), take()],
            own: take(),
            neighbour: take(),
            rest: take(),
            strength: take(),
            class: take(),
            masks: take(),
            loads: take(),
            list_first: take(),
            list_partner: take(),
            list_spring: take(),
            next_first: take(),
            kept_partner: take(),
            kept_spring: take(),
            cells: take(),
            cell_elements: take(),
            block_sums: take(),
            anchor: take(),
            tables: take(),
            poses: take(),
            events: take(),
            stretched: take(),
            measured: take(),
            touched: take(),
            borne: take(),
        })
    }
}

impl Columns {
    /// Makes the columns longer whose sizes have grown, and keeps what they hold.
    pub fn grow(&mut self, device: &Device, from: &Sizes, to: &Sizes) -> Result<(), GpuError> {
        let mut encoder = device.encoder();
        let mut longer = |column: &mut Column, items: u64| -> Result<(), GpuError> {
            if items > column.count() {
                let new = Column::new(device, column.name(), column.item(), items)?;
                column.copy_to(&mut encoder, (0, column.count()), &new, 0);
                *column = new;
            }
            Ok(())
        };
        if to.lists > from.lists {
            longer(&mut self.list_partner, to.lists)?;
            longer(&mut self.list_spring, to.lists)?;
            longer(&mut self.kept_partner, to.lists)?;
            longer(&mut self.kept_spring, to.lists)?;
        }
        longer(&mut self.events, to.events * EVENT_WORDS)?;
        longer(&mut self.stretched, to.springs * SPRING_WORDS)?;
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

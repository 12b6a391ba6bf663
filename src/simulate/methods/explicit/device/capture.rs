//! A frame on its way from the device: copies into memory that the host can map, and their decoding.

use wgpu::{Buffer, CommandEncoder, SubmissionIndex};

use super::columns::Columns;
use super::constants::{
    EVENT_ELEMENT, EVENT_ENERGY, EVENT_FROM_I, EVENT_FROM_J, EVENT_LEFT, EVENT_MIDDLE, EVENT_SLOT,
    EVENT_STEP, EVENT_STRESS, EVENT_WORDS, SPRING_ELEMENT, SPRING_PARTNER, SPRING_VECTOR,
    SPRING_WORDS,
};
use super::launch::Status;
use crate::gpu::{Column, Device, GpuError};
use crate::simulate::contact::chunk::SpringEntry;
use crate::simulate::contact::pair_list::Memory;

/// Declares the parts of a frame, each in its own buffer.
macro_rules! parts {
    ($($part:ident),*) => {
        /// One value for each part of a frame.
        #[derive(Clone, Copy, Debug)]
        struct FrameParts<T> {
            $($part: T,)*
        }

        impl<T> FrameParts<T> {
            /// Converts each part, always in the same order.
            fn try_map<U, E>(self, mut make: impl FnMut(T) -> Result<U, E>) -> Result<FrameParts<U>, E> {
                Ok(FrameParts {
                    $($part: make(self.$part)?,)*
                })
            }

            fn map<U>(self, mut make: impl FnMut(T) -> U) -> FrameParts<U> {
                FrameParts {
                    $($part: make(self.$part),)*
                }
            }

            fn each_ref(&self) -> FrameParts<&T> {
                FrameParts {
                    $($part: &self.$part,)*
                }
            }

            fn zip<U>(self, other: FrameParts<U>) -> FrameParts<(T, U)> {
                FrameParts {
                    $($part: (self.$part, other.$part),)*
                }
            }
        }
    };
}
parts!(
    status, motion, measured, touched, reactions, events, loads, damage, springs, cell_rows
);

/// Items of a column: the first of them, and how many.
type Items<'a> = (&'a Column, (u64, u64));

impl<'a> FrameParts<Items<'a>> {
    /// The column that holds each part, and its items.
    fn of(columns: &'a Columns, parity: usize) -> Self {
        let whole = |column: &'a Column| (column, (0, column.count()));
        let strength = &columns.bond_strength;
        let undamaged = columns.neighbour.count();
        FrameParts {
            status: whole(&columns.status),
            motion: whole(columns.motion(parity)),
            measured: whole(&columns.measured),
            touched: whole(&columns.touched),
            reactions: whole(&columns.reactions),
            events: whole(&columns.events),
            loads: whole(&columns.loads),
            // Empty unless bonds soften.
            damage: (strength, (undamaged, strength.count() - undamaged)),
            springs: whole(&columns.stretched),
            cell_rows: whole(&columns.cell_rows),
        }
    }
}

/// Whether every frame has the part; the others are copied only for a checkpoint.
const IN_EVERY_FRAME: FrameParts<bool> = FrameParts {
    status: true,
    motion: true,
    measured: true,
    touched: true,
    reactions: true,
    events: true,
    loads: false,
    damage: false,
    springs: false,
    cell_rows: false,
};

/// Memory that a frame is copied into; reused for later frames.
#[derive(Debug)]
pub struct Staging {
    buffers: FrameParts<Buffer>,
    bytes: FrameParts<u64>,
}

/// A frame whose copy was submitted.
#[derive(Debug)]
pub struct FrameInFlight {
    /// Memory that the frame is copied into.
    pub staging: Staging,
    /// Submission after which the copy is complete.
    pub submission: SubmissionIndex,
}

/// A frame in the device's layout.
#[derive(Debug)]
pub struct RawFrame {
    /// Status words at the time of the frame.
    pub status: Status,
    /// Motion, in the layout of [`Columns::motion`](Columns).
    pub motion: Vec<u32>,
    /// Largest σ, largest τ, bond energy and contact energy of each element.
    pub measured: Vec<[f32; 4]>,
    /// Number of contact sides of each element.
    pub touched: Vec<u32>,
    /// Sums of reactions, in the layout of [`Columns::reactions`].
    pub reactions: Vec<u32>,
    /// Bonds broken since the last frame, sorted by step, element and slot.
    pub events: Vec<DeviceBreak>,
    /// Force and torque of each element, for a checkpoint only.
    pub loads: Vec<[f32; 4]>,
    /// What is left of bonds, the last two rows of [`Columns::bond_strength`], for a checkpoint only.
    pub damage: Vec<[f32; 2]>,
    /// Springs sorted by element and partner, for a checkpoint only.
    pub springs: Vec<SpringEntry<f32>>,
    /// Rows of cells, in the layout of [`Columns::cell_rows`], for a checkpoint only.
    pub cell_rows: Vec<[f32; 4]>,
}

/// A bond that broke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceBreak {
    /// Step of the force pass that detected it.
    pub step: u64,
    /// Element with the lower index.
    pub element: u32,
    /// Slot of the bond at that element.
    pub slot: u32,
    /// σ, Pa.
    pub sigma: f32,
    /// τ, Pa.
    pub tau: f32,
    /// Strength left before it broke, of the initial one.
    pub left: f32,
    /// Energy that it released, and took as it softened, J; 0 for cells.
    pub energy: f32,
    /// Distance at which the pair touches from now on, m.
    pub touch: f32,
    /// Middle of the bond, m.
    pub middle: [f32; 3],
    /// Rest direction in the current orientation of the first end.
    pub from_i: [f32; 3],
    /// Opposite rest direction in the current orientation of the other end.
    pub from_j: [f32; 3],
}

impl DeviceBreak {
    fn decode(words: &[u32]) -> Self {
        let number = |k: u32| f32::from_bits(words[k as usize]);
        let vector = |k: u32| [number(k), number(k + 1), number(k + 2)];
        let [sigma, tau, touch] = vector(EVENT_STRESS);
        DeviceBreak {
            step: u64::from(words[EVENT_STEP as usize]),
            element: words[EVENT_ELEMENT as usize],
            slot: words[EVENT_SLOT as usize],
            sigma,
            tau,
            left: number(EVENT_LEFT),
            energy: number(EVENT_ENERGY),
            touch,
            middle: vector(EVENT_MIDDLE),
            from_i: vector(EVENT_FROM_I),
            from_j: vector(EVENT_FROM_J),
        }
    }
}

impl Staging {
    /// Allocates memory for a frame of columns with these lengths.
    pub fn new(device: &Device, columns: &Columns) -> Result<Self, GpuError> {
        let parts = FrameParts::of(columns, 0);
        let bytes = parts.map(|(column, (_, count))| count * column.item().size());
        Ok(Staging {
            buffers: bytes.try_map(|bytes| device.staging(bytes.max(4)))?,
            bytes,
        })
    }

    /// Copies the frame; loads, damage, springs and cell rows only for a checkpoint (`state`).
    pub fn copy(
        &mut self,
        encoder: &mut CommandEncoder,
        columns: &Columns,
        parity: usize,
        state: bool,
    ) {
        let from = FrameParts::of(columns, parity).zip(IN_EVERY_FRAME);
        let pieces = from.zip(self.buffers.each_ref());
        self.bytes = pieces.map(
            |(((column, items), always), buffer)| match always || state {
                true => column.copy_out(encoder, items, buffer, 0),
                false => 0,
            },
        );
    }

    /// Waits for the frame and reads it.
    pub fn wait_and_read(
        &self,
        device: &Device,
        when: SubmissionIndex,
    ) -> Result<RawFrame, GpuError> {
        let mut parts = Vec::new();
        let pieces = self.buffers.each_ref().zip(self.bytes);
        pieces.map(|piece| parts.push(piece));
        let mut words = device.read(Some(when), &parts)?.into_iter();
        let FrameParts {
            status,
            motion,
            measured,
            touched,
            reactions,
            events,
            loads,
            damage,
            springs,
            cell_rows,
        } = pieces.map(|_| words.next().expect("one range per part"));
        let status: Status = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&status));
        let mut events: Vec<DeviceBreak> = events
            .chunks_exact(EVENT_WORDS as usize)
            .take(status.events as usize)
            .map(DeviceBreak::decode)
            .collect();
        events.sort_unstable_by_key(|event| (event.step, event.element, event.slot));
        let mut springs: Vec<_> = springs
            .chunks_exact(SPRING_WORDS as usize)
            .take(status.springs as usize)
            .map(|words| SpringEntry {
                element: words[SPRING_ELEMENT as usize],
                partner: words[SPRING_PARTNER as usize],
                memory: Memory {
                    spring: [0, 1, 2].map(|k| f32::from_bits(words[SPRING_VECTOR as usize + k])),
                    ..Memory::default()
                },
            })
            .collect();
        springs.sort_unstable_by_key(|entry| (entry.element, entry.partner));
        Ok(RawFrame {
            status,
            motion,
            measured: bytemuck::pod_collect_to_vec(&measured),
            touched,
            reactions,
            events,
            loads: bytemuck::pod_collect_to_vec(&loads),
            damage: bytemuck::pod_collect_to_vec(&damage),
            springs,
            cell_rows: bytemuck::pod_collect_to_vec(&cell_rows),
        })
    }
}

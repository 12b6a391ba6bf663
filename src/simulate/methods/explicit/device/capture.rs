//! A frame on its way from the device: copies into memory that the host can map, and what they decode to.

use wgpu::{Buffer, CommandEncoder, SubmissionIndex};

use super::columns::{Columns, EVENT_WORDS, SPRING_WORDS, Sizes};
use super::launch::Status;
use crate::gpu::{Column, Device, GpuError};
use crate::simulate::contact::chunk::SpringEntry;
use crate::simulate::contact::pair_list::Memory;

/// Parts of a frame, each in a buffer of its own.
const PARTS: usize = 8;

/// Memory that a frame is copied into; used again for later frames.
#[derive(Debug)]
pub struct Staging {
    buffers: [Buffer; PARTS],
    bytes: [u64; PARTS],
}

/// A frame that was asked for.
#[derive(Debug)]
pub struct Flight {
    /// Where it lands.
    pub staging: Staging,
    /// When it has.
    pub submission: SubmissionIndex,
}

/// A frame as it lay in the device.
#[derive(Debug)]
pub struct Landed {
    /// Status words at the frame.
    pub status: Status,
    /// Motion as in [`Columns::motion`].
    pub motion: Vec<u32>,
    /// Largest σ, largest τ, bond energy, contact energy of each element.
    pub measured: Vec<[f32; 4]>,
    /// Contacts of each element.
    pub touched: Vec<u32>,
    /// What was borne, as in [`Columns::borne`].
    pub borne: Vec<u32>,
    /// Bonds broken since the last frame, by step, element and slot.
    pub events: Vec<Event>,
    /// Force and torque, if a state was asked for.
    pub loads: Vec<[f32; 4]>,
    /// Springs by element and partner, if a state was asked for.
    pub springs: Vec<SpringEntry<f32>>,
}

/// A bond that broke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Step of the force pass that found it.
    pub step: u64,
    /// Element with the lower index.
    pub element: u32,
    /// Its slot.
    pub slot: u32,
    /// σ, Pa.
    pub sigma: f32,
    /// τ, Pa.
    pub tau: f32,
    /// Distance at which the pair touches from now on, m.
    pub touch: f32,
    /// Middle of the bond, m.
    pub middle: [f32; 3],
    /// Rest direction as the first end carries it.
    pub from_i: [f32; 3],
    /// Opposite rest direction as the other end carries it.
    pub from_j: [f32; 3],
}

impl Event {
    fn decode(words: &[u32]) -> Self {
        let number = |k: usize| f32::from_bits(words[k]);
        let vector = |k: usize| [number(k), number(k + 1), number(k + 2)];
        Event {
            step: u64::from(words[0]),
            element: words[1],
            slot: words[2],
            sigma: number(3),
            tau: number(4),
            touch: number(5),
            middle: vector(6),
            from_i: vector(9),
            from_j: vector(12),
        }
    }
}

impl Staging {
    /// Room for a frame of these sizes.
    pub fn new(device: &Device, columns: &Columns, sizes: &Sizes) -> Result<Self, GpuError> {
        let bytes = [
            size_of::<Status>() as u64,
            columns.motion[0].bytes(),
            columns.measured.bytes(),
            columns.touched.bytes(),
            columns.borne.bytes(),
            sizes.events * EVENT_WORDS * 4,
            columns.loads.bytes(),
            sizes.springs * SPRING_WORDS * 4,
        ];
        let mut buffers = Vec::with_capacity(PARTS);
        for size in bytes {
            buffers.push(device.staging(size)?);
        }
        Ok(Staging {
            buffers: buffers.try_into().expect("one buffer a part"),
            bytes,
        })
    }

    /// Copies the frame; loads and springs only for a state.
    pub fn copy(
        &mut self,
        encoder: &mut CommandEncoder,
        (columns, status): (&Columns, &Column),
        parity: usize,
        state: bool,
    ) {
        let parts = [
            Some(status),
            Some(&columns.motion[parity]),
            Some(&columns.measured),
            Some(&columns.touched),
            Some(&columns.borne),
            Some(&columns.events),
            state.then_some(&columns.loads),
            state.then_some(&columns.stretched),
        ];
        for (k, column) in parts.into_iter().enumerate() {
            self.bytes[k] = column.map_or(0, |column| {
                column.copy_out(encoder, (0, column.count()), &self.buffers[k], 0)
            });
        }
    }

    /// Waits for the frame and takes it out.
    pub fn land(&self, device: &Device, when: SubmissionIndex) -> Result<Landed, GpuError> {
        let parts: Vec<_> = self.buffers.iter().zip(self.bytes).collect();
        let words = device.read(Some(when), &parts)?;
        let [
            status,
            motion,
            measured,
            touched,
            borne,
            events,
            loads,
            springs,
        ] = <[Vec<u32>; PARTS]>::try_from(words).expect("one range a part");
        let status: Status = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&status));
        let mut events: Vec<Event> = events
            .chunks_exact(EVENT_WORDS as usize)
            .take(status.events as usize)
            .map(Event::decode)
            .collect();
        events.sort_unstable_by_key(|event| (event.step, event.element, event.slot));
        let mut springs: Vec<_> = springs
            .chunks_exact(SPRING_WORDS as usize)
            .take(status.springs as usize)
            .map(|words| SpringEntry {
                element: words[0],
                partner: words[1],
                memory: Memory {
                    spring: [2, 3, 4].map(|k| f32::from_bits(words[k])),
                    ..Memory::default()
                },
            })
            .collect();
        springs.sort_unstable_by_key(|entry| (entry.element, entry.partner));
        Ok(Landed {
            status,
            motion,
            measured: bytemuck::pod_collect_to_vec(&measured),
            touched,
            borne,
            events,
            loads: bytemuck::pod_collect_to_vec(&loads),
            springs,
        })
    }
}

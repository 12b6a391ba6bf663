//! Converts a frame from the device's layout to the tables of the store.

use glam::Vec3;

use super::Gpu;
use super::capture::{DeviceBreak, RawFrame};
use super::columns;
use super::reactions::Reactions;
use crate::columns::{BreakMode, Breaks};
use crate::simulate::bonded::bond_tasks::{BreakEvent, StressAndEnergy};
use crate::simulate::bonded::breaks::BrokenBond;
use crate::simulate::bonded::fragments;
use crate::simulate::contact::pass::ContactTotals;
use crate::simulate::method::Capture;
use crate::simulate::run_state::frame_element::FrameColumns;
use crate::simulate::run_state::sections;
use crate::simulate::run_state::snapshot as record;
use crate::simulate::run_state::snapshot::FrameSource;
use crate::simulate::run_state::state::State;
use crate::simulate::run_state::system_sections::{SystemRows, put_system};
use crate::simulate::scene::reactions::FrameTime;

impl Gpu {
    /// Updates the host's copy to a frame and returns the frame's tables.
    pub(super) fn decode_frame(
        &mut self,
        raw: &RawFrame,
        frame: u32,
        step: u64,
        state: bool,
    ) -> Capture {
        let speed = f64::from(f32::from_bits(raw.status.speed_seen)).sqrt();
        let batch = self.batch_for(speed).min(2 * self.batch);
        if batch != self.batch {
            self.batch = batch;
            self.passes_since_check = u32::MAX;
        }
        columns::from_device(&raw.motion, &mut self.system.motion, &mut self.system.tail);
        let mut breaks = std::mem::take(&mut self.opened);
        for event in &raw.events {
            self.record_break(event, &mut breaks);
        }
        if !raw.events.is_empty() {
            fragments::update(&mut self.labels, &fragments::components(&self.system));
        }
        let carried: Vec<StressAndEnergy> = raw
            .measured
            .iter()
            .map(|&[sigma, tau, energy, _]| StressAndEnergy {
                sigma: f64::from(sigma),
                tau: f64::from(tau),
                energy: f64::from(energy),
            })
            .take(self.system.count)
            .collect();
        let contact = ContactTotals {
            energy: raw.measured.iter().map(|row| f64::from(row[3])).sum(),
            sides: raw.touched.iter().map(|sides| u64::from(*sides)).sum(),
        };
        let Reactions {
            before,
            last_step,
            at_start,
            touching,
        } = self.scene.reactions(&raw.reactions);
        if self.starting_loads_due {
            self.means.start(at_start);
            self.starting_loads_due = false;
        }
        if step > self.averaged_to_step {
            self.means
                .add(step - self.averaged_to_step, &before, last_step);
            self.averaged_to_step = step;
        }
        let mean = self.means.take();
        let supports = &self.scene.supports;
        let dt = self.dt;
        let loads = supports.table(FrameTime { frame, step, dt }, mean, &touching, &self.system);
        let source = FrameSource {
            step,
            dt,
            labels: &self.labels,
            gravity: self.scene.rest.gravity,
            bounds: self.scene.rest.bounds,
            contact,
            work: None,
            effort: None,
            sleep: None,
        };
        let elements = FrameColumns {
            system: &self.system,
            rest: &self.scene.rest,
            carried: &carried,
        };
        let snapshot = record::snapshot(source, elements, frame, (breaks, loads));
        let state = state.then(|| {
            let stride = self.load.len();
            for (i, row) in self.load.iter_mut().enumerate() {
                row.0[..3].copy_from_slice(&raw.loads[i][..3]);
                row.0[4..7].copy_from_slice(&raw.loads[stride + i][..3]);
            }
            self.slots.take_damage(&raw.damage, &mut self.system.bonds);
            let mut state = State::new(frame, step, self.dt);
            let rows = SystemRows {
                motion: &self.system.motion,
                tail: &self.system.tail,
                load: &self.load,
                whole: self.system.bonds.intact(),
            };
            put_system(&mut state, &self.system, rows, &self.system.bonds.touch);
            if let Some(cells) = &mut self.cells {
                cells.take_momenta(&raw.cell_rows);
                cells.put(&mut state);
            }
            sections::put_springs(&mut state, &raw.springs);
            sections::put_labels(&mut state, &self.labels);
            let last = self.means.pack(&self.scene.supports);
            sections::put_last_loads(&mut state, &last);
            state
        });
        Capture { snapshot, state }
    }

    fn record_break(&mut self, event: &DeviceBreak, rows: &mut Breaks) {
        let bonds = &self.system.bonds;
        let side = self.slots.side(bonds, event.element, event.slot);
        let (i, j) = (event.element, side.other as u32);
        let own = bonds.sigma_c.get(side.entry) * event.left;
        // The own tensile strength of a bond of Rankine's criterion is infinite.
        let of_solid = self.scene.rankine.as_ref();
        let of_solid = of_solid.map_or(f64::INFINITY, |one| one.strength(side.entry));
        let tension = f64::from(event.sigma) > f64::from(own).min(of_solid);
        let vector = |v: [f32; 3]| Vec3::from_array(v).as_dvec3();
        BrokenBond {
            step: event.step,
            time: event.step as f64 * self.dt,
            bond: bonds.id[side.entry],
            event: BreakEvent {
                entry: side.entry as u32,
                i,
                j,
                sigma: f64::from(event.sigma),
                tau: f64::from(event.tau),
                mode: if tension {
                    BreakMode::Tension
                } else {
                    BreakMode::Shear
                },
            },
            energy: self.cells.is_none().then_some(f64::from(event.energy)),
            middle: vector(event.middle),
            from_i: vector(event.from_i),
            from_j: vector(event.from_j),
        }
        .push(rows);
        self.system.bonds.unbond(side.entry, event.touch);
    }
}

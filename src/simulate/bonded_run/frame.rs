//! Makes the tables of a frame.

use super::run::BondedRun;
use crate::columns::{Breaks, Frames, Loads};
use crate::math::Scalar;
use crate::simulate::bonded::bond_tasks::StressAndEnergy;
use crate::simulate::contact::pass::ContactTotals;
use crate::simulate::run_state::frame_element::FrameColumns;
use crate::simulate::run_state::snapshot::{
    self, Effort, FrameSource, FrameTables, SleepTotals, Snapshot,
};
use crate::simulate::scene::reactions::FrameTime;
use crate::simulate::share::ranks::Receivers;

/// Measurements of a method for a frame.
pub struct Measured {
    /// Stresses and energy of the bonds of each element.
    pub carried: Vec<StressAndEnergy>,
    /// Totals over all contacts.
    pub contact: ContactTotals,
    /// Number of elements that touch each collider.
    pub touching: Vec<u32>,
    /// Effort of implicit steps since the start.
    pub effort: Option<Effort>,
    /// Elements awake, and energy that left the motion; `None` without `simulate.sleep`.
    pub sleep: Option<SleepTotals>,
}

impl<S: Scalar> BondedRun<S> {
    /// The tables of a frame, with labels of fragments as of the last [`label_fragments`](Self::label_fragments);
    /// resets breaks and mean loads.
    pub fn snapshot(&mut self, frame: u32, measured: &Measured) -> Snapshot {
        let others = self.other_tables(frame, measured);
        let elements = self.frame_columns(&measured.carried);
        snapshot::snapshot(self.frame_source(measured), elements, frame, others)
    }

    /// As [`snapshot`](Self::snapshot), on several ranks, which all call it. Rank 0 passes the rows of the elements to
    /// `take`, in parts, and returns the other tables; the other ranks return empty ones. `carried` need only have the
    /// rows of this rank.
    pub fn snapshot_in_parts(
        &mut self,
        frame: u32,
        measured: &Measured,
        take: &mut dyn FnMut(Frames),
    ) -> Snapshot {
        let mut attached: Vec<u32> = self.supports.attached_elements().copied().collect();
        attached.sort_unstable();
        attached.dedup();
        self.ranks
            .fetch(Receivers::First, &attached, &mut self.system.motion);
        let others = match self.ranks.is_first() {
            true => self.other_tables(frame, measured),
            false => {
                self.skip_frame();
                Default::default()
            }
        };
        self.release_rows();
        let elements = self.frame_columns(&measured.carried);
        let mut tables = FrameTables::new(self.frame_source(measured), frame);
        let own = |i| elements.element(i);
        self.ranks
            .each_window(self.system.count, own, |first, window| {
                let elements = first..first + window.len();
                take(tables.rows(elements, |i| window[i - first]));
            });
        match self.ranks.is_first() {
            true => tables.finish(others.0, others.1),
            false => Snapshot::default(),
        }
    }

    /// Breaks and loads since the last frame.
    fn other_tables(&mut self, frame: u32, measured: &Measured) -> (Breaks, Loads) {
        let breaks = std::mem::take(&mut self.breaks);
        let mean = self.means.take();
        let time = FrameTime {
            frame,
            step: self.step,
            dt: self.dt,
        };
        let loads = self
            .supports
            .table(time, mean, &measured.touching, &self.system);
        (breaks, loads)
    }

    fn frame_columns<'a>(&'a self, carried: &'a [StressAndEnergy]) -> FrameColumns<'a, S> {
        FrameColumns {
            system: &self.system,
            rest: &self.rest,
            carried,
        }
    }

    fn frame_source(&self, measured: &Measured) -> FrameSource<'_> {
        FrameSource {
            step: self.step,
            dt: self.dt,
            labels: &self.labels,
            gravity: self.rest.gravity,
            bounds: self.rest.bounds,
            contact: measured.contact,
            work: self.work,
            effort: measured.effort,
            sleep: measured.sleep,
        }
    }

    /// Leaves out a frame that rank 0 records.
    fn skip_frame(&mut self) {
        self.breaks = Breaks::default();
        self.means.take();
    }
}

//! Makes the state of a run.

use std::collections::BTreeMap;

use super::run::BondedRun;
use crate::math::Scalar;
use crate::simulate::contact::chunk::SpringEntry;
use crate::simulate::run_state::sections;
use crate::simulate::run_state::state::State;
use crate::simulate::run_state::state_in_parts::{StateInParts, StatePart};
use crate::simulate::run_state::system_sections::{SystemRows, announce_rows, put_system};
use crate::simulate::share::bytes::Record;

impl<S: Scalar> BondedRun<S> {
    /// The complete state of one process, with velocities at the end of a step. A method adds its own sections.
    pub fn pack(&self, frame: u32) -> State {
        let rows = SystemRows {
            motion: &self.system.motion,
            tail: &self.system.tail,
            load: &self.load,
            whole: self.system.bonds.intact(),
        };
        let springs = self.contacts.springs();
        self.put_sections(frame, rows, (&springs, &self.system.bonds.touch))
    }

    /// Passes the complete state to `take`, on several ranks, which all call it: at rank 0 in parts; the others pass an
    /// empty one. `add` adds the sections of a method.
    pub fn pack_in_parts(
        &self,
        frame: u32,
        add: impl FnOnce(&mut State),
        take: &mut dyn FnMut(StatePart),
    ) {
        let (springs, touch) = (self.gather_springs(), self.gather_touch());
        let elements = self.system.motion.len();
        let mut head = StateInParts::from(State::new(frame, self.step, self.dt));
        if self.ranks.is_first() {
            let rows = SystemRows {
                motion: &[],
                tail: &[],
                load: &[],
                whole: &[],
            };
            let mut state = self.put_sections(frame, rows, (&springs, &touch));
            add(&mut state);
            head = state.into();
            announce_rows::<S>(&mut head, elements);
        }
        take(StatePart::Head(Box::new(head)));
        self.pass_rows(|i| self.system.motion[i], take);
        self.pass_rows(|i| self.system.tail[i], take);
        self.pass_rows(|i| self.load[i], take);
        self.pass_rows(|i| self.system.bonds.intact()[i], take);
    }

    /// Passes the rows of all elements on, at rank 0.
    fn pass_rows<T: Record>(
        &self,
        own: impl Fn(usize) -> T + Sync,
        take: &mut dyn FnMut(StatePart),
    ) {
        let elements = self.system.motion.len();
        self.ranks.each_window(elements, own, |_, rows| {
            let mut bytes = Vec::with_capacity(size_of_val(rows));
            rows.iter().for_each(|row| row.put(&mut bytes));
            take(StatePart::Bytes(bytes));
        });
    }

    /// A state of these rows, springs of contacts, and contact distances of broken bonds.
    fn put_sections(
        &self,
        frame: u32,
        rows: SystemRows<S>,
        (springs, touch): (&[SpringEntry<S>], &BTreeMap<u32, S>),
    ) -> State {
        let mut state = State::new(frame, self.step, self.dt);
        put_system(&mut state, &self.system, rows, touch);
        sections::put_springs(&mut state, springs);
        sections::put_shapes(&mut state, &self.contacts.shape_entries());
        sections::put_labels(&mut state, &self.labels);
        sections::put_last_loads(&mut state, &self.means.pack(&self.supports));
        sections::put_rigid(&mut state, &self.rigid.pack());
        sections::put_work(&mut state, self.work);
        state
    }
}

//! The course of a run of bonded elements, whatever the integrator: broken bonds, frames, states.

use std::collections::{BTreeMap, VecDeque};

use super::build::Built;
use crate::columns::{BreakMode, Breaks};
use crate::math::Scalar;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::breaks::{BondBeforeBreak, BreakingBond, BrokenBond};
use crate::simulate::bonded::fragments;
use crate::simulate::bonded::hydrostatic::{self, Hydrostatic};
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::{LoadRow, System};
use crate::simulate::bonded::work::Work;
use crate::simulate::contact::lists::{Contacts, Sizes};
use crate::simulate::error::StateError;
use crate::simulate::method::Capture;
use crate::simulate::run_state::averages::MeanLoads;
use crate::simulate::run_state::sections;
use crate::simulate::run_state::state::State;
use crate::simulate::run_state::system_sections;
use crate::simulate::scene::attachments::AttachedForce;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reaction_sums::ReactionSums;
use crate::simulate::scene::reactions::Supports;
use crate::simulate::scene::rigid::RigidBodies;
use crate::simulate::scene::springs::Springs;
use crate::simulate::share::ranks::{Ranks, Receivers};
use crate::spec::Pipeline;

/// Elements, bonds, contacts, supports, and all data for frames and states. A method adds its time integration.
pub struct BondedRun<S> {
    /// Elements and bonds.
    pub system: System<S>,
    /// Force and torque on each element, with inverse mass and inertia.
    pub load: Vec<LoadRow<S>>,
    /// Contact lists.
    pub contacts: Contacts<S>,
    /// Forces and torques of attachments.
    pub forces: Vec<AttachedForce>,
    /// Springs of attachments, to fixed or driven points.
    pub springs: Springs,
    /// Colliders and attachments that bear loads.
    pub supports: Supports,
    /// Sums of the wrenches on supports, one per chunk.
    pub sums: Vec<ReactionSums>,
    /// Mean wrenches on supports over the steps of a frame.
    pub means: MeanLoads,
    /// Free rigid bodies.
    pub rigid: RigidBodies,
    /// Hydrostatic strengths, if any material has one.
    pub hydrostatic: Option<Hydrostatic>,
    /// Energy dissipated by damping, friction and breaking since the start, if it is recorded.
    pub work: Option<Work>,
    /// Constant data for frames and states.
    pub rest: RestData,
    /// The ranks that compute this run together, if there are several.
    pub ranks: Ranks,
    /// Time step, s.
    pub dt: f64,
    /// Steps done.
    pub step: u64,
    pub(super) breaks: Breaks,
    /// Whether bonds broke since fragments were last labelled.
    broken_since: bool,
    /// Fragment of each element as of the last time they were labelled; those of rank 0 alone, unless every rank holds
    /// all bonds.
    pub(super) labels: Vec<u32>,
    /// By entry, the bonds that break in this step and are not held here, at rank 0.
    pub(super) elsewhere: BTreeMap<u32, BreakingBond<S>>,
    captures: VecDeque<Capture>,
}

impl<S: Scalar> BondedRun<S> {
    /// A run at rest at time zero, on the ranks that the scene was built for.
    pub fn new(built: Built<S>, pipeline: &Pipeline, dt: f64) -> Self {
        let colliders = built.supports.colliders().iter();
        let colliders: Vec<PosedCollider> = colliders.map(|collider| collider.at(0.0)).collect();
        let (system, surfaces, ranks) = (&built.system, &built.surfaces, built.ranks);
        let contacts = match ranks.is_alone() {
            true => Contacts::with_shapes(system, surfaces, built.shapes, &colliders),
            false => {
                let own = Sizes::of(system, &ranks.owned());
                let mut most = [-own.smallest, own.largest, own.longest];
                ranks.largest(&mut most);
                let sizes = Sizes {
                    smallest: -most[0],
                    largest: most[1],
                    longest: most[2],
                };
                // What sleeps is judged by every rank, from the contacts of all.
                let listed = match pipeline.simulate.sleep {
                    true => OwnedChunks::default(),
                    false => ranks.owned(),
                };
                Contacts::of_chunks(system, surfaces, listed, sizes)
            }
        };
        let labels = match system.bonds.holds_all() {
            true => fragments::first_labels(&fragments::components(system)),
            false => Vec::new(),
        };
        let (padded, chunk) = (system.motion.len(), system.chunk);
        let mut run = BondedRun {
            contacts,
            sums: ReactionSums::all(&built.supports, padded, chunk),
            means: MeanLoads::new(built.supports.count()),
            system: built.system,
            load: built.load,
            forces: built.forces,
            springs: built.springs,
            supports: built.supports,
            rigid: built.rigid,
            hydrostatic: Hydrostatic::of(pipeline),
            work: pipeline.output.work.then(Work::default),
            rest: built.rest,
            ranks,
            dt,
            step: 0,
            breaks: built.opened,
            broken_since: false,
            labels,
            elsewhere: BTreeMap::new(),
            captures: VecDeque::new(),
        };
        if !run.system.bonds.holds_all() {
            let components = run.components();
            if run.ranks.is_first() {
                run.labels = fragments::first_labels(&components);
            }
        }
        if !run.ranks.is_alone() {
            run.rebuild_lists(&colliders);
        }
        run
    }

    /// Time after the steps done, s.
    pub fn time(&self) -> f64 {
        self.step as f64 * self.dt
    }

    /// Colliders with their poses at a time, s.
    pub fn colliders(&self, time: f64) -> Vec<PosedCollider> {
        let colliders = self.supports.colliders().iter();
        colliders.map(|collider| collider.at(time)).collect()
    }

    /// Damages the bonds that soften, removes the broken ones and lets their ends touch. `at` is the step in which
    /// they break, and its time. `energy` returns the energy that the bond of an entry stores, J. `removed` is
    /// called with each entry of a broken bond. Ranks other than 0 skip bonds that they do not hold.
    pub fn break_bonds(
        &mut self,
        mut events: Vec<BreakEvent>,
        at: (u64, f64),
        mut energy: impl FnMut(&System<S>, usize) -> Option<f64>,
        mut removed: impl FnMut(&System<S>, u32),
    ) {
        if events.is_empty() {
            return;
        }
        let softens = self.system.bonds.softening.is_some();
        hydrostatic::deduplicate(&mut events, softens);
        for event in events {
            let entry = event.entry as usize;
            let (bond, held) = match self.elsewhere.remove(&event.entry) {
                Some(sent) => (sent.bond, Some(sent.energy)),
                None if self.system.bonds.holds(entry) => (
                    BondBeforeBreak::of(&self.system, &event),
                    energy(&self.system, entry),
                ),
                // Neither end belongs to this rank, and rank 0 records the break.
                None => {
                    debug_assert!(!self.ranks.is_first(), "rank 0 is told of every break");
                    self.broken_since = true;
                    continue;
                }
            };
            let holds = self.system.soften(&event);
            if let Some(work) = &mut self.work {
                let left = if holds {
                    energy(&self.system, entry)
                } else {
                    None
                };
                work.breaking += held.unwrap_or(0.0) - left.unwrap_or(0.0);
            }
            if holds {
                continue;
            }
            self.broken_since = true;
            let softened = match event.mode {
                BreakMode::Hydrostatic => None,
                BreakMode::Tension | BreakMode::Shear => self.system.bonds.energy_of_damaged(entry),
            };
            let taken = softened.or(held);
            BrokenBond::now(&self.system, event, (&bond, taken), at).push(&mut self.breaks);
            let (i, j) = (event.i, event.j);
            let touch = self.system.touch_of_length((i, j), bond.length);
            self.system.bonds.unbond(event.entry as usize, touch);
            removed(&self.system, event.entry);
            if self.contacts.separate(&self.system, i, j) {
                continue;
            }
            // Two clamped elements cannot respond to a force: such pairs are not listed.
            let released = [i, j].map(|end| self.system.release(end as usize));
            let moves = |k: u32| self.system.inverse_mass[k as usize].to_f64() > 0.0;
            let mut insert = |i: u32, j: u32, touch: S| {
                if moves(i) || moves(j) {
                    self.contacts.insert_broken(&self.system, i, j, touch);
                }
            };
            insert(i, j, touch);
            for (end, pairs) in [i, j].into_iter().zip(released) {
                for (partner, touch) in pairs {
                    insert(end, partner, touch);
                }
            }
        }
    }

    /// Brings the labels of fragments up to date, where they are known. All ranks must call it.
    pub fn label_fragments(&mut self) {
        if std::mem::take(&mut self.broken_since) {
            let components = self.components();
            if self.ranks.is_first() || self.system.bonds.holds_all() {
                fragments::update(&mut self.labels, &components);
            }
        }
    }

    /// Labels of fragments as of the last [`label_fragments`](Self::label_fragments).
    pub fn fragment_labels(&self) -> &[u32] {
        &self.labels
    }

    /// Continues from a state of the same packing, in a run that has not stepped yet.
    pub fn restore(&mut self, state: &State) -> Result<(), StateError> {
        let ranks = &self.ranks;
        system_sections::read_system(state, &mut self.system, &mut self.load, |bonds, broken| {
            broken_of_all(ranks, bonds, broken)
        })?;
        self.labels = sections::labels(state, self.system.count)?;
        (self.step, self.dt) = (state.step, state.dt);
        self.hold_rows();
        self.broken_since = false;
        self.breaks = Breaks::default();
        self.captures.clear();
        self.means
            .unpack(&self.supports, &sections::last_loads(state)?);
        self.rigid.unpack(&sections::rigid(state)?)?;
        // If earlier dissipation was not recorded, totals since the start are unknown.
        self.work = self.work.and(sections::work(state)?);
        let colliders = self.colliders(self.time());
        self.contacts = self.contacts.emptied();
        self.rebuild_lists(&colliders);
        let lost = self.contacts.restore_springs(&sections::springs(state)?);
        match lost + self.contacts.restore_shapes(&sections::shapes(state)?) {
            0 => Ok(()),
            lost => Err(StateError::LostContacts { lost }),
        }
    }

    /// Queues a frame until it is delivered.
    pub fn queue_capture(&mut self, capture: Capture) {
        self.captures.push_back(capture);
    }

    /// Removes and returns the oldest queued frame.
    ///
    /// # Panics
    /// If no frame is queued.
    pub fn take_oldest(&mut self) -> Capture {
        self.captures.pop_front().expect("a capture is outstanding")
    }
}

/// Entries of the broken bonds of all ranks, from those of the bonds that this one holds.
fn broken_of_all<S: Scalar>(ranks: &Ranks, bonds: &Bonds<S>, broken: Vec<u32>) -> Vec<u32> {
    if ranks.is_alone() || bonds.holds_all() {
        return broken;
    }
    let mut all = ranks.concatenate(Receivers::All, broken);
    all.sort_unstable();
    // Two ranks hold a bond between them.
    all.dedup();
    all
}

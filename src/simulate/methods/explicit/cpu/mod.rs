//! Explicit bonded DEM on the CPU: the step loop, generic in the lane type, threads over chunks of elements.

mod awake_steps;
mod loads;
mod long_steps;
mod measure;
mod motion;
mod ranks;
mod shared_sleep;
mod sleep_records;
mod sleeping;

use std::sync::Mutex;
use std::time::Instant;

use crate::columns::{Frames, Table, append_rows};
use crate::math::lanes::LaneRow;
use crate::math::{Lanes, Scalar, Vec3};
use crate::parallel::on_pool;
use crate::simulate::bonded::bond_tasks::BreakEvent;
use crate::simulate::bonded::border::Border;
use crate::simulate::bonded::motion_pass::StepParameters;
use crate::simulate::bonded::rankine::Rankine;
use crate::simulate::bonded::system::System;
use crate::simulate::bonded::work::Dissipation;
use crate::simulate::bonded_run::advance::DrivenPoses;
use crate::simulate::bonded_run::build::Built;
use crate::simulate::bonded_run::costs::{Costs, Timer};
use crate::simulate::bonded_run::run::BondedRun;
use crate::simulate::error::{SimulateError, StateError};
use crate::simulate::method::{Capture, Method, PassCost, Platform};
use crate::simulate::run_state::state::State;
use crate::simulate::run_state::state_in_parts::StatePart;
use crate::simulate::scene::reactions::Wrench;
use crate::simulate::share::ranks::Traffic;
use crate::simulate::sleep::event::Event;
use crate::simulate::sleep::groups::Groups;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::state as sleep_state;
use crate::spec::Pipeline;

/// A run on the CPU with lanes of type `L`.
pub struct Cpu<L: Lanes> {
    run: BondedRun<L::Scalar>,
    borders: Vec<Border<L::Scalar>>,
    /// Scratch rows, one per thread, for the loads that a chunk's bonds put on ends that they do not own.
    scratch: Vec<Mutex<OtherEndLoads<L::Scalar>>>,
    driven: DrivenPoses<L::Scalar>,
    parameters: StepParameters<L::Scalar>,
    /// Whether velocities are at the middle of the last step, so that its second kick is due.
    kick_due: bool,
    /// Whether any bond has damping.
    damped: bool,
    chunk_breaks: Vec<Vec<BreakEvent>>,
    /// Sums x·F of the bonds of each element (for its mean stress), or bounds of its principal stresses, by chunk.
    /// Empty unless hydrostatic strengths, Rankine's criterion or the energy balance need them.
    virials: Vec<Vec<L::Scalar>>,
    /// Energy dissipated by damping and friction since the last frame, by chunk and element. Empty unless the
    /// energy balance, Rankine's criterion or hydrostatic strengths need it.
    dissipation: Vec<Vec<Dissipation>>,
    costs: Costs,
    /// Whether ghosts have to be received before the loads of chunks that read them.
    exchange_due: bool,
    /// Whether springs of contacts may have changed since all ranks knew those of all.
    springs_due: bool,
    /// Time that the loads of each chunk took since costs were last compared; empty if this process is alone.
    chunk_costs: Vec<Timer>,
    /// Costs by which chunks are rebalanced next, instead of measured ones.
    next_costs: Option<Vec<f64>>,
    /// What a rebalance costs, thread-seconds; equal on all ranks.
    rebalance_cost: f64,
    /// The fragments that are asleep; `None` without `simulate.sleep`.
    sleep: Option<Sleep<L::Scalar>>,
    /// Elements that are asleep and have listed contacts, ascending.
    near: Vec<u32>,
    /// Loads of pieces at rest on supports.
    resting: Vec<Wrench>,
    /// Loads of everything else on supports, if they were computed again since the last step.
    renewed: Option<Vec<Wrench>>,
    /// What fell asleep or woke since the last frame.
    sleep_events: Vec<Event>,
    /// Step up to which the contact lists hold every pair that can touch, as far as sleeping fragments move.
    lists_hold_until: u64,
    /// Step in which the lists were built, and the groups of pieces from which that follows.
    groups: (u64, Groups),
    /// Step up to which nothing is stepped apart: all that sleeps touches what is awake, or the contact lists would not
    /// hold long enough.
    together_until: u64,
    /// Whether sleeping fragments are being stepped apart, so that lists must stay as they are.
    is_gliding: bool,
    /// Largest distances that elements and colliders moved in the last step, m.
    travelled: (f64, f64),
    /// Whether the loads have to be computed before the next step.
    loads_due: bool,
    /// Whether this is the start of a run, where calm fragments fall asleep at once.
    begins: bool,
    /// Strengths of bonds that break by Rankine's criterion.
    rankine: Option<Rankine<L::Scalar>>,
    /// Number of the frame that is made when it is delivered, and whether with its state.
    asked: Option<(u32, bool)>,
}

type OtherEndLoads<S> = Vec<LaneRow<S, 8>>;

impl<L: Lanes> Cpu<L> {
    /// A run at rest at time zero, on the ranks that the scene was built for.
    pub fn new(built: Built<L::Scalar>, pipeline: &Pipeline, dt: f64) -> Self {
        let mut run = BondedRun::new(built, pipeline, dt);
        let rankine = Rankine::of(&mut run.system, pipeline, &run.rest);
        if rankine.is_none() && !pipeline.simulate.sleep {
            run.hold_own();
        }
        let sleep = sleeping::sleep(&mut run, pipeline);
        let (padded, chunk) = (run.system.motion.len(), run.system.chunk);
        let chunks = padded.div_ceil(chunk);
        let damped = run.system.damped();
        let threads = rayon::current_num_threads() + 1;
        // One variant of the bond pass computes both.
        let extra = if run.hydrostatic.is_some() || rankine.is_some() || run.work.is_some() {
            chunk
        } else {
            0
        };
        let mut cpu = Cpu {
            virials: vec![vec![Scalar::from_f64(0.0); extra]; chunks],
            dissipation: vec![vec![Dissipation::default(); extra]; chunks],
            borders: Border::all(&run.system, &run.ranks.owned()),
            scratch: (0..threads).map(|_| Mutex::default()).collect(),
            damped,
            driven: run.driven(),
            parameters: StepParameters {
                dt: Scalar::from_f64(dt),
                gravity: Vec3::from_f64(pipeline.world.gravity),
                drag: Scalar::from_f64(pipeline.simulate.drag),
            },
            kick_due: false,
            chunk_breaks: vec![Vec::new(); chunks],
            costs: Costs::default(),
            exchange_due: false,
            springs_due: false,
            next_costs: None,
            rebalance_cost: ranks::FIRST_COST,
            chunk_costs: match run.ranks.is_alone() {
                true => Vec::new(),
                false => (0..chunks).map(|_| Timer::default()).collect(),
            },
            sleep,
            near: Vec::new(),
            resting: Vec::new(),
            renewed: None,
            sleep_events: Vec::new(),
            lists_hold_until: 0,
            groups: Default::default(),
            together_until: 0,
            is_gliding: false,
            travelled: (0.0, 0.0),
            loads_due: false,
            begins: true,
            rankine,
            asked: None,
            run,
        };
        cpu.restructure();
        cpu.plan_exchange();
        cpu.receive_ghosts();
        cpu.start();
        cpu
    }

    /// The columns, for tests of the laws during motion.
    pub fn system(&self) -> &System<L::Scalar> {
        &self.run.system
    }

    /// The columns, to be changed before a step; call [`refresh`](Self::refresh) afterwards.
    pub fn system_mut(&mut self) -> &mut System<L::Scalar> {
        &mut self.run.system
    }

    /// Recomputes what depends on the columns after they were changed by hand: chunk borders, contact lists,
    /// loads.
    pub fn refresh(&mut self) {
        self.share_awake();
        self.borders = Border::all(&self.run.system, &self.run.ranks.owned());
        self.run.rebuild_lists(&self.driven.colliders);
        self.plan_exchange();
        self.receive_ghosts();
        self.start();
    }

    /// Computes the loads that the first kick needs. Nothing slides or breaks before time runs.
    fn start(&mut self) {
        self.add_loads(L::Scalar::default());
        self.chunk_breaks.iter_mut().for_each(Vec::clear);
        let now = self.run.take_sums();
        self.run.means.start(now);
    }

    /// Removes broken bonds and lets their ends touch.
    fn break_bonds(&mut self) {
        self.run.share_breaks(&mut self.chunk_breaks);
        let mut events = Vec::new();
        for chunk in &mut self.chunk_breaks {
            events.append(chunk);
        }
        if events.is_empty() {
            return;
        }
        let clock = Instant::now();
        if let Some(sleep) = &mut self.sleep {
            for event in &events {
                sleep.disturb(&[event.i, event.j], self.run.step);
            }
        }
        let (at, borders) = ((self.run.step, self.run.time()), &mut self.borders);
        let energy = |system: &System<L::Scalar>, entry| Some(system.bond_energy(entry));
        self.run.break_bonds(events, at, energy, |system, entry| {
            if system.bonds.holds(entry as usize) {
                let other = system.bonds.other[entry as usize];
                borders[other as usize / system.chunk].unbond(entry);
            }
        });
        self.costs.breaks.add(clock, 1);
    }

    /// Brings velocities to the end of the step.
    fn finish_step(&mut self) -> Result<(), SimulateError> {
        if self.kick_due {
            self.motion(false)?;
        }
        Ok(())
    }
}

impl<L: Lanes> Method for Cpu<L> {
    fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
        debug_assert!(self.asked.is_none(), "the last frame was not delivered");
        if self.sleep.is_some() {
            return self.advance_with_sleep(steps);
        }
        let mut before = Vec::new();
        for left in (0..steps).rev() {
            self.motion(true)?;
            self.run.step += 1;
            if left == 0 {
                before = self.run.take_sums();
            }
            self.add_loads(self.parameters.dt);
            self.break_bonds();
        }
        if steps > 0 {
            let now = self.run.take_sums();
            self.run.means.add(steps, &before, now);
        }
        self.finish_step()
    }

    fn platform(&self) -> Platform {
        Platform::on_cores::<L>()
    }

    fn costs(&self) -> Vec<PassCost> {
        let (elements, scalar) = (
            self.run.system.motion.len() as u64,
            size_of::<L::Scalar>() as u64,
        );
        let (motion, load) = (20 * scalar * elements, 8 * scalar * elements);
        let borders: u64 = self.borders.iter().map(Border::bytes).sum();
        // The motion pass reads and writes motion and reads loads. The bond pass reads motion and writes
        // loads; it also reads their constant components.
        let bytes = [
            2 * motion + load,
            self.run.system.bonds.bytes() + borders + motion + 2 * load,
            self.run.contacts.bytes(),
            0,
            0,
        ];
        let sleep = self.sleep.is_some().then(|| self.costs.of_sleep());
        self.costs.passes(bytes).into_iter().chain(sleep).collect()
    }

    fn traffic(&self) -> Option<Traffic> {
        self.run.ranks.traffic()
    }

    fn step(&self) -> u64 {
        self.run.step
    }

    fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
        self.bring_up_to_date()?;
        if !self.run.ranks.is_alone() {
            // Made when it is delivered, in parts.
            debug_assert!(self.asked.is_none(), "the last frame was not delivered");
            self.asked = Some((frame, state));
            return Ok(());
        }
        let measured = self.measured();
        let mut snapshot = self.run.snapshot(frame, &measured);
        snapshot.sleep = self.sleep_table(frame);
        let state = state.then(|| self.pack(frame));
        self.run.queue_capture(Capture { snapshot, state });
        Ok(())
    }

    fn state_without_frame(&mut self, frame: u32) -> Option<State> {
        let (mut head, mut parts) = (None, Vec::new());
        self.state_in_parts(frame, &mut |part| match part {
            StatePart::Head(state) => head = Some(state),
            StatePart::Bytes(bytes) => parts.push(bytes),
        });
        let mut parts = parts.into_iter();
        head?.whole(&mut || parts.next())
    }

    fn state_in_parts(&mut self, frame: u32, take: &mut dyn FnMut(StatePart)) {
        self.refresh_loads();
        self.collect_work();
        match self.run.ranks.is_alone() {
            true => take(StatePart::Head(Box::new(self.pack(frame).into()))),
            false => self
                .run
                .pack_in_parts(frame, |state| self.put_sleep(state), take),
        }
    }

    fn has_state_without_frame(&self) -> bool {
        true
    }

    fn deliver(&mut self) -> Result<Capture, SimulateError> {
        let mut frames = Frames::default();
        let mut capture = self.deliver_in_parts(&mut |part| append_rows(&mut frames, &part))?;
        if frames.rows() > 0 {
            capture.snapshot.frames = frames;
        }
        Ok(capture)
    }

    fn deliver_in_parts(&mut self, take: &mut dyn FnMut(Frames)) -> Result<Capture, SimulateError> {
        let Some((frame, state)) = self.asked.take() else {
            return Ok(self.run.take_oldest());
        };
        let measured = on_pool(|| self.measured());
        let mut snapshot = self.run.snapshot_in_parts(frame, &measured, take);
        let slept = self.sleep_table(frame);
        if self.run.ranks.is_first() {
            snapshot.sleep = slept;
        }
        let state = match state {
            true => self.state_without_frame(frame),
            false => None,
        };
        Ok(Capture { snapshot, state })
    }

    fn restore(&mut self, state: &State) -> Result<(), StateError> {
        sleep_state::restore(state, self.sleep.as_mut(), &mut self.run)?;
        self.run.restore(state)?;
        self.parameters.dt = Scalar::from_f64(state.dt);
        self.borders = Border::all(&self.run.system, &self.run.ranks.owned());
        self.plan_exchange();
        self.receive_ghosts();
        (self.kick_due, self.exchange_due, self.asked) = (false, false, None);
        self.springs_due = false;
        self.driven = self.run.driven();
        self.sleep_events.clear();
        self.begins = false;
        self.find_near();
        self.lists_hold_until = self.run.step;
        (self.groups, self.loads_due) = (Default::default(), false);
        self.together_until = self.run.step;
        (self.resting, self.renewed) = (self.resting_loads(), None);
        self.restore_contacts(state)?;
        self.plan_shared_sleep();
        Ok(())
    }
}

//! Converts the state of a run at a frame to tables of the frame store.

use std::ops::Range;
use std::slice::ChunksMut;

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::columns::{Breaks, Convergence, Fragments, Frames, History, Loads, Sleep};
use crate::math::Scalar;
use crate::simulate::bonded::breaks::BrokenSides;
use crate::simulate::bonded::work::Work;
use crate::simulate::contact::pass::ContactTotals;
use crate::simulate::run_state::fragment_sums::{self, FragmentSumList, FragmentSums};
use crate::simulate::run_state::frame_element::{FrameColumns, FrameElement};
use crate::spec::Region;

/// The tables of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// One row per element.
    pub frames: Frames,
    /// Bonds broken since the last snapshot.
    pub breaks: Breaks,
    /// One row for the frame.
    pub history: History,
    /// One row per fragment.
    pub fragments: Fragments,
    /// One row per collider and attachment; empty if there are none.
    pub loads: Loads,
    /// One row per iteration of a method; empty except in the frame after the step of `output.convergence`.
    pub convergence: Convergence,
    /// One row per event of a fragment that falls asleep, wakes or comes to rest; empty if there are none.
    pub sleep: Sleep,
}

impl Snapshot {
    /// Positions of all elements, m.
    pub fn centres(&self) -> Vec<DVec3> {
        let f = &self.frames;
        let place = |i: usize| DVec3::new(f.x[i].into(), f.y[i].into(), f.z[i].into());
        (0..f.id.len()).map(place).collect()
    }
}

/// What a frame records besides its elements.
#[derive(Clone, Copy)]
pub struct FrameSource<'a> {
    /// Steps done.
    pub step: u64,
    /// Time step, s.
    pub dt: f64,
    /// Fragment of each element.
    pub labels: &'a [u32],
    /// Acceleration of gravity, m/s².
    pub gravity: DVec3,
    /// Region that elements are expected to stay in.
    pub bounds: Option<Region>,
    /// Sums over contacts.
    pub contact: ContactTotals,
    /// Energy dissipated since the start, if `output.work` is set.
    pub work: Option<Work>,
    /// Effort of implicit steps since the start.
    pub effort: Option<Effort>,
    /// Elements awake and energy removed by sleep, if fragments may fall asleep.
    pub sleep: Option<SleepTotals>,
}

/// Fragments that are stepped as rigid bodies while they are calm: sums for the history table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SleepTotals {
    /// Number of elements whose bonds are stepped, or that move on their own.
    pub awake: u32,
    /// Energy of vibration and slow motion removed since the start when fragments fell asleep or came to rest, J.
    pub rigidified: f64,
    /// Energy of vibration that sleeping fragments hold, J.
    pub held: f64,
}

/// Effort of solving implicit steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Steps solved.
    pub solves: u64,
    /// Newton iterations.
    pub newton: u64,
    /// Iterations of conjugate gradients.
    pub gradients: u64,
}

/// Makes the tables of a frame whose elements are all held here. `breaks` and `loads` are those since the previous
/// frame.
pub fn snapshot<S: Scalar>(
    source: FrameSource,
    elements: FrameColumns<S>,
    frame: u32,
    (breaks, loads): (Breaks, Loads),
) -> Snapshot {
    let mut tables = FrameTables::new(source, frame);
    let frames = tables.rows(0..elements.system.count, |i| elements.element(i));
    Snapshot {
        frames,
        ..tables.finish(breaks, loads)
    }
}

/// Number of elements per block of sums.
const BLOCK: usize = 2048;

/// Makes the tables of a frame from ranges of its elements.
///
/// Blocks of a fixed number of elements are summed separately, then in order, so that sums have the same bits for any
/// number of threads and ranges.
pub struct FrameTables<'a> {
    source: FrameSource<'a>,
    frame: u32,
    totals: Totals,
    fragments: Vec<Vec<FragmentSums>>,
}

impl<'a> FrameTables<'a> {
    /// No elements yet.
    pub fn new(source: FrameSource<'a>, frame: u32) -> Self {
        FrameTables {
            source,
            frame,
            totals: Totals::default(),
            fragments: Vec::new(),
        }
    }

    /// The rows of the next elements. The first must be that of a block.
    pub fn rows(
        &mut self,
        elements: Range<usize>,
        element: impl Fn(usize) -> FrameElement + Sync,
    ) -> Frames {
        assert_eq!(elements.start % BLOCK, 0, "a range begins with a block");
        let (source, count) = (&self.source, elements.len());
        let mut columns = Columns::filled(|| vec![0.0_f32; count]);
        let mut broken = vec![0; count];
        let mut rest_of = columns.each_mut(|column| column.chunks_mut(BLOCK));
        let blocks: Vec<(&mut [u32], Columns<&mut [f32]>)> = broken
            .chunks_mut(BLOCK)
            .map(|broken| (broken, rest_of.each_mut(next_chunk)))
            .collect();
        let sums: Vec<_> = blocks
            .into_par_iter()
            .enumerate()
            .map(|(block, out)| source.block(elements.start + block * BLOCK, &element, out))
            .collect();
        let (totals, fragments): (Vec<Totals>, Vec<_>) = sums.into_iter().unzip();
        self.totals = totals.iter().fold(self.totals, Totals::plus);
        self.fragments.extend(fragments);
        #[rustfmt::skip]
        let Columns { x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz, sigma, tau } = columns;
        Frames {
            frame: vec![self.frame; count],
            time: vec![source.time(); count],
            id: elements.clone().map(|i| i as u32).collect(),
            x,
            y,
            z,
            qx,
            qy,
            qz,
            qw,
            vx,
            vy,
            vz,
            wx,
            wy,
            wz,
            fragment: source.labels[elements].to_vec(),
            sigma,
            tau,
            broken,
        }
    }

    /// All tables but that of the elements. `breaks` and `loads` are those since the previous frame.
    pub fn finish(self, mut breaks: Breaks, loads: Loads) -> Snapshot {
        breaks.frame.fill(self.frame);
        let fragments = fragment_sums::merged(self.fragments);
        let (source, frame) = (&self.source, self.frame);
        Snapshot {
            history: history(source, frame, &self.totals, fragments.len()),
            fragments: fragment_sums::table(&fragments, frame, source.time()),
            breaks,
            loads,
            ..Snapshot::default()
        }
    }
}

fn next_chunk<'a>(chunks: &mut ChunksMut<'a, f32>) -> &'a mut [f32] {
    chunks.next().expect("columns of one length")
}

/// Declares the single-precision columns of a frame.
macro_rules! columns {
    ($($column:ident),*) => {
        /// A value for each single-precision column of a frame.
        struct Columns<T> {
            $($column: T,)*
        }

        impl<T> Columns<T> {
            fn filled(make: impl Fn() -> T) -> Self {
                Columns {
                    $($column: make(),)*
                }
            }

            fn each_mut<'a, U>(&'a mut self, make: impl Fn(&'a mut T) -> U) -> Columns<U> {
                Columns {
                    $($column: make(&mut self.$column),)*
                }
            }
        }

        impl Columns<&mut [f32]> {
            /// Writes row number `k`.
            fn put(&mut self, k: usize, row: &Columns<f64>) {
                $(self.$column[k] = row.$column as f32;)*
            }
        }
    };
}
columns!(x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz, sigma, tau);

impl FrameSource<'_> {
    fn time(&self) -> f64 {
        self.step as f64 * self.dt
    }

    /// Fills the columns of a block of elements and returns its sums.
    fn block(
        &self,
        first: usize,
        element: impl Fn(usize) -> FrameElement,
        (broken, mut columns): (&mut [u32], Columns<&mut [f32]>),
    ) -> (Totals, Vec<FragmentSums>) {
        let mut totals = Totals::default();
        let mut fragments = FragmentSumList::default();
        for (k, broken) in broken.iter_mut().enumerate() {
            let one = element(first + k);
            let (p, v, w, q) = (one.position, one.velocity, one.spin, one.rotation);
            let row = Columns {
                x: p.x,
                y: p.y,
                z: p.z,
                qx: q.x,
                qy: q.y,
                qz: q.z,
                qw: q.w,
                vx: v.x,
                vy: v.y,
                vz: v.z,
                wx: w.x,
                wy: w.y,
                wz: w.z,
                sigma: one.carried.sigma,
                tau: one.carried.tau,
            };
            columns.put(k, &row);
            let BrokenSides { bonds, area } = one.broken;
            *broken = bonds;
            totals.broken += u64::from(bonds);
            self.add_to(&mut totals, &one);
            fragments.add(&FragmentSums {
                body: one.body,
                elements: 1,
                mass: one.mass,
                volume: one.volume,
                area,
                centre: one.mass * p,
                velocity: one.mass * v,
                low: p - one.radius,
                high: p + one.radius,
                label: self.labels[first + k],
            });
        }
        (totals, fragments.sorted())
    }

    fn add_to(&self, totals: &mut Totals, one: &FrameElement) {
        let (p, v) = (one.position, one.velocity);
        totals.bond += one.carried.energy;
        if let Some(bounds) = &self.bounds {
            let inside = (0..3).all(|k| bounds.min[k] <= p[k] && p[k] <= bounds.max[k]);
            totals.outside += u32::from(!inside);
        }
        if one.inverse_mass == 0.0 {
            return;
        }
        let mass = 1.0 / one.inverse_mass;
        totals.kinetic += 0.5 * mass * v.length_squared();
        totals.rotational += 0.5 * one.spin.dot(one.momentum);
        totals.gravity -= mass * self.gravity.dot(p);
        totals.momentum += mass * v;
        totals.angular += mass * p.cross(v) + one.momentum;
    }
}

/// Sums over elements for the history table, in its units.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    kinetic: f64,
    rotational: f64,
    gravity: f64,
    bond: f64,
    momentum: DVec3,
    angular: DVec3,
    outside: u32,
    /// Broken bonds, each counted twice, once per side.
    broken: u64,
}

impl Totals {
    fn plus(self, next: &Totals) -> Totals {
        Totals {
            kinetic: self.kinetic + next.kinetic,
            rotational: self.rotational + next.rotational,
            gravity: self.gravity + next.gravity,
            bond: self.bond + next.bond,
            momentum: self.momentum + next.momentum,
            angular: self.angular + next.angular,
            outside: self.outside + next.outside,
            broken: self.broken + next.broken,
        }
    }
}

fn history(source: &FrameSource, frame: u32, totals: &Totals, fragments: usize) -> History {
    let work = |part: fn(Work) -> f64| source.work.map(part).into_iter().collect();
    let effort = |part: fn(Effort) -> u64| source.effort.map(part).into_iter().collect();
    History {
        frame: vec![frame],
        time: vec![source.time()],
        step: vec![source.step],
        dt: vec![source.dt],
        kinetic: vec![totals.kinetic],
        rotational: vec![totals.rotational],
        gravity: vec![totals.gravity],
        bond: vec![totals.bond],
        contact: vec![source.contact.energy],
        damping: work(|w| w.damping),
        friction: work(|w| w.friction),
        breaking: work(|w| w.breaking),
        rigidified: source.sleep.map(|s| s.rigidified).into_iter().collect(),
        held: source.sleep.map(|s| s.held).into_iter().collect(),
        solves: effort(|e| e.solves),
        newton: effort(|e| e.newton),
        gradients: effort(|e| e.gradients),
        px: vec![totals.momentum.x],
        py: vec![totals.momentum.y],
        pz: vec![totals.momentum.z],
        lx: vec![totals.angular.x],
        ly: vec![totals.angular.y],
        lz: vec![totals.angular.z],
        broken: vec![(totals.broken / 2) as u32],
        fragments: vec![fragments as u32],
        awake: source.sleep.map(|s| s.awake).into_iter().collect(),
        contacts: vec![(source.contact.sides / 2) as u32],
        outside: vec![totals.outside],
        seconds: vec![0.0],
    }
}

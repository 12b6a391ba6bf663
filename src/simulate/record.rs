//! A moment of a run as the tables of the frame store.

use glam::DVec3;

use super::contact_pass::ContactTotals;
use super::engine::Snapshot;
use super::system::{Load, System};
use crate::columns::{Breaks, Fragments, Frames, History};
use crate::math::Scalar;
use crate::spec::{Pipeline, Region};
use crate::store::Packing;

/// What records ask of packing and pipeline; it stays as it is.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Mass of each element, kg; held ones too.
    pub mass: Vec<f64>,
    /// Volume of each element, m³.
    pub volume: Vec<f64>,
    /// Body of each element.
    pub body: Vec<u32>,
    /// Inverse inertia of each element as the run knows it, 1/(kg m²); 0 where it is held.
    pub inverse_inertia: Vec<f64>,
    /// Acceleration of gravity, m/s².
    pub gravity: DVec3,
    /// Where elements are meant to stay.
    pub bounds: Option<Region>,
}

impl Rest {
    /// Of a run built from `packing` and `pipeline` with these loads.
    pub fn new<S: Scalar>(packing: &Packing, pipeline: &Pipeline, load: &[Load<S>]) -> Self {
        let elements = &packing.elements;
        Rest {
            mass: elements.mass.clone(),
            volume: elements.volume.clone(),
            body: elements.body.clone(),
            inverse_inertia: load.iter().map(|row| row.0[7].to_f64()).collect(),
            gravity: DVec3::from_array(pipeline.world.gravity),
            bounds: pipeline.world.bounds,
        }
    }
}

/// What the whole bonds of one element carry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carried {
    /// Largest normal stress, Pa; 0 where all are pressed.
    pub sigma: f64,
    /// Largest shear stress, Pa.
    pub tau: f64,
    /// Half of their energy, J.
    pub energy: f64,
}

/// What one element has lost.
#[derive(Clone, Copy, Default)]
struct Lost {
    /// Broken bonds.
    bonds: u32,
    /// Sections of them, m².
    area: f64,
}

fn lost<S: Scalar>(system: &System<S>) -> Vec<Lost> {
    let bonds = &system.bonds;
    let mut out = vec![Lost::default(); system.count];
    for &entry in bonds.touch.keys() {
        let entry = entry as usize;
        let class = &system.classes[bonds.class.get(entry) as usize];
        let area = 1.0 / class.section.inverse_area.to_f64();
        for end in [bonds.place(entry).0, bonds.other[entry] as usize] {
            out[end].bonds += 1;
            out[end].area += area;
        }
    }
    out
}

/// What a frame is made of: a run whose velocities are at the end of a step.
#[derive(Clone, Copy)]
pub struct Moment<'a, S> {
    /// Steps done.
    pub step: u64,
    /// Time step, s.
    pub dt: f64,
    /// Motion and bonds.
    pub system: &'a System<S>,
    /// Fragment of each element.
    pub labels: &'a [u32],
    /// What does not change.
    pub rest: &'a Rest,
    /// What the bonds of each element carry.
    pub carried: &'a [Carried],
    /// What contacts add up to.
    pub contact: ContactTotals,
}

/// Frame, history and fragments of a moment; `breaks`, those since the last one, become the frame's.
pub fn snapshot<S: Scalar>(moment: &Moment<S>, frame: u32, mut breaks: Breaks) -> Snapshot {
    let lost = lost(moment.system);
    breaks.frame.fill(frame);
    Snapshot {
        frames: frames(moment, frame, &lost),
        history: history(moment, frame, &lost),
        fragments: fragments(moment, frame, &lost),
        breaks,
    }
}

impl<S> Moment<'_, S> {
    fn time(&self) -> f64 {
        self.step as f64 * self.dt
    }
}

fn frames<S: Scalar>(moment: &Moment<S>, frame: u32, lost: &[Lost]) -> Frames {
    let (system, carried) = (moment.system, moment.carried);
    let count = system.count;
    let column = |value: &(dyn Fn(usize) -> f64 + Sync)| -> Vec<f32> {
        (0..count).map(|i| value(i) as f32).collect()
    };
    Frames {
        frame: vec![frame; count],
        time: vec![moment.time(); count],
        id: (0..count as u32).collect(),
        x: column(&|i| system.position(i).x),
        y: column(&|i| system.position(i).y),
        z: column(&|i| system.position(i).z),
        qx: column(&|i| system.rotation(i).x),
        qy: column(&|i| system.rotation(i).y),
        qz: column(&|i| system.rotation(i).z),
        qw: column(&|i| system.rotation(i).w),
        vx: column(&|i| system.velocity(i).x),
        vy: column(&|i| system.velocity(i).y),
        vz: column(&|i| system.velocity(i).z),
        wx: column(&|i| system.spin(i).x),
        wy: column(&|i| system.spin(i).y),
        wz: column(&|i| system.spin(i).z),
        fragment: moment.labels.to_vec(),
        sigma: column(&|i| carried[i].sigma),
        tau: column(&|i| carried[i].tau),
        broken: lost.iter().map(|l| l.bonds).collect(),
    }
}

fn history<S: Scalar>(moment: &Moment<S>, frame: u32, lost: &[Lost]) -> History {
    let (system, rest) = (moment.system, moment.rest);
    let (mut kinetic, mut rotational, mut gravity, mut bond) = (0.0, 0.0, 0.0, 0.0);
    let (mut momentum, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    let mut outside = 0;
    for (i, carried) in moment.carried.iter().enumerate() {
        bond += carried.energy;
        let p = system.position(i);
        if let Some(bounds) = &rest.bounds {
            let inside = (0..3).all(|k| bounds.min[k] <= p[k] && p[k] <= bounds.max[k]);
            outside += u32::from(!inside);
        }
        let inverse = system.inverse_mass[i].to_f64();
        if inverse == 0.0 {
            continue;
        }
        let (mass, inertia) = (1.0 / inverse, 1.0 / rest.inverse_inertia[i]);
        let (v, w) = (system.velocity(i), system.spin(i));
        kinetic += 0.5 * mass * v.length_squared();
        rotational += 0.5 * inertia * w.length_squared();
        gravity -= mass * rest.gravity.dot(p);
        momentum += mass * v;
        angular += mass * p.cross(v) + inertia * w;
    }
    let broken: u64 = lost.iter().map(|l| u64::from(l.bonds)).sum();
    let mut labels = moment.labels.to_vec();
    labels.sort_unstable();
    labels.dedup();
    History {
        frame: vec![frame],
        time: vec![moment.time()],
        step: vec![moment.step],
        dt: vec![moment.dt],
        kinetic: vec![kinetic],
        rotational: vec![rotational],
        gravity: vec![gravity],
        bond: vec![bond],
        contact: vec![moment.contact.energy],
        px: vec![momentum.x],
        py: vec![momentum.y],
        pz: vec![momentum.z],
        lx: vec![angular.x],
        ly: vec![angular.y],
        lz: vec![angular.z],
        broken: vec![(broken / 2) as u32],
        fragments: vec![labels.len() as u32],
        contacts: vec![(moment.contact.sides / 2) as u32],
        outside: vec![outside],
        seconds: vec![0.0],
    }
}

fn fragments<S: Scalar>(moment: &Moment<S>, frame: u32, lost: &[Lost]) -> Fragments {
    let (system, labels, rest) = (moment.system, moment.labels, moment.rest);
    let mut order: Vec<u32> = (0..system.count as u32).collect();
    order.sort_by_key(|&i| labels[i as usize]);
    let mut out = Fragments::default();
    for group in order.chunk_by(|&a, &b| labels[a as usize] == labels[b as usize]) {
        let (mut mass, mut volume, mut area) = (0.0, 0.0, 0.0);
        let (mut centre, mut velocity) = (DVec3::ZERO, DVec3::ZERO);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &i in group {
            let i = i as usize;
            let (p, m, r) = (system.position(i), rest.mass[i], system.radius(i));
            mass += m;
            volume += rest.volume[i];
            area += lost[i].area;
            centre += m * p;
            velocity += m * system.velocity(i);
            low = low.min(p - r);
            high = high.max(p + r);
        }
        centre /= mass;
        velocity /= mass;
        out.frame.push(frame);
        out.time.push(moment.time());
        out.fragment.push(labels[group[0] as usize]);
        out.body.push(rest.body[group[0] as usize]);
        out.elements.push(group.len() as u32);
        out.mass.push(mass);
        out.volume.push(volume);
        out.area.push(area);
        out.x.push(centre.x);
        out.y.push(centre.y);
        out.z.push(centre.z);
        out.vx.push(velocity.x);
        out.vy.push(velocity.y);
        out.vz.push(velocity.z);
        out.min_x.push(low.x);
        out.min_y.push(low.y);
        out.min_z.push(low.z);
        out.max_x.push(high.x);
        out.max_y.push(high.y);
        out.max_z.push(high.z);
    }
    out
}

//! A moment of a run as the tables of the frame store.

use glam::DVec3;
use rayon::prelude::*;

use super::contact_pass::{ContactPass, ContactTotals};
use super::cpu::Cpu;
use super::engine::Snapshot;
use super::passes::BreakEvent;
use super::system::{CHUNK, System};
use crate::columns::{Breaks, Fragments, Frames, History};
use crate::math::{Lanes, Scalar};

/// Adds the row of a bond that breaks now.
pub fn push_break<S: Scalar>(
    rows: &mut Breaks,
    system: &System<S>,
    event: &BreakEvent,
    bond: u32,
    (step, time): (u64, f64),
) {
    let i = event.element as usize;
    let at = system.slots.at(event.slot as usize, i);
    let j = system.slots.neighbour[at] as usize;
    let middle = (system.position(i) + system.position(j)) / 2.0;
    let rest = DVec3::from_array(system.slots.rest_direction(at).to_f64());
    let from_i = system.rotation(i) * rest;
    let from_j = -(system.rotation(j) * rest);
    rows.frame.push(0);
    rows.time.push(time);
    rows.step.push(step);
    rows.bond.push(bond);
    rows.i.push(i as u32);
    rows.j.push(j as u32);
    rows.mode.push(event.mode);
    rows.sigma.push(event.sigma as f32);
    rows.tau.push(event.tau as f32);
    rows.x.push(middle.x as f32);
    rows.y.push(middle.y as f32);
    rows.z.push(middle.z as f32);
    rows.nix.push(from_i.x as f32);
    rows.niy.push(from_i.y as f32);
    rows.niz.push(from_i.z as f32);
    rows.njx.push(from_j.x as f32);
    rows.njy.push(from_j.y as f32);
    rows.njz.push(from_j.z as f32);
}

/// What the bonds of one element carry.
#[derive(Clone, Copy, Default)]
struct Carried {
    sigma: f64,
    tau: f64,
    /// Half of the energy of its whole bonds, J.
    energy: f64,
    broken: u32,
    /// Sections of its broken bonds, m².
    area: f64,
}

fn carried<S: Scalar>(system: &System<S>, i: usize) -> Carried {
    let slots = &system.slots;
    let mut out = Carried::default();
    for slot in 0..slots.slots {
        let at = slots.at(slot, i);
        if slots.is_whole(slot, i) {
            let (_, sigma, tau, energy) = system.evaluate(i, slot);
            out.sigma = out.sigma.max(sigma.to_f64());
            out.tau = out.tau.max(tau.to_f64());
            out.energy += 0.5 * energy.to_f64();
        } else if slots.neighbour[at] as usize != i {
            out.broken += 1;
            let class = &system.classes[slots.class[at] as usize];
            out.area += 1.0 / class.section.inverse_area.to_f64();
        }
    }
    out
}

/// Frame, history and fragments of a CPU run whose velocities are at the end of a step.
pub fn snapshot<L: Lanes>(
    cpu: &Cpu<L>,
    frame: u32,
    step: u64,
    dt: f64,
    breaks: Breaks,
) -> Snapshot {
    let system = &cpu.system;
    let time = step as f64 * dt;
    let count = system.count;
    let carried: Vec<Carried> = (0..count)
        .into_par_iter()
        .with_min_len(CHUNK)
        .map(|i| carried(system, i))
        .collect();
    Snapshot {
        frames: frames(cpu, frame, time, &carried),
        history: history(cpu, frame, (step, dt), &carried),
        fragments: fragments(cpu, frame, time, &carried),
        breaks,
    }
}

fn frames<L: Lanes>(cpu: &Cpu<L>, frame: u32, time: f64, carried: &[Carried]) -> Frames {
    let system = &cpu.system;
    let count = system.count;
    let column = |value: &(dyn Fn(usize) -> f64 + Sync)| -> Vec<f32> {
        (0..count).map(|i| value(i) as f32).collect()
    };
    Frames {
        frame: vec![frame; count],
        time: vec![time; count],
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
        fragment: cpu.labels.clone(),
        sigma: column(&|i| carried[i].sigma),
        tau: column(&|i| carried[i].tau),
        broken: carried.iter().map(|c| c.broken).collect(),
    }
}

fn history<L: Lanes>(
    cpu: &Cpu<L>,
    frame: u32,
    (step, dt): (u64, f64),
    carried: &[Carried],
) -> History {
    let system = &cpu.system;
    let (mut kinetic, mut rotational, mut gravity, mut bond) = (0.0, 0.0, 0.0, 0.0);
    let (mut momentum, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    let mut outside = 0;
    for (i, carried) in carried.iter().enumerate() {
        bond += carried.energy;
        let p = system.position(i);
        if let Some(bounds) = &cpu.bounds {
            let inside = (0..3).all(|k| bounds.min[k] <= p[k] && p[k] <= bounds.max[k]);
            outside += u32::from(!inside);
        }
        let inverse = system.inverse_mass[i].to_f64();
        if inverse == 0.0 {
            continue;
        }
        let (mass, inertia) = (1.0 / inverse, 1.0 / cpu.load[i].0[7].to_f64());
        let (v, w) = (system.velocity(i), system.spin(i));
        kinetic += 0.5 * mass * v.length_squared();
        rotational += 0.5 * inertia * w.length_squared();
        gravity -= mass * cpu.gravity.dot(p);
        momentum += mass * v;
        angular += mass * p.cross(v) + inertia * w;
    }
    let contact = contact_totals(cpu);
    let broken: u64 = carried.iter().map(|c| u64::from(c.broken)).sum();
    let mut labels = cpu.labels.clone();
    labels.sort_unstable();
    labels.dedup();
    History {
        frame: vec![frame],
        time: vec![step as f64 * dt],
        step: vec![step],
        dt: vec![dt],
        kinetic: vec![kinetic],
        rotational: vec![rotational],
        gravity: vec![gravity],
        bond: vec![bond],
        contact: vec![contact.energy],
        px: vec![momentum.x],
        py: vec![momentum.y],
        pz: vec![momentum.z],
        lx: vec![angular.x],
        ly: vec![angular.y],
        lz: vec![angular.z],
        broken: vec![(broken / 2) as u32],
        fragments: vec![labels.len() as u32],
        contacts: vec![(contact.sides / 2) as u32],
        outside: vec![outside],
        seconds: vec![0.0],
    }
}

fn contact_totals<L: Lanes>(cpu: &Cpu<L>) -> ContactTotals {
    let chunks = &cpu.contacts.chunks;
    chunks
        .iter()
        .enumerate()
        .map(|(chunk, contacts)| {
            ContactPass {
                system: &cpu.system,
                surfaces: &cpu.surfaces,
                obstacles: &cpu.obstacles,
                dt: cpu.parameters.dt,
                first: chunk * CHUNK,
            }
            .measure(contacts)
        })
        .fold(ContactTotals::default(), |a, b| ContactTotals {
            energy: a.energy + b.energy,
            sides: a.sides + b.sides,
        })
}

fn fragments<L: Lanes>(cpu: &Cpu<L>, frame: u32, time: f64, carried: &[Carried]) -> Fragments {
    let system = &cpu.system;
    let mut order: Vec<u32> = (0..system.count as u32).collect();
    order.sort_by_key(|&i| cpu.labels[i as usize]);
    let mut out = Fragments::default();
    for group in order.chunk_by(|&a, &b| cpu.labels[a as usize] == cpu.labels[b as usize]) {
        let (mut mass, mut volume, mut area) = (0.0, 0.0, 0.0);
        let (mut centre, mut velocity) = (DVec3::ZERO, DVec3::ZERO);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &i in group {
            let i = i as usize;
            let (p, m, r) = (system.position(i), cpu.rest.mass[i], system.radius(i));
            mass += m;
            volume += cpu.rest.volume[i];
            area += carried[i].area;
            centre += m * p;
            velocity += m * system.velocity(i);
            low = low.min(p - r);
            high = high.max(p + r);
        }
        centre /= mass;
        velocity /= mass;
        out.frame.push(frame);
        out.time.push(time);
        out.fragment.push(cpu.labels[group[0] as usize]);
        out.body.push(cpu.rest.body[group[0] as usize]);
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

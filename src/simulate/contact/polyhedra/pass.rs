//! What listed contacts of polyhedra do to their elements, and what they add up to.

use glam::DVec3;

use super::list::{ShapeChunk, ShapeMemory};
use super::pair::evaluate;
use super::shapes::Shapes;
use super::wall;
use crate::geometry::polyhedron::Scratch;
use crate::math::Scalar;
use crate::simulate::bonded::system::Load;
use crate::simulate::bonded::work::Taken;
use crate::simulate::contact::wall_list::Walls;
use crate::simulate::scene::reaction_sums::ReactionSums;

/// The contacts of polyhedra of one chunk: adds their loads and steps their springs. An element adds up its
/// partners in ascending order, colliders last; pairs of two chunks are evaluated by both, seen from the
/// lower number, with the same bits.
pub struct ShapePass<'a, S> {
    /// System, colliders and step.
    pub walls: Walls<'a, S>,
    /// Polyhedra.
    pub shapes: &'a Shapes,
    /// Contacts of the chunk.
    pub contacts: &'a mut ShapeChunk,
    /// Loads of the chunk.
    pub load: &'a mut [Load<S>],
    /// What its elements do to colliders; added to.
    pub sums: &'a mut ReactionSums,
    /// What each of its elements has lost; added to unless empty.
    pub taken: &'a mut [Taken],
}

impl<S: Scalar> ShapePass<'_, S> {
    /// Runs the pass.
    pub fn run(self) {
        let ShapePass {
            walls,
            shapes,
            contacts,
            load,
            sums,
            taken,
        } = self;
        let (first, dt) = (contacts.elements.start, walls.dt.to_f64());
        let ShapeChunk {
            before,
            within,
            behind,
            walls: near_walls,
            scratch,
            ..
        } = contacts;
        for (list, both) in [(before, false), (within, true), (behind, false)] {
            for pair in list {
                let Some(acting) = evaluate((walls.system, shapes), pair, dt, scratch) else {
                    pair.memory = ShapeMemory::default();
                    continue;
                };
                pair.memory = acting.memory;
                let [low, high] = pair.ends();
                let own = pair.own as usize;
                if both || own == low {
                    let local = low - first;
                    add(&mut load[local], acting.force, acting.torque);
                    account(taken, local, 0.5, acting.took);
                }
                if both || own == high {
                    let local = high - first;
                    add(&mut load[local], -acting.force, acting.torque_j);
                    account(taken, local, 0.5, acting.took);
                }
            }
        }
        for entry in near_walls {
            let local = entry.element as usize - first;
            if let Some(acting) = wall::evaluate((&walls, shapes), entry, scratch) {
                add(&mut load[local], acting.force, acting.torque);
                account(taken, local, 1.0, acting.took);
                entry.memory = acting.memory;
                let place = walls.obstacles[entry.wall as usize].pose.position;
                let arm = walls.system.position(entry.element as usize) - place;
                sums.add(local, entry.wall, wall::on_collider(&acting, arm));
            }
        }
    }
}

/// Adds a force and a torque to a row.
fn add<S: Scalar>(load: &mut Load<S>, force: DVec3, torque: DVec3) {
    for (first, vector) in [(0, force), (4, torque)] {
        for (k, value) in vector.to_array().into_iter().enumerate() {
            load.0[first + k] = load.0[first + k] + S::from_f64(value);
        }
    }
}

fn account(taken: &mut [Taken], local: usize, share: f64, took: [f64; 2]) {
    if let Some(taken) = taken.get_mut(local) {
        taken.add(share, took);
    }
}

/// Gives each element of a chunk its share of the energy of its contacts, J; returns how many sides of pairs
/// touch, a collider's counting twice.
pub fn measure<S: Scalar>(
    (walls, shapes): (&Walls<S>, &Shapes),
    contacts: &ShapeChunk,
    energy: &mut [f64],
    touching: &mut [u32],
) -> u64 {
    let (first, mut sides) = (contacts.elements.start, 0);
    let mut scratch = Scratch::default();
    let lists = [
        (&contacts.before, false),
        (&contacts.within, true),
        (&contacts.behind, false),
    ];
    for (list, both) in lists {
        for pair in list {
            let found = evaluate((walls.system, shapes), &mut pair.clone(), 0.0, &mut scratch);
            let Some(acting) = found.filter(|acting| acting.energy > 0.0) else {
                continue;
            };
            energy[pair.own as usize - first] += 0.5 * acting.energy;
            sides += 1;
            if both {
                energy[pair.partner as usize - first] += 0.5 * acting.energy;
                sides += 1;
            }
        }
    }
    for entry in &contacts.walls {
        let found = wall::evaluate((walls, shapes), &mut entry.clone(), &mut scratch);
        if let Some(acting) = found.filter(|acting| acting.energy > 0.0) {
            energy[entry.element as usize - first] += acting.energy;
            sides += 2;
            touching[entry.wall as usize] += 1;
        }
    }
    sides
}

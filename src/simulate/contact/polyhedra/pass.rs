//! Loads of listed contacts of polyhedra, and their totals.

use glam::DVec3;

use super::collider;
use super::list::{ShapeChunk, ShapeMemory};
use super::pair::evaluate;
use super::shapes::Shapes;
use crate::geometry::polyhedron::OverlapScratch;
use crate::math::Scalar;
use crate::simulate::bonded::system::LoadRow;
use crate::simulate::bonded::work::Dissipation;
use crate::simulate::contact::collider_list::ColliderContext;
use crate::simulate::scene::reaction_sums::ReactionSums;

/// The contacts of polyhedra of one chunk: adds their loads and steps their springs. An element sums its
/// partners in ascending order, colliders last; pairs across two chunks are evaluated by both, seen from the
/// lower number, with the same bits.
pub struct ShapePass<'a, S> {
    /// System, colliders and step.
    pub collider_context: ColliderContext<'a, S>,
    /// Polyhedra.
    pub shapes: &'a Shapes,
    /// Contacts of the chunk.
    pub contacts: &'a mut ShapeChunk,
    /// Loads of the chunk.
    pub load: &'a mut [LoadRow<S>],
    /// Wrenches of its elements on colliders; added to.
    pub sums: &'a mut ReactionSums,
    /// Energy dissipated per element; added to unless empty.
    pub dissipation: &'a mut [Dissipation],
}

impl<S: Scalar> ShapePass<'_, S> {
    /// Runs the pass.
    pub fn run(self) {
        let ShapePass {
            collider_context,
            shapes,
            contacts,
            load,
            sums,
            dissipation,
        } = self;
        let (first, dt) = (contacts.elements.start, collider_context.dt.to_f64());
        let ShapeChunk {
            before,
            within,
            behind,
            near_colliders,
            scratch,
            ..
        } = contacts;
        for (list, both) in [(before, false), (within, true), (behind, false)] {
            for pair in list {
                let Some(action) = evaluate((collider_context.system, shapes), pair, dt, scratch)
                else {
                    pair.memory = ShapeMemory::default();
                    continue;
                };
                pair.memory = action.memory;
                let [low, high] = pair.ends();
                let own = pair.own as usize;
                if both || own == low {
                    let local = low - first;
                    add(&mut load[local], action.force, action.torque);
                    account(dissipation, local, 0.5, action.dissipated);
                }
                if both || own == high {
                    let local = high - first;
                    add(&mut load[local], -action.force, action.torque_j);
                    account(dissipation, local, 0.5, action.dissipated);
                }
            }
        }
        for entry in near_colliders {
            let local = entry.element as usize - first;
            if let Some(action) = collider::evaluate((&collider_context, shapes), entry, scratch) {
                add(&mut load[local], action.force, action.torque);
                account(dissipation, local, 1.0, action.dissipated);
                entry.memory = action.memory;
                let place = collider_context.colliders[entry.collider as usize]
                    .pose
                    .position;
                let arm = collider_context.system.position(entry.element as usize) - place;
                sums.add(local, entry.collider, collider::on_collider(&action, arm));
            }
        }
    }
}

/// Adds a force and a torque to a row of load.
fn add<S: Scalar>(load: &mut LoadRow<S>, force: DVec3, torque: DVec3) {
    for (first, vector) in [(0, force), (4, torque)] {
        for (k, value) in vector.to_array().into_iter().enumerate() {
            load.0[first + k] = load.0[first + k] + S::from_f64(value);
        }
    }
}

fn account(dissipation: &mut [Dissipation], local: usize, share: f64, dissipated: [f64; 2]) {
    if let Some(dissipation) = dissipation.get_mut(local) {
        dissipation.add(share, dissipated);
    }
}

/// Adds to each element of a chunk its share of the energy of its contacts, J. Returns the number of touching
/// sides; a contact with a collider counts twice.
pub fn measure<S: Scalar>(
    (collider_context, shapes): (&ColliderContext<S>, &Shapes),
    contacts: &ShapeChunk,
    energy: &mut [f64],
    touching: &mut [u32],
) -> u64 {
    let (first, mut sides) = (contacts.elements.start, 0);
    let mut scratch = OverlapScratch::default();
    let lists = [
        (&contacts.before, false),
        (&contacts.within, true),
        (&contacts.behind, false),
    ];
    for (list, both) in lists {
        for pair in list {
            let found = evaluate(
                (collider_context.system, shapes),
                &mut pair.clone(),
                0.0,
                &mut scratch,
            );
            let Some(action) = found.filter(|action| action.energy > 0.0) else {
                continue;
            };
            energy[pair.own as usize - first] += 0.5 * action.energy;
            sides += 1;
            if both {
                energy[pair.partner as usize - first] += 0.5 * action.energy;
                sides += 1;
            }
        }
    }
    for entry in &contacts.near_colliders {
        let found =
            collider::evaluate((collider_context, shapes), &mut entry.clone(), &mut scratch);
        if let Some(action) = found.filter(|action| action.energy > 0.0) {
            energy[entry.element as usize - first] += action.energy;
            sides += 2;
            touching[entry.collider as usize] += 1;
        }
    }
    sides
}

//! Small tables that kernels read: bond classes, contact pairs, attached forces, elements held by driven
//! clamps, collider poses at each step.

use glam::DVec3;

use super::clamps::held_rows;
use super::constants::{
    CLASS_ROWS, POSE_LOW, POSE_PLACE, POSE_ROTATION, POSE_ROWS, POSE_SHAPE, POSE_SPIN,
    POSE_VELOCITY,
};
use super::solids;
use crate::simulate::bonded::system::{BondClass, LoadRow, System};
use crate::simulate::contact::surfaces::{Shared, Surfaces};
use crate::simulate::scene::attachments::AttachedForce;
use crate::simulate::scene::colliders::PosedCollider;
use crate::simulate::scene::reactions::Supports;

/// Rows of the tables and the first row of each part.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Rows, `vec4`s.
    pub rows: Vec<[f32; 4]>,
    /// First contact pair: materials × materials, then colliders × materials.
    pub pairs: u32,
    /// First attached force.
    pub forces: u32,
    /// First held element, if any clamp is driven.
    pub held_rows: u32,
    /// For each element, one plus the index of its force, or one plus its index among the held elements; 0 if
    /// neither.
    index_of: Vec<u32>,
}

impl Tables {
    /// Tables for `count` elements.
    pub fn new(
        classes: &[BondClass<f32>],
        surfaces: &Surfaces,
        colliders: &[PosedCollider],
        attached: &[AttachedForce],
        supports: &Supports,
        count: usize,
    ) -> Self {
        let mut rows = Vec::new();
        for class in classes {
            let s = &class.section;
            let class: [[f32; 4]; CLASS_ROWS as usize] = [
                [class.es, class.gs, class.gj, class.ei],
                [
                    s.inverse_area,
                    s.bend_modulus,
                    s.twist_modulus,
                    s.compression_counts,
                ],
                [class.damping, class.spin_damping, s.inverse_shear_area, 0.0],
            ];
            rows.extend(class);
        }
        let pairs = rows.len() as u32;
        let mut push = |shared: &Shared<f64>| {
            let pair = &shared.contact;
            rows.push(
                [
                    pair.modulus,
                    pair.shear_ratio,
                    pair.friction,
                    pair.damping_ratio,
                ]
                .map(|value| value as f32),
            );
        };
        let materials = surfaces.count();
        for a in 0..materials {
            (0..materials).for_each(|b| push(surfaces.pair(a, b)));
        }
        for obstacle in colliders {
            (0..materials).for_each(|a| push(&surfaces.with_collider(a, obstacle)));
        }
        let forces = rows.len() as u32;
        // An element with several attached forces gets their sum.
        let mut total = vec![DVec3::ZERO; count];
        for force in attached {
            for &element in &force.elements {
                total[element as usize] += force.force;
            }
        }
        let mut index_of = vec![0; count];
        let mut index_of_force = std::collections::HashMap::new();
        for (index, force) in index_of.iter_mut().zip(&total) {
            if *force != DVec3::ZERO {
                let next = index_of_force.len() as u32 + 1;
                *index = *index_of_force
                    .entry(force.to_array().map(f64::to_bits))
                    .or_insert_with(|| {
                        let [x, y, z] = force.as_vec3().to_array();
                        rows.push([x, y, z, 0.0]);
                        next
                    });
            }
        }
        let first_held_row = rows.len() as u32;
        rows.extend(held_rows(supports.clamps(), supports.held()));
        // A force on a held element moves nothing; the clamp's reaction accounts for it.
        for (place, held) in (1..).zip(supports.held()) {
            index_of[held.element as usize] = place;
        }
        Tables {
            rows,
            pairs,
            forces,
            held_rows: first_held_row,
            index_of,
        }
    }

    /// Inverse mass, inverse inertia, material, and index of the force or held element. Indices are stored as
    /// float values: their bit patterns would be denormal numbers, which a device may flush to 0.
    pub fn own_rows(&self, system: &System<f32>, load: &[LoadRow<f32>]) -> Vec<[f32; 4]> {
        (0..system.motion.len())
            .map(|i| {
                let index = self.index_of.get(i).copied().unwrap_or(0);
                let material = system.material[i] as f32;
                [system.inverse_mass[i], load[i].0[7], material, index as f32]
            })
            .collect()
    }
}

/// Rows of one collider at one step.
pub fn pose_rows(obstacle: &PosedCollider) -> [[f32; 4]; POSE_ROWS as usize] {
    let pose = &obstacle.pose;
    let high = pose.position.as_vec3();
    let low = (pose.position - high.as_dvec3()).as_vec3();
    let (number, shape) =
        solids::row(&obstacle.solid).expect("explicit::refuse refuses solids that kernels lack");
    let row = |v: DVec3| v.as_vec3().extend(0.0).to_array();
    let mut rows = [[0.0; 4]; POSE_ROWS as usize];
    rows[POSE_PLACE as usize] = high.extend(number as f32).to_array();
    rows[POSE_LOW as usize] = low.extend(0.0).to_array();
    rows[POSE_ROTATION as usize] = pose.rotation.as_quat().to_array();
    rows[POSE_VELOCITY as usize] = row(pose.velocity);
    rows[POSE_SPIN as usize] = row(pose.spin);
    rows[POSE_SHAPE as usize] = row(shape);
    rows
}

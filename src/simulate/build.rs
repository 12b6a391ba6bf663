//! From a packing and a pipeline to the columns of a simulation.

use std::collections::HashMap;

use glam::DVec3;

use super::SimulateError;
use super::bonds::{BLOCK, BondRow, Bonds};
use super::contact_pass::Surface;
use super::system::{BondClass, Load, System, motion};
use crate::laws::damping;
use crate::laws::failure::Section;
use crate::math::Scalar;
use crate::math::lanes::Row;
use crate::spec::{Action, Criterion, Material, Pipeline};
use crate::store::Packing;

/// A force on some elements.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachedForce {
    /// Elements.
    pub elements: Vec<u32>,
    /// Force on each, N.
    pub force: DVec3,
}

/// A system ready to step.
#[derive(Clone, Debug)]
pub struct Built<S> {
    /// Columns.
    pub system: System<S>,
    /// Loads, zero, with inverse masses and inertias.
    pub load: Vec<Load<S>>,
    /// Contact properties by material.
    pub surfaces: Vec<Surface>,
    /// Forces.
    pub forces: Vec<AttachedForce>,
}

/// Builds the columns. Fails when an attachment holds nothing or the packing's numbers do not fit together.
pub fn build<S: Scalar>(packing: &Packing, pipeline: &Pipeline) -> Result<Built<S>, SimulateError> {
    let elements = &packing.elements;
    let count = elements.id.len();
    let padded = count.next_multiple_of(BLOCK);
    let (inverse_mass, inverse_inertia, held, forces) = attachments(packing, pipeline)?;

    let mut system = System {
        count,
        motion: vec![Row::default(); padded],
        tail: vec![Row::default(); padded],
        inverse_mass: vec![S::default(); padded],
        material: vec![0; padded],
        bonds: Bonds::default(),
        classes: Vec::new(),
    };
    let mut load = vec![Row::default(); padded];
    for row in &mut system.motion {
        row.0[motion::Q + 3] = S::splat(1.0);
    }
    for i in 0..count {
        let p = DVec3::new(elements.x[i], elements.y[i], elements.z[i]);
        system.set_position(i, p);
        let moving = held[i].map_or(
            [
                [elements.vx[i], elements.vy[i], elements.vz[i]],
                [elements.wx[i], elements.wy[i], elements.wz[i]],
            ],
            |velocity| [velocity, [0.0; 3]],
        );
        for (at, vector) in [motion::V, motion::W].into_iter().zip(moving) {
            for (k, value) in vector.into_iter().enumerate() {
                system.motion[i].0[at + k] = S::from_f64(value);
            }
        }
        system.tail[i].0[3] = S::from_f64(elements.r[i]);
        system.inverse_mass[i] = S::from_f64(inverse_mass[i]);
        load[i].0[3] = S::from_f64(inverse_mass[i]);
        load[i].0[7] = S::from_f64(inverse_inertia[i]);
        let material = elements.material[i];
        if material as usize >= pipeline.materials.len() {
            return Err(SimulateError::Packing(format!(
                "element {i} is of material {material}, the pipeline has {}",
                pipeline.materials.len()
            )));
        }
        system.material[i] = material;
    }
    let materials = &pipeline.materials;
    bonds(
        packing,
        materials,
        &inverse_mass,
        &inverse_inertia,
        &mut system,
    )?;
    let surfaces = materials
        .iter()
        .map(|m| Surface {
            young: m.contact_young.unwrap_or(m.young),
            friction: m.friction,
            damping: m.contact_damping,
            shear_ratio: m.contact_shear_ratio,
        })
        .collect();
    Ok(Built {
        system,
        load,
        surfaces,
        forces,
    })
}

/// Inverse masses and inertias, the velocity of each held element, and the forces.
type Attached = (
    Vec<f64>,
    Vec<f64>,
    Vec<Option<[f64; 3]>>,
    Vec<AttachedForce>,
);

fn attachments(packing: &Packing, pipeline: &Pipeline) -> Result<Attached, SimulateError> {
    let e = &packing.elements;
    let mut inverse_mass: Vec<f64> = e.mass.iter().map(|m| 1.0 / m).collect();
    let mut inverse_inertia: Vec<f64> = e.inertia.iter().map(|i| 1.0 / i).collect();
    let mut held = vec![None; e.id.len()];
    let mut forces = Vec::new();
    for attachment in &pipeline.attachments {
        let body = pipeline
            .bodies
            .iter()
            .position(|body| body.name == attachment.body);
        let within = |p: [f64; 3]| {
            (0..3).all(|k| attachment.region.min[k] <= p[k] && p[k] <= attachment.region.max[k])
        };
        let chosen: Vec<u32> = (0..e.id.len())
            .filter(|&i| Some(e.body[i] as usize) == body && within([e.x[i], e.y[i], e.z[i]]))
            .map(|i| i as u32)
            .collect();
        if chosen.is_empty() {
            return Err(SimulateError::EmptyAttachment {
                attachment: attachment.name.clone(),
                body: attachment.body.clone(),
            });
        }
        match attachment.action {
            Action::Clamp { velocity } => {
                for &i in &chosen {
                    inverse_mass[i as usize] = 0.0;
                    inverse_inertia[i as usize] = 0.0;
                    held[i as usize] = Some(velocity);
                }
            }
            Action::Force { force } => forces.push(AttachedForce {
                force: DVec3::from_array(force) / chosen.len() as f64,
                elements: chosen,
            }),
        }
    }
    Ok((inverse_mass, inverse_inertia, held, forces))
}

fn bonds<S: Scalar>(
    packing: &Packing,
    materials: &[Material],
    inverse_mass: &[f64],
    inverse_inertia: &[f64],
    system: &mut System<S>,
) -> Result<(), SimulateError> {
    let b = &packing.bonds;
    let count = system.count;
    let mut valence = vec![0u32; count];
    for k in 0..b.id.len() {
        let (i, j) = (b.i[k] as usize, b.j[k] as usize);
        if i >= j || j >= count {
            return Err(SimulateError::Packing(format!(
                "bond {k} joins {i} and {j}; wanted i < j < {count}"
            )));
        }
        valence[i] += 1;
        valence[j] += 1;
    }
    let most = valence.iter().copied().max().unwrap_or(0);
    if most > u32::BITS {
        return Err(SimulateError::Packing(format!(
            "an element has {most} bonds; at most {} are supported",
            u32::BITS
        )));
    }
    let mut known: HashMap<[u64; 7], u32> = HashMap::new();
    let mut classes = Vec::with_capacity(b.id.len());
    for k in 0..b.id.len() {
        let (i, j) = (b.i[k] as usize, b.j[k] as usize);
        let material = &materials[packing.elements.material[i] as usize];
        let counts = material.criterion == Criterion::Lu2021;
        let masses = [
            inverse_mass[i] + inverse_mass[j],
            inverse_inertia[i] + inverse_inertia[j],
        ];
        let key = [
            b.radius[k],
            b.young[k],
            b.shear[k],
            masses[0],
            masses[1],
            material.damping,
            f64::from(u8::from(counts)),
        ]
        .map(f64::to_bits);
        classes.push(*known.entry(key).or_insert_with(|| {
            let moduli = (b.young[k], b.shear[k]);
            let made = class_of(b.radius[k], moduli, masses, material.damping, counts);
            system.classes.push(made.map(S::from_f64));
            system.classes.len() as u32 - 1
        }));
    }
    system.bonds = Bonds::new(system.motion.len(), b.id.len(), |k| BondRow {
        ends: [b.i[k], b.j[k]],
        direction: [b.dx[k], b.dy[k], b.dz[k]].map(S::from_f64),
        length: S::from_f64(b.l0[k]),
        class: classes[k],
        sigma_c: S::from_f64(b.sigma_c[k]),
        tau_c: S::from_f64(b.tau_c[k]),
    });
    let twice = (0..count).find_map(|i| {
        let others: Vec<usize> = system.bonds.sides(i).map(|side| side.other).collect();
        let again = (1..others.len()).find(|&k| others[..k].contains(&others[k]))?;
        Some((i, others[again]))
    });
    match twice {
        None => Ok(()),
        Some((i, j)) => {
            let joins = |k: &usize| (b.i[*k] as usize, b.j[*k] as usize) == (i.min(j), i.max(j));
            let k = (0..b.id.len()).rfind(joins).unwrap_or_default();
            Err(SimulateError::Packing(format!(
                "bond {k} joins {} and {} a second time",
                b.i[k], b.j[k]
            )))
        }
    }
}

/// Section stiffnesses (S = πr0², I = πr0⁴/4, J = πr0⁴/2) and damping of a bond of radius r0.
///
/// The damping coefficients are those of touching elements, l0 = 2 r0; it is a ratio chosen by the user, not a law.
fn class_of(
    r0: f64,
    (young, shear): (f64, f64),
    inverse: [f64; 2],
    ratio: f64,
    compression_counts: bool,
) -> BondClass<f64> {
    let area = std::f64::consts::PI * r0 * r0;
    let second_moment = area * r0 * r0 / 4.0;
    let polar = 2.0 * second_moment;
    let l0 = 2.0 * r0;
    BondClass {
        es: young * area,
        gs: shear * area,
        gj: shear * polar,
        ei: young * second_moment,
        section: Section {
            inverse_area: 1.0 / area,
            bend_modulus: r0 / second_moment,
            twist_modulus: r0 / polar,
            compression_counts: f64::from(u8::from(compression_counts)),
        },
        damping: damping::coefficient(ratio, young * area / l0, inverse[0], 0.0),
        spin_damping: damping::coefficient(ratio, young * second_moment / l0, inverse[1], 0.0),
    }
}

//! The tables of elements and bonds from the packed bodies.

use std::f64::consts::PI;

use glam::DVec3;
use rayon::prelude::*;

use super::{PackError, PackedBody};
use crate::columns::{BondLaw, Bonds, Elements, Shape};
use crate::laws::{elasticity, weibull};
use crate::spec::{Body, Elasticity, MassModel, Material, Pipeline};
use crate::store::Packing;

/// Poisson's ratio of a material that gives none.
const DEFAULT_POISSON: f64 = 0.2;

/// Joins the bodies, in order; `materials` holds index and entry of each body's material.
pub(super) fn assemble(
    pipeline: &Pipeline,
    bodies: &[PackedBody],
    materials: &[(usize, &Material)],
) -> Result<Packing, PackError> {
    let mut packing = Packing::default();
    for (index, (packed, &(number, material))) in bodies.iter().zip(materials).enumerate() {
        positive(material, "density", material.density)?;
        let first = packing.elements.id.len() as u32;
        let body = &pipeline.bodies[index];
        append_elements(&mut packing.elements, packed, body, material);
        let count = packed.centres.len();
        packing.elements.body.extend(vec![index as u32; count]);
        packing.elements.material.extend(vec![number as u32; count]);
        append_bonds(
            &mut packing.bonds,
            packed,
            material,
            first,
            pipeline.simulate.seed,
        )?;
    }
    Ok(packing)
}

fn positive(material: &Material, key: &'static str, value: f64) -> Result<f64, PackError> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(PackError::NotPositive {
        owner: format!("material {:?}", material.name),
        key,
        value,
    })
}

/// All columns but those of body and material.
fn append_elements(elements: &mut Elements, packed: &PackedBody, body: &Body, material: &Material) {
    let count = packed.centres.len();
    let r = packed.radius;
    let volume = packed.volume / count as f64;
    let mass = match body.mass {
        MassModel::Bulk => volume * material.density,
        MassModel::Sphere => 4.0 / 3.0 * PI * r.powi(3) * material.density,
    };
    // Equal masses: the centre of mass is the mean.
    let centre = packed.centres.iter().sum::<DVec3>() / count as f64;
    let (velocity, spin) = (
        DVec3::from_array(body.velocity),
        DVec3::from_array(body.spin),
    );
    let first = elements.id.len() as u32;
    elements.id.extend(first..first + count as u32);
    elements.kind.extend(vec![Shape::Sphere; count]);
    for p in &packed.centres {
        let v = velocity + spin.cross(*p - centre);
        elements.x.push(p.x);
        elements.y.push(p.y);
        elements.z.push(p.z);
        elements.vx.push(v.x);
        elements.vy.push(v.y);
        elements.vz.push(v.z);
    }
    elements.r.extend(vec![r; count]);
    elements.mass.extend(vec![mass; count]);
    elements.inertia.extend(vec![0.4 * mass * r * r; count]);
    elements.volume.extend(vec![volume; count]);
    elements.wx.extend(vec![spin.x; count]);
    elements.wy.extend(vec![spin.y; count]);
    elements.wz.extend(vec![spin.z; count]);
}

fn append_bonds(
    bonds: &mut Bonds,
    packed: &PackedBody,
    material: &Material,
    first: u32,
    seed: u64,
) -> Result<(), PackError> {
    let count = packed.pairs.len();
    if count == 0 {
        return Ok(());
    }
    let rest: Vec<(f64, DVec3)> = packed
        .pairs
        .par_iter()
        .map(|&[i, j]| {
            let d = packed.centres[j as usize] - packed.centres[i as usize];
            (d.length(), d.normalize())
        })
        .collect();
    let section = PI * packed.radius * packed.radius;
    let sum: f64 = rest.iter().map(|(l0, _)| section * l0).sum();
    let (young, shear) = moduli(material, sum / (3.0 * packed.volume))?;
    let id = bonds.id.len() as u32;
    let ids = id..id + count as u32;
    for (&[i, j], (l0, d0)) in packed.pairs.iter().zip(&rest) {
        bonds.i.push(first + i);
        bonds.j.push(first + j);
        bonds.l0.push(*l0);
        bonds.dx.push(d0.x);
        bonds.dy.push(d0.y);
        bonds.dz.push(d0.z);
    }
    bonds.radius.extend(vec![packed.radius; count]);
    bonds.young.extend(vec![young; count]);
    bonds.shear.extend(vec![shear; count]);
    bonds.law.extend(vec![BondLaw::Bdem; count]);
    let mean = |key, strength: Option<f64>| {
        strength.map_or(Ok(f64::INFINITY), |value| positive(material, key, value))
    };
    let sigma = mean("tensile_strength", material.tensile_strength)?;
    let tau = mean("shear_strength", material.shear_strength)?;
    if let Some(modulus) = material.weibull_modulus {
        positive(material, "weibull_modulus", modulus)?;
    }
    let factors: Vec<f64> = ids
        .clone()
        .into_par_iter()
        .map(|id| {
            material.weibull_modulus.map_or(1.0, |modulus| {
                weibull::factor(weibull::uniform(seed, id), modulus)
            })
        })
        .collect();
    bonds.sigma_c.extend(factors.iter().map(|f| sigma * f));
    bonds.tau_c.extend(factors.iter().map(|f| tau * f));
    bonds.id.extend(ids);
    Ok(())
}

/// Young's and shear modulus of the bonds, Pa; `fabric` = Σ S l0 / (3V) over the body's bonds.
fn moduli(material: &Material, fabric: f64) -> Result<(f64, f64), PackError> {
    let young = positive(material, "young", material.young)?;
    match material.elasticity {
        Elasticity::Bond => {
            let shear = material.shear.ok_or_else(|| PackError::NoShear {
                material: material.name.clone(),
            })?;
            Ok((young, positive(material, "shear", shear)?))
        }
        Elasticity::Material => {
            let poisson = material.poisson.unwrap_or(DEFAULT_POISSON);
            if !(poisson > -1.0 && poisson <= elasticity::POISSON_LIMIT) {
                return Err(PackError::Poisson {
                    material: material.name.clone(),
                    value: poisson,
                });
            }
            let ratio = elasticity::shear_ratio(poisson);
            let bond = young / elasticity::stiffening(fabric, ratio);
            Ok((bond, ratio * bond))
        }
    }
}

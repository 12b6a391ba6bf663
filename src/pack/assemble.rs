//! The tables of elements and bonds from the packed bodies.

use std::f64::consts::PI;

use glam::DVec3;
use rayon::iter::repeat_n;
use rayon::prelude::*;

use super::hexagonal::NEIGHBOURS;
use super::{Calibration, PackError, PackedBody};
use crate::columns::{BondLaw, Bonds, Elements, Shape};
use crate::laws::{elasticity, weibull};
use crate::spec::{Body, DEFAULT_POISSON, Elasticity, MassModel, Material, Pipeline};
use crate::store::Packing;

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
        let elements = &mut packing.elements;
        elements.body.par_extend(repeat_n(index as u32, count));
        elements.material.par_extend(repeat_n(number as u32, count));
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
    let radii = &packed.radii;
    // Over the mean radius: exactly 1 where all are equal.
    let cube = |r: &f64| (r / packed.radius).powi(3);
    let cubes: f64 = radii.iter().map(cube).sum();
    // The body's volume, shared out by the volumes of the balls.
    let volume = |r: &f64| packed.volume * cube(r) / cubes;
    let mass = |r: &f64| match body.mass {
        MassModel::Bulk => volume(r) * material.density,
        MassModel::Sphere => 4.0 / 3.0 * PI * r.powi(3) * material.density,
    };
    // Masses go with the cubes either way.
    let weighted = packed.centres.iter().zip(radii).map(|(p, r)| *p * cube(r));
    let centre = weighted.sum::<DVec3>() / cubes;
    let (velocity, spin) = (
        DVec3::from_array(body.velocity),
        DVec3::from_array(body.spin),
    );
    let first = elements.id.len() as u32;
    elements.id.extend(first..first + count as u32);
    let moving = |p: &DVec3| velocity + spin.cross(*p - centre);
    for (axis, (column, speeds)) in [
        (&mut elements.x, &mut elements.vx),
        (&mut elements.y, &mut elements.vy),
        (&mut elements.z, &mut elements.vz),
    ]
    .into_iter()
    .enumerate()
    {
        let centres = packed.centres.par_iter();
        column.par_extend(centres.clone().map(|p| p[axis]));
        speeds.par_extend(centres.map(|p| moving(p)[axis]));
    }
    elements.kind.par_extend(repeat_n(Shape::Sphere, count));
    elements.r.extend_from_slice(radii);
    elements.mass.par_extend(radii.par_iter().map(mass));
    let inertia = |r: &f64| 0.4 * mass(r) * r * r;
    elements.inertia.par_extend(radii.par_iter().map(inertia));
    elements.volume.par_extend(radii.par_iter().map(volume));
    for (column, value) in [
        (&mut elements.wx, spin.x),
        (&mut elements.wy, spin.y),
        (&mut elements.wz, spin.z),
    ] {
        column.par_extend(repeat_n(value, count));
    }
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
    let pairs = packed.pairs.par_iter();
    let first_bond = bonds.l0.len();
    let between = |&[i, j]: &[u32; 2]| packed.centres[j as usize] - packed.centres[i as usize];
    bonds
        .l0
        .par_extend(pairs.clone().map(|pair| between(pair).length()));
    let lengths = &bonds.l0[first_bond..];
    let radius = |&[i, j]: &[u32; 2]| (packed.radii[i as usize] + packed.radii[j as usize]) / 2.0;
    let sections = packed.pairs.iter().map(|pair| PI * radius(pair).powi(2));
    let sum: f64 = lengths.iter().zip(sections).map(|(l0, s)| s * l0).sum();
    // An element at the border of a lattice counts as one within: a free border bears nothing across it, so that the bonds missing there do not
    // soften the rows along it. Elements at the border of a random packing have no such rows: their own bonds count.
    let counted = match packed.calibration {
        Calibration::Lattice => {
            (NEIGHBOURS.len() * packed.centres.len()) as f64 / 2.0 / count as f64
        }
        _ => 1.0,
    };
    let fabric = counted * sum / (3.0 * packed.volume);
    let (young, shear) = moduli(material, fabric, packed.calibration)?;
    let id = bonds.id.len() as u32;
    let ids = id..id + count as u32;
    for (column, axis) in [&mut bonds.dx, &mut bonds.dy, &mut bonds.dz]
        .into_iter()
        .zip(0..)
    {
        let d0 = |(pair, l0): (_, &f64)| between(pair)[axis] * l0.recip();
        column.par_extend(pairs.clone().zip(lengths).map(d0));
    }
    bonds.radius.par_extend(pairs.clone().map(radius));
    bonds
        .i
        .par_extend(pairs.clone().map(|pair| first + pair[0]));
    bonds.j.par_extend(pairs.map(|pair| first + pair[1]));
    bonds.young.par_extend(repeat_n(young, count));
    bonds.shear.par_extend(repeat_n(shear, count));
    bonds.law.par_extend(repeat_n(BondLaw::Bdem, count));
    let mean = |key, strength: Option<f64>| {
        strength.map_or(Ok(f64::INFINITY), |value| positive(material, key, value))
    };
    let sigma = mean("tensile_strength", material.tensile_strength)?;
    let tau = mean("shear_strength", material.shear_strength)?;
    if let Some(modulus) = material.weibull_modulus {
        positive(material, "weibull_modulus", modulus)?;
    }
    let factor = |id| {
        material.weibull_modulus.map_or(1.0, |modulus| {
            weibull::factor(weibull::uniform(seed, id), modulus)
        })
    };
    // Factors first, which both strengths share.
    bonds
        .sigma_c
        .par_extend(ids.clone().into_par_iter().map(factor));
    let factors = &mut bonds.sigma_c[first_bond..];
    bonds.tau_c.par_extend(factors.par_iter().map(|f| tau * f));
    factors.par_iter_mut().for_each(|f| *f *= sigma);
    bonds.id.par_extend(ids);
    Ok(())
}

/// Young's and shear modulus of the bonds, Pa; `fabric` = Σ S l0 / (3V).
fn moduli(
    material: &Material,
    fabric: f64,
    calibration: Calibration,
) -> Result<(f64, f64), PackError> {
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
            let (stiffening, ratio) = match calibration {
                Calibration::Lattice => {
                    let ratio = elasticity::shear_ratio(poisson);
                    (elasticity::stiffening(fabric, ratio), ratio)
                }
                Calibration::Random { coordination } => {
                    elasticity::random(fabric, coordination, poisson)
                }
                Calibration::Shell { moments } => elasticity::shell(fabric, moments, poisson),
                Calibration::Yarn => (1.0, elasticity::rod_shear_ratio(poisson)),
            };
            let bond = young / stiffening;
            Ok((bond, ratio * bond))
        }
    }
}

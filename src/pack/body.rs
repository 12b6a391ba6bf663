//! One body: its skin, its elements in order, and which of them touch.

use std::path::Path;

use glam::{DQuat, DVec3};

use super::PackError;
use super::lattice::{self, Inside};
use crate::geometry::bvh::Bvh;
use crate::geometry::check::require_solid;
use crate::geometry::hash_grid::HashGrid;
use crate::geometry::inside::Crossings;
use crate::geometry::read;
use crate::geometry::winding::Winding;
use crate::geometry::{TriMesh, hilbert, shapes};
use crate::spec::{Body, BodyShape, Elasticity, Fill, MassModel, Material, PackingSpec};
use crate::{laws::elasticity, spec};

/// Centres closer than the sum of radii times one plus this touch.
const TOUCHING: f64 = 1e-6;

/// A filled body, world frame.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedBody {
    /// Skin at rest.
    pub skin: TriMesh,
    /// Centres, along a space-filling curve.
    pub centres: Vec<DVec3>,
    /// Radius of every element, m.
    pub radius: f64,
    /// Mass of every element, kg.
    pub mass: f64,
    /// Volume that every element stands for, m³.
    pub volume: f64,
    /// Touching pairs, ascending.
    pub pairs: Vec<[u32; 2]>,
    /// Young's modulus of the bonds, Pa.
    pub young: f64,
    /// Shear modulus of the bonds, Pa.
    pub shear: f64,
    /// Velocity and angular velocity of the body.
    pub motion: [DVec3; 2],
    /// Elements left out because they touch no other.
    pub dropped: usize,
}

/// Fills one body; `folder` is where a mesh's relative path starts.
pub fn pack_body(body: &Body, material: &Material, folder: &Path) -> Result<PackedBody, PackError> {
    let (mut skin, mut centres, radius) = fill(body, folder)?;
    let volume = skin.volume();
    let axis = DVec3::from_array(body.rotation.axis).normalize_or(DVec3::Y);
    let turn = DQuat::from_axis_angle(axis, body.rotation.angle);
    let origin = DVec3::from_array(body.position);
    let place = |p: &mut DVec3| *p = turn * *p + origin;
    skin.positions.iter_mut().for_each(place);
    centres.iter_mut().for_each(place);

    sort_along_curve(&mut centres);
    let mut pairs = touching(&centres, radius);
    let mut dropped = 0;
    if body.bonded {
        dropped = drop_isolated(&mut centres, &mut pairs, radius);
        if pairs.is_empty() {
            return Err(PackError::NoBonds {
                body: body.name.clone(),
            });
        }
    } else {
        pairs.clear();
    }
    let share = volume / centres.len() as f64;
    let mass = match body.mass {
        MassModel::Bulk => material.density * share,
        MassModel::Sphere => material.density * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3),
    };
    let (young, shear) = bond_moduli(material, &centres, &pairs, radius, volume);
    Ok(PackedBody {
        skin,
        centres,
        radius,
        mass,
        volume: share,
        pairs,
        young,
        shear,
        motion: [body.velocity, body.spin].map(DVec3::from_array),
        dropped,
    })
}

/// Moduli that the bonds need so that the body has the material's, or the material's as they stand.
fn bond_moduli(
    material: &Material,
    centres: &[DVec3],
    pairs: &[[u32; 2]],
    radius: f64,
    volume: f64,
) -> (f64, f64) {
    if material.elasticity == Elasticity::Bond || pairs.is_empty() {
        return (material.young, material.shear.unwrap_or(0.0));
    }
    let section = std::f64::consts::PI * radius * radius;
    let lengths: f64 = pairs
        .iter()
        .map(|&[i, j]| centres[i as usize].distance(centres[j as usize]))
        .sum();
    let ratio = elasticity::shear_ratio(material.poisson.unwrap_or(spec::DEFAULT_POISSON));
    let fabric = section * lengths / (3.0 * volume);
    let young = material.young / elasticity::stiffening(fabric, ratio);
    (young, ratio * young)
}

/// Skin, centres and radius in the body's own frame.
fn fill(body: &Body, folder: &Path) -> Result<(TriMesh, Vec<DVec3>, f64), PackError> {
    let PackingSpec::Hexagonal { radius, elements } = body.packing;
    let cuboid = |size: DVec3| (shapes::cuboid(size), size.element_product());
    match &body.shape {
        BodyShape::Box { size } => {
            let size = DVec3::from_array(*size);
            let (skin, volume) = cuboid(size);
            let at = |r: f64| lattice::block(lattice::rows_for(size, r), r);
            let r = sized(radius, elements, volume, &at);
            let centres = if r > size.min_element() / 2.0 {
                Vec::new()
            } else {
                at(r)
            };
            enough(body, skin, centres, r)
        }
        BodyShape::Block { rows } => {
            let r = radius.unwrap_or(1e-3);
            let (skin, _) = cuboid(lattice::block_size(*rows, r));
            enough(body, skin, lattice::block(*rows, r), r)
        }
        BodyShape::Plate { size, layers } => {
            let rows = |r: f64| {
                let flat = DVec3::new(size[0], size[1], 1.0);
                let [nx, ny, _] = lattice::rows_for(flat, r);
                [nx, ny, *layers]
            };
            // Layers along y: the lattice's z is up, its y goes along z.
            let at = |r: f64| -> Vec<DVec3> {
                let block = lattice::block(rows(r), r);
                block.iter().map(|p| DVec3::new(p.x, p.z, p.y)).collect()
            };
            let thickness = |r: f64| f64::from(*layers) * lattice::LAYER * r;
            // The volume depends on the radius through the thickness: r² elements a layer.
            let guess = elements.map_or(1e-3, |n| {
                (size[0] * size[1] * f64::from(*layers) / (2.0 * lattice::ROW * f64::from(n)))
                    .sqrt()
            });
            let r = sized(
                radius,
                elements,
                lattice::CELL * guess.powi(3) * f64::from(elements.unwrap_or(1)),
                &at,
            );
            let (skin, _) = cuboid(DVec3::new(size[0], thickness(r), size[1]));
            let centres = if 2.0 * r > size[0].min(size[1]) {
                Vec::new()
            } else {
                at(r)
            };
            enough(body, skin, centres, r)
        }
        BodyShape::Sphere { radius: ball } => {
            fill_mesh(body, shapes::sphere(*ball), Fill::Closed, radius, elements)
        }
        BodyShape::Cylinder {
            radius: round,
            height,
        } => {
            let mesh = shapes::cylinder(*round, *height);
            fill_mesh(body, mesh, Fill::Closed, radius, elements)
        }
        BodyShape::Mesh {
            file,
            scale,
            height,
            fill,
        } => {
            let mut mesh = read::read(&folder.join(file)).map_err(|source| PackError::Mesh {
                body: body.name.clone(),
                source,
            })?;
            if *fill == Fill::Closed {
                require_solid(&mut mesh).map_err(|source| PackError::Defect {
                    body: body.name.clone(),
                    file: file.clone(),
                    source,
                })?;
            }
            let (low, high) = mesh.bounds().unwrap_or_default();
            let factor = match height {
                Some(height) if high.y > low.y => height / (high.y - low.y),
                Some(_) => {
                    return Err(PackError::NoVolume {
                        body: body.name.clone(),
                    });
                }
                None => scale.unwrap_or(1.0),
            };
            mesh.positions.iter_mut().for_each(|p| *p *= factor);
            fill_mesh(body, mesh, *fill, radius, elements)
        }
    }
}

fn fill_mesh(
    body: &Body,
    mesh: TriMesh,
    fill: Fill,
    radius: Option<f64>,
    elements: Option<u32>,
) -> Result<(TriMesh, Vec<DVec3>, f64), PackError> {
    let volume = mesh.volume().abs();
    if volume == 0.0 {
        return Err(PackError::NoVolume {
            body: body.name.clone(),
        });
    }
    let (r, centres) = {
        let inside = match fill {
            Fill::Closed => Inside::Closed(&mesh, Crossings::new(&mesh), Bvh::new(&mesh)),
            Fill::Winding => Inside::Winding(&mesh, Winding::new(&mesh)),
        };
        let at = |r: f64| inside.fill(r);
        let r = sized(radius, elements, volume, &at);
        (r, at(r))
    };
    enough(body, mesh, centres, r)
}

/// The radius asked for, or one that gives about the number asked for (within 1 % where the shape allows).
fn sized(
    radius: Option<f64>,
    elements: Option<u32>,
    volume: f64,
    at: &dyn Fn(f64) -> Vec<DVec3>,
) -> f64 {
    if let Some(radius) = radius {
        return radius;
    }
    let wanted = f64::from(elements.unwrap_or(1));
    let mut r = (volume / (wanted * lattice::CELL)).cbrt();
    let mut best = (f64::INFINITY, r);
    // The count falls with r³ up to the grain of the lattice: a few corrections suffice.
    for _ in 0..8 {
        let found = at(r).len() as f64;
        let off = (found / wanted - 1.0).abs();
        if off < best.0 {
            best = (off, r);
        }
        if off < 0.01 {
            break;
        }
        r *= (found.max(1.0) / wanted).cbrt();
    }
    best.1
}

fn enough(
    body: &Body,
    skin: TriMesh,
    centres: Vec<DVec3>,
    radius: f64,
) -> Result<(TriMesh, Vec<DVec3>, f64), PackError> {
    if centres.len() >= 2 || (!body.bonded && centres.len() == 1) {
        return Ok((skin, centres, radius));
    }
    let (low, high) = skin.bounds().unwrap_or_default();
    let [x, y, z] = (high - low).to_array();
    Err(PackError::RadiusTooLarge {
        body: body.name.clone(),
        radius,
        x,
        y,
        z,
        found: centres.len(),
    })
}

fn sort_along_curve(centres: &mut [DVec3]) {
    let first = centres.first().copied().unwrap_or_default();
    let (low, high) = centres
        .iter()
        .fold((first, first), |(low, high), &p| (low.min(p), high.max(p)));
    let extent = (high - low).max_element();
    centres.sort_by_cached_key(|&p| hilbert::key(p, low, extent));
}

fn touching(centres: &[DVec3], radius: f64) -> Vec<[u32; 2]> {
    let reach = 2.0 * radius * (1.0 + TOUCHING);
    let grid = HashGrid::new(centres.len(), reach, |i| centres[i]);
    let mut pairs = Vec::new();
    for (i, &p) in centres.iter().enumerate() {
        grid.around(p, |j| {
            if j as usize > i && p.distance_squared(centres[j as usize]) < reach * reach {
                pairs.push([i as u32, j]);
            }
        });
    }
    pairs.sort_unstable();
    pairs
}

/// Takes elements without a pair out and renumbers; gives their number.
fn drop_isolated(centres: &mut Vec<DVec3>, pairs: &mut Vec<[u32; 2]>, radius: f64) -> usize {
    let mut bonded = vec![false; centres.len()];
    for pair in pairs.iter() {
        pair.iter().for_each(|&i| bonded[i as usize] = true);
    }
    let before = centres.len();
    let mut flags = bonded.iter();
    centres.retain(|_| *flags.next().expect("one flag a centre"));
    let dropped = before - centres.len();
    if dropped > 0 {
        *pairs = touching(centres, radius);
    }
    dropped
}

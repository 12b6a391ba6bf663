//! What lies beyond free faces: planes that hold them (plane strain), or more of the same body, which waves leave into.
//!
//! A face of area S on an absorbing side is loaded with −S ρ (c_P v_n n + c_S v_t) by the velocity v of its
//! cell (Lysmer and Kuhlemeyer, *Finite dynamic model for infinite media*, 1969), which takes plane waves
//! that hit it squarely as a whole and others in part.

use glam::DVec3;

use crate::columns::Faces;
use crate::math::{Scalar, Vec3};
use crate::simulate::bonded::rows::put;
use crate::simulate::bonded::rows::vector;
use crate::simulate::bonded::system::{Load, System, motion};
use crate::simulate::error::SimulateError;
use crate::spec::{Axis, Material, Pipeline};

/// Cosine of the angle to an axis above which a face is square to it.
const SQUARE: f64 = 0.9999;
/// Distance from the outermost face within which another lies on the same side, over the extent of all.
const LEVEL: f64 = 1e-6;

/// Volume of the pyramids over those free faces of each cell that planes hold across an axis, m³.
///
/// # Errors
/// A cell that is held from one side: a body of more than one layer.
pub fn held(table: &Faces, axis: Axis, centres: &[DVec3]) -> Result<Vec<f64>, SimulateError> {
    let axis = axis as usize;
    let mut volumes = vec![0.0; centres.len()];
    let mut sides = vec![0i8; centres.len()];
    for row in table.free() {
        let normal = table.normal(row);
        if normal[axis].abs() < SQUARE {
            continue;
        }
        let cell = table.i[row] as usize;
        let arm = table.centre(row) - centres[cell];
        volumes[cell] += table.area[row] * normal.dot(arm) / 3.0;
        sides[cell] += normal[axis].signum() as i8;
    }
    match sides.iter().position(|&sides| sides != 0) {
        None => Ok(volumes),
        Some(cell) => Err(SimulateError::Packing(format!(
            "world.plane_strain holds bodies of one layer of cells; cell {cell} is free on one side across that axis alone"
        ))),
    }
}

/// Cells at absorbing sides, and what their velocities are resisted with along each axis, N s/m.
pub fn absorbing(
    table: &Faces,
    pipeline: &Pipeline,
    materials: &[u32],
) -> Result<Vec<(u32, DVec3)>, SimulateError> {
    let free: Vec<usize> = table.free().collect();
    let mut found: Vec<(u32, DVec3)> = Vec::new();
    for side in &pipeline.world.absorbing {
        let (axis, greater) = side.axis();
        let sign = if greater { 1.0 } else { -1.0 };
        let heights = || free.iter().map(|&row| sign * table.centre(row)[axis]);
        let (least, most) = heights().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), h| {
            (a.min(h), b.max(h))
        });
        let before = found.len();
        for &row in &free {
            let square = sign * table.normal(row)[axis] > SQUARE;
            let outermost = most - sign * table.centre(row)[axis] <= LEVEL * (most - least);
            if square && outermost {
                let cell = table.i[row];
                let material = &pipeline.materials[materials[cell as usize] as usize];
                let resistance = resistance(material, axis) * table.area[row];
                found.push((cell, resistance));
            }
        }
        if found.len() == before {
            return Err(SimulateError::Packing(format!(
                "world.absorbing: no face of a cell lies flat on the side {side:?}"
            )));
        }
    }
    found.sort_by_key(|(cell, _)| *cell);
    Ok(found)
}

/// ρ c_P along an axis and ρ c_S across, kg/(m² s).
fn resistance(material: &Material, axis: usize) -> DVec3 {
    let poisson = material.poisson_ratio();
    let shear = material.young / (2.0 * (1.0 + poisson));
    let lame = crate::laws::cell::lame(material.young, poisson);
    let mut all = DVec3::splat((material.density * shear).sqrt());
    all[axis] = (material.density * (lame + 2.0 * shear)).sqrt();
    all
}

/// Adds what absorbing sides do to their cells.
pub fn absorb<S: Scalar>(borders: &[(u32, DVec3)], system: &System<S>, load: &mut [Load<S>]) {
    for (cell, resistance) in borders {
        let cell = *cell as usize;
        let v: Vec3<S> = vector(&system.motion[cell].0, motion::V);
        let r = Vec3::<S>::from_f64(resistance.to_array());
        let row = &mut load[cell].0;
        let force: Vec3<S> = vector(row, 0);
        let damped = force - Vec3::new(v.x * r.x, v.y * r.y, v.z * r.z);
        put(row, 0, damped);
    }
}

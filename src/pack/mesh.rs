//! Meshes of bodies and colliders from their files: checked and sized.

use std::collections::BTreeMap;
use std::path::Path;

use glam::DVec3;

use super::error::PackError;
use super::inputs::Inputs;
use crate::geometry::repair::{Repairs, repair};
use crate::geometry::{TriMesh, check, read as files};
use crate::spec::{Body, BodyShape, ColliderShape, Fill};

/// Returns a value that must be positive, or an error; `owner` is the body or collider, with its name.
pub(super) fn positive(owner: &str, key: &'static str, value: f64) -> Result<f64, PackError> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(PackError::NotPositive {
        owner: owner.to_owned(),
        key,
        value,
    })
}

/// Reads a mesh, winds it outward and scales it to the requested size. It must bound a solid, except where
/// `fill` allows otherwise.
pub(super) fn read(
    owner: &str,
    path: &Path,
    (scale, height): (Option<f64>, Option<f64>),
    fill: Option<Fill>,
) -> Result<TriMesh, PackError> {
    let mut mesh = files::read(path).map_err(|source| PackError::UnreadableMesh {
        owner: owner.to_owned(),
        source,
    })?;
    if fill == Some(Fill::Repair) {
        let (repaired, _) = repair(&mesh).map_err(|source| PackError::RepairFailed {
            owner: owner.to_owned(),
            file: path.to_owned(),
            source,
        })?;
        mesh = repaired;
    } else if fill != Some(Fill::Winding) {
        check::require_solid(&mut mesh).map_err(|source| PackError::MeshNotSolid {
            owner: owner.to_owned(),
            file: path.to_owned(),
            source,
            fillable: fill.is_some(),
        })?;
    } else if mesh.volume() < 0.0 {
        check::flip(&mut mesh);
    }
    resize(owner, &mut mesh, scale, height)?;
    Ok(mesh)
}

/// A message about what the repair of a body's mesh changes; `None` if no repair is requested or nothing
/// changes.
pub fn repair_message(body: &Body, base: &Path) -> Option<String> {
    let BodyShape::Mesh {
        file,
        fill: Fill::Repair,
        ..
    } = &body.shape
    else {
        return None;
    };
    let (_, repairs) = repair(&files::read(&base.join(file)).ok()?).ok()?;
    (repairs != Repairs::default()).then(|| format!("body {:?}: {file}: {repairs}", body.name))
}

/// Refuses a mesh that encloses nothing.
pub(super) fn require_volume(
    owner: &str,
    path: &Path,
    bounds: (DVec3, DVec3),
    volume: f64,
) -> Result<(), PackError> {
    if volume <= 0.0 {
        return Err(PackError::NoVolume {
            owner: owner.to_owned(),
            file: path.to_owned(),
            extent: bounds.1 - bounds.0,
        });
    }
    positive(owner, "volume of the mesh", volume).map(drop)
}

/// Scales a mesh by a factor or to a height.
fn resize(
    owner: &str,
    mesh: &mut TriMesh,
    scale: Option<f64>,
    height: Option<f64>,
) -> Result<(), PackError> {
    let factor = match (scale, height) {
        (None, None) => return Ok(()),
        (Some(scale), None) => positive(owner, "shape.scale", scale)?,
        (None, Some(height)) => {
            let (low, high) = mesh.bounds().unwrap_or_default();
            let own = positive(owner, "extent of the mesh along y", high.y - low.y)?;
            positive(owner, "shape.height", height)? / own
        }
        (Some(_), Some(_)) => {
            return Err(PackError::ScaleAndHeight {
                owner: owner.to_owned(),
            });
        }
    };
    for p in &mut mesh.positions {
        *p *= factor;
    }
    Ok(())
}

/// Meshes of the colliders that have one, in their own frames, by collider number; `base` is the folder that
/// paths are relative to.
pub(super) fn colliders(inputs: &Inputs, base: &Path) -> Result<BTreeMap<u32, TriMesh>, PackError> {
    let mut meshes = BTreeMap::new();
    for (&number, collider) in &inputs.colliders {
        let (file, size) = match collider.shape {
            ColliderShape::Mesh {
                file,
                scale,
                height,
            } => (file, (*scale, *height)),
            ColliderShape::HalfSpace { .. }
            | ColliderShape::Box { .. }
            | ColliderShape::Sphere { .. }
            | ColliderShape::Cylinder { .. } => continue,
        };
        let owner = format!("collider {:?}", collider.name);
        let path = base.join(file);
        let mut mesh = read(&owner, &path, size, None)?;
        let bounds = mesh.bounds().unwrap_or_default();
        require_volume(&owner, &path, bounds, mesh.volume())?;
        // A collider's texture is never used.
        mesh.uv.clear();
        meshes.insert(number, mesh);
    }
    Ok(meshes)
}

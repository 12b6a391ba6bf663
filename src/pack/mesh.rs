//! Meshes of bodies and colliders from their files: checked and sized.

use std::collections::BTreeMap;
use std::path::Path;

use glam::DVec3;

use super::error::PackError;
use super::inputs::Inputs;
use crate::geometry::read::UpAxis;
use crate::geometry::repair::{Repairs, repair};
use crate::geometry::{TriMesh, check, read as files};
use crate::spec::{Body, BodyShape, ColliderShape, Fill, MeshUnit, Up};
use crate::units::show::quantity;

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

/// Which part of a mesh file is read, and how it is placed and sized; the keys of the pipeline file.
#[derive(Clone, Copy, Default)]
pub(super) struct MeshKeys<'a> {
    pub object: Option<&'a str>,
    pub up: Option<Up>,
    pub unit: Option<MeshUnit>,
    pub scale: Option<f64>,
    pub height: Option<f64>,
}

/// Reads a mesh, turns its up axis to y, winds it outward and scales it to the requested size. It must bound a
/// solid, except where `fill` allows otherwise.
pub(super) fn read(
    owner: &str,
    path: &Path,
    keys: MeshKeys<'_>,
    fill: Option<Fill>,
) -> Result<TriMesh, PackError> {
    let unreadable = |source| PackError::UnreadableMesh {
        owner: owner.to_owned(),
        source,
    };
    let file = files::open(path).map_err(unreadable)?;
    let mut mesh = file.mesh(keys.object).map_err(unreadable)?;
    let is_z_up = match keys.up {
        Some(up) => up == Up::Z,
        None => file.up() == Some(UpAxis::Z),
    };
    if is_z_up {
        for p in &mut mesh.positions {
            *p = DVec3::new(p.x, p.z, -p.y);
        }
    }
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
    let unit = keys.unit.map(MeshUnit::metres);
    resize(owner, &mut mesh, keys, unit.or(file.metres_per_unit()))?;
    Ok(mesh)
}

/// A message about what the repair of a body's mesh changes; `None` if no repair is requested or nothing
/// changes.
pub fn repair_message(body: &Body, base: &Path) -> Option<String> {
    let BodyShape::Mesh {
        file,
        object,
        fill: Fill::Repair,
        ..
    } = &body.shape
    else {
        return None;
    };
    let mesh = files::open(&base.join(file)).ok()?.mesh(object.as_deref());
    let (_, repairs) = repair(&mesh.ok()?).ok()?;
    (repairs != Repairs::default()).then(|| format!("body {:?}: {file}: {repairs}", body.name))
}

/// Sizes that a body is expected to have, m.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.1..=50.0;

/// A message about the size of a body's mesh, if nothing but its file says the size and that is implausible.
/// `skin` is the body's surface, m.
pub fn size_message(body: &Body, skin: &TriMesh) -> Option<String> {
    let BodyShape::Mesh {
        file,
        unit: None,
        scale: None,
        height: None,
        ..
    } = &body.shape
    else {
        return None;
    };
    let (low, high) = skin.bounds()?;
    let across = (high - low).max_element();
    (!PLAUSIBLE.contains(&across)).then(|| {
        format!(
            "body {:?}: {file} makes it {} across; if that is not meant, say the unit of the file, such as unit = \"cm\", or its `scale` or `height`",
            body.name,
            quantity(across, "m"),
        )
    })
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

/// Scales a mesh by a factor, to a height, or else by its `unit`, m.
fn resize(
    owner: &str,
    mesh: &mut TriMesh,
    keys: MeshKeys<'_>,
    unit: Option<f64>,
) -> Result<(), PackError> {
    let factor = match (keys.scale, keys.height) {
        (None, None) => match unit {
            Some(unit) => positive(owner, "unit of the mesh file", unit)?,
            None => return Ok(()),
        },
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
        let (file, keys) = match collider.shape {
            ColliderShape::Mesh {
                file,
                object,
                up,
                unit,
                scale,
                height,
            } => {
                let keys = MeshKeys {
                    object: object.as_deref(),
                    up: *up,
                    unit: *unit,
                    scale: *scale,
                    height: *height,
                };
                (file, keys)
            }
            ColliderShape::HalfSpace { .. }
            | ColliderShape::Box { .. }
            | ColliderShape::Sphere { .. }
            | ColliderShape::Cylinder { .. } => continue,
        };
        let owner = format!("collider {:?}", collider.name);
        let path = base.join(file);
        let mut mesh = read(&owner, &path, keys, None)?;
        let bounds = mesh.bounds().unwrap_or_default();
        require_volume(&owner, &path, bounds, mesh.volume())?;
        // A collider's texture is never used.
        mesh.uv.clear();
        meshes.insert(number, mesh);
    }
    Ok(meshes)
}

//! Meshes of bodies and colliders from their files: checked and sized.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use glam::DVec3;

use super::error::PackError;
use super::inputs::Inputs;
use crate::geometry::carry::carry_paint;
use crate::geometry::closing::{CloseError, ClosingReport, Region, close};
use crate::geometry::paint::Paint;
use crate::geometry::read::{MeshError, MeshFile, UpAxis};
use crate::geometry::repair::sheet;
use crate::geometry::thicken::thicken;
use crate::geometry::{TriMesh, check, read as files};
use crate::spec::{Body, BodyShape, ColliderShape, Fill, MeshUnit, PackingSpec, ThicknessSide, Up};
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

/// The mesh files of a shot. The last one is kept, as bodies of one file follow each other.
pub struct MeshFiles<'a> {
    base: &'a Path,
    last: RefCell<Option<(PathBuf, Rc<MeshFile>)>>,
}

impl<'a> MeshFiles<'a> {
    /// Files whose paths are relative to the folder `base`.
    pub fn new(base: &'a Path) -> Self {
        MeshFiles {
            base,
            last: RefCell::new(None),
        }
    }

    fn open(&self, path: &Path) -> Result<Rc<MeshFile>, MeshError> {
        let mut last = self.last.borrow_mut();
        if let Some((known, file)) = &*last
            && known == path
        {
            return Ok(Rc::clone(file));
        }
        let file = Rc::new(files::open(path)?);
        *last = Some((path.to_owned(), Rc::clone(&file)));
        Ok(file)
    }
}

/// Which part of a mesh file is read, and how it is placed and sized; the keys of the pipeline file.
#[derive(Clone, Copy, Default)]
struct MeshKeys<'a> {
    object: Option<&'a str>,
    up: Option<Up>,
    unit: Option<MeshUnit>,
    scale: Option<f64>,
    height: Option<f64>,
}

/// Reads the mesh of a body or collider, turns its up axis to y and scales it to the requested size.
fn read(
    files: &MeshFiles<'_>,
    owner: &str,
    path: &Path,
    keys: MeshKeys<'_>,
) -> Result<TriMesh, PackError> {
    let unreadable = |source| PackError::UnreadableMesh {
        owner: owner.to_owned(),
        source,
    };
    let file = files.open(path).map_err(unreadable)?;
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
    let unit = keys.unit.map(MeshUnit::metres);
    resize(owner, &mut mesh, keys, unit.or(file.metres_per_unit()))?;
    Ok(mesh)
}

/// How a mesh is closed; the keys of the pipeline file.
#[derive(Clone, Copy)]
struct ClosingKeys {
    thickness: Option<f64>,
    side: ThicknessSide,
    fill: Fill,
}

/// Makes a mesh a solid, wound outward, and reports what was done. `cell` gives the edge (m) of the cells of a wrap.
fn make_solid(
    owner: &str,
    path: &Path,
    original: &TriMesh,
    keys: ClosingKeys,
    cell: impl Fn(&TriMesh) -> f64,
) -> Result<(TriMesh, ClosingReport), PackError> {
    let mut mesh = original.clone();
    let not_closed = |source: CloseError| PackError::NotClosed {
        owner: owner.to_owned(),
        file: path.to_owned(),
        source,
    };
    let mut report = ClosingReport::default();
    if let Some(thickness) = keys.thickness {
        let thickness = positive(owner, "shape.thickness", thickness)?;
        let (sheet, repairs) = sheet(&mesh).map_err(|error| not_closed(error.into()))?;
        let [front, back] = match keys.side {
            ThicknessSide::Both => [thickness / 2.0, -thickness / 2.0],
            ThicknessSide::Inside => [0.0, -thickness],
            ThicknessSide::Outside => [thickness, 0.0],
        };
        mesh = thicken(&sheet, front, back);
        report.repairs = repairs;
    }
    let region = match keys.fill {
        Fill::Closed => {
            check::require_solid(&mut mesh).map_err(|source| PackError::MeshNotSolid {
                owner: owner.to_owned(),
                file: path.to_owned(),
                source,
            })?;
            None
        }
        Fill::Auto => Some(Region::Nested),
        Fill::Winding => Some(Region::Wound),
    };
    if let Some(region) = region {
        let closing = close(&mesh, cell(&mesh), region).map_err(not_closed)?;
        mesh = closing.skin;
        report.follow(closing.report);
    }
    let bounds = mesh.bounds().unwrap_or_default();
    require_volume(owner, path, bounds, mesh.volume())?;
    Ok((mesh, report))
}

/// The skin of a body whose shape is a mesh, and what was done to close it; `None` for other shapes.
pub(super) fn skin(
    body: &Body,
    files: &MeshFiles<'_>,
) -> Result<Option<(TriMesh, ClosingReport)>, PackError> {
    let BodyShape::Mesh {
        file,
        object,
        each: _,
        up,
        unit,
        scale,
        height,
        thickness,
        thickness_side,
        fill,
    } = &body.shape
    else {
        return Ok(None);
    };
    let (owner, path) = (format!("body {:?}", body.name), files.base.join(file));
    let keys = MeshKeys {
        object: object.as_deref(),
        up: *up,
        unit: *unit,
        scale: *scale,
        height: *height,
    };
    let original = read(files, &owner, &path, keys)?;
    let closing = ClosingKeys {
        thickness: *thickness,
        side: *thickness_side,
        fill: *fill,
    };
    let cell = |mesh: &TriMesh| wrap_cell(&body.packing, mesh);
    let (mut mesh, report) = make_solid(&owner, &path, &original, closing, cell)?;
    carry_paint(&original, &mut mesh);
    Ok(Some((mesh, report)))
}

/// Cells of a wrap per element radius, and per extent of a body without elements of known size.
const WRAP_CELLS: [f64; 2] = [2.0, 100.0];
/// Fraction of its bounding box that a body fills, for an estimate of the elements' radius.
const FILLED_PART: f64 = 0.3;

/// Edge of the cells (m) by which a mesh is wrapped: half of an element's radius.
fn wrap_cell(packing: &PackingSpec, mesh: &TriMesh) -> f64 {
    let (low, high) = mesh.bounds().unwrap_or_default();
    let coarsest = extent(mesh) / WRAP_CELLS[1];
    let radius = match packing.size() {
        (Some(radius), _) => radius,
        (None, Some(count)) => {
            let each = FILLED_PART * (high - low).element_product() / f64::from(count);
            (each / (4.0 / 3.0 * PI)).cbrt()
        }
        (None, None) => coarsest * WRAP_CELLS[0],
    };
    (radius / WRAP_CELLS[0]).min(coarsest)
}

/// Largest extent along an axis, m.
fn extent(mesh: &TriMesh) -> f64 {
    let (low, high) = mesh.bounds().unwrap_or_default();
    (high - low).max_element()
}

/// Sizes that a body is expected to have, m.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 1e-4..=50.0;

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

/// Meshes of the colliders that have one, in their own frames, and what was done to close them, by collider number.
pub(super) fn colliders(
    inputs: &Inputs,
    files: &MeshFiles<'_>,
) -> Result<BTreeMap<u32, (TriMesh, ClosingReport)>, PackError> {
    let mut meshes = BTreeMap::new();
    for (&number, collider) in &inputs.colliders {
        let (file, keys, closing) = match collider.shape {
            ColliderShape::Mesh {
                file,
                object,
                up,
                unit,
                scale,
                height,
                thickness,
                thickness_side,
                fill,
            } => {
                let keys = MeshKeys {
                    object: object.as_deref(),
                    up: *up,
                    unit: *unit,
                    scale: *scale,
                    height: *height,
                };
                let closing = ClosingKeys {
                    thickness: *thickness,
                    side: *thickness_side,
                    fill: *fill,
                };
                (file, keys, closing)
            }
            ColliderShape::HalfSpace { .. }
            | ColliderShape::Box { .. }
            | ColliderShape::Sphere { .. }
            | ColliderShape::Cylinder { .. } => continue,
        };
        let owner = format!("collider {:?}", collider.name);
        let path = files.base.join(file);
        let original = read(files, &owner, &path, keys)?;
        let cell = |mesh: &TriMesh| extent(mesh) / WRAP_CELLS[1];
        let (mut mesh, done) = make_solid(&owner, &path, &original, closing, cell)?;
        // A collider's looks are never used.
        mesh.uv.clear();
        mesh.paint = Paint::default();
        meshes.insert(number, (mesh, done));
    }
    Ok(meshes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

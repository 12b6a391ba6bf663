//! Makes a closed skin of any triangle mesh: the mesh itself where it bounds a solid, else repaired, else wrapped.

use super::check::require_solid;
use super::mesh::TriMesh;
use super::repair::{ClosedParts, RepairError, Repairs, close_parts, surfaces};
use super::unite::unite;
use super::wrap::{Wrap, WrapError, wrap};

/// A closed skin, and what was done to get it.
#[derive(Clone, Debug, PartialEq)]
pub struct Closing {
    /// The skin: [`require_solid`] accepts it.
    pub skin: TriMesh,
    /// What was done.
    pub report: ClosingReport,
}

/// What was done to close a mesh; [`Display`](std::fmt::Display) prints it as a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClosingReport {
    /// Repairs of triangles and vertices.
    pub repairs: Repairs,
    /// Triangles cut where surfaces crossed.
    pub cut: usize,
    /// Triangles dropped because they lay inside.
    pub dropped: usize,
    /// Set if surfaces that could not be repaired were wrapped.
    pub wrapped: Option<Wrapped>,
}

/// Surfaces that were replaced by the surface where their winding number is ½.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrapped {
    /// Triangles of the input that were replaced.
    pub triangles: usize,
    /// Edge of the grid's cells, m: at most what was asked for.
    pub cell: f64,
    /// Fraction of their area that is missing, as parts are thinner than a cell.
    pub missing: f64,
    /// Why they could not be repaired.
    pub why: String,
}

impl ClosingReport {
    /// Adds what was done after.
    pub fn follow(&mut self, later: ClosingReport) {
        self.repairs.follow(&later.repairs);
        self.cut += later.cut;
        self.dropped += later.dropped;
        self.wrapped = later.wrapped.or(self.wrapped.take());
    }
}

impl std::fmt::Display for ClosingReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if self.repairs != Repairs::default() {
            parts.push(self.repairs.to_string());
        }
        if self.cut > 0 {
            parts.push(format!("cut {} triangles where surfaces crossed", self.cut));
        }
        if self.dropped > 0 {
            parts.push(format!("dropped {} triangles inside", self.dropped));
        }
        if let Some(Wrapped {
            triangles,
            cell,
            missing,
            why,
        }) = &self.wrapped
        {
            parts.push(format!(
                "replaced {triangles} triangles by a wrap with cells of {cell:.3e} m, as {why}"
            ));
            if *missing >= LEAST_REPORTED {
                let percent = 100.0 * missing;
                parts.push(format!(
                    "lost {percent:.1} % of their area, which is thinner than a cell"
                ));
            }
        }
        match parts.is_empty() {
            true => write!(f, "nothing to repair"),
            false => write!(f, "{}", parts.join(", ")),
        }
    }
}

/// Which region a mesh encloses if it bounds a solid as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// A closed surface inside another bounds a cavity, however it is wound.
    Nested,
    /// The region that the surfaces wind around: of two nested surfaces wound alike, the inner one is dropped.
    Wound,
}

/// Why a mesh cannot be closed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CloseError {
    /// The mesh is damaged or has no size.
    #[error("{0}")]
    Repair(#[from] RepairError),
    /// The mesh is a sheet.
    #[error(
        "mesh is an open sheet and encloses nothing: its winding number is nowhere above one half; \
         give it a thickness (`shape.thickness`), or close it"
    )]
    EnclosesNothing,
    /// The wrap of the mesh failed.
    #[error("{0}")]
    Wrap(WrapError),
}

impl From<WrapError> for CloseError {
    fn from(error: WrapError) -> Self {
        match error {
            WrapError::EnclosesNothing => CloseError::EnclosesNothing,
            other => CloseError::Wrap(other),
        }
    }
}

/// Number of times that a union whose rounded vertices cross again is merged and united again.
const MAX_ROUNDINGS: usize = 4;

/// Fraction of the area of a mesh from which on it is reported as missing.
const LEAST_REPORTED: f64 = 1e-3;
/// Widest gap between borders that is closed by moving them, over the cell of a wrap, which is at most half of an
/// element's radius.
const GAP_CELLS: f64 = 0.1;

/// Makes a closed skin of a mesh. `cell` is the edge (m) of the grid by which surfaces are wrapped that cannot be
/// repaired.
///
/// A mesh that bounds a solid is returned as it is. Otherwise it is repaired where it is faulty: double vertices and
/// triangles, slits, wrong winding, small holes; surfaces that cross are cut and united. Other triangles stay as they
/// are, bit for bit. What is still open is wrapped.
///
/// # Errors
///
/// Damaged meshes, meshes that enclose nothing, and cells too small for the memory.
pub fn close(mesh: &TriMesh, cell: f64, region: Region) -> Result<Closing, CloseError> {
    let mut report = ClosingReport::default();
    let mut skin = mesh.clone();
    let is_solid = require_solid(&mut skin).is_ok() && skin.volume() > 0.0;
    if is_solid && (region == Region::Nested || skin == *mesh) {
        return Ok(Closing { skin, report });
    }
    let gap = GAP_CELLS * cell;
    let ClosedParts { closed, open } = close_parts(mesh, gap, &mut report.repairs)?;
    let mut all = closed.clone();
    all.append(open.clone());
    let why = match open.triangles.is_empty() {
        true => match united(closed, &mut report, region) {
            Ok(skin) => return Ok(Closing { skin, report }),
            Err(_) => "rounding does not let their crossings be cut".to_owned(),
        },
        false => {
            let triangles = open.triangles.len();
            let why = "their surfaces are open".to_owned();
            if let Some((skin, made)) = with_wrapped(closed, &open, cell, &mut report, region) {
                report.wrapped = Some(made.replacing(triangles, why));
                return Ok(Closing { skin, report });
            }
            why
        }
    };
    let mut made = wrap(&all, cell)?;
    let mut skin = std::mem::take(&mut made.surface);
    require_solid(&mut skin).map_err(|defect| CloseError::Wrap(WrapError::Faulty(defect)))?;
    report = ClosingReport {
        wrapped: Some(made.replacing(mesh.triangles.len(), why)),
        ..ClosingReport::default()
    };
    Ok(Closing { skin, report })
}

/// The solid that closed surfaces bound, united if they cross or wind around a region more than once.
fn united(
    mut mesh: TriMesh,
    report: &mut ClosingReport,
    region: Region,
) -> Result<TriMesh, RepairError> {
    if mesh.triangles.is_empty() {
        return Err(RepairError::Empty);
    }
    let before = mesh.clone();
    let is_solid = require_solid(&mut mesh).is_ok();
    if is_solid && mesh.volume() > 0.0 && (region == Region::Nested || mesh == before) {
        return Ok(mesh);
    }
    let united = unite(&before);
    (report.cut, report.dropped) = (united.cut, united.dropped);
    let mut skin = united.mesh;
    if skin.triangles.is_empty() {
        let near = before.corners(0).iter().sum::<glam::DVec3>() / 3.0;
        return Err(RepairError::NoVolume { near });
    }
    if require_solid(&mut skin).is_ok() {
        return Ok(skin);
    }
    // Solids that touch, and slivers of rounded crossings.
    for _ in 0..MAX_ROUNDINGS {
        if let Ok((clean, _)) = surfaces(&skin) {
            return Ok(clean);
        }
        let merged = close_parts(&skin, 0.0, &mut Repairs::default())?;
        if !merged.open.triangles.is_empty() {
            break;
        }
        skin = unite(&merged.closed).mesh;
    }
    surfaces(&skin).map(|(clean, _)| clean)
}

impl Wrap {
    /// What is reported of a wrap that replaced this number of triangles.
    fn replacing(&self, triangles: usize, why: String) -> Wrapped {
        Wrapped {
            triangles,
            cell: self.cell,
            missing: self.missing,
            why,
        }
    }
}

/// The union of closed surfaces with the wrap of open ones, and that wrap; `None` if the open ones enclose
/// nothing by themselves or the union fails.
fn with_wrapped(
    mut closed: TriMesh,
    open: &TriMesh,
    cell: f64,
    report: &mut ClosingReport,
    region: Region,
) -> Option<(TriMesh, Wrap)> {
    if closed.triangles.is_empty() {
        return None;
    }
    let mut made = wrap(open, cell).ok()?;
    closed.append(std::mem::take(&mut made.surface));
    Some((united(closed, report, region).ok()?, made))
}

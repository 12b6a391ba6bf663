//! Errors of packing.

use std::path::PathBuf;

use glam::DVec3;

use super::inputs::Inputs;
use crate::geometry::check::MeshDefect;
use crate::geometry::closing::CloseError;
use crate::geometry::curve::CurveFault;
use crate::geometry::read::MeshError;
use crate::geometry::revolve::ProfileFault;
use crate::laws::elasticity::POISSON_LIMIT;
use crate::spec::Body;

/// Reasons why a pipeline's bodies cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A body names a material that does not exist.
    #[error("body {body:?}: no material is called {material:?}; the materials are: {known}")]
    UnknownMaterial {
        /// Name of the body.
        body: String,
        /// Name of the missing material.
        material: String,
        /// Names of the existing materials.
        known: String,
    },
    /// A crack runs between no elements of its body.
    #[error(
        "body {body:?}: cracks.{number} crosses no bond; its points are in the frame of the shape, before `position` and \
         `rotation`, in metres if they have no unit"
    )]
    CrackOutside {
        /// Name of the body.
        body: String,
        /// Number of the crack, from 0.
        number: usize,
    },
    /// A number that must be positive is not.
    #[error("{owner}: {key} is {value}; it must be positive and finite")]
    NotPositive {
        /// Body, collider or material, with its name.
        owner: String,
        /// Key in the pipeline file.
        key: &'static str,
        /// Its value.
        value: f64,
    },
    /// The mesh file cannot be read.
    #[error("{owner}: {source}")]
    UnreadableMesh {
        /// Body or collider, with its name.
        owner: String,
        /// What is wrong with the file.
        source: MeshError,
    },
    /// The mesh does not bound a solid.
    #[error("{owner}: {file}: {source}, or set fill = \"auto\"", file = .file.display())]
    MeshNotSolid {
        /// Body or collider, with its name.
        owner: String,
        /// The mesh file.
        file: PathBuf,
        /// What is wrong with the mesh.
        source: MeshDefect,
    },
    /// The mesh cannot be closed.
    #[error("{owner}: {file}: {source}", file = .file.display())]
    NotClosed {
        /// Body, with its name.
        owner: String,
        /// The mesh file.
        file: PathBuf,
        /// Why.
        source: CloseError,
    },
    /// The mesh encloses nothing.
    #[error(
        "{owner}: {file}: the mesh encloses no volume in its box of {x:e} x {y:e} x {z:e} m",
        file = .file.display(), x = .extent.x, y = .extent.y, z = .extent.z
    )]
    NoVolume {
        /// Body or collider, with its name.
        owner: String,
        /// The mesh file.
        file: PathBuf,
        /// Extent of the mesh's bounding box, m.
        extent: DVec3,
    },
    /// The profile of a solid of revolution does not enclose a solid.
    #[error("body {body:?}: {source}")]
    InvalidProfile {
        /// Name of the body.
        body: String,
        /// What is wrong with the profile.
        source: ProfileFault,
    },
    /// No tube can follow the points.
    #[error("body {body:?}: {source}")]
    InvalidTube {
        /// Name of the body.
        body: String,
        /// What is wrong with the points.
        source: CurveFault,
    },
    /// Both scale and height of a mesh are given.
    #[error("{owner}: both scale and height are given; give one of them")]
    ScaleAndHeight {
        /// Body or collider, with its name.
        owner: String,
    },
    /// Neither or both of radius and number of elements are given.
    #[error("body {body:?}: packing needs either radius or elements, {found}")]
    RadiusOrElements {
        /// Name of the body.
        body: String,
        /// "found both" or "found neither".
        found: &'static str,
    },
    /// No element fits.
    #[error(
        "body {body:?}: element radius {radius} m is too large for it: the body measures {x} x {y} x {z} m; \
         give a smaller radius or more elements",
        x = .extent.x, y = .extent.y, z = .extent.z
    )]
    RadiusTooLarge {
        /// Name of the body.
        body: String,
        /// Radius of the elements, m.
        radius: f64,
        /// Extent of the body's bounding box in its own frame, m.
        extent: DVec3,
    },
    /// A shape too thin for all layers of its shell.
    #[error(
        "body {body:?}: it is too thin for a shell of {layers} layers of elements of radius {radius} m, {thickness} m thick, around a hollow; \
         give fewer layers, a smaller radius or more elements"
    )]
    TooThinForShell {
        /// Name of the body.
        body: String,
        /// Layers of the shell.
        layers: u32,
        /// Radius of the elements, m.
        radius: f64,
        /// Thickness of the shell, m.
        thickness: f64,
    },
    /// A rope that does not fit into its cylinder, or whose turns would overlap.
    #[error(
        "body {body:?}: a rope of {strands} strands of {filaments} filaments of element radius {radius} m and a pitch of {pitch} m does not fit into \
         its cylinder of radius {cylinder} m; the largest element radius that fits is {largest:.4e} m"
    )]
    RopeTooThick {
        /// Name of the body.
        body: String,
        /// Number of strands.
        strands: u32,
        /// Filaments per strand.
        filaments: u32,
        /// Radius of the elements, m.
        radius: f64,
        /// Length of a turn, m.
        pitch: f64,
        /// Radius of the cylinder, m.
        cylinder: f64,
        /// Largest element radius that fits, m.
        largest: f64,
    },
    /// A shape too thin for one sheet of cloth.
    #[error(
        "body {body:?}: a sheet of cloth of element radius {radius:e} m is {thickness:.4e} m thick, the body {height:e} m along y; \
         give a smaller radius or fewer filaments, or a plate, whose thickness follows"
    )]
    ThinnerThanCloth {
        /// Name of the body.
        body: String,
        /// Radius of the elements, m.
        radius: f64,
        /// Thickness of a sheet, m.
        thickness: f64,
        /// Extent of the body along y, m.
        height: f64,
    },
    /// A packing that cannot fill this shape.
    #[error("body {body:?}: {what}")]
    UnsuitableShape {
        /// Name of the body.
        body: String,
        /// Which shapes the packing can fill.
        what: &'static str,
    },
    /// More elements than 32-bit numbers allow.
    #[error(
        "body {body:?}: element radius {radius} m gives about {estimate:.1e} elements; at most {limit} are possible"
    )]
    TooManyElements {
        /// Name of the body.
        body: String,
        /// Radius of the elements, m.
        radius: f64,
        /// Estimated number of elements.
        estimate: f64,
        /// Largest number of elements.
        limit: u32,
    },
    /// A body that fills almost nothing of its bounding box, so that filling it would try too many sites.
    #[error(
        "body {body:?}: its box of {x:e} x {y:e} x {z:e} m has about {sites:.1e} sites to try at element radius {radius:e} m, \
         far more than it has elements; is a vertex of the mesh astray?",
        x = .extent.x, y = .extent.y, z = .extent.z
    )]
    AlmostEmptyBox {
        /// Name of the body.
        body: String,
        /// Radius of the elements, m.
        radius: f64,
        /// Number of lattice sites in the box.
        sites: f64,
        /// Extent of the body's bounding box in its own frame, m.
        extent: DVec3,
    },
    /// A Poisson's ratio that bonds cannot reproduce.
    #[error(
        "material {material:?}: poisson = {value} is out of reach of bonds, which give values above -1 up to {POISSON_LIMIT}; \
         the energy-preserving method would reach it"
    )]
    BondPoisson {
        /// Name of the material.
        material: String,
        /// Requested value.
        value: f64,
    },
    /// A Poisson's ratio that no stable solid has.
    #[error(
        "material {material:?}: poisson = {value} is out of reach; cells take values above -1 and below 0.5"
    )]
    CellPoisson {
        /// Name of the material.
        material: String,
        /// Requested value.
        value: f64,
    },
    /// A grain that no bonds of the packing give.
    #[error(
        "material {material:?}: {key} = {value} is out of reach: this packing is calibrated for {least:.2} to {most:.2}; \
         with elasticity = \"bond\" any value is allowed, and the grain is that of the bonds",
        least = .reach[0], most = .reach[1]
    )]
    GrainBeyondReach {
        /// Name of the material.
        material: String,
        /// Key in the pipeline file.
        key: &'static str,
        /// Requested value.
        value: f64,
        /// Smallest and largest value.
        reach: [f64; 2],
    },
    /// Neither or both of size and number of cells are given.
    #[error("body {body:?}: packing needs either size or {other}, {found}")]
    SizeOrNumber {
        /// Name of the body.
        body: String,
        /// The key that may be given instead.
        other: &'static str,
        /// "found both" or "found neither".
        found: &'static str,
    },
    /// Cells too large to follow the skin of their body.
    #[error(
        "body {body:?}: {cells} cells of about {size:.3e} m do not follow its skin: their volume is {held:.4e} m^3, that of the body {volume:.4e} m^3; \
         give a size smaller than its thinnest part, or more cells"
    )]
    CellsTooLarge {
        /// Name of the body.
        body: String,
        /// Number of cells.
        cells: usize,
        /// Edge of the cube of a cell's mean volume, m.
        size: f64,
        /// Volume of the cells, m³.
        held: f64,
        /// Volume of the body, m³.
        volume: f64,
    },
    /// No brick's centre lies in the body.
    #[error(
        "body {body:?}: no brick of {x:.3e} x {y:.3e} x {z:.3e} m has its centre in it; give smaller ones or more rows",
        x = .size.x, y = .size.y, z = .size.z
    )]
    NoBrickInside {
        /// Name of the body.
        body: String,
        /// Edges of a brick, m.
        size: DVec3,
    },
    /// Too few bricks around the axis.
    #[error(
        "body {body:?}: {rows} bricks together span {degrees:.1}° around the axis; each must span less than 180°, so give more rows or a smaller size"
    )]
    TooFewBricksAround {
        /// Name of the body.
        body: String,
        /// Number of bricks around the axis.
        rows: u32,
        /// Angle that they span together, degrees.
        degrees: f64,
    },
    /// Two cells of one generator point.
    #[error(
        "body {body:?}: two of its cells belong to the same point, near ({x:.4e}, {y:.4e}, {z:.4e}) m in its own frame; \
         the body is thinner there than floating point resolves: give another packing.seed or a larger size",
        x = .near.x, y = .near.y, z = .near.z
    )]
    CoincidentCells {
        /// Name of the body.
        body: String,
        /// The point.
        near: DVec3,
    },
    /// `elasticity = "bond"` is given without a shear modulus.
    #[error(
        "material {material:?}: elasticity = \"bond\" needs shear, the shear modulus of the bonds"
    )]
    MissingShear {
        /// Name of the material.
        material: String,
    },
    /// Two bodies overlap.
    #[error(
        "bodies {first:?} and {second:?} overlap at the start: elements by up to {depth:.3e} m, near ({x:.4}, {y:.4}, {z:.4}); \
         move one of them",
        x = .near.x, y = .near.y, z = .near.z
    )]
    BodiesOverlap {
        /// Name of one body.
        first: String,
        /// Name of the other.
        second: String,
        /// Overlap of the deepest pair: sum of radii minus distance, m.
        depth: f64,
        /// Midpoint of that pair, m.
        near: DVec3,
    },
}

impl PackError {
    /// Whether the user's input is the cause: the pipeline file, or a mesh that it names.
    pub fn caused_by_user(&self) -> bool {
        match self {
            PackError::UnknownMaterial { .. }
            | PackError::CrackOutside { .. }
            | PackError::NotPositive { .. }
            | PackError::UnreadableMesh { .. }
            | PackError::MeshNotSolid { .. }
            | PackError::NotClosed { .. }
            | PackError::NoVolume { .. }
            | PackError::InvalidProfile { .. }
            | PackError::InvalidTube { .. }
            | PackError::ScaleAndHeight { .. }
            | PackError::RadiusOrElements { .. }
            | PackError::RadiusTooLarge { .. }
            | PackError::TooThinForShell { .. }
            | PackError::RopeTooThick { .. }
            | PackError::ThinnerThanCloth { .. }
            | PackError::UnsuitableShape { .. }
            | PackError::TooManyElements { .. }
            | PackError::AlmostEmptyBox { .. }
            | PackError::BondPoisson { .. }
            | PackError::CellPoisson { .. }
            | PackError::GrainBeyondReach { .. }
            | PackError::SizeOrNumber { .. }
            | PackError::CellsTooLarge { .. }
            | PackError::NoBrickInside { .. }
            | PackError::TooFewBricksAround { .. }
            | PackError::CoincidentCells { .. }
            | PackError::MissingShear { .. }
            | PackError::BodiesOverlap { .. } => true,
        }
    }

    /// The error for a material that a body names but the pipeline lacks.
    pub(super) fn unknown_material(inputs: &Inputs, body: &Body, name: &str) -> Self {
        let known = inputs.materials.iter().map(|m| m.name);
        PackError::UnknownMaterial {
            body: body.name.clone(),
            material: name.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        }
    }
}

//! What can go wrong when bodies are packed.

use std::path::PathBuf;

use glam::DVec3;

use super::inputs::Inputs;
use crate::geometry::check::MeshDefect;
use crate::geometry::curve::CurveFault;
use crate::geometry::read::MeshError;
use crate::geometry::repair::RepairError;
use crate::geometry::revolve::ProfileFault;
use crate::laws::elasticity::POISSON_LIMIT;
use crate::spec::Body;

/// Why a pipeline's bodies cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A body names a material that is not there.
    #[error("body {body:?}: no material is called {material:?}; there are: {known}")]
    UnknownMaterial {
        /// Its name.
        body: String,
        /// The name looked for.
        material: String,
        /// The names there are.
        known: String,
    },
    /// A number that must be positive is not.
    #[error("{owner}: {key} is {value}; it must be positive and finite")]
    NotPositive {
        /// Body, collider or material, with its name.
        owner: String,
        /// Key in the pipeline file.
        key: &'static str,
        /// What it holds.
        value: f64,
    },
    /// The mesh file cannot be read.
    #[error("{owner}: {source}")]
    Mesh {
        /// Body or collider, with its name.
        owner: String,
        /// What is wrong with the file.
        source: MeshError,
    },
    /// The mesh bounds no solid.
    #[error("{owner}: {file}: {source}{}", if *.fillable { ", or set fill = \"repair\" or fill = \"winding\"" } else { "" }, file = .file.display())]
    Defect {
        /// Body or collider, with its name.
        owner: String,
        /// The mesh file.
        file: PathBuf,
        /// What is wrong with the mesh.
        source: MeshDefect,
        /// Whether it could be filled as it is.
        fillable: bool,
    },
    /// The mesh cannot be repaired.
    #[error("{owner}: {file}: {source}", file = .file.display())]
    Unrepaired {
        /// Body or collider, with its name.
        owner: String,
        /// The mesh file.
        file: PathBuf,
        /// What is wrong with the mesh.
        source: RepairError,
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
        /// Of the mesh's bounding box, m.
        extent: DVec3,
    },
    /// The profile of a solid of revolution encloses none.
    #[error("body {body:?}: {source}")]
    Profile {
        /// Its name.
        body: String,
        /// What is wrong with the profile.
        source: ProfileFault,
    },
    /// Points that no tube follows.
    #[error("body {body:?}: {source}")]
    Tube {
        /// Its name.
        body: String,
        /// What is wrong with the points.
        source: CurveFault,
    },
    /// Scale and height of a mesh.
    #[error("{owner}: both scale and height are given; give one of them")]
    ScaleAndHeight {
        /// Body or collider, with its name.
        owner: String,
    },
    /// Neither or both of radius and number of elements.
    #[error("body {body:?}: packing needs either radius or elements, {found}")]
    RadiusOrElements {
        /// Its name.
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
        /// Its name.
        body: String,
        /// m
        radius: f64,
        /// Of the body's bounding box in its own frame, m.
        extent: DVec3,
    },
    /// A shape with no room for all layers of its shell.
    #[error(
        "body {body:?}: it is too thin for a shell of {layers} layers of elements of radius {radius} m, {thickness} m thick, about a hollow; \
         give fewer layers, a smaller radius or more elements"
    )]
    TooThin {
        /// Its name.
        body: String,
        /// Of the shell.
        layers: u32,
        /// m
        radius: f64,
        /// Of the shell, m.
        thickness: f64,
    },
    /// A rope that does not go into its cylinder, or whose turns would lie on each other.
    #[error(
        "body {body:?}: a rope of {strands} strands of {filaments} filaments of element radius {radius} m and a pitch of {pitch} m does not fit into \
         its cylinder of radius {cylinder} m; the largest element radius that fits is {largest:.4e} m"
    )]
    Rope {
        /// Its name.
        body: String,
        /// Strands.
        strands: u32,
        /// Filaments of a strand.
        filaments: u32,
        /// Of the elements, m.
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
    Cloth {
        /// Its name.
        body: String,
        /// m
        radius: f64,
        /// Of a sheet, m.
        thickness: f64,
        /// Of the body along y, m.
        height: f64,
    },
    /// A packing of other shapes alone.
    #[error("body {body:?}: {what}")]
    Unfit {
        /// Its name.
        body: String,
        /// Which shapes the packing is for.
        what: &'static str,
    },
    /// More elements than can be numbered.
    #[error(
        "body {body:?}: element radius {radius} m makes about {estimate:.1e} elements; at most {limit} are possible"
    )]
    TooMany {
        /// Its name.
        body: String,
        /// m
        radius: f64,
        /// About how many elements.
        estimate: f64,
        /// Largest number of elements.
        limit: u32,
    },
    /// A body that is next to nothing in its own box, which is what is searched for places.
    #[error(
        "body {body:?}: its box of {x:e} x {y:e} x {z:e} m has about {sites:.1e} places to try at element radius {radius:e} m, \
         far more than it has elements; is a vertex of the mesh astray?",
        x = .extent.x, y = .extent.y, z = .extent.z
    )]
    Sparse {
        /// Its name.
        body: String,
        /// m
        radius: f64,
        /// Places of the lattice in the box.
        sites: f64,
        /// Of the body's bounding box in its own frame, m.
        extent: DVec3,
    },
    /// Poisson's ratio that bonds cannot give.
    #[error(
        "material {material:?}: poisson = {value} is out of reach of bonds, which give values above -1 up to {POISSON_LIMIT}; \
         the energy-preserving method would reach it"
    )]
    Poisson {
        /// Its name.
        material: String,
        /// What was asked for.
        value: f64,
    },
    /// Poisson's ratio of no stable solid.
    #[error(
        "material {material:?}: poisson = {value} is out of reach; cells take values above -1 and below 0.5"
    )]
    PoissonOfCells {
        /// Its name.
        material: String,
        /// What was asked for.
        value: f64,
    },
    /// Cells without or with too much to tell their size by.
    #[error("body {body:?}: packing needs either size or {other}, {found}")]
    SizeOrNumber {
        /// Its name.
        body: String,
        /// The key that may be given instead.
        other: &'static str,
        /// "found both" or "found neither".
        found: &'static str,
    },
    /// Cells too large to follow the skin of their body.
    #[error(
        "body {body:?}: {cells} cells of about {size:.3e} m do not follow its skin: they hold {held:.4e} m^3, it holds {volume:.4e} m^3; \
         give a size under its thinnest part, or more cells"
    )]
    CellsTooLarge {
        /// Its name.
        body: String,
        /// How many.
        cells: usize,
        /// Edge of the cube of a cell's mean volume, m.
        size: f64,
        /// What the cells hold, m³.
        held: f64,
        /// What the body holds, m³.
        volume: f64,
    },
    /// No brick's centre lies in the body.
    #[error(
        "body {body:?}: no brick of {x:.3e} x {y:.3e} x {z:.3e} m has its centre in it; give smaller ones or more rows",
        x = .size.x, y = .size.y, z = .size.z
    )]
    NoBrick {
        /// Its name.
        body: String,
        /// Edges of a brick, m.
        size: DVec3,
    },
    /// Bricks that do not go round.
    #[error(
        "body {body:?}: {rows} bricks go {degrees:.1}° round; each may take up less than 180°, so give more rows or a smaller size"
    )]
    TooFewRound {
        /// Its name.
        body: String,
        /// Bricks around.
        rows: u32,
        /// How far they go.
        degrees: f64,
    },
    /// Two cells about one point.
    #[error(
        "body {body:?}: two of its cells belong to the same point, near ({x:.4e}, {y:.4e}, {z:.4e}) m in its own frame; \
         it is thinner there than its numbers tell apart: give another packing.seed or a larger size",
        x = .near.x, y = .near.y, z = .near.z
    )]
    CoincidentCells {
        /// Its name.
        body: String,
        /// The point.
        near: DVec3,
    },
    /// `elasticity = "bond"` without a shear modulus.
    #[error(
        "material {material:?}: elasticity = \"bond\" needs shear, the shear modulus of the bonds"
    )]
    NoShear {
        /// Its name.
        material: String,
    },
    /// Two bodies in one place.
    #[error(
        "bodies {first:?} and {second:?} overlap at the start: elements by up to {depth:.3e} m, near ({x:.4}, {y:.4}, {z:.4}); \
         move one of them",
        x = .near.x, y = .near.y, z = .near.z
    )]
    Overlap {
        /// Name of one body.
        first: String,
        /// Name of the other.
        second: String,
        /// Sum of radii less distance of the deepest pair, m.
        depth: f64,
        /// Middle of that pair, m.
        near: DVec3,
    },
}

impl PackError {
    /// Whether the pipeline or a mesh that it names is at fault.
    pub fn caused_by_user(&self) -> bool {
        match self {
            PackError::UnknownMaterial { .. }
            | PackError::NotPositive { .. }
            | PackError::Mesh { .. }
            | PackError::Defect { .. }
            | PackError::Unrepaired { .. }
            | PackError::NoVolume { .. }
            | PackError::Profile { .. }
            | PackError::Tube { .. }
            | PackError::ScaleAndHeight { .. }
            | PackError::RadiusOrElements { .. }
            | PackError::RadiusTooLarge { .. }
            | PackError::TooThin { .. }
            | PackError::Rope { .. }
            | PackError::Cloth { .. }
            | PackError::Unfit { .. }
            | PackError::TooMany { .. }
            | PackError::Sparse { .. }
            | PackError::Poisson { .. }
            | PackError::PoissonOfCells { .. }
            | PackError::SizeOrNumber { .. }
            | PackError::CellsTooLarge { .. }
            | PackError::NoBrick { .. }
            | PackError::TooFewRound { .. }
            | PackError::CoincidentCells { .. }
            | PackError::NoShear { .. }
            | PackError::Overlap { .. } => true,
        }
    }

    /// A material that a body names is not in the pipeline.
    pub(super) fn unknown_material(inputs: &Inputs, body: &Body, name: &str) -> Self {
        let known = inputs.materials.iter().map(|m| m.name);
        PackError::UnknownMaterial {
            body: body.name.clone(),
            material: name.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        }
    }
}

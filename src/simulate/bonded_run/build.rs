//! Builds the columns of a simulation from a packing and a pipeline.

use std::sync::Arc;

use glam::DVec3;

use crate::columns::{self, Breaks, Elements, Shape};
use crate::math::Scalar;
use crate::math::lanes::LaneRow;
use crate::simulate::bonded::bond_rows::{BondOutline, BondRow};
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::{LoadRow, System, chunk_for, motion};
use crate::simulate::bonded_run::bond_classes::BondClasses;
use crate::simulate::bonded_run::bond_ends::{BondEnds, joined_twice};
use crate::simulate::bonded_run::{cracks, toughness};
use crate::simulate::contact::polyhedra::shapes::Shapes;
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::attachments::{AppliedAttachments, AttachedForce, attachments};
use crate::simulate::scene::colliders::solid_colliders;
use crate::simulate::scene::reactions::Supports;
use crate::simulate::scene::rigid::RigidBodies;
use crate::simulate::scene::springs::Springs;
use crate::simulate::scene::{pressure, rigid};
use crate::simulate::share::ranks::Ranks;
use crate::simulate::share::shared::{self, Shared};
use crate::simulate::source::{Source, TableHash, mesh_hash};
use crate::spec::{Action, MethodName, Pipeline};

/// A scene built from a packing, ready to step.
#[derive(Clone, Debug)]
pub struct Built<S> {
    /// Elements and bonds.
    pub system: System<S>,
    /// Rows of load: zero loads, inverse masses and inertias.
    pub load: Vec<LoadRow<S>>,
    /// Contact properties by material.
    pub surfaces: Surfaces,
    /// Forces and torques of attachments.
    pub forces: Vec<AttachedForce>,
    /// Springs.
    pub springs: Springs,
    /// Colliders and attachments that bear loads.
    pub supports: Supports,
    /// Rigid bodies that are free to move.
    pub rigid: RigidBodies,
    /// Polyhedra of the elements whose contacts use them; `None` if all elements are balls.
    pub shapes: Option<Arc<Shapes>>,
    /// Bonds that are broken from the start.
    pub opened: Breaks,
    /// Constant data for frames and states.
    pub rest: RestData,
    /// Hash of all numbers of the packing.
    pub hash: u64,
    /// The ranks that compute this scene together, if there are several.
    pub ranks: Ranks,
}

/// Builds the columns.
///
/// # Errors
/// An attachment without elements, or a packing whose numbers are inconsistent.
pub fn build<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<Built<S>, SimulateError> {
    build_shared(source, pipeline, None)
}

/// As [`build`], of a scene that ranks share: with the bonds that this rank needs at the start.
///
/// # Errors
/// Those of [`build`].
pub fn build_shared<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
    shared: Option<Shared>,
) -> Result<Built<S>, SimulateError> {
    let Unbonded {
        mut built,
        inverse_mass,
        inverse_inertia,
        of_cells,
    } = without_bonds::<S>(source, pipeline)?;
    let Built {
        system,
        supports,
        rest,
        opened,
        ranks,
        ..
    } = &mut built;
    if let Some(shared) = &shared {
        system.chunk = chunk_for(system.count, shared.threads);
    }
    // The elements are in columns now; the bonds, of which there are many more, are read in batches.
    let inverse = (&inverse_mass[..], &inverse_inertia[..]);
    let bond_hash = bonds(source, pipeline, inverse, (system, ranks, shared))?;
    toughness::soften(system, pipeline, (&rest.volume, &rest.body));
    // Faces of cells break by their own rules.
    if !of_cells {
        *opened = cracks::open(system);
    }
    for (index, attachment) in pipeline.attachments.iter().enumerate() {
        if let Action::Pressure { pressure } = attachment.action {
            let elements = supports.elements(index);
            let forces = pressure::forces(system, elements, &rest.volume, pressure);
            pressure::require_surface(&forces, &attachment.name)?;
            supports.press(index, forces);
        }
    }
    built.hash ^= bond_hash.rotate_left(1);
    Ok(built)
}

/// Builds the columns without those of the bonds, which are only checked: enough for checks of the start. Bonds take
/// most of the memory of a scene.
///
/// # Errors
/// Those of [`build`].
pub fn build_start<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<Built<S>, SimulateError> {
    let mut attachments = pipeline.attachments.iter();
    // The bonds say which elements are at the surface.
    if attachments.any(|one| matches!(one.action, Action::Pressure { .. })) {
        return build(source, pipeline);
    }
    let Unbonded { built, .. } = without_bonds::<S>(source, pipeline)?;
    let mut ends = BondEnds::new(built.system.count);
    source.bonds(&mut |b| {
        let rows = b.id.iter().zip(b.i.iter().zip(&b.j));
        for (&id, (&i, &j)) in rows {
            ends.add(id, [i, j]);
        }
    })?;
    ends.finish()?;
    Ok(built)
}

/// A scene before its bonds are read.
struct Unbonded<S> {
    /// Its hash is without that of the bonds.
    built: Built<S>,
    /// Inverse masses of the elements, 1/kg, and inverse moments of inertia, 1/(kg m²); 0 where clamped.
    inverse_mass: Vec<f64>,
    inverse_inertia: Vec<f64>,
    /// Whether there are cells among the elements.
    of_cells: bool,
}

/// Builds the columns of elements, colliders and attachments.
fn without_bonds<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<Unbonded<S>, SimulateError> {
    let colliders = solid_colliders(source, pipeline)?;
    let elements = source.elements()?;
    let AppliedAttachments {
        inverse_mass,
        inverse_inertia,
        clamped_velocity,
        forces,
        attached_elements,
    } = attachments(&elements, pipeline)?;
    let (mut system, mut load) = columns::<S>(
        &elements,
        &inverse_mass,
        &inverse_inertia,
        &clamped_velocity,
        pipeline,
    )?;
    drop(clamped_velocity);
    let mut hash = TableHash::default();
    hash.add(elements.as_ref());
    let rest = RestData {
        mass: elements.mass.clone(),
        volume: elements.volume.clone(),
        body: elements.body.clone(),
        inverse_mass: load.iter().map(|row| row.0[3].to_f64()).collect(),
        inverse_inertia: load.iter().map(|row| row.0[7].to_f64()).collect(),
        principal: Vec::new(),
        gravity: DVec3::from_array(pipeline.world.gravity),
        bounds: pipeline.world.bounds,
    };
    let rigid = RigidBodies::new(
        &elements,
        pipeline,
        &attached_elements,
        &mut system,
        &mut load,
    )?;
    rigid.place(&rigid.poses(), 0, &mut system.motion, &mut system.tail);
    let meshes = colliders
        .iter()
        .filter_map(|collider| collider.solid.mesh());
    // Without mesh colliders this leaves the hash of elements and bonds unchanged.
    let mesh_hash = meshes.fold(0, |all: u64, mesh| all.rotate_left(1) ^ mesh_hash(mesh));
    let mut supports = Supports::new(
        colliders,
        &pipeline.attachments,
        attached_elements,
        &system,
        &rest,
    );
    // Forces that change with time are not constant loads.
    for attached in forces.iter().filter(|one| one.signal.is_none()) {
        supports.load(&attached.elements, attached.force);
    }
    let springs = Springs::new(&pipeline.attachments, &supports, &system);
    let clamps = supports.clamps();
    let poses = clamps.poses(0.0);
    clamps.place(&poses, 0, &mut system.motion, &mut system.tail);
    let of_cells = elements.kind.contains(&Shape::Cell);
    Ok(Unbonded {
        built: Built {
            system,
            load,
            surfaces: Surfaces::of(pipeline),
            forces,
            springs,
            supports,
            rigid,
            shapes: None,
            opened: Breaks::default(),
            rest,
            hash: hash.digest() ^ mesh_hash,
            ranks: Ranks::default(),
        },
        inverse_mass,
        inverse_inertia,
        of_cells,
    })
}

/// Motion, radii and loads of the elements.
fn columns<S: Scalar>(
    elements: &Elements,
    inverse_mass: &[f64],
    inverse_inertia: &[f64],
    clamped_velocity: &[Option<[f64; 3]>],
    pipeline: &Pipeline,
) -> Result<(System<S>, Vec<LoadRow<S>>), SimulateError> {
    let count = elements.id.len();
    let chunk = chunk_for(count, rayon::current_num_threads());
    let mut system = System::new(count, chunk, pipeline.simulate.bond_law());
    system.set_rigid(rigid::mask(elements, pipeline));
    let mut load = vec![LaneRow::default(); system.motion.len()];
    for i in 0..count {
        let p = DVec3::new(elements.x[i], elements.y[i], elements.z[i]);
        system.set_position(i, p);
        let moving = clamped_velocity[i].map_or(
            [
                [elements.vx[i], elements.vy[i], elements.vz[i]],
                [elements.wx[i], elements.wy[i], elements.wz[i]],
            ],
            |velocity| [velocity, [0.0; 3]],
        );
        for (at, vector) in [motion::V, motion::W].into_iter().zip(moving) {
            for (k, value) in vector.into_iter().enumerate() {
                system.motion[i].0[at + k] = S::from_f64(value);
            }
        }
        system.tail[i].0[3] = S::from_f64(elements.r[i]);
        system.inverse_mass[i] = S::from_f64(inverse_mass[i]);
        load[i].0[3] = S::from_f64(inverse_mass[i]);
        load[i].0[7] = S::from_f64(inverse_inertia[i]);
        let (material, body) = (elements.material[i], elements.body[i]);
        let refused = |what: &str, number: u32, count: usize| {
            SimulateError::Packing(format!(
                "element {i} has {what} {number}, but the pipeline has only {count}"
            ))
        };
        let (materials, bodies) = (pipeline.materials.len(), pipeline.bodies.len());
        if material as usize >= materials {
            return Err(refused("material", material, materials));
        }
        // A pipeline without bodies accepts any: such packings come from other programs.
        if bodies > 0 && body as usize >= bodies {
            return Err(refused("body", body, bodies));
        }
        system.material[i] = material;
    }
    Ok((system, load))
}

/// Reads the bonds into the system, also those inside rigid pieces; returns the hash of the numbers of all. If the
/// scene is `shared`, assigns the chunks to `ranks`, and holds only the bonds that this rank needs.
fn bonds<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
    inverse: (&[f64], &[f64]),
    (system, ranks, shared): (&mut System<S>, &mut Ranks, Option<Shared>),
) -> Result<u64, SimulateError> {
    let mut hash = TableHash::default();
    let mut ends = BondEnds::new(system.count);
    let mut classes = BondClasses::new(pipeline, inverse);
    let mut outline = BondOutline::with_capacity(source.bond_count()?);
    source.bonds(&mut |b| {
        hash.add(b);
        for k in 0..b.id.len() {
            if !ends.add(b.id[k], [b.i[k], b.j[k]]) {
                return;
            }
            outline.add(&row(b, k, classes.number(&system.material, b, k)));
        }
    })?;
    let valence = ends.finish()?;
    let mut needed = OwnedChunks::default();
    if let Some(shared) = shared {
        *ranks = shared.partition(system, &valence);
        needed = shared::needed(ranks, pipeline);
    }
    drop(valence);
    let size = (system.motion.len(), system.chunk);
    let mut filler = match pipeline.method() {
        // The number of faces per cell varies widely.
        MethodName::Voronoi => Bonds::even_filler(size, outline),
        MethodName::Explicit | MethodName::Implicit => Bonds::filler(size, outline, needed),
    };
    source.bonds(&mut |b| {
        for k in 0..b.id.len() {
            filler.put(&row(b, k, classes.number(&system.material, b, k)));
        }
    })?;
    system.bonds = filler.finish(system.rigid());
    system.classes = classes.all;
    refuse_doubles(system)?;
    Ok(hash.digest())
}

/// Row `k` of a table of bonds, of a class.
fn row<S: Scalar>(b: &columns::Bonds, k: usize, class: u32) -> BondRow<S> {
    BondRow {
        ends: [b.i[k], b.j[k]],
        direction: [b.dx[k], b.dy[k], b.dz[k]].map(S::from_f64),
        length: S::from_f64(b.l0[k]),
        class,
        sigma_c: S::from_f64(b.sigma_c[k]),
        tau_c: S::from_f64(b.tau_c[k]),
        id: b.id[k],
    }
}

/// Returns an error if two elements are joined by more than one bond.
fn refuse_doubles<S: Scalar>(system: &System<S>) -> Result<(), SimulateError> {
    let mut others = Vec::new();
    for i in 0..system.count {
        others.clear();
        for side in system.bonds.sides(i) {
            if others.contains(&side.other) {
                let [i, j] = [i.min(side.other), i.max(side.other)].map(|end| end as u32);
                return Err(joined_twice(system.bonds.id[side.entry], [i, j]));
            }
            others.push(side.other);
        }
    }
    Ok(())
}

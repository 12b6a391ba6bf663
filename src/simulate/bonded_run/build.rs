//! Builds the columns of a simulation from a packing and a pipeline.

use std::sync::Arc;

use glam::DVec3;

use crate::columns::{self, Breaks, Elements};
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::bond_rows::{BondOutline, BondRow};
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::{BondClass, LoadRow, System, chunk_for};
use crate::simulate::bonded_run::bond_classes::BondClasses;
use crate::simulate::bonded_run::bond_ends::{BondEnds, joined_twice};
use crate::simulate::bonded_run::element_columns::{ElementColumns, FilledColumns};
use crate::simulate::bonded_run::element_survey::{ElementSurvey, Surveyor};
use crate::simulate::bonded_run::{cracks, toughness};
use crate::simulate::contact::polyhedra::shapes::Shapes;
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::attachments::AttachedForce;
use crate::simulate::scene::colliders::{PosedCollider, SolidCollider, solid_colliders};
use crate::simulate::scene::pressure;
use crate::simulate::scene::reactions::Supports;
use crate::simulate::scene::rigid::RigidBodies;
use crate::simulate::scene::springs::Springs;
use crate::simulate::share::ranks::Ranks;
use crate::simulate::share::shared::Shared;
use crate::simulate::source::{Source, TableHash, mesh_hash};
use crate::solve::lanczos::BLOCK as BLOCK_OF_SUMS;
use crate::spec::{Action, Criterion, MethodName, Pipeline};

/// Bonds that a scene may have: their ends are counted in 32 bits.
const MOST_BONDS: usize = (u32::MAX / 2) as usize;

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

/// Builds this rank's part of a scene that is `shared`: the elements and bonds that it needs at the start. Without it,
/// builds everything.
///
/// # Errors
/// Those of [`build`].
pub fn build_shared<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
    shared: Option<Shared>,
) -> Result<Built<S>, SimulateError> {
    let colliders = solid_colliders(source, pipeline)?;
    let needs_all = shared.is_none() || every_rank_needs_all(pipeline);
    let (survey, mut columns) = survey::<S>(source, pipeline, shared.as_ref(), needs_all)?;
    let SharedBonds {
        bonds,
        classes,
        hash,
        ranks,
    } = bonds(source, pipeline, &survey, (shared, needs_all))?;
    let mut needed = Vec::new();
    if !needs_all {
        needed = survey.needed(&bonds, &ranks.owned());
        source.elements(&mut |part| columns.add(part, |i| needed[i]))?;
    }
    let keeps = |i: usize| needs_all || needed[i];
    let has_cells = survey.has_cells;
    let mut built = without_bonds(colliders, pipeline, (survey, columns), keeps)?;
    let Built {
        system,
        supports,
        rest,
        opened,
        ..
    } = &mut built;
    (system.bonds, system.classes) = (bonds, classes);
    toughness::soften(system, pipeline, (&rest.volume, &rest.body));
    // Faces of cells break by their own rules.
    if !has_cells {
        *opened = cracks::open(system, &ranks);
    }
    for (index, attachment) in pipeline.attachments.iter().enumerate() {
        if let Action::Pressure { pressure } = attachment.action {
            let elements = supports.elements(index);
            let forces = pressure::forces(system, elements, &rest.volume, pressure);
            pressure::require_surface(&forces, &attachment.name)?;
            supports.press(index, forces);
        }
    }
    built.hash ^= hash.rotate_left(1);
    built.ranks = ranks;
    Ok(built)
}

/// Builds a scene for checks of the start, with a fraction of the memory: without bonds, and with rows only of the
/// elements that attachments or rigid bodies hold or that touch a collider. A scene with pressure is built whole. The
/// ends of bonds are checked, and doubles that follow each other.
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
    let colliders = solid_colliders(source, pipeline)?;
    let (survey, mut columns) = survey::<S>(source, pipeline, None, false)?;
    let at_start: Vec<_> = colliders.iter().map(|one| one.at(0.0)).collect();
    let mut needed = survey.held();
    let mut first = 0;
    source.elements(&mut |part| {
        let rows = first..first + part.id.len();
        first = rows.end;
        let needed_here = needed[rows].par_iter_mut().enumerate();
        needed_here.for_each(|(k, needed)| *needed = *needed || touches(part, k, &at_start));
        columns.add(part, |i| needed[i]);
    })?;
    let built = without_bonds(colliders, pipeline, (survey, columns), |i| needed[i])?;
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

/// Whether element `k` of a batch touches or overlaps one of these colliders.
fn touches(e: &Elements, k: usize, colliders: &[PosedCollider]) -> bool {
    let place = DVec3::new(e.x[k], e.y[k], e.z[k]);
    let mut colliders = colliders.iter();
    colliders.any(|one| one.pose.reaches(&one.solid, place, e.r[k]))
}

/// Whether every rank needs all elements and bonds at the start, not only its own: where bonds soften or break by
/// Rankine's criterion, where fragments sleep, and to find the surface of a body under pressure.
fn every_rank_needs_all(pipeline: &Pipeline) -> bool {
    let mut materials = pipeline.materials.iter();
    let mut attachments = pipeline.attachments.iter();
    pipeline.simulate.sleep
        || materials.any(|one| one.toughness.is_some() || one.criterion == Criterion::Rankine)
        || attachments.any(|one| matches!(one.action, Action::Pressure { .. }))
}

/// Surveys all elements; if it `keeps_all`, also fills the columns.
fn survey<'a, S: Scalar>(
    source: &dyn Source,
    pipeline: &'a Pipeline,
    shared: Option<&Shared>,
    keeps_all: bool,
) -> Result<(ElementSurvey, ElementColumns<'a, S>), SimulateError> {
    let count = source.element_count()?;
    let chunk = match shared {
        None => chunk_for(count, rayon::current_num_threads()),
        // Ranks share the sums of the critical time step by whole chunks.
        Some(shared) => chunk_for(count, shared.threads) / BLOCK_OF_SUMS * BLOCK_OF_SUMS,
    };
    let size = (count, chunk);
    let mut surveyor = Surveyor::new(pipeline, size);
    let mut columns = ElementColumns::new(pipeline, size);
    source.elements(&mut |part| {
        surveyor.add(part);
        if keeps_all {
            columns.add(part, |_| true);
        }
    })?;
    Ok((surveyor.finish()?, columns))
}

/// Builds everything but the bonds; `keeps` says which elements have rows.
fn without_bonds<S: Scalar>(
    colliders: Vec<SolidCollider>,
    pipeline: &Pipeline,
    (mut survey, columns): (ElementSurvey, ElementColumns<S>),
    keeps: impl Fn(usize) -> bool,
) -> Result<Built<S>, SimulateError> {
    let hash = survey.hash;
    let forces = std::mem::take(&mut survey.forces);
    let attached_elements = std::mem::take(&mut survey.attached_elements);
    let FilledColumns {
        mut system,
        mut load,
        rest,
        parts,
    } = columns.finish(survey, &attached_elements, keeps)?;
    let rigid = RigidBodies::new(&parts, pipeline, &attached_elements, &mut system, &mut load)?;
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
    Ok(Built {
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
        hash: hash ^ mesh_hash,
        ranks: Ranks::default(),
    })
}

/// The bonds that this rank holds, with what is known of all bonds.
struct SharedBonds<S> {
    bonds: Bonds<S>,
    classes: Vec<BondClass<S>>,
    /// Hash of the table of all bonds.
    hash: u64,
    ranks: Ranks,
}

/// Reads the bonds in batches, also those inside rigid pieces. If the scene is `shared`, assigns the chunks to ranks,
/// and holds only the bonds of this rank unless it `needs_all`.
fn bonds<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
    survey: &ElementSurvey,
    (shared, needs_all): (Option<Shared>, bool),
) -> Result<SharedBonds<S>, SimulateError> {
    let mut hash = TableHash::default();
    let mut ends = BondEnds::new(survey.count());
    let mut classes = BondClasses::new(pipeline, survey);
    let count = source.bond_count()?;
    if count > MOST_BONDS {
        let what = format!("{count} bonds; at most {MOST_BONDS} are supported");
        return Err(SimulateError::Packing(what));
    }
    let mut outline = BondOutline::with_capacity(count);
    source.bonds(&mut |b| {
        hash.add(b);
        for k in 0..b.id.len() {
            if !ends.add(b.id[k], [b.i[k], b.j[k]]) {
                return;
            }
            outline.add(&row(b, k, classes.number(b, k)));
        }
    })?;
    let valence = ends.finish()?;
    let (mut ranks, mut needed) = Default::default();
    if let Some(shared) = shared {
        ranks = shared.partition(&survey.centres(&valence), survey.chunk);
        if !needs_all {
            needed = ranks.owned();
        }
    }
    drop(valence);
    let size = (survey.count().next_multiple_of(BLOCK), survey.chunk);
    let mut filler = match pipeline.method() {
        // The number of faces per cell varies widely.
        MethodName::Voronoi => Bonds::even_filler(size, outline),
        MethodName::Explicit | MethodName::Implicit => Bonds::filler(size, outline, needed),
    };
    source.bonds(&mut |b| {
        for k in 0..b.id.len() {
            filler.put(&row(b, k, classes.number(b, k)));
        }
    })?;
    let bonds = filler.finish(&survey.mask);
    refuse_doubles(&bonds, survey.count())?;
    Ok(SharedBonds {
        bonds,
        classes: classes.all,
        hash: hash.digest(),
        ranks,
    })
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
fn refuse_doubles<S: Scalar>(bonds: &Bonds<S>, count: usize) -> Result<(), SimulateError> {
    let mut others = Vec::new();
    for i in 0..count {
        others.clear();
        for side in bonds.sides(i) {
            if others.contains(&side.other) {
                let [i, j] = [i.min(side.other), i.max(side.other)].map(|end| end as u32);
                return Err(joined_twice(bonds.id[side.entry], [i, j]));
            }
            others.push(side.other);
        }
    }
    Ok(())
}

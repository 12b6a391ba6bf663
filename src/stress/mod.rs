//! Stage `stress`: the stress in bodies under loads, clamps, gravity and spin, from their surfaces alone
//! (Zhu, Bridson and Greif 2015). Nothing moves: loads balance, or inertia balances their resultant. The
//! stage depends on no other stage.
//!
//! Each body is solved separately with [`crate::bem`]. Loads come from the pipeline: attachments load or
//! clamp the part of a body's surface that lies in their regions, and colliders exert no force.
//! Alternatively, loads are those that frames of a simulation recorded. If the packing has elements, stress
//! is computed at their centres too.

mod body;
mod case;
mod clamp;
mod error;
mod fracture;
mod patch;
mod piece_loads;
mod recorded;
mod rows;
mod solid;
mod supported;
mod verdict;

use std::ops::Range;
use std::time::Instant;

use crate::columns::{Elements, Stress};
use crate::geometry::{TriMesh, ply};
use crate::spec::{FrameGroup, Pipeline};
use crate::store::{Store, StoreError, atomic, layout};
use body::BodyResponse;
use case::{Clamp, LoadCase};
use fracture::CrackedPacking;
use piece_loads::PieceLoads;
use recorded::{BodyMotion, RecordedLoads};
use solid::Solid;

pub use error::StressError;
pub use fracture::Cracks;
pub use verdict::{Findings, LargestStress, Verdict};

/// Number of the table if the loads come from the pipeline.
const PIPELINE_TABLE: u32 = 0;

/// Load cases and clamps of a body, and notes for the user; none if the body is left out.
type BodyLoading = Option<(Vec<LoadCase>, Vec<Clamp>, Vec<String>)>;

/// Computes the stress in every body of a packed store, and writes `stress/NNNNNN.parquet` and
/// `stress/shapes/N.ply`: under the loads of the pipeline, or under those that `frames` recorded. If the
/// pipeline lets bodies crack, it also writes frames 0 and 1 and the broken bonds, as a simulation does.
///
/// `on_body` is called after each body with (number of bodies done, total number).
pub fn run(
    store: &Store,
    pipeline: &Pipeline,
    frames: Option<&Range<u32>>,
    on_body: &mut dyn FnMut(usize, usize),
) -> Result<Findings, StressError> {
    let columns = ["body", "x", "y", "z", "r", "mass"];
    let elements = store.read_element_columns(&columns)?;
    let bodies = pipeline.bodies.iter().enumerate();
    let solids = bodies
        .map(|(number, _)| {
            let skin = store.read_skin(number as u32)?;
            Solid::new(skin, pipeline, &elements, number)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let numbers = match frames {
        Some(frames) => frames_in_range(store, frames)?,
        None => vec![PIPELINE_TABLE],
    };
    let settings = pipeline.stress.clone().unwrap_or_default();
    if settings.fracture.is_some() && frames.is_none() {
        require_strength_and_elements(&solids)?;
    }
    let mut cracked = match &settings.fracture {
        Some(_) if frames.is_none() => Some(CrackedPacking::new(store)?),
        _ => None,
    };
    let all = numbers.len() * solids.len();
    let mut findings = Findings::default();
    for (at, number) in numbers.into_iter().enumerate() {
        let (time, loadings) = match frames {
            Some(_) => loads_of_frame(store, pipeline, &elements, &solids, number)?,
            None => loads_of_pipeline(pipeline, &solids)?,
        };
        let mut table = Stress::default();
        for (solid, loading) in solids.iter().zip(loadings) {
            match loading {
                Some(loading) => {
                    let loads = PieceLoads::new(solid, &loading.0, &loading.1);
                    let (mut verdict, outcome) =
                        respond(solid, loading, (number, time), &mut table)?;
                    if let (Some(cracked), Some(fracture)) = (&mut cracked, &settings.fracture) {
                        verdict.cracks = Some(cracked.crack(solid, &outcome, &loads, fracture)?);
                    }
                    findings.verdicts.push(verdict);
                }
                None => findings.left_out.push((solid.name.clone(), number)),
            }
            on_body(findings.verdicts.len() + findings.left_out.len(), all);
        }
        if at == 0 {
            // From here on the loads can no longer be refused.
            clear_and_write_surfaces(store, &solids, pipeline.is_static() && frames.is_none())?;
        }
        store.write_numbered("stress", number, &table)?;
    }
    if let Some(cracked) = cracked {
        cracked.write(store, 1.0 / pipeline.time.frames_per_second)?;
    }
    Ok(findings)
}

/// Removes earlier stress tables; if no simulation writes frames, also those of earlier cracks and their
/// reconstructed surfaces. Then writes the surfaces of the bodies.
fn clear_and_write_surfaces(
    store: &Store,
    solids: &[Solid],
    is_static: bool,
) -> Result<(), StressError> {
    store.clear(&["stress"])?;
    if is_static {
        store.clear(&layout::made_by("reconstruct"))?;
        store.clear(&layout::made_by("simulate"))?;
    }
    for (number, solid) in solids.iter().enumerate() {
        let path = store.stress_shape_path(number);
        atomic::write(&path, |out| ply::write_ply(&solid.surface.mesh, out))?;
    }
    Ok(())
}

/// Refuses bodies that have no tensile strength or no elements, which cracks need.
fn require_strength_and_elements(solids: &[Solid]) -> Result<(), StressError> {
    for solid in solids {
        let body = solid.name.clone();
        if solid.strength.is_none() {
            return Err(StressError::NoStrength { body });
        }
        if solid.ids.is_empty() {
            return Err(StressError::NoElements { body });
        }
    }
    Ok(())
}

/// What [`run`] would solve for a body.
#[derive(Clone, Debug, PartialEq)]
pub struct StressPlan {
    /// Name of the body.
    pub body: String,
    /// Number of triangles of its surface.
    pub triangles: usize,
    /// Number of points inside.
    pub points: usize,
    /// Number of right-hand sides: two for each load, one to solve it and one to find its share of the
    /// stress; six for each clamp; one for all loads together.
    pub solves: usize,
    /// Repairs and remeshing of the surface.
    pub notes: Vec<String>,
}

/// What [`run`] would solve for a packing with these skins, without solving it.
pub fn plan(
    pipeline: &Pipeline,
    elements: &Elements,
    skins: &[TriMesh],
) -> Result<Vec<StressPlan>, StressError> {
    let numbers = 0..pipeline.bodies.len();
    let solids = numbers
        .map(|number| Solid::new(skins.get(number).cloned(), pipeline, elements, number))
        .collect::<Result<Vec<_>, _>>()?;
    if pipeline.is_static() && pipeline.has_frames() {
        require_strength_and_elements(&solids)?;
    }
    let (_, loadings) = loads_of_pipeline(pipeline, &solids)?;
    let plans = solids.into_iter().zip(loadings).map(|(solid, loading)| {
        let (cases, clamps, _) = loading.unwrap_or_default();
        StressPlan {
            body: solid.name,
            triangles: solid.surface.len(),
            points: solid.points.len(),
            solves: 1 + 2 * cases.len() + 6 * clamps.len(),
            notes: solid.notes,
        }
    });
    Ok(plans.collect())
}

fn frames_in_range(store: &Store, range: &Range<u32>) -> Result<Vec<u32>, StressError> {
    let frames = store.frames(range)?;
    match frames.is_empty() {
        true => Err(StressError::NoFrames {
            path: store.root().to_owned(),
        }),
        false => Ok(frames),
    }
}

/// Solves a body, adds its rows to the table and reports how near it is to cracking.
fn respond(
    solid: &Solid,
    (cases, clamps, notes): (Vec<LoadCase>, Vec<Clamp>, Vec<String>),
    (frame, time): (u32, f64),
    table: &mut Stress,
) -> Result<(Verdict, BodyResponse), StressError> {
    let clock = Instant::now();
    let response = body::respond(solid, cases, &clamps)?;
    let context = rows::RowContext {
        frame,
        time,
        body: solid.number as u32,
        strength: solid.strength,
    };
    let (surface, points) = (&solid.surface, &solid.points);
    rows::triangles(table, context, surface, &response.triangles);
    rows::elements(table, context, &solid.ids, points, &response.points);
    let verdict = Verdict {
        body: solid.name.clone(),
        frame,
        time,
        triangles: surface.len(),
        points: points.len(),
        solves: response.solves,
        seconds: clock.elapsed().as_secs_f64(),
        notes,
        largest: LargestStress::of(&response, solid),
        unbalanced: response.unbalanced.filter(|_| clamps.is_empty()),
        cracks: None,
    };
    Ok((verdict, response))
}

/// Time, s, and load cases and clamps of each body, from the pipeline.
fn loads_of_pipeline(
    pipeline: &Pipeline,
    solids: &[Solid],
) -> Result<(f64, Vec<BodyLoading>), StressError> {
    let settings = pipeline.stress.clone().unwrap_or_default();
    let time = settings.time.unwrap_or(pipeline.time.end);
    let loadings = solids.iter().zip(&pipeline.bodies).map(|(solid, body)| {
        let (cases, clamps) = case::cases_and_clamps(body, &solid.surface, pipeline, time)?;
        Ok(Some((cases, clamps, solid.notes.clone())))
    });
    Ok((time, loadings.collect::<Result<_, StressError>>()?))
}

/// Time, s, and load cases of each body, as a frame recorded them. Bodies that are broken or have no elements
/// are left out.
fn loads_of_frame(
    store: &Store,
    pipeline: &Pipeline,
    elements: &Elements,
    solids: &[Solid],
    number: u32,
) -> Result<(f64, Vec<BodyLoading>), StressError> {
    let needed = [
        FrameGroup::Position,
        FrameGroup::Rotation,
        FrameGroup::Fragment,
    ];
    let frame = store.read_frame_of(number, &needed, elements.id.len())?;
    let time = frame.time.first().copied().unwrap_or_default();
    let loads = match store.read_loads(number) {
        Err(StoreError::Missing { .. }) => Default::default(),
        other => other?,
    };
    let motions: Vec<Option<BodyMotion>> = (0..solids.len() as u32)
        .map(|body| BodyMotion::new(elements, &frame, body))
        .collect();
    let record = RecordedLoads {
        store,
        pipeline,
        loads: &loads,
        time,
    };
    let contact_patches = record.contact_patches(solids, &motions)?;
    let mut loadings = Vec::with_capacity(solids.len());
    for (at, solid) in solids.iter().enumerate() {
        let Some(motion) = &motions[at] else {
            loadings.push(None);
            continue;
        };
        let (cases, notes) = record.load_cases(solid, motion, at, &contact_patches);
        let notes = [&solid.notes[..], &notes].concat();
        loadings.push(Some((cases, Vec::new(), notes)));
    }
    Ok((time, loadings))
}

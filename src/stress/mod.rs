//! Stage `stress`: the stress in bodies under loads, clamps, gravity and spin, from their surfaces alone
//! (Zhu, Bridson and Greif 2015). Nothing moves: loads balance, or inertia takes what is left. Knows no other
//! stage.
//!
//! Each body is solved by itself with [`crate::bem`]. Loads follow from the pipeline: attachments load or
//! clamp the part of a body's surface that lies in their regions, colliders press on nothing. Or they are
//! those that frames of a simulation recorded. Elements of the packing, where there are some, are points
//! inside at which stress is computed too.

mod body;
mod carried;
mod case;
mod clamp;
mod error;
mod fracture;
mod patch;
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
use body::Outcome;
use carried::Carried;
use case::{Case, Grip};
use fracture::Cracked;
use recorded::{Motion, Recorded};
use solid::Solid;

pub use error::StressError;
pub use fracture::Cracks;
pub use verdict::{Findings, Largest, Verdict};

/// Number of the table of loads that follow from the pipeline.
const FRAME: u32 = 0;

/// Loads and clamps of a body, and what should be said of them; none where it is left out.
type Loading = Option<(Vec<Case>, Vec<Grip>, Vec<String>)>;

/// Computes the stress in every body of a packed store and writes `stress/NNNNNN.parquet` and
/// `stress/shapes/N.ply`: under the loads of the pipeline, or under those that `frames` recorded. Where the
/// pipeline lets bodies crack, it writes frames 0 and 1 and the bonds that broke, as a simulation does.
///
/// `on_body` hears (done, of how many).
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
        Some(frames) => some_frames(store, frames)?,
        None => vec![FRAME],
    };
    let settings = pipeline.stress.clone().unwrap_or_default();
    if settings.fracture.is_some() && frames.is_none() {
        require_cracking(&solids)?;
    }
    let mut cracked = match &settings.fracture {
        Some(_) if frames.is_none() => Some(Cracked::new(store)?),
        _ => None,
    };
    let all = numbers.len() * solids.len();
    let mut findings = Findings::default();
    for (at, number) in numbers.into_iter().enumerate() {
        let (time, loadings) = match frames {
            Some(_) => recorded(store, pipeline, &elements, &solids, number)?,
            None => given(pipeline, &solids)?,
        };
        let mut table = Stress::default();
        for (solid, loading) in solids.iter().zip(loadings) {
            match loading {
                Some(loading) => {
                    let loads = Carried::new(solid, &loading.0, &loading.1);
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
            // Only now is nothing left that could refuse the loads.
            begin(store, &solids, pipeline.is_static() && frames.is_none())?;
        }
        store.write_numbered("stress", number, &table)?;
    }
    if let Some(cracked) = cracked {
        cracked.write(store, 1.0 / pipeline.time.frames_per_second)?;
    }
    Ok(findings)
}

/// Removes earlier tables, and where no simulation makes frames those of earlier cracks and their surfaces,
/// and writes the surfaces of the bodies.
fn begin(store: &Store, solids: &[Solid], is_static: bool) -> Result<(), StressError> {
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

/// Refuses bodies that lack what cracks need.
fn require_cracking(solids: &[Solid]) -> Result<(), StressError> {
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

/// What would be solved of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the body.
    pub body: String,
    /// Triangles of its surface.
    pub triangles: usize,
    /// Points inside.
    pub points: usize,
    /// Right-hand sides: each load twice, to solve it and to find its share; six a clamp; all loads together.
    pub solves: usize,
    /// What was or would be done to the surface.
    pub notes: Vec<String>,
}

/// What `run` would solve of a packing with these skins, without solving it.
pub fn plan(
    pipeline: &Pipeline,
    elements: &Elements,
    skins: &[TriMesh],
) -> Result<Vec<Plan>, StressError> {
    let numbers = 0..pipeline.bodies.len();
    let solids = numbers
        .map(|number| Solid::new(skins.get(number).cloned(), pipeline, elements, number))
        .collect::<Result<Vec<_>, _>>()?;
    if pipeline.is_static() && pipeline.has_frames() {
        require_cracking(&solids)?;
    }
    let (_, loadings) = given(pipeline, &solids)?;
    let plans = solids.into_iter().zip(loadings).map(|(solid, loading)| {
        let (cases, grips, _) = loading.unwrap_or_default();
        Plan {
            body: solid.name,
            triangles: solid.surface.len(),
            points: solid.points.len(),
            solves: 1 + 2 * cases.len() + 6 * grips.len(),
            notes: solid.notes,
        }
    });
    Ok(plans.collect())
}

fn some_frames(store: &Store, range: &Range<u32>) -> Result<Vec<u32>, StressError> {
    let frames = store.frames(range)?;
    match frames.is_empty() {
        true => Err(StressError::NoFrames {
            path: store.root().to_owned(),
        }),
        false => Ok(frames),
    }
}

/// Solves a body, adds its rows and says how near it is to cracking.
fn respond(
    solid: &Solid,
    (cases, grips, notes): (Vec<Case>, Vec<Grip>, Vec<String>),
    (frame, time): (u32, f64),
    table: &mut Stress,
) -> Result<(Verdict, Outcome), StressError> {
    let clock = Instant::now();
    let response = body::respond(solid, cases, &grips)?;
    let owner = rows::Owner {
        frame,
        time,
        body: solid.number as u32,
        strength: solid.strength,
    };
    let (surface, points) = (&solid.surface, &solid.points);
    rows::triangles(table, owner, surface, &response.triangles);
    rows::elements(table, owner, &solid.ids, points, &response.points);
    let verdict = Verdict {
        body: solid.name.clone(),
        frame,
        time,
        triangles: surface.len(),
        points: points.len(),
        solves: response.solves,
        seconds: clock.elapsed().as_secs_f64(),
        notes,
        largest: Largest::of(&response, solid),
        unbalanced: response.unbalanced.filter(|_| grips.is_empty()),
        cracks: None,
    };
    Ok((verdict, response))
}

/// Loads of the pipeline at its time.
fn given(pipeline: &Pipeline, solids: &[Solid]) -> Result<(f64, Vec<Loading>), StressError> {
    let settings = pipeline.stress.clone().unwrap_or_default();
    let time = settings.time.unwrap_or(pipeline.time.end);
    let loadings = solids.iter().zip(&pipeline.bodies).map(|(solid, body)| {
        let (cases, grips) = case::of_body(body, &solid.surface, pipeline, time)?;
        Ok(Some((cases, grips, solid.notes.clone())))
    });
    Ok((time, loadings.collect::<Result<_, StressError>>()?))
}

/// Loads that a frame recorded. Bodies that are broken or have no elements are left out.
fn recorded(
    store: &Store,
    pipeline: &Pipeline,
    elements: &Elements,
    solids: &[Solid],
    number: u32,
) -> Result<(f64, Vec<Loading>), StressError> {
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
    let motions: Vec<Option<Motion>> = (0..solids.len() as u32)
        .map(|body| Motion::new(elements, &frame, body))
        .collect();
    let record = Recorded {
        store,
        pipeline,
        loads: &loads,
        time,
    };
    let touched = record.touched(solids, &motions)?;
    let mut loadings = Vec::with_capacity(solids.len());
    for (at, solid) in solids.iter().enumerate() {
        let Some(motion) = &motions[at] else {
            loadings.push(None);
            continue;
        };
        let (cases, notes) = record.of_body(solid, motion, at, &touched);
        let notes = [&solid.notes[..], &notes].concat();
        loadings.push(Some((cases, Vec::new(), notes)));
    }
    Ok((time, loadings))
}

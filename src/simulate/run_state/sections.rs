//! The sections of a state that runs of bonded elements write and read.

use super::averages::LastLoad;
use super::snapshot::Effort;
use super::state::{SectionKind, State, check_length};
use crate::math::Scalar;
use crate::simulate::bonded::work::Work;
use crate::simulate::contact::chunk::SpringEntry;
use crate::simulate::contact::pair_list::Memory;
use crate::simulate::contact::polyhedra::list::{ShapeEntry, ShapeMemory};
use crate::simulate::error::StateError;
use crate::simulate::scene::rigid_body::BODY_NUMBERS;

/// Angular momenta of cells; absent if there are none.
const MOMENTA: SectionKind = SectionKind::first("angular momenta");
const PAIRS: SectionKind = SectionKind::first("contact pairs");
const SPRINGS: SectionKind = SectionKind::first("friction springs");
/// Rolling springs of contacts; absent if all are zero.
const ROLLING: SectionKind = SectionKind::first("rolling springs");
/// Whether each contact slides, 1 or 0; absent if none does.
const SLIDING: SectionKind = SectionKind::first("sliding contacts");
/// Contact pairs of polyhedra; absent if there are none.
const SHAPE_PAIRS: SectionKind = SectionKind::first("contact pairs of polyhedra");
const SHAPE_MEMORY: SectionKind = SectionKind::first("contacts of polyhedra");
const SLIDING_SHAPES: SectionKind = SectionKind::first("sliding contacts of polyhedra");
const LABELS: SectionKind = SectionKind::first("fragment labels");
const LAST_NAMES: SectionKind = SectionKind::first("names of supports");
const LAST_LOADS: SectionKind = SectionKind::first("loads on supports");
const RIGID: SectionKind = SectionKind::first("rigid bodies");
const WORK: SectionKind = SectionKind::first("energy taken");
const EFFORT: SectionKind = SectionKind::first("implicit effort");

/// Writes angular momenta of cells, kg m²/s.
pub fn put_momenta<S: Scalar>(state: &mut State, momenta: impl ExactSizeIterator<Item = [S; 4]>) {
    state.put(MOMENTA, momenta);
}

/// Reads what [`put_momenta`] wrote.
pub fn read_momenta<'a, S: Scalar>(
    state: &State,
    to: impl ExactSizeIterator<Item = &'a mut [S; 4]>,
) -> Result<(), StateError> {
    state.copy_into(MOMENTA, to)
}

/// Writes the history of contacts that have any.
pub fn put_springs<S: Scalar>(state: &mut State, springs: &[SpringEntry<S>]) {
    state.put(PAIRS, springs.iter().map(|e| [e.element, e.partner]));
    state.put(SPRINGS, springs.iter().map(|e| e.memory.spring));
    let mut rolls = springs.iter().flat_map(|entry| entry.memory.roll);
    if rolls.any(|value| value.to_f64() != 0.0) {
        state.put(ROLLING, springs.iter().map(|e| e.memory.roll));
    }
    put_sliding(state, SLIDING, springs.iter().map(|e| e.memory.slides));
}

/// Reads what [`put_springs`] wrote.
pub fn springs<S: Scalar>(state: &State) -> Result<Vec<SpringEntry<S>>, StateError> {
    let pairs = state.require::<u32, 2>(PAIRS)?;
    let springs = state.require::<S, 3>(SPRINGS)?;
    check_length(SPRINGS.name, springs.len(), pairs.len())?;
    let rolls: Vec<[S; 3]> = match state.get::<S, 3>(ROLLING)? {
        Some(rolls) => rolls.collect(),
        None => vec![[S::default(); 3]; pairs.len()],
    };
    check_length(ROLLING.name, rolls.len(), pairs.len())?;
    let sliding = sliding(state, SLIDING, pairs.len())?;
    let all = pairs.zip(springs).zip(rolls).zip(sliding);
    Ok(all
        .map(
            |((([element, partner], spring), roll), slides)| SpringEntry {
                element,
                partner,
                memory: Memory {
                    spring,
                    roll,
                    slides,
                },
            },
        )
        .collect())
}

/// Writes which contacts slide, 1 or 0, if any does.
pub fn put_sliding(
    state: &mut State,
    section: SectionKind,
    sliding: impl ExactSizeIterator<Item = bool> + Clone,
) {
    if sliding.clone().any(|slides| slides) {
        state.put(section, sliding.map(|slides| [u8::from(slides)]));
    }
}

/// Reads what [`put_sliding`] wrote of `count` contacts.
pub fn sliding(state: &State, section: SectionKind, count: usize) -> Result<Vec<bool>, StateError> {
    let Some(rows) = state.get::<u8, 1>(section)? else {
        return Ok(vec![false; count]);
    };
    check_length(section.name, rows.len(), count)?;
    Ok(rows.map(|[slides]| slides != 0).collect())
}

/// Writes the memory of contacts of polyhedra, if there are any.
pub fn put_shapes(state: &mut State, entries: &[ShapeEntry]) {
    if entries.is_empty() {
        return;
    }
    let row = |entry: &ShapeEntry| {
        let ShapeMemory {
            spring: [a, b, c],
            roll: [d, e, f],
            allowed,
            slides: _,
        } = entry.memory;
        [a, b, c, d, e, f, allowed]
    };
    state.put(SHAPE_PAIRS, entries.iter().map(|e| [e.element, e.partner]));
    state.put(SHAPE_MEMORY, entries.iter().map(row));
    let sliding = entries.iter().map(|e| e.memory.slides);
    put_sliding(state, SLIDING_SHAPES, sliding);
}

/// Reads what [`put_shapes`] wrote.
pub fn shapes(state: &State) -> Result<Vec<ShapeEntry>, StateError> {
    let Some(pairs) = state.get::<u32, 2>(SHAPE_PAIRS)? else {
        return Ok(Vec::new());
    };
    let rows = state.require::<f64, 7>(SHAPE_MEMORY)?;
    check_length(SHAPE_MEMORY.name, rows.len(), pairs.len())?;
    let sliding = sliding(state, SLIDING_SHAPES, pairs.len())?;
    let all = pairs.zip(rows).zip(sliding);
    let all = all.map(|(([element, partner], row), slides)| {
        let [a, b, c, d, e, f, allowed] = row;
        ShapeEntry {
            element,
            partner,
            memory: ShapeMemory {
                spring: [a, b, c],
                roll: [d, e, f],
                allowed,
                slides,
            },
        }
    });
    Ok(all.collect())
}

/// Writes the fragment label of each element.
pub fn put_labels(state: &mut State, labels: &[u32]) {
    state.put(LABELS, labels.iter().map(|&label| [label]));
}

/// Reads what [`put_labels`] wrote for `count` elements.
pub fn labels(state: &State, count: usize) -> Result<Vec<u32>, StateError> {
    let labels = state.require::<u32, 1>(LABELS)?;
    check_length(LABELS.name, labels.len(), count)?;
    Ok(labels.map(|[label]| label).collect())
}

/// Writes the load on each collider and attachment in the last step.
pub fn put_last_loads(state: &mut State, loads: &[LastLoad]) {
    let names: Vec<(bool, &str)> = loads
        .iter()
        .map(|load| (load.attachment, load.name.as_str()))
        .collect();
    let names = serde_json::to_vec(&names).expect("names are text");
    state.put(LAST_NAMES, names.into_iter().map(|byte| [byte]));
    state.put(LAST_LOADS, loads.iter().map(|load| load.wrench));
}

/// Reads what [`put_last_loads`] wrote.
pub fn last_loads(state: &State) -> Result<Vec<LastLoad>, StateError> {
    let names = state.require::<u8, 1>(LAST_NAMES)?;
    let names: Vec<u8> = names.map(|[byte]| byte).collect();
    let names: Vec<(bool, String)> =
        serde_json::from_slice(&names).map_err(|error| StateError::Unreadable {
            section: LAST_NAMES.name,
            why: error.to_string(),
        })?;
    let wrenches = state.require::<f64, 6>(LAST_LOADS)?;
    check_length(LAST_LOADS.name, wrenches.len(), names.len())?;
    let all = names.into_iter().zip(wrenches);
    Ok(all
        .map(|((attachment, name), wrench)| LastLoad {
            attachment,
            name,
            wrench,
        })
        .collect())
}

/// Writes the motion of the free rigid bodies.
pub fn put_rigid(state: &mut State, bodies: &[[f64; BODY_NUMBERS]]) {
    state.put(RIGID, bodies.iter().copied());
}

/// Reads what [`put_rigid`] wrote; empty if the run had no rigid bodies.
pub fn rigid(state: &State) -> Result<Vec<[f64; BODY_NUMBERS]>, StateError> {
    let bodies = state.get(RIGID)?;
    Ok(bodies.map_or_else(Vec::new, Iterator::collect))
}

/// Writes the energy dissipated by damping, friction and breaking, if `output.work` is set.
pub fn put_work(state: &mut State, work: Option<Work>) {
    if let Some(work) = work {
        let row = [work.damping, work.friction, work.breaking];
        state.put(WORK, [row].into_iter());
    }
}

/// Reads what [`put_work`] wrote.
pub fn work(state: &State) -> Result<Option<Work>, StateError> {
    let row = state.get::<f64, 3>(WORK)?.and_then(|mut rows| rows.next());
    Ok(row.map(|[damping, friction, breaking]| Work {
        damping,
        friction,
        breaking,
    }))
}

/// Writes the effort of implicit steps since the start.
pub fn put_effort(state: &mut State, effort: Effort) {
    let row = [effort.solves, effort.newton, effort.gradients];
    state.put(EFFORT, [row].into_iter());
}

/// Reads what [`put_effort`] wrote; zero if the run was explicit.
pub fn effort(state: &State) -> Result<Effort, StateError> {
    let row = state.get::<u64, 3>(EFFORT)?;
    let row = row.and_then(|mut rows| rows.next()).unwrap_or_default();
    let [solves, newton, gradients] = row;
    Ok(Effort {
        solves,
        newton,
        gradients,
    })
}

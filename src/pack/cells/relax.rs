//! Voronoi cells that fill a shape: generators move to the centres of their cells (Lloyd 1982), then the
//! planes at the skin are adjusted.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::super::hilbert;
use crate::geometry::convex::Convex;
use crate::geometry::mirror::{Mirror, MirrorImage};
use crate::geometry::voronoi::{CellProperties, CellScratch, CoincidentGenerators, VoronoiDiagram};

/// Step of a generator over its distance to the cell's centre. Over-relaxation halves the number of rounds.
const OVER_RELAXATION: f64 = 1.5;
/// Rounds in which the planes at a curved skin are adjusted.
const SKIN_ROUNDS: usize = 3;
/// Fraction of the mean cell volume below which a cell is a sliver, whose generator is removed.
const SLIVER_VOLUME: f64 = 1e-3;
/// Initial reach of the cells over the spacing.
const INITIAL_REACH: f64 = 2.0;
/// Margin over the spacing between a shape and the box around it.
const BOX_MARGIN: f64 = 4.0;
/// Tag of the sides of that box.
const BOX_SIDE: u32 = u32::MAX;

/// The boundary of the cells.
pub enum CellBorder<'a> {
    /// The planes of a box about the origin: the cells fill it exactly.
    Box { half: DVec3 },
    /// The skin of a closed mesh.
    Skin(Mirror<'a>),
}

impl CellBorder<'_> {
    fn images(&self, generators: &[DVec3], reach: &[f64]) -> Vec<MirrorImage> {
        match self {
            CellBorder::Box { .. } => Vec::new(),
            CellBorder::Skin(mirror) => mirror.images(generators, reach),
        }
    }

    fn contains(&self, p: DVec3) -> bool {
        match self {
            CellBorder::Box { half } => p.abs().cmplt(*half).all(),
            CellBorder::Skin(mirror) => mirror.contains(p),
        }
    }

    fn bounds(&self, spacing: f64) -> [DVec3; 2] {
        match self {
            CellBorder::Box { half } => [-*half, *half],
            CellBorder::Skin(mirror) => {
                let (low, high) = mirror.bounds();
                [low - BOX_MARGIN * spacing, high + BOX_MARGIN * spacing]
            }
        }
    }
}

/// Voronoi cells of generators about `spacing` (m) apart, after moving them to the centres of their cells
/// `rounds` times. The tag of a face at the skin is not below the number of cells. Slivers are removed, and
/// their volume goes to the cells around them.
///
/// # Errors
/// The position of two coincident generators.
pub fn relaxed_cells(
    border: &CellBorder,
    mut generators: Vec<DVec3>,
    spacing: f64,
    rounds: u32,
) -> Result<Vec<Convex>, DVec3> {
    // Order by a Hilbert curve, for locality in memory.
    let order = hilbert::order(&generators);
    generators = order.iter().map(|&at| generators[at as usize]).collect();
    let mut reach = vec![INITIAL_REACH * spacing; generators.len()];
    for _ in 0..rounds {
        let images = border.images(&generators, &reach);
        let blobs = blobs(border, &generators, &images, spacing);
        let blobs = blobs.map_err(|pair| position_of(&generators, pair))?;
        (generators, reach) = moved_generators(border, &generators, &blobs, spacing);
    }
    loop {
        let images = adjusted_images(border, &generators, &reach, spacing);
        let images = images.map_err(|pair| position_of(&generators, pair))?;
        let all = with_images(&generators, &images);
        let diagram = VoronoiDiagram::new(&all, spacing, border.bounds(spacing), [BOX_SIDE; 6]);
        let found = (0..generators.len())
            .into_par_iter()
            .map_init(CellScratch::default, |cutter, own| {
                diagram.cell(own, cutter)
            })
            .collect::<Result<Vec<Convex>, _>>();
        let mut found = found.map_err(|pair| position_of(&generators, pair))?;
        let slivers = slivers(&found);
        if !slivers.contains(&true) {
            if let CellBorder::Skin(mirror) = border {
                free_faces_across_gaps(&mut found, &generators, mirror);
            }
            return Ok(found);
        }
        generators = remaining(&generators, &slivers);
        reach = remaining(&reach, &slivers);
    }
}

fn position_of(generators: &[DVec3], CoincidentGenerators(own, _): CoincidentGenerators) -> DVec3 {
    generators[own as usize]
}

/// Makes the faces free between cells on both sides of a gap in the mesh that is thinner than the cells.
fn free_faces_across_gaps(cells: &mut [Convex], generators: &[DVec3], mirror: &Mirror) {
    let count = cells.len();
    let of_one = |own: usize| {
        let faces = cells[own].faces.iter().filter(|face| {
            let other = face.tag as usize;
            other > own
                && other < count
                && mirror.has_gap_between(generators[own], generators[other])
        });
        faces.map(|face| [own as u32, face.tag]).collect::<Vec<_>>()
    };
    let all: Vec<Vec<[u32; 2]>> = (0..count).into_par_iter().map(of_one).collect();
    for [i, j] in all.concat() {
        for [own, other] in [[i, j], [j, i]] {
            let faces = cells[own as usize].faces.iter_mut();
            let towards = faces.filter(|face| face.tag == other);
            towards.for_each(|face| face.tag = BOX_SIDE);
        }
    }
}

fn remaining<T: Copy>(all: &[T], gone: &[bool]) -> Vec<T> {
    let kept = all.iter().zip(gone).filter(|(_, gone)| !**gone);
    kept.map(|(one, _)| *one).collect()
}

/// Whether each cell is a sliver or empty.
fn slivers(cells: &[Convex]) -> Vec<bool> {
    let volume = |cell: &Convex| cell.mass().map_or(0.0, |mass| mass.volume);
    let volumes: Vec<f64> = cells.par_iter().map(volume).collect();
    let least = SLIVER_VOLUME * volumes.iter().sum::<f64>() / volumes.len().max(1) as f64;
    volumes.iter().map(|volume| *volume <= least).collect()
}

fn with_images(generators: &[DVec3], images: &[MirrorImage]) -> Vec<DVec3> {
    let behind = images.iter().map(|image| image.at(generators));
    generators.iter().copied().chain(behind).collect()
}

fn blobs(
    border: &CellBorder,
    generators: &[DVec3],
    images: &[MirrorImage],
    spacing: f64,
) -> Result<Vec<Option<CellProperties>>, CoincidentGenerators> {
    let all = with_images(generators, images);
    let diagram = VoronoiDiagram::new(&all, spacing, border.bounds(spacing), [BOX_SIDE; 6]);
    let count = generators.len();
    (0..count)
        .into_par_iter()
        .map_init(CellScratch::default, |cutter, own| {
            diagram.properties(own, count, cutter)
        })
        .collect()
}

/// Generators moved towards the centres of their cells, but not out of the shape, and the distance from each
/// within which the skin may bound its cell, m. Generators with empty cells are removed.
fn moved_generators(
    border: &CellBorder,
    generators: &[DVec3],
    blobs: &[Option<CellProperties>],
    spacing: f64,
) -> (Vec<DVec3>, Vec<f64>) {
    let of_one = |(own, properties): (usize, &Option<CellProperties>)| {
        let (from, properties) = (generators[own], (*properties)?);
        let step = properties.centre - from;
        let to = [OVER_RELAXATION, 1.0, 0.5].map(|part| from + step * part);
        let to = match properties.free {
            true => to.into_iter().find(|to| border.contains(*to)),
            false => Some(to[0]),
        };
        let to = to.unwrap_or(from);
        let reach = 1.1 * properties.reach + to.distance(from);
        Some((to, reach.min(INITIAL_REACH * spacing)))
    };
    blobs.par_iter().enumerate().filter_map(of_one).unzip()
}

/// Mirror images adjusted so that the cells at the skin have the volume that it encloses.
fn adjusted_images(
    border: &CellBorder,
    generators: &[DVec3],
    reach: &[f64],
    spacing: f64,
) -> Result<Vec<MirrorImage>, CoincidentGenerators> {
    let mut images = border.images(generators, reach);
    let CellBorder::Skin(mirror) = border else {
        return Ok(images);
    };
    let count = generators.len();
    // Exactly the generators at the skin have images.
    let mut outer: Vec<u32> = images.iter().map(|image| image.of).collect();
    outer.dedup();
    for _ in 0..SKIN_ROUNDS {
        let all = with_images(generators, &images);
        let diagram = VoronoiDiagram::new(&all, spacing, border.bounds(spacing), [BOX_SIDE; 6]);
        let of_cell = |cutter: &mut CellScratch, own: &u32| {
            let cell = diagram.cell(*own as usize, cutter)?;
            let towards = |tag: u32| (tag as usize).checked_sub(count).map(|k| k as u32);
            let free = cell.faces.iter().filter(|face| face.tag != BOX_SIDE);
            let free =
                free.filter_map(|face| Some((towards(face.tag)?, mirror.volume_to_skin(face))));
            Ok(free.collect::<Vec<_>>())
        };
        let faces = outer
            .par_iter()
            .map_init(CellScratch::default, of_cell)
            .collect::<Result<Vec<_>, _>>()?;
        Mirror::balance_volumes(&mut images, &faces.concat());
    }
    Ok(images)
}

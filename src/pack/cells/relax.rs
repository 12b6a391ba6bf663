//! Voronoi cells that fill a shape: generators move to the centres of their cells (Lloyd 1982), then the
//! planes at the skin settle.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::super::hilbert;
use crate::geometry::convex::Convex;
use crate::geometry::mirror::{Image, Mirror};
use crate::geometry::voronoi::{Blob, Coincident, Cutter, Diagram};

/// How far a generator moves over the way to its cell's centre: farther than all of it, which takes half as
/// many rounds.
const STEP: f64 = 1.5;
/// Rounds in which the planes at a curved skin settle.
const SETTLE: usize = 3;
/// Part of the mean volume of a cell below which it is a sliver, whose generator goes.
const SLIVER: f64 = 1e-3;
/// Over the spacing, how far the cells of generators reach at first.
const REACH: f64 = 2.0;
/// Over the spacing, how much farther than its skin the box about a shape reaches.
const ROOM: f64 = 4.0;
/// Tag of the walls of that box.
const WALL: u32 = u32::MAX;

/// What bounds the cells.
pub enum Border<'a> {
    /// The planes of a box about the origin: the cells fill it exactly.
    Box { half: DVec3 },
    /// The skin of a closed mesh.
    Skin(Mirror<'a>),
}

impl Border<'_> {
    fn images(&self, generators: &[DVec3], reach: &[f64]) -> Vec<Image> {
        match self {
            Border::Box { .. } => Vec::new(),
            Border::Skin(mirror) => mirror.images(generators, reach),
        }
    }

    fn contains(&self, p: DVec3) -> bool {
        match self {
            Border::Box { half } => p.abs().cmplt(*half).all(),
            Border::Skin(mirror) => mirror.contains(p),
        }
    }

    fn bounds(&self, spacing: f64) -> [DVec3; 2] {
        match self {
            Border::Box { half } => [-*half, *half],
            Border::Skin(mirror) => {
                let (low, high) = mirror.bounds();
                [low - ROOM * spacing, high + ROOM * spacing]
            }
        }
    }
}

/// The solids, or where two generators are in one place.
type Found = Result<Vec<Convex>, DVec3>;

/// Cells of generators about `spacing` (m) apart, moved to their cells' centres `rounds` times; a face at the
/// skin has a tag beyond those of the cells. Slivers are left out, and what they held goes to those about
/// them.
///
/// # Errors
/// The place of two generators.
pub fn cells(border: &Border, mut generators: Vec<DVec3>, spacing: f64, rounds: u32) -> Found {
    // Neighbours in space are neighbours in memory.
    let order = hilbert::order(&generators);
    generators = order.iter().map(|&at| generators[at as usize]).collect();
    let mut reach = vec![REACH * spacing; generators.len()];
    for _ in 0..rounds {
        let images = border.images(&generators, &reach);
        let blobs = blobs(border, &generators, &images, spacing);
        let blobs = blobs.map_err(|pair| place(&generators, pair))?;
        (generators, reach) = moved(border, &generators, &blobs, spacing);
    }
    loop {
        let images = settled(border, &generators, &reach, spacing);
        let images = images.map_err(|pair| place(&generators, pair))?;
        let all = with_images(&generators, &images);
        let diagram = Diagram::new(&all, spacing, border.bounds(spacing), [WALL; 6]);
        let found = (0..generators.len())
            .into_par_iter()
            .map_init(Cutter::default, |cutter, own| diagram.cell(own, cutter))
            .collect::<Result<Vec<Convex>, _>>();
        let mut found = found.map_err(|pair| place(&generators, pair))?;
        let slivers = slivers(&found);
        if !slivers.contains(&true) {
            if let Border::Skin(mirror) = border {
                part_gaps(&mut found, &generators, mirror);
            }
            return Ok(found);
        }
        generators = left(&generators, &slivers);
        reach = left(&reach, &slivers);
    }
}

fn place(generators: &[DVec3], Coincident(own, _): Coincident) -> DVec3 {
    generators[own as usize]
}

/// Frees the faces between cells on both sides of a gap of the mesh that is thinner than they are.
fn part_gaps(cells: &mut [Convex], generators: &[DVec3], mirror: &Mirror) {
    let count = cells.len();
    let of_one = |own: usize| {
        let faces = cells[own].faces.iter().filter(|face| {
            let other = face.tag as usize;
            other > own && other < count && mirror.parts(generators[own], generators[other])
        });
        faces.map(|face| [own as u32, face.tag]).collect::<Vec<_>>()
    };
    let all: Vec<Vec<[u32; 2]>> = (0..count).into_par_iter().map(of_one).collect();
    for [i, j] in all.concat() {
        for [own, other] in [[i, j], [j, i]] {
            let faces = cells[own as usize].faces.iter_mut();
            let towards = faces.filter(|face| face.tag == other);
            towards.for_each(|face| face.tag = WALL);
        }
    }
}

fn left<T: Copy>(all: &[T], gone: &[bool]) -> Vec<T> {
    let kept = all.iter().zip(gone).filter(|(_, gone)| !**gone);
    kept.map(|(one, _)| *one).collect()
}

/// Which cells are slivers, or empty.
fn slivers(cells: &[Convex]) -> Vec<bool> {
    let volume = |cell: &Convex| cell.mass().map_or(0.0, |mass| mass.volume);
    let volumes: Vec<f64> = cells.par_iter().map(volume).collect();
    let least = SLIVER * volumes.iter().sum::<f64>() / volumes.len().max(1) as f64;
    volumes.iter().map(|volume| *volume <= least).collect()
}

fn with_images(generators: &[DVec3], images: &[Image]) -> Vec<DVec3> {
    let behind = images.iter().map(|image| image.at(generators));
    generators.iter().copied().chain(behind).collect()
}

fn blobs(
    border: &Border,
    generators: &[DVec3],
    images: &[Image],
    spacing: f64,
) -> Result<Vec<Option<Blob>>, Coincident> {
    let all = with_images(generators, images);
    let diagram = Diagram::new(&all, spacing, border.bounds(spacing), [WALL; 6]);
    let count = generators.len();
    (0..count)
        .into_par_iter()
        .map_init(Cutter::default, |cutter, own| {
            diagram.blob(own, count, cutter)
        })
        .collect()
}

/// Generators moved towards the centres of their cells, but not out of the shape, and how far from them there
/// may be skin that bounds their cells, m. Those whose cells are empty go.
fn moved(
    border: &Border,
    generators: &[DVec3],
    blobs: &[Option<Blob>],
    spacing: f64,
) -> (Vec<DVec3>, Vec<f64>) {
    let of_one = |(own, blob): (usize, &Option<Blob>)| {
        let (from, blob) = (generators[own], (*blob)?);
        let step = blob.centre - from;
        let to = [STEP, 1.0, 0.5].map(|part| from + step * part);
        let to = match blob.free {
            true => to.into_iter().find(|to| border.contains(*to)),
            false => Some(to[0]),
        };
        let to = to.unwrap_or(from);
        let reach = 1.1 * blob.reach + to.distance(from);
        Some((to, reach.min(REACH * spacing)))
    };
    blobs.par_iter().enumerate().filter_map(of_one).unzip()
}

/// Images that have settled: the cells at the skin hold as much as it does.
fn settled(
    border: &Border,
    generators: &[DVec3],
    reach: &[f64],
    spacing: f64,
) -> Result<Vec<Image>, Coincident> {
    let mut images = border.images(generators, reach);
    let Border::Skin(mirror) = border else {
        return Ok(images);
    };
    let count = generators.len();
    // Those at the skin have images.
    let mut outer: Vec<u32> = images.iter().map(|image| image.of).collect();
    outer.dedup();
    for _ in 0..SETTLE {
        let all = with_images(generators, &images);
        let diagram = Diagram::new(&all, spacing, border.bounds(spacing), [WALL; 6]);
        let of_cell = |cutter: &mut Cutter, own: &u32| {
            let cell = diagram.cell(*own as usize, cutter)?;
            let towards = |tag: u32| (tag as usize).checked_sub(count).map(|k| k as u32);
            let free = cell.faces.iter().filter(|face| face.tag != WALL);
            let free = free.filter_map(|face| Some((towards(face.tag)?, mirror.beyond(face))));
            Ok(free.collect::<Vec<_>>())
        };
        let faces = outer
            .par_iter()
            .map_init(Cutter::default, of_cell)
            .collect::<Result<Vec<_>, _>>()?;
        Mirror::settle(&mut images, &faces.concat());
    }
    Ok(images)
}

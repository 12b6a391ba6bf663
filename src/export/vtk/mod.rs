//! VTK for ParaView and PyVista: elements, whole bonds, breaks and surfaces of each frame as `.vtp`, and a
//! `.pvd` that plays each of them.
//!
//! Unlike renderers, who look at one frame's picture looks at its numbers: whatever the frame tables hold comes along.

pub mod file;

use crate::parallel::prelude::*;

use self::file::{Cells, PolyData, collection};
use crate::columns::{Breaks, Elements, Frames};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, Format, Needs};
use crate::export::job::Job;
use crate::spec::{ExportFormat, FrameGroup};
use crate::store::{SurfaceFrame, atomic};

/// VTK.
pub const FORMAT: Format = Format {
    format: ExportFormat::Vtk,
    name: "vtk",
    extension: "pvd",
    needs: Needs::Frames,
    space: Axes::OfShot,
    single: false,
    write,
};

/// What there are files of.
const KINDS: [&str; 4] = ["elements", "bonds", "breaks", "surfaces"];

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let scene = Scene::read(job)?;
    let mut summary = ExportSummary::default();
    let mut shown: [Vec<(f64, String)>; 4] = Default::default();
    for batch in job.frames.chunks(rayon::current_num_threads()) {
        let written = batch
            .par_iter()
            .map(|&frame| scene.write(job, frame))
            .collect::<Result<Vec<_>, ExportError>>()?;
        for (time, files) in written {
            for (kind, file) in shown.iter_mut().zip(files) {
                if let Some(file) = file {
                    summary.add(job.target.join(&file))?;
                    kind.push((time, file));
                }
            }
            on_frame(shown[0].len(), job.frames.len());
        }
    }
    for (kind, files) in KINDS.iter().zip(&shown) {
        if files.is_empty() {
            continue;
        }
        let path = job.target.join(format!("{}.{kind}.pvd", job.names.shot()));
        let files = files.iter().map(|(time, file)| (*time, &file[..]));
        atomic::write_bytes(&path, collection(files).as_bytes())?;
        summary.add(path)?;
    }
    Ok(summary)
}

/// What all frames share.
struct Scene {
    elements: Elements,
    /// Ends and rest length of each bond.
    bonds: Vec<([u32; 2], f64)>,
    /// First frame that shows each bond broken.
    broken: Vec<u32>,
}

impl Scene {
    fn read(job: &Job) -> Result<Self, ExportError> {
        let store = job.store;
        let packing = store.read_packing_columns(&["body", "material", "r"], &["i", "j", "l0"])?;
        let elements = packing.elements;
        let ends = packing.bonds.i.into_iter().zip(packing.bonds.j);
        let bonds: Vec<_> = ends.map(<[u32; 2]>::from).zip(packing.bonds.l0).collect();
        let mut broken = vec![u32::MAX; bonds.len()];
        let last = *job.frames.last().expect("a job has a frame");
        // Bonds broke before the first frame that is asked for, too.
        for number in store
            .numbers("breaks", "parquet")?
            .into_iter()
            .take_while(|number| *number <= last)
        {
            for bond in store.read_broken(number, bonds.len())? {
                let frame: &mut u32 = &mut broken[bond as usize];
                *frame = (*frame).min(number);
            }
        }
        Ok(Scene {
            elements,
            bonds,
            broken,
        })
    }

    /// Writes the files of a frame; its time and their names, none where there is nothing to write from.
    fn write(&self, job: &Job, frame: u32) -> Result<(f64, [Option<String>; 4]), ExportError> {
        let count = self.elements.id.len();
        let table = job.read_table(frame, count)?;
        let time = table.time.first().copied().unwrap_or_default();
        let points: Vec<[f32; 3]> = (0..count)
            .map(|i| [table.x[i], table.y[i], table.z[i]])
            .collect();
        let surfaces = job.store.numbered("meshes", frame, "rkyv");
        let breaks = job.store.numbered("breaks", frame, "parquet");
        let file = |kind: usize, file: PolyData| -> Result<Option<String>, ExportError> {
            let name = format!("{}/{}.{frame:06}.vtp", KINDS[kind], job.names.shot());
            atomic::write_parts(&job.target.join(&name), &file.finish())?;
            Ok(Some(name))
        };
        let files = [
            file(0, elements(job, &self.elements, &table, &points))?,
            file(1, self.bonds(frame, time, &points))?,
            if breaks.is_file() {
                file(2, breaks_of(time, &job.store.read_breaks_present(frame)?))?
            } else {
                None
            },
            if surfaces.is_file() {
                file(3, surfaces_of(&job.read(frame)?))?
            } else {
                None
            },
        ];
        Ok((time, files))
    }

    /// The bonds that are whole in a frame.
    fn bonds(&self, frame: u32, time: f64, points: &[[f32; 3]]) -> PolyData {
        let whole: Vec<u32> = (0..self.bonds.len() as u32)
            .filter(|&bond| self.broken[bond as usize] > frame)
            .collect();
        let ends = whole.iter().map(|&bond| self.bonds[bond as usize].0);
        let mut file = PolyData::new(time, points, Cells::Lines, ends);
        file.cell("bond", whole.iter().copied());
        let strain = whole.iter().map(|&bond| {
            let (ends, rest) = self.bonds[bond as usize];
            let [a, b] = ends.map(|end| glam::Vec3::from(points[end as usize]).as_dvec3());
            (a.distance(b) / rest - 1.0) as f32
        });
        file.cell("strain", strain);
        file
    }
}

/// A vertex an element, with what the frame holds of it.
fn elements(job: &Job, rest: &Elements, table: &Frames, points: &[[f32; 3]]) -> PolyData {
    let count = points.len();
    let all = || 0..count;
    let mut file = PolyData::new(
        table.time.first().copied().unwrap_or_default(),
        points,
        Cells::Verts,
        (0..count as u32).map(|i| [i]),
    );
    file.point("id", 1, table.id.iter().copied());
    file.point("radius", 1, rest.r.iter().map(|r| *r as f32));
    file.point("body", 1, rest.body.iter().copied());
    if !rest.material.is_empty() {
        file.point("material", 1, rest.material.iter().copied());
    }
    for group in FrameGroup::ALL {
        if job.left_out.contains(&group) {
            continue;
        }
        match group {
            FrameGroup::Position => {}
            FrameGroup::Rotation => file.point(
                "rotation",
                4,
                all().flat_map(|i| [table.qx[i], table.qy[i], table.qz[i], table.qw[i]]),
            ),
            FrameGroup::Velocity => file.point(
                "velocity",
                3,
                all().flat_map(|i| [table.vx[i], table.vy[i], table.vz[i]]),
            ),
            FrameGroup::Spin => file.point(
                "spin",
                3,
                all().flat_map(|i| [table.wx[i], table.wy[i], table.wz[i]]),
            ),
            FrameGroup::Fragment => file.point("fragment", 1, table.fragment.iter().copied()),
            FrameGroup::Stress => {
                file.point("sigma", 1, table.sigma.iter().copied());
                file.point("tau", 1, table.tau.iter().copied());
            }
            FrameGroup::Broken => file.point("broken", 1, table.broken.iter().copied()),
        }
    }
    file
}

/// A vertex a bond that broke since the frame before, where it broke.
fn breaks_of(time: f64, breaks: &Breaks) -> PolyData {
    let count = breaks.bond.len();
    let points: Vec<[f32; 3]> = (0..count)
        .map(|k| [breaks.x[k], breaks.y[k], breaks.z[k]])
        .collect();
    let mut file = PolyData::new(time, &points, Cells::Verts, (0..count as u32).map(|k| [k]));
    file.point("bond", 1, breaks.bond.iter().copied());
    file.point("time", 1, breaks.time.iter().copied());
    // Other programs may not know all of it.
    if !breaks.mode.is_empty() {
        let modes = breaks.mode.iter();
        file.point("mode", 1, modes.map(|mode| *mode as u8));
    }
    for (name, stress) in [("sigma", &breaks.sigma), ("tau", &breaks.tau)] {
        if !stress.is_empty() {
            file.point(name, 1, stress.iter().copied());
        }
    }
    let [x, y, z] = [&breaks.nix, &breaks.niy, &breaks.niz];
    if [x, y, z].iter().all(|column| column.len() == count) {
        let normals = (0..count).flat_map(|k| [x[k], y[k], z[k]]);
        file.point("normal", 3, normals);
    }
    file
}

fn surfaces_of(surface: &SurfaceFrame) -> PolyData {
    let triangles = surface
        .pieces
        .iter()
        .flat_map(|piece| surface.triangle_range(piece));
    let triangles: Vec<usize> = triangles.collect();
    let corners = triangles.iter().map(|&k| surface.triangles[k]);
    let mut file = PolyData::new(surface.time, &surface.positions, Cells::Polys, corners);
    file.point("Normals", 3, surface.normals.as_flattened().iter().copied());
    file.point(
        "velocity",
        3,
        surface.velocities.as_flattened().iter().copied(),
    );
    file.point(
        "rest",
        3,
        surface.rest_positions.as_flattened().iter().copied(),
    );
    file.point("sigma", 1, surface.stress.iter().copied());
    let mut labels = vec![0u32; surface.positions.len()];
    for piece in &surface.pieces {
        labels[surface.vertex_range(piece)].fill(piece.fragment);
    }
    file.point("fragment", 1, labels);
    let label = |of: fn(&crate::store::Piece) -> u32| {
        let pieces = surface.pieces.iter();
        pieces.flat_map(move |piece| std::iter::repeat_n(of(piece), piece.triangles as usize))
    };
    file.cell("fragment", label(|piece| piece.fragment));
    file.cell("body", label(|piece| piece.body));
    file.cell("inside", triangles.iter().map(|&k| surface.inside[k]));
    file
}

//! VTK for ParaView and PyVista: elements, intact bonds, breaks and surfaces of each frame as `.vtp`, and one
//! `.pvd` collection for each kind.
//!
//! These programs show data rather than pictures, so the files have all columns of the frame tables.

pub mod file;

use crate::parallel::prelude::*;

use self::file::{CellKind, PolyData, collection};
use crate::columns::{Breaks, Elements, Frames};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use crate::export::job::ExportJob;
use crate::spec::{ExportFormat, FrameGroup};
use crate::store::{SurfaceFrame, atomic};

/// Table entry of VTK.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::Vtk,
    name: "vtk",
    extension: "pvd",
    requires: RequiredTables::Frames,
    axes: Axes::Simulation,
    single_file: false,
    write,
};

/// Kinds of files; one `.vtp` of each per frame.
const FILE_KINDS: [&str; 4] = ["elements", "bonds", "breaks", "surfaces"];

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    let tables = ShotTables::read(job)?;
    let mut summary = ExportSummary::default();
    let mut shown: [Vec<(f64, String)>; 4] = Default::default();
    for batch in job.frames.chunks(rayon::current_num_threads()) {
        let written = batch
            .par_iter()
            .map(|&frame| tables.write(job, frame))
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
    for (kind, files) in FILE_KINDS.iter().zip(&shown) {
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

/// Data of the shot that all frames share.
struct ShotTables {
    elements: Elements,
    /// End elements and rest length of each bond.
    bonds: Vec<([u32; 2], f64)>,
    /// For each bond, the first frame in which it is broken; `u32::MAX` if none.
    broken: Vec<u32>,
}

impl ShotTables {
    fn read(job: &ExportJob) -> Result<Self, ExportError> {
        let store = job.store;
        let packing = store.read_packing_columns(&["body", "material", "r"], &["i", "j", "l0"])?;
        let elements = packing.elements;
        let ends = packing.bonds.i.into_iter().zip(packing.bonds.j);
        let bonds: Vec<_> = ends.map(<[u32; 2]>::from).zip(packing.bonds.l0).collect();
        let mut broken = vec![u32::MAX; bonds.len()];
        let last = *job.frames.last().expect("a job has a frame");
        // Includes breaks before the first requested frame.
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
        Ok(ShotTables {
            elements,
            bonds,
            broken,
        })
    }

    /// Writes the files of a frame. Returns its time and the file names by kind; `None` if the store has no
    /// table for a kind.
    fn write(
        &self,
        job: &ExportJob,
        frame: u32,
    ) -> Result<(f64, [Option<String>; 4]), ExportError> {
        let count = self.elements.id.len();
        let table = job.read_table(frame, count)?;
        let time = table.time.first().copied().unwrap_or_default();
        let points: Vec<[f32; 3]> = (0..count)
            .map(|i| [table.x[i], table.y[i], table.z[i]])
            .collect();
        let surfaces = job.store.numbered("meshes", frame, "rkyv");
        let breaks = job.store.numbered("breaks", frame, "parquet");
        let file = |kind: usize, file: PolyData| -> Result<Option<String>, ExportError> {
            let name = format!("{}/{}.{frame:06}.vtp", FILE_KINDS[kind], job.names.shot());
            atomic::write_parts(&job.target.join(&name), &file.finish())?;
            Ok(Some(name))
        };
        let files = [
            file(0, elements_file(job, &self.elements, &table, &points))?,
            file(1, self.bonds_file(frame, time, &points))?,
            if breaks.is_file() {
                file(2, breaks_file(time, &job.store.read_breaks(frame)?))?
            } else {
                None
            },
            if surfaces.is_file() {
                file(3, surfaces_file(&job.read(frame)?))?
            } else {
                None
            },
        ];
        Ok((time, files))
    }

    /// The bonds that are intact in a frame.
    fn bonds_file(&self, frame: u32, time: f64, points: &[[f32; 3]]) -> PolyData {
        let intact: Vec<u32> = (0..self.bonds.len() as u32)
            .filter(|&bond| self.broken[bond as usize] > frame)
            .collect();
        let ends = intact.iter().map(|&bond| self.bonds[bond as usize].0);
        let mut file = PolyData::new(time, points, CellKind::Lines, ends);
        file.add_cell_scalars("bond", intact.iter().copied());
        let strain = intact.iter().map(|&bond| {
            let (ends, rest) = self.bonds[bond as usize];
            let [a, b] = ends.map(|end| glam::Vec3::from(points[end as usize]).as_dvec3());
            (a.distance(b) / rest - 1.0) as f32
        });
        file.add_cell_scalars("strain", strain);
        file
    }
}

/// One vertex per element, with all columns that the frames have.
fn elements_file(
    job: &ExportJob,
    rest: &Elements,
    table: &Frames,
    points: &[[f32; 3]],
) -> PolyData {
    let count = points.len();
    let all = || 0..count;
    let mut file = PolyData::new(
        table.time.first().copied().unwrap_or_default(),
        points,
        CellKind::Verts,
        (0..count as u32).map(|i| [i]),
    );
    file.add_point_array("id", 1, table.id.iter().copied());
    file.add_point_array("radius", 1, rest.r.iter().map(|r| *r as f32));
    file.add_point_array("body", 1, rest.body.iter().copied());
    if !rest.material.is_empty() {
        file.add_point_array("material", 1, rest.material.iter().copied());
    }
    for group in FrameGroup::ALL {
        if job.missing_groups.contains(&group) {
            continue;
        }
        match group {
            FrameGroup::Position => {}
            FrameGroup::Rotation => file.add_point_array(
                "rotation",
                4,
                all().flat_map(|i| [table.qx[i], table.qy[i], table.qz[i], table.qw[i]]),
            ),
            FrameGroup::Velocity => file.add_point_array(
                "velocity",
                3,
                all().flat_map(|i| [table.vx[i], table.vy[i], table.vz[i]]),
            ),
            FrameGroup::Spin => file.add_point_array(
                "spin",
                3,
                all().flat_map(|i| [table.wx[i], table.wy[i], table.wz[i]]),
            ),
            FrameGroup::Fragment => {
                file.add_point_array("fragment", 1, table.fragment.iter().copied())
            }
            FrameGroup::Stress => {
                file.add_point_array("sigma", 1, table.sigma.iter().copied());
                file.add_point_array("tau", 1, table.tau.iter().copied());
            }
            FrameGroup::Broken => file.add_point_array("broken", 1, table.broken.iter().copied()),
        }
    }
    file
}

/// One vertex for each bond that broke since the frame before, at the position of the break.
fn breaks_file(time: f64, breaks: &Breaks) -> PolyData {
    let count = breaks.bond.len();
    let points: Vec<[f32; 3]> = (0..count)
        .map(|k| [breaks.x[k], breaks.y[k], breaks.z[k]])
        .collect();
    let mut file = PolyData::new(
        time,
        &points,
        CellKind::Verts,
        (0..count as u32).map(|k| [k]),
    );
    file.add_point_array("bond", 1, breaks.bond.iter().copied());
    file.add_point_array("time", 1, breaks.time.iter().copied());
    // Stores of other programs may lack these columns.
    if !breaks.mode.is_empty() {
        let modes = breaks.mode.iter();
        file.add_point_array("mode", 1, modes.map(|mode| *mode as u8));
    }
    for (name, stress) in [("sigma", &breaks.sigma), ("tau", &breaks.tau)] {
        if !stress.is_empty() {
            file.add_point_array(name, 1, stress.iter().copied());
        }
    }
    let [x, y, z] = [&breaks.nix, &breaks.niy, &breaks.niz];
    if [x, y, z].iter().all(|column| column.len() == count) {
        let normals = (0..count).flat_map(|k| [x[k], y[k], z[k]]);
        file.add_point_array("normal", 3, normals);
    }
    file
}

/// The surfaces of a frame.
fn surfaces_file(surface: &SurfaceFrame) -> PolyData {
    let triangles = surface
        .pieces
        .iter()
        .flat_map(|piece| surface.triangle_range(piece));
    let triangles: Vec<usize> = triangles.collect();
    let corners = triangles.iter().map(|&k| surface.triangles[k]);
    let mut file = PolyData::new(surface.time, &surface.positions, CellKind::Polys, corners);
    file.add_point_array("Normals", 3, surface.normals.as_flattened().iter().copied());
    file.add_point_array(
        "velocity",
        3,
        surface.velocities.as_flattened().iter().copied(),
    );
    file.add_point_array(
        "rest",
        3,
        surface.rest_positions.as_flattened().iter().copied(),
    );
    file.add_point_array("sigma", 1, surface.stress.iter().copied());
    let mut labels = vec![0u32; surface.positions.len()];
    for piece in &surface.pieces {
        labels[surface.vertex_range(piece)].fill(piece.fragment);
    }
    file.add_point_array("fragment", 1, labels);
    let label = |of: fn(&crate::store::FragmentRange) -> u32| {
        let pieces = surface.pieces.iter();
        pieces.flat_map(move |piece| std::iter::repeat_n(of(piece), piece.triangles as usize))
    };
    file.add_cell_scalars("fragment", label(|piece| piece.fragment));
    file.add_cell_scalars("body", label(|piece| piece.body));
    file.add_cell_scalars("inside", triangles.iter().map(|&k| surface.inside[k]));
    if !surface.materials.is_empty() {
        let materials = triangles.iter().map(|&k| surface.materials[k]);
        // None is -1.
        let materials = materials.map(|number| i64::from(number.cast_signed()));
        file.add_cell_scalars("material", materials);
    }
    if !surface.colours.is_empty() {
        // Colours of corners; cells have their mean.
        let mean =
            |k: usize, c: usize| surface.colours[k].iter().map(|rgb| rgb[c]).sum::<f32>() / 3.0;
        let colours = triangles
            .iter()
            .flat_map(|&k| [0, 1, 2].map(|c| mean(k, c)));
        file.add_cell_array("colour", 3, colours);
    }
    file
}

//! Reads and writes the tables of a store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::error::Result;
use super::folder::Store;
use super::format::TableFormat;
use super::rules::{self, SchemaFaults};
use super::{atomic, parquet};
use crate::columns::{
    Bonds, Breaks, Cells, Convergence, Elements, Faces, Fragments, Frames, History, Loads, Sleep,
    SleepEvent, Stress, Table,
};
use crate::geometry::TriMesh;
use crate::spec::FrameGroup;

/// Rest state of all bodies: what `pack` writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packing {
    /// The elements.
    pub elements: Elements,
    /// The bonds between them.
    pub bonds: Bonds,
    /// Tables of the elements that are cells, and of their faces; empty for most packings.
    pub cells: CellTables,
    /// Meshes of mesh colliders, in the collider's own frame, by collider number.
    pub colliders: BTreeMap<u32, TriMesh>,
}

impl Packing {
    /// Positions of all elements at rest, m.
    pub fn centres(&self) -> Vec<DVec3> {
        let e = &self.elements;
        let place = |i: usize| DVec3::new(e.x[i], e.y[i], e.z[i]);
        (0..e.id.len()).map(place).collect()
    }

    /// Number of bonds of each element.
    pub fn bonds_per_element(&self) -> Vec<u32> {
        let mut counts = vec![0; self.elements.id.len()];
        for &end in self.bonds.i.iter().chain(&self.bonds.j) {
            counts[end as usize] += 1;
        }
        counts
    }
}

/// Tables of the cells of a packing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellTables {
    /// Volumes and moments of inertia.
    pub cells: Cells,
    /// Faces.
    pub faces: Faces,
}

impl Store {
    /// Reads elements, bonds and meshes of colliders.
    pub fn read_packing(&self) -> Result<Packing> {
        Ok(Packing {
            elements: self.read_elements()?,
            bonds: self.read(self.path("packing/bonds.parquet"), "pack")?,
            cells: self.read_cells()?.unwrap_or_default(),
            colliders: self.read_colliders()?,
        })
    }

    /// Reads these columns of elements and bonds, which must satisfy the [`rules`]. All others stay empty,
    /// except ids, which are always read.
    pub fn read_packing_columns(&self, elements: &[&str], bonds: &[&str]) -> Result<Packing> {
        let path = self.checked(self.path("packing/bonds.parquet"), "pack")?;
        let (elements, bonds) = rayon::join(
            || self.read_element_columns(elements),
            || parquet::read_columns::<Bonds>(&path, &[&["id"], bonds].concat()),
        );
        let (elements, bonds) = (elements?, bonds?);
        let mut faults = SchemaFaults::first_only();
        rules::bonds(&bonds, 0, elements.id.len(), &mut faults);
        faults.into_result(&path)?;
        Ok(Packing {
            elements,
            bonds,
            ..Packing::default()
        })
    }

    /// Reads these columns of the elements, which must satisfy the [`rules`]. All others stay empty, except
    /// ids, which are always read.
    pub fn read_element_columns(&self, columns: &[&str]) -> Result<Elements> {
        let path = self.checked(self.path("packing/elements.parquet"), "pack")?;
        let elements = parquet::read_columns(&path, &[&["id"], columns].concat())?;
        let mut faults = SchemaFaults::first_only();
        rules::elements(&elements, 0, &mut faults);
        faults.into_result(&path)?;
        Ok(elements)
    }

    /// Reads the elements alone.
    pub fn read_elements(&self) -> Result<Elements> {
        self.read(self.path("packing/elements.parquet"), "pack")
    }

    /// Number of elements.
    pub fn element_count(&self) -> Result<usize> {
        parquet::rows(&self.checked(self.path("packing/elements.parquet"), "pack")?)
    }

    /// Reads the elements part by part, in order.
    pub fn read_element_parts(&self, part: &mut dyn FnMut(&Elements)) -> Result<()> {
        parquet::read_parts(
            &self.checked(self.path("packing/elements.parquet"), "pack")?,
            part,
        )
    }

    /// Reads cells and faces; `None` if the packing has no cells.
    pub fn read_cells(&self) -> Result<Option<CellTables>> {
        if !self.path("packing/cells.parquet").exists() {
            return Ok(None);
        }
        Ok(Some(CellTables {
            cells: self.read(self.path("packing/cells.parquet"), "pack")?,
            faces: self.read(self.path("packing/faces.parquet"), "pack")?,
        }))
    }

    /// Number of bonds.
    pub fn bond_count(&self) -> Result<usize> {
        parquet::rows(&self.checked(self.path("packing/bonds.parquet"), "pack")?)
    }

    /// Reads the bonds part by part, in order.
    pub fn read_bonds(&self, part: &mut dyn FnMut(&Bonds)) -> Result<()> {
        parquet::read_parts(
            &self.checked(self.path("packing/bonds.parquet"), "pack")?,
            part,
        )
    }

    /// Writes meshes of colliders, bonds and elements.
    pub fn write_packing(&self, packing: &Packing) -> Result<()> {
        self.write_packing_with(
            packing,
            |path| parquet::write(path, &packing.bonds),
            |path| parquet::write(path, &packing.elements),
        )
    }

    /// As [`write_packing`](Self::write_packing), but `bonds` and `elements` write their tables to their paths.
    pub fn write_packing_with(
        &self,
        packing: &Packing,
        bonds: impl FnOnce(&Path) -> Result<()>,
        elements: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        for (&number, mesh) in &packing.colliders {
            self.write_collider(number, mesh)?;
        }
        let CellTables { cells, faces } = &packing.cells;
        if !cells.id.is_empty() {
            parquet::write(&self.path("packing/faces.parquet"), faces)?;
            parquet::write(&self.path("packing/cells.parquet"), cells)?;
        }
        bonds(&self.path("packing/bonds.parquet"))?;
        elements(&self.path("packing/elements.parquet"))
    }

    /// Reads `frames/NNNNNN.parquet`.
    pub fn read_frame(&self, frame: u32) -> Result<Frames> {
        self.read_numbered("frames", frame)
    }

    /// Reads `frames/NNNNNN.parquet` for a stage that needs these columns. Other columns that were left out
    /// read as zeros.
    pub fn read_frame_with(&self, frame: u32, needed: &[FrameGroup]) -> Result<Frames> {
        let path = self.numbered("frames", frame, "parquet");
        let frames = self.checked(path, "simulate")?;
        parquet::read_needed(&frames, |name| {
            let mut groups = FrameGroup::ALL.iter();
            let group = groups.find(|group| group.columns().contains(&name));
            group.is_none_or(|group| needed.contains(group))
        })
    }

    /// As [`read_frame_with`](Self::read_frame_with), for a stage that uses row k as element k of `elements`:
    /// the frame must satisfy the [`rules`].
    pub fn read_frame_of(
        &self,
        frame: u32,
        needed: &[FrameGroup],
        elements: usize,
    ) -> Result<Frames> {
        let table = self.read_frame_with(frame, needed)?;
        let mut faults = SchemaFaults::first_only();
        rules::one_row_per_element(table.id.len(), elements, &mut faults);
        let needs_rotation = needed.contains(&FrameGroup::Rotation);
        // Quaternions are normalized when used: only those near zero length are refused.
        let rounding = if needs_rotation { 0.9 } else { f64::INFINITY };
        rules::frames(&table, 0, frame, rounding, &mut faults);
        faults.into_result(&self.numbered("frames", frame, "parquet"))?;
        Ok(table)
    }

    /// The groups of columns of which all are in `frames/NNNNNN.parquet`.
    pub fn frame_groups(&self, frame: u32) -> Result<Vec<FrameGroup>> {
        let present = parquet::column_names(&self.numbered("frames", frame, "parquet"))?;
        let whole = |group: &FrameGroup| {
            let mut names = group.columns().iter();
            names.all(|name| present.iter().any(|found| found == name))
        };
        Ok(FrameGroup::ALL.into_iter().filter(whole).collect())
    }

    /// Reads `breaks/NNNNNN.parquet`; optional columns that are missing stay empty.
    pub fn read_breaks(&self, frame: u32) -> Result<Breaks> {
        let path = self.numbered("breaks", frame, "parquet");
        parquet::read_present(&self.checked(path, "simulate")?)
    }

    /// Ids of the bonds in `breaks/NNNNNN.parquet`; fails if one is not among the `bonds` bonds of the packing.
    pub fn read_broken(&self, frame: u32, bonds: usize) -> Result<Vec<u32>> {
        let path = self.checked(self.numbered("breaks", frame, "parquet"), "simulate")?;
        let broken = parquet::read_columns::<Breaks>(&path, &["bond"])?.bond;
        let mut faults = SchemaFaults::first_only();
        rules::broken_bonds(&broken, 0, bonds, &mut faults);
        faults.into_result(&path)?;
        Ok(broken)
    }

    /// Reads `history/NNNNNN.parquet`; optional columns that are missing stay empty.
    pub fn read_history(&self, frame: u32) -> Result<History> {
        let path = self.numbered("history", frame, "parquet");
        parquet::read_present(&self.checked(path, "simulate")?)
    }

    /// Reads `fragments/NNNNNN.parquet`.
    pub fn read_fragments(&self, frame: u32) -> Result<Fragments> {
        self.read_numbered("fragments", frame)
    }

    /// Reads `loads/NNNNNN.parquet`.
    pub fn read_loads(&self, frame: u32) -> Result<Loads> {
        self.read_numbered("loads", frame)
    }

    /// Reads `convergence/NNNNNN.parquet`.
    pub fn read_convergence(&self, frame: u32) -> Result<Convergence> {
        self.read_numbered("convergence", frame)
    }

    /// Reads `sleep/NNNNNN.parquet`.
    pub fn read_sleep(&self, frame: u32) -> Result<Sleep> {
        self.read_numbered("sleep", frame)
    }

    /// Labels of the fragments that were removed, with the frames from which on they are; in the order of the frames.
    pub fn removed_fragments(&self) -> Result<Vec<(u32, u32)>> {
        let mut removed = Vec::new();
        for frame in self.numbers("sleep", "parquet")? {
            let path = self.checked(self.numbered("sleep", frame, "parquet"), "simulate")?;
            let table = parquet::read_columns::<Sleep>(&path, &["what", "fragment"])?;
            let rows = table.what.iter().zip(&table.fragment);
            let gone = rows.filter(|(what, _)| **what == SleepEvent::Removed);
            removed.extend(gone.map(|(_, &fragment)| (frame, fragment)));
        }
        Ok(removed)
    }

    /// Reads `stress/NNNNNN.parquet`.
    pub fn read_stress(&self, frame: u32) -> Result<Stress> {
        self.read_numbered("stress", frame)
    }

    /// Writes table `kind/NNNNNN.parquet`; its name is durable once [`sync_names`](Self::sync_names) has been called.
    pub fn write_unsynced<T: Table>(
        &self,
        kind: &str,
        frame: u32,
        table: &T,
        format: &TableFormat,
    ) -> Result<()> {
        parquet::write_unsynced(&self.numbered(kind, frame, "parquet"), table, format)
    }

    /// Makes the names of all files in the folder `kind` durable.
    pub fn sync_names(&self, kind: &str) -> Result<()> {
        atomic::sync_folder(&self.path(kind))
    }

    /// Writes table `kind/NNNNNN.parquet`.
    pub fn write_numbered<T: Table>(&self, kind: &str, frame: u32, table: &T) -> Result<()> {
        parquet::write(&self.numbered(kind, frame, "parquet"), table)
    }

    fn read_numbered<T: Table>(&self, kind: &str, frame: u32) -> Result<T> {
        self.read(self.numbered(kind, frame, "parquet"), "simulate")
    }

    fn read<T: Table>(&self, path: PathBuf, stage: &'static str) -> Result<T> {
        parquet::read(&self.checked(path, stage)?)
    }
}

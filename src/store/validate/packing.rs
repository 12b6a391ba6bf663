//! Checks elements, bonds, cells, and meshes of bodies and colliders.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::checked_file::CheckedFile;
use super::table::{self, TablePart};
use crate::columns::{Bonds, Cells, Column, Elements, Faces, Shape};
use crate::geometry::read;
use crate::spec::Pipeline;
use crate::store::cell_rules;
use crate::store::error::Result;
use crate::store::error::StoreError;
use crate::store::folder::Store;
use crate::store::rules::{self, SchemaFaults};

/// Data of the packing that other files are compared with; `None` if it could not be read.
#[derive(Default)]
pub struct PackingData {
    /// Number of elements.
    pub elements: Option<usize>,
    /// Body of each element.
    pub body: Option<Vec<u32>>,
    /// Mass of each element, kg.
    pub mass: Option<Vec<f64>>,
    /// Ends of each bond.
    pub bonds: Option<Vec<[u32; 2]>>,
}

/// Checks `packing/`.
pub fn check(
    store: &Store,
    pipeline: Option<&Pipeline>,
    checked: &mut Vec<CheckedFile>,
) -> Result<PackingData> {
    // A store with a pipeline can be simulated, for which all columns are needed.
    let required = |column: &Column, _: &[String]| !column.optional || pipeline.is_some();
    let mut packing = PackingData::default();

    let mut file = CheckedFile::new("packing/elements.parquet");
    let (mut body, mut mass, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    let path = store.path(&file.file);
    packing.elements = table::read(
        &path,
        &mut file,
        required,
        &mut |part: TablePart<Elements>, faults| {
            rules::elements(part.table, part.first, faults);
            body.extend_from_slice(&part.table.body);
            mass.extend_from_slice(&part.table.mass);
            shapes.extend_from_slice(&part.table.kind);
        },
    );
    checked.push(file);
    if packing.elements == Some(0) {
        let file = checked.last_mut().expect("just pushed");
        file.faults.add(None, None, format_args!("no elements"));
    }
    packing.body = Some(body).filter(|body| Some(body.len()) == packing.elements);
    packing.mass = Some(mass).filter(|mass| Some(mass.len()) == packing.elements);

    let mut file = CheckedFile::new("packing/bonds.parquet");
    let path = store.path(&file.file);
    // Ends are not compared with elements that could not be counted.
    let elements = packing.elements.unwrap_or(usize::MAX);
    let mut ends: Vec<[u32; 2]> = Vec::new();
    let rows = table::read(
        &path,
        &mut file,
        required,
        &mut |part: TablePart<Bonds>, faults| {
            rules::bonds(part.table, part.first, elements, faults);
            let pairs = part.table.i.iter().zip(&part.table.j);
            ends.extend(pairs.map(|(&i, &j)| [i, j]));
        },
    );
    if rows == Some(ends.len()) {
        report_duplicates(&ends, &mut file.faults);
        packing.bonds = Some(ends);
    }
    checked.push(file);
    let cell_ids: Vec<u32> = (0..)
        .zip(shapes)
        .filter_map(|(id, shape)| (shape == Shape::Cell).then_some(id))
        .collect();
    check_cells(store, &packing, &cell_ids, checked);

    let bodies = pipeline.map(|pipeline| pipeline.bodies.len());
    let highest_body = || {
        packing
            .body
            .as_ref()?
            .iter()
            .max()
            .map(|&body| body as usize + 1)
    };
    let shapes = MeshFolder {
        folder: "packing/shapes",
        first: "0.ply",
        path: &|body| store.shape_path(body),
        owners: ("bodies", bodies.or_else(highest_body)),
    };
    shapes.check(store, checked)?;
    let colliders = MeshFolder {
        folder: "packing/colliders",
        first: "000000.ply",
        path: &|collider| store.collider_path(collider as u32),
        owners: (
            "colliders",
            pipeline.map(|pipeline| pipeline.colliders.len()),
        ),
    };
    colliders.check(store, checked)?;
    Ok(packing)
}

/// Checks the tables of cells and faces, if there are any or any elements, `cell_ids`, are cells.
fn check_cells(
    store: &Store,
    packing: &PackingData,
    cell_ids: &[u32],
    checked: &mut Vec<CheckedFile>,
) {
    let names = ["packing/cells.parquet", "packing/faces.parquet"];
    if cell_ids.is_empty() && !names.iter().any(|name| store.path(name).exists()) {
        return;
    }
    let required = |_: &Column, _: &[String]| true;
    let elements = packing.elements.unwrap_or(usize::MAX);
    let [mut file, mut faces] = names.map(CheckedFile::new);
    let (mut last, mut ids) = (None, Vec::new());
    let rows = table::read(
        &store.path(&file.file),
        &mut file,
        required,
        &mut |part: TablePart<Cells>, faults| {
            cell_rules::cells(part.table, part.first, elements, &mut last, faults);
            ids.extend_from_slice(&part.table.id);
        },
    );
    if rows == Some(ids.len()) && packing.elements.is_some() && ids != cell_ids {
        let what = format_args!(
            "lists {} elements that are not the {} of kind \"cell\"",
            ids.len(),
            cell_ids.len()
        );
        file.faults.add("id", None, what);
    }
    checked.push(file);
    let mut previous = None;
    let bonds = packing.bonds.as_deref();
    table::read(
        &store.path(&faces.file),
        &mut faces,
        required,
        &mut |part: TablePart<Faces>, faults| {
            cell_rules::faces(
                part.table,
                part.first,
                elements,
                bonds,
                &mut previous,
                faults,
            );
        },
    );
    checked.push(faces);
}

/// Reports bonds between elements that another bond already joins.
fn report_duplicates(ends: &[[u32; 2]], faults: &mut SchemaFaults) {
    if ends.is_sorted_by(|a, b| a < b) {
        return;
    }
    let mut order: Vec<u32> = (0..ends.len() as u32).collect();
    order.sort_by_key(|&bond| ends[bond as usize]);
    let mut duplicates: Vec<[u32; 2]> = order
        .chunk_by(|&a, &b| ends[a as usize] == ends[b as usize])
        .flat_map(|same| same[1..].iter().map(|&bond| [bond, same[0]]))
        .collect();
    duplicates.sort_unstable();
    for [bond, first] in duplicates {
        let [i, j] = ends[bond as usize];
        let what = format_args!("joins {i} and {j}, as bond {first} does");
        faults.add(None, bond as usize, what);
    }
}

/// A folder of numbered meshes.
struct MeshFolder<'a> {
    folder: &'a str,
    /// File name of number 0.
    first: &'a str,
    /// Path of the mesh with a number.
    path: &'a dyn Fn(usize) -> PathBuf,
    /// What the meshes belong to, and the number of these owners, if known.
    owners: (&'a str, Option<usize>),
}

impl MeshFolder<'_> {
    /// Checks the meshes; owners may lack one.
    fn check(&self, store: &Store, checked: &mut Vec<CheckedFile>) -> Result<()> {
        let folder = store.path(self.folder);
        if !folder.is_dir() {
            return Ok(());
        }
        let (mut meshes, mut others) = (BTreeMap::new(), BTreeMap::new());
        for entry in std::fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let path = entry.map_err(StoreError::io(&folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !path.is_file() || name.starts_with('.') {
                continue;
            }
            let mut file = CheckedFile::new(format!("{}/{name}", self.folder));
            let number = path
                .file_stem()
                .and_then(|stem| stem.to_str()?.parse().ok());
            let Some(number) = number.filter(|&number| (self.path)(number) == path) else {
                let first = self.first;
                let what = format_args!("is not named like {first}: no stage reads it");
                file.faults.add(None, None, what);
                others.insert(name.into_owned(), file);
                continue;
            };
            let (owners, count) = self.owners;
            if let Some(count) = count.filter(|&count| number >= count) {
                let what = format_args!("there are {count} {owners}, counted from 0");
                file.faults.add(None, None, what);
            }
            if let Err(error) = read::read(&path) {
                // The report already contains the name of the file.
                let what = read::without_path(&error, &path);
                file.faults.add(None, None, format_args!("{what}"));
            }
            meshes.insert(number, file);
        }
        checked.extend(meshes.into_values().chain(others.into_values()));
        Ok(())
    }
}

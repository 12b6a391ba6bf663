//! Elements, bonds, and meshes of bodies and colliders.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::checked::Checked;
use super::table::{self, Part};
use crate::columns::{Bonds, Cells, Column, Elements, Faces, Shape};
use crate::geometry::read;
use crate::spec::Pipeline;
use crate::store::cell_rules;
use crate::store::error::Result;
use crate::store::error::StoreError;
use crate::store::folder::Store;
use crate::store::rules::{self, Faults};

/// What other files are held against; absent where it cannot be read.
#[derive(Default)]
pub struct Known {
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
    checked: &mut Vec<Checked>,
) -> Result<Known> {
    // What has a pipeline can be simulated, and needs everything for it.
    let required = |column: &Column, _: &[String]| !column.optional || pipeline.is_some();
    let mut known = Known::default();

    let mut file = Checked::new("packing/elements.parquet");
    let (mut body, mut mass, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    let path = store.path(&file.file);
    known.elements = table::read(
        &path,
        &mut file,
        required,
        &mut |part: Part<Elements>, faults| {
            rules::elements(part.table, part.first, faults);
            body.extend_from_slice(&part.table.body);
            mass.extend_from_slice(&part.table.mass);
            shapes.extend_from_slice(&part.table.kind);
        },
    );
    checked.push(file);
    if known.elements == Some(0) {
        let file = checked.last_mut().expect("just pushed");
        file.faults.tell(None, None, format_args!("no elements"));
    }
    known.body = Some(body).filter(|body| Some(body.len()) == known.elements);
    known.mass = Some(mass).filter(|mass| Some(mass.len()) == known.elements);

    let mut file = Checked::new("packing/bonds.parquet");
    let path = store.path(&file.file);
    // Ends are not held against elements that cannot be counted.
    let elements = known.elements.unwrap_or(usize::MAX);
    let mut ends: Vec<[u32; 2]> = Vec::new();
    let rows = table::read(
        &path,
        &mut file,
        required,
        &mut |part: Part<Bonds>, faults| {
            rules::bonds(part.table, part.first, elements, faults);
            let pairs = part.table.i.iter().zip(&part.table.j);
            ends.extend(pairs.map(|(&i, &j)| [i, j]));
        },
    );
    if rows == Some(ends.len()) {
        duplicates(&ends, &mut file.faults);
        known.bonds = Some(ends);
    }
    checked.push(file);
    let of_cells: Vec<u32> = (0..)
        .zip(shapes)
        .filter_map(|(id, shape)| (shape == Shape::Cell).then_some(id))
        .collect();
    cells(store, &known, &of_cells, checked);

    let bodies = pipeline.map(|pipeline| pipeline.bodies.len());
    let last = || {
        known
            .body
            .as_ref()?
            .iter()
            .max()
            .map(|&last| last as usize + 1)
    };
    let shapes = Meshes {
        folder: "packing/shapes",
        first: "0.ply",
        path: &|body| store.shape_path(body),
        owners: ("bodies", bodies.or_else(last)),
    };
    shapes.check(store, checked)?;
    let colliders = Meshes {
        folder: "packing/colliders",
        first: "000000.ply",
        path: &|collider| store.collider_path(collider as u32),
        owners: (
            "colliders",
            pipeline.map(|pipeline| pipeline.colliders.len()),
        ),
    };
    colliders.check(store, checked)?;
    Ok(known)
}

/// Checks the tables of cells and faces, where there are any or the elements `of_cells` are cells.
fn cells(store: &Store, known: &Known, of_cells: &[u32], checked: &mut Vec<Checked>) {
    let names = ["packing/cells.parquet", "packing/faces.parquet"];
    if of_cells.is_empty() && !names.iter().any(|name| store.path(name).exists()) {
        return;
    }
    let required = |_: &Column, _: &[String]| true;
    let elements = known.elements.unwrap_or(usize::MAX);
    let [mut file, mut faces] = names.map(Checked::new);
    let (mut last, mut ids) = (None, Vec::new());
    let rows = table::read(
        &store.path(&file.file),
        &mut file,
        required,
        &mut |part: Part<Cells>, faults| {
            cell_rules::cells(part.table, part.first, elements, &mut last, faults);
            ids.extend_from_slice(&part.table.id);
        },
    );
    if rows == Some(ids.len()) && known.elements.is_some() && ids != of_cells {
        let what = format_args!(
            "lists {} elements that are not the {} of kind \"cell\"",
            ids.len(),
            of_cells.len()
        );
        file.faults.tell("id", None, what);
    }
    checked.push(file);
    let mut before = None;
    let bonds = known.bonds.as_deref();
    table::read(
        &store.path(&faces.file),
        &mut faces,
        required,
        &mut |part: Part<Faces>, faults| {
            cell_rules::faces(part.table, part.first, elements, bonds, &mut before, faults);
        },
    );
    checked.push(faces);
}

/// Tells bonds that join what another joins already.
fn duplicates(ends: &[[u32; 2]], faults: &mut Faults) {
    if ends.is_sorted_by(|a, b| a < b) {
        return;
    }
    let mut order: Vec<u32> = (0..ends.len() as u32).collect();
    order.sort_by_key(|&bond| ends[bond as usize]);
    let mut again: Vec<[u32; 2]> = order
        .chunk_by(|&a, &b| ends[a as usize] == ends[b as usize])
        .flat_map(|same| same[1..].iter().map(|&bond| [bond, same[0]]))
        .collect();
    again.sort_unstable();
    for [bond, first] in again {
        let [i, j] = ends[bond as usize];
        let what = format_args!("joins {i} and {j}, as bond {first} does");
        faults.tell(None, bond as usize, what);
    }
}

/// A folder of meshes by number.
struct Meshes<'a> {
    folder: &'a str,
    /// Name of number 0.
    first: &'a str,
    /// Where the mesh of a number is.
    path: &'a dyn Fn(usize) -> PathBuf,
    /// What has them, and how many of those there are, where that is known.
    owners: (&'a str, Option<usize>),
}

impl Meshes<'_> {
    /// Checks a mesh each of some of the owners.
    fn check(&self, store: &Store, checked: &mut Vec<Checked>) -> Result<()> {
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
            let mut file = Checked::new(format!("{}/{name}", self.folder));
            let number = path
                .file_stem()
                .and_then(|stem| stem.to_str()?.parse().ok());
            let Some(number) = number.filter(|&number| (self.path)(number) == path) else {
                let first = self.first;
                let what = format_args!("is named unlike {first}: no stage reads it");
                file.faults.tell(None, None, what);
                others.insert(name.into_owned(), file);
                continue;
            };
            let (owners, count) = self.owners;
            if let Some(count) = count.filter(|&count| number >= count) {
                let what = format_args!("there are {count} {owners}, counted from 0");
                file.faults.tell(None, None, what);
            }
            if let Err(error) = read::read(&path) {
                // The name of the file is told already.
                let what = read::without_path(&error, &path);
                file.faults.tell(None, None, format_args!("{what}"));
            }
            meshes.insert(number, file);
        }
        checked.extend(meshes.into_values().chain(others.into_values()));
        Ok(())
    }
}

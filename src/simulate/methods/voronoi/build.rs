//! From a packing with cells to columns of cells and faces.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::borders;
use super::columns::{Cells, FaceRow, Faces, Volumes};
use super::stress::Stresses;
use super::tasks::Limits;
use super::thin::{ThinFace, thin_faces};
use crate::columns;
use crate::geometry::hash_grid::HashGrid;
use crate::laws::cell::{self, Section};
use crate::laws::damping::coefficient;
use crate::math::Scalar;
use crate::math::lanes::Row;
use crate::simulate::bonded::bonds::{BLOCK, Bonds, Side};
use crate::simulate::bonded::column::Column;
use crate::simulate::bonded::crowded::Crowded;
use crate::simulate::bonded::rest::Principal;
use crate::simulate::bonded::system::{System, motion};
use crate::simulate::bonded_run::build::{Built, build};
use crate::simulate::contact::polyhedra::shapes::Shapes;
use crate::simulate::error::SimulateError;
use crate::simulate::source::{Source, TableHash};
use crate::spec::{CellContact, Criterion, Material, Pipeline};

/// A scene of cells.
pub struct CellScene<S> {
    /// Elements and bonds.
    pub built: Built<S>,
    /// Cells.
    pub cells: Cells<S>,
    /// Faces.
    pub faces: Faces<S>,
    /// What faces break by.
    pub limits: Limits<S>,
    /// What faces break by that break by Rankine's criterion instead of their own tension; none where no face does.
    pub stresses: Option<Stresses<S>>,
    /// Cells at absorbing sides, and what resists their velocities along each axis, N s/m.
    pub borders: Vec<(u32, DVec3)>,
    /// Hash of all numbers of the packing.
    pub hash: u64,
}

/// Cells that a thread takes at a time, a multiple of the widest lanes: their motion and loads fit into the
/// cache of a core. In which order a cell adds up its faces depends on them, so the number of threads has no
/// say.
fn chunk_for(cells: usize) -> usize {
    (cells / 16).clamp(512, 2048).next_multiple_of(BLOCK)
}

/// Builds the columns.
///
/// # Errors
/// A packing without cells, or whose tables do not fit together.
pub fn scene<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<CellScene<S>, SimulateError> {
    let mut built = build::<S>(source, pipeline)?;
    built.system.chunk = chunk_for(built.system.count);
    let wrong = |what: String| SimulateError::Packing(what);
    let tables = source.cells()?.ok_or_else(|| {
        let what = "the method \"voronoi\" needs cells, and packing/cells.parquet is missing";
        wrong(what.to_owned())
    })?;
    let mut hash = TableHash::default();
    hash.add(&tables.cells);
    let mut face_hash = TableHash::default();
    face_hash.add(&tables.faces);
    let hash = hash.digest().rotate_left(7) ^ face_hash.digest();
    let mut moduli = Vec::with_capacity(source.bond_count()?);
    source.bonds(&mut |part| {
        moduli.extend(part.young.iter().copied().zip(part.shear.iter().copied()))
    })?;
    let materials: Vec<Constants> = pipeline.materials.iter().map(Constants::of).collect();
    let cells = cells_of(&tables.cells, &mut built, &materials)?;
    let damped = pipeline.materials.iter().any(|m| m.damping > 0.0);
    let thin = thin_faces(&tables.faces, built.system.count);
    let walls = thin.iter().flatten().any(|face| face.wall.is_some());
    let principal = principal(&built.system, &tables.faces, &thin, &pipeline.materials);
    let mut scene = CellScene {
        faces: Faces::new(&built.system.bonds, damped, walls),
        limits: limits(&built.system, &principal),
        stresses: stresses(&built.system, &principal),
        borders: borders::absorbing(&tables.faces, pipeline, &built.system.material)?,
        hash: built.hash ^ hash,
        built,
        cells,
    };
    scene.put_faces(&tables.faces, &moduli, (pipeline, &thin))?;
    if walls {
        scene.cells.folding = vec![Row::default(); scene.cells.bulk.len()];
        for (row, face) in thin.iter().enumerate() {
            if let Some(ThinFace {
                wall: Some(_),
                thickness,
                ..
            }) = face
            {
                for cell in [tables.faces.i[row], tables.faces.j[row]] {
                    scene.cells.thickness[cell as usize] = thickness * thickness / 12.0;
                }
            }
        }
    }
    if let Some(axis) = pipeline.world.plane_strain {
        let centres = (0..scene.built.system.count).map(|i| scene.built.system.position(i));
        let held = borders::held(&tables.faces, axis, &centres.collect::<Vec<_>>())?;
        for (volumes, held) in scene.cells.volumes.iter_mut().zip(held) {
            volumes.free -= held;
        }
    }
    match pipeline.simulate.cell_contact {
        CellContact::Balls => scene.built.system.crowded = crowded(&scene.built.system),
        CellContact::Polyhedra => {
            let shapes = Shapes::new(&tables.cells, &tables.faces, &scene.built.system)?;
            scene.built.shapes = Some(Arc::new(shapes));
            // States of runs whose cells were balls in contacts do not go on as polyhedra.
            scene.hash = scene.hash.rotate_left(1);
        }
    }
    let bonds = &scene.built.system.bonds;
    for cell in 0..scene.built.system.count {
        scene.cells.refresh(cell, bonds, &scene.faces);
    }
    Ok(scene)
}

/// λ and 3ν/(1 − 2ν) of a material.
struct Constants {
    lame: f64,
    ratio: f64,
}

impl Constants {
    fn of(material: &Material) -> Self {
        let poisson = material.poisson_ratio();
        Constants {
            lame: cell::lame(material.young, poisson),
            ratio: 3.0 * poisson / (1.0 - 2.0 * poisson),
        }
    }
}

fn cells_of<S: Scalar>(
    table: &columns::Cells,
    built: &mut Built<S>,
    materials: &[Constants],
) -> Result<Cells<S>, SimulateError> {
    let system = &mut built.system;
    let mut cells = Cells::new(system.motion.len());
    let held = |i: usize| built.load[i].0[7].to_f64() == 0.0;
    let inverse = built.rest.inverse_inertia.iter();
    // Elements that are no cells are balls; what a held one would weigh does not matter.
    built.rest.principal = inverse
        .map(|inverse| Principal::round(if *inverse > 0.0 { 1.0 / inverse } else { 1.0 }))
        .collect();
    for (row, &id) in table.id.iter().enumerate() {
        let i = id as usize;
        let Some(principal) = built.rest.principal.get_mut(i) else {
            let what = format!("cell {id} is beyond the {} elements", system.count);
            return Err(SimulateError::Packing(what));
        };
        let axes = DQuat::from_xyzw(table.qx[row], table.qy[row], table.qz[row], table.qw[row]);
        *principal = Principal {
            moments: DVec3::new(table.i1[row], table.i2[row], table.i3[row]),
            axes: axes.normalize(),
        };
        let constants = &materials[system.material[i] as usize];
        cells.volumes[i] = Volumes {
            all: built.rest.volume[i],
            free: table.free[row],
            ratio: constants.ratio,
        };
        cells.lame[i] = constants.lame;
    }
    for (i, principal) in built.rest.principal.iter().enumerate() {
        cells.put_inertia(i, *principal, held(i));
        let spin = principal.momentum(DQuat::IDENTITY, system.spin(i));
        for (k, value) in spin.to_array().into_iter().enumerate() {
            cells.momentum[i].0[k] = S::from_f64(value);
        }
        // Those that clamps or rigid bodies carry have no momentum of their own.
        if held(i) {
            cells.momentum[i] = Default::default();
        }
        debug_assert!(system.motion[i].0[motion::Q + 3].to_f64() > 0.0);
    }
    Ok(cells)
}

/// Pairs without a bond whose balls overlap at rest, as those of cells do that meet at an edge.
fn crowded<S: Scalar>(system: &System<S>) -> Crowded<S> {
    let places: Vec<DVec3> = (0..system.count).map(|i| system.position(i)).collect();
    let largest = (0..system.count)
        .map(|i| system.radius(i))
        .fold(0.0, f64::max);
    let mut found = Vec::new();
    if largest == 0.0 {
        return Crowded::default();
    }
    let grid = HashGrid::new(places.len(), 2.0 * largest, |i| places[i]);
    for (i, p) in places.iter().enumerate() {
        grid.around(*p, |j| {
            let other = j as usize;
            let distance = p.distance(places[other]);
            let radii = system.radius(i) + system.radius(other);
            if other > i && distance < radii && system.bonds.find(i, other).is_none() {
                found.push(([i as u32, j], S::from_f64(distance)));
            }
        });
    }
    Crowded::new(system.count, &found)
}

/// Faces that break by Rankine's criterion, which either of their materials may ask for. Those of walls and
/// bars of one layer do not: the stress of their cells does not know of bending.
fn principal<S: Scalar>(
    system: &System<S>,
    table: &columns::Faces,
    thin: &[Option<ThinFace>],
    materials: &[Material],
) -> Vec<bool> {
    let mut found = vec![false; system.bonds.other.len()];
    let asked = |cell: u32| {
        let material = system.material.get(cell as usize);
        let criterion = material.map(|&material| materials[material as usize].criterion);
        criterion == Some(Criterion::Rankine)
    };
    for row in (0..table.id.len()).filter(|&row| table.bond[row] != columns::NONE) {
        let (i, j) = (table.i[row], table.j[row]);
        if thin[row].is_none() && (asked(i) || asked(j)) {
            let side = system.bonds.find(i as usize, j as usize);
            side.into_iter().for_each(|side| found[side.entry] = true);
        }
    }
    found
}

/// Tensile strengths of the faces that are principal, or not, as wanted; of others infinite.
fn only<S: Scalar>(bonds: &Bonds<S>, principal: &[bool], wanted: bool) -> Column<S> {
    if !principal.contains(&!wanted) {
        return bonds.sigma_c.clone();
    }
    let strength = |entry: usize| match principal[entry] == wanted {
        true => bonds.sigma_c.get(entry),
        false => S::from_f64(f64::INFINITY),
    };
    Column::Each((0..principal.len()).map(strength).collect())
}

/// What Rankine's criterion takes, if any face is principal.
fn stresses<S: Scalar>(system: &System<S>, principal: &[bool]) -> Option<Stresses<S>> {
    let any = principal.contains(&true);
    any.then(|| {
        let strengths = only(&system.bonds, principal, true);
        Stresses::new(strengths, system.motion.len())
    })
}

/// Strengths by entry, and what of criteria differs from bond to bond; the tension of faces that break by
/// principal stresses has no limit.
fn limits<S: Scalar>(system: &System<S>, principal: &[bool]) -> Limits<S> {
    let bonds = &system.bonds;
    let entries = bonds.other.len();
    let column = |of: fn(&crate::laws::failure::Section<S>) -> f64| {
        let value = |class: &crate::simulate::bonded::system::BondClass<S>| of(&class.section);
        let mut values = system.classes.iter().map(value);
        let first = values.next().unwrap_or(1.0);
        if values.all(|value| value == first) {
            return Column::Same(S::from_f64(first));
        }
        let mut each = vec![S::from_f64(first); entries];
        for (_, side) in bonds.entries() {
            let class = &system.classes[bonds.class.get(side.entry) as usize];
            each[side.entry] = S::from_f64(value(class));
        }
        Column::Each(each)
    };
    let sigma_c = only(bonds, principal, false);
    Limits {
        sigma_c,
        tau_c: bonds.tau_c.clone(),
        criterion: [
            column(|section| section.compression_counts.to_f64()),
            column(|section| {
                let ratio = section.inverse_shear_area.to_f64() / section.inverse_area.to_f64();
                // 1 or 4/3; single precision rounds the quotient.
                (ratio * 1e4).round() / 1e4
            }),
        ],
    }
}

impl<S: Scalar> CellScene<S> {
    /// Fills the columns of faces; `moduli` are E and G of each bond, Pa.
    fn put_faces(
        &mut self,
        table: &columns::Faces,
        moduli: &[(f64, f64)],
        (pipeline, thin): (&Pipeline, &[Option<ThinFace>]),
    ) -> Result<(), SimulateError> {
        let mut row_of = vec![None; moduli.len()];
        for (row, &bond) in table.bond.iter().enumerate() {
            if bond == columns::NONE {
                continue;
            }
            let Some(place) = row_of.get_mut(bond as usize) else {
                let what = format!("face {row} is of bond {bond}; there are {}", moduli.len());
                return Err(SimulateError::Packing(what));
            };
            *place = Some(row);
        }
        let system = &self.built.system;
        let bonds: &Bonds<S> = &system.bonds;
        for (owner, side) in bonds.entries() {
            let id = bonds.id[side.entry] as usize;
            let Some(row) = row_of[id] else {
                let what = format!(
                    "bond {id} has no face: the method \"voronoi\" takes bodies of cells and loose elements"
                );
                return Err(SimulateError::Packing(what));
            };
            let ends = [owner, side.other].map(|end| end as u32);
            let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            if [table.i[row], table.j[row]] != [low, high] {
                let what = format!(
                    "face {row} lies between {} and {}, its bond {id} joins {low} and {high}",
                    table.i[row], table.j[row]
                );
                return Err(SimulateError::Packing(what));
            }
            let face = self.face_row(
                (owner, side),
                (table, row),
                moduli[id],
                (pipeline, thin[row]),
            );
            self.faces.put(side.entry, &face);
        }
        Ok(())
    }

    fn face_row(
        &self,
        (owner, side): (usize, Side),
        (table, row): (&columns::Faces, usize),
        (young, shear): (f64, f64),
        (pipeline, thin): (&Pipeline, Option<ThinFace>),
    ) -> FaceRow {
        let system = &self.built.system;
        let (centre, normal) = (table.centre(row), table.normal(row));
        let section = Section {
            area: table.area[row],
            distance: system.bonds.length.get(side.entry).to_f64(),
            second: [table.second_s[row], table.second_t[row]],
        };
        let ends = [owner, side.other];
        let torsion = thin.map(|thin| thin.torsion);
        let wall = thin.and_then(|thin| thin.wall);
        let poisson = young / (2.0 * shear) - 1.0;
        let stiffness = cell::stiffness(young, poisson, section, torsion, wall);
        let rest = &self.built.rest;
        let ratio = ends.map(|i| pipeline.materials[system.material[i] as usize].damping);
        let ratio = 0.5 * (ratio[0] + ratio[1]);
        let [k_n, k_s, k_t] = stiffness.bending;
        let damping = |stiffness: f64, inverse: &[f64]| {
            coefficient(ratio, stiffness, inverse[owner], inverse[side.other])
        };
        FaceRow {
            arms: ends.map(|i| centre - system.position(i)),
            normal: if owner as u32 == table.i[row] {
                normal
            } else {
                -normal
            },
            second: table.axis(row),
            area: section.area,
            stiffness,
            moduli: cell::moduli(section),
            through: thin.map_or(DVec3::ZERO, |thin| thin.through),
            damping: [
                damping(stiffness.traction, &rest.inverse_mass),
                damping((k_n + k_s).min(k_n + k_t), &rest.inverse_inertia),
            ],
        }
    }
}

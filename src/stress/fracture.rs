//! Fracture under loads at rest, by boundary elements ([`crate::bem::crack`]), written as a simulation would
//! record it: frame 0 is whole, frame 1 is cracked. Bonds that a crack crosses are broken, so that
//! reconstruction, exports and pictures show the cracks.

use glam::DVec3;

use super::body::BodyResponse;
use super::error::StressError;
use super::piece_loads::PieceLoads;
use super::solid::Solid;
use crate::bem::crack::{CrackEnd, Criterion, FractureError, FractureOptions, Fractured, fracture};
use crate::columns::{BreakMode, Breaks, Elements, Frames};
use crate::geometry::TriMesh;
use crate::geometry::bvh::Bvh;
use crate::geometry::inside::InsideTest;
use crate::geometry::intersect::segment_meets;
use crate::math::UnionFind;
use crate::spec::{CrackCriterion, Fracture};
use crate::store::{Packing, Store};

/// The packing with the bonds that cracks have broken so far, body by body.
pub struct CrackedPacking {
    packing: Packing,
    /// Indices of broken bonds.
    broken: Vec<usize>,
    /// Displacement of each element in frame 1, m.
    moved: Vec<DVec3>,
    /// Largest principal and shear stress at each element before the cracks, Pa.
    stress: Vec<[f64; 2]>,
}

/// What cracks did to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Cracks {
    /// Number of cracks that went through.
    pub through: usize,
    /// Number of cracks that came to rest inside.
    pub at_rest: usize,
    /// Number of pieces.
    pub pieces: usize,
    /// Factor on the loads at which the first crack begins; infinite if there is no tension.
    pub first_load_factor: f64,
    /// For each piece that could not be solved, or whose crack could not be followed to its end: what
    /// happened. These pieces stay whole.
    pub unsolved: Vec<String>,
}

impl CrackedPacking {
    /// The packing of a store, without cracks.
    pub fn new(store: &Store) -> Result<Self, StressError> {
        let packing = store.read_packing()?;
        let count = packing.elements.id.len();
        Ok(CrackedPacking {
            packing,
            broken: Vec::new(),
            moved: vec![DVec3::ZERO; count],
            stress: vec![[0.0; 2]; count],
        })
    }

    /// Lets a body crack under its loads.
    pub fn crack(
        &mut self,
        solid: &Solid,
        response: &BodyResponse,
        loads: &PieceLoads,
        settings: &Fracture,
    ) -> Result<Cracks, StressError> {
        for (id, field) in solid.ids.iter().zip(&response.points) {
            let [largest, _, least] = field.principal().values;
            self.stress[*id as usize] = [largest, (largest - least) / 2.0];
        }
        let strength = solid.strength.expect("required before anything is solved");
        let surface = &solid.surface;
        let edge = surface.sizes.iter().sum::<f64>() / surface.len() as f64;
        let shortest = FractureOptions::new(edge).shortest_step(&surface.mesh);
        let defaults = FractureOptions::new(settings.step.unwrap_or(edge.max(shortest)));
        let options = FractureOptions {
            cracks: settings.cracks.unwrap_or(defaults.cracks),
            criterion: match settings.criterion {
                CrackCriterion::Energy => Criterion::Energy,
                CrackCriterion::Stress => Criterion::Stress,
            },
            tears: settings.tears,
            ..defaults
        };
        let found = fracture(&surface.mesh, solid.elastic, strength, loads, &options);
        let found = found.map_err(|source| StressError::Fracture {
            body: solid.name.clone(),
            source,
        })?;
        self.break_crossed_bonds(solid.number as u32, &surface.mesh, &found);
        self.move_pieces_apart(solid, &found, settings.apart);
        let ended = |end: CrackEnd| found.sheets.iter().filter(|sheet| sheet.end == end).count();
        Ok(Cracks {
            through: ended(CrackEnd::Through),
            at_rest: ended(CrackEnd::AtRest),
            pieces: found.pieces.len(),
            first_load_factor: found.load_factor_at_first_crack,
            unsolved: (found.unsolved.iter())
                .map(|(_, error)| unsolved(error))
                .collect(),
        })
    }

    /// Breaks the bonds of a body that cross a crack's sheet inside the piece in which the crack grew: the
    /// sheet may extend into other pieces.
    fn break_crossed_bonds(&mut self, body: u32, surface: &TriMesh, found: &Fractured) {
        let elements = &self.packing.elements;
        let whole = PieceInterior::new(surface);
        let place = |id: u32| centre(elements, id as usize);
        let sheets = found.sheets.iter().map(|sheet| &sheet.mesh);
        let trees: Vec<(&TriMesh, Bvh, PieceInterior)> = sheets
            .zip(&found.grown_in)
            .map(|(mesh, piece)| (mesh, Bvh::new(mesh), PieceInterior::new(piece)))
            .collect();
        for bond in 0..self.packing.bonds.id.len() {
            let ends = [self.packing.bonds.i[bond], self.packing.bonds.j[bond]];
            if elements.body[ends[0] as usize] != body {
                continue;
            }
            let [a, b] = ends.map(place);
            let (middle, half) = (a.midpoint(b), a.distance(b) / 2.0);
            let crossed = trees.iter().any(|(sheet, tree, within)| {
                let mut meets = false;
                tree.each_within(sheet, middle, half, |t| {
                    let corners = sheet.corners(t as usize);
                    meets |= segment_meets(a, b, corners)
                        && within.owns(crossing_point([a, b], corners), &whole);
                });
                meets
            });
            if crossed {
                self.broken.push(bond);
            }
        }
    }

    /// Moves the pieces of a body away from its centre of mass by `apart`, m.
    fn move_pieces_apart(&mut self, solid: &Solid, found: &Fractured, apart: f64) {
        if found.pieces.len() < 2 || apart <= 0.0 {
            return;
        }
        let middle = solid.surface.mass.centre;
        for piece in &found.pieces {
            let inside = InsideTest::new(piece);
            let own = solid.ids.iter().zip(&solid.points);
            let own: Vec<(u32, DVec3)> = own
                .filter(|(_, point)| inside.contains(**point))
                .map(|(id, point)| (*id, *point))
                .collect();
            let centre = own.iter().map(|(_, point)| *point).sum::<DVec3>();
            let away = (centre / own.len().max(1) as f64 - middle).normalize_or_zero();
            for (id, _) in own {
                self.moved[id as usize] = away * apart;
            }
        }
    }

    /// Writes frames 0 and 1, and the bonds that broke between them.
    pub fn write(mut self, store: &Store, seconds: f64) -> Result<(), StressError> {
        self.broken.sort_unstable();
        self.broken.dedup();
        let bonds = &self.packing.bonds;
        let count = self.packing.elements.id.len();
        let mut joined = UnionFind::new(count);
        let mut lost = vec![0u32; count];
        for bond in 0..bonds.id.len() {
            let (i, j) = (bonds.i[bond], bonds.j[bond]);
            if self.broken.binary_search(&bond).is_ok() {
                lost[i as usize] += 1;
                lost[j as usize] += 1;
            } else {
                joined.join(i, j);
            }
        }
        let labels = labels(&self.packing.elements, &joined.roots());
        let whole = self.packing.elements.body.clone();
        let still = vec![DVec3::ZERO; count];
        let none = vec![0; count];
        store.write_numbered("breaks", 1, &self.breaks(seconds))?;
        let first = self.frame((0, 0.0), &still, (&whole, &none));
        store.write_numbered("frames", 0, &first)?;
        let second = self.frame((1, seconds), &self.moved, (&labels, &lost));
        store.write_numbered("frames", 1, &second)?;
        Ok(())
    }

    fn frame(
        &self,
        (number, time): (u32, f64),
        moved: &[DVec3],
        (labels, lost): (&[u32], &[u32]),
    ) -> Frames {
        let elements = &self.packing.elements;
        let rows = elements.id.len();
        let place = |row: usize| (centre(elements, row) + moved[row]).as_vec3();
        let zero = || vec![0.0; rows];
        let stress = |k: usize| self.stress.iter().map(|s| s[k] as f32).collect();
        Frames {
            frame: vec![number; rows],
            time: vec![time; rows],
            id: elements.id.clone(),
            x: (0..rows).map(|row| place(row).x).collect(),
            y: (0..rows).map(|row| place(row).y).collect(),
            z: (0..rows).map(|row| place(row).z).collect(),
            qx: zero(),
            qy: zero(),
            qz: zero(),
            qw: vec![1.0; rows],
            vx: zero(),
            vy: zero(),
            vz: zero(),
            wx: zero(),
            wy: zero(),
            wz: zero(),
            fragment: labels.to_vec(),
            sigma: stress(0),
            tau: stress(1),
            broken: lost.to_vec(),
        }
    }

    fn breaks(&self, time: f64) -> Breaks {
        let (bonds, elements) = (&self.packing.bonds, &self.packing.elements);
        let mut breaks = Breaks::default();
        for &bond in &self.broken {
            let (i, j) = (bonds.i[bond], bonds.j[bond]);
            let middle = (centre(elements, i as usize) + centre(elements, j as usize)) / 2.0;
            let [x, y, z] = middle.as_vec3().to_array();
            let direction = [bonds.dx[bond], bonds.dy[bond], bonds.dz[bond]].map(|d| d as f32);
            breaks.frame.push(1);
            breaks.time.push(time);
            breaks.step.push(1);
            breaks.bond.push(bonds.id[bond]);
            breaks.i.push(i);
            breaks.j.push(j);
            breaks.mode.push(BreakMode::Tension);
            let stress = [i, j].map(|end| self.stress[end as usize]);
            breaks.sigma.push(stress[0][0].max(stress[1][0]) as f32);
            breaks.tau.push(stress[0][1].max(stress[1][1]) as f32);
            breaks.x.push(x);
            breaks.y.push(y);
            breaks.z.push(z);
            breaks.nix.push(direction[0]);
            breaks.niy.push(direction[1]);
            breaks.niz.push(direction[2]);
            breaks.njx.push(-direction[0]);
            breaks.njy.push(-direction[1]);
            breaks.njz.push(-direction[2]);
        }
        breaks
    }
}

/// Interior of a piece of a body, or of the body.
struct PieceInterior<'a> {
    mesh: &'a TriMesh,
    inside: InsideTest<'a>,
    tree: Bvh,
}

/// Relative difference of distances that counts as rounding: a point outside the body belongs to a piece even
/// if the piece is farther away than the body by this fraction.
const DISTANCE_ROUNDING: f64 = 1e-6;

impl<'a> PieceInterior<'a> {
    fn new(mesh: &'a TriMesh) -> Self {
        PieceInterior {
            mesh,
            inside: InsideTest::new(mesh),
            tree: Bvh::new(mesh),
        }
    }

    /// Whether a point belongs to the piece: it is inside the piece, or it is outside the body, as points on
    /// bonds near its surface may be, and this piece is the nearest.
    fn owns(&self, x: DVec3, body: &PieceInterior) -> bool {
        let is_nearest = || self.distance(x) <= (1.0 + DISTANCE_ROUNDING) * body.distance(x);
        self.inside.contains(x) || !body.inside.contains(x) && is_nearest()
    }

    fn distance(&self, x: DVec3) -> f64 {
        self.tree.nearest(self.mesh, x).0.sqrt()
    }
}

/// Point where a segment meets the plane of a triangle; its midpoint if it lies in that plane.
fn crossing_point([a, b]: [DVec3; 2], [p, q, r]: [DVec3; 3]) -> DVec3 {
    let normal = (q - p).cross(r - p);
    let [from, to] = [a, b].map(|end| normal.dot(end - p));
    let part = from / (from - to);
    match part.is_finite() {
        true => a.lerp(b, part.clamp(0.0, 1.0)),
        false => a.midpoint(b),
    }
}

/// What happened in a piece that stays whole although its stress may exceed the strength.
fn unsolved(error: &FractureError) -> String {
    match error.concerns_crack() {
        true => {
            format!("a crack could not be followed to its end, so its piece stays whole: {error}")
        }
        false => format!("a piece could not be solved, so it stays whole: {error}"),
    }
}

fn centre(elements: &Elements, row: usize) -> DVec3 {
    DVec3::new(elements.x[row], elements.y[row], elements.z[row])
}

/// Fragment label of each element: the largest fragment of a body keeps the body's number, other fragments
/// get the next free numbers in the order of their first elements.
fn labels(elements: &Elements, roots: &[u32]) -> Vec<u32> {
    let mut sizes = vec![0usize; roots.len()];
    for root in roots {
        sizes[*root as usize] += 1;
    }
    let bodies = elements.body.iter().max().map_or(0, |last| last + 1);
    let mut largest: Vec<Option<u32>> = vec![None; bodies as usize];
    for (row, root) in roots.iter().enumerate() {
        let own = &mut largest[elements.body[row] as usize];
        if own.is_none_or(|known| sizes[known as usize] < sizes[*root as usize]) {
            *own = Some(*root);
        }
    }
    let mut numbers: Vec<Option<u32>> = vec![None; roots.len()];
    let mut next = bodies;
    for (row, root) in roots.iter().enumerate() {
        let body = elements.body[row];
        let number = &mut numbers[*root as usize];
        if number.is_none() {
            let keeps = largest[body as usize] == Some(*root);
            *number = Some(if keeps { body } else { next });
            next += u32::from(!keeps);
        }
    }
    let own = roots.iter().map(|root| numbers[*root as usize]);
    own.map(|number| number.unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bem::crack::Sheet;
    use crate::columns::Bonds;
    use crate::geometry::shapes;

    #[test]
    fn the_largest_part_keeps_the_number_of_its_body() {
        let elements = Elements {
            id: (0..6).collect(),
            body: vec![0, 0, 0, 1, 1, 1],
            ..Elements::default()
        };
        assert_eq!(labels(&elements, &[0, 1, 1, 3, 3, 3]), [2, 0, 0, 1, 1, 1]);
    }

    /// Two cracks across a body of two cubes, one above the other: the second crack grew in the upper cube,
    /// and its sheet extends into the lower one.
    #[test]
    fn a_crack_breaks_no_bonds_of_other_pieces() {
        let cube = |z: f64| {
            let mut mesh = shapes::cuboid(DVec3::splat(2.0));
            mesh.positions.iter_mut().for_each(|p| p.z += z);
            mesh
        };
        let whole = shapes::cuboid(DVec3::new(2.0, 2.0, 4.0));
        // The last two pairs lie outside the body, as bonds may near a surface with coarser triangles.
        let places = [
            (DVec3::new(0.5, 0.2, -0.6), DVec3::new(-0.5, 0.2, -0.6)),
            (DVec3::new(0.5, 0.2, 0.6), DVec3::new(-0.5, 0.2, 0.6)),
            (DVec3::new(0.5, 0.2, 0.6), DVec3::new(0.5, 0.2, -0.6)),
            (DVec3::new(0.5, 1.1, -0.6), DVec3::new(-0.5, 1.1, -0.6)),
            (DVec3::new(0.5, 1.1, 0.6), DVec3::new(-0.5, 1.1, 0.6)),
        ];
        let all: Vec<DVec3> = places.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let count = all.len();
        let elements = Elements {
            id: (0..count as u32).collect(),
            body: vec![0; count],
            x: all.iter().map(|p| p.x).collect(),
            y: all.iter().map(|p| p.y).collect(),
            z: all.iter().map(|p| p.z).collect(),
            ..Elements::default()
        };
        let bonds = Bonds {
            id: (0..5).collect(),
            i: (0..5).map(|k| 2 * k).collect(),
            j: (0..5).map(|k| 2 * k + 1).collect(),
            ..Bonds::default()
        };
        let mut cracked = CrackedPacking {
            packing: Packing {
                elements,
                bonds,
                ..Packing::default()
            },
            broken: Vec::new(),
            moved: Vec::new(),
            stress: Vec::new(),
        };
        let sheet = |normal| Sheet::disc(DVec3::ZERO, DVec3::new(0.01, 0.02, 0.03), normal, 5.0);
        let found = Fractured {
            pieces: Vec::new(),
            faces: Vec::new(),
            sheets: vec![sheet(DVec3::Z), sheet(DVec3::X)],
            grown_in: vec![whole.clone(), cube(1.0)],
            load_factor_at_first_crack: 1.0,
            steps: 0,
            unsolved: Vec::new(),
        };
        cracked.break_crossed_bonds(0, &whole, &found);
        assert_eq!(cracked.broken, [1, 2, 4]);
    }
}

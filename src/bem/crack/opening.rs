//! Opening of a crack in a loaded body, and the stress in the body with the open crack.
//!
//! The field is the sum of two: that of the jump across the sheet in an infinite solid, and that of the
//! uncracked body under its loads minus the tractions that the jump causes on its surface (Bilby and Eshelby
//! 1968; van der Giessen and Needleman 1995). The sheet extends beyond the body, and its jump continues
//! there, so that these tractions are smooth. The jump makes the weighted mean of the traction on the sheet
//! zero about each vertex (Galerkin, three points per triangle); it is zero on the rim inside the body. The
//! body keeps its mesh and its matrix while the crack grows. Crack faces that the load presses against each
//! other may overlap: contact is not modelled.

use std::cell::RefCell;

use glam::{DMat3, DVec3};

use super::jump::{JumpField, vector};
use super::sheet::Sheet;
use super::unknowns::JumpUnknowns;
use crate::bem::elastic::Elastic;
use crate::bem::field::Field;
use crate::bem::layers::add_times;
use crate::bem::loads::{Balance, Loads};
use crate::bem::solution::Solution;
use crate::bem::solver::{SolveError, Solver};
use crate::bem::surface::Surface;
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;
use crate::solve::{Lu, Operator, Recycled, gmres};

/// Largest remaining traction on the sheet over the load's, and largest number of iterations.
const GMRES_LIMITS: (f64, u32) = (1e-3, 80);
/// Barycentric coordinates of the three quadrature points of a triangle, each near one corner: the coordinate
/// of that corner, and of the other two. Exact to second degree.
const POINT_COORDINATES: [f64; 2] = [2.0 / 3.0, 1.0 / 6.0];

/// A body without a crack, and its solver.
pub struct BodyEquations<'a> {
    /// Its panels.
    pub surface: &'a Surface,
    /// The equations of its panels.
    pub solver: &'a Solver<'a>,
    /// Moduli.
    pub elastic: Elastic,
}

/// A loaded body with an open crack.
pub struct OpenCrack<'a> {
    field: JumpField,
    corners: Vec<[u32; 3]>,
    jumps: Vec<[f64; 3]>,
    /// The uncracked body under its loads.
    base: &'a Solution<'a>,
    /// The uncracked body under tractions that cancel those of the jump on its surface.
    correction: Solution<'a>,
    elastic: Elastic,
    released_energy: f64,
    area: f64,
}

/// A quadrature point of the sheet inside the body.
struct SheetPoint {
    place: DVec3,
    triangle: usize,
    /// Shape functions of the triangle's corners at the point.
    shapes: [f64; 3],
    /// Area that the point represents, m².
    area: f64,
}

fn points(sheet: &Sheet, contains: impl Fn(DVec3) -> bool) -> Vec<SheetPoint> {
    let mut points = Vec::new();
    for triangle in 0..sheet.mesh.triangles.len() {
        let corners = sheet.mesh.corners(triangle);
        for near in 0..3 {
            let shapes = [0, 1, 2].map(|c| POINT_COORDINATES[usize::from(c != near)]);
            let place = (0..3).map(|c| corners[c] * shapes[c]).sum();
            if contains(place) {
                points.push(SheetPoint {
                    place,
                    triangle,
                    shapes,
                    area: sheet.mesh.area_of(triangle) / 3.0,
                });
            }
        }
    }
    points
}

/// Dense matrix of 3×3 blocks: tractions at targets due to the unknown jumps.
struct JumpTractions {
    blocks: Vec<[[f64; 3]; 3]>,
    rows: usize,
    columns: usize,
}

impl JumpTractions {
    fn new(
        field: &JumpField,
        corners: &[[u32; 3]],
        unknowns: &JumpUnknowns,
        targets: &[(DVec3, DVec3)],
    ) -> Self {
        let columns = unknowns.count;
        let row = |(x, n): &(DVec3, DVec3)| {
            let mut row = vec![Mat3::diagonal(0.0); columns];
            for (t, corners) in corners.iter().enumerate() {
                if corners
                    .iter()
                    .all(|v| unknowns.weights[*v as usize].is_empty())
                {
                    continue;
                }
                let blocks = field.tractions(t, *x, *n);
                for (v, block) in corners.iter().zip(blocks) {
                    for (k, weight) in &unknowns.weights[*v as usize] {
                        row[*k as usize] = row[*k as usize] + block * *weight;
                    }
                }
            }
            row.into_iter().map(|block| block.rows.map(Vec3::to_f64))
        };
        JumpTractions {
            blocks: targets.par_iter().flat_map_iter(row).collect(),
            rows: targets.len(),
            columns,
        }
    }

    fn row(&self, row: usize) -> &[[[f64; 3]; 3]] {
        &self.blocks[row * self.columns..(row + 1) * self.columns]
    }

    fn times(&self, x: &[[f64; 3]]) -> Vec<DVec3> {
        let product = |row: usize| {
            let mut sum = [0.0; 3];
            for (block, x) in self.row(row).iter().zip(x) {
                add_times(block, x, &mut sum);
            }
            DVec3::from(sum)
        };
        (0..self.rows).map(product).collect()
    }
}

/// The equations of the jump, preconditioned with those in an infinite solid.
struct JumpEquations<'a> {
    body: &'a BodyEquations<'a>,
    points: &'a [SheetPoint],
    normals: Vec<DVec3>,
    corners: &'a [[u32; 3]],
    unknowns: &'a JumpUnknowns,
    /// Tractions on the body's panels due to the jumps.
    panels: JumpTractions,
    /// Tractions at the points of the sheet due to the jumps, in an infinite solid.
    own: JumpTractions,
    inverse: Lu,
    recycled: RefCell<Recycled<3>>,
    error: RefCell<Option<SolveError>>,
}

impl JumpEquations<'_> {
    /// Weighted sums of the tractions at the points, about each unknown vertex, N.
    fn weighted(&self, tractions: &[DVec3]) -> Vec<f64> {
        weighted_sums(self.points, self.corners, self.unknowns, tractions)
    }

    /// Tractions at the points of the sheet in the uncracked body under these tractions on its panels,
    /// without its loads.
    fn response(&self, tractions: &[DVec3]) -> Result<Vec<DVec3>, SolveError> {
        let mut recycled = self.recycled.borrow_mut();
        let loads = loads_of(tractions);
        let solution = self.body.solver.solve(&loads, &mut recycled)?;
        Ok(self.across(&solution))
    }

    /// Traction across the sheet in a solution of the uncracked body. It is smooth there, so it is evaluated
    /// once for each triangle, at the mean of its points.
    fn across(&self, solution: &Solution) -> Vec<DVec3> {
        let groups = self.points.chunk_by(|a, b| a.triangle == b.triangle);
        let places: Vec<DVec3> = groups
            .clone()
            .map(|group| group.iter().map(|p| p.place).sum::<DVec3>() / group.len() as f64)
            .collect();
        let fields = solution.inside(&places);
        let pairs = groups.zip(fields);
        pairs
            .flat_map(|(group, field)| {
                let traction = field.stress * self.normals[group[0].triangle];
                group.iter().map(move |_| traction)
            })
            .collect()
    }
}

/// Loads that consist of these tractions only.
fn loads_of(tractions: &[DVec3]) -> Loads<'_> {
    Loads {
        tractions,
        density: 0.0,
        gravity: DVec3::ZERO,
        spin: DVec3::ZERO,
        balance: Balance::Inertia,
    }
}

fn weighted_sums(
    points: &[SheetPoint],
    corners: &[[u32; 3]],
    unknowns: &JumpUnknowns,
    tractions: &[DVec3],
) -> Vec<f64> {
    let mut sums = vec![[0.0; 3]; unknowns.count];
    for (point, traction) in points.iter().zip(tractions) {
        for (v, shape) in corners[point.triangle].iter().zip(point.shapes) {
            for (k, weight) in &unknowns.weights[*v as usize] {
                for (sum, part) in sums[*k as usize].iter_mut().zip(traction.to_array()) {
                    *sum += part * (weight * shape * point.area);
                }
            }
        }
    }
    sums.as_flattened().to_vec()
}

impl Operator<3> for JumpEquations<'_> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        let left: Vec<DVec3> = self.panels.times(x).iter().map(|t| -*t).collect();
        let response = self.response(&left).unwrap_or_else(|error| {
            *self.error.borrow_mut() = Some(error);
            vec![DVec3::ZERO; self.points.len()]
        });
        let own = self.own.times(x);
        let sum: Vec<DVec3> = own.iter().zip(&response).map(|(a, b)| *a + *b).collect();
        let found = self.inverse.solve(&self.weighted(&sum));
        y.as_flattened_mut().copy_from_slice(&found);
    }
}

impl<'a> OpenCrack<'a> {
    /// Opens a crack in a body. `base`: the body's response without the crack. `contains`: whether a point is
    /// inside the body.
    pub fn new(
        body: &'a BodyEquations<'a>,
        base: &'a Solution<'a>,
        sheet: &Sheet,
        contains: impl Fn(DVec3) -> bool,
    ) -> Result<Self, SolveError> {
        let field = JumpField::new(sheet, body.elastic);
        let corners = sheet.mesh.triangles.clone();
        let is_inside: Vec<bool> = sheet.mesh.positions.iter().map(|p| contains(*p)).collect();
        let unknowns = JumpUnknowns::new(sheet, &is_inside);
        let points = points(sheet, contains);
        let normals: Vec<DVec3> = (0..corners.len()).map(|t| sheet.normal_of(t)).collect();
        let surface = body.surface;
        let panels: Vec<_> = surface
            .centroids
            .iter()
            .copied()
            .zip(surface.normals.iter().copied())
            .collect();
        let targets: Vec<_> = points
            .iter()
            .map(|p| (p.place, normals[p.triangle]))
            .collect();
        let panels = JumpTractions::new(&field, &corners, &unknowns, &panels);
        let own = JumpTractions::new(&field, &corners, &unknowns, &targets);
        let inverse = inverse(&points, &corners, &unknowns, &own);
        let inverse = inverse.ok_or(SolveError::NotConverged {
            residual: 1.0,
            iterations: 0,
        })?;
        let equations = JumpEquations {
            body,
            points: &points,
            normals,
            corners: &corners,
            unknowns: &unknowns,
            panels,
            own,
            inverse,
            recycled: RefCell::default(),
            error: RefCell::default(),
        };
        let load = equations.weighted(&equations.across(base));
        let right = equations.inverse.solve(&load);
        let right: Vec<[f64; 3]> = right.chunks(3).map(|r| [-r[0], -r[1], -r[2]]).collect();
        let mut free = right.clone();
        let found = gmres(&equations, &right, &mut free, GMRES_LIMITS);
        if let Some(error) = equations.error.take() {
            return Err(error);
        }
        if found.residual.is_nan() || found.residual > GMRES_LIMITS.0 {
            return Err(SolveError::NotConverged {
                residual: found.residual,
                iterations: found.iterations,
            });
        }
        let left: Vec<DVec3> = equations.panels.times(&free).iter().map(|t| -*t).collect();
        let mut recycled = equations.recycled.borrow_mut();
        let correction = body.solver.solve(&loads_of(&left), &mut recycled)?;
        let jumps = unknowns.jumps(&free);
        let pairs = load.iter().zip(free.as_flattened());
        let released_energy = -pairs.map(|(load, jump)| load * jump).sum::<f64>() / 2.0;
        Ok(OpenCrack {
            field,
            corners,
            jumps,
            base,
            correction,
            elastic: body.elastic,
            released_energy,
            area: points.iter().map(|point| point.area).sum(),
        })
    }

    /// Stress, Pa, at points inside the body that are not on the sheet.
    pub fn stress(&self, places: &[DVec3]) -> Vec<DMat3> {
        let (base, correction) = (self.base.inside(places), self.correction.inside(places));
        let at = |((x, base), correction): ((&DVec3, &Field), &Field)| {
            let mut gradient = Mat3::diagonal(0.0);
            for (t, corners) in self.corners.iter().enumerate() {
                let jumps = corners.map(|v| vector(&self.jumps[v as usize]));
                gradient = gradient + self.field.gradient(t, *x, jumps);
            }
            base.stress + correction.stress + Field::new(DVec3::ZERO, gradient, self.elastic).stress
        };
        places
            .par_iter()
            .zip(&base)
            .zip(&correction)
            .map(at)
            .collect()
    }

    /// Energy that the crack has released under the loads, J: half the work of the stress that it removes
    /// over its opening.
    pub fn released_energy(&self) -> f64 {
        self.released_energy
    }

    /// Area of the crack inside the body, m².
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Jump of the displacement across the sheet at its vertices, from the lower to the upper side, m.
    pub fn jumps(&self) -> Vec<DVec3> {
        self.jumps.iter().map(|jump| -DVec3::from(*jump)).collect()
    }
}

/// LU factors of the equations in an infinite solid; none if they are singular.
fn inverse(
    points: &[SheetPoint],
    corners: &[[u32; 3]],
    unknowns: &JumpUnknowns,
    own: &JumpTractions,
) -> Option<Lu> {
    let n = 3 * unknowns.count;
    let mut matrix = vec![0.0; n * n];
    for column in 0..n {
        let tractions: Vec<DVec3> = (0..own.rows)
            .map(|row| {
                let block = own.row(row)[column / 3];
                DVec3::from(block.map(|line| line[column % 3]))
            })
            .collect();
        let sums = weighted_sums(points, corners, unknowns, &tractions);
        for (row, sum) in sums.into_iter().enumerate() {
            matrix[row * n + column] = sum;
        }
    }
    // If all triangles of a vertex lie outside the body, although the vertex itself is inside, its jump stays
    // zero.
    let most = matrix.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    for row in 0..n {
        if matrix[row * n..(row + 1) * n]
            .iter()
            .all(|v| v.abs() < 1e-9 * most)
        {
            matrix[row * n + row] = most;
        }
    }
    Lu::new(matrix, n)
}
